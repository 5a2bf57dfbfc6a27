package modes

import (
	"crypto/cipher"
	"errors"
	"fmt"
	"slices"

	"github.com/twogather/twogather/internal/alias"
)

// What the AEADs have in common. Errors and panics are the standard library's, but for the mode's name.

var errOpen = errors.New("cipher: message authentication failed")

// minTag and aeadBlock are in bytes.
const (
	minTag    = 12
	aeadBlock = 16
)

// aeadSizes is what an AEAD's constructor checks first.
func aeadSizes(mode string, b cipher.Block, tagSize, minTag int) error {
	if b.BlockSize() != aeadBlock {
		return fmt.Errorf("cipher: %s requires 128-bit block cipher", mode)
	}
	if tagSize < minTag || tagSize > aeadBlock {
		return fmt.Errorf("cipher: incorrect tag size given to %s", mode)
	}
	return nil
}

// appended makes room for n bytes behind dst, where out starts, and panics unless out may be written to while input and
// additional data are read.
func appended(dst []byte, n int, input, additionalData []byte) (all, out []byte) {
	all = slices.Grow(dst, n)[:len(dst)+n]
	out = all[len(dst):]
	if alias.InexactOverlap(out, input) {
		panic("crypto/cipher: invalid buffer overlap of output and input")
	}
	if alias.AnyOverlap(out, additionalData) {
		panic("crypto/cipher: invalid buffer overlap of output and additional data")
	}
	return all, out
}
