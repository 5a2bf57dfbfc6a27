package testkit

import (
	"encoding/binary"
	"math/bits"
)

// A Twofish is the cipher as its paper describes it, section by section, with nothing precomputed but the subkeys: each
// S-box look-up goes through the 4-bit tables, each matrix through field products made bit by bit. It is slow, and it
// shares nothing with the package that it is the reference for.
type Twofish struct {
	K [40]uint32 // the subkeys
	S []uint32   // the S-boxes' keys, in the order in which the function h takes them
}

// NewTwofish returns the reference for a key of 16, 24 or 32 bytes.
func NewTwofish(key []byte) *Twofish {
	k := len(key) / 8 // N/64
	c := &Twofish{S: make([]uint32, k)}
	even, odd := make([]uint32, k), make([]uint32, k) // Me, Mo
	for i := range k {
		even[i] = binary.LittleEndian.Uint32(key[8*i:])
		odd[i] = binary.LittleEndian.Uint32(key[8*i+4:])
		// S lists its words in reverse order.
		c.S[k-1-i] = TwofishRS(key[8*i : 8*i+8])
	}
	const rho = 0x01010101
	for i := range uint32(20) {
		a := twofishH(2*i*rho, even)
		b := bits.RotateLeft32(twofishH((2*i+1)*rho, odd), 8)
		c.K[2*i] = a + b
		c.K[2*i+1] = bits.RotateLeft32(a+2*b, 9)
	}
	return c
}

func (*Twofish) BlockSize() int { return 16 }

// f is the function F of round r.
func (c *Twofish) f(r0, r1 uint32, r int) (f0, f1 uint32) {
	t0 := twofishH(r0, c.S)
	t1 := twofishH(bits.RotateLeft32(r1, 8), c.S)
	return t0 + t1 + c.K[2*r+8], t0 + 2*t1 + c.K[2*r+9]
}

func (c *Twofish) Encrypt(dst, src []byte) {
	var r [4]uint32
	for i := range r {
		r[i] = binary.LittleEndian.Uint32(src[4*i:]) ^ c.K[i]
	}
	for round := range 16 {
		f0, f1 := c.f(r[0], r[1], round)
		r = [4]uint32{bits.RotateLeft32(r[2]^f0, -1), bits.RotateLeft32(r[3], 1) ^ f1, r[0], r[1]}
	}
	for i := range r {
		binary.LittleEndian.PutUint32(dst[4*i:], r[(i+2)%4]^c.K[i+4])
	}
}

func (c *Twofish) Decrypt(dst, src []byte) {
	var r [4]uint32
	for i := range r {
		r[(i+2)%4] = binary.LittleEndian.Uint32(src[4*i:]) ^ c.K[i+4]
	}
	for round := 15; round >= 0; round-- {
		f0, f1 := c.f(r[2], r[3], round)
		r = [4]uint32{r[2], r[3], bits.RotateLeft32(r[0], 1) ^ f0, bits.RotateLeft32(r[1]^f1, -1)}
	}
	for i := range r {
		binary.LittleEndian.PutUint32(dst[4*i:], r[i]^c.K[i])
	}
}

// SBox returns the entry x of S-box j, multiplied by column j of the MDS matrix.
func (c *Twofish) SBox(j int, x byte) uint32 {
	var y [4]byte
	y[j] = twofishS(j, x, c.S)
	return TwofishMDS(y)
}

// TwofishStages are the permutations that figure 2 shows on each byte, the last stage first. Stage i is followed by word i-1
// of the list.
var TwofishStages = [5][4]int{{1, 0, 1, 0}, {0, 0, 1, 1}, {0, 1, 0, 1}, {1, 1, 0, 0}, {1, 0, 0, 1}}

// twofishS takes byte j of a word through the permutations, which the words of the list tell apart.
func twofishS(j int, x byte, l []uint32) byte {
	for i := len(l); i > 0; i-- {
		x = TwofishQ(TwofishStages[i][j], x) ^ byte(l[i-1]>>(8*j))
	}
	return TwofishQ(TwofishStages[0][j], x)
}

// twofishH is the function h of section 4.3.2.
func twofishH(x uint32, l []uint32) uint32 {
	var y [4]byte
	for j := range y {
		y[j] = twofishS(j, byte(x>>(8*j)), l)
	}
	return TwofishMDS(y)
}

// TwofishMDS multiplies by the MDS matrix.
func TwofishMDS(y [4]byte) uint32 {
	return binary.LittleEndian.Uint32(product(mdsMatrix[:], y[:], 0x169))
}

// TwofishRS multiplies eight bytes of key by the RS matrix.
func TwofishRS(key []byte) uint32 {
	return binary.LittleEndian.Uint32(product(rsMatrix[:], key, 0x14d))
}

var (
	mdsMatrix = [4][]byte{
		{0x01, 0xef, 0x5b, 0x5b},
		{0x5b, 0xef, 0xef, 0x01},
		{0xef, 0x5b, 0x01, 0xef},
		{0xef, 0x01, 0xef, 0x5b},
	}
	rsMatrix = [4][]byte{
		{0x01, 0xa4, 0x55, 0x87, 0x5a, 0x58, 0xdb, 0x9e},
		{0xa4, 0x56, 0x82, 0xf3, 0x1e, 0xc6, 0x68, 0xe5},
		{0x02, 0xa1, 0xfc, 0xc1, 0x47, 0xae, 0x3d, 0x19},
		{0xa4, 0x55, 0x87, 0x5a, 0x58, 0xdb, 0x9e, 0x03},
	}
)

// product multiplies a matrix by a vector over GF(2^8), reduced by the given polynomial.
func product(matrix [][]byte, vector []byte, polynomial int) []byte {
	sum := make([]byte, len(matrix))
	for i, row := range matrix {
		for j, a := range row {
			p := 0
			for bit := 7; bit >= 0; bit-- {
				if p <<= 1; p > 0xff {
					p ^= polynomial
				}
				if vector[j]>>bit&1 != 0 {
					p ^= int(a)
				}
			}
			sum[i] ^= byte(p)
		}
	}
	return sum
}

// TwofishQ is the permutation q0 or q1 of section 4.3.5.
func TwofishQ(i int, x byte) byte {
	t := &nibbles[i]
	ror4 := func(x byte) byte { return x>>1 | x<<3&0xf }
	a, b := x>>4, x&0xf
	a, b = a^b, a^ror4(b)^a<<3&0xf
	a, b = digit(t[0][a]), digit(t[1][b])
	a, b = a^b, a^ror4(b)^a<<3&0xf
	a, b = digit(t[2][a]), digit(t[3][b])
	return b<<4 | a
}

// nibbles holds the tables t0 to t3 of q0 and of q1, a digit an entry.
var nibbles = [2][4]string{
	{"817D6F320B59ECA4", "ECB81235F4A6709D", "BA5E6D90C8F32471", "D7F4126E9B3085CA"},
	{"28BDF76E31940AC5", "1E2B4C376DA5F908", "4C75169A0ED82B3F", "B951C3DE647F208A"},
}

func digit(c byte) byte {
	if c >= 'A' {
		return c - 'A' + 10
	}
	return c - '0'
}
