package erasure

import (
	"fmt"

	"github.com/twogather/twogather/internal/gf256"
)

// A Matrix is the name of a way to choose coefficients. The names are meant to be stored with shards.
type Matrix string

// The matrices. Only with the same one do two programs understand each other's shards.
const (
	// Backblaze is the default matrix of github.com/klauspost/reedsolomon and of Backblaze's JavaReedSolomon: the
	// Vandermonde matrix i^j, times the inverse of its top square. Any k shards give back the others.
	Backblaze Matrix = "backblaze"

	// NormalisedCauchy is ISALCauchy with its columns and rows scaled so that the first of each are ones. The first parity
	// is then a plain XOR of the data, as is a lost data shard if it is the only one, and each other parity shard has one
	// multiplication less. So it is the fastest of those that can make up for every loss: best for new data.
	NormalisedCauchy Matrix = "cauchy-normalised"

	// ISALCauchy is what ISA-L's gf_gen_cauchy1_matrix makes, and the Cauchy matrix of github.com/klauspost/reedsolomon:
	// 1/(i⊕j) for row i, counted from k, and column j. Any k shards give back the others.
	ISALCauchy Matrix = "isa-l-cauchy1"

	// ISALVandermonde is what ISA-L's gf_gen_rs_matrix makes: the powers 0 to k-1 of 2^i in row i. Beware: there are losses
	// that it cannot make up for although enough shards are left, from 5+6 and 6+5 shards on, and then a [*SingularError]
	// comes instead. With up to 3 parity shards of at most 255 it has none. It is here for shards that exist.
	ISALVandermonde Matrix = "isa-l-rs"
)

// Coefficients returns the matrix for numbers of data and parity shards: a row for each parity shard, in it a coefficient
// for each data shard.
func (m Matrix) Coefficients(data, parity int) ([][]byte, error) {
	if err := checkCounts(data, parity); err != nil {
		return nil, err
	}
	var at func(i, j int) byte // i counts parity shards from 0
	switch m {
	case Backblaze:
		at = lagrange(data)
	case NormalisedCauchy:
		// Dividing column j by its first element and then row i by its first element leaves, of the elements c of the
		// Cauchy matrix, c(i,j)·c(0,0) / (c(0,j)·c(i,0)).
		at = func(i, j int) byte {
			return gf256.Mul(gf256.Mul(byte(data^j), byte(data+i)), gf256.Inverse(gf256.Mul(byte((data+i)^j), byte(data))))
		}
	case ISALCauchy:
		at = func(i, j int) byte { return gf256.Inverse(byte((data + i) ^ j)) }
	case ISALVandermonde:
		at = func(i, j int) byte { return gf256.Power(i * j) }
	default:
		return nil, fmt.Errorf("erasure: there is no matrix %q: %w", string(m), ErrMatrix)
	}
	rows := make([][]byte, parity)
	for i := range rows {
		rows[i] = make([]byte, data)
		for j := range rows[i] {
			rows[i][j] = at(i, j)
		}
	}
	return rows, nil
}

// lagrange returns the elements of Vandermonde's matrix times the inverse of its top square. The top square takes a
// polynomial's coefficients to its values at the points 0 to data-1, and row x below takes them to its value at x. So
// the product takes those values to that one, which is Lagrange's interpolation:
//
//	∏ (x-m)/(j-m) over all points m but j
func lagrange(data int) func(i, j int) byte {
	// without returns the product of x-m over all points m but j.
	without := func(x, j int) byte {
		product := byte(1)
		for m := range data {
			if m != j {
				product = gf256.Mul(product, byte(x^m))
			}
		}
		return product
	}
	denominators := make([]byte, data)
	for j := range denominators {
		denominators[j] = gf256.Inverse(without(j, j))
	}
	return func(i, j int) byte { return gf256.Mul(without(data+i, j), denominators[j]) }
}

// maxShards is how many elements the field has: points to evaluate a polynomial at.
const maxShards = 256

func checkCounts(data, parity int) error {
	switch {
	case data < 1 || parity < 0:
		return fmt.Errorf("erasure: %d data and %d parity shards: %w", data, parity, ErrInvShardNum)
	case data > maxShards || parity > maxShards-data:
		return fmt.Errorf("erasure: %d data and %d parity shards: %w", data, parity, ErrMaxShardNum)
	}
	return nil
}

// Invert returns the inverse of a square matrix. Where there is none, the error is a [*SingularError].
func Invert(matrix [][]byte) ([][]byte, error) {
	n := len(matrix)
	identity := make([][]byte, n)
	for i, row := range matrix {
		if len(row) != n {
			return nil, fmt.Errorf("erasure: row %d of %d has %d coefficients: %w", i, n, len(row), ErrMatrix)
		}
		identity[i] = unit(n, i)
	}
	s := solve(n, matrix, identity)
	if len(s.unsolved) > 0 {
		return nil, &SingularError{Dependent: s.dependent}
	}
	return s.coefficients, nil
}

// unit returns a vector of n elements, all 0 but element i.
func unit(n, i int) []byte {
	v := make([]byte, n)
	v[i] = 1
	return v
}

// A solution expresses vectors by others.
type solution struct {
	used         []int    // given vectors, linearly independent, that the wanted ones are expressed by
	coefficients [][]byte // a row for each wanted vector, a column for each used one
	dependent    []int    // the first given vectors met that are not linearly independent
	unsolved     []int    // wanted vectors that the given ones do not express; without coefficients
}

// solve expresses wanted vectors, which have n elements, as linear combinations of given ones, the first that are
// linearly independent. It is inversion, and more: where rows of a code are given and wanted, it makes no difference
// whether they are data's or parity's.
func solve(n int, given, wanted [][]byte) solution {
	var s solution
	// Each vector carries behind it which combination of the used ones it is.
	basis := span{width: n}
	carrying := func(v []byte) []byte { return append(append(make([]byte, 0, 2*n), v...), make([]byte, n)...) }
	for i, g := range given {
		if len(basis.rows) == n {
			break
		}
		v := carrying(g)
		v[n+len(s.used)] = 1
		if basis.add(v) {
			s.used = append(s.used, i)
		} else if s.dependent == nil {
			// What is left of v is a combination that gives 0.
			for j, u := range s.used {
				if v[n+j] != 0 {
					s.dependent = append(s.dependent, u)
				}
			}
			s.dependent = append(s.dependent, i)
		}
	}
	for i, w := range wanted {
		v := carrying(w)
		var coefficients []byte
		if basis.reduce(v) < 0 {
			coefficients = v[n : n+len(s.used)]
		} else {
			s.unsolved = append(s.unsolved, i)
		}
		s.coefficients = append(s.coefficients, coefficients)
	}
	return s
}

// A span is the space of a few vectors. Only their first width elements count; whatever is behind them is carried along
// through the same operations.
type span struct {
	width  int
	rows   [][]byte // each has 1 at its pivot, and 0 at the pivots of those before it
	pivots []int
}

// reduce takes multiples of the rows from v until it is 0 at all pivots, and returns where it is not 0, or -1: then v was
// in the span.
func (s *span) reduce(v []byte) int {
	for i, row := range s.rows {
		addMultiple(v, row, v[s.pivots[i]])
	}
	for i, x := range v[:s.width] {
		if x != 0 {
			return i
		}
	}
	return -1
}

// add makes the span one that has v in it, and reports whether it was not one before. It keeps v, and changes it.
func (s *span) add(v []byte) bool {
	pivot := s.reduce(v)
	if pivot < 0 {
		return false
	}
	scale(v, gf256.Inverse(v[pivot]))
	s.rows = append(s.rows, v)
	s.pivots = append(s.pivots, pivot)
	return true
}

// addMultiple adds c·x to v.
func addMultiple(v, x []byte, c byte) {
	if c == 0 {
		return
	}
	for i, a := range x {
		v[i] ^= gf256.Mul(a, c)
	}
}

// scale multiplies v by c.
func scale(v []byte, c byte) {
	for i, a := range v {
		v[i] = gf256.Mul(a, c)
	}
}
