package erasure_test

import (
	"bytes"
	"errors"
	"slices"
	"testing"

	"github.com/twogather/twogather/erasure"
)

// Any square matrix is inverted, or has rows that are linearly dependent.
func FuzzInvert(f *testing.F) {
	f.Add([]byte{})
	f.Add([]byte{0})
	f.Add([]byte{1, 2, 3, 4})
	f.Add([]byte{1, 1, 1, 1, 2, 4, 1, 3, 5})
	f.Add([]byte{0, 0, 1, 0, 1, 0, 1, 0, 0})
	f.Fuzz(func(t *testing.T, elements []byte) {
		n := 0
		for (n+1)*(n+1) <= len(elements) && n < 40 {
			n++
		}
		var m [][]byte
		for i := range n {
			m = append(m, elements[i*n:][:n])
		}
		inverse, err := erasure.Invert(m)
		if rank(m) < n {
			checkSingular(t, m, err)
		} else if err != nil || n > 0 && !equal(matrixProduct(inverse, m), identity(n)) {
			t.Fatalf("%v: %v, %v", m, inverse, err)
		}
	})
}

// Any matrix, length and loss: what is rebuilt is right, and what is not could not be.
func FuzzReconstruct(f *testing.F) {
	f.Add(uint8(3), uint8(2), uint64(0b10010), []byte{1, 1, 1, 1, 1, 2, 3, 4, 5, 6, 7, 8})
	f.Add(uint8(0), uint8(1), uint64(1), []byte{1, 2})
	f.Add(uint8(4), uint8(6), uint64(1<<0|1<<1|1<<4|1<<6|1<<7|1<<9), []byte{
		1, 1, 1, 1, 1, 1, 2, 4, 8, 16, 1, 4, 16, 64, 29, 1, 8, 64, 58, 205, 1, 16, 29, 205, 76, 1, 32, 116, 38, 180, 'd', 'a', 't', 'a', 0})
	f.Fuzz(func(t *testing.T, k, p uint8, lost uint64, b []byte) {
		data, parity := 1+int(k)%16, int(p)%16
		if len(b) < data*parity+data {
			t.Skip()
		}
		matrix := slices.Collect(slices.Chunk(b[:data*parity], data))
		b = b[data*parity:]
		size := len(b) / data
		want := slices.Collect(slices.Chunk(b[:size*data], size))
		c, err := erasure.New(data, parity, erasure.WithCustomMatrix(matrix))
		for _, row := range matrix {
			if rank([][]byte{row}) == 0 {
				mustBe(t, err, erasure.ErrMatrix, "a row of zeros")
				return
			}
		}
		if err != nil {
			t.Fatal(err)
		}
		for range parity {
			want = append(want, bytes.Repeat([]byte{0xFF}, size))
		}
		if err := c.Encode(want); err != nil {
			t.Fatal(err)
		}
		if !equal(want[data:], matrixProduct(matrix, want[:data])) {
			t.Fatal("wrong parity")
		}
		shards := slices.Clone(want)
		generator := append(identity(data), matrix...)
		var left, gone [][]byte
		for i := range shards {
			if lost>>i&1 == 1 {
				shards[i] = nil
				gone = append(gone, generator[i])
			} else {
				left = append(left, generator[i])
			}
		}
		err = c.Reconstruct(shards)
		var singular *erasure.SingularError
		possible := rank(append(slices.Clip(left), gone...)) == rank(left)
		switch {
		case len(left) == 0:
			mustBe(t, err, erasure.ErrShardNoData, "nothing left")
		case possible && (err != nil || !equal(shards, want)):
			t.Fatalf("lost %b: %v", lost, err)
		case !possible && len(left) < data:
			mustBe(t, err, erasure.ErrTooFewShards, "too few left")
		case !possible && !errors.As(err, &singular):
			t.Fatalf("lost %b: %v", lost, err)
		case !possible:
			checkSingular(t, generator, err)
		}
	})
}

// What is split comes back, whatever lies behind it and whatever is lost.
func FuzzSplitJoin(f *testing.F) {
	f.Add(uint8(10), uint8(4), uint16(3), uint64(0b11), []byte("the quick brown fox jumps over the lazy dog"))
	f.Add(uint8(0), uint8(0), uint16(0), uint64(0), []byte("x"))
	f.Add(uint8(200), uint8(55), uint16(1000), uint64(1<<63|1), []byte("more shards than bytes"))
	f.Fuzz(func(t *testing.T, k, p uint8, spare uint16, lost uint64, b []byte) {
		data := 1 + int(k)
		parity := min(int(p), 256-data)
		c := newCodec(t, data, parity, erasure.WithMatrix(erasure.NormalisedCauchy))
		memory := append(bytes.Clone(b), bytes.Repeat([]byte{0xFF}, int(spare)+1)...)
		shards, err := c.Split(memory[: len(b) : len(b)+int(spare)])
		if len(b) == 0 {
			mustBe(t, err, erasure.ErrShortData, "nothing")
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		if memory[len(b)+int(spare)] != 0xFF {
			t.Fatal("written behind the capacity")
		}
		if err := c.Encode(shards); err != nil {
			t.Fatal(err)
		}
		for i, n := 0, parity; i < len(shards) && n > 0; i++ {
			if lost>>(i%64)&1 == 1 {
				shards[i] = nil
				n--
			}
		}
		if err := c.Reconstruct(shards); err != nil {
			t.Fatal(err)
		}
		var joined bytes.Buffer
		if err := c.Join(&joined, shards, len(b)); err != nil || !bytes.Equal(joined.Bytes(), b) {
			t.Fatalf("%q, %v", joined.Bytes(), err)
		}
	})
}
