//go:build unix

package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/twogather/twogather/internal/testkit"
)

// sabotage has this process end, or be interrupted, at a step that the environment says.
func sabotage() {
	at, err := strconv.Atoi(os.Getenv("SHARDS_TEST_STEP"))
	if err != nil {
		return
	}
	var steps atomic.Int64
	fault = func(string, string) error {
		if steps.Add(1)-1 == int64(at) {
			endProcess(os.Getenv("SHARDS_TEST_SIGNAL"))
		}
		return nil
	}
}

// program returns the program as a process to be started.
func program(env []string, args ...string) *exec.Cmd {
	cmd := exec.Command(os.Args[0], args...)
	// The race detector sleeps a second before it exits unless told not to.
	cmd.Env = append(append(os.Environ(), "SHARDS_TEST_MAIN=1", "GORACE=atexit_sleep_ms=0"), env...)
	return cmd
}

// runProgram runs the program in a process; a status of -1 means that a signal ended it.
func runProgram(t *testing.T, cmd *exec.Cmd) (stdout, stderr string, status int) {
	t.Helper()
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err := cmd.Run()
	if _, ok := errors.AsType[*exec.ExitError](err); err != nil && !ok {
		t.Fatal(err)
	}
	return out.String(), errs.String(), cmd.ProcessState.ExitCode()
}

// A scenario is a run that changes a directory.
type scenario struct {
	name          string
	before, after map[string]string
	args          []string // with DIR for the directory
	again         []string // what makes it succeed after it was broken off
	replaces      bool     // so that there may be a mixture of before and after when it is broken off
}

func scenarios(t *testing.T, size int) []scenario {
	file := write(t, filepath.Join(t.TempDir(), "file"), content(size))
	dir := filepath.Dir(file)
	source := snapshot(t, dir)
	mustCall(t, "encode", "-k", "2", "-p", "2", file)
	whole := snapshot(t, dir)
	set := snapshot(t, dir)
	delete(set, "file")

	write(t, file, content(size+1))
	mustCall(t, "encode", "--force", "-k", "2", "-p", "2", file)
	old := snapshot(t, dir)
	old["file"] = whole["file"]

	broken := snapshot(t, dir)
	for name := range broken {
		broken[name] = set[name]
	}
	delete(broken, "file")
	delete(broken, "file.000.shard")
	broken["file.003.shard"] = set["file.003.shard"][:40]
	partly := map[string]string{"file.000.shard": set["file.000.shard"], "file.003.shard": set["file.003.shard"]}
	joined := map[string]string{"file": whole["file"], "file.000.shard": set["file.000.shard"], "file.003.shard": set["file.003.shard"]}
	other := map[string]string{"file": "another", "file.000.shard": set["file.000.shard"], "file.003.shard": set["file.003.shard"]}

	encode := []string{"encode", "-k", "2", "-p", "2", "DIR/file"}
	encodeForce := append(slices.Clone(encode), "--force")
	return []scenario{
		{"encode", source, whole, encode, encodeForce, false},
		{"encode --force", old, whole, encodeForce, encodeForce, true},
		{"repair", broken, set, []string{"repair", "DIR"}, []string{"repair", "DIR"}, true},
		{"join", partly, joined, []string{"join", "DIR"}, []string{"join", "--force", "DIR"}, false},
		{"join --force", other, joined, []string{"join", "--force", "DIR"}, []string{"join", "--force", "DIR"}, true},
	}
}

// in returns arguments for a directory.
func in(dir string, args []string) []string {
	args = slices.Clone(args)
	for i := range args {
		args[i] = strings.ReplaceAll(args[i], "DIR", dir)
	}
	return args
}

// checkFiles looks that each file is what it was before or what it is to be. It returns how many are new, and how many
// temporary ones there are.
func (s *scenario) checkFiles(t *testing.T, dir string) (changed, temporaries int) {
	t.Helper()
	files := snapshot(t, dir)
	for name, b := range files {
		before, had := s.before[name]
		after, has := s.after[name]
		switch {
		case temporary.MatchString(name):
			temporaries++
		case has && b == after && (!had || before != after):
			changed++
		case !had || b != before:
			t.Errorf("%s is neither what it was nor what it is to be", name)
		}
	}
	for name := range s.before {
		if _, ok := files[name]; !ok {
			t.Errorf("%s is gone", name)
		}
	}
	return changed, temporaries
}

// finish runs a scenario to its end after it was broken off.
func (s *scenario) finish(t *testing.T, dir string) {
	t.Helper()
	mustCall(t, in(dir, s.again)...)
	same(t, dir, s.after)
}

// Killed at any step, a run leaves each file old or new, and the next run succeeds.
func TestKilledAtEachStep(t *testing.T) {
	for _, s := range scenarios(t, 3*smallUnit) {
		t.Run(s.name, func(t *testing.T) {
			dir := t.TempDir()
			seen := make(map[int]bool)
			for step := 0; ; step++ {
				restore(t, dir, s.before)
				env := []string{"SHARDS_TEST_UNIT=" + strconv.Itoa(smallUnit), "SHARDS_TEST_STEP=" + strconv.Itoa(step), "SHARDS_TEST_SIGNAL=kill"}
				_, errs, status := runProgram(t, program(env, in(dir, s.args)...))
				if status == 0 {
					same(t, dir, s.after)
					break
				}
				if status != -1 {
					t.Fatalf("step %d: status %d, %q", step, status, errs)
				}
				changed, _ := s.checkFiles(t, dir)
				seen[changed] = true
				s.finish(t, dir)
				if t.Failed() {
					t.Fatalf("killed at step %d", step)
				}
			}
			// It was killed before any file had its name, and between every two.
			for n := range len(s.after) - len(s.before) + 1 {
				if !seen[n] {
					t.Errorf("never killed with %d files done", n)
				}
			}
		})
	}
}

// Killed at any time, likewise.
func TestKilledAtRandom(t *testing.T) {
	rounds := 15
	if testing.Short() {
		rounds = 3
	}
	kills := 0
	unit = 4096
	defer func() { unit = smallUnit }()
	for _, s := range scenarios(t, 1<<20) {
		dir := t.TempDir()
		restore(t, dir, s.before)
		start := time.Now()
		if _, errs, status := runProgram(t, program([]string{"SHARDS_TEST_UNIT=4096"}, in(dir, s.args)...)); status != 0 {
			t.Fatalf("%s: status %d, %q", s.name, status, errs)
		}
		longest := time.Since(start)
		for range rounds {
			restore(t, dir, s.before)
			cmd := program([]string{"SHARDS_TEST_UNIT=4096"}, in(dir, s.args)...)
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			time.Sleep(time.Duration(rand.Int64N(int64(longest))))
			cmd.Process.Kill()
			cmd.Wait()
			if !cmd.ProcessState.Success() {
				kills++
			}
			s.checkFiles(t, dir)
			s.finish(t, dir)
			if t.Failed() {
				t.Fatal(s.name)
			}
		}
	}
	t.Logf("%d kills", kills)
	if kills == 0 {
		t.Error("nothing was killed")
	}
}

// An error at any step is reported, and leaves each file as it was, or new if it replaces one, and no temporary ones.
func TestErrorAtEachStep(t *testing.T) {
	for _, s := range scenarios(t, 3*smallUnit) {
		t.Run(s.name, func(t *testing.T) {
			dir := t.TempDir()
			for at := 0; ; at++ {
				restore(t, dir, s.before)
				var steps atomic.Int64
				withFault(t, func(step, path string) error {
					if steps.Add(1)-1 == int64(at) {
						return fmt.Errorf("%s %s: no space left on device", step, path)
					}
					return nil
				})
				out, errs, status := call(t, in(dir, s.args)...)
				fault = func(string, string) error { return nil }
				if steps.Load() <= int64(at) {
					if status != 0 {
						t.Errorf("status %d, %q", status, errs)
					}
					same(t, dir, s.after)
					break
				}
				if status != 2 || out != "" || !strings.Contains(errs, "no space left on device") || strings.Count(errs, "\n") != 1 {
					t.Errorf("status %d, stderr %q, stdout %q", status, errs, out)
				}
				if _, temporaries := s.checkFiles(t, dir); temporaries > 0 {
					t.Error("temporary files are left")
				}
				if !s.replaces {
					same(t, dir, s.before)
				}
				s.finish(t, dir)
				if t.Failed() {
					t.Fatalf("error at step %d", at)
				}
			}
		})
	}
}

// Interrupted at any step, a run undoes everything, or is finished anyway.
func TestInterruptedAtEachStep(t *testing.T) {
	for _, s := range scenarios(t, 3*smallUnit) {
		t.Run(s.name, func(t *testing.T) {
			dir := t.TempDir()
			undone, finished := 0, 0
			for at := 0; ; at++ {
				restore(t, dir, s.before)
				ctx, cancel := context.WithCancel(t.Context())
				var steps atomic.Int64
				withFault(t, func(string, string) error {
					if steps.Add(1)-1 == int64(at) {
						cancel()
					}
					return nil
				})
				var out, errs strings.Builder
				status := run(ctx, in(dir, s.args), &out, &errs)
				cancel()
				switch status {
				case 0:
					finished++
					same(t, dir, s.after)
				case 130:
					undone++
					same(t, dir, s.before)
					if out.String() != "" || errs.String() != "shards: interrupted\n" {
						t.Errorf("stdout %q, stderr %q", out.String(), errs.String())
					}
				default:
					t.Errorf("status %d, %q", status, errs.String())
				}
				if t.Failed() {
					t.Fatalf("interrupted at step %d", at)
				}
				if steps.Load() <= int64(at) {
					break
				}
			}
			if undone == 0 || finished < 2 {
				t.Errorf("undone %d times, finished %d times", undone, finished)
			}
		})
	}
}

// An interrupt is obeyed before everything is read.
func TestInterruptedReading(t *testing.T) {
	path := encoded(t, 2, 1, 1000)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var out, errs strings.Builder
	if status := run(ctx, []string{"verify", path}, &out, &errs); status != 130 || out.String() != "" {
		t.Errorf("status %d, stdout %q", status, out.String())
	}
}

// Every file is on the disk before any has its name, and the directory is after.
func TestOrderOfSteps(t *testing.T) {
	for _, s := range scenarios(t, 3*smallUnit) {
		dir := t.TempDir()
		restore(t, dir, s.before)
		var mu sync.Mutex
		var steps []string
		files, synced := make(map[string]bool), make(map[string]bool)
		withFault(t, func(step, path string) error {
			mu.Lock()
			defer mu.Unlock()
			switch step {
			case "write":
				files[path] = true
			case "sync":
				synced[path] = true
			}
			if len(steps) == 0 || steps[len(steps)-1] != step {
				steps = append(steps, step)
			}
			return nil
		})
		mustCall(t, in(dir, s.args)...)
		got := strings.Join(steps, ", ")
		got = strings.ReplaceAll(got, "link, remove, link, remove", "link, remove")
		got = strings.ReplaceAll(got, "link, remove, link, remove", "link, remove")
		want := map[string]string{
			"encode":         "create, write, sync, link, remove, sync directory",
			"encode --force": "create, write, sync, rename, sync directory",
			"repair":         "create, write, create, write, sync, link, remove, rename, sync directory",
			"join":           "create, write, sync, link, remove, sync directory",
			"join --force":   "create, write, sync, rename, sync directory",
		}[s.name]
		if got != want {
			t.Errorf("%s: %s; want %s", s.name, got, want)
		}
		changed := 0
		for name, b := range s.after {
			if s.before[name] != b {
				changed++
			}
		}
		if len(files) != changed {
			t.Errorf("%s: %d files were written, and %d changed", s.name, len(files), changed)
		}
		if !maps.Equal(files, synced) {
			t.Errorf("%s: of %v only %v were synced", s.name, files, synced)
		}
	}
}

// systemCalls runs the program, and returns its calls that change names or have something written to the disk: for a sync
// the path of what is synced, for others the two names, or one.
func systemCalls(t *testing.T, args ...string) (calls [][]string) {
	t.Helper()
	strace := testkit.NeedProgram(t, "strace")
	file := filepath.Join(t.TempDir(), "calls")
	cmd := exec.Command(strace, append([]string{"-f", "-y", "-qq", "-o", file,
		"-e", "trace=fsync,?link,?linkat,?rename,?renameat,?renameat2,?unlink,?unlinkat", os.Args[0]}, args...)...)
	cmd.Env = program([]string{"SHARDS_TEST_UNIT=64"}).Env
	if out, err := cmd.CombinedOutput(); strings.Contains(string(out), "ptrace") {
		t.Skipf("%s", out)
	} else if err != nil {
		t.Fatalf("%v, %s", err, out)
	}
	for line := range strings.Lines(string(read(t, file))) {
		call := regexp.MustCompile(`^\d+ +(fsync|link|rename|unlink)(?:at2?)?\(`).FindStringSubmatch(line)
		if call == nil {
			continue // a signal, an exit, or the end of a call
		}
		words := call[1:]
		for _, path := range regexp.MustCompile(`"([^"]*)"|^\d+ +fsync\(\d+<(.*)>`).FindAllStringSubmatch(line, -1) {
			words = append(words, path[1]+path[2])
		}
		calls = append(calls, words)
	}
	return calls
}

// What the steps stand for: the system is told to write each file to the disk before any has its name, and each directory
// after the last change there.
func TestOrderOfSystemCalls(t *testing.T) {
	check := func(name string, want int, args ...string) {
		t.Helper()
		var named []string
		unsynced, files := make(map[string]bool), make(map[string]bool) // directories; those that were synced
		for _, call := range systemCalls(t, args...) {
			path := call[1]
			switch call[0] {
			case "fsync":
				if strings.HasSuffix(path, ".tmp") && len(named) > 0 {
					t.Errorf("%s: %s is synced after %s has its name", name, path, named[0])
				}
				files[path] = true
				delete(unsynced, path)
				continue
			case "link", "rename":
				if !files[path] {
					t.Errorf("%s: %s has its name before it is synced", name, call[2])
				}
				named = append(named, call[2])
				unsynced[filepath.Dir(call[2])] = true
			}
			unsynced[filepath.Dir(path)] = true
		}
		if len(named) != want || len(unsynced) > 0 {
			t.Errorf("%s: %v have names, and %v are not synced at the end", name, named, unsynced)
		}
	}
	for _, s := range scenarios(t, 3*smallUnit) {
		dir := t.TempDir()
		restore(t, dir, s.before)
		changed := 0
		for name, b := range s.after {
			if s.before[name] != b {
				changed++
			}
		}
		check(s.name, changed, in(dir, s.args)...)
		same(t, dir, s.after)
	}

	// Shard files of one set in two directories.
	path := encoded(t, 2, 2, 1000)
	dir := filepath.Join(filepath.Dir(path), "another")
	must(os.Mkdir(dir, 0o700))
	must(os.Rename(shardPath(path, 3), filepath.Join(dir, "file.003.shard")))
	write(t, shardPath(path, 1), nil)
	write(t, filepath.Join(dir, "file.003.shard"), nil)
	check("two directories", 2, "repair", path, dir)
	mustCall(t, "verify", path, dir)
}

// Of several runs that write the same file, one does, and none takes another's temporary file for a stale one.
func TestRunsAtTheSameTime(t *testing.T) {
	path := encoded(t, 2, 1, 1000)
	dir := filepath.Dir(path)
	want := snapshot(t, dir)
	for range 20 {
		os.Remove(path)
		var done atomic.Int64
		var runs sync.WaitGroup
		for range 8 {
			runs.Go(func() {
				switch _, errs, status := call(t, "join", path); {
				case status == 0:
					done.Add(1)
				case status != 2 || !strings.Contains(errs, "exists"):
					t.Errorf("status %d, %q", status, errs)
				}
			})
		}
		runs.Wait()
		if done.Load() != 1 {
			t.Fatalf("%d runs succeeded", done.Load())
		}
		same(t, dir, want)
	}
}

// A temporary file that was taken for a stale one before it was locked is not used.
func TestSweptWhileCreated(t *testing.T) {
	dir := t.TempDir()
	var done atomic.Bool
	var sweeper sync.WaitGroup
	sweeper.Go(func() {
		for !done.Load() {
			sweep(dir)
		}
	})
	for range 2000 {
		f, err := createTemporary(dir, 0o600)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := os.Lstat(f.Name()); err != nil {
			t.Error(err)
			break
		}
		os.Remove(f.Name())
		f.Close()
	}
	done.Store(true)
	sweeper.Wait()
}

// A file system without links.
func TestWithoutLinks(t *testing.T) {
	path := encoded(t, 2, 1, 1000)
	dir := filepath.Dir(path)
	want := snapshot(t, dir)
	saved := link
	link = func(string, string) error { return errors.ErrUnsupported }
	defer func() { link = saved }()
	os.Remove(path)
	mustCall(t, "join", path)
	same(t, dir, want)
	write(t, path, nil)
	want["file"] = ""
	mustFail(t, []string{"exists"}, "join", path)
	same(t, dir, want)
}
