package main

import (
	"go/token"
	"go/types"

	"github.com/mmcloughlin/avo/attr"
	"github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/gotypes"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// GHASH by carry-less multiplication, in the reversed field that package ghash describes. A row is as many blocks as a
// register holds. It is multiplied by as many powers of the key, and the parts of the products are added up over the rows
// of a group: low, high, and what lies in the middle. Then one reduction serves the group.
//
// The sum so far belongs to a group's first row. That row comes last, so that the others' products need not wait for the
// sum: only half of the chain from one sum to the next is left, less than what the products take.
//
// What is left after the last whole group meets the last powers: rows first, then blocks one by one.
type hasher struct {
	*build.Context
	width    int // of a register, in bytes
	swap     operand.Mem
	modulus  operand.Mem
	function string
}

const (
	blockBytes  = 16
	powersBytes = 32 * blockBytes
	rows        = 8 // of a group
)

// A vec is a vector register by its names.
type vec struct{ x, y, z reg.Register }

// of is the register's name at a width.
func (v vec) of(width int) reg.Register {
	switch width {
	case 64:
		return v.z
	case 32:
		return v.y
	}
	return v.x
}

// Registers. The kernels for AVX2 and SSE have sixteen vector registers.
var (
	powers, dataPointer = reg.RDI, reg.RSI
	left, sumPointer    = reg.RCX, reg.RDX
	power               = reg.R8

	sum, swapBytes, q = vec{reg.X0, reg.Y0, reg.Z0}, vec{reg.X1, reg.Y1, reg.Z1}, vec{reg.X2, reg.Y2, reg.Z2}
	low, mid, high    = vec{reg.X3, reg.Y3, reg.Z3}, vec{reg.X4, reg.Y4, reg.Z4}, vec{reg.X5, reg.Y5, reg.Z5}
	row, rowSum       = vec{reg.X6, reg.Y6, reg.Z6}, vec{reg.X7, reg.Y7, reg.Z7}
	key, keySum       = vec{reg.X8, reg.Y8, reg.Z8}, vec{reg.X9, reg.Y9, reg.Z9}
	product, product2 = vec{reg.X10, reg.Y10, reg.Z10}, vec{reg.X11, reg.Y11, reg.Z11}
	product3          = vec{reg.X12, reg.Y12, reg.Z12}
)

// writeProducts builds the kernels of all widths.
func writeProducts() *build.Context {
	h := hasher{Context: build.NewContext()}
	h.ConstraintExpr("!purego")
	h.swap = h.StaticGlobal("swapBytes")
	h.DataAttributes(attr.RODATA | attr.NOPTR)
	for i := range blockBytes {
		h.AddDatum(i, operand.U8(blockBytes-1-i))
	}
	h.modulus = h.StaticGlobal("modulus")
	h.DataAttributes(attr.RODATA | attr.NOPTR)
	for i := range 2 {
		h.AddDatum(8*i, operand.U64(1<<63|1<<62|1<<57))
	}
	for _, k := range []struct {
		function, how string
		width         int
	}{
		{"updateAVX512", "Products are four blocks wide.", 64},
		{"updateAVX2", "Products are two blocks wide.", 32},
		{"updateSSE", "Products are one block wide.", 16},
	} {
		h.function, h.width = k.function, k.width
		h.kernel(k.how)
	}
	return h.Context
}

// The operations on registers, at the width of the kernel or at w. Destinations come last.

func (h *hasher) load(from operand.Mem, to vec, w int) {
	switch {
	case h.width == 16:
		h.MOVOU(from, to.x)
	case w == 64:
		h.VMOVDQU64(from, to.z)
	default:
		h.VMOVDQU(from, to.of(w))
	}
}

// broadcast loads 16 bytes into all blocks of a register.
func (h *hasher) broadcast(from operand.Mem, to vec) {
	switch h.width {
	case 64:
		h.VBROADCASTI64X2(from, to.z)
	case 32:
		h.VBROADCASTI128(from, to.y)
	default:
		h.MOVOU(from, to.x)
	}
}

func (h *hasher) reverse(v vec, w int) {
	if h.width == 16 {
		h.PSHUFB(swapBytes.x, v.x)
	} else {
		h.VPSHUFB(swapBytes.of(w), v.of(w), v.of(w))
	}
}

func (h *hasher) clear(v vec) {
	if h.width == 16 {
		h.PXOR(v.x, v.x)
	} else {
		h.VPXOR(v.x, v.x, v.x) // and what is above
	}
}

func (h *hasher) add(a, to vec, w int) {
	switch {
	case h.width == 16:
		h.PXOR(a.x, to.x)
	case w == 64:
		h.VPXORQ(a.z, to.z, to.z)
	default:
		h.VPXOR(a.of(w), to.of(w), to.of(w))
	}
}

// add2 adds a and b to a third.
func (h *hasher) add2(a, b, to vec) {
	if h.width == 64 {
		h.VPTERNLOGQ(operand.U8(0x96), a.z, b.z, to.z)
		return
	}
	h.add(a, to, h.width)
	h.add(b, to, h.width)
}

// multiply makes the products of a word of each block in a and of one in b: of the high words where highA and highB are 1.
func (h *hasher) multiply(highA, highB int, a, b, to vec, w int) {
	which := operand.U8(highA | highB<<4)
	if h.width == 16 {
		h.MOVO(a.x, to.x)
		h.PCLMULQDQ(which, b.x, to.x)
		return
	}
	h.VPCLMULQDQ(which, b.of(w), a.of(w), to.of(w))
}

// shift moves a word up or down, in each block.
func (h *hasher) shift(up bool, a, to vec) {
	switch {
	case h.width == 16:
		h.MOVO(a.x, to.x)
		if up {
			h.PSLLDQ(operand.U8(8), to.x)
		} else {
			h.PSRLDQ(operand.U8(8), to.x)
		}
	case up:
		h.VPSLLDQ(operand.U8(8), a.of(h.width), to.of(h.width))
	default:
		h.VPSRLDQ(operand.U8(8), a.of(h.width), to.of(h.width))
	}
}

// exchange swaps the words of each block.
func (h *hasher) exchange(a, to vec, w int) {
	const swapWords = 0x4e
	if h.width == 16 {
		h.PSHUFD(operand.U8(swapWords), a.x, to.x)
	} else {
		h.VPSHUFD(operand.U8(swapWords), a.of(w), to.of(w))
	}
}

// at is memory at a displacement.
func at(displacement int, base reg.Register) operand.Mem {
	return operand.Mem{Base: base, Disp: displacement}
}

// products multiplies the row by the key at an address and adds to low, mid and high, or, where they have nothing yet, sets
// them. Karatsuba's method saves one of four products of words: mid is the product of the sums of words, to which low and
// high are added in the end.
func (h *hasher) products(at operand.Mem, w int, first bool) {
	h.load(at, key, w)
	h.load(at.Offset(powersBytes), keySum, w)
	h.exchange(row, rowSum, w)
	h.add(row, rowSum, w)
	if first {
		h.multiply(0, 0, row, key, low, w)
		h.multiply(1, 1, row, key, high, w)
		h.multiply(0, 0, rowSum, keySum, mid, w)
		return
	}
	h.multiply(0, 0, row, key, product, w)
	h.multiply(1, 1, row, key, product2, w)
	h.multiply(0, 0, rowSum, keySum, product3, w)
	h.add(product, low, h.width)
	h.add(product2, high, h.width)
	h.add(product3, mid, h.width)
}

// reduce makes the sum of low, mid and high: each block by itself, then their sum.
func (h *hasher) reduce() {
	h.Comment("Add the middle to low and high")
	h.add2(low, high, mid)
	h.shift(true, mid, product)
	h.shift(false, mid, product2)
	h.add(product, low, h.width)
	h.add(product2, high, h.width)
	h.Comment("Clear both words of low")
	for range 2 {
		h.multiply(0, 0, low, q, product, h.width)
		h.exchange(low, low, h.width)
		h.add(product, low, h.width)
	}
	h.add(high, low, h.width)
	switch h.width {
	case 64:
		h.Comment("Add the blocks")
		h.VEXTRACTI64X4(operand.U8(1), low.z, product.y)
		h.VPXOR(product.y, low.y, low.y)
		fallthrough
	case 32:
		h.VEXTRACTI128(operand.U8(1), low.y, product.x)
		h.VPXOR(product.x, low.x, sum.x)
	default:
		h.MOVO(low.x, sum.x)
	}
}

func (h *hasher) kernel(how string) {
	pkg := types.NewPackage("github.com/twogather/twogather/internal/ghash", "ghash")
	name := types.NewTypeName(token.NoPos, pkg, "powers", nil)
	types.NewNamed(name, types.NewStruct(nil, nil), nil)
	pkg.Scope().Insert(name)
	h.Function(h.function)
	signature, err := gotypes.ParseSignatureInPackage(pkg, "func(p *powers, y *[16]byte, data []byte)")
	if err != nil {
		panic(err)
	}
	h.Signature(signature)
	h.Pragma("noescape")
	h.Doc(h.function+" updates y with the blocks of data, as updateGeneric does.", how)

	h.Load(h.Param("p"), powers)
	h.Load(h.Param("y"), sumPointer)
	h.Load(h.Param("data").Base(), dataPointer)
	h.Load(h.Param("data").Len(), left)
	h.broadcast(h.swap, swapBytes)
	h.broadcast(h.modulus, q)
	h.load(at(0, sumPointer), sum, blockBytes)
	h.reverse(sum, blockBytes)

	group := rows * h.width
	first := powersBytes - group
	h.CMPQ(left, operand.U32(group))
	h.JB(operand.LabelRef("rest"))
	h.Label("group")
	h.Comment("Multiply the rows of a group, the first one last")
	for i := rows - 1; i >= 0; i-- {
		h.load(at(i*h.width, dataPointer), row, h.width)
		h.reverse(row, h.width)
		if i == 0 {
			h.add(sum, row, h.width)
		}
		h.products(at(first+i*h.width, powers), h.width, i == rows-1)
	}
	h.reduce()
	h.ADDQ(operand.U32(group), dataPointer)
	h.SUBQ(operand.U32(group), left)
	h.CMPQ(left, operand.U32(group))
	h.JAE(operand.LabelRef("group"))

	h.Label("rest")
	h.TESTQ(left, left)
	h.JEQ(operand.LabelRef("done"))
	h.Comment("What is left ends with the first power, which is the last of the table")
	h.LEAQ(at(powersBytes, powers), power)
	h.SUBQ(left, power)
	h.clear(low)
	h.clear(mid)
	h.clear(high)
	step := func(w int) {
		h.load(at(0, dataPointer), row, w)
		h.reverse(row, w)
		h.add(sum, row, w)
		h.clear(sum)
		h.products(at(0, power), w, false)
		h.ADDQ(operand.U32(w), dataPointer)
		h.ADDQ(operand.U32(w), power)
		h.SUBQ(operand.U32(w), left)
	}
	if h.width > blockBytes {
		h.CMPQ(left, operand.U32(h.width))
		h.JB(operand.LabelRef("block"))
		h.Label("row")
		step(h.width)
		h.CMPQ(left, operand.U32(h.width))
		h.JAE(operand.LabelRef("row"))
		h.TESTQ(left, left)
		h.JEQ(operand.LabelRef("added"))
	}
	h.Label("block")
	step(blockBytes)
	h.JNE(operand.LabelRef("block"))
	h.Label("added")
	h.reduce()

	h.Label("done")
	h.reverse(sum, blockBytes)
	if h.width == blockBytes {
		h.MOVOU(sum.x, at(0, sumPointer))
	} else {
		h.VMOVDQU(sum.x, at(0, sumPointer))
		h.VZEROUPPER()
	}
	h.RET()
}
