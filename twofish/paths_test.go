package twofish

import (
	"errors"
	"strings"
	"testing"

	"github.com/twogather/twogather/internal/testkit"
)

// TestPaths walks every function in assembly, whatever processor it is for. The constant-time ones come to their end, with
// every instruction on some way; tables show as secrets in addresses.
func TestPaths(t *testing.T) {
	functions := testkit.AssemblyFunctions(t)
	for _, row := range sourceRows(t) {
		if strings.HasPrefix(row.name, "generic") {
			continue // in Go
		}
		for _, name := range row.functions {
			f := functions[name]
			if f == nil {
				t.Errorf("%s: %s is not in assembly", row.name, name)
				continue
			}
			delete(functions, name)
			// The schedule, dst, src, the chain or none, and, for those that have it, the row before or none.
			for way := range uint64(4) {
				chain, before := way%2*4<<32, way/2*5<<32
				for batches := range uint64(2) {
					n := (1 + batches) * uint64(row.batch*BlockSize)
					steps, err := f.Walk(1<<32, 2<<32, n, n, 3<<32, n, n, chain, before)
					switch {
					case row.constantTime && err != nil:
						t.Errorf("%s: %v", name, err)
					case row.constantTime:
						t.Logf("%s: %d instructions for %d bytes (chain: %v, row: %v), no secret in an address or a branch", name, steps, n, chain != 0, before != 0)
					case !errors.Is(err, testkit.ErrSecret):
						t.Errorf("%s looks tables up, and after %d instructions the walk ends with: %v", name, steps, err)
					}
				}
			}
			if lines := f.Unvisited(); row.constantTime && len(lines) > 0 {
				t.Errorf("%s: not walked:\n%s", name, strings.Join(lines, "\n"))
			}
		}
	}
	// fillCountersAVX2(dst, hi, lo) serves all kernels.
	if f := functions["fillCountersAVX2"]; f == nil {
		t.Error("fillCountersAVX2 is missing")
	} else if _, err := f.Walk(1<<32, 1024, 1024, 5, 7); err != nil || f.Unvisited() != nil {
		t.Errorf("fillCountersAVX2: %v, without %q", err, f.Unvisited())
	}
	delete(functions, "fillCountersAVX2")
	for name := range functions {
		t.Errorf("%s is in assembly and not walked", name)
	}
}
