package main

import (
	"bytes"
	"crypto/pbkdf2"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/sha512"
	"crypto/subtle"
	"encoding/binary"
	"errors"
	"fmt"
	"hash"
	"io"
)

const (
	luksSector  = 512
	slotEnabled = 0x00ac71f3
	maxStripes  = 1 << 16 // there are 4000
)

// A luksHeader is LUKS1's, big-endian, at the beginning of the disk. Offsets count sectors.
type luksHeader struct {
	Magic            [6]byte
	Version          uint16
	Cipher           [32]byte
	Mode             [32]byte
	Hash             [32]byte
	PayloadOffset    uint32
	KeyBytes         uint32 // of the master key
	Digest           [sha1.Size]byte
	DigestSalt       [32]byte
	DigestIterations uint32
	UUID             [40]byte
	Slots            [8]luksSlot
}

// A luksSlot holds the master key, encrypted with a password.
type luksSlot struct {
	State      uint32
	Iterations uint32
	Salt       [32]byte
	Offset     uint32
	Stripes    uint32
}

var errPassword = errors.New("no key for this password")

func readHeader(d disk) (*luksHeader, error) {
	h := new(luksHeader)
	if err := binary.Read(io.NewSectionReader(d, 0, 4096), binary.BigEndian, h); err != nil || string(h.Magic[:]) != "LUKS\xba\xbe" {
		return nil, errors.New("no LUKS header; -key opens an image without one")
	}
	if h.Version != 1 {
		return nil, fmt.Errorf("LUKS%d, which is not supported", h.Version)
	}
	if cipher, mode := text(h.Cipher), text(h.Mode); cipher != "twofish" || mode != "xts-plain64" {
		return nil, fmt.Errorf("encrypted with %s-%s, not twofish-xts-plain64", cipher, mode)
	}
	if k := h.KeyBytes; k != 32 && k != 48 && k != 64 {
		return nil, fmt.Errorf("keys of %d bytes", k)
	}
	return h, nil
}

// text returns what is before the first zero byte.
func text(b [32]byte) string {
	s, _, _ := bytes.Cut(b[:], []byte{0})
	return string(s)
}

func (h *luksHeader) newHash() (func() hash.Hash, error) {
	hashes := map[string]func() hash.Hash{"sha1": sha1.New, "sha256": sha256.New, "sha512": sha512.New}
	f := hashes[text(h.Hash)]
	if f == nil {
		return nil, fmt.Errorf("hash %q, which is not supported", text(h.Hash))
	}
	return f, nil
}

// masterKey returns the key of the sectors, from the first slot that the password opens.
func (h *luksHeader) masterKey(d disk, password []byte) ([]byte, error) {
	newHash, err := h.newHash()
	if err != nil {
		return nil, err
	}
	for _, s := range h.Slots {
		if s.State != slotEnabled {
			continue
		}
		if s.Stripes == 0 || s.Stripes > maxStripes {
			return nil, fmt.Errorf("a key in %d stripes", s.Stripes)
		}
		slotKey, err := pbkdf2.Key(newHash, string(password), s.Salt[:], int(s.Iterations), int(h.KeyBytes))
		if err != nil {
			return nil, err
		}
		stripes := make([]byte, s.Stripes*h.KeyBytes)
		sectors := (int64(len(stripes)) + luksSector - 1) / luksSector
		v, err := newVolume(d, slotKey, luksSector, int64(s.Offset)*luksSector, sectors*luksSector)
		if err != nil {
			return nil, err
		}
		if _, err := v.ReadAt(stripes, 0); err != nil {
			return nil, fmt.Errorf("a key's slot: %w", err)
		}
		key := merge(stripes, int(h.KeyBytes), newHash())
		digest, err := pbkdf2.Key(newHash, string(key), h.DigestSalt[:], int(h.DigestIterations), sha1.Size)
		if err != nil {
			return nil, err
		}
		if subtle.ConstantTimeCompare(digest, h.Digest[:]) == 1 {
			return key, nil
		}
	}
	return nil, errPassword
}

// merge joins a key that was split into stripes so that without any one of them there is nothing: the specification's
// AFmerge. Each stripe but the last is added and then diffused.
func merge(stripes []byte, size int, h hash.Hash) []byte {
	key := make([]byte, size)
	for ; len(stripes) > size; stripes = stripes[size:] {
		subtle.XORBytes(key, key, stripes)
		diffuse(key, h)
	}
	subtle.XORBytes(key, key, stripes)
	return key
}

// diffuse replaces each piece of the key that is as long as a hash by the hash of its number and itself.
func diffuse(key []byte, h hash.Hash) {
	for i := uint32(0); len(key) > 0; i++ {
		piece := key[:min(h.Size(), len(key))]
		h.Reset()
		binary.Write(h, binary.BigEndian, i)
		h.Write(piece)
		copy(piece, h.Sum(nil))
		key = key[len(piece):]
	}
}
