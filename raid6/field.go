package raid6

import (
	"sync"

	"github.com/twogather/twogather/internal/gf256"
)

// correction[d] is what becomes of it after d doublings without their constant is nothing: see step.
var correction = func() (correction [256]byte) {
	half := gf256.Power(-1)
	for i := range 255 {
		correction[i+1] = gf256.Mul(half, correction[i]^gf256.Polynomial&0xFF)
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
