package main

import (
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// The vpgather strategy: one VPGATHERDD fetches the entries of eight blocks.

// writeVPGATHER builds the kernels of both directions.
func writeVPGATHER() *assembler {
	a := newAssembler()
	a.ConstraintExpr("amd64,!purego")
	for _, a.decrypt = range []bool{false, true} {
		a.vpgather()
	}
	return a
}

func (a *assembler) vpgather() {
	a.wideText("VPGATHER", "Table entries come by VPGATHERDD.")
	dst, src, left, end := reg.RDX, reg.RSI, reg.RCX, reg.R9
	a.Load(a.Param("s"), a.schedule)
	a.Load(a.Param("dst").Base(), dst)
	a.Load(a.Param("src").Base(), src)
	a.Load(a.Param("src").Len(), left)
	lowByte := ymm[15]
	a.VPCMPEQD(lowByte, lowByte, lowByte)
	a.VPSRLD(operand.U8(24), lowByte, lowByte)
	a.JMP(operand.LabelRef("more"))

	a.Label("batch")
	temp := [4]reg.Register(ymm[8:12])
	groups := []group{groupA, groupB}
	for i, g := range groups {
		a.load(i, g, src, temp)
	}
	a.Comment("Rounds")
	keys := a.newRoundKeys(reg.R8)
	a.LEAQ(keys.at(rounds, 0), end)
	a.Label("rounds")
	for r := range 2 {
		for i, g := range groups {
			t0, t1 := ymm[8+2*i], ymm[9+2*i]
			a.gather(g[0], 0, t0, lowByte)
			a.gather(g[1], 1, t1, lowByte) // g(ROL(R1, 8)): the S-boxes one place on
			groups[i] = a.mix(g, t0, t1, keys.at(r, 0), keys.at(r, 1), [2]reg.Register{ymm[12], ymm[13]})
		}
	}
	keys.advance(2)
	a.CMPQ(keys.base, end)
	a.JNE(operand.LabelRef("rounds"))
	for i, g := range groups {
		a.store(i, g, dst, temp)
	}
	a.ADDQ(operand.U32(2*groupBytes), src)
	a.ADDQ(operand.U32(2*groupBytes), dst)
	a.SUBQ(operand.U32(2*groupBytes), left)
	a.Label("more")
	a.CMPQ(left, operand.U32(2*groupBytes))
	a.JAE(operand.LabelRef("batch"))
	a.VZEROUPPER()
	a.RET()
}

// gather leaves g of the words in x, beginning in S-box j, in t.
func (a *assembler) gather(x reg.Register, j int, t, lowByte reg.Register) {
	index, entries, mask := ymm[12], ymm[13], ymm[14]
	for i := range 4 {
		switch i {
		case 0:
			a.VPAND(lowByte, x, index)
		case 3:
			a.VPSRLD(operand.U8(24), x, index)
		default:
			a.VPSRLD(operand.U8(8*i), x, index)
			a.VPAND(lowByte, index, index)
		}
		into := entries
		if i == 0 {
			into = t
		}
		a.VPCMPEQD(mask, mask, mask) // the gather clears its mask
		a.VPXOR(into, into, into)    // and would wait for the old contents
		a.VPGATHERDD(mask, a.sbox(j+i, index), into)
		if i > 0 {
			a.VPXOR(entries, t, t)
		}
	}
}
