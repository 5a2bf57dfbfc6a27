package main

import (
	"bytes"
	"encoding/csv"
	"strings"
	"testing"
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
