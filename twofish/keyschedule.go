package twofish

import (
	"encoding/binary"
	"math/bits"
)

// A schedule is what the rounds need of a key. Assembly knows its layout: the tables at 0, the subkeys at 4096. Kernels
// may read up to 12 bytes past the last table entry, which is inside k.
type schedule struct {
	sbox [4][256]uint32 // S-box j followed by column j of the MDS matrix
	k    [40]uint32     // 0-3 input whitening, 4-7 output whitening, then two a round
	// The S-box keys, n words, for kernels that compute the S-boxes.
	rs [4]uint32
	n  int
}

const firstRoundKey = 8

// expand computes the schedule of a key of 16, 24 or 32 bytes, as sections 4.3.1 to 4.3.5 of the paper describe it.
func (s *schedule) expand(key []byte) {
	// M is the key as little-endian words: even words make one half of the subkeys, odd words the other. S is the RS code
	// of each eight bytes, used in the opposite order.
	var even, odd, rs [4]uint32
	n := len(key) / 8
	for i := range n {
		lo, hi := binary.LittleEndian.Uint32(key[8*i:]), binary.LittleEndian.Uint32(key[8*i+4:])
		even[i], odd[i], rs[n-1-i] = lo, hi, rsCode(lo, hi)
	}

	for i := 0; i < len(s.k); i += 2 {
		a := h(uint32(i)*0x01010101, &even, n)
		b := bits.RotateLeft32(h(uint32(i+1)*0x01010101, &odd, n), 8)
		s.k[i] = a + b
		s.k[i+1] = bits.RotateLeft32(a+2*b, 9)
	}

	s.rs, s.n = rs, n
	q0, q1 := &q[0], &q[1]
	s.fill(0, n, &rs, q1, q1, q0, q0)
	s.fill(1, n, &rs, q0, q1, q1, q0)
	s.fill(2, n, &rs, q0, q0, q0, q1)
	s.fill(3, n, &rs, q1, q0, q1, q1)
}

// fill computes S-box j for a key of n times 64 bits. q4, q3, q2 and q1 are the permutations in the order in which they
// are applied; shorter keys enter later. The last permutation is part of the mds table.
func (s *schedule) fill(j, n int, rs *[4]uint32, q4, q3, q2, q1 *[256]byte) {
	t, m := &s.sbox[j], &mds[j]
	k4, k3, k2, k1 := byte(rs[3]>>(8*j)), byte(rs[2]>>(8*j)), byte(rs[1]>>(8*j)), byte(rs[0]>>(8*j))
	switch n {
	case 4:
		for x := range t {
			t[x] = m[q1[q2[q3[q4[x]^k4]^k3]^k2]^k1]
		}
	case 3:
		for x := range t {
			t[x] = m[q1[q2[q3[x]^k3]^k2]^k1]
		}
	default:
		for x := range t {
			t[x] = m[q1[q2[x]^k2]^k1]
		}
	}
}

// h is the function of the same name in section 4.3.2, for the subkeys: l has n words.
func h(x uint32, l *[4]uint32, n int) uint32 {
	b0, b1, b2, b3 := byte(x), byte(x>>8), byte(x>>16), byte(x>>24)
	if n == 4 {
		w := l[3]
		b0, b1, b2, b3 = q[1][b0]^byte(w), q[0][b1]^byte(w>>8), q[0][b2]^byte(w>>16), q[1][b3]^byte(w>>24)
	}
	if n >= 3 {
		w := l[2]
		b0, b1, b2, b3 = q[1][b0]^byte(w), q[1][b1]^byte(w>>8), q[0][b2]^byte(w>>16), q[0][b3]^byte(w>>24)
	}
	w := l[1]
	b0, b1, b2, b3 = q[0][b0]^byte(w), q[1][b1]^byte(w>>8), q[0][b2]^byte(w>>16), q[1][b3]^byte(w>>24)
	w = l[0]
	b0, b1, b2, b3 = q[0][b0]^byte(w), q[0][b1]^byte(w>>8), q[1][b2]^byte(w>>16), q[1][b3]^byte(w>>24)
	return mds[0][b0] ^ mds[1][b1] ^ mds[2][b2] ^ mds[3][b3]
}

// rsCode multiplies eight key bytes by the RS matrix. Its rows are the remainders of x⁴ … x¹¹ by the code's generator
// x⁴ + (α+1/α)x³ + αx² + (α+1/α)x + 1 over GF(2^8)/0x14D, so a division, byte by byte from the top, does the same.
func rsCode(lo, hi uint32) uint32 {
	var r uint32
	for _, w := range [2]uint32{hi, lo} {
		r ^= w
		for range 4 {
			top := r >> 24
			alpha := top<<1 ^ -(top>>7)&0x14d   // α·top
			inv := top>>1 ^ -(top&1)&(0x14d>>1) // top/α
			mid := alpha ^ inv                  // (α+1/α)·top
			r = r<<8 ^ mid<<24 ^ alpha<<16 ^ mid<<8 ^ top
		}
	}
	return r
}
