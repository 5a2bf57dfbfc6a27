package twofish

import (
	"crypto/subtle"
	"encoding/binary"
	"math/bits"
)

// What package modes asks of a Bulk that can do more than blocks.

// EncryptCBC encrypts src, any whole number of blocks, into dst in CBC mode. iv is one block, or it panics; it becomes the
// last block written, ready for the next call. Overlap and lengths are as for [Cipher.EncryptBlocks].
func (c *Cipher) EncryptCBC(dst, src, iv []byte) {
	chain := chainBlock(dst, src, iv)
	for k := c.plan.steps[c.plan.last].kernel; len(src) > 0; {
		n := cut(len(src), BlockSize)
		if !cbcEncryptWith(k, &c.schedule, dst[:n], src[:n], chain) {
			// A wide kernel that is forced: one block at a time, padded.
			n = BlockSize
			xorBlock(chain, chain, (*[BlockSize]byte)(src))
			c.crypt(false, chain[:], chain[:], nil)
			copy(dst, chain[:])
		}
		dst, src = dst[n:], src[n:]
	}
}

// Lanes returns how many messages [Cipher.EncryptCBCLanes] and [Cipher.EncryptCFBLanes] encrypt side by side, or 0 if no
// kernel that the Cipher uses does.
func (c *Cipher) Lanes() int {
	if c.rows() == nil {
		return 0
	}
	return rowBytes / BlockSize
}

// EncryptCBCLanes encrypts Lanes messages of equal length in CBC mode, side by side: src has a block of each message, then the
// next block of each, and so on, and so has dst. iv has the IV of each, and becomes the last blocks written, ready for the
// next call. It panics if src is not so many blocks times anything, and if iv is not so many blocks. Overlap and lengths are
// as for [Cipher.EncryptBlocks].
func (c *Cipher) EncryptCBCLanes(dst, src, iv []byte) { c.encryptRows(false, dst, src, iv) }

// EncryptCFBLanes is [Cipher.EncryptCBCLanes] in CFB mode.
func (c *Cipher) EncryptCFBLanes(dst, src, iv []byte) { c.encryptRows(true, dst, src, iv) }

func (c *Cipher) encryptRows(feedback bool, dst, src, iv []byte) {
	checkBlocks(dst, src)
	k := c.rows()
	if k == nil || len(iv) != rowBytes {
		panic("crypto/twofish: IV length must equal the block size times Lanes")
	}
	if len(src)%rowBytes != 0 {
		panic("crypto/twofish: input not full rows")
	}
	var counter *[BlockSize]byte
	if feedback {
		counter = (*[BlockSize]byte)(iv) // any
	}
	for len(src) > 0 {
		n := cut(len(src), rowBytes)
		k.rows(&c.schedule, dst[:n], src[:n], counter, (*[rowBytes]byte)(iv))
		copy(iv, dst[n-rowBytes:n])
		dst, src = dst[n:], src[n:]
	}
}

// rows returns the functions of the first kernel of the plan that has rows, or nil.
func (c *Cipher) rows() *funcs {
	for _, s := range c.plan.steps[:c.plan.last+1] {
		if f := &kernels[s.kernel].Funcs; f.rows != nil {
			return f
		}
	}
	return nil
}

// DecryptCBC is the inverse of [Cipher.EncryptCBC]: iv becomes the last block of src.
func (c *Cipher) DecryptCBC(dst, src, iv []byte) {
	chain := chainBlock(dst, src, iv)
	dst = dst[:len(src)]
	if len(src) == BlockSize {
		next := [BlockSize]byte(src)
		c.decryptBlock(dst, src)
		xorBlock((*[BlockSize]byte)(dst), (*[BlockSize]byte)(dst), chain)
		*chain = next
		return
	}
	c.crypt(true, dst, src, chain)
}

// XORKeyStreamCTR XORs src, any whole number of blocks, with the encryptions of counter, counter+1 and so on, into dst.
// The counter is one block, or it panics; it is big-endian, wraps from all ones to zero, and becomes the next one to use.
// Overlap and lengths are as for [Cipher.EncryptBlocks].
func (c *Cipher) XORKeyStreamCTR(dst, src, counter []byte) {
	block := chainBlock(dst, src, counter)
	dst = dst[:len(src)]
	if len(src) == BlockSize {
		var keyStream [BlockSize]byte
		c.encryptBlock(keyStream[:], counter)
		xorBlock((*[BlockSize]byte)(dst), &keyStream, (*[BlockSize]byte)(src))
		advance(block, BlockSize)
		return
	}
	for len(src) > 0 {
		// Fused kernels count in 32 bits, which wrap after 64 GiB at most.
		untilWrap := (1<<32 - int64(binary.BigEndian.Uint32(block[12:]))) * BlockSize
		n := int(min(int64(len(src)), untilWrap))
		c.crypt(false, dst[:n], src[:n], block)
		dst, src = dst[n:], src[n:]
	}
}

// modeBuffer is how many bytes a mode without a fused kernel processes at a time: a batch of every such kernel, a small
// part of the first-level cache.
const modeBuffer = 64 * BlockSize

// cryptUnfused is crypt with a chain without fused kernels.
func (c *Cipher) cryptUnfused(decrypt bool, dst, src []byte, chain *[BlockSize]byte) {
	if decrypt {
		c.decryptCBC(dst, src, chain)
	} else {
		c.xorKeyStreamCTR(dst, src, chain)
	}
}

func (c *Cipher) decryptCBC(dst, src []byte, iv *[BlockSize]byte) {
	// The block before the first one, then the blocks themselves, since decryption may overwrite them: XORed over the
	// result, they are the whole of the mode.
	var before [BlockSize + modeBuffer]byte
	copy(before[:], iv[:])
	for len(src) > 0 {
		n := copy(before[BlockSize:], src)
		c.crypt(true, dst[:n], src[:n], nil)
		subtle.XORBytes(dst, dst[:n], before[:n])
		copy(before[:BlockSize], before[n:])
		dst, src = dst[n:], src[n:]
	}
	copy(iv[:], before[:])
}

func (c *Cipher) xorKeyStreamCTR(dst, src []byte, counter *[BlockSize]byte) {
	if len(src) > smallBatch {
		var buf [modeBuffer]byte
		c.xorKeyStreamInBuffer(dst, src, counter, buf[:])
		return
	}
	var buf [smallBatch]byte
	c.xorKeyStreamInBuffer(dst, src, counter, buf[:])
}

func (c *Cipher) xorKeyStreamInBuffer(dst, src []byte, counter *[BlockSize]byte, buf []byte) {
	for len(src) > 0 {
		n := min(len(src), len(buf))
		keyStream := buf[:n]
		fillCounters(keyStream, binary.BigEndian.Uint64(counter[:]), binary.BigEndian.Uint64(counter[8:]))
		advance(counter, n)
		c.crypt(false, keyStream, keyStream, nil)
		subtle.XORBytes(dst, src, keyStream)
		dst, src = dst[n:], src[n:]
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

// advance moves a counter on by the blocks of n bytes.
func advance(counter *[BlockSize]byte, n int) {
	lo, carry := bits.Add64(binary.BigEndian.Uint64(counter[8:]), uint64(n/BlockSize), 0)
	binary.BigEndian.PutUint64(counter[8:], lo)
	binary.BigEndian.PutUint64(counter[:], binary.BigEndian.Uint64(counter[:])+carry)
}

// chainBlock is checkBlocks for the methods with an IV or a counter, which is returned.
func chainBlock(dst, src, chain []byte) *[BlockSize]byte {
	checkBlocks(dst, src)
	if len(chain) != BlockSize {
		panic("crypto/twofish: IV length must equal block size")
	}
	return (*[BlockSize]byte)(chain)
}

func xorBlock(dst, a, b *[BlockSize]byte) {
	x := binary.NativeEndian.Uint64(a[:]) ^ binary.NativeEndian.Uint64(b[:])
	y := binary.NativeEndian.Uint64(a[8:]) ^ binary.NativeEndian.Uint64(b[8:])
	binary.NativeEndian.PutUint64(dst[:], x)
	binary.NativeEndian.PutUint64(dst[8:], y)
}
