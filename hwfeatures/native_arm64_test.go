//go:build !purego

package hwfeatures

import "testing"

// Go itself needs Advanced SIMD on arm64.
func TestNative(t *testing.T) {
	if !Detected().Has(ARMNEON) {
		t.Errorf("detected %v", Detected())
	}
	if Detected()&everything != 0 || Detected()&Tunings() != 0 {
		t.Errorf("detected %v", Detected())
	}
}
