package erasure_test

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/twogather/twogather/erasure"
)

// A message in six shards, of which any four are enough.
func Example() {
	codec, err := erasure.New(4, 2, erasure.WithMatrix(erasure.NormalisedCauchy))
	if err != nil {
		panic(err)
	}
	message := []byte("Any four of the six shards give the message back.")
	shards, err := codec.Split(message)
	if err != nil {
		panic(err)
	}
	if err := codec.Encode(shards); err != nil {
		panic(err)
	}

	shards[0], shards[3] = nil, nil // two disks fail

	if err := codec.ReconstructData(shards); err != nil {
		panic(err)
	}
	codec.Join(os.Stdout, shards, len(message))
	// Output: Any four of the six shards give the message back.
}

// Checksums of the shards find out which are lost. A code cannot: it trusts what it is given.
func ExampleCodec_Reconstruct() {
	codec, err := erasure.New(3, 2)
	if err != nil {
		panic(err)
	}
	shards, _ := codec.Split([]byte("stored on five machines"))
	if err := codec.Encode(shards); err != nil {
		panic(err)
	}
	var sums [][32]byte // stored with the shards, or apart from them
	for _, s := range shards {
		sums = append(sums, sha256.Sum256(s))
	}

	shards[1][0] ^= 1         // a bit flips
	shards[4] = shards[4][:5] // a write was not complete

	for i, s := range shards {
		if sha256.Sum256(s) != sums[i] {
			fmt.Println("shard", i, "is damaged")
			shards[i] = nil
		}
	}
	if err := codec.Reconstruct(shards); err != nil {
		panic(err)
	}
	for i, s := range shards {
		if sha256.Sum256(s) != sums[i] {
			panic("rebuilt wrongly")
		}
	}
	// Output:
	// shard 1 is damaged
	// shard 4 is damaged
}

// One shard is needed: only that is rebuilt, into memory that is there.
func ExampleCodec_ReconstructSome() {
	codec, err := erasure.New(3, 2)
	if err != nil {
		panic(err)
	}
	shards, _ := codec.Split([]byte("123456789"))
	if err := codec.Encode(shards); err != nil {
		panic(err)
	}

	buffer := make([]byte, 0, 4096)
	shards[0], shards[1] = nil, buffer // lost
	err = codec.ReconstructSome(shards, []bool{false, true, false})
	if err != nil {
		panic(err)
	}
	fmt.Printf("%q %q\n", shards[0], shards[1])
	// Output: "" "456"
}

// A data shard changes: parity follows, without the other data shards.
func ExampleCodec_Update() {
	codec, err := erasure.New(3, 2)
	if err != nil {
		panic(err)
	}
	shards, _ := codec.Split([]byte("old data!"))
	if err := codec.Encode(shards); err != nil {
		panic(err)
	}

	changed := make([][]byte, 3)
	changed[0] = []byte("new")
	stored := [][]byte{shards[0], nil, nil, shards[3], shards[4]} // what has to be read
	if err := codec.Update(stored, changed); err != nil {
		panic(err)
	}
	shards[0] = changed[0] // this is the caller's

	ok, err := codec.Verify(shards)
	fmt.Println(ok, err)
	// Output: true <nil>
}

// A few bytes of a shard change, as in a file system.
func ExampleCodec_UpdateAt() {
	codec, err := erasure.New(2, 2)
	if err != nil {
		panic(err)
	}
	shards, _ := codec.Split([]byte("block 0 block 1 "))
	if err := codec.Encode(shards); err != nil {
		panic(err)
	}

	old, new := shards[1][6:7], []byte("7")
	if err := codec.UpdateAt(shards[2:], 1, 6, old, new); err != nil {
		panic(err)
	}
	copy(shards[1][6:], new)

	ok, err := codec.Verify(shards)
	fmt.Printf("%q %v %v\n", shards[1], ok, err)
	// Output: "block 7 " true <nil>
}

// Two machines hold two data shards each. Each sends one set of parity, and not its shards.
func ExampleCodec_EncodeIdx() {
	codec, err := erasure.New(4, 2)
	if err != nil {
		panic(err)
	}
	data := [][]byte{[]byte("1st."), []byte("2nd."), []byte("3rd."), []byte("4th.")}
	contribution := func(from, to int) [][]byte {
		parity := [][]byte{make([]byte, 4), make([]byte, 4)}
		for i := from; i < to; i++ {
			if err := codec.EncodeIdx(data[i], i, parity); err != nil {
				panic(err)
			}
		}
		return parity
	}
	a, b := contribution(0, 2), contribution(2, 4)

	// DecodeIdx without expected inputs adds results up.
	sum := append(make([][]byte, 4), a...)
	if err := codec.DecodeIdx(sum, nil, append(make([][]byte, 4), b...)); err != nil {
		panic(err)
	}

	ok, err := codec.Verify(append(data, sum[4:]...))
	fmt.Println(ok, err)
	// Output: true <nil>
}

// Which shard is corrupt, where there are no checksums.
func ExampleCodec_Locate() {
	codec, err := erasure.New(4, 2)
	if err != nil {
		panic(err)
	}
	shards, _ := codec.Split([]byte("nobody kept checksums"))
	if err := codec.Encode(shards); err != nil {
		panic(err)
	}
	shards[2][3] = '?'

	corrupt, err := codec.Locate(shards)
	if err != nil {
		panic(err)
	}
	fmt.Println("corrupt:", corrupt)
	for _, i := range corrupt {
		shards[i] = nil
	}
	if err := codec.Reconstruct(shards); err != nil {
		panic(err)
	}
	codec.Join(os.Stdout, shards, 21)
	// Output:
	// corrupt: [2]
	// nobody kept checksums
}

// A matrix that cannot make up for every loss says so, and which shards are at fault.
func ExampleSingularError() {
	codec, err := erasure.New(6, 5, erasure.WithMatrix(erasure.ISALVandermonde))
	if err != nil {
		panic(err)
	}
	shards, _ := codec.Split([]byte("six shards of data"))
	if err := codec.Encode(shards); err != nil {
		panic(err)
	}
	for _, i := range []int{0, 2, 5, 7, 8} {
		shards[i] = nil
	}
	err = codec.Reconstruct(shards)
	fmt.Println(err)
	var singular *erasure.SingularError
	fmt.Println(errors.As(err, &singular))
	// Output:
	// erasure: singular matrix: shards 0 2 5 7 8 cannot be rebuilt, because shards 1 3 4 6 9 10 are linearly dependent
	// true
}

// Shards larger than memory, with progress, until a context says stop. Files take the place of the buffers.
func ExampleStream() {
	codec, err := erasure.New(2, 1)
	if err != nil {
		panic(err)
	}
	s := &erasure.Stream{Codec: codec, BlockSize: 4, Progress: func(done int64) error {
		fmt.Println(done, "bytes of each shard")
		return nil // ctx.Err()
	}}
	var parity bytes.Buffer
	data := []string{"one shard!", "and other."}
	err = s.Encode([]io.Reader{bytes.NewBufferString(data[0]), bytes.NewBufferString(data[1])}, []io.Writer{&parity})
	if err != nil {
		panic(err)
	}

	valid := []io.Reader{nil, bytes.NewBufferString(data[1]), &parity}
	fill := []io.Writer{os.Stdout, nil, nil}
	s.Progress = nil
	if err := s.Reconstruct(valid, fill); err != nil {
		panic(err)
	}
	// Output:
	// 4 bytes of each shard
	// 8 bytes of each shard
	// 10 bytes of each shard
	// one shard!
}
