package main

import (
	"crypto/cipher"
	"crypto/rand"
	"time"

	"github.com/twogather/twogather/hwfeatures"
	"github.com/twogather/twogather/internal/kernel"
	"github.com/twogather/twogather/modes"
	"github.com/twogather/twogather/twofish"
	//lint:ignore SA1019 it is what we compare with
	xtwofish "golang.org/x/crypto/twofish"
	"golang.org/x/crypto/xts"
)

// What Twofish is measured at. "libgcrypt best" is libgcrypt's fastest path for many blocks, which is what it does for CBC
// decryption, whatever mode ours is in: Debian's libgcrypt has no such path for ECB.
const (
	ecbEncrypt    = "ECB encrypt"
	ecbDecrypt    = "ECB decrypt"
	cbcEncrypt    = "CBC encrypt"
	cbcDecrypt    = "CBC decrypt"
	ctr           = "CTR"
	gcmSeal       = "GCM encrypt"
	gcmOpen       = "GCM decrypt"
	cfbEncrypt    = "CFB encrypt"
	cfbDecrypt    = "CFB decrypt"
	ofb           = "OFB"
	xtsEncrypt    = "XTS encrypt"
	xtsDecrypt    = "XTS decrypt"
	xtsSectors    = "XTS encrypt, 512-byte sectors"
	eaxEncrypt    = "EAX encrypt"
	ocbEncrypt    = "OCB encrypt"
	cmac          = "CMAC"
	cbcSide       = "CBC encrypt, 64 messages"
	blockEncrypt  = "Encrypt"
	blockDecrypt  = "Decrypt"
	bulkOne       = "EncryptBlocks of one"
	streamOne     = "XORKeyStream of one"
	newCipher     = "NewCipher"
	newAndProcess = "NewCipher, block and batch"
)

var keySizes = []int{16, 24, 32}

func twofishWorks() []work {
	var works []work
	for _, mode := range []string{ecbEncrypt, ecbDecrypt, cbcEncrypt, cbcDecrypt, ctr, gcmSeal, gcmOpen} {
		for _, size := range []int{16, 256, 4 << 10, 16 << 10, 64 << 10, 1 << 20} {
			works = append(works, work{name: mode, size: size})
		}
	}
	for _, mode := range []string{cfbEncrypt, cfbDecrypt, ofb, xtsEncrypt, xtsDecrypt, xtsSectors, eaxEncrypt, ocbEncrypt, cmac, cbcSide} {
		for _, size := range []int{1 << 10, 16 << 10, 1 << 20} {
			works = append(works, work{name: mode, size: size})
		}
	}
	for _, name := range []string{blockEncrypt, blockDecrypt, bulkOne, streamOne} {
		works = append(works, work{name: name, size: 16})
	}
	for _, name := range []string{newCipher, newAndProcess} {
		for _, size := range keySizes {
			works = append(works, work{name: name + keyName(size)})
		}
	}
	return works
}

func keyName(size int) string {
	return map[int]string{16: ", 128-bit", 24: ", 192-bit", 32: ", 256-bit"}[size]
}

// twofishKernels compares this package's kernels, each used for everything.
func twofishKernels() comparison {
	c := comparison{unit: cyclesPerByte}
	for _, mode := range []string{ecbEncrypt, ecbDecrypt} {
		for _, size := range []int{16, 2 * 16, 3 * 16, 4 * 16, 8 * 16, 16 * 16, 16 << 10} {
			c.works = append(c.works, work{name: mode, size: size})
		}
	}
	p := kernel.Lookup("twofish")
	for _, k := range p.Kernels {
		if features := hwfeatures.Enabled(); features.Has(k.Requires) {
			newCipher := p.New(features, false, k.Name).(func([]byte) (*twofish.Cipher, error))
			c.libraries = append(c.libraries, library{k.Name, func(w work) runner {
				return goRunner(w, func(key []byte) cipher.Block { return must(newCipher(key)) })
			}})
		}
	}
	return c
}

// twofishLibraries compares this package with others.
func twofishLibraries() comparison {
	libraries := []library{
		{"twogather", func(w work) runner {
			return goRunner(w, func(key []byte) cipher.Block { return must(twofish.NewCipher(key)) })
		}},
		{"x/crypto", func(w work) runner {
			return goRunner(w, func(key []byte) cipher.Block { return must(xtwofish.NewCipher(key)) })
		}},
	}
	return comparison{unit: cyclesPerByte, libraries: append(libraries, libgcrypt()...), works: twofishWorks()}
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// timed repeats f.
func timed(f func()) runner {
	return func(n int) time.Duration {
		start := time.Now()
		for range n {
			f()
		}
		return time.Since(start)
	}
}

// goRunner measures a Go package as an unchanged program uses it: through crypto/cipher, and ECB through this module's
// modes, which for a Block without bulk operations is the loop that everybody writes.
func goRunner(w work, newBlock func(key []byte) cipher.Block) runner {
	for _, size := range keySizes {
		switch w.name {
		case newCipher + keyName(size):
			return freshKeys(size, func(key []byte) { newBlock(key) })
		case newAndProcess + keyName(size):
			buf := make([]byte, 16*16)
			return freshKeys(size, func(key []byte) {
				b := newBlock(key)
				b.Encrypt(buf, buf)
				modes.NewECBEncrypter(b).CryptBlocks(buf, buf)
			})
		}
	}
	block := newBlock(random(32))
	iv := random(16)
	dst, src := make([]byte, w.size), random(w.size)
	mode := func(m cipher.BlockMode) runner { return timed(func() { m.CryptBlocks(dst, src) }) }
	switch w.name {
	case ecbEncrypt:
		return mode(modes.NewECBEncrypter(block))
	case ecbDecrypt:
		return mode(modes.NewECBDecrypter(block))
	case cbcEncrypt:
		return mode(cipher.NewCBCEncrypter(block, iv))
	case cbcDecrypt:
		return mode(cipher.NewCBCDecrypter(block, iv))
	case ctr, streamOne:
		stream := cipher.NewCTR(block, iv)
		return timed(func() { stream.XORKeyStream(dst, src) })
	case gcmSeal, gcmOpen:
		aead, nonce := must(cipher.NewGCM(block)), iv[:12]
		sealed := aead.Seal(nil, nonce, src, nil)
		if w.name == gcmSeal {
			return timed(func() { aead.Seal(sealed[:0], nonce, src, nil) })
		}
		return timed(func() { must(aead.Open(dst[:0], nonce, sealed, nil)) })
	case cfbEncrypt, cfbDecrypt, ofb:
		return ownStream(w, block, iv)
	case xtsEncrypt, xtsDecrypt, xtsSectors:
		return ownXTS(w, block, dst, src)
	case eaxEncrypt, ocbEncrypt, cmac, cbcSide:
		if _, ok := block.(modes.Bulk); ok {
			return ownMode(w, block, iv, src)
		}
		return nil
	case blockEncrypt:
		return timed(func() { block.Encrypt(dst, src) })
	case blockDecrypt:
		return timed(func() { block.Decrypt(dst, src) })
	case bulkOne:
		if bulk, ok := block.(modes.Bulk); ok {
			return timed(func() { bulk.EncryptBlocks(dst, src) })
		}
	}
	return nil
}

// ownStream measures streams of package modes, or, where the Block has one block at a time, of the standard library.
func ownStream(w work, block cipher.Block, iv []byte) runner {
	//lint:ignore SA1019 they are what we compare with
	encrypter, decrypter, newOFB := cipher.NewCFBEncrypter, cipher.NewCFBDecrypter, cipher.NewOFB
	if _, ok := block.(modes.Bulk); ok {
		encrypter, decrypter, newOFB = modes.NewCFBEncrypter, modes.NewCFBDecrypter, modes.NewOFB
	}
	stream := map[string]func(cipher.Block, []byte) cipher.Stream{
		cfbEncrypt: encrypter, cfbDecrypt: decrypter, ofb: newOFB,
	}[w.name](block, iv)
	dst, src := make([]byte, w.size), random(w.size)
	return timed(func() { stream.XORKeyStream(dst, src) })
}

// ownXTS does the same with golang.org/x/crypto/xts.
func ownXTS(w work, block cipher.Block, dst, src []byte) runner {
	const sector = 512
	same := func([]byte) (cipher.Block, error) { return block, nil }
	theirs := must(xts.NewCipher(same, nil))
	ours := must(modes.NewXTSCipher(same, nil))
	_, own := block.(modes.Bulk)
	switch {
	case w.name == xtsEncrypt && own:
		return timed(func() { ours.Encrypt(dst, src, 1) })
	case w.name == xtsDecrypt && own:
		return timed(func() { ours.Decrypt(dst, src, 1) })
	case w.name == xtsSectors && own:
		return timed(func() { ours.EncryptSectors(dst, src, sector, 1) })
	case w.name == xtsEncrypt:
		return timed(func() { theirs.Encrypt(dst, src, 1) })
	case w.name == xtsDecrypt:
		return timed(func() { theirs.Decrypt(dst, src, 1) })
	}
	return timed(func() {
		for i := 0; i < len(src); i += sector {
			theirs.Encrypt(dst[i:i+sector], src[i:i+sector], uint64(1+i/sector))
		}
	})
}

// ownMode measures what only package modes has.
func ownMode(w work, block cipher.Block, iv, src []byte) runner {
	sealed := make([]byte, 0, len(src)+16)
	switch w.name {
	case eaxEncrypt:
		eax := must(modes.NewEAX(block, 16, 16))
		return timed(func() { eax.Seal(sealed, iv, src, nil) })
	case ocbEncrypt:
		ocb := must(modes.NewOCB(block, 15, 16))
		return timed(func() { ocb.Seal(sealed, iv[:15], src, nil) })
	case cmac:
		h := must(modes.NewCMAC(block))
		return timed(func() {
			h.Reset()
			h.Write(src)
			h.Sum(sealed)
		})
	}
	jobs := make([]modes.Job, 64)
	for i := range jobs {
		message := src[i*w.size/64 : (i+1)*w.size/64]
		jobs[i] = modes.Job{Dst: message, Src: message, IV: iv}
	}
	return timed(func() { modes.EncryptCBC(block, jobs) })
}

// freshKeys gives each operation another key.
func freshKeys(size int, f func(key []byte)) runner {
	keys := random(size * 256)
	i := 0
	return timed(func() {
		f(keys[i*size : i*size+size])
		i = (i + 1) % 256
	})
}

func random(n int) []byte {
	b := make([]byte, n)
	rand.Read(b)
	return b
}
