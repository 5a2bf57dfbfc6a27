package main

import (
	"math"
	"slices"
	"testing"
	"time"
	"unsafe"
)

func near(a, b float64) bool { return math.Abs(a-b) <= 1e-9*math.Max(math.Abs(a), math.Abs(b)) }

func TestFitLine(t *testing.T) {
	var x, exact []float64
	for i := range sizes {
		n := float64(minSize + i*sizeStep)
		x = append(x, n)
		exact = append(exact, 62.5+1.375*n)
	}
	if slope, height := fitLine(x, exact); !near(slope, 1.375) || !near(height, 62.5) {
		t.Errorf("a line: %v, %v", slope, height)
	}
	// A bow that is symmetric about the middle adds to the height only.
	bowed := slices.Clone(exact)
	for i := range bowed {
		bowed[i] += float64((i - sizes/2) * (i - sizes/2))
	}
	if slope, height := fitLine(x, bowed); !near(slope, 1.375) || height <= 62.5 {
		t.Errorf("a bow: %v, %v", slope, height)
	}
	// By hand: x̄ = 2, ȳ = 3, Σ(x-x̄)(y-ȳ) = 3, Σ(x-x̄)² = 2.
	if slope, height := fitLine([]float64{1, 2, 3}, []float64{2, 2, 5}); !near(slope, 1.5) || math.Abs(height) > 1e-9 {
		t.Errorf("three points: %v, %v", slope, height)
	}
}

func TestSizes(t *testing.T) {
	if last := minSize + (sizes-1)*sizeStep; last != maxSize || sizes != 65 {
		t.Errorf("%d sizes, the last %d", sizes, last)
	}
}

func TestMedian(t *testing.T) {
	for _, test := range []struct {
		times []time.Duration
		want  float64
	}{
		{[]time.Duration{7}, 7},
		{[]time.Duration{9, 4}, 6.5},
		{[]time.Duration{1e6, 3, 5}, 5},
		{[]time.Duration{8, 1e9, 2, 5}, 6.5},
	} {
		if got := median(slices.Clone(test.times)); got != test.want {
			t.Errorf("median of %v: %v", test.times, got)
		}
	}
}

// An operation that takes a microsecond and 2 ns for each byte, as nearly as the timer can tell.
func spin(n int) {
	for start := time.Now(); time.Since(start) < time.Microsecond+time.Duration(2*n); {
	}
}

func TestMeasure(t *testing.T) {
	calls := map[int]int{}
	steps := 0
	e := &engine{repetitions: 5, mhz: 1500, tick: 1, tell: func(done, of int) {
		if done != steps || of != 5 {
			t.Errorf("told %d of %d at step %d", done, of, steps)
		}
		steps++
	}}
	f := e.figure(func(n int) {
		calls[n]++
		spin(n)
	})
	for i := range sizes {
		n := minSize + i*sizeStep
		if n < maxSize && calls[n] != 5*f.calls {
			t.Errorf("%d calls with %d bytes, want 5 times %d", calls[n], n, f.calls)
		}
	}
	if len(calls) != sizes || steps != 5 {
		t.Errorf("%d sizes, %d steps", len(calls), steps)
	}
	// On a busy machine the medians of five can be far off; half and double they are not.
	if f.ns < 1 || f.ns > 4 || f.auto || f.mhz != 1500 || !near(f.cycles(), f.ns*1.5) {
		t.Errorf("%+v", f)
	}
}

// Where the timer is coarse, more calls are timed together, up to a limit.
func TestCoarseTimer(t *testing.T) {
	for _, test := range []struct {
		tick     time.Duration
		min, max int
	}{
		{1, 1, 1},
		{10 * time.Microsecond, 2, 300},
		{time.Second, 1000, 1000},
	} {
		e := &engine{repetitions: 1, mhz: 1000, tick: test.tick}
		largest := 0
		f := e.figure(func(n int) {
			if n == maxSize && largest < 4 {
				largest++
				spin(n)
			}
		})
		if f.calls < test.min || f.calls > test.max {
			t.Errorf("tick %v: %d calls", test.tick, f.calls)
		}
	}
}

func TestClockMustAgree(t *testing.T) {
	for _, test := range []struct {
		name          string
		clocks        []float64
		before, after float64
		tries         int
	}{
		{"at once", []float64{3000, 3003}, 3000, 3003, 1},
		{"second", []float64{2000, 3000, 3000, 3001}, 3000, 3001, 2},
		{"never", []float64{1000, 2000, 2000, 3000, 3000, 2900, 2000, 1000, 1000, 1500, 1000, 1200}, 3000, 2900, maxTries},
	} {
		i := 0
		e := &engine{repetitions: 1, tick: 1, clock: func() float64 {
			i++
			return test.clocks[i-1]
		}}
		f := e.figure(func(int) {})
		if !f.auto || f.before != test.before || f.after != test.after || f.tries != test.tries || i != 2*test.tries ||
			f.mhz != (test.before+test.after)/2 {
			t.Errorf("%s: %+v after %d clocks", test.name, f, i)
		}
	}
}

func TestChain(t *testing.T) {
	x := uint64(1)
	for range 3 * chainLinks / 2 {
		x += 0x1234567890abcdef
		x ^= 0xfedcba0987654321
	}
	if got := chain(3, 1, 0x1234567890abcdef, 0xfedcba0987654321); got != x {
		t.Errorf("%x, want %x", got, x)
	}
	// From an emulator to whatever comes.
	if mhz := measureClock(); mhz < 5 || mhz > 20_000 {
		t.Errorf("a clock of %v MHz", mhz)
	}
	if tick := timerTick(); tick <= 0 || tick > time.Second {
		t.Errorf("a tick of %v", tick)
	}
}

func TestBuffer(t *testing.T) {
	for _, unaligned := range []bool{false, true} {
		want := uintptr(0)
		if unaligned {
			want = 1
		}
		b := newBuffer(maxSize, unaligned)
		if got := uintptr(unsafe.Pointer(&b[0])) % 64; got != want || len(b) != maxSize || cap(b) != maxSize {
			t.Errorf("unaligned %v: address %d modulo 64, length %d, capacity %d", unaligned, got, len(b), cap(b))
		}
		if slices.Max(b) == 0 {
			t.Error("untouched")
		}
	}
}
