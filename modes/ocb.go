package modes

import (
	"crypto/cipher"
	"crypto/subtle"
	"encoding/binary"
	"errors"
	"math/bits"
	"sync"
)

// ocb is the mode of RFC 7253, whose names are used here: block i is encrypted between two XORs with an offset, which
// changes by L_j where j is the number of zeros that i ends with.
type ocb struct {
	ecb
	nonceSize, tagSize int
	star, dollar       word128
	// l[j] is L_j. Indexes are masked, so that the compiler sees that they are in range.
	l [64]word128
}

// maxOCB is how many bytes of a message are encrypted at most: 2⁴⁸ blocks, which is what the RFC allows for one key.
const maxOCB = 1 << 52

// NewOCB returns an AEAD in OCB mode (RFC 7253, "OCB3"). Nonces have nonceSize bytes, 1 to 15; tags have 8 to 16. The error
// is for other sizes, and for blocks that do not have 16 bytes.
func NewOCB(b cipher.Block, nonceSize, tagSize int) (cipher.AEAD, error) {
	if err := aeadSizes("OCB", b, tagSize, minOCBTag); err != nil {
		return nil, err
	}
	if nonceSize < 1 || nonceSize > aeadBlock-1 {
		return nil, errors.New("cipher: incorrect nonce size given to OCB")
	}
	x := &ocb{ecb: newECB(b), nonceSize: nonceSize, tagSize: tagSize}
	l := make([]byte, aeadBlock)
	b.Encrypt(l, l)
	x.star = load128(l)
	l = doubled(l)
	x.dollar = load128(l)
	for j := range x.l {
		l = doubled(l)
		x.l[j] = load128(l)
	}
	return x, nil
}

const minOCBTag = 8

// A word128 is a block, in whichever order XOR is fastest.
type word128 struct{ a, b uint64 }

func load128(b []byte) word128 {
	return word128{binary.NativeEndian.Uint64(b), binary.NativeEndian.Uint64(b[8:])}
}

func (w word128) store(b []byte) {
	binary.NativeEndian.PutUint64(b, w.a)
	binary.NativeEndian.PutUint64(b[8:], w.b)
}

func (w word128) xor(v word128) word128 { return word128{w.a ^ v.a, w.b ^ v.b} }

// An ocbBuffer is what a call needs and must not have on its stack: what goes through an interface escapes.
type ocbBuffer struct {
	offsets [bulkBuffer]byte
	block   [aeadBlock]byte
}

var ocbBuffers = sync.Pool{New: func() any { return new(ocbBuffer) }}

func (x *ocb) NonceSize() int { return x.nonceSize }
func (x *ocb) Overhead() int  { return x.tagSize }

func (x *ocb) Seal(dst, nonce, plaintext, additionalData []byte) []byte {
	x.check(nonce, len(plaintext))
	all, out := appended(dst, len(plaintext)+x.tagSize, plaintext, additionalData)
	b := ocbBuffers.Get().(*ocbBuffer)
	defer ocbBuffers.Put(b)
	tag := x.crypt(false, out[:len(plaintext)], plaintext, nonce, additionalData, b)
	copy(out[len(plaintext):], tag)
	return all
}

func (x *ocb) Open(dst, nonce, ciphertext, additionalData []byte) ([]byte, error) {
	if len(ciphertext) < x.tagSize {
		x.check(nonce, 0)
		return nil, errOpen
	}
	n := len(ciphertext) - x.tagSize
	x.check(nonce, n)
	all, out := appended(dst, n, ciphertext, additionalData)
	b := ocbBuffers.Get().(*ocbBuffer)
	defer ocbBuffers.Put(b)
	tag := x.crypt(true, out, ciphertext[:n], nonce, additionalData, b)
	if subtle.ConstantTimeCompare(tag[:x.tagSize], ciphertext[n:]) != 1 {
		clear(out)
		return nil, errOpen
	}
	return all, nil
}

func (x *ocb) check(nonce []byte, n int) {
	if len(nonce) != x.nonceSize {
		panic("crypto/cipher: incorrect nonce length given to OCB")
	}
	if uint64(n) > maxOCB {
		panic("crypto/cipher: message too large for OCB")
	}
}

// crypt encrypts or decrypts and returns the whole tag, in b.
func (x *ocb) crypt(decrypt bool, dst, src, nonce, additionalData []byte, b *ocbBuffer) []byte {
	offset := x.firstOffset(nonce, b)
	var checksum word128
	i := uint64(0)
	for whole := len(src) &^ (aeadBlock - 1); whole > 0; {
		n := min(whole, bulkBuffer)
		offsets := b.offsets[:n]
		offset, i = x.fill(offsets, offset, i)
		if !decrypt {
			checksum = checksum.fold(src[:n])
		}
		subtle.XORBytes(dst, src[:n], offsets)
		if decrypt {
			x.decrypt(dst[:n], dst[:n])
		} else {
			x.encrypt(dst[:n], dst[:n])
		}
		subtle.XORBytes(dst, dst[:n], offsets)
		if decrypt {
			checksum = checksum.fold(dst[:n])
		}
		dst, src, whole = dst[n:], src[n:], whole-n
	}
	block := b.block[:]
	if len(src) > 0 {
		offset = offset.xor(x.star)
		pad := b.offsets[:aeadBlock]
		offset.store(pad)
		x.block.Encrypt(pad, pad)
		if !decrypt {
			checksum = checksum.xor(padded(block, src))
		}
		subtle.XORBytes(dst, src, pad)
		if decrypt {
			checksum = checksum.xor(padded(block, dst))
		}
	}
	checksum.xor(offset).xor(x.dollar).store(block)
	x.block.Encrypt(block, block)
	load128(block).xor(x.hash(additionalData, b)).store(block)
	return block
}

// fill writes the offsets of the blocks behind block i and returns the last one and its number.
func (x *ocb) fill(offsets []byte, offset word128, i uint64) (word128, uint64) {
	for ; len(offsets) >= aeadBlock; offsets = offsets[aeadBlock:] {
		i++
		offset = offset.xor(x.l[bits.TrailingZeros64(i)&63])
		offset.store(offsets)
	}
	return offset, i
}

// fold is w XOR the blocks of b.
func (w word128) fold(b []byte) word128 {
	for ; len(b) >= aeadBlock; b = b[aeadBlock:] {
		w = w.xor(load128(b))
	}
	return w
}

// padded is p, less than a block, with a one and zeros behind it.
func padded(block, p []byte) word128 {
	n := copy(block, p)
	block[n] = 0x80
	clear(block[n+1:])
	return load128(block)
}

// firstOffset is Offset_0: 16 of 24 bytes that are made of the nonce without its last six bits, from the bit on that those
// say. The nonce is no secret.
func (x *ocb) firstOffset(nonce []byte, b *ocbBuffer) word128 {
	block := b.block[:]
	clear(block)
	block[0] = byte(x.tagSize * 8 % 128 << 1)
	block[aeadBlock-1-len(nonce)] |= 1
	copy(block[aeadBlock-len(nonce):], nonce)
	bottom := block[aeadBlock-1] & 63
	block[aeadBlock-1] &^= 63
	x.block.Encrypt(block, block)
	hi, lo := binary.BigEndian.Uint64(block), binary.BigEndian.Uint64(block[8:])
	more := hi ^ (hi<<8 | lo>>56)
	binary.BigEndian.PutUint64(block, hi<<bottom|lo>>(64-bottom))
	binary.BigEndian.PutUint64(block[8:], lo<<bottom|more>>(64-bottom))
	return load128(block)
}

// hash is HASH of the additional data. It leaves b.block alone.
func (x *ocb) hash(data []byte, b *ocbBuffer) (sum word128) {
	var offset word128
	i := uint64(0)
	for whole := len(data) &^ (aeadBlock - 1); whole > 0; {
		n := min(whole, bulkBuffer)
		blocks := b.offsets[:n]
		offset, i = x.fill(blocks, offset, i)
		subtle.XORBytes(blocks, blocks, data[:n])
		x.encrypt(blocks, blocks)
		sum = sum.fold(blocks)
		data, whole = data[n:], whole-n
	}
	if len(data) > 0 {
		block := b.offsets[:aeadBlock]
		padded(block, data).xor(offset).xor(x.star).store(block)
		x.block.Encrypt(block, block)
		sum = sum.xor(load128(block))
	}
	return sum
}
