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

// A cipherRow is one line of figures. Its setup binds a block to the function that processes a buffer in place.
type cipherRow struct {
	mode, operation string
	setup           func(b cipher.Block, iv []byte) func(buf []byte)
}

var cipherRows = []cipherRow{
	{"ECB", "enc", func(b cipher.Block, _ []byte) func([]byte) { return inPlace(modes.NewECBEncrypter(b).CryptBlocks) }},
	{"ECB", "dec", func(b cipher.Block, _ []byte) func([]byte) { return inPlace(modes.NewECBDecrypter(b).CryptBlocks) }},
	{"CBC", "enc", func(b cipher.Block, iv []byte) func([]byte) {
		return inPlace(modes.NewCBCEncrypter(b, iv).CryptBlocks)
	}},
	{"CBC", "dec", func(b cipher.Block, iv []byte) func([]byte) {
		return inPlace(modes.NewCBCDecrypter(b, iv).CryptBlocks)
	}},
	{"CTR", "enc", counterMode},
	{"CTR", "dec", counterMode},
}

func counterMode(b cipher.Block, iv []byte) func([]byte) {
	return inPlace(modes.NewCTR(b, iv).XORKeyStream)
}

func inPlace(crypt func(dst, src []byte)) func([]byte) {
	return func(buf []byte) { crypt(buf, buf) }
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
	var jobs []cipherJob
	for _, a := range algorithms {
		p := kernel.Lookup(a.name)
		choices, err := choose(p, s.features, s.constantTime, s.kernel)
		if err != nil {
			return err
		}
		for _, c := range choices {
			jobs = append(jobs, cipherJob{a, p, c})
		}
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

func (s *session) benchCipher(r reporter, e *engine, j cipherJob) error {
	key := make([]byte, s.keyBits/8)
	fill(key)
	block, err := j.algorithm.open(j.primitive.New(s.features, s.constantTime, j.forced), key)
	if err != nil {
		return err
	}
	iv := make([]byte, block.BlockSize())
	fill(iv)
	e.step = countStep(j.primitive, j.names[0], block.BlockSize())
	buf := newBuffer(max(maxSize, 2*e.step), s.unaligned)

	label := j.algorithm.label(s.keyBits)
	s.notef("%s: kernels %s", label, strings.Join(j.names, " "))
	r.begin(label, j.choice)
	for _, row := range cipherRows {
		name := row.mode + " " + row.operation
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
