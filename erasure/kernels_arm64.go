//go:build !purego

package erasure

import (
	"github.com/twogather/twogather/hwfeatures"
	"github.com/twogather/twogather/internal/kernel"
)

// Rows of the table, for the switches below.
const (
	kernelSVE = iota
	kernelNEON
	kernelGeneric
)

// The order is that of instructions per byte of a source. Nobody has timed it yet; counted by bench-slope, for encoding with 1,
// 4 and 6 outputs and for updating as many:
//
//	sve, vectors of 128 bits  0.567, 1.421, 2.087  0.674, 1.893, 2.705
//	sve, of 256               0.284, 0.710, 1.079  0.338, 0.947, 1.354
//	neon                      0.485, 1.277, 2.022  0.533, 1.471, 2.096
var kernels = kernel.Table[funcs]{
	kernelSVE: {
		Name:     "sve",
		Requires: hwfeatures.ARMNEON | hwfeatures.ARMSVE,
		Prefers:  hwfeatures.SVEBeatsNEON,
		Batch:    64,
		Funcs:    funcs{dot: dotSVE, update: updateSVE, add: addSVE},
	},
	kernelNEON: {
		Name:     "neon",
		Requires: hwfeatures.ARMNEON,
		Batch:    64,
		Funcs:    funcs{dot: dotNEON, update: updateNEON, add: addNEON},
	},
	kernelGeneric: genericKernel,
}

// formOf returns what kernel k's entries look like.
func formOf(k uint8) form {
	if k == kernelGeneric {
		return form{plainEntries(), 1}
	}
	return form{nibbleEntries(), 32}
}

// dotWith, updateWith and addWith call kernel k's functions directly.

func dotWith(k uint8, p *pass, from, to int) {
	switch k {
	case kernelSVE:
		dotSVE(p, from, to)
	case kernelNEON:
		dotNEON(p, from, to)
	default:
		dotGeneric(p, from, to)
	}
}

func updateWith(k uint8, outputs [][]byte, source []byte, entries *entry, from, to int) {
	switch k {
	case kernelSVE:
		updateSVE(outputs, source, entries, from, to)
	case kernelNEON:
		updateNEON(outputs, source, entries, from, to)
	default:
		updateGeneric(outputs, source, entries, from, to)
	}
}

func addWith(k uint8, output, source []byte, from, to int) {
	switch k {
	case kernelSVE:
		addSVE(output, source, from, to)
	case kernelNEON:
		addNEON(output, source, from, to)
	default:
		addGeneric(output, source, from, to)
	}
}

// updateOutputs is how many outputs kernel k's update takes at most: their entries all stay in registers.
func updateOutputs(uint8) int { return maxOutputs }

func waysFor(uint8) int { return 0 }
