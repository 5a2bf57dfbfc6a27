package main

import (
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
)

// A reporter prints a section of figures: a group for each algorithm and choice of kernels, a row for each operation.
type reporter interface {
	section()
	begin(algorithm string, c choice)
	row(operation string, f figure)
	end()
}

// reporter returns the printer that the options ask for. The section is called name in CSV and title in text.
func (s *session) reporter(name, title string) reporter {
	switch csv := (csvReporter{w: s.out, name: name}); {
	case s.csv && s.count:
		return &csvCounts{csv}
	case s.csv && name == "mac":
		return &csvMACs{csv}
	case s.csv:
		return &csv
	case s.count:
		return &textCounts{w: s.out, title: title}
	}
	text := textReporter{w: s.out, title: title, auto: s.mhz == 0}
	if name == "mac" {
		return &textMACs{text}
	}
	return &text
}

// A textReporter prints libgcrypt's table. Only a measured clock has a column. A kernel that the user asked for stands
// after the last heading, where it moves no column.
type textReporter struct {
	w     io.Writer
	title string
	auto  bool
}

func (r *textReporter) section() { fmt.Fprintf(r.w, "%s:\n", r.title) }

func (r *textReporter) begin(algorithm string, c choice) {
	r.heading(fmt.Sprintf("%-14s", algorithm), c)
}

// heading writes the heads of the columns behind the first one's.
func (r *textReporter) heading(first string, c choice) {
	fmt.Fprintf(r.w, " %s | %14s %15s %13s", first, "nanosecs/byte", "mebibytes/sec", "cycles/byte")
	if r.auto {
		fmt.Fprintf(r.w, " %9s", "auto Mhz")
	}
	if c.asked {
		fmt.Fprintf(r.w, "  kernel %s", c.forced)
	}
	fmt.Fprintln(r.w)
}

func (r *textReporter) row(operation string, f figure) { r.figures(fmt.Sprintf("%14s", operation), f) }

// figures writes a row whose first column is first.
func (r *textReporter) figures(first string, f figure) {
	line := fmt.Sprintf(" %s | %9s ns/B %9s MiB/s %9s c/B",
		first, number(f.ns), number(f.mebibytes()), number(f.cycles()))
	if r.auto {
		line += fmt.Sprintf(" %9s%s", number(f.mhz), spread(f))
	}
	fmt.Fprintln(r.w, line)
}

func (r *textReporter) end() { fmt.Fprintf(r.w, " %-14s =\n", "") }

// A textMACs prints libgcrypt's table of MACs: their names stand in the rows, in a wider column.
type textMACs struct{ textReporter }

func (r *textMACs) begin(_ string, c choice)       { r.heading(fmt.Sprintf("%-18s", ""), c) }
func (r *textMACs) row(algorithm string, f figure) { r.figures(fmt.Sprintf("%-18s", algorithm), f) }
func (r *textMACs) end()                           { fmt.Fprintf(r.w, " %-18s =\n", "") }

// A csvMACs leaves the field for the operation empty.
type csvMACs struct{ csvReporter }

func (r *csvMACs) row(_ string, f figure) { r.csvReporter.row("", f) }

// A csvReporter prints libgcrypt's fields. The fourth, empty in libgcrypt, names the kernels, widest first.
type csvReporter struct {
	w                        io.Writer
	name, algorithm, kernels string
}

func (r *csvReporter) section() {}

func (r *csvReporter) begin(algorithm string, c choice) {
	r.algorithm, r.kernels = algorithm, c.title()
}

func (r *csvReporter) row(operation string, f figure) {
	fields := []string{r.name, r.algorithm, operation, r.kernels, "",
		number(f.ns), "ns/B", number(f.mebibytes()), "MiB/s", number(f.cycles()), "c/B"}
	if f.auto {
		fields = append(fields, number(f.mhz), "Mhz")
	}
	fmt.Fprintln(r.w, strings.Join(fields, ","))
}

func (r *csvReporter) end() {}

// number writes v with three or four digits. What noise made meaningless is a dash.
func number(v float64) string {
	digits := 0
	switch {
	case !(v >= 0) || math.IsInf(v, 1):
		return "-"
	case v < 1:
		digits = 3
	case v < 100:
		digits = 2
	case v < 1000:
		digits = 1
	}
	return strconv.FormatFloat(v, 'f', digits, 64)
}

// spread is what stands after a clock that moved by half a part in 1000 or more: how far it was from the mean that is
// printed, in whole MHz.
func spread(f figure) string {
	if f.moved() < 0.0005 {
		return ""
	}
	return fmt.Sprintf("±%.0f", math.Ceil(math.Abs(f.after-f.before)/2))
}
