package main

import "github.com/twogather/twogather/_asm/internal/arm64"

// The same on arm64, where PMULL multiplies low words and PMULL2 high ones, one block at a time. A group is eight blocks,
// whose powers stay in registers. REV64 reverses the bytes of each word and leaves the words exchanged, which is what the
// sum of a block's words needs as well; so the sum stays exchanged from block to block.
type pmull struct{ *arm64.File }

// Vector registers. The group's powers and their sums have eight each.
const (
	armRows     arm64.V = 0 // four
	armRow      arm64.V = 4
	armRowSum   arm64.V = 5
	armLow      arm64.V = 6
	armMid      arm64.V = 7
	armHigh     arm64.V = 8
	armProducts arm64.V = 9 // three
	armSum      arm64.V = 12
	armQ        arm64.V = 13
	armZero     arm64.V = 14
	armKeys     arm64.V = 16
	armKeySums  arm64.V = 24
)

// General registers.
const (
	armPowers arm64.X = 0
	armY      arm64.X = 1
	armData   arm64.X = 2
	armLeft   arm64.X = 3
	armPower  arm64.X = 4
	armHalf   arm64.X = 5
)

func (p *pmull) add(a, b, to arm64.V) {
	p.Op("VEOR", arm64.Bytes16.Of(a), arm64.Bytes16.Of(b), arm64.Bytes16.Of(to))
}

func (p *pmull) low(a, b, to arm64.V) {
	p.Op("VPMULL", arm64.Double1.Of(a), arm64.Double1.Of(b), arm64.Quad1.Of(to))
}

func (p *pmull) high(a, b, to arm64.V) {
	p.Op("VPMULL2", arm64.Doubles2.Of(a), arm64.Doubles2.Of(b), arm64.Quad1.Of(to))
}

func (p *pmull) reverse(v, to arm64.V) {
	p.Op("VREV64", arm64.Bytes16.Of(v), arm64.Bytes16.Of(to))
}

// words takes the high word of a and the low word of b.
func (p *pmull) words(a, b, to arm64.V) {
	p.Op("VEXT", 8, arm64.Bytes16.Of(b), arm64.Bytes16.Of(a), arm64.Bytes16.Of(to))
}

// products is that of hasher. The row's words are exchanged.
func (p *pmull) products(row, key, keySum arm64.V, first bool) {
	p.words(row, row, armRow)
	p.add(row, armRow, armRowSum)
	if first {
		p.low(armRow, key, armLow)
		p.high(armRow, key, armHigh)
		p.low(armRowSum, keySum, armMid)
		return
	}
	p.low(armRow, key, armProducts)
	p.high(armRow, key, armProducts+1)
	p.low(armRowSum, keySum, armProducts+2)
	p.add(armProducts, armLow, armLow)
	p.add(armProducts+1, armHigh, armHigh)
	p.add(armProducts+2, armMid, armMid)
}

// reduce is that of hasher. It leaves the sum's words exchanged.
func (p *pmull) reduce() {
	p.Comment("Add the middle to low and high")
	p.add(armLow, armMid, armMid)
	p.add(armHigh, armMid, armMid)
	p.words(armZero, armMid, armProducts)
	p.words(armMid, armZero, armProducts+1)
	p.add(armProducts, armLow, armLow)
	p.add(armProducts+1, armHigh, armHigh)
	p.Comment("Clear both words of low")
	for range 2 {
		p.low(armLow, armQ, armProducts)
		p.words(armLow, armLow, armLow)
		p.add(armProducts, armLow, armLow)
	}
	p.add(armHigh, armLow, armLow)
	p.words(armLow, armLow, armSum)
}

// writePMULL builds the kernel.
func writePMULL() *arm64.File {
	p := &pmull{arm64.New(command, "ghash")}
	p.Function("updatePMULL", "(p *powers, y *[16]byte, data []byte)", 0, 40,
		"updatePMULL updates y with the blocks of data, as updateGeneric does.", "Products are one block wide.")
	const group = rows * blockBytes
	p.Op("MOVD", "p+0(FP)", armPowers)
	p.Op("MOVD", "y+8(FP)", armY)
	p.Op("MOVD", "data_base+16(FP)", armData)
	p.Op("MOVD", "data_len+24(FP)", armLeft)
	p.Op("VLD1", arm64.At(0, armY), "["+arm64.Bytes16.Of(armSum)+"]")
	p.reverse(armSum, armSum)
	p.Op("MOVD", "$0xc200000000000000", armHalf)
	p.Op("VDUP", armHalf, arm64.Doubles2.Of(armQ))
	p.add(armZero, armZero, armZero)
	p.Op("CMP", group, armLeft)
	p.Op("BLO", "rest")
	p.Comment("The last %d powers and their sums", rows)
	p.Op("ADD", powersBytes-group, armPowers, armPower)
	p.Op("VLD1.P", arm64.At(64, armPower), arm64.Bytes16.Four(armKeys))
	p.Op("VLD1", arm64.At(0, armPower), arm64.Bytes16.Four(armKeys+4))
	p.Op("ADD", powersBytes-64, armPower, armPower)
	p.Op("VLD1.P", arm64.At(64, armPower), arm64.Bytes16.Four(armKeySums))
	p.Op("VLD1", arm64.At(0, armPower), arm64.Bytes16.Four(armKeySums+4))

	p.Label("group")
	p.Comment("Multiply the rows of a group, the first one last")
	p.Op("ADD", 64, armData, armHalf)
	for i := arm64.V(rows - 1); i >= 0; i-- {
		switch i {
		case 7:
			p.Op("VLD1", arm64.At(0, armHalf), arm64.Bytes16.Four(armRows))
		case 3:
			p.Op("VLD1", arm64.At(0, armData), arm64.Bytes16.Four(armRows))
		}
		row := armRows + i%4
		p.reverse(row, row)
		if i == 0 {
			p.add(armSum, row, row)
		}
		p.products(row, armKeys+i, armKeySums+i, i == rows-1)
	}
	p.reduce()
	p.Op("ADD", group, armData, armData)
	p.Op("SUB", group, armLeft, armLeft)
	p.Op("CMP", group, armLeft)
	p.Op("BHS", "group")

	p.Label("rest")
	p.Op("CBZ", armLeft, "done")
	p.Comment("What is left ends with the first power, which is the last of the table")
	p.Op("ADD", powersBytes, armPowers, armPower)
	p.Op("SUB", armLeft, armPower, armPower)
	p.Op("ADD", powersBytes, armPower, armHalf)
	for _, v := range []arm64.V{armLow, armMid, armHigh} {
		p.add(v, v, v)
	}
	p.Label("block")
	one := func(v arm64.V) string { return "[" + arm64.Bytes16.Of(v) + "]" }
	p.Op("VLD1.P", arm64.At(16, armData), one(armRows))
	p.Op("VLD1.P", arm64.At(16, armPower), one(armKeys))
	p.Op("VLD1.P", arm64.At(16, armHalf), one(armKeySums))
	p.reverse(armRows, armRows)
	p.add(armSum, armRows, armRows)
	p.add(armSum, armSum, armSum)
	p.products(armRows, armKeys, armKeySums, false)
	p.Op("SUB", blockBytes, armLeft, armLeft)
	p.Op("CBNZ", armLeft, "block")
	p.reduce()

	p.Label("done")
	p.reverse(armSum, armSum)
	p.Op("VST1", one(armSum), arm64.At(0, armY))
	p.Op("RET")
	return p.File
}
