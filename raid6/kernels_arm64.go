//go:build !purego

package raid6

import (
	"github.com/twogather/twogather/hwfeatures"
	"github.com/twogather/twogather/internal/kernel"
)

// Rows of the table, for the switches below.
const (
	kernelSVEx4 = iota
	kernelSVEx2
	kernelSVEx1
	kernelNEONx4
	kernelNEONx8
	kernelNEONx2
	kernelNEONx1
	kernelGeneric
)

const (
	neon = hwfeatures.ARMNEON
	sve  = hwfeatures.ARMNEON | hwfeatures.ARMSVE
)

// Names are Linux's: x4 visits four vectors of each disk at a time. A scalable vector counts as the shortest one, 16 bytes.
var kernels = kernel.Table[funcs]{
	kernelSVEx4: {Name: "svex4", Requires: sve, Prefers: hwfeatures.SVEBeatsNEON, Batch: 64, Funcs: funcs{
		syndromeSVEx4, xorSyndromeSVEx4, paritySVE, recoverDataSVE, recoverPSVE}},
	kernelSVEx2: {Name: "svex2", Requires: sve, Prefers: hwfeatures.SVEBeatsNEON, Batch: 32, Funcs: funcs{
		syndromeSVEx2, xorSyndromeSVEx2, paritySVE, recoverDataSVE, recoverPSVE}},
	kernelSVEx1: {Name: "svex1", Requires: sve, Prefers: hwfeatures.SVEBeatsNEON, Batch: 16, Funcs: funcs{
		syndromeSVEx1, xorSyndromeSVEx1, paritySVE, recoverDataSVE, recoverPSVE}},
	kernelNEONx4: {Name: "neonx4", Requires: neon, Batch: 64, Funcs: funcs{
		syndromeNEONx4, xorSyndromeNEONx4, parityNEON, recoverDataNEON, recoverPNEON}},
	kernelNEONx8: {Name: "neonx8", Requires: neon, Batch: 128, Funcs: funcs{
		syndromeNEONx8, xorSyndromeNEONx8, parityNEON, recoverDataNEON, recoverPNEON}},
	kernelNEONx2: {Name: "neonx2", Requires: neon, Batch: 32, Funcs: funcs{
		syndromeNEONx2, xorSyndromeNEONx2, parityNEON, recoverDataNEON, recoverPNEON}},
	kernelNEONx1: {Name: "neonx1", Requires: neon, Batch: 16, Funcs: funcs{
		syndromeNEONx1, xorSyndromeNEONx1, parityNEON, recoverDataNEON, recoverPNEON}},
	kernelGeneric: genericKernel,
}

// Each of the following calls kernel k's function of its name directly.

func syndrome(k int, p, q []byte, data [][]byte, s *step) {
	switch k {
	case kernelSVEx4:
		syndromeSVEx4(p, q, data, s)
	case kernelSVEx2:
		syndromeSVEx2(p, q, data, s)
	case kernelSVEx1:
		syndromeSVEx1(p, q, data, s)
	case kernelNEONx4:
		syndromeNEONx4(p, q, data, s)
	case kernelNEONx8:
		syndromeNEONx8(p, q, data, s)
	case kernelNEONx2:
		syndromeNEONx2(p, q, data, s)
	case kernelNEONx1:
		syndromeNEONx1(p, q, data, s)
	default:
		syndromeGeneric(p, q, data, s)
	}
}

func xorSyndrome(k int, p, q []byte, data [][]byte, s *step) {
	switch k {
	case kernelSVEx4:
		xorSyndromeSVEx4(p, q, data, s)
	case kernelSVEx2:
		xorSyndromeSVEx2(p, q, data, s)
	case kernelSVEx1:
		xorSyndromeSVEx1(p, q, data, s)
	case kernelNEONx4:
		xorSyndromeNEONx4(p, q, data, s)
	case kernelNEONx8:
		xorSyndromeNEONx8(p, q, data, s)
	case kernelNEONx2:
		xorSyndromeNEONx2(p, q, data, s)
	case kernelNEONx1:
		xorSyndromeNEONx1(p, q, data, s)
	default:
		xorSyndromeGeneric(p, q, data, s)
	}
}

func parity(k int, p []byte, data [][]byte, s *step) {
	switch k {
	case kernelSVEx4, kernelSVEx2, kernelSVEx1:
		paritySVE(p, data, s)
	case kernelNEONx4, kernelNEONx8, kernelNEONx2, kernelNEONx1:
		parityNEON(p, data, s)
	default:
		parityGeneric(p, data, s)
	}
}

func recoverData(k int, x, y, p, q []byte, a, b *product) {
	switch k {
	case kernelSVEx4, kernelSVEx2, kernelSVEx1:
		recoverDataSVE(x, y, p, q, a, b)
	case kernelNEONx4, kernelNEONx8, kernelNEONx2, kernelNEONx1:
		recoverDataNEON(x, y, p, q, a, b)
	default:
		recoverDataGeneric(x, y, p, q, a, b)
	}
}

func recoverP(k int, x, p, q []byte, b *product) {
	switch k {
	case kernelSVEx4, kernelSVEx2, kernelSVEx1:
		recoverPSVE(x, p, q, b)
	case kernelNEONx4, kernelNEONx8, kernelNEONx2, kernelNEONx1:
		recoverPNEON(x, p, q, b)
	default:
		recoverPGeneric(x, p, q, b)
	}
}
