package erasure

import (
	"errors"
	"fmt"
	"io"
)

// A Stream does a codec's work on readers and writers, one for each shard, in bounded memory: a block of each shard. Its
// methods are named as those of github.com/klauspost/reedsolomon's StreamEncoder. A Stream may be used by one goroutine
// at a time.
//
// An error of a reader or writer is a [StreamReadError] or [StreamWriteError] that says which. What was written until
// then stays written.
type Stream struct {
	Codec *Codec // must be set

	// BlockSize is how many bytes of each shard are in memory at a time; 0 or less stands for 256 KiB.
	BlockSize int

	// Progress, unless it is nil, is called after each block with the number of bytes done so far: of each shard, or of the
	// data in Split and Join. An error that it returns ends the work and is returned, so a context is obeyed by
	// returning its Err.
	Progress func(done int64) error
}

// A StreamReadError is an error of a reader, or one that says that it has less than the others.
type StreamReadError struct {
	Err    error
	Stream int // its number in the argument
}

func (e StreamReadError) Error() string {
	return fmt.Sprintf("erasure: reading stream %d: %v", e.Stream, e.Err)
}

func (e StreamReadError) Unwrap() error { return e.Err }

// A StreamWriteError is an error of a writer.
type StreamWriteError struct {
	Err    error
	Stream int // its number in the argument
}

func (e StreamWriteError) Error() string {
	return fmt.Sprintf("erasure: writing stream %d: %v", e.Stream, e.Err)
}

func (e StreamWriteError) Unwrap() error { return e.Err }

// Encode reads the data shards to their ends and writes the parity shards. All readers must have equally many bytes.
func (s *Stream) Encode(data []io.Reader, parity []io.Writer) error {
	c := s.Codec
	if err := checkStreams(data, c.data); err != nil {
		return err
	}
	if err := checkStreams(parity, c.parity); err != nil {
		return err
	}
	shards := c.AllocAligned(s.blockSize())
	return s.blocks(data, shards[:c.data], func(sources [][]byte) error {
		outputs := partsOf(new([][]byte), shards[c.data:], 0, len(sources[0]))
		c.encode(c.tables, outputs, sources)
		return write(parity, outputs)
	})
}

// errInconsistent ends the reading of shards that are.
var errInconsistent = errors.New("inconsistent")

// Verify reads all shards and reports whether the parity is that of the data. It stops at the first block where it is not.
func (s *Stream) Verify(shards []io.Reader) (bool, error) {
	c := s.Codec
	if err := checkStreams(shards, c.TotalShards()); err != nil {
		return false, err
	}
	err := s.blocks(shards, c.AllocAligned(s.blockSize()), func(blocks [][]byte) error {
		ok, err := c.Verify(blocks)
		if err == nil && !ok {
			err = errInconsistent
		}
		return err
	})
	if err == errInconsistent {
		return false, nil
	}
	return err == nil, err
}

// Reconstruct rebuilds shards: those that have a writer in fill. valid has a reader for each shard that is there, and nil
// for the others. Of those it reads only as many as it needs, the first ones.
func (s *Stream) Reconstruct(valid []io.Reader, fill []io.Writer) error {
	c := s.Codec
	if err := checkNumber(len(valid), c.TotalShards()); err != nil {
		return err
	}
	if err := checkNumber(len(fill), c.TotalShards()); err != nil {
		return err
	}
	var p pattern
	for i := range valid {
		switch {
		case valid[i] != nil && fill[i] != nil:
			return fmt.Errorf("erasure: shard %d: %w", i, ErrReconstructMismatch)
		case valid[i] != nil:
			p.left.add(i)
		case fill[i] != nil:
			p.wanted.add(i)
		}
	}
	d, err := c.decoder(p)
	if err != nil || len(d.outputs) == 0 {
		return err
	}
	needed := make([]io.Reader, len(valid))
	for _, i := range d.inputs {
		needed[i] = valid[i]
	}
	shards := c.AllocAligned(s.blockSize())
	return s.blocks(needed, shards, func(blocks [][]byte) error {
		rebuilt := make([][]byte, len(fill))
		for _, i := range d.outputs {
			rebuilt[i] = shards[i][:len(blocks[d.inputs[0]])]
		}
		c.encode(d.tables, pick(nil, rebuilt, d.outputs), pick(nil, blocks, d.inputs))
		return write(fill, rebuilt)
	})
}

// Split writes size bytes of data to the data shards, one shard after another, with zeros after the last byte.
func (s *Stream) Split(data io.Reader, dst []io.Writer, size int64) error {
	if err := checkStreams(dst, s.Codec.data); err != nil {
		return err
	}
	if size <= 0 {
		return fmt.Errorf("erasure: %d bytes to split: %w", size, ErrShortData)
	}
	shardSize := (size-1)/int64(len(dst)) + 1
	p := progress{s, 0}
	for i, w := range dst {
		w = numberedWriter{w, i}
		n := min(shardSize, size-p.done)
		switch _, err := io.CopyN(io.MultiWriter(w, &p), data, n); err {
		case nil:
		case io.EOF:
			return fmt.Errorf("erasure: %d bytes of %d to split: %w", p.done, size, ErrShortData)
		default:
			return err
		}
		if _, err := io.CopyN(w, zeros{}, shardSize-n); err != nil {
			return err
		}
	}
	return nil
}

// Join writes the first outSize bytes of the data shards to dst: what was split into them, without the zeros. It reads only
// as many shards as it needs, but if there are several, to their ends: one that was cut off would shift what follows.
func (s *Stream) Join(dst io.Writer, shards []io.Reader, outSize int64) error {
	if len(shards) > s.Codec.data {
		shards = shards[:s.Codec.data]
	}
	if err := checkStreams(shards, s.Codec.data); err != nil {
		return err
	}
	if outSize < 0 {
		return fmt.Errorf("erasure: %d bytes to join: %w", outSize, ErrInvalidInput)
	}
	p := progress{s, 0}
	var size int64 // of the first shard
	for i, r := range shards {
		if p.done == outSize {
			break
		}
		r = numberedReader{r, i}
		n, err := io.CopyN(io.MultiWriter(dst, &p), r, outSize-p.done)
		if err == nil && i > 0 {
			var more int64
			more, err = io.CopyN(io.Discard, r, size+1-n)
			n += more
		}
		switch {
		case err != nil && err != io.EOF:
			return err
		case i == 0:
			size = n
		case n < size:
			return shorterError(i, 0, n)
		case n > size:
			return shorterError(0, i, size)
		}
	}
	if p.done < outSize {
		return fmt.Errorf("erasure: %d bytes in the data shards, %d to join: %w", p.done, outSize, ErrShortData)
	}
	return nil
}

func (s *Stream) blockSize() int {
	if s.BlockSize > 0 {
		return s.BlockSize
	}
	return 256 << 10
}

// progress counts what is written to it, and tells.
type progress struct {
	*Stream
	done int64
}

func (p *progress) Write(b []byte) (int, error) {
	if err := p.add(len(b)); err != nil {
		return 0, err
	}
	return len(b), nil
}

func (p *progress) add(n int) error {
	if p.done += int64(n); p.Progress == nil {
		return nil
	}
	return p.Progress(p.done)
}

// blocks reads a block of each stream into the buffer with its number, calls f with what it read, and so on until all
// streams have ended. Streams that are nil have no block.
func (s *Stream) blocks(streams []io.Reader, buffers [][]byte, f func(blocks [][]byte) error) error {
	blocks := make([][]byte, len(streams))
	for p := (progress{s, 0}); ; {
		first := -1
		for i, r := range streams {
			if r == nil {
				continue
			}
			n, err := io.ReadFull(numberedReader{r, i}, buffers[i])
			if err != nil && err != io.EOF && err != io.ErrUnexpectedEOF {
				return err
			}
			blocks[i] = buffers[i][:n]
			if first < 0 {
				first = i
			}
			if len(blocks[first]) != n {
				short, long := first, i
				if len(blocks[short]) > len(blocks[long]) {
					short, long = long, short
				}
				return shorterError(short, long, p.done+int64(len(blocks[short])))
			}
		}
		size := len(blocks[first])
		if size == 0 && p.done == 0 {
			return fmt.Errorf("erasure: all streams are empty: %w", ErrShardNoData)
		}
		if size == 0 {
			return nil
		}
		if err := f(blocks); err != nil {
			return err
		}
		if err := p.add(size); err != nil {
			return err
		}
	}
}

// shorterError says that a stream ended after so many bytes, before another one.
func shorterError(short, long int, bytes int64) error {
	return StreamReadError{fmt.Errorf("it has %d bytes, and stream %d has more: %w", bytes, long, ErrShardSize), short}
}

// write writes a block to each of the streams that have one.
func write(streams []io.Writer, blocks [][]byte) error {
	for i, b := range blocks {
		if len(b) > 0 {
			if _, err := (numberedWriter{streams[i], i}).Write(b); err != nil {
				return err
			}
		}
	}
	return nil
}

// checkStreams checks that there are so many streams, none of them nil.
func checkStreams[T any](streams []T, want int) error {
	if err := checkNumber(len(streams), want); err != nil {
		return err
	}
	for i, s := range streams {
		if any(s) == nil {
			return fmt.Errorf("erasure: stream %d is nil: %w", i, ErrInvalidInput)
		}
	}
	return nil
}

// A numberedReader says in its errors, but for io.EOF, which stream it is. So io.ReadFull's io.ErrUnexpectedEOF, which
// only means that the stream ended, is never that of a stream that was cut off.
type numberedReader struct {
	io.Reader
	stream int
}

func (r numberedReader) Read(b []byte) (int, error) {
	n, err := r.Reader.Read(b)
	if err != nil && err != io.EOF {
		err = StreamReadError{err, r.stream}
	}
	return n, err
}

// A numberedWriter says in its errors which stream it is.
type numberedWriter struct {
	io.Writer
	stream int
}

func (w numberedWriter) Write(b []byte) (int, error) {
	if err := writeFull(w.Writer, b); err != nil {
		return 0, StreamWriteError{err, w.stream}
	}
	return len(b), nil
}

// writeFull has w write all of b.
func writeFull(w io.Writer, b []byte) error {
	n, err := w.Write(b)
	if err == nil && n < len(b) {
		err = io.ErrShortWrite
	}
	return err
}

// zeros is a stream of zeros.
type zeros struct{}

func (zeros) Read(b []byte) (int, error) {
	clear(b)
	return len(b), nil
}
