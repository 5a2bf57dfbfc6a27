// Package output writes generated files so that a failed generator leaves the old ones alone.
package output

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/pass"
	"github.com/mmcloughlin/avo/printer"

	"github.com/twogather/twogather/_asm/internal/arm64"
)

// Check ends a generator that failed.
func Check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// WriteFile writes to a temporary file beside name and renames it.
func WriteFile(name string, data []byte) error {
	f, err := os.CreateTemp(filepath.Dir(name), ".generated-*")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	if _, err := f.Write(data); err != nil {
		return err
	}
	if err := f.Chmod(0o644); err != nil {
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	return os.Rename(f.Name(), name)
}

// Arm64 writes a file as name.s with stubs in name.go.
func Arm64(f *arm64.File, name string) error {
	if err := WriteFile(name+".s", f.Text.Bytes()); err != nil {
		return err
	}
	return WriteFile(name+".go", f.Stubs.Bytes())
}

// Assembly compiles what was built in ctx and writes it as name.s with stubs in name_amd64.go, or, where the name ends in
// _amd64 already, name.go. The header of both names the command and the package pkg.
func Assembly(ctx *build.Context, command, pkg, name string) error {
	file, err := ctx.Result()
	if err != nil {
		return err
	}
	if err := pass.Compile.Execute(file); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	cfg := printer.Config{Name: "avo", Argv: []string{command}, Pkg: pkg}
	stubs := name + "_amd64.go"
	if base := filepath.Base(name); len(base) > 6 && base[len(base)-6:] == "_amd64" {
		stubs = name + ".go"
	}
	for _, out := range []struct {
		name string
		p    printer.Printer
	}{{name + ".s", printer.NewGoAsm(cfg)}, {stubs, printer.NewStubs(cfg)}} {
		data, err := out.p.Print(file)
		if err != nil {
			return fmt.Errorf("%s: %w", out.name, err)
		}
		if err := WriteFile(out.name, data); err != nil {
			return err
		}
	}
	return nil
}
