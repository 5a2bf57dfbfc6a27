package main

import "fmt"

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
	*arm64File
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
	indices      vreg = 16 // two registers
	entries      vreg = 18
	sixtyFour    vreg = 19 // 64 in each byte: what one TBL covers
	spare        vreg = 20 // four registers
	tableQuarter vreg = 24 // four registers
	spare2       vreg = 28 // two more
	five         vreg = 30 // x²+1 in each byte
	reduction    vreg = 31 // x⁸ modulo the polynomial in each byte
)

// General registers.
const (
	scheduleArg xreg = 0
	dstArg      xreg = 1
	srcArg      xreg = 2
	leftArg     xreg = 3
	chainArg    xreg = 4
	count       xreg = 5 // the next block's counter
	sboxes      xreg = 6 // in the frame
	state       xreg = 7 // in the frame: two halves, each of them R0 and R1, or R2 and R3, of every group
	keys        xreg = 8
	roundsLeft  xreg = 9
	changed     xreg = 10 // the half that the round changes
	bothHalves  xreg = 11 // sum of the halves' addresses
	loadHalf    xreg = 12
	storeHalf   xreg = 13
	scratch     xreg = 14
	subkeys     xreg = 15
)

func (n *neon) batchBytes() int { return groupBytes * groups }
func (n *neon) halfBytes() int  { return n.batchBytes() / 2 }

// writeNEON builds the kernels of both directions.
func writeNEON(command string) *arm64File {
	f := newARM64(command)
	for _, decrypt := range []bool{false, true} {
		(&neon{arm64File: f, decrypt: decrypt}).kernel()
	}
	return f
}

// The operations of the field's mathematics on whole registers. Destinations come last.

func (n *neon) xor(a, b, to vreg) { n.op("VEOR", bytes16.of(a), bytes16.of(b), bytes16.of(to)) }

func (n *neon) add(a, b, to vreg) { n.op("VADD", words4.of(a), words4.of(b), words4.of(to)) }

// double multiplies each byte by x.
func (n *neon) double(v, to, temp vreg) {
	n.negative(v, temp)
	n.op("VADD", bytes16.of(v), bytes16.of(v), bytes16.of(to))
	n.op("VAND", bytes16.of(reduction), bytes16.of(temp), bytes16.of(temp))
	n.xor(temp, to, to)
}

// negative sets the bytes whose top bit is set to all ones, others to 0.
func (n *neon) negative(v, to vreg) {
	n.word(0x4e20a800|uint32(v)<<5|uint32(to), "cmlt v%d.16b, v%d.16b, #0", int(to), int(v))
}

// product is that of polynomials over GF(2), without the bits above x⁷.
func (n *neon) product(a, b, to vreg) {
	n.word(0x6e209c00|uint32(a)<<16|uint32(b)<<5|uint32(to), "pmul v%d.16b, v%d.16b, v%d.16b", int(to), int(b), int(a))
}

// mds multiplies columns of four slices by the MDS matrix. The tables hold a quarter of what the S-boxes do, as 01, 5B and
// EF are x², x²+1 and x²+x+1 times 1/4: with s = a0+a1+a2+a3 and c = (x²+1)s the rows are
//
//	c + x·a1 + a0,  c + x(a1+a2) + a3,  c + x(a0+a3) + a2,  c + x(a0+a2) + a1
//
// It returns where they are: in the registers of the last summands.
func (n *neon) mds(a [4]vreg) [4]vreg {
	a03, a12, a02, c, h, twice, temp := spare, spare+1, spare+2, spare+3, spare2, spare2, spare2+1
	n.xor(a[0], a[3], a03)
	n.xor(a[1], a[2], a12)
	n.xor(a[0], a[2], a02)
	n.xor(a03, a12, c)
	n.op("VUSHR", 6, bytes16.of(c), bytes16.of(h)) // what x² shifts out
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
	return [4]vreg{a[0], a[3], a[2], a[1]}
}

// lookUp looks a group's slices up in the S-boxes.
func (n *neon) lookUp(g int) {
	x, y := n.slices(g)
	for j := range 4 {
		for q := range 4 {
			n.op("VLD1.P", at(64, sboxes), bytes16.four(tableQuarter))
			for i, slice := range []vreg{x[j], y[j]} {
				index := indices + vreg(i)
				if q == 0 {
					n.op("VSUB", bytes16.of(sixtyFour), bytes16.of(slice), bytes16.of(index))
					n.op("VTBL", bytes16.of(slice), bytes16.four(tableQuarter), bytes16.of(slice))
					continue
				}
				n.op("VTBL", bytes16.of(index), bytes16.four(tableQuarter), bytes16.of(entries))
				if q < 3 {
					n.op("VSUB", bytes16.of(sixtyFour), bytes16.of(index), bytes16.of(index))
				}
				n.xor(entries, slice, slice)
			}
		}
	}
	n.op("SUB", tableBytes, sboxes, sboxes)
}

// slices returns the slices of a group, of R0 and of ROL(R1, 8), in the order of the S-boxes.
func (n *neon) slices(g int) (x, y [4]vreg) {
	r := vreg(8 * g)
	return [4]vreg{r, r + 1, r + 2, r + 3}, [4]vreg{r + 7, r + 4, r + 5, r + 6}
}

// toWords puts the bytes of rows together: four words to a register, from the register to on.
func (n *neon) toWords(rows [4]vreg, to, temp vreg) {
	zip := func(half int, a arrangement, low, high, to vreg) {
		n.op(fmt.Sprintf("VZIP%d", half), a.of(high), a.of(low), a.of(to))
	}
	zip(1, bytes16, rows[0], rows[1], temp)
	zip(1, bytes16, rows[2], rows[3], temp+1)
	zip(2, bytes16, rows[0], rows[1], temp+2)
	zip(2, bytes16, rows[2], rows[3], temp+3)
	zip(1, halves8, temp, temp+1, to)
	zip(2, halves8, temp, temp+1, to+1)
	zip(1, halves8, temp+2, temp+3, to+2)
	zip(2, halves8, temp+2, temp+3, to+3)
}

// toSlices takes the words in four registers apart, in place.
func (n *neon) toSlices(words, temp vreg) {
	unzip := func(odd int, first, second, to vreg) {
		n.op(fmt.Sprintf("VUZP%d", 1+odd), bytes16.of(second), bytes16.of(first), bytes16.of(to))
	}
	for odd := range 2 {
		unzip(odd, words, words+1, temp+vreg(2*odd))
		unzip(odd, words+2, words+3, temp+vreg(2*odd)+1)
	}
	for odd := range 2 {
		for i := range vreg(2) {
			unzip(odd, temp+2*i, temp+2*i+1, words+vreg(2*odd)+i)
		}
	}
}

// rest is what follows a group's look-ups in a round: MDS, the pseudo-Hadamard transform, the round's keys, and the
// rotations into the other half, whose words are stored and become slices.
func (n *neon) rest(g int) {
	x, y := n.slices(g)
	t0 := vreg(8 * g)
	t1 := t0 + 4
	n.toWords(n.mds(x), t0, spare)
	n.toWords(n.mds(y), t1, spare)
	k0, k1 := spare2, spare2+1
	n.op("VLD2R", at(0, keys), fmt.Sprintf("[%s, %s]", words4.of(k0), words4.of(k1)))
	for i := range vreg(4) {
		f0, f1, c, d := t0+i, t1+i, spare, spare+1
		n.op("FMOVQ", at(128*g+16*int(i), changed), fmt.Sprintf("F%d", int(c)))
		n.op("FMOVQ", at(128*g+64+16*int(i), changed), fmt.Sprintf("F%d", int(d)))
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
		n.op("MOVD", changed, scratch)
	} else {
		n.op("ADD", n.halfBytes()/groups*g, changed, scratch)
	}
	n.op("VST1.P", words4.four(t0), at(64, scratch))
	n.op("VST1", words4.four(t1), at(0, scratch))
	n.toSlices(t0, spare)
	n.toSlices(t1, spare)
}

// left makes f ROL(r, 1) ^ f.
func (n *neon) left(r, f vreg) {
	n.add(r, r, spare+2)
	n.op("VSRI", 31, words4.of(r), words4.of(spare+2))
	n.xor(spare+2, f, f)
}

// right makes f ROR(r ^ f, 1).
func (n *neon) right(r, f vreg) {
	n.xor(f, r, r)
	n.op("VUSHR", 1, words4.of(r), words4.of(f))
	n.op("VSLI", 31, words4.of(r), words4.of(f))
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
	n.function(name, fmt.Sprintf("(s *schedule, dst, src []byte, %s *[16]byte)", chain), frame, 64,
		fmt.Sprintf("%s %s the blocks of src, a multiple of %d, into dst, as %sGeneric does.", name, does, 16*groups, verb),
		mode, "S-boxes are looked up in registers; time does not depend on keys or data.")
	n.op("MOVD", "s+0(FP)", scheduleArg)
	n.op("MOVD", "dst_base+8(FP)", dstArg)
	n.op("MOVD", "src_base+32(FP)", srcArg)
	n.op("MOVD", "src_len+40(FP)", leftArg)
	n.op("MOVD", chain+"+56(FP)", chainArg)
	n.op("CMP", n.batchBytes(), leftArg)
	n.op("BLO", "done")
	if !n.decrypt {
		n.op("CBZ", chainArg, "tables")
		n.op("MOVWU", at(12, chainArg), count)
		n.op("REVW", count, count)
	}
	n.label("tables")
	n.quarters()

	n.label("batch")
	n.load()
	n.comment("Rounds")
	n.op("VMOVI", 64, bytes16.of(sixtyFour))
	n.op("VMOVI", 0x169&0xff, bytes16.of(reduction))
	n.op("VMOVI", 5, bytes16.of(five))
	first := firstRoundKey
	if n.decrypt {
		first += 2 * (rounds - 1)
	}
	n.op("ADD", 4*first, subkeys, keys)
	n.op("ADD", n.halfBytes(), state, changed)
	n.op("ADD", changed, state, bothHalves)
	n.op("MOVD", rounds, roundsLeft)
	n.comment("The first look-ups of group 0")
	n.lookUp(0)
	n.label("round")
	n.comment("Look-ups of group 1, MDS and PHT of group 0")
	n.weave(func() { n.lookUp(1) }, func() { n.rest(0) })
	n.op("SUB", 1, roundsLeft, roundsLeft)
	n.op("CBZ", roundsLeft, "last")
	n.comment("Look-ups of group 0, MDS and PHT of group 1")
	n.weave(func() { n.lookUp(0) }, func() { n.rest(1) })
	n.op("SUB", changed, bothHalves, changed)
	if n.decrypt {
		n.op("SUB", 8, keys, keys)
	} else {
		n.op("ADD", 8, keys, keys)
	}
	n.op("B", "round")
	n.label("last")
	n.comment("MDS and PHT of group 1")
	n.rest(1)

	n.store()
	n.op("ADD", n.batchBytes(), srcArg, srcArg)
	n.op("SUB", n.batchBytes(), leftArg, leftArg)
	n.op("CMP", n.batchBytes(), leftArg)
	n.op("BHS", "batch")
	n.label("done")
	n.op("RET")
}

// quarters makes the tables that mds wants: a byte of an entry where the MDS matrix has 01, XORed with one where it has 5B,
// is a quarter of the S-box's byte.
func (n *neon) quarters() {
	n.op("ADD", returnAddress+lineBytes-1, "RSP", sboxes)
	n.op("AND", fmt.Sprintf("$~%d", lineBytes-1), sboxes, sboxes)
	n.op("ADD", tableBytes, sboxes, state)
	n.op("ADD", subkeysOffset, scheduleArg, subkeys)
	n.op("MOVD", scheduleArg, loadHalf)
	n.op("MOVD", sboxes, storeHalf)
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
		n.comment("S-box %d: a quarter of it is byte %d + byte %d of the entries", j, one, fiveB)
		n.op("MOVD", 4, scratch)
		n.label(fmt.Sprintf("table%d", j))
		for i := range vreg(4) {
			n.op("VLD4.P", at(64, loadHalf), bytes16.four(4*i))
			n.xor(4*i+vreg(one), 4*i+vreg(fiveB), 16+i)
		}
		n.op("VST1.P", bytes16.four(16), at(64, storeHalf))
		n.op("SUB", 1, scratch, scratch)
		n.op("CBNZ", scratch, fmt.Sprintf("table%d", j))
	}
}

// load reads a batch, four words of a kind to a register, or makes counters, and whitens it.
func (n *neon) load() {
	in := inputWhitening
	if n.decrypt {
		in = outWhitening
	}
	const whitening, read vreg = 24, 28
	word := func(g, w, i int) vreg { return vreg(8*g + 4*w + i) }
	rest := func(g int) {
		n.op("VST1.P", words4.four(word(g, 0, 0)), at(64, loadHalf))
		n.op("VST1.P", words4.four(word(g, 1, 0)), at(64, loadHalf))
		n.op("VST1.P", words4.four(word(g, 2, 0)), at(64, storeHalf))
		n.op("VST1.P", words4.four(word(g, 3, 0)), at(64, storeHalf))
		n.toSlices(word(g, 0, 0), whitening)
		n.toSlices(word(g, 1, 0), read)
	}
	n.op("MOVD", state, loadHalf)
	n.op("ADD", n.halfBytes(), state, storeHalf)
	n.op("ADD", 4*in, subkeys, keys)
	if !n.decrypt {
		n.op("CBNZ", chainArg, "counters")
	}
	n.op("MOVD", srcArg, scratch)
	for g := range groups {
		n.comment("Group %d: load, one word of four blocks to a register, and whiten", g)
		n.op("VLD4R", at(0, keys), words4.four(whitening))
		for i := range 4 {
			n.op("VLD4.P", at(64, scratch), words4.four(read))
			for w := range 4 {
				n.xor(whitening+vreg(w), read+vreg(w), word(g, w, i))
			}
		}
		rest(g)
	}
	if n.decrypt {
		return
	}
	n.op("B", "loaded")
	n.label("counters")
	for g := range groups {
		n.comment("Group %d: make counters, whose last word counts and has its bytes in the other order, and whiten", g)
		n.op("VLD4R", at(0, keys), words4.four(whitening))
		n.op("VLD4R", at(0, chainArg), words4.four(read))
		numbers := read + 3
		n.op("MOVD", "$0x0000000100000000", scratch)
		n.op("VMOV", scratch, numbers.String()+".D[0]")
		n.op("MOVD", "$0x0000000300000002", scratch)
		n.op("VMOV", scratch, numbers.String()+".D[1]")
		for i := range 4 {
			for w := range 3 {
				n.xor(whitening+vreg(w), read+vreg(w), word(g, w, i))
			}
			last := word(g, 3, i)
			n.op("VDUP", count, words4.of(last))
			n.add(numbers, last, last)
			n.op("VREV32", bytes16.of(last), bytes16.of(last))
			n.xor(whitening+3, last, last)
			n.op("ADD", 4, count, count)
		}
		rest(g)
	}
	n.label("loaded")
}

// store whitens the batch, whose halves the last round should not have swapped, and writes it to dst, or XORed with src for
// a counter, or with the blocks before in CBC mode.
func (n *neon) store() {
	out := outWhitening
	if n.decrypt {
		out = inputWhitening
	}
	const whitening, result vreg = 16, 20
	before, read := vreg(24), vreg(28)
	n.op("ADD", 4*out, subkeys, keys)
	n.op("VLD4R", at(0, keys), words4.four(whitening))
	n.op("MOVD", state, loadHalf)
	n.op("ADD", n.halfBytes(), state, storeHalf)
	write := func(g int, chained bool) {
		n.comment("Group %d: whiten and store", g)
		for w := range 4 {
			half := storeHalf
			if w >= 2 {
				half = loadHalf
			}
			n.op("VLD1.P", at(64, half), words4.four(vreg(4*w)))
		}
		for i := range 4 {
			if chained {
				n.op("VLD4.P", at(64, scratch), words4.four(read))
			}
			for w := range 4 {
				r := result + vreg(w)
				n.xor(whitening+vreg(w), vreg(4*w+i), r)
				switch b := before + vreg(w); {
				case chained && n.decrypt:
					n.op("VEXT", 12, bytes16.of(read+vreg(w)), bytes16.of(b), bytes16.of(b))
					n.xor(b, r, r)
				case chained:
					n.xor(read+vreg(w), r, r)
				}
			}
			n.op("VST4.P", words4.four(result), at(64, dstArg))
			before, read = read, before
		}
	}
	n.op("CBNZ", chainArg, "chained")
	for g := range groups {
		write(g, false)
	}
	n.op("B", "stored")
	n.label("chained")
	if n.decrypt {
		n.comment("XOR with the blocks before; the last of src is the next IV")
		n.op("VLD4R", at(0, chainArg), words4.four(before))
		last := n.batchBytes() - 16
		n.op("LDP", at(last, srcArg), fmt.Sprintf("(%s, %s)", scratch, count))
		n.op("STP", fmt.Sprintf("(%s, %s)", scratch, count), at(0, chainArg))
	} else {
		n.comment("XOR with src")
	}
	n.op("MOVD", srcArg, scratch)
	for g := range groups {
		write(g, true)
	}
	n.label("stored")
}
