//go:build !race

// With the race detector a sync.Pool loses things on purpose.

package modes_test

import (
	"testing"

	"github.com/twogather/twogather/internal/testkit"
	"github.com/twogather/twogather/modes"
)

func TestPooledAllocs(t *testing.T) {
	for _, s := range subjects(t) {
		t.Run(s.name, func(t *testing.T) { testPooledAllocs(t, s) })
	}
}

func testPooledAllocs(t *testing.T, s subject) {
	runs, long := 20, 8000
	if testkit.Boundary() {
		runs, long = 2, 2000 // the same paths
	}
	none := func(name string, f func()) {
		t.Helper()
		if n := testing.AllocsPerRun(runs, f); n != 0 {
			t.Errorf("%s, %s: %v allocations", s.name, name, n)
		}
	}
	size := s.block.BlockSize()
	jobs := make([]modes.Job, 70)
	for i := range jobs {
		jobs[i] = modes.Job{Dst: make([]byte, 3*size), Src: make([]byte, 3*size), IV: make([]byte, size)}
	}
	none("CBC side by side", func() { modes.EncryptCBC(s.block, jobs) })
	none("CFB side by side", func() { modes.EncryptCFB(s.block, jobs) })
	if h, err := modes.NewCMAC(s.block); err == nil {
		message, sum := make([]byte, 1000), make([]byte, 0, size)
		none("CMAC", func() {
			h.Reset()
			h.Write(message)
			h.Sum(sum)
		})
	}
	if size != 16 {
		return
	}
	buf := make([]byte, 0, 9000)
	x := must(modes.NewXTS(s.block, s.block))
	none("XTS", func() { x.Encrypt(buf[:512], buf[:512], 1) })
	none("XTS decryption", func() { x.Decrypt(buf[:517], buf[:517], 1) })
	none("XTS of sectors", func() { x.EncryptSectors(buf[:8192], buf[:8192], 512, 1) })
	none("XTS decryption of sectors", func() { x.DecryptSectors(buf[:520*16], buf[:520*16], 520, 1) })
	for _, m := range aeadModes {
		aead := must(m.make(s.block, m.nonces[0], 16))
		nonce, data := make([]byte, m.nonces[0]), make([]byte, 21)
		for _, n := range []int{0, 1, 16, long} {
			none(m.name, func() {
				sealed := aead.Seal(buf[:0], nonce, buf[:n], data)
				if _, err := aead.Open(sealed[:0], nonce, sealed, data); err != nil {
					t.Error(err)
				}
				sealed[0] ^= 1
				if _, err := aead.Open(sealed[:0], nonce, sealed, data); err == nil {
					t.Error("a forgery was opened")
				}
			})
		}
	}
}
