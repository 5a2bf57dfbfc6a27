package modes_test

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/twogather/twogather/hwfeatures"
	"github.com/twogather/twogather/internal/kernel"
	"github.com/twogather/twogather/internal/testkit"
	"github.com/twogather/twogather/modes"
	"github.com/twogather/twogather/twofish"
)

// gcmSubjects are the ciphers with blocks of 16 bytes: those of the other modes, Twofish in constant time, and AES.
func gcmSubjects(t testing.TB) []subject {
	t.Helper()
	key := testkit.Random("modes", 32)
	constantTime, a := must(twofish.NewCipherConstantTime(key)), must(aes.NewCipher(key))
	all := subjects16(t)
	return append(all,
		subject{"twofish in constant time", constantTime, all[0].reference, 16},
		subject{"AES in bulk", newBulk(a), a, 16})
}

// gcmSeal is the standard library's GCM. It has no constructor with both sizes, but a shorter tag is the beginning of a
// longer one.
func gcmSeal(b cipher.Block, tagSize int) func(nonce, plaintext, additionalData []byte) []byte {
	bySize := make(map[int]cipher.AEAD)
	return func(nonce, plaintext, additionalData []byte) []byte {
		x := bySize[len(nonce)]
		if x == nil {
			x = must(cipher.NewGCMWithNonceSize(plain{b}, len(nonce)))
			bySize[len(nonce)] = x
		}
		sealed := x.Seal(nil, nonce, plaintext, additionalData)
		return sealed[:len(plaintext)+tagSize]
	}
}

// TestGCMPieces has messages that end around the pieces that GCM works in.
func TestGCMPieces(t *testing.T) {
	lengths := []int{900, 1000, 1007, 1008, 1009, 1023, 1024, 1025}
	for _, n := range []int{20 << 10, 40 << 10, 64 << 10} {
		for _, d := range []int{-17, -16, -1, 0, 1, 15, 16} {
			lengths = append(lengths, n+d)
		}
		if testkit.Boundary() {
			break
		}
	}
	in, nonce, data := testkit.Random("in", 70<<10), testkit.Random("nonce", 12), testkit.Random("additional data", 70<<10)
	for _, s := range gcmSubjects(t) {
		x, seal := must(modes.NewGCM(s.block, 12, 16)), gcmSeal(s.reference, 16)
		for i, n := range lengths {
			additional := data[:i*7]
			if i%8 == 1 {
				additional = data[:n]
			}
			want := seal(nonce, in[:n], additional)
			buf := append(bytes.Clone(in[:n]), make([]byte, 16)...)
			if got := x.Seal(nil, nonce, in[:n], additional); !bytes.Equal(got, want) {
				t.Fatalf("%s, %d bytes: wrong result", s.name, n)
			}
			if got := x.Seal(buf[:0], nonce, buf[:n], additional); !bytes.Equal(got, want) {
				t.Fatalf("%s, %d bytes in place: wrong result", s.name, n)
			}
			if back, err := x.Open(nil, nonce, want, additional); err != nil || !bytes.Equal(back, in[:n]) {
				t.Fatalf("%s, %d bytes: opened wrongly (%v)", s.name, n, err)
			}
			if back, err := x.Open(buf[:0], nonce, buf, additional); err != nil || !bytes.Equal(back, in[:n]) {
				t.Fatalf("%s, %d bytes in place: opened wrongly (%v)", s.name, n, err)
			}
		}
	}
}

// TestGCMNonces has every size of nonce up to several blocks.
func TestGCMNonces(t *testing.T) {
	in := testkit.Random("in", 33)
	for _, s := range gcmSubjects(t) {
		for n := 1; n <= 70; n++ {
			nonce := testkit.Random("nonce", n)
			want := gcmSeal(s.reference, 16)(nonce, in, nil)
			if got := must(modes.NewGCM(s.block, n, 16)).Seal(nil, nonce, in, nil); !bytes.Equal(got, want) {
				t.Fatalf("%s, nonce of %d bytes: wrong result", s.name, n)
			}
		}
	}
}

// A gcmElement is one of GCM's field: the coefficient of x⁰ is the high word's top bit.
type gcmElement struct{ hi, lo uint64 }

func toElement(b []byte) gcmElement {
	return gcmElement{binary.BigEndian.Uint64(b), binary.BigEndian.Uint64(b[8:])}
}

func (a gcmElement) plus(b gcmElement) gcmElement { return gcmElement{a.hi ^ b.hi, a.lo ^ b.lo} }

func (a gcmElement) times(b gcmElement) (product gcmElement) {
	for i := range 128 {
		word := a.hi
		if i >= 64 {
			word = a.lo
		}
		if word>>(63-i%64)&1 != 0 {
			product = product.plus(b)
		}
		carry := b.lo & 1
		b = gcmElement{b.hi >> 1, b.lo>>1 | b.hi<<63}
		if carry != 0 {
			b.hi ^= 0xe1 << 56
		}
	}
	return product
}

// inverse is a to the power of 2¹²⁸-2.
func (a gcmElement) inverse() gcmElement {
	inverse, square := gcmElement{hi: 1 << 63}, a
	for range 127 {
		square = square.times(square)
		inverse = inverse.times(square)
	}
	return inverse
}

// nonceFor returns a nonce of 16 bytes from which GCM makes the first counter j0.
func nonceFor(b cipher.Block, j0 []byte) []byte {
	h := make([]byte, 16)
	b.Encrypt(h, h)
	inverse := toElement(h).inverse()
	n := toElement(j0).times(inverse).plus(gcmElement{lo: 128}).times(inverse)
	return binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint64(nil, n.hi), n.lo)
}

// TestGCMCounterWraps starts in front of the wrap of the counter's last four bytes, which do not carry into the others.
func TestGCMCounterWraps(t *testing.T) {
	before, tops := append([]int{3, 63, 64, 65, 512, 513, 600}, testkit.Size().Carries...), []byte{0, 0x7f, 0xff}
	if testkit.Boundary() {
		before, tops = []int{1, 2, 17, 64, 513}, tops[1:2]
	}
	for _, s := range gcmSubjects(t) {
		x, seal := must(modes.NewGCM(s.block, 16, 16)), gcmSeal(s.reference, 16)
		in := testkit.Random("in", 16<<10+5)
		for _, d := range before {
			for _, top := range tops {
				j0 := bytes.Repeat([]byte{top}, 16)
				binary.BigEndian.PutUint32(j0[12:], -uint32(d))
				nonce := nonceFor(s.reference, j0)
				// The tag's mask is the encryption of J₀: the sum of a message's tag and of its GHASH. So a nonce that is wrong shows.
				empty := x.Seal(nil, nonce, nil, nil)
				mask := make([]byte, 16)
				s.reference.Encrypt(mask, j0)
				if !bytes.Equal(empty, mask) {
					t.Fatalf("%s: the first counter is not %x", s.name, j0)
				}
				for _, n := range []int{1, 16, 17, 16 * d, 16*d + 1, 1000, 1008, 1009, len(in)} {
					n = min(n, len(in))
					want := seal(nonce, in[:n], nil)
					got := x.Seal(nil, nonce, in[:n], nil)
					if !bytes.Equal(got, want) {
						t.Fatalf("%s, %d blocks in front of the wrap, %d bytes: wrong result", s.name, d, n)
					}
					back, err := x.Open(nil, nonce, got, nil)
					if err != nil || !bytes.Equal(back, in[:n]) {
						t.Fatalf("%s, %d blocks in front of the wrap, %d bytes: opened wrongly (%v)", s.name, d, n, err)
					}
				}
			}
		}
	}
}

// TestGCMKnownAnswers has test cases 1 to 6 of D. McGrew and J. Viega, The Galois/Counter Mode of Operation (GCM),
// submission to NIST, appendix B: AES-128, nonces of 12, 8 and 60 bytes.
func TestGCMKnownAnswers(t *testing.T) {
	const (
		key = "feffe9928665731c6d6a8f9467308308"
		p   = "d9313225f88406e5a55909c5aff5269a86a7a9531534f7da2e4c303d8a318a72" +
			"1c3c0c95956809532fcf0e2449a6b525b16aedf5aa0de657ba637b39"
		a = "feedfacedeadbeeffeedfacedeadbeefabaddad2"
		c = "42831ec2217774244b7221b784d0d49ce3aa212f2c02a4e035c17e2329aca12e" +
			"21d514b25466931c7d8f6a5aac84aa051ba30b396a0aac973d58e091"
	)
	zeros := hex.EncodeToString(make([]byte, 16))
	for i, v := range []struct{ key, plaintext, additionalData, nonce, ciphertext, tag string }{
		{zeros, "", "", zeros[:24], "", "58e2fccefa7e3061367f1d57a4e7455a"},
		{zeros, zeros, "", zeros[:24], "0388dace60b6a392f328c2b971b2fe78", "ab6e47d42cec13bdf53a67b21257bddf"},
		{key, p + "1aafd255", "", "cafebabefacedbaddecaf888", c + "473f5985", "4d5c2af327cd64a62cf35abd2ba6fab4"},
		{key, p, a, "cafebabefacedbaddecaf888", c, "5bc94fbc3221a5db94fae95ae7121a47"},
		{key, p, a, "cafebabefacedbad",
			"61353b4c2806934a777ff51fa22a4755699b2a714fcdc6f83766e5f97b6c7423" +
				"73806900e49f24b22b097544d4896b424989b5e1ebac0f07c23f4598", "3612d2e79e3b0785561be14aaca2fccb"},
		{key, p, a, "9313225df88406e555909c5aff5269aa6a7a9538534f7da1e4c303d2a318a728" +
			"c3c0c95156809539fcf0e2429a6b525416aedbf5a0de6a57a637b39b",
			"8ce24998625615b603a033aca13fb894be9112a5c3a211a8ba262a3cca7e2ca7" +
				"01e4a9a4fba43c90ccdcb281d48c7c6fd62875d2aca417034c34aee5", "619cc5aefffe0bfa462af43c1699d050"},
	} {
		decode := func(s string) []byte {
			b, err := hex.DecodeString(s)
			if err != nil {
				t.Fatal(err)
			}
			return b
		}
		b, err := aes.NewCipher(decode(v.key))
		if err != nil {
			t.Fatal(err)
		}
		x := must(modes.NewGCM(b, len(v.nonce)/2, 16))
		got := x.Seal(nil, decode(v.nonce), decode(v.plaintext), decode(v.additionalData))
		if hex.EncodeToString(got) != v.ciphertext+v.tag {
			t.Errorf("test case %d: %x", i+1, got)
		}
		back, err := x.Open(nil, decode(v.nonce), got, decode(v.additionalData))
		if err != nil || hex.EncodeToString(back) != v.plaintext {
			t.Errorf("test case %d: opened as %x (%v)", i+1, back, err)
		}
	}
}

// TestGCMHook holds that unchanged programs get this GCM.
func TestGCMHook(t *testing.T) {
	c, err := twofish.NewCipher(make([]byte, 16))
	if err != nil {
		t.Fatal(err)
	}
	want := fmt.Sprintf("%T", must(modes.NewGCM(c, 12, 16)))
	for name, construct := range map[string]func() (cipher.AEAD, error){
		"NewGCM":              func() (cipher.AEAD, error) { return cipher.NewGCM(c) },
		"NewGCMWithNonceSize": func() (cipher.AEAD, error) { return cipher.NewGCMWithNonceSize(c, 7) },
		"NewGCMWithTagSize":   func() (cipher.AEAD, error) { return cipher.NewGCMWithTagSize(c, 13) },
	} {
		x, err := construct()
		if got := fmt.Sprintf("%T", x); got != want || err != nil {
			t.Errorf("%s: %s (%v), want %s", name, got, err, want)
		}
		nonceSize, tagSize := 12, 16
		switch name {
		case "NewGCMWithNonceSize":
			nonceSize = 7
		case "NewGCMWithTagSize":
			tagSize = 13
		}
		if x.NonceSize() != nonceSize || x.Overhead() != tagSize {
			t.Errorf("%s: sizes %d and %d", name, x.NonceSize(), x.Overhead())
		}
	}
	if x, err := c.NewGCM(0, 16); x != nil || err == nil {
		t.Errorf("a nonce of no bytes: %v, %v", x, err)
	}
}

// FuzzGCM compares with the standard library on messages of all sizes.
func FuzzGCM(f *testing.F) {
	f.Add([]byte("key"), []byte("nonce"), []byte("additional data"), uint32(1000), uint8(16), uint8(3))
	f.Add([]byte{}, []byte("twelve bytes"), []byte{}, uint32(16<<10), uint8(12), uint8(0))
	p := kernel.Lookup("twofish")
	var makers []func(key []byte) (*twofish.Cipher, error)
	for _, constantTime := range []bool{false, true} {
		makers = append(makers, p.New(hwfeatures.Enabled(), constantTime, "").(func(key []byte) (*twofish.Cipher, error)))
	}
	f.Fuzz(func(t *testing.T, key, nonce, additionalData []byte, n uint32, tagSize, offset uint8) {
		if len(nonce) == 0 || n > 100_000 {
			return
		}
		tagSize = 12 + tagSize%5
		var full [32]byte
		copy(full[:], key)
		in := make([]byte, n)
		r := rand.New(rand.NewPCG(uint64(n), uint64(offset)))
		for i := range in {
			in[i] = byte(r.Uint32())
		}
		for _, make := range makers {
			c, err := make(full[:])
			if err != nil {
				t.Fatal(err)
			}
			x := must(modes.NewGCM(c, len(nonce), int(tagSize)))
			want := gcmSeal(c, int(tagSize))(nonce, in, additionalData)
			got := x.Seal(bytes.Repeat([]byte{1}, int(offset)), nonce, in, additionalData)[offset:]
			if !bytes.Equal(got, want) {
				t.Fatal("wrong result")
			}
			if back, err := x.Open(got[:0], nonce, got, additionalData); err != nil || !bytes.Equal(back, in) {
				t.Fatalf("opened wrongly (%v)", err)
			}
			bad := bytes.Clone(want)
			bad[r.IntN(len(bad))] ^= 1 << r.IntN(8)
			if _, err := x.Open(nil, nonce, bad, additionalData); err == nil {
				t.Fatal("a forgery was opened")
			}
		}
	})
}
