package modes

import (
	"strings"
	"testing"

	"github.com/twogather/twogather/internal/testkit"
)

// TestPaths walks the functions in assembly: no address and no branch depends on what memory holds, tweaks and offsets
// among it. Block numbers are public.
func TestPaths(t *testing.T) {
	const n = 5 * 128
	functions := testkit.AssemblyFunctions(t)
	for name, args := range map[string][]uint64{
		"xorAVX2":         {1 << 32, n, n, 2 << 32, n, n, 3 << 32, n, n},
		"foldAVX2":        {1 << 32, 2 << 32, n, n},
		"fillTweaksAVX2":  {1 << 32, n, n, 2 << 32},
		"fillOffsetsAVX2": {1 << 32, n, n, 2 << 32, 3 << 32, 4 << 32, 8},
		"prefetchSSE":     {1 << 32, n, n},
		"collectAVX2":     {1 << 32, 9*80 + 32, 9*80 + 32, 2 << 32, 160, 160, 3 << 32, 160, 160, 80},
		"distributeAVX2":  {1 << 32, 160, 160, 2 << 32, 160, 160, 3 << 32, 9*80 + 32, 9*80 + 32, 80},
	} {
		f := functions[name]
		if f == nil {
			t.Errorf("%s is not in assembly", name)
			continue
		}
		delete(functions, name)
		if steps, err := f.Walk(args...); err != nil {
			t.Errorf("%s, after %d instructions: %v", name, steps, err)
		} else if lines := f.Unvisited(); len(lines) > 0 {
			t.Errorf("%s: not walked:\n%s", name, strings.Join(lines, "\n"))
		}
	}
	for name := range functions {
		t.Errorf("%s is in assembly and not walked", name)
	}
}
