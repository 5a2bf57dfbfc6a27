package main

import "github.com/twogather/twogather/_asm/internal/arm64"

// SVE. A comparison with 0 makes a predicate of the bytes that overflow, and 1D is added to those, in place: three
// instructions for a doubling. A predicate also ends the last vector of a chunk where the chunk ends. How long vectors are,
// no instruction says.
type sve struct{ *armAssembler }

// Predicates: rest are the bytes that a partial visit is about, all of a vector otherwise; overflow has one for each vector.
const (
	regRest     arm64.P = 0
	regOverflow arm64.P = 1
)

func writeSVE() *arm64.File {
	a := &armAssembler{File: arm64.New(command, "raid6"), name: "SVE", unrolls: []int{1, 2, 4}}
	a.armVectors = sve{a}
	return a.write()
}

func (s sve) visitAll(unroll int, visit func(v armVisit)) {
	if unroll > 1 {
		v := armVisit{vectors: unroll}
		next, again := s.label("next"), s.label("visit")
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
	v := armVisit{vectors: 1, partial: true}
	next, again := s.label("next"), s.label("visit")
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

func (s sve) load(v armVisit, base arm64.X, to int) {
	if v.vectors == 1 {
		s.ZLoadAt(regRest, base, armAt, arm64.Z(to))
		return
	}
	s.Op("ADD", armAt, base, armAddress)
	for u := range v.vectors {
		s.ZLoad(regRest, u, armAddress, arm64.Z(to+u))
	}
}

func (s sve) store(v armVisit, from int, base arm64.X) {
	if v.vectors == 1 {
		s.ZStoreAt(regRest, arm64.Z(from), base, armAt)
		return
	}
	s.Op("ADD", armAt, base, armAddress)
	for u := range v.vectors {
		s.ZStore(regRest, arm64.Z(from+u), u, armAddress)
	}
}

func (s sve) copyTo(v armVisit, a, to int) {
	for u := range v.vectors {
		s.ZMov(arm64.Z(a+u), arm64.Z(to+u))
	}
}

func (s sve) add(v armVisit, a, to int) {
	for u := range v.vectors {
		s.ZEor(arm64.Z(a+u), arm64.Z(to+u), arm64.Z(to+u))
	}
}

func (s sve) loadDoubling() { s.ZFill(0x1d, regExtra) }

// doubleAdd doubles Q and, between that's two halves, does what between does.
func (s sve) doubleAdd(v armVisit, between func()) {
	for u := range v.vectors {
		s.ZNegative(regRest, arm64.Z(regQ+u), regOverflow+arm64.P(u))
	}
	for u := range v.vectors {
		q := arm64.Z(regQ + u)
		s.ZAdd(q, q, q)
	}
	between()
	for u := range v.vectors {
		s.ZEorIf(regOverflow+arm64.P(u), regExtra, arm64.Z(regQ+u))
	}
}

func (s sve) double(v armVisit) { s.doubleAdd(v, func() {}) }

func (s sve) disks(v armVisit) {
	s.loop(func() {
		s.next()
		s.load(v, armPointer, regX)
		s.add(v, regX, regP)
		s.doubleAdd(v, func() { s.add(v, regX, regQ) })
	})
}

func (s sve) loadProduct(base arm64.X, low, high int) {
	s.PAll(regRest)
	s.ZLoadTable(regRest, productLow, base, arm64.Z(low))
	s.ZLoadTable(regRest, productHigh, base, arm64.Z(high))
	s.ZFill(15, regMask)
}

func (s sve) multiply(v armVisit, low, high, r, temp int) {
	for u := range v.vectors {
		s.ZShiftRight(4, arm64.Z(r+u), arm64.Z(temp+u))
	}
	for u := range v.vectors {
		s.ZAnd(regMask, arm64.Z(r+u), arm64.Z(r+u))
	}
	for u := range v.vectors {
		s.ZTable(arm64.Z(temp+u), arm64.Z(high), arm64.Z(temp+u))
	}
	for u := range v.vectors {
		s.ZTable(arm64.Z(r+u), arm64.Z(low), arm64.Z(r+u))
	}
	s.add(v, temp, r)
}
