package raid6

import (
	"encoding/binary"

	"github.com/twogather/twogather/internal/gf256"
)

// Eight bytes at a time.

const (
	lowBits  = 0x0101010101010101
	highBits = lowBits << 7
)

// double8 doubles each byte of v.
func double8(v uint64) uint64 {
	return v&^highBits<<1 ^ v>>7&lowBits*(gf256.Polynomial&0xFF)
}

// syndromeGeneric sets p and q to the syndromes of data, whose disks are at least as long as s.offset and p together. p and
// q have the same length. See step.
func syndromeGeneric(p, q []byte, data [][]byte, s *step) {
	z := len(data)
	if s.carry == 0 {
		z--
		copy(p, data[z][s.offset:])
		copy(q, p)
	}
	for i, n := range s.runs {
		if n < 0 {
			break
		}
		if i > 0 {
			z--
			doubleGeneric(q)
		}
		for range n {
			z--
			doubleAddGeneric(p, q, data[z][s.offset:][:len(p)])
		}
	}
}

// doubleAddGeneric adds d to p, doubles q and adds d to it.
func doubleAddGeneric(p, q, d []byte) {
	for len(d) >= 8 && len(p) >= 8 && len(q) >= 8 {
		v := binary.LittleEndian.Uint64(d)
		binary.LittleEndian.PutUint64(p, binary.LittleEndian.Uint64(p)^v)
		binary.LittleEndian.PutUint64(q, double8(binary.LittleEndian.Uint64(q))^v)
		p, q, d = p[8:], q[8:], d[8:]
	}
	for i, v := range d {
		p[i] ^= v
		q[i] = gf256.Double(q[i]) ^ v
	}
}

func doubleGeneric(q []byte) {
	for len(q) >= 8 {
		binary.LittleEndian.PutUint64(q, double8(binary.LittleEndian.Uint64(q)))
		q = q[8:]
	}
	for i := range q {
		q[i] = gf256.Double(q[i])
	}
}

// addGeneric adds d to p.
func addGeneric(p, d []byte) {
	for len(d) >= 8 && len(p) >= 8 {
		binary.LittleEndian.PutUint64(p, binary.LittleEndian.Uint64(p)^binary.LittleEndian.Uint64(d))
		p, d = p[8:], d[8:]
	}
	for i, v := range d {
		p[i] ^= v
	}
}

// times returns c·v.
func (c *product) times(v byte) byte { return c.low[v&15] ^ c.high[v>>4] }

// xorSyndromeGeneric adds to p the P and to q the Q of data, multiplied by s.product. There is at least one disk.
func xorSyndromeGeneric(p, q []byte, data [][]byte, s *step) {
	var bufP, bufQ [256]byte
	for i := 0; i < len(p); i += len(bufP) {
		n := min(len(bufP), len(p)-i)
		part := newStep(s.offset+i, len(data), false, noDisks)
		syndromeGeneric(bufP[:n], bufQ[:n], data, &part)
		addGeneric(p[i:i+n], bufP[:n])
		for j, v := range bufQ[:n] {
			q[i+j] ^= s.product.times(v)
		}
	}
}

// parityGeneric is syndromeGeneric for P alone.
func parityGeneric(p []byte, data [][]byte, s *step) {
	z := len(data)
	if s.carry == 0 {
		z--
		copy(p, data[z][s.offset:])
	}
	for i, n := range s.runs {
		if i > 0 {
			z--
		}
		for range n {
			z--
			addGeneric(p, data[z][s.offset:][:len(p)])
		}
	}
}

// recoverDataGeneric computes two lost data disks, x < y. They come as the P and the Q of all others, p and q as P and Q.
// For a and b see recovery.
func recoverDataGeneric(x, y, p, q []byte, a, b *product) {
	for i := range x {
		sum := x[i] ^ p[i]
		x[i] = a.times(sum) ^ b.times(y[i]^q[i])
		y[i] = x[i] ^ sum
	}
}

// recoverPGeneric computes a lost data disk and P. They come as the Q and the P of all others, q as Q.
func recoverPGeneric(x, p, q []byte, b *product) {
	for i := range x {
		x[i] = b.times(x[i] ^ q[i])
		p[i] ^= x[i]
	}
}
