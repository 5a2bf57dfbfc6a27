//go:build !purego

package raid6

import (
	"github.com/twogather/twogather/hwfeatures"
	"github.com/twogather/twogather/internal/kernel"
)

// Rows of the table, for the switches below.
const (
	kernelAVX512GFNIx4 = iota
	kernelAVX512GFNIx2
	kernelAVX512GFNIx1
	kernelAVX512x4
	kernelAVX512x2
	kernelAVX512x1
	kernelAVX2GFNIx4
	kernelAVX2GFNIx2
	kernelAVX2GFNIx1
	kernelAVX2x4
	kernelAVX2x2
	kernelAVX2x1
	kernelGeneric
)

const (
	avx2       = hwfeatures.IntelAVX2
	avx2GFNI   = hwfeatures.IntelAVX2 | hwfeatures.IntelGFNI
	avx512     = hwfeatures.IntelAVX512
	avx512GFNI = hwfeatures.IntelAVX512 | hwfeatures.IntelGFNI
)

// Names are Linux's: x4 visits four vectors of each disk at a time. Those with GFNI are called as package erasure's are.
var kernels = kernel.Table[funcs]{
	kernelAVX512GFNIx4: {Name: "avx512-gfnix4", Requires: avx512GFNI, Batch: 256, Funcs: funcs{
		syndromeAVX512GFNIx4, xorSyndromeAVX512GFNIx4, parityAVX512, recoverDataAVX512GFNI, recoverPAVX512GFNI}},
	kernelAVX512GFNIx2: {Name: "avx512-gfnix2", Requires: avx512GFNI, Batch: 128, Funcs: funcs{
		syndromeAVX512GFNIx2, xorSyndromeAVX512GFNIx2, parityAVX512, recoverDataAVX512GFNI, recoverPAVX512GFNI}},
	kernelAVX512GFNIx1: {Name: "avx512-gfnix1", Requires: avx512GFNI, Batch: 64, Funcs: funcs{
		syndromeAVX512GFNIx1, xorSyndromeAVX512GFNIx1, parityAVX512, recoverDataAVX512GFNI, recoverPAVX512GFNI}},
	kernelAVX512x4: {Name: "avx512x4", Requires: avx512, Batch: 256, Funcs: funcs{
		syndromeAVX512x4, xorSyndromeAVX512x4, parityAVX512, recoverDataAVX512, recoverPAVX512}},
	kernelAVX512x2: {Name: "avx512x2", Requires: avx512, Batch: 128, Funcs: funcs{
		syndromeAVX512x2, xorSyndromeAVX512x2, parityAVX512, recoverDataAVX512, recoverPAVX512}},
	kernelAVX512x1: {Name: "avx512x1", Requires: avx512, Batch: 64, Funcs: funcs{
		syndromeAVX512x1, xorSyndromeAVX512x1, parityAVX512, recoverDataAVX512, recoverPAVX512}},
	kernelAVX2GFNIx4: {Name: "avx2-gfnix4", Requires: avx2GFNI, Batch: 128, Funcs: funcs{
		syndromeAVX2GFNIx4, xorSyndromeAVX2GFNIx4, parityAVX2, recoverDataAVX2GFNI, recoverPAVX2GFNI}},
	kernelAVX2GFNIx2: {Name: "avx2-gfnix2", Requires: avx2GFNI, Batch: 64, Funcs: funcs{
		syndromeAVX2GFNIx2, xorSyndromeAVX2GFNIx2, parityAVX2, recoverDataAVX2GFNI, recoverPAVX2GFNI}},
	kernelAVX2GFNIx1: {Name: "avx2-gfnix1", Requires: avx2GFNI, Batch: 32, Funcs: funcs{
		syndromeAVX2GFNIx1, xorSyndromeAVX2GFNIx1, parityAVX2, recoverDataAVX2GFNI, recoverPAVX2GFNI}},
	kernelAVX2x4: {Name: "avx2x4", Requires: avx2, Batch: 128, Funcs: funcs{
		syndromeAVX2x4, xorSyndromeAVX2x4, parityAVX2, recoverDataAVX2, recoverPAVX2}},
	kernelAVX2x2: {Name: "avx2x2", Requires: avx2, Batch: 64, Funcs: funcs{
		syndromeAVX2x2, xorSyndromeAVX2x2, parityAVX2, recoverDataAVX2, recoverPAVX2}},
	kernelAVX2x1: {Name: "avx2x1", Requires: avx2, Batch: 32, Funcs: funcs{
		syndromeAVX2x1, xorSyndromeAVX2x1, parityAVX2, recoverDataAVX2, recoverPAVX2}},
	kernelGeneric: genericKernel,
}

// Each of the following calls kernel k's function of its name directly.

func syndrome(k int, p, q []byte, data [][]byte, s *step) {
	switch k {
	case kernelAVX512GFNIx4:
		syndromeAVX512GFNIx4(p, q, data, s)
	case kernelAVX512GFNIx2:
		syndromeAVX512GFNIx2(p, q, data, s)
	case kernelAVX512GFNIx1:
		syndromeAVX512GFNIx1(p, q, data, s)
	case kernelAVX512x4:
		syndromeAVX512x4(p, q, data, s)
	case kernelAVX512x2:
		syndromeAVX512x2(p, q, data, s)
	case kernelAVX512x1:
		syndromeAVX512x1(p, q, data, s)
	case kernelAVX2GFNIx4:
		syndromeAVX2GFNIx4(p, q, data, s)
	case kernelAVX2GFNIx2:
		syndromeAVX2GFNIx2(p, q, data, s)
	case kernelAVX2GFNIx1:
		syndromeAVX2GFNIx1(p, q, data, s)
	case kernelAVX2x4:
		syndromeAVX2x4(p, q, data, s)
	case kernelAVX2x2:
		syndromeAVX2x2(p, q, data, s)
	case kernelAVX2x1:
		syndromeAVX2x1(p, q, data, s)
	default:
		syndromeGeneric(p, q, data, s)
	}
}

func xorSyndrome(k int, p, q []byte, data [][]byte, s *step) {
	switch k {
	case kernelAVX512GFNIx4:
		xorSyndromeAVX512GFNIx4(p, q, data, s)
	case kernelAVX512GFNIx2:
		xorSyndromeAVX512GFNIx2(p, q, data, s)
	case kernelAVX512GFNIx1:
		xorSyndromeAVX512GFNIx1(p, q, data, s)
	case kernelAVX512x4:
		xorSyndromeAVX512x4(p, q, data, s)
	case kernelAVX512x2:
		xorSyndromeAVX512x2(p, q, data, s)
	case kernelAVX512x1:
		xorSyndromeAVX512x1(p, q, data, s)
	case kernelAVX2GFNIx4:
		xorSyndromeAVX2GFNIx4(p, q, data, s)
	case kernelAVX2GFNIx2:
		xorSyndromeAVX2GFNIx2(p, q, data, s)
	case kernelAVX2GFNIx1:
		xorSyndromeAVX2GFNIx1(p, q, data, s)
	case kernelAVX2x4:
		xorSyndromeAVX2x4(p, q, data, s)
	case kernelAVX2x2:
		xorSyndromeAVX2x2(p, q, data, s)
	case kernelAVX2x1:
		xorSyndromeAVX2x1(p, q, data, s)
	default:
		xorSyndromeGeneric(p, q, data, s)
	}
}

func parity(k int, p []byte, data [][]byte, s *step) {
	switch k {
	case kernelAVX512GFNIx4, kernelAVX512GFNIx2, kernelAVX512GFNIx1, kernelAVX512x4, kernelAVX512x2, kernelAVX512x1:
		parityAVX512(p, data, s)
	case kernelAVX2GFNIx4, kernelAVX2GFNIx2, kernelAVX2GFNIx1, kernelAVX2x4, kernelAVX2x2, kernelAVX2x1:
		parityAVX2(p, data, s)
	default:
		parityGeneric(p, data, s)
	}
}

func recoverData(k int, x, y, p, q []byte, a, b *product) {
	switch k {
	case kernelAVX512GFNIx4, kernelAVX512GFNIx2, kernelAVX512GFNIx1:
		recoverDataAVX512GFNI(x, y, p, q, a, b)
	case kernelAVX512x4, kernelAVX512x2, kernelAVX512x1:
		recoverDataAVX512(x, y, p, q, a, b)
	case kernelAVX2GFNIx4, kernelAVX2GFNIx2, kernelAVX2GFNIx1:
		recoverDataAVX2GFNI(x, y, p, q, a, b)
	case kernelAVX2x4, kernelAVX2x2, kernelAVX2x1:
		recoverDataAVX2(x, y, p, q, a, b)
	default:
		recoverDataGeneric(x, y, p, q, a, b)
	}
}

func recoverP(k int, x, p, q []byte, b *product) {
	switch k {
	case kernelAVX512GFNIx4, kernelAVX512GFNIx2, kernelAVX512GFNIx1:
		recoverPAVX512GFNI(x, p, q, b)
	case kernelAVX512x4, kernelAVX512x2, kernelAVX512x1:
		recoverPAVX512(x, p, q, b)
	case kernelAVX2GFNIx4, kernelAVX2GFNIx2, kernelAVX2GFNIx1:
		recoverPAVX2GFNI(x, p, q, b)
	case kernelAVX2x4, kernelAVX2x2, kernelAVX2x1:
		recoverPAVX2(x, p, q, b)
	default:
		recoverPGeneric(x, p, q, b)
	}
}
