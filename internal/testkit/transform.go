package testkit

import (
	"bytes"
	"fmt"
	"testing"
)

// A transform is what blocks in bulk, block modes and streams have in common: a call takes all of src, some units of it,
// to the start of dst, and the next call goes on from there. What it makes of an input's beginning is the beginning of
// what it makes of the input.
type transform struct {
	prefix string                       // of the texts of its panics
	size   int                          // of a block, in bytes
	unit   int                          // lengths are multiples of this: size or 1
	batch  int                          // how many blocks a kernel takes at a time
	fresh  func() func(dst, src []byte) // a new one
	want   func() func(dst, src []byte) // the reference's
}

// lengths returns the lengths to check, in bytes.
func (x *transform) lengths() []int {
	var s []int
	if x.unit == 1 {
		s = append(s, Size().Bytes...)
	}
	for _, n := range Size().Lengths(x.batch) {
		s = append(s, n*x.size)
		if x.unit == 1 && n > 0 {
			s = append(s, n*x.size-1, n*x.size+1)
		}
	}
	return s
}

// step is some units, and not a whole number of blocks where there is a choice.
func (x *transform) step(blocks int) int {
	n := blocks * x.size
	if x.unit == 1 && n > 3 {
		n -= 3
	}
	return n
}

func (x *transform) run(t *testing.T) {
	lengths := x.lengths()
	longest := max(100, 43*x.size) // what splits need
	for _, n := range lengths {
		longest = max(longest, n)
	}
	in := Random(t.Name(), longest+x.size*(2*x.batch+8))
	want := make([]byte, len(in))
	x.want()(want, in)
	kept := bytes.Clone(in)

	t.Run("lengths", func(t *testing.T) { x.testLengths(t, lengths, in, want) })
	t.Run("guard pages", func(t *testing.T) { x.testGuards(t, lengths, in, want) })
	t.Run("splits", func(t *testing.T) { x.testSplits(t, in, want) })
	t.Run("overlap", func(t *testing.T) { x.testOverlap(t, in, want) })
	t.Run("misuse", func(t *testing.T) { x.testMisuse(t, in, want) })
	t.Run("long", func(t *testing.T) { x.testLong(t) })
	if !bytes.Equal(in, kept) {
		t.Error("a source was written to")
	}
}

const canary = 0xa5

// spoil fills b with what no check expects.
func spoil(b []byte) {
	for i := range b {
		b[i] = canary
	}
}

// intact reports whether b is as spoil left it.
func intact(b []byte) bool { return bytes.Count(b, []byte{canary}) == len(b) }

// testLengths checks every length, to a destination that is longer and in place, and that the next call goes on rightly.
func (x *transform) testLengths(t *testing.T, lengths []int, in, want []byte) {
	dst := make([]byte, len(in)+x.size+1)
	for _, n := range lengths {
		spoil(dst)
		f := x.fresh()
		f(dst, in[:n])
		if !bytes.Equal(dst[:n], want[:n]) {
			t.Fatalf("%d bytes: wrong result", n)
		}
		if !intact(dst[n:]) {
			t.Fatalf("%d bytes: written past the end", n)
		}
		// The next calls: one unit, then more than a batch, the second in place.
		end := n
		for i, m := range []int{x.unit, x.step(x.batch + 2)} {
			start := end
			end += m
			if i == 0 {
				f(dst[start:end], in[start:end])
			} else {
				copy(dst[start:], in[start:end])
				f(dst[start:end], dst[start:end])
			}
		}
		if !bytes.Equal(dst[:end], want[:end]) {
			t.Fatalf("%d bytes: the result of a later call is wrong", n)
		}

		spoil(dst)
		copy(dst, in[:n])
		x.fresh()(dst[:n], dst[:n])
		if !bytes.Equal(dst[:n], want[:n]) {
			t.Fatalf("%d bytes in place: wrong result", n)
		}
		if !intact(dst[n:]) {
			t.Fatalf("%d bytes in place: written past the end", n)
		}
	}
}

// testGuards puts source and destination against pages that fault, in front and behind, and at every offset from them.
func (x *transform) testGuards(t *testing.T, lengths []int, in, want []byte) {
	offsets := Size().Offsets
	room := len(in) + offsets[len(offsets)-1]
	src, dst := Guarded(t, room), Guarded(t, room)
	spoil(dst)
	// place is n bytes at an offset from the front or the back of memory.
	place := func(memory []byte, n, offset int, back bool) int {
		if back {
			return len(memory) - offset - n
		}
		return offset
	}
	run := func(n, srcOffset, dstOffset int, srcBack, dstBack, same bool) {
		t.Helper()
		from := place(dst, n, dstOffset, dstBack)
		d := dst[from : from+n : from+n]
		s := d
		if !same {
			at := place(src, n, srcOffset, srcBack)
			s = src[at : at+n : at+n]
		}
		copy(s, in)
		x.fresh()(d, s)
		where := func() string {
			return fmt.Sprintf("%d bytes, source at offset %d (back: %v), destination at %d (back: %v), in place: %v",
				n, srcOffset, srcBack, dstOffset, dstBack, same)
		}
		if !bytes.Equal(d, want[:n]) {
			t.Fatalf("%s: wrong result", where())
		}
		const around = 64
		if !intact(dst[max(from-around, 0):from]) || !intact(dst[from+n:min(from+n+around, len(dst))]) {
			t.Fatalf("%s: written outside", where())
		}
		spoil(d)
	}
	for _, n := range lengths {
		// At the very edges, on all sides.
		for _, back := range []bool{false, true} {
			run(n, 0, 0, back, false, false)
			run(n, 0, 0, back, true, false)
			run(n, 0, 0, back, back, true)
		}
		// Sources at every offset; destinations at another, which differs from length to length.
		for i, offset := range offsets {
			k := i + n/x.unit
			run(n, offset, offsets[(7*i+n/x.size)%len(offsets)], k%2 == 1, k%4 >= 2, i%8 == 3)
		}
	}
}

// testSplits cuts an input in three parts, in all ways; then a longer one near where batches begin and end.
func (x *transform) testSplits(t *testing.T, in, want []byte) {
	cuts := func(total int, cut func(int) bool) (s []int) {
		for n := 0; n <= total; n += x.unit {
			if cut(n) {
				s = append(s, n)
			}
		}
		return s
	}
	every := Size().Cuts * x.unit
	short := 100
	if x.unit > 1 {
		short = 43 * x.size
	}
	x.splitInThree(t, in[:short], want, cuts(short, func(n int) bool { return n%every == 0 }))

	if x.batch == 1 {
		return
	}
	batch := x.batch * x.size
	long := max(43, 2*x.batch+11) * x.size
	if x.unit == 1 {
		long += 12
	}
	x.splitInThree(t, in[:long], want, cuts(long, func(n int) bool {
		if Boundary() && n%batch > 1 && n%batch != batch-1 {
			return false
		}
		fromBatch := min(n%batch, batch-n%batch)
		return fromBatch <= 1 || fromBatch == x.size || fromBatch == x.size+1 || fromBatch == x.size-1
	}))
}

func (x *transform) splitInThree(t *testing.T, in, want []byte, cuts []int) {
	got := make([]byte, len(in))
	for i, a := range cuts {
		for _, b := range cuts[i:] {
			clear(got)
			f := x.fresh()
			f(got[:a], in[:a])
			copy(got[a:b], in[a:b])
			f(got[a:b], got[a:b]) // in place
			f(got[b:], in[b:])
			if !bytes.Equal(got, want[:len(in)]) {
				t.Fatalf("%d bytes in parts of %d, %d and %d: wrong result", len(in), a, b-a, len(in)-b)
			}
		}
	}
}

// testOverlap checks that buffers which overlap but do not coincide are refused, and that all others are not.
func (x *transform) testOverlap(t *testing.T, in, want []byte) {
	text := x.prefix + ": invalid buffer overlap"
	for _, blocks := range []int{1, 3, x.batch + 1} {
		n := x.step(blocks)
		b := make([]byte, 3*n)
		for _, d := range []int{1, 2, x.size - 1, x.size, x.size + 1, 2 * x.size, n/2 + 1, n - 1} {
			if d < 1 || d >= n {
				continue
			}
			copy(b, Random("overlap", len(b)))
			f := x.fresh()
			MustPanic(t, text, func() { f(b[d:d+n], b[:n]) }, b)
			MustPanic(t, text, func() { f(b[:n], b[d:d+n]) }, b)
			MustPanic(t, text, func() { f(b[:2*n], b[d:d+n]) }, b)
			f(b[:n], in[:n])
			if !bytes.Equal(b[:n], want[:n]) {
				t.Fatalf("%d bytes: wrong result after an overlap was refused", n)
			}
		}
		// Neighbours; and a destination longer than it need be, which reaches into the source.
		copy(b[n:], in[:n])
		x.fresh()(b[:n], b[n:2*n])
		if !bytes.Equal(b[:n], want[:n]) {
			t.Fatalf("%d bytes behind their destination: wrong result", n)
		}
		copy(b, in[:n])
		x.fresh()(b[n:2*n], b[:n])
		if !bytes.Equal(b[n:2*n], want[:n]) {
			t.Fatalf("%d bytes in front of their destination: wrong result", n)
		}
		copy(b[n:], in[:n])
		x.fresh()(b, b[n:2*n])
		if !bytes.Equal(b[:n], want[:n]) {
			t.Fatalf("%d bytes inside a longer destination: wrong result", n)
		}
	}
}

// testMisuse checks what is refused, that nothing is written then, and that the next call is right.
func (x *transform) testMisuse(t *testing.T, in, want []byte) {
	f := x.fresh()
	for _, empty := range [][]byte{nil, {}} {
		f(nil, empty)
		dst := []byte{1, 2, 3}
		f(dst, empty)
		if !bytes.Equal(dst, []byte{1, 2, 3}) {
			t.Error("an empty source was written somewhere")
		}
	}
	dst := Random("misuse", (x.batch+3)*x.size)
	if x.unit > 1 {
		for _, n := range []int{1, x.size - 1, x.size + 1, 3*x.size - 1, x.batch*x.size + 1} {
			text := x.prefix + ": input not full blocks"
			MustPanic(t, text, func() { f(dst, in[:n]) }, dst)
			MustPanic(t, text, func() { f(dst[:n], in[:n]) }, dst)
			MustPanic(t, text, func() { f(nil, in[:n]) })
		}
	}
	for _, blocks := range []int{1, 2, x.batch, x.batch + 1} {
		n := blocks * x.size
		text := x.prefix + ": output smaller than input"
		MustPanic(t, text, func() { f(nil, in[:n]) })
		for _, m := range []int{0, min(1, n-1), n - x.size, n - 1} {
			MustPanic(t, text, func() { f(dst[:m], in[:n]) }, dst)
			MustPanic(t, text, func() { f(dst[:m:m], in[:n]) }, dst)
		}
	}
	n := x.step(x.batch + 2)
	f(dst, in[:n])
	if !bytes.Equal(dst[:n], want[:n]) {
		t.Error("wrong result after calls that were refused")
	}
}

// testLong makes one long call, in place, and a short one after it.
func (x *transform) testLong(t *testing.T) {
	n := Size().Long * x.size
	in := Random("long", n+3*x.size)
	want := make([]byte, len(in))
	x.want()(want, in)
	f := x.fresh()
	f(in[:n], in[:n])
	f(in[n:], in[n:])
	if i := firstDifference(in, want); i >= 0 {
		t.Errorf("%d bytes in one call: wrong from byte %d on", n, i)
	}
}

func firstDifference(a, b []byte) int {
	for i := range a {
		if a[i] != b[i] {
			return i
		}
	}
	return -1
}

// mustEqual fails the test when two results differ.
func mustEqual(t testing.TB, got, want []byte, format string, args ...any) {
	t.Helper()
	if !bytes.Equal(got, want) {
		t.Fatalf("%s: got %x, want %x", fmt.Sprintf(format, args...), got, want)
	}
}
