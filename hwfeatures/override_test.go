package hwfeatures

import (
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// plain is a processor with AVX2 and GFNI and a fast gather.
const plain = IntelSSSE3 | IntelPCLMUL | IntelBMI2 | IntelAVX2 | IntelVAESVPCLMUL | IntelGFNI | IntelFastVPGATHER

const knownNames = "intel-ssse3 intel-pclmul intel-bmi2 intel-avx2 intel-vaes-vpclmul intel-gfni intel-avx512 " +
	"intel-avx512-vbmi arm-neon arm-aes arm-pmull arm-sve arm-sve2 intel-fast-vpgather vpgather-beats-manual sve-beats-neon"

func TestParseHWF(t *testing.T) {
	const arm = ARMNEON | ARMAES | ARMPMULL | ARMSVE | ARMSVE2
	for _, tt := range []struct {
		value          string
		detected, want Set
		warnings       []string
	}{
		{"", plain, plain, nil},
		{" \t", plain, plain, nil},
		{"-intel-gfni", plain, plain &^ IntelGFNI, nil},
		{"-intel-gfni,+vpgather-beats-manual", plain, plain&^IntelGFNI | VPGATHERBeatsManual, nil},
		{" -intel-gfni ,\t-intel-bmi2\n", plain, plain &^ (IntelGFNI | IntelBMI2), nil},
		{"-intel-fast-vpgather", plain, plain &^ IntelFastVPGATHER, nil},

		// What builds on a capability goes with it.
		{"-intel-avx512", everything, everything &^ zmmOnly, nil},
		{"-intel-avx2", everything, IntelSSSE3 | IntelPCLMUL | IntelBMI2, nil},
		{"-intel-ssse3", everything, IntelPCLMUL | IntelBMI2, nil},
		{"-intel-pclmul", everything, everything &^ (IntelPCLMUL | IntelVAESVPCLMUL), nil},
		{"-intel-avx512-vbmi", everything, everything &^ IntelAVX512VBMI, nil},
		{"-arm-sve", arm, arm &^ (ARMSVE | ARMSVE2), nil},
		{"-arm-neon", arm, 0, nil},
		// Tunings stay: they are about an instruction, and nothing uses it any more.
		{"-intel-avx2", plain, IntelSSSE3 | IntelPCLMUL | IntelBMI2 | IntelFastVPGATHER, nil},

		// One setting serves a fleet: what is not there can be taken away, what is there can be added.
		{"-arm-sve,-intel-avx512", plain, plain, nil},
		{"+intel-gfni,+intel-fast-vpgather", plain, plain, nil},
		{"+intel-fast-vpgather", 0, IntelFastVPGATHER, nil},
		{"-intel-fast-vpgather,+intel-fast-vpgather", plain, plain, nil},
		{"+intel-fast-vpgather,-intel-fast-vpgather", plain, plain &^ IntelFastVPGATHER, nil},

		{"+intel-avx512", plain, plain, []string{
			`TWOGATHER_HWF: "+intel-avx512" ignored: the processor or the operating system lacks it`}},
		{"+arm-neon,-intel-gfni", plain, plain &^ IntelGFNI, []string{
			`TWOGATHER_HWF: "+arm-neon" ignored: the processor or the operating system lacks it`}},
		{"-intel-gfni,+intel-gfni", plain, plain &^ IntelGFNI, []string{
			`TWOGATHER_HWF: "+intel-gfni" ignored: an earlier item takes it away; only tunings can be added`}},
		{"intel-gfni", plain, plain, []string{
			`TWOGATHER_HWF: "intel-gfni" ignored: want -name or +name`}},
		{"!intel-gfni", plain, plain, []string{
			`TWOGATHER_HWF: "!intel-gfni" ignored: want -name or +name`}},
		{"-intel-avx3", plain, plain, []string{
			`TWOGATHER_HWF: "-intel-avx3" ignored: unknown feature; known: ` + knownNames}},
		{"-", plain, plain, []string{
			`TWOGATHER_HWF: "-" ignored: unknown feature; known: ` + knownNames}},
		{"- intel-gfni", plain, plain, []string{
			`TWOGATHER_HWF: "- intel-gfni" ignored: unknown feature; known: ` + knownNames}},
		{"-Intel-GFNI", plain, plain, []string{
			`TWOGATHER_HWF: "-Intel-GFNI" ignored: names are lower case`}},
		{"-intel-gfni,,", plain, plain &^ IntelGFNI, []string{
			`TWOGATHER_HWF: "" ignored: empty item`,
			`TWOGATHER_HWF: "" ignored: empty item`}},
		{"-intel-gfni;-intel-avx2", plain, plain, []string{
			`TWOGATHER_HWF: "-intel-gfni;-intel-avx2" ignored: unknown feature; known: ` + knownNames}},
		{"\x1b[31m\n\xff", plain, plain, []string{
			`TWOGATHER_HWF: "\x1b[31m\n\xff" ignored: want -name or +name`}},
		{strings.Repeat("x", 1000), plain, plain, []string{
			`TWOGATHER_HWF: "` + strings.Repeat("x", 64) + `"... ignored: want -name or +name`}},
	} {
		got, warnings := parseHWF(tt.value, tt.detected)
		if got != tt.want || !slices.Equal(warnings, tt.warnings) {
			t.Errorf("%q:\ngot  %v %q\nwant %v %q", tt.value, got, warnings, tt.want, tt.warnings)
		}
	}
}

func TestParseKernels(t *testing.T) {
	for _, tt := range []struct {
		value    string
		want     []forcedKernel
		warnings []string
	}{
		{"", nil, nil},
		{"  ", nil, nil},
		{"twofish=avx2-manual", []forcedKernel{{"twofish", "avx2-manual"}}, nil},
		{"twofish=avx2-manual,raid6=avx2x4", []forcedKernel{{"twofish", "avx2-manual"}, {"raid6", "avx2x4"}}, nil},
		{" erasure = avx2-gfni ", []forcedKernel{{"erasure", "avx2-gfni"}}, nil},
		{"raid6=a=b", []forcedKernel{{"raid6", "a=b"}}, nil},

		{"blowfish=avx2", nil, []string{
			`TWOGATHER_KERNEL: "blowfish=avx2" ignored: unknown primitive; known: twofish erasure raid6 ghash`}},
		{"Twofish=avx2-manual,raid6=avx2x4", []forcedKernel{{"raid6", "avx2x4"}}, []string{
			`TWOGATHER_KERNEL: "Twofish=avx2-manual" ignored: unknown primitive; known: twofish erasure raid6 ghash`}},
		{"=avx2", nil, []string{
			`TWOGATHER_KERNEL: "=avx2" ignored: unknown primitive; known: twofish erasure raid6 ghash`}},
		{"twofish", nil, []string{
			`TWOGATHER_KERNEL: "twofish" ignored: want primitive=kernel`}},
		{"twofish= ", nil, []string{
			`TWOGATHER_KERNEL: "twofish=" ignored: no kernel named`}},
		{"twofish=,twofish=generic", []forcedKernel{{"twofish", "generic"}}, []string{
			`TWOGATHER_KERNEL: "twofish=" ignored: no kernel named`}},
		{"twofish=a,twofish=b,twofish=a", []forcedKernel{{"twofish", "a"}}, []string{
			`TWOGATHER_KERNEL: "twofish=b" ignored: twofish already has "a"`,
			`TWOGATHER_KERNEL: "twofish=a" ignored: twofish already has "a"`}},
		{",raid6=generic", []forcedKernel{{"raid6", "generic"}}, []string{
			`TWOGATHER_KERNEL: "" ignored: empty item`}},
	} {
		got, warnings := parseKernels(tt.value)
		if !slices.Equal(got, tt.want) || !slices.Equal(warnings, tt.warnings) {
			t.Errorf("%q:\ngot  %q %q\nwant %q %q", tt.value, got, warnings, tt.want, tt.warnings)
		}
	}
}

// checkWarnings wants one printable line for each item that is wrong.
func checkWarnings(t *testing.T, value string, warnings []string) {
	t.Helper()
	if n := strings.Count(value, ",") + 1; len(warnings) > n {
		t.Errorf("%d warnings for %d items", len(warnings), n)
	}
	for _, w := range warnings {
		for _, c := range w {
			if c < ' ' || c > '~' {
				t.Errorf("warning %q", w)
				break
			}
		}
	}
}

func FuzzParseHWF(f *testing.F) {
	f.Add("-intel-gfni,+intel-fast-vpgather", uint64(plain))
	f.Add(" ,+,-,\x00=, -arm-neon", uint64(everything))
	f.Fuzz(func(t *testing.T, value string, raw uint64) {
		detected := (Set(raw) & known).supported()
		enabled, warnings := parseHWF(value, detected)
		if !detected.Has(enabled &^ tunings) {
			t.Errorf("%q adds %v", value, enabled&^detected)
		}
		if enabled != enabled.supported() {
			t.Errorf("%q: %v lacks foundations", value, enabled)
		}
		checkWarnings(t, value, warnings)
	})
}

func FuzzParseKernels(f *testing.F) {
	f.Add("twofish=avx2-manual,raid6=avx2x4")
	f.Add("twofish==,=,, raid6 = \xff")
	f.Fuzz(func(t *testing.T, value string) {
		forced, warnings := parseKernels(value)
		seen := map[string]bool{}
		for _, k := range forced {
			if !isPrimitive(k.primitive) || seen[k.primitive] || k.name == "" || k.name != strings.TrimSpace(k.name) {
				t.Errorf("%q forces %q", value, forced)
			}
			seen[k.primitive] = true
		}
		checkWarnings(t, value, warnings)
	})
}

// Refusing the same kernel twice is one warning, and no state of standard error is a reason to panic.
func TestRefuseKernel(t *testing.T) {
	if os.Getenv("HWFEATURES_TEST_CHILD") != "" {
		t.Skip("the child's standard error belongs to another test")
	}
	r, w, err := os.Pipe()
	if err != nil {
		t.Skip(err)
	}
	defer r.Close()
	stderr := os.Stderr
	defer func() { os.Stderr = stderr }()

	os.Stderr = w
	before := len(Warnings())
	RefuseKernel("twofish", "avx2-nothing", "no such kernel")
	RefuseKernel("twofish", "avx2-nothing", "no such kernel")
	RefuseKernel("twofish", "avx2-manual", "the processor lacks intel-avx2")
	w.Close()
	RefuseKernel("raid6", "avx2x9", "standard error is closed")
	os.Stderr = nil
	RefuseKernel("raid6", "avx2x8", "standard error is nil")
	os.Stderr = stderr

	said := []string{
		`TWOGATHER_KERNEL: "twofish=avx2-nothing" ignored: no such kernel`,
		`TWOGATHER_KERNEL: "twofish=avx2-manual" ignored: the processor lacks intel-avx2`,
		`TWOGATHER_KERNEL: "raid6=avx2x9" ignored: standard error is closed`,
		`TWOGATHER_KERNEL: "raid6=avx2x8" ignored: standard error is nil`,
	}
	got := Warnings()[before:]
	if !slices.Equal(got, said) {
		t.Errorf("warnings %q", got)
	}
	printed := make([]byte, 1000)
	n, _ := r.Read(printed)
	if want := "twogather: " + said[0] + "\ntwogather: " + said[1] + "\n"; string(printed[:n]) != want {
		t.Errorf("printed %q, want %q", printed[:n], want)
	}

	// The answer is the caller's to keep.
	Warnings()[0] = "scribble"
	if Warnings()[0] == "scribble" {
		t.Error("Warnings hands out its own slice")
	}
}

// TestChild is what TestEnvironment runs in a process of its own.
func TestChild(t *testing.T) {
	if os.Getenv("HWFEATURES_TEST_CHILD") == "" {
		t.Skip("for TestEnvironment")
	}
	report := []string{
		"enabled " + Enabled().String(),
		"detected " + Detected().String(),
		"fast " + Reason(IntelFastVPGATHER),
		"warnings " + strings.Join(Warnings(), "|"),
	}
	for _, p := range primitives {
		report = append(report, p+" "+ForcedKernel(p))
	}
	os.Stdout.WriteString(strings.Join(report, "\n") + "\n")
}

func TestEnvironment(t *testing.T) {
	if os.Getenv("HWFEATURES_TEST_CHILD") != "" {
		t.Skip("in the child")
	}
	self, err := os.Executable()
	if err != nil {
		t.Skip(err)
	}
	run := func(t *testing.T, hwf, kernel string) (report map[string]string, stderr string) {
		t.Helper()
		cmd := exec.Command(self, "-test.run=^TestChild$")
		for _, e := range os.Environ() {
			if !strings.HasPrefix(e, "TWOGATHER_") {
				cmd.Env = append(cmd.Env, e)
			}
		}
		cmd.Env = append(cmd.Env, "HWFEATURES_TEST_CHILD=1")
		if hwf != "" {
			cmd.Env = append(cmd.Env, "TWOGATHER_HWF="+hwf)
		}
		if kernel != "" {
			cmd.Env = append(cmd.Env, "TWOGATHER_KERNEL="+kernel)
		}
		var errout strings.Builder
		cmd.Stderr = &errout
		out, err := cmd.Output()
		if err != nil {
			if cmd.ProcessState == nil {
				t.Skip("no processes here: ", err) // wasm, or an emulator that cannot start itself
			}
			t.Fatalf("%v\n%s%s", err, out, errout.String())
		}
		report = map[string]string{}
		for line := range strings.Lines(string(out)) {
			key, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
			report[key] = value
		}
		return report, errout.String()
	}
	check := func(t *testing.T, report map[string]string, key, want string) {
		t.Helper()
		if got, ok := report[key]; !ok || got != want {
			t.Errorf("%s: got %q, want %q", key, got, want)
		}
	}

	t.Run("silent", func(t *testing.T) {
		report, stderr := run(t, "", "")
		if stderr != "" {
			t.Errorf("standard error: %q", stderr)
		}
		check(t, report, "warnings", "")
		check(t, report, "detected", Detected().String())
		check(t, report, "enabled", Detected().String())
		for _, p := range primitives {
			check(t, report, p, "")
		}
	})

	t.Run("right", func(t *testing.T) {
		report, stderr := run(t, "-intel-ssse3,-intel-pclmul,-intel-bmi2,-arm-neon,-vpgather-beats-manual,+intel-fast-vpgather", "twofish=generic, raid6 = avx2x4")
		if stderr != "" {
			t.Errorf("standard error: %q", stderr)
		}
		check(t, report, "warnings", "")
		check(t, report, "detected", Detected().String())
		check(t, report, "enabled", "intel-fast-vpgather")
		check(t, report, "twofish", "generic")
		check(t, report, "erasure", "")
		check(t, report, "raid6", "avx2x4")
		if added := strings.HasPrefix(report["fast"], "added by TWOGATHER_HWF ("); added == Detected().Has(IntelFastVPGATHER) {
			t.Errorf("reason %q", report["fast"])
		}
	})

	t.Run("wrong", func(t *testing.T) {
		report, stderr := run(t, "intel-gfni,-Arm-NEON,intel-gfni", "raid6,twofish=generic")
		said := []string{
			`TWOGATHER_HWF: "intel-gfni" ignored: want -name or +name`,
			`TWOGATHER_HWF: "-Arm-NEON" ignored: names are lower case`,
			`TWOGATHER_KERNEL: "raid6" ignored: want primitive=kernel`,
		}
		if want := "twogather: " + strings.Join(said, "\ntwogather: ") + "\n"; stderr != want {
			t.Errorf("standard error:\n%swant:\n%s", stderr, want)
		}
		check(t, report, "warnings", strings.Join(said, "|"))
		check(t, report, "enabled", Detected().String())
		check(t, report, "twofish", "generic")
		check(t, report, "raid6", "")
	})
}
