//go:build purego || !amd64

package twofish

// What all builds but amd64's with assembly share.

// cbcEncryptWith calls kernel k's cbcEncrypt directly and reports whether there is one.
func cbcEncryptWith(k uint8, s *schedule, dst, src []byte, iv *[BlockSize]byte) bool {
	if k == kernelGeneric {
		cbcEncryptGeneric(s, dst, src, iv)
		return true
	}
	return false
}

// encryptBlock and decryptBlock are crypt for one block, which the usual kernel for it takes without the way through the
// plan.

func (c *Cipher) encryptBlock(dst, src []byte) {
	if c.plan.steps[c.plan.last].kernel == kernelGeneric {
		encryptGeneric(&c.schedule, dst, src)
		return
	}
	c.crypt(false, dst, src, nil)
}

func (c *Cipher) decryptBlock(dst, src []byte) {
	if c.plan.steps[c.plan.last].kernel == kernelGeneric {
		decryptGeneric(&c.schedule, dst, src)
		return
	}
	c.crypt(true, dst, src, nil)
}

func fillCounters(dst []byte, hi, lo uint64) { fillCountersGeneric(dst, hi, lo) }
