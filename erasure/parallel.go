package erasure

import (
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/twogather/twogather/internal/alias"
)

// checkApart checks that no output shares memory with another one or with a source. Slices one behind the other, as most
// are, are quick to tell.
func checkApart(outputs [][]byte, firstOutput int, sources [][]byte, firstSource int) error {
	var before, read alias.Extent
	for _, s := range sources {
		read.Add(s)
	}
	for i, out := range outputs {
		if before.Meets(out) {
			for j, other := range outputs[:i] {
				if alias.AnyOverlap(out, other) {
					return overlapError(firstOutput+i, firstOutput+j)
				}
			}
		}
		if read.Meets(out) {
			for j, other := range sources {
				if alias.AnyOverlap(out, other) {
					return overlapError(firstOutput+i, firstSource+j)
				}
			}
		}
		before.Add(out)
	}
	return nil
}

func overlapError(output, other int) error {
	return fmt.Errorf("erasure: shard %d would be written and shares memory with shard %d: %w", output, other, ErrOverlap)
}

const (
	line = 64 // bytes in a line of the cache
	// tileSize is how many bytes of each shard go through a scratch at a time, which then stays in the cache.
	tileSize = 16 << 10
	// share is the work, in products of two bytes, that is worth another goroutine. One core of an AMD EPYC (Zen 5) takes
	// 90 µs for it with AVX2. Two goroutines there, with the other core busy, took 0.97 to 1.05 times as long as one. What
	// is best where cores are idle is unmeasured.
	share = 4 << 20
)

// encode overwrites the outputs with t times the sources.
func (c *Codec) encode(t *Tables, outputs, sources [][]byte) {
	if len(outputs) == 0 {
		return
	}
	n := len(sources[0])
	workers := c.workers(n, len(sources)*len(outputs))
	if workers == 1 {
		t.encode(outputs, sources)
		return
	}
	c.split(n, stepFor(n, workers), workers, func(w *workspace, from, to int) {
		t.encodePart(w.outputParts(outputs, from, to), w.sourceParts(sources, from, to), n)
	})
}

// update adds column idx of t times the source to the outputs.
func (c *Codec) update(t *Tables, outputs [][]byte, column int, source []byte) {
	if len(outputs) == 0 {
		return
	}
	n := len(source)
	workers := c.workers(n, len(outputs))
	if workers == 1 {
		t.update(outputs, column, source)
		return
	}
	c.split(n, stepFor(n, workers), workers, func(w *workspace, from, to int) {
		t.update(w.outputParts(outputs, from, to), column, source[from:to])
	})
}

// tiles calls f for ranges of at most tileSize that make up n. Where there are no products, there is nothing to do.
func (c *Codec) tiles(n, products int, f func(w *workspace, from, to int)) {
	if products == 0 {
		return
	}
	c.split(n, tileSize, c.workers(n, products), f)
}

// workers returns how many goroutines n times so many products are worth.
func (c *Codec) workers(n, products int) int {
	if n < 2*tileSize || c.concurrency == 1 {
		return 1
	}
	most := min(n/tileSize, int(int64(n)*int64(products)/share), runtime.GOMAXPROCS(0))
	if c.concurrency > 0 {
		most = min(most, c.concurrency)
	}
	return max(most, 1)
}

// stepFor cuts n into four pieces for each worker, so that none waits long for one that was held up.
func stepFor(n, workers int) int {
	return max(tileSize, (n/(4*workers)+line)/line*line)
}

// split calls f for ranges of step bytes that make up n, from a number of goroutines of which the caller's is one. All
// calls have returned when it does.
func (c *Codec) split(n, step, workers int, f func(w *workspace, from, to int)) {
	if workers > 1 {
		c.splitAmong(n, step, workers, f)
		return
	}
	w := c.workspace()
	for from := 0; from < n; from += step {
		f(w, from, min(from+step, n))
	}
	c.release(w)
}

func (c *Codec) splitAmong(n, step, workers int, f func(w *workspace, from, to int)) {
	var next atomic.Int64
	work := func() {
		w := c.workspace()
		for {
			from := next.Add(int64(step)) - int64(step)
			if from >= int64(n) {
				break
			}
			f(w, int(from), min(int(from)+step, n))
		}
		c.release(w)
	}
	var others sync.WaitGroup
	for range workers - 1 {
		others.Go(work)
	}
	work()
	others.Wait()
}

// A workspace is what one goroutine needs besides the shards. It saves making it anew.
type workspace struct {
	sources, outputs [][]byte // for shards or parts of them
	delta            [1][]byte
	buffers          [][]byte
}

func (c *Codec) workspace() *workspace { return c.workspaces.Get().(*workspace) }

// release keeps a workspace for the next one who needs one, and no memory of this one.
func (c *Codec) release(w *workspace) {
	clear(w.sources)
	clear(w.outputs)
	c.workspaces.Put(w)
}

func (w *workspace) sourceParts(shards [][]byte, from, to int) [][]byte {
	return partsOf(&w.sources, shards, from, to)
}

func (w *workspace) outputParts(shards [][]byte, from, to int) [][]byte {
	return partsOf(&w.outputs, shards, from, to)
}

// partsOf returns a part of each shard, in memory of parts if that is needed.
func partsOf(parts *[][]byte, shards [][]byte, from, to int) [][]byte {
	if from == 0 && len(shards) > 0 && to == len(shards[0]) {
		return shards
	}
	*parts = (*parts)[:0]
	for _, s := range shards {
		*parts = append(*parts, s[from:to])
	}
	return *parts
}

// scratch returns so many buffers of tileSize bytes. Their contents do not matter.
func (w *workspace) scratch(buffers int) [][]byte {
	if len(w.buffers) < buffers {
		w.buffers = allocate(buffers, tileSize)
	}
	return w.buffers[:buffers]
}

// allocate returns zeroed slices of size bytes as [Codec.AllocAligned] describes them.
func allocate(n, size int) [][]byte {
	// An odd number of lines from one to the next: 64 slices in turn have 64 different places in 4 KiB.
	step := ((size+line-1)/line | 3) * line
	block := make([]byte, n*step+line)
	block = block[-alias.Address(block)%line:]
	slices := make([][]byte, n)
	for i := range slices {
		slices[i] = block[i*step:][:size:size]
	}
	return slices
}
