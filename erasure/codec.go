package erasure

import (
	"bytes"
	"fmt"
	"io"
	"sync"
	"sync/atomic"
)

// A Codec encodes and rebuilds sets of shards. It is never changed after it was made, but for a cache: any number of
// goroutines may use the same one.
//
// Where a method takes shards it takes a whole set: the data shards, then the parity shards.
type Codec struct {
	data, parity int
	matrix       [][]byte // a row for each parity shard
	tables       *Tables  // of matrix
	concurrency  int      // at most so many goroutines for a call; 0: as many as there are processors
	decoders     cache
	workspaces   sync.Pool // of *workspace
}

// plus adds two slices: faster than subtle.XORBytes.
var plus, _ = NewTables([][]byte{{1, 1}})

// New returns a codec for numbers of data and parity shards: at least one of data, at most 256 together.
func New(data, parity int, options ...Option) (*Codec, error) {
	s := settings{coefficients: Backblaze.Coefficients}
	for _, option := range options {
		option(&s)
	}
	if err := checkCounts(data, parity); err != nil {
		return nil, err
	}
	if s.concurrency < 0 {
		return nil, fmt.Errorf("erasure: concurrency of %d: %w", s.concurrency, ErrInvalidInput)
	}
	matrix, err := s.coefficients(data, parity)
	if err != nil {
		return nil, err
	}
	tables, err := NewTables(matrix)
	if err != nil {
		return nil, err
	}
	c := &Codec{data: data, parity: parity, matrix: matrix, tables: tables, concurrency: s.concurrency}
	c.workspaces.New = func() any { return new(workspace) }
	return c, nil
}

// DataShards returns the number of data shards.
func (c *Codec) DataShards() int { return c.data }

// ParityShards returns the number of parity shards.
func (c *Codec) ParityShards() int { return c.parity }

// TotalShards returns the number of data and parity shards.
func (c *Codec) TotalShards() int { return c.data + c.parity }

// ShardSizeMultiple returns 1: shards may have any length.
func (c *Codec) ShardSizeMultiple() int { return 1 }

// AllocAligned returns a set of zeroed shards of each bytes that lie in memory as suits the kernels best: each starts a
// cache line, and they do not compete for the same cache sets, as large slices made one by one do.
func (c *Codec) AllocAligned(each int) [][]byte {
	return allocate(c.TotalShards(), each)
}

// Encode makes the parity shards of the data shards. What was in them does not matter.
func (c *Codec) Encode(shards [][]byte) error {
	if err := checkNumber(len(shards), c.TotalShards()); err != nil {
		return err
	}
	sources, outputs := shards[:c.data], shards[c.data:]
	if !follow(len(shards[0]), sources, outputs) {
		if err := c.checkSet(shards); err != nil {
			return err
		}
		if err := checkApart(outputs, c.data, sources, 0); err != nil {
			return err
		}
	}
	c.encode(c.tables, outputs, sources)
	return nil
}

// EncodeIdx adds to parity shards what data shard idx contributes. Starting from zeros and done once for each data shard,
// in any order, it makes what Encode makes. It may be done on several machines, whose results are XORed together.
//
// With the XOR of a data shard's old and new contents it brings parity up to date, as [Codec.Update] does with both. A
// part of a shard goes with the same part of each parity shard.
func (c *Codec) EncodeIdx(dataShard []byte, idx int, parity [][]byte) error {
	source := [1][]byte{dataShard}
	if idx < 0 || idx >= c.data || len(parity) != c.parity || !follow(len(dataShard), source[:], parity) {
		if err := c.checkParity(parity, idx, len(dataShard)); err != nil {
			return err
		}
		if err := checkApart(parity, c.data, source[:], idx); err != nil {
			return err
		}
	}
	c.update(c.tables, parity, idx, dataShard)
	return nil
}

// Verify reports whether the parity shards are those of the data shards. [Codec.Locate] says which shards are wrong.
func (c *Codec) Verify(shards [][]byte) (bool, error) {
	if err := c.checkSet(shards); err != nil {
		return false, err
	}
	var wrong atomic.Bool
	c.tiles(len(shards[0]), c.data*c.parity, func(w *workspace, from, to int) {
		if wrong.Load() {
			return
		}
		expected := w.outputParts(w.scratch(c.parity), 0, to-from)
		c.tables.encode(expected, w.sourceParts(shards[:c.data], from, to))
		for i, p := range shards[c.data:] {
			if !bytes.Equal(expected[i], p[from:to]) {
				wrong.Store(true)
			}
		}
	})
	return !wrong.Load(), nil
}

// Update brings parity up to date with data shards that change, without the ones that do not. newDatashards has the new
// contents of those that change and nil for the others. shards has their old contents, and the parity; it may have the
// other data shards or nil. Only parity shards are written.
func (c *Codec) Update(shards [][]byte, newDatashards [][]byte) error {
	if err := checkNumber(len(shards), c.TotalShards()); err != nil {
		return err
	}
	if err := checkNumber(len(newDatashards), c.data); err != nil {
		return err
	}
	size, err := checkSizes(newDatashards, 0, 0, true)
	if err != nil {
		return err
	}
	if _, err := checkSizes(shards, 0, size, true); err != nil {
		return err
	}
	changed := 0
	for i, s := range shards {
		changes := i < c.data && len(newDatashards[i]) > 0
		if len(s) == 0 && (changes || i >= c.data) {
			return fmt.Errorf("erasure: the old contents of shard %d are missing: %w", i, ErrInvalidInput)
		}
		if changes {
			changed++
		}
	}
	old, parity := shards[:c.data], shards[c.data:]
	if err := checkApart(parity, c.data, old, 0); err != nil {
		return err
	}
	if err := checkApart(parity, c.data, newDatashards, 0); err != nil {
		return err
	}
	c.tiles(size, changed*c.parity, func(w *workspace, from, to int) {
		w.delta[0] = w.scratch(1)[0][:to-from]
		outputs := w.outputParts(parity, from, to)
		for i, b := range newDatashards {
			if len(b) > 0 {
				w.sources = append(w.sources[:0], old[i][from:to], b[from:to])
				plus.encode(w.delta[:], w.sources)
				c.tables.update(outputs, i, w.delta[0])
			}
		}
	})
	return nil
}

// UpdateAt is Update for a part of one data shard: from offset on, the bytes old of data shard idx become new. Only
// parity is written, and only that part of it.
func (c *Codec) UpdateAt(parity [][]byte, idx, offset int, old, new []byte) error {
	size := len(old)
	if len(parity) > 0 {
		size = len(parity[0])
	}
	if err := c.checkParity(parity, idx, size); err != nil {
		return err
	}
	if offset < 0 || len(old) > size-offset {
		return fmt.Errorf("erasure: %d bytes from %d on in shards of %d bytes: %w", len(old), offset, size, ErrInvalidInput)
	}
	shards := make([][]byte, c.TotalShards())
	shards[idx] = old
	for i, p := range parity {
		shards[c.data+i] = p[offset:][:len(old)]
	}
	newDatashards := make([][]byte, c.data)
	newDatashards[idx] = new
	return c.Update(shards, newDatashards)
}

// Split cuts data into the codec's number of data shards, with zeros after the last byte, and adds zeroed parity shards.
//
// Shards are parts of data and of the capacity behind it, which is zeroed, as far as that reaches. Only what is left is
// copied. So data must not be used for anything else as long as the shards are.
func (c *Codec) Split(data []byte) ([][]byte, error) {
	if len(data) == 0 {
		return nil, fmt.Errorf("erasure: nothing to split: %w", ErrShortData)
	}
	size := (len(data) + c.data - 1) / c.data
	total := size * c.TotalShards()
	here := data[:min(cap(data), total)]
	clear(here[len(data):])
	inPlace := len(here) / size
	rest := make([]byte, total-inPlace*size)
	copy(rest, here[inPlace*size:])
	shards := make([][]byte, c.TotalShards())
	for i := range shards {
		if i < inPlace {
			shards[i] = here[i*size:][:size:size]
		} else {
			shards[i] = rest[(i-inPlace)*size:][:size:size]
		}
	}
	return shards, nil
}

// Join writes the first outSize bytes of the data shards to dst: what was split into them, without the zeros.
func (c *Codec) Join(dst io.Writer, shards [][]byte, outSize int) error {
	if len(shards) < c.data {
		return fmt.Errorf("erasure: %d shards, %d needed: %w", len(shards), c.data, ErrTooFewShards)
	}
	if outSize < 0 {
		return fmt.Errorf("erasure: %d bytes to join: %w", outSize, ErrInvalidInput)
	}
	left := outSize
	var parts [][]byte
	for i, s := range shards[:c.data] {
		if left == 0 {
			break
		}
		if len(s) == 0 {
			return fmt.Errorf("erasure: data shard %d is empty: %w", i, ErrReconstructRequired)
		}
		if len(s) != len(shards[0]) {
			return sizeError(i, len(s), len(shards[0]))
		}
		parts = append(parts, s[:min(len(s), left)])
		left -= len(parts[i])
	}
	if left > 0 {
		return fmt.Errorf("erasure: %d bytes in the data shards, %d to join: %w", outSize-left, outSize, ErrShortData)
	}
	for _, part := range parts {
		if err := writeFull(dst, part); err != nil {
			return err
		}
	}
	return nil
}

// What the methods check. An error names a shard by its number in the set: first is that of the first one given.

func checkNumber(n, want int) error {
	switch {
	case n < want:
		return fmt.Errorf("erasure: %d shards given instead of %d: %w", n, want, ErrTooFewShards)
	case n > want:
		return fmt.Errorf("erasure: %d shards given instead of %d: %w", n, want, ErrInvalidInput)
	}
	return nil
}

// checkSizes checks that all shards are as long as size or, if that is 0, as the first that is not empty; with missing,
// but for empty ones. It returns how long they are, which is more than 0.
func checkSizes(shards [][]byte, first, size int, missing bool) (int, error) {
	for i := 0; size == 0 && i < len(shards); i++ {
		size = len(shards[i])
	}
	if size == 0 {
		return 0, fmt.Errorf("erasure: all shards are empty: %w", ErrShardNoData)
	}
	for i, s := range shards {
		if len(s) != size && !(missing && len(s) == 0) {
			return 0, sizeError(first+i, len(s), size)
		}
	}
	return size, nil
}

func sizeError(shard, size, want int) error {
	return fmt.Errorf("erasure: shard %d has %d bytes instead of %d: %w", shard, size, want, ErrShardSize)
}

func (c *Codec) checkSet(shards [][]byte) error {
	if err := checkNumber(len(shards), c.TotalShards()); err != nil {
		return err
	}
	_, err := checkSizes(shards, 0, 0, false)
	return err
}

// checkParity checks parity shards that go with size bytes of data shard idx.
func (c *Codec) checkParity(parity [][]byte, idx, size int) error {
	if idx < 0 || idx >= c.data {
		return fmt.Errorf("erasure: data shard %d of %d: %w", idx, c.data, ErrInvShardNum)
	}
	if err := checkNumber(len(parity), c.parity); err != nil || c.parity == 0 {
		return err
	}
	want, err := checkSizes(parity, c.data, 0, false)
	if err == nil && size != want {
		err = sizeError(idx, size, want)
	}
	return err
}
