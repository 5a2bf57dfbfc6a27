//go:build linux

package disassembly

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/twogather/twogather/emulate/internal/tools"
	"github.com/twogather/twogather/hwfeatures"
)

// start returns an assembler, if make emulate has been here: tests do not download.
func start(t *testing.T, goarch string) *assembler {
	if !tools.Have(targets[goarch].set) {
		t.Skip("binutils are not in the cache folder; make emulate gets them")
	}
	a, err := newAssembler(t.Context(), goarch, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// assemble makes instructions of text, allowing everything.
func (a *assembler) assemble(t *testing.T, march, text string) []instruction {
	t.Helper()
	source, object := filepath.Join(a.dir, "in.s"), filepath.Join(a.dir, "in.o")
	if err := os.WriteFile(source, []byte(text+"\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if out, err := a.command(t.Context(), "as", "-march="+march, "-o", object, source).CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", text, err, out)
	}
	list, err := a.disassemble(t.Context(), object, "f", 0, 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	return list
}

const (
	avx2   = hwfeatures.IntelSSSE3 | hwfeatures.IntelAVX2
	avx512 = avx2 | hwfeatures.IntelAVX512
	all    = avx512 | hwfeatures.IntelAVX512VBMI | hwfeatures.IntelGFNI | hwfeatures.IntelBMI2
)

func TestX86(t *testing.T) {
	a := start(t, "amd64")
	for _, tt := range []struct {
		text    string
		allowed []hwfeatures.Set
		refused []hwfeatures.Set
	}{
		{"add %rax,%rbx", []hwfeatures.Set{0}, nil},
		{"pxor %xmm1,%xmm2", []hwfeatures.Set{0}, nil},
		{"rdtsc", []hwfeatures.Set{0}, nil},
		{"pshufb %xmm1,%xmm2", []hwfeatures.Set{hwfeatures.IntelSSSE3}, []hwfeatures.Set{0}},
		{"vpaddd %ymm1,%ymm2,%ymm3", []hwfeatures.Set{avx2, avx512}, []hwfeatures.Set{0, hwfeatures.IntelSSSE3}},
		{"vpgatherdd %ymm1,(%rax,%ymm2,4),%ymm3", []hwfeatures.Set{avx2}, []hwfeatures.Set{0}},
		// The same instruction in the other encoding, alone, through memory and behind a prefix.
		{"{evex} vpaddd %ymm1,%ymm2,%ymm3", []hwfeatures.Set{avx512}, []hwfeatures.Set{avx2, avx2 | hwfeatures.IntelGFNI}},
		{"{evex} vpxord %fs:(%rax),%ymm2,%ymm3", []hwfeatures.Set{avx512}, []hwfeatures.Set{avx2}},
		{"vpaddd %ymm17,%ymm2,%ymm3", []hwfeatures.Set{avx512}, []hwfeatures.Set{avx2}},
		{"kmovq %rax,%k1", []hwfeatures.Set{avx512}, []hwfeatures.Set{avx2}},
		{"vpternlogd $150,%zmm1,%zmm2,%zmm3", []hwfeatures.Set{avx512}, []hwfeatures.Set{avx2}},
		{"vpermi2b %zmm1,%zmm2,%zmm3", []hwfeatures.Set{all}, []hwfeatures.Set{avx512, avx2}},
		{"vpmovb2m %zmm1,%k1", []hwfeatures.Set{avx512}, []hwfeatures.Set{avx2}},
		{"vgf2p8affineqb $1,%ymm1,%ymm2,%ymm3", []hwfeatures.Set{avx2 | hwfeatures.IntelGFNI}, []hwfeatures.Set{avx2, avx512}},
		{"vgf2p8affineqb $1,%zmm1,%zmm2,%zmm3", []hwfeatures.Set{all}, []hwfeatures.Set{avx512, avx2 | hwfeatures.IntelGFNI}},
		{"vgf2p8affineqb $1,%zmm1,%zmm2,%zmm3{%k1}", nil, []hwfeatures.Set{all}},
		{"vgf2p8affineinvqb $1,(%rax),%ymm2,%ymm3{%k1}{z}", nil, []hwfeatures.Set{all}},
		{"vmovdqu8 (%rax),%zmm3{%k1}", []hwfeatures.Set{avx512}, []hwfeatures.Set{avx2}},
		{"andn %rax,%rbx,%rcx", []hwfeatures.Set{hwfeatures.IntelBMI2}, []hwfeatures.Set{0, avx512}},
		{"rorx $8,%rax,%rbx", []hwfeatures.Set{hwfeatures.IntelBMI2}, []hwfeatures.Set{0, avx512}},
		{"vpclmulqdq $0,%ymm1,%ymm2,%ymm3", []hwfeatures.Set{avx2 | hwfeatures.IntelVAESVPCLMUL}, []hwfeatures.Set{avx2 | hwfeatures.IntelPCLMUL}},
		// There is no feature for these.
		{"vfmadd231ps %ymm1,%ymm2,%ymm3", nil, []hwfeatures.Set{avx2}}, // the assembler lets AVX-512 have it
		{"popcnt %rax,%rbx", nil, []hwfeatures.Set{0}},
		{"vpdpbusd %zmm1,%zmm2,%zmm3", nil, []hwfeatures.Set{all}},
		{"movbe (%rax),%rbx", nil, []hwfeatures.Set{all}},
	} {
		a.try(t, tt.text, a.assemble(t, "generic64"+everything, tt.text), tt.allowed, tt.refused)
	}
	// Branches, addresses and paddings survive being assembled again.
	list := a.assemble(t, "generic64", "1: jne 1b\ncall 1b\njmp 1b\nlea 1b(%rip),%rax\ncall *%rax\nnopw %cs:0(%rax,%rax)\n.byte 0x66,0x66,0x2e,0x0f,0x1f,0x84,0,0,0,0,0\nxchg %ax,%ax\nint3\nrep movsb\nlock incl (%rax)")
	if v, err := a.check(t.Context(), "k", list, 0); err != nil || len(v) > 0 || len(list) != 11 {
		t.Errorf("%d instructions: %v, %v", len(list), v, err)
	}
}

const everything = "+ssse3+avx2+bmi+bmi2+gfni+avx512f+avx512cd+avx512bw+avx512dq+avx512vl+avx512vbmi+fma+avx512_vnni+movbe+vpclmulqdq+pclmul"

func (a *assembler) try(t *testing.T, text string, list []instruction, allowed, refused []hwfeatures.Set) {
	t.Helper()
	for _, s := range allowed {
		if v, err := a.check(t.Context(), "k", list, s); err != nil || len(v) > 0 {
			t.Errorf("%s is refused with %v: %v, %v", text, s, v, err)
		}
	}
	for _, s := range refused {
		if v, err := a.check(t.Context(), "k", list, s); err != nil || len(v) == 0 {
			t.Errorf("%s is not refused with %v: %v", text, s, err)
		}
	}
}

func TestARM64(t *testing.T) {
	a := start(t, "arm64")
	const neon, sve = hwfeatures.ARMNEON, hwfeatures.ARMNEON | hwfeatures.ARMSVE
	const sve2 = sve | hwfeatures.ARMSVE2
	for _, tt := range []struct {
		text             string
		allowed, refused []hwfeatures.Set
	}{
		{"add x0, x1, x2", []hwfeatures.Set{0, neon}, nil},
		{"tbl v0.16b, {v1.16b, v2.16b}, v3.16b", []hwfeatures.Set{neon, sve}, nil},
		{"aese v0.16b, v1.16b", []hwfeatures.Set{neon | hwfeatures.ARMAES}, []hwfeatures.Set{neon, sve}},
		{"pmull v0.1q, v1.1d, v2.1d", []hwfeatures.Set{neon | hwfeatures.ARMPMULL}, []hwfeatures.Set{neon, sve}},
		{"eor z0.d, z1.d, z2.d", []hwfeatures.Set{sve, sve2}, []hwfeatures.Set{neon}},
		{"whilelo p0.b, x0, x1", []hwfeatures.Set{sve}, []hwfeatures.Set{neon}},
		{"ld1rqb {z4.b}, p1/z, [x3, #16]", []hwfeatures.Set{sve, sve2}, []hwfeatures.Set{neon}},
		{"ld1b {z4.b}, p1/z, [x3, #3, mul vl]", []hwfeatures.Set{sve, sve2}, []hwfeatures.Set{neon}},
		{"cmplt p1.b, p0/z, z8.b, #0", []hwfeatures.Set{sve, sve2}, []hwfeatures.Set{neon}},
		{"incb x28, all, mul #2", nil, []hwfeatures.Set{sve}},
		{"cntb x18", nil, []hwfeatures.Set{sve}},
		{"eor3 z0.d, z0.d, z1.d, z2.d", []hwfeatures.Set{sve2}, []hwfeatures.Set{neon, sve}},
		{"eor3 v0.16b, v1.16b, v2.16b, v3.16b", nil, []hwfeatures.Set{sve2}}, // SHA3
		{"mov x18, #1", nil, []hwfeatures.Set{neon}},
		{"ldr w28, [x0]", nil, []hwfeatures.Set{neon}},
		{"ldp x0, x28, [x1]", nil, []hwfeatures.Set{neon}},
		{"str x28, [x0]", []hwfeatures.Set{neon}, nil},
		{"ldr x16, [x28, #16]", []hwfeatures.Set{neon}, nil},
		{".inst 0xffffffff", nil, []hwfeatures.Set{sve2}},
	} {
		a.try(t, tt.text, a.assemble(t, "armv8.2-a+sve2+aes+sha3", tt.text), tt.allowed, tt.refused)
	}
	list := a.assemble(t, "armv8-a", "1: b.ne 1b\nbl 1b\nb 1b\ncbz x0, 1b\ntbnz w1, #3, 1b\nadr x0, 1b\nadrp x1, 1b\nldr x2, 1b\nmov x3, #0x10\nmovi v0.16b, #0x1b\nret")
	if v, err := a.check(t.Context(), "k", list, neon); err != nil || len(v) > 0 || len(list) != 11 {
		t.Errorf("%d instructions: %v, %v", len(list), v, err)
	}
}

// TestCheck looks at package twofish as it is, and under tables that are wrong.
func TestCheck(t *testing.T) {
	start(t, "amd64")
	const module = "github.com/twogather/twogather"
	binary := filepath.Join(t.TempDir(), "twofish.test")
	build := exec.Command("go", "test", "-c", "-o", binary, module+"/twofish")
	build.Env = append(os.Environ(), "GOOS=linux", "GOARCH=amd64", "CGO_ENABLED=0", "GOFLAGS=")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	kernel := func(requires hwfeatures.Set) []Kernel {
		return []Kernel{{"twofish", "avx2-manual", requires, []string{module + "/twofish.encryptManual", module + "/twofish.decryptManual"}}}
	}
	right := hwfeatures.IntelAVX2 | hwfeatures.IntelBMI2
	for _, tt := range []struct {
		requires    hwfeatures.Set
		violations  string
		superfluous string
	}{
		{right, "", ""},
		{right &^ hwfeatures.IntelBMI2, "is not supported on", ""},
		{right &^ hwfeatures.IntelAVX2, "is not supported on", ""},
		{right | hwfeatures.IntelGFNI, "", "intel-gfni"},
	} {
		violations, superfluous, err := Check(context.Background(), "amd64", binary, module, kernel(tt.requires))
		if err != nil {
			t.Fatal(err)
		}
		var v, s string
		for _, x := range violations {
			if x.Where == "twofish avx2-manual" {
				v += x.String() + "\n"
			}
		}
		for _, x := range superfluous {
			s += x.String() + "\n"
		}
		if (v == "") != (tt.violations == "") || !strings.Contains(v, tt.violations) ||
			(s == "") != (tt.superfluous == "") || !strings.Contains(s, tt.superfluous) {
			t.Errorf("%v: violations %.300q, superfluous %q", tt.requires, v, s)
		}
	}
	// The other kernels' functions are reached by none of these.
	violations, _, err := Check(context.Background(), "amd64", binary, module, kernel(right))
	if err != nil {
		t.Fatal(err)
	}
	found := false
	for _, v := range violations {
		found = found || v.Where == "twofish.encryptVPGATHER" && strings.Contains(v.What, "no kernel reaches")
		if v.Where == "twofish.fillCountersAVX2" || v.Where == "hwfeatures.cpuid" {
			t.Error(v)
		}
	}
	if !found {
		t.Errorf("nothing about encryptVPGATHER in %v", violations)
	}
}

// TestCheckSVE looks at package raid6's SVE kernel, as it is and under wrong tables.
func TestCheckSVE(t *testing.T) {
	start(t, "arm64")
	const module = "github.com/twogather/twogather"
	binary := filepath.Join(t.TempDir(), "raid6.test")
	build := exec.Command("go", "test", "-c", "-o", binary, module+"/raid6")
	build.Env = append(os.Environ(), "GOOS=linux", "GOARCH=arm64", "CGO_ENABLED=0", "GOFLAGS=")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	const neon, sve = hwfeatures.ARMNEON, hwfeatures.ARMNEON | hwfeatures.ARMSVE
	functions := []string{module + "/raid6.syndromeSVEx4", module + "/raid6.xorSyndromeSVEx4", module + "/raid6.recoverDataSVE"}
	for _, tt := range []struct {
		requires    hwfeatures.Set
		violations  string
		superfluous string
	}{
		{sve, "", ""},
		{neon, "needs more than arm-neon", ""},
		{sve | hwfeatures.ARMSVE2, "", "arm-sve2"},
	} {
		violations, superfluous, err := Check(t.Context(), "arm64", binary, module, []Kernel{{"raid6", "svex4", tt.requires, functions}})
		if err != nil {
			t.Fatal(err)
		}
		var v, s string
		for _, x := range violations {
			if x.Where == "raid6 svex4" {
				v += x.String() + "\n"
			}
		}
		for _, x := range superfluous {
			s += x.String() + "\n"
		}
		if (v == "") != (tt.violations == "") || !strings.Contains(v, tt.violations) ||
			(s == "") != (tt.superfluous == "") || !strings.Contains(s, tt.superfluous) {
			t.Errorf("%v: violations %.300q, superfluous %q", tt.requires, v, s)
		}
	}
}

func TestEVEX(t *testing.T) {
	for _, tt := range []struct {
		code string
		want bool
	}{{"\x62\xf1", true}, {"\x64\x67\x62\xf1", true}, {"\xc5\xfd", false}, {"\x66\x0f\x62", false}, {"", false}} {
		if got := evex([]byte(tt.code)); got != tt.want {
			t.Errorf("%x: %v", tt.code, got)
		}
	}
}

// TestMainLoop cuts the largest innermost loop out of code that has two inside another one, with a leap in the second.
func TestMainLoop(t *testing.T) {
	code := []string{
		"mov $0x2,%ecx", "add %rax,%rbx", "dec %ecx", "jne 101", // a loop of three
		"vpxor %ymm0,%ymm1,%ymm2", "dec %edx", "jne 10a", "mov %rax,0x8(%rsp)", "nopw 0x0(%rax)", "call 100", "xor %eax,%eax", "jne 104",
		"dec %rsi", "jne 100", "jmp 100", "ret",
	}
	var list []instruction
	for i, text := range code {
		list = append(list, instruction{function: "f", address: 0x100 + uint64(i), text: text})
	}
	a := &assembler{target: targets["amd64"]}
	want := []string{"vpxor %ymm0,%ymm1,%ymm2", "dec %edx", "jne .", "xor %eax,%eax", "jne ."}
	if got, err := a.mainLoop(list); err != nil || !slices.Equal(got, want) {
		t.Errorf("%q, %v, want %q", got, err, want)
	}
	if got, err := a.mainLoop(list[:3]); err == nil {
		t.Errorf("%q in code without a loop", got)
	}
}
