package twofish

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unsafe"

	"github.com/twogather/twogather/internal/testkit"
)

// These tests read the text of the NEON kernels. They run on every machine.

const neonText = "gather_neon_arm64.s"

// An instruction is a line of assembly: its operands are those that commas separate outside brackets.
type instruction struct {
	line     int
	mnemonic string
	operands []string
}

var operandPattern = regexp.MustCompile(`\[[^]]*\]|\([^,]*, [^,]*\)|[^,\s][^,]*`)

// An asmFunction is a function in assembly, with the instruction that each label stands before.
type asmFunction struct {
	name             string
	frame, arguments int
	code             []instruction
	labels           map[string]int
}

// readNEON returns the source, where there is more than the test binary.
func readNEON(t *testing.T) []byte {
	t.Helper()
	text, err := os.ReadFile(neonText)
	if err != nil {
		t.Skip("the source is not here (an emulated processor?): ", err)
	}
	return text
}

func parseNEON(t *testing.T) []*asmFunction {
	t.Helper()
	text := readNEON(t)
	var functions []*asmFunction
	header := regexp.MustCompile(`^TEXT ·(\w+)\(SB\), 0, \$(\d+)-(\d+)$`)
	for i, line := range strings.Split(string(text), "\n") {
		if m := header.FindStringSubmatch(line); m != nil {
			f := &asmFunction{name: m[1], labels: make(map[string]int)}
			f.frame, _ = strconv.Atoi(m[2])
			f.arguments, _ = strconv.Atoi(m[3])
			functions = append(functions, f)
			continue
		}
		line, _, _ = strings.Cut(line, "//")
		if line = strings.TrimSpace(line); line == "" {
			continue
		}
		f := functions[len(functions)-1]
		if label, ok := strings.CutSuffix(line, ":"); ok {
			f.labels[label] = len(f.code)
			continue
		}
		mnemonic, rest, _ := strings.Cut(line, " ")
		f.code = append(f.code, instruction{i + 1, mnemonic, operandPattern.FindAllString(strings.TrimSpace(rest), -1)})
	}
	if len(functions) != 2 {
		t.Fatalf("%d functions", len(functions))
	}
	return functions
}

// A region is memory that a kernel may use.
type region struct {
	name       string
	at, size   int64
	mayWrite   bool
	timesWrote []uint8 // each byte
}

// An interpreter executes a kernel as far as addresses and branches are concerned. What comes from memory is data, and
// data in an address or a branch is an error.
type interpreter struct {
	t       *testing.T
	f       *asmFunction
	at      *instruction
	args    map[string]int64
	r       map[string]int64 // registers that do not hold data
	regions []*region
	compare [2]int64
	flags   bool // whether compare holds
	count   int
}

func (p *interpreter) fatal(format string, args ...any) {
	p.t.Helper()
	p.t.Fatalf("%s:%d: %s %s: %s", neonText, p.at.line, p.at.mnemonic, strings.Join(p.at.operands, ", "), fmt.Sprintf(format, args...))
}

// public is a register's or a constant's value, which must not be data.
func (p *interpreter) public(operand string) int64 {
	p.t.Helper()
	v, ok := p.value(operand)
	if !ok {
		p.fatal("%s may depend on data", operand)
	}
	return v
}

func (p *interpreter) value(operand string) (v int64, public bool) {
	p.t.Helper()
	if c, ok := strings.CutPrefix(operand, "$"); ok {
		not := strings.HasPrefix(c, "~")
		n, err := strconv.ParseInt(strings.TrimPrefix(c, "~"), 0, 64)
		if err != nil {
			p.fatal("%v", err)
		}
		if not {
			n = ^n
		}
		return n, true
	}
	v, public = p.r[operand]
	return v, public
}

var memoryPattern = regexp.MustCompile(`^(\d*)\((\w+)\)$`)

// access checks one access of the given size. With post, the displacement is what the base moves on by.
func (p *interpreter) access(memory string, size int64, post, write bool) {
	p.t.Helper()
	m := memoryPattern.FindStringSubmatch(memory)
	if m == nil {
		p.fatal("no address in %q", memory)
	}
	displacement, _ := strconv.ParseInt("0"+m[1], 10, 64)
	at := p.public(m[2])
	if post {
		if displacement != size {
			p.fatal("moves on by %d bytes after an access of %d", displacement, size)
		}
		p.r[m[2]] = at + displacement
	} else {
		at += displacement
	}
	for _, r := range p.regions {
		if at >= r.at && at+size <= r.at+r.size {
			if write && !r.mayWrite {
				p.fatal("writes to %s", r.name)
			}
			for i := at - r.at; write && i < at-r.at+size; i++ {
				r.timesWrote[i]++
			}
			return
		}
	}
	p.fatal("%d bytes at %#x are in no buffer", size, at)
}

func (p *interpreter) run() {
	for pc := 0; ; p.count++ {
		p.at = &p.f.code[pc]
		pc++
		o := p.at.operands
		mnemonic, post := strings.CutSuffix(p.at.mnemonic, ".P")
		branch := ""
		switch mnemonic {
		case "MOVD":
			if name, ok := strings.CutSuffix(o[0], "(FP)"); ok {
				v, ok := p.args[name]
				if !ok {
					p.fatal("no such argument")
				}
				p.r[o[1]] = v
			} else if v, public := p.value(o[0]); public {
				p.r[o[1]] = v
			} else {
				delete(p.r, o[1])
			}
		case "ADD", "SUB", "AND":
			a, publicA := p.value(o[0])
			b, publicB := p.value(o[1])
			if !publicA || !publicB {
				delete(p.r, o[2])
				break
			}
			p.r[o[2]] = map[string]int64{"ADD": b + a, "SUB": b - a, "AND": b & a}[mnemonic]
		case "CMP":
			p.compare, p.flags = [2]int64{p.public(o[1]), p.public(o[0])}, true
		case "BLO", "BHS":
			if !p.flags {
				p.fatal("compares nothing")
			}
			if less := uint64(p.compare[0]) < uint64(p.compare[1]); less == (mnemonic == "BLO") {
				branch = o[0]
			}
		case "CBZ", "CBNZ":
			if zero := p.public(o[0]) == 0; zero == (mnemonic == "CBZ") {
				branch = o[1]
			}
		case "B":
			branch = o[0]
		case "RET":
			return
		case "MOVWU":
			p.access(o[0], 4, false, false)
			delete(p.r, o[1])
		case "REVW":
			delete(p.r, o[1])
		case "LDP":
			p.access(o[0], 16, false, false)
			for r := range strings.SplitSeq(strings.Trim(o[1], "()"), ", ") {
				delete(p.r, r)
			}
		case "STP":
			p.access(o[1], 16, false, true)
		case "FMOVQ":
			p.access(o[0], 16, false, false)
		case "VLD1", "VLD4":
			p.access(o[0], 64, post, false)
		case "VLD2R":
			p.access(o[0], 8, post, false)
		case "VLD4R":
			p.access(o[0], 16, post, false)
		case "VST1", "VST4":
			p.access(o[1], 64, post, true)
		case "VADD", "VSUB", "VAND", "VEOR", "VTBL", "VZIP1", "VZIP2", "VUZP1", "VUZP2", "VUSHR", "VSRI", "VSLI", "VEXT", "VREV32", "VMOVI", "WORD":
			// Vectors only; what a WORD is another test knows.
		case "VMOV", "VDUP":
			if !strings.HasPrefix(o[1], "V") {
				p.fatal("a vector's element in a general register")
			}
		default:
			p.fatal("unknown to this test")
		}
		if branch != "" {
			to, ok := p.f.labels[branch]
			if !ok {
				p.fatal("no such label")
			}
			pc = to
		}
	}
}

// TestNEONAddresses executes the kernels without their data. It shows that no address or branch depends on data, that
// what they read and write lies in their arguments and their frame, however the stack is aligned, and that they write
// every block exactly once. And it counts instructions.
func TestNEONAddresses(t *testing.T) {
	const batch = 32 * BlockSize
	for _, f := range parseNEON(t) {
		counts := make(map[int]int)
		for _, n := range []int{0, 1, 2, 5} {
			for _, chained := range []bool{false, true} {
				for align := int64(0); align < 64; align += 16 {
					rsp := 0x10000 + align
					p := &interpreter{t: t, f: f, r: map[string]int64{"RSP": rsp}}
					add := func(name string, at, size int64, mayWrite bool) *region {
						r := &region{name, at, size, mayWrite, make([]uint8, size)}
						p.regions = append(p.regions, r)
						return r
					}
					add("the schedule", 0x20000, int64(unsafe.Sizeof(schedule{})), false)
					dst := add("dst", 0x30000, int64(n*batch), true)
					add("src", 0x40000, int64(n*batch), false)
					chain := add("the chain", 0x50000, BlockSize, true)
					add("the frame", rsp+8, int64(f.frame), true) // The return address is at RSP.
					name, pointer := "counter", int64(0)
					if f.name == "decryptNEON" {
						name = "iv"
					}
					if chained {
						pointer = chain.at
					}
					p.args = map[string]int64{
						"s+0": 0x20000, "dst_base+8": dst.at, "src_base+32": 0x40000, "src_len+40": int64(n * batch), name + "+56": pointer,
					}
					p.run()
					for i, times := range dst.timesWrote {
						if times != 1 {
							t.Fatalf("%s: byte %d of %d is written %d times", f.name, i, n*batch, times)
						}
					}
					writesChain := chained && name == "iv" && n > 0
					if slices.Max(chain.timesWrote) > 0 != writesChain {
						t.Errorf("%s: writes to the chain: %v", f.name, !writesChain)
					}
					if !chained {
						counts[n] = p.count
					}
				}
			}
		}
		perByte := float64(counts[2]-counts[1]) / batch
		t.Logf("%s: %d instructions for a batch of 32 blocks, %d for two, %.2f a byte", f.name, counts[1], counts[2], perByte)
		if perByte > 16 {
			t.Errorf("%s: %.2f instructions a byte, 16 were enough", f.name, perByte)
		}
	}
}

// TestNEONDisassembly looks at what the assembler makes of the kernels. It may use R27 for what does not fit into an
// instruction, and vet does not mind R18, which belongs to the operating system. R28 is Go's g.
func TestNEONDisassembly(t *testing.T) {
	functions := parseNEON(t)
	goTool, err := exec.LookPath("go")
	if err != nil {
		t.Skip("no go command")
	}
	run := func(args ...string) string {
		t.Helper()
		cmd := exec.Command(goTool, args...)
		cmd.Env = append(os.Environ(), "GOARCH=arm64")
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("go %s: %v\n%s", strings.Join(args, " "), err, out)
		}
		return string(out)
	}
	object := filepath.Join(t.TempDir(), "neon.o")
	run("tool", "asm", "-p", "twofish", "-o", object, neonText)
	lines := regexp.MustCompile(`(?m)^  \S+:\d+\s+0x[0-9a-f]+\s+([0-9a-f]+)\s+(\S.*?)\s*$`).FindAllStringSubmatch(run("tool", "objdump", object), -1)

	var frames []int
	for _, f := range functions {
		frames = append(frames, f.frame)
	}
	reserved := regexp.MustCompile(`\b(R18|R27|R28)\b`)
	register := regexp.MustCompile(`\bRSP$`)
	var allocated, freed []int
	for _, m := range lines {
		text := m[2]
		if reserved.MatchString(text) && text != "MOVD 16(R28), R16" { // the stack's limit
			t.Errorf("%s: a register that is not ours", text)
		}
		var n int
		switch {
		case m[1] == "00000000": // between functions
		case strings.HasPrefix(text, "?"):
			t.Errorf("the disassembler does not know %s", text)
		case scan(text, "SUB $%d, RSP, R20", &n): // then R20 becomes RSP
			allocated = append(allocated, n)
		case scan(text, "ADD $%d, RSP, RSP", &n):
			freed = append(freed, n)
		case register.MatchString(text) && text != "MOVD R20, RSP":
			t.Errorf("%s: the stack moves", text)
		}
	}
	// Below its frame a function keeps the return address, above it eight bytes more for alignment.
	for i := range frames {
		frames[i] += 16
	}
	if len(lines) < 2000 || !slices.Equal(allocated, frames) || !slices.Equal(freed, frames) {
		t.Errorf("%d instructions; frames of %d bytes, allocated %d, freed %d", len(lines), frames, allocated, freed)
	}
}

func scan(text, format string, n *int) bool {
	_, err := fmt.Sscanf(text, format, n)
	return err == nil && text == fmt.Sprintf(format, *n)
}

// TestNEONWords assembles the mnemonics beside the WORDs with binutils.
func TestNEONWords(t *testing.T) {
	text := readNEON(t)
	all := regexp.MustCompile(`(?m)^\tWORD .*$`).FindAllString(string(text), -1)
	words := regexp.MustCompile(`(?m)^\tWORD   \$0x([0-9a-f]{8}) // (\w+ v.*)$`).FindAllStringSubmatch(string(text), -1)
	if len(words) == 0 || len(words) != len(all) {
		t.Fatalf("%d of %d WORDs name a vector instruction", len(words), len(all))
	}
	as, objcopy := testkit.NeedProgram(t, "aarch64-linux-gnu-as"), testkit.NeedProgram(t, "aarch64-linux-gnu-objcopy")
	var source bytes.Buffer
	for _, w := range words {
		fmt.Fprintf(&source, "%s\n", w[2])
	}
	dir := t.TempDir()
	object, code := filepath.Join(dir, "words.o"), filepath.Join(dir, "words")
	assemble := exec.Command(as, "-o", object, "-")
	assemble.Stdin = &source
	for _, cmd := range []*exec.Cmd{assemble, exec.Command(objcopy, "-O", "binary", "-j", ".text", object, code)} {
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v: %v\n%s", cmd, err, out)
		}
	}
	got, err := os.ReadFile(code)
	if err != nil || len(got) != 4*len(words) {
		t.Fatalf("%d bytes of code for %d words, %v", len(got), len(words), err)
	}
	for i, w := range words {
		if want := fmt.Sprintf("%08x", binary.LittleEndian.Uint32(got[4*i:])); w[1] != want {
			t.Errorf("%s is $0x%s, not $0x%s", w[2], want, w[1])
		}
	}
}
