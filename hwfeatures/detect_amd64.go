//go:build !purego

package hwfeatures

import (
	"os"
	"runtime"
)

// detect asks the processor, and Linux where a row of the table wants its word.
func detect() (Set, Processor, tuningReasons) {
	s, p := decodeX86(cpuid, xgetbv)
	gds := ""
	if m := findModel(p); m != nil && m.exposed != nil && runtime.GOOS == "linux" {
		// A file that is missing, as on old kernels, counts as silence.
		b, _ := os.ReadFile("/sys/devices/system/cpu/vulnerabilities/gather_data_sampling")
		gds = string(b)
	}
	t, r := tune(p, s, gds)
	return s | t, p, r
}
