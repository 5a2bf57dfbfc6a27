package twofish

import (
	"encoding/binary"
	"math/bits"
)

// The constant-time kernels in Go compute the S-boxes anew for each byte, from their keys, on slices of bits. Loops,
// indices and branches depend on the lengths of key and data alone. In cycles per byte on Zen 5 (EPYC), where generic
// takes 14:
//
//	                          128-bit key   256-bit key
//	generic-constant-time              27            37
//	generic-constant-time-8            72            92

// A slicedWord is a 32-bit word of each of 64 blocks.
type slicedWord [32]uint64

func (w *slicedWord) byte(j int) *byteSlice { return (*byteSlice)(w[8*j:]) }

func (w *slicedWord) xor(k uint32) {
	for i := range w {
		w[i] ^= spread(k, i)
	}
}

// rotateLeft and rotateRight rotate by one bit.

func (w *slicedWord) rotateLeft() {
	top := w[31]
	copy(w[1:], w[:31])
	w[0] = top
}

func (w *slicedWord) rotateRight() {
	bottom := w[0]
	copy(w[:], w[1:])
	w[31] = bottom
}

// sboxSteps says which permutation each byte of a word goes through, step by step: before its exclusive-or with the key words
// 3, 2, 1 and 0, and after all of them. Shorter keys start later.
var sboxSteps = [5][4]uint8{
	{1, 0, 0, 1},
	{1, 1, 0, 0},
	{0, 1, 0, 1},
	{0, 0, 1, 1},
	{1, 0, 1, 0},
}

// stepKeys hold what each step of sboxSteps XORs to its input: nothing at the first, then a word of the key.
type stepKeys struct {
	first int
	k     [len(sboxSteps)]slicedWord
}

// set prepares n words for the values in the even lanes, and as many for those in the odd ones.
func (x *stepKeys) set(even, odd *[4]uint32, n int) {
	const oddLanes = 0xaaaaaaaaaaaaaaaa
	x.first = 4 - n
	for i := range n {
		k := &x.k[4-i]
		for b := range k {
			k[b] = spread(even[i], b)&^oddLanes | spread(odd[i], b)&oddLanes
		}
	}
}

// substitute takes bytes through S-box j, without the MDS matrix.
func (x *stepKeys) substitute(y *byteSlice, j int) {
	for i := x.first; i < len(sboxSteps); i++ {
		if k := x.k[i].byte(j); sboxSteps[i][j] == 0 {
			permute0(y, k)
		} else {
			permute1(y, k)
		}
	}
}

// g is the function g of x, rotated left by some bytes.
func (x *stepKeys) g(t, r *slicedWord, rotation int) {
	for j := range 4 {
		y := t.byte(j)
		*y = *r.byte((j - rotation) & 3)
		x.substitute(y, j)
	}
	multiplyMDS(t)
}

// multiplyMDS multiplies by the MDS matrix. Its elements are 01, 5B = 01 + 1/α² and EF = 01 + 1/α + 1/α². So a byte of the
// product is the sum of all four, with 1/α of those under EF and 1/α² of those not under 01, which are all but one.
func multiplyMDS(w *slicedWord) {
	y0, y1, y2, y3 := w.byte(0), w.byte(1), w.byte(2), w.byte(3)
	var z [4]byteSlice
	for b := range 8 {
		s := y0[b] ^ y1[b] ^ y2[b] ^ y3[b]
		z[0][b], z[1][b], z[2][b], z[3][b] = s^y0[b], s^y3[b], s^y2[b], s^y1[b]
	}
	for i := range z {
		z[i].divide()
	}
	for b := range 8 {
		z[0][b] ^= y1[b]
		z[1][b] ^= y1[b] ^ y2[b]
		z[2][b] ^= y0[b] ^ y3[b]
		z[3][b] ^= y0[b] ^ y2[b]
	}
	for i := range z {
		z[i].divide()
	}
	for b := range 8 {
		s := y0[b] ^ y1[b] ^ y2[b] ^ y3[b]
		y0[b], y1[b], y2[b], y3[b] = s^z[0][b], s^z[1][b], s^z[2][b], s^z[3][b]
	}
}

// divide divides by α in GF(2^8)/0x169.
func (x *byteSlice) divide() {
	x[0], x[1], x[2], x[3], x[4], x[5], x[6], x[7] = x[1], x[2], x[3]^x[0], x[4], x[5]^x[0], x[6]^x[0], x[7], x[0]
}

func addBits(a, b, carry uint64) (sum, carryOut uint64) {
	x := a ^ b
	return x ^ carry, a&b | x&carry
}

// xorF XORs the pseudo-Hadamard transform of t0 and t1, with the round's subkeys added, to r2 and r3.
func xorF(r2, r3, t0, t1 *slicedWord, k0, k1 uint32) {
	var c0, c1, c2, c3 uint64
	for i := range t0 {
		var a, b uint64
		a, c0 = addBits(t0[i], t1[i], c0)
		b, c1 = addBits(a, t1[i], c1)
		a, c2 = addBits(a, -uint64(k0&1), c2)
		b, c3 = addBits(b, -uint64(k1&1), c3)
		r2[i] ^= a
		r3[i] ^= b
		k0, k1 = k0>>1, k1>>1
	}
}

// slicedBlocks are the words R0 to R3 of 64 blocks.
type slicedBlocks [128]uint64

func (x *slicedBlocks) word(i int) *slicedWord { return (*slicedWord)(x[32*i:]) }

// load takes 64 blocks and XORs four subkeys to them.
func (x *slicedBlocks) load(src []byte, k *[4]uint32) {
	src = src[:lanes*BlockSize]
	for i := range lanes {
		x[i] = binary.LittleEndian.Uint64(src[BlockSize*i:])
		x[lanes+i] = binary.LittleEndian.Uint64(src[BlockSize*i+8:])
	}
	transpose((*[64]uint64)(x[:]))
	transpose((*[64]uint64)(x[lanes:]))
	for i, k := range k {
		x.word(i).xor(k)
	}
}

// store is the inverse of load, with the halves exchanged.
func (x *slicedBlocks) store(dst []byte, k *[4]uint32) {
	dst = dst[:lanes*BlockSize]
	for i, k := range k {
		x.word((i + 2) % 4).xor(k)
	}
	transpose((*[64]uint64)(x[:]))
	transpose((*[64]uint64)(x[lanes:]))
	for i := range lanes {
		binary.LittleEndian.PutUint64(dst[BlockSize*i:], x[lanes+i])
		binary.LittleEndian.PutUint64(dst[BlockSize*i+8:], x[i])
	}
}

// encryptConstantTime encrypts the blocks of src, a multiple of 64, into dst, as encryptGeneric does.
func encryptConstantTime(s *schedule, dst, src []byte) {
	var keys stepKeys
	keys.set(&s.rs, &s.rs, s.n)
	var x slicedBlocks
	var t0, t1 slicedWord
	for n := lanes * BlockSize; len(src) >= n; dst, src = dst[n:], src[n:] {
		x.load(src, (*[4]uint32)(s.k[0:]))
		for i := firstRoundKey; i < len(s.k); i += 2 {
			r0 := i & 2
			r2, r3 := x.word(r0^2), x.word(r0^3)
			keys.g(&t0, x.word(r0), 0)
			keys.g(&t1, x.word(r0+1), 1)
			r3.rotateLeft()
			xorF(r2, r3, &t0, &t1, s.k[i], s.k[i+1])
			r2.rotateRight()
		}
		x.store(dst, (*[4]uint32)(s.k[4:]))
	}
}

// decryptConstantTime is the inverse of encryptConstantTime.
func decryptConstantTime(s *schedule, dst, src []byte) {
	var keys stepKeys
	keys.set(&s.rs, &s.rs, s.n)
	var x slicedBlocks
	var t0, t1 slicedWord
	for n := lanes * BlockSize; len(src) >= n; dst, src = dst[n:], src[n:] {
		x.load(src, (*[4]uint32)(s.k[4:]))
		for i := len(s.k) - 2; i >= firstRoundKey; i -= 2 {
			r0 := ^i & 2
			r2, r3 := x.word(r0^2), x.word(r0^3)
			keys.g(&t0, x.word(r0), 0)
			keys.g(&t1, x.word(r0+1), 1)
			r2.rotateLeft()
			xorF(r2, r3, &t0, &t1, s.k[i], s.k[i+1])
			r3.rotateRight()
		}
		x.store(dst, (*[4]uint32)(s.k[0:]))
	}
}

// The kernel for 8 blocks: the 64 values of a byteSlice are what the two functions g of a round take of 8 blocks, byte j of
// block i in lane 8j+i. Both permutations are computed and the right one is selected. Words are words again for the
// additions.

// shortLanes is how many blocks it takes.
const shortLanes = 8

// byteLanes returns the lanes of the bytes of x, in both halves: all ones for a byte's lowest bit that is set.
func byteLanes(x uint32) uint64 {
	v := uint64(x & 0x01010101)
	v = v<<8 - v
	return v | v<<32
}

// shortKeys are stepKeys for these slices. ones has the lanes that go through q1.
type shortKeys struct {
	first int
	k     [len(sboxSteps)]byteSlice
	ones  [len(sboxSteps)]uint64
}

func (x *shortKeys) set(s *schedule) {
	x.first = 4 - s.n
	for i := range s.n {
		for b := range 8 {
			x.k[4-i][b] = byteLanes(s.rs[i] >> b)
		}
	}
	for i, q := range sboxSteps {
		x.ones[i] = byteLanes(binary.LittleEndian.Uint32(q[:]))
	}
}

// transposeBytes turns 8 values of 8 bytes into the slices of their bits, and back.
func transposeBytes(x *byteSlice) {
	for i := range 4 {
		t := (x[i]>>4 ^ x[i+4]) & 0x0f0f0f0f0f0f0f0f
		x[i], x[i+4] = x[i]^t<<4, x[i+4]^t
	}
	for _, i := range [4]int{0, 1, 4, 5} {
		t := (x[i]>>2 ^ x[i+2]) & 0x3333333333333333
		x[i], x[i+2] = x[i]^t<<2, x[i+2]^t
	}
	for i := 0; i < 8; i += 2 {
		t := (x[i]>>1 ^ x[i+1]) & 0x5555555555555555
		x[i], x[i+1] = x[i]^t<<1, x[i+1]^t
	}
}

// g takes words through the S-boxes and the MDS matrix.
func (x *shortKeys) g(w *byteSlice) {
	transposeBytes(w)
	for i := x.first; i < len(sboxSteps); i++ {
		v := *w
		permute0(w, &x.k[i])
		permute1(&v, &x.k[i])
		for b := range w {
			w[b] ^= (w[b] ^ v[b]) & x.ones[i]
		}
	}
	shortMDS(w)
	transposeBytes(w)
}

// shortMDS works like multiplyMDS.
func shortMDS(w *byteSlice) {
	const byte0 = 0xff<<32 | 0xff
	const byte1, byte2, byte3 = byte0 << 8, byte0 << 16, byte0 << 24
	var s, h, z byteSlice
	for b, y := range w {
		// In byte j, y1 has byte j+1 of y, y2 byte j+2.
		y1 := y>>8&^byte3 | y<<24&byte3
		y2 := y>>16&(byte0|byte1) | y<<16&(byte2|byte3)
		s[b] = y ^ y1 ^ y2 ^ (y1>>16&(byte0|byte1) | y1<<16&(byte2|byte3))
		z[b] = s[b] ^ (y&(byte0|byte2) | y2&(byte1|byte3))
		h[b] = y1 ^ y&byte1 ^ y2&byte2 ^ y<<8&byte3
	}
	z.divide()
	for b := range z {
		z[b] ^= h[b]
	}
	z.divide()
	for b := range z {
		w[b] = s[b] ^ z[b]
	}
}

// encryptConstantTime8 encrypts the blocks of src, a multiple of 8, into dst, as encryptGeneric does.
func encryptConstantTime8(s *schedule, dst, src []byte) {
	var keys shortKeys
	keys.set(s)
	var r [shortLanes][4]uint32
	for n := shortLanes * BlockSize; len(src) >= n; dst, src = dst[n:], src[n:] {
		for i := range r {
			for j := range r[i] {
				r[i][j] = binary.LittleEndian.Uint32(src[BlockSize*i+4*j:]) ^ s.k[j]
			}
		}
		for i := firstRoundKey; i < len(s.k)-1; i += 2 {
			var t byteSlice
			for j := range t {
				t[j] = uint64(r[j][0]) | uint64(bits.RotateLeft32(r[j][1], 8))<<32
			}
			keys.g(&t)
			for j := range t {
				t0, t1 := uint32(t[j]), uint32(t[j]>>32)
				r[j] = [4]uint32{
					bits.RotateLeft32(r[j][2]^(t0+t1+s.k[i]), -1), bits.RotateLeft32(r[j][3], 1) ^ (t0 + 2*t1 + s.k[i+1]),
					r[j][0], r[j][1],
				}
			}
		}
		for i := range r {
			for j := range r[i] {
				binary.LittleEndian.PutUint32(dst[BlockSize*i+4*j:], r[i][(j+2)%4]^s.k[4+j])
			}
		}
	}
}

// decryptConstantTime8 is the inverse of encryptConstantTime8.
func decryptConstantTime8(s *schedule, dst, src []byte) {
	var keys shortKeys
	keys.set(s)
	var r [shortLanes][4]uint32
	for n := shortLanes * BlockSize; len(src) >= n; dst, src = dst[n:], src[n:] {
		for i := range r {
			for j := range r[i] {
				r[i][j] = binary.LittleEndian.Uint32(src[BlockSize*i+4*j:]) ^ s.k[4+j]
			}
		}
		for i := len(s.k) - 2; i >= firstRoundKey; i -= 2 {
			var t byteSlice
			for j := range t {
				t[j] = uint64(r[j][0]) | uint64(bits.RotateLeft32(r[j][1], 8))<<32
			}
			keys.g(&t)
			for j := range t {
				t0, t1 := uint32(t[j]), uint32(t[j]>>32)
				r[j] = [4]uint32{
					bits.RotateLeft32(r[j][2], 1) ^ (t0 + t1 + s.k[i]), bits.RotateLeft32(r[j][3]^(t0+2*t1+s.k[i+1]), -1),
					r[j][0], r[j][1],
				}
			}
		}
		for i := range r {
			for j := range r[i] {
				binary.LittleEndian.PutUint32(dst[BlockSize*i+4*j:], r[i][(j+2)%4]^s.k[j])
			}
		}
	}
}
