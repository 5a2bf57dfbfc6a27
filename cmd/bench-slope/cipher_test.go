package main

import (
	"bytes"
	"crypto/cipher"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/crypto/xts"

	"github.com/twogather/twogather/hwfeatures"
	"github.com/twogather/twogather/internal/kernel"
	"github.com/twogather/twogather/modes"
	"github.com/twogather/twogather/twofish"
)

// quick keeps a run short; with a given clock nothing is measured twice.
var quick = []string{"--repetitions", "1", "--cpu-mhz", "2000"}

var operations = []string{"ECB enc", "ECB dec", "CBC enc", "CBC dec", "CFB enc", "CFB dec", "OFB enc", "OFB dec",
	"CTR enc", "CTR dec", "XTS enc", "XTS dec", "EAX enc", "EAX dec", "EAX auth",
	"GCM enc", "GCM dec", "GCM auth", "OCB enc", "OCB dec", "OCB auth"}

func usableKernels(primitive string, features hwfeatures.Set) (names []string) {
	for _, k := range kernel.Lookup(primitive).Kernels {
		if features.Has(k.Requires) {
			names = append(names, k.Name)
		}
	}
	return names
}

// checkGroup takes a group's rows and its footer off lines.
func checkGroup(t *testing.T, lines []string) []string {
	t.Helper()
	if len(lines) < len(operations)+1 {
		t.Fatalf("the group ends early: %q", lines)
	}
	for i, operation := range operations {
		if !strings.HasPrefix(lines[i], fmt.Sprintf(" %14s | ", operation)) {
			t.Errorf("row %d is %q, want %s", i, lines[i], operation)
		}
	}
	if footer := lines[len(operations)]; footer != "                =" {
		t.Errorf("footer %q", footer)
	}
	return lines[len(operations)+1:]
}

func TestCipherText(t *testing.T) {
	for _, test := range []struct{ bits, label string }{
		{"128", "TWOFISH128"},
		{"192", "TWOFISH192"},
		{"256", "TWOFISH   "},
	} {
		lines := strings.Split(mustCall(t, append(quick, "cipher", "TwoFish", "--key-size", test.bits)...), "\n")
		header := " " + test.label + "     |  nanosecs/byte   mebibytes/sec   cycles/byte"
		if len(lines) < 2 || lines[0] != "Cipher:" || lines[1] != header {
			t.Fatalf("%s bits: %q", test.bits, lines)
		}
		if rest := checkGroup(t, lines[2:]); !slices.Equal(rest, []string{""}) {
			t.Errorf("%s bits: %q follows", test.bits, rest)
		}
	}
}

func TestCipherMeasuresClock(t *testing.T) {
	out, errs, status := call("cipher", "--repetitions", "2", "--kernel", "generic", "--unaligned", "--verbose")
	if status != 0 {
		t.Fatalf("status %d, %q", status, errs)
	}
	lines := strings.Split(out, "\n")
	if want := " TWOFISH        |  nanosecs/byte   mebibytes/sec   cycles/byte  auto Mhz  kernel generic"; lines[1] != want {
		t.Errorf("header %q", lines[1])
	}
	checkGroup(t, lines[2:])
	for _, operation := range operations {
		if !strings.Contains(errs, "\nTWOFISH "+operation+": ") {
			t.Errorf("--verbose says nothing of %s: %q", operation, errs)
		}
	}
}

func TestCipherAllKernels(t *testing.T) {
	want := usableKernels("twofish", hwfeatures.Enabled())
	if !slices.Contains(want, "generic") {
		t.Fatalf("kernels %q", want)
	}

	lines := strings.Split(mustCall(t, append(quick, "cipher", "--kernel", "all")...), "\n")
	if lines[0] != "Cipher:" {
		t.Errorf("section %q", lines[0])
	}
	rest := lines[1:]
	for _, name := range want {
		if !strings.HasSuffix(rest[0], "  kernel "+name) {
			t.Errorf("header %q, want kernel %s", rest[0], name)
		}
		rest = checkGroup(t, rest[1:])
	}
	if !slices.Equal(rest, []string{""}) {
		t.Errorf("%q follows", rest)
	}
}

func TestCipherCSV(t *testing.T) {
	args := append(quick, "--csv", "cipher", "twofish")
	features := hwfeatures.Enabled()
	for _, test := range []struct{ kernel, want string }{
		{"", strings.Join(kernel.Lookup("twofish").Selected(features, false), "+")},
		{"generic", "generic"},
	} {
		names := []string{test.want}
		full := args
		if test.kernel != "" {
			full = append(args[:len(args):len(args)], "--kernel", test.kernel)
		}
		lines := strings.Split(strings.TrimSuffix(mustCall(t, full...), "\n"), "\n")
		if len(lines) != len(names)*len(operations) {
			t.Fatalf("%d lines for the kernels %q", len(lines), names)
		}
		for i, line := range lines {
			f := strings.Split(line, ",")
			if len(f) != 11 {
				t.Fatalf("%d fields in %q", len(f), line)
			}
			want := []string{"cipher", "TWOFISH", operations[i%len(operations)], names[i/len(operations)], "",
				f[5], "ns/B", f[7], "MiB/s", f[9], "c/B"}
			if !slices.Equal(f, want) {
				t.Errorf("line %d is %q, want %q", i, f, want)
			}
			for _, v := range []string{f[5], f[7], f[9]} {
				if _, err := strconv.ParseFloat(v, 64); err != nil && v != "-" {
					t.Errorf("line %d: %v", i, err)
				}
			}
		}
	}
}

func TestConstantTime(t *testing.T) {
	p := kernel.Lookup("twofish")
	choices, err := choose(p, hwfeatures.Enabled(), true, "all") // to time them all would take long
	if err != nil {
		t.Fatal(err)
	}
	var got, all []string
	for _, c := range choices {
		got = append(got, c.forced)
	}
	for _, k := range p.Kernels {
		if k.ConstantTime && hwfeatures.Enabled().Has(k.Requires) {
			all = append(all, k.Name)
		}
	}
	if !slices.Equal(got, all) {
		t.Errorf("kernels %q, want %q", got, all)
	}

	want := "TWOFISH: kernels " + strings.Join(p.Selected(hwfeatures.Enabled(), true), " ") + "\n"
	if _, errs, status := call(append(quick, "cipher", "--constant-time", "--verbose")...); status != 0 || !strings.Contains(errs, want) {
		t.Errorf("status %d, stderr %q, want %q", status, errs, want)
	}
	_, errs, status := call(append(quick, "cipher", "--constant-time", "--kernel", "generic")...)
	if status != 2 || !strings.Contains(errs, `twofish kernel "generic" is not constant-time`) {
		t.Errorf("status %d, stderr %q", status, errs)
	}
}

// Each row does what its name says: what one undoes of the other, and what the standard library's modes make of it.
func TestCipherRows(t *testing.T) {
	block, err := twofish.NewCipher(make([]byte, 32))
	if err != nil {
		t.Fatal(err)
	}
	iv := []byte("0123456789abcdef")
	text := make([]byte, 320)
	fill(text)
	expect := map[string]func(dst []byte){
		"ECB": func(dst []byte) {
			for i := 0; i < len(dst); i += 16 {
				block.Encrypt(dst[i:], dst[i:])
			}
		},
		"CBC": func(dst []byte) { cipher.NewCBCEncrypter(block, iv).CryptBlocks(dst, dst) },
		"CTR": func(dst []byte) { cipher.NewCTR(block, iv).XORKeyStream(dst, dst) },
		//lint:ignore SA1019 it is what the row does
		"CFB": func(dst []byte) { cipher.NewCFBEncrypter(block, iv).XORKeyStream(dst, dst) },
		//lint:ignore SA1019 it is what the row does
		"OFB": func(dst []byte) { cipher.NewOFB(block, iv).XORKeyStream(dst, dst) },
		"XTS": func(dst []byte) {
			x, err := xts.NewCipher(func([]byte) (cipher.Block, error) { return block, nil }, nil)
			if err != nil {
				t.Fatal(err)
			}
			x.Encrypt(dst, dst, 0)
		},
	}
	for i, row := range cipherRows {
		if got := row.mode + " " + row.operation; got != operations[i] {
			t.Errorf("row %d is %s, want %s", i, got, operations[i])
		}
		if slices.Contains([]string{"EAX", "GCM", "OCB"}, row.mode) {
			continue // below
		}
		in, want := slices.Clone(text), slices.Clone(text)
		if row.operation == "enc" {
			expect[row.mode](want)
		} else {
			expect[row.mode](in)
		}
		row.setup(block, iv)(in)
		if !slices.Equal(in, want) {
			t.Errorf("%s %s is wrong", row.mode, row.operation)
		}
	}
}

// The rows of AEADs: what is sealed is opened, to where it came from, and authentication is all of the data.
func TestAEADRows(t *testing.T) {
	block, err := twofish.NewCipher(make([]byte, 32))
	if err != nil {
		t.Fatal(err)
	}
	iv := []byte("0123456789abcdef")
	eax, err := modes.NewEAX(block, 16, 16)
	if err != nil {
		t.Fatal(err)
	}
	gcm, err := cipher.NewGCM(struct{ cipher.Block }{block}) // the standard library's
	if err != nil {
		t.Fatal(err)
	}
	ocb, err := modes.NewOCB(block, 15, 16)
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range cipherRows {
		a := map[string]cipher.AEAD{"EAX": eax, "GCM": gcm, "OCB": ocb}[row.mode]
		if a == nil {
			continue
		}
		run := row.setup(block, iv)
		for _, n := range []int{16, 320, 16} {
			buf := make([]byte, n+maxTag)
			fill(buf)
			want := bytes.Clone(buf)
			if row.operation == "enc" {
				want = a.Seal(nil, iv[:a.NonceSize()], buf[:n], nil)
			}
			run(buf[:n])
			if !bytes.Equal(buf, want) {
				t.Errorf("%s %s of %d bytes is wrong", row.mode, row.operation, n)
			}
		}
	}
}

func TestMAC(t *testing.T) {
	features := hwfeatures.Enabled()
	for _, word := range []string{"", "CMAC_TWOFISH", "cmac-twofish"} {
		out := mustCall(t, append(quick, strings.Fields("mac "+word)...)...)
		lines := strings.Split(out, "\n")
		if len(lines) != 5 || lines[0] != "MAC:" ||
			lines[1] != "                    |  nanosecs/byte   mebibytes/sec   cycles/byte" ||
			!strings.HasPrefix(lines[2], " CMAC_TWOFISH       | ") || lines[3] != "                    =" {
			t.Errorf("mac %s prints %q", word, lines)
		}
	}
	out := mustCall(t, append(quick, "mac", "--csv", "--key-size", "128", "--kernel", "all")...)
	names := usableKernels("twofish", features)
	lines := strings.Split(strings.TrimSuffix(out, "\n"), "\n")
	if len(lines) != len(names) {
		t.Fatalf("%d lines for the kernels %q", len(lines), names)
	}
	for i, line := range lines {
		if !strings.HasPrefix(line, "mac,CMAC_TWOFISH128,,"+names[i]+",,") {
			t.Errorf("line %d is %q, want kernel %s", i, line, names[i])
		}
	}
}
