//go:build !purego

package twofish

import (
	"github.com/twogather/twogather/hwfeatures"
	"github.com/twogather/twogather/internal/kernel"
)

// Rows of the table, for the switches below.
const (
	kernelNEON = iota
	kernelGeneric
	kernelConstantTime
	kernelConstantTime8
)

var kernels = kernel.Table[funcs]{
	kernelNEON: {
		Name:         "neon-shuffle",
		Requires:     hwfeatures.ARMNEON,
		Batch:        32,
		Funcs:        fused(encryptNEON, decryptNEON),
		ConstantTime: true,
	},
	kernelGeneric:       genericKernel,
	kernelConstantTime:  constantTimeKernel,
	kernelConstantTime8: constantTime8Kernel,
}

// maxBatch is the largest batch of any kernel, in bytes.
const maxBatch = lanes * BlockSize

// limitsOf says from how many blocks on a remainder takes less time padded to a batch of kernel k than by way of the smaller
// kernels. Nobody has timed it yet: 16 stands between what llvm-mca 19 models.
//
//	                             neon-shuffle, one batch   generic, one block   even at
//	instructions, counted                           8280                  710   12 blocks
//	cycles, model of Neoverse V1 and V2             2320                  223   11
//	cycles, model of Neoverse N1                    4700                  247   20
func limitsOf(k uint8) limits {
	if k == kernelNEON {
		return limits{padFrom: 16}
	}
	return limits{padFrom: kernels[k].Batch} // never
}

// encryptWith calls kernel k's encrypt directly, or, with a counter, its ctr.
func encryptWith(k uint8, s *schedule, dst, src []byte, counter *[BlockSize]byte) {
	switch k {
	case kernelNEON:
		encryptNEON(s, dst, src, counter)
	case kernelGeneric:
		encryptGeneric(s, dst, src)
	case kernelConstantTime:
		encryptConstantTime(s, dst, src)
	default:
		encryptConstantTime8(s, dst, src)
	}
}

// decryptWith calls kernel k's decrypt directly, or, with an IV, its cbcDecrypt.
func decryptWith(k uint8, s *schedule, dst, src []byte, iv *[BlockSize]byte) {
	switch k {
	case kernelNEON:
		decryptNEON(s, dst, src, iv)
	case kernelGeneric:
		decryptGeneric(s, dst, src)
	case kernelConstantTime:
		decryptConstantTime(s, dst, src)
	default:
		decryptConstantTime8(s, dst, src)
	}
}

// isFused reports whether kernel k has ctr and cbcDecrypt.
func isFused(k uint8) bool { return k == kernelNEON }
