package main

import (
	"fmt"

	"github.com/twogather/twogather/_asm/internal/arm64"
)

// NEON. Doublings wait: of up to four, what they shift out of Q collects in a register, by one instruction each, and is
// reduced at once. So a doubling is an addition, a shift that inserts and half an instruction more, where a comparison, an
// AND and an XOR would be two more.
type neon struct{ *armAssembler }

func writeNEON() *arm64.File {
	a := &armAssembler{File: arm64.New(command, "raid6"), name: "NEON", unrolls: []int{1, 2, 4, 8}}
	a.armVectors = neon{a}
	return a.write()
}

func (n neon) visitAll(unroll int, visit func(v armVisit)) {
	whole := []armVisit{{vectors: unroll, bytes: 16}}
	if unroll > 1 {
		whole = append(whole, armVisit{vectors: 1, bytes: 16})
	}
	done := n.label("done")
	for _, v := range whole {
		size := v.vectors * v.bytes
		next, again := n.label("next"), n.label("visit")
		n.Comment("%v", v)
		n.Op("B", next)
		n.Label(again)
		visit(v)
		n.Op("ADD", size, armAt, armAt)
		n.Label(next)
		n.Op("SUB", armAt, armEnd, armAddress)
		n.Op("CMP", size, armAddress)
		n.Op("BGE", again)
	}
	n.Op("CBZ", armAddress, done)
	for i, bytes := range []int{8, 4, 2, 1} {
		v := armVisit{vectors: 1, bytes: bytes}
		next := n.label("next")
		n.Comment("%v", v)
		if i > 0 {
			n.Op("SUB", armAt, armEnd, armAddress)
		}
		n.Op("TBZ", 3-i, armAddress, next)
		visit(v)
		n.Op("ADD", bytes, armAt, armAt)
		n.Label(next)
	}
	n.Label(done)
	n.Op("RET")
}

func (n neon) load(v armVisit, base arm64.X, to int) {
	n.Op("ADD", armAt, base, armAddress)
	n.parts(v, func(part armVisit, u int, more bool) { n.loadHere(part, to+u, more) })
}

func (n neon) store(v armVisit, from int, base arm64.X) {
	n.Op("ADD", armAt, base, armAddress)
	n.parts(v, func(part armVisit, u int, more bool) {
		mnemonic, registers, at := n.here("VST1", part, from+u, more)
		n.Op(mnemonic, registers, at)
	})
}

// loadHere loads from armAddress on, and goes on if there are more.
func (n neon) loadHere(part armVisit, to int, more bool) {
	mnemonic, registers, at := n.here("VLD1", part, to, more)
	n.Op(mnemonic, at, registers)
}

// parts divides a visit in parts that one load or store moves: four vectors at most, from u on.
func (neon) parts(v armVisit, f func(part armVisit, u int, more bool)) {
	for u := 0; u < v.vectors; u += 4 {
		f(armVisit{vectors: min(v.vectors-u, 4), bytes: v.bytes}, u, u+4 < v.vectors)
	}
}

// here returns what moves a part: for halves of vectors and less, an instruction on one element.
func (neon) here(vectors string, part armVisit, r int, more bool) (mnemonic, registers, at string) {
	v := arm64.V(r)
	at = arm64.At(0, armAddress)
	switch part.bytes {
	case 8:
		return "FMOVD", v.Scalar(), at
	case 4:
		return "FMOVS", v.Scalar(), at
	case 2:
		return vectors, arm64.Halves8.Element(v, 0), at
	case 1:
		return vectors, arm64.Bytes16.Element(v, 0), at
	}
	if more {
		vectors, at = vectors+".P", arm64.At(16*part.vectors, armAddress)
	}
	return vectors, arm64.Bytes16.List(v, part.vectors), at
}

func bytes16(r int) string { return arm64.Bytes16.Of(arm64.V(r)) }

// table prints a look-up of each vector's bytes.
func (n neon) table(v armVisit, table, index, to int) {
	for u := range v.vectors {
		n.Op("VTBL", bytes16(index+u), arm64.Bytes16.List(arm64.V(table), 1), bytes16(to+u))
	}
}

func (n neon) copyTo(v armVisit, a, to int) {
	for u := range v.vectors {
		n.Op("VMOV", bytes16(a+u), bytes16(to+u))
	}
}

func (n neon) add(v armVisit, a, to int) {
	for u := range v.vectors {
		n.Op("VEOR", bytes16(a+u), bytes16(to+u), bytes16(to+u))
	}
}

// loadDoubling makes a table of what four bits that were shifted out are modulo the polynomial: of each bit, x⁸, which is 1D.
func (n neon) loadDoubling() {
	var table [2]uint64
	for bits := range uint64(16) {
		product := uint64(0)
		for b := range 4 {
			product ^= bits >> b & 1 * 0x1d << b
		}
		table[bits/8] |= product << (bits % 8 * 8)
	}
	for i, half := range table {
		n.Op("MOVD", fmt.Sprintf("$%#016x", half), armAddress)
		n.Op("VMOV", armAddress, arm64.Doubles2.Element(regExtra, i))
	}
}

// shift doubles Q without reducing it, as the i-th of so many times.
func (n neon) shift(v armVisit, i, times int) {
	for u := range v.vectors {
		mnemonic := "VSRI"
		if i == 0 {
			mnemonic = "VUSHR"
		}
		n.Op(mnemonic, 8-times+i, bytes16(regQ+u), bytes16(regTop+u))
	}
	for u := range v.vectors {
		n.Op("VADD", bytes16(regQ+u), bytes16(regQ+u), bytes16(regQ+u))
	}
}

// reduce adds what was shifted out.
func (n neon) reduce(v armVisit) {
	n.table(v, regExtra, regTop, regTop)
	n.add(v, regTop, regQ)
}

func (n neon) double(v armVisit) {
	n.shift(v, 0, 1)
	n.reduce(v)
}

// several adds as many disks, at most four.
func (n neon) several(v armVisit, disks int) {
	for i := range disks {
		n.next()
		n.Op("ADD", armAt, armPointer, armAddress)
		n.shift(v, i, disks)
		n.parts(v, func(part armVisit, u int, more bool) {
			n.loadHere(part, regX, more)
			n.add(part, regX, regP+u)
			n.add(part, regX, regQ+u)
		})
	}
	n.reduce(v)
}

// disks takes four at a time, and what four leave before, by jumps that go the same way in every visit.
func (n neon) disks(v armVisit) {
	if v.bytes < 16 {
		n.loop(func() { n.several(v, 1) })
		return
	}
	for i := range 2 {
		skip := n.label("skip")
		n.Op("TBZ", i, armLeft, skip)
		n.several(v, 1<<i)
		n.Label(skip)
	}
	n.Op("LSR", 2, armLeft, armLeft)
	n.loop(func() { n.several(v, 4) })
}

func (n neon) loadProduct(base arm64.X, low, high int) {
	n.Op("ADD", productHigh, base, armAddress)
	n.Op("VLD1", arm64.At(0, base), arm64.Bytes16.List(arm64.V(low), 1))
	n.Op("VLD1", arm64.At(0, armAddress), arm64.Bytes16.List(arm64.V(high), 1))
	n.Op("VMOVI", 15, bytes16(regMask))
}

func (n neon) multiply(v armVisit, low, high, r, temp int) {
	for u := range v.vectors {
		n.Op("VUSHR", 4, bytes16(r+u), bytes16(temp+u))
	}
	for u := range v.vectors {
		n.Op("VAND", bytes16(regMask), bytes16(r+u), bytes16(r+u))
	}
	n.table(v, high, temp, temp)
	n.table(v, low, r, r)
	n.add(v, temp, r)
}
