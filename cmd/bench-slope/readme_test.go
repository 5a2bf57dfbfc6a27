package main

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/twogather/twogather/internal/kernel"
)

// The README has a table of each primitive's kernels, with this architecture's in the order of the table in the code.
func TestREADME(t *testing.T) {
	text, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range kernel.Primitives() {
		if len(p.Kernels) == 1 {
			continue // this build has no other kernels than generic
		}
		_, table, ok := strings.Cut(string(text), "\n| "+p.Name+" kernel |")
		if !ok {
			t.Errorf("the README has no table of %s's kernels", p.Name)
			continue
		}
		table, _, _ = strings.Cut(table, "\n\n")
		var listed, own []string
		for _, m := range regexp.MustCompile("(?m)^\\| `([a-z0-9-]+)` \\|").FindAllStringSubmatch(table, -1) {
			listed = append(listed, m[1])
		}
		for _, k := range p.Kernels {
			own = append(own, k.Name)
		}
		here := slices.DeleteFunc(slices.Clone(listed), func(name string) bool { return !slices.Contains(own, name) })
		if !slices.Equal(here, own) {
			t.Errorf("the README lists %q, the table of %s is %q", here, p.Name, own)
		}
		if p.Name == "twofish" && len(listed) == len(here) {
			t.Errorf("the README lists no kernel of another architecture")
		}
	}
}
