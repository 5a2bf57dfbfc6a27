//go:build cgo && (libgcrypt || libisal)

package main

import "C"

import "unsafe"

func pointer(b []byte) *C.uchar { return (*C.uchar)(unsafe.Pointer(unsafe.SliceData(b))) }
