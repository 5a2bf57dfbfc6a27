//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package main

import (
	"errors"
	"os"
	"syscall"
)

// closeBeforeRename: an open file can be renamed.
const closeBeforeRename = false

// errBusy says that another process has locked a file.
const errBusy = syscall.EWOULDBLOCK

// tryLock locks a file until it is closed or the process ends.
func tryLock(f *os.File) error { return syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) }

// syncDir has a directory's changes written to the disk.
func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer d.Close()
	if err := d.Sync(); err != nil && !errors.Is(err, syscall.EINVAL) { // EINVAL: the file system has no such thing
		return err
	}
	return nil
}
