package modes

import (
	"bytes"
	"crypto/cipher"
	"crypto/subtle"
)

// ofb is output feedback mode: the key stream of a block is the encryption of that of the block before.
type ofb struct {
	block cipher.Block
	fused BulkCBCEncrypter // block, if it is one
	chain []byte           // the last block of key stream, the IV at first
	out   []byte           // key stream; the part not used yet starts at used
	used  int
}

// NewOFB returns a stream in output feedback mode, which encrypts and decrypts. It panics if iv is not as long as a block.
func NewOFB(b cipher.Block, iv []byte) cipher.Stream {
	size := b.BlockSize()
	if len(iv) != size {
		panic("cipher.NewOFB: IV length must equal block size")
	}
	x := &ofb{block: b, chain: bytes.Clone(iv)}
	x.fused, _ = b.(BulkCBCEncrypter)
	n := size
	if x.fused != nil {
		n = max(serialBuffer/size, 1) * size
	}
	x.out = make([]byte, n)
	x.used = n
	return x
}

func (x *ofb) XORKeyStream(dst, src []byte) {
	checkStream(dst, src)
	for len(src) > 0 {
		if x.used == len(x.out) {
			x.refill(len(src))
		}
		n := subtle.XORBytes(dst, src, x.out[x.used:])
		x.used += n
		dst, src = dst[n:], src[n:]
	}
}

// refill makes the key stream of the next want bytes, or as much as there is room for, at the end of out.
func (x *ofb) refill(want int) {
	size := len(x.chain)
	n := min(len(x.out), (want+size-1)/size*size)
	x.used = len(x.out) - n
	out := x.out[x.used:]
	if x.fused != nil {
		clear(out) // in CBC mode zeros become the key stream
		x.fused.EncryptCBC(out, out, x.chain)
		return
	}
	x.block.Encrypt(out, x.chain)
	copy(x.chain, out)
}
