//go:build !purego

package raid6

import (
	"bytes"
	"fmt"
	"slices"
	"testing"

	"github.com/twogather/twogather/hwfeatures"
	"github.com/twogather/twogather/internal/testkit"
)

// vectorLengths returns the lengths of buffers at which a kernel does something else, whatever the length of a scalable
// vector: up to four of those at a time, or eight of NEON's, and what they leave.
func vectorLengths() []int {
	s := []int{0, 1, 2, 3, 4, 7, 8, 9, 12, 14}
	for _, vector := range []int{16, 32, 64, 128, 256} {
		for _, n := range []int{1, 2, 4, 5} {
			s = append(s, n*vector-1, n*vector, n*vector+1)
		}
	}
	s = append(s, 128+15, 2*1024+1, 2*1024+256+31)
	slices.Sort(s)
	return slices.Compact(s)
}

// TestARMDefault asks for the default of processors of each kind.
func TestARMDefault(t *testing.T) {
	const long = hwfeatures.SVEBeatsNEON
	for features, want := range map[hwfeatures.Set]string{0: "generic", neon: "neonx8", sve: "neonx8", neon | long: "neonx8", sve | long: "svex4"} {
		if got := kernels[kernels.Default(features)].Name; got != want {
			t.Errorf("%v: %s, want %s", features, got, want)
		}
	}
}

// buffers are chunks that end or begin at pages that fault.
type buffers struct {
	memory [][]byte
	atEnd  bool
}

func newBuffers(t *testing.T, n, length int) *buffers {
	b := new(buffers)
	for range n {
		b.memory = append(b.memory, testkit.Guarded(t, length))
	}
	return b
}

// chunks returns buffers of n bytes with other bytes in each.
func (b *buffers) chunks(n int) [][]byte {
	chunks := make([][]byte, len(b.memory))
	for i, m := range b.memory {
		if b.atEnd {
			m = m[len(m)-n:]
		}
		chunks[i] = m[:n:n]
		copy(chunks[i], testkit.Random("chunks", n+7*i)[7*i:])
	}
	return chunks
}

// TestWalks compares what functions over disks do with what the definition of P and Q says, with all runs that there can be.
func TestWalks(t *testing.T) {
	const most = 8
	b := newBuffers(t, most+2, vectorLengths()[len(vectorLengths())-1]+64)
	testkit.Kernels(t, primitive, kernels, func(t *testing.T, i int) {
		f := kernels[i].Funcs
		for li, length := range vectorLengths() {
			for n := 1; n <= most; n++ {
				if testkit.Boundary() && (n+li)%2 == 0 && n > 5 {
					continue
				}
				b.atEnd = (li+n)%2 == 0
				carry := (li+n)%3 == 0
				offset := 0
				if (li+n)%5 == 0 {
					offset = 37
				}
				for high := -1; high < n; high++ {
					for low := -1; low < max(high, 0); low++ {
						if high == n-1 && !carry {
							continue // the last disk is not lost without a carry
						}
						if testkit.Boundary() && n > 3 && (high+low+li)%4 != 0 {
							continue
						}
						what := fmt.Sprintf("%d disks, %d bytes from %d, carry %v, lost %d and %d", n, length, offset, carry, low, high)
						chunks := b.chunks(offset + length)
						data, p, q := chunks[:n], chunks[most][:length], chunks[most+1][:length]
						before := make([][]byte, n)
						wantP, wantQ := make([]byte, length), make([]byte, length)
						if carry {
							copy(wantP, p)
							copy(wantQ, q)
							for i := range wantQ {
								for range n {
									wantQ[i] = slowDouble(wantQ[i])
								}
							}
						}
						for z, d := range data {
							before[z] = bytes.Clone(d)
							if z == high || z == low {
								continue
							}
							for i, v := range d[offset:] {
								wantP[i] ^= v
								for range z {
									v = slowDouble(v)
								}
								wantQ[i] ^= v
							}
						}
						s := newStep(offset, n, carry, [2]int{high, low})
						onlyP := bytes.Clone(p)
						f.syndrome(p, q, data, &s)
						if !bytes.Equal(p, wantP) || !bytes.Equal(q, wantQ) {
							t.Fatalf("syndrome: %s", what)
						}
						f.parity(onlyP, data, &s)
						if !bytes.Equal(onlyP, wantP) {
							t.Fatalf("parity: %s", what)
						}
						if high < 0 && !carry {
							factor := byte(3*n + 7)
							s.product = &products()[factor]
							copy(p, testkit.Random("p", length))
							copy(q, testkit.Random("q", length))
							for i := range p {
								wantP[i] ^= p[i]
								wantQ[i] = q[i] ^ slowProduct(factor, wantQ[i])
							}
							f.xorSyndrome(p, q, data, &s)
							if !bytes.Equal(p, wantP) || !bytes.Equal(q, wantQ) {
								t.Fatalf("xorSyndrome: %s", what)
							}
						}
						for z := range data {
							if !bytes.Equal(data[z], before[z]) {
								t.Fatalf("%s: disk %d was written to", what, z)
							}
						}
					}
				}
			}
		}
	})
}

// TestRecoveries does the same for the functions that end a recovery.
func TestRecoveries(t *testing.T) {
	b := newBuffers(t, 4, vectorLengths()[len(vectorLengths())-1])
	testkit.Kernels(t, primitive, kernels, func(t *testing.T, i int) {
		f := kernels[i].Funcs
		for li, length := range vectorLengths() {
			b.atEnd = li%2 == 0
			c, d := byte(5*li+2), byte(255-3*li)
			chunks := b.chunks(length)
			x, y, p, q := chunks[0], chunks[1], chunks[2], chunks[3]
			wantX, wantY := make([]byte, length), make([]byte, length)
			for i := range x {
				wantX[i] = slowProduct(c, x[i]^p[i]) ^ slowProduct(d, y[i]^q[i])
				wantY[i] = wantX[i] ^ x[i] ^ p[i]
			}
			keptP, keptQ := bytes.Clone(p), bytes.Clone(q)
			f.recoverData(x, y, p, q, &products()[c], &products()[d])
			if !bytes.Equal(x, wantX) || !bytes.Equal(y, wantY) || !bytes.Equal(p, keptP) || !bytes.Equal(q, keptQ) {
				t.Fatalf("recoverData: %d bytes", length)
			}
			wantP := make([]byte, length)
			for i := range x {
				wantX[i] = slowProduct(d, x[i]^q[i])
				wantP[i] = p[i] ^ wantX[i]
			}
			f.recoverP(x, p, q, &products()[d])
			if !bytes.Equal(x, wantX) || !bytes.Equal(p, wantP) || !bytes.Equal(q, keptQ) {
				t.Fatalf("recoverP: %d bytes", length)
			}
		}
	})
}

func slowDouble(v byte) byte {
	if v >= 0x80 {
		return v<<1 ^ 0x1d
	}
	return v << 1
}

func slowProduct(a, b byte) byte {
	sum := byte(0)
	for bit := 7; bit >= 0; bit-- {
		sum = slowDouble(sum)
		if b>>bit&1 == 1 {
			sum ^= a
		}
	}
	return sum
}
