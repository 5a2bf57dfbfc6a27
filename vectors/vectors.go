package vectors

import (
	"bytes"
	"crypto/sha256"
	_ "embed"
	"fmt"
	"slices"
	"sync"
)

// A Mode is what is done with the block cipher.
type Mode string

const (
	ECB  Mode = "ecb"
	CBC  Mode = "cbc"
	CTR  Mode = "ctr"
	CFB  Mode = "cfb"
	OFB  Mode = "ofb"
	XTS  Mode = "xts"
	CMAC Mode = "cmac"
	EAX  Mode = "eax"
	GCM  Mode = "gcm"
	OCB  Mode = "ocb"
)

// A Case is one known answer. Whoever asks for it gets the same byte slices, which must not be changed.
//
// Where Repeat is more than 1, the case is one of the Monte Carlo tests of the AES competition: the input, which is
// Plaintext or, with Decrypt, Ciphertext, is one block; the other of the two is the last output. In ECB each output is
// the next input. In CBC decryption too, with the IV chained as in any message. In CBC encryption the second input is
// the IV, and from the third on it is the output before the last.
type Case struct {
	Where      string // file and line
	Provenance string
	Mode       Mode
	Decrypt    bool   // the direction in which the answer was published
	Repeat     int    // at least 1
	Key        []byte // in XTS the data's and the tweaks', one after the other
	IV         []byte // in XTS the tweak, in EAX, GCM and OCB the nonce
	Additional []byte // authenticated data, in EAX, GCM and OCB
	Plaintext  []byte
	Ciphertext []byte
	SHA256     []byte // if not nil, the digest of the ciphertext, of which Ciphertext is only the beginning
	Tag        []byte // in CMAC, EAX, GCM and OCB
}

// Input returns Plaintext or Ciphertext, whichever the published direction starts from.
func (c *Case) Input() []byte {
	if c.Decrypt {
		return c.Ciphertext
	}
	return c.Plaintext
}

// Output returns the other of the two.
func (c *Case) Output() []byte {
	if c.Decrypt {
		return c.Plaintext
	}
	return c.Ciphertext
}

// CheckCiphertext returns an error that says where got is not the ciphertext, or nil.
func (c *Case) CheckCiphertext(got []byte) error {
	if c.SHA256 == nil {
		return c.check("ciphertext", got, c.Ciphertext)
	}
	if len(got) != len(c.Plaintext) {
		return c.check("ciphertext", got, c.Plaintext) // for its length
	}
	if err := c.check("ciphertext's beginning", got[:len(c.Ciphertext)], c.Ciphertext); err != nil {
		return err
	}
	if sum := sha256.Sum256(got); !bytes.Equal(sum[:], c.SHA256) {
		return fmt.Errorf("%s: SHA-256 of the ciphertext is %x, want %x", c.Where, sum, c.SHA256)
	}
	return nil
}

// CheckTag returns an error that says where got is not the tag, or nil.
func (c *Case) CheckTag(got []byte) error {
	return c.check("tag", got, c.Tag)
}

// CheckPlaintext returns an error that says where got is not the plaintext, or nil.
func (c *Case) CheckPlaintext(got []byte) error {
	return c.check("plaintext", got, c.Plaintext)
}

func (c *Case) check(what string, got, want []byte) error {
	if len(got) != len(want) {
		return fmt.Errorf("%s: %s has %d bytes, want %d", c.Where, what, len(got), len(want))
	}
	if bytes.Equal(got, want) {
		return nil
	}
	const block = 16
	i := 0
	for got[i] == want[i] {
		i++
	}
	i -= i % block
	end := min(i+block, len(got))
	return fmt.Errorf("%s: %s differs in block %d: got %x, want %x", c.Where, what, i/block, got[i:end], want[i:end])
}

// An Intermediate is one encryption with its intermediate values, in the paper's notation. The words of a state are
// not exchanged between rounds: an odd round changes the second two, an even round the first two.
type Intermediate struct {
	Where      string // file and line
	Provenance string
	Key        []byte
	SBoxKeys   []uint32      // of each eight bytes of the key, in the key's order
	Subkeys    [40]uint32    // input whitening, output whitening, then two a round
	States     [18][4]uint32 // after input whitening, after each round, after output whitening
	G          [16][2]uint32 // the two outputs of the function g in each round
	Plaintext  []byte
	Ciphertext []byte
}

// A Set is what a file holds.
type Set struct {
	Cases         []Case
	Intermediates []Intermediate
}

// Answers is how many entries the set has.
func (s *Set) Answers() int { return len(s.Cases) + len(s.Intermediates) }

//go:embed twofish.txt
var twofishText []byte

var twofish = sync.OnceValue(func() *Set {
	set, err := Parse("twofish.txt", twofishText)
	if err != nil {
		panic(err) // a test has parsed it
	}
	return set
})

// Twofish returns the embedded known answers for Twofish.
func Twofish() []Case { return slices.Clone(twofish().Cases) }

// TwofishIntermediates returns the embedded intermediate values for Twofish, one for each size of key.
func TwofishIntermediates() []Intermediate { return slices.Clone(twofish().Intermediates) }

// Fewer returns the cases without most of those that take long: it keeps one Monte Carlo case of each mode, size of key
// and direction, and no message of more than 64 KiB; or, if that would be none, the first case.
func Fewer(cases []Case) []Case {
	type like struct {
		mode    Mode
		decrypt bool
		key     int
	}
	monteCarlo := make(map[like]int)
	few := slices.DeleteFunc(slices.Clone(cases), func(c Case) bool {
		if c.Repeat > 1 {
			l := like{c.Mode, c.Decrypt, len(c.Key)}
			monteCarlo[l]++
			return monteCarlo[l] > 1
		}
		return len(c.Plaintext) > 64<<10
	})
	if len(few) == 0 {
		return slices.Clone(cases[:min(1, len(cases))])
	}
	return few
}

// SplitMix64 fills dst with the generator's output from the given seed on, the low eight bits of each number. The
// generator is G. L. Steele, D. Lea, C. H. Flood: Fast Splittable Pseudorandom Number Generators, 2014.
func SplitMix64(dst []byte, seed uint64) {
	for i := range dst {
		seed += 0x9e3779b97f4a7c15
		z := seed
		z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
		z = (z ^ z>>27) * 0x94d049bb133111eb
		dst[i] = byte(z ^ z>>31)
	}
}
