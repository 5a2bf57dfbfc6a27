package raid6

import "sync"

// The field is GF(2^8) with the polynomial x^8 + x^4 + x^3 + x^2 + 1 and the generator 2.
const polynomial = 0x11D

// double returns 2·a.
func double(a byte) byte {
	return a<<1 ^ a>>7*(polynomial&0xFF)
}

// mul returns a·b, bit by bit.
func mul(a, b byte) byte {
	sum := byte(0)
	for ; b > 0; b >>= 1 {
		sum ^= a & -(b & 1)
		a = double(a)
	}
	return sum
}

// tables hold what costs too much to compute in every call.
type tables struct {
	exp        [255]byte // 2^i
	log        [256]byte // of 2^i, i
	correction [256]byte // what d doublings without their constant leave out: see step
	products   [256]product
}

// A product is what kernels multiply by a constant with.
type product struct {
	low, high [16]byte // products of 0 to 15 and of their sixteenfold
	matrix    uint64   // for GF2P8AFFINEQB: row i, which makes bit i, is byte 7-i
}

// newTables makes the tables when they are needed for the first time.
var newTables = sync.OnceValue(func() *tables {
	t := new(tables)
	a := byte(1)
	for i := range 255 {
		t.exp[i], t.log[a] = a, byte(i)
		a = double(a)
	}
	for d := range 255 {
		t.correction[d+1] = double(t.correction[d]) ^ polynomial&0xFF
	}
	for c := range t.products {
		p := &t.products[c]
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
	return t
})

// power returns 2^i for any i.
func (t *tables) power(i int) byte {
	return t.exp[((i%255)+255)%255]
}

// inverse returns 1/a; a is not 0.
func (t *tables) inverse(a byte) byte { return t.power(-int(t.log[a])) }
