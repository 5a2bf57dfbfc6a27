//go:build purego || !(amd64 || arm64)

package twofish

import "github.com/twogather/twogather/internal/kernel"

var kernels = kernel.Table[funcs]{genericKernel}

const maxBatch = BlockSize

func cryptWith(_ uint8, decrypt bool, s *schedule, dst, src []byte, _ *[BlockSize]byte) {
	if decrypt {
		decryptGeneric(s, dst, src)
	} else {
		encryptGeneric(s, dst, src)
	}
}

func padFrom(uint8) int { return 1 }

func isFused(uint8) bool { return false }

func cbcEncryptWith(_ uint8, s *schedule, dst, src []byte, iv *[BlockSize]byte) bool {
	cbcEncryptGeneric(s, dst, src, iv)
	return true
}

func (c *Cipher) encryptBlock(dst, src []byte) { encryptGeneric(&c.schedule, dst, src) }
func (c *Cipher) decryptBlock(dst, src []byte) { decryptGeneric(&c.schedule, dst, src) }

func fillCounters(dst []byte, hi, lo uint64) { fillCountersGeneric(dst, hi, lo) }
