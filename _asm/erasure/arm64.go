package main

import (
	"bytes"
	"fmt"

	"github.com/twogather/twogather/_asm/internal/arm64"
)

// What dot.go and update.go are on amd64. Products come by look-ups of nibbles.

// General registers of a dot product.
const (
	armPass       arm64.X = 0
	armOutputs    arm64.X = 1 // headers
	armSources    arm64.X = 2
	armSourcesEnd arm64.X = 4
	armOnes       arm64.X = 16 // headers of sources whose coefficients are all 1
	armOnesEnd    arm64.X = 3
	armEntries    arm64.X = 5
	armAt, armTo  arm64.X = 6, 7
	armEntry      arm64.X = 8 // of the source at hand
	armSource     arm64.X = 9 // its header
	armData       arm64.X = 10
	armStart      arm64.X = 11
	armPark       arm64.X = 12
	armAddress    arm64.X = 13
	armStride     arm64.X = 14 // bytes of each shard in a step of scalable vectors
	armCount      arm64.X = 15
)

// Vector registers. Sums, and what goes with them, are in the first ones.
const (
	armLastBytes = 17 // which bytes an update's last step is about
	armTables    = 18 // of an update: two for each output
	armMask      = 31 // 0F
)

// armKernel is an instruction set.
type armKernel interface {
	arm64.Vectors
	// prepare loads what look-ups take.
	prepare()
	// vectors is how many of every shard a step has: no more than the sums of all outputs leave room for.
	vectors(outputs int) int
	// steps goes over the bytes of a dot product in steps.
	steps(name string, vectors int, step func(v arm64.Visit, prefix string))
	// updates goes over the bytes of an update. Where masked is set, armLastBytes says which bytes a step is about.
	updates(name string, step func(v arm64.Visit, masked bool))
	// loadEntry loads the two tables of the i-th entry from armEntry on; nextEntries ends the entries of a source.
	loadEntry(i, to int)
	nextEntries(entries int)
	// unpark and park load and store the sums of an output, and go on.
	unpark(v arm64.Visit, to int)
	park(v arm64.Visit, from int)
}

// An armAssembler builds one file.
type armAssembler struct {
	*arm64.File
	armKernel
	name string
}

func (a *armAssembler) write() *arm64.File {
	a.dot()
	a.update()
	a.addOne()
	return a.File
}

// byOutputs jumps to the code for so many outputs.
func (a *armAssembler) byOutputs(name string, from int) {
	for p := from; p < maxOutputs; p++ {
		a.Op("CMP", p, armCount)
		a.Op("BEQ", fmt.Sprintf("%s%d", name, p))
	}
	a.Op("B", fmt.Sprintf("%s%d", name, maxOutputs))
}

func (a *armAssembler) dot() {
	name := "dot" + a.name
	a.Function(name, "(p *pass, from int, to int)", 0, 24, name+" does the pass p as dotGeneric does. Products come by look-ups of nibbles.")
	a.Op("MOVD", "p+0(FP)", armPass)
	field := func(at int, r arm64.X) { a.Op("MOVD", arm64.At(at, armPass), r) }
	field(passOutputs, armOutputs)
	headers := func(at, count int, from, end arm64.X) {
		field(at, from)
		field(count, armCount)
		a.Op("ADD", fmt.Sprintf("%s<<1", armCount), armCount, armCount)
		a.Op("ADD", fmt.Sprintf("%s<<3", armCount), from, end)
	}
	headers(passOnes, passOnesCount, armOnes, armOnesEnd)
	headers(passSources, passSourceCount, armSources, armSourcesEnd)
	field(passEntries, armEntries)
	field(passStart, armStart)
	field(passPark, armPark)
	a.Op("MOVD", "from+8(FP)", armAt)
	a.Op("MOVD", "to+16(FP)", armTo)
	a.prepare()

	a.Comment("By the number of outputs")
	field(passSum, armAddress)
	field(passOutputCount, armCount)
	a.Op("CBNZ", armAddress, "sums")
	a.byOutputs("dot", 1)
	a.Label("sums")
	a.byOutputs("sum", 2)
	for sum := range 2 {
		for p := 1 + sum; p <= maxOutputs; p++ {
			name, what := fmt.Sprintf("dot%d", p), fmt.Sprintf("%d outputs", p)
			if sum == 1 {
				name, what = fmt.Sprintf("sum%d", p), what+", the first one the plain sum"
			}
			if p == 1 {
				what = "One output"
			}
			a.Label(name)
			a.Comment("%s", what)
			a.steps(name, a.vectors(p), func(v arm64.Visit, prefix string) {
				(&armStep{a, v, p, sum}).write(prefix)
			})
		}
	}
}

// An armStep is the code for one step of so many outputs. The sums are in the first registers.
type armStep struct {
	*armAssembler
	v       arm64.Visit
	outputs int
	sum     int // 1 if the first output is the plain sum of the sources, which takes no entries, else 0
}

func (s *armStep) acc(p int) int { return p * s.v.Vectors }

// next sets data to the source at hand, and goes on to the next one.
func (s *armStep) next() { s.Op("MOVD.P", arm64.At(header, armSource), armData) }

// more jumps if there are sources left before a header.
func (s *armStep) more(end arm64.X, to string) {
	s.Op("CMP", end, armSource)
	s.Op("BLO", to)
}

func (s *armStep) write(prefix string) {
	label := func(l string) string { return prefix + l }
	s.Op("MOVD", armOnes, armSource)
	s.Op("MOVD", armEntries, armEntry)
	s.Op("CBNZ", armStart, label("Resume"))
	s.more(armOnesEnd, label("FirstOnes"))
	s.Op("MOVD", armSources, armSource)
	s.multiply(true)
	s.Op("CMP", armSourcesEnd, armSource)
	s.Op("BHS", label("Store"))
	s.Label(label("Source"))
	s.multiply(false)
	s.more(armSourcesEnd, label("Source"))

	s.Label(label("Store"))
	s.Op("CBNZ", armPark, label("Park"))
	for p := range s.outputs {
		s.Op("MOVD", arm64.At(header*p, armOutputs), armData)
		s.Store(s.v, s.acc(p), armData)
	}
	s.Op("B", label("End"))

	x := s.acc(s.outputs)
	s.Label(label("FirstOnes"))
	s.next()
	s.Load(s.v, armData, s.acc(0))
	for p := 1; p < s.outputs; p++ {
		s.Copy(s.v, s.acc(0), s.acc(p))
	}
	s.Op("B", label("MoreOnes"))
	s.Label(label("Resume"))
	for p := range s.outputs {
		s.unpark(s.v, s.acc(p))
	}
	s.Label(label("MoreOnes"))
	s.Op("CMP", armOnesEnd, armSource)
	s.Op("BHS", label("NoOnes"))
	s.Label(label("Ones"))
	s.next()
	s.Load(s.v, armData, x)
	for p := range s.outputs {
		s.Add(s.v, x, s.acc(p))
	}
	s.more(armOnesEnd, label("Ones"))
	s.Label(label("NoOnes"))
	s.Op("MOVD", armSources, armSource)
	s.more(armSourcesEnd, label("Source"))
	s.Op("B", label("Store"))

	s.Label(label("Park"))
	for p := range s.outputs {
		s.park(s.v, s.acc(p))
	}
	s.Label(label("End"))
}

// multiply adds the products of the source at hand to the sums, or, if it is the first one, puts them there.
func (s *armStep) multiply(first bool) {
	n := s.v.Vectors
	x := s.acc(s.outputs)
	high, tables, products := x+n, x+2*n, x+2*n+2
	add := func(table, nibbles, sum int) {
		temps := min(n, armMask-products)
		for u := 0; u < n; u += temps {
			part := s.v
			part.Vectors = min(temps, n-u)
			s.LookUp(part, table, nibbles+u, products)
			s.Add(part, products, sum+u)
		}
	}
	s.next()
	s.Load(s.v, armData, x)
	switch {
	case s.sum == 1 && first:
		s.Copy(s.v, x, s.acc(0))
	case s.sum == 1:
		s.Add(s.v, x, s.acc(0))
	}
	s.Nibbles(s.v, armMask, x, high)
	for p := s.sum; p < s.outputs; p++ {
		s.loadEntry(p-s.sum, tables)
		if first {
			s.LookUp(s.v, tables, x, s.acc(p))
		} else {
			add(tables, x, s.acc(p))
		}
		add(tables+1, high, s.acc(p))
	}
	s.nextEntries(s.outputs - s.sum)
}

func (a *armAssembler) update() {
	name := "update" + a.name
	a.Function(name, "(outputs [][]byte, source []byte, entries *entry, from int, to int)", 0, 72, name+" does what updateGeneric does.")
	a.Op("MOVD", "outputs_base+0(FP)", armOutputs)
	a.Op("MOVD", "outputs_len+8(FP)", armCount)
	a.Op("MOVD", "source_base+24(FP)", armSource)
	a.Op("MOVD", "entries+48(FP)", armEntry)
	a.Op("MOVD", "from+56(FP)", armAt)
	a.Op("MOVD", "to+64(FP)", armTo)
	a.prepare()
	a.byOutputs("update", 1)
	for outputs := 1; outputs <= maxOutputs; outputs++ {
		name := fmt.Sprintf("update%d", outputs)
		a.Label(name)
		for p := range outputs {
			a.Op("MOVD", arm64.At(header*p, armOutputs), armShard(p))
			a.loadEntry(p, armTables+2*p)
		}
		a.updates(name, func(v arm64.Visit, masked bool) {
			n := v.Vectors
			x, high, products, sum := 0, n, 2*n, 3*n
			a.Load(v, armSource, x)
			if masked {
				a.lastOnly(x)
			}
			a.Nibbles(v, armMask, x, high)
			for p := range outputs {
				a.Load(v, armShard(p), sum)
				for half, nibbles := range []int{x, high} {
					a.LookUp(v, armTables+2*p+half, nibbles, products)
					a.Add(v, products, sum)
				}
				a.Store(v, sum, armShard(p))
			}
		})
	}
}

// armShard is where the bytes of output p are, in an update: in registers that only a dot product uses otherwise.
func armShard(p int) arm64.X {
	return [maxOutputs]arm64.X{armPass, armSources, armOnesEnd, armSourcesEnd, armEntries, armPark}[p]
}

// lastOnly clears the bytes that a masked step is not about.
func (a *armAssembler) lastOnly(x int) {
	b := func(r int) string { return arm64.Bytes16.Of(arm64.V(r)) }
	a.Op("VAND", b(armLastBytes), b(x), b(x))
}

// addOne writes what an update is where the coefficient is 1.
func (a *armAssembler) addOne() {
	name := "add" + a.name
	a.Function(name, "(output []byte, source []byte, from int, to int)", 0, 64, name+" is an update with the coefficient 1.")
	a.Op("MOVD", "output_base+0(FP)", armOutputs)
	a.Op("MOVD", "source_base+24(FP)", armSource)
	a.Op("MOVD", "from+48(FP)", armAt)
	a.Op("MOVD", "to+56(FP)", armTo)
	a.updates("add", func(v arm64.Visit, masked bool) {
		x, sum := 0, v.Vectors
		a.Load(v, armSource, x)
		if masked {
			a.lastOnly(x)
		}
		a.Load(v, armOutputs, sum)
		a.Add(v, x, sum)
		a.Store(v, sum, armOutputs)
	})
}

// lastBytes is a constant whose 16 bytes from n on are zero but for the last n.
func lastBytes() []byte { return append(make([]byte, 16), bytes.Repeat([]byte{0xff}, 16)...) }
