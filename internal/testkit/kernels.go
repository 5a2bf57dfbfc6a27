package testkit

import (
	"os"
	"strings"
	"testing"

	"github.com/twogather/twogather/hwfeatures"
	"github.com/twogather/twogather/internal/kernel"
)

// Kernels runs f as a subtest for each row of a primitive's table, by the kernel's name. Where the processor lacks what
// a kernel requires the subtest is skipped, unless TWOGATHER_TEST_MUST_RUN names it. A kernel that it has, and that f
// skips, is a failure.
func Kernels[F any](t *testing.T, primitive string, table kernel.Table[F], f func(t *testing.T, i int)) {
	t.Helper()
	must := make(map[string]bool)
	for item := range strings.SplitSeq(os.Getenv("TWOGATHER_TEST_MUST_RUN"), ",") {
		if p, name, _ := strings.Cut(strings.TrimSpace(item), "="); p == primitive {
			if must[name] = true; table.Index(name) < 0 {
				t.Errorf("TWOGATHER_TEST_MUST_RUN: %s has no kernel %q", primitive, name)
			}
		}
	}
	for i := range table {
		t.Run(table[i].Name, func(t *testing.T) {
			if missing := table[i].Requires &^ hwfeatures.Detected(); missing != 0 {
				if must[table[i].Name] {
					t.Fatalf("has to run, and the processor lacks %v", missing)
				}
				t.Skipf("the processor lacks %v", missing)
			}
			defer func() {
				if t.Skipped() {
					t.Error("skipped, though the processor can run it")
				}
			}()
			f(t, i)
		})
	}
}
