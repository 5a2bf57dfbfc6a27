package testkit

import (
	"os"
	"slices"
	"sync/atomic"
	"testing"
)

// Sizes says how much every check does. Lengths are in blocks where nothing else is said.
type Sizes struct {
	Lengths func(batch int) []int // numbers of blocks, for kernels that take batch blocks at a time
	Bytes   []int                 // lengths for streams, besides those
	Offsets []int                 // of a buffer from the edge of a page, in bytes
	Cuts    int                   // splits in three parts cut at every multiple of this
	Long    int                   // one long call
	Keys    int                   // of each size
	Blocks  int                   // with each key
	Carries []int                 // counters that start so far before a carry
	Rounds  int                   // of each goroutine that shares a cipher
}

var (
	// full runs once, natively. Its one long call is longer than a 16-bit count of blocks.
	full = Sizes{
		Lengths: func(batch int) []int { return upTo(max(200, 3*batch+8)) },
		Bytes:   upTo(300),
		Offsets: upTo(63),
		Cuts:    1,
		Long:    65536 + 37,
		Keys:    100,
		Blocks:  20,
		Carries: append(upTo(70)[1:], 255, 256, 257),
		Rounds:  400,
	}
	// boundary runs where things are slow (the race detector, emulated processors) or are done many times (a forced
	// kernel). Its long call crosses the point where calls to assembly are cut, at 4096 blocks.
	boundary = Sizes{
		Lengths: around,
		Bytes:   []int{0, 1, 7, 8, 15, 16, 17, 31, 32, 33, 63, 64, 65, 127, 128, 129, 255, 256, 257, 300},
		Offsets: []int{0, 1, 31, 63},
		Cuts:    9,
		Long:    4096 + 37,
		Keys:    4,
		Blocks:  5,
		Carries: []int{1, 2, 12, 13, 16, 17, 40},
		Rounds:  10,
	}
	// least is what of that is worth doing for slow kernels in Go, which are no other code on other processors, and for
	// emulated processors that have no kernel of their own.
	least = Sizes{
		Lengths: func(batch int) []int { return []int{0, 1, 2, batch - 1, batch, batch + 1} },
		Bytes:   []int{0, 1, 15, 17},
		Offsets: []int{0, 1},
		Cuts:    40,
		Long:    150,
		Keys:    1,
		Blocks:  2,
		Carries: []int{1, 2},
		Rounds:  2,
	}
)

func upTo(n int) []int {
	s := make([]int, n+1)
	for i := range s {
		s[i] = i
	}
	return s
}

// around returns the lengths at which a kernel changes what it does: how many blocks are interleaved (1 to 4, 8), whole
// batches, and one less and one more than those; a last one that mixes them all.
func around(batch int) []int {
	s := upTo(9)
	for _, n := range []int{16, 32, 64, batch, 2 * batch, 3 * batch} {
		s = append(s, n-1, n, n+1)
	}
	s = append(s, batch-2, batch-3, 13, 14, 40, 4*batch+13)
	s = slices.DeleteFunc(s, func(n int) bool { return n < 0 })
	slices.Sort(s)
	return slices.Compact(s)
}

// Size returns the size of the checks in this process.
func Size() *Sizes {
	switch {
	case !Boundary():
		return &full
	case reduced.Load() > 0 && small() || os.Getenv("TWOGATHER_TEST_SIZE") == "least":
		return &least
	}
	return &boundary
}

// reduced counts the tests that called Reduce and are not over.
var reduced atomic.Int32

// Reduce has t and its subtests keep to the boundaries, or to less where all others do, and whatever runs beside them: for a
// kernel in Go, which cannot leave its buffers unnoticed, that takes its time.
func Reduce(t testing.TB) {
	reduced.Add(1)
	t.Cleanup(func() { reduced.Add(-1) })
}

// small reports whether everything is slow here or done many times.
func small() bool {
	size := os.Getenv("TWOGATHER_TEST_SIZE")
	return raceDetector || testing.Short() || size == "boundary" || size == "least" || os.Getenv("TWOGATHER_KERNEL") != ""
}

// Boundary reports whether checks keep to the boundaries: with the race detector, a forced kernel, -short or
// TWOGATHER_TEST_SIZE=boundary or =least, and after [Reduce].
func Boundary() bool {
	return os.Getenv("TWOGATHER_TEST_SIZE") != "full" && (reduced.Load() > 0 || small())
}
