package modes_test

import (
	"bytes"
	"crypto/cipher"
	"fmt"
	"testing"

	"github.com/twogather/twogather/internal/testkit"
	"github.com/twogather/twogather/modes"
)

// A sideMode encrypts jobs; want is what encrypts one.
type sideMode struct {
	name string
	got  func(b cipher.Block, jobs []modes.Job)
	want func(b cipher.Block, iv []byte) func(dst, src []byte)
	unit func(size int) int // lengths are multiples of it
	text string             // of the panic for a wrong IV
}

var sideModes = []sideMode{
	{
		"CBC", modes.EncryptCBC,
		func(b cipher.Block, iv []byte) func(dst, src []byte) {
			return cipher.NewCBCEncrypter(b, iv).CryptBlocks
		},
		func(size int) int { return size }, "cipher.NewCBCEncrypter: IV length must equal block size",
	},
	{
		"CFB", modes.EncryptCFB,
		func(b cipher.Block, iv []byte) func(dst, src []byte) {
			//lint:ignore SA1019 this is what ours stands in for
			return cipher.NewCFBEncrypter(b, iv).XORKeyStream
		},
		func(int) int { return 1 }, "cipher.newCFB: IV length must equal block size",
	},
}

// A laned is a BulkLanes that insists on its contract.
type laned struct {
	modes.Bulk
	lanes int
	calls *int // of its own methods
}

func newLaned(b cipher.Block, lanes int) laned { return laned{newBulk(b), lanes, new(int)} }

func (l laned) Lanes() int { return l.lanes }

func (l laned) EncryptCBCLanes(dst, src, iv []byte) { l.encrypt(sideModes[0], dst, src, iv) }
func (l laned) EncryptCFBLanes(dst, src, iv []byte) { l.encrypt(sideModes[1], dst, src, iv) }

func (l laned) encrypt(m sideMode, dst, src, iv []byte) {
	*l.calls++
	size := l.BlockSize()
	row := size * l.lanes
	if l.lanes == 0 || len(iv) != row || len(src)%row != 0 || len(dst) < len(src) {
		panic(fmt.Sprintf("a mode asks for %d bytes into %d in %d lanes with an IV of %d", len(src), len(dst), l.lanes, len(iv)))
	}
	for i := 0; i < row; i += size {
		f := m.want(plain{l.Bulk}, iv[i:i+size])
		for at := i; at < len(src); at += row {
			f(dst[at:at+size], src[at:at+size])
			copy(iv[i:], dst[at:at+size])
		}
	}
}

// TestLanes has a BulkLanes do what it can do, and nothing else.
func TestLanes(t *testing.T) {
	lengths := map[string]func(i int) int{"equal": func(int) int { return 37 }, "all kinds": func(i int) int { return i * 7 % 23 }}
	counts := []int{0, 1, 4, 5, 6, 11, 64, 130, 201}
	for _, lanes := range []int{0, 1, 5, 128, 200} {
		for _, b := range []cipher.Block{toy(16), toy(24)} {
			l := newLaned(b, lanes)
			testSideBySide(t, subject{fmt.Sprintf("%d lanes of blocks of %d bytes", lanes, b.BlockSize()), l, b, 1}, lengths, counts)
			if may := 0 < lanes && lanes <= 128; may != (*l.calls > 0) {
				t.Errorf("%d lanes: %d calls", lanes, *l.calls)
			}
		}
	}
}

// TestSideBySide has as many jobs as there are lanes, fewer and more, of equal lengths and of lengths that differ, some of
// them nothing; each between canaries, every third in place.
func TestSideBySide(t *testing.T) {
	lengths := map[string]func(i int) int{
		"equal":      func(int) int { return 11 },
		"one block":  func(int) int { return 1 },
		"all kinds":  func(i int) int { return i * 7 % 23 },
		"ascending":  func(i int) int { return i },
		"descending": func(i int) int { return max(100-i, 0) },
		"one long":   func(i int) int { return 1 + i%50/49*90 },
	}
	counts := []int{0, 1, 2, 3, 15, 16, 17, 63, 64, 65, 79, 80, 81, 127, 128, 129, 200}
	if testkit.Boundary() {
		counts = []int{0, 1, 17, 64, 81}
	}
	for _, s := range subjects(t) {
		t.Run(s.name, func(t *testing.T) { testSideBySide(t, s, lengths, counts) })
	}
}

func testSideBySide(t *testing.T, s subject, lengths map[string]func(i int) int, counts []int) {
	size := s.block.BlockSize()
	for _, m := range sideModes {
		for name, blocks := range lengths {
			for _, count := range counts {
				jobs, memory := make([]modes.Job, count), make([][]byte, count)
				var src, iv, want [][]byte
				for i := range jobs {
					n := blocks(i) * size
					if m.unit(size) == 1 && n > 0 {
						n -= i % min(size, 9)
					}
					seed := fmt.Sprint(name, count, i)
					src, iv = append(src, testkit.Random(seed, n)), append(iv, testkit.Random("iv"+seed, size))
					want = append(want, make([]byte, n))
					m.want(s.reference, iv[i])(want[i], src[i])
					memory[i] = bytes.Repeat([]byte{0xa5}, n+4)
					j := &jobs[i]
					j.Dst, j.Src, j.IV = memory[i][2:], bytes.Clone(src[i]), bytes.Clone(iv[i])
					if i%3 == 1 {
						copy(memory[i][2:], src[i])
						j.Src = memory[i][2 : n+2]
					}
					if i%3 == 2 {
						j.Dst = memory[i][2 : n+2 : n+2]
					}
				}
				m.got(s.block, jobs)
				for i, j := range jobs {
					n := len(want[i])
					if !bytes.Equal(memory[i][2:n+2], want[i]) {
						t.Fatalf("%s, %s, %s, job %d of %d: wrong result", s.name, m.name, name, i, count)
					}
					if !bytes.Equal(append(memory[i][:2:2], memory[i][n+2:]...), []byte{0xa5, 0xa5, 0xa5, 0xa5}) {
						t.Fatalf("%s, %s, %s, job %d of %d: written outside", s.name, m.name, name, i, count)
					}
					if !bytes.Equal(j.IV, iv[i]) || i%3 != 1 && !bytes.Equal(j.Src, src[i]) {
						t.Fatalf("%s, %s, %s, job %d of %d: an input was written to", s.name, m.name, name, i, count)
					}
				}
			}
		}
	}
}

// TestSideBySideMisuse has one wrong job behind a good one, which must not be done then.
func TestSideBySideMisuse(t *testing.T) {
	for _, s := range subjects(t) {
		size := s.block.BlockSize()
		for _, m := range sideModes {
			dst := testkit.Random("dst", 12*size)
			good := modes.Job{Dst: dst[8*size:], Src: make([]byte, 4*size), IV: make([]byte, size)}
			refuse := func(text string, wrong modes.Job) {
				t.Helper()
				testkit.MustPanic(t, text, func() { m.got(s.block, []modes.Job{good, wrong}) }, dst)
			}
			for _, n := range []int{0, size - 1, size + 1} {
				refuse(m.text, modes.Job{Dst: dst, Src: make([]byte, size), IV: make([]byte, n)})
			}
			refuse("crypto/cipher: output smaller than input", modes.Job{Dst: dst[:2*size-1], Src: make([]byte, 2*size), IV: good.IV})
			refuse("crypto/cipher: output smaller than input", modes.Job{Src: make([]byte, size), IV: good.IV})
			refuse("crypto/cipher: invalid buffer overlap", modes.Job{Dst: dst[1:], Src: dst[:2*size], IV: good.IV})
			if m.unit(size) > 1 {
				refuse("crypto/cipher: input not full blocks", modes.Job{Dst: dst, Src: make([]byte, size+1), IV: good.IV})
			}
			m.got(s.block, nil)
			m.got(s.block, []modes.Job{{IV: good.IV}})
		}
	}
}
