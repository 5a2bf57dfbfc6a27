package testkit

import (
	"bytes"
	"crypto/cipher"
	"testing"
)

// TestBlockMode checks a block mode against the one that want makes. Its cipher processes batch blocks of the given size
// at a time.
func TestBlockMode(t *testing.T, size, batch int, got, want func(iv []byte) cipher.BlockMode) {
	iv := Random(t.Name()+" iv", size)
	x := transform{prefix: "crypto/cipher", size: size, unit: size, batch: batch}
	x.fresh = func() func(dst, src []byte) { return got(iv).CryptBlocks }
	x.want = func() func(dst, src []byte) { return want(iv).CryptBlocks }
	x.run(t)

	kept := bytes.Clone(iv)
	mode := got(kept)
	if mode.BlockSize() != size {
		t.Errorf("BlockSize() = %d, want %d", mode.BlockSize(), size)
	}
	in := Random("in", (batch+3)*size)
	g, w := make([]byte, len(in)), make([]byte, len(in))
	clear(kept) // The IV was copied.
	mode.CryptBlocks(g, in)
	want(iv).CryptBlocks(w, in)
	mustEqual(t, g, w, "the IV changed after the constructor")

	setter, ok := mode.(interface{ SetIV([]byte) })
	if _, std := want(iv).(interface{ SetIV([]byte) }); !std {
		return
	} else if !ok {
		t.Fatal("no method SetIV, which the standard library's modes have")
	}
	for _, n := range []int{0, size - 1, size + 1} {
		MustPanic(t, "cipher: incorrect length IV", func() { setter.SetIV(make([]byte, n)) })
	}
	for _, blocks := range []int{0, 1, batch, batch + 3} { // after calls of several lengths
		mode.CryptBlocks(g[:blocks*size], in[:blocks*size])
		copy(kept, iv)
		setter.SetIV(kept)
		clear(kept)
		mode.CryptBlocks(g, in)
		mustEqual(t, g, w, "after SetIV")
	}
}

// TestStream checks a stream against the one that want makes. Its cipher processes batch blocks of the given size at a
// time.
func TestStream(t *testing.T, size, batch int, got, want func(iv []byte) cipher.Stream) {
	iv := Random(t.Name()+" iv", size)
	x := transform{prefix: "crypto/cipher", size: size, unit: 1, batch: batch}
	x.fresh = func() func(dst, src []byte) { return got(iv).XORKeyStream }
	x.want = func() func(dst, src []byte) { return want(iv).XORKeyStream }
	x.run(t)

	kept := bytes.Clone(iv)
	stream := got(kept)
	in := Random("in", (batch+3)*size)
	g, w := make([]byte, len(in)), make([]byte, len(in))
	clear(kept) // The IV was copied.
	stream.XORKeyStream(g, in)
	want(iv).XORKeyStream(w, in)
	mustEqual(t, g, w, "the IV changed after the constructor")
}
