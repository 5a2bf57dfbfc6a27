package erasure

import (
	"fmt"
	"math/bits"
	"sync"
)

// A decoder makes lost shards, data or parity, of others in one step.
type decoder struct {
	inputs, outputs []int // shards
	tables          *Tables
}

// A pattern is what a decoder depends on.
type pattern struct {
	left, wanted set
}

// decoder returns the decoder for a pattern.
func (c *Codec) decoder(p pattern) (*decoder, error) {
	if d := c.decoders.get(p); d != nil {
		return d, nil
	}
	left, wanted := p.left.members(), p.wanted.members()
	if len(wanted) == 0 {
		return &decoder{}, nil
	}
	s := solve(c.data, c.rows(left), c.rows(wanted))
	if len(s.unsolved) > 0 {
		lost := pick(nil, wanted, s.unsolved)
		if len(left) < c.data {
			return nil, fmt.Errorf("erasure: %d shards left of %d needed to rebuild %s: %w", len(left), c.data, list(lost), ErrTooFewShards)
		}
		return nil, &SingularError{Dependent: pick(nil, left, s.dependent), Lost: lost}
	}
	tables, err := NewTables(s.coefficients)
	if err != nil {
		return nil, err
	}
	d := &decoder{inputs: pick(nil, left, s.used), outputs: wanted, tables: tables}
	c.decoders.put(p, d, max(1, cachedCoefficients/(c.data*max(1, c.parity))))
	return d, nil
}

// rows returns how each of the shards depends on the data.
func (c *Codec) rows(shards []int) [][]byte {
	rows := make([][]byte, len(shards))
	for n, i := range shards {
		if i < c.data {
			rows[n] = unit(c.data, i)
		} else {
			rows[n] = c.matrix[i-c.data]
		}
	}
	return rows
}

// pick returns the elements of s at the indexes, in memory of into if there is enough.
func pick[E any](into, s []E, indexes []int) []E {
	into = into[:0]
	for _, i := range indexes {
		into = append(into, s[i])
	}
	return into
}

// cachedCoefficients is how many coefficients the decoders that a codec keeps have together, at 32 bytes or so each.
const cachedCoefficients = 1 << 16

// A cache keeps decoders.
type cache struct {
	mu       sync.RWMutex
	decoders map[pattern]*decoder
}

func (c *cache) get(p pattern) *decoder {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return c.decoders[p]
}

// put keeps a decoder, in another one's place where there are limit already.
func (c *cache) put(p pattern, d *decoder, limit int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.decoders == nil {
		c.decoders = make(map[pattern]*decoder)
	}
	if len(c.decoders) >= limit {
		for any := range c.decoders {
			delete(c.decoders, any)
			break
		}
	}
	c.decoders[p] = d
}

// A set of numbers below 256.
type set [4]uint64

func (s *set) add(i int) { s[i/64] |= 1 << (i % 64) }

func (s *set) members() []int {
	var members []int
	for n, word := range s {
		for ; word != 0; word &= word - 1 {
			members = append(members, 64*n+bits.TrailingZeros64(word))
		}
	}
	return members
}
