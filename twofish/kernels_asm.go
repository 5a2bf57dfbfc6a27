//go:build !purego && (amd64 || arm64)

package twofish

// What the architectures with assembly share.

// fused takes a wide kernel's functions apart: their last argument chooses between two operations.
func fused(encrypt, decrypt func(s *schedule, dst, src []byte, chain *[BlockSize]byte)) funcs {
	return funcs{
		encrypt:    func(s *schedule, dst, src []byte) { encrypt(s, dst, src, nil) },
		decrypt:    func(s *schedule, dst, src []byte) { decrypt(s, dst, src, nil) },
		ctr:        encrypt,
		cbcDecrypt: decrypt,
	}
}

// cryptWith calls kernel k's encrypt or decrypt directly, or, with a chain, its ctr or cbcDecrypt.
func cryptWith(k uint8, decrypt bool, s *schedule, dst, src []byte, chain *[BlockSize]byte) {
	if decrypt {
		decryptWith(k, s, dst, src, chain)
	} else {
		encryptWith(k, s, dst, src, chain)
	}
}
