//go:build linux

package main

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
)

// tolerance is by how much of itself a count may grow.
const tolerance = 0.02

const recordedHead = `# What runs on emulated processors are compared with. Written by: make emulate-record
#
# PROCESSOR PRIMITIVE selects KERNEL...             the kernels that are chosen there, the widest first
# PROCESSOR PRIMITIVE KERNEL [OPERATION COUNT]...   instructions per byte; 2% more is a failure
`

// recorded is the file of recorded figures: what stands after the first two or three words of a line, by those words.
type recorded map[string]string

func readRecorded(name string) (recorded, error) {
	r := make(recorded)
	b, err := os.ReadFile(name)
	if os.IsNotExist(err) {
		return r, nil
	}
	for line := range strings.Lines(string(b)) {
		f := strings.Fields(line)
		if len(f) == 0 || f[0] == "#" {
			continue
		}
		if len(f) < 4 {
			return nil, fmt.Errorf("%s: %q", name, line)
		}
		r[strings.Join(f[:3], " ")] = strings.Join(f[3:], " ")
	}
	return r, err
}

// write puts processors in their table's order, kernels in theirs.
func (r recorded) write(name string, order map[string]int) error {
	keys := slices.SortedFunc(maps.Keys(r), func(a, b string) int {
		if order[a] != order[b] {
			return order[a] - order[b]
		}
		return strings.Compare(a, b)
	})
	var b strings.Builder
	b.WriteString(recordedHead)
	last := ""
	for _, k := range keys {
		f := strings.Fields(k)
		if f[0] != last {
			b.WriteString("\n")
			last = f[0]
		}
		fmt.Fprintf(&b, "%-11s %s %-18s %s\n", f[0], f[1], f[2], r[k])
	}
	if err := os.WriteFile(name+".new", []byte(b.String()), 0o644); err != nil {
		return err
	}
	return os.Rename(name+".new", name)
}

// formatCounts is the inverse of parseFigures.
func formatCounts(c map[string]float64) string {
	var s []string
	for _, op := range slices.Sorted(maps.Keys(c)) {
		s = append(s, fmt.Sprintf("%s %.3f", op, c[op]))
	}
	return strings.Join(s, " ")
}

func parseFigures(text string) (map[string]float64, error) {
	c := make(map[string]float64)
	f := strings.Fields(text)
	if len(f)%2 != 0 {
		return nil, fmt.Errorf("not pairs of an operation and a count: %q", text)
	}
	for ; len(f) > 0; f = f[2:] {
		v, err := strconv.ParseFloat(f[1], 64)
		if err != nil {
			return nil, err
		}
		c[f[0]] = v
	}
	return c, nil
}

const howToRecord = "if that is meant: make emulate-record, and commit emulate/recorded.txt"

// compareCounts says what is wrong with a kernel's counts, and what is only worth knowing.
func compareCounts(got map[string]float64, want string) (wrong, notes []string) {
	if want == "" {
		return []string{"its instructions are not recorded yet; " + howToRecord}, nil
	}
	figures, err := parseFigures(want)
	if err != nil {
		return []string{"emulate/recorded.txt: " + err.Error()}, nil
	}
	for _, op := range slices.Sorted(maps.Keys(got)) {
		g, w := got[op], figures[op]
		text := fmt.Sprintf("%s takes %.3f instructions a byte, recorded are %.3f (%+.1f%%); %s", op, g, w, 100*(g/w-1), howToRecord)
		switch {
		case w == 0:
			wrong = append(wrong, fmt.Sprintf("%s takes %.3f instructions a byte, and nothing is recorded; %s", op, g, howToRecord))
		case g > w*(1+tolerance):
			wrong = append(wrong, text)
		case g < w*(1-tolerance):
			notes = append(notes, text)
		}
	}
	for _, op := range slices.Sorted(maps.Keys(figures)) {
		if _, ok := got[op]; !ok {
			wrong = append(wrong, fmt.Sprintf("%s is recorded and was not counted; %s", op, howToRecord))
		}
	}
	return wrong, notes
}
