package erasure_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/twogather/twogather/erasure"
	"github.com/twogather/twogather/internal/testkit"
)

// readers returns a reader for each shard that is not nil.
func readers(shards [][]byte) []io.Reader {
	r := make([]io.Reader, len(shards))
	for i, s := range shards {
		if s != nil {
			r[i] = bytes.NewReader(s)
		}
	}
	return r
}

// writers returns n writers, and the buffers that they write to.
func writers(n int) ([]io.Writer, []*bytes.Buffer) {
	w, b := make([]io.Writer, n), make([]*bytes.Buffer, n)
	for i := range b {
		b[i] = new(bytes.Buffer)
		w[i] = b[i]
	}
	return w, b
}

func contents(buffers []*bytes.Buffer) [][]byte {
	c := make([][]byte, len(buffers))
	for i, b := range buffers {
		c[i] = bytes.Clone(b.Bytes())
	}
	return c
}

// Every method on sizes around the block's, with readers that return as they like.
func TestStream(t *testing.T) {
	const k, p = 4, 3
	c := newCodec(t, k, p)
	for _, size := range []int{1, 2, 99, 100, 101, 200, 999} {
		for name, wrap := range map[string]func(r io.Reader) io.Reader{
			"plain":      func(r io.Reader) io.Reader { return r },
			"one byte":   iotest.OneByteReader,
			"half":       iotest.HalfReader,
			"early EOF":  iotest.DataErrReader,
			"only a bit": func(r io.Reader) io.Reader { return struct{ io.Reader }{r} },
		} {
			wrapped := func(shards [][]byte) []io.Reader {
				all := readers(shards)
				for i, r := range all {
					if r != nil {
						all[i] = wrap(r)
					}
				}
				return all
			}
			var steps []int64
			s := &erasure.Stream{Codec: c, BlockSize: 100, Progress: func(done int64) error {
				steps = append(steps, done)
				return nil
			}}
			progressed := func(total int) {
				t.Helper()
				if !slices.IsSorted(steps) || len(steps) == 0 || steps[len(steps)-1] != int64(total) {
					t.Fatalf("%s, %d bytes: progress %v", name, total, steps)
				}
				steps = nil
			}
			want := encoded(t, erasure.Backblaze, k, p, size)
			w, parity := writers(p)
			if err := s.Encode(wrapped(want[:k]), w); err != nil || !equal(contents(parity), want[k:]) {
				t.Fatalf("%s, %d bytes: Encode: %v", name, size, err)
			}
			if progressed(size); size == 999 && name == "plain" {
				if _ = s.Encode(readers(want[:k]), w); !slices.Equal(steps, []int64{100, 200, 300, 400, 500, 600, 700, 800, 900, 999}) {
					t.Error(steps)
				}
				steps = nil
			}
			if ok, err := s.Verify(wrapped(want)); !ok || err != nil {
				t.Fatalf("%s, %d bytes: Verify: %v, %v", name, size, ok, err)
			}
			progressed(size)
			for i := range want {
				bad := clone(want)
				bad[i][size*i/(k+p)] ^= 1
				if ok, err := s.Verify(wrapped(bad)); ok || err != nil {
					t.Fatalf("%s, %d bytes: Verify, with shard %d wrong: %v, %v", name, size, i, ok, err)
				}
			}
			for lost := range subsets(k+p, p) {
				fill, buffers := writers(k + p)
				for i := range fill {
					if !slices.Contains(lost, i) || i == lost[1] { // lost[1] is not wanted
						fill[i] = nil
					}
				}
				steps = nil
				if err := s.Reconstruct(wrapped(without(want, lost...)), fill); err != nil {
					t.Fatal(err)
				}
				progressed(size)
				for i, b := range contents(buffers) {
					if fill[i] != nil && !bytes.Equal(b, want[i]) || fill[i] == nil && len(b) > 0 {
						t.Fatalf("%s, %d bytes, lost %v: shard %d is wrong", name, size, lost, i)
					}
				}
			}

			data := testkit.Random("stream", k*size-size/2)
			w, parts := writers(k)
			if err := s.Split(wrap(bytes.NewReader(append(data[:len(data):len(data)], 1, 2, 3))), w, int64(len(data))); err != nil {
				t.Fatal(err)
			}
			progressed(len(data))
			split, err := c.Split(bytes.Clone(data))
			if err != nil || !equal(contents(parts), split[:k]) {
				t.Fatalf("%s, %d bytes: Split", name, len(data))
			}
			var joined bytes.Buffer
			if err := s.Join(&joined, wrapped(contents(parts)), int64(len(data))); err != nil || !bytes.Equal(joined.Bytes(), data) {
				t.Fatalf("%s, %d bytes: Join: %v", name, len(data), err)
			}
			progressed(len(data))
		}
	}
}

// Only shards that are needed are read.
func TestStreamReadsWhatItNeeds(t *testing.T) {
	c := newCodec(t, 3, 3)
	want := encoded(t, erasure.Backblaze, 3, 3, 1000)
	valid := readers(without(want, 1))
	valid[4], valid[5] = iotest.ErrReader(errors.New("read")), iotest.ErrReader(errors.New("read"))
	fill, buffers := writers(6)
	for i := range fill {
		if i != 1 {
			fill[i] = nil
		}
	}
	if err := (&erasure.Stream{Codec: c}).Reconstruct(valid, fill); err != nil || !bytes.Equal(buffers[1].Bytes(), want[1]) {
		t.Error(err)
	}
	one := readers(want[:3])
	one[1] = iotest.ErrReader(errors.New("read"))
	if err := (&erasure.Stream{Codec: c}).Join(io.Discard, one, 1000); err != nil {
		t.Error(err)
	}
}

func TestStreamErrors(t *testing.T) {
	const k, p, size = 3, 2, 250
	c := newCodec(t, k, p)
	s := &erasure.Stream{Codec: c, BlockSize: 100}
	want := encoded(t, erasure.Backblaze, k, p, size)
	broken := errors.New("broken")
	w, buffers := writers(k + p)
	verify := func(r []io.Reader) error { _, err := s.Verify(r); return err }

	with := func(i int, r io.Reader, lost ...int) []io.Reader {
		all := readers(without(want, lost...))
		all[i] = r
		return all
	}
	// A shard that was cut off is not one that ended.
	cut := func(i int) []io.Reader {
		return with(i, io.MultiReader(bytes.NewReader(want[i][:150]), iotest.ErrReader(io.ErrUnexpectedEOF)))
	}
	fill := []io.Writer{nil, w[1], nil, nil, nil}
	for what, x := range map[string]struct {
		err, want error
		stream    int // that failed, or -1
	}{
		"Encode, too few":       {s.Encode(readers(want[:2]), w[k:]), erasure.ErrTooFewShards, -1},
		"Encode, too many":      {s.Encode(readers(want), w[k:]), erasure.ErrInvalidInput, -1},
		"Encode, nil":           {s.Encode(with(1, nil)[:k], w[k:]), erasure.ErrInvalidInput, -1},
		"Encode, no parity":     {s.Encode(readers(want[:k]), nil), erasure.ErrTooFewShards, -1},
		"Encode, nil parity":    {s.Encode(readers(want[:k]), make([]io.Writer, p)), erasure.ErrInvalidInput, -1},
		"Encode, empty":         {s.Encode(readers([][]byte{{}, {}, {}}), w[k:]), erasure.ErrShardNoData, -1},
		"Encode, shorter":       {s.Encode(with(1, bytes.NewReader(want[1][:150]))[:k], w[k:]), erasure.ErrShardSize, 1},
		"Encode, first shorter": {s.Encode(with(0, bytes.NewReader(want[0][:200]))[:k], w[k:]), erasure.ErrShardSize, 0},
		"Encode, broken":        {s.Encode(with(2, iotest.ErrReader(broken))[:k], w[k:]), broken, 2},
		"Encode, cut off":       {s.Encode(cut(1)[:k], w[k:]), io.ErrUnexpectedEOF, 1},
		"Verify, too few":       {verify(readers(want[:4])), erasure.ErrTooFewShards, -1},
		"Verify, nil":           {verify(with(4, nil)), erasure.ErrInvalidInput, -1},
		"Verify, empty":         {verify(readers([][]byte{{}, {}, {}, {}, {}})), erasure.ErrShardNoData, -1},
		"Verify, shorter":       {verify(with(4, bytes.NewReader(want[4][:249]))), erasure.ErrShardSize, 4},
		"Verify, cut off":       {verify(cut(4)), io.ErrUnexpectedEOF, 4},
		"Verify, broken":        {verify(with(3, iotest.ErrReader(broken))), broken, 3},
		"Reconstruct, too few":  {s.Reconstruct(readers(want[:4]), w), erasure.ErrTooFewShards, -1},
		"Reconstruct, few fill": {s.Reconstruct(readers(want), w[:4]), erasure.ErrTooFewShards, -1},
		"Reconstruct, both":     {s.Reconstruct(readers(want), w), erasure.ErrReconstructMismatch, -1},
		"Reconstruct, lost":     {s.Reconstruct(readers(without(want, 0, 1, 2)), fill), erasure.ErrTooFewShards, -1},
		"Reconstruct, empty":    {s.Reconstruct(readers([][]byte{{}, nil, {}, {}, {}}), fill), erasure.ErrShardNoData, -1},
		"Reconstruct, shorter":  {s.Reconstruct(with(2, bytes.NewReader(want[2][:200]), 1), fill), erasure.ErrShardSize, 2},
		"Reconstruct, cut off":  {s.Reconstruct(without(cut(3), 1), fill), io.ErrUnexpectedEOF, 3},
		"Reconstruct, broken":   {s.Reconstruct(with(2, iotest.ErrReader(broken), 1), fill), broken, 2},
		"Split, nothing":        {s.Split(strings.NewReader("abc"), w[:k], 0), erasure.ErrShortData, -1},
		"Split, too few":        {s.Split(strings.NewReader("abc"), w[:2], 3), erasure.ErrTooFewShards, -1},
		"Split, short":          {s.Split(strings.NewReader("abc"), w[:k], 4), erasure.ErrShortData, -1},
		"Split, broken":         {s.Split(iotest.ErrReader(broken), w[:k], 4), broken, -1},
		"Join, too few":         {s.Join(io.Discard, readers(want[:2]), 1), erasure.ErrTooFewShards, -1},
		"Join, nil":             {s.Join(io.Discard, with(1, nil), 1), erasure.ErrInvalidInput, -1},
		"Join, negative":        {s.Join(io.Discard, readers(want), -1), erasure.ErrInvalidInput, -1},
		"Join, short":           {s.Join(io.Discard, readers(want), k*size+1), erasure.ErrShortData, -1},
		"Join, first shorter":   {s.Join(io.Discard, with(0, bytes.NewReader(want[0][:200])), k*size-60), erasure.ErrShardSize, 0},
		"Join, shorter":         {s.Join(io.Discard, with(1, bytes.NewReader(want[1][:200])), k*size-60), erasure.ErrShardSize, 1},
		"Join, last shorter":    {s.Join(io.Discard, with(2, bytes.NewReader(want[2][:200])), k*size), erasure.ErrShardSize, 2},
		"Join, little":          {s.Join(io.Discard, with(0, bytes.NewReader(want[0][:200])), 240), erasure.ErrShardSize, 0},
		"Join, first longer":    {s.Join(io.Discard, with(0, bytes.NewReader(append(bytes.Clone(want[0]), 1))), size+2), erasure.ErrShardSize, 1},
		"Join, cut off":         {s.Join(io.Discard, cut(1), size+150), io.ErrUnexpectedEOF, 1},
		"Join, empty":           {s.Join(io.Discard, with(0, bytes.NewReader(nil)), 1), erasure.ErrShardSize, 0},
		"Join, broken":          {s.Join(io.Discard, with(1, iotest.ErrReader(broken)), k*size), broken, 1},
	} {
		mustBe(t, x.err, x.want, what)
		var read erasure.StreamReadError
		if errors.As(x.err, &read) != (x.stream >= 0) || x.stream >= 0 && read.Stream != x.stream {
			t.Errorf("%s: %v; want stream %d", what, x.err, x.stream)
		}
	}
	for _, b := range buffers {
		b.Reset()
	}

	// Writers that fail, or take less and say nothing.
	for what, x := range map[string]struct {
		w    io.Writer
		want error
	}{"broken": {brokenWriter{broken}, broken}, "short": {limited{1}, io.ErrShortWrite}} {
		for name, err := range map[string]error{
			"Encode":      s.Encode(readers(want[:k]), []io.Writer{w[0], x.w}),
			"Reconstruct": s.Reconstruct(readers(without(want, 1)), []io.Writer{nil, x.w, nil, nil, nil}),
			"Split":       s.Split(bytes.NewReader(want[0]), []io.Writer{w[0], x.w, w[2]}, size),
		} {
			var written erasure.StreamWriteError
			if !errors.As(err, &written) || written.Stream != 1 || !errors.Is(err, x.want) {
				t.Errorf("%s, %s: %v", name, what, err)
			}
		}
		mustBe(t, s.Join(x.w, readers(want), size), x.want, "Join, "+what)
	}

	// A cancelled context ends the work at the next block.
	ctx, cancel := context.WithCancel(context.Background())
	s.Progress = func(done int64) error {
		if done >= 200 {
			cancel()
		}
		return ctx.Err()
	}
	w, buffers = writers(p)
	mustBe(t, s.Encode(readers(want[:k]), w), context.Canceled, "Encode")
	if n := buffers[0].Len(); n != 200 {
		t.Errorf("%d bytes written after the context was cancelled at 200", n)
	}
	for what, err := range map[string]error{
		"Verify":      verify(readers(want)),
		"Reconstruct": s.Reconstruct(readers(without(want, 1)), []io.Writer{nil, io.Discard, nil, nil, nil}),
		"Split":       s.Split(bytes.NewReader(want[0]), []io.Writer{io.Discard, io.Discard, io.Discard}, size),
		"Join":        s.Join(io.Discard, readers(want), size),
	} {
		mustBe(t, err, context.Canceled, what)
	}
}

type brokenWriter struct{ err error }

func (w brokenWriter) Write([]byte) (int, error) { return 0, w.err }

// A stream needs memory for a block of each shard, however long they are.
func TestStreamMemory(t *testing.T) {
	c := newCodec(t, 4, 2, erasure.WithConcurrency(1))
	s := &erasure.Stream{Codec: c, BlockSize: 1000}
	encode := func(size int64) {
		data := make([]io.Reader, 4)
		for i := range data {
			data[i] = io.LimitReader(ones{}, size)
		}
		if err := s.Encode(data, []io.Writer{io.Discard, io.Discard}); err != nil {
			t.Fatal(err)
		}
	}
	allocated := func(size int64) uint64 {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		encode(size)
		runtime.ReadMemStats(&after)
		return after.TotalAlloc - before.TotalAlloc
	}
	encode(1000)
	if short, long := allocated(1000), allocated(10_000_000); long > short+2_000_000 {
		t.Errorf("%d bytes of memory for shards of 1,000 bytes, %d for 10,000,000", short, long)
	}
}

type ones struct{}

func (ones) Read(b []byte) (int, error) {
	for i := range b {
		b[i] = 1
	}
	return len(b), nil
}
