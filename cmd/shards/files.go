package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

const suffix = ".shard"

// shardPath returns the path of a shard file: base.NNN.shard.
func shardPath(base string, index int) string { return fmt.Sprintf("%s.%03d%s", base, index, suffix) }

// splitPath undoes shardPath.
func splitPath(path string) (base string, index int, ok bool) {
	rest, ok := strings.CutSuffix(path, suffix)
	dot := len(rest) - len(".000")
	if !ok || dot < 1 || os.IsPathSeparator(rest[dot-1]) {
		return "", 0, false
	}
	number, err := strconv.ParseUint(rest[dot+1:], 10, 16)
	base, index = rest[:dot], int(number)
	if err != nil || shardPath(base, index) != path {
		return "", 0, false
	}
	return base, index, true
}

// shardFiles returns the paths of the files base.NNN.shard that exist.
func shardFiles(base string) ([]string, error) {
	entries, err := os.ReadDir(filepath.Dir(base))
	var paths []string
	for _, entry := range entries {
		path := filepath.Join(filepath.Dir(base), entry.Name())
		if b, _, ok := splitPath(path); ok && b == filepath.Clean(base) {
			paths = append(paths, path)
		}
	}
	return paths, err
}

// expand returns the paths of the files that an argument stands for: a directory for all shard files in it, a shard file
// for itself, the name of a file that was encoded for its shard files.
func expand(arg string) ([]string, error) {
	info, err := os.Stat(arg)
	switch {
	case err == nil && info.IsDir():
		entries, err := os.ReadDir(arg)
		var paths []string
		for _, entry := range entries {
			if strings.HasSuffix(entry.Name(), suffix) {
				paths = append(paths, filepath.Join(arg, entry.Name()))
			}
		}
		if err == nil && len(paths) == 0 {
			err = fmt.Errorf("%s has no files *%s", arg, suffix)
		}
		return paths, err
	case err == nil && (strings.HasSuffix(arg, suffix) || hasMagic(arg)):
		return []string{filepath.Clean(arg)}, nil
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return nil, err
	}
	paths, dirErr := shardFiles(arg)
	switch {
	case len(paths) > 0:
		return paths, dirErr
	case err == nil:
		return nil, fmt.Errorf("%s is no shard file, and there is no %s.NNN%s", arg, arg, suffix)
	case strings.HasSuffix(arg, suffix):
		return nil, nil // a missing one of the files that were listed
	}
	return nil, fmt.Errorf("there is no %s.NNN%s", arg, suffix)
}

func hasMagic(path string) bool {
	f, err := open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	var b [len(magic)]byte
	n, _ := f.Read(b[:])
	return string(b[:n]) == magic
}

// open opens a file to read it, but not what would have to be waited for.
func open(path string) (*os.File, error) {
	if info, err := os.Stat(path); err != nil {
		return nil, err
	} else if !info.Mode().IsRegular() {
		return nil, &fs.PathError{Op: "open", Path: path, Err: errors.New("not a regular file")}
	}
	return os.Open(path)
}

// A state is what is known of a shard file.
type state int

const (
	good       state = iota // as far as it has been looked at
	damaged                 // not what encode wrote
	unreadable              // unknown, because it cannot be read
	foreign                 // whole or not, it does not belong here
)

// A shard is a shard file.
type shard struct {
	path  string
	index int // -1: unknown
	state state
	why   string // what is said of it
	set   *set   // nil if the header cannot be read
	file  *os.File
}

// openShard opens a shard file and looks at its header and length.
func openShard(path string) *shard {
	s := &shard{path: path, index: -1, why: "good"}
	if _, index, ok := splitPath(path); ok {
		s.index = index
	}
	file, err := open(path)
	if err != nil {
		s.fail(err)
		return s
	}
	s.file = file
	set, index, err := readHeader(file)
	if err != nil {
		s.fail(err)
		return s
	}
	s.set, s.index = set, index
	info, err := file.Stat()
	if err != nil {
		s.fail(err)
		return s
	}
	want := int64(set.headerSize()) + set.shardSize()
	if size := info.Size(); size < want {
		s.mark(damaged, "truncated: %d of %d bytes are left", size, want)
	} else if size > want {
		s.mark(damaged, "too long: %d bytes instead of %d", size, want)
	}
	return s
}

func (s *shard) mark(state state, format string, args ...any) {
	s.state, s.why = state, fmt.Sprintf(format, args...)
}

// fail notes an error of reading.
func (s *shard) fail(err error) {
	switch {
	case errors.Is(err, errHeader):
		s.mark(damaged, "%v", err)
	case errors.Is(err, errVersion):
		s.mark(foreign, "%v", err)
	default:
		if path, ok := errors.AsType[*fs.PathError](err); ok {
			err = path.Err // the path is said anyway
		}
		s.mark(unreadable, "cannot be read: %v", err)
	}
}

// A collection is the shard files that a command works on.
type collection struct {
	*set
	shards []*shard // by number; nil if it is missing
	others []*shard // without a place among them
}

// gather finds and opens shard files. The collection's set is that which most of them belong to.
func gather(args []string) (*collection, error) {
	var files []*shard
	c := &collection{}
	seen := make(map[string]bool)
	votes := make(map[sum]int)
	for _, arg := range args {
		paths, err := expand(arg)
		if err != nil {
			return nil, err
		}
		for _, path := range paths {
			if real, err := filepath.EvalSymlinks(path); err == nil {
				if seen[real] {
					continue
				}
				seen[real] = true
			}
			s := openShard(path)
			files = append(files, s)
			if s.set == nil {
				continue
			}
			if votes[s.set.id()]++; c.set == nil || votes[s.set.id()] > votes[c.set.id()] {
				c.set = s.set
			}
		}
	}
	if len(files) == 0 {
		return nil, fmt.Errorf("there is no %s", strings.Join(args, ", no "))
	}
	c.others = files
	if c.set == nil {
		return c, nil
	}
	c.place()
	return c, nil
}

// place sorts the files by number: those first that say themselves which shard they are, then those whose names do.
func (c *collection) place() {
	files := c.others
	c.shards, c.others = make([]*shard, c.set.shards()), nil
	id := c.id()
	for _, s := range files {
		if s.set == nil {
			continue
		}
		if s.set.id() != id {
			s.mark(foreign, "of another set: it is of %s, as encoded with %d+%d shards", s.set.name, s.set.data, s.set.parity)
			c.others = append(c.others, s)
		} else if other := c.shards[s.index]; other != nil {
			s.mark(foreign, "duplicate: %s has number %d too", other.path, s.index)
			c.others = append(c.others, s)
		} else {
			c.shards[s.index] = s
		}
	}
	for _, s := range files {
		if s.set != nil {
			continue
		}
		if s.state != foreign && s.index >= 0 && s.index < len(c.shards) && c.shards[s.index] == nil {
			c.shards[s.index] = s
		} else {
			c.others = append(c.others, s)
		}
	}
}

func (c *collection) close() {
	for _, s := range append(c.shards, c.others...) {
		if s != nil && s.file != nil {
			s.file.Close()
		}
	}
}

// check returns an error if there is no set, or not just one, or too few shards of it.
func (c *collection) check() error {
	if c.set == nil {
		s := c.others[0]
		return fmt.Errorf("there is no header that can be read; %s: %s", s.path, s.why)
	}
	for _, s := range c.others {
		if s.state == foreign {
			return fmt.Errorf("%s: %s; leave out what does not belong to the set", s.path, s.why)
		}
	}
	if n := len(c.good()); n < c.data {
		return fmt.Errorf("too few good shards: %d, and %d are needed%s", n, c.data, c.example())
	}
	return nil
}

// example says what is wrong with one of the shards.
func (c *collection) example() string {
	for _, s := range c.shards {
		if s != nil && s.state != good {
			return fmt.Sprintf(" (%s: %s)", s.path, s.why)
		}
	}
	return ""
}

// good returns the numbers of the shards that are good as far as is known.
func (c *collection) good() []int {
	var numbers []int
	for i, s := range c.shards {
		if s != nil && s.state == good {
			numbers = append(numbers, i)
		}
	}
	return numbers
}

// base returns the path that shardPath makes the shard files' names from: where they are and what they are called. Only
// where that does not end in their numbers it is the recorded name. A directory is taken instead of theirs unless it is "".
func (c *collection) base(dir string) (string, error) {
	base := ""
	for _, s := range c.shards {
		if s == nil || s.set == nil {
			continue
		}
		if base == "" {
			var ok bool
			if base, _, ok = splitPath(s.path); !ok {
				if base = filepath.Join(filepath.Dir(s.path), c.name); filepath.Base(base) != c.name || !filepath.IsLocal(c.name) {
					return "", fmt.Errorf("there can be no file %q here: rename the shard files", c.name)
				}
			}
		} else if dir == "" && filepath.Dir(s.path) != filepath.Dir(base) {
			return "", errors.New("the shard files are in several directories: say with -o where to write")
		}
	}
	if dir != "" {
		base = filepath.Join(dir, filepath.Base(base))
	}
	return base, nil
}

// uses reports whether a path leads to a good shard's file.
func (c *collection) uses(path string) bool {
	info, err := os.Stat(path)
	if err != nil {
		return false
	}
	for _, i := range c.good() {
		if used, err := c.shards[i].file.Stat(); err == nil && os.SameFile(info, used) {
			return true
		}
	}
	return false
}
