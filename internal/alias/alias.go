// Package alias tells how two byte slices lie in memory.
package alias

import "unsafe"

// AnyOverlap reports whether x and y share memory at any index. Capacity beyond the length does not count.
func AnyOverlap(x, y []byte) bool {
	if len(x) == 0 || len(y) == 0 {
		return false
	}
	px := uintptr(unsafe.Pointer(unsafe.SliceData(x)))
	py := uintptr(unsafe.Pointer(unsafe.SliceData(y)))
	return px < py+uintptr(len(y)) && py < px+uintptr(len(x))
}

// InexactOverlap reports whether x and y share memory at indexes that differ. A function that reads and writes
// element by element is right for slices that coincide or are apart, and wrong for these.
func InexactOverlap(x, y []byte) bool {
	return AnyOverlap(x, y) && unsafe.SliceData(x) != unsafe.SliceData(y)
}
