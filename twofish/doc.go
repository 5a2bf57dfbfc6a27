// Package twofish is the Twofish block cipher, a drop-in replacement for golang.org/x/crypto/twofish.
//
// New designs should use AES or ChaCha20-Poly1305. This package is for those who have to read and write what others
// encrypted with Twofish: password safes, disks, OpenPGP messages. A [Cipher] from [NewCipher] looks key-dependent tables
// up at addresses that depend on the data, so it is not constant-time: code on the same processor may learn about the key
// by timing the cache. One from [NewCipherConstantTime] does not.
//
// Change the import path and nothing else, and [crypto/cipher.NewCTR], [crypto/cipher.NewCBCDecrypter] and
// [crypto/cipher.NewGCM] run on wide kernels: they find methods of [Cipher] that do their work. Package modes has the same
// constructors and more. [Cipher.EncryptBlocks] and [Cipher.DecryptBlocks] serve those who write a mode of their own.
//
// The kernels are listed in one table, best first; the first that suits the processor is used. Package hwfeatures
// describes the two environment variables that change that choice. With the build tag purego, and on processors other than
// amd64 and arm64, everything is Go.
//
// # Constant time
//
// In what [NewCipherConstantTime] does and in the methods of its Cipher, with the modes of package modes, no address and
// no branch depends on a key, a plaintext or a ciphertext. Lengths, the key's included, IVs and counters are taken to be
// public. It uses the kernels that are marked so in the table, the widest that the processor has, and pads whatever is
// shorter than their batch, a single block too; where there is none it computes the S-boxes in Go. Neither environment
// variable moves it to another kernel.
//
// That is checked and not proved, by tests: on amd64 they compare every instruction, load and store between four keys and
// data, under valgrind, as far as that knows the kernels' instructions, in the key schedule, the methods and the modes;
// and they follow the assembly of all architectures with a program that knows which values are secret. What is left
// open: Go code on other architectures than amd64 is compiled from the same source, and not traced; the processor's
// data-independent-timing mode (DOITM, DIT) is not set; secrets are not erased from memory; and code around a Cipher is its
// own matter. The hash of GCM, which is package modes' also for [crypto/cipher.NewGCM], has neither such addresses nor such
// branches with any Cipher, and is checked in the same ways. In Go it takes the multiplication of numbers to be
// constant-time.
//
// The algorithm is described in B. Schneier, J. Kelsey, D. Whiting, D. Wagner, C. Hall, N. Ferguson: Twofish: A 128-Bit
// Block Cipher, 15 June 1998. Section numbers in comments are that paper's.
package twofish
