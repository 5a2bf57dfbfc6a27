package modes_test

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"crypto/des"
	"fmt"
	"strings"
	"testing"

	//lint:ignore SA1019 this is what ours stands in for
	xtwofish "golang.org/x/crypto/twofish"

	"github.com/twogather/twogather/hwfeatures"
	"github.com/twogather/twogather/internal/testkit"
	"github.com/twogather/twogather/modes"
	"github.com/twogather/twogather/twofish"
)

// A subject is a cipher that the modes are checked over.
type subject struct {
	name      string
	block     cipher.Block
	reference cipher.Block // the same cipher, for the standard library's modes: no more than a Block
	batch     int
}

// plain hides everything but a Block's own methods.
type plain struct{ cipher.Block }

// bulk is a cipher with many blocks in a call, and no whole modes.
type bulk struct {
	plain
	encrypt, decrypt func(dst, src []byte)
}

func (b bulk) EncryptBlocks(dst, src []byte) { b.encrypt(dst, src) }
func (b bulk) DecryptBlocks(dst, src []byte) { b.decrypt(dst, src) }

// newBulk makes any Block a Bulk that insists on its contract.
func newBulk(b cipher.Block) modes.Bulk {
	size := b.BlockSize()
	strict := func(f func(dst, src []byte)) func(dst, src []byte) {
		each := testkit.BlockByBlock(size, f)
		return func(dst, src []byte) {
			if len(src)%size != 0 || len(dst) < len(src) {
				panic(fmt.Sprintf("a mode asks for %d bytes into %d", len(src), len(dst)))
			}
			each(dst[:len(src)], src)
		}
	}
	return bulk{plain{b}, strict(b.Encrypt), strict(b.Decrypt)}
}

// toy is a keyless cipher of any block size: it turns a block round by a byte and counts along.
type toy int

func (b toy) BlockSize() int { return int(b) }

func (b toy) Encrypt(dst, src []byte) {
	src, dst = src[:b], dst[:b]
	first := src[0]
	for i := 1; i < len(src); i++ {
		dst[i-1] = src[i] + byte(i)
	}
	dst[b-1] = first + 0x5a
}

func (b toy) Decrypt(dst, src []byte) {
	src, dst = src[:b], dst[:b]
	last := src[b-1]
	for i := int(b) - 1; i > 0; i-- {
		dst[i] = src[i-1] - byte(i)
	}
	dst[0] = last - 0x5a
}

// subjects are for all modes. With a forced kernel to which a single block is a batch in Go, checks are as small as they get.
func subjects(t testing.TB) []subject {
	t.Helper()
	if strings.HasPrefix(hwfeatures.ForcedKernel("twofish"), "generic-constant-time") {
		testkit.Reduce(t)
	}
	key := testkit.Random("modes", 32)
	fast, slow := must(twofish.NewCipher(key)), must(xtwofish.NewCipher(key))
	d := must(des.NewCipher(key[:8]))
	wide := []subject{
		{"twofish", fast, plain{slow}, 16},
		{"twofish without whole modes", bulk{plain{fast}, fast.EncryptBlocks, fast.DecryptBlocks}, plain{slow}, 16},
	}
	if testing.Short() {
		return wide // what depends on the processor
	}
	return append(wide, []subject{
		{"twofish block by block", plain{fast}, plain{slow}, 1},
		{"DES", d, plain{d}, 1},
		{"DES in bulk", newBulk(d), plain{d}, 16},
		{"blocks of 24 bytes in bulk", newBulk(toy(24)), toy(24), 5},
		{"blocks of 33 bytes", toy(33), toy(33), 1},
		{"blocks of 1 byte in bulk", newBulk(toy(1)), toy(1), 16},
	}...)
}

type streamMode struct {
	name      string
	got, want func(b cipher.Block, iv []byte) cipher.Stream
}

func streamModes() []streamMode {
	return []streamMode{
		{"CTR", func(b cipher.Block, iv []byte) cipher.Stream { return modes.NewCTR(b, iv) }, cipher.NewCTR},
		//lint:ignore SA1019 this is what ours stands in for
		{"CFB encryption", modes.NewCFBEncrypter, cipher.NewCFBEncrypter},
		//lint:ignore SA1019 this is what ours stands in for
		{"CFB decryption", modes.NewCFBDecrypter, cipher.NewCFBDecrypter},
		//lint:ignore SA1019 this is what ours stands in for
		{"OFB", modes.NewOFB, cipher.NewOFB},
	}
}

func TestStreams(t *testing.T) {
	for _, s := range subjects(t) {
		t.Run(s.name, func(t *testing.T) {
			for _, m := range streamModes() {
				t.Run(m.name, func(t *testing.T) {
					testkit.TestStream(t, s.block.BlockSize(), s.batch,
						func(iv []byte) cipher.Stream { return m.got(s.block, iv) },
						func(iv []byte) cipher.Stream { return m.want(s.reference, iv) })
				})
			}
		})
	}
}

// bigBlocks has blocks that are longer than the buffers inside the modes.
func bigBlocks() []subject {
	return []subject{
		{"blocks of 5121 bytes", toy(5121), toy(5121), 1},
		{"blocks of 5121 bytes in bulk", newBulk(toy(5121)), toy(5121), 1},
		{"blocks of 1500 bytes in bulk", newBulk(toy(1500)), toy(1500), 1},
	}
}

// ecb is electronic codebook mode as one would write it.
type ecb struct {
	size int
	f    func(dst, src []byte)
}

func (x ecb) BlockSize() int              { return x.size }
func (x ecb) CryptBlocks(dst, src []byte) { testkit.BlockByBlock(x.size, x.f)(dst, src) }

type blockMode struct {
	name      string
	got, want func(b cipher.Block, iv []byte) cipher.BlockMode
}

func blockModes() []blockMode {
	return []blockMode{
		{
			"ECB encryption",
			func(b cipher.Block, iv []byte) cipher.BlockMode { return modes.NewECBEncrypter(b) },
			func(b cipher.Block, iv []byte) cipher.BlockMode { return ecb{b.BlockSize(), b.Encrypt} },
		},
		{
			"ECB decryption",
			func(b cipher.Block, iv []byte) cipher.BlockMode { return modes.NewECBDecrypter(b) },
			func(b cipher.Block, iv []byte) cipher.BlockMode { return ecb{b.BlockSize(), b.Decrypt} },
		},
		{"CBC encryption", modes.NewCBCEncrypter, cipher.NewCBCEncrypter},
		{"CBC decryption", modes.NewCBCDecrypter, cipher.NewCBCDecrypter},
	}
}

func TestBlockModes(t *testing.T) {
	for _, s := range subjects(t) {
		t.Run(s.name, func(t *testing.T) {
			for _, m := range blockModes() {
				t.Run(m.name, func(t *testing.T) {
					testkit.TestBlockMode(t, s.block.BlockSize(), s.batch,
						func(iv []byte) cipher.BlockMode { return m.got(s.block, iv) },
						func(iv []byte) cipher.BlockMode { return m.want(s.reference, iv) })
				})
			}
		})
	}
}

func TestBigBlocks(t *testing.T) {
	for _, s := range bigBlocks() {
		size := s.block.BlockSize()
		in, iv := testkit.Random("big", 7*size), testkit.Random("iv", size)
		for _, m := range blockModes() {
			want := make([]byte, len(in))
			m.want(s.reference, iv).CryptBlocks(want, in)
			got := bytes.Clone(in)
			mode := m.got(s.block, iv)
			mode.CryptBlocks(got[:size], in[:size])
			mode.CryptBlocks(got[size:4*size], got[size:4*size])
			mode.CryptBlocks(got[4*size:], in[4*size:])
			if !bytes.Equal(got, want) {
				t.Errorf("%s, %s: wrong result", s.name, m.name)
			}
		}
		for _, m := range streamModes() {
			want, got := make([]byte, len(in)), bytes.Clone(in)
			if m.name == "OFB" { // the standard library's does not end with blocks of more than 256 bytes
				copy(want, xor(in, ofbKeyStream(s.reference, iv, len(in))))
			} else {
				m.want(s.reference, iv).XORKeyStream(want, in)
			}
			stream := m.got(s.block, iv)
			for a, n := 0, 1000; a < len(in); a, n = a+n, n+1000 {
				b := min(a+n, len(in))
				stream.XORKeyStream(got[a:b], got[a:b])
			}
			if !bytes.Equal(got, want) {
				t.Errorf("%s, %s: wrong result", s.name, m.name)
			}
		}
	}
}

// TestWrongIVs covers the constructors; what passes through the standard library's is checked beside twofish.
func TestWrongIVs(t *testing.T) {
	for _, s := range subjects(t) {
		size := s.block.BlockSize()
		for _, n := range []int{0, size - 1, size + 1, 2 * size} {
			iv := make([]byte, n)
			testkit.MustPanic(t, "cipher.NewCBCEncrypter: IV length must equal block size", func() { modes.NewCBCEncrypter(s.block, iv) })
			testkit.MustPanic(t, "cipher.NewCBCDecrypter: IV length must equal block size", func() { modes.NewCBCDecrypter(s.block, iv) })
			// The texts are the standard library's own.
			testkit.MustPanic(t, "cipher.NewCBCEncrypter: IV length must equal block size", func() { cipher.NewCBCEncrypter(s.reference, iv) })
			testkit.MustPanic(t, "cipher.NewCBCDecrypter: IV length must equal block size", func() { cipher.NewCBCDecrypter(s.reference, iv) })
			for _, m := range streamModes() {
				text := map[string]string{"CTR": "cipher.NewCTR", "OFB": "cipher.NewOFB"}[m.name]
				if text == "" {
					text = "cipher.newCFB"
				}
				text += ": IV length must equal block size"
				testkit.MustPanic(t, text, func() { m.got(s.block, iv) })
				testkit.MustPanic(t, text, func() { m.want(s.reference, iv) })
			}
		}
		testkit.MustPanic(t, "cipher.NewCTR: IV length must equal block size", func() { modes.NewCTR(s.block, nil) })
	}
}

// TestKitOverStandardLibrary runs the same checks over the standard library's modes: what they demand is what programs
// have always had.
func TestKitOverStandardLibrary(t *testing.T) {
	d := plain{must(des.NewCipher(testkit.Random("modes", 8)))}
	for _, m := range blockModes()[2:] {
		t.Run(m.name, func(t *testing.T) {
			testkit.TestBlockMode(t, 8, 1,
				func(iv []byte) cipher.BlockMode { return m.want(d, iv) },
				func(iv []byte) cipher.BlockMode { return m.want(d, iv) })
		})
	}
	for _, m := range streamModes() {
		t.Run(m.name, func(t *testing.T) {
			testkit.TestStream(t, 8, 1,
				func(iv []byte) cipher.Stream { return m.want(d, iv) },
				func(iv []byte) cipher.Stream { return m.want(d, iv) })
		})
	}
	t.Run("GCM", func(t *testing.T) {
		gcm := must(cipher.NewGCM(must(aes.NewCipher(make([]byte, 16)))))
		testkit.TestAEAD(t, testkit.AEADCheck{Name: "GCM", Size: 16, Batch: 1, Got: gcm, Seal: func(nonce, plaintext, additionalData []byte) []byte {
			return gcm.Seal(nil, nonce, plaintext, additionalData)
		}})
	})
}

// TestAllocs has its buffers on the heap: calls through an interface would make them escape anyway. Beside twofish the
// same is done with buffers on the stack.
func TestAllocs(t *testing.T) {
	for _, s := range subjects(t) {
		size := s.block.BlockSize()
		buf, iv := make([]byte, 150*size), make([]byte, size)
		none := func(name string, f func()) {
			t.Helper()
			if n := testing.AllocsPerRun(10, f); n != 0 {
				t.Errorf("%s, %s: %v allocations", s.name, name, n)
			}
		}
		for _, m := range blockModes() {
			mode := m.got(s.block, iv)
			none(m.name, func() { mode.CryptBlocks(buf, buf) })
			none(m.name+" of one block", func() { mode.CryptBlocks(buf[:size], buf[:size]) })
		}
		for _, m := range streamModes() {
			stream := m.got(s.block, iv)
			none(m.name, func() { stream.XORKeyStream(buf, buf) })
			none(m.name+" of one byte", func() { stream.XORKeyStream(buf[:1], buf[:1]) })
		}
		ctr := modes.NewCTR(s.block, iv)
		none("SeekBlock", func() { ctr.SeekBlock(5) })
	}
}
