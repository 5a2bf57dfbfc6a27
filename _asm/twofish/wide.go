package main

import (
	"fmt"

	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// Wide kernels hold word w of several blocks in one vector register, eight in YMM, four in XMM registers, or 32 in two ZMM
// registers. Such a group is state[w]; two groups make a batch. What differs between gather strategies is only how g gets
// its table entries.

// A wide is an assembler for wide kernels.
type wide struct {
	*assembler
	lanes  int // blocks in a group
	suffix string
	rows   bool // whether encryption has the modes of many messages side by side
}

// A vec is a vector register by its three names.
type vec struct{ x, y, z reg.Register }

var vecs = []vec{
	{reg.X0, reg.Y0, reg.Z0}, {reg.X1, reg.Y1, reg.Z1}, {reg.X2, reg.Y2, reg.Z2}, {reg.X3, reg.Y3, reg.Z3},
	{reg.X4, reg.Y4, reg.Z4}, {reg.X5, reg.Y5, reg.Z5}, {reg.X6, reg.Y6, reg.Z6}, {reg.X7, reg.Y7, reg.Z7},
	{reg.X8, reg.Y8, reg.Z8}, {reg.X9, reg.Y9, reg.Z9}, {reg.X10, reg.Y10, reg.Z10}, {reg.X11, reg.Y11, reg.Z11},
	{reg.X12, reg.Y12, reg.Z12}, {reg.X13, reg.Y13, reg.Z13}, {reg.X14, reg.Y14, reg.Z14}, {reg.X15, reg.Y15, reg.Z15},
	{reg.X16, reg.Y16, reg.Z16}, {reg.X17, reg.Y17, reg.Z17}, {reg.X18, reg.Y18, reg.Z18}, {reg.X19, reg.Y19, reg.Z19},
	{reg.X20, reg.Y20, reg.Z20}, {reg.X21, reg.Y21, reg.Z21}, {reg.X22, reg.Y22, reg.Z22}, {reg.X23, reg.Y23, reg.Z23},
	{reg.X24, reg.Y24, reg.Z24}, {reg.X25, reg.Y25, reg.Z25}, {reg.X26, reg.Y26, reg.Z26}, {reg.X27, reg.Y27, reg.Z27},
	{reg.X28, reg.Y28, reg.Z28}, {reg.X29, reg.Y29, reg.Z29}, {reg.X30, reg.Y30, reg.Z30}, {reg.X31, reg.Y31, reg.Z31},
}

// v is the name of the size that a group has.
func (w *wide) v(r vec) reg.Register {
	switch w.lanes {
	case 4:
		return r.x
	case 8:
		return r.y
	}
	return r.z
}

// A group is the state of a group of blocks. In every round its first half is looked up and its second half changed;
// then the halves change places.
type group [4]vec

func (g group) swapped() group { return group{g[2], g[3], g[0], g[1]} }

func twoGroups() [2]group { return [2]group{group(vecs[0:4]), group(vecs[4:8])} }

func (w *wide) groupBytes() int { return 16 * w.lanes }
func (w *wide) batchBytes() int { return 2 * w.groupBytes() }

// arguments are where a kernel's arguments lie. src and dst move on with the batches, left is the length of src and
// becomes what is left of it.
type arguments struct{ dst, src, left, chain, row operand.Mem }

// start begins a kernel: its name, its arguments, and what is true of all. A kernel has a second mode of operation besides
// ECB, chosen by a pointer that is not nil, since counters are made and chains undone in registers at almost no cost.
func (w *wide) start(how string) arguments {
	verb, does := w.direction()
	name := verb + w.suffix
	chain, mode := "counter", "With a counter, it XORs src with the encryptions of counter, counter+1 and so on instead; the last four bytes must not wrap."
	if w.decrypt {
		chain, mode = "iv", "With an IV, it decrypts in CBC mode, and the IV becomes the last block of src."
	}
	doc := []string{
		fmt.Sprintf("%s %s the blocks of src, a multiple of %d, into dst, as %sGeneric does.", name, does, 2*w.lanes, verb), mode,
	}
	parameters := fmt.Sprintf("s *schedule, dst, src []byte, %s *[16]byte", chain)
	if w.hasRows() {
		parameters += fmt.Sprintf(", row *[%d]byte", w.batchBytes())
		doc = append(doc,
			fmt.Sprintf("With a row, it encrypts %d messages in CBC mode that lie in src row by row, a block of each to a row; row is what", 2*w.lanes),
			"comes before the first one. With a counter besides, whose value is not used, it is CFB mode.")
	}
	w.text(name, "func("+parameters+")", append(doc, how)...)
	w.Load(w.Param("s"), w.schedule)
	a := arguments{
		dst: w.address(w.Param("dst").Base()), src: w.address(w.Param("src").Base()), left: w.address(w.Param("src").Len()),
		chain: w.address(w.Param(chain)),
	}
	if w.hasRows() {
		a.row = w.address(w.Param("row"))
	}
	return a
}

func (w *wide) hasRows() bool { return w.rows && !w.decrypt }

// chooseLoad goes to where counters are made, or to where blocks of src meet the row before, if so it should be, with the
// pointer there. Otherwise what bufferPointer points at is loaded, which is src, and becomes the row before in CFB mode.
func (w *wide) chooseLoad(a arguments) {
	if w.decrypt {
		return
	}
	w.MOVQ(a.chain, chainPointer)
	if w.rows {
		w.MOVQ(a.row, rowPointer)
		w.TESTQ(rowPointer, rowPointer)
		w.JEQ(operand.LabelRef("noRows"))
		w.TESTQ(chainPointer, chainPointer)
		w.JEQ(operand.LabelRef("withRow"))
		w.MOVQ(rowPointer, bufferPointer)
		w.JMP(operand.LabelRef("blocks"))
		w.Label("noRows")
	}
	w.TESTQ(chainPointer, chainPointer)
	w.JNE(operand.LabelRef("counters"))
	if w.rows {
		w.Label("blocks")
	}
}

// nextRow makes what has been stored the row before, if there is one.
func (w *wide) nextRow(a arguments, stored operand.Mem) {
	w.CMPQ(a.row, operand.U8(0))
	w.JEQ(operand.LabelRef("next"))
	w.LEAQ(stored, rowPointer)
	w.MOVQ(rowPointer, a.row)
	w.Label("next")
}

// Registers of load and store, which run between the rounds of two batches.
var (
	bufferPointer = reg.RAX
	chainPointer  = reg.RBX
	sourcePointer = reg.RCX
	rowPointer    = reg.R14
	stageTemp     = [4]vec(vecs[8:12])
)

// load reads the batch at src, one word of each block to a register, or makes counters, and whitens it.
func (w *wide) load(groups [2]group, a arguments, count operand.Mem) {
	in, _ := w.whitening()
	w.MOVQ(a.src, bufferPointer)
	counters := w.label("counters")
	if !w.decrypt {
		w.MOVQ(a.chain, chainPointer)
		w.TESTQ(chainPointer, chainPointer)
		w.JNE(operand.LabelRef(counters))
	}
	w.Comment("Load, one word of each block to a register")
	for i, g := range groups {
		for q, r := range g {
			w.VMOVDQU(operand.Mem{Base: bufferPointer, Disp: w.groupBytes()*i + 4*w.lanes*q}, w.v(r))
		}
		w.transpose(g, stageTemp)
	}
	if !w.decrypt {
		whiten := w.label("whiten")
		w.JMP(operand.LabelRef(whiten))
		w.Label(counters)
		w.Comment("Make counters, whose last word counts and has its bytes in the other order")
		for i, g := range groups {
			for word, r := range g[:3] {
				w.VPBROADCASTD(operand.Mem{Base: chainPointer, Disp: 4 * word}, w.v(r))
			}
			w.VPBROADCASTD(count, w.v(g[3]))
			w.VPADDD(w.blockNumbers(i), w.v(g[3]), w.v(g[3]))
			w.VPSHUFB(w.swapWords(), w.v(g[3]), w.v(g[3]))
		}
		w.ADDL(operand.U8(2*w.lanes), count)
		w.Label(whiten)
	}
	for i, g := range groups {
		w.Commentf("Group %d: whiten", i)
		for word, r := range g {
			w.VPBROADCASTD(w.subkey(in+word), w.v(stageTemp[word]))
			w.VPXOR(w.v(stageTemp[word]), w.v(r), w.v(r))
		}
	}
}

// firstCount leaves the counter's last word where load looks for it, if there is a counter.
func (w *wide) firstCount(a arguments, count operand.Mem) {
	if w.decrypt {
		return
	}
	none := w.label("none")
	w.MOVQ(a.chain, chainPointer)
	w.TESTQ(chainPointer, chainPointer)
	w.JEQ(operand.LabelRef(none))
	w.MOVL(operand.Mem{Base: chainPointer, Disp: 12}, reg.EAX)
	w.BSWAPL(reg.EAX)
	w.MOVL(reg.EAX, count)
	w.Label(none)
}

// blockNumbers says which block of the batch each element of group i comes from: transpose puts even blocks in the lower
// lane and odd ones in the upper lane.
func (w *wide) blockNumbers(i int) operand.Mem {
	numbers := []int{0, 2, 4, 6, 1, 3, 5, 7}
	if w.lanes == 4 {
		numbers = []int{0, 1, 2, 3}
	}
	name := fmt.Sprintf("blockNumbers%d", w.lanes*10+i)
	return w.constant(name, func() {
		for n, number := range numbers {
			w.AddDatum(4*n, operand.U32(number+i*w.lanes))
		}
	})
}

// swapWords is a VPSHUFB control that turns the bytes of each word round.
func (w *wide) swapWords() operand.Mem {
	return w.constant("swapWords", func() {
		for n := range 8 {
			w.AddDatum(4*n, operand.U32(0x00010203+n%4*0x04040404))
		}
	})
}

// store whitens the batch, whose halves the last round should not have swapped, and writes it to dst, block by block, or
// XORed with src for a counter, or with the blocks before in CBC mode.
func (w *wide) store(groups [2]group, a arguments) {
	_, out := w.whitening()
	last := vecs[12]
	for i, g := range groups {
		groups[i] = g.swapped()
		w.Commentf("Group %d: whiten, block by block again", i)
		for word, r := range groups[i] {
			w.VPBROADCASTD(w.subkey(out+word), w.v(stageTemp[word]))
			w.VPXOR(w.v(stageTemp[word]), w.v(r), w.v(r))
		}
		w.transpose(groups[i], stageTemp)
	}
	w.MOVQ(a.dst, bufferPointer)
	w.MOVQ(a.src, sourcePointer)
	w.MOVQ(a.chain, chainPointer)
	plain := w.label("plain")
	w.TESTQ(chainPointer, chainPointer)
	w.JEQ(operand.LabelRef(plain))
	at := func(base reg.Register, i, q int) operand.Mem {
		return operand.Mem{Base: base, Disp: w.groupBytes()*i + 4*w.lanes*q}
	}
	if w.decrypt {
		w.Comment("XOR with the blocks before; the last of src is the next IV")
		w.VMOVDQU(operand.Mem{Base: sourcePointer, Disp: w.batchBytes() - 16}, last.x)
		w.VMOVDQU(operand.Mem{Base: chainPointer}, stageTemp[0].x)
		if w.lanes == 8 {
			w.VINSERTI128(operand.U8(1), operand.Mem{Base: sourcePointer}, stageTemp[0].y, stageTemp[0].y)
		}
		w.VMOVDQU(last.x, operand.Mem{Base: chainPointer})
	} else {
		w.Comment("XOR with src")
	}
	for i, g := range groups {
		for q, r := range g {
			switch {
			case !w.decrypt:
				w.VPXOR(at(sourcePointer, i, q), w.v(r), w.v(r))
			case i == 0 && q == 0:
				w.VPXOR(w.v(stageTemp[0]), w.v(r), w.v(r))
			default:
				w.VPXOR(at(sourcePointer, i, q).Offset(-16), w.v(r), w.v(r))
			}
		}
	}
	w.Label(plain)
	w.Comment("Store")
	for i, g := range groups {
		for q, r := range g {
			w.VMOVDQU(w.v(r), at(bufferPointer, i, q))
		}
	}
	w.ADDQ(operand.U32(w.batchBytes()), a.src)
	w.ADDQ(operand.U32(w.batchBytes()), a.dst)
	w.SUBQ(operand.U32(w.batchBytes()), a.left)
}

// transpose exchanges rows and columns of the 4×4 words in each 128-bit lane of g. It is its own inverse.
func (w *wide) transpose(g group, t [4]vec) {
	v := w.v
	w.VPUNPCKLDQ(v(g[1]), v(g[0]), v(t[0]))
	w.VPUNPCKHDQ(v(g[1]), v(g[0]), v(t[1]))
	w.VPUNPCKLDQ(v(g[3]), v(g[2]), v(t[2]))
	w.VPUNPCKHDQ(v(g[3]), v(g[2]), v(t[3]))
	w.VPUNPCKLQDQ(v(t[2]), v(t[0]), v(g[0]))
	w.VPUNPCKHQDQ(v(t[2]), v(t[0]), v(g[1]))
	w.VPUNPCKLQDQ(v(t[3]), v(t[1]), v(g[2]))
	w.VPUNPCKHQDQ(v(t[3]), v(t[1]), v(g[3]))
}

// mix is the rest of a round once t0 and t1 are there, as instructions that a kernel may weave into others: the PHT, the
// round keys, and the rotations into the group's second half. Those in early do not need t0 yet. t1 and temp are
// overwritten; changed is called, where it is given, after each word that changes.
func (w *wide) mix(g group, t0, t1 vec, k0, k1 operand.Mem, temp [2]vec, changed func(word int)) (early, late []func()) {
	v := w.v
	sum, spare := v(temp[0]), v(temp[1])
	f0, f1 := v(t1), sum
	// In each direction one word is rotated before its XOR and the other one after it.
	before, after, fBefore, fAfter := 3, 2, f1, f0
	if w.decrypt {
		before, after, fBefore, fAfter = 2, 3, f0, f1
	}
	b, a := v(g[before]), v(g[after])
	early = []func(){
		func() { w.VPBROADCASTD(k1, sum) },
		func() { w.VPADDD(v(t1), sum, sum) },
		func() { w.VPADDD(v(t1), sum, sum) },
		func() { w.VPBROADCASTD(k0, spare) },
		func() { w.VPADDD(spare, v(t1), f0) },
		func() { w.VPSRLD(operand.U8(31), b, spare) },
		func() { w.VPADDD(b, b, b) },
		func() { w.VPOR(spare, b, b) },
	}
	late = []func(){
		func() { w.VPADDD(v(t0), f0, f0) },
		func() { w.VPADDD(v(t0), f1, f1) },
		func() { w.VPXOR(fAfter, a, a) },
		func() { w.VPXOR(fBefore, b, b) },
	}
	if changed != nil {
		late = append(late, func() { changed(before) })
	}
	late = append(late,
		func() { w.VPSRLD(operand.U8(1), a, spare) },
		func() { w.VPSLLD(operand.U8(31), a, a) },
		func() { w.VPOR(spare, a, a) },
	)
	if changed != nil {
		late = append(late, func() { changed(after) })
	}
	return early, late
}
