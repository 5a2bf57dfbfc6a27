//go:build !purego

package hwfeatures

import (
	"runtime"
	"testing"

	"golang.org/x/sys/cpu"
)

// Two readers of the same processor must agree wherever both have a word for it.
func TestNative(t *testing.T) {
	x := &cpu.X86
	for _, tt := range []struct {
		feature Set
		want    bool
	}{
		{IntelSSSE3, x.HasSSSE3},
		{IntelPCLMUL, x.HasPCLMULQDQ},
		{IntelBMI2, x.HasBMI1 && x.HasBMI2},
		{IntelAVX2, x.HasAVX && x.HasAVX2},
		{IntelAVX512, x.HasAVX512F && x.HasAVX512CD && x.HasAVX512BW && x.HasAVX512DQ && x.HasAVX512VL},
		{IntelAVX512VBMI, x.HasAVX512VBMI},
		// x/sys/cpu knows these with AVX-512 only.
		{IntelAVX512 | IntelGFNI, x.HasAVX512GFNI},
		{IntelAVX512 | IntelVAESVPCLMUL, x.HasAVX512VAES && x.HasAVX512VPCLMULQDQ},
	} {
		if runtime.GOOS == "darwin" && tt.feature&IntelAVX512 != 0 {
			continue // macOS enables AVX-512 on first use; XCR0 does not show it
		}
		if got := Detected().Has(tt.feature); got != tt.want {
			t.Errorf("%v: %v, x/sys/cpu says %v", tt.feature, got, tt.want)
		}
	}
	if CPU().Vendor == "" || CPU().Family == 0 {
		t.Errorf("processor %+v", CPU())
	}
	if foreign := ARMNEON | ARMAES | ARMPMULL | ARMSVE | ARMSVE2; Detected()&foreign != 0 {
		t.Errorf("detected %v", Detected())
	}
}

func BenchmarkDetect(b *testing.B) {
	for b.Loop() {
		detect()
	}
}
