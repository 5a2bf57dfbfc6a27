//go:build linux && !purego

package instructions

import (
	"encoding/binary"
	"fmt"
	"syscall"
)

// ask is a system call that Linux does not have. The plugin writes the count, eight bytes, to the file descriptor that is
// its argument.
const ask = 0x7467_0001

func open() (func() uint64, error) {
	var pipe [2]int
	if err := syscall.Pipe2(pipe[:], syscall.O_NONBLOCK|syscall.O_CLOEXEC); err != nil {
		return nil, err
	}
	var answer [8]byte
	read := func() (uint64, error) {
		syscall.RawSyscall(ask, uintptr(pipe[1]), 0, 0)
		if n, err := syscall.Read(pipe[0], answer[:]); n != len(answer) {
			return 0, fmt.Errorf("nobody answers (%v)", err)
		}
		return binary.LittleEndian.Uint64(answer[:]), nil
	}
	if _, err := read(); err != nil {
		syscall.Close(pipe[0])
		syscall.Close(pipe[1])
		return nil, err
	}
	return func() uint64 {
		n, err := read()
		if err != nil {
			panic(err)
		}
		return n
	}, nil
}
