package modes_test

import (
	"bytes"
	"crypto/cipher"
	"crypto/des"
	"fmt"
	"testing"

	"github.com/twogather/twogather/internal/testkit"
	"github.com/twogather/twogather/modes"
)

// An aeadMode is an AEAD and its reference.
type aeadMode struct {
	name      string
	make      func(b cipher.Block, nonceSize, tagSize int) (cipher.AEAD, error)
	reference func(b cipher.Block, tagSize int) func(nonce, plaintext, additionalData []byte) []byte
	nonces    []int // sizes; the first goes with tags of 16 bytes
	minTag    int
	badNonces map[int]string
}

var aeadModes = []aeadMode{
	{"EAX", modes.NewEAX, eaxSeal, []int{16, 1, 7, 15, 17, 32, 100}, 12, map[int]string{
		0: "cipher: the nonce can't have zero length", -1: "cipher: the nonce can't have zero length"}},
	{"OCB", modes.NewOCB, ocbSeal, []int{12, 15, 1, 8}, 8, map[int]string{
		0: "cipher: incorrect nonce size given to OCB", -1: "cipher: incorrect nonce size given to OCB",
		16: "cipher: incorrect nonce size given to OCB"}},
	{"GCM", modes.NewGCM, gcmSeal, []int{12, 1, 8, 13, 16, 17, 100}, 12, map[int]string{
		0: "cipher: the nonce can't have zero length", -1: "cipher: the nonce can't have zero length"}},
}

func subjects16(t testing.TB) (s []subject) {
	for _, x := range subjects(t) {
		if x.block.BlockSize() == 16 {
			s = append(s, x)
		}
	}
	return s
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

func TestAEADs(t *testing.T) {
	for _, s := range subjects16(t) {
		for _, m := range aeadModes {
			t.Run(s.name+", "+m.name, func(t *testing.T) {
				aead := must(m.make(s.block, m.nonces[0], 16))
				testkit.TestAEAD(t, testkit.AEADCheck{Name: m.name, Size: 16, Batch: s.batch, Got: aead, Seal: m.reference(s.reference, 16)})
			})
		}
	}
}

// TestForgeries has what TestAEAD's forgeries are too short for: messages of several pieces, in the modes that decrypt before
// they know the tag.
func TestForgeries(t *testing.T) {
	for _, s := range gcmSubjects(t) {
		for _, m := range aeadModes {
			if m.name == "EAX" {
				continue
			}
			x := must(m.make(s.block, 12, 12))
			for _, n := range []int{1008, 1009, 3000, 41 << 10} {
				in, nonce, data := testkit.Random("in", n), testkit.Random("nonce", 12), testkit.Random("additional data", 20)
				sealed := x.Seal(nil, nonce, in, data)
				for _, bit := range []int{0, 77, 8*n - 1, 8 * n, 8*n + 95} {
					out, forged := testkit.Random("out", n), bytes.Clone(sealed)
					forged[bit/8] ^= 1 << (bit % 8)
					if got, err := x.Open(out[:0], nonce, forged, data); got != nil || err == nil {
						t.Fatalf("%s, %s, %d bytes, bit %d: opened", s.name, m.name, n, bit)
					}
					if got, err := x.Open(forged[:0], nonce, forged, data); got != nil || err == nil {
						t.Fatalf("%s, %s, %d bytes, bit %d: opened in place", s.name, m.name, n, bit)
					}
					if zero := make([]byte, n); !bytes.Equal(out, zero) || !bytes.Equal(forged[:n], zero) {
						t.Fatalf("%s, %s, %d bytes, bit %d: the buffer is not cleared", s.name, m.name, n, bit)
					}
				}
				if _, err := x.Open(nil, nonce, sealed, data); err != nil {
					t.Fatalf("%s, %s, %d bytes: what is right is refused after forgeries", s.name, m.name, n)
				}
			}
		}
	}
}

// TestAEADSizes has every size of tag with several of nonces, and what constructors refuse.
func TestAEADSizes(t *testing.T) {
	s := subjects(t)[0]
	for _, m := range aeadModes {
		for tagSize := m.minTag; tagSize <= 16; tagSize++ {
			for i, nonceSize := range m.nonces {
				if testkit.Boundary() && i != tagSize%len(m.nonces) {
					continue
				}
				aead := must(m.make(s.block, nonceSize, tagSize))
				if aead.NonceSize() != nonceSize || aead.Overhead() != tagSize {
					t.Fatalf("%s: NonceSize() = %d, Overhead() = %d, want %d and %d", m.name, aead.NonceSize(), aead.Overhead(), nonceSize, tagSize)
				}
				reference := m.reference(s.reference, tagSize)
				for i := range 70 { // more than OCB's nonces with the same beginning
					nonce, text := testkit.Random(fmt.Sprint(i), nonceSize), testkit.Random("text", 37)
					want := reference(nonce, text, text[:5])
					got := aead.Seal(nil, nonce, text, text[:5])
					if string(got) != string(want) {
						t.Fatalf("%s, nonce of %d, tag of %d bytes: wrong result", m.name, nonceSize, tagSize)
					}
					if back, err := aead.Open(nil, nonce, got, text[:5]); err != nil || string(back) != string(text) {
						t.Fatalf("%s, nonce of %d, tag of %d bytes: Open is wrong, %v", m.name, nonceSize, tagSize, err)
					}
				}
			}
		}
		wantErr := func(b cipher.Block, nonceSize, tagSize int, want string) {
			t.Helper()
			if aead, err := m.make(b, nonceSize, tagSize); err == nil || err.Error() != want || aead != nil {
				t.Errorf("%s: %v, %v, want %q", m.name, aead, err, want)
			}
		}
		for _, tagSize := range []int{-1, 0, m.minTag - 1, 17, 32} {
			wantErr(s.block, m.nonces[0], tagSize, "cipher: incorrect tag size given to "+m.name)
		}
		for nonceSize, text := range m.badNonces {
			wantErr(s.block, nonceSize, 16, text)
		}
		d := must(des.NewCipher(make([]byte, 8)))
		wantErr(d, m.nonces[0], 8, "cipher: "+m.name+" requires 128-bit block cipher")
		wantErr(toy(24), m.nonces[0], 16, "cipher: "+m.name+" requires 128-bit block cipher")
	}
}
