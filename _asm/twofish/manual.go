package main

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// The manual strategy: scalar loads instead of a gather instruction. The state's additions and rotations are vector code;
// the words to look up come to general registers two at a time, as the eight bytes of a quadword. Each byte becomes an
// index, the entries of a word are added up in a general register, and one finished g goes back to the vector.
//
// Two groups take turns: while one's words are looked up, which keeps the load units busy, the other's vector code runs
// beside it. Both are long chains, so their instructions must be woven by hand. What counts most (measured on Zen 5) is
// that an index quadword is in its register long before its bytes are extracted: instructions that wait fill the
// schedulers. So every instruction gets a wished position on a line, and is emitted in that order: a look-up is two long,
// a quadword sixteen; index quadwords are fetched up to lead before their turn, even across the loop's edge.
//
// Figures of the variants on Zen 5 (EPYC, cycles per byte to encrypt, decrypt), measured as functions called from C; in
// this package bench-slope --kernel avx2-manual shows what the chosen ones do. 16 blocks:
//
//	VMOVD and VPINSRD for each look-up, indices by the stack   10.3
//	quadwords from the stack half a quadword ahead              4.35
//	half of the XORs in vector registers, likewise              4.56  4.52
//	quadwords by VMOVQ and VPEXTRQ, three quadwords ahead       3.80  3.84
//	half of the XORs in vector registers, likewise              3.69  3.84
//	the first five so, three from the stack, and two bytes of
//	each by MOVZX from the stack (this one)                     3.65  3.71
//	three groups of eight blocks, likewise                      3.68  3.65
//	without BMI                                                 3.96  4.05
//	8 blocks: indices from the stack                            5.27
//	8 blocks: quadwords by VMOVQ and VPEXTRQ (this one)         4.44  4.64

// A manual is an assembler for one of the manual kernels.
type manual struct {
	*wide
	fromMemory  []int          // the bytes of a quadword that are loaded one by one
	inRegister  int            // how many quadwords of a step come from vector registers, before those from the stack
	quadwords   []gpr          // registers for quadwords, in turn
	controls    []reg.Register // of BEXTR, for bytes 2, 3, …
	singles     []gpr          // registers for single indices
	lead, ahead float64        // how long before its first look-up a quadword is fetched, and a byte extracted
	after       float64        // how long after its last look-up a g goes to the vector
	at, spread  float64        // where in a step the other group's vector code starts, and its density

	keys   roundKeys
	state  operand.Mem // the words as the stack holds them, 32 bytes each
	groups [2]group
	roles  [2][4]int // which word of a group is R0, R1, R2, R3
	index  map[lookup]gpr
	free   []gpr
}

// Registers that all variants use in the same way.
var (
	sums      = []gpr{r8, r10}                                      // of a quadword's first word, in turn
	secondSum = r9                                                  // of its second word
	turns     = [2][2]vec{{vecs[8], vecs[9]}, {vecs[10], vecs[11]}} // T0 and T1, of even and of odd steps
	mixTemp   = [2]vec{vecs[12], vecs[13]}
	upperSums = vecs[14] // the half of a T that belongs in the upper lane
	upperWord = vecs[15] // the upper lane of a word on its way to general registers
)

// writeManual builds the kernels of both directions and sizes.
func writeManual() *assembler {
	a := newAssembler()
	a.ConstraintExpr("amd64,!purego")
	for _, a.decrypt = range []bool{false, true} {
		(&manual{
			wide:       &wide{a, 8, "Manual", false},
			fromMemory: []int{6, 7}, inRegister: 5,
			quadwords: []gpr{rbx, rdx, rcx},
			controls:  []reg.Register{reg.R12, reg.R13, reg.R14, reg.R15},
			singles:   []gpr{rax, rbp, rsi},
			lead:      63, ahead: 4, after: 4, at: 16, spread: 0.1,
		}).kernel()
		(&manual{
			wide:       &wide{a, 4, "Manual8", false},
			inRegister: 4,
			quadwords:  []gpr{rbx, rdx},
			controls:   []reg.Register{reg.R12, reg.R13, reg.R14, reg.R15, reg.RSI},
			singles:    []gpr{rax, rcx, rbp},
			lead:       14, ahead: 2, after: 4, at: 16, spread: 0.5,
		}).kernel()
	}
	return a
}

// kernel builds one function. A step looks one group's words up; step s belongs to group s mod 2 and round s/2. The
// first step stands alone, then a loop's body has four steps, each with the vector code of the step before it.
func (m *manual) kernel() {
	a := m.start("Table entries come by scalar loads.")
	m.state = m.AllocLocal(2 * 4 * 32)
	end, count := m.AllocLocal(8), m.AllocLocal(8)
	m.keys = roundKeys{m.assembler, reg.R11}
	m.free = slices.Clone(m.singles)
	m.index = map[lookup]gpr{}
	m.groups, m.roles = twoGroups(), [2][4]int{{0, 1, 2, 3}, {0, 1, 2, 3}}

	m.firstCount(a, count)
	for i, c := range m.controls {
		m.MOVQ(operand.U32(8<<8|8*(i+2)), c)
	}
	m.JMP(operand.LabelRef("more"))
	m.Label("batch")
	m.load(m.groups, a, count)
	if m.usesStack() {
		for i, g := range m.groups {
			for word := range g {
				m.toStack(i, word)
			}
		}
	}
	m.Comment("Rounds: the first group's look-ups")
	m.newRoundKeys(m.keys.base)
	m.LEAQ(m.keys.at(rounds-2, 0), reg.RAX)
	m.MOVQ(reg.RAX, end)
	ops, _ := m.steps(0, 1, unknown)
	m.emit(ops)

	// The loop's edge settles: a quadword is fetched before the edge if its register is free by then.
	before := unknown
	for range 2 {
		_, before = m.steps(1, 5, before)
	}
	ops, after := m.steps(1, 5, before)
	if after != before || m.roles[0][0] != 0 || m.roles[1][0] != 0 {
		panic("a turn of the loop must leave things as it found them")
	}
	fetchedBefore := func(o woven) bool { return o.at < 0 }
	var early []woven
	for _, o := range ops {
		if fetchedBefore(o) {
			early = append(early, o)
		}
	}
	m.emit(early)
	body := slices.DeleteFunc(ops, fetchedBefore)
	for _, o := range early { // the next turn's; last among equals, for they overwrite what those still read
		o.at += 4 * m.stepLength()
		body = append(body, o)
	}
	m.Comment("Rounds: four steps of look-ups, each with the other group's vector code")
	m.Label("rounds")
	m.emit(body)
	m.keys.advance(2)
	m.CMPQ(m.keys.base, end)
	m.JNE(operand.LabelRef("rounds"))

	m.Comment("Rounds: the last three steps, and the vector code of the last one")
	ops, _ = m.steps(1, 4, before)
	m.emit(slices.DeleteFunc(ops, fetchedBefore))
	first, second := m.vectorCode(1, 1, 1)
	for _, instruction := range append(first, second...) {
		instruction()
	}

	m.store([2]group{m.current(0), m.current(1)}, a)
	m.Label("more")
	m.CMPQ(a.left, operand.U32(m.batchBytes()))
	m.JAE(operand.LabelRef("batch"))
	m.VZEROUPPER()
	m.RET()
}

// current is a group with its words in their present roles.
func (m *manual) current(i int) group {
	g, r := m.groups[i], m.roles[i]
	return group{g[r[0]], g[r[1]], g[r[2]], g[r[3]]}
}

func (m *manual) usesStack() bool { return len(m.fromMemory) > 0 || m.inRegister < m.perStep() }

// slot is where the stack holds a word of group i.
func (m *manual) slot(i, word int) operand.Mem { return m.state.Offset(128*i + 32*word) }

func (m *manual) toStack(i, word int) { m.VMOVDQU(m.v(m.groups[i][word]), m.slot(i, word)) }

// perStep is the number of quadwords in a step: those of R1, then those of R0.
func (m *manual) perStep() int { return m.lanes }

func (m *manual) stepLength() float64 { return 16 * float64(m.perStep()) }

// vectorCode is what follows the look-ups of a step, in group i and round r (from the key pointer on), with its T0 and
// T1 in the registers of the given turn. It swaps the group's halves.
func (m *manual) vectorCode(i, turn, r int) (early, late []func()) {
	roles := m.roles[i]
	var changed func(int)
	if m.usesStack() {
		changed = func(role int) { m.toStack(i, roles[role]) }
	}
	t := turns[turn]
	early, late = m.mix(m.current(i), t[0], t[1], m.keys.at(r, 0), m.keys.at(r, 1), mixTemp, changed)
	m.roles[i] = [4]int{roles[2], roles[3], roles[0], roles[1]}
	return early, late
}

// A woven is an instruction, or a few, with its wished position. The order of making decides between equal ones.
type woven struct {
	at   float64
	emit func()
}

// A lookup names one of them: the byte of a quadword of a step.
type lookup struct{ step, quadword, byte int }

// An edge says what the steps before leave behind, in positions before the next one: from when on registers for
// quadwords may be written, and the words of a group read.
type edge struct {
	quadwords [3]float64
	ready     [2]float64
}

const longAgo = -999

var unknown = edge{[3]float64{longAgo, longAgo, longAgo}, [2]float64{longAgo, longAgo}}

// steps weaves steps first to last-1. Step 0 has no vector code, and nothing before it.
func (m *manual) steps(first, last int, before edge) ([]woven, edge) {
	var ops []woven
	op := func(at float64, emit func()) { ops = append(ops, woven{at, emit}) }
	fetched := 0
	quadwordFree, ready := before.quadwords, before.ready
	sumFree := map[gpr]float64{}
	vecFree := map[vec]float64{}
	var inUpperWord [2]int // the step and word that upperWord holds

	for s := first; s < last; s++ {
		start := m.stepLength() * float64(s-first)
		i, turn := s%2, s%2
		if s > 0 {
			early, late := m.vectorCode(1-i, 1-turn, (s-1)/2)
			at := start + m.at - 1
			for n, emit := range append(early, late...) {
				op(at+float64(n)*m.spread, emit)
			}
			ready[1-i] = at + float64(len(early)+len(late))*m.spread
		}
		for n := range m.perStep() {
			half := m.perStep() / 2
			role, h := 1-n/half, n%half // R1's quadwords come first: T0 is the sum that fewer instructions wait for
			begin := start + 16*float64(n)
			word := m.roles[i][role]
			t := turns[turn][role]
			sum := sums[n%len(sums)]
			q := fetched % len(m.quadwords)
			quadword := m.quadwords[q]
			fetched++

			// The quadword
			at := max(begin-m.lead, quadwordFree[q], ready[i]+.01)
			if first == 0 {
				at = max(at, 0)
			}
			from := m.groups[i][word]
			if n < m.inRegister {
				if h > 1 {
					if inUpperWord != [2]int{s, role + 1} {
						inUpperWord = [2]int{s, role + 1}
						at = max(at, vecFree[upperWord])
						source := from
						op(at, func() { m.VEXTRACTI128(operand.U8(1), source.y, upperWord.x) })
					}
					from = upperWord
					at = max(at, vecFree[upperWord])
					vecFree[upperWord] = at
				}
				if h%2 == 0 {
					op(at, func() { m.VMOVQ(from.x, quadword.q) })
				} else {
					op(at, func() { m.VPEXTRQ(operand.U8(1), from.x, quadword.q) })
				}
			} else {
				op(at, func() { m.MOVQ(m.slot(i, word).Offset(8*h), quadword.q) })
			}

			// Its bytes
			lastExtraction := max(at, 0)
			lastLookup := sumFree[sum]
			for b := range 8 {
				key := lookup{s, n, b}
				extract := max(begin+2*float64(b)-m.ahead, lastExtraction, 0)
				inMemory := slices.Contains(m.fromMemory, b)
				switch {
				case inMemory:
					extract = max(extract, ready[i]+.01)
					op(extract, func() { m.MOVBLZX(m.slot(i, word).Offset(8*h+b), m.take(key).d) })
				case b == 0:
					op(extract, func() { m.MOVBLZX(quadword.low, m.take(key).d) })
				case b == 1:
					op(extract, func() { m.MOVBLZX(quadword.high, m.take(key).d) })
				case b == 7:
					op(extract, func() {
						m.SHRQ(operand.U8(56), quadword.q)
						m.index[key] = quadword
					})
				default:
					op(extract, func() { m.BEXTRQ(m.controls[b-2], quadword.q, m.take(key).q) })
				}
				into, first := sum, b == 0
				look := max(begin+2*float64(b)+1, extract, lastLookup)
				if b >= 4 {
					into, first = secondSum, b == 4
					look = max(look, sumFree[secondSum])
				}
				lastLookup = look
				op(look, func() {
					entry := m.sbox(role+b, m.index[key].q) // g(ROL(R1, 8)): the S-boxes one place on
					if first {
						m.MOVL(entry, into.d)
					} else {
						m.XORL(entry, into.d)
					}
					m.release(key)
				})
				if !inMemory {
					lastExtraction = extract
					if b == 7 {
						lastExtraction = look
					}
					quadwordFree[q] = lastExtraction
				}
			}

			// The two finished g's
			target := t
			if h > 1 {
				target = upperSums
			}
			done := max(begin+16+m.after, lastLookup, vecFree[target])
			sumFree[sum], sumFree[secondSum], vecFree[target] = done, done, done
			op(done, func() {
				if h%2 == 0 {
					m.VMOVD(sum.d, target.x)
				} else {
					m.VPINSRD(operand.U8(2), sum.d, target.x, target.x)
				}
				m.VPINSRD(operand.U8(h%2*2+1), secondSum.d, target.x, target.x)
				if h == 3 {
					m.VINSERTI128(operand.U8(1), upperSums.x, t.y, t.y)
				}
			})
			if done > start+m.stepLength()+m.at-2 {
				panic(fmt.Sprintf("%s: vector code before the last g is there", m.suffix))
			}
		}
	}

	// What is still under way at the end is finished before the next step begins.
	length := m.stepLength() * float64(last-first)
	for k := range ops {
		if ops[k].at >= 0 {
			ops[k].at = min(ops[k].at, length-.5)
		}
	}
	after := unknown
	for q := range m.quadwords {
		after.quadwords[q] = quadwordFree[q] - length
	}
	for i := range after.ready {
		after.ready[i] = ready[i] - length
	}
	return ops, after
}

// emit writes instructions in the order of their positions.
func (m *manual) emit(ops []woven) {
	slices.SortStableFunc(ops, func(a, b woven) int { return cmp.Compare(a.at, b.at) })
	for _, o := range ops {
		o.emit()
	}
}

// take reserves a register for an index.
func (m *manual) take(key lookup) gpr {
	if len(m.free) == 0 {
		panic(m.suffix + ": no register for an index")
	}
	r := m.free[0]
	m.free = m.free[1:]
	m.index[key] = r
	return r
}

// release gives it back, unless it was a quadword's.
func (m *manual) release(key lookup) {
	if r := m.index[key]; slices.Contains(m.singles, r) {
		m.free = append(m.free, r)
	}
	delete(m.index, key)
}
