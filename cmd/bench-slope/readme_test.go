package main

import (
	"os"
	"regexp"
	"slices"
	"testing"

	"github.com/twogather/twogather/internal/kernel"
)

// The README's tables of kernels have a line for every kernel, in the order of the tables in the code.
func TestREADME(t *testing.T) {
	text, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, m := range regexp.MustCompile("(?m)^\\| `([a-z0-9-]+)` \\|").FindAllStringSubmatch(string(text), -1) {
		got = append(got, m[1])
	}
	for _, p := range kernel.Primitives() {
		if len(p.Kernels) == 1 {
			t.Skip("this build has no other kernels than generic")
		}
		var want []string
		for _, k := range p.Kernels {
			want = append(want, k.Name)
		}
		if !slices.Equal(got, want) {
			t.Errorf("the README lists %q, the table of %s %q", got, p.Name, want)
		}
	}
}
