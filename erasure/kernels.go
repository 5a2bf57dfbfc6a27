package erasure

import (
	"encoding/binary"
	"sync"
	"unsafe"

	"github.com/twogather/twogather/hwfeatures"
	"github.com/twogather/twogather/internal/gf256"
	"github.com/twogather/twogather/internal/kernel"
)

// maxOutputs is how many outputs a pass over the sources has at most: their sums fill the registers.
const maxOutputs = 6

// An entry is a coefficient as a kernel in assembly multiplies by it: the products of the sixteen low nibbles and of the
// sixteen high ones, or the coefficient's matrix over GF(2), four times.
type entry [32]byte

// A pass goes over the sources once and makes a few outputs. Kernels in assembly know where the fields lie.
type pass struct {
	outputs [][]byte
	ones    headers // the sources whose coefficients are all 1, which have no entries,
	sources headers // and the others
	entries *byte   // source by source
	sum     int     // 1 if all coefficients of the first output are 1; it has no entries
	// The sums of sources that an earlier pass has parked, if there was one, and where to park sums instead of writing the
	// outputs: 64 bytes of the first output, 64 of the second and so on, then the next 64 of the first, or as many each
	// as a kernel's step has. They take no more room than the outputs do, rounded up to 64 bytes.
	start, park *byte
	ahead       int // so many bytes further than the next step is what kernels prefetch, where they do
}

// headers are some of a slice of shards, without what Go needs to take a part of one.
type headers struct {
	first *[]byte
	count int
}

func (h headers) all() [][]byte { return unsafe.Slice(h.first, h.count) }

// funcs are one kernel's operations. A call through a func value would make its caller's buffers escape to the heap. So the
// table's functions serve tests and tools; production calls reach the same ones by the switches beside the table.
type funcs struct {
	// dot does the pass for the bytes from..to. A kernel in assembly takes whole steps only: it needs 64 bytes from the
	// beginning on, and may do up to 63 before from again.
	dot func(p *pass, from, to int)
	// update adds the products of the bytes of source and of the entries' coefficients to the outputs, at most as many as
	// updateOutputs says. There is an entry for each, one behind the other.
	update func(outputs [][]byte, source []byte, entries *entry, from, to int)
	// add does the same for one output and the coefficient 1.
	add func(output, source []byte, from, to int)
}

// genericKernel is the last row of every table.
var genericKernel = kernel.Kernel[funcs]{
	Name:  "generic",
	Batch: 8,
	Funcs: funcs{dot: dotGeneric, update: updateGeneric, add: addGeneric},
}

// A form is what a kernel's entries look like.
type form struct {
	entries *[256]entry // by coefficient
	size    int         // of what a dot product takes of each
}

var (
	nibbleEntries = sync.OnceValue(func() *[256]entry {
		var all [256]entry
		for c := range all {
			low, high := gf256.Nibbles(byte(c))
			copy(all[c][:], low[:])
			copy(all[c][16:], high[:])
		}
		return &all
	})
	// The matrix, as often as it fits.
	matrixEntries = sync.OnceValue(func() *[256]entry {
		var all [256]entry
		for c := range all {
			for at := 0; at < len(all[c]); at += 8 {
				binary.LittleEndian.PutUint64(all[c][at:], gf256.Matrix(byte(c)))
			}
		}
		return &all
	})
	// The kernel in Go finds the coefficient in the first byte.
	plainEntries = sync.OnceValue(func() *[256]entry {
		var all [256]entry
		for c := range all {
			all[c][0] = byte(c)
		}
		return &all
	})
	// products[c][x] is c·x.
	products = sync.OnceValue(func() *[256][256]byte {
		var all [256][256]byte
		for c := range all {
			for x := range all[c] {
				all[c][x] = gf256.Mul(byte(c), byte(x))
			}
		}
		return &all
	})
)

// primitive is this package's name in TWOGATHER_KERNEL and in the registry.
const primitive = "erasure"

// selectKernel is the default kernel, unless TWOGATHER_KERNEL forces one.
func selectKernel(features hwfeatures.Set) int {
	if k := kernels.Forced(primitive, features); k >= 0 {
		return k
	}
	return kernels.Default(features)
}

// The kernel is chosen once, for all Tables of the process.
var defaultKernel = selectKernel(hwfeatures.Enabled())

func init() {
	p := &kernel.Primitive{
		Name: primitive,
		Selected: func(features hwfeatures.Set, constantTime bool) []string {
			if constantTime {
				return nil
			}
			return []string{kernels[selectKernel(features)].Name}
		},
		New: func(features hwfeatures.Set, _ bool, name string) any {
			k := selectKernel(features)
			if name != "" {
				k = kernels.Index(name)
			}
			return func(matrix [][]byte) (*Tables, error) { return newTablesWith(matrix, k) }
		},
	}
	for i := range kernels {
		p.Kernels = append(p.Kernels, kernels[i].Info())
	}
	kernel.Register(p)
}

// minLength is the shortest shard that kernels in assembly take. Shorter ones go through a buffer.
const minLength = 64

// maxCall is how many bytes, of sources and outputs together, one kernel call covers at most. A goroutine inside assembly
// cannot be preempted, so longer calls would keep the garbage collector waiting.
const maxCall = 64 << 10

// cut is how many bytes of each of so many shards a call takes. It is a multiple of every kernel's step.
func cut(shards int) int { return max(maxCall/shards&^127, 128) }

// pointer returns where b begins.
func pointer(b []byte) *byte { return unsafe.SliceData(b) }
