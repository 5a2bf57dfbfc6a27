package main

import (
	"bytes"
	"errors"
	"os"
	"strconv"
	"strings"
	"testing"
)

// smallUnit has tests meet many stripes in small files.
const smallUnit = 64

// TestMain lets the test binary stand in for the program: what ends a process needs one of its own.
func TestMain(m *testing.M) {
	if os.Getenv("SHARDS_TEST_MAIN") != "" {
		if n, err := strconv.Atoi(os.Getenv("SHARDS_TEST_UNIT")); err == nil {
			unit = n
		}
		sabotage()
		main()
	}
	unit = smallUnit
	// Where there is a directory in memory, files cost nothing to sync.
	if info, err := os.Stat("/dev/shm"); err == nil && info.IsDir() && os.Getenv("TMPDIR") == "" {
		os.Setenv("TMPDIR", "/dev/shm")
	}
	os.Exit(m.Run())
}

// call runs the program in this process.
func call(t *testing.T, args ...string) (stdout, stderr string, status int) {
	var out, errs bytes.Buffer
	status = run(t.Context(), args, &out, &errs)
	return out.String(), errs.String(), status
}

// mustCall runs what must succeed and say nothing on standard error.
func mustCall(t *testing.T, args ...string) string {
	t.Helper()
	out, errs, status := call(t, args...)
	if status != 0 || errs != "" {
		t.Fatalf("shards %q: status %d, stderr %q, stdout %q", args, status, errs, out)
	}
	return out
}

// mustFail runs what must be refused, with a line that says so and has the words.
func mustFail(t *testing.T, words []string, args ...string) {
	t.Helper()
	_, errs, status := call(t, args...)
	if status != 2 || !strings.HasPrefix(errs, "shards: ") || strings.Count(errs, "\n") != 1 {
		t.Errorf("shards %q: status %d, stderr %q", args, status, errs)
	}
	for _, word := range words {
		if !strings.Contains(errs, word) {
			t.Errorf("shards %q: no %q in %q", args, word, errs)
		}
	}
}

func TestHelp(t *testing.T) {
	help := mustCall(t, "--help")
	for _, c := range commands {
		one := mustCall(t, c.name, "--help")
		if !strings.HasPrefix(one, "shards "+c.name+" ") || !strings.Contains(help, strings.Split(one, "\n\n")[0]) {
			t.Errorf("%s --help: %q", c.name, one)
		}
	}
	for line := range strings.Lines(help) {
		if len(line) > 121 {
			t.Errorf("a wide line: %q", line)
		}
	}
}

func TestWrongArguments(t *testing.T) {
	for _, test := range []struct {
		args  string
		words []string
	}{
		{"", []string{"--help"}},
		{"encrypt", []string{`"encrypt"`, "--help"}},
		{"encode", []string{"0 arguments", "FILE", "encode --help"}},
		{"encode a b", []string{"2 arguments"}},
		{"verify", []string{"0 arguments"}},
		{"verify --force main.go", []string{"--force", "verify --help"}},
		{"encode -k x main.go", []string{"-k", `"x"`}},
		{"encode -k 0 main.go", []string{"0 data"}},
		{"encode -p 0 main.go", []string{"one parity"}},
		{"encode -p -1 main.go", []string{"one parity"}},
		{"encode -k 200 -p 57 main.go", []string{"256"}},
		{"encode -m isa-l-rs main.go", []string{`"isa-l-rs"`, "backblaze"}},
		{"encode no-such-file", []string{"no-such-file", "no such file"}},
		{"encode .", []string{"not a regular file"}},
		{"encode -o no-such-directory main.go", []string{"no-such-directory", "no such file"}},
		{"verify no-such-file", []string{"no-such-file.NNN.shard"}},
		{"verify no-such-file.000.shard", []string{"no-such-file.000.shard"}},
		{"verify main.go", []string{"main.go is no shard file", "main.go.NNN.shard"}},
		{"verify .", []string{". has no files *.shard"}},
		{"join main.go", []string{"main.go"}},
		{"repair main.go", []string{"main.go"}},
	} {
		mustFail(t, test.words, strings.Fields(test.args)...)
	}
}

type fullDisk struct{}

func (fullDisk) Write([]byte) (int, error) { return 0, errors.New("no space left") }

func TestOutputFails(t *testing.T) {
	var errs bytes.Buffer
	if status := run(t.Context(), []string{"--help"}, fullDisk{}, &errs); status != 2 || errs.String() != "shards: no space left\n" {
		t.Errorf("status %d, stderr %q", status, errs.String())
	}
}

func TestPrintable(t *testing.T) {
	for text, want := range map[string]string{
		"naïve ☃ \"x\"":           "naïve ☃ \"x\"",
		"a\nb\x1b[2Jc\xffd\u202e": `a\nb\x1b[2Jc\xffd\u202e`,
		"\ufffd":                  "\ufffd",
	} {
		if got := printable(text); got != want {
			t.Errorf("%q becomes %q, want %q", text, got, want)
		}
	}
}
