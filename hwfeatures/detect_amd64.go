//go:build !purego

package hwfeatures

import "sync"

// marketingName is the brand. Each leaf costs some microseconds under a hypervisor, and selection does without these.
var marketingName = sync.OnceValue(func() string { return brand(cpuid) })

// detect asks the processor, and Linux where a row of the table wants its word.
func detect() (Set, Processor, tuningReasons) {
	s, p := decodeX86(cpuid, xgetbv)
	gds := ""
	if m := findModel(p); m != nil && m.exposed != nil {
		gds = gatherDataSampling()
	}
	t, r := tune(p, s, gds)
	return s | t, p, r
}
