//go:build purego || !(amd64 || arm64)

package twofish

import "github.com/twogather/twogather/internal/kernel"

// Rows of the table, for the switches below.
const (
	kernelGeneric = iota
	kernelConstantTime
	kernelConstantTime8
)

var kernels = kernel.Table[funcs]{
	kernelGeneric:       genericKernel,
	kernelConstantTime:  constantTimeKernel,
	kernelConstantTime8: constantTime8Kernel,
}

// maxBatch is the largest batch of any kernel, in bytes.
const maxBatch = lanes * BlockSize

func cryptWith(k uint8, decrypt bool, s *schedule, dst, src []byte, _ *[BlockSize]byte) {
	if decrypt {
		decryptWith(k, s, dst, src)
	} else {
		encryptWith(k, s, dst, src)
	}
}

func encryptWith(k uint8, s *schedule, dst, src []byte) {
	switch k {
	case kernelGeneric:
		encryptGeneric(s, dst, src)
	case kernelConstantTime:
		encryptConstantTime(s, dst, src)
	default:
		encryptConstantTime8(s, dst, src)
	}
}

func decryptWith(k uint8, s *schedule, dst, src []byte) {
	switch k {
	case kernelGeneric:
		decryptGeneric(s, dst, src)
	case kernelConstantTime:
		decryptConstantTime(s, dst, src)
	default:
		decryptConstantTime8(s, dst, src)
	}
}

func limitsOf(k uint8) limits { return limits{padFrom: kernels[k].Batch} } // never

func isFused(uint8) bool { return false }
