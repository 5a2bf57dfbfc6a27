// Package vectors holds known answers for the module's tests and commands, each with its provenance, in one plain-text
// format. It also reads folders of public known-answer files in the formats that their authors chose.
//
// # The format
//
// A file is made of blocks of lines
//
//	name = value
//
// with blank lines between them. A line that starts with a space or a tab continues the value of the line before it. A
// line that starts with # is a comment. Names are lower-case letters, digits and hyphens, and occur once in a block.
//
// A block with a provenance is a heading: its values hold for all entries down to the next heading. The other blocks
// are entries. An entry without a heading above it, a name that its kind does not know, and one that is missing are
// errors.
//
// Bytes are written in hexadecimal, in either case, with spaces wherever they help. Long inputs are written as a rule:
//
//	zeros N              N bytes of zero
//	splitmix64 SEED N    N bytes of the SplitMix64 generator, as [SplitMix64] makes them
//
// and long outputs as a SHA-256 digest. Words are eight hexadecimal digits and stand for 32-bit numbers, not for bytes.
//
// # Kinds
//
// The kinds ecb, cbc, ctr, cfb, ofb, xts, cmac, eax, gcm and ocb are messages; each entry is a [Case]:
//
//	key                  16, 24 or 32 bytes; for xts twice as many, the data's key and then the tweaks'
//	iv                   one block; for ctr, the first counter; for xts, the tweak; for eax, gcm and ocb, the nonce, of
//	                     any length that the mode allows; not for ecb and cmac
//	ad                   for eax, gcm and ocb: the additional data
//	plaintext            whole blocks for ecb and cbc; a block or more for xts; none is one for cmac, eax, gcm and ocb
//	ciphertext           as long as the plaintext; not for cmac
//	tag                  for cmac, eax, gcm and ocb, as long as the mode allows
//	ciphertext-sha256    optional: the digest of the ciphertext, of which ciphertext is then only the beginning
//	direction            optional: encrypt or decrypt, encrypt if missing: which way the answer was published
//	repeat               optional: how often the operation is done, as [Case] says; 1 if missing
//
// The kind table is the tables known answer test of the AES competition, a chain of single blocks. Case 1 has a key and
// a plaintext of zeros. The plaintext of every other is the ciphertext before it. Its key is the plaintext and then the
// key before it, as much of the two as makes a key. So an entry gives only
//
//	key-bits             128, 192 or 256
//	ciphertexts          of case 1, case 2 and so on
//
// The kind intermediate is one encryption with all that happens on the way; each entry is an [Intermediate]:
//
//	key                  16, 24 or 32 bytes
//	s-box-keys           a word for each eight bytes of the key
//	subkeys              40 words
//	states               18 times four words
//	g                    16 times two words
//	plaintext            one block
//	ciphertext           one block
//
// # Public files
//
// Tests read a folder of public known-answer files where the environment variable TWOGATHER_VECTORS names one:
//
//	TWOGATHER_VECTORS=/path/to/folder go test ./...
//
// A relative path starts at the root of the module whose tests run, because go test starts every package's tests in a
// folder of its own. [ReadFolder] says which files are expected there. The tests fail where the folder or an expected
// file is missing, or where a file does not hold as many answers as it should. With -short, and with the race detector,
// they run fewer of the answers that take long, as [Fewer] says.
package vectors
