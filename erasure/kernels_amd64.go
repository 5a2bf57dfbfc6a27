//go:build !purego

package erasure

import (
	"github.com/twogather/twogather/hwfeatures"
	"github.com/twogather/twogather/internal/kernel"
)

// Rows of the table, for the switches below.
const (
	kernelGFNI512 = iota
	kernelGFNI
	kernelAVX512
	kernelAVX2
	kernelGeneric
)

var kernels = kernel.Table[funcs]{
	kernelGFNI512: {
		Name:     "avx512-gfni",
		Requires: hwfeatures.IntelAVX512 | hwfeatures.IntelGFNI,
		Batch:    128,
		Funcs:    funcs{dot: dotGFNI512, update: updateGFNI512, add: addAVX2},
	},
	kernelGFNI: {
		Name:     "avx2-gfni",
		Requires: hwfeatures.IntelAVX2 | hwfeatures.IntelGFNI,
		Batch:    64,
		Funcs:    funcs{dot: dotGFNI, update: updateGFNI, add: addAVX2},
	},
	kernelAVX512: {
		Name:     "avx512",
		Requires: hwfeatures.IntelAVX512,
		Batch:    128,
		Funcs:    funcs{dot: dotAVX512, update: updateAVX512, add: addAVX2},
	},
	kernelAVX2: {
		Name:     "avx2",
		Requires: hwfeatures.IntelAVX2,
		Batch:    64,
		Funcs:    funcs{dot: dotAVX2, update: updateAVX2, add: addAVX2},
	},
	kernelGeneric: genericKernel,
}

// formOf returns what kernel k's entries look like.
func formOf(k uint8) form {
	switch k {
	case kernelGFNI512:
		return form{matrixEntries(), 8}
	case kernelGFNI:
		return form{matrixEntries(), 32}
	case kernelAVX512, kernelAVX2:
		return form{nibbleEntries(), 32}
	default:
		return form{plainEntries(), 1}
	}
}

// dotWith, updateWith and addWith call kernel k's functions directly.

func dotWith(k uint8, p *pass, from, to int) {
	switch k {
	case kernelGFNI512:
		dotGFNI512(p, from, to)
	case kernelGFNI:
		dotGFNI(p, from, to)
	case kernelAVX512:
		dotAVX512(p, from, to)
	case kernelAVX2:
		dotAVX2(p, from, to)
	default:
		dotGeneric(p, from, to)
	}
}

func updateWith(k uint8, outputs [][]byte, source []byte, entries *entry, from, to int) {
	switch k {
	case kernelGFNI512:
		updateGFNI512(outputs, source, entries, from, to)
	case kernelGFNI:
		updateGFNI(outputs, source, entries, from, to)
	case kernelAVX512:
		updateAVX512(outputs, source, entries, from, to)
	case kernelAVX2:
		updateAVX2(outputs, source, entries, from, to)
	default:
		updateGeneric(outputs, source, entries, from, to)
	}
}

func addWith(k uint8, output, source []byte, from, to int) {
	if k == kernelGeneric {
		addGeneric(output, source, from, to)
		return
	}
	addAVX2(output, source, from, to)
}

// updateOutputs is how many outputs kernel k's update takes at most: as many as have their entries in registers. For six
// outputs of 32 KiB on Zen 3 (EPYC), avx2 does 54.6 to 59 GB/s of source and outputs by threes or fours, 38 to 40 where it
// loads entries at every step.
func updateOutputs(k uint8) int {
	if k == kernelAVX2 {
		return 4
	}
	return maxOutputs
}

// waysFor returns how many lines of a set a first-level cache is taken to hold, or 0 where it does not matter: where kernel k
// has not been measured.
func waysFor(k uint8) int {
	if k == kernelAVX2 {
		return 8
	}
	return 0
}
