package erasure

import (
	"crypto/subtle"
	"encoding/binary"
	"unsafe"
)

// genericBlock is how much of the shards dotGeneric does at a time: the sums stay in the first cache.
const genericBlock = 4096

// dotGeneric does a pass. It parks sums in the outputs.
func dotGeneric(p *pass, begin, end int) {
	rows := products()
	dense := len(p.outputs) - p.sum // entries of a source
	entries := unsafe.Slice(p.entries, dense*p.sources.count)
	for from := begin; from < end; from += genericBlock {
		to := min(from+genericBlock, end)
		for i, out := range p.outputs {
			out = out[from:to]
			first := p.start == nil
			for _, source := range p.ones.all() {
				accumulate(out, source[from:to], &rows[1], first)
				first = false
			}
			for j, source := range p.sources.all() {
				c := byte(1)
				if i >= p.sum {
					c = entries[j*dense+i-p.sum]
				}
				accumulate(out, source[from:to], &rows[c], first)
				first = false
			}
		}
	}
}

// accumulate adds source, multiplied as row says, to out, or puts it there if it is the first.
func accumulate(out, source []byte, row *[256]byte, first bool) {
	switch {
	case first:
		multiply(out, source, row)
	case row[1] == 1:
		subtle.XORBytes(out, out, source)
	default:
		multiplyAdd(out, source, row)
	}
}

func updateGeneric(outputs [][]byte, source []byte, entries *entry, from, to int) {
	rows := products()
	for i, e := range unsafe.Slice(entries, len(outputs)) {
		if e[0] == 1 {
			addGeneric(outputs[i], source, from, to)
		} else {
			multiplyAdd(outputs[i][from:to], source[from:to], &rows[e[0]])
		}
	}
}

func addGeneric(output, source []byte, from, to int) {
	subtle.XORBytes(output[from:to], output[from:to], source[from:to])
}

// product multiplies eight bytes.
func product(x uint64, row *[256]byte) uint64 {
	return uint64(row[byte(x)]) | uint64(row[byte(x>>8)])<<8 | uint64(row[byte(x>>16)])<<16 | uint64(row[byte(x>>24)])<<24 |
		uint64(row[byte(x>>32)])<<32 | uint64(row[byte(x>>40)])<<40 | uint64(row[byte(x>>48)])<<48 | uint64(row[x>>56])<<56
}

func multiply(out, source []byte, row *[256]byte) {
	for ; len(source) >= 8 && len(out) >= 8; out, source = out[8:], source[8:] {
		binary.LittleEndian.PutUint64(out, product(binary.LittleEndian.Uint64(source), row))
	}
	for i, x := range source {
		out[i] = row[x]
	}
}

func multiplyAdd(out, source []byte, row *[256]byte) {
	for ; len(source) >= 8 && len(out) >= 8; out, source = out[8:], source[8:] {
		binary.LittleEndian.PutUint64(out, binary.LittleEndian.Uint64(out)^product(binary.LittleEndian.Uint64(source), row))
	}
	for i, x := range source {
		out[i] ^= row[x]
	}
}
