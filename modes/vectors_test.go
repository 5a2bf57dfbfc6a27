package modes_test

import (
	"bytes"
	"crypto/cipher"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/twogather/twogather/hwfeatures"
	"github.com/twogather/twogather/internal/kernel"
	"github.com/twogather/twogather/internal/testkit"
	"github.com/twogather/twogather/modes"
	"github.com/twogather/twogather/twofish"
	"github.com/twogather/twogather/vectors"
)

// A maker makes the block cipher that known answers are run with.
type maker struct {
	name string
	make func(key []byte) (cipher.Block, error)
	slow bool // at single blocks, which cost a batch
}

// makers returns Twofish with every kernel that this processor has, with the plan that mixes them, and as a block cipher
// that can do only one block at a time.
func makers() []maker {
	p := kernel.Lookup("twofish")
	named := func(constantTime bool, name string) func(key []byte) (cipher.Block, error) {
		newCipher := p.New(hwfeatures.Enabled(), constantTime, name).(func([]byte) (*twofish.Cipher, error))
		return func(key []byte) (cipher.Block, error) { return newCipher(key) }
	}
	forced := strings.Contains(os.Getenv("TWOGATHER_KERNEL"), "twofish=")
	all := []maker{
		{"plan", named(false, ""), forced},
		{"constant-time plan", named(true, ""), true},
		{"no bulk", func(key []byte) (cipher.Block, error) {
			c, err := twofish.New(key)
			return struct{ cipher.Block }{c}, err
		}, forced},
	}
	for _, k := range p.Kernels {
		if hwfeatures.Enabled().Has(k.Requires) {
			all = append(all, maker{k.Name, named(false, k.Name), k.Batch > 1})
		}
	}
	return all
}

// TestKnownAnswers runs the embedded answers for all modes and, as messages, ECB.
func TestKnownAnswers(t *testing.T) {
	runAnswers(t, vectors.Twofish(), true)
}

// TestPublicAnswers runs the answers for modes of the folder that TWOGATHER_VECTORS names. Package twofish runs
// those for ECB.
func TestPublicAnswers(t *testing.T) {
	testkit.PublicAnswers(t, func(f vectors.File) func(t *testing.T) {
		var cases []vectors.Case
		for _, v := range f.Cases {
			if v.Mode != vectors.ECB {
				cases = append(cases, v)
			}
		}
		if len(cases) == 0 {
			return nil
		}
		return func(t *testing.T) { runAnswers(t, cases, false) }
	})
}

// runAnswers runs answers with every maker; each is a subtest.
//
// The messages of a Monte Carlo case are made once, one block at a time, with the generic kernel. The makers then decrypt
// them in one call. With thorough they also make them by themselves, but for slow ones. These leave long messages in CBC
// out, too.
func runAnswers(t *testing.T, cases []vectors.Case, thorough bool) {
	if testing.Short() || vectors.Race {
		cases = vectors.Fewer(cases)
	}
	makers := makers()
	// Whatever kernel is forced, this one is quick at single blocks.
	single := kernel.Lookup("twofish").New(hwfeatures.Enabled(), false, "generic").(func([]byte) (*twofish.Cipher, error))
	const long = 64 << 10
	answers := make([]int, len(makers))
	failures := make([][]error, len(makers))
	for i := range cases {
		v := &cases[i]
		var plaintext, ciphertext []byte
		if v.Repeat > 1 {
			if v.Mode != vectors.CBC {
				continue // package twofish runs it
			}
			c, err := single(v.Key)
			if err != nil {
				t.Fatal(err)
			}
			plaintext, ciphertext = monteCarlo(c, v)
		}
		for i := range makers {
			if makers[i].slow && v.Mode == vectors.CBC && len(v.Plaintext) > long {
				continue
			}
			answers[i]++
			err := checkAnswer(makers[i], v, plaintext, ciphertext, thorough)
			if err != nil {
				failures[i] = append(failures[i], err)
			}
		}
	}

	for i, m := range makers {
		t.Run(m.name, func(t *testing.T) {
			if answers[i] == 0 {
				t.Fatal("no answers")
			}
			for j, err := range failures[i] {
				if j == 10 {
					t.Errorf("and %d more", len(failures[i])-j)
					break
				}
				t.Error(err)
			}
			t.Logf("%d answers, %d wrong", answers[i], len(failures[i]))
		})
	}
}

// checkAnswer checks an answer with a maker's cipher; plaintext and ciphertext are a Monte Carlo case's.
func checkAnswer(m maker, v *vectors.Case, plaintext, ciphertext []byte, thorough bool) error {
	if v.Mode == vectors.XTS {
		data, err := m.make(v.Key[:len(v.Key)/2])
		if err != nil {
			return err
		}
		tweak, err := m.make(v.Key[len(v.Key)/2:])
		if err != nil {
			return err
		}
		return checkXTS(data, tweak, v)
	}
	c, err := m.make(v.Key)
	switch {
	case err != nil:
		return err
	case v.Repeat > 1:
		return checkMonteCarlo(c, v, plaintext, ciphertext, thorough && !m.slow)
	}
	switch v.Mode {
	case vectors.CTR:
		return checkCTR(c, v)
	case vectors.CFB:
		return checkStreams(modes.NewCFBEncrypter, modes.NewCFBDecrypter, c, v)
	case vectors.OFB:
		return checkStreams(modes.NewOFB, modes.NewOFB, c, v)
	case vectors.CMAC:
		tag, err := modes.SumCMAC(c, v.Plaintext)
		if err != nil {
			return err
		}
		return v.CheckTag(tag)
	case vectors.EAX:
		return checkAEAD(modes.NewEAX, c, v)
	case vectors.GCM:
		return checkAEAD(modes.NewGCM, c, v)
	case vectors.OCB:
		return checkAEAD(modes.NewOCB, c, v)
	}
	return checkBlockMode(c, v)
}

// checkStreams encrypts and decrypts a message, in one call and in calls of growing length, in place.
func checkStreams(encrypter, decrypter func(b cipher.Block, iv []byte) cipher.Stream, b cipher.Block, v *vectors.Case) error {
	for _, first := range []int{len(v.Plaintext), 1} {
		run := func(stream cipher.Stream, buf []byte) {
			for n := first; len(buf) > 0; n += n/2 + 1 {
				n = min(n, len(buf))
				stream.XORKeyStream(buf[:n], buf[:n])
				buf = buf[n:]
			}
		}
		got := bytes.Clone(v.Plaintext)
		run(encrypter(b, v.IV), got)
		if err := v.CheckCiphertext(got); err != nil {
			return err
		}
		run(decrypter(b, v.IV), got)
		if err := v.CheckPlaintext(got); err != nil {
			return err
		}
	}
	return nil
}

func checkXTS(data, tweak cipher.Block, v *vectors.Case) error {
	x, err := modes.NewXTS(data, tweak)
	if err != nil {
		return err
	}
	got := make([]byte, len(v.Plaintext))
	x.EncryptUnit(got, v.Plaintext, [16]byte(v.IV))
	if err := v.CheckCiphertext(got); err != nil {
		return err
	}
	x.DecryptUnit(got, got, [16]byte(v.IV))
	return v.CheckPlaintext(got)
}

func checkAEAD(newAEAD func(b cipher.Block, nonceSize, tagSize int) (cipher.AEAD, error), b cipher.Block, v *vectors.Case) error {
	aead, err := newAEAD(b, len(v.IV), len(v.Tag))
	if err != nil {
		return err
	}
	sealed := aead.Seal(nil, v.IV, v.Plaintext, v.Additional)
	n := len(v.Plaintext)
	if v.Ciphertext != nil {
		if err := v.CheckCiphertext(sealed[:n]); err != nil {
			return err
		}
	}
	if err := v.CheckTag(sealed[n:]); err != nil {
		return err
	}
	plaintext, err := aead.Open(sealed[:0], v.IV, sealed, v.Additional)
	if err != nil {
		return fmt.Errorf("%s: %w", v.Where, err)
	}
	return v.CheckPlaintext(plaintext)
}

// checkBlockMode encrypts and decrypts a message: in one call, in calls of 1, 2, 3 … blocks, and in place.
func checkBlockMode(b cipher.Block, v *vectors.Case) error {
	encrypter := func() cipher.BlockMode { return modes.NewECBEncrypter(b) }
	decrypter := func() cipher.BlockMode { return modes.NewECBDecrypter(b) }
	if v.Mode == vectors.CBC {
		encrypter = func() cipher.BlockMode { return modes.NewCBCEncrypter(b, v.IV) }
		decrypter = func() cipher.BlockMode { return modes.NewCBCDecrypter(b, v.IV) }
	}
	whole := func(m cipher.BlockMode, dst, src []byte) { m.CryptBlocks(dst, src) }
	pieces := func(m cipher.BlockMode, dst, src []byte) {
		for n := m.BlockSize(); len(src) > 0; n += m.BlockSize() {
			n = min(n, len(src))
			m.CryptBlocks(dst[:n], src[:n])
			dst, src = dst[n:], src[n:]
		}
	}
	for name, run := range map[string]func(m cipher.BlockMode, dst, src []byte){"one call": whole, "pieces": pieces} {
		ciphertext := make([]byte, len(v.Plaintext))
		run(encrypter(), ciphertext, v.Plaintext)
		if err := v.CheckCiphertext(ciphertext); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		plaintext := make([]byte, len(v.Plaintext))
		run(decrypter(), plaintext, ciphertext)
		if err := v.CheckPlaintext(plaintext); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		run(decrypter(), ciphertext, ciphertext)
		if err := v.CheckPlaintext(ciphertext); err != nil {
			return fmt.Errorf("%s, in place: %w", name, err)
		}
		run(encrypter(), plaintext, plaintext)
		if err := v.CheckCiphertext(plaintext); err != nil {
			return fmt.Errorf("%s, in place: %w", name, err)
		}
	}
	return nil
}

// checkCTR encrypts a message in one call, in calls of growing length, and from the middle on.
func checkCTR(b cipher.Block, v *vectors.Case) error {
	n := len(v.Plaintext)
	got := make([]byte, n)
	modes.NewCTR(b, v.IV).XORKeyStream(got, v.Plaintext)
	if err := v.CheckCiphertext(got); err != nil {
		return fmt.Errorf("one call: %w", err)
	}
	modes.NewCTR(b, v.IV).XORKeyStream(got, got)
	if err := v.CheckPlaintext(got); err != nil {
		return fmt.Errorf("one call, in place: %w", err)
	}
	stream := modes.NewCTR(b, v.IV)
	for done, step := 0, 1; done < n; step += step/2 + 1 {
		end := min(done+step, n)
		stream.XORKeyStream(got[done:end], got[done:end])
		done = end
	}
	if err := v.CheckCiphertext(got); err != nil {
		return fmt.Errorf("pieces: %w", err)
	}
	middle := n / b.BlockSize() / 2
	stream.SeekBlock(uint64(middle))
	copy(got[middle*b.BlockSize():], v.Plaintext[middle*b.BlockSize():])
	stream.XORKeyStream(got[middle*b.BlockSize():], got[middle*b.BlockSize():])
	if err := v.CheckCiphertext(got); err != nil {
		return fmt.Errorf("from the middle: %w", err)
	}
	return nil
}

// monteCarlo makes the messages of a Monte Carlo case in CBC, one block at a time.
func monteCarlo(b cipher.Block, v *vectors.Case) (plaintext, ciphertext []byte) {
	size := b.BlockSize()
	plaintext, ciphertext = make([]byte, size*v.Repeat), make([]byte, size*v.Repeat)
	if v.Decrypt {
		m := modes.NewCBCDecrypter(b, v.IV)
		next := v.Ciphertext
		for i := 0; i < len(plaintext); i += size {
			copy(ciphertext[i:], next)
			next = plaintext[i : i+size]
			m.CryptBlocks(next, ciphertext[i:i+size])
		}
		return plaintext, ciphertext
	}
	m := modes.NewCBCEncrypter(b, v.IV)
	next, last := v.Plaintext, v.IV
	for i := 0; i < len(plaintext); i += size {
		copy(plaintext[i:], next)
		m.CryptBlocks(ciphertext[i:i+size], plaintext[i:i+size])
		next, last = last, ciphertext[i:i+size]
	}
	return plaintext, ciphertext
}

// checkMonteCarlo checks that the messages end as published, and decrypts them in one call.
func checkMonteCarlo(b cipher.Block, v *vectors.Case, plaintext, ciphertext []byte, thorough bool) error {
	made := ciphertext
	if v.Decrypt {
		made = plaintext
	}
	if last := made[len(made)-b.BlockSize():]; !bytes.Equal(last, v.Output()) {
		return fmt.Errorf("%s: the last block is %x, want %x", v.Where, last, v.Output())
	}
	got := make([]byte, len(ciphertext))
	modes.NewCBCDecrypter(b, v.IV).CryptBlocks(got, ciphertext)
	if !bytes.Equal(got, plaintext) {
		return fmt.Errorf("%s: not the same plaintext when decrypted in one call", v.Where)
	}
	if !thorough {
		return nil
	}
	modes.NewCBCEncrypter(b, v.IV).CryptBlocks(got, plaintext)
	if !bytes.Equal(got, ciphertext) {
		return fmt.Errorf("%s: not the same ciphertext when encrypted in one call", v.Where)
	}
	p, c := monteCarlo(b, v)
	if !bytes.Equal(p, plaintext) || !bytes.Equal(c, ciphertext) {
		return fmt.Errorf("%s: other messages when made block by block", v.Where)
	}
	return nil
}
