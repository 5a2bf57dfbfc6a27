package hwfeatures

import (
	"math/bits"
	"slices"
	"strings"
	"testing"
)

func TestNames(t *testing.T) {
	if n := bits.OnesCount64(uint64(known)); n != len(names) {
		t.Fatalf("%d features, %d names", n, len(names))
	}
	seen := map[string]bool{}
	for f := range known.All() {
		name := f.String()
		if seen[name] || name == "" || name != strings.ToLower(name) || strings.ContainsAny(name, " ,=+") || name[0] == '-' {
			t.Errorf("name %q", name)
		}
		seen[name] = true
		if got, err := Parse(name); err != nil || got != f {
			t.Errorf("Parse(%q) = %v, %v", name, got, err)
		}
	}
	// The first and the last of each group hold the list to the constants.
	for f, want := range map[Set]string{
		IntelSSSE3:          "intel-ssse3",
		IntelAVX512VBMI:     "intel-avx512-vbmi",
		ARMNEON:             "arm-neon",
		ARMSVE2:             "arm-sve2",
		IntelFastVPGATHER:   "intel-fast-vpgather",
		VPGATHERBeatsManual: "vpgather-beats-manual",
		SVEBeatsNEON:        "sve-beats-neon",
	} {
		if f.String() != want {
			t.Errorf("%#x is %q, want %q", uint64(f), f.String(), want)
		}
	}
}

func TestParseUnknown(t *testing.T) {
	for _, name := range []string{"", "intel-avx3", "Intel-AVX2", " intel-avx2", "intel-avx2 intel-gfni", "none"} {
		s, err := Parse(name)
		if err == nil {
			t.Errorf("Parse(%q) = %v", name, s)
			continue
		}
		for f := range known.All() {
			if !strings.Contains(err.Error(), f.String()) {
				t.Errorf("Parse(%q): error does not offer %v: %v", name, f, err)
			}
		}
	}
}

func TestSet(t *testing.T) {
	for _, tt := range []struct {
		s    Set
		want string
	}{
		{0, "none"},
		{IntelAVX2, "intel-avx2"},
		{VPGATHERBeatsManual | IntelSSSE3 | ARMSVE, "intel-ssse3 arm-sve vpgather-beats-manual"},
		{1<<63 | IntelGFNI, "intel-gfni unknown-63"},
	} {
		if got := tt.s.String(); got != tt.want {
			t.Errorf("%#x: got %q, want %q", uint64(tt.s), got, tt.want)
		}
	}

	s := IntelAVX2 | IntelGFNI
	for _, tt := range []struct {
		t    Set
		want bool
	}{{0, true}, {IntelAVX2, true}, {s, true}, {IntelAVX512, false}, {s | IntelAVX512, false}} {
		if s.Has(tt.t) != tt.want {
			t.Errorf("Has(%v) is not %v", tt.t, tt.want)
		}
	}

	if got := slices.Collect(s.All()); !slices.Equal(got, []Set{IntelAVX2, IntelGFNI}) {
		t.Errorf("All yields %v", got)
	}
	for f := range s.All() { // a consumer that stops early
		if f != IntelAVX2 {
			t.Error("not the first")
		}
		break
	}
}

func TestKinds(t *testing.T) {
	if Capabilities()&Tunings() != 0 || Capabilities()|Tunings() != known {
		t.Errorf("capabilities %v, tunings %v", Capabilities(), Tunings())
	}
	if Tunings() != IntelFastVPGATHER|VPGATHERBeatsManual|SVEBeatsNEON {
		t.Errorf("tunings %v", Tunings())
	}
}

// A capability must stand below what it needs, or one walk does not find all consequences.
func TestNeedsOrder(t *testing.T) {
	for i, n := range needs {
		for _, above := range needs[:i] {
			if above.of.Has(n.feature) {
				t.Errorf("%v needs %v, which stands below it", above.feature, n.feature)
			}
		}
		if !capabilities.Has(n.feature | n.of) {
			t.Errorf("%v: not a capability", n.feature)
		}
	}
}

// What holds for this process, whatever the processor.
func TestThisProcess(t *testing.T) {
	t.Logf("%v: detected %v", CPU(), Detected())
	if Detected() != Detected().supported() {
		t.Errorf("detected %v lacks foundations", Detected())
	}
	for f := range Tunings().All() {
		t.Logf("%v: %v: %s", f, Enabled().Has(f), Reason(f))
		if Reason(f) == "" {
			t.Errorf("no reason for %v", f)
		}
		instruction := IntelAVX2
		if f == SVEBeatsNEON {
			instruction = ARMSVE
		}
		if Detected().Has(f) && !Detected().Has(instruction) {
			t.Errorf("%v without the instruction", f)
		}
	}
	for _, f := range []Set{0, IntelAVX2, Tunings(), 1 << 63} {
		if r := Reason(f); r != "" {
			t.Errorf("reason for %v: %q", f, r)
		}
	}
	if got := ForcedKernel("nothing"); got != "" {
		t.Errorf("forced %q", got)
	}
}

func TestProcessorString(t *testing.T) {
	for _, tt := range []struct {
		p    Processor
		want string
	}{
		{Processor{}, "unknown"},
		{Processor{Vendor: "AuthenticAMD", Family: 0x1a, Model: 2, Brand: "AMD EPYC"}, "AuthenticAMD 1A_02 (AMD EPYC)"},
		{Processor{Vendor: "GenuineIntel", Family: 6, Model: 0x8c}, "GenuineIntel 06_8C"},
		{Processor{Vendor: "GenuineIntel", Family: 270, Model: 255}, "GenuineIntel 10E_FF"},
	} {
		if got := tt.p.String(); got != tt.want {
			t.Errorf("got %q, want %q", got, tt.want)
		}
	}
}
