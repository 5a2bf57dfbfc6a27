// Package cli is what the examples have in common that has nothing to do with ciphers: passwords, new files, lists of
// entries.
package cli

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"os"

	"golang.org/x/term"
)

// Password returns the first line of a file or, where file is "", a line typed at the terminal, which does not show it.
func Password(file string) ([]byte, error) { return password(file, "Password: ") }

// NewPassword is Password for one that nothing has been encrypted with so far: it is typed twice.
func NewPassword(file string) ([]byte, error) {
	first, err := password(file, "New password: ")
	if err != nil || file != "" {
		return first, err
	}
	second, err := password(file, "Again: ")
	if err == nil && !bytes.Equal(first, second) {
		err = errors.New("these were two passwords")
	}
	return second, err
}

func password(file, prompt string) ([]byte, error) {
	if file == "" {
		terminal := int(os.Stdin.Fd())
		if !term.IsTerminal(terminal) {
			return nil, errors.New("no terminal to ask for the password; -password FILE reads it from a file")
		}
		fmt.Fprint(os.Stderr, prompt)
		defer fmt.Fprintln(os.Stderr)
		return term.ReadPassword(terminal)
	}
	text, err := os.ReadFile(file)
	line, _, _ := bytes.Cut(text, []byte("\n"))
	return bytes.TrimSuffix(line, []byte("\r")), err
}

// WriteNew writes a file that only its owner may read. One that is there already is left alone.
func WriteNew(path string, data []byte) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	return errors.Join(err, f.Close())
}

// An Entry is what a password manager's database is made of.
type Entry struct{ Group, Title, User, Password string }

// WriteEntries writes a line for each entry, with tabs between its fields. Those that have tabs or quotes are quoted.
func WriteEntries(w io.Writer, entries []Entry, passwords bool) error {
	lines := csv.NewWriter(w)
	lines.Comma = '\t'
	for _, e := range entries {
		line := []string{e.Group, e.Title, e.User, e.Password}
		if !passwords {
			line = line[:3]
		}
		lines.Write(line)
	}
	lines.Flush()
	return lines.Error()
}

// ReadEntries reads the lines that WriteEntries writes with passwords.
func ReadEntries(r io.Reader) (entries []Entry, err error) {
	lines := csv.NewReader(r)
	lines.Comma, lines.FieldsPerRecord = '\t', 4
	for {
		line, err := lines.Read()
		if err == io.EOF {
			return entries, nil
		}
		if err != nil {
			return nil, err
		}
		entries = append(entries, Entry{line[0], line[1], line[2], line[3]})
	}
}
