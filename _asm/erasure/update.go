package main

import (
	"bytes"
	"fmt"

	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// An update adds the products of one source to a few outputs, 64 bytes at a time. Their entries stay in registers. It differs
// between kernels only in how they multiply.
type updater interface {
	updateName() string
	updateOutputs() int // at most
	width() width
	// prepareUpdate loads the entries into the last registers and returns how many are left.
	prepareUpdate(a *assembler, outputs int) int
	// index makes of the source's bytes in x what products take; temps are free.
	index(a *assembler, x operand.Op, high operand.Op)
	// product returns where the product of output p is, one of temps.
	product(a *assembler, p int, x, high operand.Op, temps []operand.Op) operand.Op
}

// Registers of an update.
var (
	to            = reg.R9
	entries       = reg.RSI
	updateOutputs = [maxOutputs]reg.Register{reg.RDI, reg.RAX, reg.RDX, reg.R10, reg.R11, reg.R12}
	updateSource  = reg.RBX
	updateHeaders = reg.RCX
)

// lastBytes is a constant whose 64 bytes from n on are zero but for the last n.
func (a *assembler) lastBytes() operand.Mem {
	return a.constant("lastBytes", append(make([]byte, 64), bytes.Repeat([]byte{0xff}, 64)...))
}

func writeUpdate(a *assembler, u updater) {
	w := u.width()
	a.text(u.updateName(), "func(outputs [][]byte, source []byte, entries *entry, from, to int)",
		u.updateName()+" does what updateGeneric does.")
	a.Load(a.Param("outputs").Base(), updateHeaders)
	a.Load(a.Param("source").Base(), updateSource)
	a.Load(a.Param("entries"), entries)
	a.Load(a.Param("from"), offset)
	a.Load(a.Param("to"), to)
	count := a.Load(a.Param("outputs").Len(), reg.R13)
	for p := 1; p < u.updateOutputs(); p++ {
		a.CMPQ(count, operand.U8(p))
		a.JEQ(operand.LabelRef(fmt.Sprintf("update%d", p)))
	}
	a.JMP(operand.LabelRef(fmt.Sprintf("update%d", u.updateOutputs())))
	for outputs := 1; outputs <= u.updateOutputs(); outputs++ {
		name := fmt.Sprintf("update%d", outputs)
		a.Label(name)
		if outputs == 1 {
			a.Comment("One output")
		} else {
			a.Comment(fmt.Sprintf("%d outputs", outputs))
		}
		for p := range outputs {
			a.MOVQ(operand.Mem{Base: updateHeaders, Disp: header * p}, updateOutputs[p])
		}
		n := u.prepareUpdate(a, outputs)
		step := func(last bool) {
			at := func(base reg.Register, i int) operand.Mem {
				return operand.Mem{Base: base, Index: offset, Scale: 1, Disp: i * int(w)}
			}
			v := 64 / int(w)
			x, high, temps := w.vecs(0, v), w.vecs(v, 2*v), w.vecs(2*v, n)
			for i := range x {
				if last && w == ymm {
					a.VMOVDQU(operand.Mem{Base: reg.R14, Disp: i * int(w)}, x[i])
					a.VPAND(at(updateSource, i), x[i], x[i])
				} else if last {
					a.VMOVDQU64(operand.Mem{Base: reg.R14, Disp: i * int(w)}, x[i])
					a.VPANDD(at(updateSource, i), x[i], x[i])
				} else {
					a.move(w, at(updateSource, i), x[i])
				}
			}
			for i := range x {
				u.index(a, x[i], high[i])
			}
			for p := range outputs {
				for i := range x {
					product := u.product(a, p, x[i], high[i], temps)
					a.xor(w, at(updateOutputs[p], i), product)
					a.move(w, product, at(updateOutputs[p], i))
				}
			}
		}
		a.JMP(operand.LabelRef(name + "Next"))
		a.Label(name + "Step")
		step(false)
		a.ADDQ(operand.U8(64), offset)
		a.Label(name + "Next")
		a.LEAQ(operand.Mem{Base: offset, Disp: 64}, reg.R13)
		a.CMPQ(reg.R13, to)
		a.JBE(operand.LabelRef(name + "Step"))
		a.CMPQ(offset, to)
		a.JAE(operand.LabelRef("done"))
		a.Comment("The last 64 bytes, without those that were done")
		a.SUBQ(to, offset)
		a.NEGQ(offset)
		a.LEAQ(a.lastBytes(), reg.R14)
		a.ADDQ(offset, reg.R14)
		a.LEAQ(operand.Mem{Base: to, Disp: -64}, offset)
		step(true)
		a.JMP(operand.LabelRef("done"))
	}
	a.Label("done")
	a.VZEROUPPER()
	a.RET()
}

func (n *nibbles) updateName() string {
	if n.w == ymm {
		return "updateAVX2"
	}
	return "updateAVX512"
}

// With 16 registers there is room for four.
func (n *nibbles) updateOutputs() int {
	if n.w == ymm {
		return 4
	}
	return maxOutputs
}

func (n *nibbles) prepareUpdate(a *assembler, outputs int) int {
	last := 14
	if n.w == zmm {
		last = 30
	}
	n.mask = n.w.vec(last + 1)
	a.move(n.w, a.lowNibbles(), n.mask)
	n.updates = n.updates[:0]
	for p := range outputs {
		low, high := n.w.vec(last-2*p-1), n.w.vec(last-2*p)
		n.table(a, updateEntry(p, 0), low)
		n.table(a, updateEntry(p, 16), high)
		n.updates = append(n.updates, [2]operand.Op{low, high})
	}
	return last + 1 - 2*outputs
}

// updateEntry is the entry of output p, from a byte on.
func updateEntry(p, at int) operand.Mem { return operand.Mem{Base: entries, Disp: entrySize*p + at} }

// entrySize is that of the type entry.
const entrySize = 32

func (n *nibbles) index(a *assembler, x, high operand.Op) {
	a.VPSRLQ(operand.U8(4), x, high)
	if n.w == ymm {
		a.VPAND(n.mask, x, x)
		a.VPAND(n.mask, high, high)
	} else {
		a.VPANDD(n.mask, x, x)
		a.VPANDD(n.mask, high, high)
	}
}

func (n *nibbles) product(a *assembler, p int, x, high operand.Op, temps []operand.Op) operand.Op {
	n.turn++
	t := temps[n.turn%(len(temps)/2)*2:]
	low, up := t[0], t[1]
	a.VPSHUFB(x, n.updates[p][0], low)
	a.VPSHUFB(high, n.updates[p][1], up)
	a.xor(n.w, up, low)
	return low
}

func (m *affine) updateName() string {
	if m.w == ymm {
		return "updateGFNI"
	}
	return "updateGFNI512"
}

func (*affine) updateOutputs() int { return maxOutputs }

func (m *affine) prepareUpdate(a *assembler, outputs int) int {
	for p := range outputs {
		a.VPBROADCASTQ(updateEntry(p, 0), m.w.vec(15-p))
	}
	return 16 - outputs
}

func (m *affine) index(*assembler, operand.Op, operand.Op) {}

func (m *affine) product(a *assembler, p int, x, _ operand.Op, temps []operand.Op) operand.Op {
	m.turn++
	t := temps[m.turn%len(temps)]
	a.VGF2P8AFFINEQB(operand.U8(0), m.w.vec(15-p), x, t)
	return t
}

// add writes what an update is where the coefficient is 1.
type add struct{}

func (add) write(a *assembler) {
	a.text("addAVX2", "func(output, source []byte, from, to int)", "addAVX2 is an update with the coefficient 1.")
	out, src, last := reg.RDI, reg.RSI, reg.RAX
	a.Load(a.Param("output").Base(), out)
	a.Load(a.Param("source").Base(), src)
	a.Load(a.Param("from"), offset)
	a.Load(a.Param("to"), to)
	at := func(base reg.Register, i int) operand.Mem {
		return operand.Mem{Base: base, Index: offset, Scale: 1, Disp: 32 * i}
	}
	a.JMP(operand.LabelRef("next"))
	a.Label("step")
	for i := range 2 {
		a.VMOVDQU(at(src, i), ymm.vec(i))
	}
	for i := range 2 {
		a.VPXOR(at(out, i), ymm.vec(i), ymm.vec(i))
	}
	for i := range 2 {
		a.VMOVDQU(ymm.vec(i), at(out, i))
	}
	a.ADDQ(operand.U8(64), offset)
	a.Label("next")
	a.LEAQ(operand.Mem{Base: offset, Disp: 64}, last)
	a.CMPQ(last, to)
	a.JBE(operand.LabelRef("step"))
	a.CMPQ(offset, to)
	a.JAE(operand.LabelRef("done"))
	a.Comment("The last 64 bytes, without those that were done")
	a.SUBQ(to, offset)
	a.NEGQ(offset)
	a.LEAQ(a.lastBytes(), last)
	a.ADDQ(offset, last)
	a.LEAQ(operand.Mem{Base: to, Disp: -64}, offset)
	for i := range 2 {
		a.VMOVDQU(operand.Mem{Base: last, Disp: 32 * i}, ymm.vec(i))
	}
	for i := range 2 {
		a.VPAND(at(src, i), ymm.vec(i), ymm.vec(i))
		a.VPXOR(at(out, i), ymm.vec(i), ymm.vec(i))
	}
	for i := range 2 {
		a.VMOVDQU(ymm.vec(i), at(out, i))
	}
	a.Label("done")
	a.VZEROUPPER()
	a.RET()
}
