package raid6

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"unsafe"

	"github.com/twogather/twogather/hwfeatures"
	"github.com/twogather/twogather/internal/alias"
	"github.com/twogather/twogather/internal/gf256"
	"github.com/twogather/twogather/internal/testkit"
)

// powers[n] is x^n modulo x^8 + x^4 + x^3 + x^2 + 1.
var powers = func() (p [255 + 8]byte) {
	v := 1
	for n := range p {
		p[n] = byte(v)
		if v <<= 1; v > 255 {
			v ^= 0x11d
		}
	}
	return p
}()

// reference computes P and Q from their definition, a bit of a disk at a time.
func reference(data [][]byte) (p, q []byte) {
	p, q = make([]byte, len(data[0])), make([]byte, len(data[0]))
	for z, d := range data {
		for i, v := range d {
			p[i] ^= v
			for bit := 0; v != 0; bit, v = bit+1, v>>1 {
				if v&1 == 1 {
					q[i] ^= powers[z+bit]
				}
			}
		}
	}
	return p, q
}

// fill fills b with what is the same for the same seed.
func fill(b []byte, seed ...uint64) {
	r := rand.New(rand.NewPCG(seed[0], uint64(len(seed))))
	for i := range b {
		b[i] = byte(r.Uint32() >> 7)
	}
}

// spoil fills b with FF: what is added to instead of overwritten shows.
func spoil(b []byte) {
	for i := range b {
		b[i] = 0xff
	}
}

// testArray returns n data disks, P and Q, which nobody may change.
func testArray(n, length int) [][]byte {
	shape := [2]int{n, length}
	if disks, ok := testArrays[shape]; ok {
		return disks
	}
	disks := make([][]byte, n+2)
	for z := range n {
		disks[z] = make([]byte, length)
		fill(disks[z], uint64(n)<<32+uint64(z))
	}
	disks[n], disks[n+1] = reference(disks[:n])
	testArrays[shape] = disks
	return disks
}

// testArrays are kept, since every kernel's tests ask for the same.
var testArrays = make(map[[2]int][][]byte)

func clone(disks [][]byte) [][]byte {
	c := make([][]byte, len(disks))
	for i, d := range disks {
		c[i] = bytes.Clone(d)
	}
	return c
}

// compareDisks compares chunks with what they should be.
func compareDisks(t *testing.T, what string, got, want [][]byte) {
	t.Helper()
	for z := range want {
		if !bytes.Equal(got[z], want[z]) {
			i := 0
			for got[z][i] == want[z][i] {
				i++
			}
			t.Fatalf("%s: disk %d of %d differs at byte %d of %d", what, z, len(want), i, len(want[z]))
		}
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func eachKernel(t *testing.T, f func(t *testing.T, i int, c Code)) {
	t.Helper()
	testkit.Kernels(t, primitive, kernels, func(t *testing.T, i int) { f(t, i, withKernel(i).WithGoroutines(1)) })
}

// lengths returns the lengths at which a kernel changes what it does: around multiples of its stride, and what the tails
// halve to; and where calls and tiles are cut.
func lengths(batch int) []int {
	s := []int{0, 1, 2, 3, 4, 7, 8, 15, 16, 31, 32, 63, 64, 65, 127, 128, 129, 255, 256, 257, 511, 513, page + 37}
	for k := 1; k <= 3; k++ {
		s = append(s, k*batch-1, k*batch, k*batch+1, k*batch+17)
	}
	if !testkit.Boundary() {
		for n := range 3*64 + 2 {
			s = append(s, n)
		}
		s = append(s, tile-1, tile+1, recoveryTile+33)
	}
	slices.Sort(s)
	return slices.Compact(s)
}

// widths are numbers of data disks.
func widths() []int {
	if testkit.Boundary() {
		return []int{2, 3, 9, 10, 17, 255}
	}
	return []int{2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 14, 16, 17, 18, 25, 46, 94, 254, 255}
}

// pairs returns every one and every two of n disks.
func pairs(n int) (s [][]int) {
	for x := range n {
		s = append(s, []int{x})
		for y := range x {
			s = append(s, []int{x, y})
		}
	}
	return s
}

func TestTable(t *testing.T) {
	seen := make(map[string]bool)
	for i := range kernels {
		k := &kernels[i]
		if !regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)*$`).MatchString(k.Name) || seen[k.Name] {
			t.Errorf("name %q", k.Name)
		}
		seen[k.Name] = true
		if f := k.Funcs; k.Batch < 1 || f.syndrome == nil || f.xorSyndrome == nil || f.parity == nil || f.recoverData == nil || f.recoverP == nil {
			t.Errorf("%s lacks something", k.Name)
		}
		if extra := k.Requires &^ hwfeatures.Capabilities(); extra != 0 {
			t.Errorf("%s requires %v, which nothing faults without", k.Name, extra)
		}
	}
	if last := &kernels[len(kernels)-1]; last.Name != "generic" || last.Requires != 0 || last.Prefers != 0 {
		t.Errorf("the last row is %v", last.Info())
	}
	// The assembly has these numbers.
	var s step
	var p product
	for _, o := range []struct {
		name      string
		got, want uintptr
	}{
		{"step.offset", unsafe.Offsetof(s.offset), 0}, {"step.runs", unsafe.Offsetof(s.runs), 8},
		{"step.carry", unsafe.Offsetof(s.carry), 32}, {"step.correction", unsafe.Offsetof(s.correction), 40},
		{"step.product", unsafe.Offsetof(s.product), 48}, {"step.stream", unsafe.Offsetof(s.stream), 56}, {"product.low", unsafe.Offsetof(p.low), 0},
		{"product.high", unsafe.Offsetof(p.high), 16}, {"product.matrix", unsafe.Offsetof(p.matrix), 32},
	} {
		if o.got != o.want && unsafe.Sizeof(uintptr(0)) == 8 {
			t.Errorf("%s lies at %d, not %d", o.name, o.got, o.want)
		}
	}
}

// TestField checks what the tables say with the definition.
func TestField(t *testing.T) {
	product := func(a, b int) (p byte) {
		for i := range 8 {
			for j := range 8 {
				if (a>>i)&(b>>j)&1 == 1 {
					p ^= powers[i+j]
				}
			}
		}
		return p
	}
	for a := range 256 {
		c := &products()[a]
		for b := range 256 {
			want := product(a, b)
			if gf256.Mul(byte(a), byte(b)) != want || c.times(byte(b)) != want {
				t.Fatalf("%d·%d is %d: mul says %d, a product's tables %d", a, b, want, gf256.Mul(byte(a), byte(b)), c.times(byte(b)))
			}
			affine := byte(0)
			for i := range 8 {
				row := byte(c.matrix >> (8 * (7 - i)))
				for v := row & byte(b); v != 0; v &= v - 1 {
					affine ^= 1 << i
				}
			}
			if affine != want {
				t.Fatalf("%d·%d is %d: the matrix says %d", a, b, want, affine)
			}
		}
		if a > 0 && gf256.Mul(byte(a), gf256.Inverse(byte(a))) != 1 {
			t.Errorf("1/%d is not %d", a, gf256.Inverse(byte(a)))
		}
	}
	for i := -600; i < 600; i++ {
		if want := powers[(i%255+255)%255]; gf256.Power(i) != want {
			t.Errorf("2^%d is %d, not %d", i, want, gf256.Power(i))
		}
	}
	for d, v := range correction {
		for range d {
			v = gf256.Double(v) ^ powers[8]
		}
		if v != 0 {
			t.Errorf("%d doublings leave %d of the correction", d, v)
		}
	}
}

func TestGenSyndrome(t *testing.T) {
	eachKernel(t, func(t *testing.T, i int, c Code) {
		for _, n := range widths() {
			for _, length := range lengths(kernels[i].Batch) {
				if n > 20 && length > 600 || n > 10 && length > 5000 {
					continue
				}
				want := testArray(n, length)
				got := clone(want)
				spoil(got[n])
				spoil(got[n+1])
				must(t, c.GenSyndrome(got[:n], got[n], got[n+1]))
				compareDisks(t, fmt.Sprintf("%d bytes", length), got, want)
				if ok, err := c.Verify(got); !ok || err != nil {
					t.Fatalf("%d disks, %d bytes: Verify says %v, %v", n+2, length, ok, err)
				}
				spoil(got[n])
				must(t, c.GenParity(got[:n], got[n]))
				compareDisks(t, "P alone", got, want)
			}
		}
	})
}

// TestAligned has more chunks at the same place in a page than a cache set has ways, so that they are taken in groups.
func TestAligned(t *testing.T) {
	lengths := []int{page, 3*page + 5, 17 * page}
	if testkit.Boundary() {
		lengths = []int{page, page + 5}
	}
	eachKernel(t, func(t *testing.T, i int, c Code) {
		for _, n := range []int{8, 9, 12, 13, 29} {
			for _, length := range lengths {
				got := newArray(n+2, length, 0)
				if g := groupFor(got[:n]); n > ways != (g < n) || g > groupSize+1 && g != n {
					t.Fatalf("groups of %d for %d disks", groupFor(got[:n]), n)
				}
				want := testArray(n, length)
				for z := range n {
					copy(got[z], want[z])
				}
				must(t, c.GenSyndrome(got[:n], got[n], got[n+1]))
				compareDisks(t, "GenSyndrome", got, want)
				for _, failed := range [][]int{{0, n - 1}, {5, 6}, {n - 1, n - 2}, {n - 7, n - 6}, {0, 1}, {3, n}, {n - 1, n + 1}, {2, n + 1}, {4}, {n + 1}} {
					for _, f := range failed {
						spoil(got[f])
					}
					must(t, c.Recover(got, failed...))
					compareDisks(t, fmt.Sprint("Recover ", failed), got, want)
				}
				// Away with all data, and back again.
				must(t, c.XorSyndrome(got[:n], 0, n, got[n], got[n+1]))
				if bytes.Count(got[n], []byte{0}) != length || bytes.Count(got[n+1], []byte{0}) != length {
					t.Fatalf("%d disks: what XorSyndrome leaves of all is not zero", n+2)
				}
				must(t, c.XorSyndrome(got[:n], 0, n, got[n], got[n+1]))
				compareDisks(t, "XorSyndrome", got, want)
				must(t, c.XorParity(got[:n], 1, n, got[n]))
				if !bytes.Equal(got[n], got[0]) {
					t.Fatalf("%d disks: what XorParity leaves is not disk 0", n+2)
				}
			}
		}
	})
}

// TestGroupFor places chunks on lines of a page: all are walked over at once, unless they are longer than half a page and
// more of them share a line than a set has ways.
func TestGroupFor(t *testing.T) {
	memory := newArray(MaxData, 2*page, 0)
	place := func(length int, lines ...int) [][]byte {
		data := make([][]byte, len(lines))
		for z, line := range lines {
			data[z] = memory[z][64*line:][:length]
		}
		return data
	}
	// spread is n chunks on so many lines in turn, the last line of a page among them.
	spread := func(n, lines int) (s []int) {
		for z := range n {
			s = append(s, 63-z%lines)
		}
		return s
	}
	for _, c := range []struct {
		length int
		lines  []int
		want   int
	}{
		{page, spread(8, 1), 8}, {page, spread(9, 1), 5}, {page / 2, spread(9, 1), 9}, {page/2 + 1, spread(9, 1), 5},
		{page, spread(16, 2), 16}, {page, spread(17, 2), 6}, {page, spread(96, 12), 96}, {page, spread(97, 12), 7},
		{page, append(spread(9, 1), 1, 2, 3), 6}, {page, append([]int{1, 2, 3}, spread(8, 1)...), 11}, {page, spread(255, 64), 255},
	} {
		if got := groupFor(place(c.length, c.lines...)); got != c.want {
			t.Errorf("groups of %d for %d bytes on lines %v, want %d", got, c.length, c.lines, c.want)
		}
	}
	for n := ways + 1; n <= MaxData; n++ {
		if g := groupFor(place(page, spread(n, 1)...)); g < groupSize-1 || g > groupSize+1 {
			t.Errorf("groups of %d for %d disks", g, n)
		}
	}
}

// TestGroups cuts small chunks in every way, whatever would be chosen for them: groups of all sizes, each one and two of the
// disks lost, several tiles, and several calls to a tile. The group on top begins P and Q, and the others go on.
func TestGroups(t *testing.T) {
	most, first := 11, 3
	if testkit.Boundary() {
		most = 6
	}
	eachKernel(t, func(t *testing.T, i int, c Code) {
		visit := max(kernels[i].Batch, 128)
		length := 3*visit + 45
		p, q := make([]byte, length), make([]byte, length)
		for n := 1; n <= most; n++ {
			for _, failed := range append(pairs(n), nil) {
				data, lost := clone(testArray(n, length)[:n]), noDisks
				copy(lost[:], failed)
				for _, z := range failed {
					clear(data[z])
				}
				wantP, wantQ := reference(data)
				for _, z := range failed {
					data[z] = nil // it is not read
				}
				for group := 1; group <= min(n, groupSize+1); group++ {
					check := func(op operation, wantP, wantQ []byte) {
						t.Helper()
						spoil(p)
						spoil(q)
						j := job{op: op, data: data, p: p, q: q, lost: lost, first: first, group: group}
						j.prepare(c)
						j.cut, j.piece = visit, 2*visit
						j.part(0, length)
						if !bytes.Equal(p, wantP) || wantQ != nil && !bytes.Equal(q, wantQ) {
							t.Fatalf("operation %d: %d disks in groups of %d, lost %v", op, n, group, failed)
						}
					}
					check(opSyndrome, wantP, wantQ)
					if len(failed) < min(n, 2) { // P makes up for one
						check(opParity, wantP, nil)
					}
					if len(failed) == 0 {
						addP, addQ := reference(append(slices.Repeat([][]byte{make([]byte, length)}, first), data...))
						for i := range addP {
							addP[i], addQ[i] = ^addP[i], ^addQ[i]
						}
						check(opXorSyndrome, addP, addQ)
						check(opXorParity, addP, nil)
					}
				}
			}
		}
	})
}

// TestSameSources names memory as several disks, which may be where it is only read, also in groups and in wide arrays.
func TestSameSources(t *testing.T) {
	eachKernel(t, func(t *testing.T, i int, c Code) {
		for _, n := range []int{2, 9, 20} {
			length := page + 77
			memory := testArray(2, length+n)[0]
			for _, step := range []int{0, 1} {
				disks := make([][]byte, n+2)
				for z := range n {
					disks[z] = memory[z*step:][:length]
				}
				wantP, wantQ := reference(disks[:n])
				p, q := make([]byte, length), make([]byte, length)
				disks[n], disks[n+1] = p, q
				must(t, c.GenSyndrome(disks[:n], p, q))
				if z, err := c.Locate(disks); z != -1 || err != nil || !bytes.Equal(p, wantP) || !bytes.Equal(q, wantQ) {
					t.Fatalf("%d disks, %d bytes apart: wrong P or Q; Locate says %d, %v", n, step, z, err)
				}
				for _, failed := range [][]int{{1}, {0, n - 1}, {n, 1}, {n + 1, n - 1}} {
					lost := slices.Clone(disks)
					for _, f := range failed {
						lost[f] = make([]byte, length)
					}
					must(t, c.Recover(lost, failed...))
					compareDisks(t, fmt.Sprint("lost ", failed), lost, disks)
				}
				must(t, c.XorSyndrome(disks[:n], 0, n, p, q))
				if zero := make([]byte, length); !bytes.Equal(p, zero) || !bytes.Equal(q, zero) {
					t.Fatalf("%d disks, %d bytes apart: what XorSyndrome leaves of all is not zero", n, step)
				}
			}
		}
	})
}

// TestStream has P and Q go past the caches, which an array of many MiB does by itself.
func TestStream(t *testing.T) {
	eachKernel(t, func(t *testing.T, i int, c Code) {
		for _, length := range []int{0, 1, 64, kernels[i].Batch, 5*kernels[i].Batch + 100} {
			want := testArray(5, length)
			got := newArray(7, length, 0)
			for z := range 5 {
				copy(got[z], want[z])
			}
			j := job{op: opSyndrome, data: got[:5], p: got[5], q: got[6], lost: noDisks}
			j.prepare(c)
			if j.stream {
				t.Error("a small array does it by itself")
			}
			j.stream = true
			j.part(0, length)
			compareDisks(t, fmt.Sprintf("%d bytes", length), got, want)
		}
	})
	if testkit.Boundary() {
		return
	}
	const enough = streamFrom / 4
	memory := newArray(4, enough+page, 0)
	fill(memory[0], 1)
	fill(memory[1], 2)
	for _, c := range []struct {
		p, q, length int // offsets of P and Q
		want         bool
	}{
		{0, 0, enough, true}, {0, 0, enough - 1, false}, {64, 128, enough + 101, true},
		{1, 0, enough, false}, {0, 1, enough, false}, {32, 0, enough, false}, {0, 32, enough, false},
	} {
		big := [][]byte{memory[0][:c.length], memory[1][:c.length], memory[2][c.p:][:c.length], memory[3][c.q:][:c.length]}
		spoil(big[2])
		spoil(big[3])
		j := job{op: opSyndrome, data: big[:2], p: big[2], q: big[3], lost: noDisks}
		j.prepare(Code{})
		if j.stream != c.want {
			t.Errorf("an array of 4 times %d bytes, P and Q %d and %d bytes off: %v", c.length, c.p, c.q, j.stream)
		}
		must(t, Code{}.GenSyndrome(big[:2], big[2], big[3]))
		if ok, err := Verify(big); !ok || err != nil {
			t.Errorf("Verify says %v, %v", ok, err)
		}
	}
	nine := newArray(11, streamFrom/11+1, 0)
	j := job{op: opSyndrome, data: nine[:9], p: nine[9], q: nine[10], lost: noDisks}
	if j.prepare(Code{}); j.stream {
		t.Error("groups, which read P and Q again, go past the caches")
	}
}

// TestGuards puts every buffer against pages that fault, at its beginning and at its end.
func TestGuards(t *testing.T) { testGuards(t, 5, lengths) }

// TestGuardsWide does so with as many disks as have loops of their own.
func TestGuardsWide(t *testing.T) {
	testGuards(t, 27, func(batch int) []int { return []int{batch - 1, batch, 3*batch + 1, 4*batch + 15} })
}

func testGuards(t *testing.T, n int, lengths func(batch int) []int) {
	memory := make([][]byte, n+2)
	for z := range memory {
		memory[z] = testkit.Guarded(t, 2*page)
	}
	eachKernel(t, func(t *testing.T, i int, c Code) {
		for _, length := range lengths(kernels[i].Batch) {
			if length > len(memory[0]) {
				continue
			}
			want := testArray(n, length)
			for _, atEnd := range []bool{false, true} {
				got := make([][]byte, n+2)
				for z, m := range memory {
					spoil(m)
					if atEnd {
						m = m[len(m)-length:]
					}
					got[z] = m[:length:length]
					copy(got[z], want[z])
				}
				spoil(got[n])
				spoil(got[n+1])
				must(t, c.GenSyndrome(got[:n], got[n], got[n+1]))
				must(t, c.XorSyndrome(got[:n], 1, 4, got[n], got[n+1]))
				must(t, c.XorSyndrome(got[:n], 1, 4, got[n], got[n+1]))
				must(t, c.XorParity(got[:n], 2, 5, got[n]))
				must(t, c.XorParity(got[:n], 2, 5, got[n]))
				for _, failed := range [][]int{{1, 3}, {2, n}, {0, n + 1}, {n, n + 1}, {4}, {n}, {n + 1}} {
					for _, f := range failed {
						spoil(got[f])
					}
					must(t, c.Recover(got, failed...))
				}
				compareDisks(t, fmt.Sprintf("%d bytes", length), got, want)
				for z, m := range memory {
					outside := m[length:]
					if atEnd {
						outside = m[:len(m)-length]
					}
					if bytes.Count(outside, []byte{0xff}) != len(outside) {
						t.Fatalf("%d bytes: beside disk %d something was written", length, z)
					}
				}
			}
		}
	})
}

// TestOffsets gives each buffer its own offset from the edge of a page, then all the same.
func TestOffsets(t *testing.T) {
	eachKernel(t, func(t *testing.T, i int, c Code) {
		const n = 4
		length := 2*kernels[i].Batch + 45
		want := testArray(n, length)
		memory := newArray(n+2, length+64, 0)
		for _, offset := range testkit.Size().Offsets {
			for moved := range n + 3 {
				got := make([][]byte, n+2)
				for z := range got {
					o := 0
					if z == moved || moved == n+2 {
						o = offset
					}
					got[z] = memory[z][o:][:length]
					copy(got[z], want[z])
				}
				spoil(got[n])
				spoil(got[n+1])
				must(t, c.GenSyndrome(got[:n], got[n], got[n+1]))
				compareDisks(t, "GenSyndrome", got, want)
				spoil(got[1])
				spoil(got[3])
				must(t, c.Recover(got, 1, 3))
				spoil(got[2])
				spoil(got[n])
				must(t, c.Recover(got, n, 2))
				must(t, c.XorSyndrome(got[:n], 1, 3, got[n], got[n+1]))
				must(t, c.XorSyndrome(got[:n], 1, 3, got[n], got[n+1]))
				compareDisks(t, fmt.Sprint("offset ", offset), got, want)
			}
		}
	})
}

// TestRecover loses every one and every two of 4 to 20 disks: what this kernel generates, every kernel recovers.
func TestRecover(t *testing.T) {
	eachKernel(t, func(t *testing.T, i int, c Code) {
		least, most, length := 4, 20, 333
		if testkit.Boundary() {
			most, length = 8, 150
		}
		for disks := least; disks <= most; disks++ {
			n := disks - 2
			want := testArray(n, length)
			generated := clone(want)
			must(t, c.GenSyndrome(generated[:n], generated[n], generated[n+1]))
			for k := range kernels.Usable(hwfeatures.Detected()) {
				if testkit.Boundary() && k != i && disks > 5 {
					continue
				}
				got := clone(generated)
				for _, failed := range pairs(disks) {
					for _, f := range failed {
						spoil(got[f])
					}
					must(t, withKernel(k).Recover(got, failed...))
					compareDisks(t, fmt.Sprintf("%s, lost %v", kernels[k].Name, failed), got, want)
				}
			}
		}
	})
}

// TestRecoverWide loses random disks of wide arrays.
func TestRecoverWide(t *testing.T) {
	eachKernel(t, func(t *testing.T, i int, c Code) {
		r := rand.New(rand.NewPCG(1, 2))
		all, tries := []int{21, 40, 94, 96, 254, 255}, 40
		if testkit.Boundary() {
			all, tries = []int{94, 255}, 5
		}
		for _, n := range all {
			want := testArray(n, 200)
			got := clone(want)
			for range tries {
				failed := []int{r.IntN(n + 2), r.IntN(n + 2)}
				if failed[0] == failed[1] {
					failed = failed[:1]
				}
				for _, f := range failed {
					spoil(got[f])
				}
				must(t, c.Recover(got, failed...))
				compareDisks(t, fmt.Sprint("lost ", failed), got, want)
			}
			for _, failed := range [][]int{{0, 1}, {n - 2, n - 1}, {0, n - 1}, {n - 1, n}, {n - 1, n + 1}, {0, n}} {
				for _, f := range failed {
					spoil(got[f])
				}
				must(t, c.Recover(got, failed...))
				compareDisks(t, fmt.Sprint("lost ", failed), got, want)
			}
		}
	})
}

// TestXorSyndrome changes every range of disks, by taking away and adding, and then loses every pair.
func TestXorSyndrome(t *testing.T) {
	eachKernel(t, func(t *testing.T, i int, c Code) {
		arrays, length := []int{2, 3, 6, 10, 18}, 2*kernels[i].Batch+29
		if testkit.Boundary() {
			arrays = []int{2, 5}
		}
		for _, n := range arrays {
			old := testArray(n, length)
			for stop := range n + 1 {
				for start := range stop + 1 {
					want := clone(old)
					for z := start; z < stop; z++ {
						fill(want[z], uint64(z)+99)
					}
					want[n], want[n+1] = reference(want[:n])
					got := clone(old)
					// Chunks outside of the range are not looked at.
					some := make([][]byte, n)
					copy(some[start:stop], old[start:stop])
					must(t, c.XorSyndrome(some, start, stop, got[n], got[n+1]))
					copy(some[start:stop], want[start:stop])
					must(t, c.XorSyndrome(some, start, stop, got[n], got[n+1]))
					copy(got, want[:n])
					compareDisks(t, fmt.Sprintf("from %d up to %d", start, stop), got, want)
					must(t, c.XorParity(some, start, stop, got[n]))
					must(t, c.XorParity(old[:n], start, stop, got[n]))
					if !bytes.Equal(got[n], old[n]) {
						t.Fatalf("XorParity from %d up to %d", start, stop)
					}
					copy(got[n], want[n])
					if n > 6 && (stop-start)%5 != 1 {
						continue
					}
					got = clone(got)
					for _, failed := range pairs(n + 2) {
						for _, f := range failed {
							spoil(got[f])
						}
						must(t, c.Recover(got, failed...))
						compareDisks(t, fmt.Sprintf("from %d up to %d, lost %v", start, stop, failed), got, want)
					}
				}
			}
		}
	})
}

// TestZFS computes P and Q as raidz2 defines them: from the first column on, Q is doubled and the next one added, in which
// the sector is zeros that a shorter one lacks.
func TestZFS(t *testing.T) {
	const sector = 512
	for columns := 2; columns <= 10; columns++ {
		disks, length := make([][]byte, columns+2), 2*sector
		p, q := make([]byte, length), make([]byte, length)
		for c := range columns {
			column := make([]byte, length)
			if fill(column, uint64(c)); c > columns/2 {
				clear(column[sector:])
			}
			for i, v := range column {
				p[i] ^= v
				q[i] = q[i]<<1 ^ q[i]>>7*0x1d ^ v
			}
			disks[columns-1-c] = column
		}
		disks[columns], disks[columns+1] = p, q
		if z, err := Locate(disks); z != -1 || err != nil {
			t.Errorf("%d columns: Locate says %d, %v", columns, z, err)
		}
	}
}

func TestRecoverParity(t *testing.T) {
	eachKernel(t, func(t *testing.T, i int, c Code) {
		for _, n := range widths() {
			for _, length := range []int{1, 77, 2*kernels[i].Batch + 5} {
				want := testArray(n, length)[:n+1]
				got := clone(want)
				for f := range got {
					spoil(got[f])
					must(t, c.RecoverParity(got, f))
					compareDisks(t, fmt.Sprint("lost ", f), got, want)
				}
				if ok, err := c.VerifyParity(got); !ok || err != nil {
					t.Fatalf("VerifyParity says %v, %v", ok, err)
				}
				got[n/2][length-1] ^= 4
				if ok, err := c.VerifyParity(got); ok || err != nil {
					t.Fatalf("VerifyParity of a wrong array says %v, %v", ok, err)
				}
			}
		}
	})
}

// TestLocate spoils one disk, then two.
func TestLocate(t *testing.T) {
	eachKernel(t, func(t *testing.T, i int, c Code) {
		r := rand.New(rand.NewPCG(3, 4))
		for _, n := range widths() {
			length := scratchBytes + 100
			if n > 20 {
				length = 130
			}
			want := testArray(n, length)
			got := clone(want)
			check := func(disk int, wrong error) {
				t.Helper()
				z, err := c.Locate(got)
				if z != disk || err != wrong {
					t.Fatalf("%d disks: Locate says %d, %v; want %d, %v", n+2, z, err, disk, wrong)
				}
				if ok, err := c.Verify(got); ok != (disk < 0 && wrong == nil) || err != nil {
					t.Fatalf("%d disks: Verify says %v, %v", n+2, ok, err)
				}
			}
			check(-1, nil)
			for z := range got {
				if n > 20 && z > 3 && z < n-3 && z%50 != 0 {
					continue
				}
				for _, at := range []int{0, length - 1, r.IntN(length)} {
					got[z][at] ^= byte(1 + r.IntN(255))
				}
				got[z][length-1] = ^want[z][length-1]
				check(z, nil)
				must(t, c.Recover(got, z))
				compareDisks(t, fmt.Sprint("located and recovered ", z), got, want)
			}
			// Different bytes of two disks.
			got[0][0] ^= 1
			got[n][length-1] ^= 1
			check(-1, ErrSeveral)
			copy(got[n], want[n])
			got[1][length/2] ^= 9
			check(-1, ErrSeveral)
			copy(got[0], want[0])
			check(1, nil)
			copy(got[1], want[1])
			if n < 200 {
				// P and Q at the same byte, as a disk would that the array does not have.
				got[n][5] ^= 1
				got[n+1][5] ^= powers[n]
				check(-1, ErrSeveral)
			}
		}
	})
}

// TestErrors checks that each bad shape has its error, and that nothing is written before it.
func TestErrors(t *testing.T) {
	const n, length = 4, 64
	var c Code
	memory := make([]byte, (n+4)*length)
	fresh := func() [][]byte {
		spoil(memory)
		disks := make([][]byte, n+2)
		for z := range disks {
			disks[z] = memory[z*length:][:length]
		}
		return disks
	}
	type change func(disks [][]byte) [][]byte
	set := func(z int, b func(disks [][]byte) []byte) change {
		return func(disks [][]byte) [][]byte { disks[z] = b(disks); return disks }
	}
	none := func([][]byte) []byte { return nil }
	short := func(d [][]byte) []byte { return d[3][:length-1] }
	shifted := func(z int) func(d [][]byte) []byte {
		return func(d [][]byte) []byte { return memory[z*length+1:][:length] }
	}
	same := func(z int) func(d [][]byte) []byte { return func(d [][]byte) []byte { return d[z] } }
	check := func(name string, change change, f func(disks [][]byte) error, text string) {
		t.Helper()
		disks := change(fresh())
		err := f(disks)
		if err == nil || err.Error() != "raid6: "+text {
			t.Errorf("%s: error %q, want %q", name, err, "raid6: "+text)
		}
		if bytes.Count(memory, []byte{0xff}) != len(memory) {
			t.Errorf("%s: something was written before the error %q", name, err)
		}
	}
	gen := func(d [][]byte) error { return c.GenSyndrome(d[:len(d)-2], d[len(d)-2], d[len(d)-1]) }
	keep := func(d [][]byte) [][]byte { return d }
	count := func(n int) change {
		return func(d [][]byte) [][]byte {
			for len(d) < n {
				d = append(d, d[0])
			}
			return d[len(d)-n:]
		}
	}
	check("one data disk", count(3), gen, "1 data disks; there have to be 2 to 255")
	check("too many data disks", count(258), gen, "256 data disks; there have to be 2 to 255")
	check("P nil", set(n, none), gen, "P is nil")
	check("Q nil", set(n+1, none), gen, "Q is nil")
	check("disk nil", set(2, none), gen, "disk 2 is nil")
	check("disk short", set(2, short), gen, "disk 2 has 63 bytes and P has 64")
	check("Q short", set(n+1, short), gen, "P has 64 bytes and Q has 63")
	check("P in a disk", set(n, same(1)), gen, "disk 1 and P overlap")
	check("Q over a disk", set(n+1, shifted(0)), gen, "disk 0 and Q overlap")
	check("P is Q", set(n+1, same(n)), gen, "P and Q overlap")
	check("P over Q", set(n, shifted(n)), gen, "P and Q overlap")
	parity := func(d [][]byte) error { return c.GenParity(d[:n], d[n]) }
	check("no P", set(n, none), parity, "P is nil")
	check("P of a short disk", set(2, short), parity, "disk 2 has 63 bytes and P has 64")
	check("P over a disk", set(n, shifted(2)), parity, "disk 2 and P overlap")
	for _, r := range [][2]int{{-1, 2}, {3, 2}, {0, n + 1}, {n + 1, n + 1}} {
		text := fmt.Sprintf("disks from %d up to %d, of %d", r[0], r[1], n)
		check("range", keep, func(d [][]byte) error { return c.XorSyndrome(d[:n], r[0], r[1], d[n], d[n+1]) }, text)
		check("range", keep, func(d [][]byte) error { return c.XorParity(d[:n], r[0], r[1], d[n]) }, text)
	}
	update := func(d [][]byte) error { return c.XorSyndrome(d[:n], 1, 3, d[n], d[n+1]) }
	check("update with nil", set(2, none), update, "disk 2 is nil")
	check("update with a short disk", set(1, short), update, "disk 1 has 63 bytes and P has 64")
	check("update of a short Q", set(n+1, short), update, "P has 64 bytes and Q has 63")
	check("update with Q in a disk", set(n+1, same(1)), update, "disk 1 and Q overlap")
	if d := fresh(); true {
		d[0], d[3] = nil, d[3][:5]
		must(t, update(d)) // they are not looked at
	}
	lose := func(failed ...int) func(d [][]byte) error {
		return func(d [][]byte) error { return c.Recover(d, failed...) }
	}
	check("three lost", keep, lose(0, 1, 2), "3 disks failed; no more than 2 can be recovered")
	check("twice", keep, lose(3, 3), "disk 3 failed twice")
	check("disk -1", keep, lose(1, -1), "disk -1 failed, of 6")
	check("disk 6", keep, lose(6), "disk 6 failed, of 6")
	check("recover nil", set(1, none), lose(1), "disk 1 is nil")
	check("recover short", set(n+1, short), lose(1), "disk 5 has 63 bytes and disk 0 has 64")
	check("recover over another", set(1, shifted(2)), lose(1, 5), "disks 1 and 2 overlap")
	check("recover two into one", set(4, same(0)), lose(0, 4), "disks 0 and 4 overlap")
	check("recover three disks", count(3), lose(0), "1 data disks; there have to be 2 to 255")
	check("no disks", count(0), lose(0), "0 data disks; there have to be 2 to 255")
	check("Verify", set(1, none), func(d [][]byte) error { _, err := c.Verify(d); return err }, "disk 1 is nil")
	check("Locate", set(1, none), func(d [][]byte) error { _, err := c.Locate(d); return err }, "disk 1 is nil")
	check("VerifyParity", set(1, none), func(d [][]byte) error { _, err := c.VerifyParity(d); return err }, "disk 1 is nil")
	check("recover too many disks", count(258), lose(0), "256 data disks; there have to be 2 to 255")
	single := func(d [][]byte) error { return c.RecoverParity(d, 1) }
	check("RecoverParity nil", set(1, none), single, "disk 1 is nil")
	check("RecoverParity short", set(2, short), single, "disk 2 has 63 bytes and disk 0 has 64")
	check("RecoverParity two disks", count(2), single, "1 data disks; there have to be 2 to 255")
	check("RecoverParity too many", count(257), single, "256 data disks; there have to be 2 to 255")
	check("RecoverParity", keep, func(d [][]byte) error { return c.RecoverParity(d, 7) }, "disk 7 failed, of 6")
	must(t, c.Recover(fresh()))
	for _, bad := range [][2]int{{3, 100}, {258, 100}, {-5, 100}, {8, 0}, {8, -1}} {
		if _, err := Tune(bad[0], bad[1]); err == nil {
			t.Errorf("Tune(%d, %d) has no error", bad[0], bad[1])
		}
	}
}

// TestOverlap moves a chunk past one that is written to: as long as they share a byte it is an error.
func TestOverlap(t *testing.T) {
	for _, n := range []int{1, 2, 64} {
		memory, others := make([]byte, 3*n), make([]byte, 2*n)
		a, b, fixed := others[:n], others[n:], memory[n:][:n]
		for at := range 2*n + 1 {
			moved := memory[at:][:n]
			for name, f := range map[string]func() error{
				"GenSyndrome, P":       func() error { return GenSyndrome([][]byte{a, moved}, fixed, b) },
				"GenSyndrome, Q":       func() error { return GenSyndrome([][]byte{moved, a}, b, fixed) },
				"GenSyndrome, P and Q": func() error { return GenSyndrome([][]byte{a, a}, fixed, moved) },
				"XorSyndrome, P":       func() error { return XorSyndrome([][]byte{a, moved}, 1, 2, fixed, b) },
				"XorSyndrome, Q":       func() error { return XorSyndrome([][]byte{a, moved}, 1, 2, b, fixed) },
				"XorSyndrome, P and Q": func() error { return XorSyndrome([][]byte{a, a}, 1, 2, fixed, moved) },
				"GenParity":            func() error { return GenParity([][]byte{a, moved}, fixed) },
				"XorParity":            func() error { return XorParity([][]byte{a, moved}, 1, 2, fixed) },
				"Recover the first":    func() error { return Recover([][]byte{fixed, a, b, moved}, 0) },
				"Recover the second":   func() error { return Recover([][]byte{moved, fixed, a, b}, 1) },
				"Recover two":          func() error { return Recover([][]byte{a, moved, b, fixed}, 0, 3) },
				"RecoverParity":        func() error { return RecoverParity([][]byte{fixed, a, moved}, 0) },
			} {
				spoil(memory)
				spoil(others)
				err := f()
				if shared := 0 < at && at < 2*n; (err != nil) != shared {
					t.Errorf("%s: %d bytes at %d and at %d: %v", name, n, n, at, err)
				}
				if err != nil && bytes.Count(memory, []byte{0xff})+bytes.Count(others, []byte{0xff}) != 5*n {
					t.Errorf("%s: something was written before the error %q", name, err)
				}
			}
		}
	}
}

// TestEmpty takes chunks without bytes.
func TestEmpty(t *testing.T) {
	disks := [][]byte{{}, {}, {}, {}, {}}
	must(t, GenSyndrome(disks[:3], disks[3], disks[4]))
	must(t, XorSyndrome(disks[:3], 0, 3, disks[3], disks[4]))
	must(t, Recover(disks, 0, 2))
	must(t, RecoverParity(disks, 1))
	if ok, err := Verify(disks); !ok || err != nil {
		t.Errorf("Verify says %v, %v", ok, err)
	}
	if z, err := Locate(disks); z != -1 || err != nil {
		t.Errorf("Locate says %d, %v", z, err)
	}
	disks[1] = nil
	if GenSyndrome(disks[:3], disks[3], disks[4]) == nil || GenParity(disks[:3], disks[3]) == nil || Recover(disks, 0) == nil {
		t.Error("a disk that is nil passes for one without bytes")
	}
}

// TestAllocs counts allocations with buffers on the stack: a call that makes them escape shows.
func TestAllocs(t *testing.T) {
	check := func(t *testing.T, c Code) {
		const length = 600
		for name, f := range map[string]func(disks [][]byte) error{
			"GenSyndrome":   func(d [][]byte) error { return c.GenSyndrome(d[:4], d[4], d[5]) },
			"XorSyndrome":   func(d [][]byte) error { return c.XorSyndrome(d[:4], 1, 3, d[4], d[5]) },
			"Recover data":  func(d [][]byte) error { return c.Recover(d, 1, 3) },
			"Recover P":     func(d [][]byte) error { return c.Recover(d, 1, 4) },
			"Recover Q":     func(d [][]byte) error { return c.Recover(d, 1, 5) },
			"Recover one":   func(d [][]byte) error { return c.Recover(d, 2) },
			"Recover P, Q":  func(d [][]byte) error { return c.Recover(d, 4, 5) },
			"GenParity":     func(d [][]byte) error { return c.GenParity(d[:5], d[5]) },
			"XorParity":     func(d [][]byte) error { return c.XorParity(d[:5], 0, 5, d[5]) },
			"RecoverParity": func(d [][]byte) error { return c.RecoverParity(d, 2) },
		} {
			// A func value would make everything escape before it starts; the buffers are made in here.
			disks := make([][]byte, 6)
			for z := range disks {
				disks[z] = make([]byte, length)
			}
			if n := testing.AllocsPerRun(20, func() {
				if f(disks) != nil {
					t.Fatal(name)
				}
			}); n != 0 {
				t.Errorf("%s: %v allocations", name, n)
			}
		}
		if n := testing.AllocsPerRun(20, func() {
			var b [6][length]byte
			d := [...][]byte{b[0][:], b[1][:], b[2][:], b[3][:], b[4][:], b[5][:]}
			if c.GenSyndrome(d[:4], d[4], d[5]) != nil || c.XorSyndrome(d[:4], 0, 2, d[4], d[5]) != nil || c.Recover(d[:], 0, 1) != nil ||
				c.Recover(d[:], 0, 4) != nil || c.Recover(d[:], 0, 5) != nil || c.Recover(d[:], 5) != nil || c.GenParity(d[:4], d[4]) != nil ||
				c.RecoverParity(d[:5], 3) != nil {
				t.Fatal("an error")
			}
			if ok, err := c.Verify(d[:]); !ok || err != nil {
				t.Fatal("wrong")
			}
			if _, err := c.Locate(d[:]); err != nil {
				t.Fatal(err)
			}
		}); n != 0 {
			t.Errorf("with buffers on the stack: %v allocations", n)
		}
	}
	products()
	eachKernel(t, func(t *testing.T, i int, c Code) { check(t, c) })
	t.Run("default", func(t *testing.T) { check(t, Code{}) })
}

// TestStackLimit watches the compiler's limit that share relies on: a variable of more than stackLimit is not on a stack.
func TestStackLimit(t *testing.T) {
	if n := testing.AllocsPerRun(5, func() {
		var b [stackLimit + 1]byte
		use(b[:])
	}); n != 1 {
		t.Errorf("a variable of %d bytes makes %v allocations", stackLimit+1, n)
	}
}

//go:noinline
func use(b []byte) { b[len(b)/2]++ }

// TestGoroutines checks long chunks, in parts that several goroutines take.
func TestGoroutines(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(4))
	length := 1<<20 + 4321
	if testkit.Boundary() {
		length = 236<<10 + 77
	}
	const n = 9
	want := newArray(n+2, length, stagger)
	for z := range n {
		fill(want[z], uint64(z))
	}
	want[n], want[n+1] = reference(want[:n])
	got := clone(want)
	for _, goroutines := range []int{0, 1, 2, 3, 7} {
		c := Code{}.WithGoroutines(goroutines)
		if w := c.workers(n, length); w < 1 || w > 4 || goroutines > 0 && w > goroutines || goroutines != 1 && w < 2 {
			t.Errorf("%d of %d goroutines", w, goroutines)
		}
		spoil(got[n])
		spoil(got[n+1])
		must(t, c.GenSyndrome(got[:n], got[n], got[n+1]))
		compareDisks(t, "GenSyndrome", got, want)
		for _, failed := range [][]int{{2, 7}, {0, n}, {8, n + 1}, {n, n + 1}, {3}, {n + 1}} {
			for _, f := range failed {
				spoil(got[f])
			}
			must(t, c.Recover(got, failed...))
			compareDisks(t, fmt.Sprint("Recover ", failed), got, want)
		}
		must(t, c.XorSyndrome(got[:n], 3, 9, got[n], got[n+1]))
		must(t, c.XorSyndrome(got[:n], 3, 9, got[n], got[n+1]))
		compareDisks(t, "XorSyndrome", got, want)
		must(t, c.XorParity(got[:n], 0, n, got[n]))
		if bytes.Count(got[n], []byte{0}) != length {
			t.Error("what XorParity leaves of all is not zero")
		}
		must(t, c.GenParity(got[:n], got[n]))
		compareDisks(t, "GenParity", got, want)
	}
	// Wrong bytes in the first part and in the last one.
	for _, goroutines := range []int{1, 4} {
		c := Code{}.WithGoroutines(goroutines)
		check := func(disk int, wrong error) {
			t.Helper()
			right := disk < 0 && wrong == nil
			if z, err := c.Locate(got); z != disk || err != wrong {
				t.Errorf("%d goroutines: Locate says %d, %v; want %d, %v", goroutines, z, err, disk, wrong)
			}
			if ok, err := c.Verify(got); ok != right || err != nil {
				t.Errorf("%d goroutines: Verify says %v, %v", goroutines, ok, err)
			}
			if ok, err := c.VerifyParity(got[:n+1]); ok != right || err != nil {
				t.Errorf("%d goroutines: VerifyParity says %v, %v", goroutines, ok, err)
			}
		}
		for _, first := range []int{0, length - 1} {
			check(-1, nil)
			got[2][first] ^= 1
			check(2, nil)
			got[2][length-1-first] ^= 200
			check(2, nil)
			got[2][length-1-first] ^= 200
			got[5][length-1-first] ^= 1
			check(-1, ErrSeveral)
			got[2][length/2] ^= 1
			got[5][length/2] ^= 1
			check(-1, ErrSeveral)
			copy(got[2], want[2])
			copy(got[5], want[5])
		}
	}
	// Whoever starts goroutines allocates, and nobody else.
	for name, f := range map[string]func(c Code) error{
		"GenSyndrome":   func(c Code) error { return c.GenSyndrome(got[:n], got[n], got[n+1]) },
		"XorSyndrome":   func(c Code) error { return c.XorSyndrome(got[:n], 0, n, got[n], got[n+1]) },
		"GenParity":     func(c Code) error { return c.GenParity(got[:n], got[n]) },
		"XorParity":     func(c Code) error { return c.XorParity(got[:n], 0, n, got[n]) },
		"Recover":       func(c Code) error { return c.Recover(got, 0, 1) },
		"RecoverParity": func(c Code) error { return c.RecoverParity(got[:n+1], 0) },
		"Verify":        func(c Code) error { _, err := c.Verify(got); return err },
		"VerifyParity":  func(c Code) error { _, err := c.VerifyParity(got[:n+1]); return err },
		"Locate":        func(c Code) error { _, err := c.Locate(got); return err },
	} {
		copy(got[n], want[n])
		copy(got[n+1], want[n+1])
		for goroutines := 1; goroutines <= 2; goroutines++ {
			var before, after runtime.MemStats
			least := uint64(math.MaxUint64)
			for range 5 {
				runtime.ReadMemStats(&before)
				err := f(Code{}.WithGoroutines(goroutines))
				runtime.ReadMemStats(&after)
				must(t, err)
				least = min(least, after.Mallocs-before.Mallocs)
				if least == 0 || goroutines > 1 {
					break // only what runs beside it can add to that
				}
			}
			if (least > 0) != (goroutines > 1) {
				t.Errorf("%s with %d goroutines: %d allocations", name, goroutines, least)
			}
		}
	}
	// Chunks that may lie on a stack have one goroutine; all others as many as have enough to do.
	for _, w := range [][3]int{{255, stackLimit, 1}, {255, stackLimit + 1, 4}, {8, minShare/4 - 1, 1}, {8, minShare / 4, 2}} {
		if got := (Code{}).workers(w[0], w[1]); got != w[2] {
			t.Errorf("%d disks, %d bytes: %d goroutines, want %d", w[0], w[1], got, w[2])
		}
	}
}

// TestShares cuts chunks for goroutines: into whole pages, and into no more parts than there may be goroutines.
func TestShares(t *testing.T) {
	for n := 2; n < 40; n++ {
		for _, around := range []int{stackLimit, 40 * n * page} {
			for bytes := around - n; bytes <= around+n; bytes++ {
				size := shareFor(bytes, n)
				if parts := (bytes + size - 1) / size; size%page != 0 || parts > n || (size-page)*n >= bytes {
					t.Fatalf("%d bytes for %d goroutines: %d parts of %d", bytes, n, parts, size)
				}
			}
		}
	}
}

// TestShared has many goroutines use one Code and the same chunks, while the garbage collector runs and stacks move.
func TestShared(t *testing.T) {
	want := testArray(7, 3000)
	eachKernel(t, func(t *testing.T, i int, c Code) {
		var wg sync.WaitGroup
		for g := range 8 {
			wg.Go(func() {
				disks := slices.Clone(want)
				for round := range testkit.Size().Rounds / 4 {
					a, b := (g+round)%9, (g+3*round+1)%9
					if a == b {
						continue
					}
					disks[a], disks[b] = make([]byte, 3000), make([]byte, 3000)
					if err := c.Recover(disks, a, b); err != nil || !bytes.Equal(disks[a], want[a]) || !bytes.Equal(disks[b], want[b]) {
						t.Errorf("goroutine %d: wrong disks %d and %d, %v", g, a, b, err)
					}
					copy(disks, want)
					if round%16 == 0 {
						runtime.GC()
					}
				}
			})
		}
		wg.Wait()
	})
}

// sliceArgument is a slice in a stack trace. A question mark would say that the value may be stale.
var sliceArgument = regexp.MustCompile(`\{0x[0-9a-f]+\??, (0x[0-9a-f]+)(\??), 0x[0-9a-f]+\??\}`)

// TestCallLength watches that no call to assembly covers more than 256 KiB of data, and that it is the kernel's own function:
// the stack at a fault has the lengths in the function's arguments.
func TestCallLength(t *testing.T) {
	if !testkit.GuardPages {
		t.Skip("no guard pages on this system")
	}
	const limit = 256 << 10
	length, widths := 256<<10, []int{2, 6, 23}
	if testkit.Boundary() {
		length, widths = 128<<10, []int{2, 23}
	}
	eachKernel(t, func(t *testing.T, i int, c Code) {
		if kernels[i].Name == "generic" {
			return // Go code can be preempted
		}
		for _, n := range widths {
			mem := testkit.Guarded(t, length)
			disks := make([][]byte, n+2)
			other := make([]byte, length)
			for z := range disks {
				disks[z] = other // sources may be the same
			}
			disks[0], disks[n], disks[n+1] = mem, make([]byte, length), make([]byte, length)
			measured := 0
			for _, at := range []int{0, page, length / 2, length - page} {
				for name, op := range map[string]func(){
					"GenSyndrome": func() { c.GenSyndrome(disks[:n], disks[n], disks[n+1]) },
					"XorSyndrome": func() { c.XorSyndrome(disks[:n], 0, n, disks[n], disks[n+1]) },
					"GenParity":   func() { c.GenParity(disks[:n], disks[n]) },
					"Recover": func() {
						d := slices.Clone(disks)
						d[n-1], d[n] = make([]byte, length), make([]byte, length)
						c.Recover(d, n-1, n)
					},
					"Recover this": func() {
						d := slices.Clone(disks)
						d[1] = make([]byte, length)
						c.Recover(d, 0, 1)
					},
				} {
					testkit.Inaccessible(t, mem[at:at+page], func() {
						stack, trace := testkit.WhereFaults(t, op)
						if !strings.HasSuffix(stack[0].File, ".s") || !strings.HasPrefix(stack[0].Function, "github.com/twogather/twogather/raid6.") {
							return // memory is being cleared, or compared
						}
						_, args, _ := strings.Cut(trace, "\n"+stack[0].Function+"(")
						args, _, _ = strings.Cut(args, "\n")
						numbers := sliceArgument.FindAllStringSubmatch(args, -1)
						if len(numbers) < 2 {
							t.Fatalf("no slices in %q: %s of %s", args, stack[0].Function, trace)
						}
						value := func(i int) uint64 {
							v, err := strconv.ParseUint(numbers[i][1], 0, 64)
							if err != nil || numbers[i][2] != "" {
								t.Fatalf("%q in %q", numbers[i], args)
							}
							return v
						}
						// The chunk's length, and how many there are: what the last slice says, but for the recovery functions.
						bytes, count := value(0), value(len(numbers)-1)
						if strings.Contains(stack[0].Function, "recover") {
							count = uint64(len(numbers))
						}
						if bytes == 0 || count == 0 || bytes*count > limit {
							t.Errorf("%s: %s covers %d bytes of %d chunks", name, stack[0].Function, bytes, count)
						}
						measured++
					})
				}
			}
			if measured < 10 {
				t.Errorf("%d disks: %d calls were measured", n+2, measured)
			}
		}
	})
}

// TestSwitches proves that the switches call the functions that the table has.
func TestSwitches(t *testing.T) {
	if !testkit.GuardPages {
		t.Skip("no guard pages on this system")
	}
	mem := testkit.Guarded(t, page)
	b := mem[:256]
	data := [][]byte{b, b}
	eachKernel(t, func(t *testing.T, i int, c Code) {
		s := newStep(0, 2, false, noDisks)
		s.product = &products()[3]
		f := &kernels[i].Funcs
		for name, calls := range map[string][2]func(){
			"syndrome":    {func() { f.syndrome(b, b, data, &s) }, func() { syndrome(i, b, b, data, &s) }},
			"xorSyndrome": {func() { f.xorSyndrome(b, b, data, &s) }, func() { xorSyndrome(i, b, b, data, &s) }},
			"parity":      {func() { f.parity(b, data, &s) }, func() { parity(i, b, data, &s) }},
			"recoverData": {func() { f.recoverData(b, b, b, b, s.product, s.product) }, func() { recoverData(i, b, b, b, b, s.product, s.product) }},
			"recoverP":    {func() { f.recoverP(b, b, b, s.product) }, func() { recoverP(i, b, b, b, s.product) }},
		} {
			var functions [2]string
			for j, call := range calls {
				testkit.Inaccessible(t, mem, func() {
					stack, _ := testkit.WhereFaults(t, call)
					for _, frame := range stack {
						// Go functions are inlined, or fault in what they call.
						if strings.Contains(frame.Function, "raid6."+name) {
							functions[j] = frame.Function
							break
						}
					}
				})
			}
			if functions[0] == "" || functions[0] != functions[1] {
				t.Errorf("%s: the table has %q, the switch %q", name, functions[0], functions[1])
			}
		}
	})
}

// TestTuneArrays looks at what Tune measures on: the caller's chunks, cut where they would take too much, in memory that was
// written to, aligned to pages and staggered.
func TestTuneArrays(t *testing.T) {
	shapes := [][3]int{{4, 512, 512}, {30, 2*page + 5, 2*page + 5}, {257, 1, 1}}
	if !testkit.Boundary() {
		shapes = append(shapes, [3]int{7, 1 << 30, tuneMemory / 7})
	}
	for _, shape := range shapes {
		for i, array := range tuneArrays(shape[0], shape[1]) {
			if len(array) != shape[0] {
				t.Fatalf("%d disks for %v", len(array), shape)
			}
			end := uintptr(0)
			for z, d := range array {
				at := alias.Address(d)
				if len(d) != shape[2] || int(at%page) != i*z*stagger%page || at < end || bytes.IndexByte(d, 0) >= 0 {
					t.Fatalf("%v: chunk %d has %d bytes from %#x on, behind one up to %#x", shape, z, len(d), at, end)
				}
				end = at + uintptr(len(d))
			}
		}
	}
}

// TestTune runs it, and uses what it finds.
func TestTune(t *testing.T) {
	for _, shape := range [][2]int{{4, 512}, {8, 4096}, {24, 100}} {
		c, err := Tune(shape[0], shape[1])
		must(t, err)
		i := kernels.Index(c.Kernel())
		if i < 0 || !hwfeatures.Enabled().Has(kernels[i].Requires) {
			t.Fatalf("Tune%v chooses %q", shape, c.Kernel())
		}
		if i == kernelGeneric && defaultKernel != kernelGeneric && shape[1] > 1000 && !testkit.Boundary() {
			t.Errorf("Tune%v takes Go for faster than the others", shape)
		}
		want := testArray(shape[0]-2, shape[1])
		got := clone(want)
		spoil(got[0])
		spoil(got[1])
		must(t, c.Recover(got, 0, 1))
		compareDisks(t, c.Kernel(), got, want)
	}
}

// TestForced starts this test again with the environment variables set, since they are read once.
func TestForced(t *testing.T) {
	if os.Getenv("RAID6_TEST_CHILD") != "" {
		c, err := Tune(6, 1000)
		fmt.Printf("default=%s tuned=%s %v.\n", Code{}.Kernel(), c.Kernel(), err)
		return
	}
	run := func(hwf, kernel string) string {
		t.Helper()
		cmd := exec.Command(os.Args[0], "-test.run=^TestForced$")
		cmd.Env = append(os.Environ(), "RAID6_TEST_CHILD=1", "GORACE=atexit_sleep_ms=0", "TWOGATHER_HWF="+hwf, "TWOGATHER_KERNEL="+kernel)
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		return string(out)
	}
	if err := exec.Command(os.Args[0], "-test.run=^$").Run(); err != nil {
		t.Skip("cannot start processes here (an emulated processor?): ", err)
	}
	for _, k := range kernels.Usable(hwfeatures.Detected()) {
		if out, want := run("", "raid6="+k.Name), "default="+k.Name+" tuned="+k.Name+" <nil>.\n"; !strings.HasPrefix(out, want) {
			t.Errorf("raid6=%s: %s", k.Name, out)
		}
	}
	if out := run("-intel-ssse3,-arm-neon", "raid6=magic"); !strings.HasPrefix(out, "default=generic tuned=generic <nil>.\n") {
		t.Errorf("without features: %s", out)
	}
}

func TestFunctions(t *testing.T) { testkit.Functions(t, primitive, kernels) }

// FuzzRaid6 generates, updates and recovers with every kernel.
func FuzzRaid6(f *testing.F) {
	f.Add(uint8(4), uint16(100), uint8(0), uint8(1), uint8(1), uint8(2), uint64(1))
	f.Add(uint8(40), uint16(5000), uint8(7), uint8(41), uint8(0), uint8(40), uint64(2))
	f.Add(uint8(255), uint16(33), uint8(255), uint8(254), uint8(100), uint8(255), uint64(3))
	f.Fuzz(func(t *testing.T, width uint8, size uint16, x, y, start, stop uint8, seed uint64) {
		n, length := max(int(width), MinData), int(size)%5000
		if n > 30 {
			length %= 300
		}
		lo, hi := int(min(start, stop))%(n+1), int(max(start, stop))%(n+1)
		lo, hi = min(lo, hi), max(lo, hi)
		failed := []int{int(x) % (n + 2), int(y) % (n + 2)}
		if failed[0] == failed[1] {
			failed = failed[:1]
		}
		want := make([][]byte, n+2)
		for z := range n {
			want[z] = make([]byte, length)
			fill(want[z], seed+uint64(z))
		}
		want[n], want[n+1] = reference(want[:n])
		for k := range kernels.Usable(hwfeatures.Detected()) {
			c, got := withKernel(k), clone(want)
			spoil(got[n])
			spoil(got[n+1])
			must(t, c.GenSyndrome(got[:n], got[n], got[n+1]))
			must(t, c.XorSyndrome(got[:n], lo, hi, got[n], got[n+1]))
			must(t, c.XorSyndrome(got[:n], lo, hi, got[n], got[n+1]))
			for _, f := range failed {
				spoil(got[f])
			}
			must(t, c.Recover(got, failed...))
			compareDisks(t, kernels[k].Name, got, want)
			if z, err := c.Locate(got); z != -1 || err != nil {
				t.Fatalf("%s: Locate says %d, %v", kernels[k].Name, z, err)
			}
		}
	})
}
