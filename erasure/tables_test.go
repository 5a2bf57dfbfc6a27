package erasure

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"unsafe"

	"github.com/twogather/twogather/hwfeatures"
	"github.com/twogather/twogather/internal/gf256"
	"github.com/twogather/twogather/internal/kernel"
	"github.com/twogather/twogather/internal/testkit"
	"github.com/twogather/twogather/vectors"
)

// TestLayout holds the generator's offsets together with the Go types.
func TestLayout(t *testing.T) {
	var p pass
	if unsafe.Offsetof(p.outputs) != 0 || unsafe.Offsetof(p.ones) != 24 || unsafe.Offsetof(p.sources) != 40 ||
		unsafe.Offsetof(p.sources.count) != 8 || unsafe.Offsetof(p.entries) != 56 || unsafe.Offsetof(p.sum) != 64 ||
		unsafe.Offsetof(p.start) != 72 || unsafe.Offsetof(p.park) != 80 || unsafe.Offsetof(p.ahead) != 88 {
		if strconv.IntSize == 64 {
			t.Error("the fields of pass do not lie where the assembly reads them")
		}
	}
	if unsafe.Sizeof(entry{}) != 32 {
		t.Error("an entry has another size than the assembly's")
	}
}

func shardsOf(r *rand.Rand, count, n int) [][]byte {
	s := make([][]byte, count)
	for i := range s {
		s[i] = make([]byte, n)
		for at := 0; at < n; {
			at += copy(s[i][at:], noise[r.IntN(len(noise)/2):])
		}
	}
	return s
}

// slowEncode is the matrix times the sources.
func slowEncode(matrix, sources [][]byte) [][]byte {
	out := make([][]byte, len(matrix))
	for i, row := range matrix {
		out[i] = make([]byte, len(sources[0]))
		for j, c := range row {
			slowUpdate(out[i], c, sources[j])
		}
	}
	return out
}

func equalAll(a, b [][]byte) bool { return slices.EqualFunc(a, b, bytes.Equal) }

// TestParts goes over parts of the sources however small the shards are.
func TestParts(t *testing.T) {
	testkit.Kernels(t, primitive, kernels, func(t *testing.T, k int) {
		r := rand.New(rand.NewPCG(3, 4))
		sizes, lengths := []int{1, 9, 11, 20, 21, 35}, []int{64, 65, 127, 130, 300, 5000}
		if testkit.Boundary() {
			sizes, lengths = []int{11, 21}, []int{65, 300, 1000}
		}
		for _, kind := range matrixKinds {
			for _, columns := range sizes {
				for rows := 1; rows <= maxOutputs; rows++ {
					n := lengths[r.IntN(len(lengths))]
					matrix := kind.make(r, rows, columns)
					tables := must(t, matrix, k)
					sources, outputs := shardsOf(r, columns, n), shardsOf(r, rows, n)
					for _, z := range tables.zeros {
						clear(outputs[z])
					}
					tables.encodeBy(walk{tile: 64 * (1 + r.IntN(9)), most: 1 + r.IntN(maxPart), ahead: 64 * r.IntN(9)}, outputs, sources)
					if !equalAll(outputs, slowEncode(matrix, sources)) {
						t.Fatalf("%s matrix, %d sources, %d outputs, %d bytes: wrong", kind.name, columns, rows, n)
					}
				}
			}
		}
	})
}

// Shards that come from memory are walked over otherwise than those in a cache, and parts of them like the whole.
func TestWalk(t *testing.T) {
	for _, x := range []struct {
		columns, rows, n  int
		crowded           bool
		tile, most, ahead int
	}{
		{10, 4, 32 << 10, false, 32 << 10, 10, 0},
		{50, 20, 32 << 10, false, groupTile, 50, 0},
		{40, 1, 32 << 10, false, groupTile, 40, 0},
		{10, 4, farBytes/14 - 1, false, farBytes/14 - 1, 10, 0},
		{10, 4, farBytes / 14, false, farBytes / 14, 10, farAhead},
		{10, 20, 1 << 20, false, groupTile, 10, farAhead},
		{17, 3, 1 << 20, false, farTile, farSources, farAhead},
		{50, 20, 1 << 20, false, farTile, farSources, farAhead},
		{10, 4, 4096, true, crowdedTile, crowdedSources, 0},
		{17, 3, 1 << 20, true, crowdedTile, crowdedSources, farAhead},
		{10, 6, crowdedSixOutputs - 1, true, crowdedSixOutputs - 1, 10, 0},
		{10, 6, crowdedSixOutputs, true, crowdedTile, crowdedSources, 0},
	} {
		tables := must(t, newMatrix(x.rows, x.columns, func(i, j int) byte { return byte(2 + i + j) }), kernelGeneric)
		if got, want := tables.walk(x.n, x.crowded), (walk{x.tile, x.most, x.ahead}); got != want {
			t.Errorf("%d+%d, %d bytes: %v, want %v", x.columns, x.rows, x.n, got, want)
		}
	}
	zeros := must(t, newMatrix(3, 10, func(int, int) byte { return 0 }), kernelGeneric)
	if got := zeros.walk(4096, true); got != (walk{4096, 10, 0}) {
		t.Errorf("a matrix of zeros: %v", got)
	}
	testkit.Kernels(t, primitive, kernels, func(t *testing.T, k int) {
		r := rand.New(rand.NewPCG(11, 12))
		matrix := matrixKinds[2].make(r, 7, 12)
		sources, outputs := shardsOf(r, 12, 1000), shardsOf(r, 7, 1000)
		must(t, matrix, k).encodePart(outputs, sources, farBytes)
		if !equalAll(outputs, slowEncode(matrix, sources)) {
			t.Error("part of shards: wrong")
		}
	})
}

func TestRowsAndColumns(t *testing.T) {
	testkit.Kernels(t, primitive, kernels, func(t *testing.T, k int) {
		r := rand.New(rand.NewPCG(5, 6))
		matrix := matrixKinds[3].make(r, 9, 13)
		all := must(t, matrix, k)
		sources := shardsOf(r, 13, 200)
		check := func(tables *Tables, matrix, sources [][]byte, what string, args ...any) {
			t.Helper()
			outputs := shardsOf(r, len(matrix), 200)
			tables.encode(outputs, sources)
			if !equalAll(outputs, slowEncode(matrix, sources)) {
				t.Fatal(fmt.Sprintf(what, args...), "differ from their part of the matrix")
			}
		}
		for i := range 9 {
			for j := i + 1; j <= 9; j++ {
				check(all.Rows(i, j), matrix[i:j], sources, "rows %d to %d", i, j)
			}
		}
		for i := range 13 {
			for j := i + 1; j <= 13; j++ {
				part := make([][]byte, len(matrix))
				for row := range matrix {
					part[row] = matrix[row][i:j]
				}
				check(all.Columns(i, j), part, sources[i:j], "columns %d to %d", i, j)
			}
		}
		check(all, matrix, sources, "all tables")
		if got := all.Rows(4, 4); got.rows != 0 || got.columns != 13 {
			t.Error("no rows are some")
		}
		// What comes of a part stands alone.
		part := matrix[0][0]
		matrix[0][0]++
		if all.at(0, 0) != part {
			t.Error("the tables share memory with the matrix")
		}
	})
}

// A coefficient 0 costs nothing: the source is not read, nor in an update the output.
func TestZeros(t *testing.T) {
	if !testkit.GuardPages {
		t.Skip("this needs pages that fault")
	}
	testkit.Kernels(t, primitive, kernels, func(t *testing.T, k int) {
		matrix := [][]byte{{3, 0, 5, 0}, {1, 0, 7, 0}, {1, 0, 0, 0}, {0, 0, 0, 0}}
		tables := must(t, matrix, k)
		n := os.Getpagesize()
		shards := slices.Collect(slices.Chunk(testkit.Guarded(t, 8*n), n))
		sources, outputs := shards[:4], shards[4:]
		for i, s := range shards {
			copy(s, noise[i:])
		}
		want := slowEncode(matrix, sources)
		without := func(f func(), shards ...[]byte) {
			for _, s := range shards {
				f = func(inner func()) func() { return func() { testkit.Inaccessible(t, s, inner) } }(f)
			}
			f()
		}
		without(func() { tables.encode(outputs, sources) }, sources[1], sources[3])
		if !equalAll(outputs, want) {
			t.Error("encode: wrong")
		}
		without(func() { tables.Rows(2, 4).encode(outputs[:2], sources) }, sources[1:]...)
		if !equalAll(outputs[:2], want[2:]) {
			t.Error("encode of a sum and of nothing: wrong")
		}
		outputs[0], outputs[1] = want[0], want[1]
		for j, source := range sources {
			unread, untouched := [][]byte{source}, [][]byte(nil)
			for i, row := range matrix {
				if row[j] != 0 {
					unread = nil
				} else if i > 1 {
					untouched = append(untouched, outputs[i])
				}
			}
			without(func() { tables.update(outputs, j, source) }, append(unread, untouched...)...)
		}
	})
}

// A coefficient 1 costs a XOR: rows of ones and columns of ones have no entries, and a sum of its own is no product.
func TestOnes(t *testing.T) {
	testkit.Kernels(t, primitive, kernels, func(t *testing.T, k int) {
		r := rand.New(rand.NewPCG(13, 14))
		size := formOf(uint8(k)).size
		for _, x := range []struct{ rows, columns, ones, sum int }{{1, 5, 5, 0}, {4, 10, 1, 1}, {2, 3, 1, 1}} {
			g := must(t, matrixKinds[2].make(r, x.rows, x.columns), k).groups[0]
			if products := (x.rows - x.sum) * (x.columns - x.ones); g.ones != x.ones || g.sum != x.sum || len(g.entries) != products*size {
				t.Errorf("%d+%d: %d columns of ones, sum %d, %d bytes of entries for %d products", x.columns, x.rows, g.ones, g.sum, len(g.entries), products)
			}
		}
		if !testkit.GuardPages || k == kernelGeneric {
			return
		}
		output := testkit.Guarded(t, 4096)
		tables := must(t, [][]byte{{1}}, k)
		testkit.Inaccessible(t, output, func() {
			stack, _ := testkit.WhereFaults(t, func() { tables.update([][]byte{output}, 0, noise[:len(output)]) })
			if name := stack[0].Function; !strings.Contains(name, ".add") {
				t.Errorf("%s adds a source", name)
			}
		})
	})
}

// TestGoroutines has goroutines share tables.
func TestGoroutines(t *testing.T) {
	testkit.Kernels(t, primitive, kernels, func(t *testing.T, k int) {
		r := rand.New(rand.NewPCG(7, 8))
		matrix := matrixKinds[3].make(r, 8, 12)
		tables := must(t, matrix, k)
		var wg sync.WaitGroup
		for range 8 {
			sources := shardsOf(r, 12, 1000)
			want := slowEncode(matrix, sources)
			wg.Go(func() {
				outputs := cloneAll(want)
				for i := range testkit.Size().Rounds {
					n := 1000 - i%1000
					short := make([][]byte, 0, 20)
					for _, s := range append(slices.Clone(sources), outputs...) {
						short = append(short, s[:n])
					}
					for _, out := range short[12:] {
						clear(out)
					}
					tables.encode(short[12:], short[:12])
					if !equalAll(outputs, want) {
						t.Errorf("%d bytes: wrong", n)
						return
					}
				}
			})
		}
		wg.Wait()
	})
}

func TestErrors(t *testing.T) {
	if _, err := NewTables([][]byte{{1, 2}, {3}}); err == nil || err.Error() != "erasure: row 1 of the matrix has 1 coefficients, row 0 has 2" {
		t.Errorf("a matrix with rows of several lengths: %v", err)
	}
	tables, err := NewTables([][]byte{{1, 2, 3}, {4, 5, 6}})
	if err != nil {
		t.Fatal(err)
	}
	buf := testkit.Random("errors", 1000)
	at := func(i, n int) []byte { return buf[i : i+n] }
	a, b, c, x, y := at(0, 100), at(100, 100), at(200, 100), at(300, 100), at(400, 100)
	before := bytes.Clone(buf)
	for _, e := range []struct {
		outputs, sources [][]byte
		want             string
	}{
		{[][]byte{x, y}, [][]byte{a, b}, "erasure: 2 sources, the tables have 3 columns"},
		{[][]byte{x, y}, nil, "erasure: 0 sources, the tables have 3 columns"},
		{[][]byte{x}, [][]byte{a, b, c}, "erasure: 1 outputs, the tables have 2 rows"},
		{[][]byte{x, y, at(500, 100)}, [][]byte{a, b, c}, "erasure: 3 outputs, the tables have 2 rows"},
		{[][]byte{x, y[:99]}, [][]byte{a, b, c}, "erasure: output 1 has 99 bytes, output 0 has 100"},
		{[][]byte{x, nil}, [][]byte{a, b, c}, "erasure: output 1 has 0 bytes, output 0 has 100"},
		{[][]byte{x, y}, [][]byte{a, b, c[:1]}, "erasure: source 2 has 1 bytes, the outputs have 100"},
		{[][]byte{x, y}, [][]byte{a, nil, c}, "erasure: source 1 has 0 bytes, the outputs have 100"},
		{[][]byte{x, b}, [][]byte{a, b, c}, "erasure: output 1 overlaps source 1"},
		{[][]byte{at(299, 100), y}, [][]byte{a, b, c}, "erasure: output 0 overlaps source 2"},
		{[][]byte{x, at(399, 100)}, [][]byte{a, b, c}, "erasure: outputs 0 and 1 overlap"},
		{[][]byte{x, x}, [][]byte{a, b, c}, "erasure: outputs 0 and 1 overlap"},
	} {
		if err := tables.EncodeData(e.outputs, e.sources); err == nil || err.Error() != e.want {
			t.Errorf("EncodeData: got %v, want %s", err, e.want)
		}
	}
	for _, e := range []struct {
		outputs [][]byte
		column  int
		source  []byte
		want    string
	}{
		{[][]byte{x, y}, -1, a, "erasure: column -1, the tables have 3 columns"},
		{[][]byte{x, y}, 3, a, "erasure: column 3, the tables have 3 columns"},
		{[][]byte{x}, 0, a, "erasure: 1 outputs, the tables have 2 rows"},
		{[][]byte{x, y}, 0, a[:99], "erasure: the source has 99 bytes, the outputs have 100"},
		{[][]byte{x, y}, 0, nil, "erasure: the source has 0 bytes, the outputs have 100"},
		{[][]byte{x, y[1:]}, 0, a, "erasure: output 1 has 99 bytes, output 0 has 100"},
		{[][]byte{x, y}, 0, at(350, 100), "erasure: output 0 overlaps the source"},
		{[][]byte{x, x}, 0, a, "erasure: outputs 0 and 1 overlap"},
	} {
		if err := tables.EncodeDataUpdate(e.outputs, e.column, e.source); err == nil || err.Error() != e.want {
			t.Errorf("EncodeDataUpdate: got %v, want %s", err, e.want)
		}
	}
	if !bytes.Equal(buf, before) {
		t.Error("something was written before an error")
	}
	// Sources may overlap, and shards may lie in any order.
	for _, shards := range [][][]byte{{x, y, a, a, at(50, 100)}, {at(900, 100), a, at(500, 100), b, c}, {a[:0], b[:0], c[:0], nil, nil}} {
		outputs, sources := shards[:2], shards[2:]
		want := slowEncode([][]byte{{1, 2, 3}, {4, 5, 6}}, cloneAll(sources))
		if err := tables.EncodeData(outputs, sources); err != nil || !equalAll(outputs, want) {
			t.Errorf("shards that may be: %v", err)
		}
		slowUpdate(want[0], 2, sources[1])
		slowUpdate(want[1], 5, sources[1])
		if err := tables.EncodeDataUpdate(outputs, 1, sources[1]); err != nil || !equalAll(outputs, want) {
			t.Errorf("update of shards that may be: %v", err)
		}
	}
}

// TestEmpty has nothing to do, in every way.
func TestEmpty(t *testing.T) {
	testkit.Kernels(t, primitive, kernels, func(t *testing.T, k int) {
		must(t, nil, k).encode(nil, nil)
		out := []byte{1, 2, 3}
		must(t, [][]byte{{}}, k).encode([][]byte{out}, nil)
		if !bytes.Equal(out, make([]byte, 3)) {
			t.Errorf("the sum of no sources is %x", out)
		}
	})
}

// TestAllocations encodes with everything on the stack.
func TestAllocations(t *testing.T) {
	testkit.Kernels(t, primitive, kernels, func(t *testing.T, k int) {
		tables := must(t, [][]byte{{1, 1, 1}, {1, 5, 6}, {1, 8, 9}}, k)
		if n := testing.AllocsPerRun(100, func() {
			var memory [6][300]byte
			outputs := [3][]byte{memory[0][:], memory[1][:], memory[2][:]}
			sources := [3][]byte{memory[3][:], memory[4][:], memory[5][:]}
			tables.encode(outputs[:], sources[:])
			tables.update(outputs[:], 2, sources[2])
			if tables.EncodeData(outputs[:], sources[:]) != nil || tables.EncodeDataUpdate(outputs[:], 0, sources[0]) != nil {
				panic("error")
			}
		}); n != 0 {
			t.Errorf("%v allocations", n)
		}
	})
}

var rangeArguments = regexp.MustCompile(`0x([0-9a-f]+)\??, 0x([0-9a-f]+)\??\)$`)

// TestCallLength looks at the calls to assembly by having them fault at places of the last source.
func TestCallLength(t *testing.T) {
	if !testkit.GuardPages {
		t.Skip("this needs pages that fault")
	}
	testkit.Kernels(t, primitive, kernels, func(t *testing.T, k int) {
		if k == kernelGeneric {
			return // a goroutine in Go can be preempted
		}
		const page = 4096
		shapes := [][2]int{{3, 2}, {16, 6}, {1, 1}, {40, 13}}
		if testkit.Boundary() {
			shapes = shapes[:2]
		}
		for _, shape := range shapes {
			r := rand.New(rand.NewPCG(9, 10))
			matrix := matrixKinds[2].make(r, shape[1], shape[0])
			tables := must(t, matrix, k)
			n := 40 * page
			last := testkit.Guarded(t, n)
			shards := shardsOf(r, shape[0]+shape[1], n)
			sources, outputs := shards[:shape[0]], shards[shape[0]:]
			sources[shape[0]-1] = last
			g := &tables.groups[0]
			for _, op := range []struct {
				name   string
				shards int // that a call reads and writes
				f      func()
			}{
				{"encode", tables.walk(n, tables.crowded(n, sources)).most + g.count, func() { tables.encode(outputs, sources) }},
				{"update", 1 + min(shape[1], updateOutputs(uint8(k))), func() { tables.update(outputs, shape[0]-1, last) }},
				{"parts", min(shape[0], 8) + g.count, func() { tables.runParts(g, walk{most: 8}, outputs[g.first:g.first+g.count], sources, 0, n) }},
			} {
				for _, at := range []int{0, page, 16 * page, n - page} {
					var name, args string
					testkit.Inaccessible(t, last[at:at+page], func() {
						stack, trace := testkit.WhereFaults(t, op.f)
						name = stack[0].Function
						_, trace, _ = strings.Cut(trace, name+"(")
						args, _, _ = strings.Cut(trace, "\n")
					})
					m := rangeArguments.FindStringSubmatch(args)
					if m == nil {
						t.Fatalf("%s: no range in %s(%s", op.name, name, args)
					}
					from, _ := strconv.ParseInt(m[1], 16, 64)
					to, _ := strconv.ParseInt(m[2], 16, 64)
					if work := int(to-from) * op.shards; work <= 0 || work > maxCall || at+page <= int(from) || at >= int(to) {
						t.Errorf("%v, %s: a fault at byte %d in %s, from %d to %d", shape, op.name, at, name, from, to)
					}
				}
			}
		}
	})
}

func TestSelection(t *testing.T) {
	p := kernel.Lookup(primitive)
	if p == nil || len(p.Kernels) != len(kernels) {
		t.Fatal("the primitive is not registered with all its kernels")
	}
	if got := p.Selected(0, false); !slices.Equal(got, []string{"generic"}) && os.Getenv("TWOGATHER_KERNEL") == "" {
		t.Errorf("without features: %v", got)
	}
	if p.Selected(hwfeatures.Enabled(), true) != nil {
		t.Error("there are constant-time kernels")
	}
	newTables := p.New(hwfeatures.Enabled(), false, "generic").(func([][]byte) (*Tables, error))
	if tables, err := newTables([][]byte{{3}}); err != nil || tables.kernel != kernelGeneric {
		t.Errorf("the kernel of a name is not the one asked for: %v", err)
	}
	for i := range kernels {
		if k := p.Selected(kernels[i].Requires|kernels[i].Prefers, false)[0]; k != kernels[i].Name && os.Getenv("TWOGATHER_KERNEL") == "" {
			t.Errorf("with what %s requires and prefers, %s is selected", kernels[i].Name, k)
		}
	}
}

// publicAnswers calls f for each block of a file of the folder that TWOGATHER_VECTORS names.
func publicAnswers(t *testing.T, file string, f func(block map[string]string)) {
	t.Helper()
	dir, err := vectors.Folder()
	if err != nil {
		t.Fatal(err)
	}
	if dir == "" {
		t.Skip(vectors.Variable + " is not set")
	}
	text, err := os.ReadFile(filepath.Join(dir, "rs", file))
	if err != nil {
		t.Fatal(err)
	}
	blocks := 0
	for block := range strings.SplitSeq(string(text), "\n\n") {
		fields := map[string]string{}
		for line := range strings.Lines(block) {
			if name, value, ok := strings.Cut(strings.TrimSpace(line), " ="); ok {
				fields[name] = strings.TrimSpace(value)
			}
		}
		if len(fields) > 0 {
			blocks++
			f(fields)
		}
	}
	if blocks < 100 {
		t.Errorf("%s has %d blocks", file, blocks)
	}
}

func fromHex(t *testing.T, s string) []byte {
	t.Helper()
	b, err := hex.DecodeString(s)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestPublicField(t *testing.T) {
	publicAnswers(t, "gf_tables.txt", func(block map[string]string) {
		c := fromHex(t, block["c"])[0]
		for x, want := range fromHex(t, block["row"]) {
			if gf256.Mul(c, byte(x)) != want {
				t.Fatalf("%#x·%#x = %#x, want %#x", c, x, gf256.Mul(c, byte(x)), want)
			}
		}
		if c != 0 && gf256.Inverse(c) != fromHex(t, block["inv"])[0] {
			t.Errorf("1/%#x = %#x", c, gf256.Inverse(c))
		}
		if nibbles := nibbleEntries()[c]; !bytes.Equal(nibbles[:], fromHex(t, block["tbl32"])) {
			t.Errorf("%#x: nibble entry %x", c, nibbles)
		}
		if matrix := matrixEntries()[c]; !bytes.Equal(matrix[:], bytes.Repeat(reversed(fromHex(t, block["gfni"])), 4)) {
			t.Errorf("%#x: matrix %x", c, matrix)
		}
	})
}

func reversed(b []byte) []byte {
	slices.Reverse(b)
	return b
}

// splitmix returns the next n bytes of the generator that the file's sources come from.
func splitmix(state *uint64, n int) []byte {
	b := make([]byte, n)
	for i := range b {
		*state += 0x9E3779B97F4A7C15
		z := *state
		z = (z ^ z>>30) * 0xBF58476D1CE4E5B9
		z = (z ^ z>>27) * 0x94D049BB133111EB
		b[i] = byte(z ^ z>>31)
	}
	return b
}

// publicMatrix makes a matrix of one of the kinds in the files from its definition: powers of 2, or inverses.
func publicMatrix(kind string, k, p int) [][]byte {
	power := func(n int) byte {
		a := byte(1)
		for range n {
			a = slowProducts[2][a]
		}
		return a
	}
	return newMatrix(p, k, func(i, j int) byte {
		if kind == "rs" {
			return power(i * j)
		}
		return byte(bytes.IndexByte(slowProducts[(k+i)^j][:], 1))
	})
}

func TestPublicProducts(t *testing.T) {
	number := func(s string) int {
		n, err := strconv.Atoi(s)
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	publicAnswers(t, "matrices.txt", func(b map[string]string) {
		if m := publicMatrix(b["kind"], number(b["k"]), number(b["p"])); !bytes.Equal(slices.Concat(m...), fromHex(t, b["matrix"])) {
			t.Fatalf("matrix %v comes out as %x", b, m)
		}
	})
	testkit.Kernels(t, primitive, kernels, func(t *testing.T, kernel int) {
		publicAnswers(t, "ec_encode.txt", func(b map[string]string) {
			k, p, n := number(b["k"]), number(b["p"]), number(b["len"])
			seed, err := strconv.ParseUint(b["seed"], 16, 64)
			if err != nil {
				t.Fatal(err)
			}
			var sources, outputs, want [][]byte
			for i := range k {
				sources = append(sources, splitmix(&seed, n))
				if d, ok := b[fmt.Sprint("d", i)]; ok && !bytes.Equal(sources[i], fromHex(t, d)) {
					t.Fatalf("source %d of %v comes out as %x", i, b, sources[i])
				}
			}
			for i := range p {
				want = append(want, fromHex(t, b[fmt.Sprint("c", i)]))
				outputs = append(outputs, bytes.Repeat([]byte{0xff}, n))
			}
			if err := must(t, publicMatrix(b["matrix"], k, p), kernel).EncodeData(outputs, sources); err != nil || !equalAll(outputs, want) {
				t.Fatalf("%s, k = %d, p = %d, %d bytes: wrong, %v", b["matrix"], k, p, n, err)
			}
		})
	})
}
