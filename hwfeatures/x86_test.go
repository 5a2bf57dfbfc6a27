package hwfeatures

import (
	"encoding/binary"
	"strings"
	"testing"
)

// A machine is a made-up processor: answers by leaf, and XCR0.
type machine struct {
	leaves map[uint32][4]uint32
	xcr0   uint64
}

const (
	allLeaf1 = leaf1ecxPCLMUL | leaf1ecxSSSE3 | leaf1ecxOSXSAVE | leaf1ecxAVX
	avx512   = leaf7ebxAVX512F | leaf7ebxAVX512CD | leaf7ebxAVX512BW | leaf7ebxAVX512DQ | leaf7ebxAVX512VL
	allLeaf7 = leaf7ebxBMI1 | leaf7ebxAVX2 | leaf7ebxBMI2 | avx512
	allExtra = leaf7ecxVBMI | leaf7ecxGFNI | leaf7ecxVAES | leaf7ecxVPCLMUL

	everything = IntelSSSE3 | IntelPCLMUL | IntelBMI2 | IntelAVX2 | IntelVAESVPCLMUL | IntelGFNI | IntelAVX512 | IntelAVX512VBMI
	zmmOnly    = IntelAVX512 | IntelAVX512VBMI
	ymmOnly    = IntelAVX2 | IntelVAESVPCLMUL | IntelGFNI | zmmOnly
)

// fullMachine has every capability, so that each test takes one thing away.
func fullMachine(vendor string, family, model int) *machine {
	v := [3]uint32{}
	for i := range v {
		v[i] = binary.LittleEndian.Uint32([]byte(vendor[4*i:]))
	}
	m := &machine{leaves: map[uint32][4]uint32{
		0: {0x20, v[0], v[2], v[1]},
		1: {signature(family, model, 3), 0, allLeaf1, 0},
		7: {0, allLeaf7, allExtra, 0},
	}, xcr0: xcr0AVX512 | 1}
	m.brand("  Made-up   Processor 3000 ")
	return m
}

func signature(family, model, stepping int) uint32 {
	base, extended := family, 0
	if family > 15 {
		base, extended = 15, family-15
	}
	return uint32(extended<<20 | model>>4<<16 | base<<8 | model&15<<4 | stepping)
}

func (m *machine) brand(s string) {
	b := make([]byte, 48)
	copy(b, s)
	m.leaves[0x80000000] = [4]uint32{0x80000008}
	for leaf := range uint32(3) {
		var r [4]uint32
		for i := range r {
			r[i] = binary.LittleEndian.Uint32(b[16*leaf+uint32(4*i):])
		}
		m.leaves[0x80000002+leaf] = r
	}
}

func (m *machine) set(leaf uint32, register int, value uint32) *machine {
	r := m.leaves[leaf]
	r[register] = value
	m.leaves[leaf] = r
	return m
}

func (m *machine) clear(leaf uint32, register int, value uint32) *machine {
	return m.set(leaf, register, m.leaves[leaf][register]&^value)
}

func (m *machine) cpuid(leaf, sub uint32) (a, b, c, d uint32) {
	r, ok := m.leaves[leaf]
	if !ok || sub != 0 {
		// Intel answers with the last leaf's values; here, with everything set.
		return ^uint32(0), ^uint32(0), ^uint32(0), ^uint32(0)
	}
	return r[0], r[1], r[2], r[3]
}

func (m *machine) decode(t *testing.T) (Set, Processor) {
	t.Helper()
	s, p := decodeX86(m.cpuid, func() uint64 {
		if m.leaves[1][2]&leaf1ecxOSXSAVE == 0 {
			t.Error("XGETBV without OSXSAVE faults")
		}
		return m.xcr0
	})
	p.Brand = brand(m.cpuid)
	return s, p
}

func TestDecodeCapabilities(t *testing.T) {
	const ebx, ecx = 1, 2
	for _, tt := range []struct {
		name   string
		change func(m *machine)
		gone   Set
	}{
		{"everything", func(m *machine) {}, 0},
		{"no SSSE3", func(m *machine) { m.clear(1, ecx, leaf1ecxSSSE3) }, IntelSSSE3 | ymmOnly},
		{"no PCLMUL", func(m *machine) { m.clear(1, ecx, leaf1ecxPCLMUL) }, IntelPCLMUL | IntelVAESVPCLMUL},
		{"no AVX", func(m *machine) { m.clear(1, ecx, leaf1ecxAVX) }, ymmOnly},
		{"no OSXSAVE", func(m *machine) { m.clear(1, ecx, leaf1ecxOSXSAVE) }, ymmOnly},
		{"no BMI1", func(m *machine) { m.clear(7, ebx, leaf7ebxBMI1) }, IntelBMI2},
		{"no BMI2", func(m *machine) { m.clear(7, ebx, leaf7ebxBMI2) }, IntelBMI2},
		{"no AVX2", func(m *machine) { m.clear(7, ebx, leaf7ebxAVX2) }, ymmOnly},
		{"no VAES", func(m *machine) { m.clear(7, ecx, leaf7ecxVAES) }, IntelVAESVPCLMUL},
		{"no VPCLMULQDQ", func(m *machine) { m.clear(7, ecx, leaf7ecxVPCLMUL) }, IntelVAESVPCLMUL},
		{"no GFNI", func(m *machine) { m.clear(7, ecx, leaf7ecxGFNI) }, IntelGFNI},
		{"no AVX-512 F", func(m *machine) { m.clear(7, ebx, leaf7ebxAVX512F) }, zmmOnly},
		{"no AVX-512 CD", func(m *machine) { m.clear(7, ebx, leaf7ebxAVX512CD) }, zmmOnly},
		{"no AVX-512 BW", func(m *machine) { m.clear(7, ebx, leaf7ebxAVX512BW) }, zmmOnly},
		{"no AVX-512 DQ", func(m *machine) { m.clear(7, ebx, leaf7ebxAVX512DQ) }, zmmOnly},
		{"no AVX-512 VL", func(m *machine) { m.clear(7, ebx, leaf7ebxAVX512VL) }, zmmOnly},
		// Skylake server, and Alder Lake or Zen 3 with GFNI's VEX form.
		{"AVX-512 without VBMI", func(m *machine) { m.clear(7, ecx, leaf7ecxVBMI) }, IntelAVX512VBMI},
		{"GFNI without AVX-512", func(m *machine) { m.clear(7, ebx, avx512) }, zmmOnly},

		// The operating system has the last word.
		{"XCR0 empty", func(m *machine) { m.xcr0 = 0 }, ymmOnly},
		{"XCR0 without XMM", func(m *machine) { m.xcr0 &^= 1 << 1 }, ymmOnly},
		{"XCR0 without YMM", func(m *machine) { m.xcr0 &^= 1 << 2 }, ymmOnly},
		{"XCR0 without opmasks", func(m *machine) { m.xcr0 &^= 1 << 5 }, zmmOnly},
		{"XCR0 without upper ZMM", func(m *machine) { m.xcr0 &^= 1 << 6 }, zmmOnly},
		{"XCR0 without ZMM16", func(m *machine) { m.xcr0 &^= 1 << 7 }, zmmOnly},
		{"XCR0 with AVX only", func(m *machine) { m.xcr0 = xcr0AVX }, zmmOnly},

		// Leaves that do not exist answer with everything set; they must not be believed.
		{"last leaf 6", func(m *machine) { m.set(0, 0, 6) }, everything &^ (IntelSSSE3 | IntelPCLMUL)},
		{"last leaf 1", func(m *machine) { m.set(0, 0, 1) }, everything &^ (IntelSSSE3 | IntelPCLMUL)},
		{"last leaf 0", func(m *machine) { m.set(0, 0, 0) }, everything},
	} {
		t.Run(tt.name, func(t *testing.T) {
			m := fullMachine(intel, 6, 0x8f)
			tt.change(m)
			if got, _ := m.decode(t); got != everything&^tt.gone {
				t.Errorf("got  %v\nwant %v", got, everything&^tt.gone)
			}
		})
	}
}

func TestDecodeIdentity(t *testing.T) {
	const name = "Made-up Processor 3000"
	for _, tt := range []struct {
		m    *machine
		want Processor
	}{
		{fullMachine(intel, 6, 0x8c), Processor{intel, name, 6, 0x8c, 3, false}},
		{fullMachine(amd, 0x1a, 0x02), Processor{amd, name, 0x1a, 0x02, 3, false}},
		{fullMachine(amd, 0x19, 0x61), Processor{amd, name, 0x19, 0x61, 3, false}},
		{fullMachine(amd, 0x0f, 0x6b), Processor{amd, name, 0x0f, 0x6b, 3, false}},
		// The extended fields mean nothing below family 6 and 15.
		{fullMachine(intel, 5, 0x04).set(1, 0, 0x0ff00543), Processor{intel, name, 5, 4, 3, false}},
		{fullMachine("CentaurHauls", 7, 0x3b), Processor{"CentaurHauls", name, 7, 0x3b, 3, false}},
		{fullMachine(amd, 0x1a, 0x02).set(1, 2, leaf1ecxHypervisor), Processor{amd, name, 0x1a, 0x02, 3, true}},
		// A hypervisor that hides who it runs on.
		{fullMachine("\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00", 0, 0), Processor{"", name, 0, 0, 3, false}},
		// No brand leaves.
		{fullMachine(intel, 6, 0x8c).set(0x80000000, 0, 0x80000003), Processor{intel, "", 6, 0x8c, 3, false}},
		{fullMachine(intel, 6, 0x8c).set(0x80000000, 0, 0), Processor{intel, "", 6, 0x8c, 3, false}},
		{fullMachine(intel, 6, 0x8c).set(0x80000000, 0, 0xffffffff), Processor{intel, "", 6, 0x8c, 3, false}},
		// No leaf 1.
		{fullMachine(intel, 6, 0x8c).set(0, 0, 0), Processor{Vendor: intel, Brand: name}},
	} {
		if _, got := tt.m.decode(t); got != tt.want {
			t.Errorf("got  %+v\nwant %+v", got, tt.want)
		}
	}
}

func TestText(t *testing.T) {
	for _, tt := range []struct {
		words []uint32
		want  string
	}{
		{nil, ""},
		{[]uint32{0x64636261}, "abcd"},
		{[]uint32{0x61202020, 0x62202020, 0x20202020}, "a b"},
		{[]uint32{0x00636261, 0x64646464}, "abc"},
		{[]uint32{0x1b0aff7f}, "????"},
	} {
		if got := text(tt.words...); got != tt.want {
			t.Errorf("%x: got %q, want %q", tt.words, got, tt.want)
		}
	}
}

// Whatever a processor answers: no panic, no XGETBV without OSXSAVE, a set with foundations, printable text.
func FuzzDecodeX86(f *testing.F) {
	f.Add([]byte{}, uint64(0))
	f.Add([]byte("\x07\x00\x00\x00GenuntelineI"), uint64(7))
	f.Add([]byte(strings.Repeat("\xff", 16*8)), ^uint64(0))
	f.Fuzz(func(t *testing.T, raw []byte, xcr0 uint64) {
		order := map[uint32]int{0: 0, 1: 1, 7: 2, 0x80000000: 3, 0x80000002: 4, 0x80000003: 5, 0x80000004: 6}
		osxsave := false
		s, p := decodeX86(func(leaf, sub uint32) (a, b, c, d uint32) {
			r := make([]byte, 16)
			i, ok := order[leaf]
			if !ok {
				t.Fatalf("leaf %#x", leaf)
			}
			if 16*i < len(raw) {
				copy(r, raw[16*i:])
			}
			c = binary.LittleEndian.Uint32(r[8:])
			if leaf == 1 {
				osxsave = c&leaf1ecxOSXSAVE != 0
			}
			return binary.LittleEndian.Uint32(r), binary.LittleEndian.Uint32(r[4:]), c, binary.LittleEndian.Uint32(r[12:])
		}, func() uint64 {
			if !osxsave {
				t.Fatal("XGETBV without OSXSAVE")
			}
			return xcr0
		})
		if s != s.supported() || !everything.Has(s) {
			t.Errorf("set %v", s)
		}
		if s.Has(IntelAVX2) && xcr0&6 != 6 || s.Has(IntelAVX512) && xcr0&0xe6 != 0xe6 {
			t.Errorf("set %v with XCR0 %#x", s, xcr0)
		}
		for _, c := range p.String() {
			if c < ' ' || c > '~' {
				t.Errorf("identity %q", p.String())
			}
		}
		for _, gds := range []string{"", "Vulnerable", string(raw)} {
			u, r := tune(p, s, gds)
			if !tunings.Has(u) || u != 0 && !s.Has(IntelAVX2) || r.fast == "" || r.beats == "" {
				t.Errorf("tunings %v: %+v", u, r)
			}
		}
	})
}
