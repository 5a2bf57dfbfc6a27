package main

import (
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// writeShared builds what surrounds the AVX2 kernels.
func writeShared() *assembler {
	a := newAssembler()
	a.ConstraintExpr("!purego")
	a.fillCounters()
	return a
}

// fillCounters builds the counter generator: two counters to a register, eight to a step.
func (a *assembler) fillCounters() {
	a.text("fillCountersAVX2", "func(dst []byte, hi, lo uint64)",
		"fillCountersAVX2 writes consecutive counters as fillCountersGeneric does. The length of dst is a multiple of 128 bytes",
		"and lo does not wrap.")
	swap := a.constant("swapQuadwords", func() {
		for i := range 4 {
			a.AddDatum(8*i, operand.U64([]uint64{0x0001020304050607, 0x08090a0b0c0d0e0f}[i%2]))
		}
	})
	steps := a.constant("counterSteps", func() {
		for i, v := range []uint64{0, 0, 0, 1, 0, 2, 0, 2} {
			a.AddDatum(8*i, operand.U64(v))
		}
	})

	dst, left := reg.RDI, reg.RCX
	a.Load(a.Param("dst").Base(), dst)
	a.Load(a.Param("dst").Len(), left)
	counter, step, bytes := reg.Y0, reg.Y1, reg.Y2
	a.Comment("Low quadword hi, high quadword lo; the upper lane is one ahead")
	a.VMOVQ(a.argument("hi"), reg.X0)
	a.VMOVQ(a.argument("lo"), reg.X3)
	a.VPUNPCKLQDQ(reg.X3, reg.X0, reg.X0)
	a.VINSERTI128(operand.U8(1), reg.X0, counter, counter)
	a.VPADDQ(steps, counter, counter)
	a.VMOVDQU(steps.Offset(32), step)
	a.VMOVDQU(swap, bytes)
	a.JMP(operand.LabelRef("more"))
	a.Label("next")
	for i := range 4 {
		a.VPSHUFB(bytes, counter, vecs[4+i].y)
		a.VPADDQ(step, counter, counter)
		a.VMOVDQU(vecs[4+i].y, operand.Mem{Base: dst, Disp: 32 * i})
	}
	a.SUBQ(operand.I8(-128), dst)
	a.Label("more")
	a.SUBQ(operand.U32(128), left)
	a.JAE(operand.LabelRef("next"))
	a.VZEROUPPER()
	a.RET()
}

// argument is where an argument lies.
func (a *assembler) argument(name string) operand.Mem { return a.address(a.Param(name)) }
