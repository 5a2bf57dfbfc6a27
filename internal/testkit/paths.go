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
// It trusts the assembler, and the comments of words that the assembler does not know, which another test compares with
// binutils.

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
	operands []string
	comment  string
	where    string
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
		op, rest, _ := strings.Cut(strings.ReplaceAll(line, "\t", " "), " ")
		f.code = append(f.code, pathInstruction{op, splitOperands(rest), strings.TrimSpace(comment), fmt.Sprintf("%s:%d: %s", file, number, line)})
	}
	return functions
}

// splitOperands splits at commas outside brackets.
func splitOperands(s string) (operands []string) {
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
					operands = append(operands, operand)
				}
				start = i + 1
			}
		}
	}
	return operands
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
	}
	for i, v := range args {
		m.store(arguments+uint64(8*i), pathValue{n: v}, 8)
	}
	stack := "SP"
	if f.arm {
		stack = "RSP"
	}
	m.registers[stack] = pathValue{n: frameStart}
	for at := 0; at < len(f.code); steps++ {
		if steps > 500_000 {
			return steps, errors.New("goes on and on")
		}
		in := &f.code[at]
		if in.op == "RET" {
			return steps, nil
		}
		follow := m.amd64
		if f.arm {
			follow = m.arm64
		}
		next, err := follow(in, at)
		if err != nil {
			return steps, fmt.Errorf("%s: %w", in.where, err)
		}
		at = next
	}
	return steps, errors.New("no end")
}

var memoryOperand = regexp.MustCompile(`^(?:([A-Za-z_·]\w*(?:<>)?)?([-+]?(?:0x[0-9a-f]+|\d+))?)?\((\w+)\)(?:\((\w+)(?:\*(\d))?\))?$`)

var vectorRegister = regexp.MustCompile(`^([XYZKVF]\d+|V\d+\.[\w\[\]]+)$`)

var generalRegister = regexp.MustCompile(`^(AX|BX|CX|DX|SI|DI|BP|SP|RSP|ZR|R\d+)$`)

// address returns the address of a memory operand; ok is false for any other. A name in front of (FP) is an argument's.
func (m *pathMachine) address(operand string) (address pathValue, ok bool) {
	p := memoryOperand.FindStringSubmatch(operand)
	if p == nil {
		return pathValue{}, false
	}
	var offset uint64
	if p[2] != "" {
		n, err := strconv.ParseInt(p[2], 0, 64)
		if err != nil {
			return pathValue{}, false
		}
		offset = uint64(n)
	}
	switch p[3] {
	case "FP":
		address = pathValue{n: arguments + offset}
	case "SB":
		base, known := m.symbols[p[1]]
		if !known {
			base = 0x5_0000_0000 + uint64(len(m.symbols))<<16
			m.symbols[p[1]] = base
		}
		address = pathValue{n: base + offset}
	default:
		if !generalRegister.MatchString(p[3]) {
			return pathValue{}, false
		}
		address = m.read(p[3])
		address.n += offset
	}
	if p[4] != "" {
		scale := uint64(1)
		if p[5] != "" {
			scale = uint64(p[5][0] - '0')
		}
		index := pathValue{secret: true} // a vector's
		if generalRegister.MatchString(p[4]) {
			index = m.read(p[4])
		}
		address = address.with(index, func(a, b uint64) uint64 { return a + b*scale })
	}
	return address, true
}

// read returns the value of a register. One that nobody wrote is secret.
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
func (m *pathMachine) value(operand string, size int) (pathValue, error) {
	if c, ok := strings.CutPrefix(operand, "$"); ok {
		c, inverted := strings.CutPrefix(c, "~")
		if n, err := strconv.ParseInt(c, 0, 64); err == nil {
			if inverted {
				n = ^n
			}
			return pathValue{n: uint64(n)}, nil
		}
		if n, err := strconv.ParseUint(c, 0, 64); err == nil && !inverted {
			return pathValue{n: n}, nil
		}
		if address, ok := m.address(c); ok {
			return address, nil
		}
		return pathValue{}, ErrUnknown
	}
	if generalRegister.MatchString(operand) {
		v := m.read(operand)
		if size < 8 {
			v.n &= 1<<(8*size) - 1
		}
		return v, nil
	}
	address, ok := m.address(operand)
	switch {
	case !ok: // a vector, or a part of a register
		return pathValue{secret: true}, nil
	case address.secret:
		return pathValue{}, ErrSecret
	}
	v := pathValue{}
	for i := range size {
		b, ok := m.frame[address.n+uint64(i)]
		if !ok || b.secret {
			return pathValue{secret: true}, nil
		}
		v.n |= b.n << (8 * i)
	}
	return v, nil
}

// set writes to a register or to memory.
func (m *pathMachine) set(operand string, v pathValue, size int) error {
	if size < 8 {
		v.n &= 1<<(8*size) - 1
	}
	if generalRegister.MatchString(operand) {
		m.registers[operand] = v
		return nil
	}
	address, ok := m.address(operand)
	switch {
	case !ok && vectorRegister.MatchString(operand):
		return nil
	case !ok:
		return ErrUnknown
	case address.secret:
		return ErrSecret
	}
	m.store(address.n, v, size)
	return nil
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
func (m *pathMachine) branch(condition, label string, at int) (int, error) {
	switch {
	case m.flags:
		return 0, ErrSecret
	case m.zeroOnly && condition != "EQ" && condition != "NE":
		return 0, ErrUnknown
	}
	return m.jump(label, conditions[condition](m.a, m.b), at)
}

// jump returns where a branch goes.
func (m *pathMachine) jump(label string, taken bool, at int) (int, error) {
	to, ok := m.f.labels[label]
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

func (m *pathMachine) amd64(in *pathInstruction, at int) (next int, err error) {
	ops := in.operands
	if in.op == "JMP" {
		return m.jump(ops[0], true, at)
	}
	if name, ok := jumps[in.op]; ok {
		return m.branch(name, ops[0], at)
	}
	if in.op[0] == 'V' || in.op[0] == 'K' || strings.HasPrefix(in.op, "PREFETCH") || slices.ContainsFunc(ops, vectorRegister.MatchString) {
		return at + 1, m.vector(in, ops)
	}
	if len(ops) == 0 || in.op == "CALL" {
		return 0, ErrUnknown
	}
	base, size := in.op[:len(in.op)-1], 8
	switch in.op[len(in.op)-1] {
	case 'Q':
	case 'L':
		size = 4
	default:
		base, size = in.op, 8
	}
	last := ops[len(ops)-1]
	switch {
	case base == "MOV":
		v, err := m.value(ops[0], size)
		if err != nil {
			return 0, err
		}
		return at + 1, m.set(last, v, size)
	case base == "LEA":
		address, ok := m.address(ops[0])
		if !ok {
			return 0, ErrUnknown
		}
		return at + 1, m.set(last, address, size)
	case base == "XCHG":
		a, err := m.value(ops[0], size)
		b, err2 := m.value(last, size)
		return at + 1, errors.Join(err, err2, m.set(ops[0], b, size), m.set(last, a, size))
	case base == "CMP":
		a, err := m.value(ops[0], size)
		b, err2 := m.value(ops[1], size)
		m.compare(a, b)
		return at + 1, errors.Join(err, err2)
	case base == "TEST":
		a, err := m.value(ops[0], size)
		b, err2 := m.value(ops[1], size)
		m.compare(a.with(b, arithmetic["AND"]), pathValue{})
		return at + 1, errors.Join(err, err2)
	case base == "INC" || base == "DEC" || arithmetic[base] != nil && len(ops) == 2:
		v, err := m.value(last, size)
		if err != nil {
			return 0, err
		}
		operand, f := pathValue{n: 1}, arithmetic[map[string]string{"INC": "ADD", "DEC": "SUB"}[base]]
		if f == nil {
			f = arithmetic[base]
			if operand, err = m.value(ops[0], size); err != nil {
				return 0, err
			}
		}
		if base == "XOR" && ops[0] == last {
			v, operand = pathValue{}, pathValue{} // however secret
		}
		v = v.with(operand, f)
		if size == 4 {
			v.n = uint64(uint32(v.n))
		}
		m.compare(v, pathValue{})
		m.zeroOnly = true
		return at + 1, m.set(last, v, size)
	case base == "BSWAP":
		v, err := m.value(last, size)
		v.n = bits.ReverseBytes64(v.n) >> (64 - 8*size)
		return at + 1, errors.Join(err, m.set(last, v, size))
	}
	// Whatever else makes a secret out of secrets.
	secret := false
	for _, operand := range ops {
		v, err := m.value(operand, size)
		if err != nil {
			return 0, err
		}
		secret = secret || v.secret
	}
	if !secret {
		return 0, ErrUnknown
	}
	m.flags = true
	if len(last) == 2 && (last[1] == 'L' || last[1] == 'H') {
		last = last[:1] + "X"
	}
	return at + 1, m.set(last, pathValue{secret: true}, size)
}

// flagSetters are vector instructions that leave something in the flags.
var flagSetters = regexp.MustCompile(`^(V?PTEST$|VTESTP|V?U?COMIS|KO?R?TEST|KTEST)`)

// vector looks at the addresses of a vector instruction. What it writes is secret.
func (m *pathMachine) vector(in *pathInstruction, ops []string) error {
	if flagSetters.MatchString(in.op) {
		m.flags = true
	}
	op, postIncrement := strings.CutSuffix(in.op, ".P")
	store := strings.HasPrefix(op, "VST")
	for i, operand := range ops {
		last := i == len(ops)-1
		if generalRegister.MatchString(operand) {
			if last {
				m.registers[operand] = pathValue{secret: true}
			}
			continue
		}
		p := memoryOperand.FindStringSubmatch(operand)
		if p == nil {
			continue
		}
		access := operand
		if postIncrement {
			access = "(" + p[3] + ")"
		}
		address, ok := m.address(access)
		switch {
		case !ok && vectorRegister.MatchString(p[4]):
			return ErrSecret
		case !ok:
			return ErrUnknown
		case address.secret:
			return ErrSecret
		}
		if last && (store || !m.f.arm || op == "FMOVQ" || op == "FMOVD") {
			if err := m.set(access, pathValue{secret: true}, storeSize(op, ops)); err != nil {
				return err
			}
		}
		if postIncrement {
			v, err := m.value("$"+p[2], 8)
			if p[4] != "" {
				v, err = m.value(p[4], 8)
			}
			if err != nil {
				return err
			}
			m.registers[p[3]] = m.read(p[3]).with(v, arithmetic["ADD"])
		}
	}
	return nil
}

// storeSize is how many bytes a vector instruction stores, or more.
func storeSize(op string, operands []string) int {
	switch op {
	case "VMOVD":
		return 4
	case "VMOVQ":
		return 8
	case "FMOVQ", "FMOVD":
		return 16
	}
	size := 0
	for _, operand := range operands {
		switch operand[0] {
		case 'X':
			size = max(size, 16)
		case 'Y':
			size = max(size, 32)
		case 'Z', '[': // four registers at most
			size = 64
		}
	}
	return size
}

var armRegister = regexp.MustCompile(`\b([xw]\d+|[xw]zr|sp)\b|\[`)

func (m *pathMachine) arm64(in *pathInstruction, at int) (next int, err error) {
	ops := in.operands
	switch in.op {
	case "WORD":
		// Between vector registers, by its comment.
		if in.comment == "" || armRegister.MatchString(in.comment) || strings.HasPrefix(in.comment, "b") {
			return 0, ErrUnknown
		}
		return at + 1, nil
	case "B", "JMP":
		return m.jump(ops[0], true, at)
	case "CBZ", "CBNZ":
		v, err := m.value(ops[0], 8)
		if err != nil {
			return 0, err
		}
		if v.secret {
			return 0, ErrSecret
		}
		return m.jump(ops[1], (v.n == 0) == (in.op == "CBZ"), at)
	case "CMP":
		b, err := m.value(ops[0], 8)
		a, err2 := m.value(ops[1], 8)
		m.compare(a, b)
		return at + 1, errors.Join(err, err2)
	case "MOVD", "MOVWU":
		size := map[string]int{"MOVD": 8, "MOVWU": 4}[in.op]
		v, err := m.value(ops[0], size)
		if err != nil {
			return 0, err
		}
		if generalRegister.MatchString(ops[1]) {
			size = 8
		}
		return at + 1, m.set(ops[1], v, size)
	case "REVW":
		v, err := m.value(ops[0], 4)
		v.n = uint64(bits.ReverseBytes32(uint32(v.n)))
		return at + 1, errors.Join(err, m.set(ops[1], v, 8))
	case "LDP", "STP":
		memory, pair := ops[0], ops[1]
		if in.op == "STP" {
			memory, pair = pair, memory
		}
		first, second, ok := strings.Cut(strings.Trim(pair, "()"), ", ")
		address, isMemory := m.address(memory)
		switch {
		case !ok || !isMemory:
			return 0, ErrUnknown
		case address.secret:
			return 0, ErrSecret
		case in.op == "LDP":
			secret := pathValue{secret: true} // even from the frame
			return at + 1, errors.Join(m.set(first, secret, 8), m.set(second, secret, 8))
		}
		return at + 1, m.set(memory, pathValue{secret: true}, 16)
	}
	if f := arithmetic[in.op]; f != nil {
		b, err := m.value(ops[0], 8)
		a, err2 := m.value(ops[len(ops)-2], 8)
		if len(ops) == 2 {
			a, err2 = m.value(ops[1], 8)
		}
		return at + 1, errors.Join(err, err2, m.set(ops[len(ops)-1], a.with(b, f), 8))
	}
	if condition, ok := strings.CutPrefix(in.op, "B"); ok && conditions[condition] != nil {
		return m.branch(condition, ops[0], at)
	}
	if in.op[0] == 'V' || in.op == "FMOVQ" || in.op == "FMOVD" {
		return at + 1, m.vector(in, ops)
	}
	return 0, ErrUnknown
}
