package modes

import (
	"bytes"
	"crypto/cipher"
	"crypto/subtle"
)

type cbcEncrypter struct {
	block cipher.Block
	fused BulkCBCEncrypter // block, if it is one
	iv    []byte
}

// NewCBCEncrypter returns a BlockMode that encrypts in cipher block chaining mode. It panics if iv is not as long as a
// block. The result has a method SetIV([]byte), as the standard library's.
func NewCBCEncrypter(b cipher.Block, iv []byte) cipher.BlockMode {
	if len(iv) != b.BlockSize() {
		panic("cipher.NewCBCEncrypter: IV length must equal block size")
	}
	fused, _ := b.(BulkCBCEncrypter)
	return &cbcEncrypter{b, fused, bytes.Clone(iv)}
}

func (x *cbcEncrypter) BlockSize() int { return len(x.iv) }

func (x *cbcEncrypter) SetIV(iv []byte) { setIV(x.iv, iv) }

func (x *cbcEncrypter) CryptBlocks(dst, src []byte) {
	size := len(x.iv)
	checkBlocks(size, dst, src)
	if x.fused != nil {
		x.fused.EncryptCBC(dst, src, x.iv)
		return
	}
	iv := x.iv
	for ; len(src) > 0; dst, src = dst[size:], src[size:] {
		subtle.XORBytes(dst[:size], src[:size], iv)
		x.block.Encrypt(dst[:size], dst[:size])
		iv = dst[:size]
	}
	copy(x.iv, iv)
}

type cbcDecrypter struct {
	block cipher.Block
	bulk  Bulk             // block, if it is one
	fused BulkCBCDecrypter // block, if it is one
	size  int
	// chain starts with the ciphertext block before the next one, the IV at first. The blocks that are being decrypted,
	// perhaps in place, are kept after it: XORed over the result, chain is the whole of the mode.
	chain []byte
}

// NewCBCDecrypter returns a BlockMode that decrypts in cipher block chaining mode. It panics if iv is not as long as a
// block. The result has a method SetIV([]byte), as the standard library's.
func NewCBCDecrypter(b cipher.Block, iv []byte) cipher.BlockMode {
	if len(iv) != b.BlockSize() {
		panic("cipher.NewCBCDecrypter: IV length must equal block size")
	}
	x := &cbcDecrypter{block: b, size: len(iv), chain: bytes.Clone(iv)}
	x.bulk, _ = b.(Bulk)
	x.fused, _ = b.(BulkCBCDecrypter)
	return x
}

func (x *cbcDecrypter) BlockSize() int { return x.size }

func (x *cbcDecrypter) SetIV(iv []byte) { setIV(x.chain[:x.size], iv) }

func (x *cbcDecrypter) CryptBlocks(dst, src []byte) {
	checkBlocks(x.size, dst, src)
	if x.fused != nil {
		x.fused.DecryptCBC(dst, src, x.chain)
		return
	}
	step := x.size
	if x.bulk != nil {
		step = min(len(src), max(bulkBuffer/x.size, 1)*x.size)
	}
	if need := x.size + step; len(x.chain) < need {
		x.chain = append(x.chain, make([]byte, need-len(x.chain))...)
	}
	for len(src) > 0 {
		n := min(len(src), step)
		copy(x.chain[x.size:], src[:n])
		if x.bulk != nil {
			x.bulk.DecryptBlocks(dst[:n], src[:n])
		} else {
			x.block.Decrypt(dst[:n], src[:n])
		}
		subtle.XORBytes(dst[:n], dst[:n], x.chain)
		copy(x.chain, x.chain[n:n+x.size])
		dst, src = dst[n:], src[n:]
	}
}

func setIV(dst, iv []byte) {
	if len(iv) != len(dst) {
		panic("cipher: incorrect length IV")
	}
	copy(dst, iv)
}
