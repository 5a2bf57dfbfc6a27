//go:build !purego

package twofish

import (
	"github.com/twogather/twogather/hwfeatures"
	"github.com/twogather/twogather/internal/kernel"
)

// Rows of the table, for the switches below.
const (
	kernelPermute = iota
	kernelShuffle512
	kernelHybrid
	kernelGFNIShuffle
	kernelShuffle
	kernelVPGATHER
	kernelManual
	kernelManual8
	kernelScalarBMI2
	kernelScalar
	kernelGeneric
	kernelConstantTime
	kernelConstantTime8
)

var kernels = kernel.Table[funcs]{
	kernelPermute: {
		Name:         "avx512-permute",
		Requires:     hwfeatures.IntelAVX512 | hwfeatures.IntelAVX512VBMI | hwfeatures.IntelGFNI,
		Batch:        64,
		Funcs:        fused(encryptPermute, decryptPermute),
		ConstantTime: true,
	},
	kernelShuffle512: {
		Name:         "avx512-shuffle",
		Requires:     hwfeatures.IntelAVX512,
		Batch:        64,
		Funcs:        fused(encryptShuffle512, decryptShuffle512),
		ConstantTime: true,
	},
	kernelHybrid: {
		Name:     "avx2-hybrid",
		Requires: hwfeatures.IntelAVX2 | hwfeatures.IntelBMI2,
		Batch:    80,
		Funcs:    fused(encryptHybrid, decryptHybrid),
	},
	kernelGFNIShuffle: {
		Name:         "avx2-gfni-shuffle",
		Requires:     hwfeatures.IntelAVX2 | hwfeatures.IntelGFNI,
		Batch:        64,
		Funcs:        fused(encryptGFNIShuffle, decryptGFNIShuffle),
		ConstantTime: true,
	},
	kernelShuffle: {
		Name:         "avx2-shuffle",
		Requires:     hwfeatures.IntelAVX2,
		Batch:        64,
		Funcs:        fused(encryptShuffle, decryptShuffle),
		ConstantTime: true,
	},
	kernelVPGATHER: {
		Name:     "avx2-vpgather",
		Requires: hwfeatures.IntelAVX2,
		Prefers:  hwfeatures.IntelFastVPGATHER | hwfeatures.VPGATHERBeatsManual,
		Batch:    16,
		Funcs:    fused(encryptVPGATHER, decryptVPGATHER),
	},
	kernelManual: {
		Name:     "avx2-manual",
		Requires: hwfeatures.IntelAVX2 | hwfeatures.IntelBMI2,
		Batch:    16,
		Funcs:    fused(encryptManual, decryptManual),
	},
	kernelManual8: {
		Name:     "avx2-manual-8",
		Requires: hwfeatures.IntelAVX2 | hwfeatures.IntelBMI2,
		Batch:    8,
		Funcs:    fused(encryptManual8, decryptManual8),
	},
	kernelScalarBMI2: {
		Name:     "amd64-scalar-bmi2",
		Requires: hwfeatures.IntelBMI2,
		Batch:    1,
		Funcs:    funcs{encrypt: encryptScalarBMI2, decrypt: decryptScalarBMI2, cbcEncrypt: cbcEncryptScalarBMI2},
	},
	kernelScalar: {
		Name:  "amd64-scalar",
		Batch: 1,
		Funcs: funcs{encrypt: encryptScalar, decrypt: decryptScalar, cbcEncrypt: cbcEncryptScalar},
	},
	kernelGeneric:       genericKernel,
	kernelConstantTime:  constantTimeKernel,
	kernelConstantTime8: constantTime8Kernel,
}

// maxBatch is the largest batch of any kernel, in bytes.
const maxBatch = 80 * BlockSize

// limitsOf says from how many blocks on a remainder takes less time padded to a batch of kernel k than by way of the smaller
// kernels. On Zen 5 (EPYC), in cycles for a call of so many blocks:
//
//	                                       43 blocks   44   45   46   68   69
//	avx2-hybrid, padded                                              4324 4324
//	avx2-manual and smaller ones                                     4241 4379
//	avx2-gfni-shuffle, padded                4177 4153 4148 4143
//	avx2-shuffle, padded                     4261 4251 4256 4251
//	amd64-scalar                             4143 4221 4412 4452
//
//	                                        5 blocks    6    7   12   13   15   24   25
//	avx512-permute, padded                                  1040 1038 1043
//	avx512-shuffle, padded                                                 1716 1718
//	avx2-manual, from 16 on and what is left                               1629 1838
//	avx2-manual, padded                                     1035 1033 1029
//	avx2-manual-8, padded                        626  628  628           1223
//	amd64-scalar-bmi2, from 8 on after a batch   570  626  666  975 1159
func limitsOf(k uint8) limits {
	switch k {
	case kernelPermute:
		return limits{padFrom: 13}
	case kernelManual:
		return limits{13, []span{{23, 24}}}
	case kernelShuffle512:
		return limits{padFrom: 25}
	case kernelHybrid:
		return limits{72, []span{{117, 128}, {185, 192}}}
	case kernelGFNIShuffle, kernelShuffle:
		return limits{padFrom: 51}
	case kernelManual8:
		return limits{padFrom: 7}
	}
	return limits{padFrom: kernels[k].Batch} // never
}

// encryptWith calls kernel k's encrypt directly, or, with a counter, its ctr.
func encryptWith(k uint8, s *schedule, dst, src []byte, counter *[BlockSize]byte) {
	switch k {
	case kernelPermute:
		encryptPermute(s, dst, src, counter)
	case kernelShuffle512:
		encryptShuffle512(s, dst, src, counter)
	case kernelHybrid:
		encryptHybrid(s, dst, src, counter)
	case kernelGFNIShuffle:
		encryptGFNIShuffle(s, dst, src, counter)
	case kernelShuffle:
		encryptShuffle(s, dst, src, counter)
	case kernelVPGATHER:
		encryptVPGATHER(s, dst, src, counter)
	case kernelManual:
		encryptManual(s, dst, src, counter)
	case kernelManual8:
		encryptManual8(s, dst, src, counter)
	case kernelScalarBMI2:
		encryptScalarBMI2(s, dst, src)
	case kernelScalar:
		encryptScalar(s, dst, src)
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
	case kernelPermute:
		decryptPermute(s, dst, src, iv)
	case kernelShuffle512:
		decryptShuffle512(s, dst, src, iv)
	case kernelHybrid:
		decryptHybrid(s, dst, src, iv)
	case kernelGFNIShuffle:
		decryptGFNIShuffle(s, dst, src, iv)
	case kernelShuffle:
		decryptShuffle(s, dst, src, iv)
	case kernelVPGATHER:
		decryptVPGATHER(s, dst, src, iv)
	case kernelManual:
		decryptManual(s, dst, src, iv)
	case kernelManual8:
		decryptManual8(s, dst, src, iv)
	case kernelScalarBMI2:
		decryptScalarBMI2(s, dst, src)
	case kernelScalar:
		decryptScalar(s, dst, src)
	case kernelGeneric:
		decryptGeneric(s, dst, src)
	case kernelConstantTime:
		decryptConstantTime(s, dst, src)
	default:
		decryptConstantTime8(s, dst, src)
	}
}

// isFused reports whether kernel k has ctr and cbcDecrypt.
func isFused(k uint8) bool { return k < kernelScalarBMI2 }

// cbcEncryptWith calls kernel k's cbcEncrypt directly and reports whether there is one.
func cbcEncryptWith(k uint8, s *schedule, dst, src []byte, iv *[BlockSize]byte) bool {
	switch k {
	case kernelScalarBMI2:
		cbcEncryptScalarBMI2(s, dst, src, iv)
	case kernelScalar:
		cbcEncryptScalar(s, dst, src, iv)
	case kernelGeneric:
		cbcEncryptGeneric(s, dst, src, iv)
	default:
		return false
	}
	return true
}

// encryptBlock and decryptBlock are crypt for one block. They spare the kernel that most processors use for it the way
// through the plan, which would take a tenth of the time.

func (c *Cipher) encryptBlock(dst, src []byte) {
	if c.plan.steps[c.plan.last].kernel == kernelScalarBMI2 {
		encryptScalarBMI2(&c.schedule, dst, src)
		return
	}
	c.crypt(false, dst, src, nil)
}

func (c *Cipher) decryptBlock(dst, src []byte) {
	if c.plan.steps[c.plan.last].kernel == kernelScalarBMI2 {
		decryptScalarBMI2(&c.schedule, dst, src)
		return
	}
	c.crypt(true, dst, src, nil)
}

var hasAVX2 = hwfeatures.Enabled().Has(hwfeatures.IntelAVX2)

// fillCounters writes consecutive counters, big-endian, from hi·2⁶⁴ + lo on.
func fillCounters(dst []byte, hi, lo uint64) {
	if n := len(dst) &^ 127; hasAVX2 && n > 0 && lo+uint64(n/BlockSize) >= lo {
		fillCountersAVX2(dst[:n], hi, lo)
		dst, lo = dst[n:], lo+uint64(n/BlockSize)
	}
	fillCountersGeneric(dst, hi, lo)
}
