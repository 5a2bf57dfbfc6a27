package erasure

import (
	"fmt"
	"slices"
	"sync"

	"github.com/twogather/twogather/internal/alias"
)

// Tables hold a matrix of coefficients in the form that a kernel reads, which is the kernel's own. They are never changed
// after they are made: any number of goroutines may use the same ones.
type Tables struct {
	rows, columns int
	coefficients  []byte // by rows
	kernel        uint8
	form          form
	zeros         []int   // rows of zeros
	groups        []group // of the other rows
	far           int     // shards of so many bytes, or more, are too much for the caches
	ways          int     // as in waysFor
	updates       struct {
		call    int       // so many bytes of each shard are in a kernel call, at most
		once    sync.Once // makes entries, when the first update comes
		entries []entry   // by columns
	}
}

// A group is up to six rows that one pass makes. Columns whose coefficients are all 0 are left out of it.
type group struct {
	first, count int   // consecutive rows …
	rows         []int // … or, if they are not, these
	sources      int   // how many columns
	ones         int   // how many of them are first, whose coefficients are all 1
	columns      []int // nil if they are all there and in order, but for a turn:
	turn, others int   // where the ones and the others begin
	sum          int   // as in pass
	call         int   // so many bytes of each shard are in a kernel call, at most
	entries      []byte
}

// NewTables makes tables of a matrix: a row for each output, a column for each source. It is an error if the rows differ in
// length.
func NewTables(matrix [][]byte) (*Tables, error) { return newTablesWith(matrix, defaultKernel) }

// newTablesWith makes tables for the kernel in row k of the table.
func newTablesWith(matrix [][]byte, k int) (*Tables, error) {
	columns := 0
	if len(matrix) > 0 {
		columns = len(matrix[0])
	}
	coefficients := make([]byte, 0, len(matrix)*columns)
	for i, row := range matrix {
		if len(row) != columns {
			return nil, fmt.Errorf("erasure: row %d of the matrix has %d coefficients, row 0 has %d", i, len(row), columns)
		}
		coefficients = append(coefficients, row...)
	}
	return makeTables(coefficients, len(matrix), columns, uint8(k)), nil
}

func makeTables(coefficients []byte, rows, columns int, k uint8) *Tables {
	t := &Tables{rows: rows, columns: columns, coefficients: coefficients, kernel: k, form: formOf(k)}
	sum, dense := -1, []int(nil)
	for i := range rows {
		switch row := t.row(i); {
		case !slices.ContainsFunc(row, func(c byte) bool { return c != 0 }):
			t.zeros = append(t.zeros, i)
		case slices.ContainsFunc(row, func(c byte) bool { return c > 1 }):
			dense = append(dense, i)
		case sum < 0 && !slices.Contains(row, 0):
			sum = i
		default: // a sum of some sources reads no others
			t.addGroup(i)
		}
	}
	// The sum of all sources costs least in a pass that reads them anyway.
	if sum >= 0 {
		dense = slices.Insert(dense, 0, sum)
	}
	for n := (len(dense) + maxOutputs - 1) / maxOutputs; n > 0; n-- {
		size := (len(dense) + n - 1) / n
		t.addGroup(dense[:size]...)
		dense = dense[size:]
	}
	t.far = farBytes / max(rows+columns, 1)
	t.ways = waysFor(k)
	t.updates.call = cut(1 + min(rows, updateOutputs(k)))
	return t
}

// column is the number of the group's source n.
func (g *group) column(n int) int {
	if g.columns == nil {
		return (g.turn + n) % g.sources
	}
	return g.columns[n]
}

func (t *Tables) row(i int) []byte { return t.coefficients[i*t.columns : (i+1)*t.columns] }

func (t *Tables) at(i, j int) byte { return t.coefficients[i*t.columns+j] }

// addGroup makes a group of rows, of which only the first may consist of ones.
func (t *Tables) addGroup(rows ...int) {
	g := group{first: rows[0], count: len(rows)}
	for n, i := range rows {
		if i != g.first+n {
			g.rows = rows
		}
	}
	if len(rows) > 1 && !slices.ContainsFunc(t.row(rows[0]), func(c byte) bool { return c != 1 }) {
		g.sum = 1
	}
	all := func(j int, c byte) bool {
		return !slices.ContainsFunc(rows, func(i int) bool { return t.at(i, j) != c })
	}
	for j := range t.columns {
		if all(j, 1) {
			g.columns = append(g.columns, j)
		}
	}
	g.ones = len(g.columns)
	for j := range t.columns {
		if !all(j, 0) && !all(j, 1) {
			g.columns = append(g.columns, j)
		}
	}
	for _, j := range g.columns[g.ones:] {
		for _, i := range rows[g.sum:] {
			g.entries = append(g.entries, t.form.entries[t.at(i, j)][:t.form.size]...)
		}
	}
	g.sources = len(g.columns)
	g.call = cut(g.count + g.sources)
	if g.sources == t.columns {
		// The ones may be last in the matrix, as in 17+3 of Backblaze's.
		switch turned := slices.Concat(g.columns[g.ones:], g.columns[:g.ones]); {
		case slices.IsSorted(g.columns):
			g.columns, g.others = nil, g.ones%g.sources
		case slices.IsSorted(turned):
			g.columns, g.turn = nil, t.columns-g.ones
		}
	}
	t.groups = append(t.groups, g)
}

// columnEntries returns what an update multiplies a source by: an entry for each row.
func (t *Tables) columnEntries(j int) []entry {
	t.updates.once.Do(func() {
		t.updates.entries = make([]entry, 0, len(t.coefficients))
		for j := range t.columns {
			for i := range t.rows {
				t.updates.entries = append(t.updates.entries, t.form.entries[t.at(i, j)])
			}
		}
	})
	return t.updates.entries[j*t.rows:][:t.rows]
}

// Rows returns tables of the rows from i up to j. It panics if there are no such rows.
func (t *Tables) Rows(i, j int) *Tables {
	return makeTables(t.coefficients[i*t.columns:j*t.columns:j*t.columns], j-i, t.columns, t.kernel)
}

// Columns returns tables of the columns from i up to j. It panics if there are no such columns.
func (t *Tables) Columns(i, j int) *Tables {
	coefficients := make([]byte, 0, t.rows*(j-i))
	for r := range t.rows {
		coefficients = append(coefficients, t.row(r)[i:j]...)
	}
	return makeTables(coefficients, t.rows, j-i, t.kernel)
}

// EncodeData overwrites the outputs with the products of the matrix's rows and the sources. There are as many outputs as the
// matrix has rows, and as many sources as it has columns; all have the same length. An output may not overlap a source or
// another output. If something is wrong, it is an error, and nothing is written.
func (t *Tables) EncodeData(outputs, sources [][]byte) error {
	if len(sources) != t.columns {
		return fmt.Errorf("erasure: %d sources, the tables have %d columns", len(sources), t.columns)
	}
	if err := t.check(outputs, sources); err != nil {
		return err
	}
	t.encode(outputs, sources)
	return nil
}

// EncodeDataUpdate adds the products of a column of the matrix and the source to the outputs. There are as many outputs as
// the matrix has rows; all have the source's length. An output may not overlap the source or another output. If something is
// wrong, it is an error, and nothing is written.
func (t *Tables) EncodeDataUpdate(outputs [][]byte, column int, source []byte) error {
	if column < 0 || column >= t.columns {
		return fmt.Errorf("erasure: column %d, the tables have %d columns", column, t.columns)
	}
	if sources := [...][]byte{source}; len(outputs) == t.rows && follow(len(source), sources[:], outputs) {
		t.update(outputs, column, source)
		return nil
	}
	if err := t.check(outputs, nil); err != nil {
		return err
	}
	for i, out := range outputs {
		if len(out) != len(source) {
			return fmt.Errorf("erasure: the source has %d bytes, the outputs have %d", len(source), len(out))
		}
		if alias.AnyOverlap(out, source) {
			return fmt.Errorf("erasure: output %d overlaps the source", i)
		}
	}
	t.update(outputs, column, source)
	return nil
}

// check returns what is wrong with outputs and sources besides the number of sources.
func (t *Tables) check(outputs, sources [][]byte) error {
	if len(outputs) != t.rows {
		return fmt.Errorf("erasure: %d outputs, the tables have %d rows", len(outputs), t.rows)
	}
	if len(outputs) == 0 {
		return nil
	}
	n := len(outputs[0])
	if follow(n, sources, outputs) {
		return nil
	}
	for i, out := range outputs {
		if len(out) != n {
			return fmt.Errorf("erasure: output %d has %d bytes, output 0 has %d", i, len(out), n)
		}
	}
	for i, source := range sources {
		if len(source) != n {
			return fmt.Errorf("erasure: source %d has %d bytes, the outputs have %d", i, len(source), n)
		}
	}
	for i, out := range outputs {
		for j, other := range outputs[:i] {
			if alias.AnyOverlap(out, other) {
				return fmt.Errorf("erasure: outputs %d and %d overlap", j, i)
			}
		}
		for j, source := range sources {
			if alias.AnyOverlap(out, source) {
				return fmt.Errorf("erasure: output %d overlaps source %d", i, j)
			}
		}
	}
	return nil
}

// follow reports whether all shards have n bytes, at least one, and follow each other in memory: then nothing is wrong with
// them.
func follow(n int, sources, outputs [][]byte) bool {
	end, ok := alias.Follow(0, n, sources)
	if ok {
		_, ok = alias.Follow(end, n, outputs)
	}
	return ok && n > 0
}
