package twofish

import (
	"slices"

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
	// rows encrypts as many messages as a batch has blocks, side by side: src has a block of each in a row, then the next one
	// of each. row is the one before the first; it stays as it is. The mode is CBC, or, with a counter, whose value is not
	// used, CFB.
	rows func(s *schedule, dst, src []byte, counter *[BlockSize]byte, row *[rowBytes]byte)
}

// rowBytes is a row of the kernels that have rows, in bytes.
const rowBytes = 64 * BlockSize

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

// A plan says which kernels a Cipher's calls go through. What is left of a call goes to a step, which takes whole batches of
// it, or all of it, padded, if it is less than one.
type plan struct {
	steps [5]step
	last  uint8 // index of the last step, which takes single blocks
	// next is the step for what is left, by its blocks. Of more the first step takes what it can.
	next         [193]uint8
	constantTime bool // the key schedule too
}

type step struct {
	kernel uint8  // row of the table
	batch  uint16 // bytes
}

// limits say which lengths, in blocks, a step leaves to those after it, because they take less time without it: less than
// can be padded, and the spans.
type limits struct {
	padFrom int
	pass    []span
}

type span struct{ from, to int } // both included

// leave reports whether n blocks are left to the steps after this one.
func (l limits) leave(n int) bool {
	return n < l.padFrom || slices.ContainsFunc(l.pass, func(s span) bool { return s.from <= n && n <= s.to })
}

func stepOf(k int) step { return step{uint8(k), uint16(kernels[k].Batch * BlockSize)} }

// forcedPlan uses one kernel for every length.
func forcedPlan(k int) plan { return plan{steps: [5]step{stepOf(k)}} }

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
		// A row is of use if the one before it leaves whole batches.
		l := limitsOf(p.steps[p.last].kernel)
		if row.Batch >= l.padFrom || !features.Has(row.Prefers) || constantTime && !row.ConstantTime {
			continue
		}
		for n, i := range p.next {
			if i == p.last && l.leave(n) {
				p.next[n]++
			}
		}
		p.last++
		p.steps[p.last] = stepOf(k)
	}
	return p
}

// stepFor returns the step for what is left of a call, in bytes.
func (p *plan) stepFor(n int) *step {
	if n /= BlockSize; n < len(p.next) {
		return &p.steps[p.next[n]]
	}
	return &p.steps[0]
}

// pieces returns what the plan's kernels take of a call of n blocks.
func (p *plan) pieces(n int) (pieces []kernel.Piece) {
	for n > 0 {
		k := &kernels[p.stepFor(n*BlockSize).kernel]
		piece := kernel.Piece{Kernel: k.Name, Units: n - n%k.Batch}
		if n < k.Batch {
			piece.Units, piece.Padding = n, k.Batch-n
		}
		n -= piece.Units
		if last := len(pieces) - 1; last >= 0 && pieces[last].Kernel == k.Name {
			pieces[last].Units += piece.Units
			pieces[last].Padding = piece.Padding
			continue
		}
		pieces = append(pieces, piece)
	}
	return pieces
}

// constantTimeLimitsOf is limitsOf for constant-time plans. In cycles for a call of so many blocks, on Zen 5 (EPYC):
//
//	                                            8 blocks     16     24     32
//	128-bit key   generic-constant-time, padded    28900
//	              generic-constant-time-8           9000  17900  26800  35600
//	256-bit key   generic-constant-time, padded    38200
//	              generic-constant-time-8          11500  22800  34200  45100
//
// and on Zen 3 (EPYC), at 3.1 GHz:
//
//	128-bit key   generic-constant-time, padded    36000  36000  36200  36000
//	              generic-constant-time-8          10200  20000  29500  39600
//	256-bit key   generic-constant-time, padded    46400  46100  46300  46400
//	              generic-constant-time-8          13300  25900  38900  51800
//
// Any other kernel takes less time for a whole batch (avx2-shuffle 4250) than generic-constant-time-8, so everything is
// padded for it.
func constantTimeLimitsOf(k uint8) limits {
	if k == kernelConstantTime {
		return limits{padFrom: 25}
	}
	return limits{padFrom: 1}
}

// primitive is this package's name in TWOGATHER_KERNEL and in the registry.
const primitive = "twofish"

// selectPlan is choosePlan, unless TWOGATHER_KERNEL forces a kernel.
func selectPlan(features hwfeatures.Set, constantTime bool) plan {
	return planWith(kernels.Forced(primitive, features), features, constantTime)
}

// planWith is forcedPlan of kernel k, and choosePlan for -1. A kernel that is not constant-time is not forced on those who
// ask for one that is.
func planWith(k int, features hwfeatures.Set, constantTime bool) plan {
	if k < 0 || constantTime && !kernels[k].ConstantTime {
		return choosePlan(features, constantTime)
	}
	p := forcedPlan(k)
	p.constantTime = constantTime
	return p
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
	for len(src) > 0 {
		s := c.plan.stepFor(len(src))
		switch batch := int(s.batch); {
		case chain != nil && !isFused(s.kernel):
			c.cryptUnfused(decrypt, dst, src, chain)
			return
		case len(src) < batch:
			c.cryptPadded(s, decrypt, dst, src, chain)
			return
		default:
			n := cut(len(src), batch)
			cryptWith(s.kernel, decrypt, &c.schedule, dst[:n], src[:n], chain)
			if chain != nil && !decrypt {
				advance(chain, n)
			}
			dst, src = dst[n:], src[n:]
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
