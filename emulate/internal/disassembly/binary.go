//go:build linux

package disassembly

import (
	"cmp"
	"context"
	"debug/elf"
	"debug/gosym"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/twogather/twogather/hwfeatures"
)

// A Helper is a function in assembly that Go code calls by itself, behind a condition that no table shows.
type Helper struct {
	Name     string // with its package's path in the module
	Requires hwfeatures.Set
	Extra    string // for the assembler: what has no feature here
}

// Helpers are all of them. An assembly function that neither a kernel reaches nor this list has is refused.
var Helpers = []Helper{
	{"hwfeatures.cpuid", 0, ""},
	{"hwfeatures.xgetbv", 0, "+xsave"}, // behind CPUID's OSXSAVE
	{"hwfeatures.vectorBytes", hwfeatures.ARMSVE, ""},
	{"internal/instructions.rdtsc", 0, ""},
	{"modes.xorAVX2", hwfeatures.IntelAVX2, ""}, // these behind hasAVX2
	{"modes.foldAVX2", hwfeatures.IntelAVX2, ""},
	{"modes.fillTweaksAVX2", hwfeatures.IntelAVX2, ""},
	{"modes.fillOffsetsAVX2", hwfeatures.IntelAVX2, ""},
	{"modes.collectAVX2", hwfeatures.IntelAVX2, ""},
	{"modes.distributeAVX2", hwfeatures.IntelAVX2, ""},
	{"modes.prefetchSSE", 0, ""},
	{"twofish.fillCountersAVX2", hwfeatures.IntelAVX2, ""}, // behind hasAVX2

	// Kernels of ghash, behind its table, in the binaries of primitives that use it.
	{"internal/ghash.updateAVX512", hwfeatures.IntelAVX512 | hwfeatures.IntelVAESVPCLMUL, ""},
	{"internal/ghash.updateAVX2", hwfeatures.IntelAVX2 | hwfeatures.IntelVAESVPCLMUL, ""},
	{"internal/ghash.updateSSE", hwfeatures.IntelPCLMUL | hwfeatures.IntelSSSE3, ""},
	{"internal/ghash.updatePMULL", hwfeatures.ARMNEON | hwfeatures.ARMPMULL, ""},
}

// A program is a built binary's functions.
type program struct {
	*assembler
	binary    string
	functions []function // by address
	byName    map[string]int
	decoded   map[int][]instruction
}

type function struct {
	name     string
	from, to uint64
	assembly bool
}

// Check looks at every kernel, and at the assembly of packages below module that no kernel reaches. superfluous is what
// kernels require and do not use.
func Check(ctx context.Context, goarch, binary, module string, kernels []Kernel) (violations, superfluous []Violation, err error) {
	dir, err := os.MkdirTemp("", "disassembly-")
	if err != nil {
		return nil, nil, err
	}
	defer os.RemoveAll(dir)
	a, err := newAssembler(ctx, goarch, dir)
	if err != nil {
		return nil, nil, err
	}
	p, err := open(a, binary, module)
	if err != nil {
		return nil, nil, err
	}
	reached := make(map[int]bool)
	for _, k := range kernels {
		where := k.Primitive + " " + k.Name
		var roots []int
		for _, f := range k.Functions {
			i, ok := p.byName[f]
			if !ok {
				return nil, nil, fmt.Errorf("%s has the function %s, which %s does not", where, f, binary)
			}
			roots = append(roots, i)
		}
		set, err := p.reach(ctx, roots)
		if err != nil {
			return nil, nil, err
		}
		list, err := p.assemblyOf(ctx, set)
		if err != nil {
			return nil, nil, err
		}
		maps.Copy(reached, set)
		if len(list) == 0 {
			continue // Go, which needs nothing
		}
		v, err := a.check(ctx, where, list, k.Requires)
		if err != nil {
			return nil, nil, err
		}
		violations = append(violations, v...)
		// What is required and is not needed would keep the kernel from processors that could run it.
		for f := range k.Requires.All() {
			without := hwfeatures.Capabilities() &^ hwfeatures.Capabilities().Without(f)
			if without&k.Requires != f || a.extensions[f] == "" {
				continue // others build on it
			}
			v, err := a.check(ctx, where, list, k.Requires&^f)
			if err != nil {
				return nil, nil, err
			}
			if len(v) == 0 {
				superfluous = append(superfluous, Violation{where, fmt.Sprintf("requires %v, and no instruction needs it", f)})
			}
		}
	}
	for i, f := range p.functions {
		if !f.assembly || reached[i] {
			continue
		}
		name := strings.TrimSuffix(strings.TrimPrefix(f.name, module+"/"), ".abi0")
		h := slices.IndexFunc(Helpers, func(h Helper) bool { return h.Name == name })
		if h < 0 {
			violations = append(violations, Violation{name, "no kernel reaches this assembly, and it is not listed in emulate/internal/disassembly"})
			continue
		}
		list, err := p.decode(ctx, i)
		if err != nil {
			return nil, nil, err
		}
		with := *a.target
		with.march += Helpers[h].Extra
		v, err := (&assembler{&with, a.root, a.dir}).check(ctx, name, list, Helpers[h].Requires)
		if err != nil {
			return nil, nil, err
		}
		violations = append(violations, v...)
	}
	return violations, superfluous, nil
}

// open reads the functions of the module in a binary that was not stripped.
func open(a *assembler, binary, module string) (*program, error) {
	f, err := elf.Open(binary)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	symbols, err := f.Symbols()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", binary, err)
	}
	lines, text := f.Section(".gopclntab"), f.Section(".text")
	if lines == nil || text == nil {
		return nil, fmt.Errorf("%s: not a Go program", binary)
	}
	data, err := lines.Data()
	if err != nil {
		return nil, err
	}
	table, err := gosym.NewTable(nil, gosym.NewLineTable(data, text.Addr))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", binary, err)
	}
	p := &program{assembler: a, binary: binary, byName: make(map[string]int), decoded: make(map[int][]instruction)}
	for _, s := range symbols {
		if elf.ST_TYPE(s.Info) != elf.STT_FUNC || s.Size == 0 || !strings.HasPrefix(s.Name, module+"/") {
			continue
		}
		file, _, _ := table.PCToLine(s.Value)
		p.functions = append(p.functions, function{s.Name, s.Value, s.Value + s.Size, strings.HasSuffix(file, ".s")})
	}
	slices.SortFunc(p.functions, func(a, b function) int { return cmp.Compare(a.from, b.from) })
	for i, f := range p.functions {
		p.byName[f.name] = i
		// Assembly has its own calling convention; where Go code calls it, a wrapper has the name without the suffix.
		if name, ok := strings.CutSuffix(f.name, ".abi0"); ok {
			p.byName[name] = i
		}
	}
	if len(p.functions) == 0 {
		return nil, fmt.Errorf("%s: no function of %s", binary, module)
	}
	return p, nil
}

func (p *program) decode(ctx context.Context, i int) ([]instruction, error) {
	if p.decoded[i] == nil {
		f := p.functions[i]
		list, err := p.disassemble(ctx, p.binary, f.name, f.from, f.to)
		if err != nil {
			return nil, err
		}
		p.decoded[i] = list
	}
	return p.decoded[i], nil
}

// reach returns the module's functions that calls and jumps lead to.
func (p *program) reach(ctx context.Context, roots []int) (map[int]bool, error) {
	set := make(map[int]bool)
	for len(roots) > 0 {
		i := roots[len(roots)-1]
		roots = roots[:len(roots)-1]
		if set[i] {
			continue
		}
		set[i] = true
		list, err := p.decode(ctx, i)
		if err != nil {
			return nil, err
		}
		for _, in := range list {
			to := p.goesTo(in)
			j, ok := slices.BinarySearchFunc(p.functions, to, func(f function, to uint64) int { return cmp.Compare(f.from, to) })
			if !ok {
				j-- // into the middle of one
			}
			if j >= 0 && p.functions[j].from <= to && to < p.functions[j].to {
				roots = append(roots, j)
			}
		}
	}
	return set, nil
}

// assemblyOf returns the instructions of those functions that are assembly.
func (p *program) assemblyOf(ctx context.Context, set map[int]bool) ([]instruction, error) {
	var all []instruction
	for _, i := range slices.Sorted(maps.Keys(set)) {
		if !p.functions[i].assembly {
			continue
		}
		list, err := p.decode(ctx, i)
		if err != nil {
			return nil, err
		}
		all = append(all, list...)
	}
	return all, nil
}
