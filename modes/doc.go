// Package modes puts modes of operation on any [crypto/cipher.Block]: ECB, CBC and CTR.
//
// They behave as the ones in crypto/cipher do, to the texts of the panics, and they are fast where the block can
// process many blocks in one call: where it is a [Bulk]. A Bulk may also offer whole operations that it can do better
// than a mode could from outside: as a [BulkCTR], a [BulkCBCEncrypter] or a [BulkCBCDecrypter].
//
// None of these modes authenticates: a message that was changed on the way decrypts without an error. New designs want
// an AEAD.
package modes
