package erasure

// The field is GF(2^8) with the polynomial x^8 + x^4 + x^3 + x^2 + 1, which has the generator 2: that of ISA-L, of
// Linux's RAID-6 and of most storage systems.
const polynomial = 0x11D

// double returns 2·a.
func double(a byte) byte {
	return a<<1 ^ a>>7*(polynomial&0xFF)
}

// exp[i] is 2^i, twice over, so that a sum of two logarithms is an index.
var exp, log = func() (exp [510]byte, log [256]byte) {
	a := byte(1)
	for i := range 255 {
		exp[i], exp[i+255] = a, a
		log[a] = byte(i)
		a = double(a)
	}
	return exp, log
}()

// mul returns a·b.
func mul(a, b byte) byte {
	if a == 0 || b == 0 {
		return 0
	}
	return exp[int(log[a])+int(log[b])]
}

// inverse returns 1/a; a is not 0.
func inverse(a byte) byte {
	return exp[255-int(log[a])]
}
