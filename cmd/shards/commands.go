package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"github.com/twogather/twogather/erasure"
)

// say prints a line.
func (s *session) say(format string, args ...any) {
	fmt.Fprintln(s.stdout, printable(fmt.Sprintf(format, args...)))
}

func (s *session) encode(words []string) error {
	path := words[0]
	in, err := open(path)
	if err != nil {
		return err
	}
	defer in.Close()
	info, err := in.Stat()
	if err != nil {
		return err
	}
	c := &set{
		data:   s.data,
		parity: s.parity,
		unit:   unit,
		size:   info.Size(),
		matrix: erasure.Matrix(s.matrix),
		mode:   info.Mode().Perm(),
		name:   filepath.Base(path),
	}
	switch {
	case c.parity < 1:
		return errors.New("at least one parity shard is needed")
	case !slices.Contains(matrices, c.matrix):
		return fmt.Errorf("unknown matrix %q; there are %s", s.matrix, matrixNames())
	case !validName(c.name) || c.size > maxSize:
		return fmt.Errorf("%s cannot be encoded: its name or size is too long", path)
	}
	codec, err := c.codec()
	if err != nil {
		return err
	}
	base := path
	if s.output != "" {
		base = filepath.Join(s.output, c.name)
	}
	files, err := s.beginShards(c, base)
	if err != nil {
		return err
	}
	defer files.discard()

	bar := newProgress(s.stderr, "encode", c.size)
	defer bar.end()
	if err := c.encodeFile(s.ctx, codec, in, files.files, bar); err != nil {
		return err
	}
	if err := unchanged(in, info); err != nil {
		return err
	}
	for i, f := range files.files {
		if _, err := f.WriteAt(c.header(i), 0); err != nil {
			return err
		}
	}
	if err := files.commit(s.ctx); err != nil {
		return err
	}
	bar.end()
	s.say("%s to %s: any %d of these %d give back %s", shardPath(base, 0), filepath.Base(shardPath(base, c.shards()-1)), c.data, c.shards(), path)
	return nil
}

// beginShards begins the files of all shards, behind their headers. Nothing of another set is to stay beside them.
func (s *session) beginShards(c *set, base string) (*batch, error) {
	there, err := shardFiles(base)
	if err != nil {
		return nil, err
	}
	for _, path := range there {
		if _, i, _ := splitPath(path); !s.force {
			return nil, existsError(path)
		} else if i >= c.shards() {
			return nil, fmt.Errorf("%s exists and is not one of the %d shards that would be replaced: remove it first", path, c.shards())
		}
	}
	files := &batch{}
	for i := range c.shards() {
		f, err := files.create(shardPath(base, i), c.mode&0o666, s.force)
		if err == nil {
			_, err = f.Seek(int64(c.headerSize()), io.SeekStart)
		}
		if err != nil {
			files.discard()
			return nil, err
		}
	}
	return files, nil
}

// encodeFile cuts what it reads into shards, writes them to the files, and notes their checksums.
func (s *set) encodeFile(ctx context.Context, codec *erasure.Codec, in io.Reader, files []*newFile, bar *progress) error {
	buffers, hashes := s.allocate(codec), s.hashes()
	errs := make([]error, len(files))
	blocks := make([][]byte, len(files))
	err := s.stripes(func(bytes, size int) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		for i := range blocks {
			blocks[i] = buffers[i][:size]
			if i >= s.data {
				continue
			}
			n, err := io.ReadFull(in, blocks[i][:min(bytes, size)])
			if err == io.EOF || err == io.ErrUnexpectedEOF {
				return errChanged
			} else if err != nil {
				return err
			}
			clear(blocks[i][n:])
			bytes -= n
			bar.add(n)
		}
		if err := codec.Encode(blocks); err != nil {
			return err
		}
		parallel(len(files), func(i int) {
			hashes[i].Write(blocks[i])
			_, errs[i] = files[i].Write(blocks[i])
		})
		return cmp.Or(errs...)
	})
	if err != nil {
		return err
	}
	s.sums = make([]sum, len(files))
	for i, h := range hashes {
		h.Sum(s.sums[i][:0])
	}
	return nil
}

var errChanged = errors.New("the file changed while it was read")

// unchanged returns an error if a file that was read to its end is no longer what it was before.
func unchanged(in *os.File, before os.FileInfo) error {
	now, err := in.Stat()
	if err != nil {
		return err
	}
	if now.Size() != before.Size() || !now.ModTime().Equal(before.ModTime()) {
		return errChanged
	}
	return nil
}

// scan reads all shards of a collection.
func (s *session) scan(c *collection) error {
	bar := newProgress(s.stderr, "verify", c.shardSize()*int64(len(c.good())))
	defer bar.end()
	return c.scan(s.ctx, bar)
}

func (s *session) verify(words []string) error {
	c, err := gather(words)
	if err != nil {
		return err
	}
	defer c.close()
	var wrong error
	if c.set != nil {
		if wrong = s.scan(c); errors.Is(wrong, context.Canceled) {
			return wrong
		}
	}
	base, err := c.base("")
	for i, f := range c.shards {
		switch {
		case f != nil:
			s.say("%s: %s", f.path, f.why)
		case err != nil:
			s.say("shard %d: missing", i)
		default:
			s.say("%s: missing", shardPath(base, i))
		}
	}
	for _, f := range c.others {
		s.say("%s: %s", f.path, f.why)
	}
	if err := c.check(); err != nil {
		return err
	}
	s.say("%d of %d shards are good, %d are needed", len(c.good()), c.set.shards(), c.data)
	if wrong == nil && len(c.good()) < c.set.shards() {
		return errRepairable
	}
	return wrong
}

func (s *session) repair(words []string) error {
	c, err := gather(words)
	if err != nil {
		return err
	}
	defer c.close()
	if err := c.check(); err != nil {
		return err
	}
	if err := s.scan(c); err != nil {
		return err
	}
	if err := c.check(); err != nil {
		return err
	}
	files := &batch{}
	defer files.discard()
	rebuilt, err := s.beginRepair(c, files)
	if err != nil {
		return err
	}
	if len(files.files) == 0 {
		s.say("all %d shards are good", c.set.shards())
		return nil
	}

	wanted := make([]bool, len(rebuilt))
	for i, f := range rebuilt {
		wanted[i] = f != nil
	}
	bar := newProgress(s.stderr, "repair", c.shardSize()*int64(c.data))
	defer bar.end()
	err = c.rebuild(s.ctx, wanted, bar, func(blocks [][]byte, _ int) error {
		errs := make([]error, len(blocks))
		parallel(len(blocks), func(i int) {
			if wanted[i] {
				_, errs[i] = rebuilt[i].Write(blocks[i])
			}
		})
		return cmp.Or(errs...)
	})
	if errors.Is(err, errLost) {
		return fmt.Errorf("shard files change while they are read%s", c.example())
	} else if err != nil {
		return err
	}
	if err := files.commit(s.ctx); err != nil {
		return err
	}
	bar.end()
	for _, f := range rebuilt {
		if f != nil {
			s.say("%s: rebuilt", f.path)
		}
	}
	return nil
}

// beginRepair begins the files of those shards that are not good, with their headers.
func (s *session) beginRepair(c *collection, files *batch) ([]*newFile, error) {
	rebuilt := make([]*newFile, len(c.shards))
	for i, old := range c.shards {
		var path string
		replace := s.force
		switch {
		case old == nil:
			base, err := c.base(s.output)
			if err != nil {
				return nil, err
			}
			if path = shardPath(base, i); c.uses(path) {
				return nil, fmt.Errorf("%s is another shard than its name says: rename it", path)
			}
		case old.state == good:
			continue
		case old.state == unreadable && !s.force:
			return nil, fmt.Errorf("%s: %s; --force replaces it", old.path, old.why)
		default:
			path, replace = old.path, true
		}
		f, err := files.create(path, c.mode&0o666, replace)
		if err != nil {
			return nil, err
		}
		if _, err := f.Write(c.header(i)); err != nil {
			return nil, err
		}
		rebuilt[i] = f
	}
	return rebuilt, nil
}

func (s *session) join(words []string) error {
	c, err := gather(words)
	if err != nil {
		return err
	}
	defer c.close()
	if err := c.check(); err != nil {
		return err
	}
	path := s.output
	if info, err := os.Stat(path); path == "" || err == nil && info.IsDir() {
		if path, err = c.base(s.output); err != nil {
			return err
		}
	}
	if c.uses(path) {
		return fmt.Errorf("%s is one of the shard files", path)
	}
	files := &batch{}
	defer files.discard()
	out, err := files.create(path, c.mode, s.force)
	if err != nil {
		return err
	}
	for {
		if err = s.joinInto(out, c); !errors.Is(err, errLost) {
			break
		}
		// Others may do; each time one less is good. What is written so far is written over.
		if err := c.check(); err != nil {
			return err
		}
		if _, err := out.Seek(0, io.SeekStart); err != nil {
			return err
		}
	}
	if err != nil {
		return err
	}
	if err := files.commit(s.ctx); err != nil {
		return err
	}
	s.say("%s: joined", path)
	for _, f := range c.shards {
		if f != nil && f.state != good {
			fmt.Fprintln(s.stderr, "shards:", printable(fmt.Sprintf("%s: %s; joined without it", f.path, f.why)))
		}
	}
	return nil
}

// joinInto writes the file that the shards are of.
func (s *session) joinInto(out io.Writer, c *collection) error {
	wanted := make([]bool, len(c.shards))
	for i, f := range c.shards[:c.data] {
		wanted[i] = f == nil || f.state != good
	}
	bar := newProgress(s.stderr, "join", c.shardSize()*int64(c.data))
	defer bar.end()
	return c.rebuild(s.ctx, wanted, bar, func(blocks [][]byte, bytes int) error {
		for _, b := range blocks[:c.data] {
			n, err := out.Write(b[:min(bytes, len(b))])
			if err != nil {
				return err
			}
			bytes -= n
		}
		return nil
	})
}
