package twofish

import (
	"encoding/binary"
	"math/bits"
	"math/rand/v2"
	"testing"
	"unsafe"

	"github.com/twogather/twogather/internal/testkit"
	"github.com/twogather/twogather/vectors"
)

// The reference is testkit's, which is the paper, written down without a thought for speed.

// refExpand returns the reference's schedule.
func refExpand(key []byte) *schedule {
	c := testkit.NewTwofish(key)
	s := &schedule{k: c.K, n: len(c.S)}
	copy(s.rs[:], c.S)
	for j := range s.sbox {
		for x := range s.sbox[j] {
			s.sbox[j][x] = c.SBox(j, byte(x))
		}
	}
	return s
}

// TestPermutations computes q from the nibble tables.
func TestPermutations(t *testing.T) {
	for i := range q {
		for x := range q[i] {
			if got, want := q[i][x], testkit.TwofishQ(i, byte(x)); got != want {
				t.Errorf("q%d[%#02x] = %#02x, want %#02x", i, x, got, want)
			}
		}
	}
}

// TestMDS computes the mds tables, whose entries hold the last permutation and a column of the matrix.
func TestMDS(t *testing.T) {
	for j := range mds {
		for x := range mds[j] {
			var y [4]byte
			y[j] = testkit.TwofishQ(testkit.TwofishStages[0][j], byte(x))
			if got, want := mds[j][x], testkit.TwofishMDS(y); got != want {
				t.Errorf("mds[%d][%#02x] = %08x, want %08x", j, x, got, want)
			}
		}
	}
}

func TestRS(t *testing.T) {
	check := func(key [8]byte) {
		t.Helper()
		lo, hi := binary.LittleEndian.Uint32(key[:]), binary.LittleEndian.Uint32(key[4:])
		if got, want := rsCode(lo, hi), testkit.TwofishRS(key[:]); got != want {
			t.Errorf("rsCode of %x is %08x, want %08x", key, got, want)
		}
	}
	// The code is linear, so the single bits prove it, as far as rsCode is linear: random keys look at that.
	var key [8]byte
	for i := range 64 {
		key = [8]byte{}
		key[i/8] = 1 << (i % 8)
		check(key)
	}
	r := rand.New(rand.NewPCG(1, 2))
	for range 1000 {
		binary.LittleEndian.PutUint64(key[:], r.Uint64())
		check(key)
	}
}

// TestExpand compares whole schedules with the reference's.
func TestExpand(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for _, size := range []int{16, 24, 32} {
		for range 4 {
			key := make([]byte, size)
			for i := range key {
				key[i] = byte(r.Uint32())
			}
			want := refExpand(key)
			for _, expand := range []func(*schedule, []byte){(*schedule).expand, (*schedule).expandConstantTime} {
				var got schedule
				expand(&got, key)
				if got == *want {
					continue
				}
				for j := range got.sbox {
					if got.sbox[j] != want.sbox[j] {
						t.Errorf("key %x: S-box %d differs", key, j)
					}
				}
				if got.k != want.k {
					t.Errorf("key %x: subkeys are\n%08x, want\n%08x", key, got.k, want.k)
				}
				if got.rs != want.rs || got.n != want.n {
					t.Errorf("key %x: S-box keys are %08x, %d words, want %08x, %d", key, got.rs, got.n, want.rs, want.n)
				}
			}
		}
	}
}

// TestIntermediateValues follows the published encryptions through every step.
func TestIntermediateValues(t *testing.T) {
	all := vectors.TwofishIntermediates()
	if len(all) == 0 {
		t.Fatal("no answers")
	}
	for i := range all {
		checkIntermediate(t, &all[i])
	}
}

func checkIntermediate(t *testing.T, v *vectors.Intermediate) {
	t.Helper()
	for i, want := range v.SBoxKeys {
		lo, hi := binary.LittleEndian.Uint32(v.Key[8*i:]), binary.LittleEndian.Uint32(v.Key[8*i+4:])
		if got := rsCode(lo, hi); got != want {
			t.Errorf("%s: S-box key %d is %08X, want %08X", v.Where, i, got, want)
		}
	}
	var s schedule
	s.expand(v.Key)
	for i, want := range v.Subkeys {
		if s.k[i] != want {
			t.Errorf("%s: subkey %d is %08X, want %08X", v.Where, i, s.k[i], want)
		}
	}

	var x [4]uint32
	state := func(i int) {
		t.Helper()
		if x != v.States[i] {
			t.Errorf("%s: state %d is %08X, want %08X", v.Where, i, x, v.States[i])
		}
	}
	for i := range x {
		x[i] = binary.LittleEndian.Uint32(v.Plaintext[4*i:]) ^ s.k[i]
	}
	state(0)
	for round := range 16 {
		a, b, c, d := &x[0], &x[1], &x[2], &x[3]
		if round%2 == 1 {
			a, b, c, d = c, d, a, b
		}
		t0, t1 := s.g(*a), s.gRol8(*b)
		if got := [2]uint32{t0, t1}; got != v.G[round] {
			t.Errorf("%s: g of round %d is %08X, want %08X", v.Where, round+1, got, v.G[round])
		}
		k := s.k[firstRoundKey+2*round:]
		*c = bits.RotateLeft32(*c^(t0+t1+k[0]), -1)
		*d = bits.RotateLeft32(*d, 1) ^ (t0 + 2*t1 + k[1])
		state(round + 1)
	}
	x = [4]uint32{x[2] ^ s.k[4], x[3] ^ s.k[5], x[0] ^ s.k[6], x[1] ^ s.k[7]}
	state(17)
	for i, w := range x {
		if want := binary.LittleEndian.Uint32(v.Ciphertext[4*i:]); w != want {
			t.Errorf("%s: word %d of the ciphertext is %08X, want %08X", v.Where, i, w, want)
		}
	}
}

// TestScheduleLayout holds the layout that assembly relies on.
func TestScheduleLayout(t *testing.T) {
	var s schedule
	for _, field := range []struct {
		name      string
		got, want uintptr
	}{
		{"offset of sbox", unsafe.Offsetof(s.sbox), 0},
		{"offset of k", unsafe.Offsetof(s.k), 4096},
		{"end of k", unsafe.Offsetof(s.k) + unsafe.Sizeof(s.k), 4256},
	} {
		if field.got != field.want {
			t.Errorf("%s is %d, want %d", field.name, field.got, field.want)
		}
	}
}
