package twofish

import (
	"encoding/binary"
	"math/bits"
	"math/rand/v2"
	"testing"
	"unsafe"

	"github.com/twogather/twogather/vectors"
)

// The reference here is the paper, written down without a thought for speed: fields bit by bit, permutations from their
// nibble tables, matrices as matrices.

// gfMul multiplies in GF(2^8) modulo a polynomial of degree 8.
func gfMul(a, b byte, poly uint) byte {
	var product uint
	for i := range 8 {
		if b>>i&1 == 1 {
			product ^= uint(a) << i
		}
	}
	for i := 14; i >= 8; i-- {
		if product>>i&1 == 1 {
			product ^= poly << (i - 8)
		}
	}
	return byte(product)
}

const (
	mdsPoly = 0x169 // x⁸+x⁶+x⁵+x³+1
	rsPoly  = 0x14d // x⁸+x⁶+x³+x²+1
)

var mdsMatrix = [4][4]byte{
	{0x01, 0xef, 0x5b, 0x5b},
	{0x5b, 0xef, 0xef, 0x01},
	{0xef, 0x5b, 0x01, 0xef},
	{0xef, 0x01, 0xef, 0x5b},
}

var rsMatrix = [4][8]byte{
	{0x01, 0xa4, 0x55, 0x87, 0x5a, 0x58, 0xdb, 0x9e},
	{0xa4, 0x56, 0x82, 0xf3, 0x1e, 0xc6, 0x68, 0xe5},
	{0x02, 0xa1, 0xfc, 0xc1, 0x47, 0xae, 0x3d, 0x19},
	{0xa4, 0x55, 0x87, 0x5a, 0x58, 0xdb, 0x9e, 0x03},
}

// nibbleTables are t0 to t3 of q0 and of q1, in section 4.3.5.
var nibbleTables = [2][4][16]byte{
	{
		{0x8, 0x1, 0x7, 0xd, 0x6, 0xf, 0x3, 0x2, 0x0, 0xb, 0x5, 0x9, 0xe, 0xc, 0xa, 0x4},
		{0xe, 0xc, 0xb, 0x8, 0x1, 0x2, 0x3, 0x5, 0xf, 0x4, 0xa, 0x6, 0x7, 0x0, 0x9, 0xd},
		{0xb, 0xa, 0x5, 0xe, 0x6, 0xd, 0x9, 0x0, 0xc, 0x8, 0xf, 0x3, 0x2, 0x4, 0x7, 0x1},
		{0xd, 0x7, 0xf, 0x4, 0x1, 0x2, 0x6, 0xe, 0x9, 0xb, 0x3, 0x0, 0x8, 0x5, 0xc, 0xa},
	},
	{
		{0x2, 0x8, 0xb, 0xd, 0xf, 0x7, 0x6, 0xe, 0x3, 0x1, 0x9, 0x4, 0x0, 0xa, 0xc, 0x5},
		{0x1, 0xe, 0x2, 0xb, 0x4, 0xc, 0x3, 0x7, 0x6, 0xd, 0xa, 0x5, 0xf, 0x9, 0x0, 0x8},
		{0x4, 0xc, 0x7, 0x5, 0x1, 0x6, 0x9, 0xa, 0x0, 0xe, 0xd, 0x8, 0x2, 0xb, 0x3, 0xf},
		{0xb, 0x9, 0x5, 0x1, 0xc, 0x3, 0xd, 0xe, 0x6, 0x4, 0x7, 0xf, 0x2, 0x0, 0x8, 0xa},
	},
}

// refQ is the permutation q0 or q1.
func refQ(which int, x byte) byte {
	ror4 := func(x byte) byte { return x>>1 | x<<3&0xf }
	t := &nibbleTables[which]
	a, b := x>>4, x&0xf
	a, b = a^b, a^ror4(b)^a<<3&0xf
	a, b = t[0][a], t[1][b]
	a, b = a^b, a^ror4(b)^a<<3&0xf
	a, b = t[2][a], t[3][b]
	return b<<4 | a
}

// qOrder says which permutation figure 2 shows on each byte: row i is applied before the exclusive-or with word i of the
// list, the last row after all of them.
var qOrder = [5][4]int{
	{1, 0, 0, 1}, // before word 3, only for 256 bits
	{1, 1, 0, 0}, // before word 2, from 192 bits on
	{0, 1, 0, 1}, // before word 1
	{0, 0, 1, 1}, // before word 0
	{1, 0, 1, 0}, // after it
}

// refS takes byte j of a word through the permutations, which the words of the list tell apart.
func refS(j int, x byte, l []uint32) byte {
	for i := len(l) - 1; i >= 0; i-- {
		x = refQ(qOrder[3-i][j], x) ^ byte(l[i]>>(8*j))
	}
	return refQ(qOrder[4][j], x)
}

// refH is the function h of section 4.3.2.
func refH(x uint32, l []uint32) uint32 {
	var y [4]byte
	for j := range y {
		y[j] = refS(j, byte(x>>(8*j)), l)
	}
	return refMDS(y)
}

func refMDS(y [4]byte) uint32 {
	var z [4]byte
	for i := range z {
		for j := range y {
			z[i] ^= gfMul(mdsMatrix[i][j], y[j], mdsPoly)
		}
	}
	return binary.LittleEndian.Uint32(z[:])
}

// refRS multiplies eight bytes of key by the RS matrix.
func refRS(key []byte) uint32 {
	var s [4]byte
	for i := range s {
		for j, b := range key[:8] {
			s[i] ^= gfMul(rsMatrix[i][j], b, rsPoly)
		}
	}
	return binary.LittleEndian.Uint32(s[:])
}

// refExpand is the key schedule of sections 4.3.1 to 4.3.4.
func refExpand(key []byte) *schedule {
	var even, odd, rs []uint32
	for i := 0; i < len(key); i += 8 {
		even = append(even, binary.LittleEndian.Uint32(key[i:]))
		odd = append(odd, binary.LittleEndian.Uint32(key[i+4:]))
		rs = append([]uint32{refRS(key[i:])}, rs...)
	}
	s := &schedule{n: len(rs)}
	copy(s.rs[:], rs)
	const rho = 0x01010101
	for i := range uint32(20) {
		a := refH(2*i*rho, even)
		b := bits.RotateLeft32(refH((2*i+1)*rho, odd), 8)
		s.k[2*i] = a + b
		s.k[2*i+1] = bits.RotateLeft32(a+2*b, 9)
	}
	for j := range s.sbox {
		for x := range s.sbox[j] {
			var y [4]byte
			y[j] = refS(j, byte(x), rs)
			s.sbox[j][x] = refMDS(y)
		}
	}
	return s
}

// TestPermutations computes q from the nibble tables.
func TestPermutations(t *testing.T) {
	for i := range q {
		for x := range q[i] {
			if got, want := q[i][x], refQ(i, byte(x)); got != want {
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
			y[j] = refQ(qOrder[4][j], byte(x))
			if got, want := mds[j][x], refMDS(y); got != want {
				t.Errorf("mds[%d][%#02x] = %08x, want %08x", j, x, got, want)
			}
		}
	}
}

func TestRS(t *testing.T) {
	check := func(key [8]byte) {
		t.Helper()
		lo, hi := binary.LittleEndian.Uint32(key[:]), binary.LittleEndian.Uint32(key[4:])
		if got, want := rsCode(lo, hi), refRS(key[:]); got != want {
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
