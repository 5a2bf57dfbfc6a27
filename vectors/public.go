package vectors

import (
	"crypto/sha1"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// The formats of public known-answer files.

// monteCarlo is how many operations lie between the answers of the AES competition's Monte Carlo tests.
const monteCarlo = 10000

// A lineReader goes through a file line by line.
type lineReader struct {
	file string
	rest string
	more bool
	line string // without spaces around it
	n    int
}

func newLineReader(file string, text []byte) *lineReader {
	return &lineReader{file: file, rest: string(text), more: true}
}

func (r *lineReader) next() bool {
	if !r.more {
		return false
	}
	r.line, r.rest, r.more = strings.Cut(r.rest, "\n")
	r.line = strings.TrimSpace(r.line)
	r.n++
	return true
}

func (r *lineReader) errorf(format string, args ...any) error {
	return lineError(r.file, r.n, format, args...)
}

func (r *lineReader) where() string { return fmt.Sprintf("%s:%d", r.file, r.n) }

// hex decodes the value of a line.
func (r *lineReader) hex(s string) ([]byte, error) {
	b, err := hex.DecodeString(s)
	if err != nil {
		return nil, r.errorf("%w", err)
	}
	return b, nil
}

// official returns the parser for the layout of the AES competition:
//
//	KEYSIZE=128
//	I=1
//	KEY=…
//	IV=…
//	PT=…
//	CT=…
//
// with sections for several sizes of key. What stands before the first I of a section holds for all of it. The answer
// is the last line, so a case whose last line is PT decrypts.
func official(repeat int) func(file string, text []byte) (*Set, error) {
	return func(file string, text []byte) (*Set, error) {
		p := officialParser{lineReader: newLineReader(file, text), repeat: repeat}
		for p.next() {
			if err := p.parse(); err != nil {
				return nil, err
			}
		}
		if err := p.finish(); err != nil {
			return nil, err
		}
		return &p.set, nil
	}
}

type officialParser struct {
	*lineReader
	repeat  int
	bits    int  // KEYSIZE, 0 before the first section
	section Case // what stands before its first case
	c       Case
	i       int // the number of c, or -1 before the section's first case
	open    bool
	set     Set
}

// parse reads a line.
func (p *officialParser) parse() error {
	name, value, ok := strings.Cut(p.line, "=")
	switch {
	case p.bits == 0 && name != "KEYSIZE", strings.Trim(p.line, "=") == "":
		return nil // the beginning of the file, and separators
	case !ok:
		return p.errorf("no = in %q", abbreviate(p.line))
	case name == "KEYSIZE":
		if err := p.finish(); err != nil {
			return err
		}
		switch value {
		case "128", "192", "256":
		default:
			return p.errorf("KEYSIZE is %q", abbreviate(value))
		}
		p.bits, _ = strconv.Atoi(value)
		p.c, p.i = Case{Provenance: p.file, Repeat: p.repeat}, -1
		return nil
	case name == "I":
		if err := p.finish(); err != nil {
			return err
		}
		n, err := strconv.Atoi(value)
		if err != nil || n < 0 || p.i >= 0 && n != p.i+1 {
			return p.errorf("I is %q after %d", abbreviate(value), p.i)
		}
		if p.i < 0 {
			p.section = p.c
		}
		p.c, p.i, p.open = p.section, n, true
		p.c.Where = p.where()
		return nil
	}
	b, err := p.hex(value)
	switch name {
	case "KEY":
		p.c.Key = b
	case "IV":
		p.c.IV = b
	case "PT":
		p.c.Plaintext, p.c.Decrypt = b, true
	case "CT":
		p.c.Ciphertext, p.c.Decrypt = b, false
	default:
		err = p.errorf("%q is not a name", abbreviate(name))
	}
	return err
}

// finish ends the open case, if there is one.
func (p *officialParser) finish() error {
	if !p.open {
		return nil
	}
	p.open = false
	if p.c.Mode = ECB; p.c.IV != nil {
		p.c.Mode = CBC
	}
	if len(p.c.Key)*8 != p.bits {
		return p.errorf("the case before this line has a key of %d bytes, and KEYSIZE is %d", len(p.c.Key), p.bits)
	}
	if err := p.c.validate(); err != nil {
		return p.errorf("in the case before this line, %w", err)
	}
	p.set.Cases = append(p.set.Cases, p.c)
	return nil
}

// parseIntermediates parses the AES competition's intermediate values of Twofish: for each size of key a listing of the
// key schedule, one encryption, and the decryption that undoes it.
func parseIntermediates(file string, text []byte) (*Set, error) {
	r := newLineReader(file, text)
	var set Set
	var v *Intermediate
	var subkeys, states, g []uint32
	var decrypting, ended bool
	finish := func() error {
		if v == nil {
			return nil
		}
		if !decrypting || !ended || len(v.SBoxKeys)*8 != len(v.Key) || len(subkeys) != len(v.Subkeys) ||
			len(states) != 4*len(v.States) || len(g) != 2*len(v.G) {
			return r.errorf("the encryption before this line is not complete")
		}
		copy(v.Subkeys[:], subkeys)
		for i, w := range states {
			v.States[i/4][i%4] = w
		}
		for i, w := range g {
			v.G[i/2][i%2] = w
		}
		set.Intermediates = append(set.Intermediates, *v)
		v = nil
		return nil
	}
	for r.next() {
		if strings.HasPrefix(r.line, `\`) {
			break // the paper goes on
		}
		name, value, _ := strings.Cut(r.line, "=")
		if v == nil && name != "KEYSIZE" {
			continue
		}
		var err error
		switch {
		case name == "KEYSIZE":
			err = finish()
			v = &Intermediate{Where: r.where(), Provenance: file}
			subkeys, states, g, decrypting, ended = nil, nil, nil, false, false
		case name == "KEY":
			v.Key, err = r.hex(value)
		case name == "PT" && !decrypting:
			v.Plaintext, err = r.hex(value)
		case name == "CT" && !decrypting:
			v.Ciphertext, err = r.hex(value)
		case name == "CT":
			if value != strings.ToUpper(hex.EncodeToString(v.Ciphertext)) {
				err = r.errorf("decryption starts from another ciphertext")
			}
		case name == "PT":
			ended = true
			if value != strings.ToUpper(hex.EncodeToString(v.Plaintext)) {
				err = r.errorf("decryption ends with another plaintext")
			}
		case name == "Decrypt()":
			decrypting = true
		case strings.HasPrefix(r.line, ";"):
			err = r.schedule(v, &subkeys)
		case strings.HasPrefix(r.line, "R["):
			err = r.state(decrypting, &states, &g)
		}
		if err != nil {
			return nil, err
		}
	}
	if err := finish(); err != nil {
		return nil, err
	}
	return &set, nil
}

// schedule reads a line of the key schedule:
//
//	;   EFCDAB89 67452301  -->  B89FF6F2
//	;   52C54DDE 11F0626D   Input whiten
func (r *lineReader) schedule(v *Intermediate, subkeys *[]uint32) error {
	fields := strings.Fields(r.line[1:])
	if len(fields) < 2 {
		return nil
	}
	a, errA := word(fields[0])
	b, errB := word(fields[1])
	if errA != nil || errB != nil {
		return nil // a caption
	}
	if len(fields) == 4 && fields[2] == "-->" {
		w, err := word(fields[3])
		if err != nil {
			return r.errorf("%w", err)
		}
		v.SBoxKeys = append(v.SBoxKeys, w)
		return nil
	}
	*subkeys = append(*subkeys, a, b)
	return nil
}

// state reads a line of the rounds:
//
//	R[ 1]: x= 52C54DDE  11F0626D  C38DCAA4  7A0A91B6.    t0=C06D4949. t1=41B9BFC1.
//
// State -1, before the input whitening, is the plaintext. Decryption goes through the same states from the last to the
// first.
func (r *lineReader) state(decrypting bool, states, g *[]uint32) error {
	index, values, ok := strings.Cut(strings.TrimPrefix(r.line, "R["), "]: x=")
	n, err := strconv.Atoi(strings.TrimSpace(index))
	if !ok || err != nil || n < -1 || n > 17 {
		return r.errorf("not a state")
	}
	if n == -1 {
		return nil
	}
	var words []uint32
	for _, s := range strings.Fields(values) {
		s = strings.TrimPrefix(strings.TrimPrefix(strings.TrimSuffix(s, "."), "t0="), "t1=")
		w, err := word(s)
		if err != nil {
			return r.errorf("%w", err)
		}
		words = append(words, w)
	}
	wantG := n >= 1 && n <= 16
	if len(words) != 4 && !wantG || len(words) != 6 && wantG {
		return r.errorf("%d words in state %d", len(words), n)
	}
	x, t := words[:4], words[4:]
	if !decrypting {
		if len(*states) != 4*n {
			return r.errorf("state %d is out of order", n)
		}
		*states = append(*states, x...)
		*g = append(*g, t...)
		return nil
	}
	if len(*states) != 4*18 || !slices.Equal((*states)[4*n:4*n+4], x) || wantG && !slices.Equal((*g)[2*n-2:2*n], t) {
		return r.errorf("state %d is another than in encryption", n)
	}
	return nil
}

// parseBotan parses the layout of Botan's tests: lines Key = …, In = … and Out = … under a line [Twofish], with Nonce = …
// after the key under a line [Twofish/XTS].
func parseBotan(file string, text []byte) (*Set, error) {
	r := newLineReader(file, text)
	var set Set
	var c Case
	var mode Mode
	for r.next() {
		if r.line == "" || r.line[0] == '#' {
			continue
		}
		if r.line[0] == '[' {
			mode = map[string]Mode{"[Twofish]": ECB, "[Twofish/XTS]": XTS}[r.line]
			if mode == "" {
				return nil, r.errorf("the algorithm is %q, want [Twofish] or [Twofish/XTS]", abbreviate(r.line))
			}
			continue
		}
		if mode == "" {
			return nil, r.errorf("no algorithm above %q", abbreviate(r.line))
		}
		name, value, _ := strings.Cut(r.line, "=")
		b, err := r.hex(strings.TrimSpace(value))
		if err != nil {
			return nil, err
		}
		switch name = strings.TrimSpace(name); name {
		case "Key":
			c = Case{Where: r.where(), Provenance: file, Mode: mode, Repeat: 1, Key: b}
		case "Nonce":
			c.IV = b
		case "In":
			c.Plaintext = b
		case "Out":
			c.Ciphertext = b
			if err := c.validate(); err != nil {
				return nil, r.errorf("%w", err)
			}
			set.Cases = append(set.Cases, c)
			c.Plaintext = nil
		default:
			return nil, r.errorf("%q is not a name", abbreviate(name))
		}
	}
	return &set, nil
}

// parseCryptoPP parses the layout of Crypto++'s tests: key, plaintext and ciphertext in a line.
func parseCryptoPP(file string, text []byte) (*Set, error) {
	r := newLineReader(file, text)
	var set Set
	for r.next() {
		if r.line == "" {
			continue
		}
		fields := strings.Fields(r.line)
		if len(fields) != 3 {
			return nil, r.errorf("%d fields, want 3", len(fields))
		}
		var values [3][]byte
		for i, f := range fields {
			var err error
			if values[i], err = r.hex(f); err != nil {
				return nil, err
			}
		}
		c := Case{
			Where: r.where(), Provenance: file, Mode: ECB, Repeat: 1,
			Key: values[0], Plaintext: values[1], Ciphertext: values[2],
		}
		if err := c.validate(); err != nil {
			return nil, r.errorf("%w", err)
		}
		set.Cases = append(set.Cases, c)
	}
	return &set, nil
}

// parseLargeOCB parses a size of key and a tag from lines keylen = … and tag = …. The rest is the same for all: the key
// counts from 0; the nonce is 08 09 … 0F 00 01 02 03; plaintext and additional data are 2 MiB and two blocks, block i the
// beginning of the SHA-1 of 16i as a little-endian number of 32 bits. The ciphertext is not given, so none is in the case.
func parseLargeOCB(file string, text []byte) (*Set, error) {
	const blocks = 1<<17 + 2
	message := make([]byte, 0, blocks*blockSize)
	for i := range uint32(blocks) {
		sum := sha1.Sum(binary.LittleEndian.AppendUint32(nil, i*blockSize))
		message = append(message, sum[:blockSize]...)
	}
	r := newLineReader(file, text)
	var set Set
	var key []byte
	for r.next() {
		if r.line == "" || r.line[0] == '#' {
			continue
		}
		name, value, _ := strings.Cut(r.line, " = ")
		switch name {
		case "keylen":
			n, err := strconv.Atoi(value)
			if err != nil || n != 16 && n != 24 && n != 32 {
				return nil, r.errorf("keylen is %q", abbreviate(value))
			}
			key = make([]byte, n)
			for i := range key {
				key[i] = byte(i)
			}
		case "tag":
			tag, err := r.hex(value)
			if err != nil {
				return nil, err
			}
			if key == nil || len(tag) != blockSize {
				return nil, r.errorf("a tag of %d bytes behind a key of %d", len(tag), len(key))
			}
			set.Cases = append(set.Cases, Case{
				Where: r.where(), Provenance: file, Mode: OCB, Repeat: 1,
				Key: key, IV: []byte{8, 9, 10, 11, 12, 13, 14, 15, 0, 1, 2, 3},
				Additional: message, Plaintext: message, Tag: tag,
			})
		default:
			return nil, r.errorf("%q is not a name", abbreviate(name))
		}
	}
	return &set, nil
}

// parseCTR parses blocks of key, iv, len, ks and sha256: the key stream's length, its beginning and its digest.
func parseCTR(file string, text []byte) (*Set, error) {
	blocks, err := parseBlocks(file, text)
	if err != nil {
		return nil, err
	}
	var set Set
	var zeros []byte
	for _, b := range blocks {
		p := parser{file: file, b: b, used: make(map[string]bool)}
		c := Case{
			Where: p.where(), Provenance: file, Mode: CTR, Repeat: 1,
			Key: p.key("key"), IV: p.block("iv"), Ciphertext: p.bytes("ks"), SHA256: p.bytes("sha256"),
		}
		f := p.need("len")
		n, err := strconv.ParseUint(f.value, 10, 64)
		if err != nil || n > maxGenerated {
			p.fail(f.line, "len is %q, want a number up to %d", abbreviate(f.value), maxGenerated)
			n = 0
		}
		if n > uint64(len(zeros)) {
			zeros = make([]byte, n)
		}
		c.Plaintext = zeros[:n:n]
		if err := c.validate(); err != nil {
			p.fail(b[0].line, "%w", err)
		}
		if len(c.SHA256) != 32 {
			p.fail(b[0].line, "sha256 has %d bytes", len(c.SHA256))
		}
		if p.err != nil {
			return nil, p.err
		}
		set.Cases = append(set.Cases, c)
	}
	return &set, nil
}
