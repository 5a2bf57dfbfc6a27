package main

import (
	"fmt"

	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// General registers.
var (
	pointerP, pointerQ = reg.RDI, reg.RSI         // less the offset, so that at serves them too
	at, end            = reg.RAX, reg.RDX         // offsets in the disks' chunks
	top                = reg.R8                   // the header of the last disk
	run, run2, run3    = reg.R9, reg.R10, reg.R11 // see the Go type step
	scaleBase          = run2                     // the product of a partial update, in which no disk is lost

	// In a visit:
	disk        = reg.RBX          // header of the disk at hand
	pointer     = reg.RCX          // to its bytes
	pointer2    = reg.R13          // and to those of the disk before it
	left        = reg.R12          // disks in this run
	next, after = reg.R14, reg.R15 // the runs behind it
)

// Vector registers.
const (
	vecP        = vec(0) // and the next ones
	vecQ        = vec(4)
	vecX        = vec(8)
	vecT        = vec(12) // and the next one
	vecCorrect  = vec(14)
	vecDoubling = vec(15)

	vecQuadrupling = vec(16) // where there are so many
)

func chunk(base reg.Register, v visit, u int) operand.Mem {
	return operand.Mem{Base: base, Index: at, Scale: 1, Disp: u * v.bytes}
}

// A walk over the disks, from the top down, for all visits to a chunk.
type walk struct {
	*assembler
	parity bool // P only
	plain  bool // no disk is lost, and P and Q begin with the disk on top
	widest visit
	finish func(v visit) // what becomes of P and Q
	end    func()        // what comes behind the last visit, or nil

	carry, stream operand.Mem
}

// runs is how many runs of disks there can be.
func (w *walk) runs() int {
	if w.plain {
		return 1
	}
	return 3
}

// arguments loads what the functions over disks have in common.
func (w *walk) arguments() {
	w.Comment("The disks from the last one down")
	w.Load(w.Param("s"), pointer)
	step := func(offset int) operand.Mem { return operand.Mem{Base: pointer, Disp: offset} }
	w.Load(w.Param("data").Base(), disk)
	w.Load(w.Param("data").Len(), top)
	w.LEAQ(operand.Mem{Base: top, Index: top, Scale: 2}, top)
	w.LEAQ(operand.Mem{Base: disk, Index: top, Scale: 8, Disp: -sliceBytes}, top)
	for i, r := range []reg.Register{run, run2, run3}[:w.runs()] {
		w.MOVQ(step(stepRuns+8*i), r)
	}
	if !w.plain {
		w.carry = w.AllocLocal(8)
		w.MOVQ(step(stepCarry), left)
		w.MOVQ(left, w.carry)
		if !w.parity {
			w.stream = w.AllocLocal(8)
			w.MOVQ(step(stepStream), left)
			w.MOVQ(left, w.stream)
		}
	}

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
		if w.gfni && w.bytes == 64 {
			w.loadQuadrupling(vecQuadrupling)
		}
		if !w.gfni {
			w.repeat(step(stepCorrection), vecCorrect)
		}
	}
}

// visitAll goes through the chunk and, in each visit, through the disks.
func (w *walk) visitAll(unroll int) {
	w.widest = w.visits(unroll)[0]
	w.assembler.visitAll(unroll, w.visit, w.end)
}

// visitAll goes through a chunk, with visits of so many vectors as long as there are as many. atEnd, if there is one,
// comes behind them.
func (a *assembler) visitAll(unroll int, visit func(v visit), atEnd func()) {
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
			a.MOVQ(operand.I32(-1), left)
			a.SHRQ(reg.CL, left) // the count is taken modulo 64
			a.KMOVQ(left, rest)
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
	if atEnd != nil {
		atEnd()
	}
	a.end()
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
	again := w.label("run")
	w.MOVQ(top, disk)
	if !w.plain {
		carry := w.label("carry")
		w.CMPQ(w.carry, operand.I8(0))
		w.JNE(to(carry))
		w.aside(carry, again, func() {
			for u := range v.vectors {
				w.load(v, chunk(pointerP, v, u), vecP+vec(u))
				if !w.parity {
					w.load(v, chunk(pointerQ, v, u), vecQ+vec(u))
				}
			}
		})
	}
	w.MOVQ(operand.Mem{Base: disk}, pointer)
	w.SUBQ(operand.I8(sliceBytes), disk)
	for u := range v.vectors {
		w.load(v, chunk(pointer, v, u), vecP+vec(u))
		if !w.parity {
			w.begin(v, vecP+vec(u), vecQ+vec(u))
		}
	}
	w.Label(again)
	w.MOVQ(run, left)
	if !w.plain {
		w.MOVQ(run2, next)
		w.MOVQ(run3, after)
		again = w.label("run")
		w.Label(again)
	}
	w.disks(v)
	if !w.plain {
		lost := w.label("lost")
		w.TESTQ(next, next)
		w.JGE(to(lost))
		w.aside(lost, again, func() {
			w.SUBQ(operand.I8(sliceBytes), disk)
			if !w.parity {
				for u := range v.vectors {
					w.double(v, vecDoubling, vecQ+vec(u), vecT+vec(u%2))
				}
			}
			w.MOVQ(next, left)
			w.MOVQ(after, next)
			w.MOVQ(operand.I32(-1), after)
		})
	}
	w.finish(v)
}

// begin sets q to the last disk, which p is, so that doublings with an error end with none.
func (a *assembler) begin(v visit, p, q vec) {
	switch {
	case a.gfni:
		a.copyTo(v, p, q)
	case v.bytes == 64:
		a.VPXORQ(vecCorrect.of(64), p.of(64), q.of(64))
	default:
		a.VPXOR(vecCorrect.of(v.bytes), p.of(v.bytes), q.of(v.bytes))
	}
}

// narrow is how many disks are streams that the processor follows by itself.
const narrow = 16

// disks adds a run of disks to P and Q: the next left ones. Each turn of the loop takes eight. What eight leave is added
// before, by jumps that go the same way in every visit. Where a call walks over more disks than the narrow ones, each asks
// for its next visit's bytes, and loads once what others name twice. Zen 3 (EPYC), avx2x4, staggered, GB/s of data, all
// three in turn in one process:
//
//	                                    12 disks   16   24   32   48   64   96
//	4 KiB:   no prefetch                      66   68   66   63   64   46   38
//	         in the loop of eight, always     61   65   65   63   63   47   41
//	         as here                          66   68   66   65   66   54   46
//	64 KiB:  no prefetch                      62   54   53   42   41   33   30
//	         in the loop of eight, always     58   52   56   55   57   45   39
//	         as here                          62   53   59   57   58   52   45
func (w *walk) disks(v visit) {
	done := w.label("disks")
	if v != w.widest {
		again := w.label("disk")
		w.TESTQ(left, left)
		w.JEQ(to(done))
		w.Label(again)
		w.some(v, 1, false)
		w.DECQ(left)
		w.JNE(to(again))
		w.Label(done)
		return
	}
	disks, err := w.Param("data").Len().Resolve()
	if err != nil {
		panic(err)
	}
	wide := w.label("wide")
	w.CMPQ(disks.Addr, operand.I8(narrow))
	w.JGT(to(wide))
	w.aside(wide, done, func() { w.turns(v, done, true) })
	w.turns(v, done, false)
	w.Label(done)
}

// turns adds the next left disks, and leaves to done where nothing is left for the loop.
func (w *walk) turns(v visit, done string, prefetch bool) {
	for n := 1; n <= 4; n *= 2 {
		skip := w.label("skip")
		w.TESTQ(operand.I32(n), left)
		w.JEQ(to(skip))
		w.some(v, n, prefetch)
		w.Label(skip)
	}
	w.SHRQ(operand.U8(3), left)
	w.JEQ(to(done))
	again := w.label("eight")
	w.Label(again)
	w.some(v, 8, prefetch)
	w.DECQ(left)
	w.JNE(to(again))
}

// some adds the next n disks to P and, doubled before each, Q.
func (w *walk) some(v visit, n int, prefetch bool) {
	done := 0
	for done < n {
		took := 1
		if n-done > 1 && v.bytes == 64 && !v.masked {
			took = 2 // so that one instruction adds both
		}
		pointers := []reg.Register{pointer, pointer2}[:took]
		for _, r := range pointers {
			w.MOVQ(operand.Mem{Base: disk, Disp: -sliceBytes * done}, r)
			done++
		}
		for _, r := range pointers {
			w.ADDQ(at, r)
			for d := 0; prefetch && d < v.size(); d += 64 {
				w.PREFETCHT0(operand.Mem{Base: r, Disp: max(v.size(), 128) + d})
			}
		}
		for u := range v.vectors {
			high := operand.Mem{Base: pointer, Disp: u * v.bytes}
			low := operand.Mem{Base: pointer2, Disp: u * v.bytes}
			switch {
			case took == 1:
				w.disk(v, high, u, prefetch)
			case w.parity:
				w.twoDisksParity(v, high, low, u)
			default:
				w.twoDisks(v, high, low, u)
			}
		}
	}
	w.SUBQ(operand.U32(n*sliceBytes), disk)
}

// disk adds a disk's vector u.
func (w *walk) disk(v visit, m operand.Mem, u int, once bool) {
	p, q, x, t := vecP+vec(u), vecQ+vec(u), vecX+vec(u), vecT+vec(u%2)
	switch {
	case w.parity:
		w.addFrom(v, m, p, x)
	case v.masked || v.bytes < 16 || once && v.bytes == 32:
		w.load(v, m, x)
		w.add(v, x, p)
		w.double(v, vecDoubling, q, t)
		w.add(v, x, q)
	case v.bytes == 64 && !w.gfni:
		w.addFrom(v, m, p, x)
		y := q.of(64)
		w.VPSHUFB(y, vecDoubling.of(64), t.of(64))
		w.VPADDB(y, y, y)
		w.VPTERNLOGD(xor3, m, t.of(64), y)
	default:
		w.addFrom(v, m, p, x)
		w.double(v, vecDoubling, q, t)
		w.addFrom(v, m, q, x)
	}
}

// xor3 has VPTERNLOGD add three vectors.
const xor3 = operand.U8(0x96)

func (w *walk) twoDisksParity(v visit, high, low operand.Mem, u int) {
	p, x := vecP+vec(u), vecX+vec(u)
	w.load(v, high, x)
	w.VPTERNLOGD(xor3, low, x.of(64), p.of(64))
}

// twoDisks adds vector u of two disks. With GFNI Q is multiplied by 4 at once, and the higher disk by 2.
func (w *walk) twoDisks(v visit, high, low operand.Mem, u int) {
	q, x, t := (vecQ + vec(u)).of(64), (vecX + vec(u)).of(64), (vecT + vec(u%2)).of(64)
	w.twoDisksParity(v, high, low, u)
	if w.gfni {
		w.VGF2P8AFFINEQB(operand.U8(0), vecDoubling.of(64), x, x)
		w.VGF2P8AFFINEQB(operand.U8(0), vecQuadrupling.of(64), q, q)
		w.VPTERNLOGD(xor3, low, x, q)
		return
	}
	for _, addend := range []operand.Op{x, low} {
		w.VPSHUFB(q, vecDoubling.of(64), t)
		w.VPADDB(q, q, q)
		w.VPTERNLOGD(xor3, addend, t, q)
	}
}

// syndrome builds a kernel's syndrome function.
func (a *assembler) syndrome(unroll int) {
	name := fmt.Sprintf("syndrome%sx%d", a.name, unroll)
	a.text(name, "func(p, q []byte, data [][]byte, s *step)", name+" works like syndromeGeneric.")
	w := &walk{assembler: a}
	w.finish = func(v visit) {
		if v == w.widest {
			through, stored := a.label("through"), a.label("stored")
			a.CMPQ(w.stream, operand.I8(0))
			a.JNE(to(through))
			a.aside(through, stored, func() {
				w.storeBoth(v, func(v visit, r vec, m operand.Mem) { a.VMOVNTDQ(r.of(v.bytes), m) })
			})
			defer a.Label(stored)
		}
		w.storeBoth(v, a.store)
	}
	w.end = func() {
		end := a.label("end")
		a.CMPQ(w.stream, operand.I8(0))
		a.JEQ(to(end))
		a.SFENCE()
		a.Label(end)
	}
	w.arguments()
	w.visitAll(unroll)
}

// storeBoth stores P and Q, a cache line of one after the other.
func (w *walk) storeBoth(v visit, store func(v visit, r vec, m operand.Mem)) {
	for u := range v.vectors {
		store(v, vecP+vec(u), chunk(pointerP, v, u))
	}
	for u := range v.vectors {
		store(v, vecQ+vec(u), chunk(pointerQ, v, u))
	}
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
			a.addFrom(v, chunk(pointerQ, v, u), q, vecT)
			a.store(v, q, chunk(pointerQ, v, u))
		}
	}
	w.visitAll(unroll)
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
	w.visitAll(4)
}
