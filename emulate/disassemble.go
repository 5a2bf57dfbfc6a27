//go:build linux

package main

import (
	"bytes"
	"context"
	"fmt"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/twogather/twogather/emulate/internal/disassembly"
)

var functionsLine = regexp.MustCompile(`(?m)kernel (\S+) (\S+) (\S.*)$`)

// functions asks a primitive's test binary for the functions of its kernels, by "primitive kernel".
func (s *suite) functions(ctx context.Context, goarch string, t tested, binary string) (map[string][]string, error) {
	var out bytes.Buffer
	p := &program{name: "functions", binary: binary, args: []string{"-test.run=^TestFunctions$", "-test.v"}, output: &out}
	if err := anywhere(goarch).run(ctx, []*program{p}); err != nil {
		return nil, err
	}
	functions := make(map[string][]string)
	for _, m := range functionsLine.FindAllStringSubmatch(out.String(), -1) {
		functions[m[1]+" "+m[2]] = strings.Fields(m[3])
	}
	if p.status != 0 || len(functions) == 0 {
		return nil, fmt.Errorf("%s: TestFunctions: %s", t.name, lastLines(out.String(), 5))
	}
	return functions, nil
}

// disassemble checks the kernels' instructions on one architecture, primitive by primitive.
func (s *suite) disassemble(ctx context.Context, goarch, scratch string) (outcome, error) {
	b := s.builds[goarch]
	o := outcome{}
	for _, t := range b.packages {
		primitive := path.Base(t.name)
		if !slices.ContainsFunc(b.rows, func(r row) bool { return r.primitive == primitive }) {
			continue
		}
		l := line{processor: goarch, primitive: primitive, kernel: "disassembly", verdict: pass}
		binary := filepath.Join(scratch, "symbols-"+primitive+".test")
		if err := b.test(ctx, goarch, t, binary, "-ldflags="); err != nil { // with symbols
			return o, err
		}
		functions, err := s.functions(ctx, goarch, t, binary)
		if err != nil {
			return o, err
		}
		var kernels []disassembly.Kernel
		for _, r := range b.rows {
			if r.primitive != primitive {
				continue
			}
			k := disassembly.Kernel{Primitive: primitive, Name: r.kernel, Requires: r.requires, Functions: functions[primitive+" "+r.kernel]}
			if len(k.Functions) == 0 {
				l.fails("TestFunctions does not say which functions %s has", r.kernel)
				continue
			}
			kernels = append(kernels, k)
		}
		violations, superfluous, err := disassembly.Check(ctx, goarch, binary, module, kernels)
		if err != nil {
			return o, err
		}
		const most = 10
		for i, v := range append(violations, superfluous...) {
			if i == most {
				l.fails("and %d more", len(violations)+len(superfluous)-most)
				break
			}
			l.fails("%v", v)
		}
		l.detail = fmt.Sprintf("%d kernels", len(kernels))
		o.lines = append(o.lines, l)
	}
	return o, nil
}
