package main

import (
	"fmt"

	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// Many outputs share the work of taking the sources apart: split writes the nibbles of a tile of all sources, and the dot
// products of all groups of outputs read those. For every 64 bytes of every source there are 64 bytes of low nibbles, then
// 64 of high ones.
type split struct{}

const splitMinOutputs = 4

func (split) write(a *assembler) {
	splitNibbles(a)
	splitDot(a)
}

// Registers of both functions, besides those of the dot product.
var (
	sources    = reg.RDX // headers
	sourcesEnd = reg.R13
	outputs    = reg.RCX
	left       = reg.RBX
)

// eachStep has offset go from `from` to `to` by 64; the last step overlaps the one before where it has to.
func eachStep(a *assembler, name, done string, step func()) {
	a.JMP(operand.LabelRef(name + "Next"))
	a.Label(name + "Step")
	step()
	a.ADDQ(operand.U8(64), offset)
	a.Label(name + "Next")
	a.LEAQ(operand.Mem{Base: offset, Disp: 64}, left)
	a.CMPQ(left, to)
	a.JBE(operand.LabelRef(name + "Step"))
	a.CMPQ(offset, to)
	a.JAE(operand.LabelRef(done))
	a.LEAQ(operand.Mem{Base: to, Disp: -64}, offset)
	a.JMP(operand.LabelRef(name + "Step"))
}

func splitNibbles(a *assembler) {
	a.text("splitAVX2", "func(nibbles *byte, sources [][]byte, from, to int)",
		"splitAVX2 writes the nibbles of the sources from byte to byte, as dotSplitAVX2 reads them.")
	nibbles, mask := reg.RDI, reg.Y15
	a.Load(a.Param("nibbles"), nibbles)
	a.Load(a.Param("sources").Base(), sources)
	a.Load(a.Param("sources").Len(), sourcesEnd)
	a.LEAQ(operand.Mem{Base: sourcesEnd, Index: sourcesEnd, Scale: 2}, sourcesEnd)
	a.LEAQ(operand.Mem{Base: sources, Index: sourcesEnd, Scale: 8}, sourcesEnd)
	a.Load(a.Param("from"), offset)
	a.Load(a.Param("to"), to)
	a.VMOVDQU(a.lowNibbles(), mask)
	eachStep(a, "split", "done", func() {
		a.MOVQ(sources, source)
		a.Label("source")
		a.MOVQ(operand.Mem{Base: source}, data)
		low, high := ymm.vecs(0, 2), ymm.vecs(2, 4)
		for i := range low {
			a.VMOVDQU(operand.Mem{Base: data, Index: offset, Scale: 1, Disp: 32 * i}, low[i])
		}
		a.PREFETCHT1(operand.Mem{Base: data, Index: offset, Scale: 1, Disp: 512})
		for i := range low {
			a.VPSRLQ(operand.U8(4), low[i], high[i])
			a.VPAND(mask, low[i], low[i])
			a.VPAND(mask, high[i], high[i])
		}
		for i := range low {
			a.VMOVDQU(low[i], operand.Mem{Base: nibbles, Disp: 32 * i})
			a.VMOVDQU(high[i], operand.Mem{Base: nibbles, Disp: 64 + 32*i})
		}
		a.ADDQ(operand.U32(128), nibbles)
		a.ADDQ(operand.U8(header), source)
		a.CMPQ(source, sourcesEnd)
		a.JB(operand.LabelRef("source"))
	})
	a.Label("done")
	a.VZEROUPPER()
	a.RET()
}

func splitDot(a *assembler) {
	a.text("dotSplitAVX2", "func(nibbles *byte, outputs [][]byte, entries *byte, sources, from, to int)",
		fmt.Sprintf("dotSplitAVX2 does what dotAVX2 does, on nibbles of so many sources, for %d to %d outputs.", splitMinOutputs, maxOutputs))
	nibblesEnd, stepBytes := reg.R11, reg.R13
	a.Load(a.Param("nibbles"), data)
	a.Load(a.Param("outputs").Base(), outputs)
	a.Load(a.Param("entries"), entries)
	a.Load(a.Param("sources"), stepBytes)
	a.SHLQ(operand.U8(7), stepBytes)
	a.Load(a.Param("from"), offset)
	a.Load(a.Param("to"), to)
	a.Comment("By the number of outputs")
	a.Load(a.Param("outputs").Len(), left)
	for p := splitMinOutputs; p < maxOutputs; p++ {
		a.CMPQ(left, operand.U8(p))
		a.JEQ(operand.LabelRef(fmt.Sprintf("dot%dNext", p)))
	}
	a.JMP(operand.LabelRef(fmt.Sprintf("dot%dNext", maxOutputs)))
	for p := splitMinOutputs; p <= maxOutputs; p++ {
		name := fmt.Sprintf("dot%d", p)
		n := &nibbles{w: ymm}
		s := &step{a, n, p, 0, 2}
		multiply := func(first bool) {
			l := &lookups{step: s, n: n, first: first}
			free := s.free(16)
			if len(free) >= 6 {
				l.low, l.high, l.temps = free[:2], free[2:4], free[4:]
			} else {
				l.low, l.high, l.temps = free[:2], free[:2], free[2:]
			}
			load := func(x []operand.Op, at int) {
				for i := range x {
					a.VMOVDQU(operand.Mem{Base: data, Disp: at + 32*i}, x[i])
				}
			}
			load(l.low, 0)
			if len(free) >= 6 {
				load(l.high, 64)
				for p := range p {
					l.half(p, 0, l.low)
					l.half(p, 1, l.high)
				}
			} else {
				for p := range p {
					l.half(p, 0, l.low)
				}
				l.flush()
				load(l.high, 64)
				for p := range p {
					l.half(p, 1, l.high)
				}
			}
			l.flush()
			a.ADDQ(operand.U32(128), data)
			a.ADDQ(operand.U32(p*n.entrySize()), entry)
			a.CMPQ(data, nibblesEnd)
		}
		a.Comment(fmt.Sprintf("%d outputs", p))
		eachStep(a, name, "done", func() {
			a.MOVQ(entries, entry)
			a.LEAQ(operand.Mem{Base: data, Index: stepBytes, Scale: 1}, nibblesEnd)
			multiply(true)
			a.JAE(operand.LabelRef(name + "Store"))
			a.Label(name + "Source")
			multiply(false)
			a.JB(operand.LabelRef(name + "Source"))
			a.Label(name + "Store")
			for p := range p {
				a.MOVQ(operand.Mem{Base: outputs, Disp: header * p}, left)
				for i := range 2 {
					s.move(ymm, s.acc(p, i), s.at(left, i))
				}
			}
		})
	}
	a.Label("done")
	a.VZEROUPPER()
	a.RET()
}
