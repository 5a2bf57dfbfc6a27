//go:build unix

package testkit

import (
	"testing"

	"golang.org/x/sys/unix"
)

// GuardPages tells whether Guarded has pages that fault, and Inaccessible works.
const GuardPages = true

// Guarded returns memory of at least n bytes that begins and ends at a page's edge. To touch the byte before it or
// the byte after it is a fault. It lives as long as the test.
func Guarded(t testing.TB, n int) []byte {
	t.Helper()
	page := unix.Getpagesize()
	n = (n + page - 1) / page * page
	all, err := unix.Mmap(-1, 0, n+2*page, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|unix.MAP_PRIVATE)
	if err != nil {
		t.Fatal("mmap:", err)
	}
	t.Cleanup(func() {
		if err := unix.Munmap(all); err != nil {
			t.Error("munmap:", err)
		}
	})
	for _, guard := range [][]byte{all[:page], all[page+n:]} {
		if err := unix.Mprotect(guard, unix.PROT_NONE); err != nil {
			t.Fatal("mprotect:", err)
		}
	}
	return all[page : page+n : page+n]
}

// Inaccessible makes whole pages of guarded memory fault while f runs.
func Inaccessible(t testing.TB, pages []byte, f func()) {
	t.Helper()
	if err := unix.Mprotect(pages, unix.PROT_NONE); err != nil {
		t.Fatal("mprotect:", err)
	}
	defer func() {
		if err := unix.Mprotect(pages, unix.PROT_READ|unix.PROT_WRITE); err != nil {
			panic(err) // what follows would fault
		}
	}()
	f()
}
