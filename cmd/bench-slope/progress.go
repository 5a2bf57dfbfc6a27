package main

import (
	"fmt"
	"io"
	"os"
	"strings"
	"time"
)

// A progress is a line on a terminal that says what is being measured. A nil one says nothing.
type progress struct {
	w    io.Writer
	last time.Time
	wide int // of what stands there
}

// newProgress returns nil where w is not a terminal: a file or a pipe gets no such line.
func newProgress(w io.Writer) *progress {
	f, ok := w.(*os.File)
	if !ok {
		return nil
	}
	if info, err := f.Stat(); err != nil || info.Mode()&os.ModeCharDevice == 0 {
		return nil
	}
	return &progress{w: w}
}

// show is called often and writes seldom, so as not to disturb what is being measured.
func (p *progress) show(what string, done, of int) {
	if p == nil || time.Since(p.last) < 200*time.Millisecond {
		return
	}
	p.last = time.Now()
	text := fmt.Sprintf("%s %2d%%", what, 100*done/of)
	fmt.Fprintf(p.w, "\r%-*s", p.wide, text)
	p.wide = max(p.wide, len(text))
}

// clear leaves an empty line, with nothing but carriage returns and spaces: every terminal knows those.
func (p *progress) clear() {
	if p == nil || p.wide == 0 {
		return
	}
	fmt.Fprintf(p.w, "\r%s\r", strings.Repeat(" ", p.wide))
	p.wide = 0
}
