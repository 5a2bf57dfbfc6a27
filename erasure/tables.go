// Package erasure is Reed-Solomon erasure coding over GF(2^8).
package erasure

import "fmt"

// Tables hold a matrix of coefficients in the form that the kernels read. They are never changed after they are made: any
// number of goroutines may use the same ones.
type Tables struct {
	rows, columns int
	coefficients  []byte // by rows
}

// NewTables makes tables of a matrix: a row for each output, a column for each source.
func NewTables(matrix [][]byte) (*Tables, error) {
	t := &Tables{rows: len(matrix)}
	if len(matrix) > 0 {
		t.columns = len(matrix[0])
	}
	for i, row := range matrix {
		if len(row) != t.columns {
			return nil, fmt.Errorf("erasure: row %d of the matrix has %d coefficients, row 0 has %d", i, len(row), t.columns)
		}
		t.coefficients = append(t.coefficients, row...)
	}
	return t, nil
}

// Rows returns the tables of the rows from i up to j, and Columns those of the columns from i up to j. They share memory
// with t.
func (t *Tables) Rows(i, j int) *Tables { panic("to be written") }

// Columns is described with Rows.
func (t *Tables) Columns(i, j int) *Tables { panic("to be written") }

// encode overwrites outputs with the products of the matrix's rows and the sources. All have the same length; nothing is
// checked.
func (t *Tables) encode(outputs, sources [][]byte) {
	for i, out := range outputs {
		for n := range out {
			sum := byte(0)
			for j, s := range sources {
				sum ^= mul(t.coefficients[i*t.columns+j], s[n])
			}
			out[n] = sum
		}
	}
}

// update adds the product of the matrix's column and the source to each output. All have the same length; nothing is
// checked.
func (t *Tables) update(outputs [][]byte, column int, source []byte) {
	for i, out := range outputs {
		for n, s := range source {
			out[n] ^= mul(t.coefficients[i*t.columns+column], s)
		}
	}
}
