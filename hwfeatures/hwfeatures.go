package hwfeatures

import (
	"errors"
	"iter"
	"math/bits"
	"strconv"
	"strings"
)

// A Set is a set of features; each constant is a set of one.
type Set uint64

// Capabilities of amd64 processors, then of arm64 processors, then tunings. Names in quotation marks are
// what [Parse], [Set.String] and TWOGATHER_HWF use; they are libgcrypt's where it has one.
const (
	// IntelSSSE3 is "intel-ssse3".
	IntelSSSE3 Set = 1 << iota
	// IntelPCLMUL is "intel-pclmul".
	IntelPCLMUL
	// IntelBMI2 is "intel-bmi2": BMI1 and BMI2, since kernels use BEXTR and RORX together.
	IntelBMI2
	// IntelAVX2 is "intel-avx2": AVX and AVX2, with the XMM and YMM state enabled.
	IntelAVX2
	// IntelVAESVPCLMUL is "intel-vaes-vpclmul": VAES and VPCLMULQDQ in their VEX form.
	IntelVAESVPCLMUL
	// IntelGFNI is "intel-gfni": the Galois-field instructions in their VEX form. Together with
	// IntelAVX512 the EVEX form works too.
	IntelGFNI
	// IntelAVX512 is "intel-avx512": AVX-512 F, CD, BW, DQ and VL, with the ZMM and opmask state enabled.
	// libgcrypt's feature of this name asks for more (IFMA, VBMI, VBMI2, VNNI, BITALG, VPOPCNTDQ), so as to
	// leave out the first processors, which lower their clock. Here that is left to measurements.
	IntelAVX512
	// IntelAVX512VBMI is "intel-avx512-vbmi": byte permutes over whole registers (VPERMI2B).
	IntelAVX512VBMI

	// ARMNEON is "arm-neon": Advanced SIMD.
	ARMNEON
	// ARMAES is "arm-aes".
	ARMAES
	// ARMPMULL is "arm-pmull": carry-less products of 64 bits.
	ARMPMULL
	// ARMSVE is "arm-sve": scalable vectors, whatever their length.
	ARMSVE
	// ARMSVE2 is "arm-sve2".
	ARMSVE2

	// IntelFastVPGATHER is "intel-fast-vpgather", a tuning: the gather instruction beats plain scalar code.
	IntelFastVPGATHER
	// VPGATHERBeatsManual is "vpgather-beats-manual", a tuning: the gather instruction beats a gather through
	// scalar loads.
	VPGATHERBeatsManual
	// SVEBeatsNEON is "sve-beats-neon", a tuning: scalable vectors are longer than NEON's.
	SVEBeatsNEON
)

const (
	known        = SVEBeatsNEON<<1 - 1
	tunings      = IntelFastVPGATHER | VPGATHERBeatsManual | SVEBeatsNEON
	capabilities = known &^ tunings
)

// names holds the name of 1<<i at i.
var names = [...]string{
	"intel-ssse3",
	"intel-pclmul",
	"intel-bmi2",
	"intel-avx2",
	"intel-vaes-vpclmul",
	"intel-gfni",
	"intel-avx512",
	"intel-avx512-vbmi",
	"arm-neon",
	"arm-aes",
	"arm-pmull",
	"arm-sve",
	"arm-sve2",
	"intel-fast-vpgather",
	"vpgather-beats-manual",
	"sve-beats-neon",
}

// needs says what a capability builds on. Every capability stands below those it needs, so that one walk from
// top to bottom finds all consequences.
var needs = [...]struct{ feature, of Set }{
	{IntelAVX2, IntelSSSE3},
	{IntelVAESVPCLMUL, IntelAVX2 | IntelPCLMUL},
	{IntelGFNI, IntelAVX2},
	{IntelAVX512, IntelAVX2},
	{IntelAVX512VBMI, IntelAVX512},
	{ARMAES, ARMNEON},
	{ARMPMULL, ARMNEON},
	{ARMSVE, ARMNEON},
	{ARMSVE2, ARMSVE},
}

// supported returns s without the capabilities that lack something they build on.
func (s Set) supported() Set {
	for _, n := range needs {
		if !s.Has(n.of) {
			s &^= n.feature
		}
	}
	return s
}

// Has reports whether s contains every feature of t.
func (s Set) Has(t Set) bool { return s&t == t }

// Without returns s without the features of t and without what builds on them, as TWOGATHER_HWF=-name does.
func (s Set) Without(t Set) Set { return (s &^ t).supported() }

// All yields the features of s one by one, in the order of their declaration.
func (s Set) All() iter.Seq[Set] {
	return func(yield func(Set) bool) {
		for ; s != 0; s &= s - 1 {
			if !yield(s & -s) {
				return
			}
		}
	}
}

// String returns the names of the features in s, separated by spaces, in the order of their declaration. The
// empty set is "none".
func (s Set) String() string {
	if s == 0 {
		return "none"
	}
	var b strings.Builder
	for f := range s.All() {
		if b.Len() > 0 {
			b.WriteByte(' ')
		}
		if i := bits.TrailingZeros64(uint64(f)); i < len(names) {
			b.WriteString(names[i])
		} else {
			b.WriteString("unknown-" + strconv.Itoa(i))
		}
	}
	return b.String()
}

// Capabilities returns the features without which code faults, those of all architectures.
func Capabilities() Set { return capabilities }

// Tunings returns the features without which code is only slower, those of all architectures.
func Tunings() Set { return tunings }

// Parse returns the feature that has this name. The error for any other name lists the choices.
func Parse(name string) (Set, error) {
	for i, n := range names {
		if n == name {
			return 1 << i, nil
		}
	}
	return 0, errors.New("hwfeatures: unknown feature " + quote(name) + "; known: " + known.String())
}

// What this process works with. Set once, by init, and read-only from then on.
var (
	processor Processor // without its brand
	detected  Set
	enabled   Set
	reasons   tuningReasons
	forced    []forcedKernel
)

// Detected returns the capabilities and tunings of this processor, before the override.
func Detected() Set { return detected }

// Enabled returns the features to use: [Detected], changed by TWOGATHER_HWF. The answer stays the same for the
// life of the process.
func Enabled() Set { return enabled }

// CPU returns the identity of this processor. It is the zero value where nothing tells it: on architectures other
// than amd64, and in builds with the purego tag.
func CPU() Processor {
	p := processor
	p.Brand = marketingName()
	return p
}

// Reason says why a tuning is on or off on this processor: in the words of its row in the table of models, of the
// Linux kernel where that refines the row, or of the override; or by the length of vectors. For anything but one tuning it
// is empty.
func Reason(tuning Set) string {
	switch tuning {
	case IntelFastVPGATHER:
		return reasons.fast
	case VPGATHERBeatsManual:
		return reasons.beats
	case SVEBeatsNEON:
		return reasons.sve
	}
	return ""
}

// ForcedKernel returns the name that TWOGATHER_KERNEL gives for a primitive, or "" where it gives none. The
// name is as the user wrote it: whoever owns the primitive's kernel table checks it, and calls [RefuseKernel].
func ForcedKernel(primitive string) string {
	for _, f := range forced {
		if f.primitive == primitive {
			return f.name
		}
	}
	return ""
}
