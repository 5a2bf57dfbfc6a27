package main

import (
	"fmt"

	"github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/ir"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// The shuffle strategy: VPSHUFB looks 32 bytes up in 16 bytes of a table, and a few more instructions make that 256. The
// bytes of 32 blocks are sorted for it, so that a register holds the same byte of all of them, a slice. Each round cuts
// R0 and R1 into slices, looks these up, multiplies them by the MDS matrix as slices, and puts words together again for
// the additions. No address and no branch depends on key or data, except in the hybrid.
//
// A batch is two groups of 32 blocks, which take turns. The look-ups of one group keep the two units for shuffles busy; the
// rest of the round, for the other group, is a long chain of operations for any of the four. So the two are woven into one
// stream, a step: step t looks group t mod 2 up, for round t/2, while the other group ends its round. Both groups go through
// the same code with their addresses exchanged, because two copies outgrow the cache of decoded instructions on Zen 3.
//
// The hybrid weaves scalar rounds of more blocks in, two at a time, for the units that the vector code leaves idle. Its
// table addresses do depend on the data.
//
// Figures of the variants on Zen 5 (EPYC): cycles per byte to encrypt 16 KiB without and with GFNI, instructions per byte in
// the loop of the steps beside them, and the hybrid's cycles per byte.
//
//	                                                shuffle      with GFNI    hybrid
//	look-ups alone                                  3.03
//	one group after the other (a C model's)         4.86  17.5
//	not woven, but the rest of a round in one piece 4.51  16.7   4.28  16.0
//	woven, parked nothing                           4.43  16.7   4.20  16.0
//	- T0                                            4.36  16.7   4.13  15.9   3.52
//	- T0 and half of T1                             4.42  16.8   4.20  16.0   3.62
//	- T0 and three quarters of T1                   4.11  16.9   3.86  16.1   3.30
//	- T0 and T1                                     4.07  16.9   3.88  16.1   3.31
//	- T0, selectors anew                            4.30  16.9   4.09  16.1   3.48
//	- T0 and a quarter of T1, selectors anew        3.96  17.0   3.86  16.2   3.22
//	- T0 and half of T1, selectors anew             3.96  17.1   3.86  16.3   3.26
//	- T0 and half of a look-up, selectors anew      3.96  17.2   3.83  16.5   3.25
//	- the same with the slices in registers         4.09  17.4   3.94  16.7   3.32
//	hybrid, 8 scalar blocks                                                   3.52
//	- 32 scalar blocks                                                        3.52
//	- scalar code in bursts after 1, 2, 4, 6, 8,
//	  12, 16, 32 vector operations     3.64  3.21  3.51  3.22  3.51  3.22  3.23  3.24
//
// Two units of the four can shuffle, choose and shift. If they never waited a step would take 109 cycles, which is 3.4 a
// byte; it takes 121, and what comes before and after the steps is 4%.

// A shuffler is an assembler for one of the shuffle kernels.
type shuffler struct {
	*wide       // for all of a batch
	eight *wide // for eight blocks, one word of each to a register: what the additions are done on
	weaver
	gfni    bool
	scalars int // blocks of scalar code beside the 64

	// To leave the other strand registers, a strand may do more than it must.
	parked int  // how many of the four registers of T1 wait in memory as T0 does
	anew   bool // whether the selector of bit 5 is made twice rather than kept
	shared bool // whether two S-boxes share the constant for bit 7 rather than load it each

	count  operand.Mem // next counter's last word
	pair   pair
	rounds []*ir.Instruction // of the pair in one step
}

// General registers.
var (
	frameBase = reg.RBP
	looked    = reg.R8  // the middle of the slices of the group that is looked up,
	mixed     = reg.R9  // and of the other one
	changing  = reg.R10 // the half of the latter's state that this round changes
	step      = reg.R11 // from the last one's entry in the list, so that it ends with 0
)

// The frame, from an address on that is a multiple of 32. What there is for each group is for one after the other.
const (
	tablesAt = 0               // rows of 16 bytes, each twice: 16 of S-box 0 and so on
	outsAt   = tablesAt + 2048 // what the look-ups yield: slices of T0 before the MDS matrix, then of T1
	slicesAt = outsAt + 512    // what is looked up: slices of R0, then of R1
	wordsAt  = slicesAt + 512  // the state, word after word, for both groups together
	stepsAt  = wordsAt + 4*256 // what step t mixes in: the round keys of round t/2 and a pointer for changing
	blocksAt = stepsAt + 16*32 // the blocks of scalar code
	atLeast  = blocksAt + 2*16 // loading one pair too many is simpler than not
	rowBytes = 32
)

// writeShuffle builds the kernels of both directions.
func writeShuffle() *assembler {
	a := newAssembler()
	a.ConstraintExpr("amd64,!purego")
	for _, a.decrypt = range []bool{false, true} {
		(&shuffler{wide: &wide{a, 32, "Shuffle", true}, parked: 1, anew: true}).kernel()
		(&shuffler{wide: &wide{a, 32, "GFNIShuffle", true}, parked: 3, shared: true, gfni: true}).kernel()
		(&shuffler{wide: &wide{a, 40, "Hybrid", false}, parked: 1, anew: true, scalars: 16}).kernel()
	}
	return a
}

func (s *shuffler) kernel() {
	how := "Table entries come by VPSHUFB."
	if s.scalars > 0 {
		how = "Table entries come by VPSHUFB for most blocks, by scalar loads for some."
	}
	a := s.start(how)
	s.eight = &wide{s.assembler, 8, s.suffix, false}
	frame := s.AllocLocal(atLeast + 16*s.scalars + 32)
	s.count = s.AllocLocal(8)
	if s.scalars > 0 {
		s.pair = pair{halves: s.AllocLocal(16), block: s.AllocLocal(8), keys: s.AllocLocal(8), steps: s.AllocLocal(8)}
		s.rounds = s.pairRounds()
	}
	s.LEAQ(frame.Offset(31), frameBase)
	s.ANDQ(operand.I8(-32), frameBase)
	s.tables()
	s.listSteps()
	s.firstCount(a, s.count)
	s.JMP(operand.LabelRef("more"))

	s.Label("batch")
	s.loadBatch(a)
	for i := range 2 {
		s.Commentf("Group %d: slices", i)
		s.firstSlices(i)
	}
	s.Comment("The first look-ups")
	s.LEAQ(inFrame(slicesAt+128), looked)
	s.LEAQ(inFrame(slicesAt+256+128), mixed)
	s.MOVQ(operand.I32(-16*(2*rounds-1)), step)
	s.firstPair()
	s.lookUp()
	s.weave(s.Instruction, s.rounds)
	s.Comment("Steps: look-ups of one group, the rest of the round of the other")
	s.Label("steps")
	s.nextGroup()
	s.lookUp()
	s.strand = 1
	s.mix(true)
	s.weave(s.Instruction, s.rounds)
	s.nextPair()
	s.ADDQ(operand.U8(16), step)
	s.JNE(operand.LabelRef("steps"))
	s.Comment("The rest of the last round")
	s.nextGroup()
	s.mix(false)
	s.weave(nil, nil)

	s.storeBatch(a)
	s.Label("more")
	s.CMPQ(a.left, operand.U32(s.batchBytes()))
	s.JAE(operand.LabelRef("batch"))
	s.VZEROUPPER()
	s.RET()
}

func mem(base reg.Register, disp int) operand.Mem { return operand.Mem{Base: base, Disp: disp} }

func inFrame(offset int) operand.Mem { return mem(frameBase, offset) }

// fill returns read-only data of 32 bytes.
func (s *shuffler) fill(name string, b func(n int) byte) operand.Mem {
	return s.constant(name, func() {
		for n := range 32 {
			s.AddDatum(n, operand.U8(b(n)))
		}
	})
}

// all returns 32 bytes b.
func (s *shuffler) all(b byte) operand.Mem {
	return s.fill(fmt.Sprintf("all%02X", b), func(int) byte { return b })
}

// The rest of a batch, which comes before and after the steps, has these registers.
var (
	batchWords, batchWordsEnd   = reg.RDX, reg.RSI
	batchBlocks, batchBlocksEnd = reg.R13, reg.R14
	batchGroup, batchTemp       = group(vecs[0:4]), group(vecs[4:8])
	batchKeys                   = vecs[8:12]
	batchPair                   = vecs[12].y // whitening of a pair of blocks
	batchBefore                 = vecs[13]   // in CBC mode, the block before
)

// tables writes the tables, which are a_j = S_j/4 + e_j for S-box j. MDS·S needs a multiplication by 4·MDS then, with fewer
// and smaller elements (see mds); e_j makes constants vanish that mds adds. The MDS matrix has 01 and 5B = 01 + 1/4 in
// every column, so S_j/4 is the sum of two bytes of the S-box that has met the matrix.
//
// All of the S-boxes is read, in order, whatever the key.
func (s *shuffler) tables() {
	s.Comment("Tables of a quarter of what the S-boxes yield, each row twice")
	from, to, end := reg.RCX, reg.RDX, reg.RAX
	entries, pick, e, order := vecs[0:4], vecs[8].y, vecs[9].y, vecs[10].y
	s.VMOVDQU(s.fill("laneOrder", func(n int) byte {
		if n%4 != 0 {
			return 0
		}
		return byte(n/4%2*4 + n/8)
	}), order)
	s.MOVQ(s.schedule, from)
	s.LEAQ(inFrame(tablesAt), to)
	constants, _ := quarterConstants()
	for j := range mds {
		loop := s.label("rows")
		s.VMOVDQU(s.fill(fmt.Sprintf("quarter%d", j), func(n int) byte {
			for i := range mds {
				if n%16/4 == 0 && mds[i][j] == 0x01 || n%16/4 == 1 && mds[i][j] == 0x5b {
					return byte(n%4*4 + i)
				}
			}
			return 0x80
		}), pick)
		s.VMOVDQU(s.all(constants[j]), e)
		s.LEAQ(mem(to, 16*rowBytes), end)
		s.Label(loop)
		// A lane has four entries. Their bytes 01 come to its first word, their bytes 5B to the second one.
		for q, r := range entries {
			s.VMOVDQU(mem(from, 32*q), r.y)
			s.VPSHUFB(pick, r.y, r.y)
		}
		t := vecs[4:6]
		s.VPUNPCKLDQ(entries[1].y, entries[0].y, t[0].y)
		s.VPUNPCKLDQ(entries[3].y, entries[2].y, t[1].y)
		s.VPUNPCKLQDQ(t[1].y, t[0].y, entries[0].y)
		s.VPUNPCKHQDQ(t[1].y, t[0].y, entries[1].y)
		s.VPXOR(entries[1].y, entries[0].y, entries[0].y)
		s.VPXOR(e, entries[0].y, entries[0].y)
		s.VPERMD(entries[0].y, order, entries[0].y)
		for half, quadwords := range []uint8{0b01_00_01_00, 0b11_10_11_10} {
			s.VPERMQ(operand.U8(quadwords), entries[0].y, t[half].y)
			s.VMOVDQA(t[half].y, mem(to, rowBytes*half))
		}
		s.SUBQ(operand.I8(-128), from)
		s.ADDQ(operand.U8(2*rowBytes), to)
		s.CMPQ(to, end)
		s.JNE(operand.LabelRef(loop))
	}
}

// quarterConstants returns the e_j, and k = MDS·4e, which must undo what mds adds to its four rows: the doublings there
// leave out the constant 69, and it is doubled once more on the way.
func quarterConstants() (e, k [4]byte) {
	twice := multiply(2, 0x69)
	k = [4]byte{twice, twice, twice ^ 0x69, twice}
	for j, x := range solveMDS(k) {
		e[j] = multiply(x, inverse(4))
	}
	return e, k
}

// solveMDS solves MDS·x = y by elimination. The matrix has no singular square part, so no pivot is zero.
func solveMDS(y [4]byte) [4]byte {
	m := mds
	for p := range m {
		scale := inverse(m[p][p])
		for c := range m {
			m[p][c] = multiply(scale, m[p][c])
		}
		y[p] = multiply(scale, y[p])
		for r := range m {
			if factor := m[r][p]; r != p {
				for c := range m {
					m[r][c] ^= multiply(factor, m[p][c])
				}
				y[r] ^= multiply(factor, y[p])
			}
		}
	}
	return y
}

// listSteps writes down what the steps mix in.
func (s *shuffler) listSteps() {
	s.Comment("What each step mixes in")
	keys := s.newRoundKeys(reg.RAX)
	for r := range rounds {
		s.MOVQ(keys.at(r, 0), reg.RBX)
		for g := range 2 {
			entry := inFrame(stepsAt + 16*(2*r+g))
			s.MOVQ(reg.RBX, entry)
			s.LEAQ(inFrame(wordsAt+512*(1-r%2)+128*g), reg.RCX)
			s.MOVQ(reg.RCX, entry.Offset(8))
		}
	}
}

// nextGroup exchanges the groups.
func (s *shuffler) nextGroup() {
	s.XCHGQ(looked, mixed)
	s.MOVQ(mixedIn(8), changing)
}

// mixedIn is a part of what the current step mixes in.
func mixedIn(offset int) operand.Mem {
	return operand.Mem{Base: frameBase, Index: step, Scale: 1, Disp: stepsAt + 16*(2*rounds-1) + offset}
}

// out is where the frame has slice j of T0 or T1 of a group before the MDS matrix.
func out(group reg.Register, t, j int) operand.Mem {
	return mem(group, outsAt-slicesAt-128+128*t+32*j)
}

// slice is where the frame has byte j of a group's R0 or R1.
func slice(group reg.Register, r, j int) operand.Mem { return mem(group, -128+128*r+32*j) }

// half is where the frame has eight of the mixed group's words R2 or R3.
func half(r, i int) operand.Mem { return mem(changing, 256*r+32*i) }

// rotatedBefore says whether word w of a state, or w+2, is rotated before the XOR. Such a word is stored rotated, since
// there is time for that when it has just been made.
func (s *shuffler) rotatedBefore(w int) bool { return w%2 == 1 != s.decrypt }

// The operations of the strands, by their names.

func (s *shuffler) load(from operand.Mem) value { return s.fetch(s.VMOVDQA, from) }

func (s *shuffler) save(v value, to operand.Mem) {
	s.perform(func() { s.VMOVDQA(s.registers[v], to) }, v)
}

func (s *shuffler) xor(a value, b source) value { return s.of(s.VPXOR, b, a) }
func (s *shuffler) add(a value, b source) value { return s.of(s.VPADDD, b, a) }

// moved moves the bits of each byte one place up.
func (s *shuffler) moved(a value) value { return s.of(s.VPADDB, a, a) }

// permuted looks each byte of index up in its lane of table: its low four bits, or 0 where its bit 7 is set.
func (s *shuffler) permuted(table value, index source) value { return s.of(s.VPSHUFB, index, table) }

// chosen is b where bit 7 of the selector is set, a elsewhere.
func (s *shuffler) chosen(a, b, selector value) value {
	return s.make(func(into reg.Register) {
		s.VPBLENDVB(s.registers[selector], s.registers[b], s.registers[a], into)
	}, a, b, selector)
}

func (s *shuffler) shifted(instruction any, n int, a value) value {
	return s.of(instruction, operand.U8(n), a)
}

// rotated rotates words by one bit.
func (s *shuffler) rotatedLeft(a value) value {
	return s.of(s.VPOR, s.shifted(s.VPSRLD, 31, a), s.add(a, a))
}

func (s *shuffler) rotatedRight(a value) value {
	return s.of(s.VPOR, s.shifted(s.VPSLLD, 31, a), s.shifted(s.VPSRLD, 1, a))
}

// lookUp looks the slices of a group up, in each S-box one slice of R0 and one of R1, so that each row of the table is
// loaded once.
func (s *shuffler) lookUp() {
	var topBits value
	for j := range 4 {
		if !s.shared || j%2 == 0 {
			topBits = s.load(s.all(0x80))
		}
		// g(ROL(R1, 8)): the S-boxes one place on
		a := s.sboxes(j, topBits, [2]operand.Mem{slice(looked, 0, j), slice(looked, 1, (j+3)%4)})
		for t := range a {
			s.save(a[t], out(looked, t, j))
		}
	}
}

// sboxes looks two slices up in table j. Bits 6, 5 and 4 of an index say which of eight pairs of rows is meant, and choose
// among the results one after the other. Bit 7 chooses within a pair, for nothing: VPSHUFB gives 0 where it is set, so one
// row is asked with the index, the other one with bit 7 flipped, and the sum is the answer.
func (s *shuffler) sboxes(j int, topBits value, x [2]operand.Mem) [2]value {
	var flipped, selector6, selector5 [2]value
	for i := range x {
		flipped[i] = s.xor(topBits, x[i])
		selector6[i] = s.moved(flipped[i])
		if !s.anew {
			selector5[i] = s.moved(selector6[i])
		}
	}
	row := func(h int) value { return s.load(inFrame(tablesAt + rowBytes*(16*j+h))) }
	pair := func(h int) (r [2]value) {
		low := row(h)
		for i := range x {
			r[i] = s.permuted(low, x[i])
		}
		high := row(h + 8)
		for i := range x {
			r[i] = s.xor(r[i], s.permuted(high, flipped[i]))
		}
		return r
	}
	choose := func(a, b, selector [2]value) (r [2]value) {
		for i := range r {
			r[i] = s.chosen(a[i], b[i], selector[i])
		}
		return r
	}
	double := func(selector [2]value) (r [2]value) {
		for i := range r {
			r[i] = s.moved(selector[i])
		}
		return r
	}
	byBit6 := func(h int) [2]value {
		a := pair(h)
		return choose(a, pair(h+4), selector6)
	}
	byBit5 := func(h int) [2]value {
		a := byBit6(h)
		b := byBit6(h + 2)
		if s.anew {
			selector5 = double(selector6)
		}
		return choose(a, b, selector5)
	}
	a := byBit5(0)
	b := byBit5(1)
	return choose(a, b, double(selector5))
}

// mds multiplies the slices in a by 4·MDS. Its elements are 4·01 = x², 4·5B = x²+1 and 4·EF = x²+x+1, so that with s the
// sum of all slices
//
//	row 0 = (x²+1)s + x·a1      + a0    row 2 = (x²+1)s + x(a0+a3) + a2
//	row 1 = (x²+1)s + x(a1+a2)  + a3    row 3 = (x²+1)s + x(a0+a2) + a1
//
// and x(a0+a3) is x·s + x(a1+a2). That is five multiplications for four rows. Each row has what quarterConstants says added.
func (s *shuffler) mds(a [4]operand.Mem) (rows [4]value) {
	_, k := quarterConstants()
	a1, a0 := s.load(a[1]), s.load(a[0])
	a12 := s.xor(a1, a[2])
	a03 := s.xor(a0, a[3])
	a02 := s.xor(a0, a[2])
	sum := s.xor(a12, a03)
	var common, xa12, xa03, xa1, xa02 value
	if s.gfni {
		common = s.times(multiply(2, 2)^1, sum, 0)
		xa12 = s.times(2, a12, k[1])
		xa03 = s.times(2, a03, k[2])
		xa1 = s.times(2, a1, k[0])
		xa02 = s.times(2, a02, k[3])
	} else {
		reduce := s.load(s.all(0x69))
		double := func(v value) value { // and add 69
			r := s.permuted(reduce, v) // 69 where bit 7 is clear
			return s.xor(s.moved(v), r)
		}
		xs := double(sum)
		common = s.xor(double(xs), sum)
		xa12 = double(a12)
		xa03 = s.xor(xs, xa12)
		xa1 = double(a1)
		xa02 = double(a02)
	}
	row := func(product value, single source) value { return s.xor(s.xor(product, common), single) }
	return [4]value{row(xa1, a0), row(xa12, a[3]), row(xa03, a[2]), row(xa02, a1)}
}

// times multiplies by m and adds k.
func (s *shuffler) times(m byte, a value, k byte) value {
	matrix := s.fill(fmt.Sprintf("times%02X", m), func(n int) (row byte) { // byte 7-i of a quadword makes bit i
		for column := range 8 {
			row |= multiply(m, 1<<column) >> (7 - n%8) & 1 << column
		}
		return row
	})
	return s.make(func(into reg.Register) { s.VGF2P8AFFINEQB(operand.U8(k), matrix, s.registers[a], into) }, a)
}

// words makes words from the slices of their bytes.
func (s *shuffler) words(x [4]value) (w [4]value) {
	low01, low23 := s.of(s.VPUNPCKLBW, x[1], x[0]), s.of(s.VPUNPCKLBW, x[3], x[2])
	high01, high23 := s.of(s.VPUNPCKHBW, x[1], x[0]), s.of(s.VPUNPCKHBW, x[3], x[2])
	w[0], w[1] = s.of(s.VPUNPCKLWD, low23, low01), s.of(s.VPUNPCKHWD, low23, low01)
	w[2], w[3] = s.of(s.VPUNPCKLWD, high23, high01), s.of(s.VPUNPCKHWD, high23, high01)
	return w
}

// slices is the inverse of words: it sorts the bytes of each lane, then exchanges rows and columns.
func (s *shuffler) slices(w [4]value) (x [4]value) {
	control := s.fill("byPlace", func(n int) byte { return byte(n%4*4 + n%16/4) })
	for i := range w {
		w[i] = s.permuted(w[i], control)
	}
	low01, low23 := s.of(s.VPUNPCKLDQ, w[1], w[0]), s.of(s.VPUNPCKLDQ, w[3], w[2])
	high01, high23 := s.of(s.VPUNPCKHDQ, w[1], w[0]), s.of(s.VPUNPCKHDQ, w[3], w[2])
	x[0], x[1] = s.of(s.VPUNPCKLQDQ, low23, low01), s.of(s.VPUNPCKHQDQ, low23, low01)
	x[2], x[3] = s.of(s.VPUNPCKLQDQ, high23, high01), s.of(s.VPUNPCKHQDQ, high23, high01)
	return x
}

// mix is the rest of a round: from what the look-ups have yielded to the other half of the state and, if another round
// follows, the slices of it.
func (s *shuffler) mix(another bool) {
	outs := func(t int) [4]operand.Mem {
		return [4]operand.Mem{out(mixed, t, 0), out(mixed, t, 1), out(mixed, t, 2), out(mixed, t, 3)}
	}
	t0 := outs(0)
	for i, v := range s.words(s.mds(t0)) {
		s.save(v, t0[i])
	}
	t1 := s.words(s.mds(outs(1)))
	for i := 4 - s.parked; i < 4; i++ {
		s.save(t1[i], out(mixed, 1, i))
	}
	k0, k1 := s.fetch(s.VPBROADCASTD, mixedIn(0)), s.fetch(s.VPBROADCASTD, mixedIn(4))
	var made [2][4]value
	for i := range 4 {
		if i >= 4-s.parked {
			t1[i] = s.load(out(mixed, 1, i))
		}
		sum := s.add(t1[i], t0[i])
		f := [2]value{s.add(sum, k0), s.add(s.add(sum, t1[i]), k1)}
		for r := range f {
			v := s.xor(f[r], half(r, i))
			if s.rotatedBefore(r) {
				s.save(s.rotatedLeft(v), half(r, i))
			} else {
				v = s.rotatedRight(v)
				s.save(v, half(r, i))
			}
			made[r][i] = v
		}
	}
	if another {
		for r := range made {
			for j, x := range s.slices(made[r]) {
				s.save(x, slice(mixed, r, j))
			}
		}
	}
}

// firstSlices cuts R0 and R1 of group i into slices and rotates the words that are stored rotated.
func (s *shuffler) firstSlices(i int) {
	s.LEAQ(inFrame(slicesAt+256*i+128), mixed)
	s.LEAQ(inFrame(wordsAt+128*i), changing)
	for w := range 4 {
		var words [4]value
		for i := range words {
			words[i] = s.load(half(w, i))
		}
		if w < 2 {
			for j, x := range s.slices(words) {
				s.save(x, slice(mixed, w, j))
			}
		}
		if s.rotatedBefore(w) {
			for i := range words {
				s.save(s.rotatedLeft(words[i]), half(w, i))
			}
		}
		s.weave(nil, nil)
	}
}

// loadBatch reads the batch at src, or what row modes have instead, or makes counters, and whitens it.
func (s *shuffler) loadBatch(a arguments) {
	in, _ := s.whitening()
	s.MOVQ(a.src, bufferPointer)
	s.batchRegisters(in)
	s.chooseLoad(a)
	blocks := func(label string, xor func(q int, r reg.Register)) {
		s.eights(label, func() {
			for q, r := range batchGroup {
				s.VMOVDQU(mem(bufferPointer, 32*q), r.y)
				xor(q, r.y)
			}
			s.eight.transpose(batchGroup, batchTemp)
			for w, r := range batchGroup {
				s.VPXOR(batchKeys[w].y, r.y, r.y)
				s.VMOVDQA(r.y, mem(batchWords, 256*w))
			}
			s.SUBQ(operand.I8(-128), bufferPointer)
		})
	}
	s.Comment("Load and whiten, one word of each block to a register")
	blocks("load", func(int, reg.Register) {})
	s.pairs("loadPair", func(block vec) {
		s.VPXOR(mem(bufferPointer, 0), batchPair, block.y)
		s.VMOVDQA(block.y, mem(batchBlocks, 0))
		s.ADDQ(operand.U8(32), bufferPointer)
	})
	if s.decrypt {
		return
	}
	s.JMP(operand.LabelRef("loaded"))
	if s.rows {
		s.Label("withRow")
		s.Comment("The same, XORed with the row before")
		s.SUBQ(bufferPointer, rowPointer)
		blocks("loadWithRow", func(q int, r reg.Register) {
			s.VPXOR(operand.Mem{Base: bufferPointer, Index: rowPointer, Scale: 1, Disp: 32 * q}, r, r)
		})
		s.JMP(operand.LabelRef("loaded"))
	}
	s.Label("counters")
	s.Comment("Make counters and whiten them; only their last words differ, which have their bytes in the other order")
	swap, more, number, pairNumber, pairFixed := vecs[4].y, vecs[5].y, vecs[6].y, vecs[7].y, vecs[14].y
	same, counted := batchGroup[:3], batchGroup[3].y
	s.VMOVDQU(s.swapWords(), swap)
	s.VPBROADCASTD(s.count, pairNumber)
	s.VPADDD(s.eight.blockNumbers(0), pairNumber, number)
	s.VPBROADCASTD(s.word("eight", 8), more)
	s.ADDL(operand.U8(s.batchBytes()/16), s.count)
	for w, r := range same {
		s.VPBROADCASTD(mem(chainPointer, 4*w), r.y)
		s.VPXOR(batchKeys[w].y, r.y, r.y)
	}
	s.eights("countEight", func() {
		s.VPSHUFB(swap, number, counted)
		s.VPADDD(more, number, number)
		s.VPXOR(batchKeys[3].y, counted, counted)
		for w, r := range batchGroup {
			s.VMOVDQA(r.y, mem(batchWords, 256*w))
		}
	})
	if s.scalars > 0 {
		s.VPADDD(s.constant("pairNumbers", func() {
			for n := range 8 {
				s.AddDatum(4*n, operand.U32(64+n/4))
			}
		}), pairNumber, pairNumber)
		s.VPBROADCASTD(s.word("two", 2), more)
		s.VBROADCASTI128(mem(chainPointer, 0), pairFixed)
		s.VPXOR(batchPair, pairFixed, pairFixed)
	}
	s.pairs("countPair", func(block vec) {
		s.VPSHUFB(swap, pairNumber, block.y)
		s.VPADDD(more, pairNumber, pairNumber)
		s.VPXOR(batchPair, block.y, block.y)
		s.VPBLENDD(operand.U8(0b1000_1000), block.y, pairFixed, block.y)
		s.VMOVDQA(block.y, mem(batchBlocks, 0))
	})
	s.Label("loaded")
}

// storeBatch whitens the batch, whose halves the last round should not have swapped, and writes it to dst, block by block, or
// XORed with src for a counter, or with the blocks before in CBC mode.
func (s *shuffler) storeBatch(a arguments) {
	_, out := s.whitening()
	s.MOVQ(a.dst, bufferPointer)
	s.MOVQ(a.src, sourcePointer)
	s.MOVQ(a.chain, chainPointer)
	s.batchRegisters(out)
	s.TESTQ(chainPointer, chainPointer)
	s.JEQ(operand.LabelRef("plain"))
	if s.decrypt {
		s.VMOVDQU(mem(chainPointer, 0), batchBefore.x)
	}
	s.Comment("Whiten, block by block again, XOR and store")
	s.storeBlocks("chained", s.chain)
	if s.decrypt {
		s.VMOVDQU(batchBefore.x, mem(chainPointer, 0))
	}
	s.JMP(operand.LabelRef("stored"))
	s.Label("plain")
	s.Comment("Whiten, block by block again, and store")
	s.storeBlocks("store", func([]vec) {})
	s.Label("stored")
	if s.hasRows() {
		s.MOVQ(a.dst, bufferPointer)
		s.nextRow(a, mem(bufferPointer, 0))
	}
	s.ADDQ(operand.U32(s.batchBytes()), a.src)
	s.ADDQ(operand.U32(s.batchBytes()), a.dst)
	s.SUBQ(operand.U32(s.batchBytes()), a.left)
}

// storeBlocks is storeBatch without or with a chain, which is called with the blocks before they are stored.
func (s *shuffler) storeBlocks(label string, chain func(blocks []vec)) {
	store := func(blocks []vec) {
		chain(blocks)
		for q, r := range blocks {
			s.VMOVDQU(r.y, mem(bufferPointer, 32*q))
		}
		s.ADDQ(operand.U32(32*len(blocks)), bufferPointer)
	}
	s.eights(label, func() {
		for w, r := range batchGroup {
			s.VMOVDQA(mem(batchWords, 256*(w^2)), r.y)
			if s.rotatedBefore(w) {
				s.VPSLLD(operand.U8(31), r.y, batchTemp[w].y)
				s.VPSRLD(operand.U8(1), r.y, r.y)
				s.VPOR(batchTemp[w].y, r.y, r.y)
			}
			s.VPXOR(batchKeys[w].y, r.y, r.y)
		}
		s.eight.transpose(batchGroup, batchTemp)
		store(batchGroup[:])
	})
	s.pairs(label+"Pair", func(block vec) {
		s.VPXOR(mem(batchBlocks, 0), batchPair, block.y)
		store([]vec{block})
	})
}

// chain XORs blocks with src or, in CBC mode, with the blocks before those. src may be dst, so it keeps the last of them.
func (s *shuffler) chain(blocks []vec) {
	if s.decrypt {
		s.VINSERTI128(operand.U8(1), mem(sourcePointer, 0), batchBefore.y, batchBefore.y)
		s.VPXOR(batchBefore.y, blocks[0].y, blocks[0].y)
		for q, r := range blocks[1:] {
			s.VPXOR(mem(sourcePointer, 32*q+16), r.y, r.y)
		}
		s.VMOVDQU(mem(sourcePointer, 32*len(blocks)-16), batchBefore.x)
	} else {
		for q, r := range blocks {
			s.VPXOR(mem(sourcePointer, 32*q), r.y, r.y)
		}
	}
	s.ADDQ(operand.U32(32*len(blocks)), sourcePointer)
}

// batchRegisters sets what eights and pairs need, with the subkeys from k on for whitening.
func (s *shuffler) batchRegisters(k int) {
	s.LEAQ(inFrame(wordsAt), batchWords)
	s.LEAQ(inFrame(wordsAt+256), batchWordsEnd)
	for w, r := range batchKeys {
		s.VPBROADCASTD(s.subkey(k+w), r.y)
	}
	if s.scalars > 0 {
		s.LEAQ(inFrame(blocksAt), batchBlocks)
		s.LEAQ(inFrame(blocksAt+16*s.scalars), batchBlocksEnd)
		s.VBROADCASTI128(s.subkey(k), batchPair)
	}
}

// eights repeats body for eight of the 64 blocks at a time: batchWords points at their words.
func (s *shuffler) eights(label string, body func()) {
	s.Label(label)
	body()
	s.ADDQ(operand.U8(32), batchWords)
	s.CMPQ(batchWords, batchWordsEnd)
	s.JNE(operand.LabelRef(label))
}

// pairs repeats body for two of the blocks of scalar code at a time: batchBlocks points at them.
func (s *shuffler) pairs(label string, body func(block vec)) {
	if s.scalars == 0 {
		return
	}
	s.Label(label)
	body(batchGroup[0])
	s.ADDQ(operand.U8(32), batchBlocks)
	s.CMPQ(batchBlocks, batchBlocksEnd)
	s.JNE(operand.LabelRef(label))
}

// word is read-only data of one word.
func (s *shuffler) word(name string, w uint32) operand.Mem {
	return s.constant(name, func() { s.AddDatum(0, operand.U32(w)) })
}

// A pair is what scalar code keeps in memory of its two blocks: R2 and R3 of both, where the blocks come from and go to,
// the keys of the next rounds, and how many steps it takes to the last one.
type pair struct{ halves, block, keys, steps operand.Mem }

var pairWords = [2][2]reg.Register{{reg.R12L, reg.R13L}, {reg.R14L, reg.R15L}}

// pairWord is where word w of block b of the pair lies.
func (s *shuffler) pairWord(b, w int) word {
	if w < 2 {
		return pairWords[b][w]
	}
	return s.pair.halves.Offset(8*b + 4*(w-2))
}

// roundsPerStep is how many rounds of a pair a step has, so that all pairs are done after all steps.
func (s *shuffler) roundsPerStep() int { return rounds * (s.scalars / 2) / (2 * rounds) }

// firstPair begins with the pairs, nextPair goes on with the next one if this one is done.

func (s *shuffler) firstPair() {
	if s.scalars == 0 {
		return
	}
	s.LEAQ(inFrame(blocksAt), reg.RAX)
	s.MOVQ(reg.RAX, s.pair.block)
	s.MOVL(operand.U32(thirdByte), control.d)
	s.loadPair()
	s.DECL(s.pair.steps) // for the first look-ups, which no nextPair follows
}

func (s *shuffler) nextPair() {
	if s.scalars == 0 {
		return
	}
	s.DECL(s.pair.steps)
	s.JNZ(operand.LabelRef("samePair"))
	s.Comment("The next two blocks of scalar code")
	s.MOVQ(s.pair.block, reg.RAX)
	for b := range 2 {
		for w := range 4 {
			from := s.pairWord(b, w^2)
			if w < 2 {
				s.MOVL(from, reg.ECX)
				from = reg.ECX
			}
			s.MOVL(from, mem(reg.RAX, 16*b+4*w))
		}
	}
	s.ADDQ(operand.U8(32), s.pair.block)
	s.loadPair()
	s.Label("samePair")
}

func (s *shuffler) loadPair() {
	s.MOVQ(s.pair.block, reg.RAX)
	for b := range 2 {
		for w := range 4 {
			from, to := mem(reg.RAX, 16*b+4*w), s.pairWord(b, w)
			if w < 2 {
				s.MOVL(from, to)
			} else {
				s.MOVL(from, reg.ECX)
				s.MOVL(reg.ECX, to)
			}
		}
	}
	s.newRoundKeys(reg.RAX)
	s.MOVQ(reg.RAX, s.pair.keys)
	s.MOVL(operand.U32(rounds/s.roundsPerStep()), s.pair.steps)
}

// pairRounds returns the rounds of a pair in one step.
func (s *shuffler) pairRounds() []*ir.Instruction {
	c := &scalar{assembler: &assembler{Context: build.NewContext(), schedule: s.schedule, decrypt: s.decrypt}, bmi: true}
	c.Function("rounds")
	keys := roundKeys{c.assembler, work.q}
	for r := range s.roundsPerStep() {
		for b := range 2 {
			x, y := pairWords[b][0], pairWords[b][1]
			c.pairG(x, 0, t0)
			c.pairG(y, 1, t1) // g(ROL(y, 8)): the S-boxes one place on
			c.MOVQ(s.pair.keys, keys.base)
			c.ADDL(t1.d, t0.d) // PHT
			c.ADDL(t0.d, t1.d)
			c.ADDL(keys.at(r, 0), t0.d)
			c.ADDL(keys.at(r, 1), t1.d)
			c.mixStack(x, y, s.pairWord(b, 2), s.pairWord(b, 3))
		}
	}
	forward := 8 * s.roundsPerStep()
	if s.decrypt {
		forward = -forward
	}
	c.ADDQ(operand.I8(forward), s.pair.keys)
	f, err := c.Result()
	if err != nil {
		panic(err)
	}
	return f.Functions()[0].Instructions()
}

// pairG is g with one register less: the sum's is an index first.
func (s *scalar) pairG(x reg.Register, j int, t gpr) {
	s.MOVL(x, work.d)
	s.MOVBLZX(work.low, t.d)
	s.MOVBLZX(work.high, index0.d)
	s.MOVL(s.sbox(j, t.q), t.d)
	s.XORL(s.sbox(j+1, index0.q), t.d)
	s.BEXTRL(control.d, x, index0.d)
	s.XORL(s.sbox(j+2, index0.q), t.d)
	s.SHRL(operand.U8(24), work.d)
	s.XORL(s.sbox(j+3, work.q), t.d)
}
