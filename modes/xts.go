package modes

import (
	"crypto/cipher"
	"encoding/binary"
	"errors"
	"math/bits"
	"sync"

	"github.com/twogather/twogather/internal/alias"
)

// XTS is the mode of IEEE Std 1619 for disks. It encrypts data units, mostly sectors, each by itself and without making it
// longer: 16 bytes to 16 MiB, not necessarily whole blocks. A unit's tweak, 16 bytes, says where it is. An XTS may be used
// by several goroutines at once where its Blocks may.
//
// Who can write to a disk can put an old sector's blocks back, and randomise any block. XTS does not notice.
type XTS struct {
	data  ecb
	tweak ecb
}

// NewXTS returns an XTS that encrypts data with one cipher and tweaks with another, of different keys. The error is for
// blocks that do not have 16 bytes.
func NewXTS(data, tweak cipher.Block) (*XTS, error) {
	if data.BlockSize() != xtsBlock || tweak.BlockSize() != xtsBlock {
		return nil, errors.New("xts: cipher does not have a block size of 16")
	}
	return &XTS{newECB(data), newECB(tweak)}, nil
}

// NewXTSCipher is [NewXTS] for ciphers made of one key's halves, the first for data. The error is cipherFunc's or
// [NewXTS]'s. With [XTS.Encrypt] and [XTS.Decrypt] it stands in for golang.org/x/crypto/xts, whose NewCipher it is.
func NewXTSCipher(cipherFunc func([]byte) (cipher.Block, error), key []byte) (*XTS, error) {
	data, err := cipherFunc(key[:len(key)/2])
	if err != nil {
		return nil, err
	}
	tweak, err := cipherFunc(key[len(key)/2:])
	if err != nil {
		return nil, err
	}
	return NewXTS(data, tweak)
}

const (
	xtsBlock = 16
	// maxUnit is how long a data unit may be: 2²⁰ blocks.
	maxUnit = xtsBlock << 20
)

// Encrypt encrypts a sector, the data unit whose tweak is the sector's number, little-endian. dst and src may be the same
// memory and must not overlap otherwise. It panics if dst is shorter than src, and if src is shorter than a block or longer
// than 16 MiB; an empty src is fine.
func (x *XTS) Encrypt(dst, src []byte, sector uint64) {
	x.crypt(false, dst, src, len(src), tweak{lo: sector})
}

// Decrypt is the inverse of [XTS.Encrypt].
func (x *XTS) Decrypt(dst, src []byte, sector uint64) {
	x.crypt(true, dst, src, len(src), tweak{lo: sector})
}

// EncryptUnit encrypts a data unit with any tweak. The rest is as in [XTS.Encrypt].
func (x *XTS) EncryptUnit(dst, src []byte, tweak [16]byte) {
	x.crypt(false, dst, src, len(src), loadTweak(tweak[:]))
}

// DecryptUnit is the inverse of [XTS.EncryptUnit].
func (x *XTS) DecryptUnit(dst, src []byte, tweak [16]byte) {
	x.crypt(true, dst, src, len(src), loadTweak(tweak[:]))
}

// EncryptSectors encrypts consecutive sectors of sectorSize bytes, the first of which has the given number. It is faster
// than a call for each. It panics if src is not whole sectors. The rest is as in [XTS.Encrypt].
func (x *XTS) EncryptSectors(dst, src []byte, sectorSize int, first uint64) {
	x.crypt(false, dst, src, sectorSize, tweak{lo: first})
}

// DecryptSectors is the inverse of [XTS.EncryptSectors].
func (x *XTS) DecryptSectors(dst, src []byte, sectorSize int, first uint64) {
	x.crypt(true, dst, src, sectorSize, tweak{lo: first})
}

// A tweak is a number of 128 bits, and a polynomial over GF(2).
type tweak struct{ lo, hi uint64 }

func loadTweak(b []byte) tweak {
	return tweak{binary.LittleEndian.Uint64(b), binary.LittleEndian.Uint64(b[8:])}
}

func (t tweak) store(b []byte) {
	binary.LittleEndian.PutUint64(b, t.lo)
	binary.LittleEndian.PutUint64(b[8:], t.hi)
}

// next is the number plus 1.
func (t tweak) next() tweak {
	lo, carry := bits.Add64(t.lo, 1, 0)
	return tweak{lo, t.hi + carry}
}

// double is the polynomial times x, modulo x¹²⁸ + x⁷ + x² + x + 1.
func (t tweak) double() tweak {
	carry := uint64(int64(t.hi) >> 63)
	return tweak{t.lo<<1 ^ carry&0x87, t.hi<<1 | t.lo>>63}
}

// An xtsBuffer is what a call needs and must not have on its stack: what goes through an interface escapes.
type xtsBuffer struct {
	masks  [bulkBuffer]byte    // of consecutive blocks
	starts [80 * xtsBlock]byte // as many as the largest batch
	last   [2 * xtsBlock]byte
}

var xtsBuffers = sync.Pool{New: func() any { return new(xtsBuffer) }}

// crypt processes consecutive data units of unit bytes. The first has the given tweak, each other the next number.
func (x *XTS) crypt(decrypt bool, dst, src []byte, unit int, number tweak) {
	checkXTS(decrypt, dst, src, unit)
	dst = dst[:len(src)]
	b := xtsBuffers.Get().(*xtsBuffer)
	defer xtsBuffers.Put(b)
	for len(src) > 0 {
		// As many units as have room for their encrypted tweaks.
		n := min(len(src), len(b.starts)/xtsBlock*unit)
		starts := b.starts[:n/unit*xtsBlock]
		for i := 0; i < len(starts); i += xtsBlock {
			number.store(starts[i:])
			number = number.next()
		}
		x.tweak.encrypt(starts, starts)
		if unit%xtsBlock == 0 {
			x.whole(decrypt, dst[:n], src[:n], unit, starts, b)
		} else {
			for i := 0; i < n; i += unit {
				x.stealing(decrypt, dst[i:i+unit], src[i:i+unit], loadTweak(starts[i/unit*xtsBlock:]), b)
			}
		}
		dst, src = dst[n:], src[n:]
	}
}

// whole processes units of whole blocks, whose masks begin with starts.
func (x *XTS) whole(decrypt bool, dst, src []byte, unit int, starts []byte, b *xtsBuffer) {
	var mask tweak
	left := 0 // blocks of this unit
	for len(src) > 0 {
		n := min(len(src), len(b.masks))
		for masks := b.masks[:n]; len(masks) > 0; {
			if left == 0 {
				mask, starts, left = loadTweak(starts), starts[xtsBlock:], unit
			}
			m := min(left, len(masks))
			mask = mask.fill(masks[:m])
			masks, left = masks[m:], left-m
		}
		prefetch(dst, src, n)
		x.masked(decrypt, dst[:n], src[:n], b.masks[:n])
		dst, src = dst[n:], src[n:]
	}
}

// stealing processes a unit that ends with a part of a block. That part changes places with the beginning of the block
// before it, once encrypted, and the rest of that block is encrypted twice.
func (x *XTS) stealing(decrypt bool, dst, src []byte, start tweak, b *xtsBuffer) {
	part := len(src) % xtsBlock
	n := len(src) - part - xtsBlock // blocks that nothing happens to
	mask := start
	for i := 0; i < n; {
		m := min(n-i, len(b.masks))
		mask = mask.fill(b.masks[:m])
		x.masked(decrypt, dst[i:i+m], src[i:i+m], b.masks[:m])
		i += m
	}
	first, second := mask, mask.double()
	if decrypt {
		first, second = second, first
	}
	last, masks := b.last[:xtsBlock], b.masks[:xtsBlock]
	partial := b.last[xtsBlock : xtsBlock+part]
	copy(partial, src[n+xtsBlock:])
	first.store(masks)
	x.masked(decrypt, last, src[n:n+xtsBlock], masks)
	copy(dst[n+xtsBlock:], last[:part])
	copy(last, partial)
	second.store(masks)
	x.masked(decrypt, dst[n:n+xtsBlock], last, masks)
}

// masked encrypts or decrypts whole blocks between two XORs with their masks.
func (x *XTS) masked(decrypt bool, dst, src, masks []byte) {
	xorBytes(dst, src, masks)
	if decrypt {
		x.data.decrypt(dst, dst)
	} else {
		x.data.encrypt(dst, dst)
	}
	xorBytes(dst, dst, masks)
}

// fill writes consecutive masks from t on and returns the next one.
func (t tweak) fill(masks []byte) tweak {
	for masks = masks[fillTweaksSteps(masks, &t):]; len(masks) >= xtsBlock; masks = masks[xtsBlock:] {
		t.store(masks)
		t = t.double()
	}
	return t
}

// checkXTS is the contract of all methods. The texts are those of golang.org/x/crypto/xts where it has one.
func checkXTS(decrypt bool, dst, src []byte, unit int) {
	to, from := "ciphertext", "plaintext"
	if decrypt {
		to, from = from, to
	}
	switch {
	case len(dst) < len(src):
		panic("xts: " + to + " is smaller than " + from)
	case len(src) == 0:
	case unit < xtsBlock:
		panic("xts: data unit is smaller than a block")
	case unit > maxUnit:
		panic("xts: data unit is larger than 2^20 blocks")
	case len(src)%unit != 0:
		panic("xts: " + from + " is not a multiple of the sector size")
	case alias.InexactOverlap(dst[:len(src)], src):
		panic("xts: invalid buffer overlap")
	}
}
