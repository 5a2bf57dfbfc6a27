package main

import (
	"encoding/csv"
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/twogather/twogather/hwfeatures"
	"github.com/twogather/twogather/internal/kernel"
)

// raid6Names are the kernels that can run here.
func raid6Names() (names []string) {
	for _, k := range kernel.Lookup("raid6").Kernels {
		if hwfeatures.Enabled().Has(k.Requires) {
			names = append(names, k.Name)
		}
	}
	return names
}

func TestRaid6(t *testing.T) {
	names := raid6Names()
	args := []string{"raid6", "--repetitions", "2", "--disks", "4,9", "--chunk", "1000"}
	out := mustCall(t, args...)
	if !strings.HasPrefix(out, "# bench-slope "+strings.Join(args, " ")+"\n# revision ") {
		t.Errorf("the header is %q", out[:min(len(out), 200)])
	}
	figures := regexp.MustCompile(`(?m)^algo=(\S+) ndisks=(\d+) iterations=(\d+) time=([0-9.]+)s MB/s=([0-9.]+)$`).FindAllStringSubmatch(out, -1)
	if len(figures) != 2*2*len(names) {
		t.Fatalf("%d figures of %d kernels", len(figures), len(names))
	}
	for i, f := range figures {
		if disks := []string{"4", "9"}[i/len(names)%2]; f[1] != names[i%len(names)] || f[2] != disks {
			t.Errorf("line %d is %q, want %s with %s disks", i, f[0], names[i%len(names)], disks)
		}
	}
	for _, text := range []string{"# aligned, --op gen, chunks of 1000 bytes", "# staggered, ", "instructions are not counted"} {
		if !strings.Contains(out, text) {
			t.Errorf("%q is not there", text)
		}
	}
	// Each table marks the best of each width.
	if rows := regexp.MustCompile(`(?m)^ *(\S+)( +\d+[ *]){2}$`).FindAllString(out, -1); len(rows) != 2*len(names) {
		t.Errorf("%d rows of tables", len(rows))
	} else if stars := strings.Count(strings.Join(rows, ""), "*"); stars < 4 {
		t.Errorf("%d marks", stars)
	}
}

func TestRaid6CSV(t *testing.T) {
	for _, op := range []string{"gen", "xor", "recover"} {
		out := mustCall(t, "raid6", "--csv", "--repetitions", "2", "--disks", "6", "--placement", "staggered", "--op", op, "--kernel", "generic")
		rows, err := csv.NewReader(strings.NewReader(out)).ReadAll()
		if err != nil || len(rows) != 2 {
			t.Fatalf("%v: %q", err, out)
		}
		r := rows[1]
		if fmt.Sprint(r[:5]) != "[staggered "+op+" 4096 generic 6]" {
			t.Errorf("row %q", r)
		}
		n, _ := strconv.ParseFloat(r[5], 64)
		seconds, _ := strconv.ParseFloat(r[6], 64)
		speed, _ := strconv.ParseFloat(r[7], 64)
		if want := 4 * 4096 * n / (1 << 20) / seconds; !(math.Abs(speed-want) <= want/100) {
			t.Errorf("%s MB/s, want %.2f", r[7], want)
		}
	}
}

func TestRaid6Errors(t *testing.T) {
	for _, c := range []struct{ args, text string }{
		{"raid6 8", `raid6 takes no word "8"`},
		{"raid6 --disks 3", "want numbers of disks from 4 to 257"},
		{"raid6 --disks 8,", "want numbers of disks"},
		{"raid6 --chunk 0", "want a number of bytes"},
		{"raid6 --placement here", "want aligned, staggered or both"},
		{"raid6 --op mul", "want gen, xor or recover"},
		{"raid6 --kernel magic", `unknown raid6 kernel "magic"`},
		{"raid6 --count-instructions", "does not count"},
		{"raid6 --disks 257 --chunk 67108864", "more than 1024 MiB"},
	} {
		if _, errs, status := call(strings.Fields(c.args)...); status != 2 || !strings.Contains(errs, c.text) {
			t.Errorf("%s: status %d, %q", c.args, status, errs)
		}
	}
}
