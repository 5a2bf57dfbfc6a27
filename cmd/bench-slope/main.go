// Command bench-slope measures how many nanoseconds and cycles a kernel spends on a byte. It prints what libgcrypt's
// bench-slope prints and finds it in the same way, so the two can be compared line by line.
//
//	bench-slope cipher twofish               the kernels that this processor uses
//	bench-slope cipher twofish --kernel all  every kernel that it can run
//	bench-slope cipher --constant-time       the constant-time ones that it uses
//	bench-slope mac                          message authentication codes
//	bench-slope erasure -k 10 -p 4 -s 32K    erasure coding
//	bench-slope raid6                        RAID-6, every kernel from 4 to 96 disks
//	bench-slope hwf                          the processor, its features, and what they choose
//	bench-slope list                         every kernel, usable or not
//	bench-slope list --plan                  which of them take a call of how many blocks
//
// An operation is timed on buffers of 16 to 4,112 bytes. A straight line through the medians has the cost of a call as
// its height and the cost of a byte as its slope; the slope is what is printed. bench-slope --help lists the options.
package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/twogather/twogather/hwfeatures"
)

// A command is a subcommand. Its words are what stands after its name.
type command struct {
	name, words, help string
	run               func(s *session, words []string) error
}

var commands = []command{
	{"cipher", "[ALGORITHM...]", "speed of ciphers: " + cipherNames() + "; all if none is named", runCipher},
	{"mac", "[ALGORITHM...]", "speed of message authentication codes: " + macNames() + "; all if none is named", runMAC},
	{"erasure", "", "speed of erasure coding, as ISA-L's erasure_code_perf prints it", runErasure},
	{"raid6", "", "speed of RAID-6 from 4 to 96 disks, every kernel", runRAID6},
	{"hwf", "", "the processor, its features and the kernels they choose", runHWF},
	{"list", "", "every kernel, with what it requires and whether it is used", runList},
}

// A session is one run of the program.
type session struct {
	options
	features hwfeatures.Set // those that count in this run
	out      *output
	stderr   io.Writer
	progress *progress
}

func main() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) }

// run returns the exit status: 0, 1 where the output could not be written, 2 where the arguments are wrong.
func run(args []string, stdout, stderr io.Writer) int {
	if len(args) == 0 {
		writeHelp(stderr)
		return 2
	}
	out := &output{w: stdout}
	err := execute(args, out, stderr)
	if err == nil {
		err = out.err
	}
	if err == nil {
		return 0
	}
	fmt.Fprintln(stderr, "bench-slope:", err)
	if _, ok := errors.AsType[usageError](err); ok {
		return 2
	}
	return 1
}

func execute(args []string, out *output, stderr io.Writer) error {
	opts, words, err := parse(args)
	if err != nil {
		return err
	}
	if opts.help {
		writeHelp(out)
		return nil
	}
	if len(words) == 0 {
		return usagef("no command; the commands are %s", commandNames())
	}
	if opts.count {
		// A system call between figures would add to the next ones (see package instructions).
		buffered := bufio.NewWriter(out.w)
		out.w = buffered
		defer func() {
			if err := buffered.Flush(); out.err == nil {
				out.err = err
			}
		}()
	}
	for _, c := range commands {
		if c.name == words[0] {
			for _, o := range opts.given {
				if !o.of(c.name) {
					return usagef("%s has no option --%s, only %s", c.name, o.name, strings.Join(strings.Fields(o.commands), ", "))
				}
			}
			return c.run(&session{
				options:  opts,
				features: hwfeatures.Enabled().Without(opts.disable),
				out:      out,
				stderr:   stderr,
				progress: newProgress(stderr),
			}, words[1:])
		}
	}
	return usagef("unknown command %q; the commands are %s", words[0], commandNames())
}

func commandNames() string {
	var names []string
	for _, c := range commands {
		names = append(names, c.name)
	}
	return strings.Join(names, ", ")
}

// A usageError is what the user can put right by other arguments.
type usageError string

func (e usageError) Error() string { return string(e) }

func usagef(format string, args ...any) error { return usageError(fmt.Sprintf(format, args...)) }

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
