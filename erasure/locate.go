package erasure

import (
	"bytes"
	"crypto/subtle"
	"fmt"
	"slices"
	"sync"
)

// Locate returns the numbers of the corrupt shards, in order: the smallest number of shards that, with other contents,
// would make the set consistent. There are none in a set that Verify finds right. To rebuild them, empty them and call
// Reconstruct.
//
// With p parity shards, and a matrix that can make up for every loss, the answer is right as long as at most p/2 shards,
// rounded down, are corrupt. More of them, up to p-1, are found where their errors are linearly independent, which random
// errors in more than a few bytes are. Otherwise they cannot be told from other shards that would explain the same bytes:
// then the error is ErrCorrupt, or, which nothing can rule out, the answer is those others. One parity shard shows that
// something is corrupt, and not what.
//
// Where errors are few and not independent, sets of shards are tried one by one: up to about a second, then the error is
// ErrCorrupt.
func (c *Codec) Locate(shards [][]byte) ([]int, error) {
	if err := c.checkSet(shards); err != nil {
		return nil, err
	}
	syndromes := c.syndromes(shards)
	rank := len(syndromes.rows)
	if rank == 0 {
		return nil, nil
	}
	// Corrupt shards as independent as their syndromes come first, then sets of one more, and so on.
	l := locator{columns: c.columns()}
	for extra := 0; rank+extra < c.parity && (extra == 0 || rank+extra <= c.parity/2); extra++ {
		if l.try(syndromes, 0, extra); l.found != nil || l.tooMany {
			break
		}
	}
	switch {
	case l.tooMany:
		return nil, fmt.Errorf("erasure: too many sets of shards to try: %w", ErrCorrupt)
	case l.several:
		return nil, fmt.Errorf("erasure: shards %s or others: %w", list(l.found), ErrCorrupt)
	case l.found == nil:
		return nil, fmt.Errorf("erasure: too many for %d parity shards: %w", c.parity, ErrCorrupt)
	}
	return l.found, nil
}

// syndromes returns the span of the syndromes at all bytes. A syndrome is how the parity differs from what it should be.
//
// If e is the error of shard j at a byte, it contributes e times the shard's column to the syndrome there. So the span is
// part of the span of the corrupt shards' columns; it is all of it if their errors are linearly independent.
func (c *Codec) syndromes(shards [][]byte) *span {
	s := &span{width: c.parity}
	var mu sync.Mutex
	c.tiles(len(shards[0]), c.data*c.parity, func(w *workspace, from, to int) {
		expected := w.outputParts(w.scratch(c.parity), 0, to-from)
		c.tables.encode(expected, w.sourceParts(shards[:c.data], from, to))
		right := true
		for i, p := range shards[c.data:] {
			right = right && bytes.Equal(expected[i], p[from:to])
			subtle.XORBytes(expected[i], expected[i], p[from:to])
		}
		if right {
			return
		}
		mu.Lock()
		defer mu.Unlock()
		for n := 0; n < to-from && len(s.rows) < c.parity; n++ {
			var v [maxShards]byte
			syndrome := v[:c.parity]
			for i := range syndrome {
				syndrome[i] = expected[i][n]
			}
			if s.reduce(syndrome) >= 0 {
				s.add(slices.Clone(syndrome))
			}
		}
	})
	return s
}

// columns returns what an error of 1 in each shard does to the syndrome.
func (c *Codec) columns() [][]byte {
	columns := make([][]byte, c.TotalShards())
	for j := range c.data {
		columns[j] = make([]byte, c.parity)
		for i, row := range c.matrix {
			columns[j][i] = row[j]
		}
	}
	for i := range c.parity {
		columns[c.data+i] = unit(c.parity, i)
	}
	return columns
}

// A locator looks for columns that explain syndromes.
type locator struct {
	columns [][]byte
	found   []int
	several bool // there are others than found, as few
	work    int
	tooMany bool
}

// tries is how much work a locator does, in products.
const tries = 1 << 27

// try looks for sets of columns that have s in their span, of extra more than its dimension.
//
// If those that are corrupt span more than s, then some extra of them, added to s, make it their span. All the others are
// known by lying in it.
func (l *locator) try(s *span, first, extra int) {
	if extra > 0 {
		for j := first; j < len(l.columns) && !l.tooMany; j++ {
			t := &span{s.width, slices.Clip(s.rows), slices.Clip(s.pivots)}
			if t.add(slices.Clone(l.columns[j])) {
				l.try(t, j+1, extra-1)
			}
		}
		return
	}
	if l.work += len(l.columns) * len(s.rows) * s.width; l.work > tries {
		l.tooMany = true
		return
	}
	var inside []int
	basis := span{width: s.width}
	for j, column := range l.columns {
		if s.reduce(slices.Clone(column)) < 0 {
			inside = append(inside, j)
			basis.add(slices.Clone(column))
		}
	}
	switch {
	case len(basis.rows) < len(s.rows):
		return
	case len(inside) > len(basis.rows) || l.found != nil && !slices.Equal(l.found, inside):
		l.several = true
	}
	l.found = inside
}
