package main

import (
	"fmt"

	"github.com/twogather/twogather/_asm/internal/arm64"
)

// General registers on arm64. They are named as those of amd64 are, in syndrome.go.
const (
	armP, armQ     arm64.X = 0, 1
	armAt, armEnd  arm64.X = 2, 3
	armTop         arm64.X = 4
	armRun         arm64.X = 5 // and the next two
	armCarry       arm64.X = 8
	armDisk        arm64.X = 9
	armPointer     arm64.X = 10
	armLeft        arm64.X = 11
	armNext        arm64.X = 12
	armAfter       arm64.X = 13
	armAddress     arm64.X = 14 // overwritten by loads and stores
	armStride      arm64.X = 15 // bytes of a visit to whole scalable vectors
	armX, armY     arm64.X = 4, 5
	armByP, armByQ arm64.X = 6, 7 // products
	armStep                = armPointer
	armProduct             = armPointer
)

// walkArguments is how many bytes of arguments the functions for P and Q have.
const walkArguments = 80

// Vector registers on arm64, V or Z. P, Q and what goes with them have up to eight.
const (
	regP       = 0
	regQ       = 8
	regTop     = 16 // NEON: bits shifted out of Q
	regX       = 24 // of a disk: four
	regProduct = 28 // two tables
	regMask    = 30 // of low nibbles
	regExtra   = 31 // what doublings take
)

// armKernel is an instruction set.
type armKernel interface {
	arm64.Vectors
	// visitAll goes through the chunk, in visits of so many vectors and smaller ones.
	visitAll(unroll int, visit func(v arm64.Visit))
	// loadDoubling sets regExtra to what disks and double read.
	loadDoubling()
	// disks adds the next left disks to P and Q; double only doubles Q.
	disks(v arm64.Visit)
	double(v arm64.Visit)
	// loadTables sets two registers to the tables of low and high nibbles that the Go type product at base begins with.
	loadTables(base arm64.X, to int)
}

// An armAssembler builds one file.
type armAssembler struct {
	armKernel
	*arm64.File
	name    string
	unrolls []int
	labels  int
}

// loadProduct sets two registers to the tables of the Go type product at base, and regMask.
func (a *armAssembler) loadProduct(base arm64.X, to int) {
	a.loadTables(base, to)
	a.Fill(15, regMask)
}

// multiply multiplies by a product; temp is as many registers.
func (a *armAssembler) multiply(v arm64.Visit, product, r, temp int) {
	a.Nibbles(v, regMask, r, temp)
	a.LookUp(v, product+1, temp, temp)
	a.LookUp(v, product, r, r)
	a.Add(v, temp, r)
}

// label returns a label that is unique within the function.
func (a *armAssembler) label(name string) string {
	a.labels++
	return fmt.Sprintf("%s%02d", name, a.labels)
}

// text starts a function that works like a generic one.
func (a *armAssembler) text(function, variant, signature string, arguments int) {
	a.labels = 0
	name := function + a.name + variant
	a.Function(name, signature, 0, arguments, fmt.Sprintf("%s works like %sGeneric.", name, function))
}

func (a *armAssembler) write() *arm64.File {
	for _, unroll := range a.unrolls {
		variant := fmt.Sprintf("x%d", unroll)
		a.syndrome(unroll, variant)
		a.xorSyndrome(unroll, variant)
	}
	a.parity()
	a.recoverData()
	a.recoverP()
	return a.File
}

// An armWalk goes over the disks, from the top down, for all visits to a chunk.
type armWalk struct {
	*armAssembler
	parity bool // P only
	plain  bool // no disk is lost, and P and Q begin with the disk on top
	finish func(v arm64.Visit)
}

// arguments loads what the functions over disks have in common. Without Q, the arguments behind it come earlier.
func (w *armWalk) arguments() {
	data := 48
	if w.parity {
		data = 24
	}
	w.Comment("The disks from the last one down")
	w.Op("MOVD", fmt.Sprintf("s+%d(FP)", data+24), armStep)
	w.Op("MOVD", fmt.Sprintf("data_base+%d(FP)", data), armDisk)
	w.Op("MOVD", fmt.Sprintf("data_len+%d(FP)", data+8), armTop)
	w.Op("ADD", fmt.Sprintf("%s<<1", armTop), armTop, armTop)
	w.Op("ADD", fmt.Sprintf("%s<<3", armTop), armDisk, armTop)
	w.Op("SUB", sliceBytes, armTop, armTop)
	w.Op("MOVD", arm64.At(stepRuns, armStep), armRun)
	if !w.plain {
		w.Op("MOVD", arm64.At(stepRuns+8, armStep), armRun+1)
		w.Op("MOVD", arm64.At(stepRuns+16, armStep), armRun+2)
		w.Op("MOVD", arm64.At(stepCarry, armStep), armCarry)
	}
	w.Comment("The chunk from the offset on")
	w.Op("MOVD", arm64.At(stepOffset, armStep), armAt)
	w.Op("MOVD", "p_base+0(FP)", armP)
	w.Op("MOVD", "p_len+8(FP)", armEnd)
	w.Op("ADD", armAt, armEnd, armEnd)
	w.Op("SUB", armAt, armP, armP)
	if !w.parity {
		w.Op("MOVD", "q_base+24(FP)", armQ)
		w.Op("SUB", armAt, armQ, armQ)
		w.loadDoubling()
	}
}

// next sets pointer to the chunk of the disk at hand, and goes on to the one below.
func (a *armAssembler) next() { a.Op("MOVD.P", arm64.At(-sliceBytes, armDisk), armPointer) }

// visit goes through the disks.
func (w *armWalk) visit(v arm64.Visit) {
	begin, run := w.label("begin"), w.label("run")
	w.Op("MOVD", armTop, armDisk)
	if !w.plain {
		w.Op("CBZ", armCarry, begin)
		w.Load(v, armP, regP)
		if !w.parity {
			w.Load(v, armQ, regQ)
		}
		w.Op("B", run)
		w.Label(begin)
	}
	w.next()
	w.Load(v, armPointer, regP)
	if !w.parity {
		w.Copy(v, regP, regQ)
	}
	if !w.plain {
		w.Label(run)
	}
	w.Op("MOVD", armRun, armLeft)
	if !w.plain {
		w.Op("MOVD", armRun+1, armNext)
		w.Op("MOVD", armRun+2, armAfter)
		run = w.label("run")
		w.Label(run)
	}
	if w.parity {
		w.sum(v)
	} else {
		w.disks(v)
	}
	if !w.plain {
		finish := w.label("finish")
		w.Op("TBNZ", 63, armNext, finish)
		w.Op("SUB", sliceBytes, armDisk, armDisk)
		if !w.parity {
			w.double(v)
		}
		w.Op("MOVD", armNext, armLeft)
		w.Op("MOVD", armAfter, armNext)
		w.Op("MOVD", -1, armAfter)
		w.Op("B", run)
		w.Label(finish)
	}
	w.finish(v)
}

// sum adds the next left disks to P.
func (w *armWalk) sum(v arm64.Visit) {
	w.loop(func() {
		w.next()
		w.Load(v, armPointer, regX)
		w.Add(v, regX, regP)
	})
}

// loop repeats what disk does left times.
func (a *armAssembler) loop(disk func()) {
	again, done := a.label("disk"), a.label("disks")
	a.Op("CBZ", armLeft, done)
	a.Label(again)
	disk()
	a.Op("SUBS", 1, armLeft, armLeft)
	a.Op("BNE", again)
	a.Label(done)
}

// syndrome builds a kernel's syndrome function.
func (a *armAssembler) syndrome(unroll int, variant string) {
	a.text("syndrome", variant, "(p []byte, q []byte, data [][]byte, s *step)", walkArguments)
	w := &armWalk{armAssembler: a}
	w.finish = func(v arm64.Visit) {
		a.Store(v, regP, armP)
		a.Store(v, regQ, armQ)
	}
	w.arguments()
	a.visitAll(unroll, w.visit)
}

// xorSyndrome builds a kernel's function for partial updates.
func (a *armAssembler) xorSyndrome(unroll int, variant string) {
	a.text("xorSyndrome", variant, "(p []byte, q []byte, data [][]byte, s *step)", walkArguments)
	w := &armWalk{armAssembler: a, plain: true}
	w.finish = func(v arm64.Visit) {
		a.multiply(v, regProduct, regQ, regTop)
		a.Load(v, armP, regTop)
		a.Add(v, regTop, regP)
		a.Store(v, regP, armP)
		a.Load(v, armQ, regTop)
		a.Add(v, regTop, regQ)
		a.Store(v, regQ, armQ)
	}
	w.arguments()
	a.Op("MOVD", fmt.Sprintf("s+%d(FP)", walkArguments-8), armStep)
	a.Op("MOVD", arm64.At(stepProduct, armStep), armProduct)
	a.loadProduct(armProduct, regProduct)
	a.visitAll(unroll, w.visit)
}

// parity builds an instruction set's function for P alone.
func (a *armAssembler) parity() {
	a.text("parity", "", "(p []byte, data [][]byte, s *step)", 56)
	w := &armWalk{armAssembler: a, parity: true}
	w.finish = func(v arm64.Visit) { a.Store(v, regP, armP) }
	w.arguments()
	a.visitAll(4, w.visit)
}

// recoverData builds an instruction set's function for two lost data disks.
func (a *armAssembler) recoverData() {
	const x, y, p, q, byP, byQ, temp = 0, 4, 8, 12, 16, 18, 24 // byP and byQ are two tables each
	a.text("recoverData", "", "(x []byte, y []byte, p []byte, q []byte, a *product, b *product)", 112)
	a.Op("MOVD", "x_base+0(FP)", armX)
	a.Op("MOVD", "x_len+8(FP)", armEnd)
	a.Op("MOVD", "y_base+24(FP)", armY)
	a.Op("MOVD", "p_base+48(FP)", armP)
	a.Op("MOVD", "q_base+72(FP)", armQ)
	a.Op("MOVD", "a+96(FP)", armByP)
	a.Op("MOVD", "b+104(FP)", armByQ)
	a.loadProduct(armByP, byP)
	a.loadProduct(armByQ, byQ)
	a.Op("MOVD", "ZR", armAt)
	a.visitAll(4, func(v arm64.Visit) {
		a.Load(v, armX, x)
		a.Load(v, armP, p)
		a.Add(v, x, p) // of P, what x and y are together
		a.Load(v, armY, y)
		a.Load(v, armQ, q)
		a.Add(v, q, y)
		a.Copy(v, p, x)
		a.multiply(v, byP, x, temp)
		a.multiply(v, byQ, y, temp)
		a.Add(v, y, x)
		a.Store(v, x, armX)
		a.Add(v, x, p)
		a.Store(v, p, armY)
	})
}

// recoverP builds an instruction set's function for a lost data disk and P.
func (a *armAssembler) recoverP() {
	const x, p, q, byQ, temp = 0, 8, 12, 18, 24
	a.text("recoverP", "", "(x []byte, p []byte, q []byte, b *product)", 80)
	a.Op("MOVD", "x_base+0(FP)", armX)
	a.Op("MOVD", "x_len+8(FP)", armEnd)
	a.Op("MOVD", "p_base+24(FP)", armP)
	a.Op("MOVD", "q_base+48(FP)", armQ)
	a.Op("MOVD", "b+72(FP)", armByQ)
	a.loadProduct(armByQ, byQ)
	a.Op("MOVD", "ZR", armAt)
	a.visitAll(4, func(v arm64.Visit) {
		a.Load(v, armX, x)
		a.Load(v, armQ, q)
		a.Add(v, q, x)
		a.multiply(v, byQ, x, temp)
		a.Store(v, x, armX)
		a.Load(v, armP, p)
		a.Add(v, x, p)
		a.Store(v, p, armP)
	})
}
