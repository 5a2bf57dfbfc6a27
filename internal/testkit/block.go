package testkit

import (
	"bytes"
	"crypto/cipher"
	"fmt"
	"testing"
)

// A Maker makes the block cipher of a key.
type Maker = func(key []byte) (cipher.Block, error)

// TestBlock checks the ciphers that newBlock makes against a reference's, for keys of each size in bytes. The texts of
// their panics start with prefix.
func TestBlock(t *testing.T, prefix string, newBlock, reference Maker, keySizes ...int) {
	for _, size := range keySizes {
		t.Run(fmt.Sprintf("%d-bit key", 8*size), func(t *testing.T) {
			for i := range Size().Keys {
				testKey(t, newBlock, reference, Random(fmt.Sprint(t.Name(), i), size))
			}
			// Keys with structure: all zeros, all ones, single bits at the ends of each byte.
			testKey(t, newBlock, reference, make([]byte, size))
			testKey(t, newBlock, reference, bytes.Repeat([]byte{0xff}, size))
			for i := range size {
				if Boundary() && i%5 != 0 {
					continue
				}
				key := make([]byte, size)
				key[i] = 1
				testKey(t, newBlock, reference, key)
				key[i] = 0x80
				testKey(t, newBlock, reference, key)
			}

			key := Random(t.Name(), size)
			b := must(t, newBlock, key)
			testSingle(t, prefix, b.BlockSize(), b.Encrypt, must(t, reference, key).Encrypt)
			testSingle(t, prefix, b.BlockSize(), b.Decrypt, must(t, reference, key).Decrypt)
		})
	}
}

func must(t *testing.T, newBlock Maker, key []byte) cipher.Block {
	t.Helper()
	b, err := newBlock(key)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// testKey compares blocks encrypted and decrypted with one key, and sees that the key is neither written to nor kept.
func testKey(t *testing.T, newBlock, reference Maker, key []byte) {
	t.Helper()
	want := must(t, reference, key)
	k := bytes.Clone(key)
	got := must(t, newBlock, k)
	mustEqual(t, k, key, "the key, after use")
	clear(k)

	size := want.BlockSize()
	if got.BlockSize() != size {
		t.Fatalf("BlockSize() = %d, want %d", got.BlockSize(), size)
	}
	inputs := Random(fmt.Sprintf("%x", key), Size().Blocks*size)
	inputs = append(inputs, make([]byte, size)...)
	inputs = append(inputs, bytes.Repeat([]byte{0xff}, size)...)
	g, w := make([]byte, size), make([]byte, size)
	for ; len(inputs) > 0; inputs = inputs[size:] {
		in := inputs[:size]
		got.Encrypt(g, in)
		want.Encrypt(w, in)
		mustEqual(t, g, w, "key %x, Encrypt(%x)", key, in)
		got.Decrypt(g, g)
		mustEqual(t, g, in, "key %x, Decrypt of Encrypt in place", key)
		got.Decrypt(g, in)
		want.Decrypt(w, in)
		mustEqual(t, g, w, "key %x, Decrypt(%x)", key, in)
		copy(g, in)
		got.Encrypt(g, g)
		got.Decrypt(w, g)
		mustEqual(t, w, in, "key %x, Decrypt of Encrypt", key)
	}
}

// testSingle checks how one block goes from src to dst: f is Encrypt or Decrypt, want the reference's.
func testSingle(t *testing.T, prefix string, size int, f, want func(dst, src []byte)) {
	t.Helper()
	in := Random("block", size)
	out := make([]byte, size)
	want(out, in)

	// Both buffers may be longer than a block; the rest does not count and is not touched.
	src := append(bytes.Clone(in), 1, 2, 3)
	dst := append(bytes.Repeat([]byte{canary}, size), 4, 5, 6)
	f(dst, src)
	mustEqual(t, dst, append(bytes.Clone(out), 4, 5, 6), "longer buffers")
	mustEqual(t, src, append(bytes.Clone(in), 1, 2, 3), "the source, after use")

	// At every offset from a page that faults.
	ps, pd := Guarded(t, size), Guarded(t, size)
	spoil(pd)
	for _, so := range Size().Offsets {
		for _, do := range Size().Offsets {
			for _, s := range [][]byte{ps[so : so+size], ps[len(ps)-so-size : len(ps)-so]} {
				for _, from := range []int{do, len(pd) - do - size} {
					d := pd[from : from+size]
					copy(s, in)
					f(d, s)
					if !bytes.Equal(d, out) {
						t.Fatalf("source at offset %d, destination at %d: wrong result", so, do)
					}
					if !intact(pd[max(from-64, 0):from]) || !intact(pd[from+size:min(from+size+64, len(pd))]) {
						t.Fatalf("source at offset %d, destination at %d: written outside", so, do)
					}
					spoil(d)
				}
			}
		}
	}

	// Too short: nothing is written.
	for n := range size {
		dst := bytes.Repeat([]byte{canary}, size)
		MustPanic(t, prefix+": input not full block", func() { f(dst, in[:n]) }, dst)
		MustPanic(t, prefix+": input not full block", func() { f(dst, in[:n:n]) }, dst)
		MustPanic(t, prefix+": output not full block", func() { f(dst[:n], in) }, dst)
		MustPanic(t, prefix+": output not full block", func() { f(dst[:n:n], in) }, dst)
	}
	dst = bytes.Repeat([]byte{canary}, size)
	MustPanic(t, prefix+": input not full block", func() { f(dst, nil) }, dst)
	MustPanic(t, prefix+": output not full block", func() { f(nil, in) })

	// Overlap: only the first blocks of both buffers count.
	both := Random("both", 3*size)
	for d := 1; d < size; d++ {
		MustPanic(t, prefix+": invalid buffer overlap", func() { f(both, both[d:]) }, both)
		MustPanic(t, prefix+": invalid buffer overlap", func() { f(both[d:], both) }, both)
		MustPanic(t, prefix+": invalid buffer overlap", func() { f(both[:size], both[d:d+size]) }, both)
		MustPanic(t, prefix+": invalid buffer overlap", func() { f(both[d:d+size], both[:size]) }, both)
	}
	copy(both, in)
	f(both[size:], both)
	mustEqual(t, both[size:2*size], out, "destination right behind the source")
	copy(both[size:], in)
	f(both, both[size:])
	mustEqual(t, both[:size], out, "destination right before the source")
	copy(both, in)
	f(both, both)
	mustEqual(t, both[:size], out, "in place")
}

// A Bulk is a cipher that processes many blocks in a call.
type Bulk interface {
	cipher.Block
	EncryptBlocks(dst, src []byte)
	DecryptBlocks(dst, src []byte)
}

// TestBulk checks EncryptBlocks and DecryptBlocks, whose kernel takes batch blocks at a time, against a reference's single
// blocks. The texts of their panics start with prefix.
func TestBulk(t *testing.T, prefix string, b Bulk, reference cipher.Block, batch int) {
	size := b.BlockSize()
	for _, op := range []struct {
		name      string
		got, want func(dst, src []byte)
	}{
		{"EncryptBlocks", b.EncryptBlocks, reference.Encrypt},
		{"DecryptBlocks", b.DecryptBlocks, reference.Decrypt},
	} {
		t.Run(op.name, func(t *testing.T) {
			x := transform{prefix: prefix, size: size, unit: size, batch: batch}
			x.fresh = func() func(dst, src []byte) { return op.got }
			x.want = func() func(dst, src []byte) { return BlockByBlock(size, op.want) }
			x.run(t)
		})
	}
}

// BlockByBlock returns a function that calls f for each block.
func BlockByBlock(size int, f func(dst, src []byte)) func(dst, src []byte) {
	return func(dst, src []byte) {
		for ; len(src) > 0; dst, src = dst[size:], src[size:] {
			f(dst[:size], src[:size])
		}
	}
}
