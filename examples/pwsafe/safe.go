package main

import (
	"bytes"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"slices"

	"github.com/twogather/twogather/examples/internal/cli"
	"github.com/twogather/twogather/modes"
	"github.com/twogather/twogather/twofish"
)

// A header stands in front of the encrypted fields, little-endian. Behind them come eof and their HMAC.
type header struct {
	Tag        [4]byte
	Salt       [32]byte
	Iterations uint32
	Check      [32]byte // the stretched password's SHA-256
	Keys       [64]byte // the fields' and the HMAC's, wrapped with the stretched password
	IV         [16]byte
}

var (
	tag        = [4]byte{'P', 'W', 'S', '3'}
	eof        = []byte("PWS3-EOFPWS3-EOF")
	headerSize = binary.Size(header{})
	footerSize = len(eof) + sha256.Size
)

// Types of fields. The fields of the database come first, those of each entry after them; kindEnd ends each of these lists.
const (
	kindVersion  = 0x00 // of the database
	kindUUID     = 0x01
	kindGroup    = 0x02
	kindTitle    = 0x03
	kindUser     = 0x04
	kindPassword = 0x06
	kindEnd      = 0xff
)

const version = 0x030d // of the format, as written by Password Safe 3.30

type field struct {
	kind byte
	data []byte
}

var (
	errFormat   = errors.New("not a Password Safe V3 database, or cut short")
	errPassword = errors.New("wrong password")
	errChanged  = errors.New("the database was changed: its HMAC is wrong")
)

// open returns the entries of a database.
func open(file, password []byte) ([]cli.Entry, error) {
	var h header
	if _, err := binary.Decode(file, binary.LittleEndian, &h); err != nil || h.Tag != tag || len(file) < headerSize+footerSize {
		return nil, errFormat
	}
	body, footer := file[headerSize:len(file)-footerSize], file[len(file)-footerSize:]
	if !bytes.HasPrefix(footer, eof) || len(body)%twofish.BlockSize != 0 {
		return nil, errFormat
	}

	stretched := stretch(password, h.Salt, h.Iterations)
	check := sha256.Sum256(stretched)
	if !hmac.Equal(check[:], h.Check[:]) {
		return nil, errPassword
	}
	wrapping, err := twofish.NewCipher(stretched)
	if err != nil {
		return nil, err
	}
	modes.NewECBDecrypter(wrapping).CryptBlocks(h.Keys[:], h.Keys[:])
	block, err := twofish.NewCipher(h.Keys[:32])
	if err != nil {
		return nil, err
	}
	plain := make([]byte, len(body))
	modes.NewCBCDecrypter(block, h.IV[:]).CryptBlocks(plain, body)

	fields, ok := split(plain)
	if !ok || !hmac.Equal(authenticate(fields, h.Keys[32:]), footer[len(eof):]) {
		return nil, errChanged
	}
	return entries(fields), nil
}

// stretch makes guessing at a password slow.
func stretch(password []byte, salt [32]byte, iterations uint32) []byte {
	x := sha256.Sum256(append(bytes.Clone(password), salt[:]...))
	for range iterations {
		x = sha256.Sum256(x[:])
	}
	return x[:]
}

// split finds the fields in what was decrypted: each is a length, a kind and data, filled up to whole blocks.
func split(plain []byte) (fields []field, ok bool) {
	const start = 5
	for len(plain) > 0 {
		n := uint64(binary.LittleEndian.Uint32(plain))
		size := (start + n + twofish.BlockSize - 1) &^ (twofish.BlockSize - 1)
		if size > uint64(len(plain)) {
			return nil, false
		}
		fields = append(fields, field{plain[4], plain[start : start+n]})
		plain = plain[size:]
	}
	return fields, true
}

// authenticate returns the HMAC of the fields' data. Their lengths and kinds are not part of it: so the format has it.
func authenticate(fields []field, key []byte) []byte {
	mac := hmac.New(sha256.New, key)
	for _, f := range fields {
		mac.Write(f.data)
	}
	return mac.Sum(nil)
}

// entries groups fields, without those of the database itself.
func entries(fields []field) (all []cli.Entry) {
	var e cli.Entry
	inHeader := true
	for _, f := range fields {
		switch {
		case f.kind == kindEnd:
			if !inHeader {
				all = append(all, e)
			}
			e, inHeader = cli.Entry{}, false
		case inHeader:
		case f.kind == kindGroup:
			e.Group = string(f.data)
		case f.kind == kindTitle:
			e.Title = string(f.data)
		case f.kind == kindUser:
			e.User = string(f.data)
		case f.kind == kindPassword:
			e.Password = string(f.data)
		}
	}
	return all
}

// seal returns a database with the entries.
func seal(entries []cli.Entry, password []byte, iterations uint32) ([]byte, error) {
	h := header{Tag: tag, Iterations: iterations}
	rand.Read(h.Salt[:])
	rand.Read(h.Keys[:])
	rand.Read(h.IV[:])
	stretched := stretch(password, h.Salt, h.Iterations)
	h.Check = sha256.Sum256(stretched)
	wrapping, err := twofish.NewCipher(stretched)
	if err != nil {
		return nil, err
	}
	block, err := twofish.NewCipher(h.Keys[:32])
	if err != nil {
		return nil, err
	}

	fields := []field{{kindVersion, binary.LittleEndian.AppendUint16(nil, version)}, {kindUUID, uuid()}, {kindEnd, nil}}
	for _, e := range entries {
		fields = append(fields, field{kindUUID, uuid()}, field{kindGroup, []byte(e.Group)}, field{kindTitle, []byte(e.Title)},
			field{kindUser, []byte(e.User)}, field{kindPassword, []byte(e.Password)}, field{kindEnd, nil})
	}
	body := join(fields)
	mac := authenticate(fields, h.Keys[32:])
	modes.NewCBCEncrypter(block, h.IV[:]).CryptBlocks(body, body)
	modes.NewECBEncrypter(wrapping).CryptBlocks(h.Keys[:], h.Keys[:])
	file, err := binary.Append(nil, binary.LittleEndian, h)
	return slices.Concat(file, body, eof, mac), err
}

// join is the inverse of split. It fills up with random bytes.
func join(fields []field) (plain []byte) {
	for _, f := range fields {
		plain = binary.LittleEndian.AppendUint32(plain, uint32(len(f.data)))
		plain = append(append(plain, f.kind), f.data...)
		filling := make([]byte, -len(plain)&(twofish.BlockSize-1))
		rand.Read(filling)
		plain = append(plain, filling...)
	}
	return plain
}

// uuid returns a random one: RFC 9562, version 4.
func uuid() []byte {
	id := make([]byte, 16)
	rand.Read(id)
	id[6], id[8] = id[6]&0x0f|0x40, id[8]&0x3f|0x80
	return id
}
