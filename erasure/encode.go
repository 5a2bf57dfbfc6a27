package erasure

import (
	"slices"
	"sync"
)

// encode overwrites outputs with the products of the matrix's rows and the sources. All have the same length; nothing is
// checked.
func (t *Tables) encode(outputs, sources [][]byte) {
	if len(outputs) == 0 || len(outputs[0]) == 0 {
		return
	}
	for _, i := range t.zeros {
		clear(outputs[i])
	}
	if len(outputs[0]) < minLength && t.kernel != kernelGeneric {
		t.encodeShort(outputs, sources)
		return
	}
	t.encodeLong(outputs, sources)
}

// tile is how many bytes of each shard all groups of outputs go over before any goes on. On Zen 3 (EPYC, avx2, GB/s of
// sources and outputs):
//
//	                                no tiles   1024   2048   4096
//	20+8, 32 KiB, page-aligned           8.1    7.8    9.6    9.9
//	20+8, 32 KiB, staggered             10.7   10.8   11.1   11.2
//	50+20, 1 MiB, page-aligned                  1.1    0.9    1.8
//	50+20, 1 MiB, staggered                     1.7    0.9    2.3
//
// Splitting the nibbles of a tile once for all outputs does not pay: 7.0 and 9.3 for 20+8. For kernels with GFNI or AVX-512
// this is unmeasured.
const tile = 4096

// encodeLong encodes shards that are long enough for every kernel.
func (t *Tables) encodeLong(outputs, sources [][]byte) {
	n, step := len(outputs[0]), len(outputs[0])
	if t.plain > 1 {
		step = tile
	}
	for from := 0; from < n && t.plain > 0; from += step {
		for i := range t.groups[:t.plain] {
			t.run(&t.groups[i], outputs, sources, from, min(from+step, n))
		}
	}
	for i := range t.groups[t.plain:] {
		t.runParts(&t.groups[t.plain+i], outputs, sources, 0, n, maxPart)
	}
}

// run makes the outputs of a group, of those that take consecutive ones and all sources in order, from the bytes from..to.
func (t *Tables) run(g *group, outputs, sources [][]byte, from, to int) {
	if len(sources) > parkSources && (to-from)*(len(sources)+g.count) >= parkFrom {
		t.runParts(g, outputs, sources, from, to, parkSources)
		return
	}
	p := g.pass(outputs[g.first:g.first+g.count], sources)
	n := cut(len(p.outputs) + len(p.sources))
	for ; from < to; from += n {
		dotWith(t.kernel, &p, from, min(from+n, to))
	}
}

// pass is a pass over all sources of a group.
func (g *group) pass(outputs, sources [][]byte) pass {
	return pass{outputs: outputs, sources: sources, entries: pointer(g.entries), ones: g.ones, sum: g.sum}
}

// With more than parkSources sources, whose shards and outputs together have at least parkFrom bytes, passes over a part of
// the sources park their sums. It is as if the processor could not prefetch from more places at once. On Zen 3 (EPYC, avx2,
// GB/s of sources and outputs of 17+3, page-aligned and staggered):
//
//	                         256 KiB        1 MiB
//	all sources            15.5  24.5     11.2  11.9
//	9 and 8, 16 KiB each   15.5  23.5     13.2  13.4
//
// In smaller shards, groups of six sources over tiles of 1 KiB lose too, though their lines stay in the first cache.
const (
	parkSources = 10
	parkFrom    = 8 << 20
	parkTile    = 16 << 10
)

// maxPart is how many sources a part has at most.
const maxPart = 32

// runParts makes a group's outputs by passes over at most so many of its sources, all for a tile, then for the next one. They
// may be any outputs and sources. Their headers are gathered on the stack: kept anywhere else, the caller's shards would
// escape.
func (t *Tables) runParts(g *group, outputs, sources [][]byte, from, to, most int) {
	var selectedOutputs [maxOutputs][]byte
	var selected [maxPart][]byte
	for i := range g.count {
		selectedOutputs[i] = outputs[g.row(i)]
	}
	count := len(sources)
	if g.columns != nil {
		count = len(g.columns)
	}
	parts := (count + most - 1) / most
	most = (count + parts - 1) / parts
	p := g.pass(selectedOutputs[:g.count], nil)
	var sums []byte
	if parts > 1 {
		s := scratches.Get().(*scratch)
		defer s.release()
		sums = s.memory(g.count * (parkTile + minLength))
	}
	call := cut(g.count + most)
	for ; from < to; from += parkTile {
		end := min(from+parkTile, to)
		for first := 0; first < count; first += most {
			last := min(first+most, count)
			for i := first; i < last; i++ {
				selected[i-first] = sources[g.column(i)]
			}
			p.sources = selected[:last-first]
			p.ones = min(max(g.ones-first, 0), last-first)
			p.entries = pointer(g.entries[max(first-g.ones, 0)*(g.count-g.sum)*t.form.size:])
			for at := from; at < end; at += call {
				p.start, p.park = nil, nil
				if first > 0 {
					p.start = &sums[(at-from)*g.count]
				}
				if last < count {
					p.park = &sums[(at-from)*g.count]
				}
				dotWith(t.kernel, &p, at, min(at+call, end))
			}
		}
	}
}

// A scratch is what some ways of encoding need besides the caller's buffers.
type scratch struct {
	headers [][]byte
	bytes   []byte
}

var scratches = sync.Pool{New: func() any { return new(scratch) }}

// release gives a scratch back without the caller's buffers.
func (s *scratch) release() {
	clear(s.headers)
	scratches.Put(s)
}

// shards returns so many headers, cleared.
func (s *scratch) shards(n int) [][]byte {
	s.headers = slices.Grow(s.headers[:0], n)[:n]
	return s.headers
}

// memory returns n bytes that hold anything.
func (s *scratch) memory(n int) []byte {
	s.bytes = slices.Grow(s.bytes[:0], n)[:n]
	return s.bytes
}

// encodeShort encodes shards that are shorter than a kernel takes.
func (t *Tables) encodeShort(outputs, sources [][]byte) {
	s := scratches.Get().(*scratch)
	defer s.release()
	padded := s.pad(outputs, sources)
	t.encodeLong(padded[:len(outputs)], padded[len(outputs):])
	for i, out := range outputs {
		copy(out, padded[i])
	}
}

// pad returns copies of the shards that are long enough for a kernel.
func (s *scratch) pad(shards ...[][]byte) [][]byte {
	n := 0
	for _, some := range shards {
		n += len(some)
	}
	padded, memory := s.shards(n)[:0], s.memory(n*minLength)
	for _, some := range shards {
		for _, b := range some {
			copy(memory, b)
			padded, memory = append(padded, memory[:minLength:minLength]), memory[minLength:]
		}
	}
	return padded
}

// update adds the products of the matrix's column and the source to the outputs. All have the same length; nothing is checked.
func (t *Tables) update(outputs [][]byte, column int, source []byte) {
	if len(outputs) == 0 || len(source) == 0 {
		return
	}
	if len(source) < minLength && t.kernel != kernelGeneric {
		t.updateShort(outputs, column, source)
		return
	}
	t.updateLong(outputs, column, source)
}

// updateLong goes over the bytes so that the source comes from the first cache, or the second, again and again.
func (t *Tables) updateLong(outputs [][]byte, column int, source []byte) {
	var selected [maxOutputs][]byte
	var entries [maxOutputs]entry
	n := cut(1 + maxOutputs)
	for from := 0; from < len(source); from += n {
		to := min(from+n, len(source))
		count := 0
		for i, out := range outputs {
			switch c := t.at(i, column); c {
			case 0:
			case 1:
				addWith(t.kernel, out, source, from, to)
			default:
				selected[count], entries[count] = out, t.form.entries[c]
				if count++; count == maxOutputs {
					updateWith(t.kernel, selected[:], source, &entries, from, to)
					count = 0
				}
			}
		}
		if count > 0 {
			updateWith(t.kernel, selected[:count], source, &entries, from, to)
		}
	}
}

// updateShort updates outputs that are shorter than a kernel takes.
func (t *Tables) updateShort(outputs [][]byte, column int, source []byte) {
	s := scratches.Get().(*scratch)
	defer s.release()
	padded := s.pad(outputs, [][]byte{source})
	t.updateLong(padded[:len(outputs)], column, padded[len(outputs)])
	for i, out := range outputs {
		copy(out, padded[i])
	}
}
