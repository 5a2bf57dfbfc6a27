package main

import (
	"bytes"
	"compress/gzip"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/twogather/twogather/examples/internal/cli"
	"github.com/twogather/twogather/modes"
	"github.com/twogather/twogather/twofish"
)

// Fields of the header.
const (
	fieldEnd           = 0
	fieldCipher        = 2
	fieldCompression   = 3
	fieldSeed          = 4
	fieldTransformSeed = 5 // up to version 3, as the next one
	fieldRounds        = 6
	fieldIV            = 7
	fieldStreamKey     = 8  // of the inner stream, up to version 3, as the next two
	fieldStart         = 9  // how the plaintext starts
	fieldStream        = 10 // which inner stream
	fieldKDF           = 11 // from version 4 on
)

// Fields of version 4's inner header, which is encrypted.
const (
	innerEnd       = 0
	innerStream    = 1
	innerStreamKey = 2
)

var (
	magic       = []byte{3, 0xd9, 0xa2, 0x9a, 0x67, 0xfb, 0x4b, 0xb5}
	uuidTwofish = []byte{0xad, 0x68, 0xf2, 0x9f, 0x57, 0x6f, 0x4b, 0xb9, 0xa3, 0x6a, 0xd4, 0x7a, 0xf9, 0x65, 0x34, 0x6c}

	errCut      = errors.New("the database is cut short")
	errPassword = errors.New("wrong password, or the header was changed")
	errChanged  = errors.New("the database was changed")
)

type header struct {
	raw    []byte // all of it
	major  uint16
	fields map[byte][]byte
}

// readHeader returns the header and what comes behind it.
func readHeader(file []byte) (h *header, rest []byte, err error) {
	if len(file) < 12 || !bytes.HasPrefix(file, magic) {
		return nil, nil, errors.New("not a KeePass 2 database")
	}
	h = &header{major: binary.LittleEndian.Uint16(file[10:])}
	lengthSize := 4
	switch h.major {
	case 3:
		lengthSize = 2
	case 4:
	default:
		return nil, nil, fmt.Errorf("KDBX %d, which is not supported", h.major)
	}
	if h.fields, rest, err = readFields(file[12:], lengthSize); err != nil {
		return nil, nil, err
	}
	h.raw = file[:len(file)-len(rest)]
	if !bytes.Equal(h.fields[fieldCipher], uuidTwofish) {
		return nil, nil, fmt.Errorf("encrypted with cipher %x, not Twofish", h.fields[fieldCipher])
	}
	if len(h.fields[fieldSeed]) != 32 || len(h.fields[fieldIV]) != twofish.BlockSize || len(h.fields[fieldCompression]) != 4 {
		return nil, nil, errors.New("not a KDBX header")
	}
	return h, rest, nil
}

// readFields reads a list of fields, each with its kind and its length in front, up to one of kind 0.
func readFields(data []byte, lengthSize int) (fields map[byte][]byte, rest []byte, err error) {
	fields = make(map[byte][]byte)
	for {
		if len(data) < 1+lengthSize {
			return nil, nil, errCut
		}
		kind, length := data[0], littleEndian(data[1:1+lengthSize])
		if data = data[1+lengthSize:]; length > uint64(len(data)) {
			return nil, nil, errCut
		}
		fields[kind], data = data[:length:length], data[length:]
		if kind == fieldEnd {
			return fields, data, nil
		}
	}
}

// littleEndian returns the number in up to 8 bytes.
func littleEndian(b []byte) (n uint64) {
	for _, x := range slices.Backward(b) {
		n = n<<8 | uint64(x)
	}
	return n
}

// open4 authenticates and decrypts what is behind the header in version 4: first encrypted, then authenticated.
func (h *header) open4(rest, transformed []byte) (x content, err error) {
	const macsSize = 2 * sha256.Size
	if len(rest) < macsSize {
		return x, errCut
	}
	if sum := sha256.Sum256(h.raw); !bytes.Equal(rest[:sha256.Size], sum[:]) {
		return x, errChanged
	}
	keys := h.macKeys(transformed)
	if !hmac.Equal(rest[sha256.Size:macsSize], keys.sum(headerIndex, h.raw)) {
		return x, errPassword
	}
	encrypted, err := keys.readBlocks(rest[macsSize:])
	if err != nil {
		return x, err
	}
	plain, err := h.decrypt(encrypted, transformed)
	if err != nil {
		return x, err
	}
	if plain, err = h.decompress(plain); err != nil {
		return x, err
	}
	inner, document, err := readFields(plain, 4)
	if err != nil {
		return x, err
	}
	return newContent(document, inner[innerStream], inner[innerStreamKey])
}

// open3 does the same for version 3: hashed, then encrypted.
func (h *header) open3(rest, transformed []byte) (x content, err error) {
	plain, err := h.decrypt(rest, transformed)
	if errors.Is(err, errCut) {
		return x, err
	}
	if start := h.fields[fieldStart]; err != nil || len(start) != 32 || !bytes.HasPrefix(plain, start) {
		return x, errPassword
	}
	if plain, err = readHashed(plain[32:]); err != nil {
		return x, err
	}
	if plain, err = h.decompress(plain); err != nil {
		return x, err
	}
	return newContent(plain, h.fields[fieldStream], h.fields[fieldStreamKey])
}

// encryptionKey returns the key for Twofish.
func (h *header) encryptionKey(transformed []byte) []byte {
	sum := sha256.Sum256(append(bytes.Clone(h.fields[fieldSeed]), transformed...))
	return sum[:]
}

func (h *header) decrypt(encrypted, transformed []byte) ([]byte, error) {
	if len(encrypted) == 0 || len(encrypted)%twofish.BlockSize != 0 {
		return nil, errCut
	}
	block, err := twofish.NewCipher(h.encryptionKey(transformed))
	if err != nil {
		return nil, err
	}
	plain := make([]byte, len(encrypted))
	modes.NewCBCDecrypter(block, h.fields[fieldIV]).CryptBlocks(plain, encrypted)
	// PKCS #7: as many bytes of padding as each of them says.
	last := plain[len(plain)-1]
	n := len(plain) - int(last)
	if last == 0 || last > twofish.BlockSize || !bytes.Equal(plain[n:], bytes.Repeat([]byte{last}, int(last))) {
		return nil, errChanged
	}
	return plain[:n], nil
}

func (h *header) decompress(data []byte) ([]byte, error) {
	switch c := littleEndian(h.fields[fieldCompression]); c {
	case 0:
		return data, nil
	case 1:
		r, err := gzip.NewReader(bytes.NewReader(data))
		if err != nil {
			return nil, err
		}
		return io.ReadAll(r)
	default:
		return nil, fmt.Errorf("compression %d is unknown", c)
	}
}

// seal returns a database of version 4. Argon2d takes memory bytes.
func seal(entries []cli.Entry, password []byte, memory uint64) ([]byte, error) {
	streamKey, seed, iv := random(64), random(32), random(twofish.BlockSize)
	document, err := marshal(entries, streamKey)
	if err != nil {
		return nil, err
	}
	var plain bytes.Buffer
	w := gzip.NewWriter(&plain)
	w.Write(appendField(nil, innerStream, []byte{streamChaCha20, 0, 0, 0}))
	w.Write(appendField(nil, innerStreamKey, streamKey))
	w.Write(appendField(nil, innerEnd, nil))
	w.Write(document)
	w.Close()
	n := twofish.BlockSize - plain.Len()%twofish.BlockSize
	encrypted := append(plain.Bytes(), bytes.Repeat([]byte{byte(n)}, n)...)

	raw := append(bytes.Clone(magic), 0, 0, 4, 0)
	raw = appendField(raw, fieldCipher, uuidTwofish)
	raw = appendField(raw, fieldCompression, []byte{1, 0, 0, 0})
	raw = appendField(raw, fieldSeed, seed)
	raw = appendField(raw, fieldIV, iv)
	raw = appendField(raw, fieldKDF, newArgon2(memory))
	raw = appendField(raw, fieldEnd, []byte("\r\n\r\n"))
	h, _, err := readHeader(raw)
	if err != nil {
		return nil, err
	}
	transformed, err := h.transform(password)
	if err != nil {
		return nil, err
	}
	block, err := twofish.NewCipher(h.encryptionKey(transformed))
	if err != nil {
		return nil, err
	}
	modes.NewCBCEncrypter(block, iv).CryptBlocks(encrypted, encrypted)
	keys, sum := h.macKeys(transformed), sha256.Sum256(raw)
	return keys.appendBlocks(slices.Concat(raw, sum[:], keys.sum(headerIndex, raw)), encrypted), nil
}

func appendField(b []byte, kind byte, data []byte) []byte {
	return append(binary.LittleEndian.AppendUint32(append(b, kind), uint32(len(data))), data...)
}

func random(n int) []byte {
	b := make([]byte, n)
	rand.Read(b)
	return b
}
