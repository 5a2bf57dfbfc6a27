package main

import (
	"fmt"
	"strings"
	"text/tabwriter"

	"github.com/twogather/twogather/internal/kernel"
)

// maxPlanned is the longest call that list --plan shows.
const maxPlanned = 200

// listPlans prints what each kernel takes of a call of 1 to maxPlanned units. Lengths that differ in the last kernel's part
// only are a line together.
func (s *session) listPlans() error {
	w := tabwriter.NewWriter(s.out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "primitive\tlength\tkernels")
	for _, p := range kernel.Primitives() {
		if p.Pieces == nil {
			fmt.Fprintf(w, "%s\tany\t%s\n", p.Name, strings.Join(p.Selected(s.features, s.constantTime), " "))
			continue
		}
		pieces := func(n int) []kernel.Piece { return p.Pieces(s.features, s.constantTime, n) }
		for from := 1; from <= maxPlanned; {
			first := pieces(from)
			to, last := from, first
			for to < maxPlanned && alike(first, pieces(to+1)) {
				to++
				last = pieces(to)
			}
			fmt.Fprintf(w, "%s\t%s\t%s\n", p.Name, span(from, to), describePieces(first, last))
			from = to + 1
		}
	}
	return w.Flush()
}

// alike reports whether two calls differ in how much the last kernel takes, and in nothing else.
func alike(a, b []kernel.Piece) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i].Kernel != b[i].Kernel || a[i].Padding == 0 != (b[i].Padding == 0) || i < len(a)-1 && a[i] != b[i] {
			return false
		}
	}
	return true
}

// describePieces writes the pieces of the calls from first to last, which are alike.
func describePieces(first, last []kernel.Piece) string {
	var parts []string
	for i, p := range first {
		part := p.Kernel + " " + span(p.Units, last[i].Units)
		if p.Padding > 0 {
			part += fmt.Sprintf(" padded to %d", p.Units+p.Padding)
		}
		parts = append(parts, part)
	}
	return strings.Join(parts, ", ")
}

func span(from, to int) string {
	if from == to {
		return fmt.Sprint(from)
	}
	return fmt.Sprintf("%d-%d", from, to)
}
