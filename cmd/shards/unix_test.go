//go:build unix

package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/twogather/twogather/internal/testkit"
)

func init() {
	if limit, err := strconv.Atoi(os.Getenv("SHARDS_TEST_FILE_SIZE")); err == nil {
		signal.Ignore(syscall.SIGXFSZ)
		must(syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: uint64(limit), Max: uint64(limit)}))
	}
	if id, err := strconv.Atoi(os.Getenv("SHARDS_TEST_USER")); err == nil {
		must(syscall.Setuid(id))
	}
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}

// endProcess sends this process a signal.
func endProcess(name string) {
	if s, ok := map[string]syscall.Signal{"kill": syscall.SIGKILL, "int": syscall.SIGINT, "term": syscall.SIGTERM, "hup": syscall.SIGHUP}[name]; ok {
		must(syscall.Kill(os.Getpid(), s))
	}
	time.Sleep(300 * time.Millisecond) // it may take a moment
}

func TestSignals(t *testing.T) {
	for _, name := range []string{"int", "term", "hup"} {
		dir := t.TempDir()
		path := write(t, filepath.Join(dir, "file"), content(1000))
		before := snapshot(t, dir)
		env := []string{"SHARDS_TEST_UNIT=64", "SHARDS_TEST_STEP=20", "SHARDS_TEST_SIGNAL=" + name}
		_, errs, status := runProgram(t, program(env, "encode", path))
		if status != 130 || errs != "shards: interrupted\n" {
			t.Errorf("%s: status %d, %q", name, status, errs)
		}
		same(t, dir, before)
	}
}

// A disk that is full in the middle: here, a limit on the size of files.
func TestWriteFails(t *testing.T) {
	for _, test := range []struct {
		args  string
		spoil func(path string)
	}{
		{"encode", func(path string) {
			for i := range 3 {
				os.Remove(shardPath(path, i))
			}
		}},
		{"repair", func(path string) { os.Remove(shardPath(path, 1)) }},
		{"join", func(path string) { os.Remove(path) }},
	} {
		path := encoded(t, 2, 1, 1<<20)
		dir := filepath.Dir(path)
		test.spoil(path)
		before := snapshot(t, dir)
		args := []string{test.args, path}
		if test.args == "encode" {
			args = append(args, "-k", "2", "-p", "1")
		}
		_, errs, status := runProgram(t, program([]string{"SHARDS_TEST_FILE_SIZE=300000"}, args...))
		if status != 2 || !strings.Contains(errs, "file too large") {
			t.Errorf("%s: status %d, %q", test.args, status, errs)
		}
		same(t, dir, before)
	}
}

// asNobody runs the program without root's powers.
func asNobody(t *testing.T, args ...string) (stdout, stderr string, status int) {
	t.Helper()
	var env []string
	if os.Getuid() == 0 {
		env = append(env, "SHARDS_TEST_USER=65534")
	}
	return runProgram(t, program(append(env, "SHARDS_TEST_UNIT=64"), args...))
}

// openToAll lets everybody look into a temporary directory.
func openToAll(t *testing.T, dir string) {
	t.Helper()
	must(os.Chmod(filepath.Dir(dir), 0o755))
	for name := range snapshot(t, dir) {
		must(os.Chmod(filepath.Join(dir, name), 0o644))
	}
}

func TestReadOnlyDirectory(t *testing.T) {
	path := encoded(t, 2, 2, 1000)
	dir := filepath.Dir(path)
	os.Remove(path)
	os.Remove(shardPath(path, 1))
	must(os.WriteFile(filepath.Join(dir, "another"), nil, 0o644))
	openToAll(t, dir)
	must(os.Chmod(dir, 0o555))
	defer os.Chmod(dir, 0o755)
	before := snapshot(t, dir)
	for _, args := range [][]string{{"encode", filepath.Join(dir, "another")}, {"repair", path}, {"join", path}} {
		_, errs, status := asNobody(t, args...)
		if status != 2 || !strings.Contains(errs, "permission denied") || strings.Count(errs, "\n") != 1 {
			t.Errorf("%s: status %d, %q", args[0], status, errs)
		}
	}
	if _, errs, status := asNobody(t, "verify", path); status != 1 || errs != "" {
		t.Errorf("verify: status %d, %q", status, errs)
	}
	same(t, dir, before)
}

func TestUnreadableShard(t *testing.T) {
	path := encoded(t, 2, 2, 1000)
	dir := filepath.Dir(path)
	want := snapshot(t, dir)
	openToAll(t, dir)
	must(os.Chmod(shardPath(path, 1), 0))
	must(os.Chmod(dir, 0o777))
	out, _, status := asNobody(t, "verify", path)
	if status != 1 || !strings.Contains(out, shardPath(path, 1)+": cannot be read: permission denied\n") {
		t.Errorf("verify: status %d, %q", status, out)
	}
	_, errs, status := asNobody(t, "repair", path)
	if status != 2 || !strings.Contains(errs, shardPath(path, 1)+": cannot be read: permission denied; --force") {
		t.Errorf("repair: status %d, %q", status, errs)
	}
	if _, errs, status = asNobody(t, "join", "-o", filepath.Join(dir, "joined"), path); status != 0 {
		t.Errorf("join: status %d, %q", status, errs)
	}
	if _, errs, status = asNobody(t, "repair", "--force", path); status != 0 {
		t.Errorf("repair --force: status %d, %q", status, errs)
	}
	want["joined"] = want["file"]
	same(t, dir, want)
}

// What is not a file is not waited for.
func TestPipe(t *testing.T) {
	path := encoded(t, 2, 1, 1000)
	os.Remove(shardPath(path, 1))
	if err := syscall.Mkfifo(shardPath(path, 1), 0o600); err != nil {
		t.Skip(err)
	}
	out, _, status := call(t, "verify", path)
	if status != 1 || !strings.Contains(out, "cannot be read: not a regular file") {
		t.Errorf("status %d, %q", status, out)
	}
	mustFail(t, []string{"not a regular file"}, "encode", shardPath(path, 1))
}

// On a terminal there is a bar, which leaves an empty line.
func TestProgress(t *testing.T) {
	script := testkit.NeedProgram(t, "script")
	path := write(t, filepath.Join(t.TempDir(), "file"), content(100_000))
	cmd := exec.Command(script, "-qec", fmt.Sprintf("stty cols 100; %s encode %s", os.Args[0], path), "/dev/null")
	cmd.Env = program([]string{"SHARDS_TEST_UNIT=64", "SHARDS_TEST_STEP=1000", "SHARDS_TEST_SIGNAL=none", "SHELL=/bin/sh"}).Env
	cmd.Stdin = bytes.NewReader(nil)
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v, %q", err, out)
	}
	first, last, _ := bytes.Cut(out, []byte("\r"))
	if len(first) != 0 || !bytes.Contains(last, []byte("encode ")) || !bytes.Contains(last, []byte("%")) || !bytes.Contains(last, []byte("\r"+path)) {
		t.Errorf("%q", out)
	}
}
