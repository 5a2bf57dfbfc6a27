package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/twogather/twogather/examples/internal/cli"
	"github.com/twogather/twogather/internal/testkit"
	"github.com/twogather/twogather/vectors"
)

const password = "correct horse"

// safe is what testdata/argon2d.kdbx was made of, with -memory 1.
const safe = "\tPin of card\t\t1234\nemail\tMail\tsomeone\t\"p w\"\"d\"\nemail/work\tÄußeres\tsome.one\tpässwörd, 16 b\n"

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
	const path = "testdata/argon2d.kdbx"
	if got, err := call(t, password, "", "-show", path); err != nil || got != safe {
		t.Errorf("%q, %v", got, err)
	}
	const list = "\tPin of card\t\nemail\tMail\tsomeone\nemail/work\tÄußeres\tsome.one\n"
	if got, err := call(t, password, "", path); err != nil || got != list {
		t.Errorf("%q, %v", got, err)
	}
	if got, err := call(t, "wrong", "", path); !errors.Is(err, errPassword) || got != "" {
		t.Errorf("%q, %v", got, err)
	}
}

// TestPublicFile opens the database in the folder that TWOGATHER_VECTORS names, which others made.
func TestPublicFile(t *testing.T) {
	folder, err := vectors.Folder()
	if err != nil {
		t.Fatal(err)
	}
	if folder == "" {
		t.Skip(vectors.Variable, " is not set")
	}
	const want = "\tSample Entry\tUser Name\tPassword\n\tSample Entry #2\tMichael321\t12345\n"
	path := filepath.Join(folder, "realworld/keepass-twofish.kdbx")
	if got, err := call(t, "test1234test", "", "-show", path); err != nil || got != want {
		t.Errorf("%q, %v", got, err)
	}
	if got, err := call(t, "test1234", "", path); !errors.Is(err, errPassword) || got != "" {
		t.Errorf("%q, %v", got, err)
	}
}

func TestCreate(t *testing.T) {
	path := filepath.Join(t.TempDir(), "new.kdbx")
	if out, err := call(t, password, safe, "-create", "-memory", "1", path); err != nil || out != "" {
		t.Fatal(out, err)
	}
	if got, err := call(t, password, "", "-show", path); err != nil || got != safe {
		t.Errorf("%q, %v", got, err)
	}
	if _, err := call(t, password, safe, "-create", "-memory", "1", path); !errors.Is(err, os.ErrExist) {
		t.Error("written over: ", err)
	}
	if _, err := call(t, password, "one\ttwo\tthree\n", "-create", path+".other"); err == nil {
		t.Error("three fields make an entry")
	}
}

// TestBlocks has a database of several blocks.
func TestBlocks(t *testing.T) {
	var all []cli.Entry
	for i := range 300 {
		all = append(all, cli.Entry{Title: fmt.Sprint("title ", i), Password: fmt.Sprintf("%x", testkit.Random(fmt.Sprint(i), 4000))})
	}
	file, err := seal(all, []byte(password), 1<<16)
	if err != nil {
		t.Fatal(err)
	}
	if len(file) < 2<<20 {
		t.Errorf("only %d bytes", len(file))
	}
	if got, err := open(file, []byte(password)); err != nil || !slices.Equal(got, all) {
		t.Errorf("%d entries, %v", len(got), err)
	}
}

// TestDamage cuts databases everywhere, and changes each of their bits, or in short one of most of their bytes.
func TestDamage(t *testing.T) {
	var all []cli.Entry
	for _, e := range written {
		all = append(all, cli.Entry{Group: e.group, Title: e.title, User: e.user, Password: e.password})
	}
	for _, f := range []testFile{{major: 3, rounds: 1, stream: 2}, {major: 4, rounds: 1, stream: 3, compressed: true}} {
		file := f.bytes(t)
		if got, err := open(file, []byte(password)); err != nil || !slices.Equal(got, all) {
			t.Fatalf("%v, %v", got, err)
		}
		for n := range file {
			if got, err := open(file[:n], []byte(password)); err == nil || got != nil {
				t.Errorf("KDBX %d cut to %d bytes: %v, %v", f.major, n, got, err)
			}
		}
		step := 1
		if testing.Short() {
			step = 9
		}
		for i := 0; i < 8*len(file); i += step {
			if i/8 > f.roundsAt && i/8 < f.roundsAt+8 {
				continue // the number of rounds, made so large that it takes minutes
			}
			forged := bytes.Clone(file)
			forged[i/8] ^= 1 << (i % 8)
			if got, err := open(forged, []byte(password)); err == nil || got != nil {
				t.Errorf("KDBX %d with bit %d changed: %v, %v", f.major, i, got, err)
			}
		}
	}
}

func TestErrors(t *testing.T) {
	file, err := os.ReadFile("testdata/argon2d.kdbx")
	if err != nil {
		t.Fatal(err)
	}
	changed := func(old, new string) []byte {
		if bytes.Count(file, []byte(old)) != 1 {
			t.Fatalf("%q is not there once", old)
		}
		return bytes.Replace(file, []byte(old), []byte(new), 1)
	}
	for _, c := range []struct {
		name, want string
		file       []byte
	}{
		{"nothing", "not a KeePass 2 database", nil},
		{"KeePass 1", "not a KeePass 2 database", append([]byte{3, 0xd9, 0xa2, 0x9a, 0x65}, file[5:]...)},
		{"version 5", "KDBX 5", append(bytes.Clone(file[:10]), append([]byte{5}, file[11:]...)...)},
		{"AES", "cipher 31", changed(string(uuidTwofish), "1"+string(uuidTwofish[1:]))},
		{"Argon2's version", "version of Argon2", changed("V\x04\x00\x00\x00\x13", "V\x04\x00\x00\x00\x10")},
		{"much memory", "1073741824 are allowed", changed("M\x08\x00\x00\x00\x00\x00\x10\x00\x00", "M\x08\x00\x00\x00\x00\x00\x10\x00\x01")},
		{"no lanes", "0 lanes", changed("P\x04\x00\x00\x00\x02", "P\x04\x00\x00\x00\x00")},
	} {
		if got, err := open(c.file, []byte(password)); err == nil || got != nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

// TestPyKeePass has the Python library pykeepass read a database that is written here, and reads what it writes.
func TestPyKeePass(t *testing.T) {
	const python = "/usr/bin/python3" // Debian's, which sees Debian's python3-pykeepass
	testkit.NeedProgram(t, python)
	run := func(script string, args ...string) (string, error) {
		out, err := exec.Command(python, append([]string{"-c", script}, args...)...).CombinedOutput()
		return string(out), err
	}
	if out, err := run("import pykeepass"); err != nil {
		testkit.Missing(t, fmt.Errorf("pykeepass: %s", out))
	}
	const path = "testdata/argon2d.kdbx"
	out, err := run(`
import sys, pykeepass
db = pykeepass.PyKeePass(sys.argv[1], password=sys.argv[2])
print(db.version, db.encryption_algorithm, db.kdf_algorithm)
for e in db.entries:
    print("/".join(e.path[:-1]), e.title, e.username or "", e.password, sep="\t")
`, path, password)
	want := "(4, 0) twofish argon2\n" + strings.Replace(safe, `"p w""d"`, `p w"d`, 1)
	if err != nil || out != want {
		t.Errorf("pykeepass reads %q, %v; want %q", out, err, want)
	}

	result := filepath.Join(t.TempDir(), "new.kdbx")
	out, err = run(`
import os, sys, pykeepass
source, result, password = sys.argv[1:]
db = pykeepass.PyKeePass(source, password=password)
db.kdbx.header.value.dynamic_header.master_seed.data = os.urandom(32)
db.kdbx.header.value.dynamic_header.encryption_iv.data = os.urandom(16)
del db.kdbx.header["data"] # or the old one is written
for e in db.entries:
    db.delete_entry(e)
group = db.add_group(db.add_group(db.root_group, "outer"), "inner")
e = db.add_entry(group, "first title", "first user", "an old password")
e.save_history()
e.password = "a new <password>"
db.add_entry(db.root_group, "second title", "", "another")
db.filename = result
db.save()
`, path, result, password)
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	want = "\tsecond title\t\tanother\nouter/inner\tfirst title\tfirst user\ta new <password>\n"
	if got, err := call(t, password, "", "-show", result); err != nil || got != want {
		t.Errorf("%q, %v", got, err)
	}
}
