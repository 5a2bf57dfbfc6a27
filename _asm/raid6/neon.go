package main

import (
	"fmt"

	"github.com/twogather/twogather/_asm/internal/arm64"
)

// NEON. Doublings wait: of up to four, what they shift out of Q collects in a register, by one instruction each, and is
// reduced at once. So a doubling is an addition, a shift that inserts and half an instruction more, where a comparison, an
// AND and an XOR would be two more.
type neon struct {
	arm64.NEON
	asm *armAssembler
}

func writeNEON() *arm64.File {
	a := &armAssembler{File: arm64.New(command, "raid6"), name: "NEON", unrolls: []int{1, 2, 4, 8}}
	a.armKernel = neon{arm64.NEON{File: a.File, At: armAt, Address: armAddress}, a}
	return a.write()
}

func (n neon) visitAll(unroll int, visit func(v arm64.Visit)) {
	whole := []arm64.Visit{{Vectors: unroll, Bytes: 16}}
	if unroll > 1 {
		whole = append(whole, arm64.Visit{Vectors: 1, Bytes: 16})
	}
	done := n.asm.label("done")
	for _, v := range whole {
		size := v.Vectors * v.Bytes
		next, again := n.asm.label("next"), n.asm.label("visit")
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
		v := arm64.Visit{Vectors: 1, Bytes: bytes}
		next := n.asm.label("next")
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

func bytes16(r int) string { return arm64.Bytes16.Of(arm64.V(r)) }

// shift doubles Q without reducing it, as the i-th of so many times.
func (n neon) shift(v arm64.Visit, i, times int) {
	for u := range v.Vectors {
		mnemonic := "VSRI"
		if i == 0 {
			mnemonic = "VUSHR"
		}
		n.Op(mnemonic, 8-times+i, bytes16(regQ+u), bytes16(regTop+u))
	}
	for u := range v.Vectors {
		n.Op("VADD", bytes16(regQ+u), bytes16(regQ+u), bytes16(regQ+u))
	}
}

// reduce adds what was shifted out.
func (n neon) reduce(v arm64.Visit) {
	n.LookUp(v, regExtra, regTop, regTop)
	n.Add(v, regTop, regQ)
}

func (n neon) double(v arm64.Visit) {
	n.shift(v, 0, 1)
	n.reduce(v)
}

// several adds as many disks, at most four.
func (n neon) several(v arm64.Visit, disks int) {
	for i := range disks {
		n.asm.next()
		n.Op("ADD", armAt, armPointer, armAddress)
		n.shift(v, i, disks)
		n.Parts(v, func(part arm64.Visit, u int, more bool) {
			n.LoadHere(part, regX, more)
			n.Add(part, regX, regP+u)
			n.Add(part, regX, regQ+u)
		})
	}
	n.reduce(v)
}

// disks takes four at a time, and what four leave before, by jumps that go the same way in every visit.
func (n neon) disks(v arm64.Visit) {
	if v.Bytes < 16 {
		n.asm.loop(func() { n.several(v, 1) })
		return
	}
	for i := range 2 {
		skip := n.asm.label("skip")
		n.Op("TBZ", i, armLeft, skip)
		n.several(v, 1<<i)
		n.Label(skip)
	}
	n.Op("LSR", 2, armLeft, armLeft)
	n.asm.loop(func() { n.several(v, 4) })
}

func (n neon) loadTables(base arm64.X, to int) {
	n.Op("VLD1", arm64.At(0, base), arm64.Bytes16.List(arm64.V(to), 2))
}
