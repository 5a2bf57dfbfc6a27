package main

import (
	"github.com/mmcloughlin/avo/operand"
)

// affine multiplies by GF2P8AFFINEQB. In its VEX form the coefficient's matrix is an operand in memory, there four times. In
// its EVEX form it is broadcast, and VPTERNLOGD adds the products of two sources at a time.
type affine struct {
	w    width
	turn int
}

func (m *affine) width() width { return m.w }

func (m *affine) name() string {
	if m.w == ymm {
		return "dotGFNI"
	}
	return "dotGFNI512"
}

func (m *affine) doc() string {
	if m.w == ymm {
		return "Products come by GF2P8AFFINEQB, from entries of four matrices, all the same."
	}
	return "Products come by GF2P8AFFINEQB, from entries of one matrix."
}

func (m *affine) entrySize() int {
	if m.w == ymm {
		return 32
	}
	return 8
}

func (m *affine) wide(outputs int) bool { return m.w == zmm || outputs <= 2 }

// Nobody has timed this yet.
func (*affine) prefetches() bool { return false }

func (*affine) prepare(*assembler) {}

func (m *affine) write(a *assembler) {
	writeDot(a, m)
	writeUpdate(a, m)
}

func (m *affine) multiply(s *step, first bool) {
	free := s.free(16)
	if m.w == zmm {
		free = s.free(32)
	}
	x, temps := free[:s.vectors], free[s.vectors:]
	for i := range x {
		s.move(m.w, s.at(data, i), x[i])
	}
	s.addToSum(first, func(i int) operand.Op { return x[i] })
	for p := s.sum; p < s.outputs; p++ {
		matrix := operand.Op(s.entryOf(p))
		if m.w == zmm {
			matrix = temps[0]
			s.VPBROADCASTQ(s.entryOf(p), matrix)
		}
		for i := range x {
			if first {
				s.VGF2P8AFFINEQB(operand.U8(0), matrix, x[i], s.acc(p, i))
				continue
			}
			product := temps[1+i%(len(temps)-1)]
			s.VGF2P8AFFINEQB(operand.U8(0), matrix, x[i], product)
			s.xor(m.w, product, s.acc(p, i))
		}
	}
}

func (m *affine) pairs() bool { return m.w == zmm }

// multiplyPair adds the products of the source at hand and of the next one.
func (m *affine) multiplyPair(s *step) {
	free := s.free(32)
	v := s.vectors
	x, y, matrices, products := free[:v], free[v:2*v], free[2*v:][:4], free[2*v+4:]
	s.MOVQ(operand.Mem{Base: source, Index: sourceStride, Scale: 1}, scratch)
	for i := range x {
		s.VMOVDQU64(s.at(data, i), x[i])
		s.VMOVDQU64(s.at(scratch, i), y[i])
	}
	for p := range s.outputs {
		if p < s.sum {
			for i := range x {
				s.VPTERNLOGD(operand.U8(xor3), x[i], y[i], s.acc(p, i))
			}
			continue
		}
		a, b := matrices[p%2*2], matrices[p%2*2+1]
		s.VPBROADCASTQ(s.entryOf(p), a)
		s.VPBROADCASTQ(s.entryOf(p).Idx(entryStride, 1), b)
		for i := range x {
			ax, by := products[2*i], products[2*i+1]
			s.VGF2P8AFFINEQB(operand.U8(0), a, x[i], ax)
			s.VGF2P8AFFINEQB(operand.U8(0), b, y[i], by)
			s.VPTERNLOGD(operand.U8(xor3), ax, by, s.acc(p, i))
		}
	}
}
