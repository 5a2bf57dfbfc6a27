package main

import (
	"crypto/aes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"math"

	"github.com/go-crypt/x/argon2" // has Argon2d, as golang.org/x/crypto/argon2 has not
)

// How a password becomes a key, by UUID.
const (
	kdfAES3     = "c9d9f39a628a4460bf740d08c18a4fea"
	kdfAES4     = "7c02bb8279a74ac0927d114a00648238"
	kdfArgon2d  = "ef636ddf8c29444b91f7a9a403e30a0c"
	kdfArgon2id = "9e298b1956db4773b23dfc3ec6f0a1e6"
)

// maxMemory is what Argon2 may take: the header that says so is only authenticated by what comes out.
const maxMemory = 1 << 30

// transform returns the key that the password becomes, slowly.
func (h *header) transform(password []byte) ([]byte, error) {
	key := sha256.Sum256(password)
	key = sha256.Sum256(key[:]) // of the keys that there are: here the password alone
	if h.major == 3 {
		return transformAES(key, h.fields[fieldTransformSeed], littleEndian(h.fields[fieldRounds]))
	}
	p, err := readDictionary(h.fields[fieldKDF])
	if err != nil {
		return nil, err
	}
	switch id := fmt.Sprintf("%x", p["$UUID"]); id {
	case kdfAES3, kdfAES4:
		return transformAES(key, p["S"], littleEndian(p["R"]))
	case kdfArgon2d, kdfArgon2id:
		iterations, memory, parallelism := littleEndian(p["I"]), littleEndian(p["M"]), littleEndian(p["P"])
		if littleEndian(p["V"]) != 0x13 || len(p["K"])+len(p["A"]) > 0 {
			return nil, errors.New("this version of Argon2, or one with a secret, is not supported")
		}
		if iterations < 1 || iterations > math.MaxUint32 || parallelism < 1 || parallelism > math.MaxUint8 || memory > maxMemory {
			return nil, fmt.Errorf("Argon2 with %d iterations, %d lanes, %d bytes, of which %d are allowed", iterations, parallelism, memory, maxMemory)
		}
		f := argon2.DKey
		if id == kdfArgon2id {
			f = argon2.IDKey
		}
		return f(key[:], p["S"], uint32(iterations), uint32(memory>>10), uint32(parallelism), 32), nil
	default:
		return nil, fmt.Errorf("key derivation function %s is unknown", id)
	}
}

// transformAES encrypts the key many times, with AES.
func transformAES(key [32]byte, seed []byte, rounds uint64) ([]byte, error) {
	block, err := aes.NewCipher(seed)
	if err != nil {
		return nil, err
	}
	for range rounds {
		block.Encrypt(key[:16], key[:16])
		block.Encrypt(key[16:], key[16:])
	}
	key = sha256.Sum256(key[:])
	return key[:], nil
}

// readDictionary reads version 4's dictionary: a version, then a type, a name and a value each, with their lengths.
func readDictionary(data []byte) (map[string][]byte, error) {
	errDictionary := errors.New("not a KDBX dictionary")
	if len(data) < 2 || data[1] != 1 {
		return nil, errDictionary
	}
	data = data[2:]
	cut := func() (front []byte, ok bool) {
		if len(data) < 4 || uint64(binary.LittleEndian.Uint32(data)) > uint64(len(data)-4) {
			return nil, false
		}
		end := 4 + int(binary.LittleEndian.Uint32(data))
		front, data = data[4:end], data[end:]
		return front, true
	}
	values := make(map[string][]byte)
	for len(data) > 0 && data[0] != 0 {
		data = data[1:] // the type, which the name determines
		name, ok := cut()
		if !ok {
			return nil, errDictionary
		}
		if values[string(name)], ok = cut(); !ok {
			return nil, errDictionary
		}
	}
	return values, nil
}

// newArgon2 returns the dictionary of a new Argon2d.
func newArgon2(memory uint64) []byte {
	const typeUint32, typeUint64, typeBytes = 0x04, 0x05, 0x42
	d := []byte{0, 1}
	add := func(kind byte, name string, value []byte) {
		d = binary.LittleEndian.AppendUint32(append(d, kind), uint32(len(name)))
		d = binary.LittleEndian.AppendUint32(append(d, name...), uint32(len(value)))
		d = append(d, value...)
	}
	id, _ := hex.DecodeString(kdfArgon2d)
	add(typeBytes, "$UUID", id)
	add(typeBytes, "S", random(32))
	add(typeUint64, "I", binary.LittleEndian.AppendUint64(nil, 2))
	add(typeUint64, "M", binary.LittleEndian.AppendUint64(nil, memory))
	add(typeUint32, "P", binary.LittleEndian.AppendUint32(nil, 2))
	add(typeUint32, "V", binary.LittleEndian.AppendUint32(nil, 0x13))
	return append(d, 0)
}
