package arm64

import "fmt"

// Go's assembler knows no SVE: its instructions stand as WORDs, with what binutils calls them beside. A test assembles the
// names again. How a register is read, and how long one is, the processor says: code must be right for 16 to 256 bytes.

type (
	// Z is a scalable vector register, Z0 to Z31. Its first 16 bytes are V's.
	Z int
	// P is a predicate register: which bytes of a vector an instruction is about. Most can name P0 to P7 only.
	P int
)

func (z Z) String() string { return fmt.Sprintf("z%d", int(z)) }

func (z Z) bytes() string { return z.String() + ".b" }

func (p P) String() string { return fmt.Sprintf("p%d", int(p)) }

// sve names a general register as binutils does, if it is ours to use.
func (x X) sve() string { return "x" + x.String()[1:] }

// field returns a register's or a number's bits from a place on.
func field[T ~int](v T, bits, at int) uint32 {
	if v < 0 || int(v) >= 1<<bits {
		panic(fmt.Sprintf("%d does not fit in %d bits", int(v), bits))
	}
	return uint32(v) << at
}

// three prints an instruction with two sources and a destination.
func (f *File) three(encoding uint32, name, element string, a, b, to Z) {
	f.Word(encoding|field(b, 5, 16)|field(a, 5, 5)|field(to, 5, 0), "%s %v.%s, %v.%s, %v.%s", name, to, element, a, element, b, element)
}

// ZEor sets to to a ^ b.
func (f *File) ZEor(a, b, to Z) { f.three(0x04a03000, "eor", "d", a, b, to) }

// ZAnd sets to to a & b.
func (f *File) ZAnd(a, b, to Z) { f.three(0x04203000, "and", "d", a, b, to) }

// ZAdd sets the bytes of to to those of a + b.
func (f *File) ZAdd(a, b, to Z) { f.three(0x04200000, "add", "b", a, b, to) }

// ZMov sets to to a.
func (f *File) ZMov(a, to Z) {
	f.Word(0x04603000|field(a, 5, 16)|field(a, 5, 5)|field(to, 5, 0), "mov %v.d, %v.d", to, a)
}

// ZShiftRight shifts the bytes of a right.
func (f *File) ZShiftRight(shift int, a, to Z) {
	f.Word(0x04209400|field(16-shift, 4, 16)|field(a, 5, 5)|field(to, 5, 0), "lsr %v, %v, #%d", to.bytes(), a.bytes(), shift)
}

// ZTable looks the bytes of index up in table.
func (f *File) ZTable(index, table, to Z) {
	f.Word(0x05203000|field(index, 5, 16)|field(table, 5, 5)|field(to, 5, 0), "tbl %v, {%v}, %v", to.bytes(), table.bytes(), index.bytes())
}

// ZFill sets all bytes to a number below 128.
func (f *File) ZFill(n int, to Z) {
	f.Word(0x2538c000|field(n, 7, 5)|field(to, 5, 0), "mov %v, #%d", to.bytes(), n)
}

// ZEorIf adds a to those bytes of to that p has.
func (f *File) ZEorIf(p P, a, to Z) {
	f.Word(0x04190000|field(p, 3, 10)|field(a, 5, 5)|field(to, 5, 0), "eor %v, %v/m, %v, %v", to.bytes(), p, to.bytes(), a.bytes())
}

// ZNegative sets to to the bytes of p whose top bit in a is set.
func (f *File) ZNegative(p P, a Z, to P) {
	f.Word(0x25002000|field(p, 3, 10)|field(a, 5, 5)|field(to, 4, 0), "cmplt %v.b, %v/z, %v, #0", to, p, a.bytes())
}

// PAll sets to to all bytes.
func (f *File) PAll(to P) { f.Word(0x2518e3e0|field(to, 4, 0), "ptrue %v.b", to) }

// PWhile sets to to as many bytes as lie from a up to b. If there are any, BMI jumps afterwards.
func (f *File) PWhile(a, b X, to P) {
	f.Word(0x25201c00|field(b, 5, 16)|field(a, 5, 5)|field(to, 4, 0), "whilelo %v.b, %s, %s", to, a.sve(), b.sve())
}

// XAddVectors adds the bytes of n vectors to x.
func (f *File) XAddVectors(n int, x X) {
	f.Word(0x0430e3e0|field(n-1, 4, 16)|field(x, 5, 0), "incb %s, all, mul #%d", x.sve(), n)
}

// XVectors sets x to the bytes of n vectors.
func (f *File) XVectors(n int, x X) {
	f.Word(0x0420e3e0|field(n-1, 4, 16)|field(x, 5, 0), "cntb %s, all, mul #%d", x.sve(), n)
}

// XCount sets x to the number of bytes that p has.
func (f *File) XCount(p P, x X) {
	f.Word(0x25208000|field(p, 4, 10)|field(p, 4, 5)|field(x, 5, 0), "cntp %s, %v, %v.b", x.sve(), p, p)
}

// ZLoad loads the bytes that p has, n vectors behind base, and sets others to 0.
func (f *File) ZLoad(p P, n int, base X, to Z) {
	f.Word(0xa400a000|field(n, 3, 16)|field(p, 3, 10)|field(base, 5, 5)|field(to, 5, 0), "ld1b {%v}, %v/z, [%s, #%d, mul vl]", to.bytes(), p, base.sve(), n)
}

// ZLoadAt is ZLoad at the sum of base and index.
func (f *File) ZLoadAt(p P, base, index X, to Z) {
	f.Word(0xa4004000|field(index, 5, 16)|field(p, 3, 10)|field(base, 5, 5)|field(to, 5, 0), "ld1b {%v}, %v/z, [%s, %s]", to.bytes(), p, base.sve(), index.sve())
}

// ZStore stores the bytes that p has, n vectors behind base.
func (f *File) ZStore(p P, from Z, n int, base X) {
	f.Word(0xe400e000|field(n, 3, 16)|field(p, 3, 10)|field(base, 5, 5)|field(from, 5, 0), "st1b {%v}, %v, [%s, #%d, mul vl]", from.bytes(), p, base.sve(), n)
}

// ZStoreAt is ZStore at the sum of base and index.
func (f *File) ZStoreAt(p P, from Z, base, index X) {
	f.Word(0xe4004000|field(index, 5, 16)|field(p, 3, 10)|field(base, 5, 5)|field(from, 5, 0), "st1b {%v}, %v, [%s, %s]", from.bytes(), p, base.sve(), index.sve())
}

// ZLoadTable loads the 16 bytes at a multiple of 16 behind base, over and over.
func (f *File) ZLoadTable(p P, displacement int, base X, to Z) {
	f.Word(0xa4002000|field(displacement/16, 3, 16)|field(p, 3, 10)|field(base, 5, 5)|field(to, 5, 0), "ld1rqb {%v}, %v/z, [%s, #%d]", to.bytes(), p, base.sve(), displacement)
}
