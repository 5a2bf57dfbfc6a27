package main

import (
	"fmt"

	"github.com/mmcloughlin/avo/ir"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// A dot product goes over its sources once for up to six outputs. A step is 64 or 128 bytes of every shard: whole cache
// lines, so that a line is visited once even where the shards' lines fall on the same cache sets and push each other out.
// Every other step takes the sources backwards: what was prefetched last for the next step is used first, before it is
// pushed out. The sums of a step stay in registers.
//
// What differs between kernels is how they multiply.

// Registers of a dot product.
var (
	passPointer  = reg.RDI
	offset       = reg.R8
	ahead        = reg.RBX // so far from offset is what is prefetched, but for a step
	special      = reg.R9  // not 0 if parked sums are taken up, or if some coefficients are all 1
	source       = reg.R11 // the header at hand, of a source that has entries
	last         = reg.R13 // the last one, in the direction of the step
	turnLast     = reg.R12 // its difference, by XOR, to the last one in the other direction
	sourceStride = reg.RDX // from a header to the next
	entry        = reg.R10 // of the source at hand
	entryStride  = reg.RSI
	data         = reg.RAX // bytes of the source at hand
	start, park  = reg.R14, reg.R15
	scratch      = reg.RCX
)

const maxOutputs = 6

// A multiplier is what differs between the kernels.
type multiplier interface {
	name() string // of its function
	doc() string
	width() width
	// wide says whether steps for so many outputs are 128 bytes long while there is that much.
	wide(outputs int) bool
	prepare(a *assembler)
	entrySize() int
	prefetches() bool
	// multiply adds the products of the source at hand to the sums, or, if it is the first one, puts them there.
	multiply(s *step, first bool)
	// pairs says whether there is also multiplyPair, for the source at hand and the next one.
	pairs() bool
	multiplyPair(s *step)
}

// A step is the code for one step of so many outputs.
type step struct {
	*assembler
	multiplier
	outputs int
	sum     int // 1 if the first output is the plain sum of the sources, which takes no entries, else 0
	vectors int // of each shard
}

// writeDot writes a dot product: a function with code for each number of outputs.
func writeDot(a *assembler, m multiplier) {
	a.text(m.name(), "func(p *pass, from, to int)", m.name()+" does what dotGeneric does. "+m.doc())
	a.Load(a.Param("p"), passPointer)
	field := func(at int, r operand.Op) { a.MOVQ(operand.Mem{Base: passPointer, Disp: at}, r) }
	field(passSources, source)
	field(passSourceCount, scratch)
	a.LEAQ(operand.Mem{Base: scratch, Index: scratch, Scale: 2}, scratch)
	a.LEAQ(operand.Mem{Base: source, Index: scratch, Scale: 8, Disp: -header}, last)
	a.MOVQ(source, turnLast)
	a.XORQ(last, turnLast)
	a.MOVQ(operand.U32(header), sourceStride)
	field(passEntries, entry)
	field(passStart, start)
	field(passPark, park)
	a.Load(a.Param("from"), offset)
	if m.prefetches() {
		field(passAhead, ahead)
		a.ADDQ(offset, ahead)
	}
	field(passOnesCount, special)
	a.ORQ(start, special)
	m.prepare(a)

	a.Comment("By the number of outputs")
	field(passOutputCount, scratch)
	a.CMPQ(operand.Mem{Base: passPointer, Disp: passSum}, operand.U8(0))
	a.JNE(operand.LabelRef("sums"))
	for p := 1; p < maxOutputs; p++ {
		a.CMPQ(scratch, operand.U8(p))
		a.JEQ(operand.LabelRef(fmt.Sprintf("dot%d", p)))
	}
	a.JMP(operand.LabelRef(fmt.Sprintf("dot%d", maxOutputs)))
	a.Label("sums")
	for p := 2; p < maxOutputs; p++ {
		a.CMPQ(scratch, operand.U8(p))
		a.JEQ(operand.LabelRef(fmt.Sprintf("sum%d", p)))
	}
	a.JMP(operand.LabelRef(fmt.Sprintf("sum%d", maxOutputs)))

	for sum := range 2 {
		for p := 1 + sum; p <= maxOutputs; p++ {
			writeSteps(a, m, p, sum)
		}
	}
	a.Label("done")
	a.VZEROUPPER()
	a.RET()
}

// writeSteps writes the loops for p outputs.
func writeSteps(a *assembler, m multiplier, p, sum int) {
	name, what := fmt.Sprintf("dot%d", p), fmt.Sprintf("%d outputs", p)
	if sum == 1 {
		name, what = fmt.Sprintf("sum%d", p), what+", the first one the plain sum"
	}
	if p == 1 {
		what = "One output"
	}
	a.Label(name)
	a.MOVQ(operand.U32((p-sum)*m.entrySize()), entryStride)
	to := a.address(a.Param("to"))
	sizes := []int{64}
	if m.wide(p) {
		sizes = []int{128, 64}
	}
	var specials []func()
	for _, size := range sizes {
		a.Comment(fmt.Sprintf("%s, %d bytes a step", what, size))
		prefix := fmt.Sprintf("%s_%d", name, size)
		s := &step{a, m, p, sum, size / int(m.width())}
		a.JMP(operand.LabelRef(prefix + "next"))
		s.align()
		a.Label(prefix + "step")
		s.write(prefix)
		a.Label(prefix + "next")
		a.LEAQ(operand.Mem{Base: offset, Disp: size}, scratch)
		a.CMPQ(scratch, to)
		a.JBE(operand.LabelRef(prefix + "step"))
		specials = append(specials, func() { s.writeSpecial(prefix) })
	}
	a.MOVQ(to, scratch)
	a.CMPQ(offset, scratch)
	a.JAE(operand.LabelRef("done"))
	a.Comment("The last step overlaps the one before")
	a.LEAQ(operand.Mem{Base: scratch, Disp: -64}, offset)
	a.JMP(operand.LabelRef(name + "_64step"))
	for _, write := range specials {
		write()
	}
}

// acc is the sum of output p in vector i of the step.
func (s *step) acc(p, i int) operand.Op { return s.width().vec(p*s.vectors + i) }

// at is vector i of the shard that base points to.
func (s *step) at(base reg.Register, i int) operand.Mem {
	return operand.Mem{Base: base, Index: offset, Scale: 1, Disp: i * int(s.width())}
}

// entryOf is where the entry of output p begins.
func (s *step) entryOf(p int) operand.Mem {
	return operand.Mem{Base: entry, Disp: (p - s.sum) * s.entrySize()}
}

// free are the registers that hold no sums, up to n.
func (s *step) free(n int) []operand.Op { return s.width().vecs(s.outputs*s.vectors, n) }

// eachSum calls f for all sums, output by output.
func (s *step) eachSum(f func(p, i int)) {
	for p := range s.outputs {
		for i := range s.vectors {
			f(p, i)
		}
	}
}

// next goes on to the next source with an entry.
func (s *step) next() {
	s.ADDQ(sourceStride, source)
	s.ADDQ(entryStride, entry)
}

func (s *step) field(at int) operand.Mem { return operand.Mem{Base: passPointer, Disp: at} }

func (s *step) size() int { return s.vectors * int(s.width()) }

// write writes a step whose sums begin with the first product.
func (s *step) write(prefix string) {
	ref := func(l string) operand.LabelRef { return operand.LabelRef(prefix + l) }
	s.TESTQ(special, special)
	s.JNE(ref("special"))
	s.MOVQ(operand.Mem{Base: source}, data)
	s.multiply(s, true)
	s.CMPQ(source, last)
	s.JEQ(ref("store"))

	s.align()
	s.Label(prefix + "source")
	s.next()
	s.Label(prefix + "here")
	if s.pairs() {
		s.CMPQ(source, last)
		s.JEQ(ref("last"))
		s.align()
		s.Label(prefix + "pair")
		s.MOVQ(operand.Mem{Base: source}, data)
		s.multiplyPair(s)
		s.next()
		s.CMPQ(source, last)
		s.JEQ(ref("store"))
		s.next()
		s.CMPQ(source, last)
		s.JNE(ref("pair"))
		s.Label(prefix + "last")
	}
	s.MOVQ(operand.Mem{Base: source}, data)
	s.multiply(s, false)
	if !s.pairs() {
		s.CMPQ(source, last)
		s.JNE(ref("source"))
	}

	s.Label(prefix + "store")
	s.TESTQ(park, park)
	s.JNE(ref("park"))
	s.MOVQ(s.field(passOutputs), scratch)
	for p := range s.outputs {
		s.MOVQ(operand.Mem{Base: scratch, Disp: header * p}, data)
		for i := range s.vectors {
			s.move(s.width(), s.acc(p, i), s.at(data, i))
		}
	}
	s.Label(prefix + "turn")
	s.ADDQ(operand.U32(s.size()), offset)
	if s.prefetches() {
		s.ADDQ(operand.U32(s.size()), ahead)
	}
	s.NEGQ(entryStride)
	s.NEGQ(sourceStride)
	s.XORQ(turnLast, last)
}

// writeSpecial writes how sums begin otherwise, and how they are parked.
func (s *step) writeSpecial(prefix string) {
	ref := func(l string) operand.LabelRef { return operand.LabelRef(prefix + l) }
	ones, onesLeft := scratch, special
	s.Label(prefix + "special")
	s.MOVQ(s.field(passOnes), ones)
	s.MOVQ(s.field(passOnesCount), onesLeft)
	s.TESTQ(start, start)
	s.JNE(ref("resume"))
	s.MOVQ(operand.Mem{Base: ones}, data)
	s.prefetch(data)
	for i := range s.vectors {
		s.move(s.width(), s.at(data, i), s.acc(0, i))
	}
	for p := 1; p < s.outputs; p++ {
		for i := range s.vectors {
			s.move(s.width(), s.acc(0, i), s.acc(p, i))
		}
	}
	s.JMP(ref("nextOnes"))
	s.Label(prefix + "resume")
	s.eachSum(func(p, i int) { s.move(s.width(), s.parked(start, p, i), s.acc(p, i)) })
	s.ADDQ(operand.U32(s.outputs*s.size()), start)
	s.TESTQ(onesLeft, onesLeft)
	s.JEQ(ref("noOnes"))
	s.Label(prefix + "ones")
	s.MOVQ(operand.Mem{Base: ones}, data)
	s.prefetch(data)
	for i := range s.vectors {
		if s.outputs == 1 {
			s.xor(s.width(), s.at(data, i), s.acc(0, i))
			continue
		}
		x := s.free(16)[0]
		s.move(s.width(), s.at(data, i), x)
		for p := range s.outputs {
			s.xor(s.width(), x, s.acc(p, i))
		}
	}
	s.Label(prefix + "nextOnes")
	s.ADDQ(operand.U8(header), ones)
	s.DECQ(onesLeft)
	s.JNE(ref("ones"))
	s.Label(prefix + "noOnes")
	s.MOVQ(operand.U32(1), special)
	s.CMPQ(s.field(passSourceCount), operand.U8(0))
	s.JNE(ref("here"))
	s.JMP(ref("store"))

	s.Label(prefix + "park")
	s.eachSum(func(p, i int) { s.move(s.width(), s.acc(p, i), s.parked(park, p, i)) })
	s.ADDQ(operand.U32(s.outputs*s.size()), park)
	s.JMP(ref("turn"))
}

// parked is where a sum lies that an earlier pass has left, or that a later one takes up.
func (s *step) parked(base reg.Register, p, i int) operand.Mem {
	return operand.Mem{Base: base, Disp: (p*s.vectors + i) * int(s.width())}
}

// prefetch asks for what the next step reads of a source, or a later one, in kernels that have been seen to gain by it.
func (s *step) prefetch(data reg.Register) {
	if !s.prefetches() {
		return
	}
	for at := 0; at < s.size(); at += 64 {
		s.PREFETCHT0(operand.Mem{Base: data, Index: ahead, Scale: 1, Disp: s.size() + at})
	}
}

// align has the next instruction begin where the processor fetches from.
func (s *step) align() {
	s.Instruction(&ir.Instruction{Opcode: "PCALIGN", Operands: []operand.Op{operand.Imm(64)}})
}
