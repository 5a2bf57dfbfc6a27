package modes

import (
	"crypto/aes"
	"encoding/binary"
	"math/bits"
	"testing"

	"github.com/twogather/twogather/internal/testkit"
)

// TestOCBLimit asks the check, since a message of that length is not to be had.
func TestOCBLimit(t *testing.T) {
	if bits.UintSize < 64 {
		t.Skip("no message is too long where an int has 32 bits")
	}
	x := &ocb{nonceSize: 1}
	nonce, most := make([]byte, 1), uint64(maxOCB)
	x.check(nonce, int(most))
	testkit.MustPanic(t, "crypto/cipher: message too large for OCB", func() { x.check(nonce, int(most+1)) })
}

// TestGCMLengths has sizes that do not fit in 32 bits, or whose bits do not.
func TestGCMLengths(t *testing.T) {
	for _, n := range []uint64{0, 1, 1<<29 - 1, 1 << 29, 1<<32 - 1, 1<<32 + 5, maxGCM} {
		if uint64(int(n)) != n {
			continue // where an int has 32 bits
		}
		got := lengths(int(n), int(n/3))
		if a, b := binary.BigEndian.Uint64(got[:]), binary.BigEndian.Uint64(got[8:]); a != 8*n || b != n/3*8 {
			t.Errorf("%d and %d bytes: %d and %d bits", n, n/3, a, b)
		}
	}
	// The key stream up to the counter's wrap is as long as a message may be, and a block.
	b, err := aes.NewCipher(make([]byte, 16))
	if err != nil {
		t.Fatal(err)
	}
	s := gcmState{ctr: NewCTR(b, make([]byte, aeadBlock))}
	s.counter[aeadBlock-1] = 1
	s.restart()
	if s.untilWrap != maxGCM+aeadBlock {
		t.Errorf("%d bytes before the counter wraps", s.untilWrap)
	}
}

// TestDoubled has both fields, with and without a carry.
func TestDoubled(t *testing.T) {
	for _, size := range []int{8, 16} {
		b := make([]byte, size)
		b[0], b[1], b[size-1] = 0x40, 0x80, 1
		d := doubled(b)
		if d[0] != 0x81 || d[1] != 0 || d[size-1] != 2 {
			t.Errorf("twice %x is %x", b, d)
		}
		polynomial := map[int]byte{8: 0x1b, 16: 0x87}[size]
		if d = doubled(d); d[0] != 2 || d[size-1] != 4^polynomial {
			t.Errorf("four times %x is %x", b, d)
		}
	}
}
