package twofish_test

import (
	"bytes"
	"crypto/cipher"
	"fmt"

	"github.com/twogather/twogather/twofish"
)

// One block, the first of the paper's test values.
func ExampleNewCipher() {
	c, err := twofish.NewCipher(make([]byte, 16))
	if err != nil {
		panic(err)
	}
	block := make([]byte, twofish.BlockSize)
	c.Encrypt(block, block)
	fmt.Printf("%x\n", block)

	_, err = twofish.NewCipher([]byte("too short"))
	fmt.Println(err)
	// Output:
	// 9f589f5cf6122c32b6bfec2f2ae8c35a
	// crypto/twofish: invalid key size 9
}

// A program that uses the standard library's modes runs on the wide kernels without a change.
func ExampleCipher_NewCBCDecrypter() {
	c, err := twofish.NewCipher([]byte("a key that has 32 bytes, like so"))
	if err != nil {
		panic(err)
	}
	iv := []byte("initialisation !") // random in real life, and stored before the ciphertext
	message := []byte("sixteen bytes, and once more 16.")

	encrypted := make([]byte, len(message))
	cipher.NewCBCEncrypter(c, iv).CryptBlocks(encrypted, message)

	cipher.NewCBCDecrypter(c, iv).CryptBlocks(encrypted, encrypted)
	fmt.Printf("%s\n", encrypted)
	// Output: sixteen bytes, and once more 16.
}

// Many blocks in one call, for a mode of one's own. By itself this hides little of a message.
func ExampleCipher_EncryptBlocks() {
	c, err := twofish.NewCipher(make([]byte, 32))
	if err != nil {
		panic(err)
	}
	blocks := bytes.Repeat([]byte("the same block, "), 100)
	c.EncryptBlocks(blocks, blocks)
	fmt.Println("equal blocks stay equal:", bytes.Equal(blocks[:16], blocks[16:32]))

	c.DecryptBlocks(blocks, blocks)
	fmt.Printf("%s\n", blocks[:31])
	// Output:
	// equal blocks stay equal: true
	// the same block, the same block,
}
