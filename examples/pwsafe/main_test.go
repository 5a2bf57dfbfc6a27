package main

import (
	"bytes"
	"crypto/cipher"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	//lint:ignore SA1019 not the one under test
	xtwofish "golang.org/x/crypto/twofish"

	"github.com/twogather/twogather/examples/internal/cli"
	"github.com/twogather/twogather/internal/testkit"
	"github.com/twogather/twogather/vectors"
)

const password = "correct horse"

// safe is what testdata/safe.psafe3 was made of.
const safe = "email\tMail\tsomeone\t\"p w\"\"d\"\n\tPin of card\t\t1234\nemail.work\tÄußeres\tsome.one\tpässwörd, 16 b\n"

func write(t *testing.T, text string) (path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func call(t *testing.T, password, stdin string, args ...string) (string, error) {
	t.Helper()
	var out bytes.Buffer
	err := run(append([]string{"-password", write(t, password)}, args...), strings.NewReader(stdin), &out)
	return out.String(), err
}

func TestFile(t *testing.T) {
	const path = "testdata/safe.psafe3"
	if got, err := call(t, password, "", "-show", path); err != nil || got != safe {
		t.Errorf("%q, %v", got, err)
	}
	const list = "email\tMail\tsomeone\n\tPin of card\t\nemail.work\tÄußeres\tsome.one\n"
	if got, err := call(t, password, "", path); err != nil || got != list {
		t.Errorf("%q, %v", got, err)
	}
	if got, err := call(t, "wrong", "", path); !errors.Is(err, errPassword) || got != "" {
		t.Errorf("%q, %v", got, err)
	}
}

// TestPublicFiles opens the databases in the folder that TWOGATHER_VECTORS names, which others made.
func TestPublicFiles(t *testing.T) {
	folder, err := vectors.Folder()
	if err != nil {
		t.Fatal(err)
	}
	if folder == "" {
		t.Skip(vectors.Variable, " is not set")
	}
	const want = "test\tTest entry\ttest\tpassword\n"
	if got, err := call(t, "password", "", "-show", filepath.Join(folder, "realworld/pwsafe-simple.psafe3")); err != nil || got != want {
		t.Errorf("%q, %v", got, err)
	}
	if got, err := call(t, "password", "", "-show", filepath.Join(folder, "realworld/pwsafe-bad-hmac.psafe3")); !errors.Is(err, errChanged) || got != "" {
		t.Errorf("%q, %v", got, err)
	}
}

func TestCreate(t *testing.T) {
	path := filepath.Join(t.TempDir(), "new.psafe3")
	if out, err := call(t, password, safe, "-create", path); err != nil || out != "" {
		t.Fatal(out, err)
	}
	if got, err := call(t, password, "", "-show", path); err != nil || got != safe {
		t.Errorf("%q, %v", got, err)
	}
	if _, err := call(t, password, safe, "-create", path); !errors.Is(err, os.ErrExist) {
		t.Error("written over: ", err)
	}
	if _, err := call(t, password, "one\ttwo\tthree\n", "-create", path+".other"); err == nil {
		t.Error("three fields make an entry")
	}
}

// TestSeal has fields of all lengths around a block's, and reads the result in another way: with another Twofish, a block
// at a time, and without split.
func TestSeal(t *testing.T) {
	var all []cli.Entry
	for n := range 40 {
		text := strings.Repeat("x", n)
		all = append(all, cli.Entry{Group: "group " + text, Title: "title " + text, User: text, Password: text + text})
	}
	file, err := seal(all, []byte(password), 7)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := open(file, []byte(password)); err != nil || !slices.Equal(got, all) {
		t.Errorf("%v, %v", got, err)
	}

	cut := func(n int) (front []byte) {
		front, file = file[:n], file[n:]
		return front
	}
	block := func(key []byte) cipher.Block {
		b, err := xtwofish.NewCipher(key)
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	if !bytes.Equal(cut(4), []byte("PWS3")) {
		t.Error("another tag")
	}
	stretched := sha256.Sum256(append([]byte(password), cut(32)...))
	for range binary.LittleEndian.Uint32(cut(4)) {
		stretched = sha256.Sum256(stretched[:])
	}
	if check := sha256.Sum256(stretched[:]); !bytes.Equal(cut(32), check[:]) {
		t.Error("another check of the password")
	}
	keys, unwrap := cut(64), block(stretched[:])
	for i := 0; i < 64; i += 16 {
		unwrap.Decrypt(keys[i:], keys[i:])
	}
	decrypter := cipher.NewCBCDecrypter(block(keys[:32]), cut(16))
	mac := hmac.New(sha256.New, keys[32:])
	var kinds, data []byte
	for !bytes.Equal(file[:16], []byte("PWS3-EOFPWS3-EOF")) {
		decrypter.CryptBlocks(file[:16], file[:16])
		b := cut(16)
		n := int(binary.LittleEndian.Uint32(b))
		kinds = append(kinds, b[4])
		field := b[5:]
		for len(field) < n {
			decrypter.CryptBlocks(file[:16], file[:16])
			field = append(bytes.Clone(field), cut(16)...)
		}
		mac.Write(field[:n])
		if b[4] != 1 {
			data = append(append(data, field[:n]...), '\n')
		}
	}
	cut(16)
	if !bytes.Equal(file, mac.Sum(nil)) {
		t.Error("another HMAC")
	}
	wantKinds, wantData := []byte{0, 1, 0xff}, []byte("\x0d\x03\n\n")
	for _, e := range all {
		wantKinds = append(wantKinds, 1, 2, 3, 4, 6, 0xff)
		wantData = append(wantData, e.Group+"\n"+e.Title+"\n"+e.User+"\n"+e.Password+"\n\n"...)
	}
	if !bytes.Equal(kinds, wantKinds) || !bytes.Equal(data, wantData) {
		t.Errorf("fields of kinds %x, %q", kinds, data)
	}
}

// TestDamage cuts a database everywhere, and changes each of its bits. The format leaves a change unnoticed where it does
// not matter, in what fields are filled up with.
func TestDamage(t *testing.T) {
	all := []cli.Entry{{Group: "group", Title: "title", User: "user", Password: "a password that is longer than a block"}, {}}
	file, err := seal(all, []byte(password), 1)
	if err != nil {
		t.Fatal(err)
	}
	for n := range file {
		if got, err := open(file[:n], []byte(password)); err == nil || got != nil {
			t.Errorf("cut to %d bytes: %v, %v", n, got, err)
		}
	}
	unnoticed := 0
	for i := range 8 * len(file) {
		if i >= 8*37 && i < 8*40 {
			continue // the number of iterations, made so large that it takes minutes
		}
		forged := bytes.Clone(file)
		forged[i/8] ^= 1 << (i % 8)
		got, err := open(forged, []byte(password))
		switch {
		case err == nil && slices.Equal(got, all):
			unnoticed++
		case err == nil || got != nil:
			t.Errorf("bit %d changed: %v, %v", i, got, err)
		}
	}
	if unnoticed > 8*(1+9) { // the first field's kind and filling, by way of the IV
		t.Errorf("%d bits changed unnoticed", unnoticed)
	}
	long := testkit.Random("not a database", 1000)
	if _, err := open(long, []byte(password)); !errors.Is(err, errFormat) {
		t.Error(err)
	}
}
