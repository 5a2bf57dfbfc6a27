package erasure

import (
	"bytes"
	"fmt"
)

// An Option is something that [New] can be told.
type Option func(*settings)

type settings struct {
	coefficients func(data, parity int) ([][]byte, error)
	concurrency  int
}

// WithMatrix has parity made with m. Without it, it is [Backblaze].
func WithMatrix(m Matrix) Option {
	return func(s *settings) { s.coefficients = m.Coefficients }
}

// WithCustomMatrix has parity made with a matrix of one's own: a row for each parity shard, in it a coefficient for each
// data shard, not all of them 0. It is copied. Nothing checks that it can make up for every loss, which takes one of which
// every square part is invertible. Where it cannot, methods return a [*SingularError].
func WithCustomMatrix(matrix [][]byte) Option {
	return func(s *settings) {
		s.coefficients = func(data, parity int) ([][]byte, error) {
			if len(matrix) != parity {
				return nil, fmt.Errorf("erasure: the custom matrix has %d rows for %d parity shards: %w", len(matrix), parity, ErrMatrix)
			}
			rows := make([][]byte, parity)
			for i, row := range matrix {
				if len(row) != data {
					return nil, fmt.Errorf("erasure: row %d of the custom matrix has %d coefficients for %d data shards: %w", i, len(row), data, ErrMatrix)
				}
				if len(bytes.Trim(row, "\x00")) == 0 {
					return nil, fmt.Errorf("erasure: row %d of the custom matrix is all zeros: %w", i, ErrMatrix)
				}
				rows[i] = bytes.Clone(row)
			}
			return rows, nil
		}
	}
}

// WithConcurrency has a call use at most n goroutines, the caller's included: with 1, none but that. Without it, or with
// 0, a call may use as many as there are processors (runtime.GOMAXPROCS). In both cases it uses no more than make it
// faster: what takes one core less than some tens of microseconds stays on the calling goroutine. All have ended when the
// call returns.
func WithConcurrency(n int) Option {
	return func(s *settings) { s.concurrency = n }
}
