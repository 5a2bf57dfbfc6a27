package testkit

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/bits"
	"testing"
)

// A SectorsCheck is what TestSectors needs to know of a mode for disks.
type SectorsCheck struct {
	Block, Batch     int // a block in bytes, and how many its cipher takes at a time
	Encrypt, Decrypt func(dst, src []byte, size int, first uint64)
	// Unit is the reference: it encrypts one sector, whose number is the tweak, little-endian.
	Unit func(dst, src []byte, tweak [16]byte)
}

// TestSectors checks a mode for disks against a reference.
func TestSectors(t *testing.T, c SectorsCheck) {
	t.Run("sizes", func(t *testing.T) { c.testSizes(t) })
	t.Run("goroutines", func(t *testing.T) { c.testGoroutines(t) })
	t.Run("long", func(t *testing.T) { c.testLong(t) })
}

func (c *SectorsCheck) sizes() (sizes []int) {
	x := transform{size: c.Block, unit: 1, batch: c.Batch}
	for _, n := range x.lengths() {
		if n >= c.Block {
			sizes = append(sizes, n)
		}
	}
	return sizes
}

func (c *SectorsCheck) want(src []byte, size int, first uint64) []byte {
	dst := make([]byte, len(src))
	for i := 0; i < len(src); i += size {
		var tweak [16]byte
		lo, carry := bits.Add64(first, uint64(i/size), 0)
		binary.LittleEndian.PutUint64(tweak[:], lo)
		binary.LittleEndian.PutUint64(tweak[8:], carry)
		c.Unit(dst[i:i+size], src[i:i+size], tweak)
	}
	return dst
}

// testSizes checks sectors of every size, several to a call, between pages that fault, apart and in place.
func (c *SectorsCheck) testSizes(t *testing.T) {
	sizes := c.sizes()
	longest := 0
	for _, n := range sizes {
		longest = max(longest, n)
	}
	room := max(3*longest, 200*c.Block) + 64
	memory := [2][]byte{Guarded(t, room), Guarded(t, room)}
	for i, size := range sizes {
		counts := []int{1, 2 + i%2}
		if size < 3*c.Block {
			counts = append(counts, 65, 66) // more sectors than a buffer may have room for
		}
		for _, count := range counts {
			n := count * size
			src := Random(fmt.Sprint("sectors", size), n)
			first := []uint64{0, 1, 1<<32 - 1, 1<<63 + 5}[i%4]
			want := c.want(src, size, first)
			for _, back := range []bool{false, true} {
				var b [2][]byte
				for j, m := range memory {
					offset := Size().Offsets[(i+5*j)%len(Size().Offsets)] % 64
					spoil(m)
					if back {
						offset = len(m) - n - offset
					}
					b[j] = m[offset : offset+n : offset+n]
				}
				check := func(what string, got, want []byte) {
					t.Helper()
					if k := firstDifference(got, want); k >= 0 {
						t.Fatalf("%d sectors of %d bytes, %s: wrong from byte %d on", count, size, what, k)
					}
				}
				copy(b[0], src)
				c.Encrypt(b[1], b[0], size, first)
				check("encrypted", b[1], want)
				check("the source of encryption", b[0], src)
				c.Decrypt(b[0], b[1], size, first)
				check("decrypted", b[0], src)
				check("the source of decryption", b[1], want)
				c.Encrypt(b[0], b[0], size, first)
				check("encrypted in place", b[0], want)
				c.Decrypt(b[0], b[0], size, first)
				check("decrypted in place", b[0], src)
				for j, m := range memory {
					spoil(b[j])
					if !intact(m) {
						t.Fatalf("%d sectors of %d bytes: written outside", count, size)
					}
				}
			}
		}
	}
	// A destination that is longer.
	src, dst := Random("longer", 3*c.Block+1), bytes.Repeat([]byte{canary}, 5*c.Block)
	c.Encrypt(dst, src, len(src), 3)
	mustEqual(t, dst[:len(src)], c.want(src, len(src), 3), "to a longer destination")
	if !intact(dst[len(src):]) {
		t.Error("written past the end")
	}
}

func (c *SectorsCheck) testGoroutines(t *testing.T) {
	t.Parallel()
	const sectors = 5
	for g := range 8 {
		t.Run(fmt.Sprint(g), func(t *testing.T) {
			t.Parallel()
			size := (g+2)*c.Block + g%3
			src := Random(t.Name(), sectors*size)
			want := c.want(src, size, uint64(g))
			buf := make([]byte, len(src))
			for range Size().Rounds {
				c.Encrypt(buf, src, size, uint64(g))
				mustEqual(t, buf, want, "encrypted")
				c.Decrypt(buf, buf, size, uint64(g))
				mustEqual(t, buf, src, "decrypted")
			}
		})
	}
}

// testLong has one large sector, and many sectors.
func (c *SectorsCheck) testLong(t *testing.T) {
	n := Size().Long * c.Block
	for _, size := range []int{n, 512, 4096} {
		src := Random("long", n/size*size)
		want := c.want(src, size, 1<<64-3) // and on, past 2⁶⁴
		got := bytes.Clone(src)
		c.Encrypt(got, got, size, 1<<64-3)
		if i := firstDifference(got, want); i >= 0 {
			t.Errorf("sectors of %d bytes: wrong from byte %d on", size, i)
		}
		c.Decrypt(got, got, size, 1<<64-3)
		if i := firstDifference(got, src); i >= 0 {
			t.Errorf("sectors of %d bytes: decrypted wrongly from byte %d on", size, i)
		}
	}
}
