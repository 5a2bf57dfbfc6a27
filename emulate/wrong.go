//go:build linux

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
)

// Wrong kernels show that the runs catch faults: on each processor the best kernel of each primitive is replaced by one
// with a single wrong instruction, in a copy of its source that only this build sees, and its tests have to fail.

// wrongFor are the beginnings of instructions and what to put in their places, those that are never part of an address or a
// loop first.
var wrongFor = [][2]string{
	{"VPADDD", "VPSUBD"}, {"VADD", "VSUB"}, {"ZADD", "ZSUB"},
	{"VPXORQ", "VPORQ"}, {"VPXORD", "VPORD"}, {"VPXOR", "VPOR"}, {"VEOR", "VORR"}, {"PXOR", "POR"},
	{"XORL", "ORL"}, {"XORQ", "ORQ"}, {"EORW", "ORRW"}, {"EOR", "ORR"},
	{`WORD   \$0x04a`, "WORD   $0x046"}, // SVE's eor is orr
}

// wrongAssembly returns a file with one wrong instruction in the function of that name, or, where that has none that can
// be made wrong, anywhere.
func wrongAssembly(source, name string) (wrong, what string, ok bool) {
	start := strings.Index(source, "\nTEXT ·"+name+"(SB)")
	if start < 0 {
		return "", "", false
	}
	end := len(source)
	if i := strings.Index(source[start+1:], "\nTEXT "); i >= 0 {
		end = start + 1 + i
	}
	for _, part := range [][2]int{{start, end}, {0, len(source)}} {
		for _, w := range wrongFor {
			m := regexp.MustCompile(`(?m)^\t(` + w[0] + `)(?:\s|[0-9a-f]{5} // eor ).*$`).FindStringSubmatchIndex(source[part[0]:part[1]])
			if m == nil {
				continue
			}
			line := source[part[0]+m[0] : part[0]+m[1]]
			return source[:part[0]+m[2]] + w[1] + source[part[0]+m[3]:], strings.Join(strings.Fields(line), " ") + " is " + w[1], true
		}
	}
	return "", "", false
}

var goFunction = `(?m)^func %s\((.*)\) \{$`

// wrongGo returns a file in which the function of that name flips a bit of what dst points to.
func wrongGo(source, name string) (wrong, what string, ok bool) {
	m := regexp.MustCompile(fmt.Sprintf(goFunction, name)).FindStringSubmatchIndex(source)
	if m == nil {
		return "", "", false
	}
	parameters := source[m[2]:m[3]]
	var names []string
	for p := range strings.SplitSeq(parameters, ",") {
		names = append(names, strings.Fields(p)[0])
	}
	if !slices.Contains(names, "dst") {
		return "", "", false
	}
	right := "right" + name
	wrapper := fmt.Sprintf("func %s(%s) {\n\t%s(%s)\n\tdst[0] ^= 1\n}\n\n", name, parameters, right, strings.Join(names, ", "))
	return source[:m[0]] + wrapper + "func " + right + source[m[0]+len("func "+name):], "dst[0] ^= 1", true
}

// overlay writes a wrong copy of the file that has the function, and the list that makes the go command use it.
func overlay(dir, pkg, function string) (list, what string, err error) {
	files, err := filepath.Glob(filepath.Join(pkg, "*"))
	if err != nil {
		return "", "", err
	}
	for _, f := range files {
		makeWrong := wrongGo
		switch {
		case strings.HasSuffix(f, ".s"):
			makeWrong = wrongAssembly
		case !strings.HasSuffix(f, ".go") || strings.HasSuffix(f, "_test.go"):
			continue
		}
		b, err := os.ReadFile(f)
		if err != nil {
			return "", "", err
		}
		text, what, ok := makeWrong(string(b), function)
		if !ok {
			continue
		}
		replacement := filepath.Join(dir, filepath.Base(f))
		if err := os.WriteFile(replacement, []byte(text), 0o644); err != nil {
			return "", "", err
		}
		j, err := json.Marshal(map[string]map[string]string{"Replace": {f: replacement}})
		if err != nil {
			return "", "", err
		}
		list = filepath.Join(dir, "overlay.json")
		return list, what, os.WriteFile(list, j, 0o644)
	}
	return "", "", fmt.Errorf("nothing in %s can be made wrong in %s", function, pkg)
}

// wrongKernel is one of them.
type wrongKernel struct {
	row
	tested
	binary, what string
}

// newWrong builds the best kernel that a processor has to run, wrong, for each primitive that has tests.
func (s *suite) newWrong(ctx context.Context, p processor, scratch string) ([]wrongKernel, error) {
	b := s.builds[p.goarch]
	must, _ := mustRun(b.rows, p.features)
	var found []wrongKernel
	for _, t := range b.packages {
		i := slices.IndexFunc(must, func(r row) bool { return r.primitive == path.Base(t.name) })
		if i < 0 {
			continue
		}
		functions, err := s.functions(ctx, p.goarch, t, b.binary(t))
		if err != nil {
			return nil, err
		}
		dir := filepath.Join(scratch, "wrong", p.goarch, must[i].primitive+"-"+must[i].kernel)
		w := wrongKernel{row: must[i], tested: t, binary: filepath.Join(dir, "wrong.test")}
		names := functions[must[i].primitive+" "+must[i].kernel]
		if len(names) == 0 {
			return nil, fmt.Errorf("TestFunctions does not say which functions %s has", must[i].kernel)
		}
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return nil, err
		}
		list, what, err := overlay(dir, t.dir, strings.TrimPrefix(names[0], module+"/"+t.name+"."))
		if err != nil {
			return nil, err
		}
		w.what = path.Base(names[0]) + ": " + what
		if err := b.test(ctx, p.goarch, t, w.binary, "-overlay="+list); err != nil {
			return nil, err
		}
		found = append(found, w)
	}
	return found, nil
}

// runWrong runs wrong kernels on a processor: each has to be caught, and it alone.
func (s *suite) runWrong(ctx context.Context, p processor, kernels []wrongKernel) outcome {
	start := time.Now()
	_, mustEnv := mustRun(s.builds[p.goarch].rows, p.features)
	env := []string{"TWOGATHER_TEST_SIZE=" + boundary, mustEnv}
	limited, cancel := context.WithTimeoutCause(ctx, s.limit, fmt.Errorf("the time limit of %v was reached", s.limit))
	defer cancel()
	try := func(k wrongKernel, args ...string) (results, int, error) {
		var out bytes.Buffer
		g := &program{name: "wrong-" + k.primitive + "-" + k.kernel, binary: k.binary, env: env, dir: k.dir, output: &out, status: notRun,
			args: append(args, "-test.v", "-test.short", "-test.timeout=0")}
		err := p.machine.run(limited, []*program{g})
		s.log(p, []*program{g}, map[string]*bytes.Buffer{g.name: &out})
		return parseTests(out.String()), g.status, err
	}
	o := outcome{}
	for _, k := range kernels {
		l := line{processor: p.name, primitive: k.primitive, kernel: k.kernel, verdict: caught, detail: k.what}
		r, status, err := try(k, "-test.failfast")
		if t := r.kernels[k.kernel]; err == nil && status > 0 && (t == nil || t.fail == 0) {
			// Another test was quicker.
			r, status, err = try(k, "-test.run=./^"+k.kernel+"$")
		}
		switch t := r.kernels[k.kernel]; {
		case err != nil:
			l.fails("%v", err)
		case status == 0:
			l.fails("the wrong kernel passes all tests (%s)", k.what)
		case t == nil || t.fail == 0:
			l.fails("the wrong kernel's tests fail, and none is called by its name (%s)", k.what)
		}
		for name, t := range r.kernels {
			if name != k.kernel && t.fail > 0 && slices.ContainsFunc(s.builds[p.goarch].rows, func(r row) bool { return r.kernel == name }) {
				l.fails("%d tests of %s fail, which is right", t.fail, name)
			}
		}
		o.lines = append(o.lines, l)
	}
	o.took = time.Since(start)
	return o
}
