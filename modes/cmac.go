package modes

import (
	"crypto/cipher"
	"crypto/subtle"
	"errors"
	"hash"
)

// cmac is a message authentication code: the last block of CBC encryption, with the message's last block masked by one of
// two keys that tell whole blocks from padded ones.
type cmac struct {
	block       cipher.Block
	fused       BulkCBCEncrypter // block, if it is one
	whole, part []byte           // keys of the last block
	chain       []byte
	// pending is the message's end as far as it may be its last block; pending[:n] is there.
	pending []byte
	n       int
	out     []byte // blocks that CBC encryption has to write
}

// NewCMAC returns a hash that computes the CMAC of NIST SP 800-38B and RFC 4493, as long as a block. The error is for
// blocks of other sizes than 8 and 16 bytes.
//
// To verify a code, compare it with [crypto/hmac.Equal], in constant time.
func NewCMAC(b cipher.Block) (hash.Hash, error) {
	if size := b.BlockSize(); size != 8 && size != 16 {
		return nil, errors.New("cipher: CMAC requires a block cipher of 64 or 128 bits")
	}
	return newCMAC(b), nil
}

// SumCMAC returns the CMAC of one message. The error is [NewCMAC]'s.
func SumCMAC(b cipher.Block, message []byte) ([]byte, error) {
	h, err := NewCMAC(b)
	if err != nil {
		return nil, err
	}
	h.Write(message)
	return h.Sum(nil), nil
}

func newCMAC(b cipher.Block) *cmac {
	size := b.BlockSize()
	x := &cmac{block: b, chain: make([]byte, size), pending: make([]byte, size)}
	x.fused, _ = b.(BulkCBCEncrypter)
	zero := make([]byte, size)
	b.Encrypt(zero, zero)
	x.whole = doubled(zero)
	x.part = doubled(x.whole)
	x.out = make([]byte, size)
	if x.fused != nil {
		x.out = make([]byte, serialBuffer)
	}
	return x
}

// doubled is b times x in the field of 2⁶⁴ or 2¹²⁸ elements that CMAC and OCB calculate in, big-endian.
func doubled(b []byte) []byte {
	d := make([]byte, len(b))
	carry := byte(0)
	for i := len(b) - 1; i >= 0; i-- {
		d[i] = b[i]<<1 | carry
		carry = b[i] >> 7
	}
	polynomial := byte(0x87)
	if len(b) == 8 {
		polynomial = 0x1b
	}
	d[len(d)-1] ^= -carry & polynomial
	return d
}

func (x *cmac) Size() int      { return len(x.chain) }
func (x *cmac) BlockSize() int { return len(x.chain) }

func (x *cmac) Reset() {
	clear(x.chain)
	x.n = 0
}

func (x *cmac) Write(p []byte) (int, error) {
	written := len(p)
	n := copy(x.pending[x.n:], p)
	x.n += n
	if p = p[n:]; len(p) == 0 {
		return written, nil
	}
	x.absorb(x.pending)
	last := (len(p) - 1) % len(x.chain)
	whole := len(p) - 1 - last
	x.absorb(p[:whole])
	x.n = copy(x.pending, p[whole:])
	return written, nil
}

// absorb moves the chain over whole blocks.
func (x *cmac) absorb(p []byte) {
	for len(p) > 0 {
		n := min(len(p), len(x.out))
		if x.fused != nil {
			x.fused.EncryptCBC(x.out[:n], p[:n], x.chain)
		} else {
			subtle.XORBytes(x.chain, x.chain, p[:n])
			x.block.Encrypt(x.chain, x.chain)
		}
		p = p[n:]
	}
}

// Sum appends the code of what was written so far.
func (x *cmac) Sum(b []byte) []byte {
	size := len(x.chain)
	last := x.out[:size]
	copy(last, x.pending[:x.n])
	if x.n == size {
		subtle.XORBytes(last, last, x.whole)
	} else {
		last[x.n] = 0x80
		clear(last[x.n+1:])
		subtle.XORBytes(last, last, x.part)
	}
	subtle.XORBytes(last, last, x.chain)
	x.block.Encrypt(last, last)
	return append(b, last...)
}
