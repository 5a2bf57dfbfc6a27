package modes

import (
	"crypto/cipher"
	"crypto/subtle"

	"github.com/twogather/twogather/internal/alias"
)

// A Bulk is a Block that processes several blocks in one call. Both methods take all of src, a whole number of blocks,
// and write as many to dst; dst and src may coincide, and must not overlap otherwise.
type Bulk interface {
	cipher.Block
	EncryptBlocks(dst, src []byte)
	DecryptBlocks(dst, src []byte)
}

// A BulkCTR carries out counter mode over a whole number of blocks: it XORs src with the encryptions of counter,
// counter+1 and so on into dst, and leaves in counter the next one. The counter is a big-endian number as wide as a
// block, and wraps.
type BulkCTR interface {
	Bulk
	XORKeyStreamCTR(dst, src, counter []byte)
}

// A BulkCBCEncrypter encrypts a whole number of blocks in CBC mode and leaves the last block written in iv.
type BulkCBCEncrypter interface {
	Bulk
	EncryptCBC(dst, src, iv []byte)
}

// A BulkCBCDecrypter decrypts a whole number of blocks in CBC mode and leaves the last block of src in iv.
type BulkCBCDecrypter interface {
	Bulk
	DecryptCBC(dst, src, iv []byte)
}

// A BulkBatch says how many blocks it takes at a time when it is at its best.
type BulkBatch interface {
	Bulk
	Batch() int
}

// A BulkLanes encrypts several messages of equal length side by side, Lanes of them at a time, or none if that is 0. src has
// a block of each message, then the next block of each, and so on, and so has dst. iv has the IV of each, and becomes the
// last blocks written.
type BulkLanes interface {
	Bulk
	Lanes() int
	EncryptCBCLanes(dst, src, iv []byte)
	EncryptCFBLanes(dst, src, iv []byte)
}

// bulkBuffer is how many bytes a mode hands to a Bulk at a time where it needs a buffer of its own: whole batches of 64
// and of 80 blocks of 16 bytes, a part of the first-level cache.
const bulkBuffer = 5120

// serialBuffer is the same where nothing is wide.
const serialBuffer = 512

// checkBlocks is the contract of CryptBlocks: all of src, a whole number of blocks, to the start of dst, in place or not.
// What breaks it panics before anything is written.
func checkBlocks(blockSize int, dst, src []byte) {
	if len(src)%blockSize != 0 {
		panic("crypto/cipher: input not full blocks")
	}
	checkStream(dst, src)
}

// checkStream is the contract of XORKeyStream, and the part of checkBlocks that it shares.
func checkStream(dst, src []byte) {
	if len(dst) < len(src) {
		panic("crypto/cipher: output smaller than input")
	}
	if alias.InexactOverlap(dst[:len(src)], src) {
		panic("crypto/cipher: invalid buffer overlap")
	}
}

// xorBytes writes x XOR y, which are as long as dst, to dst.
func xorBytes(dst, x, y []byte) {
	n := xorSteps(dst, x, y)
	subtle.XORBytes(dst[n:], x[n:], y[n:])
}
