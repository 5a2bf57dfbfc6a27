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
	low, high [16]byte // products of 0 to 15 and of their sixteenfold
	matrix    uint64   // for GF2P8AFFINEQB: row i, which makes bit i, is byte 7-i
}

// products has all products. It is made when it is needed for the first time.
var products = sync.OnceValue(func() *[256]product {
	all := new([256]product)
	for c := range all {
		p := &all[c]
		for i := range byte(16) {
			p.low[i], p.high[i] = gf256.Mul(byte(c), i), gf256.Mul(byte(c), i<<4)
		}
		for j := range 8 {
			column := gf256.Mul(byte(c), 1<<j)
			for i := range 8 {
				p.matrix |= uint64(column>>i&1) << (8*(7-i) + j)
			}
		}
	}
	return all
})
