package main

import (
	"fmt"

	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// Wide kernels hold word w of eight blocks in one YMM register, state[w]; two such groups make a batch of sixteen. What
// differs between gather strategies is only how g gets its table entries.

var ymm = []reg.Register{
	reg.Y0, reg.Y1, reg.Y2, reg.Y3, reg.Y4, reg.Y5, reg.Y6, reg.Y7,
	reg.Y8, reg.Y9, reg.Y10, reg.Y11, reg.Y12, reg.Y13, reg.Y14, reg.Y15,
}

// A group is the state of eight blocks.
type group [4]reg.Register

var groupA, groupB = group(ymm[0:4]), group(ymm[4:8])

const groupBytes = 8 * 16

// load reads group i of the batch at src, sorts its words and whitens them.
func (a *assembler) load(i int, g group, src reg.Register, temp [4]reg.Register) {
	a.Commentf("Blocks %d to %d: load, one word of each block to a register, whiten", 8*i, 8*i+7)
	for q, r := range g {
		a.VMOVDQU(operand.Mem{Base: src, Disp: groupBytes*i + 32*q}, r)
	}
	a.transpose(g, temp)
	in, _ := a.whitening()
	for w, r := range g {
		a.VPBROADCASTD(a.subkey(in+w), temp[w])
		a.VPXOR(temp[w], r, r)
	}
}

// store whitens group i, which after the last round has its halves the wrong way round, sorts it by blocks and writes
// it to the batch at dst.
func (a *assembler) store(i int, g group, dst reg.Register, temp [4]reg.Register) {
	a.Commentf("Blocks %d to %d: whiten, blocks one after the other, store", 8*i, 8*i+7)
	_, out := a.whitening()
	swapped := group{g[2], g[3], g[0], g[1]}
	for w, r := range swapped {
		a.VPBROADCASTD(a.subkey(out+w), temp[w])
		a.VPXOR(temp[w], r, r)
	}
	a.transpose(swapped, temp)
	for q, r := range swapped {
		a.VMOVDQU(r, operand.Mem{Base: dst, Disp: groupBytes*i + 32*q})
	}
}

// transpose exchanges rows and columns of the 4×4 words in each lane of r. It is its own inverse.
func (a *assembler) transpose(r group, t [4]reg.Register) {
	a.VPUNPCKLDQ(r[1], r[0], t[0])
	a.VPUNPCKHDQ(r[1], r[0], t[1])
	a.VPUNPCKLDQ(r[3], r[2], t[2])
	a.VPUNPCKHDQ(r[3], r[2], t[3])
	a.VPUNPCKLQDQ(t[2], t[0], r[0])
	a.VPUNPCKHQDQ(t[2], t[0], r[1])
	a.VPUNPCKLQDQ(t[3], t[1], r[2])
	a.VPUNPCKHQDQ(t[3], t[1], r[3])
}

// mix finishes a round: PHT of t0 and t1, round keys, and the two rotations into the group's other half. It returns the
// group with its halves swapped, and overwrites t0, t1 and temp.
func (a *assembler) mix(g group, t0, t1 reg.Register, k0, k1 operand.Mem, temp [2]reg.Register) group {
	x, y, z, w := g[0], g[1], g[2], g[3]
	a.VPADDD(t1, t0, t0)
	a.VPADDD(t1, t0, t1)
	a.VPBROADCASTD(k0, temp[0])
	a.VPBROADCASTD(k1, temp[1])
	a.VPADDD(temp[0], t0, t0)
	a.VPADDD(temp[1], t1, t1)
	right, f, left, h := z, t0, w, t1 // right = ROR(right ^ f, 1); left = ROL(left, 1) ^ h
	if a.decrypt {
		right, f, left, h = w, t1, z, t0
	}
	a.VPXOR(f, right, right)
	a.VPSRLD(operand.U8(1), right, temp[0])
	a.VPSLLD(operand.U8(31), right, right)
	a.VPOR(temp[0], right, right)
	a.VPSRLD(operand.U8(31), left, temp[1])
	a.VPADDD(left, left, left)
	a.VPXOR(temp[1], h, h)
	a.VPXOR(h, left, left)
	return group{z, w, x, y}
}

// wideText starts a kernel of sixteen blocks.
func (a *assembler) wideText(suffix, how string) {
	verb, does := a.direction()
	a.text(verb+suffix, "func(s *schedule, dst, src []byte)",
		fmt.Sprintf("%s%s %s the blocks of src, a multiple of sixteen, into dst, as %sGeneric does.", verb, suffix, does, verb),
		how)
}
