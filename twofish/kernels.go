package twofish

import (
	"github.com/twogather/twogather/hwfeatures"
	"github.com/twogather/twogather/internal/kernel"
)

// funcs are one kernel's operations. All take whole batches, at most maxCall bytes, in place or not. ctr and cbcDecrypt
// are there where the kernel is wide and does them in registers, cbcEncrypt where it is made for latency.
//
// A call through a func value would make its caller's buffers escape to the heap. So the table's functions serve tests
// and tools; production calls reach the same ones by the switches in operations beside the table.
type funcs struct {
	encrypt, decrypt func(s *schedule, dst, src []byte)
	// ctr XORs src with the encryptions of counter and its successors. The counter's last four bytes must not wrap on the
	// way; it stays as it is.
	ctr func(s *schedule, dst, src []byte, counter *[BlockSize]byte)
	// cbcDecrypt and cbcEncrypt leave the last ciphertext block in iv.
	cbcDecrypt, cbcEncrypt func(s *schedule, dst, src []byte, iv *[BlockSize]byte)
}

// The last rows of every table. Those behind generic are chosen for constant-time Ciphers only.
var (
	genericKernel = kernel.Kernel[funcs]{
		Name:  "generic",
		Batch: 1,
		Funcs: funcs{encrypt: encryptGeneric, decrypt: decryptGeneric, cbcEncrypt: cbcEncryptGeneric},
	}
	constantTimeKernel = kernel.Kernel[funcs]{
		Name:         "generic-constant-time",
		Batch:        lanes,
		Funcs:        funcs{encrypt: encryptConstantTime, decrypt: decryptConstantTime},
		ConstantTime: true,
	}
	constantTime8Kernel = kernel.Kernel[funcs]{
		Name:         "generic-constant-time-8",
		Batch:        shortLanes,
		Funcs:        funcs{encrypt: encryptConstantTime8, decrypt: decryptConstantTime8},
		ConstantTime: true,
	}
)

// A plan says which kernels a Cipher's calls go through: step by step, each takes whole batches of what is left. The last
// step leaves nothing.
type plan struct {
	steps        [5]step
	last         uint8  // index of the last step
	short        uint16 // shorter calls, in bytes, are for the last step
	constantTime bool   // the key schedule too
}

type step struct {
	kernel           uint8  // row of the table
	batch            uint16 // bytes
	pad              uint16 // what is left of at least so many bytes is padded to a batch
	passFrom, passTo uint16 // what is left of so many bytes is for the next step, all of it
}

// limits say what a step leaves to those after it, in blocks: what is not enough to be padded, and lengths that take less
// time without it.
type limits struct{ padFrom, passFrom, passTo int }

// takesAll is for a step that is the last one.
var takesAll = limits{padFrom: 1}

func stepOf(k int, l limits) step {
	return step{
		kernel:   uint8(k),
		batch:    uint16(kernels[k].Batch * BlockSize),
		pad:      uint16(l.padFrom * BlockSize),
		passFrom: uint16(l.passFrom * BlockSize),
		passTo:   uint16(l.passTo * BlockSize),
	}
}

// take says how many of n bytes the step takes in whole batches, and whether it takes the rest too, padded.
func (s *step) take(n int) (whole int, padded bool) {
	if int(s.passFrom) <= n && n <= int(s.passTo) {
		return 0, false
	}
	if n >= int(s.batch) {
		whole = n - n%int(s.batch)
	}
	return whole, n-whole >= int(s.pad)
}

// pieces returns what the plan's kernels take of a call of n blocks.
func (p *plan) pieces(n int) (pieces []kernel.Piece) {
	for i, left := 0, n*BlockSize; left > 0; i++ {
		s := &p.steps[i]
		piece := kernel.Piece{Kernel: kernels[s.kernel].Name}
		whole, padded := s.take(left)
		if left -= whole; padded {
			piece.Padding = (int(s.batch) - left) / BlockSize
			whole, left = whole+left, 0
		}
		if piece.Units = whole / BlockSize; piece.Units > 0 {
			pieces = append(pieces, piece)
		}
	}
	return pieces
}

// forcedPlan uses one kernel for every length.
func forcedPlan(k int) plan {
	return plan{steps: [5]step{stepOf(k, takesAll)}}
}

// choosePlan is the plan for a processor with the given features: the default kernel, then what suits the processor for
// smaller and smaller batches. A constant-time plan has constant-time kernels only.
func choosePlan(features hwfeatures.Set, constantTime bool) plan {
	first, limitsOf := kernels.Default, limitsOf
	if constantTime {
		first, limitsOf = kernels.DefaultConstantTime, constantTimeLimitsOf
	}
	p := forcedPlan(first(features))
	p.constantTime = constantTime
	for k, row := range kernels.Usable(features) {
		last := &p.steps[p.last]
		// A row is of use if the one before it leaves whole batches.
		l := limitsOf(last.kernel)
		if row.Batch < l.padFrom && features.Has(row.Prefers) && (row.ConstantTime || !constantTime) {
			*last = stepOf(int(last.kernel), l)
			p.short = last.pad
			p.last++
			p.steps[p.last] = stepOf(k, takesAll)
		}
	}
	return p
}

// constantTimeLimitsOf is limitsOf for constant-time plans. On Zen 5 (EPYC), in cycles for a call of so many blocks:
//
//	                                            8 blocks     16     24     32
//	128-bit key   generic-constant-time, padded    28900
//	              generic-constant-time-8           9000  17900  26800  35600
//	256-bit key   generic-constant-time, padded    38200
//	              generic-constant-time-8          11500  22800  34200  45100
//
// Any other kernel takes less time for a whole batch (avx2-shuffle 4250) than generic-constant-time-8, so everything is
// padded for it.
func constantTimeLimitsOf(k uint8) limits {
	if k == kernelConstantTime {
		return limits{padFrom: 25}
	}
	return takesAll
}

// primitive is this package's name in TWOGATHER_KERNEL and in the registry.
const primitive = "twofish"

// selectPlan is choosePlan, unless TWOGATHER_KERNEL forces a kernel. One that is not constant-time is not forced on those
// who ask for one that is.
func selectPlan(features hwfeatures.Set, constantTime bool) plan {
	if k := kernels.Forced(primitive, features); k >= 0 && (kernels[k].ConstantTime || !constantTime) {
		p := forcedPlan(k)
		p.constantTime = constantTime
		return p
	}
	return choosePlan(features, constantTime)
}

// The plans are chosen once, for all Ciphers of the process.
var (
	defaultPlan      = selectPlan(hwfeatures.Enabled(), false)
	constantTimePlan = selectPlan(hwfeatures.Enabled(), true)
)

func init() {
	p := &kernel.Primitive{
		Name: primitive,
		Selected: func(features hwfeatures.Set, constantTime bool) []string {
			p := selectPlan(features, constantTime)
			var names []string
			for _, s := range p.steps[:p.last+1] {
				names = append(names, kernels[s.kernel].Name)
			}
			return names
		},
		New: func(features hwfeatures.Set, constantTime bool, name string) any {
			p := selectPlan(features, constantTime)
			if name != "" {
				p = forcedPlan(kernels.Index(name))
				p.constantTime = constantTime
			}
			return func(key []byte) (*Cipher, error) { return newCipher(key, p) }
		},
		Pieces: func(features hwfeatures.Set, constantTime bool, n int) []kernel.Piece {
			p := selectPlan(features, constantTime)
			return p.pieces(n)
		},
	}
	for i := range kernels {
		p.Kernels = append(p.Kernels, kernels[i].Info())
	}
	kernel.Register(p)
}

// maxCall is how many bytes one kernel call covers at most. A goroutine inside assembly cannot be preempted, so longer
// calls would keep the garbage collector waiting.
const maxCall = 64 << 10

// cut returns how much of n bytes the next call takes: whole batches.
func cut(n, batch int) int {
	n = min(n, maxCall)
	return n - n%batch
}

// crypt encrypts or decrypts src into dst, which has the same length, as the plan says. With a chain, it is counter mode or
// CBC decryption instead, in fused kernels as far down the plan as there are any; the chain becomes the next counter, whose
// last four bytes must not wrap before the end, or the next IV.
func (c *Cipher) crypt(decrypt bool, dst, src []byte, chain *[BlockSize]byte) {
	i := 0
	if len(src) < int(c.plan.short) {
		i = int(c.plan.last)
	}
	for ; ; i++ {
		s := &c.plan.steps[i]
		if chain != nil && !isFused(s.kernel) {
			c.cryptUnfused(decrypt, dst, src, chain)
			return
		}
		whole, padded := s.take(len(src))
		for whole > 0 {
			n := cut(whole, int(s.batch))
			cryptWith(s.kernel, decrypt, &c.schedule, dst[:n], src[:n], chain)
			if chain != nil && !decrypt {
				advance(chain, n)
			}
			dst, src, whole = dst[n:], src[n:], whole-n
		}
		if padded {
			c.cryptPadded(s, decrypt, dst, src, chain)
			return
		}
		if len(src) == 0 {
			return
		}
	}
}

// smallBatch is a batch that many kernels have, in bytes; maxBatch, beside the table, is the largest.
const smallBatch = 16 * BlockSize

// cryptPadded is crypt for less than a batch, padded. It has its own frame, so that only calls which need a buffer clear it.
//
//go:noinline
func (c *Cipher) cryptPadded(s *step, decrypt bool, dst, src []byte, chain *[BlockSize]byte) {
	if s.batch <= smallBatch {
		var buf [smallBatch]byte
		c.cryptInBuffer(s, decrypt, dst, src, chain, buf[:s.batch])
	} else {
		var buf [maxBatch]byte
		c.cryptInBuffer(s, decrypt, dst, src, chain, buf[:s.batch])
	}
}

func (c *Cipher) cryptInBuffer(s *step, decrypt bool, dst, src []byte, chain *[BlockSize]byte, buf []byte) {
	n := copy(buf, src)
	cryptWith(s.kernel, decrypt, &c.schedule, buf, buf, chain)
	switch {
	case chain == nil:
	case decrypt:
		copy(chain[:], src[n-BlockSize:]) // the kernel's is of the padding
	default:
		advance(chain, n)
	}
	copy(dst, buf)
}
