package main

import (
	"os"
	"regexp"
	"slices"
	"testing"

	"github.com/twogather/twogather/internal/kernel"
)

// The README's table of kernels has this architecture's in the order of the table in the code, among those of others.
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
		here := slices.DeleteFunc(slices.Clone(listed), func(name string) bool { return !slices.Contains(own, name) })
		if !slices.Equal(here, own) {
			t.Errorf("the README lists %q, the table of %s is %q", here, p.Name, own)
		}
		if elsewhere := len(listed) - len(here); elsewhere == 0 {
			t.Errorf("the README lists no kernel of another architecture")
		}
	}
}
