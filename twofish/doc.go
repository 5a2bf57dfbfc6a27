// Package twofish is the Twofish block cipher, a drop-in replacement for golang.org/x/crypto/twofish.
//
// New designs should use AES or ChaCha20-Poly1305. This package is for those who have to read and write what others
// encrypted with Twofish: password safes, disks, OpenPGP messages. Its kernels look key-dependent tables up at addresses
// that depend on the data, so they are not constant-time: code on the same processor may learn about the key by timing
// the cache.
//
// Change the import path and nothing else, and [crypto/cipher.NewCTR] and [crypto/cipher.NewCBCDecrypter] run on wide
// kernels: they find methods of [Cipher] that do their work. Package modes has the same constructors and more.
// [Cipher.EncryptBlocks] and [Cipher.DecryptBlocks] serve those who write a mode of their own.
//
// The kernels are listed in one table, best first; the first that suits the processor is used. Package hwfeatures
// describes the two environment variables that change that choice. With the build tag purego, and on processors other than
// amd64 and arm64, everything is Go.
//
// The algorithm is described in B. Schneier, J. Kelsey, D. Whiting, D. Wagner, C. Hall, N. Ferguson: Twofish: A 128-Bit
// Block Cipher, 15 June 1998. Section numbers in comments are that paper's.
package twofish
