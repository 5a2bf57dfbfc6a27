package erasure

import (
	"slices"
	"sync"

	"github.com/twogather/twogather/internal/alias"
)

// encode overwrites outputs with the products of the matrix's rows and the sources. All have the same length; nothing is
// checked.
func (t *Tables) encode(outputs, sources [][]byte) {
	if len(outputs) > 0 {
		t.encodePart(outputs, sources, len(outputs[0]))
	}
}

// encodePart encodes parts of shards that have so many bytes.
func (t *Tables) encodePart(outputs, sources [][]byte, whole int) {
	if len(outputs[0]) == 0 {
		return
	}
	for _, i := range t.zeros {
		clear(outputs[i])
	}
	if len(outputs[0]) < minLength && t.kernel != kernelGeneric {
		t.encodeShort(outputs, sources)
		return
	}
	t.encodeBy(t.walk(whole, t.crowded(whole, sources)), outputs, sources)
}

// A walk is the order in which encoding goes over shards.
type walk struct {
	tile  int // so many bytes of each shard are done for all groups, then the next ones
	most  int // so many sources are in a pass, at most
	ahead int // as in pass
}

// groupTile is the tile where there are several groups of outputs. On Zen 3 (EPYC, avx2, GB/s of sources and outputs):
//
//	                              no tiles   1024   2048   4096   8192
//	50+20, 32 KiB, page-aligned       3.91   4.00   4.05   4.10   4.00
//	50+20, 32 KiB, staggered          4.56   4.51   4.59   4.54   4.47
//
// Splitting the nibbles of a tile once for all outputs does not pay: for 20+8 that had 7.0 and 9.3 where this had 9.9 and
// 11.2. Other kernels are unmeasured. These figures and those below were taken in turn, in one process, with one constant or
// another; compare -only "encode 50+20" and so on (internal/compare) prints them for the constants as they are.
const groupTile = 4 << 10

// If sources and outputs have farBytes or more together, they are taken to come from memory. Prefetches are then farAhead
// further ahead, and sources more than farSources are done in parts: it is as if the processor could not prefetch from more
// places at once. Their sums are parked in between. On Zen 3 (EPYC, avx2, GB/s of sources and outputs, 1 MiB each,
// page-aligned and staggered):
//
//	                                 17+3           50+20         10+4
//	all sources at a time         11.5  12.1     1.26  3.12    15.7  19.3
//	the same, further ahead       10.1  15.8     1.27  3.18    16.9  20.7
//	parts, tiles of 16 KiB        13.7  14.6     1.92  3.79
//	the same, further ahead       15.5  15.8     1.89  3.86
//	tiles of 32 KiB               15.3  15.9     1.87  3.79
//	tiles of 64 KiB               16.2  16.6     1.88  3.84
//
// Where all is in a cache, parts lose up to 8%, and prefetches further ahead up to 5%. Other kernels are unmeasured.
const (
	farBytes   = 8 << 20
	farSources = 10
	farTile    = 64 << 10
	farAhead   = 256 // an even number of steps: those go the same way as the next one
)

// Sources of which more begin in the same line of a page than a cache set has ways push each other out. They are done in
// parts, which leave room for outputs. On Zen 3 (EPYC, avx2, GB/s of sources and outputs, page-aligned):
//
//	                           9+3                 10+2                10+6                17+3            50+20
//	                    4 KiB  32 KiB 1 MiB  4 KiB 32 KiB 1 MiB  4 KiB 32 KiB 1 MiB  4 KiB 32 KiB 1 MiB    32 KiB
//	all at a time, or
//	parts as above       26.7   26.8   26.0   33.4   34.0  31.6   17.7   16.9  16.2   23.4   21.1  22.4     4.33
//	parts of 4, 32 KiB   27.0   28.3   26.7   33.1   35.0  32.7   16.9   16.4  16.2                         4.55
//	parts of 6, 4 KiB    28.2   28.1   26.2   34.1   33.7  31.6   17.0   16.3  16.1                         4.66
//	parts of 6, 32 KiB          30.1   27.8          36.5  34.1          16.7  16.5   25.6   25.7  24.5     4.68
//	parts of 8, 32 KiB          30.1   27.7          36.6  34.1          16.6  16.5                         4.64
//
// In shards of 1 and 2 KiB parts lose up to 10%, and so they do with six outputs up to 32 KiB.
const (
	crowdedSources    = 6
	crowdedTile       = 32 << 10
	crowdedSixOutputs = 64 << 10
	page              = 4096
)

// crowded reports whether sources of n bytes push each other out of a cache.
func (t *Tables) crowded(n int, sources [][]byte) bool {
	return n > page/2 && t.ways > 0 && alias.Crowded(sources, t.ways)
}

// maxPart is how many sources a pass has at most if it does not take all of them in order.
const maxPart = 32

// walk chooses the walk over shards of n bytes, whose sources are crowded or not.
func (t *Tables) walk(n int, crowded bool) walk {
	w := walk{tile: n, most: t.columns}
	if len(t.groups) > 1 || t.columns > maxPart {
		w.tile = groupTile
	}
	if n >= t.far {
		w.ahead = farAhead
		if t.columns > farSources {
			w.tile, w.most = farTile, farSources
		}
	}
	if crowded && len(t.groups) > 0 && (t.groups[0].count < maxOutputs || n >= crowdedSixOutputs) {
		w.tile, w.most = crowdedTile, crowdedSources
	}
	return w
}

// encodeBy encodes shards that are long enough for every kernel.
func (t *Tables) encodeBy(w walk, outputs, sources [][]byte) {
	n := len(outputs[0])
	for from := 0; from < n; from += w.tile {
		to := min(from+w.tile, n)
		for i := range t.groups {
			switch g := &t.groups[i]; {
			case g.rows != nil:
				t.runRows(g, w, outputs, sources, from, to)
			case g.columns != nil || w.most < t.columns:
				t.runParts(g, w, outputs[g.first:g.first+g.count], sources, from, to)
			default:
				t.run(g, w, outputs[g.first:g.first+g.count], sources, from, to)
			}
		}
	}
}

// run makes the outputs of a group, the bytes from..to, by a pass over all sources.
func (t *Tables) run(g *group, w walk, outputs, sources [][]byte, from, to int) {
	p := pass{
		outputs: outputs, ones: headers{&sources[g.turn], g.ones}, sources: headers{&sources[g.others], g.sources - g.ones},
		entries: pointer(g.entries), sum: g.sum, ahead: w.ahead,
	}
	for ; from < to; from += g.call {
		dotWith(t.kernel, &p, from, min(from+g.call, to))
	}
}

// runRows is runParts for a group of any outputs. Their headers are gathered on the stack, as those of sources are there:
// kept anywhere else, the caller's shards would escape.
func (t *Tables) runRows(g *group, w walk, outputs, sources [][]byte, from, to int) {
	var selected [maxOutputs][]byte
	for i, row := range g.rows {
		selected[i] = outputs[row]
	}
	t.runParts(g, w, selected[:g.count], sources, from, to)
}

// runParts makes the outputs of a group by passes over parts of its sources, which park their sums.
func (t *Tables) runParts(g *group, w walk, outputs, sources [][]byte, from, to int) {
	var selected [maxPart][]byte
	p := pass{outputs: outputs, sum: g.sum, ahead: w.ahead}
	count, most, call := g.sources, min(w.most, maxPart), g.call
	var sums []byte
	if count > most {
		parts := (count + most - 1) / most
		most = (count + parts - 1) / parts
		call = cut(g.count + most)
		s := scratches.Get().(*scratch)
		defer scratches.Put(s)
		sums = s.memory(g.count * (to - from + minLength))
	}
	for first := 0; first < count; first += most {
		last := min(first+most, count)
		for i := first; i < last; i++ {
			selected[i-first] = sources[g.column(i)]
		}
		ones := min(max(g.ones-first, 0), last-first)
		p.ones, p.sources = headers{&selected[0], ones}, headers{&selected[ones%maxPart], last - first - ones}
		p.entries = pointer(g.entries[max(first-g.ones, 0)*(g.count-g.sum)*t.form.size:])
		for at := from; at < to; at += call {
			p.start, p.park = nil, nil
			if first > 0 {
				p.start = &sums[(at-from)*g.count]
			}
			if last < count {
				p.park = &sums[(at-from)*g.count]
			}
			dotWith(t.kernel, &p, at, min(at+call, to))
		}
	}
}

// A scratch is what some ways of encoding need besides the caller's buffers.
type scratch struct {
	headers [][]byte
	bytes   []byte
}

var scratches = sync.Pool{New: func() any { return new(scratch) }}

// shards returns so many headers, which never become those of the caller's shards.
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
	defer scratches.Put(s)
	padded := s.pad(outputs, sources)
	t.encodeBy(t.walk(minLength, false), padded[:len(outputs)], padded[len(outputs):])
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
	entries := t.columnEntries(column)
	most := updateOutputs(t.kernel)
	for from := 0; from < len(source); from += t.updates.call {
		to := min(from+t.updates.call, len(source))
		for first, next := 0, 0; first < len(outputs); first = next {
			next = first + 1
			if t.at(first, column) == 0 {
				continue
			}
			for next < len(outputs) && next-first < most && t.at(next, column) != 0 {
				next++
			}
			// One more output in a pass costs less than a plain sum of its own.
			if next == first+1 && t.at(first, column) == 1 {
				addWith(t.kernel, outputs[first], source, from, to)
			} else {
				updateWith(t.kernel, outputs[first:next], source, &entries[first], from, to)
			}
		}
	}
}

// updateShort updates outputs that are shorter than a kernel takes.
func (t *Tables) updateShort(outputs [][]byte, column int, source []byte) {
	s := scratches.Get().(*scratch)
	defer scratches.Put(s)
	padded := s.pad(outputs, [][]byte{source})
	t.updateLong(padded[:len(outputs)], column, padded[len(outputs)])
	for i, out := range outputs {
		copy(out, padded[i])
	}
}
