//go:build purego || !(amd64 || arm64)

package raid6

import "github.com/twogather/twogather/internal/kernel"

// Rows of the table.
const kernelGeneric = 0

var kernels = kernel.Table[funcs]{kernelGeneric: genericKernel}

func syndrome(_ int, p, q []byte, data [][]byte, s *step)    { syndromeGeneric(p, q, data, s) }
func xorSyndrome(_ int, p, q []byte, data [][]byte, s *step) { xorSyndromeGeneric(p, q, data, s) }
func parity(_ int, p []byte, data [][]byte, s *step)         { parityGeneric(p, data, s) }
func recoverData(_ int, x, y, p, q []byte, a, b *product)    { recoverDataGeneric(x, y, p, q, a, b) }
func recoverP(_ int, x, p, q []byte, b *product)             { recoverPGeneric(x, p, q, b) }
