package raid6

import (
	"errors"
	"math"
	"time"

	"github.com/twogather/twogather/hwfeatures"
	"github.com/twogather/twogather/internal/alias"
)

// What Tune measures.
const (
	tuneRounds = 24
	tuneRun    = 20 * time.Microsecond // at least, for one kernel in one round
	tuneMemory = 64 << 20              // longer chunks are measured as far as this goes
)

// Tune measures the processor's kernels on arrays of so many disks, P and Q included, and chunks of so many bytes, and
// returns a Code with the one that is fastest for page-aligned and for staggered chunks together. It takes some ten
// milliseconds and as much memory as two such arrays, some 128 MiB at most. A kernel that TWOGATHER_KERNEL forces wins unseen.
func Tune(disks, chunk int) (Code, error) {
	if n := disks - 2; n < MinData || n > MaxData {
		return Code{}, countError(max(n, 0))
	}
	if chunk < 1 {
		return Code{}, errors.New("raid6: a chunk has at least one byte")
	}
	features := hwfeatures.Enabled()
	if k := kernels.Forced(primitive, features); k >= 0 {
		return withKernel(k), nil
	}
	arrays := tuneArrays(disks, chunk)
	var candidates []candidate
	for k := range kernels.Usable(features) {
		candidates = append(candidates, candidate{code: withKernel(k)})
	}
	for i := range candidates {
		c := &candidates[i]
		for a := range arrays {
			c.best[a] = math.MaxInt64
			c.time(a, arrays[a]) // warms up
		}
	}
	fastest := func() (f *candidate) {
		for i := range candidates {
			if c := &candidates[i]; f == nil || c.total() < f.total() {
				f = c
			}
		}
		return f
	}
	for range tuneRounds {
		for a, array := range arrays {
			limit := 2 * fastest().best[a] // who is so slow is not measured again
			for i := range candidates {
				if c := &candidates[i]; c.best[a] <= limit {
					c.time(a, array)
				}
			}
		}
	}
	return fastest().code, nil
}

// tuneArrays returns what is measured: the caller's shape in both placements.
func tuneArrays(disks, chunk int) [2][][]byte {
	chunk = min(chunk, tuneMemory/disks)
	return [...][][]byte{newArray(disks, chunk, 0), newArray(disks, chunk, stagger)}
}

// stagger is how much further into a page each disk's chunk begins, as allocators place them that avoid the same sets.
const stagger = 192

// newArray returns the chunks of an array, each so much further into a page than the one before.
func newArray(disks, chunk, stagger int) [][]byte {
	stride := (chunk+page-1)/page*page + page
	memory := make([]byte, (disks+1)*stride)
	for i := range memory {
		memory[i] = byte(i) | 1 // untouched memory can be one page of zeros, over and over
	}
	start := int(-alias.Address(memory) % page)
	array := make([][]byte, disks)
	for z := range array {
		array[z] = memory[start+z*stride+z*stagger%page:][:chunk:chunk]
	}
	return array
}

// A candidate is a kernel with its best times for a syndrome.
type candidate struct {
	code Code
	best [2]time.Duration
}

func (c *candidate) total() time.Duration { return c.best[0]/2 + c.best[1]/2 }

// time times the candidate on an array.
func (c *candidate) time(i int, array [][]byte) {
	n := len(array) - 2
	j := job{op: opSyndrome, data: array[:n], p: array[n], q: array[n+1], lost: noDisks}
	for start, runs := time.Now(), 1; ; runs++ {
		j.run(c.code)
		if took := time.Since(start); took >= tuneRun {
			c.best[i] = min(c.best[i], took/time.Duration(runs))
			return
		}
	}
}
