package erasure

import (
	"fmt"
	"math/bits"
	"sync"
	"sync/atomic"
)

// A decoder makes lost shards, data or parity, of others in one step.
type decoder struct {
	pattern         pattern
	inputs, outputs []int // shards
	tables          *Tables
}

// A pattern is what a decoder depends on.
type pattern struct {
	left, wanted set
}

// decoder returns the decoder for a pattern.
func (c *Codec) decoder(p pattern) (*decoder, error) {
	if d := c.decoders.get(&p); d != nil {
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
	d := &decoder{pattern: p, inputs: pick(nil, left, s.used), outputs: wanted, tables: tables}
	c.decoders.put(d, max(1, cachedCoefficients/(c.data*max(1, c.parity))))
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
	last     atomic.Pointer[decoder] // the same shards stay lost for a while
	mu       sync.RWMutex
	decoders map[pattern]*decoder
}

func (c *cache) get(p *pattern) *decoder {
	if d := c.last.Load(); d != nil && d.pattern == *p {
		return d
	}
	c.mu.RLock()
	defer c.mu.RUnlock()
	d := c.decoders[*p]
	if d != nil {
		c.last.Store(d)
	}
	return d
}

// put keeps a decoder, in another one's place where there are limit already.
func (c *cache) put(d *decoder, limit int) {
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
	c.decoders[d.pattern] = d
}

// A set of numbers below 256.
type set [4]uint64

func (s *set) add(i int) { s[uint8(i)/64] |= 1 << (uint8(i) % 64) }

// present returns the numbers of the shards that are not empty.
func present(shards [][]byte) set {
	var s set
	for n := 0; len(shards) > 0; n++ {
		word, some := uint64(0), min(64, len(shards))
		for i, shard := range shards[:some] {
			if len(shard) > 0 {
				word |= 1 << i
			}
		}
		s[n], shards = word, shards[some:]
	}
	return s
}

// remove takes away what is in other.
func (s *set) remove(other *set) {
	for i, word := range other {
		s[i] &^= word
	}
}

// below returns the set of the numbers below n.
func below(n int) set {
	var s set
	for i := range s {
		s[i] = 1<<max(n-64*i, 0) - 1
	}
	return s
}

func (s *set) members() []int {
	var members []int
	for n, word := range s {
		for ; word != 0; word &= word - 1 {
			members = append(members, 64*n+bits.TrailingZeros64(word))
		}
	}
	return members
}
