package main

import (
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// nibbles multiply by two look-ups: an entry is the 16 products of the low nibbles and the 16 of the high ones, and VPSHUFB
// looks a register full up in one of them.
type nibbles struct {
	w    width
	mask operand.Op // of the low nibbles

	turn    int             // of temporary registers
	updates [][2]operand.Op // entries that an update keeps in registers
}

func (n *nibbles) width() width { return n.w }

func (n *nibbles) name() string {
	if n.w == ymm {
		return "dotAVX2"
	}
	return "dotAVX512"
}

func (n *nibbles) doc() string { return "Products come by VPSHUFB, from entries of nibbles." }

func (n *nibbles) entrySize() int { return 32 }

func (n *nibbles) write(a *assembler) {
	writeDot(a, n)
	writeUpdate(a, n)
}

// On Zen 3 (EPYC), 17+3 in shards of 32 KiB goes from 15.2 to 16.3 GB/s page-aligned and from 22.7 to 24.4 staggered.
func (n *nibbles) prefetches() bool { return n.w == ymm }

func (*nibbles) pairs() bool { return false }

func (*nibbles) multiplyPair(*step) {}

// With 16 registers, more than two outputs leave no room for the sums of 128 bytes.
func (n *nibbles) wide(outputs int) bool { return n.w == zmm || outputs <= 2 }

func (n *nibbles) prepare(a *assembler) {
	n.mask = n.w.vec(15)
	if n.w == zmm {
		n.mask = reg.Z31
	}
	a.move(n.w, a.lowNibbles(), n.mask)
}

// table loads half an entry, the same in every lane.
func (n *nibbles) table(a *assembler, m operand.Mem, t operand.Op) {
	if n.w == ymm {
		a.VBROADCASTI128(m, t)
	} else {
		a.VBROADCASTI32X4(m, t)
	}
}

func (n *nibbles) multiply(s *step, first bool) {
	if n.w == zmm {
		n.multiply512(s, first)
		return
	}
	l := &lookups{step: s, n: n, first: first}
	free := s.free(16)
	v := s.vectors
	if len(free) >= 3*v {
		l.low, l.high, l.temps = free[:v], free[v:2*v], free[2*v:]
		// The mask stays in its register where that is to spare.
		if len(l.temps) > 2*v && !s.wide(s.outputs) {
			l.mask, l.temps = n.mask, l.temps[:2*v]
		}
		l.both()
		return
	}
	l.low, l.temps = free[:v], free[v:]
	l.high = l.low
	l.halves()
}

// A lookups is the order of the look-ups of one source with 16 registers. The XORs of each half of an entry wait until the
// next half's look-ups are out, if there are registers for that: Zen 3 has two ports for look-ups, which XORs may take too.
type lookups struct {
	*step
	n                *nibbles
	first            bool
	low, high, temps []operand.Op
	mask             operand.Op // of the low nibbles, or nil
	turn             int
	pending          []func()
}

// both looks up the low and the high nibbles of an entry together.
func (l *lookups) both() {
	mask := l.maskRegister()
	l.lowNibbles(mask)
	l.prefetch(data)
	l.highNibbles(mask)
	l.addToSum(func(i int) operand.Op { return l.at(data, i) })
	for p := l.sum; p < l.outputs; p++ {
		l.half(p, 0, l.low)
		l.half(p, 1, l.high)
	}
	l.flush()
}

// halves looks up all low nibbles, then, from the source again, all high ones.
func (l *lookups) halves() {
	l.lowNibbles(l.maskRegister())
	l.prefetch(data)
	l.addToSum(func(i int) operand.Op { return l.at(data, i) })
	for p := l.sum; p < l.outputs; p++ {
		l.half(p, 0, l.low)
	}
	l.flush()
	l.highNibbles(l.maskRegister())
	for p := l.sum; p < l.outputs; p++ {
		l.half(p, 1, l.high)
	}
	l.flush()
}

// lowNibbles and highNibbles take the nibbles out of the source as it is loaded. To load first and mask then takes an
// instruction more: on Zen 3, 13.0 cycles for 128 bytes and two outputs instead of 12.4.

func (l *lookups) lowNibbles(mask operand.Op) {
	for i, x := range l.low {
		l.VPAND(l.at(data, i), mask, x)
	}
}

func (l *lookups) highNibbles(mask operand.Op) {
	for i, x := range l.high {
		l.VPANDN(l.at(data, i), mask, x)
	}
	for _, x := range l.high {
		l.VPSRLQ(operand.U8(4), x, x)
	}
}

// maskRegister returns the mask's register, or loads it to a temporary one.
func (l *lookups) maskRegister() operand.Op {
	if l.mask != nil {
		return l.mask
	}
	mask := l.temps[len(l.temps)-1]
	l.VMOVDQU(l.step.lowNibbles(), mask)
	return mask
}

// half looks nibbles up in half an entry.
func (l *lookups) half(p, half int, nibbles []operand.Op) {
	v := l.vectors
	sets := len(l.temps) / v
	t := l.temps[l.turn%sets*v:][:v]
	l.turn++
	table := t[v-1]
	l.n.table(l.assembler, l.entryOf(p).Offset(16*half), table)
	if l.first && half == 0 {
		for i, x := range nibbles {
			l.VPSHUFB(x, table, l.acc(p, i))
		}
		l.flush()
		return
	}
	for i, x := range nibbles {
		l.VPSHUFB(x, table, t[i])
	}
	if sets > 1 {
		l.flush()
	}
	for i := range nibbles {
		l.pending = append(l.pending, func() { l.xor(ymm, t[i], l.acc(p, i)) })
	}
	if sets == 1 {
		l.flush()
	}
}

func (l *lookups) flush() {
	for _, f := range l.pending {
		f()
	}
	l.pending = nil
}

// addToSum adds the source to the first output, if that is the plain sum.
func (l *lookups) addToSum(x func(i int) operand.Op) { l.step.addToSum(l.first, x) }

func (s *step) addToSum(first bool, x func(i int) operand.Op) {
	if s.sum == 0 {
		return
	}
	for i := range s.vectors {
		if first {
			s.move(s.width(), x(i), s.acc(0, i))
		} else {
			s.xor(s.width(), x(i), s.acc(0, i))
		}
	}
}

// multiply512 has registers for everything.
func (n *nibbles) multiply512(s *step, first bool) {
	free := s.free(31)
	v := s.vectors
	low, high, temps := free[:v], free[v:2*v], free[2*v:]
	for i, x := range low {
		s.VMOVDQU64(s.at(data, i), x)
	}
	s.prefetch(data)
	for i, x := range low {
		s.VPSRLQ(operand.U8(4), x, high[i])
	}
	s.addToSum(first, func(i int) operand.Op { return low[i] })
	for i, x := range low {
		s.VPANDD(n.mask, x, x)
		s.VPANDD(n.mask, high[i], high[i])
	}
	for p := s.sum; p < s.outputs; p++ {
		// Outputs take turns with the registers.
		t := temps[p%(len(temps)/(2+2*v))*(2+2*v):]
		n.table(s.assembler, s.entryOf(p), t[0])
		n.table(s.assembler, s.entryOf(p).Offset(16), t[1])
		for i := range v {
			a, b := t[2+2*i], t[3+2*i]
			s.VPSHUFB(low[i], t[0], a)
			s.VPSHUFB(high[i], t[1], b)
			if first {
				s.VPXORD(a, b, s.acc(p, i))
			} else {
				s.VPTERNLOGD(operand.U8(xor3), a, b, s.acc(p, i))
			}
		}
	}
}

// xor3 is the truth table of a ^ b ^ c.
const xor3 = 0x96
