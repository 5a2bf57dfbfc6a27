package main

import (
	"encoding/csv"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/twogather/twogather/hwfeatures"
	"github.com/twogather/twogather/internal/kernel"
	"github.com/twogather/twogather/raid6"
)

// The widths that are measured where the command line does not say, P and Q included. One alone cannot tell kernels apart
// that differ by a factor of two at another.
var sweptDisks = []int{4, 8, 16, 24, 48, 96}

const (
	minDisks, maxDisks = raid6.MinData + 2, raid6.MaxData + 2
	defaultChunk       = 4 << 10
)

// A raid6Operation is what an array does.
type raid6Operation struct {
	name string
	run  func(c raid6.Code, disks [][]byte) error
}

var raid6Operations = []raid6Operation{
	{"gen", func(c raid6.Code, disks [][]byte) error {
		n := len(disks) - 2
		return c.GenSyndrome(disks[:n], disks[n], disks[n+1])
	}},
	// A full range, as Linux measures it too.
	{"xor", func(c raid6.Code, disks [][]byte) error {
		n := len(disks) - 2
		return c.XorSyndrome(disks[:n], 0, n, disks[n], disks[n+1])
	}},
	{"recover", func(c raid6.Code, disks [][]byte) error { return c.Recover(disks, 0, 1) }},
}

func raid6OperationNames() string {
	var names []string
	for _, o := range raid6Operations {
		names = append(names, o.name)
	}
	return strings.Join(names, ", ")
}

func setDisks(o *options, value string) error {
	o.disks = nil
	for word := range strings.SplitSeq(value, ",") {
		n, err := strconv.Atoi(word)
		if err != nil || n < minDisks || n > maxDisks {
			return fmt.Errorf("want numbers of disks from %d to %d, P and Q included", minDisks, maxDisks)
		}
		o.disks = append(o.disks, n)
	}
	return nil
}

func setOperation(o *options, value string) error {
	o.operation = slices.IndexFunc(raid6Operations, func(r raid6Operation) bool { return r.name == value })
	if o.operation < 0 {
		return fmt.Errorf("want %s", raid6OperationNames())
	}
	return nil
}

// A raid6Result is a line.
type raid6Result struct {
	kernel    string
	placement placement
	disks     int
	operation string
	timing    timing
	events    events

	mean, best float64 // MB/s: data alone, in units of 2^20 bytes
}

// runRAID6 looks at all options before it measures anything.
func runRAID6(s *session, words []string) error {
	if len(words) > 0 {
		return usagef("unexpected %q", words[0])
	}
	want := s.kernel
	if want == "" {
		want = "all" // to compare is what this is for
	}
	p := kernel.Lookup("raid6")
	choices, err := choose(p, s.features, false, want)
	if err != nil {
		return err
	}
	if s.count {
		return s.countRAID6(p, choices)
	}
	counters, err := openCounters()
	defer counters.close()
	csv := s.csv
	if !csv {
		s.raid6Header(err)
	}
	w := newRAID6CSV(s.out, csv)
	for _, where := range s.placements {
		var results []raid6Result
		for _, n := range s.disks {
			disks := place(n, s.chunk, where)
			for _, c := range choices {
				r, err := s.benchRAID6(p, c, disks, counters)
				if err != nil {
					return err
				}
				r.placement = where
				results = append(results, r)
				if csv {
					w.row(s, r)
				} else {
					r.print(s.out)
				}
			}
		}
		if !csv {
			printRAID6Table(s.out, choices, s.disks, where, results)
		}
	}
	w.Flush()
	return nil
}

func (s *session) benchRAID6(p *kernel.Primitive, c choice, disks [][]byte, counters *counters) (raid6Result, error) {
	code := p.New(s.features, false, c.forced).(raid6.Code).WithGoroutines(1)
	o := raid6Operations[s.operation]
	if err := o.run(code, disks); err != nil {
		return raid6Result{}, err
	}
	s.progress.show(fmt.Sprintf("%s %s %d disks", o.name, c.forced, len(disks)), 0, 1)
	d := s.time
	if d == 0 {
		d = 50 * time.Millisecond
	}
	r := raid6Result{kernel: c.forced, disks: len(disks), operation: o.name}
	counters.start()
	r.timing = timeFor(d, func() { o.run(code, disks) })
	r.events = counters.stop()
	s.progress.clear()
	megabytes := float64((len(disks)-2)*s.chunk) / (1 << 20)
	r.mean = megabytes * float64(r.timing.calls) / r.timing.total.Seconds()
	r.best = megabytes * 1e9 / r.timing.best
	return r, nil
}

// raid6Header says what the figures depend on, and what is not counted, and why.
func (s *session) raid6Header(noCounters error) {
	fmt.Fprintf(s.out, "# bench-slope %s\n", strings.Join(os.Args[1:], " "))
	fmt.Fprintf(s.out, "# revision %s\n", revision())
	fmt.Fprintf(s.out, "# processor %v\n", hwfeatures.CPU())
	if bits := vectorLength(); bits > 0 {
		fmt.Fprintf(s.out, "# SVE vector length %d bits\n", bits)
	}
	fmt.Fprintf(s.out, "# %s, chunks of %s; MB/s: data bytes / 2^20 / second\n",
		raid6Operations[s.operation].name, sizeText(s.chunk))
	if noCounters != nil {
		fmt.Fprintf(s.out, "# instructions and cycles are not counted here: %v\n", noCounters)
	}
}

// revision is the commit that the program was built from.
func revision() string {
	info, _ := debug.ReadBuildInfo()
	revision, modified := "unknown", ""
	if info != nil {
		for _, s := range info.Settings {
			switch {
			case s.Key == "vcs.revision":
				revision = s.Value
			case s.Key == "vcs.modified" && s.Value == "true":
				modified = ", modified"
			}
		}
	}
	return revision + modified
}

func (r *raid6Result) print(w io.Writer) {
	fmt.Fprintf(w, "algo=%s ndisks=%d iterations=%d time=%.3fs MB/s=%.2f", r.kernel, r.disks, r.timing.calls,
		r.timing.total.Seconds(), r.mean)
	if r.events.instructions > 0 {
		fmt.Fprintf(w, " instructions=%d ipc=%.2f", r.events.instructions, float64(r.events.instructions)/float64(r.events.cycles))
	}
	fmt.Fprintln(w)
}

// printRAID6Table prints kernels by widths. The best of a width has a star.
func printRAID6Table(out io.Writer, choices []choice, widths []int, where placement, results []raid6Result) {
	fmt.Fprintf(out, "\nMB/s in the fastest of many short runs, buffers %s\n", where)
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprint(w, "disks\t")
	best := make(map[int]float64)
	for _, n := range widths {
		fmt.Fprintf(w, "%d\t", n)
	}
	for _, r := range results {
		best[r.disks] = max(best[r.disks], r.best)
	}
	fmt.Fprintln(w)
	for _, c := range choices {
		fmt.Fprintf(w, "%s\t", c.forced)
		for _, r := range results {
			if r.kernel == c.forced {
				star := " "
				if r.best == best[r.disks] && len(choices) > 1 {
					star = "*"
				}
				fmt.Fprintf(w, "%.0f%s\t", r.best, star)
			}
		}
		fmt.Fprintln(w)
	}
	w.Flush()
	fmt.Fprintln(out)
}

// countRAID6 counts the instructions of a data byte at several widths.
func (s *session) countRAID6(p *kernel.Primitive, choices []choice) error {
	e, err := newCounter()
	if err != nil {
		return err
	}
	r := s.reporter("raid6", "RAID-6")
	r.section()
	for _, ch := range choices {
		e.step = shardStep(ch.forced)
		code := p.New(s.features, false, ch.forced).(raid6.Code).WithGoroutines(1)
		r.begin("RAID6", ch)
		for _, o := range raid6Operations {
			for _, n := range []int{8, 24, 96} {
				disks := e.views(place(n, 2*e.step, staggered))
				f := e.figure(func(n int) { o.run(code, disks[n/e.step-1]) })
				f.instructions /= float64(n - 2)
				r.row(fmt.Sprintf("%s %d", o.name, n), f)
			}
		}
		r.end()
	}
	return nil
}

// A raid6CSV prints a line for each figure.
type raid6CSV struct{ *csv.Writer }

func newRAID6CSV(out io.Writer, headed bool) raid6CSV {
	w := raid6CSV{csv.NewWriter(out)}
	if headed {
		w.Write([]string{"kernel", "placement", "disks", "chunk", "operation", "MB/s", "iterations", "seconds", "instructions", "cycles"})
	}
	return w
}

func (w raid6CSV) row(s *session, r raid6Result) {
	count := func(n uint64) string {
		if n == 0 {
			return ""
		}
		return strconv.FormatUint(n, 10)
	}
	w.Write([]string{r.kernel, string(r.placement), strconv.Itoa(r.disks), strconv.Itoa(s.chunk), r.operation,
		strconv.FormatFloat(r.best, 'f', 2, 64), strconv.Itoa(r.timing.calls),
		strconv.FormatFloat(r.timing.total.Seconds(), 'f', 3, 64), count(r.events.instructions), count(r.events.cycles)})
}
