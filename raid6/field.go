package raid6

import (
	"sync"

	"github.com/twogather/twogather/internal/gf256"
)

// correction[d] is what d doublings without their constant leave out: see step.
var correction = func() (correction [256]byte) {
	for i := range 255 {
		correction[i+1] = gf256.Double(correction[i]) ^ gf256.Polynomial&0xFF
	}
	return correction
}()

// A product is what kernels multiply by a constant with.
type product struct {
	low, high [16]byte // gf256.Nibbles
	matrix    uint64   // gf256.Matrix
}

// products has all products. It is made when it is needed for the first time.
var products = sync.OnceValue(func() *[256]product {
	all := new([256]product)
	for c := range all {
		p := &all[c]
		p.low, p.high = gf256.Nibbles(byte(c))
		p.matrix = gf256.Matrix(byte(c))
	}
	return all
})
