package raid6

import "sync"

// The field is GF(2^8) with the polynomial x^8 + x^4 + x^3 + x^2 + 1 and the generator 2.
const polynomial = 0x11D

// double returns 2·a.
func double(a byte) byte {
	return a<<1 ^ a>>7*(polynomial&0xFF)
}

// exp[i] is 2^i and log its inverse. correction[d] is what d doublings without their constant leave out: see step.
var exp, log, correction = func() (exp [255]byte, log, correction [256]byte) {
	a := byte(1)
	for i := range exp {
		exp[i], log[a] = a, byte(i)
		a = double(a)
		correction[i+1] = double(correction[i]) ^ polynomial&0xFF
	}
	return exp, log, correction
}()

// power returns 2^i for any i.
func power(i int) byte { return exp[(i%255+255)%255] }

// mul returns a·b.
func mul(a, b byte) byte {
	if a == 0 || b == 0 {
		return 0
	}
	return power(int(log[a]) + int(log[b]))
}

// inverse returns 1/a; a is not 0.
func inverse(a byte) byte { return power(-int(log[a])) }

// A product is what kernels multiply by a constant with.
type product struct {
	low, high [16]byte // products of 0 to 15 and of their sixteenfold
	matrix    uint64   // for GF2P8AFFINEQB: row i, which makes bit i, is byte 7-i
}

// products has all products. It is made when it is needed for the first time.
var products = sync.OnceValue(func() *[256]product {
	all := new([256]product)
	for c := range all {
		p := &all[c]
		for i := range byte(16) {
			p.low[i], p.high[i] = mul(byte(c), i), mul(byte(c), i<<4)
		}
		for j := range 8 {
			column := mul(byte(c), 1<<j)
			for i := range 8 {
				p.matrix |= uint64(column>>i&1) << (8*(7-i) + j)
			}
		}
	}
	return all
})
