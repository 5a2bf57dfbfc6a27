package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
)

// A batch is files that are written under temporary names and get their own when all of them are complete and on the disk.
// Whenever the process ends, each name has either what it had before or the whole new file.
type batch struct {
	files []*newFile
	dirs  []string // swept
}

// A newFile is a file of a batch.
type newFile struct {
	*os.File
	path    string // what it will be called
	replace bool   // whatever has that name
	renamed bool
}

// fault is called before each step that changes a file system. Tests have it fail, or kill the process.
var fault = func(step, path string) error { return nil }

// link is os.Link, or fails, in tests, as where there are no links.
var link = os.Link

func (f *newFile) Write(b []byte) (int, error) {
	if err := fault("write", f.path); err != nil {
		return 0, err
	}
	return f.File.Write(b)
}

func (f *newFile) WriteAt(b []byte, offset int64) (int, error) {
	if err := fault("write", f.path); err != nil {
		return 0, err
	}
	return f.File.WriteAt(b, offset)
}

func (f *newFile) Sync() error {
	if err := fault("sync", f.path); err != nil {
		return err
	}
	return f.File.Sync()
}

// existsError says that a file is not overwritten.
func existsError(path string) error { return fmt.Errorf("%s exists; --force replaces it", path) }

// create begins a file. Unless it is to replace one, there must be none of that name, now and at the end.
func (b *batch) create(path string, perm fs.FileMode, replace bool) (*newFile, error) {
	if replace {
		// A symbolic link stays one: what it leads to is replaced.
		if real, err := filepath.EvalSymlinks(path); err == nil {
			path = real
		}
	} else if _, err := os.Lstat(path); err == nil {
		return nil, existsError(path)
	} else if !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	dir := filepath.Dir(path)
	if !slices.Contains(b.dirs, dir) {
		sweep(dir)
		b.dirs = append(b.dirs, dir)
	}
	file, err := createTemporary(dir, perm)
	if err != nil {
		return nil, err
	}
	f := &newFile{File: file, path: path, replace: replace}
	b.files = append(b.files, f)
	return f, nil
}

// commit gives the files their names. If it fails, discard takes those away again that replace none.
func (b *batch) commit(ctx context.Context) error {
	for _, f := range b.files {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := f.Sync(); err != nil {
			return err
		}
	}
	for _, f := range b.files {
		if closeBeforeRename {
			if err := f.Close(); err != nil {
				return err
			}
		}
		if err := f.rename(); err != nil {
			return err
		}
	}
	for _, dir := range b.dirs {
		if err := fault("sync directory", dir); err != nil {
			return err
		}
		if err := syncDir(dir); err != nil {
			return err
		}
	}
	for _, f := range b.files {
		f.Close() // on the disk already
	}
	b.files = nil
	return nil
}

// rename gives a file its name.
func (f *newFile) rename() error {
	if !f.replace {
		// A link never replaces anything. Should the process end before the other name is gone, sweep removes that.
		if err := fault("link", f.path); err != nil {
			return err
		}
		err := link(f.Name(), f.path)
		if err == nil {
			f.renamed = true
			if err := fault("remove", f.Name()); err != nil {
				return err
			}
			return os.Remove(f.Name())
		}
		// There may be file systems without links.
		if _, err := os.Lstat(f.path); err == nil {
			return existsError(f.path)
		}
	}
	if err := fault("rename", f.path); err != nil {
		return err
	}
	err := os.Rename(f.Name(), f.path)
	f.renamed = err == nil
	return err
}

// discard removes what create began, unless commit has succeeded.
func (b *batch) discard() {
	for _, f := range b.files {
		f.Close()
		os.Remove(f.Name())
		if f.renamed && !f.replace {
			os.Remove(f.path)
		}
	}
	b.files = nil
}

var temporary = regexp.MustCompile(`^\.shards-[0-9a-f]{16}\.tmp$`)

// createTemporary creates a file that is locked: one that is not belongs to no process any more.
func createTemporary(dir string, perm fs.FileMode) (*os.File, error) {
	for {
		path := filepath.Join(dir, fmt.Sprintf(".shards-%016x.tmp", rand.Uint64()))
		if err := fault("create", path); err != nil {
			return nil, err
		}
		file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, perm)
		if errors.Is(err, fs.ErrExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		locked := tryLock(file)
		// Another process may have taken it for a stale one before it was locked.
		if _, err := os.Lstat(path); err == nil && locked != errBusy {
			return file, nil
		} else if err != nil && !errors.Is(err, fs.ErrNotExist) {
			file.Close()
			return nil, err
		}
		file.Close()
	}
}

// sweep removes temporary files that killed processes left. They are in nobody's way, so errors do not matter.
func sweep(dir string) {
	entries, _ := os.ReadDir(dir)
	for _, entry := range entries {
		if !temporary.MatchString(entry.Name()) || !entry.Type().IsRegular() {
			continue
		}
		file, err := os.Open(filepath.Join(dir, entry.Name()))
		if err != nil {
			continue
		}
		if tryLock(file) == nil {
			os.Remove(file.Name())
		}
		file.Close()
	}
}
