package main

import (
	"slices"

	"github.com/mmcloughlin/avo/ir"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// A weaver makes one stream of vector instructions from two strands that have nothing to do with each other, and gives
// their results registers. So each strand is written down as the mathematics has it, without a thought for the other.
//
// A strand's operations stay in order. How the two mix decides how many values are alive at once, and there are sixteen
// registers. Of all mixtures that get by with these, the weaver takes the one closest to an even pace.
type weaver struct {
	strands   [2][]operation
	strand    int            // the one that grows
	registers []reg.Register // of each value, once it has one
}

// A value is what an operation leaves in a vector register. It stays there until the last operation that uses it.
type value int

// A source is what an operation reads: a value or, where the instruction can, memory.
type source any

type operation struct {
	uses  []value
	makes value
	emit  func()
}

const nothing value = -1

// Where the second strand should begin and end while the first one goes from 0 to 1. It begins late because it waits for
// the end of the stream before this one, and ends early because the next one waits for it.
const strandBegins, strandEnds = 0.1, 0.9

// burst is how many vector operations are together before the scalar instructions that belong beside them, together too.
const burst = 6

// perform adds an operation that makes nothing.
func (w *weaver) perform(emit func(), uses ...value) {
	w.strands[w.strand] = append(w.strands[w.strand], operation{uses, nothing, emit})
}

// make adds an operation that makes a value from what it uses.
func (w *weaver) make(emit func(into reg.Register), uses ...value) value {
	v := value(len(w.registers))
	w.registers = append(w.registers, nil)
	w.strands[w.strand] = append(w.strands[w.strand], operation{uses, v, func() { emit(w.registers[v]) }})
	return v
}

// of makes a value by an instruction with three operands, b, a and the result in the order of Go's assembler.
func (w *weaver) of(instruction any, b source, a value) value {
	if v, ok := b.(value); ok {
		return w.make(func(into reg.Register) { call(instruction, w.registers[v], w.registers[a], into) }, v, a)
	}
	return w.make(func(into reg.Register) { call(instruction, b.(operand.Op), w.registers[a], into) }, a)
}

// fetch makes a value from memory alone.
func (w *weaver) fetch(instruction any, from operand.Mem) value {
	return w.make(func(into reg.Register) { call(instruction, from, into) })
}

// call emits an instruction by avo's method for it, of which there are two kinds.
func call(instruction any, operands ...operand.Op) {
	switch f := instruction.(type) {
	case func(ops ...operand.Op):
		f(operands...)
	case func(a, b operand.Op):
		f(operands[0], operands[1])
	case func(a, b, c operand.Op):
		f(operands[0], operands[1], operands[2])
	}
}

// lastUses says for each value where in a stream it is used last.
func lastUses(stream []operation) map[value]int {
	last := map[value]int{}
	for i, o := range stream {
		for _, u := range o.uses {
			last[u] = i
		}
	}
	return last
}

// ends returns the values that operation i of a stream uses as the last one.
func (o operation) ends(i int, last map[value]int) []value {
	var ended []value
	for _, u := range o.uses {
		if last[u] == i && !slices.Contains(ended, u) {
			ended = append(ended, u)
		}
	}
	return ended
}

// alive says how many registers a strand occupies during each of its operations, and before and after them.
func alive(strand []operation) (during, between []int) {
	last := lastUses(strand)
	n := 0
	between = append(between, n)
	for i, o := range strand {
		n -= len(o.ends(i, last))
		if o.makes != nothing {
			n++
		}
		during, between = append(during, n), append(between, n)
	}
	return during, between
}

// mixture returns the operations of both strands in the order of the stream.
func (w *weaver) mixture() []operation {
	first, second := w.strands[0], w.strands[1]
	during0, between0 := alive(first)
	during1, between1 := alive(second)
	// cost[i][k] says how far from an even pace a mixture is that begins with i and k operations, as far as those go: the sum
	// of the squared distances. The best one ends with an operation of the strand in from[i][k].
	const impossible = 1e18
	cost := make([][]float64, len(first)+1)
	from := make([][]int, len(first)+1)
	for i := range cost {
		cost[i], from[i] = make([]float64, len(second)+1), make([]int, len(second)+1)
		pace := (float64(i)/float64(max(len(first), 1)) - strandBegins) / (strandEnds - strandBegins)
		wish := min(max(pace, 0), 1) * float64(len(second))
		for k := range cost[i] {
			best := impossible
			if i == 0 && k == 0 {
				best = 0
			}
			if i > 0 && during0[i-1]+between1[k] <= 16 {
				best = min(best, cost[i-1][k]+(float64(k)-wish)*(float64(k)-wish))
			}
			if k > 0 && during1[k-1]+between0[i] <= 16 && cost[i][k-1] < best {
				best, from[i][k] = cost[i][k-1], 1
			}
			cost[i][k] = best
		}
	}
	if cost[len(first)][len(second)] >= impossible {
		panic("there are not enough registers")
	}
	var stream []operation
	for i, k := len(first), len(second); i+k > 0; {
		if from[i][k] == 1 {
			k--
			stream = append(stream, second[k])
		} else {
			i--
			stream = append(stream, first[i])
		}
	}
	slices.Reverse(stream)
	return stream
}

// weave emits the stream, with scalar instructions spread over it, and starts anew.
func (w *weaver) weave(emit func(*ir.Instruction), scalars []*ir.Instruction) {
	stream := w.mixture()
	last := lastUses(stream)
	free := make([]reg.Register, 16)
	for i := range free {
		free[i] = vecs[i].y
	}
	done := 0
	for i, o := range stream {
		for _, v := range o.ends(i, last) {
			free = append(free, w.registers[v])
		}
		if o.makes != nothing {
			w.registers[o.makes], free = free[0], free[1:]
		}
		o.emit()
		if i++; i%burst == 0 || i == len(stream) {
			due := i * len(scalars) / len(stream)
			for ; done < due; done++ {
				emit(scalars[done])
			}
		}
	}
	*w = weaver{}
}
