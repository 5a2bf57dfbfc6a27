//go:build !purego

package ghash

import (
	"github.com/twogather/twogather/hwfeatures"
	"github.com/twogather/twogather/internal/kernel"
)

// Rows of the table, for the switch below.
const (
	kernelPMULL = iota
	kernelGeneric
)

var kernels = kernel.Table[funcs]{
	kernelPMULL: {
		Name:         "pmull",
		Requires:     hwfeatures.ARMNEON | hwfeatures.ARMPMULL,
		Batch:        8,
		Funcs:        funcs{update: updatePMULL},
		ConstantTime: true,
	},
	kernelGeneric: genericKernel,
}

// updateWith calls kernel k's update directly.
func updateWith(k uint8, p *powers, y *[BlockSize]byte, data []byte) {
	if k == kernelPMULL {
		updatePMULL(p, y, data)
	} else {
		updateGeneric(p, y, data)
	}
}
