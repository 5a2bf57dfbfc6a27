package raid6

import (
	"github.com/twogather/twogather/hwfeatures"
	"github.com/twogather/twogather/internal/kernel"
)

// primitive is this package's name in TWOGATHER_KERNEL and in the registry.
const primitive = "raid6"

// A step is what one call to a kernel does, besides its buffers.
//
// Q comes by Horner's rule: from the last disk down, it is doubled and the next disk added. A doubling is a shift, and an
// addition of 1D in bytes that overflow. Kernels without an instruction for products do otherwise: they add it in bytes that
// do not overflow, which takes no comparison, and so are wrong by 1D. After d doublings that adds up to an error that depends
// on d alone.
type step struct {
	// offset is where p and q belong in the disks' chunks.
	offset int
	// runs are how many disks come one after the other, from the last one down. Between two runs a disk is lost: it counts as
	// zeros and is not read. A run may be empty; -1 says that there are no more.
	runs [3]int
	// With carry, p and q hold what the disks above data have left. Without, they are overwritten, and the last disk, which
	// is not lost, is not in the runs.
	carry int
	// correction is added to the last disk in q by kernels whose doublings leave an error. Without carry, it undoes all errors
	// to come.
	correction byte
	// product is what a partial update multiplies its Q by.
	product *product
	// With stream, P and Q go past the caches, as far as the kernel's stride fits. They begin at multiples of 64 bytes.
	stream int
}

var noDisks = [2]int{-1, -1}

// newStep returns a step over so many disks, but for those that are lost, the higher one first.
func newStep(offset, disks int, carry bool, lost [2]int) step {
	var s step
	s.begin(offset, disks, carry, lost)
	return s
}

// wholeArray returns the step over an array's n data disks, of which none is lost.
func wholeArray(n int) step {
	return step{runs: [3]int{n - 1, -1, -1}, correction: correction[n-1]}
}

// begin makes s a new step. It fills it in place: words that were just stored are slow to copy as vectors.
func (s *step) begin(offset, disks int, carry bool, lost [2]int) {
	*s = step{offset: offset, runs: [3]int{disks, -1, -1}}
	if carry {
		s.carry = 1
	} else {
		s.runs[0]--
	}
	if lost[0] >= 0 {
		s.runs[0] -= lost[0] + 1
		s.runs[1] = lost[0]
		if lost[1] >= 0 {
			s.runs[1] -= lost[1] + 1
			s.runs[2] = lost[1]
		}
	}
}

// funcs are one kernel's operations. Nothing is checked: buffers have the same length and do not overlap.
//
// A call through a func value would make its caller's buffers escape to the heap. So the table's functions serve tests
// and tools; production calls reach the same ones by the switches beside the table.
type funcs struct {
	syndrome, xorSyndrome func(p, q []byte, data [][]byte, s *step)
	parity                func(p []byte, data [][]byte, s *step)
	recoverData           func(x, y, p, q []byte, a, b *product)
	recoverP              func(x, p, q []byte, b *product)
}

// The last row of every table.
var genericKernel = kernel.Kernel[funcs]{
	Name:  "generic",
	Batch: 8,
	Funcs: funcs{syndromeGeneric, xorSyndromeGeneric, parityGeneric, recoverDataGeneric, recoverPGeneric},
}

// selectKernel returns the row for a processor with the given features, or the one that TWOGATHER_KERNEL forces.
func selectKernel(features hwfeatures.Set) int {
	if k := kernels.Forced(primitive, features); k >= 0 {
		return k
	}
	return kernels.Default(features)
}

// defaultKernel is chosen once, for the process.
var defaultKernel = selectKernel(hwfeatures.Enabled())

func init() {
	p := &kernel.Primitive{
		Name: primitive,
		Selected: func(features hwfeatures.Set, constantTime bool) []string {
			if constantTime {
				return nil // there are no secrets here
			}
			return []string{kernels[selectKernel(features)].Name}
		},
		New: func(features hwfeatures.Set, _ bool, name string) any {
			if name != "" {
				return withKernel(kernels.Index(name))
			}
			return withKernel(selectKernel(features))
		},
	}
	for i := range kernels {
		p.Kernels = append(p.Kernels, kernels[i].Info())
	}
	kernel.Register(p)
}
