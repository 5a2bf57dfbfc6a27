package modes_test

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/twogather/twogather/internal/testkit"
	"github.com/twogather/twogather/modes"
)

// TestCMAC has messages of every length, in one piece, in three, and with Sum in between.
func TestCMAC(t *testing.T) {
	for _, s := range subjects(t) {
		t.Run(s.name, func(t *testing.T) { testCMAC(t, s) })
	}
}

func testCMAC(t *testing.T, s subject) {
	size := s.block.BlockSize()
	h, err := modes.NewCMAC(s.block)
	if size != 8 && size != 16 {
		const text = "cipher: CMAC requires a block cipher of 64 or 128 bits"
		if h != nil || err == nil || err.Error() != text {
			t.Errorf("%s: %v, %v, want %q", s.name, h, err, text)
		}
		if sum, err := modes.SumCMAC(s.block, nil); sum != nil || err == nil || err.Error() != text {
			t.Errorf("%s: %x, %v, want %q", s.name, sum, err, text)
		}
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	if h.Size() != size || h.BlockSize() != size {
		t.Errorf("%s: Size() = %d, BlockSize() = %d", s.name, h.Size(), h.BlockSize())
	}
	lengths, cuts := 150, 20
	if testkit.Boundary() {
		lengths, cuts = 70, 4
	}
	for n := range lengths {
		message := testkit.Random(fmt.Sprint(n), n)
		want := cmac(s.reference, message)
		if got := must(modes.SumCMAC(s.block, message)); !bytes.Equal(got, want) {
			t.Fatalf("%s, %d bytes: wrong result", s.name, n)
		}
		for a := 0; a <= n; a += 1 + n/cuts {
			for b := a; b <= n; b += 1 + n/cuts {
				h.Reset()
				for _, part := range [][]byte{message[:a], message[a:b], message[b:]} {
					if m, err := h.Write(part); m != len(part) || err != nil {
						t.Fatalf("%s: Write returns %d, %v for %d bytes", s.name, m, err, len(part))
					}
				}
				if got := h.Sum([]byte("in front")); !bytes.Equal(got, append([]byte("in front"), want...)) {
					t.Fatalf("%s, parts of %d, %d and %d bytes: wrong result", s.name, a, b-a, n-b)
				}
				if got := h.Sum(nil); !bytes.Equal(got, want) {
					t.Fatalf("%s, %d bytes: another result at once", s.name, n)
				}
			}
		}
	}
	h.Reset()
	message := testkit.Random("steps", 3*size)
	for i, c := range message {
		if got := h.Sum(nil); !bytes.Equal(got, cmac(s.reference, message[:i])) {
			t.Fatalf("%s: wrong after %d bytes", s.name, i)
		}
		h.Write([]byte{c})
	}
	long := testkit.Random("long", testkit.Size().Long*size+3)
	if !bytes.Equal(must(modes.SumCMAC(s.block, long)), cmac(s.reference, long)) {
		t.Errorf("%s: wrong for %d bytes", s.name, len(long))
	}
}
