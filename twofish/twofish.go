package twofish

import (
	"crypto/cipher"
	"strconv"

	"github.com/twogather/twogather/internal/alias"
	"github.com/twogather/twogather/modes"
)

// BlockSize is the Twofish block size in bytes.
const BlockSize = 16

// A Cipher is Twofish with one key. It implements [crypto/cipher.Block], [modes.Bulk], and the methods that
// crypto/cipher's constructors look for. It may be copied, and used by several goroutines at once.
type Cipher struct {
	schedule schedule
	plan     plan
}

var (
	_ cipher.Block           = (*Cipher)(nil)
	_ modes.Bulk             = (*Cipher)(nil)
	_ modes.BulkCBCEncrypter = (*Cipher)(nil)
	_ modes.BulkCBCDecrypter = (*Cipher)(nil)
	_ modes.BulkCTR          = (*Cipher)(nil)
	_ modes.BulkBatch        = (*Cipher)(nil)
	_ modes.BulkLanes        = (*Cipher)(nil)
)

// KeySizeError is returned for keys of an invalid length. Its value is that length in bytes.
type KeySizeError int

func (k KeySizeError) Error() string {
	return "crypto/twofish: invalid key size " + strconv.Itoa(int(k))
}

// NewCipher returns a Cipher for a key of 16, 24 or 32 bytes. The error for any other length is a [KeySizeError].
func NewCipher(key []byte) (*Cipher, error) {
	return newCipher(key, defaultPlan)
}

// NewCipherConstantTime is [NewCipher] without an address or a branch that depends on the key or the data, in the key
// schedule and in everything that the Cipher does. With a wide constant-time kernel long calls take about as long as others;
// a single block takes as long as a batch of many. The package documentation says what is checked and what is not promised.
func NewCipherConstantTime(key []byte) (*Cipher, error) {
	return newCipher(key, constantTimePlan)
}

// New is [NewCipher] for callers that need a func([]byte) (cipher.Block, error). The interface is nil with an error.
func New(key []byte) (cipher.Block, error) {
	c, err := NewCipher(key)
	if err != nil {
		return nil, err
	}
	return c, nil
}

func newCipher(key []byte, p plan) (*Cipher, error) {
	switch len(key) {
	case 16, 24, 32:
	default:
		return nil, KeySizeError(len(key))
	}
	c := &Cipher{plan: p}
	if p.constantTime {
		c.schedule.expandConstantTime(key)
	} else {
		c.schedule.expand(key)
	}
	return c, nil
}

// BlockSize returns [BlockSize].
func (c *Cipher) BlockSize() int { return BlockSize }

// Batch returns how many blocks the widest of the kernels takes at a time that the Cipher uses.
func (c *Cipher) Batch() int { return int(c.plan.steps[0].batch) / BlockSize }

// The contract of Encrypt and Decrypt: one block, from the start of src to the start of dst; both may be longer.
// A buffer that is too short, or an overlap that is not exact, panics before anything is written.
func checkBlock(dst, src []byte) {
	if len(src) < BlockSize {
		panic("crypto/twofish: input not full block")
	}
	if len(dst) < BlockSize {
		panic("crypto/twofish: output not full block")
	}
	if alias.InexactOverlap(dst[:BlockSize], src[:BlockSize]) {
		panic("crypto/twofish: invalid buffer overlap")
	}
}

// The contract of EncryptBlocks and DecryptBlocks: all of src, a whole number of blocks, to the start of dst, which
// may be longer. The two may be the same memory; any other overlap panics, as does a partial block or a short dst.
func checkBlocks(dst, src []byte) {
	if len(src)%BlockSize != 0 {
		panic("crypto/twofish: input not full blocks")
	}
	if len(dst) < len(src) {
		panic("crypto/twofish: output smaller than input")
	}
	if alias.InexactOverlap(dst[:len(src)], src) {
		panic("crypto/twofish: invalid buffer overlap")
	}
}

// Encrypt encrypts the first block of src into dst. The two may be the same memory. It panics if one of them is shorter than a
// block, and if the blocks overlap otherwise.
func (c *Cipher) Encrypt(dst, src []byte) {
	checkBlock(dst, src)
	c.encryptBlock(dst[:BlockSize], src[:BlockSize])
}

// Decrypt is the inverse of [Cipher.Encrypt].
func (c *Cipher) Decrypt(dst, src []byte) {
	checkBlock(dst, src)
	c.decryptBlock(dst[:BlockSize], src[:BlockSize])
}

// EncryptBlocks encrypts src, any whole number of blocks, into dst, each block by itself. It is what modes of
// operation are built on, not a mode to encrypt messages with. dst may be longer than src, and may be the same memory. It
// panics if src is not whole blocks, if dst is shorter than src, and if they overlap otherwise.
func (c *Cipher) EncryptBlocks(dst, src []byte) {
	checkBlocks(dst, src)
	if len(src) == BlockSize {
		c.encryptBlock(dst[:BlockSize], src)
		return
	}
	c.crypt(false, dst[:len(src)], src, nil)
}

// DecryptBlocks is the inverse of [Cipher.EncryptBlocks].
func (c *Cipher) DecryptBlocks(dst, src []byte) {
	checkBlocks(dst, src)
	if len(src) == BlockSize {
		c.decryptBlock(dst[:BlockSize], src)
		return
	}
	c.crypt(true, dst[:len(src)], src, nil)
}
