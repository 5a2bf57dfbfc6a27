package modes_test

import (
	"bytes"
	"crypto/cipher"
	"fmt"
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
	slow bool // at single blocks: they cost a constant-time kernel in Go a batch
}

// makers returns Twofish with every kernel that this processor has, with the plan that mixes them, and as a block cipher
// that can do only one block at a time.
func makers() []maker {
	p := kernel.Lookup("twofish")
	named := func(constantTime bool, name string) func(key []byte) (cipher.Block, error) {
		newCipher := p.New(hwfeatures.Enabled(), constantTime, name).(func([]byte) (*twofish.Cipher, error))
		return func(key []byte) (cipher.Block, error) { return newCipher(key) }
	}
	slow := func(name string) bool { return strings.HasPrefix(name, "generic-constant-time") }
	selected, constantTime := p.Selected(hwfeatures.Enabled(), false)[0], p.Selected(hwfeatures.Enabled(), true)[0]
	all := []maker{
		{"plan", named(false, ""), slow(selected)},
		{"constant-time plan", named(true, ""), slow(constantTime)},
		{"no bulk", func(key []byte) (cipher.Block, error) {
			c, err := twofish.New(key)
			return struct{ cipher.Block }{c}, err
		}, slow(selected)},
	}
	for _, k := range p.Kernels {
		if hwfeatures.Enabled().Has(k.Requires) {
			all = append(all, maker{k.Name, named(false, k.Name), slow(k.Name)})
		}
	}
	return all
}

// TestKnownAnswers runs the embedded answers for CBC, CTR and, as messages, ECB.
func TestKnownAnswers(t *testing.T) {
	runAnswers(t, vectors.Twofish(), true)
}

// TestPublicAnswers runs the answers for CBC and CTR of the folder that TWOGATHER_VECTORS names. Package twofish runs
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
// them in one call. With thorough they also make them by themselves, but for slow ones.
func runAnswers(t *testing.T, cases []vectors.Case, thorough bool) {
	if testing.Short() || vectors.Race {
		cases = vectors.Fewer(cases)
	}
	makers := makers()
	// Whatever kernel is forced, this one is quick at single blocks.
	single := kernel.Lookup("twofish").New(hwfeatures.Enabled(), false, "generic").(func([]byte) (*twofish.Cipher, error))
	answers := 0
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
		answers++
		for i := range makers {
			c, err := makers[i].make(v.Key)
			switch {
			case err != nil:
			case v.Repeat > 1:
				err = checkMonteCarlo(c, v, plaintext, ciphertext, thorough && !makers[i].slow)
			case v.Mode == vectors.CTR:
				err = checkCTR(c, v)
			default:
				err = checkBlockMode(c, v)
			}
			if err != nil {
				failures[i] = append(failures[i], err)
			}
		}
	}

	for i, m := range makers {
		t.Run(m.name, func(t *testing.T) {
			if answers == 0 {
				t.Fatal("no answers")
			}
			for j, err := range failures[i] {
				if j == 10 {
					t.Errorf("and %d more", len(failures[i])-j)
					break
				}
				t.Error(err)
			}
			t.Logf("%d answers, %d wrong", answers, len(failures[i]))
		})
	}
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
