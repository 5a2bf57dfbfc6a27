package main

import (
	"fmt"

	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// General registers.
var (
	pointerP, pointerQ = reg.RDI, reg.RSI // less the offset, so that at serves them too
	at, end            = reg.RAX, reg.RDX // offsets in the disks' chunks
	top, bottom        = reg.R8, reg.R9   // headers of the first disk and of the one behind the last
	lostHigh, lostLow  = reg.R10, reg.R11 // headers of lost disks
	disk, stop         = reg.RBX, reg.R12 // headers of the disk at hand and of the next where something else happens
	carry              = reg.R13
	pointer            = reg.RCX  // of the disk at hand
	scaleBase          = lostHigh // the product of a partial update, in which no disk is lost
)

// Vector registers.
const (
	vecP        = vec(0) // and the next ones
	vecQ        = vec(4)
	vecX        = vec(8)
	vecT        = vec(12) // and the next one
	vecCorrect  = vec(14)
	vecDoubling = vec(15)
)

func chunk(base reg.Register, v visit, u int) operand.Mem {
	return operand.Mem{Base: base, Index: at, Scale: 1, Disp: u * v.bytes}
}

// A walk over the disks, from the top down, for all visits to a chunk.
type walk struct {
	*assembler
	parity bool // P only
	plain  bool // no disk is lost, and P and Q begin with the disk on top
	finish func(v visit)
}

// arguments loads what the functions over disks have in common.
func (w *walk) arguments() {
	w.Comment("The disks from the last one down")
	w.Load(w.Param("s"), reg.RCX)
	step := func(offset int) operand.Mem { return operand.Mem{Base: reg.RCX, Disp: offset} }
	w.Load(w.Param("data").Base(), bottom)
	w.Load(w.Param("data").Len(), top)
	w.IMUL3Q(operand.I8(sliceBytes), top, top)
	w.LEAQ(operand.Mem{Base: bottom, Index: top, Scale: 1, Disp: -sliceBytes}, top)
	if !w.plain {
		for i, r := range []reg.Register{lostHigh, lostLow} {
			w.IMUL3Q(operand.I8(sliceBytes), step(stepLost+8*i), r)
			w.ADDQ(bottom, r)
		}
		w.MOVQ(step(stepCarry), carry)
	}
	w.SUBQ(operand.I8(sliceBytes), bottom)

	w.Comment("The chunk from the offset on")
	w.MOVQ(step(stepOffset), at)
	w.Load(w.Param("p").Base(), pointerP)
	w.Load(w.Param("p").Len(), end)
	w.ADDQ(at, end)
	w.SUBQ(at, pointerP)
	if !w.parity {
		w.Load(w.Param("q").Base(), pointerQ)
		w.SUBQ(at, pointerQ)
		w.loadDoubling(vecDoubling)
		if !w.gfni {
			w.repeat(step(stepCorrection), vecCorrect)
		}
	}
}

// visitAll goes through the chunk.
func (a *assembler) visitAll(unroll int, visit func(v visit)) {
	all := a.visits(unroll)
	done := a.label("done")
	for i, v := range all {
		first := i == 0 || i == 1 && unroll > 1
		next := a.label("next")
		a.Commentf("%s", v)
		switch {
		case first:
			again := a.label("visit")
			a.JMP(to(next))
			a.Label(again)
			visit(v)
			a.ADDQ(operand.U32(v.size()), at)
			a.Label(next)
			a.LEAQ(operand.Mem{Base: at, Disp: v.size()}, pointer)
			a.CMPQ(pointer, end)
			a.JLE(to(again))
		case v.masked:
			a.CMPQ(at, end)
			a.JEQ(to(done))
			a.MOVL(at.As32(), reg.ECX)
			a.SUBL(end.As32(), reg.ECX)
			a.MOVQ(operand.I32(-1), stop)
			a.SHRQ(reg.CL, stop) // the count is taken modulo 64
			a.KMOVQ(stop, rest)
			visit(v)
		default:
			if v.bytes == 16 {
				a.CMPQ(at, end)
				a.JEQ(to(done))
			}
			a.LEAQ(operand.Mem{Base: at, Disp: v.size()}, pointer)
			a.CMPQ(pointer, end)
			a.JGT(to(next))
			visit(v)
			a.ADDQ(operand.U32(v.size()), at)
			a.Label(next)
		}
	}
	a.Label(done)
	a.VZEROUPPER()
	a.RET()
}

func (v visit) String() string {
	switch {
	case v.masked:
		return "What is left, masked"
	case v.vectors > 1:
		return fmt.Sprintf("%d vectors of %d bytes", v.vectors, v.bytes)
	case v.bytes == 1:
		return "One byte"
	}
	return fmt.Sprintf("%d bytes", v.bytes)
}

// visit goes through the disks.
func (w *walk) visit(v visit) {
	begin, next, again, special, finish := w.label("begin"), w.label("more"), w.label("disk"), w.label("special"), w.label("finish")
	w.MOVQ(top, disk)
	if w.plain {
		w.MOVQ(bottom, stop)
	} else {
		w.MOVQ(lostHigh, stop)
		w.TESTQ(carry, carry)
		w.JEQ(to(begin))
		for u := range v.vectors {
			w.load(v, chunk(pointerP, v, u), vecP+vec(u))
			if !w.parity {
				w.load(v, chunk(pointerQ, v, u), vecQ+vec(u))
			}
		}
		w.ADDQ(operand.I8(sliceBytes), disk)
		w.JMP(to(next))
		w.Label(begin)
	}
	w.MOVQ(operand.Mem{Base: disk}, pointer)
	for u := range v.vectors {
		w.load(v, chunk(pointer, v, u), vecP+vec(u))
		if !w.parity {
			w.copyTo(v, vecP+vec(u), vecQ+vec(u))
		}
	}
	w.JMP(to(next))

	w.Label(again)
	w.MOVQ(operand.Mem{Base: disk}, pointer)
	for u := range v.vectors {
		if w.parity {
			w.addFrom(v, chunk(pointer, v, u), vecP+vec(u), vecX+vec(u))
			continue
		}
		x := vecX + vec(u)
		w.load(v, chunk(pointer, v, u), x)
		w.add(v, x, vecP+vec(u))
		w.doubleAdd(v, vecDoubling, vecQ+vec(u), x, vecT+vec(u%2))
	}
	w.Label(next)
	w.SUBQ(operand.I8(sliceBytes), disk)
	w.CMPQ(disk, stop)
	w.JNE(to(again))
	if !w.plain {
		w.CMPQ(stop, bottom)
		w.JEQ(to(finish))
		w.Label(special)
		if !w.parity {
			for u := range v.vectors {
				w.double(v, vecDoubling, vecQ+vec(u), vecT+vec(u%2))
			}
		}
		w.MOVQ(lostLow, stop)
		w.CMPQ(disk, stop)
		w.CMOVQEQ(bottom, stop)
		w.JMP(to(next))
		w.Label(finish)
	}
	w.finish(v)
}

// syndrome builds a kernel's syndrome function.
func (a *assembler) syndrome(unroll int) {
	name := fmt.Sprintf("syndrome%sx%d", a.name, unroll)
	a.text(name, "func(p, q []byte, data [][]byte, s *step)", name+" works like syndromeGeneric.")
	w := &walk{assembler: a}
	w.finish = func(v visit) {
		for u := range v.vectors {
			if !a.gfni {
				a.add(v, vecCorrect, vecQ+vec(u))
			}
			a.store(v, vecP+vec(u), chunk(pointerP, v, u))
			a.store(v, vecQ+vec(u), chunk(pointerQ, v, u))
		}
	}
	w.arguments()
	w.visitAll(unroll, w.visit)
}

// xorSyndrome builds a kernel's function for partial updates.
func (a *assembler) xorSyndrome(unroll int) {
	name := fmt.Sprintf("xorSyndrome%sx%d", a.name, unroll)
	a.text(name, "func(p, q []byte, data [][]byte, s *step)", name+" works like xorSyndromeGeneric.")
	w := &walk{assembler: a, plain: true}
	scale := product{low: vecX + 1, high: vecX + 2, mask: vecX + 3}
	w.arguments()
	a.Load(a.Param("s"), scaleBase)
	a.MOVQ(operand.Mem{Base: scaleBase, Disp: stepProduct}, scaleBase)
	w.finish = func(v visit) {
		a.loadProduct(scaleBase, scale)
		for u := range v.vectors {
			p, q := vecP+vec(u), vecQ+vec(u)
			a.addFrom(v, chunk(pointerP, v, u), p, vecT)
			a.store(v, p, chunk(pointerP, v, u))
			a.multiply(v, scale, q, vecT)
			if !a.gfni {
				a.add(v, vecCorrect, q)
			}
			a.addFrom(v, chunk(pointerQ, v, u), q, vecT)
			a.store(v, q, chunk(pointerQ, v, u))
		}
	}
	w.visitAll(unroll, w.visit)
}

// parity builds an instruction set's function for P alone.
func (a *assembler) parity() {
	name := "parity" + a.name
	a.text(name, "func(p []byte, data [][]byte, s *step)", name+" works like parityGeneric.")
	w := &walk{assembler: a, parity: true}
	w.finish = func(v visit) {
		for u := range v.vectors {
			a.store(v, vecP+vec(u), chunk(pointerP, v, u))
		}
	}
	w.arguments()
	w.visitAll(4, w.visit)
}
