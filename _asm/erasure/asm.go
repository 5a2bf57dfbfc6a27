package main

import (
	"bytes"
	"go/token"
	"go/types"

	"github.com/mmcloughlin/avo/attr"
	"github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/gotypes"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// An assembler builds one file.
type assembler struct {
	*build.Context
	pkg       *types.Package
	constants map[string]operand.Mem
}

// Where the fields of the Go types lie that kernels read. A test in package erasure holds them together.
const (
	passOutputs     = 0
	passOutputCount = 8
	passOnes        = 24
	passOnesCount   = 32
	passSources     = 40
	passSourceCount = 48
	passEntries     = 56
	passSum         = 64
	passStart       = 72
	passPark        = 80
	passAhead       = 88

	header = 24 // of a slice
)

func newAssembler() *assembler {
	a := &assembler{Context: build.NewContext(), constants: map[string]operand.Mem{}}
	// The assembly sees these types behind a pointer only, so opaque ones will do.
	a.pkg = types.NewPackage("github.com/twogather/twogather/erasure", "erasure")
	for _, s := range []string{"pass", "entry"} {
		name := types.NewTypeName(token.NoPos, a.pkg, s, nil)
		types.NewNamed(name, types.NewStruct(nil, nil), nil)
		a.pkg.Scope().Insert(name)
	}
	a.ConstraintExpr("amd64,!purego")
	return a
}

// text starts a function.
func (a *assembler) text(name, signature string, doc ...string) {
	a.Function(name)
	sig, err := gotypes.ParseSignatureInPackage(a.pkg, signature)
	if err != nil {
		panic(err)
	}
	a.Signature(sig)
	a.Pragma("noescape")
	a.Doc(doc...)
}

// address is where an argument lies.
func (a *assembler) address(c gotypes.Component) operand.Mem {
	b, err := c.Resolve()
	if err != nil {
		panic(err)
	}
	return b.Addr
}

// constant returns read-only data, which is written where it is asked for first.
func (a *assembler) constant(name string, data []byte) operand.Mem {
	m, ok := a.constants[name]
	if !ok {
		m = a.StaticGlobal(name)
		a.DataAttributes(attr.RODATA | attr.NOPTR)
		for i, b := range data {
			a.AddDatum(i, operand.U8(b))
		}
		a.constants[name] = m
	}
	return m
}

// A width is that of a vector register, in bytes.
type width int

const (
	ymm width = 32
	zmm width = 64
)

// A kernel writes its functions.
type kernel interface{ write(a *assembler) }

// vec is a vector register of that width.
func (w width) vec(i int) reg.Register {
	if w == ymm {
		return [...]reg.Register{
			reg.Y0, reg.Y1, reg.Y2, reg.Y3, reg.Y4, reg.Y5, reg.Y6, reg.Y7,
			reg.Y8, reg.Y9, reg.Y10, reg.Y11, reg.Y12, reg.Y13, reg.Y14, reg.Y15,
		}[i]
	}
	return [...]reg.Register{
		reg.Z0, reg.Z1, reg.Z2, reg.Z3, reg.Z4, reg.Z5, reg.Z6, reg.Z7,
		reg.Z8, reg.Z9, reg.Z10, reg.Z11, reg.Z12, reg.Z13, reg.Z14, reg.Z15,
		reg.Z16, reg.Z17, reg.Z18, reg.Z19, reg.Z20, reg.Z21, reg.Z22, reg.Z23,
		reg.Z24, reg.Z25, reg.Z26, reg.Z27, reg.Z28, reg.Z29, reg.Z30, reg.Z31,
	}[i]
}

// vecs are the registers from i up to j.
func (w width) vecs(i, j int) []operand.Op {
	var s []operand.Op
	for ; i < j; i++ {
		s = append(s, w.vec(i))
	}
	return s
}

// move loads, stores or copies a whole register.
func (a *assembler) move(w width, from, to operand.Op) {
	if w == ymm {
		a.VMOVDQU(from, to)
	} else {
		a.VMOVDQU64(from, to)
	}
}

// xor is sum ^= x.
func (a *assembler) xor(w width, x, sum operand.Op) {
	if w == ymm {
		a.VPXOR(x, sum, sum)
	} else {
		a.VPXORD(x, sum, sum)
	}
}

// lowNibbles is the byte 0F everywhere.
func (a *assembler) lowNibbles() operand.Mem {
	return a.constant("lowNibbles", bytes.Repeat([]byte{0x0f}, 64))
}
