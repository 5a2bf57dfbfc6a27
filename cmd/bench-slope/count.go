package main

import (
	"fmt"
	"io"
	"strconv"

	"github.com/twogather/twogather/internal/instructions"
)

// The sizes that instructions are counted on: whole batches of every kernel, so that the difference is what full batches
// cost and nothing else. A count has no noise, and two points make the line. They are small: see instructions.Of.
const (
	countSmall = 1024
	countLarge = 2048
)

// newCounter returns an engine that counts instructions instead of taking times.
func newCounter() (*engine, error) {
	count, err := instructions.Open()
	if err != nil {
		return nil, err
	}
	return &engine{count: count}, nil
}

func (e *engine) countInstructions(op func(n int)) figure {
	small := instructions.Of(e.count, func() { op(countSmall) })
	large := instructions.Of(e.count, func() { op(countLarge) })
	f := figure{instructions: (float64(large) - float64(small)) / (countLarge - countSmall)}
	f.perCall = float64(small) - countSmall*f.instructions
	return f
}

// A textCounts prints a table of one column.
type textCounts struct {
	w     io.Writer
	title string
}

func (r *textCounts) section() { fmt.Fprintf(r.w, "%s:\n", r.title) }

func (r *textCounts) begin(algorithm string, c choice) {
	fmt.Fprintf(r.w, " %-14s | %17s", algorithm, "instructions/byte")
	if c.asked {
		fmt.Fprintf(r.w, "  kernel %s", c.forced)
	}
	fmt.Fprintln(r.w)
}

func (r *textCounts) row(operation string, f figure) {
	fmt.Fprintf(r.w, " %14s | %17s\n", operation, exactly(f.instructions))
}

func (r *textCounts) end() { fmt.Fprintf(r.w, " %-14s =\n", "") }

// csvCounts prints the fields of csvReporter as far as there is something in them.
type csvCounts struct{ csvReporter }

func (r *csvCounts) row(operation string, f figure) {
	fmt.Fprintf(r.w, "%s,%s,%s,%s,,%s,instr/B\n", r.name, r.algorithm, operation, r.kernels, exactly(f.instructions))
}

// exactly writes a count without rounding it to what a measurement could tell.
func exactly(v float64) string { return strconv.FormatFloat(v, 'f', 3, 64) }
