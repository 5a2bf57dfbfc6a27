// Command instructions writes the one instruction that package instructions needs: RDTSC. It is run from the directory
// _asm.
package main

import (
	"github.com/mmcloughlin/avo/attr"
	"github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"github.com/twogather/twogather/_asm/internal/output"
)

func main() {
	a := build.NewContext()
	a.ConstraintExpr("!purego")
	a.Function("rdtsc")
	a.Attributes(attr.NOSPLIT)
	a.SignatureExpr("func() uint64")
	a.Doc("rdtsc returns the time-stamp counter.")
	a.Comment("The answer comes in two halves")
	a.RDTSC()
	a.SHLQ(operand.U8(32), reg.RDX)
	a.ORQ(reg.RDX, reg.RAX)
	a.Store(reg.RAX, a.ReturnIndex(0))
	a.RET()
	output.Check(output.Assembly(a, "go run ./instructions", "instructions", "../internal/instructions/rdtsc_amd64"))
}
