package modes

import "crypto/cipher"

// ECB is electronic codebook mode: each block by itself, equal blocks to equal blocks. It hides nothing of a message's
// structure; file formats use it to wrap keys.
type ecb struct {
	block cipher.Block
	bulk  Bulk // block, if it is one
}

type ecbEncrypter ecb
type ecbDecrypter ecb

var _, _ cipher.BlockMode = (*ecbEncrypter)(nil), (*ecbDecrypter)(nil)

func newECB(b cipher.Block) *ecb {
	bulk, _ := b.(Bulk)
	return &ecb{b, bulk}
}

// NewECBEncrypter returns a BlockMode that encrypts each block by itself (electronic codebook).
func NewECBEncrypter(b cipher.Block) cipher.BlockMode { return (*ecbEncrypter)(newECB(b)) }

// NewECBDecrypter returns a BlockMode that decrypts each block by itself (electronic codebook).
func NewECBDecrypter(b cipher.Block) cipher.BlockMode { return (*ecbDecrypter)(newECB(b)) }

func (x *ecbEncrypter) BlockSize() int { return x.block.BlockSize() }
func (x *ecbDecrypter) BlockSize() int { return x.block.BlockSize() }

func (x *ecbEncrypter) CryptBlocks(dst, src []byte) {
	size := x.block.BlockSize()
	checkBlocks(size, dst, src)
	if x.bulk != nil {
		x.bulk.EncryptBlocks(dst, src)
		return
	}
	for ; len(src) > 0; dst, src = dst[size:], src[size:] {
		x.block.Encrypt(dst[:size], src[:size])
	}
}

func (x *ecbDecrypter) CryptBlocks(dst, src []byte) {
	size := x.block.BlockSize()
	checkBlocks(size, dst, src)
	if x.bulk != nil {
		x.bulk.DecryptBlocks(dst, src)
		return
	}
	for ; len(src) > 0; dst, src = dst[size:], src[size:] {
		x.block.Decrypt(dst[:size], src[:size])
	}
}
