//go:build linux

// Command emulate runs the kernels' tests on every processor that kernels are written for, this machine's and others',
// and counts their instructions. It ends with a table, a line for each processor and kernel, and with exit status 1 if
// anything in it is wrong. See README.md beside it.
//
//	go run ./emulate                    everything
//	go run ./emulate -only gfni,max/256 some processors
//	go run ./emulate -record            writes recorded.txt anew, without running tests
//	go run ./emulate -wrong             shows that wrong kernels are caught
//	go run ./emulate -native            this machine, without emulation
//	go run ./emulate -model             cycles per byte as llvm-mca models them
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"text/tabwriter"
	"time"

	"github.com/twogather/twogather/emulate/internal/bochs"
	"github.com/twogather/twogather/emulate/internal/qemu"
	"github.com/twogather/twogather/emulate/internal/tools"
	"github.com/twogather/twogather/hwfeatures"
)

func main() {
	ok, err := run()
	if err != nil {
		fmt.Fprintln(os.Stderr, "emulate:", err)
	}
	if err != nil || !ok {
		os.Exit(1)
	}
}

func run() (ok bool, err error) {
	only := flag.String("only", "", "processors, separated by commas; all if none")
	record := flag.Bool("record", false, "write recorded.txt instead of comparing with it")
	isNative := flag.Bool("native", false, "the processor at hand instead of emulated ones")
	wrong := flag.Bool("wrong", false, "wrong kernels, which have to be caught")
	isModel := flag.Bool("model", false, "llvm-mca's model of the kernels' main loops; nothing is run")
	jobs := flag.Int("j", runtime.NumCPU(), "how many processors run side by side")
	limit := flag.Duration("limit", 25*time.Minute, "for one processor")
	flag.Parse()
	if flag.NArg() > 0 {
		return false, fmt.Errorf("unknown argument %q", flag.Arg(0))
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()

	start := time.Now()
	var mu sync.Mutex
	say := func(format string, args ...any) {
		mu.Lock()
		defer mu.Unlock()
		fmt.Printf("%5.0f s  %s\n", time.Since(start).Seconds(), fmt.Sprintf(format, args...))
	}

	root, err := goCommand(ctx, runtime.GOARCH, nil, "list", "-f", "{{.Dir}}", module+"/emulate")
	if err != nil {
		return false, err
	}
	recordedFile := filepath.Join(strings.TrimSpace(string(root)), "recorded.txt")
	s := &suite{builds: make(map[string]*build), record: *record, limit: *limit, say: say}
	if s.recorded, err = readRecorded(recordedFile); err != nil {
		return false, err
	}
	var chosen []processor
	if *isNative {
		features := hwfeatures.Detected() & hwfeatures.Capabilities()
		chosen = []processor{{"native", runtime.GOARCH, features, 0, boundary, native{}}}
	} else {
		var names []string
		if *only != "" {
			names = strings.Split(*only, ",")
		}
		if chosen, err = findProcessors(names); err != nil {
			return false, err
		}
	}

	scratch, err := os.MkdirTemp("", "emulate-")
	if err != nil {
		return false, err
	}
	defer os.RemoveAll(scratch)
	if *isModel {
		return true, model(ctx, scratch, say)
	}
	cache, err := tools.Folder()
	if err != nil {
		return false, err
	}
	s.logs = filepath.Join(cache, "logs")
	if err := os.MkdirAll(s.logs, 0o755); err != nil {
		return false, err
	}
	var checks []outcome
	for _, p := range chosen {
		if s.builds[p.goarch] != nil {
			continue
		}
		if err := prepare(ctx, p); err != nil {
			return false, err
		}
		say("building for %s", p.goarch)
		dir := filepath.Join(scratch, p.goarch)
		if err := os.Mkdir(dir, 0o755); err != nil {
			return false, err
		}
		if s.builds[p.goarch], err = newBuild(ctx, dir, p.goarch); err != nil {
			return false, err
		}
		if *isNative || *wrong || *record {
			continue
		}
		o, err := s.disassemble(ctx, p.goarch, scratch)
		if err != nil {
			return false, err
		}
		checks = append(checks, o)
	}

	wrongKernels := make([][]wrongKernel, len(chosen))
	for i, p := range chosen {
		if *wrong {
			if wrongKernels[i], err = s.newWrong(ctx, p, scratch); err != nil {
				return false, err
			}
		}
	}

	outcomes := make([]outcome, len(chosen))
	var group sync.WaitGroup
	next := make(chan int)
	for range min(*jobs, len(chosen)) {
		group.Go(func() {
			runtime.LockOSThread() // emulators die with the thread that started them
			for i := range next {
				if *wrong {
					outcomes[i] = s.runWrong(ctx, chosen[i], wrongKernels[i])
				} else {
					outcomes[i] = s.run(ctx, chosen[i])
				}
				say("%s took %.0f s", chosen[i].name, outcomes[i].took.Seconds())
			}
		})
	}
	for i := range chosen {
		next <- i
	}
	close(next)
	group.Wait()
	if ctx.Err() != nil {
		return false, ctx.Err()
	}
	ok = report(append(checks, outcomes...), s.logs)
	if *record && ok {
		err = s.writeRecorded(recordedFile, chosen, outcomes)
	}
	return ok, err
}

// prepare fills the cache folder, where the time it takes is not a processor's.
func prepare(ctx context.Context, p processor) error {
	switch p.machine.(type) {
	case onBochs:
		_, _, err := bochs.Prepare(ctx)
		return err
	case onQEMU:
		return qemu.Prepare(ctx)
	}
	return nil
}

// report prints what is wrong, and the table.
func report(outcomes []outcome, logs string) (ok bool) {
	var passed, failed, missing int
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	for _, o := range outcomes {
		for _, l := range o.lines {
			for _, problem := range l.problems {
				fmt.Printf("\n%s %s %s: %s\n", l.processor, l.primitive, l.kernel, problem)
			}
			switch l.verdict {
			case pass, caught:
				passed++
			case fail:
				failed++
			default:
				missing++
			}
		}
		for _, n := range o.notes {
			fmt.Println("note:", n)
		}
	}
	if failed > 0 {
		fmt.Printf("\nWhat the programs printed is in %s.\n", logs)
	}
	fmt.Println()
	for _, o := range outcomes {
		for _, l := range o.lines {
			fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\n", l.processor, l.primitive, l.kernel, l.verdict, l.detail)
		}
	}
	w.Flush()
	fmt.Printf("\n%d passed, %d failed, %d absent\n", passed, failed, missing)
	return failed == 0
}

// writeRecorded replaces what is recorded of the processors that ran.
func (s *suite) writeRecorded(name string, chosen []processor, outcomes []outcome) error {
	for k := range s.recorded {
		for _, p := range chosen {
			if strings.HasPrefix(k, p.name+" ") {
				delete(s.recorded, k)
			}
		}
	}
	for i, o := range outcomes {
		for primitive, kernels := range o.selected {
			s.recorded[chosen[i].name+" "+primitive+" selects"] = kernels
		}
		for kernel, c := range o.counts {
			s.recorded[chosen[i].name+" "+kernel] = formatCounts(c)
		}
	}
	order := make(map[string]int)
	for i, p := range processors {
		if b := s.builds[p.goarch]; b != nil {
			for j, r := range b.rows {
				at := (i+1)*1000 + 2*j
				order[p.name+" "+r.primitive+" "+r.kernel] = at + 1
				if key := p.name + " " + r.primitive + " selects"; order[key] == 0 {
					order[key] = at
				}
			}
		}
	}
	// Processors that did not run come where the table has them.
	for k := range s.recorded {
		if order[k] == 0 {
			for i, p := range processors {
				if strings.HasPrefix(k, p.name+" ") {
					order[k] = (i+1)*1000 + 999
				}
			}
		}
	}
	return s.recorded.write(name, order)
}
