package modes_test

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/twogather/twogather/hwfeatures"
	"github.com/twogather/twogather/internal/kernel"
	"github.com/twogather/twogather/internal/testkit"
	"github.com/twogather/twogather/modes"
	"github.com/twogather/twogather/twofish"
	"github.com/twogather/twogather/vectors"
)

// gcmSubjects are the ciphers with blocks of 16 bytes: those of the other modes, Twofish in constant time, and AES.
func gcmSubjects(t testing.TB) []subject {
	t.Helper()
	key := testkit.Random("modes", 32)
	constantTime, err := twofish.NewCipherConstantTime(key)
	if err != nil {
		t.Fatal(err)
	}
	a, err := aes.NewCipher(key)
	if err != nil {
		t.Fatal(err)
	}
	all := slices.DeleteFunc(subjects(t), func(s subject) bool { return s.block.BlockSize() != 16 })
	return append(all,
		subject{"twofish in constant time", constantTime, all[0].reference, 16},
		subject{"AES in bulk", newBulk(a), a, 16})
}

func newGCM(t testing.TB, b cipher.Block, nonceSize, tagSize int) cipher.AEAD {
	t.Helper()
	x, err := modes.NewGCM(b, nonceSize, tagSize)
	if err != nil {
		t.Fatal(err)
	}
	if x.NonceSize() != nonceSize || x.Overhead() != tagSize {
		t.Fatalf("sizes %d and %d, want %d and %d", x.NonceSize(), x.Overhead(), nonceSize, tagSize)
	}
	return x
}

// A gcmReference is the standard library's GCM, which has no constructor with both sizes: a shorter tag is the beginning
// of a longer one.
type gcmReference struct {
	cipher.AEAD
	tagSize int
}

func newGCMReference(t testing.TB, b cipher.Block, nonceSize, tagSize int) gcmReference {
	t.Helper()
	x, err := cipher.NewGCMWithNonceSize(plain{b}, nonceSize)
	if err != nil {
		t.Fatal(err)
	}
	return gcmReference{x, tagSize}
}

func (x gcmReference) seal(nonce, plaintext, additionalData []byte) []byte {
	sealed := x.Seal(nil, nonce, plaintext, additionalData)
	return sealed[:len(plaintext)+x.tagSize]
}

// gcmLengths are message lengths in bytes: around blocks, a kernel's batches, and the pieces that GCM works in.
func gcmLengths(batch int) []int {
	lengths := slices.Clone(testkit.Size().Bytes)
	for _, n := range testkit.Size().Lengths(batch) {
		lengths = append(lengths, 16*n, 16*n+1, 16*n+15)
	}
	for _, n := range []int{1008, 1024, 2048, 8 << 10, 16 << 10, 64 << 10, 80 << 10} {
		for _, d := range []int{-17, -16, -15, -1, 0, 1, 15, 16, 17} {
			lengths = append(lengths, n+d)
		}
	}
	slices.Sort(lengths)
	return slices.Compact(lengths)
}

// TestGCM compares with the standard library: every length, appended to what is there, in place, and back.
func TestGCM(t *testing.T) {
	for _, s := range gcmSubjects(t) {
		t.Run(s.name, func(t *testing.T) {
			x, ref := newGCM(t, s.block, 12, 16), newGCMReference(t, s.reference, 12, 16)
			nonce, data := testkit.Random("nonce", 12), testkit.Random("additional data", 67)
			lengths := gcmLengths(s.batch)
			in := testkit.Random("in", lengths[len(lengths)-1])
			buf := make([]byte, 0, len(in)+40)
			prefix := []byte("before")
			for i, n := range lengths {
				additional := data[:i%len(data)]
				want := ref.seal(nonce, in[:n], additional)

				got := x.Seal(nil, nonce, in[:n], additional)
				if !bytes.Equal(got, want) {
					t.Fatalf("%d bytes: wrong result", n)
				}
				got = x.Seal(append(buf, prefix...), nonce, in[:n], additional)
				if !bytes.Equal(got[len(prefix):], want) || !bytes.HasPrefix(got, prefix) || &got[0] != &buf[:1][0] {
					t.Fatalf("%d bytes, appended: wrong result", n)
				}
				back, err := x.Open(got[:0], nonce, want, additional)
				if err != nil || !bytes.Equal(back, in[:n]) {
					t.Fatalf("%d bytes: opened wrongly (%v)", n, err)
				}
				// In place, both ways.
				text := append(buf, in[:n]...)
				got = x.Seal(text[:0], nonce, text, additional)
				if !bytes.Equal(got, want) || &got[0] != &buf[:1][0] {
					t.Fatalf("%d bytes in place: wrong result", n)
				}
				back, err = x.Open(got[:0], nonce, got, additional)
				if err != nil || !bytes.Equal(back, in[:n]) {
					t.Fatalf("%d bytes in place: opened wrongly (%v)", n, err)
				}
			}
		})
	}
}

// TestGCMSizes runs every nonce size and tag size, and lengths of additional data.
func TestGCMSizes(t *testing.T) {
	for _, s := range gcmSubjects(t) {
		in := testkit.Random("in", 1500)
		for nonceSize := 1; nonceSize <= 70; nonceSize++ {
			nonce := testkit.Random("nonce", nonceSize)
			for tagSize := 12; tagSize <= 16; tagSize++ {
				x, ref := newGCM(t, s.block, nonceSize, tagSize), newGCMReference(t, s.reference, nonceSize, tagSize)
				for _, n := range []int{0, 33, 1500} {
					if n > 33 && (tagSize+nonceSize)%8 != 0 {
						continue
					}
					additional := testkit.Random("additional data", 3*nonceSize%50)
					want := ref.seal(nonce, in[:n], additional)
					got := x.Seal(nil, nonce, in[:n], additional)
					if !bytes.Equal(got, want) {
						t.Fatalf("%s, nonce of %d bytes, tag of %d, %d bytes: wrong result", s.name, nonceSize, tagSize, n)
					}
					if back, err := x.Open(nil, nonce, got, additional); err != nil || !bytes.Equal(back, in[:n]) {
						t.Fatalf("%s, nonce of %d bytes, tag of %d, %d bytes: opened wrongly (%v)", s.name, nonceSize, tagSize, n, err)
					}
				}
			}
		}
		x, ref := newGCM(t, s.block, 12, 16), newGCMReference(t, s.reference, 12, 16)
		nonce, data := testkit.Random("nonce", 12), testkit.Random("additional data", 70<<10)
		for _, n := range append(testkit.Size().Bytes, 511, 512, 513, 1024, 65535, 65536, 65537, len(data)) {
			if got, want := x.Seal(nil, nonce, in[:40], data[:n]), ref.seal(nonce, in[:40], data[:n]); !bytes.Equal(got, want) {
				t.Fatalf("%s, %d bytes of additional data: wrong result", s.name, n)
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
	before := testkit.Size().Carries
	for _, s := range gcmSubjects(t) {
		x, ref := newGCM(t, s.block, 16, 16), newGCMReference(t, s.reference, 16, 16)
		in := testkit.Random("in", 16<<10+5)
		for _, d := range append([]int{1, 2, 3, 63, 64, 65, 512, 513, 600}, before...) {
			for _, top := range []byte{0, 0x7f, 0xff} {
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
					want := ref.seal(nonce, in[:n], nil)
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

// TestGCMForgeries flips bits of everything that is authenticated, and cuts. Nothing comes out, and the buffer holds zeros.
func TestGCMForgeries(t *testing.T) {
	for _, s := range gcmSubjects(t) {
		for _, n := range []int{0, 1, 16, 40, 1000, 1009, 3000, 20000} {
			for _, tagSize := range []int{12, 16} {
				x := newGCM(t, s.block, 12, tagSize)
				in, nonce, data := testkit.Random("in", n), testkit.Random("nonce", 12), testkit.Random("additional data", 20)
				sealed := x.Seal(nil, nonce, in, data)
				refused := func(what string, nonce, sealed, data []byte) {
					t.Helper()
					out := testkit.Random("out", n+16)
					got, err := x.Open(out[:0], nonce, sealed, data)
					if got != nil || err == nil || err.Error() != "cipher: message authentication failed" {
						t.Fatalf("%s, %d bytes, %s: %d bytes and error %v", s.name, n, what, len(got), err)
					}
					if m := len(sealed) - tagSize; m > 0 && !bytes.Equal(out[:m], make([]byte, m)) {
						t.Fatalf("%s, %d bytes, %s: the buffer is not cleared", s.name, n, what)
					}
					// In place: no plaintext either.
					in := bytes.Clone(sealed)
					if got, err := x.Open(in[:0], nonce, in, data); got != nil || err == nil {
						t.Fatalf("%s, %d bytes in place, %s: %d bytes and error %v", s.name, n, what, len(got), err)
					}
					if m := len(sealed) - tagSize; m > 0 && !bytes.Equal(in[:m], make([]byte, m)) {
						t.Fatalf("%s, %d bytes in place, %s: the buffer is not cleared", s.name, n, what)
					}
				}
				flip := func(what string, b []byte, bit int, nonce, sealed, data *[]byte) {
					kept := b[bit/8]
					b[bit/8] ^= 1 << (bit % 8)
					refused(fmt.Sprintf("bit %d of the %s", bit, what), *nonce, *sealed, *data)
					b[bit/8] = kept
				}
				for bit := range 8 * tagSize {
					flip("tag", sealed[n:], bit, &nonce, &sealed, &data)
				}
				step := 1 + 8*n/50
				for bit := 0; bit < 8*n; bit += step {
					flip("ciphertext", sealed, bit, &nonce, &sealed, &data)
				}
				for bit := 0; bit < 8*len(data); bit += 13 {
					flip("additional data", data, bit, &nonce, &sealed, &data)
				}
				for bit := 0; bit < 96; bit += 7 {
					flip("nonce", nonce, bit, &nonce, &sealed, &data)
				}
				refused("more additional data", nonce, sealed, append(data[:20:20], 0))
				refused("no additional data", nonce, sealed, nil)
				for _, m := range []int{0, 1, tagSize - 1, tagSize, len(sealed) - 1} {
					if m < len(sealed) {
						refused(fmt.Sprintf("cut to %d bytes", m), nonce, sealed[:m], data)
					}
				}
				refused("a byte too many", nonce, append(sealed[:len(sealed):len(sealed)], 0), data)
				if _, err := x.Open(nil, nonce, sealed, data); err != nil {
					t.Fatalf("%s, %d bytes: what is right is refused after forgeries", s.name, n)
				}
			}
		}
	}
}

// TestGCMGuards puts all buffers against pages that fault, at the front and at the back.
func TestGCMGuards(t *testing.T) {
	const room = 4 << 10
	input, output, extra := testkit.Guarded(t, room), testkit.Guarded(t, room), testkit.Guarded(t, room)
	for _, s := range gcmSubjects(t) {
		x, ref := newGCM(t, s.block, 12, 16), newGCMReference(t, s.reference, 12, 16)
		nonce := testkit.Random("nonce", 12)
		in := testkit.Random("in", room)
		place := func(memory []byte, n, offset int, back bool) []byte {
			if back {
				offset = len(memory) - n - offset
			}
			return memory[offset : offset+n : offset+n]
		}
		lengths := append(slices.Clone(testkit.Size().Bytes), 1007, 1008, 1009, 1024, 2047, 3000)
		offsets := testkit.Size().Offsets
		for i, n := range lengths {
			for _, back := range []bool{false, true} {
				for _, offset := range []int{0, offsets[i%len(offsets)]} {
					text, out := place(input, n, offset, back), place(output, n+16, offset/2, back)
					data := place(extra, n%77, offset, back)
					copy(text, in)
					copy(data, in[1:])
					want := ref.seal(nonce, text, data)
					if got := x.Seal(out[:0], nonce, text, data); !bytes.Equal(got, want) || &got[0] != &out[0] {
						t.Fatalf("%s, %d bytes at offset %d: wrong result", s.name, n, offset)
					}
					clear(text)
					if got, err := x.Open(text[:0], nonce, out, data); err != nil || !bytes.Equal(got, in[:n]) {
						t.Fatalf("%s, %d bytes at offset %d: opened wrongly (%v)", s.name, n, offset, err)
					}
				}
			}
		}
	}
}

// TestGCMMisuse has the texts of the standard library's GCM.
func TestGCMMisuse(t *testing.T) {
	for _, s := range subjects(t) {
		constructors := []func(b cipher.Block, nonceSize, tagSize int) (cipher.AEAD, error){
			modes.NewGCM,
			func(b cipher.Block, nonceSize, tagSize int) (cipher.AEAD, error) {
				if nonceSize != 12 {
					return cipher.NewGCMWithNonceSize(b, nonceSize)
				}
				return cipher.NewGCMWithTagSize(b, tagSize)
			},
		}
		for _, sizes := range [][2]int{{12, 0}, {12, 11}, {12, 17}, {12, -1}, {12, 12}, {12, 16}, {0, 16}, {-1, 16}, {1, 16}, {100, 16}} {
			got, err := constructors[0](s.block, sizes[0], sizes[1])
			want, wantErr := constructors[1](s.reference, sizes[0], sizes[1])
			if (got == nil) != (want == nil) || fmt.Sprint(err) != fmt.Sprint(wantErr) {
				t.Errorf("%s, sizes %v: %v and %v, want %v and %v", s.name, sizes, got, err, want, wantErr)
			}
		}
	}

	for _, s := range gcmSubjects(t) {
		for _, x := range []cipher.AEAD{newGCM(t, s.block, 12, 16), newGCMReference(t, s.reference, 12, 16).AEAD} {
			for _, n := range []int{0, 11, 13, 16} {
				const text = "crypto/cipher: incorrect nonce length given to GCM"
				buf := make([]byte, 64)
				testkit.MustPanic(t, text, func() { x.Seal(buf[:0], make([]byte, n), buf[:32], nil) }, buf)
				testkit.MustPanic(t, text, func() { x.Open(buf[:0], make([]byte, n), buf, nil) }, buf)
			}
			const overlap = "crypto/cipher: invalid buffer overlap of output and input"
			const overlapData = "crypto/cipher: invalid buffer overlap of output and additional data"
			nonce := make([]byte, 12)
			for _, n := range []int{2, 40, 1500} {
				b := testkit.Random("overlap", 3*n+50)
				testkit.MustPanic(t, overlap, func() { x.Seal(b[:1], nonce, b[:n], nil) }, b)
				testkit.MustPanic(t, overlap, func() { x.Seal(b[:0], nonce, b[1:n+1], nil) }, b)
				testkit.MustPanic(t, overlap, func() { x.Seal(b[:0], nonce, b[n+15:2*n+15], nil) }, b) // the tag
				testkit.MustPanic(t, overlap, func() { x.Open(b[:1], nonce, b[:n+16], nil) }, b)
				testkit.MustPanic(t, overlap, func() { x.Open(b[:0], nonce, b[1:n+17], nil) }, b)
				testkit.MustPanic(t, overlap, func() { x.Open(b[n:n], nonce, b[:n+16], nil) }, b) // the tag
				testkit.MustPanic(t, overlapData, func() { x.Seal(b[:0], nonce, nil, b[:3]) }, b)
				testkit.MustPanic(t, overlapData, func() { x.Seal(b[:0], nonce, b[:n], b[n+15:n+17]) }, b)
				testkit.MustPanic(t, overlapData, func() { x.Open(b[:0], nonce, b[n:2*n+16], b[:3]) }, b)
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
		x := newGCM(t, b, len(v.nonce)/2, 16)
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
	want := fmt.Sprintf("%T", newGCM(t, c, 12, 16))
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

// TestGCMAllocs has no allocation where there is room, with every size that goes its own way.
func TestGCMAllocs(t *testing.T) {
	if vectors.Race {
		t.Skip("a sync.Pool forgets some of what it is given")
	}
	for _, s := range gcmSubjects(t) {
		for _, nonceSize := range []int{12, 16} {
			x := newGCM(t, s.block, nonceSize, 16)
			for _, n := range []int{0, 100, 3000, 20000} {
				buf, nonce, data := make([]byte, n, n+16), make([]byte, nonceSize), make([]byte, 20)
				if allocs := testing.AllocsPerRun(10, func() {
					sealed := x.Seal(buf[:0], nonce, buf, data)
					if _, err := x.Open(sealed[:0], nonce, sealed, data); err != nil {
						t.Fatal(err)
					}
				}); allocs != 0 {
					t.Errorf("%s, %d bytes: %v allocations", s.name, n, allocs)
				}
			}
		}
	}
}

// TestGCMShared has goroutines share an AEAD.
func TestGCMShared(t *testing.T) {
	for _, s := range gcmSubjects(t) {
		x, ref := newGCM(t, s.block, 12, 16), newGCMReference(t, s.reference, 12, 16)
		errs := make(chan error)
		const goroutines = 8
		for g := range goroutines {
			nonce := testkit.Random(fmt.Sprint("nonce", g), 12)
			in := testkit.Random(fmt.Sprint("in", g), 700*g+5)
			want := ref.seal(nonce, in, nonce)
			go func() {
				for range testkit.Size().Rounds {
					sealed := x.Seal(nil, nonce, in, nonce)
					back, err := x.Open(nil, nonce, sealed, nonce)
					if !bytes.Equal(sealed, want) || err != nil || !bytes.Equal(back, in) {
						errs <- fmt.Errorf("%s, goroutine %d: wrong result (%v)", s.name, g, err)
						return
					}
				}
				errs <- nil
			}()
		}
		for range goroutines {
			if err := <-errs; err != nil {
				t.Error(err)
			}
		}
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
			x, ref := newGCM(t, c, len(nonce), int(tagSize)), newGCMReference(t, c, len(nonce), int(tagSize))
			want := ref.seal(nonce, in, additionalData)
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
