package kernel

import "github.com/twogather/twogather/hwfeatures"

// Info is a row of a table without its functions.
type Info struct {
	Name              string
	Requires, Prefers hwfeatures.Set
	Batch             int
	ConstantTime      bool
}

// Info returns the row without its functions.
func (k *Kernel[F]) Info() Info {
	return Info{k.Name, k.Requires, k.Prefers, k.Batch, k.ConstantTime}
}

// A Primitive is a table as commands see it: without the functions' types.
type Primitive struct {
	Name    string
	Kernels []Info
	// Selected describes the kernels that a processor with the given features uses, the widest first: of all, or of the
	// constant-time ones. Where there is none of those, it is nil.
	Selected func(features hwfeatures.Set, constantTime bool) []string
	// New returns the primitive's constructor, whose type is the primitive's own, bound to the kernels that the
	// features select, as for Selected, or, where name is not empty, to that one.
	New func(features hwfeatures.Set, constantTime bool, name string) any
	// Pieces returns what the kernels that New with an empty name binds take of a call of n units, one after the other.
	// It is nil where one kernel takes all of a call.
	Pieces func(features hwfeatures.Set, constantTime bool, n int) []Piece
}

// A Piece is what one kernel takes of a call.
type Piece struct {
	Kernel  string
	Units   int
	Padding int // units that are added to make a batch
}

var primitives []*Primitive

// Register makes a primitive known to commands. A package calls it when it is initialised.
func Register(p *Primitive) { primitives = append(primitives, p) }

// Primitives returns the registered primitives.
func Primitives() []*Primitive { return primitives }

// Lookup returns the primitive of the given name, or nil.
func Lookup(name string) *Primitive {
	for _, p := range primitives {
		if p.Name == name {
			return p
		}
	}
	return nil
}
