package twofish

import (
	"crypto/cipher"
	"crypto/subtle"
	"encoding/binary"
	"math/bits"

	"github.com/twogather/twogather/modes"
)

// The constructors in crypto/cipher ask a Block for these methods. Should they stop asking, unchanged programs become
// slower and stay right; programs that call package modes notice nothing.

// NewCTR returns a counter mode stream, as [modes.NewCTR] does. [cipher.NewCTR] calls it.
func (c *Cipher) NewCTR(iv []byte) cipher.Stream { return modes.NewCTR(c, iv) }

// NewCBCEncrypter returns an encrypter in CBC mode, as [modes.NewCBCEncrypter] does. [cipher.NewCBCEncrypter] calls it.
func (c *Cipher) NewCBCEncrypter(iv []byte) cipher.BlockMode { return modes.NewCBCEncrypter(c, iv) }

// NewCBCDecrypter returns a decrypter in CBC mode, as [modes.NewCBCDecrypter] does. [cipher.NewCBCDecrypter] calls it.
func (c *Cipher) NewCBCDecrypter(iv []byte) cipher.BlockMode { return modes.NewCBCDecrypter(c, iv) }

// EncryptCBC encrypts src, any whole number of blocks, into dst in CBC mode. iv is one block; it becomes the last block
// written, ready for the next call. Overlap and lengths are as for [Cipher.EncryptBlocks].
func (c *Cipher) EncryptCBC(dst, src, iv []byte) {
	checkBlocks(dst, src)
	checkIV(iv)
	dst = dst[:len(src)]
	for len(src) > 0 {
		n := min(len(src), maxCall)
		c.cbcEncrypt(dst[:n], src[:n], (*[BlockSize]byte)(iv))
		dst, src = dst[n:], src[n:]
	}
}

// cbcEncryptBlocks is cbcEncrypt for a plan whose narrow kernel has none of its own.
func (c *Cipher) cbcEncryptBlocks(dst, src []byte, iv *[BlockSize]byte) {
	for ; len(src) >= BlockSize; dst, src = dst[BlockSize:], src[BlockSize:] {
		xorBlock(iv, iv, (*[BlockSize]byte)(src))
		c.crypt(false, iv[:], iv[:])
		copy(dst, iv[:])
	}
}

// XORKeyStreamCTR XORs src, any whole number of blocks, with the encryptions of counter, counter+1 and so on, into dst.
// The counter is one block, big-endian; it wraps from all ones to zero, and becomes the next one to use. Overlap and
// lengths are as for [Cipher.EncryptBlocks].
func (c *Cipher) XORKeyStreamCTR(dst, src, counter []byte) {
	checkBlocks(dst, src)
	checkIV(counter)
	hi, lo := binary.BigEndian.Uint64(counter), binary.BigEndian.Uint64(counter[8:])
	if len(src) == BlockSize {
		var keyStream [BlockSize]byte
		c.encryptBlock(keyStream[:], counter)
		xorBlock((*[BlockSize]byte)(dst), &keyStream, (*[BlockSize]byte)(src))
	} else {
		c.xorKeyStreamCTR(dst[:len(src)], src, hi, lo)
	}
	lo, carry := bits.Add64(lo, uint64(len(src)/BlockSize), 0)
	binary.BigEndian.PutUint64(counter, hi+carry)
	binary.BigEndian.PutUint64(counter[8:], lo)
}

// ctrBuffer holds the key stream while it is made, in bytes: several batches of every kernel, a small part of the
// first-level cache.
const ctrBuffer = 64 * BlockSize

// xorKeyStreamCTR has its own frame, so that calls of one block do not clear the buffer.
func (c *Cipher) xorKeyStreamCTR(dst, src []byte, hi, lo uint64) {
	var buf [ctrBuffer]byte
	for len(src) > 0 {
		n := min(len(src), ctrBuffer)
		keyStream := buf[:n]
		fillCounters(keyStream, hi, lo)
		c.crypt(false, keyStream, keyStream)
		subtle.XORBytes(dst, src, keyStream)
		dst, src = dst[n:], src[n:]
		var carry uint64
		lo, carry = bits.Add64(lo, uint64(n/BlockSize), 0)
		hi += carry
	}
}

// fillCountersGeneric writes consecutive counters, big-endian, from hi·2⁶⁴ + lo on.
func fillCountersGeneric(dst []byte, hi, lo uint64) {
	for ; len(dst) >= BlockSize; dst = dst[BlockSize:] {
		binary.BigEndian.PutUint64(dst, hi)
		binary.BigEndian.PutUint64(dst[8:], lo)
		if lo++; lo == 0 {
			hi++
		}
	}
}

func checkIV(iv []byte) {
	if len(iv) != BlockSize {
		panic("crypto/twofish: IV length must equal block size")
	}
}

func xorBlock(dst, a, b *[BlockSize]byte) {
	x := binary.NativeEndian.Uint64(a[:]) ^ binary.NativeEndian.Uint64(b[:])
	y := binary.NativeEndian.Uint64(a[8:]) ^ binary.NativeEndian.Uint64(b[8:])
	binary.NativeEndian.PutUint64(dst[:], x)
	binary.NativeEndian.PutUint64(dst[8:], y)
}
