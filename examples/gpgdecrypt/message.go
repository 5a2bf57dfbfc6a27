package main

import (
	"bytes"
	"cmp"
	"crypto/md5"
	"crypto/rand"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/sha512"
	"crypto/subtle"
	"encoding/binary"
	"errors"
	"fmt"
	"hash"
	"math"
	"slices"

	"github.com/twogather/twogather/modes"
	"github.com/twogather/twogather/twofish"
)

const (
	cipherTwofish = 10 // RFC 9580, section 9.3
	keySize       = 32
	prefixSize    = twofish.BlockSize + 2 // random bytes, the last two of them repeated
	mdcSize       = 2 + sha1.Size         // a packet: its tag, its length, the code
)

var (
	errPassphrase = errors.New("wrong passphrase, or the message's first bytes were changed")
	errChanged    = errors.New("the message was changed after it was encrypted: its modification detection code is wrong")
	mdcHeader     = []byte{0xd3, sha1.Size}
	noIV          = make([]byte, twofish.BlockSize) // OpenPGP has the random prefix instead
)

// decrypt returns the data in a message, which is overwritten. It returns none where the integrity code is wrong.
func decrypt(message, passphrase []byte) ([]byte, error) {
	var sessionKeys [][]byte
	var sessionKeyError error
	for {
		tag, body, rest, err := nextPacket(message)
		if err != nil {
			return nil, err
		}
		message = rest
		switch tag {
		case tagMarker, tagPublicKey:
		case tagSessionKey:
			key, err := sessionKey(body, passphrase)
			if err != nil {
				sessionKeyError = err
			} else {
				sessionKeys = append(sessionKeys, key)
			}
		case tagEncrypted:
			if len(sessionKeys) == 0 {
				return nil, cmp.Or(sessionKeyError, errors.New("not encrypted with a passphrase"))
			}
			packets, err := open(body, sessionKeys)
			if err != nil {
				return nil, err
			}
			return literal(packets)
		case tagUnprotected:
			return nil, errors.New("no integrity protection: whatever came out could be anyone's")
		case tagEncryptedOCB:
			return nil, errors.New("encrypted with OCB, which is not supported")
		default:
			return nil, fmt.Errorf("a packet with tag %d, which is not supported", tag)
		}
	}
}

// sessionKey returns the key in a packet of version 4, or that which the passphrase is by itself: RFC 9580, section 5.3.1.
func sessionKey(body, passphrase []byte) ([]byte, error) {
	if len(body) < 2 {
		return nil, errCut
	}
	version, algorithm := body[0], body[1]
	if version != 4 {
		return nil, fmt.Errorf("the passphrase's packet is of version %d, which is not supported", version)
	}
	if algorithm != cipherTwofish {
		return nil, fmt.Errorf("encrypted with cipher %d, not Twofish", algorithm)
	}
	key, encrypted, err := stringToKey(body[2:], passphrase)
	if err != nil || len(encrypted) == 0 {
		return key, err
	}
	block, err := twofish.NewCipher(key)
	if err != nil {
		return nil, err
	}
	modes.NewCFBDecrypter(block, noIV).XORKeyStream(encrypted, encrypted)
	if encrypted[0] != cipherTwofish || len(encrypted) != 1+keySize {
		return nil, errPassphrase
	}
	return encrypted[1:], nil
}

var hashes = map[byte]func() hash.Hash{ // RFC 9580, section 9.5
	1: md5.New, 2: sha1.New, 8: sha256.New, 9: sha512.New384, 10: sha512.New, 11: sha256.New224,
}

// stringToKey makes the key that specifier, in front of what it also returns, says to make: RFC 9580, section 3.7.
func stringToKey(specifier, passphrase []byte) (key, rest []byte, err error) {
	sizes := map[byte]int{0: 2, 1: 10, 3: 11} // simple, salted, iterated and salted
	if len(specifier) == 0 {
		return nil, nil, errCut
	}
	size, ok := sizes[specifier[0]]
	if !ok {
		return nil, nil, fmt.Errorf("the passphrase becomes a key in way %d, which is not supported", specifier[0])
	}
	if len(specifier) < size {
		return nil, nil, errCut
	}
	specifier, rest = specifier[:size], specifier[size:]
	newHash := hashes[specifier[1]]
	if newHash == nil {
		return nil, nil, fmt.Errorf("the passphrase becomes a key by hash %d, which is not supported", specifier[1])
	}
	input := slices.Concat(specifier[2:min(size, 10)], passphrase)
	count := len(input)
	if size == 11 {
		c := specifier[10]
		count = max(count, int(16+c&15)<<(c>>4+6))
	}

	many := bytes.Repeat(input, 1+1<<14/max(len(input), 1)) // so that the hash has few calls
	for zeros := 0; len(key) < keySize; zeros++ {
		h := newHash()
		h.Write(make([]byte, zeros))
		for n := count; n > 0; n -= len(many) {
			h.Write(many[:min(n, len(many))])
		}
		key = h.Sum(key)
	}
	return key[:keySize], rest, nil
}

// open decrypts and authenticates the body of a packet of version 1, in place: RFC 9580, section 5.13.1.
func open(body []byte, sessionKeys [][]byte) ([]byte, error) {
	if len(body) < 1+prefixSize+mdcSize {
		return nil, errCut
	}
	if body[0] != 1 {
		return nil, fmt.Errorf("encrypted in version %d, which is not supported", body[0])
	}
	body = body[1:]
	for _, key := range sessionKeys {
		block, err := twofish.NewCipher(key)
		if err != nil {
			return nil, err
		}
		// A wrong key is found out here but once in 65536 times, and below then.
		var prefix [prefixSize]byte
		modes.NewCFBDecrypter(block, noIV).XORKeyStream(prefix[:], body[:prefixSize])
		if [2]byte(prefix[prefixSize-4:]) != [2]byte(prefix[prefixSize-2:]) {
			continue
		}
		modes.NewCFBDecrypter(block, noIV).XORKeyStream(body, body)
		content, mdc := body[:len(body)-mdcSize], body[len(body)-mdcSize:]
		if subtle.ConstantTimeCompare(mdc, appendMDC(nil, content)) == 0 {
			return nil, errChanged
		}
		return content[prefixSize:], nil
	}
	return nil, errPassphrase
}

// appendMDC appends the packet with the code of content, which hashes its own header too.
func appendMDC(b, content []byte) []byte {
	h := sha1.New()
	h.Write(content)
	h.Write(mdcHeader)
	return h.Sum(append(b, mdcHeader...))
}

// encrypt returns a message with data in it.
func encrypt(data, passphrase []byte) ([]byte, error) {
	const overhead = 100 // more than the packets around data have
	if uint64(len(data)) > math.MaxUint32-overhead {
		return nil, errors.New("4 GiB and more would have to be cut into parts, which is not supported")
	}
	var salt [8]byte
	rand.Read(salt[:])
	specifier := slices.Concat([]byte{3, 8}, salt[:], []byte{0xff}) // iterated and salted, with SHA-256, 65011712 bytes of it
	key, _, err := stringToKey(specifier, passphrase)
	if err != nil {
		return nil, err
	}
	block, err := twofish.NewCipher(key)
	if err != nil {
		return nil, err
	}
	message := make([]byte, 0, len(data)+2*overhead)
	message = appendHeader(message, tagSessionKey, 2+len(specifier))
	message = append(message, 4, cipherTwofish)
	message = append(message, specifier...)

	const literalSize, headerSize = 1 + 1 + 4, 6
	message = appendHeader(message, tagEncrypted, 1+prefixSize+headerSize+literalSize+len(data)+mdcSize)
	message = append(message, 1)
	start := len(message)
	message = append(message, make([]byte, prefixSize)...)
	rand.Read(message[start : start+prefixSize-2])
	copy(message[start+prefixSize-2:], message[start+prefixSize-4:])
	message = appendHeader(message, tagLiteral, literalSize+len(data))
	message = append(message, 'b', 0, 0, 0, 0, 0) // binary, without a name, without a time
	message = append(message, data...)
	message = appendMDC(message, message[start:])
	modes.NewCFBEncrypter(block, noIV).XORKeyStream(message[start:], message[start:])
	return message, nil
}

// appendHeader appends a packet's header, of 6 bytes.
func appendHeader(b []byte, tag byte, length int) []byte {
	return binary.BigEndian.AppendUint32(append(b, 0xc0|tag, 255), uint32(length))
}
