//go:build linux && amd64

package twofish

import (
	"bufio"
	"debug/elf"
	"debug/gosym"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"sort"
	"strconv"
	"strings"
	"testing"

	"github.com/twogather/twogather/hwfeatures"
	"github.com/twogather/twogather/internal/testkit"
	"github.com/twogather/twogather/modes"
)

// This file checks what ConstantTime says. Valgrind's tool lackey writes down every instruction, load and store with its
// address, and a call has to leave the same lines whatever the key and the data. All calls are in one process, because two
// processes differ by themselves, and on the same memory. It is a check and not a proof: it sees what these keys and data
// do, on the processor that valgrind imitates.

// traceMemory is what all calls work on.
type traceMemory struct {
	c        Cipher // with the same address for all keys
	key      []byte
	dst, src [maxBatch + 8*BlockSize]byte
	chain    [BlockSize]byte
	ctr      *modes.CTR
	enc, dec interface {
		SetIV([]byte)
		CryptBlocks(dst, src []byte)
	}
}

// A traceCase is a function to trace. Its trace starts at the first instruction of entry, in assembly if there is such a
// function, and ends where call goes on.
type traceCase struct {
	name, entry  string
	constantTime bool
	keySize      int
	plan         plan
	call         func(m *traceMemory)
}

// traceMethods are called through here so that none of them is inlined.
var traceMethods = struct {
	expand, expandConstantTime func(s *schedule, key []byte)
	encrypt, decrypt           func(c *Cipher, dst, src []byte)
	encryptBlocks              func(c *Cipher, dst, src []byte)
	decryptBlocks              func(c *Cipher, dst, src []byte)
	xorKeyStream               func(x *modes.CTR, dst, src []byte)
}{
	(*schedule).expand, (*schedule).expandConstantTime, (*Cipher).Encrypt, (*Cipher).Decrypt,
	(*Cipher).EncryptBlocks, (*Cipher).DecryptBlocks, (*modes.CTR).XORKeyStream,
}

// traceCases returns the cases that this process can run. Under valgrind it has other features than without.
func traceCases(t *testing.T) (cases []traceCase) {
	rows := make(map[string]sourceRow)
	for _, r := range sourceRows(t) {
		rows[r.name] = r
	}
	for _, size := range []int{16, 24, 32} {
		add := func(name, entry string, constantTime bool, p plan, call func(m *traceMemory)) {
			if !strings.Contains(entry, "/") {
				entry = ownFunctions + entry
			}
			name = fmt.Sprintf("%s, %d-bit key", name, 8*size)
			cases = append(cases, traceCase{name, entry, constantTime, size, p, call})
		}
		// Each with the other's plan, so that no Cipher is made by the function that is traced.
		add("key schedule", "(*schedule).expandConstantTime", true, defaultPlan,
			func(m *traceMemory) { traceMethods.expandConstantTime(&m.c.schedule, m.key) })
		add("ordinary key schedule", "(*schedule).expand", false, constantTimePlan,
			func(m *traceMemory) { traceMethods.expand(&m.c.schedule, m.key) })
		if size == 24 {
			continue // The loops of the others say enough.
		}
		for i, k := range kernels.Usable(hwfeatures.Detected()) {
			row, n, p := rows[k.Name], k.Batch*BlockSize, forcedPlan(i)
			p.constantTime = k.ConstantTime
			add(k.Name+" encrypt", row.function("encrypt"), k.ConstantTime, p,
				func(m *traceMemory) { k.Funcs.encrypt(&m.c.schedule, m.dst[:n], m.src[:n]) })
			add(k.Name+" decrypt", row.function("decrypt"), k.ConstantTime, p,
				func(m *traceMemory) { k.Funcs.decrypt(&m.c.schedule, m.dst[:n], m.src[:n]) })
			if k.Funcs.ctr != nil {
				add(k.Name+" ctr", row.function("encrypt"), k.ConstantTime, p,
					func(m *traceMemory) { k.Funcs.ctr(&m.c.schedule, m.dst[:n], m.src[:n], &m.chain) })
			}
			if k.Funcs.cbcDecrypt != nil {
				add(k.Name+" cbcDecrypt", row.function("decrypt"), k.ConstantTime, p,
					func(m *traceMemory) { k.Funcs.cbcDecrypt(&m.c.schedule, m.dst[:n], m.src[:n], &m.chain) })
			}
			if k.Funcs.cbcEncrypt != nil {
				add(k.Name+" cbcEncrypt", row.function("cbcEncrypt"), k.ConstantTime, p,
					func(m *traceMemory) { k.Funcs.cbcEncrypt(&m.c.schedule, m.dst[:n], m.src[:n], &m.chain) })
			}
		}
	}
	// A whole Cipher, with the dispatch and the modes around the kernels: lengths in blocks.
	const few, more = 3 * BlockSize, 67 * BlockSize
	for _, c := range []struct {
		name, entry string
		call        func(m *traceMemory)
	}{
		{"Encrypt", "(*Cipher).Encrypt", func(m *traceMemory) { traceMethods.encrypt(&m.c, m.dst[:], m.src[:]) }},
		{"Decrypt", "(*Cipher).Decrypt", func(m *traceMemory) { traceMethods.decrypt(&m.c, m.dst[:], m.src[:]) }},
		{"EncryptBlocks", "(*Cipher).EncryptBlocks",
			func(m *traceMemory) { traceMethods.encryptBlocks(&m.c, m.dst[:], m.src[:more]) }},
		{"DecryptBlocks", "(*Cipher).DecryptBlocks",
			func(m *traceMemory) { traceMethods.decryptBlocks(&m.c, m.dst[:], m.src[:few]) }},
		{"CTR", modesFunctions + "(*CTR).XORKeyStream",
			func(m *traceMemory) { traceMethods.xorKeyStream(m.ctr, m.dst[:], m.src[:few+5]) }},
		{"CBC encryption", modesFunctions + "(*cbcEncrypter).CryptBlocks",
			func(m *traceMemory) { m.enc.CryptBlocks(m.dst[:], m.src[:few]) }},
		{"CBC decryption", modesFunctions + "(*cbcDecrypter).CryptBlocks",
			func(m *traceMemory) { m.dec.CryptBlocks(m.dst[:], m.src[:few]) }},
	} {
		entry := c.entry
		if !strings.Contains(entry, "/") {
			entry = ownFunctions + entry
		}
		cases = append(cases,
			traceCase{"constant-time Cipher's " + c.name, entry, true, 16, constantTimePlan, c.call},
			traceCase{"ordinary Cipher's " + c.name, entry, false, 16, defaultPlan, c.call})
	}
	return cases
}

const modesFunctions = "github.com/twogather/twogather/modes."

// traceInputs is how many keys and data sets there are. The first call of a case warms up: stacks grow, pages appear.
const traceInputs = 4

func (m *traceMemory) set(input, keySize int) {
	fill := func(b []byte, what string) {
		switch input {
		case 0:
			clear(b)
		case 1:
			for i := range b {
				b[i] = 0xff
			}
		default:
			copy(b, testkit.Random(fmt.Sprint(what, input), len(b)))
		}
	}
	m.key = m.key[:keySize]
	fill(m.key, "key")
	fill(m.src[:], "data")
	fill(m.chain[:], "chain")
	m.chain[12] = 0 // A counter does not wrap inside a call to a kernel.
}

// traceChild makes all calls: it is what runs under valgrind.
func traceChild(t *testing.T, cases []traceCase) {
	m := &traceMemory{key: make([]byte, 32)}
	iv := make([]byte, BlockSize)
	m.ctr = modes.NewCTR(&m.c, iv)
	m.enc = modes.NewCBCEncrypter(&m.c, iv).(interface {
		SetIV([]byte)
		CryptBlocks(dst, src []byte)
	})
	m.dec = modes.NewCBCDecrypter(&m.c, iv).(interface {
		SetIV([]byte)
		CryptBlocks(dst, src []byte)
	})
	for _, c := range cases {
		for i := -1; i < traceInputs; i++ {
			m.set(max(i, 0), c.keySize)
			keyed, err := newCipher(m.key, c.plan)
			if err != nil {
				t.Fatal(err)
			}
			m.c = *keyed
			m.ctr.SeekBlock(0)
			m.enc.SetIV(m.chain[:])
			m.dec.SetIV(m.chain[:])
			c.call(m)
		}
	}
}

const traceVariable = "TWOFISH_TEST_TRACE"

// TestTrace compares the traces of constant-time code under several keys and data; those of tables have to differ.
func TestTrace(t *testing.T) {
	switch os.Getenv(traceVariable) {
	case "list":
		for _, c := range traceCases(t) {
			fmt.Printf("case\t%s\t%s\t%v\n", c.name, c.entry, c.constantTime)
		}
		return
	case "run":
		traceChild(t, traceCases(t))
		return
	}
	if testkit.Boundary() {
		t.Skip("takes half a minute")
	}
	valgrind := testkit.NeedProgram(t, "valgrind")
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	command := func(what string, options ...string) *exec.Cmd {
		cmd := exec.Command(valgrind, append(options, exe, "-test.run=^TestTrace$")...)
		// Nothing may come between: no garbage collector, no preemption, one thread for Go code.
		cmd.Env = append(os.Environ(), traceVariable+"="+what, "GOGC=off", "GODEBUG=asyncpreemptoff=1", "GOMAXPROCS=1",
			"TWOGATHER_HWF=", "TWOGATHER_KERNEL=")
		return cmd
	}

	list, err := command("list", "--tool=none", "--log-file=/dev/null").Output()
	if err != nil {
		t.Fatal(err)
	}
	functions := readFunctions(t, exe)
	r := traceReader{functions: functions}
	for line := range strings.Lines(string(list)) {
		if f := strings.Split(strings.TrimSpace(line), "\t"); f[0] == "case" {
			entry := functions.entry(f[2])
			if entry == 0 {
				t.Fatalf("%s: the program has no function %s", f[1], f[2])
			}
			r.results = append(r.results, &traceResult{name: f[1], entry: entry, constantTime: f[3] == "true"})
		}
	}
	if len(r.results) == 0 {
		t.Fatalf("no cases in %q", list)
	}

	cmd := command("run", "--tool=lackey", "--trace-mem=yes", "--log-fd=3")
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.ExtraFiles = []*os.File{write}
	cmd.Stdout, cmd.Stderr = os.Stderr, os.Stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	write.Close()
	err = r.read(read)
	io.Copy(io.Discard, read)
	if waited := cmd.Wait(); waited != nil || err != nil {
		t.Fatal(waited, err)
	}
	if r.at < len(r.results) {
		t.Fatalf("the trace ends before %s", r.results[r.at].name)
	}
	for _, x := range r.results {
		switch {
		case x.constantTime && x.difference != "":
			t.Errorf("%s: %s, in %s", x.name, x.difference, functions.near(x.where))
		case !x.constantTime && x.difference == "":
			t.Errorf("%s: tables, and traces of %d lines without a difference: the check sees nothing", x.name, len(x.first))
		case x.constantTime:
			t.Logf("%s: %d lines, the same for %d keys and data", x.name, len(x.first), traceInputs)
		}
	}
}

// A traceLine is an instruction, a load, a store or both: the kind and the size are in the upper bits.
type traceLine uint64

const addressBits = 1<<48 - 1

func (l traceLine) String() string {
	return fmt.Sprintf("%c %#x,%d", byte(l>>56), uint64(l)&addressBits, byte(l>>48))
}

type traceResult struct {
	name         string
	entry        uint64
	constantTime bool
	calls        int
	first        []traceLine // of the first call that counts
	difference   string      // of a later one
	where        []traceLine // up to the difference
}

// A traceReader follows a program through its cases.
type traceReader struct {
	functions programFunctions
	results   []*traceResult
	at        int         // case
	inside    bool        // a call
	keep      bool        // the last instruction and what it accesses
	again     uint64      // nothing is kept before this address, if it is not 0
	lines     []traceLine // of this call
}

func (r *traceReader) read(from io.Reader) error {
	lines := bufio.NewScanner(bufio.NewReaderSize(from, 1<<20))
	lines.Buffer(make([]byte, 1<<16), 1<<20)
	for r.at < len(r.results) && lines.Scan() {
		// "I  0464c2a0,4", " L 1ffeffe7e0,8"
		b := lines.Bytes()
		if len(b) < 6 || b[2] != ' ' || b[0] != ' ' && b[0] != 'I' {
			continue // what valgrind says besides
		}
		kind := b[0]
		if kind == ' ' {
			kind = b[1]
		}
		address, size, ok := parseAccess(b[3:])
		if !ok {
			return fmt.Errorf("line %q", b)
		}
		if kind == 'I' {
			r.instruction(address)
		}
		if r.inside && r.keep {
			r.lines = append(r.lines, traceLine(kind)<<56|traceLine(size)<<48|traceLine(address&addressBits))
		}
	}
	return lines.Err()
}

func parseAccess(b []byte) (address uint64, size uint64, ok bool) {
	for i, c := range b {
		switch {
		case c >= '0' && c <= '9':
			address = address<<4 | uint64(c-'0')
		case c >= 'a' && c <= 'f':
			address = address<<4 | uint64(c-'a'+10)
		case c == ',':
			n, err := strconv.ParseUint(string(b[i+1:]), 10, 8)
			return address, n, err == nil
		default:
			return 0, 0, false
		}
	}
	return 0, 0, false
}

func (r *traceReader) instruction(address uint64) {
	x := r.results[r.at]
	if !r.inside {
		if address == x.entry {
			r.inside, r.keep, r.again, r.lines = true, true, 0, r.lines[:0]
		}
		return
	}
	if address == r.again {
		r.again = 0
	}
	f := r.functions.at(address)
	r.keep = r.again == 0 && f != nil && f.kept
	if f != nil && f.interrupts && r.again == 0 {
		r.interrupted()
	}
	if f == nil || !f.caller {
		return
	}
	// Back in the case's own function.
	r.inside = false
	x.add(r.lines)
	if x.calls == 1+traceInputs {
		r.at++
	}
}

// interrupted takes back what a function did so far. The scheduler takes the processor from a goroutine, and stacks grow,
// at a function's first instructions, which are carried out again afterwards.
func (r *traceReader) interrupted() {
	var f *programFunction
	for i, l := range slices.Backward(r.lines) {
		if byte(l>>56) != 'I' {
			continue
		}
		if f == nil {
			if f = r.functions.at(uint64(l) & addressBits); f == nil {
				return
			}
		}
		if uint64(l)&addressBits == f.entry {
			r.lines, r.again = r.lines[:i], f.entry
			return
		}
	}
}

// add compares the lines of a call with those of the first.
func (x *traceResult) add(lines []traceLine) {
	x.calls++
	switch {
	case x.calls == 1: // warming up
	case x.calls == 2:
		x.first = slices.Clone(lines)
	case x.difference == "":
		for i := range min(len(lines), len(x.first)) {
			if lines[i] != x.first[i] {
				x.difference = fmt.Sprintf("line %d with other keys and data is %v, not %v", i, lines[i], x.first[i])
				x.where = x.first[:i+1]
				return
			}
		}
		if len(lines) != len(x.first) {
			x.difference = fmt.Sprintf("%d lines with other keys and data, not %d", len(lines), len(x.first))
		}
	}
}

// programFunctions are the functions of a program, by address.
type programFunctions []programFunction

type programFunction struct {
	entry, end uint64
	name       string
	assembly   bool
	kept       bool // part of traces: not what the runtime does meanwhile
	caller     bool // the end of a trace: a case's own function
	interrupts bool // called where a function is interrupted
}

// readFunctions reads the table of functions that every Go program carries, also without symbols.
func readFunctions(t *testing.T, exe string) (functions programFunctions) {
	t.Helper()
	f, err := elf.Open(exe)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	pclntab, err := f.Section(".gopclntab").Data()
	if err != nil {
		t.Fatal(err)
	}
	table, err := gosym.NewTable(nil, gosym.NewLineTable(pclntab, f.Section(".text").Addr))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range table.Funcs {
		file, _, _ := table.PCToLine(f.Entry)
		name := f.Name
		system := strings.HasPrefix(name, "runtime.") || strings.HasPrefix(name, "internal/runtime/") || strings.HasPrefix(name, "runtime/")
		memory := strings.HasPrefix(name, "runtime.mem") || strings.HasPrefix(name, "runtime.duff")
		functions = append(functions, programFunction{
			f.Entry, f.End, name, strings.HasSuffix(file, ".s"), !system || memory,
			strings.HasPrefix(name, ownFunctions+"trace"), strings.HasPrefix(name, "runtime.morestack"),
		})
	}
	slices.SortFunc(functions, func(a, b programFunction) int { return int(int64(a.entry - b.entry)) })
	return functions
}

func (p programFunctions) at(address uint64) *programFunction {
	i := sort.Search(len(p), func(i int) bool { return p[i].end > address })
	if i == len(p) || p[i].entry > address {
		return nil
	}
	return &p[i]
}

// entry returns where a function starts: the one in assembly, if a Go wrapper has the same name.
func (p programFunctions) entry(name string) (address uint64) {
	for i := range p {
		if p[i].name == name && (address == 0 || p[i].assembly) {
			address = p[i].entry
		}
	}
	return address
}

// near names the function that the last instruction of some lines is in.
func (p programFunctions) near(lines []traceLine) string {
	for _, l := range slices.Backward(lines) {
		if byte(l>>56) == 'I' {
			if f := p.at(uint64(l) & addressBits); f != nil {
				return f.name
			}
		}
	}
	return "no function"
}
