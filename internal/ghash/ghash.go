// Package ghash is GHASH, the universal hash of Galois/Counter Mode (NIST SP 800-38D), without an address or a branch that
// depends on a key or on data.
//
// A block is a polynomial over GF(2) whose coefficient of x⁰ is the first byte's top bit. Read as a big-endian number it
// is the other way round: x⁰ is bit 127. Carry-less multiplication does not mind: the product of two reversed polynomials
// is the reversed product. So everything here is in the reversed field, which is that of POLYVAL (RFC 8452, appendix A),
// modulo
//
//	x¹²⁸ + x¹²⁷ + x¹²⁶ + x¹²¹ + 1
//
// There GHASH's product is a·b·x⁻¹²⁷, since a product of 255 bits is reversed at bit 254. Montgomery's reduction makes
// a·b·x⁻¹²⁸ of a·b: it adds multiples of the modulus until the low half is zero. That is easy, because the modulus is
// 1 + x⁶⁴Q + x¹²⁸ with Q = x⁶³ + x⁶² + x⁵⁷: adding w times it clears the lowest word w, adds w·Q one word above and w itself
// two words above. For the factor that is left over, a key is x·H.
//
// Several blocks are multiplied by descending powers of the key and added up before one reduction.
package ghash

import (
	"encoding/binary"

	"github.com/twogather/twogather/hwfeatures"
	"github.com/twogather/twogather/internal/kernel"
)

// BlockSize is the size of blocks, keys and sums in bytes.
const BlockSize = 16

// A Key is a hash key, expanded. It is ready after [Key.Init], may be copied, and used by several goroutines at once.
type Key struct {
	powers powers
	kernel uint8
}

// powers has the power i of the key at index maxPowers-i, so that n blocks in a row meet the last n entries. Of those a
// kernel uses as many as its batch is.
type powers struct {
	power [maxPowers]element
	sum   [maxPowers]element // of each power's words, in both words
}

const maxPowers = 32

// An element of the reversed field: the low and the high word.
type element struct{ lo, hi uint64 }

// load reads a block.
func load(b []byte) element {
	return element{binary.BigEndian.Uint64(b[8:]), binary.BigEndian.Uint64(b)}
}

// store is the inverse of load.
func (e element) store(b []byte) {
	binary.BigEndian.PutUint64(b[8:], e.lo)
	binary.BigEndian.PutUint64(b, e.hi)
}

// timesX returns x·e.
func (e element) timesX() element {
	carry := -(e.hi >> 63)
	return element{e.lo<<1 ^ carry&1, e.hi<<1 ^ e.lo>>63 ^ carry&q}
}

// q is Q, in the modulus.
const q = 1<<63 | 1<<62 | 1<<57

// Init expands the key h.
func (k *Key) Init(h *[BlockSize]byte) { k.init(h, selected) }

func (k *Key) init(h *[BlockSize]byte, kernel uint8) {
	k.kernel = kernel
	p := &k.powers
	var y, zero [BlockSize]byte
	load(h[:]).timesX().store(y[:])
	for i := maxPowers - 1; ; i-- {
		e := load(y[:])
		p.power[i], p.sum[i] = e, element{e.lo ^ e.hi, e.lo ^ e.hi}
		if maxPowers-i == kernels[kernel].Batch {
			return
		}
		updateWith(kernel, p, &y, zero[:]) // y·h
	}
}

// Update adds blocks to the sum y: for each block b, y becomes (y + b)·h. A partial block at the end is filled with zeros.
func (k *Key) Update(y *[BlockSize]byte, data []byte) {
	for len(data) >= BlockSize {
		n := cut(len(data))
		updateWith(k.kernel, &k.powers, y, data[:n])
		data = data[n:]
	}
	if len(data) > 0 {
		var last [BlockSize]byte
		copy(last[:], data)
		updateWith(k.kernel, &k.powers, y, last[:])
	}
}

// maxCall is how many bytes one kernel call covers at most. A goroutine inside assembly cannot be preempted, so longer
// calls would keep the garbage collector waiting.
const maxCall = 64 << 10

// cut returns how much of n bytes the next call takes: whole blocks.
func cut(n int) int {
	n = min(n, maxCall)
	return n - n%BlockSize
}

// funcs are one kernel's operations: update takes whole blocks, at most maxCall bytes.
//
// A call through a func value would make its caller's buffers escape to the heap. So the table's functions serve tests
// and tools; production calls reach the same ones by updateWith.
type funcs struct {
	update func(p *powers, y *[BlockSize]byte, data []byte)
}

var genericKernel = kernel.Kernel[funcs]{
	Name:         "generic",
	Batch:        1,
	Funcs:        funcs{update: updateGeneric},
	ConstantTime: true,
}

// primitive is this package's name in TWOGATHER_KERNEL and in the registry.
const primitive = "ghash"

// selectKernel is the table's choice, unless TWOGATHER_KERNEL forces another. All are constant-time.
func selectKernel(features hwfeatures.Set) uint8 {
	if k := kernels.Forced(primitive, features); k >= 0 {
		return uint8(k)
	}
	return uint8(kernels.Default(features))
}

// selected is chosen once, for all Keys of the process.
var selected = selectKernel(hwfeatures.Enabled())

func init() {
	p := &kernel.Primitive{
		Name: primitive,
		Selected: func(features hwfeatures.Set, _ bool) []string {
			return []string{kernels[selectKernel(features)].Name}
		},
		New: func(features hwfeatures.Set, _ bool, name string) any {
			k := selectKernel(features)
			if name != "" {
				k = uint8(kernels.Index(name))
			}
			return func(h *[BlockSize]byte) *Key {
				key := new(Key)
				key.init(h, k)
				return key
			}
		},
	}
	for i := range kernels {
		p.Kernels = append(p.Kernels, kernels[i].Info())
	}
	kernel.Register(p)
}
