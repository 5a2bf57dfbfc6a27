//go:build linux

package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/twogather/twogather/emulate/internal/disassembly"
	"github.com/twogather/twogather/emulate/internal/tools"
	"github.com/twogather/twogather/hwfeatures"
)

// llvm-mca computes how long a processor takes for a loop, from LLVM's tables of its units. It is a model, and
// what it says is never called a measurement: README.md says where it is known to be wrong.

var llvm = tools.Set{Name: "llvm-19-trixie-1", Suite: "trixie", Packages: []string{"llvm-19"}, Libraries: true}

// A modelled is a processor that llvm-mca has a model of.
type modelled struct {
	name, mcpu string
	features   hwfeatures.Set
}

const (
	modelAVX2   = hwfeatures.IntelSSSE3 | hwfeatures.IntelBMI2 | hwfeatures.IntelAVX2
	modelAVX512 = modelAVX2 | hwfeatures.IntelGFNI | hwfeatures.IntelAVX512 | hwfeatures.IntelAVX512VBMI
)

var models = []modelled{
	{"Ice Lake", "icelake-server", modelAVX512},
	{"Sapphire Rapids", "sapphirerapids", modelAVX512},
	{"Zen 3", "znver3", modelAVX2},
	{"Zen 4", "znver4", modelAVX512},
	{"Alder Lake", "alderlake", modelAVX2 | hwfeatures.IntelGFNI},
}

// loopBytes says what an iteration of a kernel's main loop does for how many bytes of data: in Twofish, which takes 16 rounds
// for a block of 16 bytes, as many as the blocks times the rounds of an iteration.
var loopBytes = map[string]int{
	"twofish avx512-permute":    128 * 2,
	"twofish avx512-shuffle":    128 * 2,
	"twofish avx2-hybrid":       32*1 + 2*4, // one group of two, and a pair of blocks of scalar code
	"twofish avx2-gfni-shuffle": 32 * 1,
	"twofish avx2-shuffle":      32 * 1,
	"twofish avx2-vpgather":     16 * 2,
	"twofish avx2-manual":       16 * 2,
	"twofish avx2-manual-8":     8 * 2,
	"twofish amd64-scalar-bmi2": 4 * 1,
	"twofish amd64-scalar":      4 * 1,
}

// model prints what llvm-mca says of the main loop of every kernel in loopBytes.
func model(ctx context.Context, scratch string, say func(format string, args ...any)) error {
	root, err := tools.Get(ctx, llvm)
	if err != nil {
		return err
	}
	say("building for amd64")
	b, err := newBuild(ctx, scratch, "amd64")
	if err != nil {
		return err
	}
	s := &suite{builds: map[string]*build{"amd64": b}, say: say}
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintf(w, "\nmodel: cycles per byte in the main loop\tinstr/byte\t")
	for _, m := range models {
		fmt.Fprintf(w, "%s\t", m.name)
	}
	fmt.Fprintln(w)
	found := 0
	for _, t := range b.packages {
		primitive := path.Base(t.name)
		if !slices.ContainsFunc(b.rows, func(r row) bool { return loopBytes[r.primitive+" "+r.kernel] > 0 && r.primitive == primitive }) {
			continue
		}
		binary := filepath.Join(scratch, "model-"+primitive+".test")
		if err := b.test(ctx, "amd64", t, binary, "-ldflags="); err != nil { // with symbols
			return err
		}
		functions, err := s.functions(ctx, "amd64", t, binary)
		if err != nil {
			return err
		}
		for _, r := range b.rows {
			kernel := r.primitive + " " + r.kernel
			if r.primitive != primitive || loopBytes[kernel] == 0 {
				continue
			}
			found++
			for _, f := range functions[kernel] {
				operation := strings.TrimSuffix(f[strings.LastIndexByte(f, '.')+1:], ".abi0")
				if !strings.HasPrefix(operation, "encrypt") && !strings.HasPrefix(operation, "decrypt") {
					continue
				}
				loop, err := disassembly.MainLoop(ctx, "amd64", binary, module, f)
				if err != nil {
					return err
				}
				say("%s %s: a loop of %d instructions", kernel, operation, len(loop))
				fmt.Fprintf(w, "%s %s\t%.2f\t", kernel, operation[:len("encrypt")], float64(len(loop))/float64(loopBytes[kernel]))
				for _, m := range models {
					if !m.features.Has(r.requires) {
						fmt.Fprint(w, "-\t")
						continue
					}
					cycles, err := modelCycles(ctx, root, m.mcpu, loop)
					if err != nil {
						return fmt.Errorf("%s on %s: %w", f, m.name, err)
					}
					fmt.Fprintf(w, "%.2f\t", cycles/float64(loopBytes[kernel]))
				}
				fmt.Fprintln(w)
			}
		}
	}
	if found != len(loopBytes) {
		return errors.New("a kernel in the list of model.go does not exist")
	}
	return w.Flush()
}

var totalCycles = regexp.MustCompile(`(?m)^Total Cycles:\s+(\d+)$`)

// modelCycles returns how many cycles an iteration of the loop takes in the steady state.
func modelCycles(ctx context.Context, root, mcpu string, loop []string) (float64, error) {
	const few, many = 30, 90
	var total [2]float64
	for i, iterations := range []int{few, many} {
		args := tools.Loaded(root, "usr/lib/llvm-19/bin/llvm-mca", "-mtriple=x86_64", "-mcpu="+mcpu,
			"-iterations="+strconv.Itoa(iterations), "-instruction-info=false", "-resource-pressure=false")
		cmd := exec.CommandContext(ctx, args[0], args[1:]...)
		cmd.Stdin = strings.NewReader(strings.Join(loop, "\n") + "\n")
		var stderr bytes.Buffer
		cmd.Stderr = &stderr
		out, err := cmd.Output()
		if err != nil {
			return 0, fmt.Errorf("llvm-mca: %v\n%s", err, stderr.Bytes())
		}
		m := totalCycles.FindSubmatch(out)
		if m == nil {
			return 0, fmt.Errorf("llvm-mca prints no total:\n%s", out)
		}
		total[i], _ = strconv.ParseFloat(string(m[1]), 64)
	}
	return (total[1] - total[0]) / (many - few), nil
}
