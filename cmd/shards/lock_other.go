//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd)

package main

import (
	"errors"
	"os"
)

// closeBeforeRename: an open file can perhaps neither be renamed nor removed.
const closeBeforeRename = true

// errBusy says that another process has locked a file.
var errBusy = errors.New("locked")

// tryLock fails, so that what may be another process's stays.
func tryLock(f *os.File) error { return errors.ErrUnsupported }

// syncDir does nothing: directories cannot be synced everywhere.
func syncDir(dir string) error { return nil }
