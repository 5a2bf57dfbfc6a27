package main

import (
	"fmt"

	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// A dot product goes over its sources once for up to six outputs. A step is 64 or 128 bytes of every shard: whole cache
// lines, so that a line is visited once even where the shards' lines fall on the same cache sets and push each other out.
// The sums of a step stay in registers.
//
// What differs between kernels is how they multiply.

// Registers of a dot product.
var (
	passPointer = reg.RDI
	outputs     = reg.RCX // headers
	sources     = reg.RDX
	onesEnd     = reg.R12 // of the headers of sources whose coefficients are all 1
	sourcesEnd  = reg.R13
	entries     = reg.RSI
	offset      = reg.R8
	to          = reg.R9
	entry       = reg.R10 // of the source at hand
	source      = reg.R11 // its header
	data        = reg.RAX // its bytes
	start, park = reg.R14, reg.R15
	scratch     = reg.RBX
	ahead       = reg.RBX // offset of what to prefetch, within a step
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
	a.text(m.name(), "func(p *pass)", m.name()+" does the pass p as dotGeneric does. "+m.doc())
	a.Load(a.Param("p"), passPointer)
	field := func(at int, r operand.Op) { a.MOVQ(operand.Mem{Base: passPointer, Disp: at}, r) }
	field(passOutputs, outputs)
	field(passSources, sources)
	headerOf := func(count int, r reg.Register) {
		field(count, scratch)
		a.LEAQ(operand.Mem{Base: scratch, Index: scratch, Scale: 2}, scratch)
		a.LEAQ(operand.Mem{Base: sources, Index: scratch, Scale: 8}, r)
	}
	headerOf(passOnes, onesEnd)
	headerOf(passCount, sourcesEnd)
	field(passEntries, entries)
	field(passStart, start)
	field(passPark, park)
	field(passFrom, offset)
	field(passTo, to)
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
	sizes := []int{64}
	if m.wide(p) {
		sizes = []int{128, 64}
	}
	for _, size := range sizes {
		a.Comment(fmt.Sprintf("%s, %d bytes a step", what, size))
		s := &step{a, m, p, sum, size / int(m.width())}
		next := fmt.Sprintf("%sNext%d", name, size)
		a.JMP(operand.LabelRef(next))
		a.Label(fmt.Sprintf("%sStep%d", name, size))
		s.write(fmt.Sprintf("%s_%d", name, size))
		a.Label(next)
		a.LEAQ(operand.Mem{Base: offset, Disp: size}, scratch)
		a.CMPQ(scratch, to)
		a.JBE(operand.LabelRef(fmt.Sprintf("%sStep%d", name, size)))
	}
	a.CMPQ(offset, to)
	a.JAE(operand.LabelRef("done"))
	a.Comment("The last step overlaps the one before")
	a.LEAQ(operand.Mem{Base: to, Disp: -64}, offset)
	a.JMP(operand.LabelRef(name + "Step64"))
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

// next goes on to the next source.
func (s *step) next(withEntries bool) {
	s.ADDQ(operand.U8(header), source)
	if withEntries {
		s.ADDQ(operand.U32((s.outputs-s.sum)*s.entrySize()), entry)
	}
}

func (s *step) write(prefix string) {
	ref := func(l string) operand.LabelRef { return operand.LabelRef(prefix + l) }
	block := s.outputs * s.vectors * int(s.width())
	s.MOVQ(sources, source)
	s.MOVQ(entries, entry)
	s.MOVQ(operand.Mem{Base: passPointer, Disp: passAhead}, ahead)
	s.ADDQ(offset, ahead)
	s.TESTQ(start, start)
	s.JNE(ref("resume"))
	s.MOVQ(operand.Mem{Base: source}, data)
	s.CMPQ(source, onesEnd)
	s.JB(ref("firstOnes"))
	s.multiply(s, true)
	s.next(true)
	s.CMPQ(source, sourcesEnd)
	s.JAE(ref("store"))

	s.Label(prefix + "source")
	if s.pairs() {
		s.LEAQ(operand.Mem{Base: source, Disp: header}, scratch)
		s.CMPQ(scratch, sourcesEnd)
		s.JAE(ref("last"))
		s.Label(prefix + "pair")
		s.MOVQ(operand.Mem{Base: source}, data)
		s.multiplyPair(s)
		s.next(true)
		s.next(true)
		s.LEAQ(operand.Mem{Base: source, Disp: header}, scratch)
		s.CMPQ(scratch, sourcesEnd)
		s.JB(ref("pair"))
		s.CMPQ(source, sourcesEnd)
		s.JAE(ref("store"))
		s.Label(prefix + "last")
	}
	s.MOVQ(operand.Mem{Base: source}, data)
	s.multiply(s, false)
	s.next(true)
	s.CMPQ(source, sourcesEnd)
	s.JB(ref("source"))

	s.Label(prefix + "store")
	s.TESTQ(park, park)
	s.JNE(ref("park"))
	for p := range s.outputs {
		s.MOVQ(operand.Mem{Base: outputs, Disp: header * p}, data)
		for i := range s.vectors {
			s.move(s.width(), s.acc(p, i), s.at(data, i))
		}
	}
	s.ADDQ(operand.U32(s.vectors*int(s.width())), offset)
	s.JMP(ref("end"))

	s.Label(prefix + "firstOnes")
	for i := range s.vectors {
		s.move(s.width(), s.at(data, i), s.acc(0, i))
	}
	for p := 1; p < s.outputs; p++ {
		for i := range s.vectors {
			s.move(s.width(), s.acc(0, i), s.acc(p, i))
		}
	}
	s.next(false)
	s.JMP(ref("moreOnes"))
	s.Label(prefix + "resume")
	s.eachSum(func(p, i int) {
		s.move(s.width(), operand.Mem{Base: start, Disp: (p*s.vectors + i) * int(s.width())}, s.acc(p, i))
	})
	s.ADDQ(operand.U32(block), start)
	s.Label(prefix + "moreOnes")
	s.CMPQ(source, onesEnd)
	s.JAE(ref("noOnes"))
	s.Label(prefix + "ones")
	s.MOVQ(operand.Mem{Base: source}, data)
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
	s.next(false)
	s.CMPQ(source, onesEnd)
	s.JB(ref("ones"))
	s.Label(prefix + "noOnes")
	s.CMPQ(source, sourcesEnd)
	s.JB(ref("source"))
	s.JMP(ref("store"))

	s.Label(prefix + "park")
	s.eachSum(func(p, i int) {
		s.move(s.width(), s.acc(p, i), operand.Mem{Base: park, Disp: (p*s.vectors + i) * int(s.width())})
	})
	s.ADDQ(operand.U32(block), park)
	s.ADDQ(operand.U32(s.vectors*int(s.width())), offset)
	s.Label(prefix + "end")
}

// prefetch asks for what the next step, or one further on, reads of the source at hand.
func (s *step) prefetch() {
	for at := 0; at < s.vectors*int(s.width()); at += 64 {
		s.PREFETCHT0(operand.Mem{Base: data, Index: ahead, Scale: 1, Disp: at})
	}
}
