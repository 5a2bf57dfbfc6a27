package main

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
	"unsafe"
)

// A placement says how buffers lie to one another.
type placement string

const (
	// aligned buffers start at pages, as large allocations do. The bytes that are processed together then fall on the same
	// cache sets, eight or twelve buffers to a set.
	aligned placement = "aligned"
	// staggered ones start 192 bytes further into their pages each.
	staggered placement = "staggered"
)

const stagger = 192

const maxBufferSize = 1 << 30

func setPlacement(o *options, value string) error {
	switch value {
	case string(aligned), string(staggered):
		o.placements = []placement{placement(value)}
	case "both":
		o.placements = []placement{aligned, staggered}
	default:
		return fmt.Errorf("want %s, %s or both", aligned, staggered)
	}
	return nil
}

// place returns n buffers. They are written to, since untouched memory is one page of zeros.
func place(n, size int, p placement) [][]byte {
	const page = 4096
	step := (size + page - 1) / page * page
	offset := 0
	if p == staggered {
		step, offset = step+page, stagger
	}
	all := make([]byte, n*step+page)
	all = all[-uintptr(unsafe.Pointer(&all[0]))%page:]
	buffers := make([][]byte, n)
	for i := range buffers {
		b := all[i*step+i*offset%page:][:size:size]
		fill(b)
		b[0] += byte(i)
		buffers[i] = b
	}
	return buffers
}

// A timing is how long many calls took.
type timing struct {
	calls int
	total time.Duration
	best  float64 // nanoseconds of one call, in the shortest run
}

// timeFor calls op in short runs for as long as it is told to.
func timeFor(d time.Duration, op func()) timing {
	const short = 200 * time.Microsecond
	op() // fills caches
	run := func(n int) time.Duration {
		start := time.Now()
		for range n {
			op()
		}
		return time.Since(start)
	}
	n := 1
	for run(n) < short && n < 1<<24 {
		n *= 2
	}
	t := timing{best: math.Inf(1)}
	for t.total < d {
		took := run(n)
		t.calls += n
		t.total += took
		t.best = min(t.best, float64(took)/float64(n))
	}
	return t
}

// parseSize reads a number of bytes with the suffixes K and M, which stand for 2^10 and 2^20.
func parseSize(value string) (int, error) {
	digits, shift := value, 0
	if d, ok := strings.CutSuffix(value, "K"); ok {
		digits, shift = d, 10
	} else if d, ok := strings.CutSuffix(value, "M"); ok {
		digits, shift = d, 20
	}
	n, err := strconv.Atoi(digits)
	if err != nil || n < 1 || n > maxBufferSize>>shift {
		return 0, fmt.Errorf("want a size like 1500, 32K or 1M, at most %s", sizeText(maxBufferSize))
	}
	return n << shift, nil
}

// sizeText is the inverse of parseSize.
func sizeText(n int) string {
	switch {
	case n >= 1<<20 && n%(1<<20) == 0:
		return fmt.Sprintf("%dM", n>>20)
	case n >= 1<<10 && n%(1<<10) == 0:
		return fmt.Sprintf("%dK", n>>10)
	default:
		return fmt.Sprint(n)
	}
}
