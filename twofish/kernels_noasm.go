//go:build purego || !amd64

package twofish

import "github.com/twogather/twogather/internal/kernel"

var kernels = kernel.Table[funcs]{genericKernel}

func cryptWith(k uint8, decrypt bool, s *schedule, dst, src []byte) {
	if decrypt {
		decryptGeneric(s, dst, src)
	} else {
		encryptGeneric(s, dst, src)
	}
}

func (c *Cipher) encryptBlock(dst, src []byte) { encryptGeneric(&c.schedule, dst, src) }
func (c *Cipher) decryptBlock(dst, src []byte) { decryptGeneric(&c.schedule, dst, src) }

func (c *Cipher) cbcEncrypt(dst, src []byte, iv *[BlockSize]byte) {
	cbcEncryptGeneric(&c.schedule, dst, src, iv)
}

func fillCounters(dst []byte, hi, lo uint64) { fillCountersGeneric(dst, hi, lo) }
