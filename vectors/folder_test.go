package vectors

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestFolder(t *testing.T) {
	root, err := filepath.Abs("..")
	if err != nil {
		t.Fatal(err)
	}
	elsewhere := t.TempDir()
	for _, test := range []struct{ value, want, wantErr string }{
		{"", "", ""},
		{elsewhere, elsewhere, ""},
		{"vectors", filepath.Join(root, "vectors"), ""},
		{"./vectors/../vectors", filepath.Join(root, "vectors"), ""},
		{"no-such-folder", "", filepath.Join(root, "no-such-folder")},
		{"go.mod", "", "go.mod is not a folder"},
	} {
		t.Setenv(Variable, test.value)
		got, err := Folder()
		if got != test.want || (err == nil) != (test.wantErr == "") || err != nil && !strings.Contains(err.Error(), test.wantErr) {
			t.Errorf("%s=%s: got %q, %v, want %q, %q", Variable, test.value, got, err, test.want, test.wantErr)
		}
	}

	t.Chdir(elsewhere)
	t.Setenv(Variable, "vectors")
	if _, err := Folder(); err == nil || !strings.Contains(err.Error(), "give an absolute one") {
		t.Errorf("a relative path outside a module: %v", err)
	}
}

// TestReadFolder goes through what can be wrong with a folder, with files made up for it.
func TestReadFolder(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	known := map[string]knownFile{"a/known.txt": {1, parseCryptoPP}}
	wantErr := func(want string) {
		t.Helper()
		if _, err := readFolder(dir, known); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
	const answer = "00112233445566778899aabbccddeeff 00112233445566778899aabbccddeeff 00112233445566778899aabbccddeeff\n"
	wantErr(`missing ["a/known.txt"]`)
	write("a/known.txt", "")
	wantErr("a/known.txt holds no answers")
	write("a/known.txt", answer+answer)
	wantErr("a/known.txt holds 2 answers, want 1")
	write("a/known.txt", answer+"x")
	wantErr("a/known.txt:2: 1 fields, want 3")
	write("a/known.txt", answer)
	write("b.txt", "whatever")
	wantErr(`b.txt:1: no = in "whatever"`)
	write("b.txt", heading+zeroKey+"plaintext = zeros 16\nciphertext = zeros 16")
	write("read.md", "whatever")
	write("rs/x.txt", "whatever")
	files, err := readFolder(dir, known)
	if err != nil {
		t.Fatal(err)
	}
	if len(files) != 3 || files[0].Name != "a/known.txt" || files[0].Answers() != 1 || files[1].Name != "b.txt" ||
		files[1].Answers() != 1 || files[2].Name != "rs" || files[2].NotRun == "" {
		t.Errorf("got %+v", files)
	}

	dir = filepath.Join(dir, "no-such-folder")
	wantErr("no-such-folder")
}

// TestPublicFolder reads the folder that the environment names. Tests of twofish and modes run what is in it.
func TestPublicFolder(t *testing.T) {
	dir, err := Folder()
	if err != nil {
		t.Fatal(err)
	}
	if dir == "" {
		t.Skip(Variable + " is not set")
	}
	files, err := ReadFolder(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if f.NotRun != "" {
			t.Logf("%s is not run: %s", f.Name, f.NotRun)
		} else {
			t.Logf("%s: %d answers", f.Name, f.Answers())
		}
	}
}

func TestParsePublicErrors(t *testing.T) {
	block := "00112233445566778899AABBCCDDEEFF"
	test := func(parse func(string, []byte) (*Set, error), text, want string) {
		t.Helper()
		if _, err := parse("f", []byte(text)); err == nil || err.Error() != want {
			t.Errorf("%q:\n got  %v\n want %s", text, err, want)
		}
	}
	head := "FILENAME: f\n\nKEYSIZE=128\n\nI=1\nKEY=" + block + "\n"
	test(official(1), "KEYSIZE=100", `f:1: KEYSIZE is "100"`)
	test(official(1), head+"PT="+block, "f:7: in the case before this line, the plaintext has 16 bytes and the ciphertext 0")
	test(official(1), head+"PT=0", "f:7: encoding/hex: odd length hex string")
	test(official(1), head+"X=0", `f:7: "X" is not a name`)
	test(official(1), head+"hello", `f:7: no = in "hello"`)
	test(official(1), head+"PT="+block+"\nCT="+block+"\nI=3", `f:9: I is "3" after 1`)
	test(official(1), strings.Replace(head, "128", "192", 1)+"PT="+block+"\nCT="+block,
		"f:8: the case before this line has a key of 16 bytes, and KEYSIZE is 192")

	test(parseIntermediates, "KEYSIZE=128\nKEY="+block, "f:2: the encryption before this line is not complete")
	test(parseIntermediates, "KEYSIZE=128\nR[x]", "f:2: not a state")
	test(parseIntermediates, "KEYSIZE=128\nR[ 1]: x= 00000000", "f:2: 1 words in state 1")
	test(parseIntermediates, "KEYSIZE=128\nR[17]: x= 00000000 00000000 00000000 00000000.", "f:2: state 17 is out of order")
	test(parseIntermediates, "KEYSIZE=128\nDecrypt()\nCT="+block, "f:3: decryption starts from another ciphertext")

	test(parseBotan, "[AES]\nKey = 00", `f:1: the algorithm is "[AES]", want [Twofish] or [Twofish/XTS]`)
	test(parseBotan, "Key = 00", `f:1: no algorithm above "Key = 00"`)
	test(parseBotan, "[Twofish/XTS]\nKey = "+block+"\nIn = "+block+"\nOut = "+block, "f:4: the key has 16 bytes")
	test(parseBotan, "[Twofish]\nKey = "+block+"\nOut = "+block, "f:3: the plaintext is empty")
	test(parseBotan, "[Twofish]\nTweak = 00", `f:2: "Tweak" is not a name`)

	test(parseLargeOCB, "keylen = 20", `f:1: keylen is "20"`)
	test(parseLargeOCB, "tag = "+block, "f:1: a tag of 16 bytes behind a key of 0")
	test(parseLargeOCB, "keylen = 16\ntag = 00", "f:2: a tag of 1 bytes behind a key of 16")
	test(parseLargeOCB, "nonce = 00", `f:1: "nonce" is not a name`)

	test(parseCryptoPP, "00 00", "f:1: 2 fields, want 3")
	test(parseCryptoPP, "00 00 00", "f:1: the key has 1 bytes")

	test(parseCTR, "key = "+block, "f:1: this entry has no iv")
	test(parseCTR, "key = "+block+"\niv = "+block+"\nks = 00\nsha256 = zeros 32\nlen = x",
		`f:5: len is "x", want a number up to 16777216`)
	test(parseCTR, "key = "+block+"\niv = "+block+"\nks = 00\nsha256 = 00\nlen = 1", "f:1: sha256 has 1 bytes")
}

func FuzzParsePublic(f *testing.F) {
	block := "00112233445566778899AABBCCDDEEFF"
	for _, seed := range []string{
		"KEYSIZE=128\nI=1\nKEY=" + block + "\nIV=" + block + "\nCT=" + block + "\nPT=" + block + "\n",
		"KEYSIZE=128\nPT=" + block + "\nI=1\nKEY=" + block + "\nCT=" + block + "\n\nI=2\n",
		"KEYSIZE=128\nKEY=" + block + "\n;  00000000 00000000 --> 00000000\n; 00000000 00000000 Input whiten\n" +
			"R[ 0]: x= 00000000 00000000 00000000 00000000.\nDecrypt()\n",
		"[Twofish]\nKey = " + block + "\nIn = " + block + "\nOut = " + block + "\n",
		"[Twofish/XTS]\nKey = " + block + block + "\nNonce = " + block + "\nIn = " + block + "00\nOut = " + block + "00\n",
		block + " " + block + " " + block + "\n",
		"key = " + block + "\niv = " + block + "\nlen = 7\nks = 00\nsha256 = " + block + block + "\n",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		for _, parse := range []func(string, []byte) (*Set, error){
			official(1), official(monteCarlo), parseIntermediates, parseBotan, parseCryptoPP, parseCTR,
		} {
			set, err := parse("f", text)
			checkParsed(t, set, err)
		}
	})
}
