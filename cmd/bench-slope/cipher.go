package main

import (
	"crypto/cipher"
	"fmt"
	"slices"
	"strings"

	"github.com/twogather/twogather/hwfeatures"
	"github.com/twogather/twogather/internal/kernel"
	"github.com/twogather/twogather/modes"
	"github.com/twogather/twogather/twofish"
)

// A cipherAlgorithm is a cipher as the command line names it. The kernels are those of the primitive of that name.
type cipherAlgorithm struct {
	name  string
	label func(keyBits int) string // as printed
	open  func(constructor any, key []byte) (cipher.Block, error)
}

var cipherTable = []cipherAlgorithm{
	{
		name: "twofish",
		label: func(keyBits int) string {
			if keyBits == 256 {
				return "TWOFISH"
			}
			return fmt.Sprintf("TWOFISH%d", keyBits)
		},
		open: func(constructor any, key []byte) (cipher.Block, error) {
			return constructor.(func([]byte) (*twofish.Cipher, error))(key)
		},
	},
}

func cipherNames() string {
	var names []string
	for _, c := range cipherTable {
		names = append(names, c.name)
	}
	return strings.Join(names, ", ")
}

// maxTag is how much longer a row may make a buffer.
const maxTag = 16

// A cipherRow is one line of figures. Its setup binds a block to the function that processes a buffer in place.
type cipherRow struct {
	mode, operation string
	counted         bool // with --count-instructions
	setup           func(b cipher.Block, iv []byte) func(buf []byte)
}

// The rows are libgcrypt's, in its order, without CCM, SIV and GCM-SIV.
var cipherRows = []cipherRow{
	{"ECB", "enc", true, blockMode(func(b cipher.Block, _ []byte) cipher.BlockMode { return modes.NewECBEncrypter(b) })},
	{"ECB", "dec", true, blockMode(func(b cipher.Block, _ []byte) cipher.BlockMode { return modes.NewECBDecrypter(b) })},
	{"CBC", "enc", true, blockMode(modes.NewCBCEncrypter)},
	{"CBC", "dec", true, blockMode(modes.NewCBCDecrypter)},
	{"CFB", "enc", false, stream(modes.NewCFBEncrypter)},
	{"CFB", "dec", false, stream(modes.NewCFBDecrypter)},
	{"OFB", "enc", false, stream(modes.NewOFB)},
	{"OFB", "dec", false, stream(modes.NewOFB)},
	{"CTR", "enc", true, stream(newCTR)},
	{"CTR", "dec", true, stream(newCTR)},
	{"XTS", "enc", false, sector((*modes.XTS).Encrypt)},
	{"XTS", "dec", false, sector((*modes.XTS).Decrypt)},
	{"EAX", "enc", false, aead(newEAX, seal)},
	{"EAX", "dec", false, aead(newEAX, open)},
	{"EAX", "auth", false, aead(newEAX, authenticate)},
	{"GCM", "enc", false, aead(newGCM, seal)},
	{"GCM", "dec", false, aead(newGCM, open)},
	{"GCM", "auth", false, aead(newGCM, authenticate)},
	{"OCB", "enc", false, aead(newOCB, seal)},
	{"OCB", "dec", false, aead(newOCB, open)},
	{"OCB", "auth", false, aead(newOCB, authenticate)},
}

func inPlace(crypt func(dst, src []byte)) func([]byte) {
	return func(buf []byte) { crypt(buf, buf) }
}

func blockMode(newMode func(b cipher.Block, iv []byte) cipher.BlockMode) func(b cipher.Block, iv []byte) func([]byte) {
	return func(b cipher.Block, iv []byte) func([]byte) { return inPlace(newMode(b, iv).CryptBlocks) }
}

func stream(newStream func(b cipher.Block, iv []byte) cipher.Stream) func(b cipher.Block, iv []byte) func([]byte) {
	return func(b cipher.Block, iv []byte) func([]byte) { return inPlace(newStream(b, iv).XORKeyStream) }
}

func newCTR(b cipher.Block, iv []byte) cipher.Stream { return modes.NewCTR(b, iv) }

// sector has each call process a buffer as a sector. One key does for both ciphers here.
func sector(crypt func(x *modes.XTS, dst, src []byte, sector uint64)) func(b cipher.Block, iv []byte) func([]byte) {
	return func(b cipher.Block, _ []byte) func([]byte) {
		x, err := modes.NewXTS(b, b)
		if err != nil {
			panic(err) // a row for a cipher that cannot do it
		}
		return func(buf []byte) { crypt(x, buf, buf, 0) }
	}
}

func newEAX(b cipher.Block) (cipher.AEAD, error) { return modes.NewEAX(b, 16, 16) }
func newGCM(b cipher.Block) (cipher.AEAD, error) { return modes.NewGCM(b, 12, 16) }
func newOCB(b cipher.Block) (cipher.AEAD, error) { return modes.NewOCB(b, 15, 16) }

// aead makes a row of an AEAD and what it does to a buffer, with a nonce from the IV.
func aead(newAEAD func(b cipher.Block) (cipher.AEAD, error), do func(a cipher.AEAD, nonce []byte) func(buf []byte)) func(b cipher.Block, iv []byte) func([]byte) {
	return func(b cipher.Block, iv []byte) func([]byte) {
		a, err := newAEAD(b)
		if err != nil {
			panic(err) // a row for a cipher that cannot do it
		}
		return do(a, iv[:a.NonceSize()])
	}
}

// seal encrypts in place; there is room for the tag behind every buffer.
func seal(a cipher.AEAD, nonce []byte) func(buf []byte) {
	return func(buf []byte) { a.Seal(buf[:0], nonce, buf, nil) }
}

// open decrypts to the buffer what it has held the first time that there was one of its length: a ciphertext must be right,
// or it is not decrypted.
func open(a cipher.AEAD, nonce []byte) func(buf []byte) {
	sealed := make(map[int][]byte)
	return func(buf []byte) {
		s, ok := sealed[len(buf)]
		if !ok {
			s = a.Seal(nil, nonce, buf, nil)
			sealed[len(buf)] = s
		}
		if _, err := a.Open(buf[:0], nonce, s, nil); err != nil {
			panic(err)
		}
	}
}

// authenticate has the buffer be additional data.
func authenticate(a cipher.AEAD, nonce []byte) func(buf []byte) {
	tag := make([]byte, 0, a.Overhead())
	return func(buf []byte) { a.Seal(tag, nonce, nil, buf) }
}

// A cipherJob is one cipher on one choice of kernels.
type cipherJob struct {
	algorithm *cipherAlgorithm
	primitive *kernel.Primitive
	choice
}

// runCipher looks at all of its words before it measures anything.
func runCipher(s *session, words []string) error {
	algorithms, err := findCiphers(words)
	if err != nil {
		return err
	}
	jobs, err := s.cipherJobs(algorithms)
	if err != nil {
		return err
	}
	r := s.reporter("cipher", "Cipher")
	e, err := s.engine()
	if err != nil {
		return err
	}
	r.section()
	for _, j := range jobs {
		if err := s.benchCipher(r, e, j); err != nil {
			return err
		}
	}
	return nil
}

// cipherJobs makes a job of each choice of kernels.
func (s *session) cipherJobs(algorithms []*cipherAlgorithm) (jobs []cipherJob, err error) {
	for _, a := range algorithms {
		p := kernel.Lookup(a.name)
		choices, err := choose(p, s.features, s.constantTime, s.kernel)
		if err != nil {
			return nil, err
		}
		for _, c := range choices {
			jobs = append(jobs, cipherJob{a, p, c})
		}
	}
	return jobs, nil
}

func (s *session) engine() (*engine, error) {
	if s.count {
		return newCounter()
	}
	return newEngine(s.repetitions, s.mhz), nil
}

func findCiphers(words []string) ([]*cipherAlgorithm, error) {
	var found []*cipherAlgorithm
	for _, w := range words {
		i := slices.IndexFunc(cipherTable, func(a cipherAlgorithm) bool { return strings.EqualFold(a.name, w) })
		if i < 0 {
			return nil, usagef("unknown cipher %q; the ciphers are %s", w, cipherNames())
		}
		found = append(found, &cipherTable[i])
	}
	if len(words) == 0 {
		for i := range cipherTable {
			found = append(found, &cipherTable[i])
		}
	}
	return found, nil
}

// block makes a job's cipher.
func (s *session) block(j cipherJob) (cipher.Block, error) {
	key := make([]byte, s.keyBits/8)
	fill(key)
	return j.algorithm.open(j.primitive.New(s.features, s.constantTime, j.forced), key)
}

func (s *session) benchCipher(r reporter, e *engine, j cipherJob) error {
	block, err := s.block(j)
	if err != nil {
		return err
	}
	iv := make([]byte, block.BlockSize())
	fill(iv)
	e.step = countStep(j.primitive, j.names[0], block.BlockSize())
	size := max(maxSize, 2*e.step)
	buf := newBuffer(size+maxTag, s.unaligned)[:size]

	label := j.algorithm.label(s.keyBits)
	s.notef("%s: kernels %s", label, strings.Join(j.names, " "))
	r.begin(label, j.choice)
	for _, row := range cipherRows {
		name := row.mode + " " + row.operation
		if s.count && !row.counted {
			continue // what is around the kernels is the same on every processor
		}
		if s.count && name == "CBC enc" && batchOf(j.primitive, j.forced) > 1 {
			continue // each block pays for a whole batch: long to count, and nothing to compare
		}
		crypt := row.setup(block, iv)
		e.tell = func(done, of int) { s.progress.show(label+" "+name, done, of) }
		f := e.figure(func(n int) { crypt(buf[:n]) })
		s.progress.clear()
		r.row(name, f)
		s.notef("%s %s: %s", label, name, f.background())
	}
	r.end()
	return nil
}

// notef writes a line that only --verbose asks for.
func (s *session) notef(format string, args ...any) {
	if s.verbose {
		fmt.Fprintf(s.stderr, format+"\n", args...)
	}
}

// A choice is the kernels that one group of figures runs on: one that is forced, or those that the features select.
type choice struct {
	names  []string
	forced string // "" where the features select
	asked  bool   // by --kernel
}

// title names the kernels.
func (c choice) title() string { return strings.Join(c.names, "+") }

// choose reads the value of --kernel for a primitive.
func choose(p *kernel.Primitive, features hwfeatures.Set, constantTime bool, want string) ([]choice, error) {
	if want == "" {
		return []choice{{names: p.Selected(features, constantTime)}}, nil
	}
	var choices []choice
	var usable, all []string
	var missing hwfeatures.Set
	for _, k := range p.Kernels {
		if constantTime && !k.ConstantTime {
			if want == k.Name {
				return nil, usagef("%s kernel %q is not constant-time", p.Name, want)
			}
			continue
		}
		all = append(all, k.Name)
		switch lacks := k.Requires &^ features; {
		case lacks == 0:
			usable = append(usable, k.Name)
			if want == "all" || want == k.Name {
				choices = append(choices, choice{[]string{k.Name}, k.Name, true})
			}
		case want == k.Name:
			missing = lacks
		}
	}
	switch {
	case len(choices) > 0:
		return choices, nil
	case missing != 0:
		return nil, usagef("%s kernel %q lacks %s here; those that can run are %s, or all",
			p.Name, want, commas(missing), strings.Join(usable, ", "))
	default:
		return nil, usagef("unknown %s kernel %q; the kernels are %s, or all", p.Name, want, strings.Join(all, ", "))
	}
}
