package twofish

import (
	"bytes"
	"crypto/cipher"
	"encoding/binary"
	"fmt"
	"io"
	"math/big"
	"os"
	"os/exec"
	"regexp"
	"runtime"
	"runtime/pprof"
	"strconv"
	"strings"
	"sync"
	"testing"
	"unsafe"

	//lint:ignore SA1019 this is what ours stands in for
	xtwofish "golang.org/x/crypto/twofish"

	"github.com/twogather/twogather/hwfeatures"
	"github.com/twogather/twogather/internal/testkit"
	"github.com/twogather/twogather/modes"
)

const prefix = "crypto/twofish"

// eachKernel runs f for every kernel that the processor can run, and a plan that uses no other.
func eachKernel(t *testing.T, f func(t *testing.T, i int, p plan)) {
	t.Helper()
	testkit.Kernels(t, "twofish", kernels, func(t *testing.T, i int) {
		p := forcedPlan(i)
		if p.isSlow() {
			testkit.Reduce(t)
		}
		f(t, i, p)
	})
}

// isSlow reports whether the plan is one of constant-time kernels in Go. A single block costs it a batch, too.
func (p plan) isSlow() bool { return strings.HasPrefix(planName(p), constantTimeKernel.Name) }

// mixedPlans returns, by name, every plan that a processor with any part of this one's capabilities could have, whatever
// its tunings, and the one that was chosen.
func mixedPlans() map[string]plan {
	plans := map[string]plan{"default": defaultPlan}
	var mentioned hwfeatures.Set
	for i := range kernels {
		mentioned |= kernels[i].Requires & hwfeatures.Detected()
		mentioned |= kernels[i].Prefers & hwfeatures.Tunings()
	}
	for subset := mentioned; ; subset = (subset - 1) & mentioned {
		// Where time is short, those that lack more have emulated processors of their own.
		if lacks := mentioned &^ subset; lacks&(lacks-1) == 0 || !testing.Short() {
			for _, constantTime := range []bool{false, true} {
				p := choosePlan(subset, constantTime)
				plans[planName(p)] = p
			}
		}
		if subset == 0 {
			return plans
		}
	}
}

func planName(p plan) string {
	var names []string
	for _, s := range p.steps[:p.last+1] {
		names = append(names, kernels[s.kernel].Name)
	}
	return strings.Join(names, "+")
}

// telling returns numbers of blocks from 1 to last: all, or, where checks keep to the boundaries, those on either side of
// which the first blocks go another way.
func (p plan) telling(last int) (blocks []int) {
	way := func(n int) [2]any {
		k, padded := p.kernelFor(n)
		return [2]any{k, padded}
	}
	for n := 1; n <= last; n++ {
		if !testkit.Boundary() || n == 1 || n == last || way(n) != way(n-1) || way(n) != way(n+1) {
			blocks = append(blocks, n)
		}
	}
	return blocks
}

// kernelFor returns the kernel that the first of some blocks go through, and whether they are padded for it.
func (p plan) kernelFor(blocks int) (k uint8, padded bool) {
	first := p.pieces(blocks)[0]
	i := kernels.Index(first.Kernel)
	return uint8(i), first.Units < kernels[i].Batch
}

// serially returns how many of n blocks CBC encryption is to be tested with, which takes them one by one: few, where each
// costs a batch and time is short.
func (p plan) serially(n int) int {
	if _, padded := p.kernelFor(1); padded && testkit.Boundary() {
		return min(n, 5)
	}
	return n
}

// batch is the plan's widest batch, in blocks.
func (p plan) batch() int { return kernels[p.steps[0].kernel].Batch }

func newTest(t testing.TB, key []byte, p plan) *Cipher {
	t.Helper()
	c, err := newCipher(key, p)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// reference is golang.org/x/crypto's Twofish, without what would make the standard library's modes do other than usual.
func reference(key []byte) (cipher.Block, error) {
	x, err := xtwofish.NewCipher(key)
	return struct{ cipher.Block }{x}, err
}

func newReference(t testing.TB, key []byte) cipher.Block {
	t.Helper()
	b, err := reference(key)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestTable(t *testing.T) {
	seen := make(map[string]bool)
	for i := range kernels {
		k := &kernels[i]
		if !regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)*$`).MatchString(k.Name) {
			t.Errorf("name %q", k.Name)
		}
		if seen[k.Name] {
			t.Errorf("%s comes twice", k.Name)
		}
		seen[k.Name] = true
		if k.Batch < 1 || k.Batch*BlockSize > maxBatch || k.Batch*BlockSize > maxCall {
			t.Errorf("%s: a batch of %d blocks", k.Name, k.Batch)
		}
		if k.Funcs.encrypt == nil || k.Funcs.decrypt == nil {
			t.Errorf("%s lacks a function", k.Name)
		}
		if fused := isFused(uint8(i)); fused != (k.Funcs.ctr != nil) || fused != (k.Funcs.cbcDecrypt != nil) {
			t.Errorf("%s: table and switches differ on whether it is fused", k.Name)
		}
		if k.Funcs.rows != nil && k.Batch*BlockSize != rowBytes {
			t.Errorf("%s: batches of %d, and rows", k.Name, k.Batch)
		}
		if (k.Batch == 1) != (k.Funcs.cbcEncrypt != nil) {
			t.Errorf("%s: batches of %d, and CBC encryption: %v", k.Name, k.Batch, k.Funcs.cbcEncrypt != nil)
		}
		if l := limitsOf(uint8(i)); l.padFrom < 1 || l.padFrom > k.Batch {
			t.Errorf("%s pads from %d blocks on", k.Name, l.padFrom)
		}
		if extra := k.Requires &^ hwfeatures.Capabilities(); extra != 0 {
			t.Errorf("%s requires %v, which nothing faults without", k.Name, extra)
		}
	}
	// The last rows run everywhere. An ordinary Cipher goes no further than the first of them.
	last := len(kernels) - 3
	for i, name := range []string{"generic", "generic-constant-time", "generic-constant-time-8"} {
		if k := &kernels[last+i]; k.Name != name || k.Requires != 0 || k.Prefers != 0 || k.ConstantTime != (i > 0) {
			t.Errorf("row %d is %v", last+i, k.Info())
		}
	}
	if generic := &kernels[last]; generic.Batch != 1 {
		t.Errorf("generic takes %d blocks", generic.Batch)
	}
	if maxBatch > 0xffff {
		t.Error("a plan's lengths do not hold a batch")
	}
}

func TestChoosePlan(t *testing.T) {
	const (
		avx2    = hwfeatures.IntelSSSE3 | hwfeatures.IntelAVX2
		bmi2    = hwfeatures.IntelBMI2
		fast    = hwfeatures.IntelFastVPGATHER
		beats   = hwfeatures.VPGATHERBeatsManual
		manual  = "avx2-hybrid+avx2-shuffle+avx2-manual+avx2-manual-8+amd64-scalar-bmi2"
		gather  = "avx2-hybrid+avx2-shuffle+avx2-vpgather+avx2-manual-8+amd64-scalar-bmi2"
		generic = "generic"
	)
	type test struct {
		features hwfeatures.Set
		want     string
	}
	tests := []test{
		// The two tunings together decide between the gathers, and nothing else.
		{avx2 | bmi2, manual},
		{avx2 | bmi2 | fast, manual},
		{avx2 | bmi2 | beats, manual},
		{avx2 | bmi2 | fast | beats, gather},
		{avx2 | fast | beats, "avx2-shuffle+avx2-vpgather+amd64-scalar"},
		{avx2, "avx2-shuffle+amd64-scalar"},
		{bmi2 | fast | beats, "amd64-scalar-bmi2"},
		{bmi2, "amd64-scalar-bmi2"},
		{hwfeatures.IntelSSSE3, "amd64-scalar"},
		{0, "amd64-scalar"},
	}
	switch {
	case kernels.Index("neon-shuffle") >= 0:
		tests = []test{{0, generic}, {hwfeatures.ARMNEON, "neon-shuffle+generic"}, {hwfeatures.ARMSVE, generic}}
	case kernels.Index("amd64-scalar") < 0: // another architecture, or purego
		tests = []test{{0, generic}, {avx2 | bmi2 | fast | beats, generic}}
	}
	for _, c := range tests {
		p := choosePlan(c.features, false)
		if got := planName(p); got != c.want {
			t.Errorf("%v: %s, want %s", c.features, got, c.want)
		}
		checkNext(t, p, limitsOf)
		for i, s := range p.steps[:p.last+1] {
			k := &kernels[s.kernel]
			if !c.features.Has(k.Requires) {
				t.Errorf("%v: %s requires %v", c.features, k.Name, k.Requires)
			}
			if int(s.batch) != k.Batch*BlockSize || i > 0 && s.batch >= p.steps[i-1].batch {
				t.Errorf("%v: batches of %d bytes with %s", c.features, s.batch, k.Name)
			}
			if i == int(p.last) && k.Batch != 1 {
				t.Errorf("%v: %s is the last", c.features, k.Name)
			}
		}
	}
}

// checkNext holds that each length goes to the first step whose limits do not leave it, and the rest to the last step.
func checkNext(t *testing.T, p plan, limitsOf func(k uint8) limits) {
	t.Helper()
	for n := 1; n < len(p.next); n++ {
		want := 0
		for want < int(p.last) && limitsOf(p.steps[want].kernel).leave(n) {
			want++
		}
		if int(p.next[n]) != want {
			t.Errorf("%s: %d blocks go to step %d, want %d", planName(p), n, p.next[n], want)
		}
	}
}

// TestPieces looks at what every plan's kernels take: all of a call, by whole batches, and padding of less than one.
func TestPieces(t *testing.T) {
	for name, p := range mixedPlans() {
		for n := range 1000 {
			sum := 0
			for _, piece := range p.pieces(n) {
				if batch := kernels[kernels.Index(piece.Kernel)].Batch; piece.Units < 1 || piece.Padding < 0 || piece.Padding >= batch || (piece.Units+piece.Padding)%batch != 0 {
					t.Errorf("%s: %d blocks have the piece %v", name, n, piece)
				}
				sum += piece.Units
			}
			if sum != n {
				t.Errorf("%s: the pieces of %d blocks have %d", name, n, sum)
			}
		}
	}
}

// TestReference compares both packages, and every kernel's schedule, with the slow cipher written from the paper.
func TestReference(t *testing.T) {
	slow := func(key []byte) (cipher.Block, error) { return testkit.NewTwofish(key), nil }
	for _, size := range []int{16, 24, 32} {
		for i := range testkit.Size().Keys {
			key := testkit.Random(fmt.Sprint("slow ", size, i), size)
			want, _ := slow(key)
			in := testkit.Random(fmt.Sprint(i), BlockSize)
			w, g := make([]byte, BlockSize), make([]byte, BlockSize)
			want.Encrypt(w, in)
			for _, got := range []cipher.Block{newReference(t, key), newTest(t, key, defaultPlan)} {
				got.Encrypt(g, in)
				if !bytes.Equal(g, w) {
					t.Fatalf("key %x: %T encrypts %x to %x, want %x", key, got, in, g, w)
				}
			}
			want.Decrypt(w, in)
			for _, got := range []cipher.Block{newReference(t, key), newTest(t, key, defaultPlan)} {
				got.Decrypt(g, in)
				if !bytes.Equal(g, w) {
					t.Fatalf("key %x: %T decrypts %x to %x, want %x", key, got, in, g, w)
				}
			}
		}
	}
}

func TestKernels(t *testing.T) {
	eachKernel(t, func(t *testing.T, i int, p plan) {
		testkit.TestBlock(t, prefix, func(key []byte) (cipher.Block, error) { return newCipher(key, p) }, reference, 16, 24, 32)
		testPlan(t, p)
	})
}

// TestPlans checks the plans that mix kernels.
func TestPlans(t *testing.T) {
	for name, p := range mixedPlans() {
		t.Run(name, func(t *testing.T) {
			if p.isSlow() {
				testkit.Reduce(t)
			}
			testPlan(t, p)
		})
	}
}

func testPlan(t *testing.T, p plan) {
	key := testkit.Random(t.Name(), 32)
	c, x := newTest(t, key, p), newReference(t, key)
	batch := p.batch()
	testkit.TestBulk(t, prefix, c, x, batch)
	if got, want := c.Batch(), kernels[p.steps[0].kernel].Batch; got != want {
		t.Errorf("Batch() = %d, want %d", got, want)
	}
	t.Run("CBC encryption", func(t *testing.T) { // one block at a time, whatever the batch
		if p.serially(100) < 100 {
			testkit.Reduce(t)
		}
		testkit.TestBlockMode(t, BlockSize, 1,
			func(iv []byte) cipher.BlockMode { return cipher.NewCBCEncrypter(c, iv) },
			func(iv []byte) cipher.BlockMode { return cipher.NewCBCEncrypter(x, iv) })
	})
	t.Run("CBC decryption", func(t *testing.T) {
		testkit.TestBlockMode(t, BlockSize, batch,
			func(iv []byte) cipher.BlockMode { return cipher.NewCBCDecrypter(c, iv) },
			func(iv []byte) cipher.BlockMode { return cipher.NewCBCDecrypter(x, iv) })
	})
	t.Run("CTR", func(t *testing.T) {
		testkit.TestStream(t, BlockSize, batch,
			func(iv []byte) cipher.Stream { return cipher.NewCTR(c, iv) },
			func(iv []byte) cipher.Stream { return cipher.NewCTR(x, iv) })
	})
}

// TestTableFunctions calls the functions in the table, and compares them with what a Cipher does that uses this kernel.
func TestTableFunctions(t *testing.T) {
	eachKernel(t, func(t *testing.T, i int, p plan) {
		k := &kernels[i]
		c := newTest(t, testkit.Random(t.Name(), 24), p)
		in := testkit.Random("in", 5*k.Batch*BlockSize)
		for n := 0; n <= len(in); n += k.Batch * BlockSize {
			compare := func(op string, table, production func(dst, src []byte, chain *[BlockSize]byte), keep bool) {
				t.Helper()
				a, b := make([]byte, len(in)), make([]byte, len(in))
				chain := [BlockSize]byte(testkit.Random("chain", BlockSize))
				chainA, chainB := chain, chain
				table(a, in[:n], &chainA)
				production(b, in[:n], &chainB)
				if !bytes.Equal(a, b) {
					t.Errorf("%s of %d bytes: the table's function and the Cipher's differ", op, n)
				}
				if keep && chainA != chain || !keep && chainA != chainB {
					t.Errorf("%s of %d bytes: the table's function leaves %x, the Cipher's %x", op, n, chainA, chainB)
				}
				copy(a, in)
				chainA = chain
				table(a[:n], a[:n], &chainA)
				if !bytes.Equal(a[:n], b[:n]) {
					t.Errorf("%s of %d bytes in place: the table's function and the Cipher's differ", op, n)
				}
			}
			type chained = func(dst, src []byte, chain *[BlockSize]byte)
			bind := func(f func(s *schedule, dst, src []byte, chain *[BlockSize]byte)) chained {
				return func(dst, src []byte, chain *[BlockSize]byte) { f(&c.schedule, dst, src, chain) }
			}
			slice := func(f func(dst, src, chain []byte)) chained {
				return func(dst, src []byte, chain *[BlockSize]byte) { f(dst, src, chain[:]) }
			}
			compare("encrypt",
				func(dst, src []byte, _ *[BlockSize]byte) { k.Funcs.encrypt(&c.schedule, dst, src) },
				func(dst, src []byte, _ *[BlockSize]byte) { c.EncryptBlocks(dst, src) }, true)
			compare("decrypt",
				func(dst, src []byte, _ *[BlockSize]byte) { k.Funcs.decrypt(&c.schedule, dst, src) },
				func(dst, src []byte, _ *[BlockSize]byte) { c.DecryptBlocks(dst, src) }, true)
			if f := k.Funcs.ctr; f != nil {
				compare("ctr", bind(f), slice(c.XORKeyStreamCTR), true)
			}
			if f := k.Funcs.cbcDecrypt; f != nil {
				compare("cbcDecrypt", bind(f), slice(c.DecryptCBC), false)
			}
			if f := k.Funcs.cbcEncrypt; f != nil {
				compare("cbcEncrypt", bind(f), slice(c.EncryptCBC), false)
			}
		}
	})
}

// TestRows has messages side by side encrypted by every kernel that does that, against the standard library's modes: the
// functions in the table, and the methods of a Cipher that uses the kernel, in place and not, on memory that ends at both ends.
func TestRows(t *testing.T) {
	const lanes, rows = rowBytes / BlockSize, 4
	key := testkit.Random("rows", 32)
	one, err := reference(key)
	if err != nil {
		t.Fatal(err)
	}
	in, iv := testkit.Random("in", rows*rowBytes), testkit.Random("iv", rowBytes)
	want := map[bool][]byte{false: make([]byte, len(in)), true: make([]byte, len(in))}
	for lane := range lanes {
		var src []byte
		for r := range rows {
			src = append(src, in[(r*lanes+lane)*BlockSize:][:BlockSize]...)
		}
		iv, cbc, cfb := iv[lane*BlockSize:][:BlockSize], make([]byte, len(src)), make([]byte, len(src))
		cipher.NewCBCEncrypter(one, iv).CryptBlocks(cbc, src)
		//lint:ignore SA1019 this is what ours stands in for
		cipher.NewCFBEncrypter(one, iv).XORKeyStream(cfb, src)
		for r := range rows {
			copy(want[false][(r*lanes+lane)*BlockSize:], cbc[r*BlockSize:][:BlockSize])
			copy(want[true][(r*lanes+lane)*BlockSize:], cfb[r*BlockSize:][:BlockSize])
		}
	}
	source, destination, chain := testkit.Guarded(t, len(in)), testkit.Guarded(t, len(in)), testkit.Guarded(t, rowBytes)
	eachKernel(t, func(t *testing.T, i int, p plan) {
		f, c := kernels[i].Funcs, newTest(t, key, p)
		if has := f.rows != nil; has != (c.Lanes() == lanes) || !has && c.Lanes() != 0 {
			t.Fatalf("rows: %v, and %d lanes", has, c.Lanes())
		}
		type rowsMethod = func(dst, src, iv []byte)
		table := func(counter *[BlockSize]byte) rowsMethod {
			return func(dst, src, iv []byte) { f.rows(&c.schedule, dst, src, counter, (*[rowBytes]byte)(iv)) }
		}
		for _, m := range []struct {
			name     string
			feedback bool
			f        rowsMethod
			keep     bool // the row stays as it is
		}{
			{"rows in CBC mode", false, table(nil), true},
			{"rows in CFB mode", true, table((*[BlockSize]byte)(testkit.Random("any", BlockSize))), true},
			{"EncryptCBCLanes", false, c.EncryptCBCLanes, false},
			{"EncryptCFBLanes", true, c.EncryptCFBLanes, false},
		} {
			if c.Lanes() == 0 {
				if !m.keep {
					testkit.MustPanic(t, "crypto/twofish: IV length must equal the block size times Lanes",
						func() { m.f(make([]byte, rowBytes), make([]byte, rowBytes), make([]byte, rowBytes)) })
				}
				continue
			}
			for n := 0; n <= len(in); n += rowBytes {
				for _, back := range []bool{false, true} { // from the front of the memory, or up to its back
					for _, inPlace := range []bool{false, true} {
						at := func(mem []byte) []byte {
							if back {
								return mem[len(mem)-n:]
							}
							return mem[:n:n]
						}
						src, dst, row := at(source), at(destination), chain[:rowBytes]
						if back {
							row = chain[len(chain)-rowBytes:]
						}
						if inPlace {
							dst = src
						}
						copy(src, in)
						copy(row, iv)
						m.f(dst, src, row)
						next := iv
						if n > 0 && !m.keep {
							next = dst[n-rowBytes:]
						}
						switch {
						case !bytes.Equal(dst, want[m.feedback][:n]):
							t.Errorf("%s of %d bytes, in place: %v: wrong result", m.name, n, inPlace)
						case !inPlace && !bytes.Equal(src, in[:n]):
							t.Errorf("%s of %d bytes: src was written to", m.name, n)
						case !bytes.Equal(row, next):
							t.Errorf("%s of %d bytes, in place: %v: the wrong row is left", m.name, n, inPlace)
						}
					}
				}
			}
		}
	})
}

// TestRowsMisuse has calls panic that a Cipher with rows must not take, before anything is written.
func TestRowsMisuse(t *testing.T) {
	eachKernel(t, func(t *testing.T, i int, p plan) {
		if kernels[i].Funcs.rows == nil {
			return // TestRows has what its Cipher does.
		}
		c := newTest(t, make([]byte, 16), p)
		dst := testkit.Random("dst", 3*rowBytes)
		src, iv := make([]byte, 2*rowBytes), make([]byte, rowBytes)
		for _, f := range []func(dst, src, iv []byte){c.EncryptCBCLanes, c.EncryptCFBLanes} {
			refuse := func(text string, dst, src, iv []byte) {
				t.Helper()
				testkit.MustPanic(t, text, func() { f(dst, src, iv) }, dst)
			}
			refuse("crypto/twofish: IV length must equal the block size times Lanes", dst, src, iv[:BlockSize])
			refuse("crypto/twofish: IV length must equal the block size times Lanes", dst, src, make([]byte, 2*rowBytes))
			refuse("crypto/twofish: IV length must equal the block size times Lanes", dst, src, nil)
			refuse("crypto/twofish: input not full rows", dst, src[:rowBytes+BlockSize], iv)
			refuse("crypto/twofish: input not full blocks", dst, src[:rowBytes+1], iv)
			refuse("crypto/twofish: output smaller than input", dst[:2*rowBytes-1], src, iv)
			refuse("crypto/twofish: invalid buffer overlap", dst[1:], dst[:2*rowBytes], iv)
		}
	})
}

// TestChainEdges puts IVs and counters against pages that fault.
func TestChainEdges(t *testing.T) {
	key := testkit.Random("edges", 16)
	in := testkit.Random("in", 37*BlockSize)
	iv := testkit.Random("iv", BlockSize)
	mem := testkit.Guarded(t, BlockSize)
	eachKernel(t, func(t *testing.T, i int, p plan) {
		c := newTest(t, key, p)
		for n := BlockSize; n <= len(in); n += 4 * BlockSize {
			for _, f := range []func(dst, src, chain []byte){c.EncryptCBC, c.DecryptCBC, c.XORKeyStreamCTR} {
				want, got := make([]byte, n), make([]byte, n)
				next := bytes.Clone(iv)
				f(want, in[:n], next)
				for _, at := range [][]byte{mem[:BlockSize], mem[len(mem)-BlockSize:]} {
					copy(at, iv)
					f(got, in[:n], at)
					if !bytes.Equal(got, want) || !bytes.Equal(at, next) {
						t.Fatalf("%d bytes: wrong result, or wrong IV left", n)
					}
				}
			}
		}
	})
}

// TestScheduleEdges puts the schedule against pages that fault: kernels may read past the S-boxes, not past the schedule.
func TestScheduleEdges(t *testing.T) {
	key := testkit.Random("edges", 32)
	x := newReference(t, key)
	in := testkit.Random("in", 80*BlockSize)
	want := make([]byte, len(in))
	testkit.BlockByBlock(BlockSize, x.Encrypt)(want, in)
	eachKernel(t, func(t *testing.T, i int, p plan) {
		c := newTest(t, key, p)
		size := int(unsafe.Sizeof(c.schedule))
		mem := testkit.Guarded(t, size)
		for _, at := range []int{0, len(mem) - size} {
			s := (*schedule)(unsafe.Pointer(&mem[at]))
			*s = c.schedule
			dst := make([]byte, len(in))
			n := len(in) / int(p.steps[0].batch) * int(p.steps[0].batch)
			kernels[i].Funcs.encrypt(s, dst, in[:n])
			if !bytes.Equal(dst[:n], want[:n]) {
				t.Error("wrong result")
			}
			kernels[i].Funcs.decrypt(s, dst, want[:n])
			if !bytes.Equal(dst[:n], in[:n]) {
				t.Error("wrong result of decryption")
			}
			if *s != c.schedule {
				t.Error("the schedule was written to")
			}
		}
	})
}

// A trap is a cipher whose S-boxes fault when they are read. Whatever a call does with it ends in the kernel that does the
// work, at its first look-up or just before, and the stack tells which one that is.
type trap struct {
	*Cipher
	page []byte
}

// needTraps skips a test where a trap cannot be built: it takes a page that faults and holds the S-boxes but not the plan.
func needTraps(t *testing.T) {
	t.Helper()
	if !testkit.GuardPages || os.Getpagesize() > int(unsafe.Sizeof(Cipher{}.schedule.sbox)) {
		t.Skip("no guard pages on this system, or too large ones")
	}
}

func newTrap(t *testing.T, p plan) trap {
	t.Helper()
	c := newTest(t, make([]byte, 16), p)
	// Go looks at a Cipher's first byte, to see that it is not at nil. So the page that faults starts right after it.
	const spared = 8
	page := os.Getpagesize()
	mem := testkit.Guarded(t, 3*page)
	inside := (*Cipher)(unsafe.Pointer(&mem[page-spared]))
	*inside = *c
	if unsafe.Offsetof(c.schedule) != 0 || int(unsafe.Offsetof(c.plan)) < spared+page {
		t.Fatal("a Cipher is laid out in another way than traps expect")
	}
	return trap{inside, mem[page : 2*page]}
}

func (x *trap) spring(t *testing.T, f func()) (stack []runtime.Frame, trace string) {
	t.Helper()
	testkit.Inaccessible(t, x.page, func() { stack, trace = testkit.WhereFaults(t, f) })
	return stack, trace
}

// goKernel are the functions of the kernels in Go.
var goKernel = regexp.MustCompile(`^(en|de|cbcEn)crypt(Generic|ConstantTime8?)$`)

// ran returns the kernel's function on a stack: the assembly where the fault was, or the outermost Go function with a
// kernel's name.
func ran(stack []runtime.Frame) string {
	if strings.HasSuffix(stack[0].File, ".s") {
		return strings.TrimPrefix(stack[0].Function, ownFunctions)
	}
	name := "no kernel, but " + stack[0].Function
	for _, f := range stack {
		if f, own := strings.CutPrefix(f.Function, ownFunctions); own && goKernel.MatchString(f) {
			name = f
		}
	}
	return name
}

// TestWhichKernelRan proves which kernel production calls run: the one that the plan names, and the same function that
// the table has in this place. It holds the table and the switches together.
func TestWhichKernelRan(t *testing.T) {
	needTraps(t)
	buf := make([]byte, 160*BlockSize)
	iv := make([]byte, BlockSize)
	var chain [BlockSize]byte

	// What the functions in the table run, found in the same way.
	type names struct{ encrypt, decrypt, ctr, cbcDecrypt, cbcEncrypt string }
	table := make([]names, len(kernels))
	owner := make(map[string]string)
	t.Run("table", func(t *testing.T) {
		eachKernel(t, func(t *testing.T, i int, p plan) {
			k, x := &kernels[i], newTrap(t, p)
			b := buf[:k.Batch*BlockSize]
			look := func(f func()) string {
				stack, _ := x.spring(t, f)
				name := ran(stack)
				if other, ok := owner[name]; ok && other != k.Name {
					t.Errorf("%s is in the rows %s and %s", name, k.Name, other)
				}
				owner[name] = k.Name
				return name
			}
			n := &table[i]
			n.encrypt = look(func() { k.Funcs.encrypt(&x.schedule, b, b) })
			n.decrypt = look(func() { k.Funcs.decrypt(&x.schedule, b, b) })
			n.ctr, n.cbcDecrypt, n.cbcEncrypt = n.encrypt, n.decrypt, n.encrypt
			if f := k.Funcs.ctr; f != nil {
				n.ctr = look(func() { f(&x.schedule, b, b, &chain) })
			}
			if f := k.Funcs.cbcDecrypt; f != nil {
				n.cbcDecrypt = look(func() { f(&x.schedule, b, b, &chain) })
			}
			if f := k.Funcs.cbcEncrypt; f != nil {
				n.cbcEncrypt = look(func() { f(&x.schedule, b, b, &chain) })
			}
		})
	})

	check := func(t *testing.T, p plan) {
		x := newTrap(t, p)
		c := x.Cipher
		expect := func(op string, n int, want string, f func()) {
			t.Helper()
			stack, _ := x.spring(t, f)
			if got := ran(stack); got != want {
				t.Errorf("%s of %d blocks ran %s, want %s", op, n, got, want)
			}
		}
		one, _ := p.kernelFor(1)
		expect("Encrypt", 1, table[one].encrypt, func() { c.Encrypt(buf, buf) })
		expect("Decrypt", 1, table[one].decrypt, func() { c.Decrypt(buf, buf) })
		for _, n := range p.telling(160) {
			b := buf[:n*BlockSize]
			k, padded := p.kernelFor(n)
			expect("EncryptBlocks", n, table[k].encrypt, func() { c.EncryptBlocks(b, b) })
			expect("DecryptBlocks", n, table[k].decrypt, func() { c.DecryptBlocks(b, b) })
			ctr, cbc := table[k].ctr, table[k].cbcDecrypt
			if padded {
				ctr, cbc = table[k].encrypt, table[k].decrypt
			}
			expect("CTR", n, ctr, func() { cipher.NewCTR(c, iv).XORKeyStream(b, b) })
			expect("CBC decryption", n, cbc, func() { cipher.NewCBCDecrypter(c, iv).CryptBlocks(b, b) })
			expect("CBC encryption", n, table[one].cbcEncrypt, func() { cipher.NewCBCEncrypter(c, iv).CryptBlocks(b, b) })
		}
	}
	t.Run("forced", func(t *testing.T) {
		eachKernel(t, func(t *testing.T, i int, p plan) { check(t, p) })
	})
	for name, p := range mixedPlans() {
		t.Run(name, func(t *testing.T) { check(t, p) })
	}
	t.Run("remainder", func(t *testing.T) {
		// The S-boxes are there, what comes behind the batches is not.
		for name, p := range mixedPlans() {
			c := newTest(t, make([]byte, 16), p)
			mem := testkit.Guarded(t, 2*os.Getpagesize())
			edge := len(mem) / 2
			for _, n := range p.telling(p.batch() - 1) {
				k, padded := p.kernelFor(n)
				if padded {
					continue // The fault would be in the copy.
				}
				b := mem[edge-3*p.batch()*BlockSize : edge+n*BlockSize]
				testkit.Inaccessible(t, mem[edge:], func() {
					stack, _ := testkit.WhereFaults(t, func() { c.EncryptBlocks(b, b) })
					if got, want := ran(stack), table[k].encrypt; got != want {
						t.Errorf("%s: %d blocks after batches ran %s, want %s", name, n, got, want)
					}
				})
			}
		}
	})
}

const ownFunctions = "github.com/twogather/twogather/twofish."

// sliceArgument is a slice in a stack trace. A question mark would say that the value may be stale.
var sliceArgument = regexp.MustCompile(`\{0x[0-9a-f]+\??, 0x([0-9a-f]+)(\??), 0x[0-9a-f]+\??\}`)

// TestCallLength watches that no call to assembly covers more than 64 KiB, at any point of a call of a MiB (an eighth of that
// where things are slow): the stack at a fault there has the lengths in the assembly function's arguments.
func TestCallLength(t *testing.T) {
	needTraps(t)
	const limit = 64 << 10
	total := 1 << 20
	if testkit.Boundary() {
		total = 2 * limit
	}
	mem := testkit.Guarded(t, total+BlockSize)
	buf := mem[:total+BlockSize]
	page := os.Getpagesize()
	iv, row := make([]byte, BlockSize), make([]byte, rowBytes)
	eachKernel(t, func(t *testing.T, i int, p plan) {
		c := newTrap(t, p)
		if stack, _ := c.spring(t, func() { c.EncryptBlocks(buf, buf) }); !strings.HasSuffix(stack[0].File, ".s") {
			if !strings.HasPrefix(kernels[i].Name, "generic") {
				t.Errorf("%s ran", stack[0].Function)
			}
			return // all Go, which can be preempted
		}
		measured := 0
		measure := func(op string, at int, stack []runtime.Frame, trace string) {
			t.Helper()
			if !strings.HasSuffix(stack[0].File, ".s") || !strings.HasPrefix(stack[0].Function, ownFunctions) {
				return // Go code can be preempted.
			}
			measured++
			// The line that starts with the function's name has its arguments, slices in braces.
			_, args, _ := strings.Cut(trace, "\n"+stack[0].Function+"(")
			args, _, _ = strings.Cut(args, "\n")
			lengths := sliceArgument.FindAllStringSubmatch(args, -1)
			if len(lengths) != 2 {
				t.Fatalf("%s: no destination and source in %q of\n%s", op, args, trace)
			}
			for _, m := range lengths {
				if n, err := strconv.ParseUint(m[1], 16, 64); err != nil || m[2] != "" || n == 0 || n > limit {
					t.Errorf("%s: the call to %s at byte %d covers 0x%s bytes", op, stack[0].Function, at, m[1])
				}
			}
		}
		for _, op := range []struct {
			name string
			f    func()
		}{
			{"EncryptBlocks", func() { c.EncryptBlocks(buf, buf) }},
			{"DecryptBlocks", func() { c.DecryptBlocks(buf, buf) }},
			{"EncryptCBC", func() { c.EncryptCBC(buf, buf, iv) }},
			{"XORKeyStreamCTR", func() { c.XORKeyStreamCTR(buf, buf, iv) }},
			{"DecryptCBC", func() { c.DecryptCBC(buf, buf, iv) }},
			{"EncryptCBCLanes", func() { c.EncryptCBCLanes(buf[:total], buf[:total], row) }},
		} {
			if op.name == "EncryptCBCLanes" && c.Lanes() == 0 {
				continue
			}
			stack, trace := c.spring(t, op.f)
			measure(op.name, 0, stack, trace)
			for _, at := range []int{0, limit - page, limit, total / 2, total - page} {
				if op.name == "EncryptCBC" && p.serially(at) < at {
					continue
				}
				testkit.Inaccessible(t, mem[at:at+page], func() {
					stack, trace := testkit.WhereFaults(t, op.f)
					measure(op.name, at, stack, trace)
				})
			}
		}
		if measured < 10 {
			t.Errorf("%d calls were measured", measured)
		}
	})
}

// wideCounter is counter+n, modulo 2¹²⁸.
func wideCounter(counter []byte, n int) []byte {
	sum := new(big.Int).Add(new(big.Int).SetBytes(counter), big.NewInt(int64(n)))
	return sum.And(sum, new(big.Int).Sub(new(big.Int).Lsh(big.NewInt(1), 128), big.NewInt(1))).FillBytes(make([]byte, BlockSize))
}

// beforeCarry returns counters that overflow their lowest bits in some blocks' time; the bits above are no palindrome.
func beforeCarry(bits, blocks int) []byte {
	counter := []byte{0x01, 0x23, 0x45, 0x67, 0x89, 0xab, 0xcd, 0xef, 0xf1, 0xe2, 0xd3, 0xc4, 0xb5, 0xa6, 0x97, 0x88}
	for i := range bits / 8 {
		counter[15-i] = 0
	}
	n := new(big.Int).SetBytes(counter)
	mod := new(big.Int).Lsh(big.NewInt(1), 128)
	n.Add(n, new(big.Int).Lsh(big.NewInt(1), uint(bits)))
	n.Sub(n, big.NewInt(int64(blocks)))
	return n.Mod(n, mod).FillBytes(make([]byte, BlockSize))
}

func TestCounters(t *testing.T) {
	check := func(counter []byte, n int) {
		t.Helper()
		got := bytes.Repeat([]byte{0xa5}, n*BlockSize)
		fillCounters(got, binary.BigEndian.Uint64(counter), binary.BigEndian.Uint64(counter[8:]))
		for i := range n {
			if want := wideCounter(counter, i); !bytes.Equal(got[i*BlockSize:(i+1)*BlockSize], want) {
				t.Fatalf("counter %x, %d blocks: block %d is %x, want %x", counter, n, i, got[i*BlockSize:(i+1)*BlockSize], want)
			}
		}
	}
	lengths := []int{0, 1, 7, 8, 9, 15, 16, 17, 31, 64, 65}
	if testkit.Boundary() {
		lengths = []int{0, 1, 8, 17, 64}
	}
	for bits := 8; bits <= 128; bits += 8 {
		for _, before := range testkit.Size().Carries {
			for _, n := range lengths {
				check(beforeCarry(bits, before), n)
			}
		}
	}
	for n := range 70 {
		check(testkit.Random("counter", BlockSize), n)
		check(make([]byte, BlockSize), n)
	}
}

// TestCTRCarries runs counter mode across every carry, with each kernel, and looks at the counter that is left too.
func TestCTRCarries(t *testing.T) {
	key := testkit.Random("carries", 16)
	x := newReference(t, key)
	lengths := []int{1, 12, 13, 16, 40, 67}
	in := testkit.Random("in", 67*BlockSize)
	got, want := make([]byte, len(in)), make([]byte, len(in))
	eachKernel(t, func(t *testing.T, i int, p plan) {
		c := newTest(t, key, p)
		check := func(iv []byte) {
			t.Helper()
			cipher.NewCTR(x, iv).XORKeyStream(want, in)
			for _, n := range lengths {
				counter := bytes.Clone(iv)
				c.XORKeyStreamCTR(got, in[:n*BlockSize], counter)
				if !bytes.Equal(got[:n*BlockSize], want[:n*BlockSize]) {
					t.Fatalf("IV %x, %d blocks: wrong result", iv, n)
				}
				if next := wideCounter(iv, n); !bytes.Equal(counter, next) {
					t.Fatalf("IV %x, %d blocks: next counter is %x, want %x", iv, n, counter, next)
				}
				stream := cipher.NewCTR(c, iv)
				stream.XORKeyStream(got[:5], in[:5])
				stream.XORKeyStream(got[5:n*BlockSize], in[5:n*BlockSize])
				if !bytes.Equal(got[:n*BlockSize], want[:n*BlockSize]) {
					t.Fatalf("IV %x, %d blocks in two parts: wrong result", iv, n)
				}
			}
		}
		carries := testkit.Size().Carries
		for bits := 8; bits <= 128; bits += 8 {
			for j, before := range carries {
				if bits%32 == 0 || j%8 == 0 {
					check(beforeCarry(bits, before))
				}
			}
		}
		// A carry inside a call so long that it is cut in several: before, at and behind the cut.
		long := testkit.Random("long", 9000*BlockSize)
		carried, places := []int{32, 64, 128}, []int{1, 4095, 4096, 4097, 5000, 8999}
		if testkit.Boundary() {
			carried, places = carried[2:], places[2:3]
			long = long[:4200*BlockSize]
		}
		wantLong := make([]byte, len(long))
		for _, bits := range carried {
			for _, before := range places {
				iv := beforeCarry(bits, before)
				cipher.NewCTR(x, iv).XORKeyStream(wantLong, long)
				cipher.NewCTR(c, iv).XORKeyStream(wantLong, wantLong)
				if !bytes.Equal(wantLong, long) {
					t.Fatalf("IV %x, %d blocks: wrong result", iv, len(long)/BlockSize)
				}
			}
		}
		check(bytes.Repeat([]byte{0xff}, BlockSize))
		check(append(make([]byte, BlockSize-2), 0xff, 0xf4))
		check(append(bytes.Repeat([]byte{0xff}, BlockSize-1), 0xf4))
	})
}

// TestFused checks what the methods behind the modes refuse.
func TestFused(t *testing.T) {
	c := newTest(t, make([]byte, 16), defaultPlan)
	dst, src := testkit.Random("dst", 48), testkit.Random("src", 48)
	iv := testkit.Random("iv", BlockSize)
	for _, f := range []func(dst, src, iv []byte){c.EncryptCBC, c.DecryptCBC, c.XORKeyStreamCTR} {
		for _, n := range []int{0, 8, 12, 15, 17, 32} {
			iv := testkit.Random("iv", n)
			testkit.MustPanic(t, "crypto/twofish: IV length must equal block size", func() { f(dst, src, iv) }, dst, iv)
			testkit.MustPanic(t, "crypto/twofish: IV length must equal block size", func() { f(dst, src[:16], iv) }, dst, iv)
			testkit.MustPanic(t, "crypto/twofish: IV length must equal block size", func() { f(dst, nil, iv) }, dst, iv)
		}
		testkit.MustPanic(t, "crypto/twofish: input not full blocks", func() { f(dst, src[:17], iv) }, dst, iv)
		testkit.MustPanic(t, "crypto/twofish: input not full blocks", func() { f(dst, src[:15], iv) }, dst, iv)
		testkit.MustPanic(t, "crypto/twofish: output smaller than input", func() { f(dst[:32], src, iv) }, dst, iv)
		testkit.MustPanic(t, "crypto/twofish: output smaller than input", func() { f(nil, src[:16], iv) }, iv)
		testkit.MustPanic(t, "crypto/twofish: invalid buffer overlap", func() { f(dst[16:], dst[:32], iv) }, dst, iv)
		testkit.MustPanic(t, "crypto/twofish: invalid buffer overlap", func() { f(dst[:16], dst[1:17], iv) }, dst, iv)
		kept := bytes.Clone(iv)
		f(nil, nil, iv)
		f(dst, dst[:0], iv)
		if !bytes.Equal(iv, kept) {
			t.Error("no blocks, and the IV changed")
		}
	}
}

// TestAllocs counts allocations with buffers on the stack: a call that makes them escape shows.
func TestAllocs(t *testing.T) {
	runs := 20
	if testkit.Boundary() {
		runs = 3
	}
	none := func(t *testing.T, name string, f func()) {
		t.Helper()
		if n := testing.AllocsPerRun(runs, f); n != 0 {
			t.Errorf("%s: %v allocations", name, n)
		}
	}
	check := func(t *testing.T, c *Cipher) {
		none(t, "Encrypt", func() { var a, b [BlockSize]byte; c.Encrypt(a[:], b[:]) })
		none(t, "Decrypt", func() { var a, b [BlockSize]byte; c.Decrypt(a[:], b[:]) })
		none(t, "EncryptBlocks of one block", func() { var a, b [BlockSize]byte; c.EncryptBlocks(a[:], b[:]) })
		none(t, "EncryptBlocks", func() { var a, b [47 * BlockSize]byte; c.EncryptBlocks(a[:], b[:]) })
		none(t, "DecryptBlocks", func() { var a, b [47 * BlockSize]byte; c.DecryptBlocks(a[:], b[:]) })
		none(t, "EncryptCBC", func() { var a, b [47 * BlockSize]byte; var iv [BlockSize]byte; c.EncryptCBC(a[:], b[:], iv[:]) })
		none(t, "DecryptCBC", func() { var a, b [47 * BlockSize]byte; var iv [BlockSize]byte; c.DecryptCBC(a[:], b[:], iv[:]) })
		none(t, "XORKeyStreamCTR", func() { var a, b [99 * BlockSize]byte; var iv [BlockSize]byte; c.XORKeyStreamCTR(a[:], b[:], iv[:]) })
		none(t, "XORKeyStreamCTR of one block", func() { var a, b, iv [BlockSize]byte; c.XORKeyStreamCTR(a[:], b[:], iv[:]) })

		// What goes through an interface escapes; the modes themselves allocate nothing more.
		buf, iv := make([]byte, 300*BlockSize), make([]byte, BlockSize)
		ctr, enc, dec := modes.NewCTR(c, iv), cipher.NewCBCEncrypter(c, iv), cipher.NewCBCDecrypter(c, iv)
		none(t, "CTR", func() { ctr.XORKeyStream(buf[5:], buf[5:]) })
		none(t, "SeekBlock", func() { ctr.SeekBlock(1 << 40); ctr.XORKeyStream(buf[:7], buf[:7]) })
		serial := buf[:c.plan.serially(300)*BlockSize]
		none(t, "CBC encryption", func() { enc.CryptBlocks(serial, serial) })
		none(t, "CBC decryption", func() { dec.CryptBlocks(buf, buf) })
	}
	t.Run("forced", func(t *testing.T) {
		eachKernel(t, func(t *testing.T, i int, p plan) { check(t, newTest(t, make([]byte, 16), p)) })
	})
	for name, p := range mixedPlans() {
		t.Run(name, func(t *testing.T) { check(t, newTest(t, make([]byte, 16), p)) })
	}
	none(t, "expand", func() { var s schedule; var key [32]byte; s.expand(key[:]) })
	if n := testing.AllocsPerRun(20, func() { var key [32]byte; sunk, _ = newCipher(key[:], defaultPlan) }); n != 1 {
		t.Errorf("NewCipher: %v allocations, want 1", n)
	}
}

var sunk *Cipher

// TestShared has many goroutines use one cipher, while the garbage collector runs and stacks move: what a kernel does
// to registers that Go relies on shows here, and so does state in a cipher.
func TestShared(t *testing.T) {
	key := testkit.Random("shared", 32)
	x := newReference(t, key)
	in := testkit.Random("in", 150*BlockSize)
	iv := testkit.Random("iv", BlockSize)
	var ecb, cbc, ctr = make([]byte, len(in)), make([]byte, len(in)), make([]byte, len(in))
	testkit.BlockByBlock(BlockSize, x.Encrypt)(ecb, in)
	cipher.NewCBCEncrypter(x, iv).CryptBlocks(cbc, in)
	cipher.NewCTR(x, iv).XORKeyStream(ctr, in)
	const job = 2 * BlockSize
	side := make([]byte, 2*rowBytes)
	for at := 0; at < len(side); at += job {
		cipher.NewCBCEncrypter(x, iv).CryptBlocks(side[at:], in[at:at+job])
	}
	share := func(t *testing.T, p plan) {
		c := newTest(t, key, p)
		var wg sync.WaitGroup
		for g := range 8 {
			wg.Go(func() {
				buf := make([]byte, len(in))
				for round := range testkit.Size().Rounds {
					n := (1 + (37*g+11*round)%150) * BlockSize
					deep(g+round, func() { c.EncryptBlocks(buf, in[:n]) })
					if !bytes.Equal(buf[:n], ecb[:n]) {
						t.Errorf("goroutine %d: wrong result of EncryptBlocks", g)
					}
					if round%16 == 0 {
						runtime.GC()
					}
					deep(round, func() { c.DecryptBlocks(buf[:n], buf[:n]) })
					if !bytes.Equal(buf[:n], in[:n]) {
						t.Errorf("goroutine %d: wrong result of DecryptBlocks", g)
					}
					cipher.NewCTR(c, iv).XORKeyStream(buf, in[:n])
					if !bytes.Equal(buf[:n], ctr[:n]) {
						t.Errorf("goroutine %d: wrong result of CTR", g)
					}
					runtime.Gosched()
					s := p.serially(n/BlockSize) * BlockSize
					cipher.NewCBCEncrypter(c, iv).CryptBlocks(buf, in[:s])
					if !bytes.Equal(buf[:s], cbc[:s]) {
						t.Errorf("goroutine %d: wrong result of CBC encryption", g)
					}
					cipher.NewCBCDecrypter(c, iv).CryptBlocks(buf, cbc[:n])
					if !bytes.Equal(buf[:n], in[:n]) {
						t.Errorf("goroutine %d: wrong result of CBC decryption", g)
					}
					if c.Lanes() == 0 {
						continue
					}
					jobs := make([]modes.Job, len(side)/job)
					for i := range jobs {
						jobs[i] = modes.Job{Dst: buf[i*job:], Src: in[i*job:][:job], IV: iv}
					}
					deep(round, func() { modes.EncryptCBC(c, jobs) })
					if !bytes.Equal(buf[:len(side)], side) {
						t.Errorf("goroutine %d: wrong result of CBC encryption side by side", g)
					}
				}
			})
		}
		wg.Wait()
	}
	// The profiler's signals look at the stacks of whoever they interrupt. If a profile is being taken already, so much the
	// better.
	if pprof.StartCPUProfile(io.Discard) == nil {
		defer pprof.StopCPUProfile()
	}
	eachKernel(t, func(t *testing.T, i int, p plan) { share(t, p) })
	t.Run("default", func(t *testing.T) { share(t, defaultPlan) })
}

// deep calls f some frames further down the stack, between local variables that must keep their values.
//
//go:noinline
func deep(n int, f func()) {
	var zero [128]byte
	a, b := n, float64(n)
	if n%32 == 0 {
		f()
	} else {
		deep(n-1, f)
	}
	var again [128]byte // cleared with a register that has to be zero
	if zero != again || a != n || b != float64(n) {
		panic("a local variable changed")
	}
}

// TestForced starts this test again with the environment variables set, since they are read once.
func TestForced(t *testing.T) {
	if want, ok := os.LookupEnv("TWOFISH_TEST_CHILD"); ok {
		fmt.Printf("%s plan=%s.\n", want, planName(defaultPlan))
		c, err := NewCipherConstantTime(make([]byte, 16))
		if err != nil || !c.plan.constantTime {
			t.Fatal(c.plan, err)
		}
		fmt.Printf("%s constant-time plan=%s.\n", want, planName(c.plan))
		for _, w := range hwfeatures.Warnings() {
			fmt.Printf("%s warning=%s\n", want, w)
		}
		return
	}
	run := func(hwf, kernel string) string {
		t.Helper()
		exe, err := os.Executable()
		if err != nil {
			t.Skip("cannot find the test's own program: ", err)
		}
		cmd := exec.Command(exe, "-test.run=^TestForced$")
		cmd.Env = append(os.Environ(), "TWOFISH_TEST_CHILD=child", "GORACE=atexit_sleep_ms=0", "TWOGATHER_HWF="+hwf, "TWOGATHER_KERNEL="+kernel)
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
		out := run("", "twofish="+k.Name)
		constantTime := k.Name
		if !k.ConstantTime {
			constantTime = planName(choosePlan(hwfeatures.Detected(), true))
		}
		want := "child plan=" + k.Name + ".\nchild constant-time plan=" + constantTime + ".\n"
		if !strings.Contains(out, want) || strings.Contains(out, "warning=") {
			t.Errorf("TWOGATHER_KERNEL=twofish=%s: got %s, want %s", k.Name, out, want)
		}
	}

	// Whatever the variables say, a constant-time Cipher has constant-time kernels.
	constantTime := func(hwf, kernel string) {
		out := run(hwf, kernel)
		_, names, ok := strings.Cut(out, "child constant-time plan=")
		names, _, _ = strings.Cut(names, ".\n")
		for name := range strings.SplitSeq(names, "+") {
			if i := kernels.Index(name); !ok || i < 0 || !kernels[i].ConstantTime {
				t.Errorf("TWOGATHER_HWF=%s TWOGATHER_KERNEL=%s: constant-time plan %q of %s", hwf, kernel, names, out)
			}
		}
	}
	for i := range kernels {
		name := "twofish=" + kernels[i].Name
		for f := range hwfeatures.Detected().All() {
			constantTime("-"+f.String(), name)
		}
		for f := range hwfeatures.Tunings().All() {
			constantTime("+"+f.String(), name)
		}
	}
	constantTime("-intel-ssse3,-intel-bmi2,-intel-pclmul,-arm-neon", "")
	constantTime("-intel-ssse3,-intel-bmi2,+intel-fast-vpgather,+vpgather-beats-manual", "twofish=generic")
	constantTime("+intel-fast-vpgather,+vpgather-beats-manual", "twofish=magic")
	constantTime("nonsense", "twofish=generic,twofish=generic-constant-time")
	if out := run("", "twofish=magic"); !strings.Contains(out, `warning=TWOGATHER_KERNEL: "twofish=magic" ignored: unknown`) {
		t.Errorf("a kernel that does not exist: got %s", out)
	}
	for i := range kernels {
		k := &kernels[i]
		if k.Requires == 0 {
			continue
		}
		var hwf []string
		for f := range k.Requires.All() {
			hwf = append(hwf, "-"+f.String())
		}
		out := run("-intel-ssse3,-intel-bmi2,-intel-pclmul,-arm-neon,"+strings.Join(hwf, ","), "twofish="+k.Name)
		want := "child plan=" + planName(choosePlan(0, false)) + ".\n"
		warning := fmt.Sprintf(`warning=TWOGATHER_KERNEL: "twofish=%s" ignored: it requires %v`, k.Name, k.Requires)
		if !strings.Contains(out, want) || !strings.Contains(out, warning) {
			t.Errorf("%s without %v: got %s", k.Name, k.Requires, out)
		}
	}
}

// FuzzKernels compares every kernel and the default plan with golang.org/x/crypto/twofish and the standard library's modes.
func FuzzKernels(f *testing.F) {
	f.Add([]byte("key"), []byte("iv"), []byte("some text"), uint16(3), uint16(5))
	f.Add(make([]byte, 24), bytes.Repeat([]byte{0xff}, 16), make([]byte, 1000), uint16(16), uint16(300))
	f.Add(bytes.Repeat([]byte{0xff}, 32), make([]byte, 16), testkit.Random("fuzz", 4321), uint16(255), uint16(1025))
	plans := mixedPlans()
	for i, k := range kernels.Usable(hwfeatures.Detected()) {
		plans[k.Name] = forcedPlan(i)
	}
	f.Fuzz(func(t *testing.T, key, iv, in []byte, cut1, cut2 uint16) {
		switch n := len(key); { // the next key size, padded with zeros
		case n <= 16:
			key = append(key, make([]byte, 16-n)...)
		case n <= 24:
			key = append(key, make([]byte, 24-n)...)
		default:
			key = append(key, make([]byte, max(32-n, 0))...)[:32]
		}
		iv = append(iv, make([]byte, BlockSize)...)[:BlockSize]
		a := int(cut1) % (len(in) + 1)
		b := a + int(cut2)%(len(in)-a+1)
		x, c := newReference(t, key), newTest(t, key, defaultPlan)
		whole := in[:len(in)/BlockSize*BlockSize]
		wa, wb := min(a, len(whole))/BlockSize*BlockSize, min(b, len(whole))/BlockSize*BlockSize

		for _, op := range []struct {
			name string
			in   []byte
			a, b int
			want func(dst, src []byte)
			got  func(c *Cipher) func(dst, src []byte)
		}{
			{"ECB encryption", whole, wa, wb, testkit.BlockByBlock(BlockSize, x.Encrypt),
				func(c *Cipher) func(dst, src []byte) { return c.EncryptBlocks }},
			{"ECB decryption", whole, wa, wb, testkit.BlockByBlock(BlockSize, x.Decrypt),
				func(c *Cipher) func(dst, src []byte) { return c.DecryptBlocks }},
			{"CBC encryption", whole, wa, wb, cipher.NewCBCEncrypter(x, iv).CryptBlocks,
				func(c *Cipher) func(dst, src []byte) { return cipher.NewCBCEncrypter(c, iv).CryptBlocks }},
			{"CBC decryption", whole, wa, wb, cipher.NewCBCDecrypter(x, iv).CryptBlocks,
				func(c *Cipher) func(dst, src []byte) { return cipher.NewCBCDecrypter(c, iv).CryptBlocks }},
			{"CTR", in, a, b, cipher.NewCTR(x, iv).XORKeyStream,
				func(c *Cipher) func(dst, src []byte) { return cipher.NewCTR(c, iv).XORKeyStream }},
		} {
			want := make([]byte, len(op.in))
			op.want(want, op.in)
			for name, p := range plans {
				c.plan = p
				got, f := bytes.Clone(op.in), op.got(c)
				f(got[:op.a], op.in[:op.a])
				f(got[op.a:op.b], got[op.a:op.b]) // in place
				f(got[op.b:], op.in[op.b:])
				if !bytes.Equal(got, want) {
					t.Errorf("%s, %s: key %x, IV %x, %d bytes cut at %d and %d: wrong result", name, op.name, key, iv, len(op.in), op.a, op.b)
				}
			}
		}
	})
}
