package main

import (
	"fmt"

	"github.com/twogather/twogather/_asm/internal/arm64"
)

// NEON. Steps are of 64 bytes, a cache line, or of 32 for six outputs. The last one overlaps the one before.
type neon struct {
	arm64.NEON
	lastBytes string
}

func writeNEON() *arm64.File {
	f := arm64.New(command, "erasure")
	n := neon{arm64.NEON{File: f, At: armAt, Address: armAddress}, f.Data("lastBytes", lastBytes())}
	return (&armAssembler{File: f, armKernel: n, name: "NEON"}).write()
}

func (neon) vectors(outputs int) int {
	if outputs == maxOutputs {
		return 2 // so that steps fit in what parks their sums: three do not
	}
	return 4
}

func (n neon) prepare() { n.Fill(15, armMask) }

func (n neon) steps(name string, vectors int, step func(v arm64.Visit, prefix string)) {
	v := arm64.Visit{Vectors: vectors, Bytes: 16}
	size := 16 * vectors
	n.Op("B", name+"Next")
	n.Label(name + "Step")
	step(v, name)
	n.Op("ADD", size, armAt, armAt)
	n.Label(name + "Next")
	n.Op("ADD", size, armAt, armAddress)
	n.Op("CMP", armTo, armAddress)
	n.Op("BLS", name+"Step")
	n.Op("SUB", size, armTo, armAddress)
	n.Op("CMP", armTo, armAt)
	n.Op("MOVD", armAddress, armAt)
	n.Op("BLO", name+"Step")
	n.Op("RET")
}

func (n neon) updates(name string, step func(v arm64.Visit, masked bool)) {
	for _, vectors := range []int{4, 1} {
		v := arm64.Visit{Vectors: vectors, Bytes: 16}
		again, next := fmt.Sprintf("%sStep%d", name, vectors), fmt.Sprintf("%sNext%d", name, vectors)
		n.Op("B", next)
		n.Label(again)
		step(v, false)
		n.Op("ADD", 16*vectors, armAt, armAt)
		n.Label(next)
		n.Op("SUB", armAt, armTo, armAddress)
		n.Op("CMP", 16*vectors, armAddress)
		n.Op("BGE", again)
	}
	n.Op("CBZ", armAddress, name+"Done")
	n.Comment("The last 16 bytes, without those that were done")
	n.Op("MOVD", n.lastBytes, armAt)
	n.Op("ADD", armAddress, armAt, armAddress)
	n.LoadHere(arm64.Visit{Vectors: 1, Bytes: 16}, armLastBytes, false)
	n.Op("SUB", 16, armTo, armAt)
	step(arm64.Visit{Vectors: 1, Bytes: 16}, true)
	n.Label(name + "Done")
	n.Op("RET")
}

func (n neon) loadEntry(_, to int) {
	n.Op("VLD1.P", arm64.At(entrySize, armEntry), arm64.Bytes16.List(arm64.V(to), 2))
}

func (neon) nextEntries(int) {}

func (n neon) unpark(v arm64.Visit, to int) {
	n.Op("VLD1.P", arm64.At(16*v.Vectors, armStart), arm64.Bytes16.List(arm64.V(to), v.Vectors))
}

func (n neon) park(v arm64.Visit, from int) {
	n.Op("VST1.P", arm64.Bytes16.List(arm64.V(from), v.Vectors), arm64.At(16*v.Vectors, armPark))
}
