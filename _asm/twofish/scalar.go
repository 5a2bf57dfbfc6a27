package main

import (
	"fmt"

	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// Scalar kernels: one, two, three or four blocks with their rounds interleaved, so that the processor has other blocks'
// look-ups to do while it waits for one's. Three and four blocks do not fit in registers: the half of each state that
// the round does not look up, R2 and R3, stays on the stack.

// scalar is an assembler for the scalar kernels.
type scalar struct {
	*assembler
	bmi    bool // use BEXTR and RORX
	suffix string
}

// Registers common to all numbers of blocks. With BMI, control holds what BEXTR needs for the third byte of a word.
var (
	work, control  = rax, rbx
	index0, index1 = rsi, rbp
	t0, t1         = rcx, rdx
)

// thirdByte is BEXTR's control word for bits 16 to 23.
const thirdByte = 8<<8 | 16

// writeScalar builds the scalar kernels of both directions.
func writeScalar() *assembler {
	a := newAssembler()
	a.ConstraintExpr("!purego")
	for _, bmi := range []bool{true, false} {
		s := &scalar{assembler: a, bmi: bmi, suffix: "Scalar"}
		if bmi {
			s.suffix = "ScalarBMI2"
		}
		for _, a.decrypt = range []bool{false, true} {
			s.ecb()
		}
		a.decrypt = false
		s.cbcEncrypt()
	}
	return a
}

// ecb builds the kernel for any number of blocks: four at a time, then the rest together.
func (s *scalar) ecb() {
	verb, does := s.direction()
	s.text(verb+s.suffix, "func(s *schedule, dst, src []byte)",
		fmt.Sprintf("%s%s %s the blocks of src into dst, as %sGeneric does.", verb, s.suffix, does, verb))
	f := frame{
		src: s.address(s.Param("src").Base()), dst: s.address(s.Param("dst").Base()), left: s.address(s.Param("src").Len()),
		halves: s.AllocLocal(32), keys: s.AllocLocal(8), end: s.AllocLocal(8),
	}
	s.Load(s.Param("s"), s.schedule)
	// A single block is the most frequent call, so it is asked for first.
	s.MOVQ(f.src, reg.RSI)
	s.MOVQ(f.left, reg.RCX)
	s.CMPQ(reg.RCX, operand.U8(16))
	s.JE(operand.LabelRef("one"))
	s.JB(operand.LabelRef("done"))
	s.Label("next")
	s.CMPQ(reg.RCX, operand.U8(3*16))
	s.JA(operand.LabelRef("four"))
	s.JE(operand.LabelRef("three"))
	s.CMPQ(reg.RCX, operand.U8(16))
	s.JA(operand.LabelRef("two"))
	s.JMP(operand.LabelRef("one"))

	s.Label("four")
	s.interleaved(4, f)
	s.MOVQ(f.src, reg.RSI)
	s.MOVQ(f.left, reg.RCX)
	s.ADDQ(operand.U8(4*16), reg.RSI)
	s.MOVQ(reg.RSI, f.src)
	s.ADDQ(operand.U8(4*16), f.dst)
	s.SUBQ(operand.U8(4*16), reg.RCX)
	s.MOVQ(reg.RCX, f.left)
	s.JNZ(operand.LabelRef("next"))
	s.Label("done")
	s.RET()
	s.Label("three")
	s.interleaved(3, f)
	s.RET()
	s.Label("two")
	s.interleaved(2, f)
	s.RET()
	s.Label("one")
	s.one(f)
	s.RET()
}

// frame is what the kernels keep in memory. The arguments are moved on in place: src and dst to the next block, left,
// the length of src, to what is left of it.
type frame struct{ src, dst, left, halves, keys, end operand.Mem }

// interleaved processes n blocks at once, from the address in RSI to the one in dst.
func (s *scalar) interleaved(n int, f frame) {
	s.Comment(fmt.Sprintf("%d block(s): load and whiten", n))
	in, out := s.whitening()
	onStack := n > 2
	var state [4][4]word
	registers := []reg.Register{reg.R8L, reg.R9L, reg.R10L, reg.R11L, reg.R12L, reg.R13L, reg.R14L, reg.R15L}
	for b := range n {
		for i := range 4 {
			switch {
			case !onStack:
				state[b][i] = registers[4*b+i]
			case i < 2:
				state[b][i] = registers[2*b+i]
			default:
				state[b][i] = f.halves.Offset(8*b + 4*(i-2))
			}
		}
	}
	for b := range n {
		for i := range 4 {
			from := operand.Mem{Base: reg.RSI, Disp: 16*b + 4*i}
			if r, ok := state[b][i].(reg.Register); ok {
				s.MOVL(from, r)
				s.XORL(s.subkey(in+i), r)
			} else {
				s.MOVL(from, t0.d)
				s.XORL(s.subkey(in+i), t0.d)
				s.MOVL(t0.d, state[b][i])
			}
		}
	}
	if s.bmi {
		s.MOVL(operand.U32(thirdByte), control.d)
	}

	s.Comment("Rounds")
	// The key pointer has no register of its own where there are more than two blocks.
	keyBase := work.q
	keys := s.newRoundKeys(keyBase)
	s.MOVQ(keyBase, f.keys)
	perLoop := 1
	if !onStack {
		perLoop = 2 // the halves change names
	}
	s.LEAQ(keys.at(rounds, 0), keyBase)
	s.MOVQ(keyBase, f.end)
	loop := s.label("rounds")
	s.Label(loop)
	for r := range perLoop {
		for b := range n {
			x, y, z, w := state[b][0].(reg.Register), state[b][1].(reg.Register), state[b][2], state[b][3]
			s.g(x, 0, t0)
			s.g(y, 1, t1) // g(ROL(y, 8)): the S-boxes one place on
			s.MOVQ(f.keys, keyBase)
			s.ADDL(t1.d, t0.d) // PHT
			s.ADDL(t0.d, t1.d)
			s.ADDL(keys.at(r, 0), t0.d)
			s.ADDL(keys.at(r, 1), t1.d)
			if onStack {
				s.mixStack(x, y, z, w)
			} else {
				s.mixRegisters(z.(reg.Register), w.(reg.Register))
				state[b] = [4]word{z, w, x, y}
			}
		}
	}
	keys.advance(perLoop)
	s.MOVQ(keyBase, f.keys)
	s.CMPQ(keyBase, f.end)
	s.JNE(operand.LabelRef(loop))

	s.Comment("Whiten and store; the last round does not swap the halves")
	s.MOVQ(f.dst, index0.q)
	for b := range n {
		for i := range 4 {
			to := operand.Mem{Base: index0.q, Disp: 16*b + 4*i}
			from := state[b][i^2]
			r, ok := from.(reg.Register)
			if !ok {
				s.MOVL(from, work.d)
				r = work.d
			}
			s.XORL(s.subkey(out+i), r)
			s.MOVL(r, to)
		}
	}
}

// g looks the bytes of x up, beginning in S-box j, and leaves their sum in t.
func (s *scalar) g(x reg.Register, j int, t gpr) {
	s.MOVL(x, work.d)
	s.MOVBLZX(work.low, index0.d)
	s.MOVBLZX(work.high, index1.d)
	s.MOVL(s.sbox(j, index0.q), t.d)
	if s.bmi {
		s.BEXTRL(control.d, x, index0.d)
		s.XORL(s.sbox(j+1, index1.q), t.d)
		s.SHRL(operand.U8(24), work.d)
	} else {
		s.SHRL(operand.U8(16), work.d)
		s.XORL(s.sbox(j+1, index1.q), t.d)
		s.MOVBLZX(work.low, index0.d)
		s.SHRL(operand.U8(8), work.d)
	}
	s.XORL(s.sbox(j+2, index0.q), t.d)
	s.XORL(s.sbox(j+3, work.q), t.d)
}

// mixRegisters mixes the round function's results, t0 and t1, into the other half of the state.
func (s *scalar) mixRegisters(z, w reg.Register) {
	if s.decrypt {
		s.XORL(t1.d, w)
		s.RORL(operand.U8(1), w)
		s.ROLL(operand.U8(1), z)
		s.XORL(t0.d, z)
		return
	}
	s.XORL(t0.d, z)
	s.RORL(operand.U8(1), z)
	s.ROLL(operand.U8(1), w)
	s.XORL(t1.d, w)
}

// mixStack does the same with the other half on the stack, and swaps the halves on the way.
func (s *scalar) mixStack(x, y reg.Register, z, w word) {
	if s.decrypt { // the two words change places
		x, y, z, w = y, x, w, z
		t0, t1 := t1, t0
		s.mixStackWords(x, y, z, w, t0, t1)
		return
	}
	s.mixStackWords(x, y, z, w, t0, t1)
}

// mixStackWords does z, x = x, ROR(z ^ f, 1) and w, y = y, ROL(w, 1) ^ h.
func (s *scalar) mixStackWords(x, y reg.Register, z, w word, f, h gpr) {
	s.XORL(z, f.d)
	s.MOVL(x, z)
	if s.bmi {
		s.RORXL(operand.U8(1), f.d, x)
		s.RORXL(operand.U8(31), w, index0.d)
	} else {
		s.MOVL(f.d, x)
		s.RORL(operand.U8(1), x)
		s.MOVL(w, index0.d)
		s.ROLL(operand.U8(1), index0.d)
	}
	s.MOVL(y, w)
	s.XORL(index0.d, h.d)
	s.MOVL(h.d, y)
}

// One block by itself waits for its look-ups, and every cycle between one round's result and the next one's first index
// counts. So the state lives in the four registers whose second byte has a name, all indices of a word are made at once,
// the look-ups are added as a tree, and the round keys are added to the sum that is ready first.
var (
	single                   = [4]gpr{rax, rbx, rcx, rdx}
	singleT0, singleT1       = r8, r9
	singleTemp0, singleTemp1 = r10, r11
)

// one processes one block, from the address in RSI to the one in dst.
func (s *scalar) one(f frame) {
	s.Comment("1 block: load and whiten")
	in, out := s.whitening()
	for i, r := range single {
		s.MOVL(operand.Mem{Base: reg.RSI, Disp: 4 * i}, r.d)
		s.XORL(s.subkey(in+i), r.d)
	}
	s.singleRounds()
	s.Comment("Whiten and store")
	s.MOVQ(f.dst, reg.R15)
	for i := range single {
		r := single[i^2]
		s.XORL(s.subkey(out+i), r.d)
		s.MOVL(r.d, operand.Mem{Base: reg.R15, Disp: 4 * i})
	}
}

// singleRounds carries out the rounds on the state in single; the result's halves are not swapped back.
func (s *scalar) singleRounds() {
	s.Comment("Rounds")
	if s.bmi {
		s.MOVL(operand.U32(thirdByte), reg.R12L)
	}
	keys := s.newRoundKeys(reg.R13)
	s.LEAQ(keys.at(rounds, 0), reg.R14)
	loop := s.label("rounds")
	s.Label(loop)
	st := single
	for r := range 2 {
		x, y, z, w := st[0], st[1], st[2], st[3]
		if s.decrypt {
			s.singleG(x, 0, singleT0)
			s.singleG(y, 1, singleT1)
		} else {
			s.singleG(y, 1, singleT1)
			s.singleG(x, 0, singleT0)
		}
		k1 := singleTemp0
		s.MOVL(keys.at(r, 1), k1.d)
		f1 := operand.Mem{Base: k1.q, Index: singleT1.q, Scale: 2}
		if s.decrypt {
			// R1 ends with the rotation, so T1 is the late one: F0 = (T0 + K0) + T1, F1 = (T0 + K1) + 2·T1.
			s.ROLL(operand.U8(1), z.d)
			s.ADDL(singleT0.d, k1.d)
			s.ADDL(keys.at(r, 0), singleT0.d)
			s.LEAL(f1, k1.d)
			s.ADDL(singleT1.d, singleT0.d)
			s.XORL(k1.d, w.d)
			s.RORL(operand.U8(1), w.d)
			s.XORL(singleT0.d, z.d)
		} else {
			// R0 does, so T0 is: F0 = (T1 + K0) + T0, F1 = (2·T1 + K1) + T0.
			s.ROLL(operand.U8(1), w.d)
			s.LEAL(f1, k1.d)
			s.ADDL(keys.at(r, 0), singleT1.d)
			s.ADDL(singleT0.d, singleT1.d)
			s.ADDL(singleT0.d, k1.d)
			s.XORL(singleT1.d, z.d)
			s.RORL(operand.U8(1), z.d)
			s.XORL(k1.d, w.d)
		}
		st = [4]gpr{z, w, x, y}
	}
	keys.advance(2)
	s.CMPQ(reg.R13, reg.R14)
	s.JNE(operand.LabelRef(loop))
}

// singleG is g made for latency.
func (s *scalar) singleG(x gpr, j int, t gpr) {
	s.MOVBLZX(x.low, index0.d)
	s.MOVBLZX(x.high, index1.d)
	s.MOVL(x.d, singleTemp0.d)
	if s.bmi {
		s.BEXTRL(reg.R12L, x.d, singleTemp1.d)
	} else {
		s.MOVL(x.d, singleTemp1.d)
		s.SHRL(operand.U8(16), singleTemp1.d)
		s.MOVBLZX(reg.R11B, singleTemp1.d)
	}
	s.SHRL(operand.U8(24), singleTemp0.d)
	s.MOVL(s.sbox(j, index0.q), t.d)
	s.MOVL(s.sbox(j+2, singleTemp1.q), singleTemp1.d)
	s.XORL(s.sbox(j+1, index1.q), t.d)
	s.XORL(s.sbox(j+3, singleTemp0.q), singleTemp1.d)
	s.XORL(singleTemp1.d, t.d)
}

// cbcEncrypt chains the rounds of single blocks. Between blocks the state is the output before its whitening, so that
// the next block's first index is one XOR away from it: the plaintext meets both whitenings beforehand.
func (s *scalar) cbcEncrypt() {
	name := "cbcEncrypt" + s.suffix
	s.text(name, "func(s *schedule, dst, src []byte, iv *[16]byte)",
		name+" encrypts the blocks of src into dst in CBC mode, as cbcEncryptGeneric does.")
	src, dst, left := s.AllocLocal(8), s.AllocLocal(8), s.AllocLocal(8)
	s.Load(s.Param("s"), s.schedule)
	s.Load(s.Param("dst").Base(), reg.RDX)
	s.Load(s.Param("src").Base(), reg.RSI)
	s.Load(s.Param("src").Len(), reg.RCX)
	s.Load(s.Param("iv"), reg.R15)
	s.SHRQ(operand.U8(4), reg.RCX)
	s.JZ(operand.LabelRef("none"))
	s.MOVQ(reg.RDX, dst)
	s.MOVQ(reg.RSI, src)
	s.MOVQ(reg.RCX, left)
	for i := range single {
		r := single[i^2]
		s.MOVL(operand.Mem{Base: reg.R15, Disp: 4 * i}, r.d)
		s.XORL(s.subkey(outWhitening+i), r.d)
	}

	s.Label("block")
	s.Comment("Plaintext and whitenings, then the chain")
	s.MOVQ(src, reg.R15)
	mixed := [4]reg.Register{index0.d, index1.d, singleT0.d, singleT1.d}
	for i, m := range mixed {
		s.MOVL(operand.Mem{Base: reg.R15, Disp: 4 * i}, m)
		s.XORL(s.subkey(inputWhitening+i), m)
		s.XORL(s.subkey(outWhitening+i), m)
		s.XORL(single[i^2].d, m)
	}
	for i, m := range mixed {
		s.MOVL(m, single[i].d)
	}
	s.ADDQ(operand.U8(16), reg.R15)
	s.MOVQ(reg.R15, src)
	s.singleRounds()
	s.Comment("Whiten a copy and store it")
	s.MOVQ(dst, reg.R15)
	for i := range single {
		s.MOVL(s.subkey(outWhitening+i), singleT0.d)
		s.XORL(single[i^2].d, singleT0.d)
		s.MOVL(singleT0.d, operand.Mem{Base: reg.R15, Disp: 4 * i})
	}
	s.ADDQ(operand.U8(16), reg.R15)
	s.MOVQ(reg.R15, dst)
	s.MOVQ(left, reg.R14)
	s.DECQ(reg.R14)
	s.MOVQ(reg.R14, left)
	s.JNZ(operand.LabelRef("block"))

	s.Comment("The last block written is the next IV")
	s.Load(s.Param("iv"), reg.R14)
	s.MOVOU(operand.Mem{Base: reg.R15, Disp: -16}, reg.X0)
	s.MOVOU(reg.X0, operand.Mem{Base: reg.R14})
	s.Label("none")
	s.RET()
}
