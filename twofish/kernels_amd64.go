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
		Funcs:        fusedRows(encryptPermute, decryptPermute),
		ConstantTime: true,
	},
	kernelShuffle512: {
		Name:         "avx512-shuffle",
		Requires:     hwfeatures.IntelAVX512,
		Batch:        64,
		Funcs:        fusedRows(encryptShuffle512, decryptShuffle512),
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
		Funcs:        fusedRows(encryptGFNIShuffle, decryptGFNIShuffle),
		ConstantTime: true,
	},
	kernelShuffle: {
		Name:         "avx2-shuffle",
		Requires:     hwfeatures.IntelAVX2,
		Batch:        64,
		Funcs:        fusedRows(encryptShuffle, decryptShuffle),
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

// fusedRows is fused for a kernel with rows.
func fusedRows(encrypt func(s *schedule, dst, src []byte, counter *[BlockSize]byte, row *[rowBytes]byte), decrypt func(s *schedule, dst, src []byte, iv *[BlockSize]byte)) funcs {
	f := fused(func(s *schedule, dst, src []byte, counter *[BlockSize]byte) { encrypt(s, dst, src, counter, nil) }, decrypt)
	f.rows = encrypt
	return f
}

// maxBatch is the largest batch of any kernel, in bytes.
const maxBatch = 80 * BlockSize

// limitsOf says what a step with kernel k leaves to smaller kernels, because it takes less time so. Cycles for a call of so
// many blocks, what is left padded, on Zen 3 (EPYC, family 19h, model 01h), which has AVX2 and no more:
//
//	                    6 blocks    7    8   13   16   22   24   48   51   64   72   80  117   128   160   192
//	avx2-hybrid                                                     5730 5704 5749 5651      11226 10335 16173
//	avx2-shuffle                                               4807 4805 4559           9432  8779 13321 12782
//	avx2-manual                           1662 1535 2981 3005 4305 5733 5647           11334 11130 13677 16364
//	avx2-manual-8            863  872  821 1709 1567 2366 2299 4561 5380 6016
//	amd64-scalar-bmi2        782  870  960 1664 1853 2540 2733 5482 5819
//	the plan                 782  865  814 1652 1529 2364 2292 4290 4779 4557 5751 5651 9443  8804 10354 12782
//
// The spans are lengths of which the larger kernel would leave a remainder that costs more than it saves. And on Zen 5 (EPYC,
// family 1Ah, model 02h), which has AVX-512:
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
		return limits{13, []span{{22, 24}}}
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
		encryptPermute(s, dst, src, counter, nil)
	case kernelShuffle512:
		encryptShuffle512(s, dst, src, counter, nil)
	case kernelHybrid:
		encryptHybrid(s, dst, src, counter)
	case kernelGFNIShuffle:
		encryptGFNIShuffle(s, dst, src, counter, nil)
	case kernelShuffle:
		encryptShuffle(s, dst, src, counter, nil)
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
