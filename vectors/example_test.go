package vectors_test

import (
	"fmt"

	"github.com/twogather/twogather/twofish"
	"github.com/twogather/twogather/vectors"
)

// Answers carry their provenance, so that a failure says whose figure it contradicts.
func ExampleTwofish() {
	checked := 0
	for _, v := range vectors.Twofish() {
		if v.Mode != vectors.ECB || v.Repeat > 1 {
			continue
		}
		c, err := twofish.NewCipher(v.Key)
		if err != nil {
			panic(err)
		}
		out := make([]byte, len(v.Plaintext))
		c.EncryptBlocks(out, v.Plaintext)
		if err := v.CheckCiphertext(out); err != nil {
			panic(err)
		}
		checked++
	}
	fmt.Println(checked > 100)
	// Output: true
}
