// Package erasure is Reed-Solomon erasure coding over GF(2^8): of k data shards it makes p parity shards, and any k of
// the k+p shards give back the others.
//
// A [Codec] does the work: Encode, Verify, Reconstruct, Update, Split and Join as github.com/klauspost/reedsolomon names
// them and, without a matrix option, with the same parity byte for byte. [Stream] does it on readers and writers in
// bounded memory, Locate finds shards that were changed unnoticed. [Tables] are what lies below: any matrix times any
// sources.
//
// A shard is a slice of bytes. All shards of a set are equally long, data shards come first, and a shard is known by its
// number in the set. Byte i of a parity shard depends on byte i of each data shard and on nothing else, so shards can be
// coded in parts.
//
// # Who should not use it
//
// An erasure code makes up for shards that are known to be lost, and trusts the others. So keep a checksum of each shard:
// it finds those that changed, surely and without the rest. Nor is a code a protection against somebody who changes shards
// on purpose, which takes a MAC or a signature.
//
// For more than 256 shards, or hundreds of them at speed, a code with a larger field or with FFTs is better, such as
// Leopard. Two parity shards as Linux's RAID-6 has them are those of [ISALVandermonde]; package raid6 is made for them.
//
// # Matrices
//
// What parity is made of is a matrix of p rows and k columns, the coefficients of the data shards in each parity shard.
// Shards can only be read with the matrix that wrote them, so it belongs in whatever describes them; [Matrix] has names.
// The default is klauspost/reedsolomon's. New data is best written with [NormalisedCauchy].
package erasure
