package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/twogather/twogather/hwfeatures"
)

type options struct {
	help, verbose, csv, unaligned, count, constantTime, plan bool

	mhz         float64 // 0: measured
	disable     hwfeatures.Set
	repetitions int
	kernel      string // "": those that the features select
	keyBits     int

	placements   []placement
	data, parity int // shards
	erased       int // of them
	size         int // of a shard, in bytes
	sweep        bool
	disks        []int         // numbers of them
	chunk        int           // bytes
	operation    int           // of raid6Operations
	time         time.Duration // 0: the default

	given []*option // in the order of the command line
}

// The default takes ten to twenty seconds for one cipher.
const (
	defaultRepetitions = 2000
	maxRepetitions     = 100_000 // the times of one figure still fit in memory
)

// An option is a row of the help text and what it does to options. One without an argument gets "".
type option struct {
	name, argument, help string
	set                  func(o *options, value string) error
	commands             string // that have it; "": all
}

func (o *option) of(command string) bool {
	return o.commands == "" || slices.Contains(strings.Fields(o.commands), command)
}

var optionTable = []option{
	{"help", "", "print this text", func(o *options, _ string) error {
		o.help = true
		return nil
	}, ""},
	{"verbose", "", "say on standard error what stands behind each figure", func(o *options, _ string) error {
		o.verbose = true
		return nil
	}, ""},
	{"csv", "", "print figures as comma-separated values", func(o *options, _ string) error {
		o.csv = true
		return nil
	}, ""},
	{"cpu-mhz", "N|auto", "the clock that cycles are counted in; auto, the default, measures it", setClock, "cipher mac"},
	{"disable-hwf", "A,B", "do without features, and without those that build on them", setDisable, ""},
	{"repetitions", "N", fmt.Sprintf("how often each size is timed (default %d)", defaultRepetitions), setRepetitions, "cipher mac"},
	{"unaligned", "", "move buffers off their alignment by one byte", func(o *options, _ string) error {
		o.unaligned = true
		return nil
	}, "cipher mac"},
	{"count-instructions", "", "count instructions instead of taking times; works under emulation only", func(o *options, _ string) error {
		o.count = true
		return nil
	}, ""},
	{"constant-time", "", "constant-time kernels only, and the key schedule too", func(o *options, _ string) error {
		o.constantTime = true
		return nil
	}, ""},
	{"plan", "", "which kernels take a call of how many blocks", func(o *options, _ string) error {
		o.plan = true
		return nil
	}, "list"},
	{"kernel", "NAME|all", "one kernel, or each that the processor can run; see list", setKernel, ""},
	{"key-size", "BITS", "128, 192 or 256 (default 256)", setKeySize, "cipher mac"},
	{"k", "N", "data shards (default 10)", setNumber(1, maxShards, func(o *options) *int { return &o.data }), "erasure"},
	{"p", "N", "parity shards (default 4)", setNumber(1, maxShards, func(o *options) *int { return &o.parity }), "erasure"},
	{"e", "N", "erased shards (default as many as parity shards)", setNumber(1, maxShards, func(o *options) *int { return &o.erased }), "erasure"},
	{"s", "SIZE", "bytes of a shard, as in 1500, 32K and 1M (default 32K)", func(o *options, value string) (err error) {
		o.size, err = parseSize(value)
		return err
	}, "erasure"},
	{"sweep", "", "many shapes and sizes, those of -k, -p and -s where they are given", func(o *options, _ string) error {
		o.sweep = true
		return nil
	}, "erasure"},
	{"disks", "N,N...", "numbers of disks, P and Q included (default " + words(sweptDisks) + ")", setDisks, "raid6"},
	{"chunk", "SIZE", "bytes of a chunk (default 4K)", func(o *options, value string) (err error) {
		o.chunk, err = parseSize(value)
		return err
	}, "raid6"},
	{"op", "gen|xor|recover", "P and Q, their update, or recovery of two data disks (default gen)", setOperation, "raid6"},
	{"placement", "WHERE", "buffers aligned to pages, staggered by 192 bytes, or both (default aligned)", setPlacement, "erasure raid6"},
	{"time", "DURATION", "how long a figure is measured (default 1s, in a sweep 20ms, for raid6 50ms)", setTime, "erasure raid6"},
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

func setNumber(least, most int, field func(o *options) *int) func(o *options, value string) error {
	return func(o *options, value string) error {
		n, err := strconv.Atoi(value)
		if err != nil || n < least || n > most {
			return fmt.Errorf("want a number from %d to %d", least, most)
		}
		*field(o) = n
		return nil
	}
}

func setTime(o *options, value string) error {
	d, err := time.ParseDuration(value)
	if err != nil || d <= 0 {
		return errors.New("want a time like 250ms")
	}
	o.time = d
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
	o = options{repetitions: defaultRepetitions, keyBits: 256, placements: []placement{aligned}, disks: sweptDisks, chunk: defaultChunk}
	flags := flag.NewFlagSet("bench-slope", flag.ContinueOnError)
	flags.SetOutput(io.Discard) // the error says it all
	for _, opt := range optionTable {
		set := func(value string) error {
			o.given = append(o.given, &opt)
			return opt.set(&o, value)
		}
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
%d to %d bytes. The modes are libgcrypt's; CCM, SIV and GCM-SIV are left out. The environment variables
TWOGATHER_HWF and TWOGATHER_KERNEL count; hwf shows what they change.
`, minSize, maxSize)
}

// words writes numbers the way --disks reads them.
func words(numbers []int) string {
	return strings.Trim(strings.ReplaceAll(fmt.Sprint(numbers), " ", ","), "[]")
}

// commas writes a set the way --disable-hwf reads it.
func commas(s hwfeatures.Set) string { return strings.ReplaceAll(s.String(), " ", ",") }
