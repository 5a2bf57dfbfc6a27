package main

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/twogather/twogather/hwfeatures"
	"github.com/twogather/twogather/internal/kernel"
)

// atSpan reads "7" or "3-9" and returns the number i places on, where there are several.
func atSpan(t *testing.T, text string, i int) int {
	t.Helper()
	from, to, several := strings.Cut(text, "-")
	a, err := strconv.Atoi(from)
	if err != nil {
		t.Fatalf("%q is no length", text)
	}
	if several {
		if b, err := strconv.Atoi(to); err != nil || a+i > b {
			t.Fatalf("%q has no number %d", text, i)
		}
		return a + i
	}
	return a
}

// TestListPlan reads the lines back: for each length they say what the primitive says.
func TestListPlan(t *testing.T) {
	for _, args := range [][]string{nil, {"--constant-time"}, {"--disable-hwf", commas(hwfeatures.Capabilities())}} {
		features := hwfeatures.Enabled()
		if len(args) == 2 {
			features = 0
		}
		lines := strings.Split(strings.TrimSuffix(mustCall(t, append([]string{"list", "--plan"}, args...)...), "\n"), "\n")
		if got := strings.Fields(lines[0]); !slices.Equal(got, []string{"primitive", "length", "kernels"}) {
			t.Errorf("%v: header %q", args, got)
		}
		p := kernel.Lookup("twofish")
		next := 1
		for _, line := range lines[1:] {
			fields := strings.Fields(line)
			if fields[0] != p.Name {
				continue
			}
			rest := strings.TrimSpace(line[strings.Index(line, fields[1])+len(fields[1]):])
			from := next
			last := fields[1][strings.LastIndexByte(fields[1], '-')+1:]
			for ; fmt.Sprint(next-1) != last; next++ {
				if atSpan(t, fields[1], next-from) != next {
					t.Fatalf("%v: line %q after %d", args, line, next-1)
				}
				var got []kernel.Piece
				for part := range strings.SplitSeq(rest, ", ") {
					f := strings.Fields(part)
					piece := kernel.Piece{Kernel: f[0], Units: atSpan(t, f[1], next-from)}
					if len(f) > 2 {
						piece.Padding = atSpan(t, f[4], 0) - piece.Units
					}
					got = append(got, piece)
				}
				if want := p.Pieces(features, slices.Contains(args, "--constant-time"), next); !slices.Equal(got, want) {
					t.Errorf("%v: %d units: %v, want %v", args, next, got, want)
				}
			}
		}
		if next != maxPlanned+1 {
			t.Errorf("%v: the lines end before %d", args, next)
		}
	}
}

// A primitive without pieces has a line with its kernels.
func TestListPlanWithoutPieces(t *testing.T) {
	p := kernel.Lookup("twofish")
	defer func(f func(hwfeatures.Set, bool, int) []kernel.Piece) { p.Pieces = f }(p.Pieces)
	p.Pieces = nil
	want := append([]string{"twofish", "any"}, p.Selected(hwfeatures.Enabled(), false)...)
	for line := range strings.Lines(mustCall(t, "list", "--plan")) {
		if got := strings.Fields(line); got[0] == p.Name {
			if !slices.Equal(got, want) {
				t.Errorf("%q, want %q", got, want)
			}
			return
		}
	}
	t.Error("no line")
}
