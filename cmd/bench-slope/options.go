package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/twogather/twogather/hwfeatures"
)

type options struct {
	help, verbose, csv, unaligned, count, constantTime bool

	mhz         float64 // 0: measured
	disable     hwfeatures.Set
	repetitions int
	kernel      string // "": those that the features select
	keyBits     int
	raid6       raid6Options
}

// The default takes three to six seconds for one cipher.
const (
	defaultRepetitions = 2000
	maxRepetitions     = 100_000 // the times of one figure still fit in memory
)

// An option is a row of the help text and what it does to options. One without an argument gets "".
type option struct {
	name, argument, help string
	set                  func(o *options, value string) error
}

var optionTable = []option{
	{"help", "", "print this text", func(o *options, _ string) error {
		o.help = true
		return nil
	}},
	{"verbose", "", "say on standard error what stands behind each figure", func(o *options, _ string) error {
		o.verbose = true
		return nil
	}},
	{"csv", "", "print figures as comma-separated values", func(o *options, _ string) error {
		o.csv = true
		return nil
	}},
	{"cpu-mhz", "N|auto", "the clock that cycles are counted in; auto, the default, measures it", setClock},
	{"disable-hwf", "A,B", "do without features, and without those that build on them", setDisable},
	{"repetitions", "N", fmt.Sprintf("how often each size is timed (default %d)", defaultRepetitions), setRepetitions},
	{"unaligned", "", "move buffers off their alignment by one byte", func(o *options, _ string) error {
		o.unaligned = true
		return nil
	}},
	{"count-instructions", "", "count instructions instead of taking times; works under emulation only", func(o *options, _ string) error {
		o.count = true
		return nil
	}},
	{"constant-time", "", "constant-time kernels only, and the key schedule too", func(o *options, _ string) error {
		o.constantTime = true
		return nil
	}},
	{"kernel", "NAME|all", "one kernel, or each that the processor can run; see list", setKernel},
	{"key-size", "BITS", "128, 192 or 256 (default 256)", setKeySize},
	{"disks", "N,N", "raid6: numbers of disks, P and Q included (default 4,8,16,24,48,96)", setDisks},
	{"chunk", "BYTES", "raid6: length of each disk's chunk (default 4096)", setChunk},
	{"placement", "aligned|staggered|both", "raid6: where in a page chunks begin (default both)", setPlacement},
	{"op", "gen|xor|recover", "raid6: syndrome, update of all disks, or recovery of two (default gen)", setOp},
}

func setClock(o *options, value string) error {
	if value == "auto" {
		o.mhz = 0
		return nil
	}
	mhz, err := strconv.ParseFloat(value, 64)
	if err != nil || !(mhz >= 1 && mhz <= 100_000) {
		return errors.New("want a clock in MHz, or auto")
	}
	o.mhz = mhz
	return nil
}

func setDisable(o *options, value string) error {
	for name := range strings.SplitSeq(value, ",") {
		name = strings.TrimSpace(name)
		f, err := hwfeatures.Parse(name)
		if err != nil {
			known := hwfeatures.Capabilities() | hwfeatures.Tunings()
			return fmt.Errorf("unknown feature %q; the features are %s", name, commas(known))
		}
		o.disable |= f
	}
	return nil
}

func setRepetitions(o *options, value string) error {
	n, err := strconv.Atoi(value)
	if err != nil || n < 1 || n > maxRepetitions {
		return fmt.Errorf("want a number from 1 to %d", maxRepetitions)
	}
	o.repetitions = n
	return nil
}

func setKernel(o *options, value string) error {
	if value == "" {
		return errors.New("want a name, or all")
	}
	o.kernel = value
	return nil
}

func setKeySize(o *options, value string) error {
	switch value {
	case "128", "192", "256":
	default:
		return errors.New("want 128, 192 or 256")
	}
	o.keyBits, _ = strconv.Atoi(value)
	return nil
}

// parse takes the options out of args, wherever they stand, and returns the other words.
func parse(args []string) (o options, words []string, err error) {
	o = options{repetitions: defaultRepetitions, keyBits: 256, raid6: newRaid6Options()}
	flags := flag.NewFlagSet("bench-slope", flag.ContinueOnError)
	flags.SetOutput(io.Discard) // the error says it all
	for _, opt := range optionTable {
		set := func(value string) error { return opt.set(&o, value) }
		if opt.argument == "" {
			flags.BoolFunc(opt.name, opt.help, set)
		} else {
			flags.Func(opt.name, opt.help, set)
		}
	}
	for { // each time as far as the next word
		if err := flags.Parse(args); err != nil {
			return o, nil, usagef("%v; the options are %s", err, optionNames())
		}
		if flags.NArg() == 0 {
			return o, words, nil
		}
		words, args = append(words, flags.Arg(0)), flags.Args()[1:]
	}
}

func optionNames() string {
	var names []string
	for _, o := range optionTable {
		names = append(names, "--"+o.name)
	}
	return strings.Join(names, ", ")
}

func writeHelp(w io.Writer) {
	fmt.Fprint(w, "Usage: bench-slope [OPTION...] COMMAND\n\nCommands:\n")
	for _, c := range commands {
		fmt.Fprintf(w, "  %-21s  %s\n", strings.TrimSpace(c.name+" "+c.words), c.help)
	}
	fmt.Fprint(w, "\nOptions, before or after the command:\n")
	for _, o := range optionTable {
		fmt.Fprintf(w, "  %-21s  %s\n", strings.TrimSpace("--"+o.name+" "+o.argument), o.help)
	}
	fmt.Fprintf(w, `
Figures are costs of a byte without the cost of the call: the slope of a line through the median times of buffers of
%d to %d bytes. The environment variables TWOGATHER_HWF and TWOGATHER_KERNEL count; hwf shows what they change.
`, minSize, maxSize)
}

// commas writes a set the way --disable-hwf reads it.
func commas(s hwfeatures.Set) string { return strings.ReplaceAll(s.String(), " ", ",") }
