//go:build !purego

package modes

import "github.com/twogather/twogather/hwfeatures"

// Passes over memory around a wide kernel would take longer than the kernel leaves time for. Each of these does the first
// part of its work, whole steps of 128 bytes, and returns how many bytes that is.

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
