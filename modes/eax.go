package modes

import (
	"crypto/cipher"
	"crypto/subtle"
	"errors"
	"sync"
)

// eax is the mode of Bellare, Rogaway and Wagner, The EAX Mode of Operation, 2004: counter mode and CMAC, one after the
// other.
type eax struct {
	block              cipher.Block
	nonceSize, tagSize int
	states             sync.Pool
}

// An eaxState is what a call needs and must not have on its stack: what goes through an interface escapes.
type eaxState struct {
	ctr *CTR
	mac *cmac
	// The CMACs of the nonce, the additional data and the ciphertext are of messages that begin with a block 0, 1 or 2.
	// first is the chain behind that block, empty the code of nothing else.
	first, empty [3][aeadBlock]byte
	tag, part    [aeadBlock]byte
}

// NewEAX returns an AEAD in EAX mode. Nonces, of nonceSize bytes, may have any size but 0; tags have 12 to 16 bytes. The
// error is for other sizes, and for blocks that do not have 16 bytes.
//
// Encryption is as wide as counter mode. Authentication is not: it takes the time of CBC encryption. A ciphertext is
// authenticated before anything is decrypted.
func NewEAX(b cipher.Block, nonceSize, tagSize int) (cipher.AEAD, error) {
	if err := aeadSizes("EAX", b, tagSize, minTag); err != nil {
		return nil, err
	}
	if nonceSize <= 0 {
		return nil, errors.New("cipher: the nonce can't have zero length")
	}
	x := &eax{block: b, nonceSize: nonceSize, tagSize: tagSize}
	x.states.New = func() any { return newEAXState(b) }
	return x, nil
}

func newEAXState(b cipher.Block) *eaxState {
	s := &eaxState{ctr: NewCTR(b, make([]byte, aeadBlock)), mac: newCMAC(b)}
	for i := range s.first {
		start := make([]byte, aeadBlock)
		start[aeadBlock-1] = byte(i)
		s.mac.Reset()
		s.mac.Write(start)
		s.mac.Sum(s.empty[i][:0])
		b.Encrypt(s.first[i][:], start)
	}
	return s
}

func (x *eax) NonceSize() int { return x.nonceSize }
func (x *eax) Overhead() int  { return x.tagSize }

func (x *eax) Seal(dst, nonce, plaintext, additionalData []byte) []byte {
	x.checkNonce(nonce)
	all, out := appended(dst, len(plaintext)+x.tagSize, plaintext, additionalData)
	ciphertext, tag := out[:len(plaintext)], out[len(plaintext):]
	s := x.states.Get().(*eaxState)
	defer x.states.Put(s)
	s.start(nonce, additionalData)
	s.ctr.XORKeyStream(ciphertext, plaintext)
	s.authenticate(2, ciphertext)
	copy(tag, s.tag[:])
	return all
}

func (x *eax) Open(dst, nonce, ciphertext, additionalData []byte) ([]byte, error) {
	x.checkNonce(nonce)
	if len(ciphertext) < x.tagSize {
		return nil, errOpen
	}
	n := len(ciphertext) - x.tagSize
	all, plaintext := appended(dst, n, ciphertext, additionalData)
	ciphertext, tag := ciphertext[:n], ciphertext[n:]
	s := x.states.Get().(*eaxState)
	defer x.states.Put(s)
	s.start(nonce, additionalData)
	s.authenticate(2, ciphertext)
	if subtle.ConstantTimeCompare(s.tag[:x.tagSize], tag) != 1 {
		clear(plaintext)
		return nil, errOpen
	}
	s.ctr.XORKeyStream(plaintext, ciphertext)
	return all, nil
}

func (x *eax) checkNonce(nonce []byte) {
	if len(nonce) != x.nonceSize {
		panic("crypto/cipher: incorrect nonce length given to EAX")
	}
}

// start prepares counter mode, and the tag but for the ciphertext's part.
func (s *eaxState) start(nonce, additionalData []byte) {
	clear(s.tag[:])
	s.authenticate(0, nonce)
	s.ctr.restart(s.tag[:])
	s.authenticate(1, additionalData)
}

// authenticate adds the CMAC of a message with a number in front to the tag.
func (s *eaxState) authenticate(number int, message []byte) {
	code := s.empty[number][:]
	if len(message) > 0 {
		s.mac.Reset()
		copy(s.mac.chain, s.first[number][:])
		s.mac.Write(message)
		code = s.mac.Sum(s.part[:0])
	}
	subtle.XORBytes(s.tag[:], s.tag[:], code)
}
