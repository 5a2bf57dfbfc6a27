//go:build !unix

package testkit

import (
	"bytes"
	"testing"
)

// GuardPages tells whether Guarded has pages that fault, and Inaccessible works.
const GuardPages = false

// Guarded returns memory of at least n bytes. There are no pages that fault here: bytes before and after it must be
// unchanged when the test ends.
func Guarded(t testing.TB, n int) []byte {
	const margin = 256
	canary := bytes.Repeat([]byte{0xc5}, margin)
	all := append(append(bytes.Clone(canary), make([]byte, n)...), canary...)
	t.Cleanup(func() {
		if !bytes.Equal(all[:margin], canary) || !bytes.Equal(all[margin+n:], canary) {
			t.Error("memory around a guarded buffer was written to")
		}
	})
	return all[margin : margin+n : margin+n]
}

// Inaccessible cannot do here what it does on Unix.
func Inaccessible(t testing.TB, pages []byte, f func()) { t.Skip("no guard pages on this system") }
