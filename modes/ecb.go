package modes

import "crypto/cipher"

// ecb is electronic codebook mode: each block by itself, equal blocks to equal blocks. It hides nothing of a message's
// structure; file formats use it to wrap keys, and wide modes are built on it.
type ecb struct {
	block cipher.Block
	bulk  Bulk // block, if it is one
}

type ecbEncrypter ecb
type ecbDecrypter ecb

var _, _ cipher.BlockMode = (*ecbEncrypter)(nil), (*ecbDecrypter)(nil)

func newECB(b cipher.Block) ecb {
	bulk, _ := b.(Bulk)
	return ecb{b, bulk}
}

// NewECBEncrypter returns a BlockMode that encrypts each block by itself (electronic codebook).
func NewECBEncrypter(b cipher.Block) cipher.BlockMode {
	x := ecbEncrypter(newECB(b))
	return &x
}

// NewECBDecrypter returns a BlockMode that decrypts each block by itself (electronic codebook).
func NewECBDecrypter(b cipher.Block) cipher.BlockMode {
	x := ecbDecrypter(newECB(b))
	return &x
}

func (x *ecbEncrypter) BlockSize() int { return x.block.BlockSize() }
func (x *ecbDecrypter) BlockSize() int { return x.block.BlockSize() }

func (x *ecbEncrypter) CryptBlocks(dst, src []byte) {
	checkBlocks(x.block.BlockSize(), dst, src)
	(*ecb)(x).encrypt(dst, src)
}

func (x *ecbDecrypter) CryptBlocks(dst, src []byte) {
	checkBlocks(x.block.BlockSize(), dst, src)
	(*ecb)(x).decrypt(dst, src)
}

// encrypt and decrypt have the contract of a Bulk.

func (x *ecb) encrypt(dst, src []byte) {
	if x.bulk != nil {
		x.bulk.EncryptBlocks(dst, src)
		return
	}
	for size := x.block.BlockSize(); len(src) > 0; dst, src = dst[size:], src[size:] {
		x.block.Encrypt(dst[:size], src[:size])
	}
}

func (x *ecb) decrypt(dst, src []byte) {
	if x.bulk != nil {
		x.bulk.DecryptBlocks(dst, src)
		return
	}
	for size := x.block.BlockSize(); len(src) > 0; dst, src = dst[size:], src[size:] {
		x.block.Decrypt(dst[:size], src[:size])
	}
}
