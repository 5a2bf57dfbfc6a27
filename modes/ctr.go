package modes

import (
	"bytes"
	"crypto/cipher"
	"crypto/subtle"
)

// CTR is counter mode: a stream cipher that XORs with the encryptions of a counter. The counter starts at the IV, is a
// big-endian number as wide as a block, and wraps from all ones to zero.
type CTR struct {
	block   cipher.Block
	fused   BulkCTR // block, if it is one
	bulk    Bulk    // block, if it is one
	iv      []byte
	counter []byte // of the next block of key stream
	out     []byte // key stream; the part not used yet starts at used
	used    int
}

var _ cipher.Stream = (*CTR)(nil)

// NewCTR returns a stream in counter mode. It panics if iv is not as long as a block.
func NewCTR(b cipher.Block, iv []byte) *CTR {
	size := b.BlockSize()
	if len(iv) != size {
		panic("cipher.NewCTR: IV length must equal block size")
	}
	x := &CTR{block: b, iv: bytes.Clone(iv), counter: bytes.Clone(iv)}
	x.fused, _ = b.(BulkCTR)
	x.bulk, _ = b.(Bulk)
	n := size
	if x.fused == nil && x.bulk != nil {
		n = max(bulkBuffer/size, 1) * size
	}
	x.out = make([]byte, n)
	x.used = n
	return x
}

// restart moves the stream to the start of another one, with another IV.
func (x *CTR) restart(iv []byte) {
	copy(x.iv, iv)
	copy(x.counter, iv)
	x.used = len(x.out)
}

// SeekBlock moves the stream to the start of block n, counted from 0 at the IV, in any direction.
func (x *CTR) SeekBlock(n uint64) {
	carry := uint64(0)
	for i := len(x.iv) - 1; i >= 0; i-- {
		sum := uint64(x.iv[i]) + n&0xff + carry
		x.counter[i] = byte(sum)
		n, carry = n>>8, sum>>8
	}
	x.used = len(x.out)
}

// XORKeyStream XORs src with the next len(src) bytes of the key stream into dst. The two may be the same memory. It panics if
// dst is shorter than src, and if they overlap otherwise.
func (x *CTR) XORKeyStream(dst, src []byte) {
	checkStream(dst, src)
	n := subtle.XORBytes(dst, src, x.out[x.used:])
	x.used += n
	dst, src = dst[n:], src[n:]

	if x.fused != nil {
		if n := len(src) - len(src)%len(x.counter); n > 0 {
			x.fused.XORKeyStreamCTR(dst[:n], src[:n], x.counter)
			dst, src = dst[n:], src[n:]
		}
	}
	for len(src) > 0 {
		x.refill(len(src))
		n := subtle.XORBytes(dst, src, x.out[x.used:])
		x.used += n
		dst, src = dst[n:], src[n:]
	}
}

// refill makes the key stream of the next want bytes, or as much as there is room for, at the end of out.
func (x *CTR) refill(want int) {
	size := len(x.counter)
	n := min(len(x.out), (want+size-1)/size*size)
	x.used = len(x.out) - n
	out := x.out[x.used:]
	for i := 0; i < n; i += size {
		copy(out[i:], x.counter)
		for j := size - 1; j >= 0; j-- {
			if x.counter[j]++; x.counter[j] != 0 {
				break
			}
		}
	}
	if x.bulk != nil {
		x.bulk.EncryptBlocks(out, out)
	} else {
		x.block.Encrypt(out, out)
	}
}
