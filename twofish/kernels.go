package twofish

import (
	"github.com/twogather/twogather/hwfeatures"
	"github.com/twogather/twogather/internal/kernel"
)

// funcs are one kernel's operations. encrypt and decrypt take whole batches, at most maxCall bytes, in place or not.
// cbcEncrypt, on kernels made for latency, takes any number of blocks and leaves the last one written in iv.
//
// A call through a func value would make its caller's buffers escape to the heap. So the table's functions serve tests
// and tools; production calls reach the same ones by the switches cryptWith and cbcEncryptWith beside the table.
type funcs struct {
	encrypt, decrypt func(s *schedule, dst, src []byte)
	cbcEncrypt       func(s *schedule, dst, src []byte, iv *[BlockSize]byte)
}

// genericKernel is the last row of every table.
var genericKernel = kernel.Kernel[funcs]{
	Name:  "generic",
	Batch: 1,
	Funcs: funcs{encryptGeneric, decryptGeneric, cbcEncryptGeneric},
}

// A plan says which kernels a Cipher's calls go through: whole batches through wide, then what is left through narrow
// or, from pad bytes on, through wide with padding. The kernels are rows of the table.
type plan struct {
	wide, narrow uint8
	batch, pad   uint16 // bytes
}

// forcedPlan uses one kernel for every length.
func forcedPlan(k int) plan {
	return plan{wide: uint8(k), narrow: uint8(k), batch: uint16(kernels[k].Batch * BlockSize)}
}

// choosePlan is the plan for a processor with the given features.
func choosePlan(features hwfeatures.Set) plan {
	p := forcedPlan(kernels.Default(features))
	for i, k := range kernels.Usable(features) {
		if k.Batch == 1 {
			p.narrow = uint8(i)
			break
		}
	}
	p.pad = padFrom * BlockSize
	return p
}

// padFrom is how many blocks take less time padded to sixteen than through the scalar kernel. On Zen 5 (EPYC), in
// cycles: TODO measure
const padFrom = 14

// primitive is this package's name in TWOGATHER_KERNEL and in the registry.
const primitive = "twofish"

// selectPlan is choosePlan, unless TWOGATHER_KERNEL forces a kernel.
func selectPlan(features hwfeatures.Set) plan {
	if k := kernels.Forced(primitive, features); k >= 0 {
		return forcedPlan(k)
	}
	return choosePlan(features)
}

// defaultPlan is chosen once, for all Ciphers of the process.
var defaultPlan = selectPlan(hwfeatures.Enabled())

func init() {
	p := &kernel.Primitive{
		Name: primitive,
		Selected: func(features hwfeatures.Set) []string {
			p := selectPlan(features)
			if p.wide == p.narrow {
				return []string{kernels[p.wide].Name}
			}
			return []string{kernels[p.wide].Name, kernels[p.narrow].Name}
		},
		New: func(features hwfeatures.Set, name string) any {
			p := selectPlan(features)
			if name != "" {
				p = forcedPlan(kernels.Index(name))
			}
			return func(key []byte) (*Cipher, error) { return newCipher(key, p) }
		},
	}
	for i := range kernels {
		p.Kernels = append(p.Kernels, kernels[i].Info())
	}
	kernel.Register(p)
}

// crypt encrypts or decrypts src into dst, which has the same length, as the plan says.
func (c *Cipher) crypt(decrypt bool, dst, src []byte) {
	batch := int(c.plan.batch)
	for len(src) >= batch {
		n := min(len(src), maxCall)
		n -= n % batch
		cryptWith(c.plan.wide, decrypt, &c.schedule, dst[:n], src[:n])
		dst, src = dst[n:], src[n:]
	}
	switch {
	case len(src) == 0:
	case len(src) < int(c.plan.pad):
		cryptWith(c.plan.narrow, decrypt, &c.schedule, dst, src)
	default:
		c.cryptPadded(decrypt, dst, src)
	}
}

// maxBatch is the largest batch of any kernel, in bytes.
const maxBatch = 16 * BlockSize

// cryptPadded takes less than a batch through the wide kernel. It has its own frame, so that only calls which need the
// buffer clear it.
//
//go:noinline
func (c *Cipher) cryptPadded(decrypt bool, dst, src []byte) {
	var buf [maxBatch]byte
	copy(buf[:], src)
	b := buf[:c.plan.batch]
	cryptWith(c.plan.wide, decrypt, &c.schedule, b, b)
	copy(dst, b)
}
