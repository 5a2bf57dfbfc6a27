package twofish_test

import (
	"bytes"
	"crypto/cipher"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strings"
	"testing"

	//lint:ignore SA1019 this is what ours stands in for
	xtwofish "golang.org/x/crypto/twofish"

	"github.com/twogather/twogather/internal/testkit"
	"github.com/twogather/twogather/modes"
	"github.com/twogather/twogather/twofish"
)

// program is what a user's program does with the package at the other end of its import path: C and E are that package's
// *Cipher and KeySizeError. It returns everything the program sees.
func program[C cipher.Block, E error](t *testing.T, newCipher func(key []byte) (C, error), blockSize int) string {
	var seen strings.Builder
	see := func(what string, args ...any) { fmt.Fprintf(&seen, what+"\n", args...) }

	for n := range 70 {
		_, err := newCipher(make([]byte, n))
		var sizeError E
		see("key of %d bytes: %v, by type %v", n, err, errors.As(err, &sizeError))
		see("as a number: %d", reflect.ValueOf(sizeError))
	}
	_, err := newCipher(nil)
	see("no key: %v", err)

	text := testkit.Random("text", 4567)
	iv := testkit.Random("iv", blockSize)
	for _, size := range []int{16, 24, 32} {
		c, err := newCipher(testkit.Random("key", size))
		if err != nil {
			t.Fatal(err)
		}
		see("blocks of %d bytes", c.BlockSize())
		block := make([]byte, blockSize+1)
		c.Encrypt(block, text) // longer buffers on both sides
		see("%x", block)
		c.Decrypt(block, block)
		see("%x", block)

		whole := text[:len(text)/blockSize*blockSize]
		out := make([]byte, len(whole))
		cipher.NewCBCEncrypter(c, iv).CryptBlocks(out, whole)
		see("%x", out)
		cipher.NewCBCDecrypter(c, iv).CryptBlocks(out, out)
		see("%x", out)

		r := cipher.StreamReader{S: cipher.NewCTR(c, iv), R: bytes.NewReader(text)}
		out, err = io.ReadAll(r)
		see("%x %v", out, err)

		for _, nonceSize := range []int{12, 16} {
			aead, err := cipher.NewGCMWithNonceSize(c, nonceSize)
			if err != nil {
				t.Fatal(err)
			}
			sealed := aead.Seal(nil, testkit.Random("nonce", nonceSize), text, iv)
			see("%x", sealed)
			opened, err := aead.Open(sealed[:0], testkit.Random("nonce", nonceSize), sealed, iv)
			see("%x %v", opened, err)
		}
	}
	return seen.String()
}

// TestDropIn runs the same program over both packages.
func TestDropIn(t *testing.T) {
	got := program[*twofish.Cipher, twofish.KeySizeError](t, twofish.NewCipher, twofish.BlockSize)
	want := program[*xtwofish.Cipher, xtwofish.KeySizeError](t, xtwofish.NewCipher, xtwofish.BlockSize)
	gotLines, wantLines := strings.Split(got, "\n"), strings.Split(want, "\n")
	if len(gotLines) != len(wantLines) {
		t.Fatalf("%d lines, want %d", len(gotLines), len(wantLines))
	}
	for i, line := range gotLines {
		if line != wantLines[i] {
			t.Errorf("line %d: %.100s, want %.100s", i, line, wantLines[i])
		}
	}
}

// Whatever x/crypto's package exports is here, with the same kind of value.
var (
	_ [twofish.BlockSize]byte                   = [xtwofish.BlockSize]byte{}
	_                                           = twofish.KeySizeError(xtwofish.KeySizeError(0))
	_ func(key []byte) (*twofish.Cipher, error) = twofish.NewCipher
)

func TestKeySizes(t *testing.T) {
	for n := range 100 {
		key := make([]byte, n)
		c, err := twofish.NewCipher(key)
		b, err2 := twofish.New(key)
		if n == 16 || n == 24 || n == 32 {
			if c == nil || err != nil || b == nil || err2 != nil {
				t.Errorf("%d bytes: %v, %v", n, err, err2)
			}
			if _, ok := b.(*twofish.Cipher); !ok {
				t.Errorf("New returned a %T", b)
			}
			continue
		}
		if c != nil || err != twofish.KeySizeError(n) {
			t.Errorf("NewCipher with %d bytes: %v, %v", n, c, err)
		}
		// An interface that holds a nil pointer would differ from nil.
		if b != nil || err2 != twofish.KeySizeError(n) {
			t.Errorf("New with %d bytes: %v, %v", n, b, err2)
		}
	}
	if got, want := twofish.KeySizeError(-5).Error(), xtwofish.KeySizeError(-5).Error(); got != want {
		t.Errorf("text %q, want %q", got, want)
	}
}

// TestHooks holds that the standard library's constructors return the modes of package modes. Should this ever fail
// because they ask no longer, programs stay right, only slower.
func TestHooks(t *testing.T) {
	c := newCipher(t)
	iv := make([]byte, twofish.BlockSize)
	for _, x := range []struct {
		name      string
		got, want any
	}{
		{"cipher.NewCTR", cipher.NewCTR(c, iv), (*modes.CTR)(nil)},
		{"NewCTR", c.NewCTR(iv), (*modes.CTR)(nil)},
		{"cipher.NewCBCEncrypter", cipher.NewCBCEncrypter(c, iv), modes.NewCBCEncrypter(c, iv)},
		{"NewCBCEncrypter", c.NewCBCEncrypter(iv), modes.NewCBCEncrypter(c, iv)},
		{"cipher.NewCBCDecrypter", cipher.NewCBCDecrypter(c, iv), modes.NewCBCDecrypter(c, iv)},
		{"NewCBCDecrypter", c.NewCBCDecrypter(iv), modes.NewCBCDecrypter(c, iv)},
	} {
		if got, want := reflect.TypeOf(x.got), reflect.TypeOf(x.want); got != want {
			t.Errorf("%s returns a %v, want a %v", x.name, got, want)
		}
	}
}

// TestIVLengths passes wrong IVs through the standard library's constructors, which ask the cipher before they look.
func TestIVLengths(t *testing.T) {
	c := newCipher(t)
	for _, n := range []int{0, 8, 12, 15, 17, 32} {
		iv := make([]byte, n)
		for _, f := range []struct {
			name string
			make func(b cipher.Block, iv []byte)
		}{
			{"cipher.NewCTR", func(b cipher.Block, iv []byte) { cipher.NewCTR(b, iv) }},
			{"cipher.NewCBCEncrypter", func(b cipher.Block, iv []byte) { cipher.NewCBCEncrypter(b, iv) }},
			{"cipher.NewCBCDecrypter", func(b cipher.Block, iv []byte) { cipher.NewCBCDecrypter(b, iv) }},
		} {
			text := f.name + ": IV length must equal block size"
			testkit.MustPanic(t, text, func() { f.make(c, iv) })
			testkit.MustPanic(t, text, func() { f.make(struct{ cipher.Block }{c}, iv) }) // the standard library's own
			if n == 0 {
				testkit.MustPanic(t, text, func() { f.make(c, nil) })
			}
		}
		testkit.MustPanic(t, "cipher.NewCTR: IV length must equal block size", func() { c.NewCTR(iv) })
		testkit.MustPanic(t, "cipher.NewCBCEncrypter: IV length must equal block size", func() { c.NewCBCEncrypter(iv) })
		testkit.MustPanic(t, "cipher.NewCBCDecrypter: IV length must equal block size", func() { c.NewCBCDecrypter(iv) })
	}
}

func newCipher(t *testing.T) *twofish.Cipher {
	t.Helper()
	c, err := twofish.NewCipher(testkit.Random("hooks", 32))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// A disk embeds a cipher by value, as users do.
type disk struct {
	sector int
	twofish.Cipher
}

func TestCopyAndEmbed(t *testing.T) {
	original := newCipher(t)
	in := testkit.Random("in", 40*twofish.BlockSize)
	iv := testkit.Random("iv", twofish.BlockSize)
	result := func(c *twofish.Cipher) []byte {
		out := make([]byte, 3*len(in))
		c.EncryptBlocks(out, in)
		cipher.NewCTR(c, iv).XORKeyStream(out[len(in):], in)
		cipher.NewCBCEncrypter(c, iv).CryptBlocks(out[2*len(in):], in)
		return out
	}
	want := result(original)

	copied := *original
	if !bytes.Equal(result(&copied), want) {
		t.Error("a copy gives another result")
	}
	d := disk{7, *original}
	if !bytes.Equal(result(&d.Cipher), want) {
		t.Error("an embedded copy gives another result")
	}
	moved := []disk{d, d}
	moved = append(moved, d) // to other memory, perhaps with another alignment
	for i := range moved {
		out := make([]byte, len(in))
		moved[i].EncryptBlocks(out, in)
		cipher.NewCTR(&moved[i], iv).XORKeyStream(out, out)
		cipher.NewCTR(original, iv).XORKeyStream(out, out)
		if !bytes.Equal(out, want[:len(in)]) {
			t.Errorf("copy %d gives another result", i)
		}
	}

	// Neither needs the other.
	*original = twofish.Cipher{}
	if !bytes.Equal(result(&copied), want) {
		t.Error("a copy changed with its original")
	}
	other, err := twofish.NewCipher(make([]byte, 16))
	if err != nil {
		t.Fatal(err)
	}
	copied = *other
	if !bytes.Equal(result(&d.Cipher), want) {
		t.Error("a copy changed with another copy")
	}
	if d.sector != 7 {
		t.Error("the field beside a cipher changed")
	}
}
