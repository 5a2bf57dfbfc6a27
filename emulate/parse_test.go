//go:build linux

package main

import (
	"reflect"
	"strings"
	"testing"

	"github.com/twogather/twogather/hwfeatures"
)

const listText = `primitive  name          requires               prefers             batch  usable  selected  constant-time
twofish    avx2-manual   intel-bmi2,intel-avx2  none                16     yes     yes       no
twofish    amd64-scalar  none                   intel-fast-vpgather 1      no      no        yes
`

func TestParseList(t *testing.T) {
	rows, err := parseList(listText)
	want := []row{
		{"twofish", "avx2-manual", hwfeatures.IntelBMI2 | hwfeatures.IntelAVX2, 16, true},
		{"twofish", "amd64-scalar", 0, 1, false},
	}
	if err != nil || !reflect.DeepEqual(rows, want) {
		t.Errorf("%v, %v", rows, err)
	}
	for _, bad := range []string{
		"",
		strings.SplitAfter(listText, "\n")[0],
		strings.Replace(listText, "selected", "chosen", 1),
		strings.Replace(listText, "intel-bmi2", "intel-bmi9", 1),
		strings.Replace(listText, "  16 ", "  x ", 1),
		listText + "twofish generic\n",
	} {
		if rows, err := parseList(bad); err == nil {
			t.Errorf("%q is %v", bad, rows)
		}
	}
	must, env := mustRun(rows, hwfeatures.IntelBMI2)
	if len(must) != 1 || env != "TWOGATHER_TEST_MUST_RUN=twofish=amd64-scalar" {
		t.Errorf("%v, %s", must, env)
	}
}

func TestParseHWF(t *testing.T) {
	const text = "Processor:\n  GenuineIntel 06_7E (Core: i7)\nDetected:\n  intel-ssse3 intel-fast-vpgather\nEnabled:\n  none\n" +
		"Kernels:\n  twofish  avx2-manual generic\n  raid6    generic\n"
	detected, selected, err := parseHWF(text)
	if err != nil || detected != hwfeatures.IntelSSSE3|hwfeatures.IntelFastVPGATHER ||
		!reflect.DeepEqual(selected, map[string]string{"twofish": "avx2-manual generic", "raid6": "generic"}) {
		t.Errorf("%v, %v, %v", detected, selected, err)
	}
	for _, bad := range []string{"", "Detected:\n  none\n", strings.Replace(text, "ssse3", "ssse4", 1)} {
		if _, _, err := parseHWF(bad); err == nil {
			t.Errorf("%q: no error", bad)
		}
	}
}

func TestParseCounts(t *testing.T) {
	rows, _ := parseList(listText)
	c := make(counts)
	err := c.parse("cipher,TWOFISH,ECB enc,avx2-manual,,7.598,instr/B\n"+
		"cipher,TWOFISH,CBC enc,amd64-scalar,,30.000,instr/B\ncipher,TWOFISH,CTR dec,amd64-scalar,,31.000,instr/B\n", rows)
	want := counts{"twofish avx2-manual": {"ECB-enc": 7.598}, "twofish amd64-scalar": {"CBC-enc": 30}}
	if err != nil || !reflect.DeepEqual(c, want) {
		t.Errorf("%v, %v", c, err)
	}
	for _, bad := range []string{
		"Cipher:\n",
		"cipher,TWOFISH,ECB enc,avx2-manual,,-,instr/B\n",
		"cipher,TWOFISH,ECB enc,avx2-manual,,0.000,instr/B\n",
		"cipher,TWOFISH,ECB enc,avx3,,7.598,instr/B\n",
	} {
		if err := make(counts).parse(bad, rows); err == nil {
			t.Errorf("%q: no error", bad)
		}
	}
}

func TestParseTests(t *testing.T) {
	r := parseTests(`=== RUN   TestA
=== RUN   TestA/wide
    cipher_test.go:3: --- FAIL: TestFake/wide (0.00s)
--- FAIL: TestA (0.01s)
    --- PASS: TestA/narrow (0.00s)
    --- FAIL: TestA/wide (0.00s)
        --- FAIL: TestA/wide/CBC_decryption (0.00s)
        --- SKIP: TestA/wide/CTR (0.00s)
--- PASS: TestB (0.00s)
FAIL
`)
	if r.all != (tally{2, 3, 1}) || *r.kernels["wide"] != (tally{0, 2, 1}) || *r.kernels["narrow"] != (tally{1, 0, 0}) {
		t.Errorf("%+v", r)
	}
}

func TestCompareCounts(t *testing.T) {
	for _, tt := range []struct {
		got          map[string]float64
		want         string
		wrong, notes int
	}{
		{map[string]float64{"A": 100}, "A 100.000", 0, 0},
		{map[string]float64{"A": 102}, "A 100.000", 0, 0},
		{map[string]float64{"A": 102.01}, "A 100.000", 1, 0},
		{map[string]float64{"A": 97.9}, "A 100.000", 0, 1},
		{map[string]float64{"A": 100, "B": 1}, "A 100.000", 1, 0},
		{map[string]float64{"A": 100}, "A 100.000 B 1.000", 1, 0},
		{map[string]float64{"A": 100}, "", 1, 0},
		{map[string]float64{"A": 100}, "A", 1, 0},
		{map[string]float64{"A": 100}, "A x", 1, 0},
	} {
		wrong, notes := compareCounts(tt.got, tt.want)
		if len(wrong) != tt.wrong || len(notes) != tt.notes {
			t.Errorf("%v against %q: %q, %q", tt.got, tt.want, wrong, notes)
		}
	}
	// The message says what to do.
	if wrong, _ := compareCounts(map[string]float64{"A": 110}, "A 100"); !strings.Contains(wrong[0], "+10.0%") || !strings.Contains(wrong[0], "make emulate-record") {
		t.Errorf("%q", wrong)
	}
}

func TestRecorded(t *testing.T) {
	name := t.TempDir() + "/recorded.txt"
	r, err := readRecorded(name)
	if err != nil || len(r) != 0 {
		t.Fatal(r, err)
	}
	r["b twofish generic"] = formatCounts(map[string]float64{"ECB-enc": 1.5, "CBC-dec": 2})
	r["a twofish selects"] = "generic"
	if err := r.write(name, map[string]int{"a twofish selects": 1, "b twofish generic": 2}); err != nil {
		t.Fatal(err)
	}
	again, err := readRecorded(name)
	if err != nil || !reflect.DeepEqual(again, r) {
		t.Errorf("%v, %v", again, err)
	}
	if r["b twofish generic"] != "CBC-dec 2.000 ECB-enc 1.500" {
		t.Errorf("%q", r["b twofish generic"])
	}
}

// The recorded file itself must be readable, and name processors that there are.
func TestRecordedFile(t *testing.T) {
	r, err := readRecorded("recorded.txt")
	if err != nil {
		t.Fatal(err)
	}
	for k, v := range r {
		f := strings.Fields(k)
		if _, err := findProcessors(f[:1]); err != nil {
			t.Error(err)
		}
		if _, err := parseFigures(v); err != nil && f[2] != "selects" {
			t.Error(err)
		}
	}
}
