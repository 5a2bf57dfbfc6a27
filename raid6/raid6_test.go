package raid6

import (
	"bytes"
	"testing"

	"github.com/twogather/twogather/internal/testkit"
)

// reference computes P and Q from their definition, a coefficient at a time.
func reference(data [][]byte) (p, q []byte) {
	p, q = make([]byte, len(data[0])), make([]byte, len(data[0]))
	for z, d := range data {
		for i, v := range d {
			p[i] ^= v
			for bit := range 8 {
				if v>>bit&1 == 1 {
					q[i] ^= alpha(z + bit)
				}
			}
		}
	}
	return p, q
}

// alpha returns x^n modulo x^8 + x^4 + x^3 + x^2 + 1.
func alpha(n int) byte {
	v := 1
	for range n {
		if v <<= 1; v > 255 {
			v ^= 0x11d
		}
	}
	return byte(v)
}

func array(seed string, n, length int) (disks [][]byte) {
	disks = make([][]byte, n+2)
	for i := range n {
		disks[i] = bytes.Clone(testkit.Random(seed, (i+1)*length)[i*length:])
	}
	disks[n], disks[n+1] = reference(disks[:n])
	return disks
}

func TestQuick(t *testing.T) {
	testkit.Kernels(t, primitive, kernels, func(t *testing.T, i int) {
		c := withKernel(i)
		for _, n := range []int{2, 3, 4, 7, 8, 9, 30} {
			for _, length := range []int{1, 2, 3, 31, 32, 63, 64, 127, 128, 129, 191, 255, 300, 1000, 4096 + 37} {
				disks := array("quick", n, length)
				got := make([][]byte, len(disks))
				for i := range got {
					got[i] = bytes.Clone(disks[i])
				}
				spoil(got[n])
				spoil(got[n+1])
				if err := c.GenSyndrome(got[:n], got[n], got[n+1]); err != nil {
					t.Fatal(err)
				}
				if !bytes.Equal(got[n], disks[n]) || !bytes.Equal(got[n+1], disks[n+1]) {
					t.Fatalf("n=%d length=%d", n, length)
				}
				for x := range got {
					for y := range x + 1 {
						spoil(got[x])
						spoil(got[y])
						f := []int{x, y}
						if x == y {
							f = f[:1]
						}
						if err := c.Recover(got, f...); err != nil {
							t.Fatal(err)
						}
						for i := range got {
							if !bytes.Equal(got[i], disks[i]) {
								t.Fatalf("n=%d length=%d lost %d %d: disk %d", n, length, x, y, i)
							}
						}
					}
				}
			}
		}
	})
}

func spoil(b []byte) {
	for i := range b {
		b[i] = 0xff
	}
}
