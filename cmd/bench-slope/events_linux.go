package main

import (
	"encoding/binary"
	"fmt"
	"runtime"
	"unsafe"

	"golang.org/x/sys/unix"
)

// counters are the processor's, by way of the operating system's perf events.
type counters struct {
	group int // file descriptor of the leader, which counts instructions
	other int // of that which counts cycles
}

// openCounters returns counters for the calling thread, to which the goroutine keeps from then on, or why there are none.
// The methods of nil counters do nothing.
func openCounters() (*counters, error) {
	runtime.LockOSThread()
	open := func(config uint64, group int) (int, error) {
		attr := &unix.PerfEventAttr{
			Type:        unix.PERF_TYPE_HARDWARE,
			Config:      config,
			Size:        uint32(unsafe.Sizeof(unix.PerfEventAttr{})),
			Read_format: unix.PERF_FORMAT_GROUP,
			Bits:        unix.PerfBitExcludeKernel | unix.PerfBitExcludeHv,
		}
		if group < 0 {
			attr.Bits |= unix.PerfBitDisabled
		}
		fd, err := unix.PerfEventOpen(attr, 0, -1, group, unix.PERF_FLAG_FD_CLOEXEC)
		if err != nil {
			return -1, fmt.Errorf("the operating system does not let perf events be counted: %w", err)
		}
		return fd, nil
	}
	group, err := open(unix.PERF_COUNT_HW_INSTRUCTIONS, -1)
	if err != nil {
		return nil, err
	}
	other, err := open(unix.PERF_COUNT_HW_CPU_CYCLES, group)
	if err != nil {
		unix.Close(group)
		return nil, err
	}
	return &counters{group, other}, nil
}

func (c *counters) start() {
	if c != nil {
		unix.IoctlSetInt(c.group, unix.PERF_EVENT_IOC_RESET, unix.PERF_IOC_FLAG_GROUP)
		unix.IoctlSetInt(c.group, unix.PERF_EVENT_IOC_ENABLE, unix.PERF_IOC_FLAG_GROUP)
	}
}

func (c *counters) stop() events {
	if c == nil {
		return events{}
	}
	unix.IoctlSetInt(c.group, unix.PERF_EVENT_IOC_DISABLE, unix.PERF_IOC_FLAG_GROUP)
	var b [24]byte // how many, and each
	if n, err := unix.Read(c.group, b[:]); err != nil || n != len(b) {
		return events{}
	}
	return events{binary.NativeEndian.Uint64(b[8:]), binary.NativeEndian.Uint64(b[16:])}
}

func (c *counters) close() {
	if c != nil {
		unix.Close(c.group)
		unix.Close(c.other)
	}
}

// vectorLength is SVE's, in bits, or 0.
func vectorLength() int {
	const mask = 0xffff // of the bytes in what prctl returns
	n, err := unix.PrctlRetInt(unix.PR_SVE_GET_VL, 0, 0, 0, 0)
	if err != nil {
		return 0
	}
	return n & mask * 8
}
