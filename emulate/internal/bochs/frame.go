//go:build linux

package bochs

import (
	"bytes"
	"fmt"
)

// What the guest's init writes to its second serial port: headers, each a line, and output between them.
//
//	o 0 17     17 bytes of program 0's output follow
//	x 0 1      program 0 ended with exit status 1
//	end        all have

// A decoder takes that apart again.
type decoder struct {
	output func(program int, b []byte)
	exit   func(program, status int)
	ended  bool

	buf     []byte
	program int
	left    int // bytes of output that are still to come
}

func (d *decoder) write(b []byte) error {
	d.buf = append(d.buf, b...)
	for len(d.buf) > 0 {
		if d.left > 0 {
			n := min(d.left, len(d.buf))
			d.output(d.program, d.buf[:n])
			d.buf, d.left = d.buf[n:], d.left-n
			continue
		}
		line, rest, ok := bytes.Cut(d.buf, []byte("\n"))
		if !ok {
			return nil
		}
		d.buf = rest
		var n int
		switch {
		case string(line) == "end":
			d.ended = true
		case scan(line, "o %d %d", &d.program, &d.left):
		case scan(line, "x %d %d", &d.program, &n):
			d.exit(d.program, n)
		default:
			return fmt.Errorf("the guest sends what it should not: %q", line)
		}
	}
	return nil
}

func scan(line []byte, format string, values ...any) bool {
	n, err := fmt.Sscanf(string(line), format, values...)
	return err == nil && n == len(values)
}
