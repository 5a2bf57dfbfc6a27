package twofish

// Bit slices: the 64-bit word i of a slice holds bit i of 64 values. One logical instruction works on all 64, and nothing
// but such instructions is needed, so that neither an address nor a branch can depend on a value. What the table kernels
// look up is computed here.

// lanes is how many values a slice holds.
const lanes = 64

// A byteSlice is 64 bytes.
type byteSlice [8]uint64

// transpose turns 64 values of 64 bits into the slices of their bits, and back: bit i of word j and bit j of word i change
// places. Squares of half the size change places in each step.
func transpose(x *[64]uint64) {
	mask := uint64(1<<32 - 1)
	for n := 32; n > 0; n /= 2 {
		for i := 0; i < 64; i = (i + n + 1) &^ n {
			t := (x[i]>>(n&63) ^ x[(i+n)&63]) & mask
			x[i] ^= t << (n & 63)
			x[(i+n)&63] ^= t
		}
		mask ^= mask << (n / 2 & 63)
	}
}

// spread returns bit i of x in all lanes.
func spread(x uint32, i int) uint64 { return -uint64(x >> (i & 31) & 1) }

// permute0 and permute1 XOR k to x and apply the permutation q0 or q1 of section 4.3.5. The names a, b and t0 to t3 are
// the paper's. A search found the 15 or 16 instructions for each t; a test compares all 256 values with the tables.

func permute0(x, k *byteSlice) {
	b0, b1, b2, b3 := x[0]^k[0], x[1]^k[1], x[2]^k[2], x[3]^k[3]
	a0, a1, a2, a3 := x[4]^k[4], x[5]^k[5], x[6]^k[6], x[7]^k[7]
	a0, a1, a2, a3, b0, b1, b2, b3 = a0^b0, a1^b1, a2^b2, a3^b3, a0^b1, a1^b2, a2^b3, a3^b0^a0
	{ // t0 is 8 1 7 d 6 f 3 2 0 b 5 9 e c a 4
		t0 := a3 & a0
		t1 := t0 ^ a2
		t2 := t0 | a1
		t3 := t2 ^ t1
		t4 := (a3 ^ a0) | a2
		t5 := ^t4
		t6 := (t5 | t1) ^ a3
		t7 := (t4 ^ a0) | a1
		t8 := t7 ^ t6
		t9 := (t5 & a1) ^ t1
		t10 := (t6 & t2) ^ a0
		a0, a1, a2, a3 = t10, t9, t3, t8
	}
	{ // t1 is e c b 8 1 2 3 5 f 4 a 6 7 0 9 d
		t0 := b3 | b0
		t1 := t0 ^ b1
		t2 := (t1 ^ b2) ^ b0
		t3 := (t2 & t1) ^ b2
		t4 := b3 ^ b1
		t5 := ^t2
		t6 := (t5 | t4) ^ b0
		t7 := (t0 ^ b2) & t6
		t8 := t7 ^ t5
		t9 := (t8 ^ b3) | t5
		t10 := t9 ^ t4
		b0, b1, b2, b3 = t3, t6, t8, t10
	}
	a0, a1, a2, a3, b0, b1, b2, b3 = a0^b0, a1^b1, a2^b2, a3^b3, a0^b1, a1^b2, a2^b3, a3^b0^a0
	{ // t2 is b a 5 e 6 d 9 0 c 8 f 3 2 4 7 1
		t0 := (a2 & a1) ^ a0
		t1 := (t0 ^ a1) | a3
		t2 := t1 ^ a2
		t3 := ^(t2 | a3)
		t4 := t3 ^ a1
		t5 := t2 ^ t0
		t6 := (t2 | t0) ^ a3
		t7 := (t5 | t4) | t6
		t8 := t6 ^ t4
		t9 := (t7 ^ t6) ^ t0
		x[0], x[1], x[2], x[3] = t4, t8, t5, t9
	}
	{ // t3 is d 7 f 4 1 2 6 e 9 b 3 0 8 5 c a
		t0 := (b3 ^ b2) | b0
		t1 := t0 ^ b1
		t2 := (t1 & b2) ^ b3
		t3 := ^t2
		t4 := b3 ^ b0
		t5 := (t4 & t3) ^ b2
		t6 := (t5 ^ t1) ^ t4
		t7 := t5 ^ (t3 | t1)
		t8 := (t7 | t6) ^ b2
		x[4], x[5], x[6], x[7] = t8, t6, t3, t7
	}
}

func permute1(x, k *byteSlice) {
	b0, b1, b2, b3 := x[0]^k[0], x[1]^k[1], x[2]^k[2], x[3]^k[3]
	a0, a1, a2, a3 := x[4]^k[4], x[5]^k[5], x[6]^k[6], x[7]^k[7]
	a0, a1, a2, a3, b0, b1, b2, b3 = a0^b0, a1^b1, a2^b2, a3^b3, a0^b1, a1^b2, a2^b3, a3^b0^a0
	{ // t0 is 2 8 b d f 7 6 e 3 1 9 4 0 a c 5
		t0 := a2 | a0
		t1 := a3 ^ a1
		t2 := t1 & t0
		t3 := a2 | a1
		t4 := (t2 & a3) ^ t0
		t5 := t3 ^ a0
		t6 := t5 & a3
		t7 := (t6 | t1) ^ a2
		t8 := t4 & t3
		t9 := (t6 | t4) ^ (^a2 | a3)
		t10 := t5 ^ t2
		a0, a1, a2, a3 = t7, t9, t8, t10
	}
	{ // t1 is 1 e 2 b 4 c 3 7 6 d a 5 f 9 0 8
		t0 := (b3 & b1) ^ b0
		t1 := t0 ^ b2
		t2 := (t0 | b2) ^ (b3 ^ b1)
		t3 := ^t2
		t4 := (t2 | t1) ^ b1
		t5 := t4 ^ t3
		t6 := (t5 & b2) ^ t1
		t7 := (t5 & b0) | t2
		t8 := t7 ^ b2
		b0, b1, b2, b3 = t3, t8, t4, t6
	}
	a0, a1, a2, a3, b0, b1, b2, b3 = a0^b0, a1^b1, a2^b2, a3^b3, a0^b1, a1^b2, a2^b3, a3^b0^a0
	{ // t2 is 4 c 7 5 1 6 9 a 0 e d 8 2 b 3 f
		t0 := a2 | a1
		t1 := t0 ^ a3
		t2 := (t0 ^ a0) & t1
		t3 := (a1 & a0) ^ a2
		t4 := t3 ^ t1
		t5 := ^t4
		t6 := t2 ^ a2
		t7 := (t6 ^ a1) & t5
		t8 := t7 ^ a0
		t9 := t5 ^ t2
		t10 := (t2 | a1) ^ (t4 & a0)
		x[0], x[1], x[2], x[3] = t10, t6, t9, t8
	}
	{ // t3 is b 9 5 1 c 3 d e 6 4 7 f 2 0 8 a
		t0 := (b3 | b0) ^ b1
		t1 := ^(b3 ^ b2)
		t2 := t1 | t0
		t3 := (t2 | b0) ^ b1
		t4 := (b3 | b2) ^ t3
		t5 := t4 | b3
		t6 := t2 ^ b3
		t7 := (t5 & b0) ^ t3
		t8 := (b1 & b0) | t5
		t9 := t8 ^ t1
		x[4], x[5], x[6], x[7] = t6, t7, t9, t4
	}
}
