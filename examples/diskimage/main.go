// Command diskimage reads and writes disk images that are encrypted with Twofish in XTS mode, anywhere in them.
//
//	go run ./diskimage disk.luks > disk                                      # all of it
//	go run ./diskimage -offset 1048576 -length 512 disk.luks > sector
//	go run ./diskimage -write -offset 1048576 -password FILE disk.luks < sector
//	go run ./diskimage -key FILE -sector 4096 disk > plain                   # without a header
//
// The format is LUKS1, as the "LUKS On-Disk Format Specification, Version 1.2.3" has it, with what cryptsetup and qemu-img
// call twofish-xts-plain64, or the same without a header, as dm-crypt's "plain" devices are: there FILE holds the two keys,
// and sectors of another size than 512 bytes are counted as dm-crypt's iv_large_sectors has them. XTS authenticates nothing.
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
		fmt.Fprintln(os.Stderr, "diskimage:", err)
		os.Exit(1)
	}
}

func run(args []string, stdin io.Reader, stdout io.Writer) error {
	flags := flag.NewFlagSet("diskimage [OPTION...] IMAGE", flag.ExitOnError)
	writing := flags.Bool("write", false, "write standard input to the image")
	offset := flags.Int64("offset", 0, "begin at so many `BYTES`")
	length := flags.Int64("length", -1, "read so many `BYTES`, not the rest")
	keyFile := flags.String("key", "", "the image has no header, and `FILE` holds its keys")
	sectorSize := flags.Int64("sector", 512, "without a header, sectors have so many `BYTES`")
	passwordFile := flags.String("password", "", "read the password from the first line of `FILE`")
	flags.Parse(args)
	if flags.NArg() != 1 {
		return fmt.Errorf("%d images, want one", flags.NArg())
	}
	mode := os.O_RDONLY
	if *writing {
		mode = os.O_RDWR
	}
	file, err := os.OpenFile(flags.Arg(0), mode, 0)
	if err != nil {
		return err
	}
	defer file.Close()
	size, err := file.Seek(0, io.SeekEnd) // which works on devices, too
	if err != nil {
		return err
	}

	var v *volume
	if *keyFile != "" {
		v, err = openPlain(file, size, *keyFile, *sectorSize)
	} else {
		v, err = openPassword(file, size, *passwordFile)
	}
	if err != nil {
		return err
	}
	if *offset < 0 || *offset > v.size {
		return fmt.Errorf("offset %d in %d bytes", *offset, v.size)
	}
	buf := make([]byte, 1<<20) // Long calls are the fast ones.
	if *writing {
		if _, err := io.CopyBuffer(io.NewOffsetWriter(v, *offset), onlyReader{stdin}, buf); err != nil {
			return err
		}
		return file.Close()
	}
	if *length < 0 {
		*length = v.size - *offset
	}
	_, err = io.CopyBuffer(onlyWriter{stdout}, io.NewSectionReader(v, *offset, *length), buf)
	return err
}

// onlyReader and onlyWriter hide methods that would do without CopyBuffer's buffer.
type (
	onlyReader struct{ io.Reader }
	onlyWriter struct{ io.Writer }
)

func openPlain(d disk, size int64, keyFile string, sectorSize int64) (*volume, error) {
	key, err := os.ReadFile(keyFile)
	if err != nil {
		return nil, err
	}
	return newVolume(d, key, sectorSize, 0, size)
}

func openPassword(d disk, size int64, passwordFile string) (*volume, error) {
	h, err := readHeader(d)
	if err != nil {
		return nil, err
	}
	password, err := cli.Password(passwordFile)
	if err != nil {
		return nil, err
	}
	key, err := h.masterKey(d, password)
	if err != nil {
		return nil, err
	}
	start := int64(h.PayloadOffset) * luksSector
	return newVolume(d, key, luksSector, start, size-start)
}
