//go:build cgo && libgcrypt

package main

import (
	"bytes"
	"crypto/cipher"
	"testing"

	"github.com/twogather/twogather/twofish"
)

// TestLibgcryptGCM has libgcrypt make the same messages: keys of both of its sizes, nonces of several, all kinds of lengths.
func TestLibgcryptGCM(t *testing.T) {
	libgcrypt() // starts it
	in := random(70_000)
	for _, keySize := range []int{16, 32} {
		key := random(keySize)
		c := must(twofish.NewCipher(key))
		for _, nonceSize := range []int{1, 8, 12, 16, 60} {
			x := must(cipher.NewGCMWithNonceSize(c, nonceSize))
			nonce := random(nonceSize)
			for _, n := range []int{0, 1, 15, 16, 17, 100, 1007, 1008, 1009, 4096, 20_480, 20_481, len(in)} {
				data := in[:n%77]
				want, ok := libgcryptGCM(key, nonce, in[:n], data)
				if !ok {
					t.Fatalf("%d-bit key, nonce of %d bytes, %d bytes: refused", 8*keySize, nonceSize, n)
				}
				if got := x.Seal(nil, nonce, in[:n], data); !bytes.Equal(got, want) {
					t.Errorf("%d-bit key, nonce of %d bytes, %d bytes: another result", 8*keySize, nonceSize, n)
				}
				if back, err := x.Open(nil, nonce, want, data); err != nil || !bytes.Equal(back, in[:n]) {
					t.Errorf("%d-bit key, nonce of %d bytes, %d bytes: opened wrongly (%v)", 8*keySize, nonceSize, n, err)
				}
			}
		}
	}
}
