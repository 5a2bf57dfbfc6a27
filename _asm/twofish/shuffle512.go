package main

import (
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// Permute kernels for processors that have AVX-512 but neither VBMI nor GFNI, which are Intel's from Skylake-X to Cooper
// Lake. VPERMI2W looks up words, so the S-boxes are tables of 128 words, each two entries whose indices differ in bit 7,
// and a slice goes through them as even and as odd bytes. That is 15 operations where VPSHUFB on rows of 16 bytes takes 31.
//
// On Zen 5 (EPYC) it takes 1.43 cycles per byte for 64 blocks at a time and 1.33 for 128. llvm-mca's model of Skylake-X says
// 2.36 and 2.42.

// writeShuffle512 builds the kernels of both directions.
func writeShuffle512() *assembler {
	a := newAssembler()
	a.ConstraintExpr("amd64,!purego")
	for _, a.decrypt = range []bool{false, true} {
		(&permuter{wide: &wide{a, 32, "Shuffle512", true}, words: true}).kernel()
	}
	return a
}

// firstWhere is the truth table of VPTERNLOGD that chooses the destination where the first operand has ones, else the second.
const firstWhere = 0xE4

// wordTables takes the S-boxes out of the schedule. A quarter of an entry is the sum of two of its bytes, for 5B is 1+1/4.
func (p *permuter) wordTables() {
	p.Comment("S-boxes: words of two entries, divided by 4")
	lowByte := p.constant("lowByte", func() { p.AddDatum(0, operand.U32(0xFF)) })
	evenWords := vecs[0].z
	p.VMOVDQU64(p.constant("evenWords", func() {
		for n := range 32 {
			p.AddDatum(2*n, operand.U16(2*n))
		}
	}), evenWords)
	offsets := p.constant("tableOffsets", func() {
		for j, e := range tableOffsets() {
			p.AddDatum(4*j, operand.U32(uint32(e)*0x01010101))
		}
	})
	for j := range 4 {
		one, other := mdsRow(j, 0x01), mdsRow(j, 0x5B)
		for i := range 4 {
			t := table(j, i)
			for half, words := range []reg.Register{t, vecs[1].z} {
				// Byte 0 of the first 16 entries, byte 1 of those 128 further on
				entries := operand.Mem{Base: p.schedule, Disp: 1024*j + 128*i + 64*half}
				upper := vecs[2].z
				p.VMOVDQU64(entries.Offset(one), words)
				p.VPXORD(entries.Offset(other), words, words)
				p.VMOVDQU64(entries.Offset(512+one-1), upper)
				p.VPXORD(entries.Offset(512+other-1), upper, upper)
				p.VPTERNLOGD_BCST(operand.U8(firstWhere), lowByte, upper, words)
			}
			p.VPERMT2W(vecs[1].z, evenWords, t)
			p.VPXORD_BCST(offsets.Offset(4*j), t, t)
		}
	}
	p.Comment("Bit 6 of even and of odd bytes")
	for _, c := range []struct {
		at   int
		name string
		bit  uint32
	}{{evenBit6At, "evenBit6", 0x00400040}, {oddBit6At, "oddBit6", 0x40004000}} {
		p.VPBROADCASTD(p.constant(c.name, func() { p.AddDatum(0, operand.U32(c.bit)) }), vecs[0].z)
		p.VMOVDQA64(vecs[0].z, p.inFrame(c.at))
	}
}

// wordLookups takes the slices in x through the S-boxes and the MDS matrix.
func (p *permuter) wordLookups(do func(func()), i int, x, y [4]reg.Register) (rows [4]reg.Register) {
	k := [][]reg.Register{{reg.K1, reg.K2, reg.K3}, {reg.K4, reg.K5, reg.K6}}[i%2]
	lowBytes := p.constant("lowBytes", func() { p.AddDatum(0, operand.U32(0x00FF00FF)) })
	free := y[:]
	var a [4]reg.Register
	for _, j := range []int{1, 2, 0, 3} {
		x := x[j]
		even, even2, odd, odd2 := free[0], free[1], free[2], free[3]
		free = append(free[1:4:4], x)
		a[j] = even
		do(func() { p.VMOVDQA64(x, even) })
		do(func() { p.VPSRLW(operand.U8(8), x, odd) })
		do(func() { p.VMOVDQA64(x, even2) })
		do(func() { p.VMOVDQA64(odd, odd2) })
		do(func() { p.VPTESTMW(p.inFrame(evenBit6At), x, k[0]) })
		do(func() { p.VPTESTMW(p.inFrame(oddBit6At), x, k[1]) })
		do(func() { p.VPERMI2W(table(j, 1), table(j, 0), even) })
		do(func() { p.VPERMI2W(table(j, 3), table(j, 2), even2) })
		do(func() { p.VPERMI2W(table(j, 1), table(j, 0), odd) })
		do(func() { p.VPERMI2W(table(j, 3), table(j, 2), odd2) })
		do(func() { p.VPMOVB2M(x, k[2]) })
		do(func() { p.VMOVDQU16(even2, k[0], even) })
		do(func() { p.VMOVDQU16(odd2, k[1], odd) })
		// Both bytes of a word are results, and bit 7 chooses.
		upper, temp := even2, odd2
		do(func() { p.VPSRLW(operand.U8(8), even, upper) })
		do(func() { p.VPSLLW(operand.U8(8), odd, temp) })
		do(func() { p.VPTERNLOGD_BCST(operand.U8(firstWhere), lowBytes, odd, upper) })
		do(func() { p.VPTERNLOGD_BCST(operand.U8(firstWhere), lowBytes, temp, even) })
		do(func() { p.VMOVDQU8(upper, k[2], even) })
	}
	return p.mdsWithoutGFNI(do, a, x)
}

// double leaves the two terms of 2v+69 in to and temp: 2v, and 69 where bit 7 of v is clear, which VPSHUFB makes in one
// operation. Leaving 69 in saves a second one; tableOffsets undoes what comes of it.
func (p *permuter) double(do func(func()), v, to, temp reg.Register) {
	do(func() { p.VPBROADCASTD(p.constant("poly", func() { p.AddDatum(0, operand.U32(0x69696969)) }), temp) })
	do(func() { p.VPADDB(v, v, to) })
	do(func() { p.VPSHUFB(v, temp, temp) })
}

// mdsWithoutGFNI is mds, with c = s + 4s.
func (p *permuter) mdsWithoutGFNI(do func(func()), a, t [4]reg.Register) (rows [4]reg.Register) {
	sum := func(b, c, to reg.Register) { do(func() { p.VPXORD(b, c, to) }) }
	add := func(b, c, to reg.Register) { do(func() { p.VPTERNLOGD(operand.U8(xor3), b, c, to) }) }
	double := func(v, to, temp reg.Register) { p.double(do, v, to, temp) }
	sum(a[1], a[2], t[0])
	sum(a[0], a[2], t[3])
	double(t[0], t[1], t[2])
	add(a[0], a[3], t[0]) // s
	add(t[1], t[2], a[3])
	add(t[1], t[2], a[2])
	double(a[1], t[1], t[2])
	add(t[1], t[2], a[0])
	double(t[3], t[1], t[2])
	add(t[1], t[2], a[1])
	double(t[0], t[1], t[2])
	sum(t[2], t[1], t[1]) // x·s
	double(t[1], t[2], t[3])
	add(t[2], t[3], t[0])
	sum(t[0], a[3], a[3]) // row 1
	add(t[0], t[1], a[2]) // row 2
	sum(t[0], a[0], a[0]) // row 0
	sum(t[0], a[1], a[1]) // row 3
	return [4]reg.Register{a[0], a[3], a[2], a[1]}
}

// tableOffsets returns what is added to the entries of each S-box so that double's 69s vanish from the rows, where they
// leave x·69, and in row 2 once more 69.
func tableOffsets() (e [4]byte) {
	const k = 0x69
	xk := multiply(2, k)
	e = [4]byte{xk, xk, xk ^ k, xk}
	// What the MDS matrix takes to that, by Gauss-Jordan elimination: no pivot of an MDS matrix is 0.
	m := mds
	for c := range m {
		unit := inverse(m[c][c])
		for j := range m {
			m[c][j] = multiply(unit, m[c][j])
		}
		e[c] = multiply(unit, e[c])
		for i := range m {
			if f := m[i][c]; i != c {
				for j := range m {
					m[i][j] ^= multiply(f, m[c][j])
				}
				e[i] ^= multiply(f, e[c])
			}
		}
	}
	for j := range e {
		e[j] = multiply(inverse(4), e[j])
	}
	return e
}
