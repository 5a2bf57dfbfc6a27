//go:build !purego

package hwfeatures

import "testing"

// Go itself needs Advanced SIMD on arm64.
func TestNative(t *testing.T) {
	if !Detected().Has(ARMNEON) {
		t.Errorf("detected %v", Detected())
	}
	if Detected()&everything != 0 || Detected()&Tunings()&^SVEBeatsNEON != 0 {
		t.Errorf("detected %v", Detected())
	}
	if !Detected().Has(ARMSVE) {
		if Detected().Has(SVEBeatsNEON) {
			t.Errorf("detected %v", Detected())
		}
	} else if n := vectorBytes(); n < 16 || n > 256 || n%16 != 0 || Detected().Has(SVEBeatsNEON) != (n > 16) {
		t.Errorf("detected %v with vectors of %d bytes", Detected(), n)
	}
}
