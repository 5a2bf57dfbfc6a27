// Command compare measures this module beside other libraries, all in one process and in turn, so that a noisy machine is
// noisy for everybody. It prints ratios; the best of many short runs counts.
//
// C libraries loop and take the time inside one C function: a cgo call for each operation would be measured instead.
package main

import (
	"encoding/csv"
	"flag"
	"fmt"
	"io"
	"os"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/twogather/twogather/hwfeatures"
)

// A work is something to measure. size is in bytes, and 0 where bytes make no sense.
type work struct {
	name string
	size int
	// counted is what package erasure's and raid6's works are, besides.
	counted interface{ bytes() int }
}

// bytes is what speeds count.
func (w work) bytes() int {
	if w.counted != nil {
		return w.counted.bytes()
	}
	return w.size
}

// A runner carries out a work n times and says how long it took.
type runner func(n int) time.Duration

// A library is one side of the comparison.
type library struct {
	name string
	// prepare returns nil where the library has nothing for this work.
	prepare func(w work) runner
}

// A unit is how a table shows times.
type unit struct {
	name string
	text func(ns float64, bytes int, clock float64) string
}

var (
	cyclesPerByte = unit{"cycles per byte", func(ns float64, bytes int, clock float64) string {
		return fmt.Sprintf("%.2f", ns*clock/float64(bytes))
	}}
	gigabytesPerSecond = unit{"GB/s", func(ns float64, bytes int, clock float64) string {
		return fmt.Sprintf("%.2f", float64(bytes)/ns)
	}}
)

// A result holds the best time of one operation, by library, in nanoseconds; 0 where there is none.
type result struct {
	work
	best []float64
}

// A comparison is a table: the works of several libraries, with ratios to the first one.
type comparison struct {
	unit      unit
	libraries []library
	works     []work
	results   []result
}

// shortRun is how long one library runs before the next one's turn.
const shortRun = 60 * time.Microsecond

func main() {
	asCSV := flag.Bool("csv", false, "print comma-separated values")
	runs := flag.Int("runs", 400, "short `runs` for each library and operation")
	only := flag.String("only", "", "only operations whose name contains this `text`")
	plots := flag.String("plots", "", "measure what the charts show, and write them to this `folder`, instead of the tables")
	plan := flag.Bool("plan", false, "look for lengths at which the plan takes longer than one of its kernels alone")
	constantTime := flag.Bool("constant-time", false, "with -plan: the constant-time kernels and their plan")
	flag.Usage = func() {
		fmt.Fprintln(flag.CommandLine.Output(), "usage: compare [options]\n\nTwofish beside golang.org/x/crypto/twofish and libgcrypt, erasure codes beside\ngithub.com/klauspost/reedsolomon and ISA-L, RAID-6 beside ISA-L and a kernel as H. P. Anvin's paper has it. Options:")
		flag.PrintDefaults()
	}
	flag.Parse()
	if flag.NArg() > 0 || *runs < 1 {
		flag.Usage()
		os.Exit(2)
	}
	runtime.LockOSThread()
	for _, missing := range []string{libgcryptMissing, isalMissing} {
		if missing != "" {
			fmt.Fprintln(os.Stderr, "compare:", missing)
		}
	}
	if *plots != "" {
		processor := fmt.Sprintf("%v, %s", hwfeatures.CPU(), runtime.Version())
		if err := drawCharts(*plots, processor, *runs); err != nil {
			fmt.Fprintln(os.Stderr, "compare:", err)
			os.Exit(1)
		}
		return
	}
	if *plan {
		if !checkPlan(os.Stdout, twofishPlan(*constantTime), *runs, *only) {
			os.Exit(1)
		}
		return
	}
	comparisons := []comparison{twofishKernels(), twofishLibraries(), erasureLibraries(), raid6Libraries()}
	for i := range comparisons {
		c := &comparisons[i]
		for _, w := range c.works {
			if strings.Contains(w.name, *only) {
				c.results = append(c.results, measure(w, c.libraries, *runs))
			}
		}
	}
	clock := clockGHz()
	if !*asCSV {
		fmt.Printf("%v, %s, %.2f GHz, best of %d runs in turn\n", hwfeatures.CPU(), runtime.Version(), clock, *runs)
	}
	for _, c := range comparisons {
		if *asCSV {
			if err := printCSV(os.Stdout, c, clock); err != nil {
				fmt.Fprintln(os.Stderr, "compare:", err)
				os.Exit(1)
			}
		} else {
			printTable(os.Stdout, c, clock)
		}
	}
}

// measure lets the libraries run in turn and keeps each one's best time.
func measure(w work, libraries []library, runs int) result {
	r := result{w, make([]float64, len(libraries))}
	r.measure(libraries, runs)
	return r
}

// measure goes on measuring.
func (r *result) measure(libraries []library, runs int) {
	prepared := make([]runner, len(libraries))
	n := make([]int, len(libraries))
	for i, l := range libraries {
		if prepared[i] = l.prepare(r.work); prepared[i] == nil {
			continue
		}
		// Warm up, and find how many repetitions make a short run.
		for n[i] = 1; prepared[i](n[i]) < shortRun && n[i] < 1<<20; {
			n[i] *= 2
		}
	}
	for range runs {
		for i, run := range prepared {
			if run == nil {
				continue
			}
			// Nobody pays for what the one before did to caches and branch predictors.
			run((n[i] + 3) / 4)
			ns := float64(run(n[i]).Nanoseconds()) / float64(n[i])
			if r.best[i] == 0 || ns < r.best[i] {
				r.best[i] = ns
			}
		}
	}
}

// clockGHz measures a chain of dependent operations, one cycle each.
func clockGHz() float64 {
	best := 0.0
	for range 2000 {
		const n = 20000
		start := time.Now()
		x := dependentChain(n)
		ghz := float64(2*n) / float64(time.Since(start).Nanoseconds())
		if x != 0 && ghz > best {
			best = ghz
		}
	}
	return best
}

//go:noinline
func dependentChain(n int) int {
	x := 1
	for i := range n {
		x += i // one cycle
		x ^= i // another one
	}
	return x | 1
}

// cell is a time in the table's unit, or, where there are no bytes, in nanoseconds.
func (r *result) cell(i int, u unit, clock float64) string {
	switch {
	case r.best[i] == 0:
		return "–"
	case r.size == 0:
		return fmt.Sprintf("%.0f ns", r.best[i])
	default:
		return u.text(r.best[i], r.bytes(), clock)
	}
}

// ratio says how many times as long as the first library i takes.
func (r *result) ratio(i int) string {
	if r.best[i] == 0 || r.best[0] == 0 {
		return "–"
	}
	return fmt.Sprintf("%.2f", r.best[i]/r.best[0])
}

func (w work) sizeText() string {
	switch {
	case w.size == 0:
		return ""
	case w.size >= 1<<20:
		return fmt.Sprintf("%d MiB", w.size>>20)
	case w.size >= 1<<10:
		return fmt.Sprintf("%d KiB", w.size>>10)
	default:
		return fmt.Sprintf("%d B", w.size)
	}
}

func printTable(out io.Writer, c comparison, clock float64) {
	first := c.libraries[0].name
	fmt.Fprintf(out, "\n%-28s %8s", c.unit.name, "")
	for _, l := range c.libraries {
		fmt.Fprintf(out, " %*s", l.width(), l.name)
	}
	others := c.libraries[1:]
	if len(others) > 5 { // the line would be too long, and the kernels' cycles say it all
		others = nil
	} else {
		fmt.Fprintf(out, "   times as long as %s:", first)
	}
	for _, l := range others {
		fmt.Fprintf(out, " %s", l.name)
	}
	fmt.Fprintln(out)
	for _, r := range c.results {
		fmt.Fprintf(out, "%-28s %8s", r.name, r.sizeText())
		for i, l := range c.libraries {
			fmt.Fprintf(out, " %*s", l.width(), r.cell(i, c.unit, clock))
		}
		fmt.Fprint(out, "  ")
		for i, l := range others {
			fmt.Fprintf(out, " %*s", l.width(), r.ratio(i+1))
		}
		fmt.Fprintln(out)
	}
}

// width is that of a library's column.
func (l library) width() int { return max(8, len(l.name)) }

func printCSV(out io.Writer, c comparison, clock float64) error {
	w := csv.NewWriter(out)
	w.Write([]string{"operation", "bytes", "library", "ns", c.unit.name, "times " + c.libraries[0].name})
	for _, r := range c.results {
		for i, l := range c.libraries {
			if r.best[i] == 0 {
				continue
			}
			speed := ""
			if r.size > 0 {
				speed = c.unit.text(r.best[i], r.bytes(), clock)
			}
			w.Write([]string{r.name, strconv.Itoa(r.size), l.name, strconv.FormatFloat(r.best[i], 'f', 1, 64), speed, r.ratio(i)})
		}
	}
	w.Flush()
	return w.Error()
}
