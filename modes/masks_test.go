//go:build amd64 && !purego

package modes

import (
	"bytes"
	"encoding/binary"
	"math/big"
	"math/bits"
	"testing"

	"github.com/twogather/twogather/internal/testkit"
)

// TestLaneSteps checks the assembly that collects lanes to rows and distributes them, between pages that fault.
func TestLaneSteps(t *testing.T) {
	if !hasAVX2 {
		t.Skip("the processor lacks AVX2")
	}
	const most = 19
	for row := 32; row <= 112; row += 16 {
		for steps := 0; steps <= most; steps++ {
			lane, rows := testkit.Guarded(t, 2*most*16), testkit.Guarded(t, most*row)
			for _, n := range [][2]int{{steps, steps}, {steps + 1, steps}, {steps / 2, steps}, {steps, 0}} {
				whole := min(n[0], n[1], steps)
				a, b := lane[:n[0]*16+3], lane[len(lane)-n[1]*16:]
				copy(a, testkit.Random("a", len(a)))
				copy(b, testkit.Random("b", len(b)))
				clear(rows)
				size := max((whole-1)*row+32, 0)
				r := rows[len(rows)-size:]
				if got := collectSteps(r, a, b, steps, row); got != whole {
					t.Fatalf("collectSteps of %d and %d blocks for %d steps returns %d", n[0], n[1], steps, got)
				}
				want := make([]byte, size)
				for i := range whole {
					copy(want[i*row:], a[i*16:][:16])
					copy(want[i*row+16:], b[i*16:][:16])
				}
				if !bytes.Equal(r, want) {
					t.Fatalf("collectSteps of %d and %d blocks for %d steps: wrong", n[0], n[1], steps)
				}
				wantA, wantB := bytes.Clone(a), bytes.Clone(b)
				clear(a[:whole*16])
				clear(b[:whole*16])
				if got := distributeSteps(a, b, r, steps, row); got != whole || !bytes.Equal(a, wantA) || !bytes.Equal(b, wantB) {
					t.Fatalf("distributeSteps of %d and %d blocks for %d steps returns %d, or is wrong", n[0], n[1], steps, got)
				}
			}
		}
	}
}

// TestSteps checks the assembly, between pages that fault, against what it stands for.
func TestSteps(t *testing.T) {
	if !hasAVX2 {
		t.Skip("the processor lacks AVX2")
	}
	const most = 5 * 128
	dst, x, y := testkit.Guarded(t, most), testkit.Guarded(t, most), testkit.Guarded(t, most)
	copy(x, testkit.Random("x", len(x)))
	copy(y, testkit.Random("y", len(y)))
	for n := 0; n <= most; n += 64 {
		whole := n &^ 127
		for _, back := range []bool{false, true} {
			cut := func(b []byte) []byte {
				if back {
					return b[len(b)-n:]
				}
				return b[:n]
			}
			dst, x, y := cut(dst), cut(x), cut(y)

			if got := xorSteps(dst, x, y); got != whole {
				t.Fatalf("xorSteps of %d bytes returns %d", n, got)
			}
			for i := range dst[:whole] {
				if dst[i] != x[i]^y[i] {
					t.Fatalf("xorSteps of %d bytes: wrong from byte %d on", n, i)
				}
			}

			sum, want := load128(make([]byte, 16)), make([]byte, 16)
			want[3], sum = 5, load128([]byte{3: 5, 15: 0})
			for i, b := range x[:whole] {
				want[i%16] ^= b
			}
			if got := foldSteps(&sum, x); got != whole || sum != load128(want) {
				t.Fatalf("foldSteps of %d bytes: wrong result", n)
			}

			for _, start := range []tweak{{1, 0}, {0, 1 << 63}, {0x0123456789abcdef, 0xfedcba9876543210}, {^uint64(0), ^uint64(0)}} {
				next := start
				if got := fillTweaksSteps(dst, &next); got != whole {
					t.Fatalf("fillTweaksSteps of %d bytes returns %d", n, got)
				}
				number := new(big.Int).SetUint64(start.hi)
				number.Lsh(number, 64).Or(number, new(big.Int).SetUint64(start.lo))
				for i := 0; i <= whole; i += 16 {
					be := number.FillBytes(make([]byte, 16))
					is := tweak{binary.BigEndian.Uint64(be[8:]), binary.BigEndian.Uint64(be)}
					if i == whole && next != is || i < whole && loadTweak(dst[i:]) != is {
						t.Fatalf("fillTweaksSteps of %d bytes from %x on: wrong at byte %d", n, start, i)
					}
					if number.Lsh(number, 1); number.Bit(128) == 1 {
						number.SetBit(number, 128, 0).Xor(number, big.NewInt(0x87))
					}
				}
			}

			var l, first [64]word128
			for j := range l {
				l[j] = load128(testkit.Random(string(rune('a'+j)), 16))
			}
			for i := 1; i < 8; i++ {
				first[i-1] = l[bits.TrailingZeros(uint(i))]
				if i > 1 {
					first[i-1] = first[i-1].xor(first[i-2])
				}
			}
			first[7] = first[6]
			for _, block := range []uint64{0, 8, 56, 64, 1<<40 - 8, 1<<40 - 24} {
				offset := load128(testkit.Random("offset", 16))
				after := offset
				if got := fillOffsetsSteps(dst, &first[0], &l[0], &after, block); got != whole {
					t.Fatalf("fillOffsetsSteps of %d bytes returns %d", n, got)
				}
				want := make([]byte, 16)
				for i := 0; i < whole; i += 16 {
					block++
					offset = offset.xor(l[bits.TrailingZeros64(block)])
					if offset.store(want); !bytes.Equal(dst[i:i+16], want) {
						t.Fatalf("fillOffsetsSteps of %d bytes: wrong at byte %d", n, i)
					}
				}
				if after != offset {
					t.Fatalf("fillOffsetsSteps of %d bytes leaves another offset", n)
				}
			}
			if n > 0 {
				prefetch(dst, x, n/2) // and beyond: nothing faults
			}
		}
	}
}
