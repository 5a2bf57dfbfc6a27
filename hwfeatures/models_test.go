package hwfeatures

import (
	"strings"
	"testing"
)

// The rows must be plain, apart, and honest about where they come from.
func TestModelTable(t *testing.T) {
	measured := func(w word) bool { return strings.Contains(w.why, "c/B") }
	for i := range models {
		m := &models[i]
		if m.vendor != intel && m.vendor != amd || m.name == "" || m.first > m.last {
			t.Errorf("row %d: %+v", i, m)
		}
		for j := range models[:i] {
			o := &models[j]
			if o.vendor == m.vendor && o.family == m.family && o.first <= m.last && m.first <= o.last {
				t.Errorf("%s and %s overlap", o.name, m.name)
			}
		}
		verdicts := []verdict{m.verdict}
		if m.exposed != nil {
			verdicts = append(verdicts, *m.exposed)
			if m.vendor != intel || m.fast.on || m.beats.on || !m.exposed.fast.on {
				t.Errorf("%s: mitigation must make the difference", m.name)
			}
		}
		for _, v := range verdicts {
			for _, w := range []word{v.fast, v.beats} {
				if measured(w) == strings.Contains(w.why, "unmeasured") {
					t.Errorf("%s: neither figures nor the word unmeasured, or both: %q", m.name, w.why)
				}
			}
			if v.beats.on && !measured(v.beats) {
				t.Errorf("%s: VPGATHER beats the manual gather without figures", m.name)
			}
			if v.beats.on && !v.fast.on {
				t.Errorf("%s: slow, and yet the better", m.name)
			}
		}

		for _, n := range []int{m.first, m.last} {
			p := Processor{Vendor: m.vendor, Family: m.family, Model: n}
			if got := findModel(p); got != m {
				t.Errorf("%v finds another row than %s", p, m.name)
			}
		}
	}
}

// What the kernel's file may say, by what it means for an affected model.
var (
	gdsSilent  = []string{"", "\n", "Not affected\n", "Unknown: Dependent on hypervisor status\n", "Vulnerable: Something new\n", "vulnerable\n", "\x00\xff garbage\n"}
	gdsSlow    = []string{"Mitigation: Microcode\n", "Mitigation: Microcode (locked)\n", "Mitigation: AVX disabled, no microcode\n"}
	gdsExposed = []string{"Vulnerable\n", "Vulnerable", "Vulnerable: No microcode\n"}
)

// Every model number that a row starts or ends with, and its neighbours, written down a second time.
func TestTune(t *testing.T) {
	const (
		none = Set(0)
		fast = IntelFastVPGATHER
		best = IntelFastVPGATHER | VPGATHERBeatsManual
	)
	type span struct {
		first, last   int
		want, exposed Set
	}
	for _, tt := range []struct {
		vendor string
		family int
		spans  []span // all models that have a tuning in some state; the rest of 0 to 255 has none
	}{
		{intel, 6, []span{
			{0x4e, 0x4e, none, fast}, {0x55, 0x55, none, fast}, {0x5e, 0x5e, none, fast},
			{0x6a, 0x6a, none, fast}, {0x6c, 0x6c, none, fast}, {0x7e, 0x7e, none, fast},
			{0x8c, 0x8d, none, best}, {0x8e, 0x8e, none, fast}, {0x9e, 0x9e, none, fast},
			{0xa5, 0xa7, none, fast},
			{0x8f, 0x8f, fast, fast}, {0x97, 0x97, fast, fast}, {0x9a, 0x9a, fast, fast},
			{0xaa, 0xaa, fast, fast}, {0xac, 0xae, fast, fast}, {0xb5, 0xb5, fast, fast},
			{0xb7, 0xb7, fast, fast}, {0xba, 0xba, fast, fast}, {0xbd, 0xbd, fast, fast},
			{0xbf, 0xbf, fast, fast}, {0xc5, 0xc6, fast, fast}, {0xcc, 0xcc, fast, fast},
			{0xcf, 0xcf, fast, fast}, {0xd7, 0xd7, fast, fast},
		}},
		{amd, 0x19, []span{{0x10, 0x1f, fast, fast}, {0x60, 0xaf, fast, fast}}},
		{amd, 0x1a, []span{{0x00, 0xff, fast, fast}}},
		{amd, 0x15, nil},
		{amd, 0x16, nil},
		{amd, 0x17, nil},
		{amd, 0x18, nil},
		{amd, 0x1b, nil},
		{amd, 6, nil},
		{intel, 5, nil},
		{intel, 7, nil},
		{intel, 15, nil},
		{intel, 0x19, nil},
		{"HygonGenuine", 0x18, nil},
		{"CentaurHauls", 6, nil},
		{"", 6, nil},
		{"genuineintel", 6, nil},
	} {
		for n := range 256 {
			want, exposed := none, none
			for _, s := range tt.spans {
				if s.first <= n && n <= s.last {
					want, exposed = s.want, s.exposed
				}
			}
			// A hypervisor may fake the model; only the number counts.
			for _, virtual := range []bool{false, true} {
				p := Processor{Vendor: tt.vendor, Family: tt.family, Model: n, Hypervisor: virtual}
				check := func(gds string, want Set) {
					t.Helper()
					got, why := tune(p, everything, gds)
					if got != want {
						t.Errorf("%v, %q: %v, want %v", p, gds, got, want)
					}
					if why.fast == "" || why.beats == "" {
						t.Errorf("%v, %q: no reason", p, gds)
					}
					if none, _ := tune(p, everything&^ymmOnly, gds); none != 0 {
						t.Errorf("%v without AVX2: %v", p, none)
					}
				}
				for _, gds := range append(gdsSilent, gdsSlow...) {
					check(gds, want)
				}
				for _, gds := range gdsExposed {
					check(gds, exposed)
				}
			}
		}
	}
}

// Models whose numbers a row must name, and whose reason must say why.
func TestTuneReasons(t *testing.T) {
	for _, tt := range []struct {
		vendor        string
		family, model int
		gds           string
		fast, beats   string
	}{
		{intel, 6, 0x3c, "", "Haswell: libgcrypt: VPGATHER 12.7 c/B", "8.4"},
		{intel, 6, 0x3d, "", "Broadwell: unmeasured", "unmeasured"},
		{intel, 6, 0x4e, "", "the mitigation is assumed", "Skylake mobile: unmeasured"},
		{intel, 6, 0x66, "", "unknown processor model", "unmeasured"},
		{intel, 6, 0x8a, "", "unknown processor model", "unmeasured"},
		{intel, 6, 0x8c, "Mitigation: Microcode\n", `28.6 c/B mitigated, manual gather 8.99; gather_data_sampling says "Mitigation: Microcode"`, "28.6"},
		{intel, 6, 0x8d, "Vulnerable\n", `6.5 c/B unmitigated, manual gather 8.99; gather_data_sampling says "Vulnerable"`, "6.5"},
		{intel, 6, 0x8c, "Not affected\n", `28.6 c/B mitigated, manual gather 8.99; gather_data_sampling says "Not affected"`, "28.6"},
		{intel, 6, 0x8f, "Not affected\n", "Sapphire Rapids: unmeasured; not affected", "unmeasured"},
		{intel, 6, 0xbe, "", "Alder Lake-N: unmeasured; efficiency cores only", "unmeasured"},
		{intel, 6, 0xaf, "", "Sierra Forest: unmeasured; efficiency", "unmeasured"},
		{intel, 6, 0xb6, "", "Grand Ridge: unmeasured; efficiency", "unmeasured"},
		{intel, 6, 0xdd, "", "Clearwater Forest: unmeasured; efficiency", "unmeasured"},
		{amd, 0x15, 0x65, "", "libgcrypt counts AMD as slow", "unmeasured"},
		{amd, 0x17, 0x31, "", "Zen, Zen 2: unmeasured; libgcrypt counts AMD as slow", "unmeasured"},
		{amd, 0x19, 0x01, "", "10.8 c/B, scalar code 9.96", "10.2 c/B, manual gather 4.93"},
		{amd, 0x19, 0x61, "", "8.98 c/B", "8.98 c/B, manual gather 8.38"},
		{amd, 0x1a, 0x02, "", "6.9 c/B, scalar code for one block 12.1", "6.9 c/B, manual gather 3.7"},
		{amd, 0x1a, 0x02, "Mitigation: made up", "scalar code for one block 12.1 (for four blocks 5.3)", "3.7"},
		{amd, 0x1a, 0x50, "", "Zen 6: unmeasured; AMD is fast", "unmeasured"},
		{intel, 6, 0x8c, strings.Repeat("x\n", 1000), `x\nx`, "..."},
	} {
		p := Processor{Vendor: tt.vendor, Family: tt.family, Model: tt.model}
		_, why := tune(p, everything, tt.gds)
		if !strings.Contains(why.fast, tt.fast) || !strings.Contains(why.beats, tt.beats) {
			t.Errorf("%v: %+v, want %q and %q", p, why, tt.fast, tt.beats)
		}
		if strings.Contains(why.fast+why.beats, "\n") || len(why.fast) > 300 {
			t.Errorf("%v: not a line: %+v", p, why)
		}
		if tt.vendor == amd && strings.Contains(why.fast, "gather_data_sampling") {
			t.Errorf("%v: the file is for affected models: %+v", p, why)
		}
	}
	if _, why := tune(Processor{}, IntelSSSE3, ""); !strings.Contains(why.fast, "no AVX2") {
		t.Errorf("%+v", why)
	}
}

func TestOverriddenReasons(t *testing.T) {
	r := tuningReasons{"F", "B", "S"}
	const f, b = IntelFastVPGATHER, VPGATHERBeatsManual
	for _, tt := range []struct {
		detected, enabled Set
		want              tuningReasons
	}{
		{0, 0, r},
		{f, f, r},
		{f | IntelGFNI, f, r},
		{0, f, tuningReasons{"added by TWOGATHER_HWF (F)", "B", "S"}},
		{f | b, 0, tuningReasons{"taken away by TWOGATHER_HWF (F)", "taken away by TWOGATHER_HWF (B)", "S"}},
		{f, b, tuningReasons{"taken away by TWOGATHER_HWF (F)", "added by TWOGATHER_HWF (B)", "S"}},
		{SVEBeatsNEON, 0, tuningReasons{"F", "B", "taken away by TWOGATHER_HWF (S)"}},
	} {
		if got := r.overridden(tt.detected, tt.enabled); got != tt.want {
			t.Errorf("%v to %v: %+v", tt.detected, tt.enabled, got)
		}
	}
}

func TestTuneSVE(t *testing.T) {
	for _, tt := range []struct {
		bytes int
		want  Set
		why   string
	}{
		{0, 0, "no SVE"},
		{16, 0, "vectors of 128 bits"},
		{32, SVEBeatsNEON, "vectors of 256 bits"},
		{256, SVEBeatsNEON, "vectors of 2048 bits"},
	} {
		if got, why := tuneSVE(tt.bytes); got != tt.want || why.sve != tt.why || why.fast == "" || why.beats == "" {
			t.Errorf("%d bytes: %v, %+v", tt.bytes, got, why)
		}
	}
}
