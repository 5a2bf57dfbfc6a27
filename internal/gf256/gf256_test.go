package gf256

import (
	"math/bits"
	"math/rand/v2"
	"testing"
)

// slowMul multiplies polynomials over GF(2) and divides by x⁸+x⁴+x³+x²+1, bit by bit.
func slowMul(a, b byte) byte {
	product := 0
	for i := range 8 {
		product ^= int(a) << i * int(b>>i&1)
	}
	for i := 14; i >= 8; i-- {
		product ^= 0b1_0001_1101 << (i - 8) * (product >> i & 1)
	}
	return byte(product)
}

func TestProducts(t *testing.T) {
	for c := range 256 {
		a := byte(c)
		low, high := Nibbles(a)
		matrix := Matrix(a)
		for x := range 256 {
			b := byte(x)
			want := slowMul(a, b)
			if got := Mul(a, b); got != want {
				t.Fatalf("%#02x·%#02x = %#02x, want %#02x", a, b, got, want)
			}
			if got := low[b&15] ^ high[b>>4]; got != want {
				t.Fatalf("%#02x·%#02x = %#02x by nibbles, want %#02x", a, b, got, want)
			}
			// GF2P8AFFINEQB: bit i of the result is the parity of byte 7-i of the matrix AND b.
			var got byte
			for i := range 8 {
				row := byte(matrix >> (8 * (7 - i)))
				got |= byte(bits.OnesCount8(row&b)&1) << i
			}
			if got != want {
				t.Fatalf("%#02x·%#02x = %#02x by the matrix, want %#02x", a, b, got, want)
			}
		}
		if got, want := Double(a), slowMul(2, a); got != want {
			t.Errorf("2·%#02x = %#02x, want %#02x", a, got, want)
		}
		if a != 0 && slowMul(a, Inverse(a)) != 1 {
			t.Errorf("1/%#02x = %#02x", a, Inverse(a))
		}
		if a != 0 && Power(Log(a)) != a {
			t.Errorf("2^%d = %#02x, want %#02x", Log(a), Power(Log(a)), a)
		}
	}
}

func TestLaws(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 10_000 {
		a, b, c := byte(r.Uint32()), byte(r.Uint32()), byte(r.Uint32())
		if Mul(a, b) != Mul(b, a) || Mul(a, Mul(b, c)) != Mul(Mul(a, b), c) || Mul(a, b^c) != Mul(a, b)^Mul(a, c) {
			t.Fatalf("%#x, %#x and %#x break the laws of a field", a, b, c)
		}
	}
	// 2 generates all elements but 0.
	seen := map[byte]bool{}
	for i, a := 0, byte(1); i < 255; i, a = i+1, Mul(2, a) {
		seen[a] = true
	}
	if len(seen) != 255 || seen[0] {
		t.Errorf("2 generates %d elements", len(seen))
	}
}

func TestPowers(t *testing.T) {
	want := byte(1)
	for i := range 600 {
		if got := Power(i); got != want {
			t.Errorf("2^%d = %#02x, want %#02x", i, got, want)
		}
		if got := slowMul(Power(-i), want); got != 1 {
			t.Errorf("2^-%d·2^%d = %#02x", i, i, got)
		}
		want = slowMul(want, 2)
	}
}
