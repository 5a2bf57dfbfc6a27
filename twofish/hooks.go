package twofish

import (
	"crypto/cipher"

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

// NewGCM returns an AEAD in Galois/Counter Mode, as [modes.NewGCM] does. [cipher.NewGCM], NewGCMWithNonceSize and
// NewGCMWithTagSize call it.
func (c *Cipher) NewGCM(nonceSize, tagSize int) (cipher.AEAD, error) {
	return modes.NewGCM(c, nonceSize, tagSize)
}
