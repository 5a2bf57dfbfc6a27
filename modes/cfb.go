package modes

import (
	"bytes"
	"crypto/cipher"
	"crypto/subtle"
)

// cfb is cipher feedback mode with whole blocks: the key stream of a block is the encryption of the block of ciphertext
// before it. Decryption knows all of those, and is wide; encryption is not.
type cfb struct {
	ecb
	fused   BulkCBCEncrypter // block, if it is one
	decrypt bool
	size    int
	// next is the block of ciphertext at hand, as far as used, and key its key stream, encrypted from the block before it,
	// of which the rest of next still is.
	next, key []byte
	used      int
	buf       []byte // of key stream, when there are whole blocks
}

// NewCFBEncrypter returns a stream that encrypts in cipher feedback mode, with feedback of whole blocks. It panics if iv
// is not as long as a block.
func NewCFBEncrypter(b cipher.Block, iv []byte) cipher.Stream { return newCFB(b, iv, false) }

// NewCFBDecrypter returns a stream that decrypts what [NewCFBEncrypter]'s encrypts.
func NewCFBDecrypter(b cipher.Block, iv []byte) cipher.Stream { return newCFB(b, iv, true) }

func newCFB(b cipher.Block, iv []byte, decrypt bool) cipher.Stream {
	size := b.BlockSize()
	if len(iv) != size {
		panic("cipher.newCFB: IV length must equal block size")
	}
	x := &cfb{ecb: newECB(b), decrypt: decrypt, size: size, next: bytes.Clone(iv), key: make([]byte, size), used: size}
	x.fused, _ = b.(BulkCBCEncrypter)
	return x
}

func (x *cfb) XORKeyStream(dst, src []byte) {
	checkStream(dst, src)
	n := x.part(dst, src)
	dst, src = dst[n:], src[n:]

	if n := len(src) - len(src)%x.size; n > 0 {
		x.blocks(dst[:n], src[:n])
		dst, src = dst[n:], src[n:]
	}
	if len(src) > 0 {
		x.block.Encrypt(x.key, x.next)
		x.used = 0
		x.part(dst, src)
	}
}

// part processes what is left of a block, or less, and returns how much that was.
func (x *cfb) part(dst, src []byte) int {
	if x.decrypt {
		copy(x.next[x.used:], src)
	}
	n := subtle.XORBytes(dst, src, x.key[x.used:])
	if !x.decrypt {
		copy(x.next[x.used:], dst[:n])
	}
	x.used += n
	return n
}

// blocks processes whole blocks.
func (x *cfb) blocks(dst, src []byte) {
	step := x.size
	switch {
	case x.decrypt && x.bulk != nil:
		step *= max(bulkBuffer/x.size, 1)
	case !x.decrypt && x.fused != nil:
		step *= max(serialBuffer/x.size, 1)
	}
	step = min(step, len(src))
	if len(x.buf) < step {
		x.buf = make([]byte, step)
	}
	for len(src) > 0 {
		n := min(len(src), step)
		key := x.buf[:n]
		switch {
		case x.decrypt:
			copy(key, x.next)
			copy(key[x.size:], src)
			copy(x.next, src[n-x.size:n])
			x.encrypt(key, key)
			subtle.XORBytes(dst, src[:n], key)
		case x.fused != nil:
			// With k for key stream, kᵢ₊₁ = E(cᵢ) = E(pᵢ ⊕ kᵢ): what CBC makes of the plaintext.
			x.block.Encrypt(x.key, x.next)
			copy(key, x.key)
			x.fused.EncryptCBC(key[x.size:], src[:n-x.size], x.key)
			subtle.XORBytes(dst, src[:n], key)
			copy(x.next, dst[n-x.size:n])
		default:
			x.block.Encrypt(key, x.next)
			subtle.XORBytes(dst, src[:n], key)
			copy(x.next, dst[:n])
		}
		dst, src = dst[n:], src[n:]
	}
}
