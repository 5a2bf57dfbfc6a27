package modes_test

import (
	"fmt"

	"github.com/twogather/twogather/modes"
	"github.com/twogather/twogather/twofish"
)

// A mode has no use for a Block's name: crypto/aes and others work as well, only not many blocks at once.
func ExampleNewCBCEncrypter() {
	block, err := twofish.NewCipher([]byte("a key that has 32 bytes, like so"))
	if err != nil {
		panic(err)
	}
	iv := []byte("initialisation !") // random in real life, and stored before the ciphertext
	buf := []byte("sixteen bytes, and once more 16.")

	modes.NewCBCEncrypter(block, iv).CryptBlocks(buf, buf)
	modes.NewCBCDecrypter(block, iv).CryptBlocks(buf, buf)
	fmt.Printf("%s\n", buf)
	// Output: sixteen bytes, and once more 16.
}

// Password Safe wraps its keys block by block.
func ExampleNewECBDecrypter() {
	block, err := twofish.NewCipher([]byte("a key that has 32 bytes, like so"))
	if err != nil {
		panic(err)
	}
	keys := []byte("these are 64 bytes for two keys, which a password safe has wrapt")
	modes.NewECBEncrypter(block).CryptBlocks(keys, keys)

	modes.NewECBDecrypter(block).CryptBlocks(keys, keys)
	fmt.Printf("%s\n", keys[:32])
	// Output: these are 64 bytes for two keys,
}
