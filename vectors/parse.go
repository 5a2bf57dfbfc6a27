package vectors

import (
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// Parse reads known answers in the format of the package documentation. Errors and [Case.Where] start with name and
// the line's number.
func Parse(name string, text []byte) (*Set, error) {
	blocks, err := parseBlocks(name, text)
	if err != nil {
		return nil, err
	}
	p := &parser{file: name}
	for _, b := range blocks {
		if b.has("provenance") {
			p.heading = b
			continue
		}
		p.entry(b)
		if p.err != nil {
			return nil, p.err
		}
	}
	return &p.set, nil
}

// A field is one line, with its continuations.
type field struct {
	name, value string
	line        int
}

type block []field

func (b block) find(name string) *field {
	for i := range b {
		if b[i].name == name {
			return &b[i]
		}
	}
	return nil
}

func (b block) has(name string) bool { return b.find(name) != nil }

// parseBlocks is the format without its meaning.
func parseBlocks(file string, text []byte) ([]block, error) {
	var blocks []block
	var b block
	for i, line := range strings.Split(string(text)+"\n", "\n") {
		fail := func(format string, args ...any) ([]block, error) {
			return nil, lineError(file, i+1, format, args...)
		}
		line = strings.TrimSuffix(line, "\r")
		value := strings.TrimSpace(line)
		switch {
		case value == "":
			if b != nil {
				blocks, b = append(blocks, b), nil
			}
		case line[0] == '#':
		case line[0] == ' ' || line[0] == '\t':
			if b == nil {
				return fail("nothing to continue: this line starts with a space")
			}
			f := &b[len(b)-1]
			f.value = strings.TrimSpace(f.value + " " + value)
		default:
			name, value, ok := strings.Cut(line, "=")
			name = strings.TrimSpace(name)
			switch {
			case !ok:
				return fail("no = in %q", abbreviate(line))
			case name == "" || strings.Trim(name, "abcdefghijklmnopqrstuvwxyz0123456789-") != "":
				return fail("%q is not a name", abbreviate(name))
			case b.has(name):
				return fail("%s is there twice, before in line %d", name, b.find(name).line)
			}
			b = append(b, field{name, strings.TrimSpace(value), i + 1})
		}
	}
	return blocks, nil
}

func lineError(file string, line int, format string, args ...any) error {
	return fmt.Errorf("%s:%d: %w", file, line, fmt.Errorf(format, args...))
}

func abbreviate(s string) string {
	const most = 40
	if len(s) > most {
		return s[:most] + "…"
	}
	return s
}

// maxGenerated is how many bytes the rules of one file may make, so that a wrong number is an error and not an
// exhausted memory.
const maxGenerated = 16 << 20

const blockSize = 16

// A parser turns blocks into entries. It keeps the first error; after that its methods return empty values.
type parser struct {
	file      string
	heading   block
	b         block           // the entry
	used      map[string]bool // its names that were asked for
	generated int
	set       Set
	err       error
}

func (p *parser) fail(line int, format string, args ...any) {
	if p.err == nil {
		p.err = lineError(p.file, line, format, args...)
	}
}

func (p *parser) entry(b block) {
	p.b, p.used = b, map[string]bool{"kind": true}
	if p.heading == nil {
		p.fail(b[0].line, "no heading with a provenance above this entry")
		return
	}
	kind := p.lookup("kind")
	switch {
	case kind == nil:
		p.fail(b[0].line, "no kind")
	case kind.value == "table":
		p.table()
	case kind.value == "intermediate":
		p.intermediate()
	default:
		if _, ok := rules[Mode(kind.value)]; !ok {
			p.fail(kind.line, "unknown kind %q", abbreviate(kind.value))
			break
		}
		p.message(Mode(kind.value))
	}
	for _, b := range []block{p.b, p.heading} {
		for _, f := range b {
			if !p.used[f.name] && f.name != "provenance" {
				p.fail(f.line, "%s does not belong here", f.name)
			}
		}
	}
}

// lookup returns the entry's value of that name, or the heading's, or nil.
func (p *parser) lookup(name string) *field {
	p.used[name] = true
	if f := p.b.find(name); f != nil {
		return f
	}
	return p.heading.find(name)
}

// need is lookup where the name must be there.
func (p *parser) need(name string) *field {
	f := p.lookup(name)
	if f == nil {
		p.fail(p.b[0].line, "this entry has no %s", name)
		f = &field{line: p.b[0].line}
	}
	return f
}

func (p *parser) where() string      { return fmt.Sprintf("%s:%d", p.file, p.b[0].line) }
func (p *parser) provenance() string { return p.heading.find("provenance").value }

// A rule says what an entry of a mode consists of. Sizes are in bytes.
type rule struct {
	iv     [2]int // the least and the most
	keys   int    // of a cipher, one after the other
	unit   int    // the plaintext is multiples of it
	least  int    // plaintext
	sealed bool   // there may be additional data
	tag    [2]int // the least and the most
	noText bool   // there is no ciphertext
}

var oneBlock = [2]int{blockSize, blockSize}

var rules = map[Mode]rule{
	ECB:  {keys: 1, unit: blockSize, least: blockSize},
	CBC:  {keys: 1, unit: blockSize, least: blockSize, iv: oneBlock},
	CTR:  {keys: 1, unit: 1, least: 1, iv: oneBlock},
	CFB:  {keys: 1, unit: 1, least: 1, iv: oneBlock},
	OFB:  {keys: 1, unit: 1, least: 1, iv: oneBlock},
	XTS:  {keys: 2, unit: 1, least: blockSize, iv: oneBlock},
	CMAC: {keys: 1, unit: 1, tag: oneBlock, noText: true},
	EAX:  {keys: 1, unit: 1, iv: [2]int{1, 1 << 16}, tag: [2]int{12, blockSize}, sealed: true},
	GCM:  {keys: 1, unit: 1, iv: [2]int{1, 1 << 16}, tag: [2]int{12, blockSize}, sealed: true},
	OCB:  {keys: 1, unit: 1, iv: [2]int{1, blockSize - 1}, tag: [2]int{8, blockSize}, sealed: true},
}

func (p *parser) message(mode Mode) {
	r := rules[mode]
	c := Case{
		Where:      p.where(),
		Provenance: p.provenance(),
		Mode:       mode,
		Repeat:     1,
	}
	if r.keys == 1 {
		c.Key = p.key("key")
	} else {
		c.Key = p.bytes("key")
	}
	c.Plaintext = p.bytes("plaintext")
	if !r.noText {
		c.Ciphertext = p.bytes("ciphertext")
	}
	switch r.iv {
	case [2]int{}:
	case oneBlock:
		c.IV = p.block("iv")
	default:
		c.IV = p.bytes("iv")
	}
	if r.sealed {
		c.Additional = p.bytes("ad")
	}
	if r.tag[1] > 0 {
		c.Tag = p.bytes("tag")
	}
	if f := p.lookup("ciphertext-sha256"); f != nil {
		if c.SHA256 = p.bytes(f.name); len(c.SHA256) != 32 {
			p.fail(f.line, "%s has %d bytes, want 32", f.name, len(c.SHA256))
		}
	}
	if f := p.lookup("direction"); f != nil {
		c.Decrypt = f.value == "decrypt"
		if !c.Decrypt && f.value != "encrypt" {
			p.fail(f.line, "direction is %q, want encrypt or decrypt", abbreviate(f.value))
		}
	}
	if f := p.lookup("repeat"); f != nil {
		n, err := strconv.ParseUint(f.value, 10, 16)
		if err != nil || n == 0 {
			p.fail(f.line, "repeat is %q, want a number from 1 to 65535", abbreviate(f.value))
		}
		c.Repeat = int(n)
	}
	if err := c.validate(); err != nil {
		p.fail(p.b[0].line, "%w", err)
	}
	p.set.Cases = append(p.set.Cases, c)
}

// validate checks what tests rely on, whatever the format.
func (c *Case) validate() error {
	r, n := rules[c.Mode], len(c.Plaintext)
	within := func(n int, limits [2]int) bool { return n >= limits[0] && n <= limits[1] }
	switch {
	case len(c.Key) != 16*r.keys && len(c.Key) != 24*r.keys && len(c.Key) != 32*r.keys:
		return fmt.Errorf("the key has %d bytes", len(c.Key))
	case !within(len(c.IV), r.iv):
		return fmt.Errorf("the IV has %d bytes", len(c.IV))
	case !within(len(c.Tag), r.tag):
		return fmt.Errorf("the tag has %d bytes", len(c.Tag))
	case n == 0 && r.least > 0:
		return errors.New("the plaintext is empty")
	case n%r.unit != 0:
		return fmt.Errorf("the plaintext has %d bytes, not whole blocks", n)
	case n < r.least:
		return fmt.Errorf("the plaintext has %d bytes, less than a block", n)
	case c.SHA256 == nil && len(c.Ciphertext) != n && !r.noText,
		len(c.Ciphertext) > n, r.unit > 1 && len(c.Ciphertext) < blockSize:
		return fmt.Errorf("the plaintext has %d bytes and the ciphertext %d", n, len(c.Ciphertext))
	case c.Repeat > 1 && (n != blockSize || r.unit == 1 || c.SHA256 != nil):
		return errors.New("only one block, in ECB or CBC, can be repeated")
	}
	return nil
}

// table makes a Case of each ciphertext.
func (p *parser) table() {
	bits, f := p.need("key-bits"), p.need("ciphertexts")
	switch bits.value {
	case "128", "192", "256":
	default:
		p.fail(bits.line, "key-bits is %q, want 128, 192 or 256", abbreviate(bits.value))
		return
	}
	n, _ := strconv.Atoi(bits.value)
	key, plaintext := make([]byte, n/8), make([]byte, blockSize)
	all := p.bytes(f.name)
	if len(all) == 0 || len(all)%blockSize != 0 {
		p.fail(f.line, "%s has %d bytes, want whole blocks", f.name, len(all))
		return
	}
	for i := 1; len(all) > 0; i++ {
		ciphertext := all[:blockSize:blockSize]
		p.set.Cases = append(p.set.Cases, Case{
			Where:      fmt.Sprintf("%s, case %d", p.where(), i),
			Provenance: p.provenance(),
			Mode:       ECB,
			Repeat:     1,
			Key:        key,
			Plaintext:  plaintext,
			Ciphertext: ciphertext,
		})
		key = append(append([]byte(nil), plaintext...), key...)[:n/8]
		plaintext, all = ciphertext, all[blockSize:]
	}
}

func (p *parser) intermediate() {
	v := Intermediate{
		Where:      p.where(),
		Provenance: p.provenance(),
		Key:        p.key("key"),
		Plaintext:  p.block("plaintext"),
		Ciphertext: p.block("ciphertext"),
	}
	v.SBoxKeys = p.words("s-box-keys", len(v.Key)/8)
	copy(v.Subkeys[:], p.words("subkeys", len(v.Subkeys)))
	for i, w := range p.words("states", 4*len(v.States)) {
		v.States[i/4][i%4] = w
	}
	for i, w := range p.words("g", 2*len(v.G)) {
		v.G[i/2][i%2] = w
	}
	p.set.Intermediates = append(p.set.Intermediates, v)
}

// bytes returns the value of a name that must be there: hexadecimal digits or a rule.
func (p *parser) bytes(name string) []byte {
	f := p.need(name)
	words := strings.Fields(f.value)
	if len(words) > 0 {
		var seed, n uint64
		var err error
		switch rule := words[0]; {
		case rule == "zeros" && len(words) == 2:
			n, err = strconv.ParseUint(words[1], 10, 32)
		case rule == "splitmix64" && len(words) == 3:
			seed, err = strconv.ParseUint(words[1], 10, 64)
			if err == nil {
				n, err = strconv.ParseUint(words[2], 10, 32)
			}
		case rule == "zeros" || rule == "splitmix64":
			err = errors.New("wrong number of arguments")
		default:
			b, err := hex.DecodeString(strings.Join(words, ""))
			if err != nil {
				p.fail(f.line, "%s: %w", name, err)
			}
			return b
		}
		if err == nil && n > uint64(maxGenerated-p.generated) {
			err = fmt.Errorf("more than %d bytes in this file", maxGenerated)
		}
		if err != nil {
			p.fail(f.line, "%s: %s: %w", name, words[0], err)
			return nil
		}
		p.generated += int(n)
		b := make([]byte, n)
		if words[0] == "splitmix64" {
			SplitMix64(b, seed)
		}
		return b
	}
	return nil
}

func (p *parser) key(name string) []byte {
	key := p.bytes(name)
	switch len(key) {
	case 16, 24, 32:
	default:
		p.fail(p.need(name).line, "%s has %d bytes, want 16, 24 or 32", name, len(key))
	}
	return key
}

func (p *parser) block(name string) []byte {
	b := p.bytes(name)
	if len(b) != blockSize {
		p.fail(p.need(name).line, "%s has %d bytes, want %d", name, len(b), blockSize)
	}
	return b
}

func (p *parser) words(name string, want int) []uint32 {
	f := p.need(name)
	var words []uint32
	for _, s := range strings.Fields(f.value) {
		w, err := word(s)
		if err != nil {
			p.fail(f.line, "%s: %w", name, err)
			return nil
		}
		words = append(words, w)
	}
	if len(words) != want {
		p.fail(f.line, "%s has %d words, want %d", name, len(words), want)
		return nil
	}
	return words
}

// word parses eight hexadecimal digits.
func word(s string) (uint32, error) {
	w, err := strconv.ParseUint(s, 16, 32)
	if err != nil || len(s) != 8 {
		return 0, fmt.Errorf("%q is not a word of eight hexadecimal digits", abbreviate(s))
	}
	return uint32(w), nil
}
