package testkit

import (
	"encoding/hex"
	"strings"
	"testing"
)

// The paper's own results for the iterated test: the key of each round is made of the plaintexts of the rounds before,
// the plaintext of each is the ciphertext of the one before, all zero at first. These are the 49th ciphertexts.
func TestTwofishReference(t *testing.T) {
	for _, c := range []struct {
		size int
		want string
	}{
		{16, "5d9d4eeffa9151575524f115815a12e0"},
		{24, "e75449212beef9f4a390bd860a640941"},
		{32, "37fe26ff1cf66175f5ddf4c33b97a205"},
	} {
		key, text := make([]byte, c.size), make([]byte, 16)
		for range 49 {
			b := NewTwofish(key)
			key = append(append([]byte(nil), text...), key...)[:c.size]
			back := make([]byte, 16)
			b.Encrypt(text, text)
			b.Decrypt(back, text)
			mustEqual(t, back, key[:16], "Decrypt of Encrypt")
		}
		if got := hex.EncodeToString(text); got != c.want {
			t.Errorf("%d-bit key: got %s, want %s", 8*c.size, got, c.want)
		}
	}
}

var sink byte

//go:noinline
func readByte(p *byte) { sink = *p }

//go:noinline
func writeByte(p *byte) { *p = 1 }

// A guard that does not guard would make every test that relies on it pass.
func TestGuarded(t *testing.T) {
	b := Guarded(t, 100)
	if len(b) < 100 || cap(b) != len(b) {
		t.Fatalf("len %d, cap %d", len(b), cap(b))
	}
	writeByte(&b[0])
	writeByte(&b[len(b)-1])
	if !GuardPages {
		t.Skip("no guard pages on this system")
	}
	for _, f := range []func(*byte){readByte, writeByte} {
		Inaccessible(t, b, func() {
			for _, i := range []int{0, len(b) - 1} {
				stack, trace := WhereFaults(t, func() { f(&b[i]) })
				if name := stack[0].Function; !strings.HasSuffix(name, "readByte") && !strings.HasSuffix(name, "writeByte") {
					t.Errorf("the fault was in %s", name)
				}
				if !strings.Contains(trace, "TestGuarded") {
					t.Errorf("no way back to the test in:\n%s", trace)
				}
			}
		})
	}
	for _, at := range guards(b) {
		WhereFaults(t, func() { readByte(at) })
		WhereFaults(t, func() { writeByte(at) })
	}
}

func TestMustPanic(t *testing.T) {
	b := []byte{1, 2}
	for _, c := range []struct {
		name string
		f    func()
		fail bool
	}{
		{"as it should be", func() { panic("text") }, false},
		{"another text", func() { panic("texts") }, true},
		{"no panic", func() {}, true},
		{"written before", func() { b[1]++; panic("text") }, true},
	} {
		r := &recorder{TB: t}
		MustPanic(r, "text", c.f, b)
		if r.failed != c.fail {
			t.Errorf("%s: failed is %v", c.name, r.failed)
		}
	}
}

// A recorder keeps a failure to itself.
type recorder struct {
	testing.TB
	failed bool
}

func (r *recorder) Errorf(string, ...any) { r.failed = true }
func (r *recorder) Helper()               {}

func TestAround(t *testing.T) {
	for _, batch := range []int{1, 16, 64} {
		have := make(map[int]bool)
		for _, n := range around(batch) {
			if n < 0 || have[n] {
				t.Fatalf("batch %d: %d is negative or comes twice", batch, n)
			}
			have[n] = true
		}
		for _, n := range []int{0, 1, 2, 3, 4, 5, batch - 1, batch, batch + 1, 3*batch - 1, 3*batch + 1} {
			if !have[n] {
				t.Errorf("batch %d: %d is missing", batch, n)
			}
		}
	}
}
