// Package testkit holds the checks that every cipher and every kernel passes, and what they stand on.
//
// A check comes in two sizes, full and boundary, both in the one table of sizes.go. A kernel is checked wherever the
// processor can run it, whether or not it is the one selected: [Kernels] makes a subtest for each.
//
// Environment:
//   - TWOGATHER_TEST_SIZE=full, =boundary or =least overrules the choice of size.
//   - TWOGATHER_TEST_MUST_RUN=twofish=avx2-manual,twofish=avx2-vpgather lists kernels that the processor at hand has to
//     run: a subtest that would skip one of them fails.
//   - TWOGATHER_TEST_MUST_FIND=1 does the same for programs that tests look for, such as valgrind and gpg.
package testkit

import (
	"bytes"
	"crypto/sha3"
	"fmt"
	"testing"
)

// Random returns n bytes that look random and are always the same for a seed.
func Random(seed string, n int) []byte { return sha3.SumSHAKE128([]byte(seed), n) }

// MustPanic calls f, which has to panic with the given text and leave the buffers as they are.
func MustPanic(t testing.TB, text string, f func(), buffers ...[]byte) {
	t.Helper()
	before := make([][]byte, len(buffers))
	for i, b := range buffers {
		before[i] = bytes.Clone(b)
	}
	switch v := recovered(f); {
	case v == nil:
		t.Errorf("no panic; want %q", text)
	case fmt.Sprint(v) != text:
		t.Errorf("panic %q; want %q", fmt.Sprint(v), text)
	}
	for i, b := range buffers {
		if !bytes.Equal(b, before[i]) {
			t.Errorf("buffer %d was written to before the panic %q", i, text)
		}
	}
}

// recovered calls f and returns what it panics with.
func recovered(f func()) (v any) {
	defer func() { v = recover() }()
	f()
	return nil
}
