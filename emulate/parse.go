//go:build linux

package main

import (
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/twogather/twogather/hwfeatures"
)

// A row is one of bench-slope list.
type row struct {
	primitive, kernel string
	requires          hwfeatures.Set
	batch             int
	usable            bool
}

// parseList reads what bench-slope list prints.
func parseList(text string) ([]row, error) {
	var rows []row
	for i, line := range strings.Split(strings.TrimSpace(text), "\n") {
		f := strings.Fields(line)
		if len(f) != 8 {
			return nil, fmt.Errorf("bench-slope list prints %q", line)
		}
		if i == 0 {
			if want := "primitive name requires prefers batch usable selected constant-time"; strings.Join(f, " ") != want {
				return nil, fmt.Errorf("bench-slope list has the columns %q, want %q", strings.Join(f, " "), want)
			}
			continue
		}
		r := row{primitive: f[0], kernel: f[1], usable: f[5] == "yes"}
		var err error
		if r.requires, err = parseSet(strings.ReplaceAll(f[2], ",", " ")); err != nil {
			return nil, err
		}
		if r.batch, err = strconv.Atoi(f[4]); err != nil {
			return nil, fmt.Errorf("bench-slope list: %v", err)
		}
		rows = append(rows, r)
	}
	if len(rows) == 0 {
		return nil, fmt.Errorf("bench-slope list has no kernels")
	}
	return rows, nil
}

func parseSet(names string) (hwfeatures.Set, error) {
	var s hwfeatures.Set
	for _, name := range strings.Fields(names) {
		if name == "none" {
			continue
		}
		f, err := hwfeatures.Parse(name)
		if err != nil {
			return 0, err
		}
		s |= f
	}
	return s, nil
}

// parseHWF reads what bench-slope hwf prints: the features of the processor, and for each primitive the kernels that are
// chosen.
func parseHWF(text string) (detected hwfeatures.Set, selected map[string]string, err error) {
	sections := make(map[string][]string)
	title := ""
	for line := range strings.Lines(text) {
		if name, ok := strings.CutSuffix(strings.TrimRight(line, "\n"), ":"); ok && !strings.HasPrefix(line, " ") {
			title = name
		} else {
			sections[title] = append(sections[title], strings.TrimSpace(line))
		}
	}
	if len(sections["Detected"]) != 1 || len(sections["Kernels"]) == 0 {
		return 0, nil, fmt.Errorf("bench-slope hwf prints %q", text)
	}
	detected, err = parseSet(sections["Detected"][0])
	selected = make(map[string]string)
	for _, line := range sections["Kernels"] {
		primitive, kernels, _ := strings.Cut(line, " ")
		selected[primitive] = strings.Join(strings.Fields(kernels), " ")
	}
	return detected, selected, err
}

// counts are instructions per byte, by "primitive kernel" and operation.
type counts map[string]map[string]float64

// parse reads what bench-slope prints with --count-instructions --csv --kernel all. Counter mode has one figure.
func (c counts) parse(text string, rows []row) error {
	for line := range strings.Lines(text) {
		f := strings.Split(strings.TrimSpace(line), ",")
		if len(f) != 7 || f[6] != "instr/B" {
			return fmt.Errorf("bench-slope prints %q", line)
		}
		primitive, operation, kernel := strings.ToLower(f[1]), strings.ReplaceAll(f[2], " ", "-"), f[3]
		v, err := strconv.ParseFloat(f[5], 64)
		if err != nil || v <= 0 {
			return fmt.Errorf("bench-slope prints %q", line)
		}
		if !slices.ContainsFunc(rows, func(r row) bool { return r.primitive == primitive && r.kernel == kernel }) {
			return fmt.Errorf("bench-slope counts %s %s, which it does not list", primitive, kernel)
		}
		if operation == "CTR-dec" {
			continue
		}
		name := primitive + " " + kernel
		if c[name] == nil {
			c[name] = make(map[string]float64)
		}
		c[name][operation] = v
	}
	return nil
}

// A tally counts the results of tests.
type tally struct{ pass, fail, skip int }

func (t *tally) add(verdict string) {
	switch verdict {
	case "PASS":
		t.pass++
	case "FAIL":
		t.fail++
	case "SKIP":
		t.skip++
	}
}

// results are those of one package: all, and those of each kernel, in whose names it is an element.
type results struct {
	all     tally
	kernels map[string]*tally
}

// parseTests reads what a test prints with -test.v.
func parseTests(text string) results {
	r := results{kernels: make(map[string]*tally)}
	for line := range strings.Lines(text) {
		verdict, rest, ok := strings.Cut(strings.TrimPrefix(strings.TrimLeft(line, " "), "--- "), ": ")
		if !ok || !strings.HasPrefix(strings.TrimLeft(line, " "), "--- ") {
			continue
		}
		name, _, _ := strings.Cut(strings.TrimSpace(rest), " ")
		r.all.add(verdict)
		for name != "." && name != "/" {
			k := path.Base(name)
			if r.kernels[k] == nil {
				r.kernels[k] = new(tally)
			}
			r.kernels[k].add(verdict)
			name = path.Dir(name)
		}
	}
	return r
}
