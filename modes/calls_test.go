package modes_test

import (
	"crypto/cipher"
	"fmt"
	"testing"

	"github.com/twogather/twogather/internal/testkit"
	"github.com/twogather/twogather/modes"
)

// A tally counts how it is called: for a single block, and for how many.
type tally struct {
	modes.Bulk
	single, calls, blocks int
}

func (b *tally) count(src []byte) {
	b.calls++
	b.blocks += len(src) / b.BlockSize()
}

func (b *tally) Encrypt(dst, src []byte) {
	b.single++
	b.Bulk.Encrypt(dst, src)
}

func (b *tally) Decrypt(dst, src []byte) {
	b.single++
	b.Bulk.Decrypt(dst, src)
}

func (b *tally) EncryptBlocks(dst, src []byte) {
	b.count(src)
	b.Bulk.EncryptBlocks(dst, src)
}

func (b *tally) DecryptBlocks(dst, src []byte) {
	b.count(src)
	b.Bulk.DecryptBlocks(dst, src)
}

func (b *tally) EncryptCBC(dst, src, iv []byte) {
	b.count(src)
	cipher.NewCBCEncrypter(plain{b.Bulk}, iv).CryptBlocks(dst, src)
	copy(iv, dst[len(src)-len(iv):])
}

// TestCalls holds that every mode hands over many blocks at a time: a wide kernel that gets a few is no faster than a narrow
// one, and no result would show that.
func TestCalls(t *testing.T) {
	const n = 4096
	check := func(name string, atATime int, run func(b cipher.Block)) {
		x := &tally{Bulk: newBulk(toy(16))}
		run(x)
		if x.blocks+x.single < n || x.blocks < atATime*x.calls || x.single > x.calls {
			t.Errorf("%s: %d blocks in %d calls, %d by themselves", name, x.blocks, x.calls, x.single)
		}
	}
	// What is done in a row is at least done in one call.
	const wide, serial = 64, 30
	buf, iv := testkit.Random("calls", n*16), make([]byte, 16)
	for _, m := range blockModes() {
		check(m.name, wide, func(b cipher.Block) { m.got(b, iv).CryptBlocks(buf, buf) })
	}
	for _, m := range streamModes() {
		atATime := wide
		if m.name == "CFB encryption" || m.name == "OFB" {
			atATime = serial
		}
		check(m.name, atATime, func(b cipher.Block) { m.got(b, iv).XORKeyStream(buf, buf) })
	}
	check("CMAC", serial, func(b cipher.Block) { must(modes.SumCMAC(b, buf)) })
	for _, m := range aeadModes {
		atATime := wide
		if m.name == "EAX" {
			atATime = serial
		}
		check(m.name, atATime, func(b cipher.Block) {
			aead, nonce := must(m.make(b, 12, 16)), iv[:12]
			sealed := aead.Seal(nil, nonce, buf, buf)
			if _, err := aead.Open(nil, nonce, sealed, buf); err != nil {
				t.Error(err)
			}
		})
	}
	for _, size := range []int{16, 32, 512, 4096, n * 16} {
		check(fmt.Sprintf("XTS of %d bytes", size), wide, func(b cipher.Block) {
			x := must(modes.NewXTS(b, b))
			x.EncryptSectors(buf, buf, size, 0)
			x.DecryptSectors(buf, buf, size, 0)
		})
	}
	for _, m := range sideModes {
		check(m.name+" side by side", 48, func(b cipher.Block) {
			jobs := make([]modes.Job, 300)
			for i := range jobs {
				message := make([]byte, 16*(4+i*7%23))
				jobs[i] = modes.Job{Dst: message, Src: message, IV: iv}
			}
			m.got(b, jobs)
		})
	}
}

// A batched is a tally that says how many blocks it likes.
type batched struct {
	*tally
	batch int
}

func (b batched) Batch() int { return b.batch }

// TestBatches holds that side by side there are as many messages as whole batches have room for.
func TestBatches(t *testing.T) {
	for batch, lanes := range map[int]int{-1: 64, 0: 64, 1: 64, 5: 60, 16: 64, 40: 40, 64: 64, 80: 80, 128: 128, 200: 128} {
		for _, m := range sideModes {
			b := batched{&tally{Bulk: newBulk(toy(16))}, batch}
			jobs := make([]modes.Job, 2*lanes)
			for i := range jobs {
				message := make([]byte, 3*16)
				jobs[i] = modes.Job{Dst: message, Src: message, IV: make([]byte, 16)}
			}
			m.got(b, jobs)
			if b.calls != 2*3 || b.blocks != 2*3*lanes {
				t.Errorf("%s in batches of %d: %d blocks in %d calls, want %d lanes", m.name, batch, b.blocks, b.calls, lanes)
			}
		}
	}
}
