//go:build linux

// Package disassembly looks at the kernels in a built test binary: whether every instruction is one that the kernel's
// Requires allow, whether any is encoded as AVX-512 where that is not required, and whether any has a form that the
// emulators compute wrongly.
//
// Which feature an instruction belongs to is the assembler's word: what the disassembler prints is assembled again for a
// processor with the required features and no others.
package disassembly

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/twogather/twogather/emulate/internal/tools"
	"github.com/twogather/twogather/hwfeatures"
)

// A Kernel is a row of a table, with the full names of its functions.
type Kernel struct {
	Primitive, Name string
	Requires        hwfeatures.Set
	Functions       []string
}

// An instruction as objdump has it.
type instruction struct {
	function string
	address  uint64
	code     []byte
	text     string
}

func (i instruction) String() string {
	return fmt.Sprintf("%s at %#x: %x %s", i.function, i.address, i.code, i.text)
}

// A target is an architecture.
type target struct {
	prefix string // of the tools' names
	set    tools.Set
	march  string // the assembler's base, without any feature
	// extensions are what a feature adds to it.
	extensions map[hwfeatures.Set]string
	// branch matches a jump or call: the mnemonic with all operands but the last, and the address it goes to.
	branch *regexp.Regexp
	// refuse says what is wrong with an instruction besides its feature.
	refuse func(i instruction, requires hwfeatures.Set) string
}

var targets = map[string]*target{
	"amd64": {
		prefix: "x86_64-linux-gnu-",
		set:    tools.Set{Name: "binutils-amd64-bookworm-1", Suite: "bookworm", Packages: []string{"binutils-x86-64-linux-gnu"}, Libraries: true},
		march:  "generic64",
		extensions: map[hwfeatures.Set]string{
			hwfeatures.IntelSSSE3:       "+ssse3",
			hwfeatures.IntelPCLMUL:      "+pclmul",
			hwfeatures.IntelBMI2:        "+bmi+bmi2",
			hwfeatures.IntelAVX2:        "+avx2",
			hwfeatures.IntelVAESVPCLMUL: "+vaes+vpclmulqdq",
			hwfeatures.IntelGFNI:        "+gfni",
			hwfeatures.IntelAVX512:      "+avx512f+avx512cd+avx512bw+avx512dq+avx512vl",
			hwfeatures.IntelAVX512VBMI:  "+avx512vbmi",
		},
		branch: regexp.MustCompile(`^((?:j[a-z]+|call|loop[a-z]*)\s+)([0-9a-f]+)$`),
		refuse: refuseX86,
	},
	"arm64": {
		prefix: "aarch64-linux-gnu-",
		set:    tools.Set{Name: "binutils-arm64-bookworm-1", Suite: "bookworm", Packages: []string{"binutils-aarch64-linux-gnu"}, Libraries: true},
		march:  "armv8-a",
		extensions: map[hwfeatures.Set]string{
			hwfeatures.ARMNEON:  "", // Go itself needs it
			hwfeatures.ARMAES:   "+aes",
			hwfeatures.ARMPMULL: "+aes",
			hwfeatures.ARMSVE:   "+sve",
			hwfeatures.ARMSVE2:  "+sve2",
		},
		branch: regexp.MustCompile(`^((?:b|bl|b\.[a-z]+|bc\.[a-z]+|cbn?z\s.*,|tbn?z\s.*,|adrp?\s.*,|ldr(?:sw)?\s+[a-z0-9]+,|prfm\s.*,)\s*)(?:0x)?([0-9a-f]+)$`),
		refuse: refuseARM64,
	},
}

// evex reports whether an instruction has AVX-512's prefix. In 64-bit code nothing else begins with that byte.
func evex(code []byte) bool {
	for len(code) > 0 && slices.Contains([]byte{0x26, 0x2e, 0x36, 0x3e, 0x64, 0x65, 0x67}, code[0]) {
		code = code[1:] // segments and address sizes
	}
	return len(code) > 0 && code[0] == 0x62
}

// Bochs 3.0 masks these by quadword instead of by byte, or is not known to mask them rightly: with a mask, and loaded
// from memory with one.
var (
	unverified       = regexp.MustCompile(`^(vgf2p8affineqb|vgf2p8affineinvqb|vpmultishiftqb)\s.*\{%k`)
	unverifiedMemory = regexp.MustCompile(`^v(pexpand[bwdq]|expandp[sd])\s+[^%]*\(.*\{%k`)
)

func refuseX86(i instruction, requires hwfeatures.Set) string {
	switch {
	case evex(i.code) && !requires.Has(hwfeatures.IntelAVX512):
		return "is encoded as AVX-512, which the kernel does not require"
	case unverified.MatchString(i.text) || unverifiedMemory.MatchString(i.text):
		return "is a masked form that the emulator computes wrongly"
	}
	return ""
}

// Go keeps R18 for the operating system and R28 for the goroutine. The first operand is what an instruction writes,
// except where it stores, compares or branches.
var (
	kept   = regexp.MustCompile(`^[a-z0-9.]+\s+[xw](18|28)\b`)
	reads  = regexp.MustCompile(`^(st|cmp|cmn|tst|ccmp|ccmn|cbn?z|tbn?z|br|blr|ret|prf|msr)`)
	second = regexp.MustCompile(`^ld[np]?p[a-z]*\s+[a-z0-9]+, [xw](18|28)\b`)
)

func refuseARM64(i instruction, _ hwfeatures.Set) string {
	if kept.MatchString(i.text) && !reads.MatchString(i.text) || second.MatchString(i.text) {
		return "writes a register that Go keeps"
	}
	return ""
}

// An assembler can tell what instructions need.
type assembler struct {
	*target
	root string // of the unpacked binutils
	dir  string // for its files
}

// Prepare fills the cache folder.
func Prepare(ctx context.Context, goarch string) error {
	t := targets[goarch]
	if t == nil {
		return fmt.Errorf("no disassembler for %s", goarch)
	}
	_, err := tools.Get(ctx, t.set)
	return err
}

func newAssembler(ctx context.Context, goarch, dir string) (*assembler, error) {
	if err := Prepare(ctx, goarch); err != nil {
		return nil, err
	}
	root, err := tools.Get(ctx, targets[goarch].set)
	return &assembler{targets[goarch], root, dir}, err
}

func (a *assembler) command(ctx context.Context, tool string, args ...string) *exec.Cmd {
	all := tools.Loaded(a.root, "usr/bin/"+a.prefix+tool, args...)
	cmd := exec.CommandContext(ctx, all[0], all[1:]...)
	cmd.Env = append(os.Environ(), "LC_ALL=C")
	return cmd
}

// disassemble returns the instructions between two addresses.
func (a *assembler) disassemble(ctx context.Context, binary, function string, from, to uint64) ([]instruction, error) {
	cmd := a.command(ctx, "objdump", "-d", "-w", "-z", fmt.Sprintf("--start-address=%#x", from), fmt.Sprintf("--stop-address=%#x", to), binary)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("objdump: %v\n%s", err, stderr.Bytes())
	}
	return parseObjdump(string(out), function)
}

// parseObjdump reads lines of an address, a tabulator, code in hexadecimal, a tabulator, and text.
func parseObjdump(out, function string) ([]instruction, error) {
	var list []instruction
	for line := range strings.Lines(out) {
		f := strings.SplitN(strings.TrimRight(line, "\n"), "\t", 3)
		if len(f) != 3 || !strings.HasSuffix(f[0], ":") {
			continue
		}
		i := instruction{function: function}
		var err error
		if i.address, err = strconv.ParseUint(strings.TrimSuffix(strings.TrimSpace(f[0]), ":"), 16, 64); err != nil {
			return nil, fmt.Errorf("objdump prints %q", line)
		}
		if _, err = fmt.Sscanf(strings.ReplaceAll(f[1], " ", ""), "%x", &i.code); err != nil {
			return nil, fmt.Errorf("objdump prints %q", line)
		}
		// What stands behind the instruction is for people: the symbol at an address, and remarks.
		text := strings.ReplaceAll(f[2], "\t", " ")
		for _, remark := range []string{" <", " # ", " //"} {
			text, _, _ = strings.Cut(text, remark)
		}
		i.text = strings.TrimSpace(text)
		list = append(list, i)
	}
	if len(list) == 0 {
		return nil, fmt.Errorf("objdump finds nothing in %s", function)
	}
	return list, nil
}

// goesTo returns the address that an instruction jumps to or calls, or 0.
func (a *assembler) goesTo(i instruction) uint64 {
	m := a.branch.FindStringSubmatch(i.text)
	if m == nil {
		return 0
	}
	to, err := strconv.ParseUint(m[2], 16, 64)
	if err != nil {
		return 0
	}
	return to
}

// A Violation is an instruction that should not be where it is.
type Violation struct {
	Where string // primitive and kernel, or a function
	What  string
}

func (v Violation) String() string { return v.Where + ": " + v.What }

// padding is what stands between functions and loops. The disassembler's names for it are not all the assembler's.
var padding = regexp.MustCompile(`^([a-z0-9]+ )*nop[wl]?\b`)

var complaint = regexp.MustCompile(`:(\d+): Error: (.*)`)

// foundations adds what the features of a set build on.
func foundations(s hwfeatures.Set) hwfeatures.Set {
	for f := range hwfeatures.Capabilities().All() {
		if lost := hwfeatures.Capabilities() &^ hwfeatures.Capabilities().Without(f); lost&s != 0 {
			s |= f
		}
	}
	return s
}

// check returns what is wrong with instructions under the given features.
func (a *assembler) check(ctx context.Context, where string, list []instruction, requires hwfeatures.Set) ([]Violation, error) {
	march := a.march
	requires = foundations(requires)
	for f := range requires.All() {
		march += a.extensions[f]
	}
	var text strings.Builder
	var found []Violation
	for _, i := range list {
		if why := a.refuse(i, requires); why != "" {
			found = append(found, Violation{where, i.String() + " " + why})
		}
		if padding.MatchString(i.text) {
			i.text = "nop"
		}
		fmt.Fprintln(&text, a.branch.ReplaceAllString(i.text, "${1}."))
	}
	file := filepath.Join(a.dir, "check.s")
	if err := os.WriteFile(file, []byte(text.String()), 0o644); err != nil {
		return nil, err
	}
	cmd := a.command(ctx, "as", "-march="+march, "-o", filepath.Join(a.dir, "check.o"), file)
	out, err := cmd.CombinedOutput()
	exit, ok := errors.AsType[*exec.ExitError](err)
	if err == nil {
		return found, nil
	}
	lines := complaint.FindAllSubmatch(out, -1)
	if !ok || exit.ExitCode() != 1 || len(lines) == 0 {
		return nil, fmt.Errorf("as: %v\n%s", err, out)
	}
	for _, m := range lines {
		n, err := strconv.Atoi(string(m[1]))
		if err != nil || n < 1 || n > len(list) {
			return nil, fmt.Errorf("as: %s", m[0])
		}
		found = append(found, Violation{where, fmt.Sprintf("%v needs more than %v: %s", list[n-1], requires, m[2])})
	}
	return found, nil
}
