//go:build !purego

package hwfeatures

import (
	"os"
	"strings"
	"testing"
)

// TestOff is for an emulated processor whose CPUID announces what its operating system does not enable: features that
// TWOGATHER_TEST_OFF lists. They must not be seen, and would be if CPUID alone were asked.
func TestOff(t *testing.T) {
	value := os.Getenv("TWOGATHER_TEST_OFF")
	if value == "" {
		t.Skip("TWOGATHER_TEST_OFF is not set")
	}
	announced, _ := decodeX86(cpuid, func() uint64 { return ^uint64(0) })
	for name := range strings.SplitSeq(value, ",") {
		f, err := Parse(name)
		if err != nil {
			t.Fatal(err)
		}
		if !announced.Has(f) {
			t.Errorf("CPUID does not announce %v: this processor is no contradiction", f)
		}
		if Detected().Has(f) {
			t.Errorf("%v is detected, though the operating system does not enable its registers", f)
		}
	}
}
