package testkit

import (
	"errors"
	"fmt"
	"math/bits"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// This file checks what ConstantTime says of assembly, also where no processor at hand and no tool can run it: it follows
// the text of a kernel with a machine that knows addresses, counters and lengths, and of everything else, above all of what
// memory outside the frame holds, only that it is secret. A secret in an address or in the condition of a branch ends the
// walk. What vector registers hold is always secret; what is stored in the frame keeps what it is.
//
// Whatever the machine was not told of ends the walk, too: instructions, forms of operands, calls, branches to elsewhere.
// It trusts the assembler, and the comments of words that the assembler does not know, which another test compares with
// binutils. A walk sees one way through the function; [AssemblyFunction.Unvisited] says what all walks have left out.

// What ends a walk.
var (
	ErrSecret  = errors.New("depends on a secret")
	ErrUnknown = errors.New("this machine does not know it")
)

// A pathValue is a number, or a secret.
type pathValue struct {
	n      uint64
	secret bool
}

func (a pathValue) with(b pathValue, f func(a, b uint64) uint64) pathValue {
	if a.secret || b.secret {
		return pathValue{secret: true}
	}
	return pathValue{n: f(a.n, b.n)}
}

// An AssemblyFunction is the text of a function in assembly.
type AssemblyFunction struct {
	arm    bool
	code   []pathInstruction
	labels map[string]int
}

type pathInstruction struct {
	op       string
	operands []pathOperand
	comment  string
	where    string
	visited  bool
}

// A pathOperand is an operand taken apart.
type pathOperand struct {
	text string
	kind operandKind
	n    uint64 // the number, or the offset
	// Of memory and addresses: symbol+n(base)(index*scale).
	symbol, base, index string
	scale               uint64
}

type operandKind int

const (
	otherOperand   operandKind = iota // a label, a pair of registers, or unknown
	numberOperand                     // $1
	addressOperand                    // $8(SP)
	memoryOperand                     // 8(SP)
	generalOperand                    // a general register
	byteOperand                       // one of its lower two bytes
	vectorOperand                     // a vector or mask register, or an element of one
	vectorsOperand                    // a list of them
)

var (
	memoryText  = regexp.MustCompile(`^(?:([A-Za-z_·]\w*(?:<>)?)?([-+]?(?:0x[0-9a-f]+|\d+))?)?\((\w+)\)(?:\((\w+)(?:\*(\d))?\))?$`)
	generalText = regexp.MustCompile(`^(AX|BX|CX|DX|SI|DI|BP|SP|RSP|ZR|R\d+)$`)
	byteText    = regexp.MustCompile(`^[ABCD][LH]$`)
	vectorText  = regexp.MustCompile(`^([XYZKVF]\d+|V\d+\.\w+(\[\d+\])?)$`)
	vectorsText = regexp.MustCompile(`^\[V\d+\.\w+(, V\d+\.\w+)*\]$`)
)

func parseOperand(text string) pathOperand {
	o := pathOperand{text: text}
	if constant, ok := strings.CutPrefix(text, "$"); ok {
		digits, inverted := strings.CutPrefix(constant, "~")
		n, err := strconv.ParseInt(digits, 0, 64)
		o.n = uint64(n)
		if err != nil {
			o.n, err = strconv.ParseUint(digits, 0, 64)
		}
		switch {
		case err == nil && inverted:
			o.kind, o.n = numberOperand, ^o.n
		case err == nil:
			o.kind = numberOperand
		case o.parseMemory(constant):
			o.kind = addressOperand
		}
		return o
	}
	switch {
	case generalText.MatchString(text):
		o.kind = generalOperand
	case byteText.MatchString(text):
		o.kind = byteOperand
	case vectorText.MatchString(text):
		o.kind = vectorOperand
	case vectorsText.MatchString(text):
		o.kind = vectorsOperand
	case o.parseMemory(text):
		o.kind = memoryOperand
	}
	return o
}

// parseMemory reads an address. The frame under a name, x-8(SP), is not known: it would be the same memory twice.
func (o *pathOperand) parseMemory(text string) bool {
	p := memoryText.FindStringSubmatch(text)
	if p == nil {
		return false
	}
	o.symbol, o.base, o.index = p[1], p[3], p[4]
	if p[2] != "" {
		n, err := strconv.ParseInt(p[2], 0, 64)
		if err != nil {
			return false
		}
		o.n = uint64(n)
	}
	o.scale = 1
	if p[5] != "" {
		o.scale = uint64(p[5][0] - '0')
	}
	switch {
	case o.index != "" && !generalText.MatchString(o.index) && !vectorText.MatchString(o.index):
		return false
	case o.base == "FP" || o.base == "SB":
		return o.symbol != ""
	}
	return o.symbol == "" && generalText.MatchString(o.base)
}

var textLine = regexp.MustCompile(`^TEXT\s+·(\w+)\(SB\)`)

// AssemblyFunctions reads the functions in the .s files of the package under test, of all architectures, by name.
func AssemblyFunctions(t *testing.T) map[string]*AssemblyFunction {
	t.Helper()
	files, err := filepath.Glob("*.s")
	if err != nil || len(files) == 0 {
		t.Skip("the source is not here (an emulated processor?): ", err)
	}
	functions := make(map[string]*AssemblyFunction)
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for name, f := range ParseAssembly(file, string(text)) {
			if functions[name] != nil {
				t.Errorf("%s is there twice", name)
			}
			functions[name] = f
		}
	}
	return functions
}

// ParseAssembly reads the functions in the text of a file, by name.
func ParseAssembly(file, text string) map[string]*AssemblyFunction {
	functions := make(map[string]*AssemblyFunction)
	var f *AssemblyFunction
	number := 0
	for line := range strings.Lines(text) {
		number++
		if m := textLine.FindStringSubmatch(line); m != nil {
			f = &AssemblyFunction{arm: strings.HasSuffix(file, "_arm64.s"), labels: make(map[string]int)}
			functions[m[1]] = f
			continue
		}
		line, comment, _ := strings.Cut(line, "//")
		line = strings.TrimSpace(line)
		if label, ok := strings.CutSuffix(line, ":"); ok && f != nil {
			f.labels[label] = len(f.code)
			continue
		}
		if strings.HasPrefix(line, "DATA") || strings.HasPrefix(line, "GLOBL") || strings.HasPrefix(line, "#") {
			f = nil
		}
		if line == "" || f == nil {
			continue
		}
		in := pathInstruction{comment: strings.TrimSpace(comment), where: fmt.Sprintf("%s:%d: %s", file, number, line)}
		if op, rest, _ := strings.Cut(strings.ReplaceAll(line, "\t", " "), " "); !strings.ContainsAny(line, ";:/\\") {
			in.op, in.operands = op, splitOperands(rest)
		} // else more than an instruction, and unknown
		f.code = append(f.code, in)
	}
	return functions
}

// splitOperands splits at commas outside brackets.
func splitOperands(s string) (operands []pathOperand) {
	depth, start := 0, 0
	for i, c := range s + "," {
		switch c {
		case '(', '[':
			depth++
		case ')', ']':
			depth--
		case ',':
			if operand := strings.TrimSpace(s[start:i]); depth == 0 {
				if operand != "" {
					operands = append(operands, parseOperand(operand))
				}
				start = i + 1
			}
		}
	}
	return operands
}

// Unvisited returns the lines that no walk has come to.
func (f *AssemblyFunction) Unvisited() (lines []string) {
	for i := range f.code {
		if in := &f.code[i]; !in.visited {
			lines = append(lines, in.where)
		}
	}
	return lines
}

// A pathMachine walks one function. The frame is all the memory that it remembers.
type pathMachine struct {
	f         *AssemblyFunction
	registers map[string]pathValue
	frame     map[uint64]pathValue // its bytes, and the arguments'
	symbols   map[string]uint64
	// What the flags come from: two numbers, as a-b; only zero and not zero, after arithmetic; or secrets.
	a, b            uint64
	zeroOnly, flags bool
}

// The frame lies below the arguments.
const (
	frameBottom = 0x7fff_0000_0000
	frameStart  = 0x7fff_000f_0008 // aligned as Go aligns
	arguments   = 0x7fff_0010_0000
	frameEnd    = arguments + 128
)

// Walk follows the function with the given arguments, one for each eight bytes, and returns how many instructions that
// takes.
func (f *AssemblyFunction) Walk(args ...uint64) (steps int, err error) {
	m := &pathMachine{
		f:         f,
		registers: make(map[string]pathValue),
		frame:     make(map[uint64]pathValue),
		symbols:   make(map[string]uint64),
		flags:     true,
	}
	for i, v := range args {
		m.store(arguments+uint64(8*i), pathValue{n: v}, 8)
	}
	stack := "SP"
	if f.arm {
		stack = "RSP"
	}
	m.registers[stack] = pathValue{n: frameStart}
	follow := m.amd64
	if f.arm {
		follow = m.arm64
	}
	for at := 0; at < len(f.code); steps++ {
		if steps > 500_000 {
			return steps, errors.New("goes on and on")
		}
		in := &f.code[at]
		in.visited = true
		if in.op == "RET" && len(in.operands) == 0 {
			return steps, nil
		}
		next, err := follow(in, at)
		if err != nil {
			return steps, fmt.Errorf("%s: %w", in.where, err)
		}
		at = next
	}
	return steps, errors.New("no end")
}

// address returns the address of memory.
func (m *pathMachine) address(o *pathOperand) (address pathValue, err error) {
	switch {
	case o.kind != memoryOperand && o.kind != addressOperand:
		return pathValue{}, ErrUnknown
	case o.base == "FP": // the symbol is an argument's name
		address = pathValue{n: arguments}
	case o.base == "SB":
		base, known := m.symbols[o.symbol]
		if !known {
			base = 0x5_0000_0000 + uint64(len(m.symbols))<<16
			m.symbols[o.symbol] = base
		}
		address = pathValue{n: base}
	default:
		address = m.read(o.base)
	}
	address.n += o.n
	if o.index != "" {
		address = address.with(m.read(o.index), func(a, b uint64) uint64 { return a + b*o.scale })
	}
	return address, nil
}

// publicAddress is address of memory that is accessed.
func (m *pathMachine) publicAddress(o *pathOperand) (uint64, error) {
	address, err := m.address(o)
	if err == nil && address.secret {
		err = ErrSecret
	}
	return address.n, err
}

// read returns the value of a register. A vector register is secret, and one that nobody wrote.
func (m *pathMachine) read(register string) pathValue {
	if register == "ZR" {
		return pathValue{}
	}
	v, ok := m.registers[register]
	if !ok {
		return pathValue{secret: true}
	}
	return v
}

// value returns what an operand holds: size bytes of memory, a register, or a constant.
func (m *pathMachine) value(o *pathOperand, size int) (pathValue, error) {
	switch o.kind {
	case numberOperand:
		return pathValue{n: o.n}, nil
	case addressOperand:
		return m.address(o)
	case generalOperand:
		v := m.read(o.text)
		if size < 8 {
			v.n &= 1<<(8*size) - 1
		}
		return v, nil
	case byteOperand, vectorOperand:
		return pathValue{secret: true}, nil
	}
	address, err := m.publicAddress(o)
	if err != nil {
		return pathValue{}, err
	}
	v := pathValue{}
	for i := range size {
		b, ok := m.frame[address+uint64(i)]
		if !ok || b.secret {
			return pathValue{secret: true}, nil
		}
		v.n |= b.n << (8 * i)
	}
	return v, nil
}

// set writes to a register or to memory.
func (m *pathMachine) set(o *pathOperand, v pathValue, size int) error {
	if size < 8 {
		v.n &= 1<<(8*size) - 1
	}
	if o.kind == generalOperand {
		m.registers[o.text] = v
		return nil
	}
	address, err := m.publicAddress(o)
	if err == nil {
		m.store(address, v, size)
	}
	return err
}

// store keeps what is stored in the frame. More than eight bytes are secret.
func (m *pathMachine) store(address uint64, v pathValue, size int) {
	for i := range uint64(size) {
		if a := address + i; a >= frameBottom && a < frameEnd {
			m.frame[a] = pathValue{v.n >> (8 * i & 63) & 0xff, v.secret || size > 8}
		}
	}
}

func (m *pathMachine) compare(a, b pathValue) {
	m.a, m.b, m.zeroOnly, m.flags = a.n, b.n, false, a.secret || b.secret
}

// branch returns where a conditional branch goes.
func (m *pathMachine) branch(condition string, label *pathOperand, at int) (int, error) {
	switch {
	case m.flags:
		return 0, ErrSecret
	case m.zeroOnly && condition != "EQ" && condition != "NE":
		return 0, ErrUnknown
	}
	return m.jump(label, conditions[condition](m.a, m.b), at)
}

// jump returns where a branch goes.
func (m *pathMachine) jump(label *pathOperand, taken bool, at int) (int, error) {
	to, ok := m.f.labels[label.text]
	switch {
	case !ok:
		return 0, ErrUnknown
	case taken:
		return to, nil
	}
	return at + 1, nil
}

// conditions say of two numbers that were compared whether the branch is taken.
var conditions = map[string]func(a, b uint64) bool{
	"EQ": func(a, b uint64) bool { return a == b }, "NE": func(a, b uint64) bool { return a != b },
	"LO": func(a, b uint64) bool { return a < b }, "HS": func(a, b uint64) bool { return a >= b },
	"HI": func(a, b uint64) bool { return a > b }, "LS": func(a, b uint64) bool { return a <= b },
	"LT": func(a, b uint64) bool { return int64(a) < int64(b) }, "GE": func(a, b uint64) bool { return int64(a) >= int64(b) },
	"GT": func(a, b uint64) bool { return int64(a) > int64(b) }, "LE": func(a, b uint64) bool { return int64(a) <= int64(b) },
}

// jumps are amd64's conditional jumps in those words.
var jumps = map[string]string{
	"JEQ": "EQ", "JE": "EQ", "JZ": "EQ", "JNE": "NE", "JNZ": "NE", "JB": "LO", "JCS": "LO", "JAE": "HS", "JCC": "HS",
	"JHI": "HI", "JA": "HI", "JLS": "LS", "JBE": "LS", "JLT": "LT", "JGE": "GE", "JGT": "GT", "JLE": "LE",
}

var arithmetic = map[string]func(a, b uint64) uint64{
	"ADD": func(a, b uint64) uint64 { return a + b }, "SUB": func(a, b uint64) uint64 { return a - b },
	"AND": func(a, b uint64) uint64 { return a & b }, "OR": func(a, b uint64) uint64 { return a | b },
	"XOR": func(a, b uint64) uint64 { return a ^ b }, "ORR": func(a, b uint64) uint64 { return a | b },
	"EOR": func(a, b uint64) uint64 { return a ^ b },
	"SHL": func(a, b uint64) uint64 { return a << (b & 63) }, "SHR": func(a, b uint64) uint64 { return a >> (b & 63) },
}

// Instructions on general registers whose results the machine knows to be secret if an operand is, and of which it knows
// nothing else: of each, the operands are all it reads, and the last one and the flags all it writes.
var secretOps = regexp.MustCompile(`^(BEXTR|RORX|ROL|ROR|SAR)[LQ]$|^MOVBLZX$|^(TEST|CMP)B$`)

func (m *pathMachine) amd64(in *pathInstruction, at int) (next int, err error) {
	ops := in.operands
	if len(ops) == 1 {
		if in.op == "JMP" {
			return m.jump(&ops[0], true, at)
		}
		if condition, ok := jumps[in.op]; ok {
			return m.branch(condition, &ops[0], at)
		}
	}
	if amd64Vectors.MatchString(in.op) || in.op == "MOVQ" && slices.ContainsFunc(ops, isVector) {
		return at + 1, m.vector(in)
	}
	if len(ops) == 0 {
		return 0, ErrUnknown
	}
	last := &ops[len(ops)-1]
	if secretOps.MatchString(in.op) || in.op == "SHLQ" && len(ops) == 3 {
		return at + 1, m.secret(ops, last)
	}
	base, size := strings.TrimSuffix(in.op, "Q"), 8
	if base == in.op {
		if base, size = strings.TrimSuffix(in.op, "L"), 4; base == in.op {
			return 0, ErrUnknown
		}
	}
	if base == "INC" || base == "DEC" {
		base = map[string]string{"INC": "ADD", "DEC": "SUB"}[base]
		ops = []pathOperand{{kind: numberOperand, n: 1}, *last}
	}
	if base == "BSWAP" || base == "BSF" {
		v, err := m.value(&ops[0], size)
		if base == "BSWAP" {
			v.n = bits.ReverseBytes64(v.n) >> (64 - 8*size)
		} else {
			v.n, m.flags = uint64(bits.TrailingZeros64(v.n)), true
		}
		return at + 1, errors.Join(err, m.set(last, v, size))
	}
	if len(ops) != 2 {
		return 0, ErrUnknown
	}
	if base == "LEA" {
		address, err := m.address(&ops[0])
		return at + 1, errors.Join(err, m.set(last, address, size))
	}
	b, err := m.value(&ops[0], size)
	if err != nil {
		return 0, err
	}
	if base == "MOV" {
		return at + 1, m.set(last, b, size)
	}
	a, err := m.value(last, size)
	if err != nil {
		return 0, err
	}
	// Signs, for comparisons.
	extend := func(v pathValue) pathValue {
		if size == 4 {
			v.n = uint64(int32(v.n))
		}
		return v
	}
	switch {
	case base == "XCHG":
		return at + 1, errors.Join(m.set(&ops[0], a, size), m.set(last, b, size))
	case base == "CMP": // the first operand is the left one here
		m.compare(extend(b), extend(a))
		return at + 1, nil
	case base == "TEST":
		m.compare(extend(a.with(b, arithmetic["AND"])), pathValue{})
		return at + 1, nil
	case arithmetic[base] == nil:
		return 0, ErrUnknown
	case base == "XOR" && ops[0].text == last.text:
		a, b = pathValue{}, pathValue{} // however secret
	}
	v := a.with(b, arithmetic[base])
	if m.compare(extend(v), pathValue{}); base == "SUB" {
		m.compare(extend(a), extend(b))
	}
	m.zeroOnly = base != "SUB" || in.op[0] == 'D' // DEC leaves the carry
	return at + 1, m.set(last, v, size)
}

// secret looks at an instruction of secretOps.
func (m *pathMachine) secret(ops []pathOperand, last *pathOperand) error {
	secret := false
	for i := range ops {
		v, err := m.value(&ops[i], 8)
		if err != nil {
			return err
		}
		secret = secret || v.secret
	}
	if !secret {
		return ErrUnknown
	}
	m.flags = true
	if last.kind == byteOperand {
		m.registers[last.text[:1]+"X"] = pathValue{secret: true}
		return nil
	}
	return m.set(last, pathValue{secret: true}, 8)
}

func isVector(o pathOperand) bool { return o.kind == vectorOperand }

// Vector instructions. They read and write what their operands say and nothing else but flags, those in flagSetters.
var (
	amd64Vectors = regexp.MustCompile(`^(MOVOU?|VMOV[DQ]|V?(` +
		`MOVDQ[AU](8|16|32|64)?|P(ADD|BLEND|BROADCAST|CMPEQ|EXTR|INSR)[BWDQ]|P(AND|OR|XOR)[DQ]?|PBLENDVB|` +
		`PCLMULQDQ|PSHUF[BD]|PS[LR]L(W|D|Q|DQ)|PUNPCK[LH](BW|WD|DQ|QDQ)|PTEST)|` +
		`V(ALIGN[DQ]|(BROADCAST|INSERT|EXTRACT)[IF](128|32X4|64X2|64X4)|GF2P8AFFINEQB|PERM[DQ]|PERM2I128|PERM[IT]2[BW]|` +
		`PGATHERDD|PMOVB2M|PRO[LR]D|PTERNLOG[DQ]|PTESTMW|ZEROUPPER)|` +
		`K(MOV|TEST|ORTEST)[BWDQ]|PREFETCHT0)(\.BCST)?$`)
	arm64Vectors = regexp.MustCompile(`^(FMOV[DQ]|V(LD|ST)[1-4]R?(\.P)?|` +
		`V(ADD|AND|DUP|EOR|EXT|MOVI?|PMULL2?|REV32|REV64|SLI|SRI|SUB|TBL|USHR|UZP[12]|ZIP[12]))$`)
	flagSetters = regexp.MustCompile(`^(V?PTEST|K(OR)?TEST.)$`)
)

// vector looks at the addresses of a vector instruction. What it writes is secret.
func (m *pathMachine) vector(in *pathInstruction) error {
	if flagSetters.MatchString(in.op) {
		m.flags = true
	}
	op, postIncrement := strings.CutSuffix(in.op, ".P")
	masked := false
	for i, o := range in.operands {
		masked = masked || isVector(o) && o.text[0] == 'K' && i < len(in.operands)-1
	}
	for i, o := range in.operands {
		last := i == len(in.operands)-1
		switch o.kind {
		case generalOperand:
			if last {
				m.registers[o.text] = pathValue{secret: true}
			}
			continue
		case numberOperand, vectorOperand, vectorsOperand:
			continue
		case memoryOperand:
		default:
			return ErrUnknown
		}
		if masked && op[0] != 'K' {
			return ErrSecret // which bytes are accessed
		}
		access := o
		if postIncrement {
			access.n, access.index = 0, ""
		}
		address, err := m.publicAddress(&access)
		if err != nil {
			return err
		}
		if last && (!m.f.arm || strings.HasPrefix(op, "VST") || strings.HasPrefix(op, "FMOV")) {
			m.store(address, pathValue{secret: true}, storeSize(op, in.operands))
		}
		if postIncrement {
			step := pathValue{n: o.n}
			if o.index != "" {
				step = m.read(o.index)
			}
			m.registers[o.base] = m.read(o.base).with(step, arithmetic["ADD"])
		}
	}
	return nil
}

// storeSize is how many bytes a vector instruction stores, or more.
func storeSize(op string, operands []pathOperand) int {
	switch op {
	case "VMOVD":
		return 4
	case "VMOVQ":
		return 8
	case "FMOVQ", "FMOVD":
		return 16
	}
	size := 0
	for _, o := range operands {
		switch o.text[0] {
		case 'X':
			size = max(size, 16)
		case 'Y':
			size = max(size, 32)
		}
	}
	if size == 0 || slices.ContainsFunc(operands, func(o pathOperand) bool { return o.text[0] == 'Z' }) {
		return 64 // of arm64's registers, four at most
	}
	return size
}

// wordText is an instruction between vector registers.
var wordText = regexp.MustCompile(`^[a-z]\w* v\d+\.\d+[bhsd](, (v\d+\.\d+[bhsd]|#\d+))*$`)

func (m *pathMachine) arm64(in *pathInstruction, at int) (next int, err error) {
	ops := in.operands
	if arm64Vectors.MatchString(in.op) {
		return at + 1, m.vector(in)
	}
	if in.op == "WORD" && wordText.MatchString(in.comment) {
		return at + 1, nil
	}
	switch len(ops) {
	case 1:
		if in.op == "B" || in.op == "JMP" {
			return m.jump(&ops[0], true, at)
		}
		if condition, ok := strings.CutPrefix(in.op, "B"); ok && conditions[condition] != nil {
			return m.branch(condition, &ops[0], at)
		}
		return 0, ErrUnknown
	case 2, 3:
	default:
		return 0, ErrUnknown
	}
	if in.op == "LDP" || in.op == "STP" {
		memory, pair := &ops[0], ops[1].text
		if in.op == "STP" {
			memory, pair = &ops[1], ops[0].text
		}
		address, err := m.publicAddress(memory)
		registers := splitOperands(strings.Trim(pair, "()"))
		if err != nil || len(ops) != 2 || len(registers) != 2 {
			return 0, errors.Join(err, ErrUnknown)
		}
		if in.op == "LDP" { // secret even from the frame
			secret := pathValue{secret: true}
			return at + 1, errors.Join(m.set(&registers[0], secret, 8), m.set(&registers[1], secret, 8))
		}
		m.store(address, pathValue{secret: true}, 16)
		return at + 1, nil
	}
	size := 8
	if in.op == "MOVWU" || in.op == "REVW" {
		size = 4
	}
	b, err := m.value(&ops[0], size)
	if err != nil {
		return 0, err
	}
	last := &ops[len(ops)-1]
	if f := arithmetic[in.op]; f != nil {
		a, err := m.value(&ops[1], 8)
		return at + 1, errors.Join(err, m.set(last, a.with(b, f), 8))
	}
	if len(ops) == 3 {
		return 0, ErrUnknown
	}
	switch in.op {
	case "CBZ", "CBNZ":
		if b.secret {
			return 0, ErrSecret
		}
		return m.jump(last, (b.n == 0) == (in.op == "CBZ"), at)
	case "CMP":
		a, err := m.value(last, 8)
		m.compare(a, b)
		return at + 1, err
	case "REVW":
		b.n = uint64(bits.ReverseBytes32(uint32(b.n)))
		return at + 1, m.set(last, b, 8)
	case "MOVD", "MOVWU":
		if last.kind == generalOperand {
			size = 8
		}
		return at + 1, m.set(last, b, size)
	}
	return 0, ErrUnknown
}
