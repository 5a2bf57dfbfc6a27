package vectors

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
)

// TestEmbedded parses what Twofish and TwofishIntermediates return, and counts it, so that nothing is lost unnoticed.
func TestEmbedded(t *testing.T) {
	count := make(map[string]int)
	for _, c := range Twofish() {
		kind := string(c.Mode)
		if c.Repeat > 1 {
			kind += " Monte Carlo"
		}
		if c.Provenance == "" {
			t.Errorf("%s: no provenance", c.Where)
		}
		count[fmt.Sprintf("%s %d", kind, 8*len(c.Key))]++
	}
	for _, v := range TwofishIntermediates() {
		if v.Provenance == "" {
			t.Errorf("%s: no provenance", v.Where)
		}
		count[fmt.Sprintf("intermediate %d", 8*len(v.Key))]++
	}
	for _, bits := range []int{256, 384, 512} { // two keys
		if got := count[fmt.Sprint("xts ", bits)]; got != 9 {
			t.Errorf("%d answers xts %d, want 9", got, bits)
		}
	}
	for _, bits := range []int{128, 192, 256} {
		for kind, want := range map[string]int{
			"intermediate":    1,
			"ecb":             49 + 4,
			"ecb Monte Carlo": 4,
			"cbc":             4,
			"cbc Monte Carlo": 4,
			"ctr":             6 + 2 + 1,
			"cfb":             5,
			"ofb":             5,
			"cmac":            9,
			"eax":             9,
			"gcm":             9,
			"ocb":             10,
		} {
			if got := count[fmt.Sprintf("%s %d", kind, bits)]; got != want {
				t.Errorf("%d answers %s %d, want %d", got, kind, bits, want)
			}
		}
	}
}

const heading = "provenance = here\nkind = ecb\n\n"

const zeroKey = "key = 00000000000000000000000000000000\n"

func TestParse(t *testing.T) {
	set, err := Parse("f", []byte(`# comment
provenance = somebody,
	somewhere
kind = cbc
direction = decrypt

key = 000102030405060708090A0B0C0D0E0F
iv =
    0011223344556677
# comment
    8899aabbccddeeff
plaintext = zeros 16
ciphertext = 00 01 02 03 04 05 06 07 08 09 0a 0b 0c 0d 0e 0f
repeat = 3

provenance = somebody else
kind = ecb


key = zeros 24
plaintext = splitmix64 7 48
ciphertext = zeros 16
ciphertext-sha256 = zeros 32`))
	if err != nil {
		t.Fatal(err)
	}
	if len(set.Cases) != 2 {
		t.Fatalf("%d cases, want 2", len(set.Cases))
	}
	c := set.Cases[0]
	if c.Where != "f:7" || c.Provenance != "somebody, somewhere" || c.Mode != CBC || !c.Decrypt || c.Repeat != 3 ||
		c.IV[15] != 0xff || !bytes.Equal(c.Plaintext, make([]byte, 16)) || !bytes.Equal(c.Key, c.Ciphertext) {
		t.Errorf("first case is %+v", c)
	}
	if !bytes.Equal(c.Input(), c.Ciphertext) || !bytes.Equal(c.Output(), c.Plaintext) {
		t.Error("first case does not decrypt")
	}
	c = set.Cases[1]
	want := make([]byte, 48)
	SplitMix64(want, 7)
	if c.Where != "f:20" || c.Provenance != "somebody else" || c.Mode != ECB || c.Decrypt || c.Repeat != 1 ||
		len(c.Key) != 24 || !bytes.Equal(c.Plaintext, want) || len(c.SHA256) != 32 {
		t.Errorf("second case is %+v", c)
	}
	if !bytes.Equal(c.Input(), c.Plaintext) || !bytes.Equal(c.Output(), c.Ciphertext) {
		t.Error("second case does not encrypt")
	}
}

func TestParseErrors(t *testing.T) {
	block := "00112233445566778899aabbccddeeff"
	for _, test := range []struct{ text, want string }{
		{"key", `f:1: no = in "key"`},
		{"\n\n  00", "f:3: nothing to continue: this line starts with a space"},
		{"Key = 1", `f:1: "Key" is not a name`},
		{"= 1", `f:1: "" is not a name`},
		{"a = 1\nb = 2\na = 3", "f:3: a is there twice, before in line 1"},
		{"kind = ecb", "f:1: no heading with a provenance above this entry"},
		{"provenance = here\n\n" + zeroKey, "f:3: no kind"},
		{"provenance = here\nkind = rot13\n\n" + zeroKey, `f:2: unknown kind "rot13"`},
		{heading + "plaintext = " + block, "f:4: this entry has no key"},
		{heading + "key = 0", "f:4: key: encoding/hex: odd length hex string"},
		{heading + "key = 0g", "f:4: key: encoding/hex: invalid byte: U+0067 'g'"},
		{heading + "key = zeros", "f:4: key: zeros: wrong number of arguments"},
		{heading + "key = zeros -1", `f:4: key: zeros: strconv.ParseUint: parsing "-1": invalid syntax`},
		{heading + "key = splitmix64 1 4000000000", "f:4: key: splitmix64: more than 16777216 bytes in this file"},
		{heading + "key = 00", "f:4: key has 1 bytes, want 16, 24 or 32"},
		{heading + zeroKey + "plaintext = " + block, "f:4: this entry has no ciphertext"},
		{heading + zeroKey + "plaintext =\nciphertext =", "f:4: the plaintext is empty"},
		{heading + zeroKey + "plaintext = 00\nciphertext = 00", "f:4: the plaintext has 1 bytes, not whole blocks"},
		{heading + zeroKey + "plaintext = zeros 32\nciphertext = " + block,
			"f:4: the plaintext has 32 bytes and the ciphertext 16"},
		{heading + zeroKey + "plaintext = zeros 32\nciphertext = 00\nciphertext-sha256 = zeros 32",
			"f:4: the plaintext has 32 bytes and the ciphertext 1"},
		{heading + zeroKey + "plaintext = zeros 16\nciphertext = zeros 16\niv = 00", "f:7: iv does not belong here"},
		{heading + zeroKey + "plaintext = zeros 16\nciphertext = zeros 16\ndirection = up",
			`f:7: direction is "up", want encrypt or decrypt`},
		{heading + zeroKey + "plaintext = zeros 16\nciphertext = zeros 16\nrepeat = 0",
			`f:7: repeat is "0", want a number from 1 to 65535`},
		{heading + zeroKey + "plaintext = zeros 32\nciphertext = zeros 32\nrepeat = 2",
			"f:4: only one block, in ECB or CBC, can be repeated"},
		{heading + zeroKey + "plaintext = zeros 16\nciphertext =\nciphertext-sha256 = 00",
			"f:7: ciphertext-sha256 has 1 bytes, want 32"},
		{"provenance = here\nkind = ctr\n\n" + zeroKey + "plaintext = 00\nciphertext = 00\niv = 00",
			"f:7: iv has 1 bytes, want 16"},
		{"provenance = here\nkind = cfb\n\n" + zeroKey + "plaintext =\nciphertext =\niv = zeros 16", "f:4: the plaintext is empty"},
		{"provenance = here\nkind = xts\n\n" + zeroKey + "plaintext = zeros 16\nciphertext = zeros 16\niv = zeros 16",
			"f:4: the key has 16 bytes"},
		{"provenance = here\nkind = xts\n\nkey = zeros 32\nplaintext = zeros 15\nciphertext = zeros 15\niv = zeros 16",
			"f:4: the plaintext has 15 bytes, less than a block"},
		{"provenance = here\nkind = cmac\n\n" + zeroKey + "plaintext =\ntag = 00", "f:4: the tag has 1 bytes"},
		{"provenance = here\nkind = cmac\n\n" + zeroKey + "plaintext =\nciphertext =\ntag = zeros 16",
			"f:6: ciphertext does not belong here"},
		{"provenance = here\nkind = ocb\n\n" + zeroKey + "plaintext =\nciphertext =\ntag = zeros 16\niv = zeros 16\nad =",
			"f:4: the IV has 16 bytes"},
		{"provenance = here\nkind = eax\n\n" + zeroKey + "plaintext =\nciphertext =\ntag = zeros 16\niv = zeros 16",
			"f:4: this entry has no ad"},
		{"provenance = here\nkind = table\n\nkey-bits = 100\nciphertexts = 00", `f:4: key-bits is "100", want 128, 192 or 256`},
		{"provenance = here\nkind = table\n\nkey-bits = 128\nciphertexts = 00", "f:5: ciphertexts has 1 bytes, want whole blocks"},
		{"provenance = here\nkind = intermediate\n\n" + zeroKey + "plaintext = zeros 16\nciphertext = zeros 16\n" +
			"s-box-keys = 00000000", "f:7: s-box-keys has 1 words, want 2"},
		{"provenance = here\nkind = intermediate\n\n" + zeroKey + "plaintext = zeros 16\nciphertext = zeros 16\n" +
			"s-box-keys = 00000000 0000000", `f:7: s-box-keys: "0000000" is not a word of eight hexadecimal digits`},
	} {
		if _, err := Parse("f", []byte(test.text)); err == nil || err.Error() != test.want {
			t.Errorf("%q:\n got  %v\n want %s", test.text, err, test.want)
		}
	}
}

func TestCheck(t *testing.T) {
	cases := Twofish()
	i := slices.IndexFunc(cases, func(c Case) bool { return c.SHA256 == nil && len(c.Plaintext) > 2*blockSize })
	c := cases[i]
	if err := c.CheckCiphertext(bytes.Clone(c.Ciphertext)); err != nil {
		t.Error(err)
	}
	if err := c.CheckPlaintext(bytes.Clone(c.Plaintext)); err != nil {
		t.Error(err)
	}
	if err := c.CheckCiphertext(c.Ciphertext[1:]); err == nil || !strings.Contains(err.Error(), "bytes, want") {
		t.Errorf("a short ciphertext: %v", err)
	}
	wrong := bytes.Clone(c.Plaintext)
	wrong[20] ^= 1
	if err := c.CheckPlaintext(wrong); err == nil || !strings.Contains(err.Error(), "plaintext differs in block 1") {
		t.Errorf("a wrong plaintext: %v", err)
	}

	c = Case{Plaintext: make([]byte, 32), Ciphertext: make([]byte, 16), SHA256: make([]byte, 32)}
	for _, test := range []struct {
		got  []byte
		want string
	}{
		{make([]byte, 16), "has 16 bytes, want 32"},
		{bytes.Repeat([]byte{1}, 32), "beginning differs in block 0"},
		{make([]byte, 32), "SHA-256 of the ciphertext is"},
	} {
		if err := c.CheckCiphertext(test.got); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("got %v, want %q", err, test.want)
		}
	}
}

func TestFewer(t *testing.T) {
	long := Case{Mode: CTR, Key: make([]byte, 16), Plaintext: make([]byte, 64<<10+1), Repeat: 1}
	short := Case{Mode: CTR, Key: make([]byte, 16), Plaintext: make([]byte, 64<<10), Repeat: 1}
	monteCarlo := Case{Mode: ECB, Key: make([]byte, 16), Repeat: 10000}
	other := monteCarlo
	other.Decrypt = true
	var cases []Case
	for range 50 {
		cases = append(cases, long, short, monteCarlo, other)
	}
	got := make(map[string]int)
	for _, c := range Fewer(cases) {
		got[fmt.Sprintf("%s%t %d", c.Mode, c.Decrypt, len(c.Plaintext))]++
	}
	want := map[string]int{"ctrfalse 65536": 50, "ecbfalse 0": 1, "ecbtrue 0": 1}
	if !maps.Equal(got, want) || len(cases) != 200 {
		t.Errorf("got %v, want %v", got, want)
	}
	if few := Fewer([]Case{long, long}); len(few) != 1 {
		t.Errorf("%d of two long messages", len(few))
	}
	if few := Fewer(nil); len(few) != 0 {
		t.Error("some of none")
	}
}

// TestSplitMix64 checks the generator against the first outputs of its authors' for the seed 1234567:
// 6457827717110365317, 3203168211198807973, 9817491932198370423, 4593380528125082431, 16408922859458223821.
func TestSplitMix64(t *testing.T) {
	var got [5]byte
	SplitMix64(got[:], 1234567)
	var want [5]byte
	for i, n := range [5]uint64{6457827717110365317, 3203168211198807973, 9817491932198370423, 4593380528125082431,
		16408922859458223821} {
		want[i] = byte(n)
	}
	if got != want {
		t.Errorf("got %x, want %x", got, want)
	}
}

func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		"",
		heading + zeroKey + "plaintext = zeros 16\nciphertext = splitmix64 1 16\nrepeat = 9\ndirection = decrypt",
		"provenance = a\nkind = xts\n\nkey = zeros 64\niv = zeros 16\nplaintext = zeros 17\nciphertext = zeros 17",
		"provenance = a\nkind = eax\n\nkey = zeros 16\niv = 00\nad =\nplaintext =\nciphertext =\ntag = zeros 12",
		"provenance = a\nkind = table\n\nkey-bits = 192\nciphertexts = zeros 48\n",
		"provenance = a\nkind = ctr\n\nkey = zeros 32\niv = zeros 16\nplaintext = zeros 5\n  \n\t00\nciphertext =\n" +
			"ciphertext-sha256 = zeros 32",
		string(twofishText[:2600]),
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		set, err := Parse("f", text)
		checkParsed(t, set, err)
	})
}

// checkParsed checks what every parser promises: an error that names the line, or entries that tests can rely on.
func checkParsed(t *testing.T, set *Set, err error) {
	if err != nil {
		var line int
		if _, e := fmt.Sscanf(err.Error(), "f:%d: ", &line); e != nil || line < 1 {
			t.Errorf("no line number in the error %q", err)
		}
		return
	}
	for i := range set.Cases {
		c := &set.Cases[i]
		if err := c.validate(); err != nil {
			t.Errorf("%s: %v", c.Where, err)
		}
		if c.Repeat < 1 || !strings.HasPrefix(c.Where, "f:") {
			t.Errorf("case %d: repeat %d, where %q", i, c.Repeat, c.Where)
		}
		c.CheckCiphertext(c.Plaintext)
	}
	for _, v := range set.Intermediates {
		if len(v.SBoxKeys)*8 != len(v.Key) || len(v.Plaintext) != blockSize || len(v.Ciphertext) != blockSize {
			t.Errorf("%s: %+v", v.Where, v)
		}
	}
}
