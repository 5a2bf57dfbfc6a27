package main

import (
	"strings"

	"github.com/twogather/twogather/modes"
)

// macName is what libgcrypt calls a cipher's CMAC.
func macName(cipher string) string { return "CMAC_" + cipher }

func macNames() string {
	var names []string
	for _, c := range cipherTable {
		names = append(names, strings.ToLower(macName(c.name)))
	}
	return strings.Join(names, ", ")
}

// runMAC looks at all of its words before it measures anything.
func runMAC(s *session, words []string) error {
	var ciphers []string
	for _, w := range words {
		c, ok := strings.CutPrefix(strings.ReplaceAll(strings.ToUpper(w), "-", "_"), macName(""))
		if !ok {
			return usagef("unknown MAC %q; the MACs are %s", w, macNames())
		}
		ciphers = append(ciphers, c)
	}
	algorithms, err := findCiphers(ciphers)
	if err != nil {
		return usagef("unknown MAC %q; the MACs are %s", strings.Join(words, " "), macNames())
	}
	jobs, err := s.cipherJobs(algorithms)
	if err != nil {
		return err
	}
	if s.count {
		return usagef("mac counts no instructions")
	}
	e, err := s.engine()
	if err != nil {
		return err
	}
	r := s.reporter("mac", "MAC")
	r.section()
	for _, j := range jobs {
		block, err := s.block(j)
		if err != nil {
			return err
		}
		h, err := modes.NewCMAC(block)
		if err != nil {
			return err
		}
		buf := newBuffer(maxSize, s.unaligned)
		sum := make([]byte, 0, h.Size())
		label := macName(j.algorithm.label(s.keyBits))
		s.notef("%s: kernels %s", label, strings.Join(j.names, " "))
		r.begin(label, j.choice)
		e.tell = func(done, of int) { s.progress.show(label, done, of) }
		f := e.figure(func(n int) {
			h.Reset()
			h.Write(buf[:n])
			h.Sum(sum)
		})
		s.progress.clear()
		r.row(label, f)
		s.notef("%s: %s", label, f.background())
		r.end()
	}
	return nil
}
