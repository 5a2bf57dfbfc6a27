package main

import (
	"fmt"
	"go/token"
	"go/types"

	"github.com/mmcloughlin/avo/attr"
	"github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/gotypes"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// An instructionSet is what a file's kernels are made of.
type instructionSet struct {
	name  string
	bytes int  // of a vector register
	gfni  bool // products are GF2P8AFFINEQB, not shuffles of nibbles
}

// An assembler builds one file. Its methods speak of disks, P, Q, and products in the field.
type assembler struct {
	*build.Context
	instructionSet
	pkg    *types.Package
	labels int
	asides []func() // see aside
	shared map[string]operand.Mem
}

// Where the fields of the Go types step and product lie. A test in package raid6 holds them together.
const (
	stepOffset     = 0
	stepRuns       = 8
	stepCarry      = 32
	stepCorrection = 40
	stepProduct    = 48
	stepStream     = 56

	productLow    = 0
	productHigh   = 16
	productMatrix = 32

	sliceBytes = 24 // a slice's header: where the disk's chunk lies comes first
)

func write(set instructionSet) *assembler {
	a := &assembler{Context: build.NewContext(), instructionSet: set, shared: map[string]operand.Mem{}}
	a.ConstraintExpr("amd64,!purego")
	// The assembly sees these types behind pointers only, so opaque types of their names will do.
	a.pkg = types.NewPackage("github.com/twogather/twogather/raid6", "raid6")
	for _, name := range []string{"step", "product"} {
		n := types.NewTypeName(token.NoPos, a.pkg, name, nil)
		types.NewNamed(n, types.NewStruct(nil, nil), nil)
		a.pkg.Scope().Insert(n)
	}
	for _, unroll := range []int{1, 2, 4} {
		a.syndrome(unroll)
		a.xorSyndrome(unroll)
	}
	if !a.gfni {
		a.parity()
	}
	a.recoverData()
	a.recoverP()
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
	a.labels = 0
}

// constant returns read-only data of one quadword.
func (a *assembler) constant(name string, value uint64) operand.Mem {
	data, ok := a.shared[name]
	if !ok {
		data = a.StaticGlobal(name)
		a.DataAttributes(attr.RODATA | attr.NOPTR)
		a.AddDatum(0, operand.U64(value))
		a.shared[name] = data
	}
	return data
}

// label returns a label that is unique within the function.
func (a *assembler) label(name string) string {
	a.labels++
	return fmt.Sprintf("%s%02d", name, a.labels)
}

// aside has what is seldom done stand behind the function's end, between the labels: what is always done falls through.
func (a *assembler) aside(label, back string, do func()) {
	a.asides = append(a.asides, func() {
		a.Label(label)
		do()
		a.JMP(to(back))
	})
}

// end returns from the function.
func (a *assembler) end() {
	a.VZEROUPPER()
	a.RET()
	for _, do := range a.asides {
		do()
	}
	a.asides = nil
}

func to(label string) operand.LabelRef { return operand.LabelRef(label) }

// A vec is a vector register.
type vec int

func (v vec) x() reg.VecPhysical {
	return []reg.VecPhysical{
		reg.X0, reg.X1, reg.X2, reg.X3, reg.X4, reg.X5, reg.X6, reg.X7, reg.X8, reg.X9, reg.X10, reg.X11, reg.X12, reg.X13, reg.X14, reg.X15,
		reg.X16, reg.X17, reg.X18, reg.X19, reg.X20, reg.X21, reg.X22, reg.X23, reg.X24, reg.X25, reg.X26, reg.X27, reg.X28, reg.X29, reg.X30, reg.X31,
	}[v]
}

// of is the register's name where so many of its bytes are worked on.
func (v vec) of(bytes int) reg.Register {
	switch {
	case bytes > 32:
		return v.x().AsZ()
	case bytes > 16:
		return v.x().AsY()
	}
	return v.x()
}
