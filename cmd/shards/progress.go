package main

import (
	"io"
	"os"

	"github.com/cheggaaa/pb/v3"
	"github.com/mattn/go-isatty"
)

// A progress is a bar on a terminal. A nil one shows nothing.
type progress struct{ bar *pb.ProgressBar }

// newProgress returns nil where w is not a terminal: a file or a pipe gets no bar.
func newProgress(w io.Writer, what string, bytes int64) *progress {
	f, ok := w.(*os.File)
	if !ok || !isatty.IsTerminal(f.Fd()) {
		return nil
	}
	bar := pb.Full.New(0).SetTotal(bytes).SetWriter(f).Set(pb.Bytes, true).Set(pb.CleanOnFinish, true).Set("prefix", what)
	return &progress{bar.Start()}
}

func (p *progress) add(bytes int) {
	if p != nil {
		p.bar.Add(bytes)
	}
}

// end leaves an empty line.
func (p *progress) end() {
	if p != nil {
		p.bar.Finish()
	}
}
