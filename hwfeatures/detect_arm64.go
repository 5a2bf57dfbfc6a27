//go:build !purego

package hwfeatures

import "golang.org/x/sys/cpu"

func marketingName() string { return "" }

// detect takes the operating system's word: an arm64 processor does not let a user program ask.
func detect() (Set, Processor, tuningReasons) {
	var s Set
	for _, f := range [...]struct {
		feature Set
		present bool
	}{
		{ARMNEON, cpu.ARM64.HasASIMD},
		{ARMAES, cpu.ARM64.HasAES},
		{ARMPMULL, cpu.ARM64.HasPMULL},
		{ARMSVE, cpu.ARM64.HasSVE},
		{ARMSVE2, cpu.ARM64.HasSVE2},
	} {
		if f.present {
			s |= f.feature
		}
	}
	s = s.supported()
	length := 0
	if s.Has(ARMSVE) {
		length = vectorBytes()
	}
	tuned, why := tuneSVE(length)
	return s | tuned, Processor{}, why
}
