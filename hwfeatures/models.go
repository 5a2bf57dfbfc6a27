package hwfeatures

import (
	"strconv"
	"strings"
)

// A model is a row of the table: a range of processor models and what is known about gathers on them.
type model struct {
	vendor      string
	family      int
	first, last int // models, inclusive
	name        string
	verdict
	// exposed is for models that Gather Data Sampling ("Downfall") affects, and holds while nothing mitigates
	// it. The row's own verdict is the mitigated one, since the mitigation is what slows gathers down.
	exposed *verdict
}

// A verdict holds the value of each tuning, with the source and the cycles per byte (c/B) behind it, or the word
// "unmeasured". All figures are Twofish's.
type verdict struct {
	fast  word // IntelFastVPGATHER
	beats word // VPGATHERBeatsManual
}

type word struct {
	on  bool
	why string
}

const (
	intel = "GenuineIntel"
	amd   = "AuthenticAMD"
)

// What rows share.
var (
	haswell = verdict{
		word{false, "libgcrypt: VPGATHER 12.7 c/B, without it 8.4"},
		word{false, "libgcrypt: VPGATHER 12.7 c/B, without it 8.4"},
	}
	broadwell = verdict{
		word{false, "unmeasured; not affected by Gather Data Sampling, but the gather unit is from before Skylake"},
		word{false, "unmeasured"},
	}

	// Where figures are missing, Tiger Lake's speak for the other affected models: it is the same mitigation.
	mitigated = verdict{
		word{false, "unmeasured; Gather Data Sampling mitigated, which costs Tiger Lake a factor of four"},
		word{false, "unmeasured; Gather Data Sampling mitigated"},
	}
	exposed = verdict{
		word{true, "unmeasured; fast in libgcrypt until the mitigation came"},
		word{false, "unmeasured"},
	}
	tigerLakeMitigated = verdict{
		word{false, "libgcrypt: VPGATHER 28.6 c/B mitigated, manual gather 8.99"},
		word{false, "libgcrypt: VPGATHER 28.6 c/B mitigated, manual gather 8.99"},
	}
	tigerLakeExposed = verdict{
		word{true, "libgcrypt: VPGATHER 6.5 c/B unmitigated, manual gather 8.99"},
		word{true, "libgcrypt: VPGATHER 6.5 c/B unmitigated, manual gather 8.99"},
	}

	unaffected = verdict{
		word{true, "unmeasured; not affected by Gather Data Sampling, and fast in libgcrypt"},
		word{false, "unmeasured"},
	}
	efficient = verdict{
		word{false, "unmeasured; efficiency cores only, and no source calls their gather fast"},
		word{false, "unmeasured"},
	}

	beforeZen3 = verdict{
		word{false, "unmeasured; libgcrypt counts AMD as slow before Zen 4"},
		word{false, "unmeasured"},
	}
	zen3 = verdict{
		word{false, "measured with libgcrypt: VPGATHER 10.8 c/B, scalar code 9.96"},
		word{false, "own measurement: VPGATHER 10.2 c/B, manual gather 4.93"},
	}
	zen4 = verdict{
		word{true, "libgcrypt: VPGATHER 8.98 c/B, enough to count AMD as fast from Zen 4 on"},
		word{false, "libgcrypt: VPGATHER 8.98 c/B, manual gather 8.38"},
	}
	// The tuning keeps libgcrypt's meaning, so VPGATHER is measured against plain scalar code. That this module's
	// four-block scalar kernel is better still does not make the instruction slow.
	zen5 = verdict{
		word{true, "own measurement on 1A_02: VPGATHER 6.9 c/B, scalar code for one block 12.1 (for four blocks 5.3)"},
		word{false, "own measurement on 1A_02: VPGATHER 6.9 c/B, manual gather 3.7"},
	}
	afterZen5 = verdict{
		word{true, "unmeasured; AMD is fast from Zen 4 on"},
		word{false, "unmeasured"},
	}
)

// models is the table. Rows do not overlap; a processor without a row has no tuning.
//
// Intel's models are numbered as in Linux's intel-family.h, AMD's generations divided as in its amd.c. Affected
// by Gather Data Sampling is what Linux's cpu_vuln_blacklist marks GDS. libgcrypt adds Cannon Lake, which is slow
// here for want of figures.
var models = [...]model{
	// Intel before Skylake.
	{intel, 6, 0x3c, 0x3c, "Haswell", haswell, nil},
	{intel, 6, 0x3f, 0x3f, "Haswell-E", haswell, nil},
	{intel, 6, 0x45, 0x45, "Haswell-ULT", haswell, nil},
	{intel, 6, 0x46, 0x46, "Haswell with Iris Pro", haswell, nil},
	{intel, 6, 0x3d, 0x3d, "Broadwell", broadwell, nil},
	{intel, 6, 0x47, 0x47, "Broadwell with Iris Pro", broadwell, nil},
	{intel, 6, 0x4f, 0x4f, "Broadwell-E", broadwell, nil},
	{intel, 6, 0x56, 0x56, "Broadwell-DE", broadwell, nil},

	// Intel, affected by Gather Data Sampling.
	{intel, 6, 0x4e, 0x4e, "Skylake mobile", mitigated, &exposed},
	{intel, 6, 0x5e, 0x5e, "Skylake desktop", mitigated, &exposed},
	{intel, 6, 0x55, 0x55, "Skylake, Cascade Lake and Cooper Lake server", mitigated, &exposed},
	{intel, 6, 0x8e, 0x8e, "Kaby Lake mobile, Amber Lake, Whiskey Lake", mitigated, &exposed},
	{intel, 6, 0x9e, 0x9e, "Kaby Lake desktop, Coffee Lake", mitigated, &exposed},
	{intel, 6, 0xa5, 0xa5, "Comet Lake desktop", mitigated, &exposed},
	{intel, 6, 0xa6, 0xa6, "Comet Lake mobile", mitigated, &exposed},
	{intel, 6, 0x7e, 0x7e, "Ice Lake mobile", mitigated, &exposed},
	{intel, 6, 0x6a, 0x6a, "Ice Lake server", mitigated, &exposed},
	{intel, 6, 0x6c, 0x6c, "Ice Lake-D", mitigated, &exposed},
	{intel, 6, 0x8c, 0x8c, "Tiger Lake mobile", tigerLakeMitigated, &tigerLakeExposed},
	{intel, 6, 0x8d, 0x8d, "Tiger Lake-H", tigerLakeMitigated, &tigerLakeExposed},
	{intel, 6, 0xa7, 0xa7, "Rocket Lake", mitigated, &exposed},

	// Intel after that. Hybrid processors go by their performance cores.
	{intel, 6, 0x97, 0x97, "Alder Lake desktop", unaffected, nil},
	{intel, 6, 0x9a, 0x9a, "Alder Lake mobile", unaffected, nil},
	{intel, 6, 0xb7, 0xb7, "Raptor Lake desktop", unaffected, nil},
	{intel, 6, 0xba, 0xba, "Raptor Lake-P", unaffected, nil},
	{intel, 6, 0xbf, 0xbf, "Raptor Lake-S", unaffected, nil},
	{intel, 6, 0xd7, 0xd7, "Bartlett Lake", unaffected, nil},
	{intel, 6, 0xaa, 0xaa, "Meteor Lake mobile", unaffected, nil},
	{intel, 6, 0xac, 0xac, "Meteor Lake", unaffected, nil},
	{intel, 6, 0xb5, 0xb5, "Arrow Lake-U", unaffected, nil},
	{intel, 6, 0xc5, 0xc6, "Arrow Lake", unaffected, nil},
	{intel, 6, 0xbd, 0xbd, "Lunar Lake", unaffected, nil},
	{intel, 6, 0xcc, 0xcc, "Panther Lake", unaffected, nil},
	{intel, 6, 0x8f, 0x8f, "Sapphire Rapids", unaffected, nil},
	{intel, 6, 0xcf, 0xcf, "Emerald Rapids", unaffected, nil},
	{intel, 6, 0xad, 0xae, "Granite Rapids", unaffected, nil},

	// Intel with efficiency cores only.
	{intel, 6, 0xbe, 0xbe, "Alder Lake-N", efficient, nil},
	{intel, 6, 0xaf, 0xaf, "Sierra Forest", efficient, nil},
	{intel, 6, 0xb6, 0xb6, "Grand Ridge", efficient, nil},
	{intel, 6, 0xdd, 0xdd, "Clearwater Forest", efficient, nil},

	// AMD.
	{amd, 0x15, 0x00, 0xff, "Bulldozer to Excavator", beforeZen3, nil},
	{amd, 0x17, 0x00, 0xff, "Zen, Zen 2", beforeZen3, nil},
	{amd, 0x19, 0x00, 0x0f, "Zen 3 server", zen3, nil},
	{amd, 0x19, 0x10, 0x1f, "Zen 4 server", zen4, nil},
	{amd, 0x19, 0x20, 0x5f, "Zen 3", zen3, nil},
	{amd, 0x19, 0x60, 0xaf, "Zen 4", zen4, nil},
	{amd, 0x1a, 0x00, 0x1f, "Zen 5 server", zen5, nil},
	{amd, 0x1a, 0x20, 0x2f, "Zen 5 mobile", zen5, nil},
	{amd, 0x1a, 0x30, 0x3f, "family 1Ah", afterZen5, nil},
	{amd, 0x1a, 0x40, 0x4f, "Zen 5 desktop", zen5, nil},
	{amd, 0x1a, 0x50, 0x5f, "Zen 6", afterZen5, nil},
	{amd, 0x1a, 0x60, 0x7f, "Zen 5 mobile", zen5, nil},
	{amd, 0x1a, 0x80, 0xff, "Zen 6 and later", afterZen5, nil},
}

// findModel returns the row of a processor, or nil.
func findModel(p Processor) *model {
	for i := range models {
		m := &models[i]
		if m.vendor == p.Vendor && m.family == p.Family && m.first <= p.Model && p.Model <= m.last {
			return m
		}
	}
	return nil
}

// tuningReasons holds for each tuning why it is on or off.
type tuningReasons struct{ fast, beats, sve string }

// notARM is why SVEBeatsNEON is off on amd64, gatherless why the others are on arm64.
const (
	notARM     = "SVE is an extension of arm64"
	gatherless = "VPGATHER is an amd64 instruction"
)

// tune looks a processor up. gds is what Linux's gather_data_sampling file says, or "" where there is none; only
// affected models care.
//
// A mitigation that is there and not seen costs more than one that is seen and not there: 28.6 c/B instead of
// 8.99 on Tiger Lake, against 8.99 instead of 6.5. So only the kernel's plain "Vulnerable" makes gathers fast.
// Silence, "Unknown: Dependent on hypervisor status" and whatever a later kernel says leave the row's own word, and
// so does "Not affected", which contradicts the row.
func tune(p Processor, s Set, gds string) (Set, tuningReasons) {
	if !s.Has(IntelAVX2) {
		const why = "no AVX2, so no VPGATHER"
		return 0, tuningReasons{why, why, notARM}
	}
	m := findModel(p)
	if m == nil {
		const why = "unknown processor model, so unmeasured"
		return 0, tuningReasons{why, why, notARM}
	}

	v, refined := m.verdict, ""
	if m.exposed != nil {
		gds = strings.TrimSpace(gds)
		switch gds {
		case "Vulnerable", "Vulnerable: No microcode":
			v = *m.exposed
		}
		if gds == "" {
			refined = "; gather_data_sampling says nothing, the mitigation is assumed"
		} else {
			refined = "; gather_data_sampling says " + quote(gds)
		}
	}

	var t Set
	if v.fast.on {
		t |= IntelFastVPGATHER
	}
	if v.beats.on {
		t |= VPGATHERBeatsManual
	}
	prefix := m.name + ": "
	return t, tuningReasons{prefix + v.fast.why + refined, prefix + v.beats.why + refined, notARM}
}

// tuneSVE judges scalable vectors of so many bytes, or none: 0. An instruction does the same for each byte of a vector as
// NEON's, but SVE lacks some of those that kernels use: at NEON's length it takes 1.1 to 1.4 times as many instructions.
func tuneSVE(bytes int) (Set, tuningReasons) {
	t, why := Set(0), "no SVE"
	if bytes > 0 {
		why = "vectors of " + strconv.Itoa(8*bytes) + " bits"
	}
	if bytes > 16 {
		t = SVEBeatsNEON
	}
	return t, tuningReasons{gatherless, gatherless, why}
}

// overridden puts the override in front of the reasons that it overrules.
func (r tuningReasons) overridden(detected, enabled Set) tuningReasons {
	overrule := func(t Set, why string) string {
		switch {
		case detected&t == enabled&t:
			return why
		case enabled.Has(t):
			return "added by TWOGATHER_HWF (" + why + ")"
		default:
			return "taken away by TWOGATHER_HWF (" + why + ")"
		}
	}
	return tuningReasons{overrule(IntelFastVPGATHER, r.fast), overrule(VPGATHERBeatsManual, r.beats), overrule(SVEBeatsNEON, r.sve)}
}
