// Command modes writes the assembly of the modes package: what goes on around the block cipher in modes that mask every
// block, two blocks to a register. It is run from the directory _asm.
package main

import (
	"fmt"
	"go/token"
	"go/types"

	"github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/gotypes"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"github.com/twogather/twogather/_asm/internal/output"
)

func main() {
	a := newAssembler()
	a.xor()
	a.fold()
	a.tweaks()
	a.offsets()
	a.collect()
	a.distribute()
	a.prefetch()
	output.Check(output.Assembly(a.Context, "go run ./modes", "modes", "../modes/masks_amd64"))
}

// An assembler builds the file.
type assembler struct {
	*build.Context
	pkg *types.Package
}

func newAssembler() *assembler {
	a := &assembler{build.NewContext(), types.NewPackage("github.com/twogather/twogather/modes", "modes")}
	a.ConstraintExpr("!purego")
	// The assembly sees these behind pointers only, so opaque types of their names will do.
	for _, name := range []string{"tweak", "word128"} {
		n := types.NewTypeName(token.NoPos, a.pkg, name, nil)
		types.NewNamed(n, types.NewStruct(nil, nil), nil)
		a.pkg.Scope().Insert(n)
	}
	return a
}

const (
	blockBytes = 16
	stepBytes  = 8 * blockBytes
)

// Registers: data in four, and as many to go with them.
var (
	left        = reg.RCX
	data        = [4]reg.VecPhysical{reg.Y0, reg.Y1, reg.Y2, reg.Y3}
	more        = [4]reg.VecPhysical{reg.Y4, reg.Y5, reg.Y6, reg.Y7}
	base, spare = reg.Y8, reg.Y9
	spare2      = reg.Y10
	baseX       = reg.X8
	zero        = reg.Y11
)

// text starts a function of slices of whole units.
func (a *assembler) text(unit int, name, signature string, doc ...string) {
	a.Function(name)
	sig, err := gotypes.ParseSignatureInPackage(a.pkg, signature)
	output.Check(err)
	a.Signature(sig)
	a.Pragma("noescape")
	a.Doc(append(doc, fmt.Sprintf("Lengths are multiples of %d bytes.", unit))...)
}

// steps builds the loop over what the argument of that name is long, and the end of the function; each pointer moves on.
func (a *assembler) steps(length string, pointers []reg.Register, step, end func()) {
	a.Load(a.Param(length).Len(), left)
	a.JMP(operand.LabelRef("more"))
	a.Label("next")
	step()
	for _, p := range pointers {
		a.SUBQ(operand.I8(-stepBytes), p)
	}
	a.Label("more")
	a.SUBQ(operand.U32(stepBytes), left)
	a.JAE(operand.LabelRef("next"))
	if end != nil {
		end()
		a.VZEROUPPER()
	}
	a.RET()
}

func at(p reg.Register, i int) operand.Mem { return operand.Mem{Base: p, Disp: 32 * i} }

func (a *assembler) xor() {
	a.text(stepBytes, "xorAVX2", "func(dst, x, y []byte)", "xorAVX2 writes x XOR y, which are equally long, to dst.")
	dst, x, y := reg.RDI, reg.RSI, reg.RDX
	a.Load(a.Param("dst").Base(), dst)
	a.Load(a.Param("x").Base(), x)
	a.Load(a.Param("y").Base(), y)
	a.steps("x", []reg.Register{dst, x, y}, func() {
		for i, r := range data {
			a.VMOVDQU(at(x, i), r)
			a.VPXOR(at(y, i), r, r)
		}
		for i, r := range data {
			a.VMOVDQU(r, at(dst, i))
		}
	}, func() {})
}

func (a *assembler) fold() {
	a.text(stepBytes, "foldAVX2", "func(sum *word128, b []byte)", "foldAVX2 adds the blocks of b to sum, as fold does.")
	b, sum := reg.RSI, reg.RDI
	a.Load(a.Param("sum"), sum)
	a.Load(a.Param("b").Base(), b)
	for _, r := range data {
		a.VPXOR(r, r, r)
	}
	a.steps("b", []reg.Register{b}, func() {
		for i, r := range data {
			a.VPXOR(at(b, i), r, r)
		}
	}, func() {
		a.Comment("Four sums, then two, then one")
		a.VPXOR(data[1], data[0], data[0])
		a.VPXOR(data[3], data[2], data[2])
		a.VPXOR(data[2], data[0], data[0])
		a.VEXTRACTI128(operand.U8(1), data[0], reg.X1)
		a.VPXOR(reg.X1, reg.X0, reg.X0)
		a.VPXOR(operand.Mem{Base: sum}, reg.X0, reg.X0)
		a.VMOVDQU(reg.X0, operand.Mem{Base: sum})
	})
}

// tweaks builds the masks of XTS: eight at a time, the next eight by multiplying each by x⁸. The byte that this shifts out is
// multiplied by x⁷ + x² + x + 1.
func (a *assembler) tweaks() {
	a.text(stepBytes, "fillTweaksAVX2", "func(masks []byte, t *tweak)",
		"fillTweaksAVX2 writes consecutive masks from t on, as fill does, and leaves the next one in t.")
	masks, t := reg.RDI, reg.RSI
	lo, hi, carry, product := reg.RAX, reg.RBX, reg.R8, reg.R9
	a.Load(a.Param("masks").Base(), masks)
	a.Load(a.Param("t"), t)
	a.Comment("The first eight, one by one")
	a.MOVQ(operand.Mem{Base: t}, lo)
	a.MOVQ(operand.Mem{Base: t, Disp: 8}, hi)
	for i, r := range data {
		for lane := range 2 {
			x := []reg.VecPhysical{reg.X8, reg.X9}[lane]
			a.VMOVQ(lo, x)
			a.VPINSRQ(operand.U8(1), hi, x, x)
			if i < len(data)-1 || lane == 0 {
				a.MOVQ(hi, carry)
				a.SARQ(operand.U8(63), carry)
				a.MOVL(operand.U32(0x87), product.As32())
				a.ANDQ(carry, product)
				a.SHLQ(operand.U8(1), lo, hi)
				a.ADDQ(lo, lo)
				a.XORQ(product, lo)
			}
		}
		a.VINSERTI128(operand.U8(1), reg.X9, reg.Y8, r)
	}
	a.steps("masks", []reg.Register{masks}, func() {
		for i, r := range data {
			a.VMOVDQU(r, at(masks, i))
		}
		a.Comment("Times x⁸")
		for i, r := range data {
			c := more[i]
			a.VPSRLDQ(operand.U8(15), r, c)
			a.VPSLLDQ(operand.U8(1), r, r)
			a.VPSLLQ(operand.U8(1), c, spare)
			a.VPSLLQ(operand.U8(2), c, spare2)
			a.VPXOR(c, r, r)
			a.VPSLLQ(operand.U8(7), c, c)
			a.VPXOR(spare, spare2, spare)
			a.VPXOR(c, r, r)
			a.VPXOR(spare, r, r)
		}
	}, func() { a.VMOVDQU(reg.X0, operand.Mem{Base: t}) })
}

// offsets builds the offsets of OCB. Which L are in seven of eight consecutive ones is always the same.
func (a *assembler) offsets() {
	a.text(stepBytes, "fillOffsetsAVX2", "func(offsets []byte, steps, l, offset *word128, i uint64)",
		"fillOffsetsAVX2 writes the offsets of the blocks behind block i, a multiple of 8, as fill does, and leaves the last one",
		"in offset. steps are the first seven of all, and the seventh again.")
	offsets, steps, l, offset, i, zeros := reg.RDI, reg.RSI, reg.RDX, reg.RBX, reg.R8, reg.R9
	a.Load(a.Param("offsets").Base(), offsets)
	a.Load(a.Param("steps"), steps)
	a.Load(a.Param("l"), l)
	a.Load(a.Param("offset"), offset)
	a.Load(a.Param("i"), i)
	a.VBROADCASTI128(operand.Mem{Base: offset}, base)
	a.VPXOR(zero, zero, zero)
	a.steps("offsets", []reg.Register{offsets}, func() {
		a.Comment("The eighth has the L of its number's zeros besides")
		a.ADDQ(operand.U8(8), i)
		a.BSFQ(i, zeros)
		a.SHLQ(operand.U8(4), zeros)
		a.VINSERTI128(operand.U8(1), operand.Mem{Base: l, Index: zeros, Scale: 1}, zero, spare)
		for n, r := range data {
			a.VPXOR(at(steps, n), base, r)
		}
		a.VPXOR(spare, data[3], data[3])
		for n, r := range data {
			a.VMOVDQU(r, at(offsets, n))
		}
		a.VPERM2I128(operand.U8(0x11), data[3], data[3], base)
	}, func() { a.VMOVDQU(baseX, operand.Mem{Base: offset}) })
}

// collect builds a transposition: rows of the blocks of two lanes that are side by side. An instruction less a block by
// doing two rows at a time gains nothing.
func (a *assembler) collect() {
	a.text(blockBytes, "collectAVX2", "func(rows, a, b []byte, row int)",
		"collectAVX2 writes the blocks of a and b, which are equally long and not empty, to rows that are row bytes apart: one",
		"of each.")
	a.lanes(func(rows, x, y operand.Mem) {
		a.VMOVDQU(x, reg.X0)
		a.VINSERTI128(operand.U8(1), y, reg.Y0, reg.Y0)
		a.VMOVDQU(reg.Y0, rows)
	})
}

func (a *assembler) distribute() {
	a.text(blockBytes, "distributeAVX2", "func(a, b, rows []byte, row int)",
		"distributeAVX2 writes the rows back: it is the inverse of collectAVX2.")
	a.lanes(func(rows, x, y operand.Mem) {
		a.VMOVDQU(rows, reg.X0)
		a.VMOVDQU(rows.Offset(blockBytes), reg.X1)
		a.VMOVDQU(reg.X0, x)
		a.VMOVDQU(reg.X1, y)
	})
}

// lanes builds the loop over the blocks of two lanes, and the end of the function.
func (a *assembler) lanes(block func(rows, x, y operand.Mem)) {
	rows, x, y, row, i := reg.RDI, reg.RSI, reg.RBX, reg.RDX, reg.RAX
	a.Load(a.Param("rows").Base(), rows)
	a.Load(a.Param("a").Base(), x)
	a.Load(a.Param("b").Base(), y)
	a.Load(a.Param("a").Len(), left)
	a.Load(a.Param("row"), row)
	a.XORL(i.As32(), i.As32())
	a.Label("next")
	block(operand.Mem{Base: rows}, operand.Mem{Base: x, Index: i, Scale: 1}, operand.Mem{Base: y, Index: i, Scale: 1})
	a.ADDQ(row, rows)
	a.ADDQ(operand.U8(blockBytes), i)
	a.CMPQ(i, left)
	a.JB(operand.LabelRef("next"))
	a.VZEROUPPER()
	a.RET()
}

// prefetch builds what a wide kernel's call, which takes long, hides: the way of the next part of a message to the cache.
func (a *assembler) prefetch() {
	a.text(stepBytes, "prefetchSSE", "func(b []byte)", "prefetchSSE has b brought to the first-level cache.")
	b := reg.RSI
	a.Load(a.Param("b").Base(), b)
	a.steps("b", []reg.Register{b}, func() {
		a.PREFETCHT0(operand.Mem{Base: b})
		a.PREFETCHT0(operand.Mem{Base: b, Disp: 64})
	}, nil)
}
