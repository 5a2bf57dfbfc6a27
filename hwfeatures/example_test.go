package hwfeatures_test

import (
	"fmt"

	"github.com/twogather/twogather/hwfeatures"
)

func Example() {
	// What a kernel needs, and what this process may use.
	requires := hwfeatures.IntelAVX2 | hwfeatures.IntelGFNI
	kernel := "generic"
	if hwfeatures.Enabled().Has(requires) {
		kernel = "avx2-gfni"
	}
	_ = kernel // differs from processor to processor, so it is not part of the output below

	fmt.Println("needs", requires)
	for f := range requires.All() {
		fmt.Println(f, "is a capability:", hwfeatures.Capabilities().Has(f))
	}

	f, err := hwfeatures.Parse("intel-fast-vpgather")
	fmt.Println(f, "is a tuning:", hwfeatures.Tunings().Has(f), err)

	// Output:
	// needs intel-avx2 intel-gfni
	// intel-avx2 is a capability: true
	// intel-gfni is a capability: true
	// intel-fast-vpgather is a tuning: true <nil>
}
