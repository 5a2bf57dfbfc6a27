//go:build linux

// Command arm64 runs arm64 Linux programs under QEMU's user mode, as go test's -exec does it: it prints what the program
// prints and exits with its exit status.
//
//	go tool arm64 [OPTION...] BINARY [ARGUMENT...]
//	GOARCH=arm64 go test -exec 'env GOARCH= go tool arm64 --vl 256' ./twofish
//
// A program must be static (CGO_ENABLED=0). The exit status 124 is the time limit, 125 an emulator that did not work, with
// the reason on standard error.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"strings"
	"syscall"
	"time"

	"github.com/twogather/twogather/emulate/internal/qemu"
)

func main() {
	runtime.LockOSThread() // the emulator dies with the thread that started it
	os.Exit(run())
}

func run() int {
	flags := flag.NewFlagSet("arm64", flag.ContinueOnError)
	cpu := flags.String("cpu", "max", "the processor: "+names()+", or a model of QEMU's")
	length := flags.String("vl", "", "the vector length in bits, 128 to 2048, or off: without SVE (default 512 where there is SVE)")
	limit := flags.Duration("limit", 20*time.Minute, "stop after this time")
	count := flags.Bool("count", false, "let the program count its instructions, as bench-slope --count-instructions does")
	prepare := flags.Bool("prepare", false, "only fill the cache folder")
	if err := flags.Parse(os.Args[1:]); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			return 0
		}
		return 2
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGQUIT, syscall.SIGHUP)
	defer stop()
	limited, cancel := context.WithTimeout(ctx, *limit)
	defer cancel()
	if *prepare {
		if err := qemu.Prepare(limited); err != nil {
			return fail(err)
		}
		return 0
	}
	if flags.NArg() == 0 {
		fmt.Fprintln(os.Stderr, "arm64: no program; arm64 -help lists the options")
		return 2
	}
	cmd, err := qemu.Command(limited, *cpu, *length, *count, flags.Arg(0), flags.Args()[1:]...)
	if err != nil {
		return fail(err)
	}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	err = cmd.Run()
	exit, ok := errors.AsType[*exec.ExitError](err)
	switch {
	case err == nil:
		return 0
	case ctx.Err() != nil:
		return 130
	case limited.Err() != nil:
		fmt.Fprintln(os.Stderr, "arm64: stopped after", *limit)
		return 124
	case !ok:
		return fail(err)
	}
	if ws := exit.Sys().(syscall.WaitStatus); ws.Signaled() {
		fmt.Fprintln(os.Stderr, "arm64:", err)
		return 128 + int(ws.Signal())
	}
	return exit.ExitCode()
}

func fail(err error) int {
	fmt.Fprintln(os.Stderr, "arm64:", err)
	return 125
}

func names() string {
	var names []string
	for _, p := range qemu.Processors {
		names = append(names, p.Name)
	}
	return strings.Join(names, ", ")
}
