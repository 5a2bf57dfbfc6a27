package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/twogather/twogather/internal/testkit"
)

// The files in testdata are GnuPG 2.2.40's, from this letter, with --s2k-mode 0 ("simple"), 1 ("salted") and 3, and without
// compression, with ZIP, ZLIB and BZIP2.
const (
	passphrase = "correct horse"
	letter     = "Twofish in OpenPGP: a letter that is a little longer than a block or two.\n"
)

func read(t *testing.T, path string) []byte {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func write(t *testing.T, data []byte) (path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// call runs the program on a file with data.
func call(t *testing.T, data []byte, options ...string) ([]byte, error) {
	t.Helper()
	var out bytes.Buffer
	err := run(append(options, "-password", write(t, []byte(passphrase+"\n")), write(t, data)), &out)
	return out.Bytes(), err
}

func TestFiles(t *testing.T) {
	for _, name := range []string{"simple", "salted", "iterated", "iterated-md5"} {
		if got, err := call(t, read(t, "testdata/"+name+".gpg")); err != nil || string(got) != letter {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
}

func TestRoundTrip(t *testing.T) {
	for _, n := range []int{0, 1, 15, 16, 17, 100_000} {
		data := testkit.Random("message", n)
		message, err := call(t, data, "-encrypt")
		if err != nil {
			t.Fatal(err)
		}
		if got, err := call(t, message); err != nil || !bytes.Equal(got, data) {
			t.Errorf("%d bytes: %d came back, %v", n, len(got), err)
		}
		if bytes.Contains(message, data) && n > 1 {
			t.Errorf("%d bytes: the message contains them", n)
		}
	}
}

// TestDamage cuts a message everywhere, and changes each of its bits.
func TestDamage(t *testing.T) {
	message := read(t, "testdata/simple.gpg") // whose key takes no time
	for n := range message {
		if got, err := decrypt(bytes.Clone(message[:n]), []byte(passphrase)); !errors.Is(err, errCut) || got != nil {
			t.Errorf("cut to %d bytes: %q, %v", n, got, err)
		}
	}
	const header = 8 + 1 // of both packets, and the version
	for i := range 8 * len(message) {
		forged := bytes.Clone(message)
		forged[i/8] ^= 1 << (i % 8)
		got, err := decrypt(forged, []byte(passphrase))
		if err == nil || got != nil {
			t.Errorf("bit %d changed: %q, %v", i, got, err)
		}
		if i/8 > header+prefixSize && !errors.Is(err, errChanged) {
			t.Errorf("bit %d changed: %v", i, err)
		}
	}
}

func TestErrors(t *testing.T) {
	simple := read(t, "testdata/simple.gpg")
	if _, err := decrypt(bytes.Clone(simple), []byte("wrong")); !errors.Is(err, errPassphrase) {
		t.Error(err)
	}
	const sessionKeySize = 6 // of simple.gpg's first packet
	for _, c := range []struct {
		name, want string
		message    []byte
	}{
		{"nothing", "cut short", nil},
		{"text", "not an OpenPGP message", []byte(letter)},
		{"armor", "gpg --dearmor", []byte("-----BEGIN PGP MESSAGE-----\n")},
		{"AES", "cipher 9, not Twofish", []byte{0x8c, 4, 4, 9, 0, 2, 0xd2, 0}},
		{"no passphrase", "not encrypted with a passphrase", simple[sessionKeySize:]},
		{"no protection", "no integrity protection", []byte{0x8c, 4, 4, 10, 0, 2, 0xc9, 0}},
		{"RIPEMD-160", "hash 3", []byte{0x8c, 4, 4, 10, 0, 3, 0xd2, 0}},
		{"Argon2", "way 4", []byte{0x8c, 4, 4, 10, 4, 0, 0xd2, 0}},
		{"version 5", "version 5", []byte{0x8c, 4, 5, 10, 0, 2, 0xd2, 0}},
		{"OCB", "OCB", []byte{0x8c, 4, 4, 10, 0, 2, 0xd4, 0}},
		{"another packet", "tag 6", []byte{0x99, 0, 0}},
	} {
		if got, err := decrypt(c.message, []byte(passphrase)); err == nil || got != nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", c.name, err)
		}
	}
	if err := run([]string{"-password", "missing", "missing"}, nil); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
}

// TestLengths reads a packet's body in each of the ways that a length may have.
func TestLengths(t *testing.T) {
	body := testkit.Random("body", 1<<16+1)
	parts := []byte{0xd2}
	for rest := body; ; {
		if len(rest) <= 191 {
			parts = append(append(parts, byte(len(rest))), rest...)
			break
		}
		parts = append(append(parts, 0xe0|9), rest[:512]...) // 2 to the 9th
		rest = rest[512:]
	}
	for _, c := range []struct {
		name   string
		packet []byte
		length int
	}{
		{"old, 1 byte", append([]byte{0xc8 &^ 0x40, 200}, body[:200]...), 200},
		{"old, 2 bytes", append([]byte{0xc9 &^ 0x40, 2, 1}, body[:513]...), 513},
		{"old, 4 bytes", append([]byte{0xca &^ 0x40, 0, 1, 0, 1}, body...), 65537},
		{"old, to the end", append([]byte{0xcb &^ 0x40}, body...), 65537},
		{"new, 1 byte", append([]byte{0xd2, 191}, body[:191]...), 191},
		{"new, 2 bytes", append([]byte{0xd2, 192, 0}, body[:192]...), 192},
		{"new, 2 bytes, the longest", append([]byte{0xd2, 223, 255}, body[:8383]...), 8383},
		{"new, 5 bytes", append([]byte{0xd2, 255, 0, 1, 0, 1}, body...), 65537},
		{"new, in parts", parts, 65537},
	} {
		_, got, rest, err := nextPacket(c.packet)
		if err != nil || !bytes.Equal(got, body[:c.length]) || len(rest) != 0 {
			t.Errorf("%s: %d bytes, %d more, %v", c.name, len(got), len(rest), err)
		}
		for _, n := range []int{1, 2, 3, 5, len(c.packet) - 1} {
			if _, _, _, err := nextPacket(c.packet[:n]); err == nil && !strings.HasSuffix(c.name, "to the end") {
				t.Errorf("%s, cut to %d bytes: no error", c.name, n)
			}
		}
	}
}

// TestGnuPG has GnuPG read what is written here, and reads what GnuPG writes.
func TestGnuPG(t *testing.T) {
	gpg := testkit.NeedProgram(t, "gpg")
	home, err := os.MkdirTemp("", "gpg") // t.TempDir() may be too long a name for the agent's socket
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		exec.Command("gpgconf", "--homedir", home, "--kill", "all").Run()
		os.RemoveAll(home)
	})
	passwordFile := write(t, []byte(passphrase))
	call := func(input []byte, args ...string) []byte {
		t.Helper()
		all := append([]string{"--homedir", home, "--batch", "--quiet", "--no-tty", "--pinentry-mode", "loopback", "--trust-model", "always"}, args...)
		cmd := exec.Command(gpg, all...)
		cmd.Stdin = bytes.NewReader(input)
		var stderr bytes.Buffer
		cmd.Stderr = &stderr
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("gpg %q: %v\n%s", args, err, stderr.Bytes())
		}
		return out
	}

	long := testkit.Random("long", 100_000)
	for _, data := range [][]byte{nil, []byte(letter), long} {
		message, err := encrypt(data, []byte(passphrase))
		if err != nil {
			t.Fatal(err)
		}
		if got := call(message, "--passphrase-file", passwordFile, "--decrypt"); !bytes.Equal(got, data) {
			t.Errorf("%d bytes: gpg makes %d of them", len(data), len(got))
		}
	}

	check := func(name string, data, message []byte) {
		t.Helper()
		if got, err := decrypt(message, []byte(passphrase)); err != nil || !bytes.Equal(got, data) {
			t.Errorf("%s: %d bytes of %d, %v", name, len(got), len(data), err)
		}
	}
	for mode, digests := range map[string][]string{"0": {"SHA1"}, "1": {"SHA224", "SHA384"}, "3": {"MD5", "SHA256", "SHA512"}} {
		for i, digest := range digests {
			compression := []string{"none", "zip", "zlib", "bzip2"}[i]
			options := []string{"--passphrase-file", passwordFile, "--symmetric", "--cipher-algo", "TWOFISH",
				"--s2k-mode", mode, "--s2k-digest-algo", digest, "--s2k-count", "65536", "--compress-algo", compression}
			name := fmt.Sprint("mode ", mode, ", ", digest, ", ", compression)
			check(name+", short", []byte(letter), call([]byte(letter), options...))
			check(name+", in parts", long, call(long, options...)) // gpg does not know how long it will be
			check(name+", a file", long, call(nil, append(options, "--output", "-", write(t, long))...))
		}
	}

	// To a passphrase and a public key: the passphrase's key has another in its packet.
	call(nil, "--passphrase", "", "--quick-generate-key", "someone@example.org", "future-default")
	message := call([]byte(letter), "--passphrase-file", passwordFile, "--symmetric", "--encrypt", "-r", "someone@example.org",
		"--cipher-algo", "TWOFISH", "--s2k-cipher-algo", "TWOFISH", "--s2k-count", "65536")
	check("to a public key too", []byte(letter), message)
}
