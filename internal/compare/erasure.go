package main

import (
	"fmt"

	"github.com/klauspost/reedsolomon"

	"github.com/twogather/twogather/erasure"
	"github.com/twogather/twogather/hwfeatures"
)

// A code is an erasure code's work.
type code struct {
	operation    string
	data, parity int
	size         int // of a shard
	staggered    bool
}

// What erasure codes are measured at. All lost shards are data shards, the first ones, and as many as can be made up for.
const (
	encode      = "encode"
	reconstruct = "reconstruct"
	update      = "update" // of all parity by one data shard
)

// bytes counts what is read and what is written, as ISA-L's programs do: what update adds to counts once.
func (c *code) bytes() int {
	if c.operation == update {
		return (1 + c.parity) * c.size
	}
	return (c.data + c.parity) * c.size
}

func erasureWorks() []work {
	var works []work
	for _, shape := range [][2]int{{10, 2}, {10, 4}, {10, 6}, {17, 3}, {50, 20}} {
		for _, operation := range []string{encode, reconstruct, update} {
			for _, staggered := range []bool{false, true} {
				for _, size := range []int{1 << 10, 32 << 10, 1 << 20} {
					c := &code{operation, shape[0], shape[1], size, staggered}
					works = append(works, work{name: fmt.Sprintf("%s %d+%d %s", operation, c.data, c.parity, placementName(staggered)), size: size, counted: c})
				}
			}
		}
	}
	return works
}

func placementName(staggered bool) string {
	if staggered {
		return "staggered"
	}
	return "aligned"
}

// shards returns the data and the parity shards, outside Go's memory.
func (c *code) shards() [][]byte { return inArena(c.data+c.parity, c.size, c.staggered) }

// An encoder is what both Go libraries have.
type encoder interface {
	Encode(shards [][]byte) error
	EncodeIdx(shard []byte, idx int, parity [][]byte) error
	Reconstruct(shards [][]byte) error
}

// run measures a library on one core.
func (c *code) run(e encoder) runner {
	shards := c.shards()
	lost := make([][]byte, len(shards))
	switch c.operation {
	case encode:
		return timed(func() { succeed(e.Encode(shards)) })
	case update:
		return timed(func() { succeed(e.EncodeIdx(shards[0], 0, shards[c.data:])) })
	default:
		return timed(func() {
			copy(lost, shards)
			for i := range c.parity {
				lost[i] = lost[i][:0]
			}
			succeed(e.Reconstruct(lost))
		})
	}
}

func succeed(err error) {
	if err != nil {
		panic(err)
	}
}

// erasureLibraries compares package erasure with others. Its first column has the matrix of klauspost/reedsolomon.
func erasureLibraries() comparison {
	ours := func(m erasure.Matrix) func(work) runner {
		return func(w work) runner {
			c := w.counted.(*code)
			return c.run(must(erasure.New(c.data, c.parity, erasure.WithMatrix(m), erasure.WithConcurrency(1))))
		}
	}
	libraries := []library{
		{"twogather", ours(erasure.Backblaze)},
		{"normalised", ours(erasure.NormalisedCauchy)},
		{"klauspost", func(w work) runner {
			options := []reedsolomon.Option{reedsolomon.WithMaxGoroutines(1)}
			if f := hwfeatures.Enabled(); !f.Has(hwfeatures.IntelAVX512) {
				options = append(options, reedsolomon.WithAVX512(false), reedsolomon.WithGFNI(false))
				if !f.Has(hwfeatures.IntelGFNI) {
					options = append(options, reedsolomon.WithAVXGFNI(false))
				}
			}
			c := w.counted.(*code)
			return c.run(must(reedsolomon.New(c.data, c.parity, options...)))
		}},
	}
	return comparison{unit: gigabytesPerSecond, libraries: append(libraries, isal()...), works: erasureWorks()}
}
