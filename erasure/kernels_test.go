package erasure

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"unsafe"

	"github.com/twogather/twogather/internal/testkit"
)

// slowMul is the product in the field, bit by bit. It shares nothing with the package.
func slowMul(a, b byte) byte {
	p := 0
	for bit := 7; bit >= 0; bit-- {
		if p <<= 1; p > 0xff {
			p ^= 0x11d
		}
		if b>>bit&1 != 0 {
			p ^= int(a)
		}
	}
	return byte(p)
}

// slowProducts are all products.
var slowProducts = func() (all [256][256]byte) {
	for a := range all {
		for b := range all[a] {
			all[a][b] = slowMul(byte(a), byte(b))
		}
	}
	return all
}()

// slowUpdate adds c·source to output.
func slowUpdate(output []byte, c byte, source []byte) {
	for i, x := range source {
		output[i] ^= slowProducts[c][x]
	}
}

// A kind of matrix.
var matrixKinds = []struct {
	name string
	make func(r *rand.Rand, rows, columns int) [][]byte
}{
	{"dense", func(r *rand.Rand, rows, columns int) [][]byte {
		return newMatrix(rows, columns, func(int, int) byte { return byte(2 + r.IntN(254)) })
	}},
	{"any", func(r *rand.Rand, rows, columns int) [][]byte {
		return newMatrix(rows, columns, func(int, int) byte { return byte(r.Uint32()) })
	}},
	// The first row and column of ones, as in the normalised Cauchy matrix.
	{"normalised", func(r *rand.Rand, rows, columns int) [][]byte {
		return newMatrix(rows, columns, func(i, j int) byte {
			if i == 0 || j == 0 {
				return 1
			}
			return byte(2 + r.IntN(254))
		})
	}},
	// The last columns of ones, as one of Backblaze's is for 17+3.
	{"turned", func(r *rand.Rand, rows, columns int) [][]byte {
		ones := 1 + r.IntN(2)
		return newMatrix(rows, columns, func(i, j int) byte {
			if j >= columns-ones {
				return 1
			}
			return byte(2 + r.IntN(254))
		})
	}},
	// Rows and columns of all sorts, in any order.
	{"sparse", func(r *rand.Rand, rows, columns int) [][]byte {
		of := []byte{0, 1, byte(2 + r.IntN(254)), byte(r.Uint32())}
		row, column := make([]int, rows), make([]int, columns)
		for _, s := range [][]int{row, column} {
			for i := range s {
				s[i] = r.IntN(6)
			}
		}
		return newMatrix(rows, columns, func(i, j int) byte {
			switch {
			case row[i] < 2:
				return of[row[i]]
			case column[j] < 2:
				return of[column[j]]
			case row[i] == 2:
				return of[r.IntN(2)]
			}
			return of[r.IntN(len(of))]
		})
	}},
}

func newMatrix(rows, columns int, f func(i, j int) byte) [][]byte {
	m := make([][]byte, rows)
	for i := range m {
		m[i] = make([]byte, columns)
		for j := range m[i] {
			m[i][j] = f(i, j)
		}
	}
	return m
}

const canary = 0xc5

// A bench is guarded memory for shards.
type bench struct {
	t      *testing.T
	memory [][]byte
	from   []int // where the shards begin that were placed last
	r      *rand.Rand
}

func newBench(t *testing.T, shards, n int) *bench {
	b := &bench{t: t, r: rand.New(rand.NewPCG(7, uint64(shards)))}
	for range shards {
		b.memory = append(b.memory, testkit.Guarded(t, n))
	}
	return b
}

// margin is how much around a shard is watched. Beyond the memory's edges are pages that fault.
const margin = 160

// around returns what is watched around the shard of n bytes at an offset in memory.
func around(memory []byte, from, n int) (before, behind []byte) {
	return memory[max(from-margin, 0):from], memory[from+n : min(from+n+margin, len(memory))]
}

// place returns shards of n bytes, shard i so far from the beginning or the end of its memory, with canaries around them.
func (b *bench) place(shards, n int, atEnd bool, offset func(i int) int) [][]byte {
	s := make([][]byte, shards)
	b.from = b.from[:0]
	for i := range s {
		memory := b.memory[i]
		from := offset(i)
		if atEnd {
			from = len(memory) - from - n
		}
		for j := range margin {
			for _, at := range []int{from - 1 - j, from + n + j} {
				if at >= 0 && at < len(memory) {
					memory[at] = canary
				}
			}
		}
		s[i] = memory[from : from+n : from+n]
		b.from = append(b.from, from)
	}
	return s
}

func aligned(int) int { return 0 }

func staggered(i int) int { return i * 192 % 4096 }

var noise = testkit.Random("noise", 1<<16)

func (b *bench) fill(s [][]byte) {
	for _, x := range s {
		copy(x, noise[b.r.IntN(len(noise)-len(x)):])
	}
}

// intact checks that nothing around the shards was written to.
func (b *bench) intact(s [][]byte, what string) {
	for i, x := range s {
		before, behind := around(b.memory[i], b.from[i], len(x))
		if bytes.Count(before, []byte{canary}) != len(before) || bytes.Count(behind, []byte{canary}) != len(behind) {
			b.t.Fatalf("%s: memory around shard %d was written to", what, i)
		}
	}
}

func cloneAll(s [][]byte) [][]byte {
	c := make([][]byte, len(s))
	for i := range s {
		c[i] = bytes.Clone(s[i])
	}
	return c
}

// sameHeaders reports whether two lists hold the same slices.
func sameHeaders(a, b [][]byte) bool {
	return slices.EqualFunc(a, b, func(x, y []byte) bool {
		return unsafe.SliceData(x) == unsafe.SliceData(y) && len(x) == len(y) && cap(x) == cap(y)
	})
}

// entriesOf returns all that kernels read of tables.
func entriesOf(tables *Tables) []byte {
	all := bytes.Clone(tables.coefficients)
	for i := range tables.groups {
		all = append(all, tables.groups[i].entries...)
	}
	for j := range tables.columns {
		for _, e := range tables.columnEntries(j) {
			all = append(all, e[:]...)
		}
	}
	return all
}

// check encodes and updates once. Sources come first among the shards, then outputs.
func (b *bench) check(tables *Tables, matrix [][]byte, shards [][]byte) {
	b.t.Helper()
	k := len(matrix[0])
	sources, outputs := shards[:k], shards[k:]
	what := fmt.Sprintf("%d sources, %d outputs, %d bytes", k, len(outputs), len(shards[0]))
	headers := slices.Clone(shards)
	b.fill(sources)
	before, entries := cloneAll(sources), entriesOf(tables)
	want := make([][]byte, len(outputs))
	for i, out := range outputs {
		for j := range out {
			out[j] = 0xff
		}
		want[i] = make([]byte, len(out))
		for j, c := range matrix[i] {
			slowUpdate(want[i], c, sources[j])
		}
	}
	tables.encode(outputs, sources)
	verify := func(op string) {
		b.t.Helper()
		for i := range outputs {
			if !bytes.Equal(outputs[i], want[i]) {
				b.t.Fatalf("%s, %s: output %d is wrong", op, what, i)
			}
		}
		for i := range sources {
			if !bytes.Equal(sources[i], before[i]) {
				b.t.Fatalf("%s, %s: source %d was written to", op, what, i)
			}
		}
		if !sameHeaders(shards, headers) {
			b.t.Fatalf("%s, %s: the caller's headers were written to", op, what)
		}
		if !bytes.Equal(entriesOf(tables), entries) {
			b.t.Fatalf("%s, %s: the tables were written to", op, what)
		}
		b.intact(shards, op+", "+what)
	}
	verify("encode")

	column := b.r.IntN(k)
	for i := range outputs {
		slowUpdate(want[i], matrix[i][column], sources[column])
	}
	tables.update(outputs, column, sources[column])
	verify("update")
}

func must(t *testing.T, matrix [][]byte, k int) *Tables {
	t.Helper()
	tables, err := newTablesWith(matrix, k)
	if err != nil {
		t.Fatal(err)
	}
	return tables
}

// lengths are all lengths up to 130 bytes and those around every kernel's steps.
func lengths() []int {
	var s []int
	if testkit.Boundary() {
		return []int{0, 1, 31, 63, 64, 65, 127, 128, 129, 191, 320, 383, 1030}
	}
	for n := range 131 {
		s = append(s, n)
	}
	for _, n := range []int{192, 256, 320, 384, 512, 1024, 2048} {
		s = append(s, n-1, n, n+1, n+63)
	}
	return s
}

func TestKernels(t *testing.T) {
	testkit.Kernels(t, primitive, kernels, func(t *testing.T, kernel int) {
		t.Run("lengths", func(t *testing.T) {
			b := newBench(t, 12, 2200)
			for i, n := range lengths() {
				for _, shape := range [][2]int{{1, 1}, {3, 2}, {4, 3}, {5, 4}, {3, 5}, {5, 6}, {2, 7}, {3, 8}} {
					kind := matrixKinds[i%len(matrixKinds)]
					matrix := kind.make(b.r, shape[1], shape[0])
					tables := must(t, matrix, kernel)
					for _, atEnd := range []bool{false, true} {
						b.check(tables, matrix, b.place(shape[0]+shape[1], n, atEnd, aligned))
					}
				}
			}
		})
		t.Run("shapes", func(t *testing.T) {
			b := newBench(t, 28, 400)
			sizes := []int{40, 64, 150, 200, 321}
			if testkit.Boundary() {
				sizes = []int{150}
			}
			for _, kind := range matrixKinds {
				for k := 1; k <= 20; k++ {
					if testkit.Boundary() && k > 3 && k != 11 {
						continue
					}
					for p := 1; p <= 8; p++ {
						matrix := kind.make(b.r, p, k)
						tables := must(t, matrix, kernel)
						for _, n := range sizes {
							b.check(tables, matrix, b.place(k+p, n, n%2 == 0, aligned))
						}
					}
				}
			}
		})
		t.Run("offsets", func(t *testing.T) {
			b := newBench(t, 9, 600)
			for p := 1; p <= 6; p++ {
				matrix := matrixKinds[0].make(b.r, p, 3)
				tables := must(t, matrix, kernel)
				for offset := range 64 {
					if testkit.Boundary() && offset%9 != 0 {
						continue
					}
					// Each shard is at each offset once, and they differ.
					b.check(tables, matrix, b.place(3+p, 300-offset, offset%2 == 1, func(i int) int { return (offset + 7*i) % 64 }))
				}
			}
		})
		t.Run("large", func(t *testing.T) {
			shapes, kinds, lengths := [][2]int{{50, 20}, {200, 50}, {17, 3}, {255, 1}, {1, 255}, {30, 13}}, matrixKinds, []int{17, 64, 1500, 2600}
			if testkit.Boundary() {
				shapes, kinds, lengths = [][2]int{{30, 13}, {17, 3}}, matrixKinds[1:3], []int{17, 2300}
			}
			for _, shape := range shapes {
				b := newBench(t, shape[0]+shape[1], 6000)
				for _, kind := range kinds {
					matrix := kind.make(b.r, shape[1], shape[0])
					tables := must(t, matrix, kernel)
					for _, n := range lengths {
						// Aligned shards lie on the same cache sets, staggered ones do not.
						b.check(tables, matrix, b.place(shape[0]+shape[1], n, n%2 == 0, aligned))
						b.check(tables, matrix, b.place(shape[0]+shape[1], n, n%2 == 0, staggered))
					}
				}
			}
		})
	})
}
