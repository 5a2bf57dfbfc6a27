//go:build !purego

package twofish

import (
	"github.com/twogather/twogather/hwfeatures"
	"github.com/twogather/twogather/internal/kernel"
)

// Rows of the table, for the switches below.
const (
	kernelVPGATHER = iota
	kernelScalarBMI2
	kernelScalar
	kernelGeneric
)

var kernels = kernel.Table[funcs]{
	kernelVPGATHER: {
		Name:     "avx2-vpgather",
		Requires: hwfeatures.IntelAVX2,
		Prefers:  hwfeatures.IntelFastVPGATHER | hwfeatures.VPGATHERBeatsManual,
		Batch:    16,
		Funcs:    funcs{encrypt: encryptVPGATHER, decrypt: decryptVPGATHER},
	},
	kernelScalarBMI2: {
		Name:     "amd64-scalar-bmi2",
		Requires: hwfeatures.IntelBMI2,
		Batch:    1,
		Funcs:    funcs{encryptScalarBMI2, decryptScalarBMI2, cbcEncryptScalarBMI2},
	},
	kernelScalar: {
		Name:  "amd64-scalar",
		Batch: 1,
		Funcs: funcs{encryptScalar, decryptScalar, cbcEncryptScalar},
	},
	kernelGeneric: genericKernel,
}

// cryptWith calls kernel k's encrypt or decrypt directly.
func cryptWith(k uint8, decrypt bool, s *schedule, dst, src []byte) {
	switch {
	case k == kernelVPGATHER && !decrypt:
		encryptVPGATHER(s, dst, src)
	case k == kernelVPGATHER:
		decryptVPGATHER(s, dst, src)
	case k == kernelScalarBMI2 && !decrypt:
		encryptScalarBMI2(s, dst, src)
	case k == kernelScalarBMI2:
		decryptScalarBMI2(s, dst, src)
	case k == kernelScalar && !decrypt:
		encryptScalar(s, dst, src)
	case k == kernelScalar:
		decryptScalar(s, dst, src)
	case !decrypt:
		encryptGeneric(s, dst, src)
	default:
		decryptGeneric(s, dst, src)
	}
}

// encryptBlock and decryptBlock are crypt for one block. They spare the kernel that most processors use for it the way
// through the plan, which would take a tenth of the time.

func (c *Cipher) encryptBlock(dst, src []byte) {
	if c.plan.narrow == kernelScalarBMI2 {
		encryptScalarBMI2(&c.schedule, dst, src)
		return
	}
	c.crypt(false, dst, src)
}

func (c *Cipher) decryptBlock(dst, src []byte) {
	if c.plan.narrow == kernelScalarBMI2 {
		decryptScalarBMI2(&c.schedule, dst, src)
		return
	}
	c.crypt(true, dst, src)
}

// cbcEncrypt encrypts in CBC mode with the narrow kernel.
func (c *Cipher) cbcEncrypt(dst, src []byte, iv *[BlockSize]byte) {
	switch c.plan.narrow {
	case kernelScalarBMI2:
		cbcEncryptScalarBMI2(&c.schedule, dst, src, iv)
	case kernelScalar:
		cbcEncryptScalar(&c.schedule, dst, src, iv)
	case kernelGeneric:
		cbcEncryptGeneric(&c.schedule, dst, src, iv)
	default: // forced
		c.cbcEncryptBlocks(dst, src, iv)
	}
}

var hasAVX2 = hwfeatures.Enabled().Has(hwfeatures.IntelAVX2)

// fillCounters writes consecutive counters, big-endian, from hi·2⁶⁴ + lo on.
func fillCounters(dst []byte, hi, lo uint64) {
	if n := len(dst) &^ 127; hasAVX2 && n > 0 && lo+uint64(n/BlockSize) >= lo {
		fillCountersAVX2(dst[:n], hi, lo)
		dst, lo = dst[n:], lo+uint64(n/BlockSize)
		if lo == 0 {
			hi++
		}
	}
	fillCountersGeneric(dst, hi, lo)
}
