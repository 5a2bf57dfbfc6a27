//go:build !purego

package ghash

import (
	"github.com/twogather/twogather/hwfeatures"
	"github.com/twogather/twogather/internal/kernel"
)

// Rows of the table, for the switch below.
const (
	kernelAVX512 = iota
	kernelAVX2
	kernelSSE
	kernelGeneric
)

var kernels = kernel.Table[funcs]{
	kernelAVX512: {
		Name:         "avx512-vpclmul",
		Requires:     hwfeatures.IntelAVX512 | hwfeatures.IntelVAESVPCLMUL,
		Batch:        32,
		Funcs:        funcs{update: updateAVX512},
		ConstantTime: true,
	},
	kernelAVX2: {
		Name:         "avx2-vpclmul",
		Requires:     hwfeatures.IntelAVX2 | hwfeatures.IntelVAESVPCLMUL,
		Batch:        16,
		Funcs:        funcs{update: updateAVX2},
		ConstantTime: true,
	},
	kernelSSE: {
		Name:         "pclmul",
		Requires:     hwfeatures.IntelPCLMUL | hwfeatures.IntelSSSE3,
		Batch:        8,
		Funcs:        funcs{update: updateSSE},
		ConstantTime: true,
	},
	kernelGeneric: genericKernel,
}

// updateWith calls kernel k's update directly.
func updateWith(k uint8, p *powers, y *[BlockSize]byte, data []byte) {
	switch k {
	case kernelAVX512:
		updateAVX512(p, y, data)
	case kernelAVX2:
		updateAVX2(p, y, data)
	case kernelSSE:
		updateSSE(p, y, data)
	default:
		updateGeneric(p, y, data)
	}
}
