package erasure_test

import (
	"bytes"
	"errors"
	"fmt"
	"iter"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/twogather/twogather/erasure"
	"github.com/twogather/twogather/internal/testkit"
)

// times multiplies in the field bit by bit.
func times(a, b byte) byte {
	product := 0
	for i := range 8 {
		if b>>i&1 == 1 {
			product ^= int(a) << i
		}
	}
	for i := 14; i >= 8; i-- {
		if product>>i&1 == 1 {
			product ^= 0x11D << (i - 8)
		}
	}
	return byte(product)
}

// product is times as a table.
var product = func() (t [256][256]byte) {
	for a := range t {
		for b := range t {
			t[a][b] = times(byte(a), byte(b))
		}
	}
	return t
}()

// reciprocal returns 1/a.
func reciprocal(a byte) byte { return byte(bytes.IndexByte(product[a][:], 1)) }

// matrixProduct returns a·b.
func matrixProduct(a, b [][]byte) [][]byte {
	c := make([][]byte, len(a))
	for i := range a {
		c[i] = make([]byte, len(b[0]))
		for j, x := range a[i] {
			for n, y := range b[j] {
				c[i][n] ^= product[x][y]
			}
		}
	}
	return c
}

func identity(n int) [][]byte {
	m := make([][]byte, n)
	for i := range m {
		m[i] = make([]byte, n)
		m[i][i] = 1
	}
	return m
}

// rank counts linearly independent rows.
func rank(m [][]byte) int {
	m = clone(m)
	r := 0
	for column := 0; len(m) > 0 && column < len(m[0]) && r < len(m); column++ {
		for i := r; i < len(m); i++ {
			if m[i][column] == 0 {
				continue
			}
			m[r], m[i] = m[i], m[r]
			for _, row := range m[r+1:] {
				f := product[row[column]][reciprocal(m[r][column])]
				for n, x := range m[r] {
					row[n] ^= product[f][x]
				}
			}
			r++
			break
		}
	}
	return r
}

func clone(shards [][]byte) [][]byte {
	c := slices.Clone(shards)
	for i := range c {
		c[i] = bytes.Clone(c[i])
	}
	return c
}

func equal(a, b [][]byte) bool { return slices.EqualFunc(a, b, bytes.Equal) }

func random(seed string, shards, size int) [][]byte {
	all := testkit.Random(seed, shards*size)
	s := make([][]byte, shards)
	for i := range s {
		s[i] = all[i*size:][:size:size]
	}
	return s
}

func newCodec(t testing.TB, data, parity int, options ...erasure.Option) *erasure.Codec {
	t.Helper()
	c, err := erasure.New(data, parity, options...)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// encoded returns a set of shards, with the parity made by definition.
func encoded(t testing.TB, m erasure.Matrix, data, parity, size int) [][]byte {
	t.Helper()
	rows, err := m.Coefficients(data, parity)
	if err != nil {
		t.Fatal(err)
	}
	shards := random(fmt.Sprint(m, data, parity, size), data, size)
	return append(shards, matrixProduct(rows, shards)...)
}

// matrices are those that can make up for every loss, and all.
var (
	certain  = []erasure.Matrix{erasure.Backblaze, erasure.NormalisedCauchy, erasure.ISALCauchy}
	matrices = append(slices.Clone(certain), erasure.ISALVandermonde)
)

// subsets returns the sets of n of the numbers below total.
func subsets(total, n int) iter.Seq[[]int] {
	return func(yield func([]int) bool) {
		set := make([]int, n)
		for i := range set {
			set[i] = i
		}
		for {
			if !yield(set) {
				return
			}
			i := n - 1
			for i >= 0 && set[i] == total-n+i {
				i--
			}
			if i < 0 {
				return
			}
			for set[i]++; i+1 < n; i++ {
				set[i+1] = set[i] + 1
			}
		}
	}
}

// without returns shards without those that are lost.
func without[S any](shards []S, lost ...int) []S {
	s := slices.Clone(shards)
	for _, i := range lost {
		clear(s[i : i+1])
	}
	return s
}

func mustBe(t testing.TB, err, want error, what string) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Errorf("%s: error %v, want %v", what, err, want)
	}
}

func newRandom(t testing.TB) *rand.Rand {
	return rand.New(rand.NewChaCha8([32]byte(testkit.Random(t.Name(), 32))))
}
