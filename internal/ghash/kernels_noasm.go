//go:build purego || !(amd64 || arm64)

package ghash

import "github.com/twogather/twogather/internal/kernel"

const kernelGeneric = 0

var kernels = kernel.Table[funcs]{kernelGeneric: genericKernel}

func updateWith(_ uint8, p *powers, y *[BlockSize]byte, data []byte) { updateGeneric(p, y, data) }
