package main

import (
	"bytes"
	"crypto/pbkdf2"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/binary"
	"errors"
	"fmt"
	"hash"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/twogather/twogather/internal/testkit"
)

// luksImage writes a LUKS1 image in another way: with a slot for each password, of few stripes that are behind one another.
func luksImage(t *testing.T, newHash func() hash.Hash, hashName string, keyBytes int, plain []byte, passwords ...string) []byte {
	t.Helper()
	const stripes, sectorsEach, payload = 7, 1, 16
	be := binary.BigEndian
	derive := func(password, salt []byte, iterations, size int) []byte {
		key, err := pbkdf2.Key(newHash, string(password), salt, iterations, size)
		if err != nil {
			t.Fatal(err)
		}
		return key
	}
	master := testkit.Random("master key", keyBytes)
	digestSalt := testkit.Random("digest", 32)

	image := make([]byte, payload*512)
	copy(image, "LUKS\xba\xbe\x00\x01twofish")
	copy(image[40:], "xts-plain64")
	copy(image[72:], hashName)
	be.PutUint32(image[104:], payload)
	be.PutUint32(image[108:], uint32(keyBytes))
	copy(image[112:], derive(master, digestSalt, 3, 20))
	copy(image[132:], digestSalt)
	be.PutUint32(image[164:], 3)
	for i := range 8 {
		slot, offset := image[208+48*i:], 3+i*sectorsEach
		if i >= len(passwords) {
			be.PutUint32(slot, 0xdead)
			continue
		}
		salt := testkit.Random(fmt.Sprint("slot", i), 32)
		be.PutUint32(slot, 0xac71f3)
		be.PutUint32(slot[4:], 5)
		copy(slot[8:], salt)
		be.PutUint32(slot[40:], uint32(offset))
		be.PutUint32(slot[44:], stripes)

		// Random stripes, and one that makes up for them.
		split := testkit.Random(fmt.Sprint("stripes", i), stripes*keyBytes)
		sum := make([]byte, keyBytes)
		for j := range stripes - 1 {
			for k := range sum {
				sum[k] ^= split[j*keyBytes+k]
			}
			var diffused []byte
			for k := 0; k < keyBytes; k += newHash().Size() {
				h := newHash()
				h.Write(be.AppendUint32(nil, uint32(k/h.Size())))
				piece := sum[k:min(k+h.Size(), keyBytes)]
				h.Write(piece)
				diffused = append(diffused, h.Sum(nil)[:len(piece)]...)
			}
			sum = diffused
		}
		for k := range sum {
			split[(stripes-1)*keyBytes+k] = sum[k] ^ master[k]
		}
		key := derive([]byte(passwords[i]), salt, 5, keyBytes)
		material := make([]byte, sectorsEach*512)
		copy(material, split)
		copy(image[offset*512:], encrypted(t, material, key, 512))
	}
	return append(image, encrypted(t, plain, master, 512)...)
}

func TestLUKS(t *testing.T) {
	plain := testkit.Random("plain", 10*512)
	one, two, wrong := write(t, []byte("password one")), write(t, []byte("password two\n")), write(t, []byte("password"))
	for name, newHash := range map[string]func() hash.Hash{"sha1": sha1.New, "sha256": sha256.New, "sha512": sha512.New} {
		for _, keyBytes := range []int{32, 64} {
			image := luksImage(t, newHash, name, keyBytes, plain, "password one", "password two")
			path := write(t, image)
			for _, password := range []string{one, two} {
				if got, err := call(nil, "-password", password, path); err != nil || !bytes.Equal(got, plain) {
					t.Errorf("%s, %d bytes: %d bytes, %v", name, keyBytes, len(got), err)
				}
			}
			if got, err := call(nil, "-password", wrong, path); !errors.Is(err, errPassword) || len(got) > 0 {
				t.Errorf("%s, %d bytes: %d bytes, %v", name, keyBytes, len(got), err)
			}
			if _, err := call([]byte("something"), "-write", "-offset", "510", "-password", one, path); err != nil {
				t.Error(err)
			}
			changed := bytes.Clone(plain)
			copy(changed[510:], "something")
			want := luksImage(t, newHash, name, keyBytes, changed, "password one", "password two")
			if got, err := os.ReadFile(path); err != nil || !bytes.Equal(got, want) {
				t.Errorf("%s, %d bytes: another image than it should be, %v", name, keyBytes, err)
			}
		}
	}
}

func TestLUKSErrors(t *testing.T) {
	image := luksImage(t, sha256.New, "sha256", 64, make([]byte, 512), "a", "b")
	open := func(image []byte) error {
		_, err := call(nil, "-password", write(t, []byte("a")), write(t, image))
		return err
	}
	if err := open(image); err != nil {
		t.Error(err)
	}
	for _, c := range []struct {
		name, want string
		at         int
		bytes      string
	}{
		{"another magic", "no LUKS header", 0, "SKUL"},
		{"LUKS2", "LUKS2", 7, "\x02"},
		{"AES", "aes-xts-plain64", 8, "aes\x00"},
		{"CBC", "twofish-cbc-essiv:sha256", 40, "cbc-essiv:sha256"},
		{"Whirlpool", `hash "whirlpool"`, 72, "whirlpool"},
		{"a long key", "keys of 65 bytes", 111, "\x41"},
		{"no key", "keys of 0 bytes", 111, "\x00"},
		{"the digest", "no key for", 120, "x"},
		{"the slot's salt", "no key for", 220, "x"},
		{"the slot's key", "no key for", 3*512 + 7, "x"},
		{"no stripes", "0 stripes", 255, "\x00"},
		{"many stripes", "stripes", 252, "\xff"},
		{"a slot outside", "slot: unexpected EOF", 248, "\x7f"},
		{"sectors outside", "before its sectors", 104, "\x7f"},
	} {
		changed := bytes.Clone(image)
		copy(changed[c.at:], c.bytes)
		if err := open(changed); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", c.name, err)
		}
	}
	for n := range 16 * 512 { // cut within the header or the slots
		if n%97 == 0 {
			if err := open(image[:n]); err == nil {
				t.Errorf("cut to %d bytes: no error", n)
			}
		}
	}
}

// TestQEMU compares with qemu-img, which does without the kernel what cryptsetup does with it.
func TestQEMU(t *testing.T) {
	if testing.Short() {
		t.Skip("takes some seconds")
	}
	qemu := testkit.NeedProgram(t, "qemu-img")
	dir := t.TempDir()
	image, raw := filepath.Join(dir, "image"), filepath.Join(dir, "raw")
	run := func(command string, args ...string) {
		t.Helper()
		args = append([]string{command, "--object", "secret,id=first,data=correct horse", "--object", "secret,id=second,data=battery"}, args...)
		// How fast it is it measures in so short a time that a busy machine may count none.
		for try := 1; ; try++ {
			cmd := exec.Command(qemu, args...)
			cmd.Dir = dir
			out, err := cmd.CombinedOutput()
			if err == nil {
				return
			}
			if try == 10 || !strings.Contains(string(out), "Unable to get accurate CPU usage") {
				t.Fatalf("qemu-img %q: %v\n%s", args, err, out)
			}
		}
	}
	const luks, plainDisk = "driver=luks,key-secret=first,file.filename=image", "driver=raw,file.filename=raw"
	const size = 3 << 20
	for i, options := range []string{"cipher-alg=twofish-256,hash-alg=sha256", "cipher-alg=twofish-128,hash-alg=sha1"} {
		os.Remove(image)
		plain := testkit.Random(options, size)
		if err := os.WriteFile(raw, plain, 0o600); err != nil {
			t.Fatal(err)
		}
		run("create", "-q", "-f", "luks", "-o", "key-secret=first,cipher-mode=xts,ivgen-alg=plain64,iter-time=10,"+options, image, fmt.Sprint(size))
		run("convert", "-n", "--image-opts", "--target-image-opts", plainDisk, luks)
		passwords := []string{"correct horse"}
		if i == 0 { // It takes seconds: qemu-img measures how fast it is.
			run("amend", "-o", "state=active,new-secret=second,iter-time=10", "--image-opts", luks)
			passwords = append(passwords, "battery")
		}
		for _, password := range passwords {
			got, err := call(nil, "-password", write(t, []byte(password)), image)
			if err != nil || !bytes.Equal(got, plain) {
				t.Errorf("%s: %d bytes, %v", options, len(got), err)
			}
		}

		data := testkit.Random("data", 1<<20+1)
		if _, err := call(data, "-write", "-offset", "1000001", "-password", write(t, []byte("correct horse")), image); err != nil {
			t.Error(err)
		}
		copy(plain[1000001:], data)
		run("convert", "-n", "--image-opts", "--target-image-opts", luks, plainDisk)
		if got, err := os.ReadFile(raw); err != nil || !bytes.Equal(got, plain) {
			t.Errorf("%s: qemu-img reads something else, %v", options, err)
		}
	}
}
