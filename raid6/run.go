package raid6

import "bytes"

// maxCall is how many bytes of data one kernel call covers at most. A goroutine inside assembly cannot be preempted, so
// longer calls would keep the garbage collector waiting.
const maxCall = 64 << 10

// An operation is what is done with all of a chunk, piece by piece.
type operation uint8

const (
	opSyndrome    operation = iota // P and Q of data
	opXorSyndrome                  // added to P and Q
	opParity                       // P alone
	opXorParity
	opQ           // Q alone
	opRecoverData // two data disks
	opRecoverP    // a data disk and P
	opRecoverQ    // a data disk and Q
)

// work is an operation with its buffers.
type work struct {
	op   operation
	data [][]byte
	p, q []byte
	// lost are the disks in data that are not read, the higher one first. Their chunks are x and y: the first one's, or y's
	// is the higher one's.
	lost [2]int
	x, y []byte
	// index is that of data[0], in a partial update.
	index int
}

// run carries work out.
func (c Code) run(w work) {
	c.runPart(&w, 0, len(w.p))
}

// runPart carries out the part of w from lo up to hi.
func (c Code) runPart(w *work, lo, hi int) {
	if len(w.data) == 0 {
		return
	}
	r := newRunner(c.kernel(), w)
	for ; lo < hi; lo += r.piece {
		r.do(lo, min(lo+r.piece, hi))
	}
}

// A runner carries out a work piece by piece.
type runner struct {
	*work
	k      int // kernel
	piece  int // bytes of each chunk
	group  int // disks that a kernel call walks over
	tables *tables
	a, b   *product
	top    int // the last disk that is not lost, or -1
}

func newRunner(k int, w *work) runner {
	r := runner{work: w, k: k, group: len(w.data), tables: newTables()}
	for r.top = len(w.data) - 1; r.top >= 0 && (r.top == w.lost[0] || r.top == w.lost[1]); r.top-- {
	}
	r.piece = max(maxCall/len(w.data)&^255, 256)
	switch w.op {
	case opRecoverData:
		// With P' and Q' of the other disks, P+P' = x + y and Q+Q' = 2^i·x + 2^j·y. So x = a(P+P') + b(Q+Q').
		i, j := w.lost[1], w.lost[0]
		t := r.tables
		d := t.inverse(t.power(j-i) ^ 1)
		r.a, r.b = &t.products[mul(t.power(j-i), d)], &t.products[mul(t.power(-i), d)]
	case opRecoverQ:
		r.b = &r.tables.products[r.tables.power(w.lost[0])]
	case opRecoverP:
		r.b = &r.tables.products[r.tables.power(-w.lost[0])]
	}
	return r
}

// do carries out the piece from lo up to hi.
func (r *runner) do(lo, hi int) {
	switch r.op {
	case opSyndrome:
		r.syndrome(r.p[lo:hi], r.q[lo:hi], lo)
	case opXorSyndrome:
		r.xorSyndrome(r.p[lo:hi], r.q[lo:hi], lo)
	case opParity, opXorParity:
		r.parity(r.p[lo:hi], lo)
	case opQ:
		r.onlyQ(r.q[lo:hi], lo)
	case opRecoverData:
		x, y := r.x[lo:hi], r.y[lo:hi]
		r.syndrome(x, y, lo)
		recoverData(r.k, x, y, r.p[lo:hi], r.q[lo:hi], r.a, r.b)
	case opRecoverP:
		x, p := r.x[lo:hi], r.p[lo:hi]
		r.syndrome(p, x, lo)
		recoverP(r.k, x, p, r.q[lo:hi], r.b)
	case opRecoverQ:
		r.recoverQ(r.x[lo:hi], r.p[lo:hi], r.q[lo:hi], lo)
	}
}

// recoverQ computes a lost data disk, which is P+P', and Q, which is Q' and that disk's part.
func (r *runner) recoverQ(x, p, q []byte, offset int) {
	var scratch [scratchBytes]byte
	disks := [1][]byte{p}
	add := step{lost: noDisks, carry: 1}
	update := step{lost: noDisks, product: r.b}
	r.syndrome(x, q, offset)
	parity(r.k, x, disks[:], &add)
	disks[0] = x
	for len(x) > 0 {
		n := min(len(x), len(scratch))
		xorSyndrome(r.k, scratch[:n], q[:n], disks[:], &update)
		update.offset += n
		x, q = x[n:], q[n:]
	}
}

// syndrome overwrites p and q with the syndromes of the disks that are not lost, group by group from the last one down.
func (r *runner) syndrome(p, q []byte, offset int) {
	if r.top < 0 {
		clear(p)
		clear(q)
		return
	}
	s := step{offset: offset}
	for hi := r.top + 1; hi > 0; hi -= r.group {
		lo := max(hi-r.group, 0)
		s.lost = r.lostIn(lo, hi)
		if lo == 0 {
			s.correction = r.tables.correction[r.top]
		}
		syndrome(r.k, p, q, r.data[lo:hi], &s)
		s.carry = 1
	}
}

// lostIn returns which of the disks from lo up to hi are lost, counted from lo.
func (r *runner) lostIn(lo, hi int) [2]int {
	lost, n := noDisks, 0
	for _, z := range r.lost {
		if lo <= z && z < hi {
			lost[n] = z - lo
			n++
		}
	}
	return lost
}

// xorSyndrome adds the syndromes of data to p and q.
func (r *runner) xorSyndrome(p, q []byte, offset int) {
	for lo := 0; lo < len(r.data); lo += r.group {
		hi := min(lo+r.group, len(r.data))
		scale := r.tables.power(r.index + lo)
		s := step{
			offset:     offset,
			correction: mul(scale, r.tables.correction[hi-lo-1]),
			product:    &r.tables.products[scale],
		}
		xorSyndrome(r.k, p, q, r.data[lo:hi], &s)
	}
}

// parity overwrites p with the sum of the disks that are not lost, or adds it.
func (r *runner) parity(p []byte, offset int) {
	s := step{offset: offset}
	if r.op == opXorParity {
		s.carry = 1
	}
	for hi := r.top + 1; hi > 0; hi -= r.group {
		lo := max(hi-r.group, 0)
		s.lost = r.lostIn(lo, hi)
		parity(r.k, p, r.data[lo:hi], &s)
		s.carry = 1
	}
}

// scratchBytes is how much of a chunk is computed beside it at a time.
const scratchBytes = 1024

// onlyQ overwrites q with the Q of data.
func (r *runner) onlyQ(q []byte, offset int) {
	var scratch [scratchBytes]byte
	for len(q) > 0 {
		n := min(len(q), len(scratch))
		r.syndrome(scratch[:n], q[:n], offset)
		q, offset = q[n:], offset+n
	}
}

// What a comparison finds: the index of a disk, or one of these.
type finding int

const (
	allRight finding = -1 - iota
	severalWrong
)

// compare compares p and q with what they should be. Where it does not have to locate what is wrong, any difference is
// severalWrong. q is nil where there is none.
func (c Code) compare(data [][]byte, p, q []byte, locate bool) finding {
	var scratchP, scratchQ [scratchBytes]byte
	found := allRight
	w := work{data: data, lost: noDisks}
	r := newRunner(c.kernel(), &w)
	piece := min(r.piece, scratchBytes)
	for lo := 0; lo < len(p); lo += piece {
		hi := min(lo+piece, len(p))
		wantP, wantQ := scratchP[:hi-lo], scratchQ[:hi-lo]
		if q == nil {
			r.parity(wantP, lo)
			if !bytes.Equal(wantP, p[lo:hi]) {
				return severalWrong
			}
			continue
		}
		r.syndrome(wantP, wantQ, lo)
		if bytes.Equal(wantP, p[lo:hi]) && bytes.Equal(wantQ, q[lo:hi]) {
			continue
		}
		if !locate {
			return severalWrong
		}
		for i := range wantP {
			f := r.explain(wantP[i]^p[lo+i], wantQ[i]^q[lo+i])
			if f == allRight || f == found {
				continue
			}
			if found != allRight || f == severalWrong {
				return severalWrong
			}
			found = f
		}
	}
	return found
}

// explain returns which disk is wrong where P and Q differ by so much from what they should be. A data disk z that is wrong
// by e makes that e and 2^z·e.
func (r *runner) explain(p, q byte) finding {
	switch n := len(r.data); {
	case p == 0 && q == 0:
		return allRight
	case q == 0:
		return finding(n)
	case p == 0:
		return finding(n + 1)
	default:
		z := (int(r.tables.log[q]) - int(r.tables.log[p]) + 255) % 255
		if z < n {
			return finding(z)
		}
		return severalWrong
	}
}
