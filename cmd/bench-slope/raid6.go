package main

import (
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"
	"unsafe"

	"github.com/twogather/twogather/hwfeatures"
	"github.com/twogather/twogather/internal/kernel"
	"github.com/twogather/twogather/raid6"
)

// A benchmark at one width cannot tell kernels apart that differ at another. So the default is a sweep of widths, and of two
// ways for buffers to lie: all at the beginning of a page, where they share cache sets, and staggered.

// raid6Options are those of the command raid6.
type raid6Options struct {
	disks      []int // P and Q included
	chunk      int
	placements []string
	op         string
}

func newRaid6Options() raid6Options {
	return raid6Options{[]int{4, 8, 16, 24, 48, 96}, 4096, []string{"aligned", "staggered"}, "gen"}
}

func setDisks(o *options, value string) error {
	o.raid6.disks = nil
	for word := range strings.SplitSeq(value, ",") {
		n, err := strconv.Atoi(strings.TrimSpace(word))
		if err != nil || n < raid6.MinData+2 || n > raid6.MaxData+2 {
			return fmt.Errorf("want numbers of disks from %d to %d", raid6.MinData+2, raid6.MaxData+2)
		}
		o.raid6.disks = append(o.raid6.disks, n)
	}
	return nil
}

func setChunk(o *options, value string) error {
	n, err := strconv.Atoi(value)
	if err != nil || n < 1 || n > 64<<20 {
		return errors.New("want a number of bytes from 1 to 64 MiB")
	}
	o.raid6.chunk = n
	return nil
}

func setPlacement(o *options, value string) error {
	switch value {
	case "aligned", "staggered":
		o.raid6.placements = []string{value}
	case "both":
		o.raid6.placements = newRaid6Options().placements
	default:
		return errors.New("want aligned, staggered or both")
	}
	return nil
}

func setOp(o *options, value string) error {
	if raid6Operation(value) == nil {
		return errors.New("want gen, xor or recover")
	}
	o.raid6.op = value
	return nil
}

// raid6Operation returns what --op names: the syndrome, a partial update of all disks, or the recovery of two data disks.
func raid6Operation(op string) func(c raid6.Code, disks [][]byte) error {
	switch op {
	case "gen":
		return func(c raid6.Code, d [][]byte) error { n := len(d) - 2; return c.GenSyndrome(d[:n], d[n], d[n+1]) }
	case "xor":
		return func(c raid6.Code, d [][]byte) error {
			n := len(d) - 2
			return c.XorSyndrome(d[:n], 0, n, d[n], d[n+1])
		}
	case "recover":
		return func(c raid6.Code, d [][]byte) error { return c.Recover(d, 0, 1) }
	}
	return nil
}

// How long a kernel is timed: the best of several runs, in turn with the others' so that a noisy machine is noisy for all.
const (
	raid6Runs   = 40
	raid6Run    = time.Millisecond // where --repetitions is the default; in proportion otherwise
	arrayMemory = 1 << 30
)

// A raid6Figure is the best run of one kernel on one array.
type raid6Figure struct {
	iterations int
	time       time.Duration
}

// speed is in MiB of data per second.
func (f raid6Figure) speed(disks, chunk int) float64 {
	return float64(disks-2) * float64(chunk) * float64(f.iterations) / (1 << 20) / f.time.Seconds()
}

func runRaid6(s *session, words []string) error {
	if len(words) > 0 {
		return usagef("raid6 takes no word %q", words[0])
	}
	if s.count {
		return usagef("raid6 does not count instructions")
	}
	o := s.raid6
	if most := slices.Max(o.disks) * (o.chunk + 2*pageSize); most > arrayMemory {
		return usagef("%d disks of %d bytes take more than %d MiB", slices.Max(o.disks), o.chunk, arrayMemory>>20)
	}
	p := kernel.Lookup("raid6")
	want := s.kernel
	if want == "" {
		want = "all"
	}
	choices, err := choose(p, s.features, false, want)
	if err != nil {
		return err
	}
	var codes []raid6.Code
	for _, c := range choices {
		codes = append(codes, p.New(s.features, false, c.names[0]).(raid6.Code).WithGoroutines(1))
	}

	if s.csv {
		fmt.Fprintln(s.out, "placement,op,chunk,algo,ndisks,iterations,time,MB/s")
	} else {
		fmt.Fprintf(s.out, "# bench-slope %s\n# revision %s, %s\n", strings.Join(s.args, " "), revision(), describe(hwfeatures.CPU()))
		fmt.Fprintln(s.out, "# instructions are not counted: no counter is open to programs here")
	}
	for _, placement := range o.placements {
		if !s.csv {
			fmt.Fprintf(s.out, "\n# %s, --op %s, chunks of %d bytes; MB/s are 2^20 bytes of data\n", placement, o.op, o.chunk)
		}
		table := make([][]raid6Figure, len(o.disks))
		for i, disks := range o.disks {
			figures, err := s.timeRaid6(codes, newDisks(disks, o.chunk, placement == "staggered"))
			if err != nil {
				return err
			}
			table[i] = figures
			for j, f := range figures {
				name, seconds, speed := codes[j].Kernel(), f.time.Seconds(), f.speed(disks, o.chunk)
				if s.csv {
					fmt.Fprintf(s.out, "%s,%s,%d,%s,%d,%d,%.9f,%.2f\n", placement, o.op, o.chunk, name, disks, f.iterations, seconds, speed)
				} else {
					fmt.Fprintf(s.out, "algo=%s ndisks=%d iterations=%d time=%.6fs MB/s=%.2f\n", name, disks, f.iterations, seconds, speed)
				}
			}
		}
		if !s.csv {
			writeRaid6Table(s.out, codes, table, o)
		}
	}
	return nil
}

// timeRaid6 times the codes on an array.
func (s *session) timeRaid6(codes []raid6.Code, disks [][]byte) ([]raid6Figure, error) {
	op := raid6Operation(s.raid6.op)
	run := func(c raid6.Code, iterations int) (time.Duration, error) {
		start := time.Now()
		for range iterations {
			if err := op(c, disks); err != nil {
				return 0, err
			}
		}
		return max(time.Since(start), 1), nil
	}
	long := max(raid6Run*time.Duration(s.repetitions)/defaultRepetitions, time.Microsecond)
	figures := make([]raid6Figure, len(codes))
	for i, c := range codes {
		for n := 1; ; n *= 2 { // warms up, and finds how many iterations make a run
			took, err := run(c, n)
			if err != nil {
				return nil, err
			}
			if figures[i] = (raid6Figure{n, took}); took >= long {
				break
			}
		}
	}
	for n := range raid6Runs {
		s.progress.show(fmt.Sprintf("raid6, %d disks", len(disks)), n, raid6Runs)
		for i, c := range codes {
			took, err := run(c, figures[i].iterations)
			if err != nil {
				return nil, err
			}
			figures[i].time = min(figures[i].time, took)
		}
	}
	return figures, nil
}

// writeRaid6Table writes kernels by widths. A star marks the best of a width.
func writeRaid6Table(out *output, codes []raid6.Code, table [][]raid6Figure, o raid6Options) {
	fmt.Fprintln(out)
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprint(w, "MB/s\t")
	best := make([]float64, len(o.disks))
	for i, disks := range o.disks {
		fmt.Fprintf(w, "%d disks \t", disks)
		for _, f := range table[i] {
			best[i] = max(best[i], f.speed(disks, o.chunk))
		}
	}
	fmt.Fprintln(w)
	for j, c := range codes {
		fmt.Fprintf(w, "%s\t", c.Kernel())
		for i, disks := range o.disks {
			mark, speed := " ", table[i][j].speed(disks, o.chunk)
			if speed == best[i] {
				mark = "*"
			}
			fmt.Fprintf(w, "%.0f%s\t", speed, mark)
		}
		fmt.Fprintln(w)
	}
	w.Flush()
}

const pageSize = 4096

// newDisks returns chunks at the beginning of a page each, or, staggered, each 192 bytes further into one than the chunk
// before. They have been written to: memory that has not can be one page of zeros, over and over.
func newDisks(disks, chunk int, staggered bool) [][]byte {
	stride := (chunk+pageSize-1)/pageSize*pageSize + pageSize
	memory := make([]byte, (disks+1)*stride)
	fill(memory)
	memory = memory[-uintptr(unsafe.Pointer(&memory[0]))%pageSize:]
	all := make([][]byte, disks)
	for z := range all {
		at := z * stride
		if staggered {
			at += z * 192 % pageSize
		}
		all[z] = memory[at:][:chunk:chunk]
	}
	return all
}

// revision is the version control's name of what this program was built from.
func revision() string {
	name := "unknown"
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, s := range info.Settings {
			switch {
			case s.Key == "vcs.revision":
				name = s.Value
			case s.Key == "vcs.modified" && s.Value == "true":
				name += ", modified"
			}
		}
	}
	return name
}
