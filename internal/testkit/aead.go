package testkit

import (
	"bytes"
	"crypto/cipher"
	"fmt"
	"sync"
	"testing"
)

// An AEADCheck is what TestAEAD needs to know of a mode.
type AEADCheck struct {
	Name  string // in the texts of panics
	Size  int    // of a block, in bytes
	Batch int    // how many blocks its cipher takes at a time
	Got   cipher.AEAD
	// Seal is the reference: it returns the ciphertext with its tag.
	Seal func(nonce, plaintext, additionalData []byte) []byte
}

// TestAEAD checks an AEAD against a reference's Seal.
func TestAEAD(t *testing.T, c AEADCheck) {
	t.Run("lengths", func(t *testing.T) { c.testLengths(t) })
	t.Run("guard pages", func(t *testing.T) { c.testGuards(t) })
	t.Run("destinations", func(t *testing.T) { c.testDestinations(t) })
	t.Run("forgeries", func(t *testing.T) { c.testForgeries(t) })
	t.Run("overlap", func(t *testing.T) { c.testOverlap(t) })
	t.Run("misuse", func(t *testing.T) { c.testMisuse(t) })
	t.Run("goroutines", func(t *testing.T) { c.testGoroutines(t) })
	t.Run("long", func(t *testing.T) { c.check(t, "long", Size().Long*c.Size+5, 20) })
}

func (c *AEADCheck) lengths() []int {
	x := transform{size: c.Size, unit: 1, batch: c.Batch}
	return x.lengths()
}

// message returns a nonce, a plaintext and additional data.
func (c *AEADCheck) message(seed string, n, additional int) (nonce, plaintext, additionalData []byte) {
	size := c.Got.NonceSize()
	all := Random(seed, size+n+additional)
	return all[:size:size], all[size : size+n : size+n], all[size+n:]
}

// testLengths has every length of message with a little additional data, and the other way round.
func (c *AEADCheck) testLengths(t *testing.T) {
	for i, n := range c.lengths() {
		few := []int{0, 1, 7, c.Size, 2*c.Size + 3}[i%5]
		c.check(t, fmt.Sprint(i), n, few)
		c.check(t, fmt.Sprint(i), few, n)
	}
}

// check seals a message and opens it, to a new destination and in place.
func (c *AEADCheck) check(t *testing.T, seed string, n, additional int) {
	t.Helper()
	nonce, plaintext, data := c.message(seed, n, additional)
	want := c.Seal(nonce, plaintext, data)
	inputs := [][]byte{nonce, plaintext, data, bytes.Clone(want)}
	var kept [][]byte
	for _, in := range inputs {
		kept = append(kept, bytes.Clone(in))
	}
	where := fmt.Sprintf("%d bytes and %d of additional data", n, additional)

	if got := c.Got.Seal(nil, nonce, plaintext, data); !bytes.Equal(got, want) {
		t.Fatalf("%s: Seal is wrong, from byte %d on", where, firstDifference(got, want))
	}
	got, err := c.Got.Open(nil, nonce, inputs[3], data)
	if err != nil || !bytes.Equal(got, plaintext) {
		t.Fatalf("%s: Open is wrong (error %v)", where, err)
	}
	for i := range inputs {
		mustEqual(t, inputs[i], kept[i], "%s: input %d, after use", where, i)
	}

	both := append(bytes.Clone(plaintext), make([]byte, c.Got.Overhead())...)
	if got := c.Got.Seal(both[:0], nonce, both[:n], data); !bytes.Equal(got, want) || &got[0] != &both[0] {
		t.Fatalf("%s: Seal in place is wrong", where)
	}
	got, err = c.Got.Open(both[:0], nonce, both, data)
	if err != nil || !bytes.Equal(got, plaintext) || n > 0 && &got[0] != &both[0] {
		t.Fatalf("%s: Open in place is wrong (error %v)", where, err)
	}
}

// testGuards puts all buffers against pages that fault, behind and in front.
func (c *AEADCheck) testGuards(t *testing.T) {
	lengths := c.lengths()
	longest := 0
	for _, n := range lengths {
		longest = max(longest, n)
	}
	room := longest + c.Got.Overhead()
	memory := make([][]byte, 5)
	for i := range memory {
		memory[i] = Guarded(t, room)
	}
	for i, n := range lengths {
		additional := lengths[(7*i)%len(lengths)]
		nonce, plaintext, data := c.message("guards", n, additional)
		want := c.Seal(nonce, plaintext, data)
		for _, back := range []bool{false, true} {
			at := func(i int, value []byte) []byte {
				b := memory[i][:len(value):len(value)]
				if back {
					b = memory[i][len(memory[i])-len(value):]
				}
				copy(b, value)
				return b
			}
			dst := at(0, make([]byte, len(want)))
			c.Got.Seal(dst[:0], at(1, nonce), at(2, plaintext), at(3, data))
			mustEqual(t, dst, want, "%d bytes", n)
			dst = at(0, make([]byte, n))
			if _, err := c.Got.Open(dst[:0], at(1, nonce), at(4, want), at(3, data)); err != nil {
				t.Fatalf("%d bytes: %v", n, err)
			}
			mustEqual(t, dst, plaintext, "%d bytes", n)
		}
	}
}

// testDestinations appends to destinations with something in them, with and without room.
func (c *AEADCheck) testDestinations(t *testing.T) {
	for _, n := range []int{0, 1, c.Size, 5*c.Size + 2, c.Batch * c.Size} {
		nonce, plaintext, data := c.message("destinations", n, 3)
		want := c.Seal(nonce, plaintext, data)
		prefix := Random("prefix", 21)
		for _, spare := range []int{0, 1, n, len(want), len(want) + 9} {
			buffer := make([]byte, len(prefix)+spare)
			run := func(name string, want []byte, f func(dst []byte) []byte) {
				t.Helper()
				spoil(buffer)
				copy(buffer, prefix)
				got := f(buffer[:len(prefix)])
				mustEqual(t, got, append(bytes.Clone(prefix), want...), "%s of %d bytes, room for %d", name, n, spare)
				if used := len(prefix) + len(want); used <= len(buffer) {
					if &got[0] != &buffer[0] {
						t.Errorf("%s of %d bytes: not in the room that there is", name, n)
					}
					if !intact(buffer[used:]) {
						t.Errorf("%s of %d bytes: written past the end", name, n)
					}
				} else if !bytes.Equal(buffer[:len(prefix)], prefix) || !intact(buffer[len(prefix):]) {
					t.Errorf("%s of %d bytes: the old destination was written to", name, n)
				}
			}
			run("Seal", want, func(dst []byte) []byte { return c.Got.Seal(dst, nonce, plaintext, data) })
			run("Open", plaintext, func(dst []byte) []byte {
				got, err := c.Got.Open(dst, nonce, want, data)
				if err != nil {
					t.Error(err)
				}
				return got
			})
		}
	}
}

// testForgeries changes every bit of the tag, and some of everything else. What Open writes then is zeros at most.
func (c *AEADCheck) testForgeries(t *testing.T) {
	const text = "cipher: message authentication failed"
	for _, n := range []int{0, 1, 3*c.Size + 5, (c.Batch + 2) * c.Size} {
		nonce, plaintext, data := c.message("forgeries", n, c.Size+4)
		sealed := c.Seal(nonce, plaintext, data)
		dst := make([]byte, len(sealed)+c.Size)
		refuse := func(what string, nonce, sealed, data []byte) {
			t.Helper()
			spoil(dst)
			got, err := c.Got.Open(dst[:0], nonce, sealed, data)
			if err == nil || err.Error() != text {
				t.Fatalf("%d bytes, %s: error %v, want %q", n, what, err, text)
			}
			if got != nil {
				t.Fatalf("%d bytes, %s: Open returns %d bytes with its error", n, what, len(got))
			}
			for i, b := range dst {
				if b != canary && (b != 0 || i >= len(sealed)) {
					t.Fatalf("%d bytes, %s: Open leaves byte %d written", n, what, i)
				}
			}
			// In place, nothing is left but ciphertext or zeros.
			both := bytes.Clone(sealed)
			if _, err := c.Got.Open(both[:0], nonce, both, data); err == nil {
				t.Fatalf("%d bytes, %s: opened in place", n, what)
			}
			for i, b := range both {
				if b != 0 && b != sealed[i] {
					t.Fatalf("%d bytes, %s: Open in place leaves byte %d written", n, what, i)
				}
			}
		}
		flip := func(b []byte, bit int) []byte {
			b = bytes.Clone(b)
			b[bit/8] ^= 1 << (bit % 8)
			return b
		}
		for bit := 8 * n; bit < 8*len(sealed); bit++ {
			refuse(fmt.Sprintf("bit %d of the tag", bit-8*n), nonce, flip(sealed, bit), data)
		}
		for bit := 0; bit < 8*n; bit += 1 + 8*n/60 {
			refuse(fmt.Sprintf("bit %d of the ciphertext", bit), nonce, flip(sealed, bit), data)
		}
		for bit := range 8 * len(nonce) {
			refuse(fmt.Sprintf("bit %d of the nonce", bit), flip(nonce, bit), sealed, data)
		}
		for bit := 0; bit < 8*len(data); bit += 5 {
			refuse(fmt.Sprintf("bit %d of the additional data", bit), nonce, sealed, flip(data, bit))
		}
		for m := range len(sealed) {
			if m < c.Got.Overhead()+2 || m > len(sealed)-3 {
				refuse(fmt.Sprintf("the first %d bytes", m), nonce, sealed[:m], data)
			}
		}
		refuse("a byte more", nonce, append(bytes.Clone(sealed), 0), data)
		refuse("a byte less in front", nonce, sealed[1:], data)
		refuse("no additional data", nonce, sealed, nil)
		refuse("less additional data", nonce, sealed, data[:len(data)-1])
		refuse("a byte more of additional data", nonce, sealed, append(bytes.Clone(data), 0))

		// The next message is opened.
		if got, err := c.Got.Open(nil, nonce, sealed, data); err != nil || !bytes.Equal(got, plaintext) {
			t.Fatalf("%d bytes: wrong result after forgeries (error %v)", n, err)
		}
	}
}

func (c *AEADCheck) testOverlap(t *testing.T) {
	const inexact, withData = "crypto/cipher: invalid buffer overlap of output and input",
		"crypto/cipher: invalid buffer overlap of output and additional data"
	n := 3*c.Size + 2
	nonce, plaintext, data := c.message("overlap", n, n)
	sealed := c.Seal(nonce, plaintext, data)
	buffer := Random("buffer", 3*len(sealed))
	for _, d := range []int{1, c.Size, n - 1} {
		MustPanic(t, inexact, func() { c.Got.Seal(buffer[d:d], nonce, buffer[:n], data) }, buffer)
		MustPanic(t, inexact, func() { c.Got.Seal(buffer[:0], nonce, buffer[d:d+n], data) }, buffer)
		MustPanic(t, inexact, func() { c.Got.Open(buffer[d:d], nonce, buffer[:len(sealed)], data) }, buffer)
		MustPanic(t, inexact, func() { c.Got.Open(buffer[:0], nonce, buffer[d:d+len(sealed)], data) }, buffer)
		for _, data := range [][]byte{buffer[:n], buffer[d : d+n], buffer[d : d+1]} {
			MustPanic(t, withData, func() { c.Got.Seal(buffer[:0], nonce, plaintext, data) }, buffer)
			MustPanic(t, withData, func() { c.Got.Open(buffer[:0], nonce, sealed, data) }, buffer)
		}
	}
	// Neighbours.
	copy(buffer[len(sealed):], plaintext)
	mustEqual(t, c.Got.Seal(buffer[:0], nonce, buffer[len(sealed):][:n], data), sealed, "in front of the source")
	copy(buffer, plaintext)
	mustEqual(t, c.Got.Seal(buffer[n:n], nonce, buffer[:n], data), sealed, "behind the source")
	// The tag must not be written over either.
	MustPanic(t, inexact, func() { c.Got.Open(buffer[n:n], nonce, buffer[:len(sealed)], data) }, buffer)
}

func (c *AEADCheck) testMisuse(t *testing.T) {
	text := "crypto/cipher: incorrect nonce length given to " + c.Name
	nonce, plaintext, data := c.message("misuse", 40, 3)
	sealed := c.Seal(nonce, plaintext, data)
	dst := make([]byte, 100)
	for _, n := range []int{0, 1, len(nonce) - 1, len(nonce) + 1, 2 * len(nonce), 100} {
		if n == len(nonce) {
			continue
		}
		wrong := make([]byte, n)
		MustPanic(t, text, func() { c.Got.Seal(dst[:0], wrong, plaintext, data) }, dst)
		MustPanic(t, text, func() { c.Got.Open(dst[:0], wrong, sealed, data) }, dst)
		MustPanic(t, text, func() { c.Got.Open(dst[:0], wrong, nil, nil) }, dst)
	}
	MustPanic(t, text, func() { c.Got.Seal(dst[:0], nil, plaintext, data) }, dst)
	if got := len(sealed) - len(plaintext); got != c.Got.Overhead() {
		t.Errorf("Overhead() = %d, the reference has %d", c.Got.Overhead(), got)
	}
	// Nothing at all is a message too.
	empty := c.Seal(nonce, nil, nil)
	mustEqual(t, c.Got.Seal(nil, nonce, nil, nil), empty, "nothing")
	if got, err := c.Got.Open(nil, nonce, empty, nil); err != nil || len(got) != 0 {
		t.Errorf("nothing opens to %x, %v", got, err)
	}
}

func (c *AEADCheck) testGoroutines(t *testing.T) {
	var wg sync.WaitGroup
	for g := range 8 {
		nonce, plaintext, data := c.message(fmt.Sprint("goroutine", g), (g+1)*7*c.Size+g, g*c.Size)
		want := c.Seal(nonce, plaintext, data)
		wg.Go(func() {
			for range Size().Rounds {
				got := c.Got.Seal(nil, nonce, plaintext, data)
				if !bytes.Equal(got, want) {
					t.Errorf("goroutine %d: Seal is wrong", g)
					return
				}
				if got, err := c.Got.Open(got[:0], nonce, got, data); err != nil || !bytes.Equal(got, plaintext) {
					t.Errorf("goroutine %d: Open is wrong (error %v)", g, err)
					return
				}
			}
		})
	}
	wg.Wait()
}
