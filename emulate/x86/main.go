//go:build linux

// Command x86 runs x86-64 Linux programs on a processor that this machine is not, as go test's -exec does it: it prints
// what the program prints and exits with its exit status.
//
//	go tool x86 [OPTION...] BINARY [ARGUMENT...]
//	go test -exec 'go tool x86 --cpu gfni' ./twofish
//
// A program must be static (CGO_ENABLED=0). Its working folder holds a copy of testdata, as far as there is one here, and
// of what --file names. Variables whose names begin with TWOGATHER_ are passed on, others by --env.
//
// A comma by itself among the arguments separates programs that run in one start of the machine; the exit status is the
// first that is not zero. 124 is the time limit, 125 a machine that did not work, with the reason on standard error.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"runtime"
	"strings"
	"syscall"
	"time"

	"github.com/twogather/twogather/emulate/internal/bochs"
)

func main() {
	runtime.LockOSThread() // the emulator dies with the thread that started it
	os.Exit(run())
}

func run() int {
	var env, files []string
	flags := flag.NewFlagSet("x86", flag.ContinueOnError)
	cpu := flags.String("cpu", "avx512", "the processor: "+names()+", or a model of Bochs'")
	limit := flags.Duration("limit", 20*time.Minute, "stop after this time")
	memory := flags.Int("memory", 512, "the machine's memory in MiB")
	arrays := flags.Bool("arrays", false, "a machine with mdadm, RAM disks, and what the kernel needs for RAID-6")
	prepare := flags.Bool("prepare", false, "only fill the cache folder")
	verbose := flags.Bool("v", false, "timings, and the emulator's last words, on standard error")
	flags.Func("env", "a variable NAME=VALUE for the programs; repeatable", func(s string) error {
		env = append(env, s)
		return nil
	})
	flags.Func("file", "a file or folder to copy to the programs' working folder; repeatable", func(s string) error {
		files = append(files, s)
		return nil
	})
	if err := flags.Parse(os.Args[1:]); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			return 0
		}
		return 2
	}
	signals, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGQUIT, syscall.SIGHUP)
	defer stop()
	ctx, cancel := bochs.WithLimit(signals, *limit)
	defer cancel()
	if *prepare {
		if _, _, err := bochs.Prepare(ctx); err != nil {
			return fail(err)
		}
		return 0
	}

	for _, e := range os.Environ() {
		if strings.HasPrefix(e, "TWOGATHER_") && !strings.HasPrefix(e, "TWOGATHER_EMULATE_") {
			env = append(env, e)
		}
	}
	if _, err := os.Stat("testdata"); err == nil {
		files = append(files, "testdata")
	}
	var programs []bochs.Program
	for args := flags.Args(); len(args) > 0; {
		n := 0
		for n < len(args) && args[n] != "," {
			n++
		}
		if n > 0 {
			programs = append(programs, bochs.Program{Binary: args[0], Args: args[1:n], Env: env, Files: files, Output: os.Stdout})
		}
		args = args[min(n+1, len(args)):]
	}
	if len(programs) == 0 {
		fmt.Fprintln(os.Stderr, "x86: no program; x86 -help lists the options")
		return 2
	}
	m := bochs.Machine{Processor: bochs.Find(*cpu), Megabytes: *memory, Arrays: *arrays}
	if *verbose {
		m.Verbose = os.Stderr
	}
	statuses, err := m.Run(ctx, programs)
	if signals.Err() != nil {
		return 130
	}
	if err != nil {
		return fail(err)
	}
	for _, s := range statuses {
		if s != 0 {
			return s
		}
	}
	return 0
}

func fail(err error) int {
	fmt.Fprintln(os.Stderr, "x86:", err)
	if bochs.IsLimit(err) {
		return 124
	}
	return 125
}

func names() string {
	var names []string
	for _, p := range bochs.Processors {
		names = append(names, p.Name)
	}
	return strings.Join(names, ", ")
}
