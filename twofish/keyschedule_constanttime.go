package twofish

import (
	"encoding/binary"
	"math/bits"
)

// laneBits are the slices of the numbers 0 to 63: each lane holds its own.
var laneBits = [6]uint64{
	0xaaaaaaaaaaaaaaaa, 0xcccccccccccccccc, 0xf0f0f0f0f0f0f0f0, 0xff00ff00ff00ff00, 0xffff0000ffff0000, 0xffffffff00000000,
}

// numbers returns the slices of from, from+1 and so on. from is a multiple of 64.
func numbers(from int) (x byteSlice) {
	copy(x[:], laneBits[:])
	x[6], x[7] = spread(uint32(from), 6), spread(uint32(from), 7)
	return x
}

// expandConstantTime is expand without an address or a branch that depends on the key.
func (s *schedule) expandConstantTime(key []byte) {
	var even, odd [4]uint32
	s.rs, s.n = [4]uint32{}, len(key)/8
	for i := range s.n {
		lo, hi := binary.LittleEndian.Uint32(key[8*i:]), binary.LittleEndian.Uint32(key[8*i+4:])
		even[i], odd[i], s.rs[s.n-1-i] = lo, hi, rsCode(lo, hi)
	}

	// h(i·ρ) in lane i.
	var keys stepKeys
	keys.set(&even, &odd, s.n)
	var x [64]uint64
	w := (*slicedWord)(x[:])
	for j := range 4 {
		*w.byte(j) = numbers(0)
		keys.substitute(w.byte(j), j)
	}
	multiplyMDS(w)
	transpose(&x)
	for i := 0; i < len(s.k); i += 2 {
		a, b := uint32(x[i]), bits.RotateLeft32(uint32(x[i+1]), 8)
		s.k[i] = a + b
		s.k[i+1] = bits.RotateLeft32(a+2*b, 9)
	}

	// The tables, 64 entries of two S-boxes at a time.
	keys.set(&s.rs, &s.rs, s.n)
	for from := 0; from < 256; from += lanes {
		for j := 0; j < 4; j += 2 {
			for i := range 2 {
				w := (*slicedWord)(x[32*i:])
				*w = slicedWord{}
				*w.byte(j + i) = numbers(from)
				keys.substitute(w.byte(j+i), j+i)
				multiplyMDS(w)
			}
			transpose(&x)
			for i, entries := range x {
				s.sbox[j][from+i], s.sbox[j+1][from+i] = uint32(entries), uint32(entries>>32)
			}
		}
	}
}
