// Command hwfeatures writes the instructions that Go has no function for: CPUID, XGETBV, and arm64's CNTB. What their answers
// mean is decided in Go, where tests can feed made-up processors. It is run from the directory _asm.
package main

import (
	"github.com/mmcloughlin/avo/attr"
	"github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"github.com/twogather/twogather/_asm/internal/arm64"
	"github.com/twogather/twogather/_asm/internal/output"
)

const command = "go run ./hwfeatures"

func main() {
	output.Check(output.Arm64(vectorBytes(), "../hwfeatures/vectorbytes_arm64"))
	a := build.NewContext()
	a.ConstraintExpr("!purego")
	cpuid(a)
	xgetbv(a)
	output.Check(output.Assembly(a, command, "hwfeatures", "../hwfeatures/cpuid_amd64"))
}

func vectorBytes() *arm64.File {
	f := arm64.New(command, "hwfeatures")
	f.Function("vectorBytes", "() int", 0, 8, "vectorBytes returns the length of SVE's vectors. It faults without SVE.")
	f.XVectors(1, 0)
	f.Op("MOVD", arm64.X(0), "ret+0(FP)")
	f.Op("RET")
	return f
}

func cpuid(a *build.Context) {
	a.Function("cpuid")
	a.Attributes(attr.NOSPLIT)
	a.SignatureExpr("func(leaf, sub uint32) (a, b, c, d uint32)")
	a.Doc("cpuid asks the processor for one leaf; sub selects within leaves that have parts.")
	a.Comment("Leaf and part; the four answers overwrite both")
	a.Load(a.Param("leaf"), reg.EAX)
	a.Load(a.Param("sub"), reg.ECX)
	a.CPUID()
	a.Comment("The answers")
	a.Store(reg.EAX, a.Return("a"))
	a.Store(reg.EBX, a.Return("b"))
	a.Store(reg.ECX, a.Return("c"))
	a.Store(reg.EDX, a.Return("d"))
	a.RET()
}

func xgetbv(a *build.Context) {
	a.Function("xgetbv")
	a.Attributes(attr.NOSPLIT)
	a.SignatureExpr("func() uint64")
	a.Doc(
		"xgetbv returns XCR0, the register state that the operating system saves and restores.",
		"It faults unless CPUID announces OSXSAVE.",
	)
	a.Comment("Register number 0")
	a.XORL(reg.ECX, reg.ECX)
	a.XGETBV()
	a.Comment("The answer comes in two halves")
	a.SHLQ(operand.U8(32), reg.RDX)
	a.ORQ(reg.RDX, reg.RAX)
	a.Store(reg.RAX, a.ReturnIndex(0))
	a.RET()
}
