//go:build !purego

package modes

import "github.com/twogather/twogather/hwfeatures"

// Passes over memory around a wide kernel would take longer than the kernel leaves time for. Each of these does the first
// part of its work and returns how much that is: how many bytes, in whole steps of 128, unless something else is said.

var hasAVX2 = hwfeatures.Enabled().Has(hwfeatures.IntelAVX2)

// steps is how many of n bytes are whole steps.
func steps(n int) int {
	if !hasAVX2 {
		return 0
	}
	return n &^ 127
}

func xorSteps(dst, x, y []byte) int {
	n := steps(len(x))
	if n > 0 {
		xorAVX2(dst[:n], x[:n], y[:n])
	}
	return n
}

func foldSteps(sum *word128, b []byte) int {
	n := steps(len(b))
	if n > 0 {
		foldAVX2(sum, b[:n])
	}
	return n
}

func fillTweaksSteps(masks []byte, t *tweak) int {
	n := steps(len(masks))
	if n > 0 {
		fillTweaksAVX2(masks[:n], t)
	}
	return n
}

func fillOffsetsSteps(offsets []byte, first, l, offset *word128, i uint64) int {
	n := steps(len(offsets))
	if n > 0 {
		fillOffsetsAVX2(offsets[:n], first, l, offset, i)
	}
	return n
}

// collectSteps copies the first blocks of a and b, at most as many as there are steps, to rows that are row bytes apart, and
// distributeSteps copies them back. Both return how many blocks of each that is.

func collectSteps(rows, a, b []byte, steps, row int) int {
	n := blocksOfBoth(a, b, steps)
	if n > 0 {
		collectAVX2(rows[:(n-1)*row+32], a[:n*16], b[:n*16], row)
	}
	return n
}

func distributeSteps(a, b, rows []byte, steps, row int) int {
	n := blocksOfBoth(a, b, steps)
	if n > 0 {
		distributeAVX2(a[:n*16], b[:n*16], rows[:(n-1)*row+32], row)
	}
	return n
}

func blocksOfBoth(a, b []byte, most int) int {
	if !hasAVX2 {
		return 0
	}
	return min(len(a)/16, len(b)/16, most)
}

// prefetch has memory that will be of use after the next call to a wide kernel brought to the cache: what comes behind the
// first n bytes of dst and src.
func prefetch(dst, src []byte, n int) {
	next := src[n:min(2*n, len(src))]
	if steps(len(next)) == 0 {
		return
	}
	prefetchSSE(next[:steps(len(next))])
	if &dst[0] != &src[0] {
		prefetchSSE(dst[n:][:steps(len(next))])
	}
}
