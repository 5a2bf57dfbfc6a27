package modes_test

import (
	"crypto/aes"
	"encoding/binary"
	"encoding/hex"
	"testing"

	"github.com/twogather/twogather/modes"
)

// The answers that the modes' own documents give, for AES.

func unhex(s string) []byte { return must(hex.DecodeString(s)) }

func checkHex(t *testing.T, what string, got []byte, want string) {
	t.Helper()
	if hex.EncodeToString(got) != want {
		t.Errorf("%s: got %x, want %s", what, got, want)
	}
}

// TestRFC4493 has the four examples of section 4.
func TestRFC4493(t *testing.T) {
	b := must(aes.NewCipher(unhex("2b7e151628aed2a6abf7158809cf4f3c")))
	message := unhex("6bc1bee22e409f96e93d7e117393172aae2d8a571e03ac9c9eb76fac45af8e51" +
		"30c81c46a35ce411e5fbc1191a0a52eff69f2445df4f9b17ad2b417be66c3710")
	for n, want := range map[int]string{
		0:  "bb1d6929e95937287fa37d129b756746",
		16: "070a16b46b4d4144f79bdd9dd04a287c",
		40: "dfa66747de9ae63030ca32611497c827",
		64: "51f0bebf7e3b9d92fc49741779363cfe",
	} {
		checkHex(t, "CMAC", must(modes.SumCMAC(b, message[:n])), want)
	}
}

// TestIEEE1619 has vectors 1, 2 and 15 of annex B of IEEE Std 1619-2007.
func TestIEEE1619(t *testing.T) {
	count := make([]byte, 17)
	for i := range count {
		count[i] = byte(i)
	}
	fours := unhex("4444444444444444444444444444444444444444444444444444444444444444")
	for _, v := range []struct {
		key    string
		sector uint64
		text   []byte
		want   string
	}{
		{"0000000000000000000000000000000000000000000000000000000000000000", 0, make([]byte, 32),
			"917cf69ebd68b2ec9b9fe9a3eadda692cd43d2f59598ed858c02c2652fbf922e"},
		{"1111111111111111111111111111111122222222222222222222222222222222", 0x3333333333, fours,
			"c454185e6a16936e39334038acef838bfb186fff7480adc4289382ecd6d394f0"},
		{"fffefdfcfbfaf9f8f7f6f5f4f3f2f1f0bfbebdbcbbbab9b8b7b6b5b4b3b2b1b0", 0x123456789a, count,
			"6c1625db4671522d3d7599601de7ca09ed"},
	} {
		x := must(modes.NewXTSCipher(aes.NewCipher, unhex(v.key)))
		got := make([]byte, len(v.text))
		x.Encrypt(got, v.text, v.sector)
		checkHex(t, "XTS", got, v.want)
		x.Decrypt(got, got, v.sector)
		checkHex(t, "XTS decryption", got, hex.EncodeToString(v.text))
	}
}

// TestEAXPaper has the first two vectors of appendix G of The EAX Mode of Operation.
func TestEAXPaper(t *testing.T) {
	for _, v := range []struct{ key, nonce, header, message, want string }{
		{"233952dee4d5ed5f9b9c6d6ff80ff478", "62ec67f9c3a4a407fcb2a8c49031a8b3", "6bfb914fd07eae6b", "",
			"e037830e8389f27b025a2d6527e79d01"},
		{"91945d3f4dcbee0bf45ef52255f095a4", "becaf043b0a23d843194ba972c66debd", "fa3bfd4806eb53fa", "f7fb",
			"19dd5c4c9331049d0bdab0277408f67967e5"},
	} {
		eax := must(modes.NewEAX(must(aes.NewCipher(unhex(v.key))), 16, 16))
		checkHex(t, "EAX", eax.Seal(nil, unhex(v.nonce), unhex(v.message), unhex(v.header)), v.want)
	}
}

// TestRFC7253 has two of the examples of appendix A, and its test over all lengths to 127 bytes for several sizes of key
// and tag.
func TestRFC7253(t *testing.T) {
	ocb := must(modes.NewOCB(must(aes.NewCipher(unhex("000102030405060708090a0b0c0d0e0f"))), 12, 16))
	eight := unhex("0001020304050607")
	checkHex(t, "OCB of nothing", ocb.Seal(nil, unhex("bbaa99887766554433221100"), nil, nil), "785407bfffc8ad9edcc5520ac9111ee6")
	checkHex(t, "OCB of eight bytes", ocb.Seal(nil, unhex("bbaa99887766554433221101"), eight, eight),
		"6820b3657b6f615a5725bda0d3b4eb3a257c9af1f8f03009")

	for _, v := range []struct {
		keyBits, tagBits int
		want             string
	}{
		{128, 128, "67e944d23256c5e0b6c61fa22fdf1ea2"},
		{192, 128, "f673f2c3e7174aae7bae986ca9f29e17"},
		{256, 128, "d90eb8e9c977c88b79dd793d7ffa161c"},
		{128, 96, "77a3d8e73589158d25d01209"},
		{192, 96, "05d56ead2752c86be6932c5e"},
		{256, 96, "5458359ac23b0cba9e6330dd"},
		{128, 64, "192c9b7bd90ba06a"},
		{192, 64, "0066bc6e0ef34e24"},
		{256, 64, "7d4ea5d445501cbe"},
	} {
		key := make([]byte, v.keyBits/8)
		key[len(key)-1] = byte(v.tagBits)
		ocb := must(modes.NewOCB(must(aes.NewCipher(key)), 12, v.tagBits/8))
		nonce := make([]byte, 12)
		var c []byte
		seal := func(plaintext, additionalData []byte) {
			binary.BigEndian.PutUint32(nonce[8:], binary.BigEndian.Uint32(nonce[8:])+1)
			c = ocb.Seal(c, nonce, plaintext, additionalData)
		}
		for i := range 128 {
			s := make([]byte, i)
			seal(s, s)
			seal(s, nil)
			seal(nil, s)
		}
		all := c
		c = nil
		seal(nil, all)
		checkHex(t, "OCB of all lengths", c, v.want)
	}
}
