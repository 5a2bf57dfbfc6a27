package testkit

import "unsafe"

// guards returns the byte before b and the byte after it.
func guards(b []byte) []*byte {
	p := unsafe.Pointer(unsafe.SliceData(b))
	return []*byte{(*byte)(unsafe.Add(p, -1)), (*byte)(unsafe.Add(p, len(b)))}
}
