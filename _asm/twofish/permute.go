package main

import (
	"fmt"

	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// The permute strategy: VPERMI2B looks 64 bytes up at once, in half of a table. All four S-boxes lie in registers, as bytes
// before they meet the MDS matrix, which GF2P8AFFINEQB multiplies by. No address depends on a secret.
//
// A look-up takes a register full of indices for one S-box. So a group is 32 blocks: byte j of their R0 and the byte of R1
// that meets the same S-box fill one register, a slice. Words are cut into slices for the look-ups and put together again
// for the additions. The words of a group are in two registers, the slices of a group in four.
//
// A batch is two groups, or four while there is enough to do. One group alone is a long chain of operations: Zen 5 could
// issue four a cycle and a round has 72, but the chain takes 45 cycles. Two groups take turns in the instruction stream, a
// quarter of a round at a time, and have eight registers each. Four groups share the two sets.
//
// Figures of the variants on Zen 5 (EPYC, cycles per byte to encrypt 64 KiB):
//
//	                                                        64 blocks   128 blocks
//	group after group, all words in memory                   1.04        0.80
//	R0 and R1 stay in registers                              0.92
//	- MDS by products of each slice with 5B and EF           0.90        0.83
//	groups take turns at every instruction                   0.92        0.81
//	one half a round ahead of the other                      0.91        0.74
//	- look-ups by two masked permutes, one after the other   0.97        0.79
//	- slices by VPSHUFB and unpacks, not VPERMI2B            0.90        0.76
//	- and masks by the affine instruction, not VPMOVB2M      0.89        0.76
//	turns of a quarter of a round, none ahead (this one)     0.85        0.77
//	the same instructions without their dependencies         0.45        0.45
//
// Nothing else is as fast for 64 blocks, no code needs to run ahead of the loop, and on Intel VPSHUFB is one operation where
// VPERMI2B is three. For Ice Lake llvm-mca's model says 1.11, for 64 and for 128 blocks.

// A permuter is an assembler for the permute kernels.
type permuter struct {
	*wide
	words bool // VPERMI2W instead of VPERMI2B, and no affine instruction: see shuffle512.go
	keys  roundKeys
}

// Where things lie in the frame, from an address on that is a multiple of 64.
const (
	slicing0At  = 0
	slicing1At  = 64
	evenBit6At  = 128
	oddBit6At   = 192
	stateAt     = 256 // word by word of 16 blocks at a time: a quarter of 64 blocks
	stateBytes  = 2048
	quarterSize = 256
)

// General registers of the permute kernels, besides those of start.
var (
	srcPointer, dstPointer = reg.RSI, reg.RDX
	bytesLeft, batchSize   = reg.RCX, reg.R13
	framed                 = reg.R8
	lastKey                = reg.R10
	quarter, quarterEnd    = reg.R11, reg.R12
)

// writePermute builds the kernels of both directions.
func writePermute() *assembler {
	a := newAssembler()
	a.ConstraintExpr("amd64,!purego")
	for _, a.decrypt = range []bool{false, true} {
		(&permuter{wide: &wide{a, 32, "Permute", true}}).kernel()
	}
	return a
}

func (p *permuter) kernel() {
	how := "Table entries come by VPERMI2B from tables in registers."
	if p.words {
		how = "Table entries come by VPERMI2W from tables in registers."
	}
	a := p.start(how)
	local, count := p.AllocLocal(stateAt+stateBytes+64), p.AllocLocal(8)
	p.LEAQ(local.Offset(63), framed)
	p.ANDQ(operand.I8(-64), framed)
	p.MOVQ(a.dst, dstPointer)
	p.MOVQ(a.src, srcPointer)
	p.MOVQ(a.left, bytesLeft)
	if p.words {
		p.wordTables()
	} else {
		p.byteTables()
	}
	p.slicingControls()
	p.firstCount(a, count)
	p.MOVQ(a.chain, chainPointer)
	p.JMP(operand.LabelRef("more"))

	p.Label("batch")
	p.load(a, count)
	p.keys = p.newRoundKeys(reg.R9)
	p.LEAQ(p.keys.at(rounds, 0), lastKey)
	p.CMPQ(batchSize, operand.U32(2*p.batchBytes()))
	p.JEQ(operand.LabelRef("double"))
	p.rounds("rounds", 2)
	p.JMP(operand.LabelRef("store"))
	p.Label("double")
	p.rounds("doubleRounds", 4)
	p.Label("store")
	p.store(a)

	p.Label("more")
	if p.hasRows() {
		p.Comment("Not two rows at a time: the second one depends on the first one")
		p.CMPQ(a.row, operand.U8(0))
		p.JNE(operand.LabelRef("single"))
	}
	for _, batches := range []int{2, 1} {
		if batches == 1 && p.hasRows() {
			p.Label("single")
		}
		p.MOVQ(operand.U32(batches*p.batchBytes()), batchSize)
		p.CMPQ(bytesLeft, batchSize)
		p.JAE(operand.LabelRef("batch"))
	}
	p.VZEROUPPER()
	p.RET()
}

// table is the register of the entries 64i to 64i+63 of S-box j.
func table(j, i int) reg.Register { return vecs[16+4*j+i].z }

// mdsRow returns the row of the MDS matrix that has the given element in column j: where an entry of S-box j keeps its
// product with that element.
func mdsRow(j int, element byte) int {
	i := 0
	for mds[i][j] != element {
		i++
	}
	return i
}

// byteTables takes the S-boxes out of the schedule, where they have met the MDS matrix already.
func (p *permuter) byteTables() {
	p.Comment("S-boxes: one byte of each entry, divided by 4")
	everyFourth, divide, upper := vecs[0].z, vecs[1].z, vecs[2]
	p.VMOVDQU64(p.constant("everyFourth", func() {
		for n := range 64 {
			p.AddDatum(n, operand.U8(4*n%128))
		}
	}), everyFourth)
	p.VPBROADCASTQ(p.product(inverse(4)), divide)
	for j := range 4 {
		for i := range 4 {
			t, entries := table(j, i), operand.Mem{Base: p.schedule, Disp: 1024*j + 256*i + mdsRow(j, 1)}
			p.VMOVDQU64(entries, t)
			p.VPERMT2B(entries.Offset(64), everyFourth, t)
			p.VMOVDQU64(entries.Offset(128), upper.z)
			p.VPERMT2B(entries.Offset(192), everyFourth, upper.z)
			p.VINSERTI64X4(operand.U8(1), upper.y, t, t)
			p.VGF2P8AFFINEQB(operand.U8(0), divide, t, t)
		}
	}
}

// slicingControls puts VPSHUFB controls into the frame that sort the bytes of R0 and of R1 by S-box.
func (p *permuter) slicingControls() {
	for _, s := range []struct{ at, rotate int }{{slicing0At, 0}, {slicing1At, 3}} {
		control := p.constant(fmt.Sprintf("slicing%d", s.rotate), func() {
			for n := range 16 {
				p.AddDatum(n, operand.U8(n%4*4+(n/4+s.rotate)%4))
			}
		})
		p.VBROADCASTI32X4(control, vecs[0].z)
		p.VMOVDQA64(vecs[0].z, p.inFrame(s.at))
	}
}

func (p *permuter) inFrame(at int) operand.Mem { return operand.Mem{Base: framed, Disp: at} }

// product is the matrix of a multiplication by a constant: row i, which is byte 7-i, makes bit i.
func (p *permuter) product(by byte) operand.Mem {
	return p.constant(fmt.Sprintf("times%02X", by), func() {
		var rows uint64
		for column := range 8 {
			for i := range 8 {
				rows |= uint64(multiply(by, 1<<column)>>i&1) << (8*(7-i) + column)
			}
		}
		p.AddDatum(0, operand.U64(rows))
	})
}

// topBit is the matrix that copies bit 7 to all bits.
func (p *permuter) topBit() operand.Mem {
	return p.constant("topBit", func() { p.AddDatum(0, operand.U64(0x8080808080808080)) })
}

// inverse is 1/a in the field of the MDS matrix.
func inverse(a byte) byte {
	b := byte(1)
	for multiply(a, b) != 1 {
		b++
	}
	return b
}

// slot is where the frame holds a word of one half of group i.
func (p *permuter) slot(i, word, half int) operand.Mem {
	return p.inFrame(stateAt + quarterSize*(2*i+half) + 64*word)
}

// A set of registers serves one group at a time. x holds R0 and R1 between the rounds, then slices.
type set struct{ x, y [4]reg.Register }

func setOf(i int) (s set) {
	for n := range 4 {
		s.x[n], s.y[n] = vecs[8*(i%2)+n].z, vecs[8*(i%2)+4+n].z
	}
	return s
}

// rounds builds the loop over the rounds of a batch of groups. Two groups keep R0 and R1 in registers between the rounds.
func (p *permuter) rounds(label string, groups int) {
	p.Commentf("Rounds of %d groups", groups)
	inRegisters := groups == 2
	if inRegisters {
		for i := range groups {
			for n, x := range setOf(i).x {
				p.VMOVDQA64(p.slot(i, n/2, n%2), x)
			}
		}
	}
	p.Label(label)
	const turns = 4 // of a group in a round
	for r := range 2 {
		for i := 0; i < groups; i += 2 {
			even, odd := p.round(i, r, inRegisters), p.round(i+1, r, inRegisters)
			for turn := range turns {
				for parity, code := range [][]func(){even, odd} {
					p.Commentf("Group %d, round %d, turn %d", i+parity, r, turn)
					for _, instruction := range code[len(code)*turn/turns : len(code)*(turn+1)/turns] {
						instruction()
					}
				}
			}
		}
	}
	p.keys.advance(2)
	p.CMPQ(p.keys.base, lastKey)
	p.JNE(operand.LabelRef(label))
}

// round is one round of group i, r rounds ahead, as instructions to be woven into another group's.
func (p *permuter) round(i, r int, inRegisters bool) []func() {
	var code []func()
	do := func(instruction func()) { code = append(code, instruction) }
	s := setOf(i)
	x, y := s.x, s.y
	r0, r1, r2, r3 := 0, 1, 2, 3 // the words in their roles
	if r%2 == 1 {
		r0, r1, r2, r3 = 2, 3, 0, 1
	}
	if !inRegisters {
		for n := range x {
			do(func() { p.VMOVDQA64(p.slot(i, []int{r0, r1}[n/2], n%2), x[n]) })
		}
	}

	// Slices: the bytes of each 128-bit lane sorted by S-box, R1's one place on, then a 4×4 transpose of 32-bit elements.
	for n, control := range []int{slicing0At, slicing0At, slicing1At, slicing1At} {
		do(func() { p.VPSHUFB(p.inFrame(control), x[n], x[n]) })
	}
	do(func() { p.VPUNPCKLDQ(x[1], x[0], y[0]) })
	do(func() { p.VPUNPCKLDQ(x[3], x[2], y[2]) })
	do(func() { p.VPUNPCKHDQ(x[1], x[0], y[1]) })
	do(func() { p.VPUNPCKHDQ(x[3], x[2], y[3]) })
	do(func() { p.VPUNPCKLQDQ(y[2], y[0], x[0]) })
	do(func() { p.VPUNPCKHQDQ(y[2], y[0], x[1]) })
	do(func() { p.VPUNPCKLQDQ(y[3], y[1], x[2]) })
	do(func() { p.VPUNPCKHQDQ(y[3], y[1], x[3]) })

	var row [4]reg.Register
	if p.words {
		row = p.wordLookups(do, i, x, y)
	} else {
		row = p.byteLookups(do, x, y)
	}

	// Words again, from row to y: g of R0 in y[0] and y[1], of R1 in y[2] and y[3]
	do(func() { p.VPUNPCKLBW(row[1], row[0], x[0]) })
	do(func() { p.VPUNPCKLBW(row[3], row[2], x[2]) })
	do(func() { p.VPUNPCKHBW(row[1], row[0], x[1]) })
	do(func() { p.VPUNPCKHBW(row[3], row[2], x[3]) })
	do(func() { p.VPUNPCKLWD(x[2], x[0], y[0]) })
	do(func() { p.VPUNPCKLWD(x[3], x[1], y[2]) })
	do(func() { p.VPUNPCKHWD(x[2], x[0], y[1]) })
	do(func() { p.VPUNPCKHWD(x[3], x[1], y[3]) })

	// PHT, round keys and rotations. The new words are the next round's R0 and R1, in x.
	halves := func(instruction func(half int)) {
		for half := range 2 {
			do(func() { instruction(half) })
		}
	}
	t0, t1, f0, f1 := y[0:2], y[2:4], y[0:2], y[2:4]
	halves(func(h int) { p.VPADDD(t0[h], t1[h], t0[h]) })
	halves(func(h int) { p.VPADDD_BCST(p.keys.at(r, 1), t1[h], t1[h]) })
	halves(func(h int) { p.VPADDD(t0[h], t1[h], f1[h]) })
	halves(func(h int) { p.VPADDD_BCST(p.keys.at(r, 0), t0[h], f0[h]) })
	n0, n1 := x[0:2], x[2:4]
	if p.decrypt {
		halves(func(h int) { p.VPROLD(operand.U8(1), p.slot(i, r2, h), n0[h]) })
		halves(func(h int) { p.VPXORD(p.slot(i, r3, h), f1[h], n1[h]) })
		halves(func(h int) { p.VPRORD(operand.U8(1), n1[h], n1[h]) })
		halves(func(h int) { p.VPXORD(f0[h], n0[h], n0[h]) })
	} else {
		halves(func(h int) { p.VPROLD(operand.U8(1), p.slot(i, r3, h), n1[h]) })
		halves(func(h int) { p.VPXORD(p.slot(i, r2, h), f0[h], n0[h]) })
		halves(func(h int) { p.VPRORD(operand.U8(1), n0[h], n0[h]) })
		halves(func(h int) { p.VPXORD(f1[h], n1[h], n1[h]) })
	}
	halves(func(h int) { p.VMOVDQA64(n0[h], p.slot(i, r2, h)) })
	halves(func(h int) { p.VMOVDQA64(n1[h], p.slot(i, r3, h)) })
	return code
}

// byteLookups takes the slices in x through the S-boxes and the MDS matrix. VPERMI2B takes seven bits of an index, so bit 7
// chooses between two results. The order is that in which mds wants them.
func (p *permuter) byteLookups(do func(func()), x, y [4]reg.Register) (rows [4]reg.Register) {
	mask := y[3]
	for _, j := range []int{1, 2, 0, 3} {
		if j == 3 {
			mask = x[0]
		}
		m := mask
		do(func() { p.VMOVDQA64(x[j], y[j]) })
		do(func() { p.VGF2P8AFFINEQB_BCST(operand.U8(0), p.topBit(), x[j], m) })
		do(func() { p.VPERMI2B(table(j, 1), table(j, 0), y[j]) })
		do(func() { p.VPERMI2B(table(j, 3), table(j, 2), x[j]) })
		do(func() { p.VPTERNLOGD(operand.U8(choose), m, x[j], y[j]) })
	}
	return p.mds(do, y, x)
}

// Truth tables of VPTERNLOGD: the XOR of three, and the second operand where the first has ones, else the third.
const (
	xor3   = 0x96
	choose = 0xD8
)

// mds multiplies the slices in a by the MDS matrix; t is overwritten. The matrix has x², x²+1 and x²+x+1 for 01, 5B and EF,
// all divided by 4, which the tables have done. With s the sum of all slices, c = (x²+1)s and d = (x²+x+1)s:
//
//	row 0 = c + x·a1 + a0
//	row 1 = c + x(a1+a2) + a3
//	row 2 = c + x(a0+a3) + a2 = d + x(a1+a2) + a2
//	row 3 = c + x(a0+a2) + a1
func (p *permuter) mds(do func(func()), a, t [4]reg.Register) (rows [4]reg.Register) {
	times := func(by byte, slice, to reg.Register) {
		do(func() { p.VGF2P8AFFINEQB_BCST(operand.U8(0), p.product(by), slice, to) })
	}
	sum := func(b, c, to reg.Register) { do(func() { p.VPXORD(b, c, to) }) }
	add := func(b, c, to reg.Register) { do(func() { p.VPTERNLOGD(operand.U8(xor3), b, c, to) }) }
	const x, cFactor, dFactor = 2, 5, 7
	sum(a[1], a[2], t[0])
	sum(a[0], a[2], t[2])
	times(x, t[0], t[1])
	add(a[0], a[3], t[0]) // s
	times(x, t[2], t[2])
	times(cFactor, t[0], t[3])
	times(dFactor, t[0], t[0])
	add(t[3], t[1], a[3]) // row 1
	add(t[0], t[1], a[2]) // row 2
	times(x, a[1], t[0])
	add(t[3], t[2], a[1]) // row 3
	add(t[3], t[0], a[0]) // row 0
	return [4]reg.Register{a[0], a[3], a[2], a[1]}
}

// quarters builds a loop over the quarters of the batch, or the eighths of a double one: 16 blocks each, which
// quarterSlot finds in the frame.
func (p *permuter) quarters(label string, body func()) {
	p.LEAQ(p.inFrame(stateAt), quarter)
	p.LEAQ(operand.Mem{Base: quarter, Index: batchSize, Scale: 1}, quarterEnd)
	p.Label(label)
	body()
	p.ADDQ(operand.U32(quarterSize), quarter)
	p.CMPQ(quarter, quarterEnd)
	p.JNE(operand.LabelRef(label))
}

func (p *permuter) quarterSlot(word int) operand.Mem {
	return operand.Mem{Base: quarter, Disp: 64 * word}
}

// Registers of load and store.
var (
	stage        = group(vecs[0:4])
	permuterTemp = [4]vec(vecs[4:8])
	sources      = vecs[8:12]
	before       = vecs[12] // its last block comes before the next one of src
)

// load is wide.load into the frame.
func (p *permuter) load(a arguments, count operand.Mem) {
	in, _ := p.whitening()
	blocks := func(label string, xor func(q int, r reg.Register)) {
		p.quarters(label, func() {
			for q, r := range stage {
				p.VMOVDQU64(operand.Mem{Base: bufferPointer, Disp: 64 * q}, r.z)
				xor(q, r.z)
			}
			p.transpose(stage, permuterTemp)
			for word, r := range stage {
				p.VPXORD_BCST(p.subkey(in+word), r.z, r.z)
				p.VMOVDQA64(r.z, p.quarterSlot(word))
			}
			p.ADDQ(operand.U32(quarterSize), bufferPointer)
		})
	}
	p.MOVQ(srcPointer, bufferPointer)
	p.chooseLoad(a)
	p.Comment("Load, one word of each block to a register")
	blocks("load", func(int, reg.Register) {})
	if p.decrypt {
		return
	}
	p.JMP(operand.LabelRef("loaded"))
	p.Label("withRow")
	p.Comment("The same, XORed with the row before")
	p.SUBQ(bufferPointer, rowPointer)
	blocks("loadWithRow", func(q int, r reg.Register) {
		p.VPXORD(operand.Mem{Base: bufferPointer, Index: rowPointer, Scale: 1, Disp: 64 * q}, r, r)
	})
	p.JMP(operand.LabelRef("loaded"))
	p.Label("counters")
	p.Comment("Make counters, whose last word counts and has its bytes in the other order")
	for word, r := range stage[:3] {
		p.VPBROADCASTD(operand.Mem{Base: chainPointer, Disp: 4 * word}, r.z)
		p.VPXORD_BCST(p.subkey(in+word), r.z, r.z)
	}
	numbers, swap, counter := permuterTemp[0].z, permuterTemp[1].z, stage[3].z
	p.VMOVDQU64(p.constant("blockNumbers", func() {
		for n := range 16 { // transpose leaves each lane a column of blocks
			p.AddDatum(4*n, operand.U32(n%4*4+n/4))
		}
	}), numbers)
	p.VBROADCASTI32X4(p.swapWords(), swap)
	p.quarters("count", func() {
		p.VPADDD_BCST(count, numbers, counter)
		p.VPSHUFB(swap, counter, counter)
		p.VPXORD_BCST(p.subkey(in+3), counter, counter)
		for word, r := range stage {
			p.VMOVDQA64(r.z, p.quarterSlot(word))
		}
		p.ADDL(operand.U8(16), count)
	})
	p.Label("loaded")
}

// store is wide.store from the frame.
func (p *permuter) store(a arguments) {
	_, out := p.whitening()
	if p.decrypt {
		p.TESTQ(chainPointer, chainPointer)
		p.JEQ(operand.LabelRef("whiten"))
		p.VBROADCASTI32X4(operand.Mem{Base: chainPointer}, before.z)
		p.Label("whiten")
	}
	p.Comment("Whiten, block by block again, without the last swap of the halves")
	p.quarters("unload", func() {
		for word, r := range stage {
			p.VMOVDQA64(p.quarterSlot(word^2), r.z)
			p.VPXORD_BCST(p.subkey(out+word), r.z, r.z)
		}
		p.transpose(stage, permuterTemp)
		p.TESTQ(chainPointer, chainPointer)
		p.JEQ(operand.LabelRef("plain"))
		if p.decrypt {
			p.Comment("XOR with the blocks before")
			previous := before
			for q, r := range stage {
				p.VMOVDQU64(operand.Mem{Base: srcPointer, Disp: 64 * q}, sources[q].z)
				p.VALIGNQ(operand.U8(6), previous.z, sources[q].z, permuterTemp[q].z)
				p.VPXORD(permuterTemp[q].z, r.z, r.z)
				previous = sources[q]
			}
			p.VMOVDQA64(previous.z, before.z)
		} else {
			p.Comment("XOR with src")
			for q, r := range stage {
				p.VPXORD(operand.Mem{Base: srcPointer, Disp: 64 * q}, r.z, r.z)
			}
		}
		p.Label("plain")
		for q, r := range stage {
			p.VMOVDQU64(r.z, operand.Mem{Base: dstPointer, Disp: 64 * q})
		}
		p.ADDQ(operand.U32(quarterSize), srcPointer)
		p.ADDQ(operand.U32(quarterSize), dstPointer)
	})
	if p.decrypt {
		p.TESTQ(chainPointer, chainPointer)
		p.JEQ(operand.LabelRef("next"))
		p.Comment("The last of src is the next IV")
		p.VEXTRACTI32X4(operand.U8(3), before.z, operand.Mem{Base: chainPointer})
		p.Label("next")
	}
	if p.hasRows() {
		p.nextRow(a, operand.Mem{Base: dstPointer, Disp: -p.batchBytes()})
	}
	p.SUBQ(batchSize, bytesLeft)
}
