package erasure

import (
	"os"
	"slices"
	"strconv"
	"sync"
	"unsafe"
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

func (t *Tables) encodeLong(outputs, sources [][]byte) {
	for i := range t.groups {
		g := &t.groups[i]
		if g.rows != nil || g.columns != nil {
			t.encodeSelected(g, outputs, sources)
			continue
		}
		p := g.pass(outputs[g.first:g.first+g.count], sources)
		p.ahead = tuneAhead
		if tuneGroup > 0 && len(sources) > tuneGroup {
			t.encodeGrouped(&p, g)
			continue
		}
		p.run(t.kernel, 0, len(outputs[0]))
	}
}

var tuneAhead = 128
var tuneGroup, _ = strconv.Atoi(os.Getenv("GRP"))
var tuneTile, _ = strconv.Atoi(os.Getenv("TILE"))

// encodeGrouped does a pass tile by tile, a few sources at a time.
func (t *Tables) encodeGrouped(p *pass, g *group) {
	s := scratches.Get().(*scratch)
	defer s.release()
	sums := pointer(s.memory(g.count * (tuneTile + 128)))
	sources, n := p.sources, len(p.outputs[0])
	groups := (len(sources) + tuneGroup - 1) / tuneGroup
	dense := (g.count - g.sum) * t.form.size
	for from := 0; from < n; from += tuneTile {
		to := min(from+tuneTile, n)
		p.start, p.park = nil, sums
		at := 0
		for j := range groups {
			size := (len(sources) - at + groups - j - 1) / (groups - j)
			p.sources = sources[at : at+size]
			p.ones = min(max(g.ones-at, 0), size)
			p.entries = &g.entries[max(at-g.ones, 0)*dense]
			if at+size == len(sources) {
				p.park = nil
			}
			p.from, p.to = from, to
			dotWith(t.kernel, p)
			p.start = sums
			at += size
		}
	}
}

// pass is the pass over all bytes for the group's own outputs and sources.
func (g *group) pass(outputs, sources [][]byte) pass {
	return pass{outputs: outputs, sources: sources, entries: unsafe.SliceData(g.entries), ones: g.ones, sum: g.sum}
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

// encodeSelected encodes a group that leaves out some sources or takes them in another order, or whose outputs do not follow
// each other.
func (t *Tables) encodeSelected(g *group, outputs, sources [][]byte) {
	s := scratches.Get().(*scratch)
	defer s.release()
	all := s.shards(g.count + len(sources))
	o, x := all[:0:g.count], all[g.count:g.count]
	if g.rows == nil {
		o = append(o, outputs[g.first:g.first+g.count]...)
	}
	for _, i := range g.rows {
		o = append(o, outputs[i])
	}
	if g.columns == nil {
		x = append(x, sources...)
	}
	for _, j := range g.columns {
		x = append(x, sources[j])
	}
	p := g.pass(o, x)
	p.run(t.kernel, 0, len(outputs[0]))
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
