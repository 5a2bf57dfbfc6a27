package main

import (
	"bytes"
	"encoding/csv"
	"strings"
	"testing"
	"time"
)

// Everything can be measured, and what was measured is printed.
func TestComparisons(t *testing.T) {
	for _, c := range []comparison{twofishKernels(), twofishLibraries()} {
		if len(c.libraries) < 2 {
			t.Fatalf("only %d libraries", len(c.libraries))
		}
		cells := 0
		for _, w := range c.works {
			if w.size > 4<<10 {
				continue
			}
			r := measure(w, c.libraries, 1)
			if r.best[0] <= 0 {
				t.Errorf("%s of %d bytes was not measured", w.name, w.size)
			}
			for _, ns := range r.best {
				if ns != 0 {
					cells++
				}
			}
			c.results = append(c.results, r)
		}
		var table, values bytes.Buffer
		printTable(&table, c, 4)
		if got, want := strings.Count(table.String(), "\n"), len(c.results)+2; got != want {
			t.Errorf("a table of %d lines, want %d:\n%s", got, want, table.String())
		}
		if err := printCSV(&values, c, 4); err != nil {
			t.Fatal(err)
		}
		rows, err := csv.NewReader(&values).ReadAll()
		if err != nil || len(rows) != cells+1 {
			t.Errorf("%d rows, %v, want %d", len(rows), err, cells+1)
		}
	}
}

func TestClock(t *testing.T) {
	if ghz := clockGHz(); ghz < 0.2 || ghz > 10 {
		t.Errorf("%f GHz", ghz)
	}
}

// A plan that loses is reported, with the kernel it loses to, and one that wins is not.
func TestCheckPlan(t *testing.T) {
	takes := func(name string, d time.Duration) library {
		return library{name, func(work) runner { return func(n int) time.Duration { return time.Duration(n) * d } }}
	}
	for _, c := range []struct {
		plan time.Duration
		ok   bool
	}{{104 * time.Microsecond, true}, {106 * time.Microsecond, false}} {
		var out bytes.Buffer
		works := []work{{name: ecbEncrypt, size: 7 * 16}, {name: ctr, size: 7 * 16}}
		libraries := []library{takes("plan", c.plan), takes("slow", 200*time.Microsecond), takes("fast", 100*time.Microsecond)}
		if ok := checkPlan(&out, comparison{libraries: libraries, works: works}, 1, "ECB"); ok != c.ok {
			t.Errorf("%v: %v, %s", c.plan, ok, out.String())
		}
		if lost := strings.Contains(out.String(), "ECB encrypt 7 blocks") && strings.Contains(out.String(), "fast alone"); lost == c.ok {
			t.Errorf("%v: %s", c.plan, out.String())
		}
	}
}

// The first side of the comparison is the plan, the others are kernels.
func TestTwofishPlan(t *testing.T) {
	for _, constantTime := range []bool{false, true} {
		c := twofishPlan(constantTime)
		if c.libraries[0].name != "plan" || len(c.libraries) < 3 || len(c.works) != 4*planBlocks {
			t.Errorf("%d libraries from %s on, %d works", len(c.libraries), c.libraries[0].name, len(c.works))
		}
	}
}
