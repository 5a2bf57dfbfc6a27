// Package gf256 is the field of packages erasure and raid6: GF(2^8) with the polynomial x^8 + x^4 + x^3 + x^2 + 1, which
// has the generator 2: that of ISA-L, of Linux's RAID-6 and of most storage systems.
package gf256

// Polynomial is the field's, a bit for each power of x.
const Polynomial = 0x11D

// Double returns 2·a.
func Double(a byte) byte {
	return a<<1 ^ a>>7*(Polynomial&0xFF)
}

// exp[i] is 2^i, twice over, so that a sum of two logarithms is an index.
var exp, log = func() (exp [510]byte, log [256]byte) {
	a := byte(1)
	for i := range 255 {
		exp[i], exp[i+255] = a, a
		log[a] = byte(i)
		a = Double(a)
	}
	return exp, log
}()

// Power returns 2^i for any i.
func Power(i int) byte { return exp[(i%255+255)%255] }

// Log returns the i from 0 to 254 for which 2^i is a; a is not 0.
func Log(a byte) int { return int(log[a]) }

// Mul returns a·b.
func Mul(a, b byte) byte {
	if a == 0 || b == 0 {
		return 0
	}
	return exp[int(log[a])+int(log[b])]
}

// Inverse returns 1/a; a is not 0.
func Inverse(a byte) byte {
	return exp[255-int(log[a])]
}

// Nibbles returns what byte shuffles multiply by c with: the products of 0 to 15, and those of their sixteenfold.
func Nibbles(c byte) (low, high [16]byte) {
	for i := range byte(16) {
		low[i], high[i] = Mul(c, i), Mul(c, i<<4)
	}
	return low, high
}

// Matrix returns what GF2P8AFFINEQB multiplies by c with: byte 7-i says which bits of x make bit i of c·x.
func Matrix(c byte) (matrix uint64) {
	for j := range 8 {
		column := Mul(c, 1<<j)
		for i := range 8 {
			matrix |= uint64(column>>i&1) << (8*(7-i) + j)
		}
	}
	return matrix
}
