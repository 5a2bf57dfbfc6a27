// Command keepass lists the entries of a KeePass database that is encrypted with Twofish, and makes new ones.
//
//	go run ./keepass passwords.kdbx                          # group, title, user name
//	go run ./keepass -show passwords.kdbx > entries.tsv      # and password
//	go run ./keepass -create passwords.kdbx < entries.tsv
//
// The format is KDBX 3.1 and 4, as KeePass's web site describes it ("KDBX File Format Specification"): XML, compressed and
// encrypted with Twofish in CBC mode; the key by Argon2 or AES-KDF; in version 4 HMAC-SHA-256. Key files are not supported.
// New databases are of version 4 with Argon2d. Nothing is listed of a database that was changed without its password.
package main

import (
	"flag"
	"fmt"
	"io"
	"os"

	"github.com/twogather/twogather/examples/internal/cli"
)

func main() {
	if err := run(os.Args[1:], os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "keepass:", err)
		os.Exit(1)
	}
}

func run(args []string, stdin io.Reader, stdout io.Writer) error {
	flags := flag.NewFlagSet("keepass [OPTION...] FILE", flag.ExitOnError)
	show := flags.Bool("show", false, "list passwords too")
	creating := flags.Bool("create", false, "make FILE from the lines of standard input, as -show writes them")
	memory := flags.Uint("memory", 64, "with -create, what a guess at the password takes, in `MiB`")
	passwordFile := flags.String("password", "", "read the password from the first line of `FILE`")
	flags.Parse(args)
	if flags.NArg() != 1 {
		return fmt.Errorf("%d files, want one", flags.NArg())
	}
	if *creating {
		return cli.Create(stdin, flags.Arg(0), *passwordFile, func(entries []cli.Entry, password []byte) ([]byte, error) {
			return seal(entries, password, uint64(*memory)<<20)
		})
	}
	return cli.List(stdout, flags.Arg(0), *passwordFile, *show, open)
}

// open returns the entries of a database.
func open(file, password []byte) ([]cli.Entry, error) {
	h, rest, err := readHeader(file)
	if err != nil {
		return nil, err
	}
	key, err := h.transform(password)
	if err != nil {
		return nil, err
	}
	var x content
	switch h.major {
	case 3:
		x, err = h.open3(rest, key)
	case 4:
		x, err = h.open4(rest, key)
	}
	if err != nil {
		return nil, err
	}
	return x.entries(h)
}
