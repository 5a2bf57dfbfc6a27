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

var tuneSplit = 1
var tuneSplitTile = 512

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
			g := &t.groups[i]
			t.run(g, outputs[g.first:g.first+g.count], sources, from, min(from+step, n))
		}
	}
	for i := range t.groups[t.plain:] {
		t.encodeSelected(&t.groups[t.plain+i], outputs, sources)
	}
}

// encodeSelected encodes a group that leaves out some sources or takes them in another order, or whose outputs do not follow
// each other.
func (t *Tables) encodeSelected(g *group, outputs, sources [][]byte) {
	s := scratches.Get().(*scratch)
	defer s.release()
	all := s.shards(g.count + len(sources))
	o, x := all[:0:g.count], all[g.count:g.count]
	for n := range g.count {
		o = append(o, outputs[g.row(n)])
	}
	if g.columns == nil {
		x = append(x, sources...)
	}
	for _, j := range g.columns {
		x = append(x, sources[j])
	}
	t.run(g, o, x, 0, len(outputs[0]))
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

// run makes a group's outputs, which are those given, from the bytes from..to of its sources.
func (t *Tables) run(g *group, outputs, sources [][]byte, from, to int) {
	p := pass{outputs: outputs, sources: sources, entries: pointer(g.entries), ones: g.ones, sum: g.sum}
	if len(sources) > parkSources && (to-from)*(len(sources)+len(outputs)) >= parkFrom && t.kernel != kernelGeneric {
		t.runParked(g, &p, from, to)
		return
	}
	p.run(t.kernel, from, to)
}

// run does the pass for the bytes from..to, in several calls where there are many.
func (p *pass) run(k uint8, from, to int) {
	n := cut(len(p.outputs) + len(p.sources))
	for ; from < to; from += n {
		p.from, p.to = from, min(from+n, to)
		dotWith(k, p)
	}
}

// runParked does a pass over a few sources at a time.
func (t *Tables) runParked(g *group, p *pass, from, to int) {
	s := scratches.Get().(*scratch)
	defer s.release()
	sources, outputs := p.sources, len(p.outputs)
	parts := (len(sources) + parkSources - 1) / parkSources
	most := (len(sources) + parts - 1) / parts
	call := cut(outputs + most)
	sums := s.memory(outputs * (parkTile + minLength))
	for ; from < to; from += parkTile {
		end := min(from+parkTile, to)
		for first := 0; first < len(sources); first += most {
			last := min(first+most, len(sources))
			p.sources = sources[first:last]
			p.ones = min(max(g.ones-first, 0), last-first)
			p.entries = pointer(g.entries[max(first-g.ones, 0)*(g.count-g.sum)*t.form.size:])
			for p.from = from; p.from < end; p.from += call {
				p.to = min(p.from+call, end)
				p.start = pointer(sums[(p.from-from)*outputs:])
				p.park = p.start
				if first == 0 {
					p.start = nil
				}
				if last == len(sources) {
					p.park = nil
				}
				dotWith(t.kernel, p)
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
