package main

import (
	"fmt"
	"syscall"

	"gonum.org/v1/plot"

	"github.com/twogather/twogather/raid6"
)

// An array is RAID-6's work.
type array struct {
	operation string
	disks     int // P and Q included
	chunk     int
	staggered bool
}

// What RAID-6 is measured at.
const (
	genSyndrome = "P and Q"
	genParity   = "P alone"
)

// bytes counts data.
func (a *array) bytes() int { return (a.disks - 2) * a.chunk }

// chunks returns the array's chunks, data first, outside Go's memory.
func (a *array) chunks() [][]byte { return inArena(a.disks, a.chunk, a.staggered) }

var comparedDisks = []int{8, 16, 24, 48, 96}

func raid6Works() []work {
	var works []work
	for _, operation := range []string{genSyndrome, genParity} {
		for _, staggered := range []bool{false, true} {
			for _, chunk := range []int{4 << 10, 64 << 10} {
				for _, n := range comparedDisks {
					name := fmt.Sprintf("%s, %d disks %s", operation, n, placementName(staggered))
					works = append(works, work{name: name, size: chunk, counted: &array{operation, n, chunk, staggered}})
				}
			}
		}
	}
	return works
}

// raid6Libraries compares package raid6, on one core, with others.
func raid6Libraries() comparison {
	ours := library{"twogather", func(w work) runner {
		a := w.counted.(*array)
		chunks, n, code := a.chunks(), a.disks-2, raid6.Code{}.WithGoroutines(1)
		if a.operation == genParity {
			return timed(func() { succeed(code.GenParity(chunks[:n], chunks[n])) })
		}
		return timed(func() { succeed(code.GenSyndrome(chunks[:n], chunks[n], chunks[n+1])) })
	}}
	return comparison{unit: gigabytesPerSecond, libraries: append([]library{ours}, raid6InC()...), works: raid6Works()}
}

// arena is the memory of all shards and chunks: outside Go's, so that C may keep pointers to it, and the same for every
// library.
var arena []byte

// inArena returns n buffers: page-aligned, as large allocations are, or each 192 bytes further into its page than the one
// before.
func inArena(n, size int, staggered bool) [][]byte {
	const page, stagger = 4096, 192
	step, offset := (size+page-1)/page*page, 0
	if staggered {
		step, offset = step+page, stagger
	}
	if len(arena) < n*step {
		arena = must(syscall.Mmap(-1, 0, n*step, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE))
		copy(arena, random(len(arena)))
	}
	buffers := make([][]byte, n)
	for i := range buffers {
		buffers[i] = arena[i*step+i*offset%page:][:size:size]
	}
	return buffers
}

// raid6Charts show the speed over the number of disks.
func raid6Charts() []chart {
	c := chart{file: "raid6.svg"}
	for _, staggered := range []bool{false, true} {
		p := panel{
			title:      "P and Q, chunks of 4 KiB, " + placementName(staggered),
			axis:       "disks",
			comparison: raid6Libraries(),
			ticks:      plot.DefaultTicks{},
			scale:      plot.LinearScale{},
		}
		p.works = nil
		for _, n := range []int{4, 6, 8, 10, 12, 14, 16, 20, 24, 32, 40, 48, 64, 80, 96} {
			p.works = append(p.works, work{name: genSyndrome, size: 4 << 10, counted: &array{genSyndrome, n, 4 << 10, staggered}})
			p.x = append(p.x, float64(n))
		}
		c.panels = append(c.panels, p)
	}
	return []chart{c}
}
