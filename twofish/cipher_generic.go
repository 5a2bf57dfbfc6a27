package twofish

import (
	"encoding/binary"
	"math/bits"
)

// g is the paper's function of the same name: four key-dependent S-boxes, then the MDS matrix, whose product the
// table entries already hold.
func (s *schedule) g(x uint32) uint32 {
	return s.sbox[0][byte(x)] ^ s.sbox[1][byte(x>>8)] ^ s.sbox[2][byte(x>>16)] ^ s.sbox[3][byte(x>>24)]
}

// gRol8 is g(ROL(x, 8)): the rotation only renames the bytes.
func (s *schedule) gRol8(x uint32) uint32 {
	return s.sbox[1][byte(x)] ^ s.sbox[2][byte(x>>8)] ^ s.sbox[3][byte(x>>16)] ^ s.sbox[0][byte(x>>24)]
}

// encryptGeneric encrypts the blocks of src into dst. Two rounds at a time, so that the halves of the state need not
// change places.
func encryptGeneric(s *schedule, dst, src []byte) {
	for ; len(src) >= BlockSize; dst, src = dst[BlockSize:], src[BlockSize:] {
		r0 := binary.LittleEndian.Uint32(src[0:]) ^ s.k[0]
		r1 := binary.LittleEndian.Uint32(src[4:]) ^ s.k[1]
		r2 := binary.LittleEndian.Uint32(src[8:]) ^ s.k[2]
		r3 := binary.LittleEndian.Uint32(src[12:]) ^ s.k[3]
		for i := firstRoundKey; i < len(s.k)-3; i += 4 {
			k := (*[4]uint32)(s.k[i:])
			t0, t1 := s.g(r0), s.gRol8(r1)
			r2 = bits.RotateLeft32(r2^(t0+t1+k[0]), -1)
			r3 = bits.RotateLeft32(r3, 1) ^ (t0 + 2*t1 + k[1])
			t0, t1 = s.g(r2), s.gRol8(r3)
			r0 = bits.RotateLeft32(r0^(t0+t1+k[2]), -1)
			r1 = bits.RotateLeft32(r1, 1) ^ (t0 + 2*t1 + k[3])
		}
		_ = dst[BlockSize-1]
		binary.LittleEndian.PutUint32(dst[0:], r2^s.k[4])
		binary.LittleEndian.PutUint32(dst[4:], r3^s.k[5])
		binary.LittleEndian.PutUint32(dst[8:], r0^s.k[6])
		binary.LittleEndian.PutUint32(dst[12:], r1^s.k[7])
	}
}

// decryptGeneric is the inverse of encryptGeneric.
func decryptGeneric(s *schedule, dst, src []byte) {
	for ; len(src) >= BlockSize; dst, src = dst[BlockSize:], src[BlockSize:] {
		r2 := binary.LittleEndian.Uint32(src[0:]) ^ s.k[4]
		r3 := binary.LittleEndian.Uint32(src[4:]) ^ s.k[5]
		r0 := binary.LittleEndian.Uint32(src[8:]) ^ s.k[6]
		r1 := binary.LittleEndian.Uint32(src[12:]) ^ s.k[7]
		for i := len(s.k) - 4; i >= firstRoundKey; i -= 4 {
			k := (*[4]uint32)(s.k[i:])
			t0, t1 := s.g(r2), s.gRol8(r3)
			r0 = bits.RotateLeft32(r0, 1) ^ (t0 + t1 + k[2])
			r1 = bits.RotateLeft32(r1^(t0+2*t1+k[3]), -1)
			t0, t1 = s.g(r0), s.gRol8(r1)
			r2 = bits.RotateLeft32(r2, 1) ^ (t0 + t1 + k[0])
			r3 = bits.RotateLeft32(r3^(t0+2*t1+k[1]), -1)
		}
		_ = dst[BlockSize-1]
		binary.LittleEndian.PutUint32(dst[0:], r0^s.k[0])
		binary.LittleEndian.PutUint32(dst[4:], r1^s.k[1])
		binary.LittleEndian.PutUint32(dst[8:], r2^s.k[2])
		binary.LittleEndian.PutUint32(dst[12:], r3^s.k[3])
	}
}

// cbcEncryptGeneric encrypts the blocks of src into dst in CBC mode. iv becomes the last block written.
func cbcEncryptGeneric(s *schedule, dst, src []byte, iv *[BlockSize]byte) {
	for ; len(src) >= BlockSize; dst, src = dst[BlockSize:], src[BlockSize:] {
		xorBlock(iv, iv, (*[BlockSize]byte)(src))
		encryptGeneric(s, iv[:], iv[:])
		copy(dst, iv[:])
	}
}
