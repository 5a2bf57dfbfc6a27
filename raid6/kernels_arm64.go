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
	kernelNEONx8
	kernelNEONx4
	kernelNEONx2
	kernelNEONx1
	kernelGeneric
)

const (
	neon = hwfeatures.ARMNEON
	sve  = hwfeatures.ARMNEON | hwfeatures.ARMSVE
)

// Names are Linux's: x4 visits four vectors of each disk at a time. A scalable vector counts as the shortest one, 16 bytes.
// The order is that of instructions per byte of data. Nobody has timed it yet; counted in the assembly of P and Q, with 8 and
// with 96 disks:
//
//	                     svex4         svex2         svex1         neonx8        neonx4        neonx2        neonx1
//	vectors of 128 bits  0.445, 0.438  0.536, 0.502  0.625, 0.570  0.320, 0.317  0.359, 0.337  0.458, 0.395  0.656, 0.510
//	of 256               0.223, 0.219  0.268, 0.251  0.312, 0.286
//	of 512               0.111, 0.109  0.134, 0.126  0.156, 0.142
var kernels = kernel.Table[funcs]{
	kernelSVEx4: {Name: "svex4", Requires: sve, Prefers: hwfeatures.SVEBeatsNEON, Batch: 64, Funcs: funcs{
		syndromeSVEx4, xorSyndromeSVEx4, paritySVE, recoverDataSVE, recoverPSVE}},
	kernelSVEx2: {Name: "svex2", Requires: sve, Prefers: hwfeatures.SVEBeatsNEON, Batch: 32, Funcs: funcs{
		syndromeSVEx2, xorSyndromeSVEx2, paritySVE, recoverDataSVE, recoverPSVE}},
	kernelSVEx1: {Name: "svex1", Requires: sve, Prefers: hwfeatures.SVEBeatsNEON, Batch: 16, Funcs: funcs{
		syndromeSVEx1, xorSyndromeSVEx1, paritySVE, recoverDataSVE, recoverPSVE}},
	kernelNEONx8: {Name: "neonx8", Requires: neon, Batch: 128, Funcs: funcs{
		syndromeNEONx8, xorSyndromeNEONx8, parityNEON, recoverDataNEON, recoverPNEON}},
	kernelNEONx4: {Name: "neonx4", Requires: neon, Batch: 64, Funcs: funcs{
		syndromeNEONx4, xorSyndromeNEONx4, parityNEON, recoverDataNEON, recoverPNEON}},
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
	case kernelNEONx8:
		syndromeNEONx8(p, q, data, s)
	case kernelNEONx4:
		syndromeNEONx4(p, q, data, s)
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
	case kernelNEONx8:
		xorSyndromeNEONx8(p, q, data, s)
	case kernelNEONx4:
		xorSyndromeNEONx4(p, q, data, s)
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
	case kernelNEONx8, kernelNEONx4, kernelNEONx2, kernelNEONx1:
		parityNEON(p, data, s)
	default:
		parityGeneric(p, data, s)
	}
}

func recoverData(k int, x, y, p, q []byte, a, b *product) {
	switch k {
	case kernelSVEx4, kernelSVEx2, kernelSVEx1:
		recoverDataSVE(x, y, p, q, a, b)
	case kernelNEONx8, kernelNEONx4, kernelNEONx2, kernelNEONx1:
		recoverDataNEON(x, y, p, q, a, b)
	default:
		recoverDataGeneric(x, y, p, q, a, b)
	}
}

func recoverP(k int, x, p, q []byte, b *product) {
	switch k {
	case kernelSVEx4, kernelSVEx2, kernelSVEx1:
		recoverPSVE(x, p, q, b)
	case kernelNEONx8, kernelNEONx4, kernelNEONx2, kernelNEONx1:
		recoverPNEON(x, p, q, b)
	default:
		recoverPGeneric(x, p, q, b)
	}
}
