package main

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"reflect"
	"strings"
	"testing"

	"github.com/twogather/twogather/hwfeatures"
	"github.com/twogather/twogather/internal/kernel"
)

// TestMain lets the test binary stand in for the program: what depends on the environment needs a process of its own.
func TestMain(m *testing.M) {
	if os.Getenv("BENCH_SLOPE_TEST_MAIN") != "" {
		main()
	}
	os.Exit(m.Run())
}

// program runs the program in its own process, without the overrides that this process may have.
func program(t *testing.T, env []string, args ...string) (stdout, stderr string, status int) {
	t.Helper()
	cmd := exec.Command(os.Args[0], args...)
	for _, e := range os.Environ() {
		if !strings.HasPrefix(e, "TWOGATHER_HWF=") && !strings.HasPrefix(e, "TWOGATHER_KERNEL=") {
			cmd.Env = append(cmd.Env, e)
		}
	}
	// The race detector sleeps a second before it exits unless told not to.
	cmd.Env = append(append(cmd.Env, "BENCH_SLOPE_TEST_MAIN=1", "GORACE=atexit_sleep_ms=0"), env...)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err := cmd.Run()
	if _, ok := errors.AsType[*exec.ExitError](err); err != nil && !ok {
		t.Fatal(err)
	}
	return out.String(), errs.String(), cmd.ProcessState.ExitCode()
}

func call(args ...string) (stdout, stderr string, status int) {
	var out, errs bytes.Buffer
	status = run(args, &out, &errs)
	return out.String(), errs.String(), status
}

// mustCall runs what must succeed and say nothing on standard error.
func mustCall(t *testing.T, args ...string) string {
	t.Helper()
	out, errs, status := call(args...)
	if status != 0 || errs != "" {
		t.Fatalf("bench-slope %q: status %d, stderr %q", args, status, errs)
	}
	return out
}

func TestHelp(t *testing.T) {
	help := mustCall(t, "--help")
	for _, o := range optionTable {
		if !strings.Contains(help, "--"+o.name) {
			t.Errorf("the help leaves --%s out", o.name)
		}
	}
	for _, word := range []string{"cipher", "mac", "erasure", "raid6", "hwf", "list", "twofish", "cmac_twofish", "CCM, SIV and GCM-SIV are left out"} {
		if !strings.Contains(help, word) {
			t.Errorf("the help leaves %s out", word)
		}
	}
	for line := range strings.Lines(help) {
		if len(line) > 121 {
			t.Errorf("a wide line: %q", line)
		}
	}
	if got := mustCall(t, "cipher", "twofish", "--help"); got != help {
		t.Errorf("--help after a command prints %q", got)
	}

	out, errs, status := call()
	if out != "" || errs != help || status != 2 {
		t.Errorf("without arguments: status %d, stdout %q, stderr %q", status, out, errs)
	}
}

func TestWrongArguments(t *testing.T) {
	for _, test := range []struct {
		args string
		want []string // in the message
	}{
		{"--bogus", []string{"-bogus", "--help", "--verbose", "--csv", "--cpu-mhz", "--disable-hwf", "--repetitions",
			"--unaligned", "--kernel", "--key-size"}},
		{"cipher -bogus", []string{"-bogus", "--csv"}},
		{"cipher --bogus=1 twofish", []string{"-bogus", "--csv"}},
		{"cipher --kernel", []string{"argument", "-kernel"}},
		{"cipher --kernel=", []string{"-kernel", "name"}},
		{"--csv", []string{"cipher, mac, erasure, raid6, hwf, list"}},
		{"chipher", []string{`"chipher"`, "cipher, mac, erasure, raid6, hwf, list"}},
		{"hwf twofish", []string{`"twofish"`}},
		{"list twofish", []string{`"twofish"`}},
		{"cipher twofish rot13", []string{`"rot13"`, "twofish"}},
		{"mac twofish", []string{`"twofish"`, "cmac_twofish"}},
		{"mac cmac_rot13", []string{`"cmac_rot13"`, "cmac_twofish"}},
		{"mac --count-instructions", []string{"no instructions"}},
		{"cipher --kernel bogus", []string{`"bogus"`, "generic", "all"}},
		{"cipher --kernel generi", []string{`"generi"`, "generic", "all"}},
		{"cipher --key-size 64", []string{`"64"`, "128, 192 or 256"}},
		{"cipher --key-size +128", []string{`"+128"`, "128, 192 or 256"}},
		{"cipher --disable-hwf intel-avx3", []string{`"intel-avx3"`, "intel-avx2", "arm-sve2", "vpgather-beats-manual"}},
		{"cipher --disable-hwf intel-avx2,", []string{`""`, "intel-avx2"}},
		{"cipher --cpu-mhz fast", []string{`"fast"`, "auto"}},
		{"cipher --cpu-mhz 0", []string{`"0"`, "auto"}},
		{"cipher --cpu-mhz NaN", []string{`"NaN"`, "auto"}},
		{"cipher --repetitions 0", []string{`"0"`, "from 1"}},
		{"cipher --repetitions 1e3", []string{`"1e3"`, "from 1"}},
		{"cipher -k 3", []string{"cipher", "--k", "erasure"}},
		{"erasure --key-size 128", []string{"erasure", "--key-size", "cipher"}},
		{"erasure twofish", []string{`"twofish"`}},
		{"erasure -k 0", []string{`"0"`, "from 1"}},
		{"erasure -k 200 -p 57", []string{"200", "57", "256"}},
		{"erasure -p 3 -e 4", []string{"4", "3"}},
		{"erasure -k 3 -p 4 -e 4", []string{"4", "3"}},
		{"erasure -s 32k", []string{`"32k"`, "32K"}},
		{"erasure -s 0", []string{`"0"`, "32K"}},
		{"erasure -s 2048M", []string{`"2048M"`, "1024M"}},
		{"erasure --placement nowhere", []string{`"nowhere"`, "aligned", "staggered", "both"}},
		{"erasure --time soon", []string{`"soon"`, "250ms"}},
		{"erasure --kernel bogus", []string{`"bogus"`, "generic", "all"}},
	} {
		out, errs, status := call(strings.Fields(test.args)...)
		if status != 2 || out != "" {
			t.Errorf("%s: status %d, stdout %q", test.args, status, out)
		}
		if !strings.HasPrefix(errs, "bench-slope: ") || strings.Count(errs, "\n") != 1 || !strings.HasSuffix(errs, "\n") {
			t.Errorf("%s: stderr is not one line of the program: %q", test.args, errs)
		}
		for _, want := range test.want {
			if !strings.Contains(errs, want) {
				t.Errorf("%s: no %s in %q", test.args, want, errs)
			}
		}
	}
}

// Every kernel that requires something can be made unusable.
func TestUnusableKernel(t *testing.T) {
	for _, k := range kernel.Lookup("twofish").Kernels {
		if k.Requires == 0 {
			continue
		}
		out, errs, status := call("--disable-hwf", commas(k.Requires), "cipher", "twofish", "--kernel", k.Name)
		if status != 2 || out != "" || strings.Count(errs, "\n") != 1 {
			t.Errorf("%s: status %d, stdout %q, stderr %q", k.Name, status, out, errs)
		}
		for _, want := range []string{k.Name, commas(k.Requires), "generic"} {
			if !strings.Contains(errs, want) {
				t.Errorf("%s: no %s in %q", k.Name, want, errs)
			}
		}
	}
}

func TestOptionsStandAnywhere(t *testing.T) {
	want := options{
		verbose: true, mhz: 3200.5, disable: hwfeatures.IntelAVX2 | hwfeatures.IntelGFNI | hwfeatures.ARMSVE,
		repetitions: 7, kernel: "generic", keyBits: 192, placements: []placement{aligned}, disks: sweptDisks, chunk: defaultChunk,
	}
	for _, args := range []string{
		"--verbose --cpu-mhz 3200.5 --disable-hwf intel-avx2,intel-gfni --disable-hwf arm-sve --repetitions 7 " +
			"--kernel generic --key-size 192 cipher twofish",
		"cipher twofish --verbose --cpu-mhz=3200.5 --disable-hwf=intel-avx2,intel-gfni,arm-sve --repetitions=7 " +
			"--kernel=generic --key-size=192",
		"--verbose cipher --cpu-mhz auto --cpu-mhz 3200.5 --disable-hwf=arm-sve --disable-hwf intel-gfni,intel-avx2 twofish " +
			"--repetitions 7 --kernel all --kernel generic --key-size 128 --key-size 192",
	} {
		got, words, err := parse(strings.Fields(args))
		got.given = nil
		if err != nil || !reflect.DeepEqual(got, want) || strings.Join(words, " ") != "cipher twofish" {
			t.Errorf("%s: %+v, words %q, %v", args, got, words, err)
		}
	}
}

type fullDisk struct{}

func (fullDisk) Write([]byte) (int, error) { return 0, errors.New("no space left") }

func TestOutputFails(t *testing.T) {
	for _, args := range []string{"--help", "hwf", "list", "cipher --repetitions 1 --cpu-mhz 1000 --kernel generic"} {
		var errs bytes.Buffer
		status := run(strings.Fields(args), fullDisk{}, &errs)
		if status != 1 || errs.String() != "bench-slope: no space left\n" {
			t.Errorf("%s: status %d, stderr %q", args, status, errs.String())
		}
	}
}

func TestProcess(t *testing.T) {
	out, errs, status := program(t, nil, "cipher", "rot13")
	if out != "" || status != 2 || !strings.HasPrefix(errs, "bench-slope: ") {
		t.Errorf("wrong cipher: status %d, stdout %q, stderr %q", status, out, errs)
	}
	out, errs, status = program(t, nil, "cipher", "--repetitions", "2", "--kernel", "generic")
	if !strings.HasPrefix(out, "Cipher:\n TWOFISH ") || status != 0 || errs != "" {
		t.Errorf("cipher: status %d, stdout %q, stderr %q (a pipe, which sees no progress)", status, out, errs)
	}
}
