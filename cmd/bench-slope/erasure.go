package main

import (
	"encoding/csv"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"text/tabwriter"
	"time"

	"github.com/twogather/twogather/erasure"
	"github.com/twogather/twogather/internal/kernel"
)

// A shape is how many shards there are and how long they are.
type shape struct{ data, parity, erased, size int }

// memory is how many bytes they have, the erased ones twice.
func (s shape) memory() int64 { return int64(s.data+s.parity+s.erased) * int64(s.size) }

const maxShards = 256 // data and parity together

// What a line takes where the command line does not say, and a sweep.
const (
	defaultData, defaultParity = 10, 4
	defaultSize                = 32 << 10 // bytes of a shard
)

var (
	sweptShapes = []shape{{data: 4, parity: 2}, {data: 10, parity: 2}, {data: 10, parity: 4}, {data: 10, parity: 6},
		{data: 17, parity: 3}, {data: 50, parity: 20}}
	sweptSizes = []int{64, 256, 1 << 10, 4 << 10, 32 << 10, 256 << 10, 1 << 20, 8 << 20, 64 << 20}
)

// sweptMemory is how large the shards of one cell of a sweep may be together.
const sweptMemory int64 = 2 << 30

// shapes returns what the options ask for.
func (o *options) shapes() ([]shape, error) {
	shapes, sizes := []shape{{data: defaultData, parity: defaultParity}}, []int{defaultSize}
	if o.sweep {
		shapes, sizes = slices.Clone(sweptShapes), sweptSizes
		if o.data != 0 && o.parity != 0 {
			shapes = shapes[:1]
		}
	}
	if o.size != 0 {
		sizes = []int{o.size}
	}
	var all []shape
	for _, s := range shapes {
		if o.data != 0 {
			s.data = o.data
		}
		if o.parity != 0 {
			s.parity = o.parity
		}
		s.erased = min(s.data, s.parity)
		if o.erased != 0 {
			s.erased = o.erased
		}
		switch {
		case s.data+s.parity > maxShards:
			return nil, usagef("%d data and %d parity shards: more than %d together", s.data, s.parity, maxShards)
		case s.erased > s.parity:
			return nil, usagef("%d erased shards are more than %d parity shards make up for", s.erased, s.parity)
		case s.erased > s.data:
			return nil, usagef("%d erased data shards of %d", s.erased, s.data)
		}
		for _, s.size = range sizes {
			if s.memory() > math.MaxInt && !o.sweep {
				return nil, usagef("%d+%d shards of %s do not fit in memory", s.data, s.parity, sizeText(s.size))
			}
			if !slices.Contains(all, s) {
				all = append(all, s)
			}
		}
	}
	return all, nil
}

// A coder is an erasure code bound to kernels and to buffers.
type coder struct {
	shape
	encodeTables, decodeTables *erasure.Tables
	sources, outputs           [][]byte
	survivors, recovered       [][]byte
}

// newTables is the type of the primitive's constructors.
type newTables = func(matrix [][]byte) (*erasure.Tables, error)

// newCoder decodes for the first data shards, from the others and the first parity shards.
func newCoder(s shape, p placement, tables newTables) (*coder, error) {
	parityRows, err := erasure.ISALCauchy.Coefficients(s.data, s.parity)
	if err != nil {
		return nil, err
	}
	shards := place(s.data+s.parity+s.erased, s.size, p)
	c := &coder{
		shape:     s,
		sources:   shards[:s.data],
		outputs:   shards[s.data:][:s.parity],
		survivors: shards[s.erased:][:s.data],
		recovered: shards[s.data+s.parity:],
	}
	var left [][]byte // rows of the code, for the survivors
	for i := s.erased; i < s.data; i++ {
		row := make([]byte, s.data)
		row[i] = 1
		left = append(left, row)
	}
	inverse, err := erasure.Invert(append(left, parityRows[:s.erased]...))
	if err != nil {
		return nil, err
	}
	if c.encodeTables, err = tables(parityRows); err != nil {
		return nil, err
	}
	c.decodeTables, err = tables(inverse[:s.erased])
	return c, err
}

// An erasureOperation is a line: its name as ISA-L's programs print it, and the bytes that they count for it.
type erasureOperation struct {
	name, short string
	bytes       func(s shape) int
	run         func(c *coder) error
}

var erasureOperations = []erasureOperation{
	{"erasure_code_encode_warm", "encode", func(s shape) int { return (s.data + s.parity) * s.size }, func(c *coder) error {
		return c.encodeTables.EncodeData(c.outputs, c.sources)
	}},
	{"erasure_code_decode_warm", "decode", func(s shape) int { return (s.data + s.erased) * s.size }, func(c *coder) error {
		return c.decodeTables.EncodeData(c.recovered, c.survivors)
	}},
	{"ec_encode_data_update_warm", "update", func(s shape) int { return (s.data + s.parity) * s.size }, func(c *coder) error {
		for i, source := range c.sources {
			if err := c.encodeTables.EncodeDataUpdate(c.outputs, i, source); err != nil {
				return err
			}
		}
		return nil
	}},
	{"ec_encode_data_update_single_src_simple_warm", "update one", func(s shape) int { return (1 + s.parity) * s.size }, func(c *coder) error {
		return c.encodeTables.EncodeDataUpdate(c.outputs, 0, c.sources[0])
	}},
}

// runErasure looks at all options before it measures anything.
func runErasure(s *session, words []string) error {
	if len(words) > 0 {
		return usagef("unexpected %q", words[0])
	}
	p := kernel.Lookup("erasure")
	choices, err := choose(p, s.features, false, s.kernel)
	if err != nil {
		return err
	}
	shapes, err := s.shapes()
	if err != nil {
		return err
	}
	if s.count {
		return s.countErasure(p, choices)
	}
	r := s.erasureReporter()
	for _, where := range s.placements {
		for _, c := range choices {
			r.begin(c, where)
			tables := p.New(s.features, false, c.forced).(newTables)
			for _, sh := range shapes {
				if err := s.benchErasure(r, tables, sh, where); err != nil {
					return err
				}
			}
			r.end()
		}
	}
	return nil
}

func (s *session) benchErasure(r erasureReporter, tables newTables, sh shape, where placement) error {
	if s.sweep && sh.memory() > sweptMemory {
		return nil
	}
	c, err := newCoder(sh, where, tables)
	if err != nil {
		return err
	}
	r.shape(sh)
	for i, o := range erasureOperations {
		if err := o.run(c); err != nil {
			return err
		}
		s.progress.show(fmt.Sprintf("%d+%d shards of %s, %s", sh.data, sh.parity, sizeText(sh.size), o.short), i, len(erasureOperations))
		t := timeFor(s.duration(), func() { o.run(c) })
		s.progress.clear()
		r.row(&o, sh, t)
	}
	return nil
}

// duration is how long one figure is measured.
func (s *session) duration() time.Duration {
	switch {
	case s.time != 0:
		return s.time
	case s.sweep:
		return 20 * time.Millisecond
	}
	return time.Second
}

// countErasure counts the instructions of a data byte for one to six outputs. Shards are short (see instructions.Of).
func (s *session) countErasure(p *kernel.Primitive, choices []choice) error {
	e, err := newCounter()
	if err != nil {
		return err
	}
	r := s.reporter("erasure", "Erasure code")
	r.section()
	for _, ch := range choices {
		e.step = shardStep(ch.forced)
		r.begin("ERASURE", ch)
		for _, o := range []int{0, 3} { // encode, update one
			operation := erasureOperations[o]
			for parity := 1; parity <= 6; parity++ {
				sh := shape{data: defaultData, parity: parity, erased: 1, size: 2 * e.step}
				c, err := newCoder(sh, staggered, p.New(s.features, false, ch.forced).(newTables))
				if err != nil {
					return err
				}
				var coders [2]*coder
				sources, outputs := e.views(c.sources), e.views(c.outputs)
				for i := range coders {
					coders[i] = &coder{encodeTables: c.encodeTables, sources: sources[i], outputs: outputs[i]}
				}
				f := e.figure(func(n int) { operation.run(coders[n/e.step-1]) })
				if o == 0 {
					f.instructions /= defaultData
				}
				r.row(fmt.Sprintf("%s %d", operation.short, parity), f)
			}
		}
		r.end()
	}
	return nil
}

// An erasureReporter prints figures: for each choice of kernels and placement shapes, and for each of those operations.
type erasureReporter interface {
	begin(c choice, p placement)
	shape(s shape)
	row(o *erasureOperation, s shape, t timing)
	end()
}

func (s *session) erasureReporter() erasureReporter {
	switch {
	case s.csv:
		return &erasureCSV{w: csv.NewWriter(s.out)}
	case s.sweep:
		return &erasureTable{out: s.out}
	}
	return &erasureLines{w: s.out}
}

// erasureLines prints what ISA-L's erasure_code_perf and erasure_code_update_perf print. A megabyte is 10^6 bytes.
type erasureLines struct {
	w io.Writer
}

func (r *erasureLines) begin(c choice, p placement) {
	fmt.Fprintf(r.w, "kernel %s, buffers %s\n", c.title(), p)
}

func (r *erasureLines) shape(s shape) {
	fmt.Fprintf(r.w, "erasure_code_perf: %dx%d %d\n", s.data+s.parity, s.size, s.erased)
}

func (r *erasureLines) row(o *erasureOperation, s shape, t timing) {
	megabytes := float64(o.bytes(s)) * float64(t.calls) / 1e6
	seconds := t.total.Seconds()
	fmt.Fprintf(r.w, "%s: runtime = %10d usecs, bandwidth %d MB in %.4f sec = %.2f MB/s\n",
		o.name, t.total.Microseconds(), int64(megabytes), seconds, megabytes/seconds)
}

func (r *erasureLines) end() {}

// megabytesPerSecond is the speed of the shortest run.
func (o *erasureOperation) megabytesPerSecond(s shape, t timing) float64 {
	return float64(o.bytes(s)) * 1e3 / t.best
}

// erasureTable prints a line for each shape.
type erasureTable struct {
	out io.Writer
	w   *tabwriter.Writer
}

func (r *erasureTable) begin(c choice, p placement) {
	fmt.Fprintf(r.out, "kernel %s, buffers %s, MB/s\n", c.title(), p)
	r.w = tabwriter.NewWriter(r.out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprint(r.w, "shards\tsize\t")
	for _, o := range erasureOperations {
		fmt.Fprintf(r.w, "%s\t", o.short)
	}
}

func (r *erasureTable) shape(s shape) {
	fmt.Fprintf(r.w, "\n%d+%d\t%s\t", s.data, s.parity, sizeText(s.size))
}

func (r *erasureTable) row(o *erasureOperation, s shape, t timing) {
	fmt.Fprintf(r.w, "%.0f\t", o.megabytesPerSecond(s, t))
}

func (r *erasureTable) end() {
	fmt.Fprintln(r.w)
	r.w.Flush()
	fmt.Fprintln(r.out)
}

// erasureCSV prints a line for each figure.
type erasureCSV struct {
	w                  *csv.Writer
	headed             bool
	kernels, placement string
}

func (r *erasureCSV) begin(c choice, p placement) {
	if !r.headed {
		r.w.Write([]string{"kernels", "placement", "data", "parity", "erased", "size", "operation", "MB/s"})
		r.headed = true
	}
	r.kernels, r.placement = c.title(), string(p)
}

func (r *erasureCSV) shape(shape) {}

func (r *erasureCSV) row(o *erasureOperation, s shape, t timing) {
	r.w.Write([]string{r.kernels, r.placement, strconv.Itoa(s.data), strconv.Itoa(s.parity), strconv.Itoa(s.erased),
		strconv.Itoa(s.size), o.short, strconv.FormatFloat(o.megabytesPerSecond(s, t), 'f', 0, 64)})
}

func (r *erasureCSV) end() { r.w.Flush() }
