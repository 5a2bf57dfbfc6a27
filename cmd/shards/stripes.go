package main

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"hash"
	"io"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/twogather/twogather/erasure"
)

// codec returns what makes and rebuilds shards of the set.
func (s *set) codec() (*erasure.Codec, error) {
	return erasure.New(s.data, s.parity, erasure.WithMatrix(s.matrix))
}

// allocate returns memory for one stripe of each shard.
func (s *set) allocate(codec *erasure.Codec) [][]byte {
	return codec.AllocAligned(int(min(int64(s.unit), s.shardSize())))
}

// parallel calls f for the numbers below n, from as many goroutines as are of use.
func parallel(n int, f func(i int)) {
	var next atomic.Int64
	var workers sync.WaitGroup
	for range min(n, runtime.GOMAXPROCS(0)) {
		workers.Go(func() {
			for i := int(next.Add(1)) - 1; i < n; i = int(next.Add(1)) - 1 {
				f(i)
			}
		})
	}
	workers.Wait()
}

// hashes returns a hash for each shard.
func (s *set) hashes() []hash.Hash {
	h := make([]hash.Hash, s.shards())
	for i := range h {
		h[i] = sha256.New()
	}
	return h
}

// errLost says that shards turned out not to be good.
var errLost = errors.New("shards are lost")

// read reads shards from their beginnings to their ends and looks whether they are good. Those that turn out not to be are
// marked, and not read on; where none is left, it returns errLost. For each stripe of the file, which has so many bytes,
// each is called with what was read of the shards; those that were not read are empty, with capacity.
func (c *collection) read(ctx context.Context, codec *erasure.Codec, numbers []int, bar *progress, each func(blocks [][]byte, bytes int) error) error {
	buffers, hashes := c.allocate(codec), c.hashes()
	blocks := make([][]byte, c.set.shards())
	offset := int64(c.headerSize())
	err := c.stripes(func(bytes, size int) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		for i := range blocks {
			blocks[i] = buffers[i][:0]
		}
		parallel(len(numbers), func(n int) {
			i := numbers[n]
			if c.shards[i].state != good {
				return
			}
			b := buffers[i][:size]
			if _, err := c.shards[i].file.ReadAt(b, offset); err != nil {
				if errors.Is(err, io.EOF) {
					c.shards[i].mark(damaged, "truncated while it was read")
				} else {
					c.shards[i].fail(err)
				}
				return
			}
			hashes[i].Write(b)
			blocks[i] = b
		})
		if !slices.ContainsFunc(numbers, func(i int) bool { return c.shards[i].state == good }) {
			return errLost
		}
		offset += int64(size)
		bar.add(len(numbers) * size)
		return each(blocks, bytes)
	})
	if err != nil {
		return err
	}
	for _, i := range numbers {
		if c.shards[i].state == good && sum(hashes[i].Sum(nil)) != c.sums[i] {
			c.shards[i].mark(damaged, "its checksum is wrong")
		}
	}
	return nil
}

// rebuild makes the wanted shards of k good ones, and calls each with the stripes of all of these, as read does. Only when
// it returns nil was what it made right. It returns errLost where one of those is not good after all.
func (c *collection) rebuild(ctx context.Context, wanted []bool, bar *progress, each func(blocks [][]byte, bytes int) error) error {
	codec, err := c.codec()
	if err != nil {
		return err
	}
	chosen := c.good()[:c.data]
	hashes := c.hashes()
	err = c.read(ctx, codec, chosen, bar, func(blocks [][]byte, bytes int) error {
		for _, i := range chosen {
			if len(blocks[i]) == 0 {
				return errLost
			}
		}
		if err := codec.ReconstructSome(blocks, wanted); err != nil {
			return err
		}
		parallel(len(wanted), func(i int) {
			if wanted[i] {
				hashes[i].Write(blocks[i])
			}
		})
		return each(blocks, bytes)
	})
	if err != nil {
		return err
	}
	for _, i := range chosen {
		if c.shards[i].state != good {
			return errLost
		}
	}
	for i := range wanted {
		if wanted[i] && sum(hashes[i].Sum(nil)) != c.sums[i] {
			return fmt.Errorf("shard %d as rebuilt has another checksum than recorded, although the shards that it was made of have theirs: "+
				"encode went wrong, or this machine is", i)
		}
	}
	return nil
}

// scan reads all shards and marks those that are not good. It returns an error if all are and the parity is wrong.
func (c *collection) scan(ctx context.Context, bar *progress) error {
	codec, err := c.codec()
	if err != nil {
		return err
	}
	consistent := true
	numbers := c.good()
	err = c.read(ctx, codec, numbers, bar, func(blocks [][]byte, _ int) error {
		for _, b := range blocks {
			if len(b) == 0 {
				return nil
			}
		}
		ok, err := codec.Verify(blocks)
		consistent = consistent && ok
		return err
	})
	if err == errLost {
		return nil
	}
	if err == nil && !consistent && len(c.good()) == c.set.shards() {
		err = errors.New("the checksums are right, but the parity is not that of the data: encode went wrong, or this machine is")
	}
	return err
}
