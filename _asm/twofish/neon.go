package main

import (
	"fmt"

	"github.com/twogather/twogather/_asm/internal/arm64"
)

// The shuffle strategy on NEON. A slice is the same byte of 16 blocks in one register. An S-box is 256 bytes, and TBL looks
// 16 indices up in 64 of them, with 0 for an index outside; so four TBLs, with the index lowered by 64 between them, look a
// slice up, and no address or branch depends on it. MDS is a few doublings of slices; the rest of a round works on words.
//
// Two groups of 16 blocks take turns: one is looked up while the other does the rest of its round. TBL with four registers
// keeps some of a processor's vector units busy for several cycles; so the XOR of a second TBL's result is cheaper than a
// TBX, which does the same in one instruction.
//
// Instructions a byte, counted, and cycles a byte of the round loop in llvm-mca 19's models of Neoverse N1, V1, V2 and
// Cortex-A55. Nobody has timed these kernels yet:
//
//	                                         instructions   N1    V1    V2   A55
//	one group, TBX                                   14.0  10.0   6.9   5.8  30.8
//	one group, TBL and XOR                           15.5   9.3   5.4   5.6  33.7
//	two groups that share loads of tables, TBX       13.3   9.9   6.2   4.9  24.4
//	likewise, TBL and XOR                            14.8   9.2   4.9   4.9  27.8
//	two groups in turns, TBL and XOR (this one)      15.8   9.2   4.5   4.5  29.5
//
// The last one keeps all vector units of N1, V1 and V2 busy in these models.
type neon struct {
	*arm64.File
	decrypt bool
}

const (
	groups        = 2 // of 16 blocks
	groupBytes    = 256
	sboxBytes     = 256
	tableBytes    = 4 * sboxBytes
	returnAddress = 8  // bytes at the stack pointer
	lineBytes     = 64 // the frame's parts are aligned to a cache line; the first has the return address
)

// Vector registers. Group i has its slices in registers 8i to 8i+7: first those of R0, then those of R1. Look-ups and the
// rest of a round use different registers, since one group's look-ups are woven into the rest of the other's round.
const (
	indices      arm64.V = 16 // two registers
	entries      arm64.V = 18
	sixtyFour    arm64.V = 19 // 64 in each byte: what one TBL covers
	spare        arm64.V = 20 // four registers
	tableQuarter arm64.V = 24 // four registers
	spare2       arm64.V = 28 // two more
	five         arm64.V = 30 // x²+1 in each byte
	reduction    arm64.V = 31 // x⁸ modulo the polynomial in each byte
)

// General registers.
const (
	scheduleArg arm64.X = 0
	dstArg      arm64.X = 1
	srcArg      arm64.X = 2
	leftArg     arm64.X = 3
	chainArg    arm64.X = 4
	count       arm64.X = 5 // the next block's counter
	sboxes      arm64.X = 6 // in the frame
	state       arm64.X = 7 // in the frame: two halves, each of them R0 and R1, or R2 and R3, of every group
	keys        arm64.X = 8
	roundsLeft  arm64.X = 9
	changed     arm64.X = 10 // the half that the round changes
	bothHalves  arm64.X = 11 // sum of the halves' addresses
	loadHalf    arm64.X = 12
	storeHalf   arm64.X = 13
	scratch     arm64.X = 14
	subkeys     arm64.X = 15
)

func (n *neon) batchBytes() int { return groupBytes * groups }
func (n *neon) halfBytes() int  { return n.batchBytes() / 2 }

// writeNEON builds the kernels of both directions.
func writeNEON(command string) *arm64.File {
	f := arm64.New(command, "twofish")
	for _, decrypt := range []bool{false, true} {
		(&neon{File: f, decrypt: decrypt}).kernel()
	}
	return f
}

// The operations of the field's mathematics on whole registers. Destinations come last.

func (n *neon) xor(a, b, to arm64.V) {
	n.Op("VEOR", arm64.Bytes16.Of(a), arm64.Bytes16.Of(b), arm64.Bytes16.Of(to))
}

func (n *neon) add(a, b, to arm64.V) {
	n.Op("VADD", arm64.Words4.Of(a), arm64.Words4.Of(b), arm64.Words4.Of(to))
}

// double multiplies each byte by x.
func (n *neon) double(v, to, temp arm64.V) {
	n.negative(v, temp)
	n.Op("VADD", arm64.Bytes16.Of(v), arm64.Bytes16.Of(v), arm64.Bytes16.Of(to))
	n.Op("VAND", arm64.Bytes16.Of(reduction), arm64.Bytes16.Of(temp), arm64.Bytes16.Of(temp))
	n.xor(temp, to, to)
}

// negative sets the bytes whose top bit is set to all ones, others to 0.
func (n *neon) negative(v, to arm64.V) {
	n.Word(0x4e20a800|uint32(v)<<5|uint32(to), "cmlt v%d.16b, v%d.16b, #0", int(to), int(v))
}

// product is that of polynomials over GF(2), without the bits above x⁷.
func (n *neon) product(a, b, to arm64.V) {
	n.Word(0x6e209c00|uint32(a)<<16|uint32(b)<<5|uint32(to), "pmul v%d.16b, v%d.16b, v%d.16b", int(to), int(b), int(a))
}

// mds multiplies columns of four slices by the MDS matrix. The tables hold a quarter of what the S-boxes do, as 01, 5B and
// EF are x², x²+1 and x²+x+1 times 1/4: with s = a0+a1+a2+a3 and c = (x²+1)s the rows are
//
//	c + x·a1 + a0,  c + x(a1+a2) + a3,  c + x(a0+a3) + a2,  c + x(a0+a2) + a1
//
// It returns where they are: in the registers of the last summands.
func (n *neon) mds(a [4]arm64.V) [4]arm64.V {
	a03, a12, a02, c, h, twice, temp := spare, spare+1, spare+2, spare+3, spare2, spare2, spare2+1
	n.xor(a[0], a[3], a03)
	n.xor(a[1], a[2], a12)
	n.xor(a[0], a[2], a02)
	n.xor(a03, a12, c)
	n.Op("VUSHR", 6, arm64.Bytes16.Of(c), arm64.Bytes16.Of(h)) // what x² shifts out
	n.product(c, five, c)
	n.product(h, reduction, h)
	n.xor(h, c, c)
	n.double(a[1], twice, temp)
	n.xor(c, a[0], a[0])
	n.xor(c, a[1], a[1])
	n.xor(c, a[2], a[2])
	n.xor(c, a[3], a[3])
	n.xor(twice, a[0], a[0])
	n.double(a12, twice, temp)
	n.xor(twice, a[3], a[3])
	n.double(a03, twice, temp)
	n.xor(twice, a[2], a[2])
	n.double(a02, twice, temp)
	n.xor(twice, a[1], a[1])
	return [4]arm64.V{a[0], a[3], a[2], a[1]}
}

// lookUp looks a group's slices up in the S-boxes.
func (n *neon) lookUp(g int) {
	x, y := n.slices(g)
	for j := range 4 {
		for q := range 4 {
			n.Op("VLD1.P", arm64.At(64, sboxes), arm64.Bytes16.Four(tableQuarter))
			for i, slice := range []arm64.V{x[j], y[j]} {
				index := indices + arm64.V(i)
				if q == 0 {
					n.Op("VSUB", arm64.Bytes16.Of(sixtyFour), arm64.Bytes16.Of(slice), arm64.Bytes16.Of(index))
					n.Op("VTBL", arm64.Bytes16.Of(slice), arm64.Bytes16.Four(tableQuarter), arm64.Bytes16.Of(slice))
					continue
				}
				n.Op("VTBL", arm64.Bytes16.Of(index), arm64.Bytes16.Four(tableQuarter), arm64.Bytes16.Of(entries))
				if q < 3 {
					n.Op("VSUB", arm64.Bytes16.Of(sixtyFour), arm64.Bytes16.Of(index), arm64.Bytes16.Of(index))
				}
				n.xor(entries, slice, slice)
			}
		}
	}
	n.Op("SUB", tableBytes, sboxes, sboxes)
}

// slices returns the slices of a group, of R0 and of ROL(R1, 8), in the order of the S-boxes.
func (n *neon) slices(g int) (x, y [4]arm64.V) {
	r := arm64.V(8 * g)
	return [4]arm64.V{r, r + 1, r + 2, r + 3}, [4]arm64.V{r + 7, r + 4, r + 5, r + 6}
}

// toWords puts the bytes of rows together: four words to a register, from the register to on.
func (n *neon) toWords(rows [4]arm64.V, to, temp arm64.V) {
	zip := func(half int, a arm64.Arrangement, low, high, to arm64.V) {
		n.Op(fmt.Sprintf("VZIP%d", half), a.Of(high), a.Of(low), a.Of(to))
	}
	zip(1, arm64.Bytes16, rows[0], rows[1], temp)
	zip(1, arm64.Bytes16, rows[2], rows[3], temp+1)
	zip(2, arm64.Bytes16, rows[0], rows[1], temp+2)
	zip(2, arm64.Bytes16, rows[2], rows[3], temp+3)
	zip(1, arm64.Halves8, temp, temp+1, to)
	zip(2, arm64.Halves8, temp, temp+1, to+1)
	zip(1, arm64.Halves8, temp+2, temp+3, to+2)
	zip(2, arm64.Halves8, temp+2, temp+3, to+3)
}

// toSlices takes the words in four registers apart, in place.
func (n *neon) toSlices(words, temp arm64.V) {
	unzip := func(odd int, first, second, to arm64.V) {
		n.Op(fmt.Sprintf("VUZP%d", 1+odd), arm64.Bytes16.Of(second), arm64.Bytes16.Of(first), arm64.Bytes16.Of(to))
	}
	for odd := range 2 {
		unzip(odd, words, words+1, temp+arm64.V(2*odd))
		unzip(odd, words+2, words+3, temp+arm64.V(2*odd)+1)
	}
	for odd := range 2 {
		for i := range arm64.V(2) {
			unzip(odd, temp+2*i, temp+2*i+1, words+arm64.V(2*odd)+i)
		}
	}
}

// rest is what follows a group's look-ups in a round: MDS, the pseudo-Hadamard transform, the round's keys, and the
// rotations into the other half, whose words are stored and become slices.
func (n *neon) rest(g int) {
	x, y := n.slices(g)
	t0 := arm64.V(8 * g)
	t1 := t0 + 4
	n.toWords(n.mds(x), t0, spare)
	n.toWords(n.mds(y), t1, spare)
	k0, k1 := spare2, spare2+1
	n.Op("VLD2R", arm64.At(0, keys), fmt.Sprintf("[%s, %s]", arm64.Words4.Of(k0), arm64.Words4.Of(k1)))
	for i := range arm64.V(4) {
		f0, f1, c, d := t0+i, t1+i, spare, spare+1
		n.Op("FMOVQ", arm64.At(128*g+16*int(i), changed), fmt.Sprintf("F%d", int(c)))
		n.Op("FMOVQ", arm64.At(128*g+64+16*int(i), changed), fmt.Sprintf("F%d", int(d)))
		n.add(f1, f0, f0)
		n.add(f0, f1, f1)
		n.add(k0, f0, f0)
		n.add(k1, f1, f1)
		if n.decrypt {
			n.left(c, f0)
			n.right(d, f1)
		} else {
			n.right(c, f0)
			n.left(d, f1)
		}
	}
	if g == 0 {
		n.Op("MOVD", changed, scratch)
	} else {
		n.Op("ADD", n.halfBytes()/groups*g, changed, scratch)
	}
	n.Op("VST1.P", arm64.Words4.Four(t0), arm64.At(64, scratch))
	n.Op("VST1", arm64.Words4.Four(t1), arm64.At(0, scratch))
	n.toSlices(t0, spare)
	n.toSlices(t1, spare)
}

// left makes f ROL(r, 1) ^ f.
func (n *neon) left(r, f arm64.V) {
	n.add(r, r, spare+2)
	n.Op("VSRI", 31, arm64.Words4.Of(r), arm64.Words4.Of(spare+2))
	n.xor(spare+2, f, f)
}

// right makes f ROR(r ^ f, 1).
func (n *neon) right(r, f arm64.V) {
	n.xor(f, r, r)
	n.Op("VUSHR", 1, arm64.Words4.Of(r), arm64.Words4.Of(f))
	n.Op("VSLI", 31, arm64.Words4.Of(r), arm64.Words4.Of(f))
}

// kernel builds one function.
func (n *neon) kernel() {
	verb, does, chain := "encrypt", "encrypts", "counter"
	mode := "With a counter, it XORs src with the encryptions of counter, counter+1 and so on instead; the last four bytes must not wrap."
	if n.decrypt {
		verb, does, chain = "decrypt", "decrypts", "iv"
		mode = "With an IV, it decrypts in CBC mode, and the IV becomes the last block of src."
	}
	name := verb + "NEON"
	frame := lineBytes + tableBytes + 2*n.halfBytes()
	n.Function(name, fmt.Sprintf("(s *schedule, dst, src []byte, %s *[16]byte)", chain), frame, 64,
		fmt.Sprintf("%s %s the blocks of src, a multiple of %d, into dst, as %sGeneric does.", name, does, 16*groups, verb),
		mode, "S-boxes are looked up in registers; time does not depend on keys or data.")
	n.Op("MOVD", "s+0(FP)", scheduleArg)
	n.Op("MOVD", "dst_base+8(FP)", dstArg)
	n.Op("MOVD", "src_base+32(FP)", srcArg)
	n.Op("MOVD", "src_len+40(FP)", leftArg)
	n.Op("MOVD", chain+"+56(FP)", chainArg)
	n.Op("CMP", n.batchBytes(), leftArg)
	n.Op("BLO", "done")
	if !n.decrypt {
		n.Op("CBZ", chainArg, "tables")
		n.Op("MOVWU", arm64.At(12, chainArg), count)
		n.Op("REVW", count, count)
	}
	n.Label("tables")
	n.quarters()

	n.Label("batch")
	n.load()
	n.Comment("Rounds")
	n.Op("VMOVI", 64, arm64.Bytes16.Of(sixtyFour))
	n.Op("VMOVI", 0x169&0xff, arm64.Bytes16.Of(reduction))
	n.Op("VMOVI", 5, arm64.Bytes16.Of(five))
	first := firstRoundKey
	if n.decrypt {
		first += 2 * (rounds - 1)
	}
	n.Op("ADD", 4*first, subkeys, keys)
	n.Op("ADD", n.halfBytes(), state, changed)
	n.Op("ADD", changed, state, bothHalves)
	n.Op("MOVD", rounds, roundsLeft)
	n.Comment("The first look-ups of group 0")
	n.lookUp(0)
	n.Label("round")
	n.Comment("Look-ups of group 1, MDS and PHT of group 0")
	n.Weave(func() { n.lookUp(1) }, func() { n.rest(0) })
	n.Op("SUB", 1, roundsLeft, roundsLeft)
	n.Op("CBZ", roundsLeft, "last")
	n.Comment("Look-ups of group 0, MDS and PHT of group 1")
	n.Weave(func() { n.lookUp(0) }, func() { n.rest(1) })
	n.Op("SUB", changed, bothHalves, changed)
	if n.decrypt {
		n.Op("SUB", 8, keys, keys)
	} else {
		n.Op("ADD", 8, keys, keys)
	}
	n.Op("B", "round")
	n.Label("last")
	n.Comment("MDS and PHT of group 1")
	n.rest(1)

	n.store()
	n.Op("ADD", n.batchBytes(), srcArg, srcArg)
	n.Op("SUB", n.batchBytes(), leftArg, leftArg)
	n.Op("CMP", n.batchBytes(), leftArg)
	n.Op("BHS", "batch")
	n.Label("done")
	n.Op("RET")
}

// quarters makes the tables that mds wants: a byte of an entry where the MDS matrix has 01, XORed with one where it has 5B,
// is a quarter of the S-box's byte.
func (n *neon) quarters() {
	n.Op("ADD", returnAddress+lineBytes-1, "RSP", sboxes)
	n.Op("AND", fmt.Sprintf("$~%d", lineBytes-1), sboxes, sboxes)
	n.Op("ADD", tableBytes, sboxes, state)
	n.Op("ADD", subkeysOffset, scheduleArg, subkeys)
	n.Op("MOVD", scheduleArg, loadHalf)
	n.Op("MOVD", sboxes, storeHalf)
	for j := range mds {
		one, fiveB := -1, -1
		for i := range mds {
			switch mds[i][j] {
			case 0x01:
				one = i
			case 0x5b:
				fiveB = i
			}
		}
		n.Comment("S-box %d: a quarter of it is byte %d + byte %d of the entries", j, one, fiveB)
		n.Op("MOVD", 4, scratch)
		n.Label(fmt.Sprintf("table%d", j))
		for i := range arm64.V(4) {
			n.Op("VLD4.P", arm64.At(64, loadHalf), arm64.Bytes16.Four(4*i))
			n.xor(4*i+arm64.V(one), 4*i+arm64.V(fiveB), 16+i)
		}
		n.Op("VST1.P", arm64.Bytes16.Four(16), arm64.At(64, storeHalf))
		n.Op("SUB", 1, scratch, scratch)
		n.Op("CBNZ", scratch, fmt.Sprintf("table%d", j))
	}
}

// load reads a batch, four words of a kind to a register, or makes counters, and whitens it.
func (n *neon) load() {
	in := inputWhitening
	if n.decrypt {
		in = outWhitening
	}
	const whitening, read arm64.V = 24, 28
	word := func(g, w, i int) arm64.V { return arm64.V(8*g + 4*w + i) }
	rest := func(g int) {
		n.Op("VST1.P", arm64.Words4.Four(word(g, 0, 0)), arm64.At(64, loadHalf))
		n.Op("VST1.P", arm64.Words4.Four(word(g, 1, 0)), arm64.At(64, loadHalf))
		n.Op("VST1.P", arm64.Words4.Four(word(g, 2, 0)), arm64.At(64, storeHalf))
		n.Op("VST1.P", arm64.Words4.Four(word(g, 3, 0)), arm64.At(64, storeHalf))
		n.toSlices(word(g, 0, 0), whitening)
		n.toSlices(word(g, 1, 0), read)
	}
	n.Op("MOVD", state, loadHalf)
	n.Op("ADD", n.halfBytes(), state, storeHalf)
	n.Op("ADD", 4*in, subkeys, keys)
	if !n.decrypt {
		n.Op("CBNZ", chainArg, "counters")
	}
	n.Op("MOVD", srcArg, scratch)
	for g := range groups {
		n.Comment("Group %d: load, one word of four blocks to a register, and whiten", g)
		n.Op("VLD4R", arm64.At(0, keys), arm64.Words4.Four(whitening))
		for i := range 4 {
			n.Op("VLD4.P", arm64.At(64, scratch), arm64.Words4.Four(read))
			for w := range 4 {
				n.xor(whitening+arm64.V(w), read+arm64.V(w), word(g, w, i))
			}
		}
		rest(g)
	}
	if n.decrypt {
		return
	}
	n.Op("B", "loaded")
	n.Label("counters")
	for g := range groups {
		n.Comment("Group %d: make counters, whose last word counts and has its bytes in the other order, and whiten", g)
		n.Op("VLD4R", arm64.At(0, keys), arm64.Words4.Four(whitening))
		n.Op("VLD4R", arm64.At(0, chainArg), arm64.Words4.Four(read))
		numbers := read + 3
		n.Op("MOVD", "$0x0000000100000000", scratch)
		n.Op("VMOV", scratch, numbers.String()+".D[0]")
		n.Op("MOVD", "$0x0000000300000002", scratch)
		n.Op("VMOV", scratch, numbers.String()+".D[1]")
		for i := range 4 {
			for w := range 3 {
				n.xor(whitening+arm64.V(w), read+arm64.V(w), word(g, w, i))
			}
			last := word(g, 3, i)
			n.Op("VDUP", count, arm64.Words4.Of(last))
			n.add(numbers, last, last)
			n.Op("VREV32", arm64.Bytes16.Of(last), arm64.Bytes16.Of(last))
			n.xor(whitening+3, last, last)
			n.Op("ADD", 4, count, count)
		}
		rest(g)
	}
	n.Label("loaded")
}

// store whitens the batch, whose halves the last round should not have swapped, and writes it to dst, or XORed with src for
// a counter, or with the blocks before in CBC mode.
func (n *neon) store() {
	out := outWhitening
	if n.decrypt {
		out = inputWhitening
	}
	const whitening, result arm64.V = 16, 20
	before, read := arm64.V(24), arm64.V(28)
	n.Op("ADD", 4*out, subkeys, keys)
	n.Op("VLD4R", arm64.At(0, keys), arm64.Words4.Four(whitening))
	n.Op("MOVD", state, loadHalf)
	n.Op("ADD", n.halfBytes(), state, storeHalf)
	write := func(g int, chained bool) {
		n.Comment("Group %d: whiten and store", g)
		for w := range 4 {
			half := storeHalf
			if w >= 2 {
				half = loadHalf
			}
			n.Op("VLD1.P", arm64.At(64, half), arm64.Words4.Four(arm64.V(4*w)))
		}
		for i := range 4 {
			if chained {
				n.Op("VLD4.P", arm64.At(64, scratch), arm64.Words4.Four(read))
			}
			for w := range 4 {
				r := result + arm64.V(w)
				n.xor(whitening+arm64.V(w), arm64.V(4*w+i), r)
				switch b := before + arm64.V(w); {
				case chained && n.decrypt:
					n.Op("VEXT", 12, arm64.Bytes16.Of(read+arm64.V(w)), arm64.Bytes16.Of(b), arm64.Bytes16.Of(b))
					n.xor(b, r, r)
				case chained:
					n.xor(read+arm64.V(w), r, r)
				}
			}
			n.Op("VST4.P", arm64.Words4.Four(result), arm64.At(64, dstArg))
			before, read = read, before
		}
	}
	n.Op("CBNZ", chainArg, "chained")
	for g := range groups {
		write(g, false)
	}
	n.Op("B", "stored")
	n.Label("chained")
	if n.decrypt {
		n.Comment("XOR with the blocks before; the last of src is the next IV")
		n.Op("VLD4R", arm64.At(0, chainArg), arm64.Words4.Four(before))
		last := n.batchBytes() - 16
		n.Op("LDP", arm64.At(last, srcArg), fmt.Sprintf("(%s, %s)", scratch, count))
		n.Op("STP", fmt.Sprintf("(%s, %s)", scratch, count), arm64.At(0, chainArg))
	} else {
		n.Comment("XOR with src")
	}
	n.Op("MOVD", srcArg, scratch)
	for g := range groups {
		write(g, true)
	}
	n.Label("stored")
}
