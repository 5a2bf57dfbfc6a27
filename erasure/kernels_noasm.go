//go:build purego || !(amd64 || arm64)

package erasure

import "github.com/twogather/twogather/internal/kernel"

// Rows of the table.
const kernelGeneric = 0

var kernels = kernel.Table[funcs]{kernelGeneric: genericKernel}

func formOf(uint8) form { return form{plainEntries(), 1} }

func dotWith(_ uint8, p *pass, from, to int) { dotGeneric(p, from, to) }

func updateWith(_ uint8, outputs [][]byte, source []byte, entries *entry, from, to int) {
	updateGeneric(outputs, source, entries, from, to)
}

func addWith(_ uint8, output, source []byte, from, to int) { addGeneric(output, source, from, to) }

func updateOutputs(uint8) int { return maxOutputs }

func waysFor(uint8) int { return 0 }
