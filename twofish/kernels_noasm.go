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

func cbcEncryptWith(k uint8, s *schedule, dst, src []byte, iv *[BlockSize]byte) bool {
	if k == kernelGeneric {
		cbcEncryptGeneric(s, dst, src, iv)
		return true
	}
	return false
}

// One block goes the plan's way if it is not the usual one.

func (c *Cipher) encryptBlock(dst, src []byte) {
	if c.plan.steps[0].kernel == kernelGeneric {
		encryptGeneric(&c.schedule, dst, src)
		return
	}
	c.crypt(false, dst, src, nil)
}

func (c *Cipher) decryptBlock(dst, src []byte) {
	if c.plan.steps[0].kernel == kernelGeneric {
		decryptGeneric(&c.schedule, dst, src)
		return
	}
	c.crypt(true, dst, src, nil)
}

func fillCounters(dst []byte, hi, lo uint64) { fillCountersGeneric(dst, hi, lo) }
