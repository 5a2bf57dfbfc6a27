// Command shards keeps a file as shard files with parity, any k of which give back the others and the file.
//
//	shards encode -k 10 -p 4 FILE   write FILE.000.shard to FILE.013.shard
//	shards verify FILE              say of each shard file whether it is good
//	shards repair FILE              rebuild shard files that are damaged or missing
//	shards join FILE                write FILE from any 10 good ones
//
// verify, repair and join also take shard files and directories of them. The shard files may lie anywhere and have other
// names: a header in each says what it is. format.go describes it.
//
// The exit status is 0 where everything is done, or good; 1 where verify finds damage that repair can make up for; 2 where
// too few shards are good, where the shard files are not of one set, and after every error; 130 where it was interrupted.
//
// A file has its name only when it is complete and on the disk, so whenever the program ends, even by SIGKILL or with the
// power, each name has the file that it had before or the whole new one. Without --force nothing is overwritten, except
// that repair puts shards that have the recorded checksums in the place of damaged ones.
//
// Memory does not depend on the file's size: it is 256 KiB for each shard.
//
// The checksums find accidents, not attacks: whoever can write the shard files can make others that fit.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"unicode/utf8"

	"github.com/spf13/pflag"
	"github.com/twogather/twogather/erasure"
)

type options struct {
	data, parity int
	matrix       string
	output       string
	force        bool
}

// unit is how many bytes of a shard a stripe has in sets that encode makes. Tests have smaller ones.
var unit = 256 << 10

// A session is one run of the program.
type session struct {
	options
	ctx            context.Context
	stdout, stderr io.Writer
}

// A command is a subcommand. Its words are what stands after its name.
type command struct {
	name, words, help string
	flags             func(o *options, f *pflag.FlagSet)
	run               func(s *session, words []string) error
}

var commands = []command{
	{"encode", "FILE", "write FILE's shard files, beside it", func(o *options, f *pflag.FlagSet) {
		f.IntVarP(&o.data, "data", "k", 10, "`NUMBER` of data shards")
		f.IntVarP(&o.parity, "parity", "p", 4, "`NUMBER` of parity shards: so many may be lost")
		f.StringVarP(&o.matrix, "matrix", "m", string(erasure.NormalisedCauchy), "`NAME` of what parity is made with: "+matrixNames())
		f.StringVarP(&o.output, "output", "o", "", "another `DIRECTORY` to write to")
		o.forceFlag(f, "replace shard files of that name")
	}, (*session).encode},
	{"verify", "SHARDS...", "say of each shard file whether it is good", func(*options, *pflag.FlagSet) {}, (*session).verify},
	{"repair", "SHARDS...", "rebuild shard files that are damaged or missing", func(o *options, f *pflag.FlagSet) {
		f.StringVarP(&o.output, "output", "o", "", "another `DIRECTORY` than that of the others for missing ones")
		o.forceFlag(f, "replace also shard files that cannot be read, and other files with the name of a missing one")
	}, (*session).repair},
	{"join", "SHARDS...", "write the file that was encoded", func(o *options, f *pflag.FlagSet) {
		f.StringVarP(&o.output, "output", "o", "", "another `FILE`, or directory, than that which the shard files are named after")
		o.forceFlag(f, "replace a file of that name")
	}, (*session).join},
}

func (o *options) forceFlag(f *pflag.FlagSet, help string) {
	f.BoolFuncP("force", "f", help, func(value string) (err error) {
		o.force, err = strconv.ParseBool(value)
		return err
	})
}

func matrixNames() string {
	var names []string
	for _, m := range matrices {
		names = append(names, string(m))
	}
	return strings.Join(names, ", ")
}

// What the program exits with; see above.
const (
	statusGood        = 0
	statusRepairable  = 1
	statusError       = 2
	statusInterrupted = 130
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	context.AfterFunc(ctx, stop) // a second signal ends the program at once
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

// run returns the exit status.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	out := &output{w: stdout}
	err := execute(&session{ctx: ctx, stdout: out, stderr: stderr}, args)
	if err == nil {
		err = out.err
	}
	switch {
	case err == nil:
		return statusGood
	case errors.Is(err, errRepairable):
		return statusRepairable
	case errors.Is(err, context.Canceled):
		fmt.Fprintln(stderr, "shards: interrupted")
		return statusInterrupted
	}
	fmt.Fprintln(stderr, "shards:", printable(err.Error()))
	return statusError
}

// errRepairable is what verify returns where it has said everything else.
var errRepairable = errors.New("repair can make up for the damage")

func execute(s *session, args []string) error {
	if len(args) == 0 {
		return errors.New("no command; shards --help lists them")
	}
	if args[0] == "help" || args[0] == "--help" || args[0] == "-h" {
		writeHelp(s.stdout)
		return nil
	}
	for _, c := range commands {
		if c.name != args[0] {
			continue
		}
		flags := c.flagSet(&s.options)
		if err := flags.Parse(args[1:]); errors.Is(err, pflag.ErrHelp) {
			writeHelp(s.stdout, c)
			return nil
		} else if err != nil {
			return fmt.Errorf("%w; see shards %s --help", err, c.name)
		}
		if flags.NArg() == 0 || c.words == "FILE" && flags.NArg() > 1 {
			return fmt.Errorf("%d arguments where %s was expected; see shards %s --help", flags.NArg(), c.words, c.name)
		}
		return c.run(s, flags.Args())
	}
	return fmt.Errorf("unknown command %q; shards --help lists them", args[0])
}

func (c *command) flagSet(o *options) *pflag.FlagSet {
	flags := pflag.NewFlagSet(c.name, pflag.ContinueOnError)
	flags.SortFlags = false
	flags.Usage = func() {}
	c.flags(o, flags)
	return flags
}

// writeHelp writes about one command, or about all.
func writeHelp(w io.Writer, only ...command) {
	if len(only) == 0 {
		fmt.Fprint(w, "Shard files with parity: any k of the k+p give back the others and the file.\n\n")
		only = commands
	}
	for _, c := range only {
		fmt.Fprintf(w, "shards %s [OPTION...] %s\n  %s\n%s\n", c.name, c.words, c.help, c.flagSet(new(options)).FlagUsagesWrapped(110))
	}
	fmt.Fprint(w, `FILE is the name of the file that was or is to be encoded. SHARDS are such names, shard files, or directories of them.
Status: 0 done, or good; 1 verify: damaged, repair can help; 2 beyond repair, not one set, or an error; 130 interrupted.
`)
}

// An output keeps the first error, so that whoever prints need not look.
type output struct {
	w   io.Writer
	err error
}

func (o *output) Write(p []byte) (int, error) {
	if o.err != nil {
		return 0, o.err
	}
	n, err := o.w.Write(p)
	o.err = err
	return n, err
}

// printable returns text with escapes for what a terminal would not show as text, which file names may have.
func printable(text string) string {
	var b strings.Builder
	for len(text) > 0 {
		r, n := utf8.DecodeRuneInString(text)
		if strconv.IsPrint(r) && (r != utf8.RuneError || n > 1) {
			b.WriteString(text[:n])
		} else {
			quoted := strconv.Quote(text[:n])
			b.WriteString(quoted[1 : len(quoted)-1])
		}
		text = text[n:]
	}
	return b.String()
}
