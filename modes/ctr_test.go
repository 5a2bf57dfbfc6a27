package modes_test

import (
	"bytes"
	"crypto/cipher"
	"fmt"
	"math"
	"math/big"
	"testing"

	"github.com/twogather/twogather/internal/testkit"
	"github.com/twogather/twogather/modes"
)

// plus is iv+n as a big-endian number as wide as a block, which wraps.
func plus(iv []byte, n *big.Int) []byte {
	sum := new(big.Int).SetBytes(iv)
	sum.Add(sum, n)
	sum.Mod(sum, new(big.Int).Lsh(big.NewInt(1), uint(8*len(iv))))
	return sum.FillBytes(make([]byte, len(iv)))
}

// keyStream is n blocks of key stream from block start on, each made by itself.
func keyStream(b cipher.Block, iv []byte, start uint64, n int) []byte {
	size := b.BlockSize()
	out := make([]byte, n*size)
	for i := range n {
		block := new(big.Int).SetUint64(start)
		b.Encrypt(out[i*size:], plus(iv, block.Add(block, big.NewInt(int64(i)))))
	}
	return out
}

// carrying returns IVs in front of every carry, with bytes above it that differ: those that are so many blocks away from
// a change of byte size-1-i, and from the wrap.
func carrying(size int, before []int) (ivs [][]byte) {
	for low := 1; low <= size; low++ {
		iv := make([]byte, size)
		for i := range iv[:size-low] {
			iv[i] = byte(0x13*i + 7)
		}
		next := plus(iv, new(big.Int).Lsh(big.NewInt(1), uint(8*low)))
		for _, n := range before {
			ivs = append(ivs, plus(next, big.NewInt(int64(-n))))
		}
	}
	return append(ivs,
		bytes.Repeat([]byte{0xff}, size),
		append(bytes.Repeat([]byte{0xff}, size-1), 0xf4),
		append(make([]byte, size-1), 0xf4),
		testkit.Random("iv", size))
}

// TestCarries compares with a key stream whose counters come from math/big, and with the standard library.
func TestCarries(t *testing.T) {
	before := []int{1, 2, 7, 8, 12, 13, 16, 17, 39, 40, 63}
	lengths := []int{1, 12, 13, 16, 40, 65}
	for _, s := range subjects(t) {
		size := s.block.BlockSize()
		for _, iv := range carrying(size, before) {
			want := keyStream(s.reference, iv, 0, 65)
			std := make([]byte, len(want))
			cipher.NewCTR(s.reference, iv).XORKeyStream(std, std)
			if !bytes.Equal(std, want) {
				t.Fatalf("%s, IV %x: the standard library differs from the reference", s.name, iv)
			}
			for _, n := range lengths {
				got := make([]byte, n*size)
				modes.NewCTR(s.block, iv).XORKeyStream(got, got)
				if !bytes.Equal(got, want[:n*size]) {
					t.Fatalf("%s, IV %x, %d blocks: wrong result", s.name, iv, n)
				}
				clear(got)
				stream := modes.NewCTR(s.block, iv)
				stream.XORKeyStream(got[:1], got[:1])
				stream.XORKeyStream(got[1:], got[1:])
				if !bytes.Equal(got, want[:n*size]) {
					t.Fatalf("%s, IV %x, one byte and the rest of %d blocks: wrong result", s.name, iv, n)
				}
			}
		}
	}
}

func TestSeekBlock(t *testing.T) {
	targets := []uint64{0, 1, 2, 15, 16, 17, 127, 255, 256, 257, 1<<16 - 1, 1 << 16, 1<<28 - 1, 1 << 28, 1<<31 - 1, 1 << 31,
		1<<32 - 1, 1 << 32, 1<<32 + 1, 1<<56 - 1, 1<<60 + 5, 1<<63 - 1, 1 << 63, math.MaxUint64 - 40, math.MaxUint64 - 1, math.MaxUint64}
	const blocks = 41
	for _, s := range subjects(t) {
		size := s.block.BlockSize()
		for _, iv := range carrying(size, []int{1, 40}) {
			x := modes.NewCTR(s.block, iv)
			got := make([]byte, blocks*size)
			for i, n := range targets {
				// From wherever the last one ended: at a block's edge, or inside a block.
				x.XORKeyStream(got[:i], got[:i])
				x.SeekBlock(n)
				clear(got)
				x.XORKeyStream(got[:size/2], got[:size/2])
				x.XORKeyStream(got[size/2:], got[size/2:])
				if want := keyStream(s.reference, iv, n, blocks); !bytes.Equal(got, want) {
					t.Fatalf("%s, IV %x, block %d: wrong result", s.name, iv, n)
				}
			}
			// Back to the start, and nowhere: seeking to where the stream is already.
			x.SeekBlock(0)
			x.XORKeyStream(got[:3*size], make([]byte, 3*size))
			x.SeekBlock(3)
			x.XORKeyStream(got[3*size:], make([]byte, (blocks-3)*size))
			if want := keyStream(s.reference, iv, 0, blocks); !bytes.Equal(got, want) {
				t.Fatalf("%s, IV %x: wrong result back at the start", s.name, iv)
			}
		}
	}
}

func ExampleCTR_SeekBlock() {
	block := toy(16) // a real cipher, such as twofish.New's
	iv := make([]byte, 16)
	message := []byte("The beginning of a file, which somebody read before; and here its end.")
	modes.NewCTR(block, iv).XORKeyStream(message, message)

	// Decrypt from byte 57 on: byte 9 of block 3.
	stream := modes.NewCTR(block, iv)
	stream.SeekBlock(3)
	tail := message[3*16:]
	stream.XORKeyStream(tail, tail)
	fmt.Printf("%s\n", tail[9:])
	// Output: here its end.
}
