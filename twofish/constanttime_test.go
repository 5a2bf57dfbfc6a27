package twofish

import (
	"bytes"
	"crypto/cipher"
	"encoding/binary"
	"testing"

	"github.com/twogather/twogather/hwfeatures"
	"github.com/twogather/twogather/internal/testkit"
	"github.com/twogather/twogather/modes"
)

// TestBitSlices compares the permutations in slices with the tables, which TestPermutations compares with the paper's.
func TestBitSlices(t *testing.T) {
	for which, permute := range []func(x, k *byteSlice){permute0, permute1} {
		for from := 0; from < 256; from += lanes {
			x := numbers(from)
			var k byteSlice
			for b := range k {
				k[b] = spread(0xa6, b)
			}
			permute(&x, &k)
			for i := range lanes {
				var got byte
				for b := range x {
					got |= byte(x[b]>>i&1) << b
				}
				if want := q[which][byte(from+i)^0xa6]; got != want {
					t.Errorf("q%d of %#02x is %#02x, want %#02x", which, byte(from+i)^0xa6, got, want)
				}
			}
		}
	}
	for i, step := range sboxSteps {
		for j, which := range step {
			if want := testkit.TwofishStages[4-i][j]; int(which) != want {
				t.Errorf("step %d takes byte %d through q%d, the paper through q%d", i, j, which, want)
			}
		}
	}
}

func TestTranspose(t *testing.T) {
	var x, y [64]uint64
	random := testkit.Random("transpose", 8*len(x))
	for i := range x {
		x[i] = binary.LittleEndian.Uint64(random[8*i:])
	}
	y = x
	transpose(&y)
	for i := range x {
		for j := range x {
			if x[i]>>j&1 != y[j]>>i&1 {
				t.Fatalf("bit %d of word %d is not bit %d of word %d", j, i, i, j)
			}
		}
	}
	transpose(&y)
	if y != x {
		t.Error("transposed twice is not the same")
	}

	b := byteSlice(x[:8])
	transposeBytes(&b)
	for i := range b {
		for j := range 64 {
			if x[i]>>j&1 != b[j%8]>>(j&^7|i)&1 {
				t.Fatalf("bytes: bit %d of word %d is elsewhere", j, i)
			}
		}
	}
}

// TestSlicedMDS multiplies by the matrix in both kinds of slices.
func TestSlicedMDS(t *testing.T) {
	random := testkit.Random("mds", 4*lanes)
	var x [64]uint64
	var want [lanes]uint32
	for i := range lanes {
		x[i] = uint64(binary.LittleEndian.Uint32(random[4*i:]))
		want[i] = testkit.TwofishMDS([4]byte(random[4*i:]))
	}
	transpose(&x)
	multiplyMDS((*slicedWord)(x[:]))
	transpose(&x)
	for i := range lanes {
		if uint32(x[i]) != want[i] {
			t.Errorf("%x becomes %08x, want %08x", random[4*i:4*i+4], x[i], want[i])
		}
	}
	var w byteSlice
	for i := range w {
		w[i] = binary.LittleEndian.Uint64(random[8*i:])
	}
	transposeBytes(&w)
	shortMDS(&w)
	transposeBytes(&w)
	for i := range w {
		if lo, hi := uint32(w[i]), uint32(w[i]>>32); lo != want[2*i] || hi != want[2*i+1] {
			t.Errorf("%x becomes %016x, want %08x%08x", random[8*i:8*i+8], w[i], want[2*i+1], want[2*i])
		}
	}
}

// TestConstantTimePlans looks at every plan that any processor could have.
func TestConstantTimePlans(t *testing.T) {
	var mentioned hwfeatures.Set
	for i := range kernels {
		mentioned |= kernels[i].Requires | kernels[i].Prefers
	}
	for subset := mentioned; ; subset = (subset - 1) & mentioned {
		p := choosePlan(subset, true)
		if !p.constantTime {
			t.Errorf("%v: the key schedule is another", subset)
		}
		for _, k := range kernels.Usable(subset) {
			if k.ConstantTime { // the best comes first in the table
				if p.batch() != k.Batch {
					t.Errorf("%v: %s, want %s at its head", subset, planName(p), k.Name)
				}
				break
			}
		}
		checkNext(t, p, constantTimeLimitsOf)
		// Whatever is forced of what this processor can run.
		for forced, k := range kernels.Usable(subset) {
			p := planWith(forced, subset, true)
			if name := planName(p); k.ConstantTime && name != k.Name {
				t.Errorf("%v: %s is forced, not %s", subset, name, k.Name)
			}
			for _, s := range p.steps[:p.last+1] {
				if !p.constantTime || !kernels[s.kernel].ConstantTime {
					t.Errorf("%v: %s is in the plan with %s forced", subset, kernels[s.kernel].Name, k.Name)
				}
			}
		}
		for i, s := range p.steps[:p.last+1] {
			k := &kernels[s.kernel]
			if !k.ConstantTime || !subset.Has(k.Requires) {
				t.Errorf("%v: %s is in the plan", subset, k.Name)
			}
			if int(s.batch) != k.Batch*BlockSize || i > 0 && s.batch >= p.steps[i-1].batch {
				t.Errorf("%v: batches of %d bytes with %s", subset, s.batch, k.Name)
			}
		}
		if subset == 0 {
			if got, want := planName(p), "generic-constant-time+generic-constant-time-8"; got != want {
				t.Errorf("without anything: %s, want %s", got, want)
			}
			return
		}
	}
}

func TestNewCipherConstantTime(t *testing.T) {
	for n := range 70 {
		key := testkit.Random("key", n)
		c, err := NewCipherConstantTime(key)
		if n != 16 && n != 24 && n != 32 {
			if c != nil || err != KeySizeError(n) {
				t.Errorf("%d bytes: %v, %v", n, c, err)
			}
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(key, testkit.Random("key", n)) {
			t.Error("the key was written to")
		}
		if want := newTest(t, key, defaultPlan).schedule; c.schedule != want {
			t.Errorf("%d bytes: not the schedule of NewCipher", n)
		}

		x := newReference(t, key)
		iv := testkit.Random("iv", BlockSize)
		in := testkit.Random("in", 300*BlockSize+5)
		got, want := make([]byte, len(in)), make([]byte, len(in))
		modes.NewCTR(c, iv).XORKeyStream(got, in)
		cipher.NewCTR(x, iv).XORKeyStream(want, in)
		if !bytes.Equal(got, want) {
			t.Errorf("%d bytes: CTR differs", n)
		}
	}
}
