//go:build linux

// Package qemu runs arm64 Linux programs under QEMU's user mode, on a processor and with a vector length of choice.
package qemu

import (
	"context"
	"crypto/sha256"
	_ "embed"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"github.com/twogather/twogather/emulate/internal/tools"
)

// A Processor is one that QEMU can be.
type Processor struct {
	Name    string
	About   string
	Lengths []string // of its vectors, in bits, or "off": without SVE; the first is the default. None: it has no SVE.
	model   string
}

// Processors are those that have a name here. QEMU knows more; any of its models' names will do.
var Processors = []Processor{
	{"max", "everything that QEMU knows", []string{"512", "128", "256", "1024", "2048", "off"}, "max"},
	{"a64fx", "Fujitsu A64FX: SVE without SVE2", []string{"512", "128", "256"}, "a64fx"},
	{"cortex-a76", "ARMv8.2, no SVE", nil, "cortex-a76"},
	{"neoverse-n1", "the same, for servers", nil, "neoverse-n1"},
}

var set = tools.Set{Name: "qemu-user-bookworm-1", Suite: "bookworm", Packages: []string{"qemu-user"}, Libraries: true}

// Prepare fills the cache folder.
func Prepare(ctx context.Context) error {
	_, err := tools.Get(ctx, set)
	return err
}

// model returns the value of QEMU's -cpu.
func model(cpu, length string) (string, error) {
	i := slices.IndexFunc(Processors, func(p Processor) bool { return p.Name == cpu })
	if i < 0 {
		if length != "" {
			return "", fmt.Errorf("no vector length is known for the processor %s", cpu)
		}
		return cpu, nil
	}
	p := Processors[i]
	if length == "" && p.Lengths != nil {
		length = p.Lengths[0]
	}
	switch {
	case length == "" || length == "off" && p.Lengths == nil:
		return p.model, nil
	case !slices.Contains(p.Lengths, length):
		if p.Lengths == nil {
			return "", fmt.Errorf("%s has no SVE", cpu)
		}
		return "", fmt.Errorf("%s has no vector length %s; choose among %s", cpu, length, strings.Join(p.Lengths, ", "))
	case length == "off":
		return p.model + ",sve=off", nil
	}
	bits, err := strconv.Atoi(length)
	return fmt.Sprintf("%s,sve-default-vector-length=%d", p.model, bits/8), err
}

// Command returns a command that runs an arm64 program. With count, internal/instructions works in it. The context's end
// kills it.
func Command(ctx context.Context, cpu, length string, count bool, binary string, args ...string) (*exec.Cmd, error) {
	m, err := model(cpu, length)
	if err != nil {
		return nil, err
	}
	dir, err := tools.Get(ctx, set)
	if err != nil {
		return nil, err
	}
	qemu := []string{"-cpu", m}
	if count {
		so, err := plugin(ctx)
		if err != nil {
			return nil, err
		}
		qemu = append(qemu, "-plugin", so)
	}
	all := tools.Loaded(dir, "usr/bin/qemu-aarch64", append(append(qemu, binary), args...)...)
	cmd := exec.CommandContext(ctx, all[0], all[1:]...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if count {
		// Go's preemption by signals would be counted too.
		cmd.Env = append(os.Environ(), "GODEBUG=asyncpreemptoff=1", "GOMAXPROCS=1")
	}
	return cmd, nil
}

//go:embed plugin/count.c
var source []byte

// plugin returns the shared object that counts, built if need be.
func plugin(ctx context.Context) (string, error) {
	dir, err := tools.Folder()
	if err != nil {
		return "", err
	}
	unlock, err := tools.Lock(dir)
	if err != nil {
		return "", err
	}
	defer unlock()
	so := filepath.Join(dir, fmt.Sprintf("count-%x.so", sha256.Sum256(source))[:16])
	if _, err := os.Stat(so); err == nil {
		return so, nil
	}
	c, incomplete := filepath.Join(dir, "count.c"), so+".incomplete"
	if err := os.WriteFile(c, source, 0o644); err != nil {
		return "", err
	}
	out, err := exec.CommandContext(ctx, "cc", "-O2", "-shared", "-fPIC", "-o", incomplete, c).CombinedOutput()
	if errors.Is(err, exec.ErrNotFound) {
		return "", errors.New("counting arm64 instructions needs a C compiler, cc: Debian's package gcc")
	}
	if err != nil {
		return "", fmt.Errorf("building QEMU's plugin: %v\n%s", err, out)
	}
	return so, os.Rename(incomplete, so)
}
