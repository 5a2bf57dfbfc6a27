//go:build linux && amd64

package twofish

import (
	"bufio"
	"bytes"
	"crypto/cipher"
	"debug/elf"
	"debug/gosym"
	"fmt"
	gohash "hash"
	"io"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"sort"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/twogather/twogather/hwfeatures"
	"github.com/twogather/twogather/internal/ghash"
	"github.com/twogather/twogather/internal/kernel"
	"github.com/twogather/twogather/internal/testkit"
	"github.com/twogather/twogather/modes"
)

// This file checks what ConstantTime says. Valgrind's tool lackey writes down every instruction, load and store with its
// address, and a call has to leave the same lines whatever the key and the data. All calls are in one process, because two
// processes differ by themselves, and on the same memory. It is a check and not a proof: it sees what these keys and data
// do, on the processor that valgrind imitates. What the runtime does is left out, so it may be called only for what has
// nothing to do with secrets.

// traceMemory is what all calls work on. It has the same address for all keys, and so have the modes' objects.
type traceMemory struct {
	c                          Cipher
	key                        []byte
	keys                       [32]byte
	dst, src                   [maxBatch + 8*BlockSize]byte
	chain                      [BlockSize]byte
	row                        [rowBytes]byte
	hash                       ghash.Key
	jobs                       [2]modes.Job
	ctr                        *modes.CTR
	xts                        *modes.XTS
	cbcEncrypter, cbcDecrypter cipher.BlockMode
	cfbEncrypter, cfbDecrypter cipher.Stream
	ofb                        cipher.Stream
	gcm, ocb, eax              cipher.AEAD
	cmac                       gohash.Hash
}

// traced is a variable of the program, see traceCase.
var traced traceMemory

// A traceCase is a function to trace. Its trace starts at the first instruction of entry, in assembly if there is such a
// function, and ends where call goes on.
type traceCase struct {
	name, entry  string
	constantTime bool
	// allocates is true for constructors. They get other memory each time, so only addresses in the program itself count, where its
	// tables are and the Cipher.
	allocates bool
	keySize   int
	plan      plan
	prepare   func(m *traceMemory) // may be nil, and does not call the function
	call      func(m *traceMemory)
}

// traceMethods are called through here so that none of them is inlined.
var traceMethods = struct {
	expand, expandConstantTime func(s *schedule, key []byte)
	encrypt, decrypt           func(c *Cipher, dst, src []byte)
	encryptBlocks              func(c *Cipher, dst, src []byte)
	decryptBlocks              func(c *Cipher, dst, src []byte)
	xorKeyStream               func(x *modes.CTR, dst, src []byte)
	encryptSectors             func(x *modes.XTS, dst, src []byte, sectorSize int, first uint64)
	decryptXTS                 func(x *modes.XTS, dst, src []byte, sector uint64)
	encryptCBC                 func(b cipher.Block, jobs []modes.Job)
	newGCM, newOCB             func(b cipher.Block, nonceSize, tagSize int) (cipher.AEAD, error)
	newCMAC                    func(b cipher.Block) (gohash.Hash, error)
	hashInit                   func(k *ghash.Key, h *[BlockSize]byte)
	hashUpdate                 func(k *ghash.Key, y *[BlockSize]byte, data []byte)
	leaks                      []func(m *traceMemory)
}{
	(*schedule).expand, (*schedule).expandConstantTime, (*Cipher).Encrypt, (*Cipher).Decrypt,
	(*Cipher).EncryptBlocks, (*Cipher).DecryptBlocks, (*modes.CTR).XORKeyStream, (*modes.XTS).EncryptSectors,
	(*modes.XTS).Decrypt, modes.EncryptCBC, modes.NewGCM, modes.NewOCB, modes.NewCMAC, (*ghash.Key).Init, (*ghash.Key).Update,
	[]func(m *traceMemory){leakBranch, leakLookUp, leakComparison, leakMap},
}

// What the check has to see besides tables: a branch, an address, a comparison that ends early, and what the runtime does
// with a secret, whose traces are left out.

func leakBranch(m *traceMemory) {
	if m.key[3]&1 != 0 {
		m.dst[0]++
	}
}

func leakLookUp(m *traceMemory) { m.dst[0] = m.src[m.key[3]] }

func leakComparison(m *traceMemory) { m.dst[0] = byte(bytes.Compare(m.src[:], m.dst[:len(m.src)])) }

var leakyMap = map[byte]byte{1: 2}

func leakMap(m *traceMemory) { m.dst[0] = leakyMap[m.key[3]] }

// traceCases returns the cases that this process can run. Under valgrind it has other features than without.
func traceCases(t *testing.T) (cases []traceCase) {
	rows := make(map[string]sourceRow)
	for _, r := range sourceRows(t) {
		rows[r.name] = r
	}
	for _, size := range []int{16, 24, 32} {
		add := func(name, entry string, constantTime bool, p plan, call func(m *traceMemory)) {
			cases = append(cases, traceCase{
				name: fmt.Sprintf("%s, %d-bit key", name, 8*size), entry: ownFunctions + entry, constantTime: constantTime,
				keySize: size, plan: p, call: call,
			})
		}
		add("key schedule", "(*schedule).expandConstantTime", true, constantTimePlan,
			func(m *traceMemory) { traceMethods.expandConstantTime(&m.c.schedule, m.key) })
		add("ordinary key schedule", "(*schedule).expand", false, defaultPlan,
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
			if k.Funcs.rows != nil {
				add(k.Name+" rows in CBC mode", row.function("encrypt"), k.ConstantTime, p,
					func(m *traceMemory) { k.Funcs.rows(&m.c.schedule, m.dst[:n], m.src[:n], nil, &m.row) })
				add(k.Name+" rows in CFB mode", row.function("encrypt"), k.ConstantTime, p,
					func(m *traceMemory) { k.Funcs.rows(&m.c.schedule, m.dst[:n], m.src[:n], &m.chain, &m.row) })
			}
			if k.Funcs.cbcEncrypt != nil {
				add(k.Name+" cbcEncrypt", row.function("cbcEncrypt"), k.ConstantTime, p,
					func(m *traceMemory) { k.Funcs.cbcEncrypt(&m.c.schedule, m.dst[:n], m.src[:n], &m.chain) })
			}
		}
	}
	for _, c := range traceCipherCases() {
		c.keySize = 16
		c.name, c.constantTime, c.plan = "constant-time Cipher's "+c.name, true, constantTimePlan
		cases = append(cases, c)
		c.name, c.constantTime, c.plan = "ordinary "+c.name[len("constant-time "):], false, defaultPlan
		cases = append(cases, c)
	}
	// The hash of GCM, whatever the Cipher.
	const hashFunctions = "github.com/twogather/twogather/internal/ghash."
	for _, k := range kernel.Lookup("ghash").Kernels {
		if !hwfeatures.Detected().Has(k.Requires) {
			continue
		}
		newKey := kernel.Lookup("ghash").New(hwfeatures.Detected(), true, k.Name).(func(*[BlockSize]byte) *ghash.Key)
		cases = append(cases, traceCase{
			name: "GHASH by " + k.Name, entry: hashFunctions + "(*Key).Update", constantTime: true, keySize: 16, plan: constantTimePlan,
			prepare: func(m *traceMemory) { m.hash = *newKey((*[BlockSize]byte)(m.key)) },
			call:    func(m *traceMemory) { traceMethods.hashUpdate(&m.hash, &m.chain, m.src[:51*BlockSize+5]) },
		})
	}
	cases = append(cases, traceCase{
		name: "GHASH's key", entry: hashFunctions + "(*Key).Init", constantTime: true, keySize: 16, plan: constantTimePlan,
		call: func(m *traceMemory) { traceMethods.hashInit(&m.hash, (*[BlockSize]byte)(m.key)) },
	})
	for i, name := range []string{"leakBranch", "leakLookUp", "leakComparison", "leakMap"} {
		cases = append(cases, traceCase{
			name: name, entry: ownFunctions + name, keySize: 16, plan: constantTimePlan,
			call: func(m *traceMemory) { traceMethods.leaks[i](m) },
		})
	}
	return cases
}

// traceCipherCases are a whole Cipher's methods and the modes over it, with the dispatch around the kernels.
func traceCipherCases() []traceCase {
	const few, more = 3 * BlockSize, 67 * BlockSize
	const modesFunctions = "github.com/twogather/twogather/modes."
	nonce := func(m *traceMemory) []byte { return m.chain[:12] }
	associated := []byte("associated data, public, more than a block")
	cases := []traceCase{
		{name: "Encrypt", entry: ownFunctions + "(*Cipher).Encrypt",
			call: func(m *traceMemory) { traceMethods.encrypt(&m.c, m.dst[:], m.src[:]) }},
		{name: "Decrypt", entry: ownFunctions + "(*Cipher).Decrypt",
			call: func(m *traceMemory) { traceMethods.decrypt(&m.c, m.dst[:], m.src[:]) }},
		{name: "EncryptBlocks", entry: ownFunctions + "(*Cipher).EncryptBlocks",
			call: func(m *traceMemory) { traceMethods.encryptBlocks(&m.c, m.dst[:], m.src[:more]) }},
		{name: "DecryptBlocks", entry: ownFunctions + "(*Cipher).DecryptBlocks",
			call: func(m *traceMemory) { traceMethods.decryptBlocks(&m.c, m.dst[:], m.src[:few]) }},
		{name: "CTR", entry: modesFunctions + "(*CTR).XORKeyStream",
			prepare: func(m *traceMemory) { renew(&m.ctr, modes.NewCTR(&m.c, m.chain[:])) },
			call:    func(m *traceMemory) { traceMethods.xorKeyStream(m.ctr, m.dst[:], m.src[:few+5]) }},
		{name: "CBC encryption", entry: modesFunctions + "(*cbcEncrypter).CryptBlocks",
			prepare: func(m *traceMemory) { renew(&m.cbcEncrypter, modes.NewCBCEncrypter(&m.c, m.chain[:])) },
			call:    func(m *traceMemory) { m.cbcEncrypter.CryptBlocks(m.dst[:], m.src[:few]) }},
		{name: "CBC decryption", entry: modesFunctions + "(*cbcDecrypter).CryptBlocks",
			prepare: func(m *traceMemory) { renew(&m.cbcDecrypter, modes.NewCBCDecrypter(&m.c, m.chain[:])) },
			call:    func(m *traceMemory) { m.cbcDecrypter.CryptBlocks(m.dst[:], m.src[:few]) }},
		{name: "CBC encryption side by side", entry: modesFunctions + "EncryptCBC",
			prepare: func(m *traceMemory) {
				m.jobs[0] = modes.Job{Dst: m.dst[:few], Src: m.src[:few], IV: m.chain[:]}
				m.jobs[1] = modes.Job{Dst: m.dst[few:], Src: m.src[few : few+BlockSize], IV: m.chain[:]}
			},
			call: func(m *traceMemory) { traceMethods.encryptCBC(&m.c, m.jobs[:]) }},
		{name: "CFB encryption", entry: modesFunctions + "(*cfb).XORKeyStream",
			prepare: func(m *traceMemory) { renew(&m.cfbEncrypter, modes.NewCFBEncrypter(&m.c, m.chain[:])) },
			call:    func(m *traceMemory) { m.cfbEncrypter.XORKeyStream(m.dst[:], m.src[:BlockSize+5]) }},
		{name: "CFB decryption", entry: modesFunctions + "(*cfb).XORKeyStream",
			prepare: func(m *traceMemory) { renew(&m.cfbDecrypter, modes.NewCFBDecrypter(&m.c, m.chain[:])) },
			call:    func(m *traceMemory) { m.cfbDecrypter.XORKeyStream(m.dst[:], m.src[:few+5]) }},
		{name: "OFB", entry: modesFunctions + "(*ofb).XORKeyStream",
			prepare: func(m *traceMemory) { renew(&m.ofb, modes.NewOFB(&m.c, m.chain[:])) },
			call:    func(m *traceMemory) { m.ofb.XORKeyStream(m.dst[:], m.src[:BlockSize+5]) }},
		{name: "XTS encryption", entry: modesFunctions + "(*XTS).EncryptSectors",
			prepare: func(m *traceMemory) { renew(&m.xts, must(modes.NewXTS(&m.c, &m.c))) },
			call: func(m *traceMemory) {
				traceMethods.encryptSectors(m.xts, m.dst[:], m.src[:22*BlockSize], 11*BlockSize, 7)
			}},
		{name: "XTS decryption", entry: modesFunctions + "(*XTS).Decrypt",
			prepare: func(m *traceMemory) { renew(&m.xts, must(modes.NewXTS(&m.c, &m.c))) },
			call:    func(m *traceMemory) { traceMethods.decryptXTS(m.xts, m.dst[:], m.src[:few+5], 7) }},
		{name: "GCM's key", entry: modesFunctions + "NewGCM", allocates: true,
			call: func(m *traceMemory) { traceMethods.newGCM(&m.c, 12, 16) }},
		{name: "OCB's key", entry: modesFunctions + "NewOCB", allocates: true,
			call: func(m *traceMemory) { traceMethods.newOCB(&m.c, 12, 16) }},
		{name: "CMAC's key", entry: modesFunctions + "NewCMAC", allocates: true,
			call: func(m *traceMemory) { traceMethods.newCMAC(&m.c) }},
		{name: "CMAC, but its end", entry: modesFunctions + "(*cmac).Write",
			prepare: func(m *traceMemory) { renew(&m.cmac, must(modes.NewCMAC(&m.c))) },
			call:    func(m *traceMemory) { m.cmac.Write(m.src[:few+5]) }},
		{name: "CMAC's end", entry: modesFunctions + "(*cmac).Sum",
			prepare: func(m *traceMemory) {
				renew(&m.cmac, must(modes.NewCMAC(&m.c)))
				m.cmac.Write(m.src[:BlockSize])
			},
			call: func(m *traceMemory) { m.cmac.Sum(m.dst[:0]) }},
	}
	for _, a := range []struct {
		name   string
		length int // bytes
		object func(m *traceMemory) *cipher.AEAD
		make   func(b cipher.Block, nonceSize, tagSize int) (cipher.AEAD, error)
	}{
		{"gcm", 9*BlockSize + 5, func(m *traceMemory) *cipher.AEAD { return &m.gcm }, modes.NewGCM},
		{"ocb", 9*BlockSize + 5, func(m *traceMemory) *cipher.AEAD { return &m.ocb }, modes.NewOCB},
		{"eax", 5, func(m *traceMemory) *cipher.AEAD { return &m.eax }, modes.NewEAX},
	} {
		prepare := func(m *traceMemory) { renew(a.object(m), must(a.make(&m.c, 12, 16))) }
		cases = append(cases,
			traceCase{name: a.name + " Seal", entry: modesFunctions + "(*" + a.name + ").Seal", prepare: prepare,
				call: func(m *traceMemory) { (*a.object(m)).Seal(m.dst[:0], nonce(m), m.src[:a.length], associated) }},
			traceCase{name: a.name + " Open", entry: modesFunctions + "(*" + a.name + ").Open",
				prepare: func(m *traceMemory) {
					prepare(m)
					(*a.object(m)).Seal(m.src[:0], nonce(m), m.src[:a.length], associated)
				},
				call: func(m *traceMemory) {
					if _, err := (*a.object(m)).Open(m.dst[:0], nonce(m), m.src[:a.length+16], associated); err != nil {
						panic(err)
					}
				}},
			// Time must not say how much of a tag is right.
			traceCase{name: a.name + " Open of a forgery", entry: modesFunctions + "(*" + a.name + ").Open",
				prepare: func(m *traceMemory) {
					prepare(m)
					(*a.object(m)).Seal(m.src[:0], nonce(m), m.src[:a.length], associated)
					m.src[a.length+int(m.key[0]%16)] ^= 1
				},
				call: func(m *traceMemory) {
					if _, err := (*a.object(m)).Open(m.dst[:0], nonce(m), m.src[:a.length+16], associated); err == nil {
						panic("a forgery was opened")
					}
				}})
	}
	return cases
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// renew makes an object, or gives the one that is there what a new one holds, in the same memory.
func renew[T any](object *T, made T) {
	if v := reflect.ValueOf(object).Elem(); v.IsNil() {
		*object = made
	} else {
		overwrite(reflect.ValueOf(*object).Elem(), reflect.ValueOf(made).Elem())
	}
}

// overwrite copies what src holds to dst, also behind pointers. Interfaces and functions refer to the Cipher, which is the
// same. Elements of arrays and slices have no pointers.
func overwrite(dst, src reflect.Value) {
	dst = reflect.NewAt(dst.Type(), dst.Addr().UnsafePointer()).Elem() // may be set, whatever its name
	src = reflect.NewAt(src.Type(), src.Addr().UnsafePointer()).Elem()
	if pool, ok := dst.Addr().Interface().(*sync.Pool); ok {
		state := pool.Get()
		overwrite(reflect.ValueOf(state).Elem(), reflect.ValueOf(pool.New()).Elem())
		pool.Put(state)
		return
	}
	switch dst.Kind() {
	case reflect.Interface, reflect.Func:
	case reflect.Pointer:
		overwrite(dst.Elem(), src.Elem())
	case reflect.Slice:
		reflect.Copy(dst, src)
	case reflect.Struct:
		for i := range dst.NumField() {
			overwrite(dst.Field(i), src.Field(i))
		}
	default:
		dst.Set(src)
	}
}

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
	m.key = m.keys[:keySize]
	fill(m.key, "key")
	fill(m.src[:], "data")
	clear(m.dst[:])
	fill(m.chain[:], "chain")
	m.chain[12] = 0 // A counter does not wrap inside a call to a kernel.
}

// traceChild makes all calls: it is what runs under valgrind.
func traceChild(t *testing.T, cases []traceCase) {
	runtime.LockOSThread() // whose memory pools look at
	m := &traced
	schedules := make(map[[2]int]*schedule) // by input and size
	for _, size := range []int{16, 24, 32} {
		for i := range traceInputs {
			m.set(i, size)
			schedules[[2]int{i, size}] = &newTest(t, m.key, defaultPlan).schedule
		}
	}
	for _, c := range cases {
		for i := -1; i < traceInputs; i++ {
			m.set(max(i, 0), c.keySize)
			m.c = Cipher{*schedules[[2]int{max(i, 0), c.keySize}], c.plan}
			if c.prepare != nil {
				c.prepare(m)
			}
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
			fmt.Printf("case\t%s\t%s\t%v\t%v\n", c.name, c.entry, c.constantTime, c.allocates)
		}
		return
	case "run":
		traceChild(t, traceCases(t))
		return
	}
	if testkit.Boundary() {
		t.Skip("takes a minute")
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
	functions, program := readProgram(t, exe)
	r := traceReader{functions: functions, program: program}
	for line := range strings.Lines(string(list)) {
		if f := strings.Split(strings.TrimSpace(line), "\t"); f[0] == "case" {
			entry := functions.entry(f[2])
			if entry == 0 {
				t.Fatalf("%s: the program has no function %s", f[1], f[2])
			}
			r.results = append(r.results, &traceResult{
				name: f[1], entry: entry, constantTime: f[3] == "true", allocates: f[4] == "true",
			})
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
	allocates    bool
	calls        int
	first        []traceLine // of the first call that counts
	difference   string      // of a later one
	where        []traceLine // up to the difference
}

// A traceReader follows a program through its cases.
type traceReader struct {
	functions programFunctions
	program   addressRange
	results   []*traceResult
	at        int         // case
	inside    bool        // a call
	system    bool        // the last instruction was the runtime's, or for it
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
		if r.inside && !r.system && r.again == 0 {
			if r.results[r.at].allocates && !r.program.holds(address) {
				address = 0
			}
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
			r.inside, r.system, r.again, r.lines = true, false, 0, r.lines[:0]
		}
		return
	}
	if address == r.again {
		r.again = 0
	}
	f := r.functions.at(address)
	switch {
	case f != nil && f.memory: // the runtime's or not, as its caller
	case f != nil && !f.system:
		r.system = false
	case !r.system:
		r.system = true
		if f != nil && f.interrupts {
			if r.again == 0 {
				r.interrupted()
			}
		} else if r.again == 0 && f != nil && address == f.entry && !f.harmless {
			x.differs("a call of "+f.name+", which is not traced", r.lines)
		} // else another thread
	}
	if f == nil || !f.caller {
		return
	}
	// Back in the case's own function.
	r.inside = false
	if r.again != 0 {
		x.differs("an interruption without an end", r.lines)
	}
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
	default:
		for i := range min(len(lines), len(x.first)) {
			if lines[i] != x.first[i] {
				x.differs(fmt.Sprintf("line %d with other keys and data is %v, not %v", i, lines[i], x.first[i]), lines[:i+1])
				return
			}
		}
		if len(lines) != len(x.first) {
			x.differs(fmt.Sprintf("%d lines with other keys and data, not %d", len(lines), len(x.first)), lines)
		}
	}
}

// differs keeps the first difference of calls that count.
func (x *traceResult) differs(how string, where []traceLine) {
	if x.difference == "" && x.calls > 0 {
		x.difference, x.where = how, slices.Clone(where)
	}
}

// programFunctions are the functions of a program, by address.
type programFunctions []programFunction

type programFunction struct {
	entry, end uint64
	name       string
	assembly   bool
	system     bool // the runtime's: not part of traces, and nothing may depend on a secret there
	memory     bool // the runtime's for copies and comparisons, which are part of traces if others call them
	harmless   bool // the runtime's that learn types, sizes and addresses only
	interrupts bool // called where a function is interrupted
	caller     bool // the end of a trace: a case's own function
}

var harmless = []string{
	"runtime.newobject", "runtime.makeslice", "runtime.growslice", "runtime.mallocgc", "runtime.typeAssert",
	"runtime.bulkBarrierPreWrite",
}

// An addressRange is the memory from one address up to another.
type addressRange struct{ from, to uint64 }

func (r addressRange) holds(address uint64) bool { return r.from <= address && address < r.to }

// readProgram returns where a program lies, code and variables, and the table of functions that every Go program carries, also
// without symbols.
func readProgram(t *testing.T, exe string) (functions programFunctions, program addressRange) {
	t.Helper()
	f, err := elf.Open(exe)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	program.from = 1 << 63
	for _, p := range f.Progs {
		if p.Type == elf.PT_LOAD {
			program.from, program.to = min(program.from, p.Vaddr), max(program.to, p.Vaddr+p.Memsz)
		}
	}
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
		system := strings.HasPrefix(name, "runtime.") || strings.HasPrefix(name, "internal/runtime/") ||
			strings.HasPrefix(name, "runtime/") || !strings.Contains(name, ".") && path.Base(path.Dir(filepath.ToSlash(file))) == "runtime"
		memory := strings.HasPrefix(name, "runtime.mem") || strings.HasPrefix(name, "runtime.duff")
		functions = append(functions, programFunction{
			entry: f.Entry, end: f.End, name: name, assembly: strings.HasSuffix(file, ".s"),
			system: system, memory: memory, harmless: slices.Contains(harmless, name),
			interrupts: strings.HasPrefix(name, "runtime.morestack"),
			caller:     strings.HasPrefix(name, ownFunctions+"trace"),
		})
	}
	slices.SortFunc(functions, func(a, b programFunction) int { return int(int64(a.entry - b.entry)) })
	return functions, program
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
