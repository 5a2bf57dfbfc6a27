package twofish

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/twogather/twogather/hwfeatures"
	"github.com/twogather/twogather/internal/testkit"
	"github.com/twogather/twogather/vectors"
)

// TestKnownAnswers runs the embedded ECB answers through every kernel. Package modes runs those in other modes.
func TestKnownAnswers(t *testing.T) {
	runAnswers(t, vectors.Twofish(), true)
}

// TestPublicAnswers runs the ECB answers and the intermediate values of the folder that TWOGATHER_VECTORS names.
func TestPublicAnswers(t *testing.T) {
	testkit.PublicAnswers(t, func(f vectors.File) func(t *testing.T) {
		ecb := onlyECB(f.Cases)
		if len(ecb)+len(f.Intermediates) == 0 {
			return nil // for package modes
		}
		return func(t *testing.T) {
			if len(f.Intermediates) > 0 {
				for i := range f.Intermediates {
					checkIntermediate(t, &f.Intermediates[i])
				}
				t.Logf("%d encryptions with their intermediate values", len(f.Intermediates))
			}
			if len(ecb) > 0 {
				runAnswers(t, ecb, false)
			}
		}
	})
}

func onlyECB(cases []vectors.Case) []vectors.Case {
	var ecb []vectors.Case
	for _, v := range cases {
		if v.Mode == vectors.ECB {
			ecb = append(ecb, v)
		}
	}
	return ecb
}

// runAnswers runs the ECB answers through every kernel, and through the plan that mixes them; each is a subtest.
//
// A Monte Carlo case is a chain, each output the next input. The chain is made once, one block at a time. A kernel that
// turns its inputs into its outputs would have made the same chain, so the kernels, the wide ones above all, are shown it
// whole. With thorough they also go back along it, and make it by themselves, but for slow ones and small tests.
func runAnswers(t *testing.T, cases []vectors.Case, thorough bool) {
	if testing.Short() || vectors.Race {
		cases = vectors.Fewer(cases)
	}
	type result struct {
		name   string
		plan   plan
		errors []error
	}
	results := []*result{
		{name: "plan", plan: choosePlan(hwfeatures.Enabled(), false)},
		{name: "constant-time plan", plan: choosePlan(hwfeatures.Enabled(), true)},
	}
	for i, k := range kernels.Usable(hwfeatures.Enabled()) {
		results = append(results, &result{name: k.Name, plan: forcedPlan(i)})
	}

	answers := 0
	for _, v := range onlyECB(cases) {
		var chain []byte
		if v.Repeat > 1 {
			c, err := newCipher(v.Key, choosePlan(hwfeatures.Enabled(), false)) // whatever kernel is forced
			if err != nil {
				t.Fatal(err)
			}
			chain = makeChain(c, &v)
		}
		answers++
		for _, r := range results {
			c, err := newCipher(v.Key, r.plan)
			switch {
			case err != nil:
			case chain == nil:
				err = checkMessage(c, &v)
			default:
				err = checkChain(c, &v, chain, thorough && !r.plan.isSlow() && !testkit.Boundary())
			}
			if err != nil {
				r.errors = append(r.errors, err)
			}
		}
	}

	for _, r := range results {
		t.Run(r.name, func(t *testing.T) {
			if answers == 0 {
				t.Fatal("no answers")
			}
			for i, err := range r.errors {
				if i == 10 {
					t.Errorf("and %d more", len(r.errors)-i)
					break
				}
				t.Error(err)
			}
			t.Logf("%d answers, %d wrong", answers, len(r.errors))
		})
	}
}

// checkMessage encrypts and decrypts. Single blocks go through all lanes of the kernel and a few more.
func checkMessage(c *Cipher, v *vectors.Case) error {
	size := len(v.Plaintext)
	copies := 1
	if size == BlockSize {
		copies = 2*c.plan.batch() + 1
	}
	src := bytes.Repeat(v.Plaintext, copies)
	dst := make([]byte, len(src))
	c.EncryptBlocks(dst, src)
	for got := dst; len(got) > 0; got = got[size:] {
		if err := v.CheckCiphertext(got[:size]); err != nil {
			return err
		}
	}
	clear(src)
	c.DecryptBlocks(src, dst)
	for got := src; len(got) > 0; got = got[size:] {
		if err := v.CheckPlaintext(got[:size]); err != nil {
			return err
		}
	}

	var got [BlockSize]byte
	if c.Encrypt(got[:], v.Plaintext); !bytes.HasPrefix(v.Ciphertext, got[:]) {
		return fmt.Errorf("%s: Encrypt makes %x", v.Where, got)
	}
	if c.Decrypt(got[:], v.Ciphertext); !bytes.HasPrefix(v.Plaintext, got[:]) {
		return fmt.Errorf("%s: Decrypt makes %x", v.Where, got)
	}
	return nil
}

// makeChain returns the input and all outputs of a Monte Carlo case.
func makeChain(c *Cipher, v *vectors.Case) []byte {
	chain := make([]byte, (v.Repeat+1)*BlockSize)
	copy(chain, v.Input())
	crypt := c.Encrypt
	if v.Decrypt {
		crypt = c.Decrypt
	}
	for i := BlockSize; i < len(chain); i += BlockSize {
		crypt(chain[i:], chain[i-BlockSize:i])
	}
	return chain
}

// checkChain checks that a chain ends as published, and that c turns its inputs into its outputs, in one call.
func checkChain(c *Cipher, v *vectors.Case, chain []byte, thorough bool) error {
	inputs, outputs := chain[:len(chain)-BlockSize], chain[BlockSize:]
	if last := chain[len(chain)-BlockSize:]; !bytes.Equal(last, v.Output()) {
		return fmt.Errorf("%s: the chain ends with %x, want %x", v.Where, last, v.Output())
	}
	forward, back := c.EncryptBlocks, c.DecryptBlocks
	if v.Decrypt {
		forward, back = back, forward
	}
	got := make([]byte, len(inputs))
	if forward(got, inputs); !bytes.Equal(got, outputs) {
		return fmt.Errorf("%s: not the chain's outputs from its inputs", v.Where)
	}
	if !thorough {
		return nil
	}
	if back(got, outputs); !bytes.Equal(got, inputs) {
		return fmt.Errorf("%s: not the chain's inputs from its outputs", v.Where)
	}
	if !bytes.Equal(makeChain(c, v), chain) {
		return fmt.Errorf("%s: another chain when made block by block", v.Where)
	}
	return nil
}
