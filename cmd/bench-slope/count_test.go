package main

import (
	"bytes"
	"strings"
	"testing"

	"github.com/twogather/twogather/internal/kernel"
)

// counting is an engine whose operation takes 100 instructions and 7.5 for each byte.
func counting() (*engine, func(n int)) {
	var now uint64
	return &engine{count: func() uint64 { return now }, step: 1024}, func(n int) { now += 100 + uint64(15*n)/2 }
}

func TestCount(t *testing.T) {
	e, op := counting()
	if f := e.figure(op); f.instructions != 7.5 || f.perCall != 100 || f.ns != 0 {
		t.Errorf("%+v", f)
	}
}

// The step is whole batches.
func TestCountStep(t *testing.T) {
	p := &kernel.Primitive{Kernels: []kernel.Info{{Name: "wide", Batch: 80}, {Name: "even", Batch: 64}, {Name: "one", Batch: 1}}}
	for name, want := range map[string]int{"wide": 1280, "even": 1024, "one": 1024} {
		if got := countStep(p, name, 16); got != want {
			t.Errorf("%s: %d, want %d", name, got, want)
		}
	}
}

func TestCountReports(t *testing.T) {
	counted := figure{instructions: 7.598, perCall: 100}
	c := choice{names: []string{"avx2-manual"}, forced: "avx2-manual", asked: true}
	for _, tt := range []struct {
		csv  bool
		want string
	}{
		{false, `Cipher:
 TWOFISH        | instructions/byte  kernel avx2-manual
        ECB enc |             7.598
                =
`},
		{true, "cipher,TWOFISH,ECB enc,avx2-manual,,7.598,instr/B\n"},
	} {
		var b bytes.Buffer
		s := &session{options: options{count: true, csv: tt.csv}, out: &output{w: &b}}
		printGroup(s.reporter("cipher", "Cipher"), c, counted)
		if b.String() != tt.want {
			t.Errorf("got\n%swant\n%s", b.String(), tt.want)
		}
	}
	if got := counted.background(); got != "100.0 instructions/call" {
		t.Errorf("%q", got)
	}
}

// Where nothing counts, there is an error and no table.
func TestCountHere(t *testing.T) {
	if _, err := newCounter(); err == nil {
		t.Skip("this is an emulator")
	}
	var stdout, stderr bytes.Buffer
	if status := run([]string{"cipher", "--count-instructions"}, &stdout, &stderr); status != 1 || stdout.Len() > 0 ||
		!strings.Contains(stderr.String(), "under emulation only") {
		t.Errorf("status %d, output %q, errors %q", status, stdout.String(), stderr.String())
	}
}
