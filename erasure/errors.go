package erasure

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// The errors of this package wrap one of these and say which shard is meant and why: compare with [errors.Is]. What
// returns an error has written nothing, except to streams.
//
// Those that github.com/klauspost/reedsolomon has are named as there.
var (
	// ErrInvShardNum: fewer than one data shard, a negative number of parity shards, or a shard's number out of range.
	ErrInvShardNum = errors.New("invalid number of shards")
	// ErrMaxShardNum: more than 256 shards in all.
	ErrMaxShardNum = errors.New("more than 256 shards")
	// ErrTooFewShards: the slice has fewer shards than the codec, or fewer shards are left than the lost ones need.
	ErrTooFewShards = errors.New("too few shards")
	// ErrShardNoData: every shard is empty.
	ErrShardNoData = errors.New("no shard data")
	// ErrShardSize: shards are not equally long.
	ErrShardSize = errors.New("shard sizes differ")
	// ErrShortData: nothing to split, or less data than is to be joined.
	ErrShortData = errors.New("not enough data")
	// ErrReconstructRequired: a data shard that is to be joined is missing.
	ErrReconstructRequired = errors.New("a required data shard is missing")
	// ErrReconstructMismatch: a shard is to be both read and rebuilt.
	ErrReconstructMismatch = errors.New("a shard is both given and wanted")
	// ErrInvalidInput: an argument that no other error describes.
	ErrInvalidInput = errors.New("invalid input")
	// ErrOverlap: a shard that would be written shares memory with another shard.
	ErrOverlap = errors.New("shards overlap in memory")
	// ErrMatrix: an unknown matrix, or one of the wrong shape.
	ErrMatrix = errors.New("unusable matrix")
	// ErrCorrupt: shards are corrupt, and it cannot be told which.
	ErrCorrupt = errors.New("the corrupt shards cannot be told")
)

// A SingularError says that shards do not determine others although there are enough of them: their rows of the matrix
// are linearly dependent. It never happens with [Backblaze], [ISALCauchy] and [NormalisedCauchy].
type SingularError struct {
	// Dependent are shards (from [Invert], rows) each of which is a linear combination of the others.
	Dependent []int
	// Lost are the shards that cannot be rebuilt. It is empty in an error of [Invert].
	Lost []int
}

func (e *SingularError) Error() string {
	if len(e.Lost) == 0 {
		return "erasure: singular matrix: rows " + list(e.Dependent) + " are linearly dependent"
	}
	return fmt.Sprintf("erasure: singular matrix: shards %s cannot be rebuilt, because shards %s are linearly dependent",
		list(e.Lost), list(e.Dependent))
}

func list(numbers []int) string {
	var b strings.Builder
	for i, n := range numbers {
		if i > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(strconv.Itoa(n))
	}
	return b.String()
}
