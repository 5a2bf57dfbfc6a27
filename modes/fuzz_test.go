package modes_test

import (
	"bytes"
	"crypto/cipher"
	"fmt"
	"testing"

	"github.com/twogather/twogather/internal/testkit"
	"github.com/twogather/twogather/modes"
	"github.com/twogather/twogather/twofish"
)

// pieces cuts n in pieces that seed says, about as long as a batch at most and a whole number of units each.
func pieces(seed uint64, n, unit int, f func(from, to int)) {
	for from := 0; from < n; {
		seed = seed*6364136223846793005 + 1442695040888963407
		m := int(seed>>33) % (90 * 16) >> (seed >> 60 % 8)
		to := min(from+m/unit*unit, n)
		f(from, to)
		from = to
	}
}

func fuzzed(t *testing.T, key []byte) (fast, slow cipher.Block) {
	fast = must(twofish.New(key))
	return fast, plain{testkit.NewTwofish(key)}
}

// FuzzStreams cuts a message in random pieces, some in place.
func FuzzStreams(f *testing.F) {
	f.Add([]byte("0123456789abcdef"), uint64(1), uint16(3000))
	f.Add(bytes.Repeat([]byte{0xff}, 16), uint64(7), uint16(17))
	f.Fuzz(func(t *testing.T, iv []byte, seed uint64, n uint16) {
		if len(iv) != 16 {
			return
		}
		fast, slow := fuzzed(t, make([]byte, 32))
		src := testkit.Random(string(iv), int(n)%6000)
		check := func(name string, unit int, got, want func(dst, src []byte)) {
			src := src[:len(src)/unit*unit]
			w, g := make([]byte, len(src)), bytes.Clone(src)
			want(w, src)
			pieces(seed, len(src), unit, func(from, to int) {
				if to%2 == 0 {
					got(g[from:to], g[from:to])
				} else {
					got(g[from:to], src[from:to])
				}
			})
			if !bytes.Equal(g, w) {
				t.Errorf("%s: wrong result", name)
			}
		}
		for _, m := range streamModes() {
			check(m.name, 1, m.got(fast, iv).XORKeyStream, m.want(slow, iv).XORKeyStream)
		}
		for _, m := range blockModes() {
			check(m.name, 16, m.got(fast, iv).CryptBlocks, m.want(slow, iv).CryptBlocks)
		}
		want := cmac(slow, src)
		h := must(modes.NewCMAC(fast))
		pieces(seed, len(src), 1, func(from, to int) { h.Write(src[from:to]) })
		if !bytes.Equal(h.Sum(nil), want) {
			t.Error("CMAC: wrong result")
		}
	})
}

// FuzzXTS has any tweak and any size of sectors.
func FuzzXTS(f *testing.F) {
	f.Add([]byte("0123456789abcdef"), uint16(512), uint8(20), uint64(9))
	f.Add(bytes.Repeat([]byte{0xff}, 16), uint16(17), uint8(85), uint64(1<<63))
	f.Fuzz(func(t *testing.T, tweak []byte, size uint16, count uint8, first uint64) {
		if len(tweak) != 16 || size < 16 || int(size)*int(count) > 20000 {
			return
		}
		data, slowData := fuzzed(t, make([]byte, 32))
		tweaks, slowTweaks := fuzzed(t, bytes.Repeat([]byte{1}, 16))
		x := must(modes.NewXTS(data, tweaks))
		src := testkit.Random(string(tweak), int(size))
		got, want := bytes.Clone(src), make([]byte, size)
		xtsUnit(slowData, slowTweaks, want, src, [16]byte(tweak))
		x.EncryptUnit(got, got, [16]byte(tweak))
		if !bytes.Equal(got, want) {
			t.Error("a unit is encrypted wrongly")
		}
		x.DecryptUnit(got, got, [16]byte(tweak))
		if !bytes.Equal(got, src) {
			t.Error("a unit is decrypted wrongly")
		}
		src = testkit.Random("sectors", int(size)*int(count))
		got, want = make([]byte, len(src)), make([]byte, len(src))
		for i := 0; i < len(src); i += int(size) {
			x.Encrypt(want[i:i+int(size)], src[i:i+int(size)], first+uint64(i)/uint64(size))
		}
		if first+uint64(count) >= first { // numbers of 128 bits do not wrap there
			x.EncryptSectors(got, src, int(size), first)
			if !bytes.Equal(got, want) {
				t.Error("sectors are encrypted otherwise than each by itself")
			}
			x.DecryptSectors(got, got, int(size), first)
			if !bytes.Equal(got, src) {
				t.Error("sectors are decrypted wrongly")
			}
		}
	})
}

// FuzzAEADs has any nonce, and forges a bit.
func FuzzAEADs(f *testing.F) {
	f.Add([]byte("0123456789ab"), uint16(100), uint16(20), uint16(3))
	f.Add([]byte{0xff}, uint16(2049), uint16(0), uint16(2049))
	f.Add(bytes.Repeat([]byte{0xff}, 33), uint16(16), uint16(1), uint16(0))
	f.Fuzz(func(t *testing.T, nonce []byte, n, additional, bit uint16) {
		if len(nonce) < 1 || n > 6000 || additional > 6000 {
			return
		}
		fast, slow := fuzzed(t, make([]byte, 24))
		plaintext, data := testkit.Random("plaintext", int(n)), testkit.Random("data", int(additional))
		for _, m := range aeadModes {
			if m.name == "OCB" && len(nonce) > 15 {
				continue
			}
			aead := must(m.make(fast, len(nonce), 16))
			want := m.reference(slow, 16)(nonce, plaintext, data)
			got := aead.Seal(nil, nonce, plaintext, data)
			if !bytes.Equal(got, want) {
				t.Errorf("%s: wrong result", m.name)
			}
			if back, err := aead.Open(nil, nonce, got, data); err != nil || !bytes.Equal(back, plaintext) {
				t.Errorf("%s: Open is wrong, %v", m.name, err)
			}
			i := int(bit) % (8 * len(got))
			got[i/8] ^= 1 << (i % 8)
			if _, err := aead.Open(got[:0], nonce, got, data); err == nil {
				t.Errorf("%s: a forgery was opened", m.name)
			}
		}
	})
}

// FuzzSideBySide has jobs of any lengths.
func FuzzSideBySide(f *testing.F) {
	f.Add([]byte{1, 0, 200, 3, 3, 3}, uint64(1))
	f.Add(bytes.Repeat([]byte{9, 10}, 70), uint64(2))
	f.Fuzz(func(t *testing.T, lengths []byte, seed uint64) {
		if len(lengths) > 200 {
			return
		}
		fast, slow := fuzzed(t, make([]byte, 16))
		for _, m := range sideModes {
			jobs, want := make([]modes.Job, len(lengths)), make([][]byte, len(lengths))
			for i, n := range lengths {
				iv := testkit.Random(fmt.Sprint(seed, lengths[:i]), 16)
				src := testkit.Random(string(iv), int(n)*3/m.unit(16)*m.unit(16))
				want[i] = make([]byte, len(src))
				m.want(slow, iv)(want[i], src)
				jobs[i] = modes.Job{Dst: src, Src: src, IV: iv}
			}
			m.got(fast, jobs)
			for i := range jobs {
				if !bytes.Equal(jobs[i].Dst, want[i]) {
					t.Fatalf("%s: job %d is wrong", m.name, i)
				}
			}
		}
	})
}
