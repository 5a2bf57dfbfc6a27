package modes_test

import (
	"bytes"
	"crypto/cipher"
	"crypto/des"
	"errors"
	"fmt"
	"testing"

	"golang.org/x/crypto/xts"

	"github.com/twogather/twogather/internal/testkit"
	"github.com/twogather/twogather/modes"
	"github.com/twogather/twogather/twofish"
)

func TestXTS(t *testing.T) {
	for _, s := range subjects16(t) {
		t.Run(s.name, func(t *testing.T) {
			// One cipher for both is wrong for a disk and right for a test.
			x := must(modes.NewXTS(s.block, s.block))
			unit := func(dst, src []byte, tweak [16]byte) { xtsUnit(s.reference, s.reference, dst, src, tweak) }
			testkit.TestSectors(t, testkit.SectorsCheck{Block: 16, Batch: s.batch, Encrypt: x.EncryptSectors, Decrypt: x.DecryptSectors, Unit: unit})
		})
	}
}

// TestXTSTweaks has tweaks that carry at every bit, for whole and for stolen blocks, and 64 and more blocks, so that all of
// a tweak's bits go round.
func TestXTSTweaks(t *testing.T) {
	s := subjects(t)[0]
	x := must(modes.NewXTS(s.block, plain{identity(16)})) // the tweak given is the first block's mask
	for bit := range 128 {
		for _, n := range []int{16, 17, 32, 47, 64 * 16, 64*16 + 17, 64*16 + 31, 200 * 16} {
			var tweak [16]byte
			tweak[bit/8] = 1 << (bit % 8)
			tweak[15] |= 0x80
			src := testkit.Random("tweaks", n)
			want, got := make([]byte, n), make([]byte, n)
			xtsUnit(s.reference, identity(16), want, src, tweak)
			x.EncryptUnit(got, src, tweak)
			if !bytes.Equal(got, want) {
				t.Fatalf("tweak %x, %d bytes: wrong result", tweak, n)
			}
			x.DecryptUnit(got, got, tweak)
			if !bytes.Equal(got, src) {
				t.Fatalf("tweak %x, %d bytes: wrong result of decryption", tweak, n)
			}
		}
	}
}

// TestXTSStealing has 0 to 64 blocks and then 17 to 31 bytes.
func TestXTSStealing(t *testing.T) {
	s := subjects(t)[0]
	x := must(modes.NewXTS(s.block, s.block))
	src := testkit.Random("stealing", 64*16+31)
	got, want := make([]byte, len(src)), make([]byte, len(src))
	for blocks := range 65 {
		if testkit.Boundary() && blocks%16 > 1 {
			continue
		}
		for part := 17; part < 32; part++ {
			n := blocks*16 + part
			xtsUnit(s.reference, s.reference, want[:n], src[:n], [16]byte{5})
			x.EncryptUnit(got[:n], src[:n], [16]byte{5})
			if !bytes.Equal(got[:n], want[:n]) {
				t.Fatalf("%d blocks and %d bytes: wrong result", blocks, part)
			}
			x.DecryptUnit(got[:n], got[:n], [16]byte{5})
			if !bytes.Equal(got[:n], src[:n]) {
				t.Fatalf("%d blocks and %d bytes: wrong result of decryption", blocks, part)
			}
		}
	}
}

// identity is a cipher that does nothing.
type identity int

func (b identity) BlockSize() int          { return int(b) }
func (b identity) Encrypt(dst, src []byte) { copy(dst[:b], src) }
func (b identity) Decrypt(dst, src []byte) { copy(dst[:b], src) }

// TestXTSDropIn compares with golang.org/x/crypto/xts, which makes its ciphers in the same way: results, errors and panics.
func TestXTSDropIn(t *testing.T) {
	for _, keySize := range []int{32, 48, 64} {
		key := testkit.Random("xts", keySize)
		got := must(modes.NewXTSCipher(twofish.New, key))
		want := must(xts.NewCipher(twofish.New, key))
		for _, n := range []int{0, 16, 32, 512, 4096, 16 << 10} {
			for _, sector := range []uint64{0, 1, 1 << 40, 1<<64 - 1} {
				src := testkit.Random(fmt.Sprint(n), n)
				g, w := make([]byte, n+1), make([]byte, n+1)
				got.Encrypt(g, src, sector)
				want.Encrypt(w, src, sector)
				if !bytes.Equal(g, w) {
					t.Fatalf("%d bytes, sector %d: wrong result", n, sector)
				}
				got.Decrypt(g, src, sector)
				want.Decrypt(w, src, sector)
				if !bytes.Equal(g, w) {
					t.Fatalf("%d bytes, sector %d: wrong result of decryption", n, sector)
				}
			}
		}
	}

	// Halves of wrong sizes, and of different ones.
	for n := range 70 {
		_, err := modes.NewXTSCipher(twofish.New, make([]byte, n))
		_, want := xts.NewCipher(twofish.New, make([]byte, n))
		if fmt.Sprint(err) != fmt.Sprint(want) {
			t.Errorf("a key of %d bytes: %v, want %v", n, err, want)
		}
	}
	key := make([]byte, 32)
	ours, theirs := must(modes.NewXTSCipher(twofish.New, key)), must(xts.NewCipher(twofish.New, key))
	buf := make([]byte, 64)
	for _, x := range []interface {
		Encrypt(dst, src []byte, sector uint64)
		Decrypt(dst, src []byte, sector uint64)
	}{ours, theirs} {
		testkit.MustPanic(t, "xts: ciphertext is smaller than plaintext", func() { x.Encrypt(buf[:31], buf[:32], 0) })
		testkit.MustPanic(t, "xts: plaintext is smaller than ciphertext", func() { x.Decrypt(buf[:31], buf[:32], 0) })
		testkit.MustPanic(t, "xts: invalid buffer overlap", func() { x.Encrypt(buf[1:], buf[:32], 0) })
		testkit.MustPanic(t, "xts: invalid buffer overlap", func() { x.Decrypt(buf[1:], buf[:32], 0) })
	}

	wrong := errors.New("wrong")
	for _, half := range []byte{1, 2} {
		x, err := modes.NewXTSCipher(func(key []byte) (cipher.Block, error) {
			if key[0] == half {
				return nil, wrong
			}
			return toy(16), nil
		}, []byte{1, 2})
		if x != nil || err != wrong {
			t.Errorf("%v, %v for a key that is refused", x, err)
		}
	}
	const text = "xts: cipher does not have a block size of 16"
	if x, err := modes.NewXTSCipher(des.NewCipher, make([]byte, 16)); x != nil || err == nil || err.Error() != text {
		t.Errorf("%v, %v for DES", x, err)
	}
	for _, b := range [][2]cipher.Block{{toy(16), toy(15)}, {toy(32), toy(16)}} {
		if x, err := modes.NewXTS(b[0], b[1]); x != nil || err == nil || err.Error() != text {
			t.Errorf("%v, %v for blocks of %d and %d bytes", x, err, b[0].BlockSize(), b[1].BlockSize())
		}
	}
}

func TestXTSMisuse(t *testing.T) {
	const largest = 16 << 20
	x := must(modes.NewXTS(toy(16), toy(16)))
	src, dst := testkit.Random("misuse", 128), testkit.Random("misused", 128)
	large := make([]byte, largest+16)
	for _, f := range []struct {
		sectors  func(dst, src []byte, size int, first uint64)
		sector   func(dst, src []byte, number uint64)
		unit     func(dst, src []byte, tweak [16]byte)
		to, from string
	}{
		{x.EncryptSectors, x.Encrypt, x.EncryptUnit, "ciphertext", "plaintext"},
		{x.DecryptSectors, x.Decrypt, x.DecryptUnit, "plaintext", "ciphertext"},
	} {
		f.sector(nil, nil, 0)
		f.sectors(nil, src[:0], 512, 0)
		f.unit(dst, nil, [16]byte{})
		one := func(text string, d, s []byte) {
			t.Helper()
			testkit.MustPanic(t, "xts: "+text, func() { f.sector(d, s, 0) }, dst)
			testkit.MustPanic(t, "xts: "+text, func() { f.unit(d, s, [16]byte{}) }, dst)
			testkit.MustPanic(t, "xts: "+text, func() { f.sectors(d, s, len(s), 0) }, dst)
		}
		smaller := f.to + " is smaller than " + f.from
		one(smaller, nil, src[:16])
		one(smaller, dst[:31], src[:32])
		one(smaller, dst[:16:16], src[:17])
		for _, n := range []int{1, 15} {
			one("data unit is smaller than a block", dst, src[:n])
		}
		one("data unit is larger than 2^20 blocks", large, large[:largest+1])
		one("data unit is larger than 2^20 blocks", large, large)
		if !testkit.Boundary() {
			f.sector(large, large[:largest], 0)
			f.sectors(large, large, 16, 0) // as many sectors as one likes
		}
		for _, d := range []int{1, 16, 31} {
			one("invalid buffer overlap", dst[d:], dst[:32])
			one("invalid buffer overlap", dst, dst[d:d+32])
		}
		for _, size := range []int{17, 48, 80} {
			testkit.MustPanic(t, "xts: "+f.from+" is not a multiple of the sector size", func() { f.sectors(dst, src[:64], size, 0) }, dst)
		}
		for _, size := range []int{-1, 0, 1, 15} {
			testkit.MustPanic(t, "xts: data unit is smaller than a block", func() { f.sectors(dst, src[:64], size, 0) }, dst)
		}
	}
}
