//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"

	"github.com/twogather/twogather/emulate/internal/bochs"
	"github.com/twogather/twogather/emulate/internal/qemu"
	"github.com/twogather/twogather/hwfeatures"
)

// A processor is one that kernels are tested on.
type processor struct {
	name   string
	goarch string
	// features are the capabilities that it has, and all that it has.
	features hwfeatures.Set
	// off are capabilities that its CPUID announces and its operating system does not enable.
	off hwfeatures.Set
	// size is the tests': least where another processor runs the same kernels.
	size string
	machine
}

const (
	boundary = "boundary"
	least    = "least"
)

// A machine runs programs, one after the other.
type machine interface {
	run(ctx context.Context, programs []*program) error
}

// A program is one of those. Its status is notRun until it ended.
type program struct {
	name      string
	binary    string
	args, env []string
	dir       string // of the package that it tests
	counts    bool   // its instructions
	output    io.Writer
	status    int
}

const notRun = -1

// What the x86 processors have in common, and the arm64 ones.
const (
	x86   = hwfeatures.IntelSSSE3 | hwfeatures.IntelPCLMUL | hwfeatures.IntelBMI2 | hwfeatures.IntelAVX2
	x86GF = x86 | hwfeatures.IntelVAESVPCLMUL | hwfeatures.IntelGFNI
	zmm   = hwfeatures.IntelAVX512 | hwfeatures.IntelAVX512VBMI
	neon  = hwfeatures.ARMNEON | hwfeatures.ARMAES | hwfeatures.ARMPMULL
)

// processors is the table. The names before the stroke are those of emulate/x86 and emulate/arm64, what follows it is the
// vector length.
var processors = []processor{
	{"avx512", "amd64", x86GF | zmm, 0, boundary, onBochs("avx512")},
	{"avx512-off", "amd64", x86GF, zmm, least, onBochs("avx512-off")},
	{"gfni", "amd64", x86GF, 0, boundary, onBochs("gfni")},
	{"avx2", "amd64", x86, 0, boundary, onBochs("avx2")},
	{"max/128", "arm64", neon | hwfeatures.ARMSVE | hwfeatures.ARMSVE2, 0, boundary, onQEMU{"max", "128"}},
	{"max/256", "arm64", neon | hwfeatures.ARMSVE | hwfeatures.ARMSVE2, 0, boundary, onQEMU{"max", "256"}},
	{"max/512", "arm64", neon | hwfeatures.ARMSVE | hwfeatures.ARMSVE2, 0, boundary, onQEMU{"max", "512"}},
	{"max/1024", "arm64", neon | hwfeatures.ARMSVE | hwfeatures.ARMSVE2, 0, boundary, onQEMU{"max", "1024"}},
	{"max/2048", "arm64", neon | hwfeatures.ARMSVE | hwfeatures.ARMSVE2, 0, boundary, onQEMU{"max", "2048"}},
	{"max/off", "arm64", neon, 0, least, onQEMU{"max", "off"}},
	{"a64fx/512", "arm64", neon | hwfeatures.ARMSVE, 0, least, onQEMU{"a64fx", "512"}},
	{"cortex-a76", "arm64", neon, 0, boundary, onQEMU{"cortex-a76", ""}},
	{"neoverse-n1", "arm64", neon, 0, least, onQEMU{"neoverse-n1", ""}},
}

// onBochs is a machine by its name in package bochs.
type onBochs string

func (name onBochs) run(ctx context.Context, programs []*program) error {
	var guests []bochs.Program
	for _, p := range programs {
		g := bochs.Program{Binary: p.binary, Args: p.args, Env: p.env, Output: p.output}
		if data := p.dir + "/testdata"; p.dir != "" {
			if _, err := os.Stat(data); err == nil {
				g.Files = []string{data}
			}
		}
		guests = append(guests, g)
	}
	m := bochs.Machine{Processor: bochs.Find(string(name)), Megabytes: 512}
	statuses, err := m.Run(ctx, guests)
	for i, p := range programs {
		p.status = statuses[i]
	}
	return err
}

// onQEMU is a processor and a vector length of package qemu.
type onQEMU struct{ cpu, length string }

func (m onQEMU) run(ctx context.Context, programs []*program) error {
	return inTurn(ctx, programs, func(p *program) (*exec.Cmd, error) {
		return qemu.Command(ctx, m.cpu, m.length, p.counts, p.binary, p.args...)
	})
}

// native is the machine at hand.
type native struct{}

func (native) run(ctx context.Context, programs []*program) error {
	return inTurn(ctx, programs, func(p *program) (*exec.Cmd, error) {
		return exec.CommandContext(ctx, p.binary, p.args...), nil
	})
}

func inTurn(ctx context.Context, programs []*program, command func(p *program) (*exec.Cmd, error)) error {
	for _, p := range programs {
		cmd, err := command(p)
		if err != nil {
			return err
		}
		if cmd.Env == nil {
			cmd.Env = os.Environ()
		}
		cmd.Env = append(cmd.Env, p.env...)
		cmd.Dir = p.dir
		cmd.Stdout, cmd.Stderr = p.output, p.output
		err = cmd.Run()
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if exit, ok := errors.AsType[*exec.ExitError](err); ok && !exit.Exited() {
			fmt.Fprintln(p.output, err) // a signal
		} else if err != nil && !ok {
			return err
		}
		p.status = cmd.ProcessState.ExitCode()
		if p.status < 0 {
			p.status = 128
		}
	}
	return nil
}

// findProcessors returns those of the given names, or all.
func findProcessors(names []string) ([]processor, error) {
	if len(names) == 0 {
		return processors, nil
	}
	var found []processor
	var all string
	for _, p := range processors {
		all += " " + p.name
	}
	for _, n := range names {
		i := slices.IndexFunc(processors, func(p processor) bool { return p.name == n })
		if i < 0 {
			return nil, fmt.Errorf("unknown processor %q; the processors are%s", n, all)
		}
		found = append(found, processors[i])
	}
	return found, nil
}
