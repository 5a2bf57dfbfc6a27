package modes_test

import (
	"bytes"
	"crypto/cipher"
	"math/big"
	"math/bits"
)

// The modes as their documents define them, one block at a time.

func xor(a, b []byte) []byte {
	c := make([]byte, min(len(a), len(b)))
	for i := range c {
		c[i] = a[i] ^ b[i]
	}
	return c
}

func encrypted(b cipher.Block, in []byte) []byte {
	out := make([]byte, len(in))
	b.Encrypt(out, in)
	return out
}

// double is multiplication by x in the field of 2¹²⁸ elements, or 2⁶⁴, of a big-endian polynomial.
func double(b []byte) []byte {
	polynomial := map[int]int64{8: 0x1b, 16: 0x87}[len(b)]
	n := new(big.Int).SetBytes(b)
	n.Lsh(n, 1)
	if n.Bit(8*len(b)) == 1 {
		n.SetBit(n, 8*len(b), 0)
		n.Xor(n, big.NewInt(polynomial))
	}
	return n.FillBytes(make([]byte, len(b)))
}

func reversed(b []byte) []byte {
	r := make([]byte, len(b))
	for i := range b {
		r[len(b)-1-i] = b[i]
	}
	return r
}

// ofbKeyStream is the key stream of output feedback mode.
func ofbKeyStream(b cipher.Block, iv []byte, n int) (key []byte) {
	for len(key) < n {
		iv = encrypted(b, iv)
		key = append(key, iv...)
	}
	return key[:n]
}

// xtsUnit is section 5.3 of IEEE Std 1619: encryption of one data unit.
func xtsUnit(data, tweak cipher.Block, dst, src []byte, number [16]byte) {
	t := encrypted(tweak, number[:])
	block := func(p []byte) []byte {
		c := xor(encrypted(data, xor(p, t)), t)
		t = reversed(double(reversed(t)))
		return c
	}
	var out []byte
	for i := 0; i+16 <= len(src); i += 16 {
		out = append(out, block(src[i:i+16])...)
	}
	if part := len(src) % 16; part > 0 {
		n := len(out) - 16
		stolen := bytes.Clone(out[n:])
		last := append(bytes.Clone(src[n+16:]), stolen[part:]...)
		out = append(append(out[:n], block(last)...), stolen[:part]...)
	}
	copy(dst, out)
}

// cmac is section 6.2 of NIST SP 800-38B.
func cmac(b cipher.Block, message []byte) []byte {
	size := b.BlockSize()
	k1 := double(encrypted(b, make([]byte, size)))
	k2 := double(k1)
	c := make([]byte, size)
	for len(message) > size {
		c = encrypted(b, xor(c, message[:size]))
		message = message[size:]
	}
	if len(message) == size {
		return encrypted(b, xor(c, xor(message, k1)))
	}
	last := append(bytes.Clone(message), 0x80)
	last = append(last, make([]byte, size-len(last))...)
	return encrypted(b, xor(c, xor(last, k2)))
}

// eaxSeal is figure 4 of The EAX Mode of Operation.
func eaxSeal(b cipher.Block, tagSize int) func(nonce, plaintext, additionalData []byte) []byte {
	omac := func(t byte, m []byte) []byte { return cmac(b, append(append(make([]byte, 15), t), m...)) }
	return func(nonce, plaintext, additionalData []byte) []byte {
		n, h := omac(0, nonce), omac(1, additionalData)
		c := make([]byte, len(plaintext))
		cipher.NewCTR(b, n).XORKeyStream(c, plaintext)
		tag := xor(n, xor(h, omac(2, c)))
		return append(c, tag[:tagSize]...)
	}
}

// ocbSeal is section 4 of RFC 7253.
func ocbSeal(b cipher.Block, tagSize int) func(nonce, plaintext, additionalData []byte) []byte {
	star := encrypted(b, make([]byte, 16))
	dollar := double(star)
	l := [][]byte{double(dollar)}
	for len(l) < 64 {
		l = append(l, double(l[len(l)-1]))
	}
	pad := func(p []byte) []byte {
		p = append(bytes.Clone(p), 0x80)
		return append(p, make([]byte, 16-len(p))...)
	}
	hash := func(a []byte) []byte {
		sum, offset := make([]byte, 16), make([]byte, 16)
		for i := 1; len(a) >= 16; i++ {
			offset = xor(offset, l[bits.TrailingZeros(uint(i))])
			sum = xor(sum, encrypted(b, xor(a[:16], offset)))
			a = a[16:]
		}
		if len(a) > 0 {
			offset = xor(offset, star)
			sum = xor(sum, encrypted(b, xor(pad(a), offset)))
		}
		return sum
	}
	return func(nonce, plaintext, additionalData []byte) []byte {
		n := new(big.Int).SetInt64(int64(tagSize * 8 % 128))
		n.Lsh(n, 121)
		n.SetBit(n, 8*len(nonce), 1)
		n.Or(n, new(big.Int).SetBytes(nonce))
		block := n.FillBytes(make([]byte, 16))
		bottom := uint(block[15] & 63)
		block[15] &= 0xc0
		top := encrypted(b, block)
		stretch := new(big.Int).SetBytes(append(bytes.Clone(top), xor(top[:8], top[1:9])...))
		stretch.Rsh(stretch, 64-bottom)
		stretch.Mod(stretch, new(big.Int).Lsh(big.NewInt(1), 128))
		offset := stretch.FillBytes(make([]byte, 16))

		checksum := make([]byte, 16)
		var c []byte
		p := plaintext
		for i := 1; len(p) >= 16; i++ {
			offset = xor(offset, l[bits.TrailingZeros(uint(i))])
			checksum = xor(checksum, p[:16])
			c = append(c, xor(offset, encrypted(b, xor(p[:16], offset)))...)
			p = p[16:]
		}
		if len(p) > 0 {
			offset = xor(offset, star)
			c = append(c, xor(p, encrypted(b, offset))...)
			checksum = xor(checksum, pad(p))
		}
		tag := xor(encrypted(b, xor(checksum, xor(offset, dollar))), hash(additionalData))
		return append(c, tag[:tagSize]...)
	}
}
