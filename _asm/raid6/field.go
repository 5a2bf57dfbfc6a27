package main

import (
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// A visit is how much of a chunk the kernels hold in registers at a time.
type visit struct {
	vectors int
	bytes   int  // of a vector
	masked  bool // by rest
}

func (v visit) size() int { return v.vectors * v.bytes }

// visits returns the visits of a kernel, the widest first. All but the first and the one after it are for what is left in
// the end, and come at most once: vectors of half the bytes, down to one, or a masked one.
func (a *assembler) visits(unroll int) []visit {
	s := []visit{{vectors: unroll, bytes: a.bytes}}
	if unroll > 1 {
		s = append(s, visit{vectors: 1, bytes: a.bytes})
	}
	if a.bytes == 64 {
		return append(s, visit{vectors: 1, bytes: 64, masked: true})
	}
	for n := a.bytes / 2; n > 0; n /= 2 {
		s = append(s, visit{vectors: 1, bytes: n})
	}
	return s
}

// rest is the mask of the bytes that are left in the end.
var rest = reg.K1

// load and store move as many bytes as v has. What a register holds beyond them does not matter.

func (a *assembler) load(v visit, m operand.Mem, r vec) {
	x := r.of(v.bytes)
	switch {
	case v.masked:
		a.VMOVDQU8_Z(m, rest, x)
	case v.bytes == 64:
		a.VMOVDQU64(m, x)
	case v.bytes >= 16:
		a.VMOVDQU(m, x)
	case v.bytes == 8:
		a.VMOVQ(m, x)
	case v.bytes == 4:
		a.VMOVD(m, x)
	case v.bytes == 2:
		a.VPINSRW(operand.U8(0), m, x, x)
	default:
		a.VPINSRB(operand.U8(0), m, x, x)
	}
}

func (a *assembler) store(v visit, r vec, m operand.Mem) {
	x := r.of(v.bytes)
	switch {
	case v.masked:
		a.VMOVDQU8(x, rest, m)
	case v.bytes == 64:
		a.VMOVDQU64(x, m)
	case v.bytes >= 16:
		a.VMOVDQU(x, m)
	case v.bytes == 8:
		a.VMOVQ(x, m)
	case v.bytes == 4:
		a.VMOVD(x, m)
	case v.bytes == 2:
		a.VPEXTRW(operand.U8(0), x, m)
	default:
		a.VPEXTRB(operand.U8(0), x, m)
	}
}

// copyTo sets r to x.
func (a *assembler) copyTo(v visit, x, r vec) {
	if v.bytes == 64 {
		a.VMOVDQA64(x.of(64), r.of(64))
	} else {
		a.VMOVDQA(x.of(v.bytes), r.of(v.bytes))
	}
}

// add adds x to r in the field.
func (a *assembler) add(v visit, x, r vec) {
	if v.bytes == 64 {
		a.VPXORQ(x.of(64), r.of(64), r.of(64))
	} else {
		a.VPXOR(x.of(v.bytes), r.of(v.bytes), r.of(v.bytes))
	}
}

// addFrom adds what lies in memory to r. t is overwritten where the bytes cannot be read in place.
func (a *assembler) addFrom(v visit, m operand.Mem, r, t vec) {
	switch {
	case v.masked || v.bytes < 16:
		a.load(v, m, t)
		a.add(v, t, r)
	case v.bytes == 64:
		a.VPXORQ(m, r.of(64), r.of(64))
	default:
		a.VPXOR(m, r.of(v.bytes), r.of(v.bytes))
	}
}

// repeat fills r with copies of the byte at m.
func (a *assembler) repeat(m operand.Mem, r vec) { a.VPBROADCASTB(m, r.of(a.bytes)) }

// A product multiplies by a constant. Its registers hold the products of all low and of all high nibbles, and a mask of
// the low ones; or, with GFNI, a matrix.
type product struct{ low, high, mask vec }

// loadProduct sets the registers of c from the Go type at base, or at base plus 64 KiB and so on.
func (a *assembler) loadProduct(base reg.Register, c product) {
	if a.gfni {
		a.VPBROADCASTQ(operand.Mem{Base: base, Disp: productMatrix}, c.low.of(a.bytes))
		return
	}
	low, high := operand.Mem{Base: base, Disp: productLow}, operand.Mem{Base: base, Disp: productHigh}
	if a.bytes == 64 {
		a.VBROADCASTI32X4(low, c.low.of(64))
		a.VBROADCASTI32X4(high, c.high.of(64))
	} else {
		a.VBROADCASTI128(low, c.low.of(32))
		a.VBROADCASTI128(high, c.high.of(32))
	}
	a.VPBROADCASTQ(a.constant("nibbles", 0x0f0f0f0f0f0f0f0f), c.mask.of(a.bytes))
}

// multiply multiplies r by c; t is overwritten.
func (a *assembler) multiply(v visit, c product, r, t vec) {
	x, y := r.of(v.bytes), t.of(v.bytes)
	if a.gfni {
		a.VGF2P8AFFINEQB(operand.U8(0), c.low.of(v.bytes), x, x)
		return
	}
	mask := c.mask.of(v.bytes)
	a.VPSRLW(operand.U8(4), x, y)
	if v.bytes == 64 {
		a.VPANDQ(mask, x, x)
		a.VPANDQ(mask, y, y)
	} else {
		a.VPAND(mask, x, x)
		a.VPAND(mask, y, y)
	}
	a.VPSHUFB(x, c.low.of(v.bytes), x)
	a.VPSHUFB(y, c.high.of(v.bytes), y)
	a.add(v, t, r)
}

// matrix returns the matrix of the product with 2^n. Row i, which makes bit i, is byte 7-i.
func matrix(n int) uint64 {
	m := uint64(0)
	for bit := range 8 {
		product := 1 << bit
		for range n {
			if product <<= 1; product > 0xff {
				product ^= 0x11d
			}
		}
		for i := range 8 {
			m |= uint64(product>>i&1) << (8*(7-i) + bit)
		}
	}
	return m
}

// loadDoubling sets r to what double reads: the polynomial's low byte in every byte, or, with GFNI, the matrix
// of the product with 2.
func (a *assembler) loadDoubling(r vec) {
	if a.gfni {
		a.VPBROADCASTQ(a.constant("double", matrix(1)), r.of(a.bytes))
	} else {
		a.VPBROADCASTQ(a.constant("polynomial", 0x1d1d1d1d1d1d1d1d), r.of(a.bytes))
	}
}

// loadQuadrupling sets r to the matrix of the product with 4.
func (a *assembler) loadQuadrupling(r vec) {
	a.VPBROADCASTQ(a.constant("quadruple", matrix(2)), r.of(a.bytes))
}

// double doubles q. VPSHUFB gives 0 for an index whose highest bit is set and an entry for any other: so 2q + 1D without a
// comparison. The constant stays in: what becomes of it depends on nothing but the number of doublings, and is taken out
// in the end. (With GFNI there is none.)
func (a *assembler) double(v visit, doubling, q, t vec) {
	x := q.of(v.bytes)
	if a.gfni {
		a.VGF2P8AFFINEQB(operand.U8(0), doubling.of(v.bytes), x, x)
		return
	}
	a.VPSHUFB(x, doubling.of(v.bytes), t.of(v.bytes))
	a.VPADDB(x, x, x)
	a.add(v, t, q)
}
