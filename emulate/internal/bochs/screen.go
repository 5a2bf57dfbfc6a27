//go:build linux

package bochs

import (
	"bytes"
	"io"
	"os"
	"regexp"
	"sync"
	"syscall"
	"unsafe"
)

// Bochs draws the guest's screen on a pseudo terminal and stops for ever once 4 KiB of that wait for a reader. So the
// screen is read, and dropped. Which one it is stands in what Bochs says.
var screenName = regexp.MustCompile(`connected to screen "(/dev/pts/[0-9]+)"`)

// wordsAndScreen keeps what Bochs says, and reads the screen as soon as that names it.
type wordsAndScreen struct {
	mu     sync.Mutex
	words  bytes.Buffer
	screen bool
}

func (w *wordsAndScreen) Write(b []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.words.Write(b)
	if !w.screen {
		if m := screenName.FindSubmatch(w.words.Bytes()); m != nil {
			w.screen = true
			go drain(string(m[1]))
		}
	}
	return len(b), nil
}

func (w *wordsAndScreen) last(lines int) string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return lastLines(w.words.Bytes(), lines)
}

// drain reads a terminal until its other end closes.
func drain(name string) {
	f, err := os.OpenFile(name, os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		return // it closed already
	}
	defer f.Close()
	var t syscall.Termios // neither lines nor echo
	if _, _, e := syscall.Syscall(syscall.SYS_IOCTL, f.Fd(), syscall.TCGETS, uintptr(unsafe.Pointer(&t))); e == 0 {
		t.Iflag, t.Oflag, t.Lflag = 0, 0, 0
		syscall.Syscall(syscall.SYS_IOCTL, f.Fd(), syscall.TCSETS, uintptr(unsafe.Pointer(&t)))
	}
	io.Copy(io.Discard, f)
}
