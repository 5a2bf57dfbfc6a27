package main

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/twogather/twogather/hwfeatures"
)

var raid6Line = regexp.MustCompile(`^algo=(\S+) ndisks=(\d+) iterations=(\d+) time=(\d+\.\d{3})s MB/s=(\d+\.\d{2})( instructions=\d+ ipc=\d+\.\d{2})?$`)

var vectorLengthLine = regexp.MustCompile(`\n# SVE vector length \d+ bits\n`)

// Lines for every kernel and width, with numbers that belong together, then a table of the same.
func TestRAID6(t *testing.T) {
	for _, operation := range []string{"gen", "xor", "recover"} {
		out := mustCall(t, strings.Fields("raid6 --time 2ms --chunk 1K --disks 4,9 --op "+operation)...)
		kernels := usableKernels("raid6", hwfeatures.Enabled())
		var want, got []string
		for _, n := range []string{"4", "9"} {
			for _, k := range kernels {
				want = append(want, k+" "+n)
			}
		}
		table := make(map[string]int)
		stars := 0
		for line := range strings.Lines(out) {
			line = strings.TrimRight(line, "\n")
			if m := raid6Line.FindStringSubmatch(line); m != nil {
				got = append(got, m[1]+" "+m[2])
				n, _ := strconv.Atoi(m[2])
				iterations, _ := strconv.ParseFloat(m[3], 64)
				seconds, _ := strconv.ParseFloat(m[4], 64)
				speed, _ := strconv.ParseFloat(m[5], 64)
				// The time has three digits after the point.
				if w := float64(n-2) * 1024 * iterations / (1 << 20) / seconds; math.Abs(w/speed-1) > 0.0006/seconds {
					t.Errorf("%s: %f MB/s", line, w)
				}
			} else if f := strings.Fields(line); len(f) == 3 && slices.Contains(kernels, f[0]) {
				table[f[0]]++
				stars += strings.Count(line, "*")
			}
		}
		if !slices.Equal(got, want) || len(table) != len(kernels) || stars != 2 && len(kernels) > 1 {
			t.Errorf("%s: %q, a table of %v with %d stars:\n%s", operation, got, table, stars, out)
		}
		for _, head := range []string{"# revision ", fmt.Sprintf("# processor %v\n", hwfeatures.CPU()), "# " + operation + ", chunks of 1K"} {
			if !strings.Contains(out, head) {
				t.Errorf("no %q:\n%s", head, out)
			}
		}
		// Instructions are in every line, or the header says why they are not.
		counted := strings.Count(out, " instructions=")
		uncounted := strings.Contains(out, "\n# instructions and cycles are not counted here: ")
		if counted != 0 && counted != len(want) || uncounted != (counted == 0) {
			t.Errorf("%d lines have instructions:\n%s", counted, out)
		}
		if hwfeatures.Detected().Has(hwfeatures.ARMSVE) != vectorLengthLine.MatchString(out) {
			t.Errorf("a vector length without SVE, or none with it:\n%s", out)
		}
	}
}

// By default every width is swept, in chunks of 4 KiB, and the header has the command line.
func TestRAID6Defaults(t *testing.T) {
	const command = "raid6 --time 1us --kernel generic"
	out, errs, status := program(t, nil, strings.Fields(command)...)
	if status != 0 || errs != "" || !strings.HasPrefix(out, "# bench-slope "+command+"\n") || !strings.Contains(out, "\n# gen, chunks of 4K;") {
		t.Errorf("status %d, stderr %q\n%s", status, errs, out)
	}
	var widths []string
	for line := range strings.Lines(out) {
		if m := raid6Line.FindStringSubmatch(strings.TrimSpace(line)); m != nil {
			widths = append(widths, m[2])
		}
	}
	got := strings.Join(widths, " ")
	if got != "4 8 16 24 48 96" || strings.Count(out, "buffers aligned\n") != 1 || strings.Contains(out, "staggered") {
		t.Errorf("%s disks:\n%s", got, out)
	}
}

// Each placement has a table, with a star at the best of each width.
func TestRAID6Table(t *testing.T) {
	golden := strings.Join([]string{
		"",
		"MB/s in the fastest of many short runs, buffers staggered",
		"    disks      4      24",
		"   avx2x4  9000   30001*",
		"  generic  9001*   2000 ",
		"", "",
	}, "\n")
	var b bytes.Buffer
	printRAID6Table(&b, []choice{{forced: "avx2x4"}, {forced: "generic"}}, []int{4, 24}, staggered, []raid6Result{
		{kernel: "avx2x4", disks: 4, mean: 9999, best: 9000}, {kernel: "generic", disks: 4, best: 9001},
		{kernel: "avx2x4", disks: 24, best: 30001}, {kernel: "generic", disks: 24, mean: 50000, best: 2000},
	})
	if b.String() != golden {
		t.Errorf("got\n%swant\n%s", b.String(), golden)
	}
}

func TestRAID6CSV(t *testing.T) {
	out := mustCall(t, strings.Fields("raid6 --time 1us --chunk 512 --disks 4,5 --op xor --placement both --kernel generic --csv")...)
	rows, err := csv.NewReader(strings.NewReader(out)).ReadAll()
	if err != nil || len(rows) != 5 {
		t.Fatalf("%v\n%s", err, out)
	}
	if head := "kernel placement disks chunk operation MB/s iterations seconds instructions cycles"; strings.Join(rows[0], " ") != head {
		t.Errorf("%q, want %q", rows[0], head)
	}
	i := 0
	for _, where := range []string{"aligned", "staggered"} {
		for _, n := range []string{"4", "5"} {
			i++
			if want := []string{"generic", where, n, "512", "xor"}; !slices.Equal(rows[i][:5], want) {
				t.Errorf("%q, want %q", rows[i], want)
			}
		}
	}
}

// Where nothing counts the header says so; where something does, each line has it.
func TestRAID6Events(t *testing.T) {
	var b bytes.Buffer
	s := &session{options: options{chunk: 4096}, out: &output{w: &b}}
	s.raid6Header(errors.New("no such counters"))
	if !strings.Contains(b.String(), "# instructions and cycles are not counted here: no such counters\n") {
		t.Error(b.String())
	}
	b.Reset()
	r := raid6Result{kernel: "avx2x4", disks: 8, events: events{3000, 1000}}
	if r.print(&b); !strings.HasSuffix(b.String(), " instructions=3000 ipc=3.00\n") {
		t.Error(b.String())
	}
	for e, want := range map[events]string{{3000, 1000}: "3000,1000\n", {}: ",\n"} {
		b.Reset()
		w := newRAID6CSV(&b, false)
		w.row(s, raid6Result{kernel: "avx2x4", placement: aligned, disks: 8, operation: "gen", best: 1.5,
			timing: timing{calls: 7, total: time.Second}, events: e})
		if w.Flush(); b.String() != "avx2x4,aligned,8,4096,gen,1.50,7,1.000,"+want {
			t.Error(b.String())
		}
	}
}

func TestRAID6WrongArguments(t *testing.T) {
	for args, want := range map[string]string{
		"raid6 --disks 3":         "from 4 to 257",
		"raid6 --disks 4,258":     "from 4 to 257",
		"raid6 --disks 4,":        "from 4 to 257",
		"raid6 --op sync":         "gen, xor, recover",
		"raid6 --chunk 0":         "32K",
		"raid6 -k 3":              "raid6 has no option --k",
		"raid6 --kernel x8":       "generic, or all",
		"raid6 four":              `"four"`,
		"erasure --disks 4":       "erasure has no option --disks",
		"cipher --op gen twofish": "cipher has no option --op",
	} {
		out, errs, status := call(strings.Fields(args)...)
		if status != 2 || out != "" || !strings.Contains(errs, want) {
			t.Errorf("%s: status %d, stdout %q, stderr %q", args, status, out, errs)
		}
	}
}
