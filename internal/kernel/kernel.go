// Package kernel is the table that every primitive lists its implementations in, and the one way of choosing from it.
//
// A primitive has one [Table], a literal with the best kernel first and the portable ones last. Selection, the
// environment override, tests, benchmarks and documentation all iterate over it.
package kernel

import (
	"iter"

	"github.com/twogather/twogather/hwfeatures"
)

// A Kernel is one implementation of a primitive.
type Kernel[F any] struct {
	Name     string         // as printed, forced and tested
	Requires hwfeatures.Set // without these it faults
	Prefers  hwfeatures.Set // without these it only loses to a later row
	Batch    int            // blocks or bytes per step, in the primitive's unit
	Funcs    F
	// ConstantTime says that no address and no branch in it depends on a key or on data. A test checks each such kernel.
	// What the processor makes of the instructions is another matter.
	ConstantTime bool
}

// A Table lists a primitive's kernels, best first. One row requires and prefers nothing. Those behind it are for callers
// that ask for them; they are never a default.
type Table[F any] []Kernel[F]

// Usable yields the rows that run on a processor with the given features, whether or not they would be chosen.
func (t Table[F]) Usable(features hwfeatures.Set) iter.Seq2[int, *Kernel[F]] {
	return func(yield func(int, *Kernel[F]) bool) {
		for i := range t {
			if features.Has(t[i].Requires) && !yield(i, &t[i]) {
				return
			}
		}
	}
}

// Default returns the first row whose Requires and Prefers hold.
func (t Table[F]) Default(features hwfeatures.Set) int {
	for i, k := range t.Usable(features) {
		if features.Has(k.Prefers) {
			return i
		}
	}
	panic("kernel: a table needs a row that requires and prefers nothing")
}

// DefaultConstantTime is [Table.Default] among the constant-time kernels.
func (t Table[F]) DefaultConstantTime(features hwfeatures.Set) int {
	for i, k := range t.Usable(features) {
		if features.Has(k.Prefers) && k.ConstantTime {
			return i
		}
	}
	panic("kernel: a table needs a constant-time row that requires and prefers nothing")
}

// Index returns the row of the given name, or -1.
func (t Table[F]) Index(name string) int {
	for i := range t {
		if t[i].Name == name {
			return i
		}
	}
	return -1
}

// Forced returns the row that TWOGATHER_KERNEL names for the primitive, or -1: where it names none, and, with a warning,
// where it names one that is not in the table or that the features do not carry.
func (t Table[F]) Forced(primitive string, features hwfeatures.Set) int {
	name := hwfeatures.ForcedKernel(primitive)
	if name == "" {
		return -1
	}
	i := t.Index(name)
	if i < 0 {
		names := ""
		for i := range t {
			names += " " + t[i].Name
		}
		hwfeatures.RefuseKernel(primitive, name, "unknown; the kernels are"+names)
		return -1
	}
	if missing := t[i].Requires &^ features; missing != 0 {
		hwfeatures.RefuseKernel(primitive, name, "it requires "+missing.String())
		return -1
	}
	return i
}
