package main

import (
	"fmt"
	"math"
	"slices"
	"time"
	"unsafe"
)

// The sizes that an operation is timed on, in bytes: 16, 80, 144 and so on. All are whole blocks, and none a multiple of
// a wide kernel's batch, so every figure has remainders in it.
const (
	minSize  = 16
	maxSize  = 4112
	sizeStep = 64
	sizes    = (maxSize-minSize)/sizeStep + 1
)

// Before and after a figure the clock may differ by a part in 100. Beyond that the figure is measured again; after
// maxTries the one whose clocks differed least stands.
const (
	clockTolerance = 0.01
	maxTries       = 6
)

// A figure is what one operation costs.
type figure struct {
	ns   float64 // per byte
	call float64 // ns per call, the timer included
	mhz  float64 // cycles are counted in it
	auto bool    // mhz is measured: the mean of before and after
	// How it was found.
	before, after float64
	calls, tries  int

	instructions, perCall float64 // per byte and besides, instead of all the others
}

func (f figure) mebibytes() float64 { return 1e9 / (f.ns * (1 << 20)) }

func (f figure) cycles() float64 { return f.ns * f.mhz / 1000 }

// moved is by how much of itself the clock differed between before and after.
func (f figure) moved() float64 { return math.Abs(f.after-f.before) / f.mhz }

// background is what --verbose says of a figure.
func (f figure) background() string {
	if f.instructions != 0 {
		return number(f.perCall) + " instructions/call"
	}
	s := fmt.Sprintf("%s ns/call, timed %d at a time", number(f.call), f.calls)
	if f.auto {
		s += fmt.Sprintf(", clock %s then %s Mhz, tries %d", number(f.before), number(f.after), f.tries)
	}
	return s
}

// An engine measures figures.
type engine struct {
	repetitions int
	mhz         float64            // 0: asked of clock
	clock       func() float64     // in MHz
	tick        time.Duration      // what the timer can tell apart
	tell        func(done, of int) // may be nil
	count       func() uint64      // if not nil, instructions are counted, and no times taken
	step        int                // bytes; see countStep
}

func newEngine(repetitions int, mhz float64) *engine {
	return &engine{repetitions: repetitions, mhz: mhz, clock: measureClock, tick: timerTick()}
}

// figure measures op, which processes n bytes, a size from above.
func (e *engine) figure(op func(n int)) figure {
	if e.count != nil {
		return e.countInstructions(op)
	}
	if e.mhz > 0 {
		f := e.measure(op)
		f.mhz = e.mhz
		return f
	}
	var best figure
	for try := 1; ; try++ {
		before := e.clock()
		f := e.measure(op)
		f.before, f.after, f.auto = before, e.clock(), true
		f.mhz = (f.before + f.after) / 2
		if try == 1 || f.moved() < best.moved() {
			best = f
		}
		best.tries = try
		if best.moved() <= clockTolerance || try == maxTries {
			return best
		}
	}
}

// measure times op on all sizes and fits the line.
//
// The same number of calls is timed together at every size. Reading the timer then costs every size the same, and stays
// out of the slope; a number that fell with the size would tilt the line. It is one where a call on the largest buffer
// takes long compared with the timer's tick, and as many as that needs otherwise.
//
// All sizes are timed once before any is timed again, so that a slow moment spoils a few times of many sizes, which the
// medians drop, and not one size's median.
func (e *engine) measure(op func(n int)) figure {
	const ticks, maxCalls = 256, 1000
	var longest time.Duration
	for i := range 4 { // the first fills caches
		start := time.Now()
		op(maxSize)
		if t := time.Since(start); i <= 1 || t < longest {
			longest = t
		}
	}
	calls := int(min(1+ticks*e.tick/max(longest, 1), maxCalls))

	times := make([]time.Duration, sizes*e.repetitions)
	for r := range e.repetitions {
		if e.tell != nil {
			e.tell(r, e.repetitions)
		}
		for i := range sizes {
			n := minSize + i*sizeStep
			start := time.Now()
			for range calls {
				op(n)
			}
			times[i*e.repetitions+r] = time.Since(start)
		}
	}

	var x, y [sizes]float64
	for i := range sizes {
		x[i] = float64(minSize + i*sizeStep)
		y[i] = median(times[i*e.repetitions:][:e.repetitions]) / float64(calls)
	}
	slope, height := fitLine(x[:], y[:])
	return figure{ns: slope, call: height, calls: calls}
}

// median sorts t. Of an even number it takes the mean of the middle two.
func median(t []time.Duration) float64 {
	slices.Sort(t)
	return float64(t[(len(t)-1)/2]+t[len(t)/2]) / 2
}

// fitLine is the least-squares line y = height + slope·x.
func fitLine(x, y []float64) (slope, height float64) {
	var mx, my float64
	for i := range x {
		mx += x[i] / float64(len(x))
		my += y[i] / float64(len(y))
	}
	var sxx, sxy float64
	for i := range x {
		sxx += (x[i] - mx) * (x[i] - mx)
		sxy += (x[i] - mx) * (y[i] - my)
	}
	slope = sxy / sxx
	return slope, my - slope*mx
}

// newBuffer returns n bytes at the start of a cache line, or one byte further. They are written to, since untouched
// memory is one page of zeros.
func newBuffer(n int, unaligned bool) []byte {
	const line = 64
	b := make([]byte, n+line)
	b = b[-uintptr(unsafe.Pointer(&b[0]))%line:]
	if unaligned {
		b = b[1:]
	}
	b = b[:n:n]
	fill(b)
	return b
}

func fill(b []byte) {
	for i := range b {
		b[i] = byte(i*i>>3 ^ i ^ 0x5a)
	}
}
