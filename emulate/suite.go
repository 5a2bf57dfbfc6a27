//go:build linux

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/twogather/twogather/hwfeatures"
)

const module = "github.com/twogather/twogather"

// A tested is a package whose tests run on every processor.
type tested struct {
	name string // its path in the module
	dir  string
}

// A build is what an architecture's processors run.
type build struct {
	dir      string
	packages []tested
	bench    string // bench-slope
	rows     []row
}

// binary is the test binary of a package.
func (b *build) binary(p tested) string {
	return filepath.Join(b.dir, strings.ReplaceAll(p.name, "/", "-")+".test")
}

// notTested are packages, and folders of them, whose tests use kernels but do not test them.
var notTested = []string{"cmd/", "emulate", "vectors"}

// findPackages returns the packages whose tests have to do with the processor: those that depend on hwfeatures.
func findPackages(ctx context.Context, goarch string) ([]tested, error) {
	out, err := goCommand(ctx, goarch, nil, "list", "-test", "-json=ImportPath,Dir,Deps", module+"/...")
	if err != nil {
		return nil, err
	}
	var found []tested
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		var p struct {
			ImportPath, Dir string
			Deps            []string
		}
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			return found, nil
		} else if err != nil {
			return nil, err
		}
		name, ok := strings.CutSuffix(strings.TrimPrefix(p.ImportPath, module+"/"), ".test")
		if !ok || slices.ContainsFunc(notTested, func(n string) bool { return strings.HasPrefix(name, n) }) {
			continue
		}
		if slices.ContainsFunc(p.Deps, func(d string) bool {
			d, _, _ = strings.Cut(d, " ")
			return d == module+"/hwfeatures"
		}) {
			found = append(found, tested{name, p.Dir})
		}
	}
}

func goCommand(ctx context.Context, goarch string, env []string, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Env = append(append(os.Environ(), "CGO_ENABLED=0", "GOOS=linux", "GOARCH="+goarch, "GOFLAGS="), env...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go %s: %v\n%s", strings.Join(args, " "), err, stderr.Bytes())
	}
	return out, nil
}

// newBuild builds the tests and bench-slope, and reads the tables of kernels.
func newBuild(ctx context.Context, dir, goarch string) (*build, error) {
	b := &build{dir: dir, bench: filepath.Join(dir, "bench-slope")}
	var err error
	if b.packages, err = findPackages(ctx, goarch); err != nil {
		return nil, err
	}
	if _, err := goCommand(ctx, goarch, nil, "build", "-ldflags=-s -w", "-o", b.bench, module+"/cmd/bench-slope"); err != nil {
		return nil, err
	}
	for _, p := range b.packages {
		if err := b.test(ctx, goarch, p, b.binary(p)); err != nil {
			return nil, err
		}
	}
	// The tables are the same on every processor of the architecture.
	var list bytes.Buffer
	p := &program{name: "list", binary: b.bench, args: []string{"list"}, output: &list}
	if err := anywhere(goarch).run(ctx, []*program{p}); err != nil {
		return nil, err
	}
	if b.rows, err = parseList(list.String()); err != nil {
		return nil, err
	}
	return b, nil
}

// anywhere is the quickest machine of an architecture.
func anywhere(goarch string) machine {
	if goarch == "amd64" {
		return native{} // package tools unpacks programs for amd64
	}
	return onQEMU{"max", "128"}
}

// test builds a package's test binary.
func (b *build) test(ctx context.Context, goarch string, p tested, binary string, flags ...string) error {
	args := append([]string{"test", "-c", "-ldflags=-s -w", "-o", binary}, flags...)
	_, err := goCommand(ctx, goarch, nil, append(args, module+"/"+p.name)...)
	return err
}

// A line is one of the final table.
type line struct {
	processor, primitive, kernel, verdict, detail string
	problems                                      []string
}

const (
	pass   = "PASS"
	fail   = "FAIL"
	absent = "absent"
	caught = "caught"
)

// fails notes what is wrong.
func (l *line) fails(format string, args ...any) {
	l.verdict = fail
	l.problems = append(l.problems, fmt.Sprintf(format, args...))
}

// An outcome is what came of one processor.
type outcome struct {
	lines    []line
	notes    []string
	selected map[string]string
	counts   counts
	took     time.Duration
}

// A suite is one run of the command.
type suite struct {
	builds   map[string]*build
	recorded recorded
	record   bool
	limit    time.Duration // for one processor
	logs     string        // the folder for everything that programs print
	say      func(format string, args ...any)
}

// counted are bench-slope's commands that count instructions; typical are the operations that the final table shows, one of
// each.
var (
	counted = []string{"cipher", "erasure", "raid6"}
	typical = []string{"ECB-enc", "encode-4", "gen-8"}
)

// mustRun returns the rows that a processor has to run, and the environment that says so.
func mustRun(rows []row, features hwfeatures.Set) (must []row, env string) {
	var names []string
	for _, r := range rows {
		if features.Has(r.requires) {
			must = append(must, r)
			names = append(names, r.primitive+"="+r.kernel)
		}
	}
	return must, "TWOGATHER_TEST_MUST_RUN=" + strings.Join(names, ",")
}

// skipped are tests of packages other than primitives' that take long and do not reach kernels, or reach them as the
// primitives' own do: known answers chained block by block. They run natively. A name here that is no test's skips nothing.
const skipped = "^TestKnownAnswers$|^TestKitOverStandardLibrary$"

// withoutKernels are tests of primitives' packages that take long and do not depend on kernels: linear algebra, goroutines,
// processes, and what is read from the assembly's text.
const withoutKernels = "^Test(Forced|Invert|Coefficients|Locate.*|LargeLosses|StreamMemory|Goroutines|Concurrency|Paths)$"

// run runs everything on one processor.
func (s *suite) run(ctx context.Context, p processor) outcome {
	start := time.Now()
	b := s.builds[p.goarch]
	o := outcome{}
	must, mustEnv := mustRun(b.rows, p.features)
	primitives := make(map[string]bool)
	for _, r := range b.rows {
		primitives[r.primitive] = true
	}

	env := []string{"TWOGATHER_TEST_SIZE=" + p.size, mustEnv}
	if p.off != 0 {
		env = append(env, "TWOGATHER_TEST_OFF="+strings.ReplaceAll(p.off.String(), " ", ","))
	}
	outputs := make(map[string]*bytes.Buffer)
	var programs []*program
	add := func(p *program) {
		outputs[p.name] = new(bytes.Buffer)
		p.output, p.status = outputs[p.name], notRun
		programs = append(programs, p)
	}
	_, isNative := p.machine.(native)
	add(&program{name: "hwf", binary: b.bench, args: []string{"hwf"}})
	add(&program{name: "list", binary: b.bench, args: []string{"list"}})
	if !isNative {
		for _, c := range counted {
			add(&program{name: "counts-" + c, binary: b.bench, counts: true,
				args: []string{c, "--count-instructions", "--csv", "--kernel", "all"}})
		}
	}
	packages := b.packages
	if s.record {
		packages = nil // figures are all that it takes
	}
	for _, t := range packages {
		args := []string{"-test.v", "-test.short", "-test.timeout=0"}
		if primitives[path.Base(t.name)] {
			args = append(args, "-test.skip="+withoutKernels)
		} else {
			args = append(args, "-test.skip="+skipped)
		}
		add(&program{name: t.name, binary: b.binary(t), args: args, env: env, dir: t.dir})
	}
	limited, cancel := context.WithTimeoutCause(ctx, s.limit, fmt.Errorf("the time limit of %v was reached", s.limit))
	defer cancel()
	err := p.machine.run(limited, programs)
	s.log(p, programs, outputs)
	ended := func(name string) error {
		i := slices.IndexFunc(programs, func(p *program) bool { return p.name == name })
		switch status := programs[i].status; {
		case status == notRun && err != nil:
			return fmt.Errorf("%s did not come to its end: %v", name, err)
		case status == notRun:
			return fmt.Errorf("%s did not come to its end", name)
		case status != 0:
			return fmt.Errorf("%s ended with exit status %d: %s", name, status, lastLines(outputs[name].String(), 3))
		}
		return nil
	}

	// The processor itself.
	features := line{processor: p.name, primitive: "features", verdict: pass}
	if err := ended("hwf"); err != nil {
		features.fails("%v", err)
	} else if detected, selected, err := parseHWF(outputs["hwf"].String()); err != nil {
		features.fails("%v", err)
	} else {
		o.selected = selected
		got := detected & hwfeatures.Capabilities()
		features.detail = got.String()
		if missing := p.features &^ got; missing != 0 {
			features.fails("hwfeatures does not see %v", missing)
		}
		if more := got &^ p.features; more != 0 {
			features.fails("hwfeatures sees %v, which is not there", more)
		}
		for primitive := range primitives {
			key := p.name + " " + primitive + " selects"
			if want, got := s.recorded[key], selected[primitive]; want != got && !s.record && !isNative {
				features.fails("%s selects %q, recorded is %q; %s", primitive, got, want, howToRecord)
			}
		}
	}
	if err := ended("list"); err != nil {
		features.fails("%v", err)
	} else if rows, err := parseList(outputs["list"].String()); err != nil {
		features.fails("%v", err)
	} else if len(rows) != len(b.rows) {
		features.fails("bench-slope lists %d kernels here and %d elsewhere", len(rows), len(b.rows))
	} else {
		for i, r := range rows {
			if r.usable != slices.ContainsFunc(must, func(m row) bool { return m.primitive == r.primitive && m.kernel == r.kernel }) {
				features.fails("bench-slope list calls %s %s usable: %v", b.rows[i].primitive, b.rows[i].kernel, r.usable)
			}
		}
	}
	byPackage := make(map[string]results)
	for _, t := range packages {
		byPackage[t.name] = parseTests(outputs[t.name].String())
	}
	if p.off != 0 && !s.record {
		features.detail += "; announced and off: " + p.off.String()
		if t := byPackage["hwfeatures"].kernels["TestOff"]; t == nil || t.pass != 1 {
			features.fails("that CPUID announces %v is not shown by hwfeatures' TestOff", p.off)
		}
	}
	o.lines = append(o.lines, features)

	// Packages that are no primitive's.
	for _, t := range packages {
		if primitives[path.Base(t.name)] {
			continue
		}
		l := line{processor: p.name, primitive: t.name, verdict: pass}
		n := byPackage[t.name].all
		l.detail = fmt.Sprintf("%d tests", n.pass)
		if err := ended(t.name); err != nil {
			l.fails("%v", err)
		} else if n.pass == 0 {
			l.fails("no test ran")
		}
		o.lines = append(o.lines, l)
	}

	// Kernels.
	var countsErr error
	if !isNative {
		o.counts = make(counts)
		for _, c := range counted {
			err := ended("counts-" + c)
			if err == nil {
				err = o.counts.parse(outputs["counts-"+c].String(), b.rows)
			}
			countsErr = errors.Join(countsErr, err)
		}
	}
	for _, r := range b.rows {
		l := line{processor: p.name, primitive: r.primitive, kernel: r.kernel, verdict: pass}
		i := slices.IndexFunc(packages, func(t tested) bool { return path.Base(t.name) == r.primitive })
		if missing := r.requires &^ p.features; missing != 0 {
			l.verdict, l.detail = absent, "requires "+missing.String()
			if i >= 0 {
				if t := byPackage[packages[i].name].kernels[r.kernel]; t != nil && t.pass > 0 {
					l.fails("%d of its tests ran, though the processor lacks %v", t.pass, missing)
				}
			}
			o.lines = append(o.lines, l)
			continue
		}
		if s.record {
			l.count(s, &o, countsErr)
			o.lines = append(o.lines, l)
			continue
		}
		if i < 0 {
			l.fails("no package %s has tests", r.primitive)
			o.lines = append(o.lines, l)
			continue
		}
		name := packages[i].name
		got := byPackage[name]
		t := got.kernels[r.kernel]
		if t == nil {
			t = new(tally)
		}
		l.detail = fmt.Sprintf("%d tests", t.pass)
		switch err := ended(name); {
		case t.fail > 0:
			l.fails("%d of its tests failed", t.fail)
		case t.pass == 0:
			l.fails("none of its tests ran")
		case t.skip > 0:
			l.fails("%d of its tests were skipped", t.skip)
		case err != nil && !others(got, r, must):
			l.fails("%v", err) // and no kernel's test to blame
		}
		if !isNative {
			l.count(s, &o, countsErr)
		}
		o.lines = append(o.lines, l)
	}
	o.took = time.Since(start)
	return o
}

// others reports whether a test of another kernel failed.
func others(got results, r row, must []row) bool {
	for _, m := range must {
		if t := got.kernels[m.kernel]; m.primitive == r.primitive && m.kernel != r.kernel && t != nil && t.fail > 0 {
			return true
		}
	}
	return false
}

// count adds what is to be said about the kernel's instructions. A primitive that bench-slope has no benchmark of has none.
func (l *line) count(s *suite, o *outcome, err error) {
	got := o.counts[l.primitive+" "+l.kernel]
	if err != nil {
		l.fails("instructions: %v", err)
		return
	}
	if len(got) == 0 {
		for k := range o.counts {
			if strings.HasPrefix(k, l.primitive+" ") {
				l.fails("bench-slope counts no instructions of it, though of others")
				break
			}
		}
		return
	}
	for _, operation := range typical {
		if v, ok := got[operation]; ok {
			l.detail = strings.TrimSpace(fmt.Sprintf("%s  %.3g instr/byte", l.detail, v))
		}
	}
	if s.record {
		return
	}
	wrong, notes := compareCounts(got, s.recorded[l.processor+" "+l.primitive+" "+l.kernel])
	for _, w := range wrong {
		l.fails("%s", w)
	}
	for _, n := range notes {
		o.notes = append(o.notes, fmt.Sprintf("%s %s %s: %s", l.processor, l.primitive, l.kernel, n))
	}
}

// log keeps everything that the programs printed.
func (s *suite) log(p processor, programs []*program, outputs map[string]*bytes.Buffer) {
	for _, g := range programs {
		text := fmt.Sprintf("%s\n# exit status %d\n", outputs[g.name].String(), g.status)
		os.WriteFile(filepath.Join(s.logs, strings.ReplaceAll(p.name+"-"+g.name, "/", "-")+".txt"), []byte(text), 0o644)
	}
}

func lastLines(text string, n int) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	return strings.Join(lines[max(0, len(lines)-n):], " | ")
}
