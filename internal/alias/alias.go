// Package alias tells how two byte slices lie in memory.
package alias

import (
	"math/bits"
	"unsafe"
)

// Address is where x lies.
func Address(x []byte) uintptr { return uintptr(unsafe.Pointer(unsafe.SliceData(x))) }

// AnyOverlap reports whether x and y share memory at any index. Capacity beyond the length does not count.
func AnyOverlap(x, y []byte) bool {
	if len(x) == 0 || len(y) == 0 {
		return false
	}
	px := Address(x)
	py := Address(y)
	return px < py+uintptr(len(y)) && py < px+uintptr(len(x))
}

// InexactOverlap reports whether x and y share memory at indexes that differ. A function that reads and writes
// element by element is right for slices that coincide or are apart, and wrong for these.
func InexactOverlap(x, y []byte) bool {
	return AnyOverlap(x, y) && unsafe.SliceData(x) != unsafe.SliceData(y)
}

// An Extent is the smallest stretch of memory that has given slices in it.
type Extent struct{ start, end uintptr }

// Add makes the stretch one that has x in it too.
func (e *Extent) Add(x []byte) {
	if len(x) == 0 {
		return
	}
	start := Address(x)
	end := start + uintptr(len(x))
	if e.end == 0 {
		*e = Extent{start, end}
		return
	}
	e.start, e.end = min(e.start, start), max(e.end, end)
}

// Meets reports whether x has a part in the stretch. Where it has none, it overlaps no slice in it.
func (e *Extent) Meets(x []byte) bool {
	start := Address(x)
	return len(x) > 0 && start < e.end && e.start < start+uintptr(len(x))
}

// Follow reports whether all slices have length n and each begins where the one before it ends or further on, the first one
// at an address or further on, and returns where the last one ends. It is how the buffers of one allocation lie, and with n
// above 0 no two of them overlap, which is seen at once.
func Follow(address uintptr, n int, slices [][]byte) (end uintptr, ok bool) {
	for _, x := range slices {
		start := Address(x)
		if len(x) != n || start < address {
			return 0, false
		}
		address = start + uintptr(n)
	}
	return address, true
}

// Crowded reports whether more than so many slices begin in the same line of a page. These fall on the same set of a
// first-level cache, and, if they are more than it has ways, push each other out.
func Crowded(slices [][]byte, ways int) bool {
	if len(slices) <= ways {
		return false
	}
	const line, lines = 64, 4096 / 64
	at := func(x []byte) uintptr { return Address(x) / line % lines }
	seen := uint64(0)
	for _, x := range slices {
		seen |= 1 << at(x)
	}
	// So many different lines leave no more than so many of the others in one.
	if len(slices)-bits.OnesCount64(seen) < ways {
		return false
	}
	var counts [lines]int
	for _, x := range slices {
		n := &counts[at(x)]
		if *n++; *n > ways {
			return true
		}
	}
	return false
}
