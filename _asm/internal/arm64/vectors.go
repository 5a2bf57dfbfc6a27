package arm64

import "fmt"

// A Visit is how much of a buffer is in registers at a time: vectors of so many bytes, or, with SVE, of what the processor
// has; where it is Partial, only some of the bytes of one.
type Visit struct {
	Vectors, Bytes int
	Partial        bool
}

func (v Visit) String() string {
	switch {
	case v.Partial:
		return "One vector, or what is left of it"
	case v.Bytes == 0:
		return fmt.Sprintf("%d vectors", v.Vectors)
	case v.Bytes == 1:
		return "One byte"
	case v.Vectors == 1:
		return fmt.Sprintf("%d bytes", v.Bytes)
	}
	return fmt.Sprintf("%d vectors of %d bytes", v.Vectors, v.Bytes)
}

// Vectors are what NEON and SVE have in common. Registers are numbers. Each method does what it says for all vectors of a
// visit, which are in consecutive registers.
type Vectors interface {
	// Load and Store move what lies at base and the offset of the visit.
	Load(v Visit, base X, to int)
	Store(v Visit, from int, base X)
	Copy(v Visit, a, to int)
	// Add adds in the field.
	Add(v Visit, a, to int)
	// LookUp looks bytes below 16 up in one table.
	LookUp(v Visit, table, index, to int)
	// Nibbles leaves the low nibbles in r and puts the high ones in another register. mask is 0F everywhere, as Fill sets it.
	Nibbles(v Visit, mask, r, high int)
	Fill(n, to int)
}

// NEON is one set of vectors. At is the register with the offset; Address is overwritten.
type NEON struct {
	*File
	At, Address X
}

func bytes16(r int) string { return Bytes16.Of(V(r)) }

// Load is that of Vectors; of vectors with less than 16 bytes, it loads no more.
func (n NEON) Load(v Visit, base X, to int) {
	n.Op("ADD", n.At, base, n.Address)
	n.Parts(v, func(part Visit, u int, more bool) { n.LoadHere(part, to+u, more) })
}

// Store is that of Vectors, for vectors of any number of bytes.
func (n NEON) Store(v Visit, from int, base X) {
	n.Op("ADD", n.At, base, n.Address)
	n.Parts(v, func(part Visit, u int, more bool) {
		mnemonic, registers, at := n.here("VST1", part, from+u, more)
		n.Op(mnemonic, registers, at)
	})
}

// LoadHere loads from the address on, and goes on if there are more.
func (n NEON) LoadHere(part Visit, to int, more bool) {
	mnemonic, registers, at := n.here("VLD1", part, to, more)
	n.Op(mnemonic, at, registers)
}

// Parts divides a visit in parts that one instruction moves: four vectors at most, from u on.
func (NEON) Parts(v Visit, f func(part Visit, u int, more bool)) {
	for u := 0; u < v.Vectors; u += 4 {
		f(Visit{Vectors: min(v.Vectors-u, 4), Bytes: v.Bytes}, u, u+4 < v.Vectors)
	}
}

// here returns what moves a part: for halves of vectors and less, an instruction on one element.
func (n NEON) here(vectors string, part Visit, r int, more bool) (mnemonic, registers, at string) {
	v := V(r)
	at = At(0, n.Address)
	switch part.Bytes {
	case 8:
		return "FMOVD", v.Scalar(), at
	case 4:
		return "FMOVS", v.Scalar(), at
	case 2:
		return vectors, Halves8.Element(v, 0), at
	case 1:
		return vectors, Bytes16.Element(v, 0), at
	}
	if more {
		vectors, at = vectors+".P", At(16*part.Vectors, n.Address)
	}
	return vectors, Bytes16.List(v, part.Vectors), at
}

// Copy is that of Vectors.
func (n NEON) Copy(v Visit, a, to int) {
	for u := range v.Vectors {
		n.Op("VMOV", bytes16(a+u), bytes16(to+u))
	}
}

// Add is that of Vectors.
func (n NEON) Add(v Visit, a, to int) {
	for u := range v.Vectors {
		n.Op("VEOR", bytes16(a+u), bytes16(to+u), bytes16(to+u))
	}
}

// LookUp is that of Vectors.
func (n NEON) LookUp(v Visit, table, index, to int) {
	for u := range v.Vectors {
		n.Op("VTBL", bytes16(index+u), Bytes16.List(V(table), 1), bytes16(to+u))
	}
}

// Nibbles is that of Vectors.
func (n NEON) Nibbles(v Visit, mask, r, high int) {
	for u := range v.Vectors {
		n.Op("VUSHR", 4, bytes16(r+u), bytes16(high+u))
	}
	for u := range v.Vectors {
		n.Op("VAND", bytes16(mask), bytes16(r+u), bytes16(r+u))
	}
}

// Fill is that of Vectors.
func (n NEON) Fill(b, to int) { n.Op("VMOVI", b, bytes16(to)) }

// SVE is the other one. Rest is the predicate of the bytes that visits are about: of whole vectors, all.
type SVE struct {
	*File
	At, Address X
	Rest        P
}

// Load is that of Vectors.
func (s SVE) Load(v Visit, base X, to int) {
	if v.Vectors == 1 {
		s.ZLoadAt(s.Rest, base, s.At, Z(to))
		return
	}
	s.Op("ADD", s.At, base, s.Address)
	for u := range v.Vectors {
		s.ZLoad(s.Rest, u, s.Address, Z(to+u))
	}
}

// Store is that of Vectors.
func (s SVE) Store(v Visit, from int, base X) {
	if v.Vectors == 1 {
		s.ZStoreAt(s.Rest, Z(from), base, s.At)
		return
	}
	s.Op("ADD", s.At, base, s.Address)
	for u := range v.Vectors {
		s.ZStore(s.Rest, Z(from+u), u, s.Address)
	}
}

// Copy is that of Vectors.
func (s SVE) Copy(v Visit, a, to int) {
	for u := range v.Vectors {
		s.ZMov(Z(a+u), Z(to+u))
	}
}

// Add is that of Vectors.
func (s SVE) Add(v Visit, a, to int) {
	for u := range v.Vectors {
		s.ZEor(Z(a+u), Z(to+u), Z(to+u))
	}
}

// LookUp is that of Vectors. The table is repeated every 16 bytes.
func (s SVE) LookUp(v Visit, table, index, to int) {
	for u := range v.Vectors {
		s.ZTable(Z(index+u), Z(table), Z(to+u))
	}
}

// Nibbles is that of Vectors.
func (s SVE) Nibbles(v Visit, mask, r, high int) {
	for u := range v.Vectors {
		s.ZShiftRight(4, Z(r+u), Z(high+u))
	}
	for u := range v.Vectors {
		s.ZAnd(Z(mask), Z(r+u), Z(r+u))
	}
}

// Fill is that of Vectors.
func (s SVE) Fill(b, to int) { s.ZFill(b, Z(to)) }
