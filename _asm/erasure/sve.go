package main

import (
	"github.com/twogather/twogather/_asm/internal/arm64"
)

// Predicates: the bytes that a step is about, and all.
const (
	armRest arm64.P = 0
	armAll  arm64.P = 1
)

// SVE. Steps are of four vectors, or three, and of one or less in the end.
type sve struct{ arm64.SVE }

func writeSVE() *arm64.File {
	f := arm64.New(command, "erasure")
	s := sve{arm64.SVE{File: f, At: armAt, Address: armAddress, Rest: armRest}}
	return (&armAssembler{File: f, armKernel: s, name: "SVE"}).write()
}

func (sve) vectors(outputs int) int {
	if outputs == maxOutputs {
		return 3
	}
	return 4
}

func (s sve) prepare() {
	s.Fill(15, armMask)
	s.PAll(armAll)
}

// whole goes over the bytes in steps of so many vectors.
func (s sve) whole(name string, vectors int, step func(v arm64.Visit)) {
	s.PAll(armRest)
	s.XVectors(vectors, armStride)
	s.Op("B", name+"Next")
	s.Label(name + "Step")
	step(arm64.Visit{Vectors: vectors})
	s.Op("ADD", armStride, armAt, armAt)
	s.Label(name + "Next")
	s.Op("ADD", armStride, armAt, armAddress)
	s.Op("CMP", armTo, armAddress)
	s.Op("BLS", name+"Step")
}

// rest goes over what is left, in steps of one vector or less.
func (s sve) rest(name string, step func(v arm64.Visit)) {
	s.Op("B", name+"NextRest")
	s.Label(name + "StepRest")
	s.XCount(armRest, armStride)
	step(arm64.Visit{Vectors: 1, Partial: true})
	s.Op("ADD", armStride, armAt, armAt)
	s.Label(name + "NextRest")
	s.PWhile(armAt, armTo, armRest)
	s.Op("BMI", name+"StepRest")
	s.Op("RET")
}

func (s sve) steps(name string, vectors int, step func(v arm64.Visit, prefix string)) {
	s.whole(name, vectors, func(v arm64.Visit) { step(v, name) })
	s.rest(name, func(v arm64.Visit) { step(v, name+"Rest") })
}

func (s sve) updates(name string, step func(v arm64.Visit, masked bool)) {
	s.whole(name, 4, func(v arm64.Visit) { step(v, false) })
	s.rest(name, func(v arm64.Visit) { step(v, false) })
}

// reach is how many entries an address tells apart.
const reach = 4

func (s sve) loadEntry(i, to int) {
	if i > 0 && i%reach == 0 {
		s.Op("ADD", reach*entrySize, armEntry, armEntry)
	}
	at := i % reach * entrySize
	s.ZLoadTable(armAll, at, armEntry, arm64.Z(to))
	s.ZLoadTable(armAll, at+16, armEntry, arm64.Z(to+1))
}

func (s sve) nextEntries(entries int) {
	s.Op("ADD", ((entries-1)%reach+1)*entrySize, armEntry, armEntry)
}

func (s sve) unpark(v arm64.Visit, to int) {
	for u := range v.Vectors {
		s.ZLoad(armRest, u, armStart, arm64.Z(to+u))
	}
	s.Op("ADD", armStride, armStart, armStart)
}

func (s sve) park(v arm64.Visit, from int) {
	for u := range v.Vectors {
		s.ZStore(armRest, arm64.Z(from+u), u, armPark)
	}
	s.Op("ADD", armStride, armPark, armPark)
}
