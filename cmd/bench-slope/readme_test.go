package main

import (
	"os"
	"regexp"
	"runtime"
	"slices"
	"testing"

	"github.com/twogather/twogather/internal/kernel"
)

// specific are the kernels that only one architecture has.
var specific = map[string][]string{
	"amd64": {"avx2-vpgather", "avx2-manual", "avx2-manual-8", "amd64-scalar-bmi2", "amd64-scalar"},
	"arm64": {"neon-shuffle"},
}

// The README's table of kernels has a line for every kernel of every architecture. Those of the architecture at hand stand
// in the order of the table in the code.
func TestREADME(t *testing.T) {
	text, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	var listed []string
	for _, m := range regexp.MustCompile("(?m)^\\| `([a-z0-9-]+)` \\|").FindAllStringSubmatch(string(text), -1) {
		listed = append(listed, m[1])
	}
	for _, p := range kernel.Primitives() {
		if len(p.Kernels) == 1 {
			t.Skip("this build has no other kernels than generic")
		}
		var own []string
		for _, k := range p.Kernels {
			own = append(own, k.Name)
		}
		if here := append(slices.Clone(specific[runtime.GOARCH]), "generic"); !slices.Equal(own, here) {
			t.Errorf("the table of %s is %q, this test knows %q", p.Name, own, here)
		}
		got := listed
		for architecture, names := range specific {
			if architecture == runtime.GOARCH {
				continue
			}
			for _, name := range names {
				i := slices.Index(got, name)
				if i < 0 {
					t.Errorf("the README leaves %s of %s out", name, architecture)
					continue
				}
				got = slices.Delete(slices.Clone(got), i, i+1)
			}
		}
		if !slices.Equal(got, own) {
			t.Errorf("the README lists %q for %s, the table of %s %q", got, runtime.GOARCH, p.Name, own)
		}
	}
}
