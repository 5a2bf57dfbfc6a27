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

// writeNew writes a file that only its owner may read. One that is there already is left alone.
func writeNew(path string, data []byte) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	return errors.Join(err, f.Close())
}

// List writes the entries of a database, which open finds in its file.
func List(w io.Writer, path, passwordFile string, passwords bool, open func(file, password []byte) ([]Entry, error)) error {
	file, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	password, err := Password(passwordFile)
	if err != nil {
		return err
	}
	entries, err := open(file, password)
	if err != nil {
		return err
	}
	return writeEntries(w, entries, passwords)
}

// Create makes a new database's file of the lines that List writes with passwords. What is in it is up to seal.
func Create(r io.Reader, path, passwordFile string, seal func(entries []Entry, password []byte) ([]byte, error)) error {
	entries, err := readEntries(r)
	if err != nil {
		return err
	}
	password, err := NewPassword(passwordFile)
	if err != nil {
		return err
	}
	file, err := seal(entries, password)
	if err != nil {
		return err
	}
	return writeNew(path, file)
}

// An Entry is what a password manager's database is made of.
type Entry struct{ Group, Title, User, Password string }

// writeEntries writes a line for each entry, with tabs between its fields. Those that have tabs or quotes are quoted.
func writeEntries(w io.Writer, entries []Entry, passwords bool) error {
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

// readEntries reads the lines that writeEntries writes with passwords.
func readEntries(r io.Reader) (entries []Entry, err error) {
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
