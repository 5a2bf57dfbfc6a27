package ghash

import "math/bits"

// updateGeneric updates y, one block at a time. Time does not depend on keys or data where that of a multiplication of
// numbers does not.
func updateGeneric(p *powers, y *[BlockSize]byte, data []byte) {
	h, sum := p.power[maxPowers-1], load(y[:])
	for ; len(data) >= BlockSize; data = data[BlockSize:] {
		block := load(data)
		sum = multiply(element{sum.lo ^ block.lo, sum.hi ^ block.hi}, h)
	}
	sum.store(y[:])
}

// multiply returns a·b·x⁻¹²⁸. Karatsuba's method saves one of the four products of words.
func multiply(a, b element) element {
	w1, w0 := product(a.lo, b.lo)
	w3, w2 := product(a.hi, b.hi)
	mid1, mid0 := product(a.lo^a.hi, b.lo^b.hi)
	mid0 ^= w0 ^ w2
	mid1 ^= w1 ^ w3
	w1 ^= mid0
	w2 ^= mid1
	// Clear w0, then w1.
	w1 ^= w0<<63 ^ w0<<62 ^ w0<<57
	w2 ^= w0 ^ w0>>1 ^ w0>>2 ^ w0>>7
	w2 ^= w1<<63 ^ w1<<62 ^ w1<<57
	w3 ^= w1 ^ w1>>1 ^ w1>>2 ^ w1>>7
	return element{w2, w3}
}

// product is the carry-less product of two words, by multiplications of numbers. Every fourth bit of each factor leaves
// room for a product's carries: what falls on one bit is a sum of at most 15 ones, in four bits, and its lowest bit is
// the sum over GF(2). For 15, the top four bits of x are multiplied bit by bit.
//
// The idea is that of BearSSL's ctmul64 by Thomas Pornin, which stays in the low word and gets the high one by reversing
// bits.
func product(x, y uint64) (hi, lo uint64) {
	const every4th = 0x1111111111111111
	const below = 1<<60 - 1
	x0, x1, x2, x3 := x&(every4th&below), x&(every4th<<1&below), x&(every4th<<2&below), x&(every4th<<3&below)
	y0, y1, y2, y3 := y&every4th, y&(every4th<<1), y&(every4th<<2), y&(every4th<<3)
	h, l := add4(x0, y0, x1, y3, x2, y2, x3, y1)
	hi, lo = h&every4th, l&every4th
	h, l = add4(x0, y1, x1, y0, x2, y3, x3, y2)
	hi, lo = hi|h&(every4th<<1), lo|l&(every4th<<1)
	h, l = add4(x0, y2, x1, y1, x2, y0, x3, y3)
	hi, lo = hi|h&(every4th<<2), lo|l&(every4th<<2)
	h, l = add4(x0, y3, x1, y2, x2, y1, x3, y0)
	hi, lo = hi|h&(every4th<<3), lo|l&(every4th<<3)
	for i := 60; i < 64; i++ {
		bit := y & -(x >> i & 1)
		hi ^= bit >> (64 - i)
		lo ^= bit << i
	}
	return hi, lo
}

// add4 adds four products over GF(2).
func add4(a0, b0, a1, b1, a2, b2, a3, b3 uint64) (hi, lo uint64) {
	h0, l0 := bits.Mul64(a0, b0)
	h1, l1 := bits.Mul64(a1, b1)
	h2, l2 := bits.Mul64(a2, b2)
	h3, l3 := bits.Mul64(a3, b3)
	return h0 ^ h1 ^ h2 ^ h3, l0 ^ l1 ^ l2 ^ l3
}
