package main

import "github.com/twogather/twogather/_asm/internal/arm64"

// SVE. A comparison with 0 makes a predicate of the bytes that overflow, and 1D is added to those, in place: three
// instructions for a doubling. A predicate also ends the last vector of a chunk where the chunk ends. How long vectors are,
// no instruction says.
type sve struct {
	arm64.SVE
	asm *armAssembler
}

// Predicates: rest are the bytes that a partial visit is about, all of a vector otherwise; overflow has one for each vector.
const (
	regRest     arm64.P = 0
	regOverflow arm64.P = 1
)

func writeSVE() *arm64.File {
	a := &armAssembler{File: arm64.New(command, "raid6"), name: "SVE", unrolls: []int{1, 2, 4}}
	a.armKernel = sve{arm64.SVE{File: a.File, At: armAt, Address: armAddress, Rest: regRest}, a}
	return a.write()
}

func (s sve) visitAll(unroll int, visit func(v arm64.Visit)) {
	if unroll > 1 {
		v := arm64.Visit{Vectors: unroll}
		next, again := s.asm.label("next"), s.asm.label("visit")
		s.Comment("%v", v)
		s.PAll(regRest)
		s.XVectors(unroll, armStride)
		s.Op("B", next)
		s.Label(again)
		visit(v)
		s.Op("ADD", armStride, armAt, armAt)
		s.Label(next)
		s.Op("ADD", armStride, armAt, armAddress)
		s.Op("CMP", armEnd, armAddress)
		s.Op("BLS", again)
	}
	v := arm64.Visit{Vectors: 1, Partial: true}
	next, again := s.asm.label("next"), s.asm.label("visit")
	s.Comment("%v", v)
	s.Op("B", next)
	s.Label(again)
	visit(v)
	s.XAddVectors(1, armAt)
	s.Label(next)
	s.PWhile(armAt, armEnd, regRest)
	s.Op("BMI", again)
	s.Op("RET")
}

func (s sve) loadDoubling() { s.ZFill(0x1d, regExtra) }

// doubleAround doubles Q, and does something else between the addition and the reduction.
func (s sve) doubleAround(between func(), v arm64.Visit) {
	for u := range v.Vectors {
		s.ZNegative(regRest, arm64.Z(regQ+u), regOverflow+arm64.P(u))
	}
	for u := range v.Vectors {
		q := arm64.Z(regQ + u)
		s.ZAdd(q, q, q)
	}
	between()
	for u := range v.Vectors {
		s.ZEorIf(regOverflow+arm64.P(u), regExtra, arm64.Z(regQ+u))
	}
}

func (s sve) double(v arm64.Visit) { s.doubleAround(func() {}, v) }

func (s sve) disks(v arm64.Visit) {
	s.asm.loop(func() {
		s.asm.next()
		s.Load(v, armPointer, regX)
		s.Add(v, regX, regP)
		s.doubleAround(func() { s.Add(v, regX, regQ) }, v)
	})
}

func (s sve) loadTables(base arm64.X, to int) {
	s.PAll(regRest)
	s.ZLoadTable(regRest, productLow, base, arm64.Z(to))
	s.ZLoadTable(regRest, productHigh, base, arm64.Z(to+1))
}
