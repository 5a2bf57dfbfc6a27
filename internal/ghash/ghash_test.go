package ghash

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/twogather/twogather/hwfeatures"
	"github.com/twogather/twogather/internal/testkit"
)

func TestFunctions(t *testing.T) { testkit.Functions(t, primitive, kernels) }

// A polynomial is a block as SP 800-38D has it: coefficient i is bit i from the left.
type polynomial [128]bool

func fromBlock(b []byte) (p polynomial) {
	for i := range p {
		p[i] = b[i/8]>>(7-i%8)&1 != 0
	}
	return p
}

func (p polynomial) block() (b [BlockSize]byte) {
	for i := range p {
		if p[i] {
			b[i/8] |= 1 << (7 - i%8)
		}
	}
	return b
}

// times multiplies modulo x¹²⁸ + x⁷ + x² + x + 1, coefficient by coefficient.
func (p polynomial) times(r polynomial) (product polynomial) {
	for i := range r {
		if r[i] {
			for j := range product {
				product[j] = product[j] != p[j]
			}
		}
		top := p[127]
		copy(p[1:], p[:127])
		p[0] = top
		for _, j := range []int{1, 2, 7} {
			p[j] = p[j] != top
		}
	}
	return product
}

// reference is GHASH by the polynomials.
func reference(h, y, data []byte) []byte {
	key, sum := fromBlock(h), fromBlock(y)
	for len(data) > 0 {
		var b [BlockSize]byte
		n := copy(b[:], data)
		data = data[n:]
		block := fromBlock(b[:])
		for i := range sum {
			sum[i] = sum[i] != block[i]
		}
		sum = sum.times(key)
	}
	b := sum.block()
	return b[:]
}

// newKey is a Key bound to kernel i.
func newKey(i int, h []byte) *Key {
	k := new(Key)
	k.init((*[BlockSize]byte)(h), uint8(i))
	return k
}

// specialBlocks are zero, all ones, and every single bit.
func specialBlocks() (blocks [][]byte) {
	blocks = append(blocks, make([]byte, BlockSize), bytes.Repeat([]byte{0xff}, BlockSize))
	for i := range 128 {
		b := make([]byte, BlockSize)
		b[i/8] = 1 << (i % 8)
		blocks = append(blocks, b)
	}
	return blocks
}

// TestProducts multiplies single bits, whose products are every power of x up to 254, and all ones.
func TestProducts(t *testing.T) {
	special := specialBlocks()
	testkit.Kernels(t, primitive, kernels, func(t *testing.T, i int) {
		for n, h := range special {
			k := newKey(i, h)
			for m, b := range special {
				if testkit.Boundary() && (n+m)%16 != 1 && n > 1 && m > 1 {
					continue
				}
				var y [BlockSize]byte
				k.Update(&y, b)
				if want := reference(h, make([]byte, BlockSize), b); !bytes.Equal(y[:], want) {
					t.Fatalf("%x times %x: %x, want %x", b, h, y, want)
				}
			}
		}
	})
}

// TestUpdate compares every length, with a sum before it, in one call and in two.
func TestUpdate(t *testing.T) {
	longest := 16 * (3*maxPowers + 5)
	in := testkit.Random("data", longest+3)
	h, y0 := testkit.Random("key", BlockSize), testkit.Random("sum", BlockSize)
	want := make([][]byte, len(in)+1)
	sum := y0
	for n := 0; n <= len(in); n++ {
		whole := n &^ (BlockSize - 1)
		if n == whole && n > 0 {
			sum = reference(h, sum, in[n-BlockSize:n])
		}
		want[n] = reference(h, sum, in[whole:n])
	}
	var lengths []int
	for n := range want {
		if n <= 300 || n%BlockSize <= 1 || n%BlockSize == BlockSize-1 {
			lengths = append(lengths, n)
		}
	}
	testkit.Kernels(t, primitive, kernels, func(t *testing.T, i int) {
		k := newKey(i, h)
		for _, n := range lengths {
			y := [BlockSize]byte(y0)
			k.Update(&y, in[:n])
			if !bytes.Equal(y[:], want[n]) {
				t.Fatalf("%d bytes: %x, want %x", n, y, want[n])
			}
			step := BlockSize
			if testkit.Boundary() {
				step = 7 * BlockSize
			}
			for a := 0; a <= n; a += step {
				y := [BlockSize]byte(y0)
				k.Update(&y, in[:a])
				k.Update(&y, in[a:n])
				if !bytes.Equal(y[:], want[n]) {
					t.Fatalf("%d bytes and %d: %x, want %x", a, n-a, y, want[n])
				}
			}
		}
	})
}

// TestGuards hashes data between pages that fault, at every offset from them, and at the edges for every length. The key
// and the sum lie at a page's edge too.
func TestGuards(t *testing.T) {
	in := testkit.Random("data", 1024)
	h := testkit.Random("key", BlockSize)
	memory := testkit.Guarded(t, len(in)+64)
	testkit.Kernels(t, primitive, kernels, func(t *testing.T, i int) {
		k := newKey(i, h)
		check := func(data []byte) {
			t.Helper()
			copy(data, in)
			var y [BlockSize]byte
			k.Update(&y, data)
			var want [BlockSize]byte
			newKey(kernelGeneric, h).Update(&want, in[:len(data)])
			if y != want {
				t.Fatalf("%d bytes: %x, want %x", len(data), y, want)
			}
		}
		for n := range len(in) + 1 {
			check(memory[:n])
			check(memory[len(memory)-n:])
		}
		for _, offset := range testkit.Size().Offsets {
			for _, n := range []int{16, 48, 512, 700} {
				check(memory[offset : offset+n])
				check(memory[len(memory)-offset-n : len(memory)-offset])
			}
		}
	})
}

// TestKeys runs random keys, sums and lengths.
func TestKeys(t *testing.T) {
	testkit.Kernels(t, primitive, kernels, func(t *testing.T, i int) {
		r := rand.New(rand.NewPCG(1, 2))
		random := func(n int) []byte {
			b := make([]byte, n)
			for i := range b {
				b[i] = byte(r.Uint32())
			}
			return b
		}
		for range 2 * testkit.Size().Keys {
			h, y0, data := random(BlockSize), random(BlockSize), random(r.IntN(700))
			y := [BlockSize]byte(y0)
			newKey(i, h).Update(&y, data)
			if want := reference(h, y0, data); !bytes.Equal(y[:], want) {
				t.Fatalf("key %x, sum %x, data %x: %x, want %x", h, y0, data, y, want)
			}
		}
	})
}

// TestPowers holds the table that kernels rely on: power i of the key is H to the i times x, so that one product with it
// is one with H to the i.
func TestPowers(t *testing.T) {
	h := testkit.Random("key", BlockSize)
	testkit.Kernels(t, primitive, kernels, func(t *testing.T, i int) {
		k := newKey(i, h)
		power := fromBlock(h)
		for n := 1; n <= maxPowers; n++ {
			b := power.block()
			want := load(b[:]).timesX()
			if n > kernels[i].Batch {
				want = element{}
			}
			if got := k.powers.power[maxPowers-n]; got != want {
				t.Fatalf("power %d: %x, want %x", n, got, want)
			}
			want = element{want.lo ^ want.hi, want.lo ^ want.hi}
			if got := k.powers.sum[maxPowers-n]; got != want {
				t.Fatalf("sum of power %d: %x, want %x", n, got, want)
			}
			power = power.times(fromBlock(h))
		}
	})
}

// TestKnownAnswers has the intermediate values of test cases 2 and 4 in McGrew and Viega's The Galois/Counter Mode of
// Operation (GCM), appendix B.
func TestKnownAnswers(t *testing.T) {
	decode := func(s string) []byte {
		b, err := hex.DecodeString(s)
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	testkit.Kernels(t, primitive, kernels, func(t *testing.T, i int) {
		for _, c := range []struct{ h, data, sum string }{
			{"66e94bd4ef8a2c3b884cfa59ca342b2e",
				"0388dace60b6a392f328c2b971b2fe78" + "00000000000000000000000000000080",
				"f38cbb1ad69223dcc3457ae5b6b0f885"},
			{"b83b533708bf535d0aa6e52980d53b78",
				"feedfacedeadbeeffeedfacedeadbeefabaddad2000000000000000000000000" +
					"42831ec2217774244b7221b784d0d49ce3aa212f2c02a4e035c17e2329aca12e" +
					"21d514b25466931c7d8f6a5aac84aa051ba30b396a0aac973d58e09100000000" +
					"00000000000000a000000000000001e0",
				"698e57f70e6ecc7fd9463b7260a9ae5f"},
		} {
			var y [BlockSize]byte
			newKey(i, decode(c.h)).Update(&y, decode(c.data))
			if got := hex.EncodeToString(y[:]); got != c.sum {
				t.Errorf("%s, want %s", got, c.sum)
			}
		}
	})
}

// TestPaths walks every kernel in assembly, of all architectures: no address and no branch depends on what memory holds.
func TestPaths(t *testing.T) {
	functions := testkit.AssemblyFunctions(t)
	if len(functions) < 4 {
		t.Errorf("%d functions in assembly", len(functions))
	}
	for name, f := range functions {
		for _, blocks := range []int{1, 5, 39, 71} { // groups, rows and blocks of each
			n := uint64(blocks * BlockSize)
			steps, err := f.Walk(1<<32, 2<<32, 3<<32, n, n)
			if err != nil {
				t.Errorf("%s, %d blocks: %v", name, blocks, err)
			}
			t.Logf("%s, %d blocks: %d instructions", name, blocks, steps)
		}
		if lines := f.Unvisited(); len(lines) > 0 {
			t.Errorf("%s: not walked:\n%s", name, strings.Join(lines, "\n"))
		}
	}
}

// TestAllocs has its buffers on the stack: a call that lets them escape is seen.
func TestAllocs(t *testing.T) {
	if n := testing.AllocsPerRun(10, func() {
		var h, y [BlockSize]byte
		var data [700]byte
		var k Key
		k.Init(&h)
		k.Update(&y, data[:])
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func BenchmarkUpdate(b *testing.B) {
	for i, k := range kernels.Usable(hwfeatures.Detected()) {
		for _, n := range []int{16, 1024, 8192} {
			b.Run(fmt.Sprintf("%s/%d", k.Name, n), func(b *testing.B) {
				key := newKey(i, testkit.Random("key", BlockSize))
				var y [BlockSize]byte
				data := make([]byte, n)
				b.SetBytes(int64(n))
				for b.Loop() {
					key.Update(&y, data)
				}
			})
		}
	}
}

// TestCallLength watches that no call to a kernel covers more than 64 KiB, and that every block is covered once.
func TestCallLength(t *testing.T) {
	for _, total := range []int{16, 1000, maxCall - 1, maxCall, maxCall + 1, 5*maxCall + 17} {
		covered := 0
		for n := total; n >= BlockSize; {
			c := cut(n)
			if c > 64<<10 || c%BlockSize != 0 || c == 0 {
				t.Fatalf("%d of %d bytes: a call of %d", n, total, c)
			}
			covered += c
			n -= c
		}
		if covered != total&^(BlockSize-1) {
			t.Errorf("%d bytes: %d in calls", total, covered)
		}
	}
	// As the stack of a call to assembly has it.
	mem := testkit.Guarded(t, 256<<10)
	if !testkit.GuardPages {
		return
	}
	page := os.Getpagesize()
	testkit.Kernels(t, primitive, kernels, func(t *testing.T, i int) {
		k := newKey(i, make([]byte, BlockSize))
		var y [BlockSize]byte
		for _, at := range []int{0, 64<<10 - page, 64 << 10, 192 << 10} {
			testkit.Inaccessible(t, mem[at:at+page], func() {
				stack, trace := testkit.WhereFaults(t, func() { k.Update(&y, mem) })
				if !strings.HasSuffix(stack[0].File, ".s") {
					return // Go, which can be preempted
				}
				_, args, _ := strings.Cut(trace, "\n"+stack[0].Function+"(")
				m := sliceArgument.FindStringSubmatch(args)
				if m == nil {
					t.Fatalf("no data in %q", args)
				}
				if n, err := strconv.ParseUint(m[1], 16, 64); err != nil || n == 0 || n > 64<<10 {
					t.Errorf("the call at byte %d covers 0x%s bytes", at, m[1])
				}
			})
		}
	})
}

// sliceArgument is a slice in a stack trace.
var sliceArgument = regexp.MustCompile(`\{0x[0-9a-f]+\??, 0x([0-9a-f]+)\??, 0x[0-9a-f]+\??\}`)
