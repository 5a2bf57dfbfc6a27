//go:build linux

// Command init is process 1 of the guest: it mounts the pseudo file systems, loads the kernel's modules if there are any,
// runs one program after the other, sends their output and exit statuses through the second serial port (see frame.go in
// the folder above), and powers the machine off.
//
// /modules holds the modules, which load in the order of their names. /t holds the programs, a folder each, by number:
// bin, the NUL-separated args and env, and the working folder cwd.
package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// A sender frames what is written to it.
type sender struct {
	port    *os.File
	program int
}

func (s *sender) Write(b []byte) (int, error) {
	if _, err := fmt.Fprintf(s.port, "o %d %d\n%s", s.program, len(b), b); err != nil {
		return 0, err
	}
	return len(b), nil
}

func main() {
	for _, m := range [][2]string{{"proc", "/proc"}, {"sysfs", "/sys"}, {"devtmpfs", "/dev"}, {"tmpfs", "/tmp"}} {
		os.MkdirAll(m[1], 0o755)
		if err := syscall.Mount(m[0], m[1], m[0], 0, ""); err != nil {
			complain("mount", m[1], err)
		}
	}
	modules, _ := filepath.Glob("/modules/*") // sorted
	for _, m := range modules {
		b, err := os.ReadFile(m)
		if err == nil {
			err = unix.InitModule(b, "")
		}
		if err != nil {
			complain(m, err)
		}
	}
	port, err := os.OpenFile("/dev/ttyS1", os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		complain(err)
	} else {
		raw(port)
		for i := 0; ; i++ {
			dir := "/t/" + strconv.Itoa(i)
			if _, err := os.Stat(dir); err != nil {
				break
			}
			status := run(dir, &sender{port, i})
			fmt.Fprintf(port, "x %d %d\n", i, status)
		}
		fmt.Fprintln(port, "end")
		const tcsbrk = 0x5409 // with 1: wait until all is sent
		syscall.Syscall(syscall.SYS_IOCTL, port.Fd(), tcsbrk, 1)
	}
	syscall.Sync()
	syscall.Reboot(syscall.LINUX_REBOOT_CMD_POWER_OFF)
	for {
		syscall.Pause()
	}
}

func complain(v ...any) { fmt.Fprintln(os.Stderr, append([]any{"init:"}, v...)...) }

// raw makes a serial port carry bytes as they are.
func raw(f *os.File) {
	var t syscall.Termios
	if _, _, e := syscall.Syscall(syscall.SYS_IOCTL, f.Fd(), syscall.TCGETS, uintptr(unsafe.Pointer(&t))); e != 0 {
		complain("termios:", e)
		return
	}
	const speed = 0x100f
	t.Iflag, t.Oflag, t.Lflag = 0, 0, 0
	t.Cflag = t.Cflag&^(syscall.CSIZE|syscall.PARENB|speed) | syscall.CS8 | syscall.CREAD | syscall.CLOCAL | syscall.B115200
	syscall.Syscall(syscall.SYS_IOCTL, f.Fd(), syscall.TCSETS, uintptr(unsafe.Pointer(&t)))
}

// run returns the exit status as a shell would.
func run(dir string, out *sender) int {
	cmd := exec.Command(dir+"/bin", fields(dir+"/args")...)
	cmd.Env = append([]string{"PATH=/:/sbin", "HOME=/tmp", "TMPDIR=/tmp", "GOTRACEBACK=all"}, fields(dir+"/env")...)
	cmd.Dir = dir + "/cwd"
	cmd.Stdout, cmd.Stderr = out, out
	cmd.WaitDelay = 10 * time.Second // for what it leaves running
	err := cmd.Run()
	exit, ok := errors.AsType[*exec.ExitError](err)
	switch {
	case err == nil || errors.Is(err, exec.ErrWaitDelay):
		return 0
	case !ok:
		fmt.Fprintln(out, "init:", err)
		return 127
	}
	if ws := exit.Sys().(syscall.WaitStatus); ws.Signaled() {
		fmt.Fprintln(out, "init:", err)
		return 128 + int(ws.Signal())
	}
	return exit.ExitCode()
}

func fields(name string) []string {
	b, err := os.ReadFile(name)
	if err != nil || len(b) == 0 {
		return nil
	}
	return strings.Split(string(bytes.TrimSuffix(b, []byte{0})), "\x00")
}
