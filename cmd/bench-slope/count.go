package main

import (
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/twogather/twogather/internal/instructions"
	"github.com/twogather/twogather/internal/kernel"
)

// countStep is the size that instructions are counted on, and half the other: whole batches of the widest kernel, so that
// the difference is what full batches cost and nothing else. A count has no noise, and two points make the line. They are
// small (see instructions.Of), but not so small that a mode, which works through a buffer, shows no full one; of a wide kernel
// in Go, a batch.
func countStep(p *kernel.Primitive, widest string, blockSize int) int {
	const least = 1024
	batch := batchOf(p, widest) * blockSize
	if inGo(widest) && batch > blockSize {
		return batch
	}
	return (least + batch - 1) / batch * batch
}

// inGo reports whether a kernel is in Go, which takes so many instructions that it has to be counted on less: Bochs
// interrupts every longer call.
func inGo(name string) bool { return strings.HasPrefix(name, "generic") }

// shardStep is countStep for operations on many shards, or chunks, of that size: two batches of the widest kernel.
func shardStep(kernel string) int {
	if inGo(kernel) {
		return 64
	}
	return 512
}

// batchOf returns a kernel's batch, in blocks.
func batchOf(p *kernel.Primitive, name string) int {
	for _, k := range p.Kernels {
		if k.Name == name {
			return k.Batch
		}
	}
	return 1
}

// newCounter returns an engine that counts instructions instead of taking times.
func newCounter() (*engine, error) {
	count, err := instructions.Open()
	if err != nil {
		return nil, err
	}
	return &engine{count: count}, nil
}

// longest is how many instructions a call may have that is counted: half of what there is between two interrupts.
const longest = 100_000

func (e *engine) countInstructions(op func(n int)) figure {
	small := instructions.Of(e.count, func() { op(e.step) })
	if 2*small > longest {
		return figure{instructions: float64(small) / float64(e.step)} // with what there is to a call, which is little then
	}
	large := instructions.Of(e.count, func() { op(2 * e.step) })
	f := figure{instructions: (float64(large) - float64(small)) / float64(e.step)}
	f.perCall = float64(small) - float64(e.step)*f.instructions
	return f
}

// views returns the beginnings of buffers that countInstructions asks for: a step of each, and two. They are made
// beforehand: while the garbage collector marks, each store of a pointer takes some twenty instructions more.
func (e *engine) views(buffers [][]byte) (views [2][][]byte) {
	for i := range views {
		for _, b := range buffers {
			views[i] = append(views[i], b[:(i+1)*e.step])
		}
	}
	return views
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
