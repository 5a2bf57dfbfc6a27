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
	w := &wide{a, 8, "VPGATHER", false}
	for _, a.decrypt = range []bool{false, true} {
		w.vpgather()
	}
	return a
}

func (w *wide) vpgather() {
	a := w.start("Table entries come by VPGATHERDD.")
	count, end := w.AllocLocal(8), reg.R9
	lowByte := vecs[15]
	w.VPCMPEQD(lowByte.y, lowByte.y, lowByte.y)
	w.VPSRLD(operand.U8(24), lowByte.y, lowByte.y)
	w.firstCount(a, count)
	w.JMP(operand.LabelRef("more"))

	w.Label("batch")
	groups := twoGroups()
	w.load(groups, a, count)
	w.Comment("Rounds")
	keys := w.newRoundKeys(reg.R8)
	w.LEAQ(keys.at(rounds, 0), end)
	w.Label("rounds")
	for r := range 2 {
		for i, g := range groups {
			t0, t1 := vecs[8+2*i], vecs[9+2*i]
			w.gather(g[0], 0, t0, lowByte)
			w.gather(g[1], 1, t1, lowByte) // g(ROL(R1, 8)): the S-boxes one place on
			early, late := w.mix(g, t0, t1, keys.at(r, 0), keys.at(r, 1), [2]vec{vecs[12], vecs[13]}, nil)
			for _, instruction := range append(early, late...) {
				instruction()
			}
			groups[i] = g.swapped()
		}
	}
	keys.advance(2)
	w.CMPQ(keys.base, end)
	w.JNE(operand.LabelRef("rounds"))
	w.store(groups, a)
	w.Label("more")
	w.CMPQ(a.left, operand.U32(w.batchBytes()))
	w.JAE(operand.LabelRef("batch"))
	w.VZEROUPPER()
	w.RET()
}

// gather leaves g of the words in x, beginning in S-box j, in t.
func (w *wide) gather(x vec, j int, t, lowByte vec) {
	index, entries, mask := vecs[12].y, vecs[13].y, vecs[14].y
	for i := range 4 {
		switch i {
		case 0:
			w.VPAND(lowByte.y, x.y, index)
		case 3:
			w.VPSRLD(operand.U8(24), x.y, index)
		default:
			w.VPSRLD(operand.U8(8*i), x.y, index)
			w.VPAND(lowByte.y, index, index)
		}
		into := entries
		if i == 0 {
			into = t.y
		}
		w.VPCMPEQD(mask, mask, mask) // the gather clears its mask
		w.VPXOR(into, into, into)    // and would wait for the old contents
		w.VPGATHERDD(mask, w.sbox(j+i, index), into)
		if i > 0 {
			w.VPXOR(entries, t.y, t.y)
		}
	}
}
