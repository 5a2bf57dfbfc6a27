// Command gpgdecrypt decrypts what GnuPG encrypted with Twofish and a passphrase, and writes what GnuPG decrypts.
//
//	gpg --symmetric --cipher-algo TWOFISH letter           # writes letter.gpg
//	go run ./gpgdecrypt letter.gpg > letter
//	go run ./gpgdecrypt -encrypt letter > letter.gpg       # gpg --decrypt reads it
//
// The format is OpenPGP, RFC 9580 and before it RFC 4880. Of that it knows messages with a passphrase, integrity protection
// of the first version (a "modification detection code") and compression; neither ASCII armor, nor public keys, nor
// signatures. A message is in memory as a whole, since nothing of it is given out before all of it was authenticated.
package main

import (
	"flag"
	"fmt"
	"io"
	"os"

	"github.com/twogather/twogather/examples/internal/cli"
)

func main() {
	if err := run(os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "gpgdecrypt:", err)
		os.Exit(1)
	}
}

func run(args []string, stdout io.Writer) error {
	flags := flag.NewFlagSet("gpgdecrypt [OPTION...] FILE", flag.ExitOnError)
	encrypting := flags.Bool("encrypt", false, "encrypt instead")
	passwordFile := flags.String("password", "", "read the passphrase from the first line of `FILE`")
	flags.Parse(args)
	if flags.NArg() != 1 {
		return fmt.Errorf("%d files, want one", flags.NArg())
	}
	data, err := os.ReadFile(flags.Arg(0))
	if err != nil {
		return err
	}
	askPassword, crypt := cli.Password, decrypt
	if *encrypting {
		askPassword, crypt = cli.NewPassword, encrypt
	}
	passphrase, err := askPassword(*passwordFile)
	if err != nil {
		return err
	}
	result, err := crypt(data, passphrase)
	if err != nil {
		return err
	}
	_, err = stdout.Write(result)
	return err
}
