package twofish

import (
	"errors"
	"testing"

	"github.com/twogather/twogather/internal/testkit"
)

// TestPaths walks every kernel in assembly, whatever processor it is for. The ones that are constant-time come to their
// end; tables show as secrets in addresses.
func TestPaths(t *testing.T) {
	functions := testkit.AssemblyFunctions(t)
	walked := 0
	for _, row := range sourceRows(t) {
		for _, name := range row.functions {
			f := functions[name]
			if f == nil {
				continue // in Go
			}
			walked++
			for _, chain := range []bool{false, true} {
				// The schedule, dst, src and the chain; several batches of each.
				const n = 320 * BlockSize
				args := []uint64{0x1_0000_0000, 0x2_0000_0000, n, n, 0x3_0000_0000, n, n, 0}
				if chain {
					args[7] = 0x4_0000_0000
				}
				steps, err := f.Walk(args...)
				switch {
				case row.constantTime && err != nil:
					t.Errorf("%s: %v", name, err)
				case row.constantTime:
					t.Logf("%s: %d instructions, no secret in an address or a branch (chain: %v)", name, steps, chain)
				case !errors.Is(err, testkit.ErrSecret):
					t.Errorf("%s looks tables up, and after %d instructions the walk ends with: %v", name, steps, err)
				}
			}
		}
	}
	if walked < 10 {
		t.Errorf("%d functions in assembly", walked)
	}
}
