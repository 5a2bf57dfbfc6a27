package main

import (
	"bytes"
	"compress/gzip"
	"crypto/aes"
	"crypto/cipher"
	"crypto/hmac"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"testing"

	"golang.org/x/crypto/argon2"
	"golang.org/x/crypto/chacha20"
	"golang.org/x/crypto/salsa20"
	//lint:ignore SA1019 not the one under test
	xtwofish "golang.org/x/crypto/twofish"

	"github.com/twogather/twogather/examples/internal/cli"
	"github.com/twogather/twogather/internal/testkit"
)

// A testFile writes databases in another way, with another Twofish, and in more variants than the program.
type testFile struct {
	major      uint16
	rounds     uint64 // of AES-KDF; or, without any, Argon2id
	uuid       string // of AES-KDF in version 4
	stream     byte
	compressed bool

	roundsAt int // set by bytes: where the number of rounds is
}

// written are the entries of these databases. The first has a history. Passwords that no XML could have are fine.
var written = []struct{ group, title, user, password, old string }{
	{"", "first", "user", "password", "old password"},
	{"a group", "second", "", "\x01\xff <&> ", ""},
	{"a group/inside", "third", "", "", ""},
	{"another", "fourth", "", strings.Repeat("long ", 100), ""},
}

func (f *testFile) document(headerHash []byte) []byte {
	key := testkit.Random("stream key", 32)
	stream := make([]byte, 1<<12)
	if f.stream == 2 {
		hash := sha256.Sum256(key)
		salsa20.XORKeyStream(stream, stream, []byte("\xE8\x30\x09\x4B\x97\x20\x5D\x2A"), &hash)
	} else {
		hash := sha512.Sum512(key)
		c, _ := chacha20.NewUnauthenticatedCipher(hash[:32], hash[32:44])
		c.XORKeyStream(stream, stream)
	}
	protect := func(s string) string {
		b := []byte(s)
		for i := range b {
			b[i] ^= stream[i]
		}
		stream = stream[len(b):]
		return base64.StdEncoding.EncodeToString(b)
	}
	strings := func(title, user, password string) string {
		return fmt.Sprintf("<String><Key>Password</Key><Value Protected=\"True\">%s</Value></String>\n"+
			"<String><Key>Title</Key><Value>%s</Value></String><String><Key>UserName</Key><Value>%s</Value></String>",
			protect(password), title, user)
	}
	entry := func(i int) string {
		e := written[i]
		text := "<Entry><UUID>x</UUID>" + strings(e.title, e.user, e.password)
		if e.old != "" {
			text += "<History><Entry>" + strings(e.title, e.user, e.old) + "</Entry></History>"
		}
		return text + "</Entry>\n"
	}
	return fmt.Appendf(nil, `<?xml version="1.0" encoding="utf-8" standalone="yes"?>
<KeePassFile><Meta><Generator>test</Generator><HeaderHash>%s</HeaderHash></Meta><Root><Group><Name>Database</Name>
%s<Group><Name>a group</Name>%s<Group><Name>inside</Name>%s</Group></Group><Group><Name>another</Name>%s</Group>
</Group><DeletedObjects /></Root></KeePassFile>`,
		base64.StdEncoding.EncodeToString(headerHash), entry(0), entry(1), entry(2), entry(3))
}

func (f *testFile) bytes(t *testing.T) []byte {
	t.Helper()
	le := binary.LittleEndian
	seed, transformSeed, iv := testkit.Random("seed", 32), testkit.Random("transform", 32), testkit.Random("IV", 16)
	start, streamKey := testkit.Random("start", 32), testkit.Random("stream key", 32)
	compression := []byte{0, 0, 0, 0}
	if f.compressed {
		compression[0] = 1
	}

	// The key.
	composite := sha256.Sum256([]byte(password))
	composite = sha256.Sum256(composite[:])
	var transformed []byte
	if f.rounds == 0 {
		transformed = argon2.IDKey(composite[:], transformSeed, 3, 64, 2, 32)
	} else {
		block, _ := aes.NewCipher(transformSeed)
		for range f.rounds {
			block.Encrypt(composite[:], composite[:])
			block.Encrypt(composite[16:], composite[16:])
		}
		sum := sha256.Sum256(composite[:])
		transformed = sum[:]
	}

	// The header.
	raw := []byte("\x03\xd9\xa2\x9a\x67\xfb\x4b\xb5\x01\x00")
	raw = le.AppendUint16(raw, f.major)
	add := func(kind byte, value []byte) {
		raw = append(raw, kind)
		if f.major == 3 {
			raw = le.AppendUint16(raw, uint16(len(value)))
		} else {
			raw = le.AppendUint32(raw, uint32(len(value)))
		}
		raw = append(raw, value...)
	}
	add(2, unhex(t, "ad68f29f576f4bb9a36ad47af965346c"))
	add(3, compression)
	add(4, seed)
	add(7, iv)
	rounds := le.AppendUint64(nil, f.rounds)
	if f.major == 3 {
		add(5, transformSeed)
		f.roundsAt = len(raw) + 3
		add(6, rounds)
		add(8, streamKey)
		add(9, start)
		add(10, []byte{f.stream, 0, 0, 0})
	} else {
		d := []byte{0, 1}
		item := func(kind byte, name string, value []byte) {
			d = append(le.AppendUint32(append(d, kind), uint32(len(name))), name...)
			d = append(le.AppendUint32(d, uint32(len(value))), value...)
		}
		item(0x42, "S", transformSeed)
		if f.rounds == 0 {
			item(0x42, "$UUID", unhex(t, "9e298b1956db4773b23dfc3ec6f0a1e6"))
			item(0x05, "M", le.AppendUint64(nil, 64<<10))
			item(0x05, "I", le.AppendUint64(nil, 3))
			item(0x04, "P", le.AppendUint32(nil, 2))
			item(0x04, "V", le.AppendUint32(nil, 0x13))
		} else {
			if f.uuid == "" {
				f.uuid = "c9d9f39a628a4460bf740d08c18a4fea"
			}
			item(0x42, "$UUID", unhex(t, f.uuid))
			item(0x05, "R", rounds)
			f.roundsAt = len(raw) + 5 + len(d) - 8
		}
		add(11, append(d, 0))
	}
	add(0, []byte("\r\n\r\n"))

	// What is inside.
	headerHash := sha256.Sum256(raw)
	plain := f.document(headerHash[:])
	if f.major == 4 {
		plain = slices.Concat([]byte{1, 4, 0, 0, 0, f.stream, 0, 0, 0, 2, 32, 0, 0, 0}, streamKey, []byte{0, 0, 0, 0, 0}, f.document(nil))
	}
	if f.compressed {
		var b bytes.Buffer
		w := gzip.NewWriter(&b)
		w.Write(plain)
		w.Close()
		plain = b.Bytes()
	}
	if f.major == 3 {
		first, second := plain[:100], plain[100:]
		plain = bytes.Clone(start)
		for i, b := range [][]byte{first, second, nil} {
			sum := sha256.Sum256(b)
			if b == nil {
				clear(sum[:])
			}
			plain = slices.Concat(plain, le.AppendUint32(nil, uint32(i)), sum[:], le.AppendUint32(nil, uint32(len(b))), b)
		}
	}

	// Encrypted.
	n := 16 - len(plain)%16
	encrypted := append(bytes.Clone(plain), bytes.Repeat([]byte{byte(n)}, n)...)
	key := sha256.Sum256(slices.Concat(seed, transformed))
	block, err := xtwofish.NewCipher(key[:])
	if err != nil {
		t.Fatal(err)
	}
	cipher.NewCBCEncrypter(block, iv).CryptBlocks(encrypted, encrypted)
	if f.major == 3 {
		return slices.Concat(raw, encrypted)
	}

	// Authenticated.
	base := sha512.Sum512(slices.Concat(seed, transformed, []byte{1}))
	mac := func(index uint64, message []byte) []byte {
		key := sha512.Sum512(slices.Concat(le.AppendUint64(nil, index), base[:]))
		h := hmac.New(sha256.New, key[:])
		h.Write(message)
		return h.Sum(nil)
	}
	file := slices.Concat(raw, headerHash[:], mac(1<<64-1, raw))
	for i, b := range [][]byte{encrypted[:50], encrypted[50:], nil} {
		message := append(le.AppendUint32(le.AppendUint64(nil, uint64(i)), uint32(len(b))), b...)
		file = slices.Concat(file, mac(uint64(i), message), message[8:])
	}
	return file
}

func unhex(t *testing.T, s string) []byte {
	t.Helper()
	b, err := hex.DecodeString(s)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestVariants(t *testing.T) {
	for _, f := range []testFile{
		{major: 3, rounds: 1000, stream: 2, compressed: true},
		{major: 3, rounds: 1, stream: 2},
		{major: 4, stream: 3, compressed: true},
		{major: 4, stream: 2},
		{major: 4, rounds: 1000, stream: 3, uuid: kdfAES3},
		{major: 4, rounds: 1000, stream: 3, uuid: kdfAES4, compressed: true},
	} {
		got, err := open(f.bytes(t), []byte(password))
		if err != nil || len(got) != len(written) {
			t.Errorf("%+v: %v, %v", f, got, err)
			continue
		}
		for i, w := range written {
			if want := (cli.Entry{Group: w.group, Title: w.title, User: w.user, Password: w.password}); got[i] != want {
				t.Errorf("%+v: %q, want %q", f, got[i], want)
			}
		}
	}
	f := testFile{major: 4, stream: 1}
	if _, err := open(f.bytes(t), []byte(password)); err == nil || !strings.Contains(err.Error(), "inner stream 1") {
		t.Error(err)
	}
}
