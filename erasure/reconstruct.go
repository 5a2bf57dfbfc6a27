package erasure

import "fmt"

// Reconstruct rebuilds the lost shards, which are those that are empty. If a lost shard's slice has the capacity, that
// memory is used.
//
// The shards that are left are taken to be right: Verify tells whether the set is consistent, if more are left than are
// data shards.
func (c *Codec) Reconstruct(shards [][]byte) error {
	return c.reconstruct(shards, below(c.TotalShards()))
}

// ReconstructData is [Codec.Reconstruct] for data shards only. Lost parity shards stay empty.
func (c *Codec) ReconstructData(shards [][]byte) error {
	return c.reconstruct(shards, below(c.data))
}

// ReconstructSome is [Codec.Reconstruct] for those shards that are required, data or parity: true for each. It costs what
// they cost and not more. required has an element for each shard, or for each data shard, and then no parity shard is
// rebuilt.
func (c *Codec) ReconstructSome(shards [][]byte, required []bool) error {
	if len(required) != c.data && len(required) != c.TotalShards() {
		return fmt.Errorf("erasure: %d shards required or not, of %d data shards and %d in all: %w",
			len(required), c.data, c.TotalShards(), ErrInvalidInput)
	}
	var wanted set
	for i, r := range required {
		if r {
			wanted.add(i)
		}
	}
	return c.reconstruct(shards, wanted)
}

// reconstruct rebuilds those of the wanted shards that are lost.
func (c *Codec) reconstruct(shards [][]byte, wanted set) error {
	if err := checkNumber(len(shards), c.TotalShards()); err != nil {
		return err
	}
	size, err := checkSizes(shards, 0, 0, true)
	if err != nil {
		return err
	}
	p := pattern{left: present(shards), wanted: wanted}
	p.wanted.remove(&p.left)
	if p.wanted == (set{}) {
		return nil
	}
	d, err := c.decoder(p)
	if err != nil {
		return err
	}
	w := c.workspace()
	defer c.release(w)
	w.outputs = w.outputs[:0]
	for _, i := range d.outputs {
		if cap(shards[i]) >= size {
			w.outputs = append(w.outputs, shards[i][:size])
		} else {
			w.outputs = append(w.outputs, make([]byte, size))
		}
	}
	if err := checkApart(w.outputs, 0, shards, 0); err != nil {
		// Once more, to name the shards.
		rebuilt := make([][]byte, c.TotalShards())
		for n, i := range d.outputs {
			rebuilt[i] = w.outputs[n]
		}
		return checkApart(rebuilt, 0, shards, 0)
	}
	w.sources = pick(w.sources, shards, d.inputs)
	c.encode(d.tables, w.outputs, w.sources)
	for n, i := range d.outputs {
		shards[i] = w.outputs[n]
	}
	return nil
}

// DecodeIdx rebuilds shards from others that come one by one, or on several machines. expectInput is true for each shard
// that is going to be an input in one of the calls and is the same in all of them. dst has a slice for each shard to be
// rebuilt, zeroed before the first call; input has the shards that this call adds. What one call does not have is nil.
// Each input must be added once, which is not checked.
//
// If expectInput is nil, input has results of other calls instead, which are added to those in dst: so several machines'
// parts become the whole.
func (c *Codec) DecodeIdx(dst [][]byte, expectInput []bool, input [][]byte) error {
	if err := checkNumber(len(dst), c.TotalShards()); err != nil {
		return err
	}
	if err := checkNumber(len(input), c.TotalShards()); err != nil {
		return err
	}
	if expectInput == nil {
		return c.merge(dst, input)
	}
	if len(expectInput) != c.TotalShards() {
		return fmt.Errorf("erasure: %d inputs expected or not, of %d shards: %w", len(expectInput), c.TotalShards(), ErrInvalidInput)
	}
	var p pattern
	given := false
	for i, expected := range expectInput {
		given = given || len(input[i]) > 0
		switch {
		case expected && len(dst[i]) > 0:
			return fmt.Errorf("erasure: shard %d: %w", i, ErrReconstructMismatch)
		case !expected && len(input[i]) > 0:
			return fmt.Errorf("erasure: shard %d is an input that was not expected: %w", i, ErrInvalidInput)
		case expected:
			p.left.add(i)
		case len(dst[i]) > 0:
			p.wanted.add(i)
		}
	}
	d, err := c.decoder(p)
	if err != nil || !given || len(d.outputs) == 0 {
		return err
	}
	size, err := checkSizes(input, 0, 0, true)
	if err != nil {
		return err
	}
	if _, err := checkSizes(dst, 0, size, true); err != nil {
		return err
	}
	if err := checkApart(dst, 0, input, 0); err != nil {
		return err
	}
	outputs := pick(nil, dst, d.outputs)
	for column, i := range d.inputs {
		if len(input[i]) > 0 {
			c.update(d.tables, outputs, column, input[i])
		}
	}
	return nil
}

// merge adds results of DecodeIdx to others.
func (c *Codec) merge(dst, input [][]byte) error {
	for i, in := range input {
		if len(in) > 0 && len(in) != len(dst[i]) {
			return sizeError(i, len(in), len(dst[i]))
		}
	}
	if err := checkApart(dst, 0, input, 0); err != nil {
		return err
	}
	for i, in := range input {
		if len(in) > 0 {
			c.update(plus, dst[i:i+1], 0, in)
		}
	}
	return nil
}
