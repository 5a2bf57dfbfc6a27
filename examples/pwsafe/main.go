// Command pwsafe lists the entries of a Password Safe database, and makes new ones.
//
//	go run ./pwsafe safe.psafe3                          # group, title, user name
//	go run ./pwsafe -show safe.psafe3 > entries.tsv      # and password
//	go run ./pwsafe -create safe.psafe3 < entries.tsv
//
// The format is Password Safe's "V3", which its file docs/formatV3.txt describes: keys wrapped with Twofish in ECB mode,
// records in CBC mode, HMAC-SHA-256. Nothing is listed of a database whose HMAC is wrong.
package main

import (
	"flag"
	"fmt"
	"io"
	"os"

	"github.com/twogather/twogather/examples/internal/cli"
)

// iterations make a guess at the password take some hundredths of a second. The format has 2048 at least.
const iterations = 1 << 18

func main() {
	if err := run(os.Args[1:], os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "pwsafe:", err)
		os.Exit(1)
	}
}

func run(args []string, stdin io.Reader, stdout io.Writer) error {
	flags := flag.NewFlagSet("pwsafe [OPTION...] FILE", flag.ExitOnError)
	show := flags.Bool("show", false, "list passwords too")
	creating := flags.Bool("create", false, "make FILE from the lines of standard input, as -show writes them")
	passwordFile := flags.String("password", "", "read the password from the first line of `FILE`")
	flags.Parse(args)
	if flags.NArg() != 1 {
		return fmt.Errorf("%d files, want one", flags.NArg())
	}
	if *creating {
		return cli.Create(stdin, flags.Arg(0), *passwordFile, func(entries []cli.Entry, password []byte) ([]byte, error) {
			return seal(entries, password, iterations)
		})
	}
	return cli.List(stdout, flags.Arg(0), *passwordFile, *show, open)
}
