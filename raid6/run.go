package raid6

import (
	"bytes"

	"github.com/twogather/twogather/internal/alias"
	"github.com/twogather/twogather/internal/gf256"
)

// maxCall is how many bytes of data one kernel call covers at most. A goroutine inside assembly cannot be preempted, so
// longer calls would keep the garbage collector waiting; one of this length takes 5 microseconds where the data is in a cache.
// With calls a quarter as long, 24 disks and 4 KiB, or 8 disks and 64 KiB, take 3% longer (Zen 3).
const maxCall = 256 << 10

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
	opVerify      // P and Q, compared with what they should be
	opLocate      // compared byte by byte
	opVerifyParity
)

// A job is an operation with its buffers.
type job struct {
	op   operation
	data [][]byte
	p, q []byte
	// lost are the disks in data that are not read, the higher one first, or -1. The chunks of those that an operation
	// recovers are x and, where there are two, y, which is the higher one's.
	lost [2]int
	x, y []byte
	// first is the index of data[0], in a partial update.
	first int

	kernel int
	piece  int      // bytes of each chunk that go through all of an operation before the next ones
	group  int      // disks that a kernel call walks over; where it is 0, prepare finds it
	cut    int      // bytes of each chunk that it covers
	stream bool     // P and Q go past the caches
	top    int      // the last disk that is not lost, or -1
	a, b   *product // what a recovery multiplies by
}

// run carries a job out. What it finds is allRight unless the job is a comparison.
func (j *job) run(c Code) finding {
	if len(j.data) == 0 || len(j.p) == 0 {
		return allRight
	}
	j.prepare(c)
	if n := c.workers(len(j.data), len(j.p)); n > 1 {
		return j.share(n)
	}
	return j.part(0, len(j.p))
}

// part carries out what is to be done from byte lo up to hi.
func (j *job) part(lo, hi int) finding {
	found := allRight
	for ; lo < hi && found != severalWrong; lo += j.piece {
		found = found.and(j.do(lo, min(lo+j.piece, hi)))
	}
	return found
}

// How a job is cut. On Zen 3 (EPYC), avx2x4, GB/s of data, chunks of 64 KiB that begin at the same place in a page, all in
// turn in one process:
//
//	                        8 disks   16   24   48
//	all disks at once        58       35   35   28
//	groups of 6, tiles of
//	4 KiB                    54       42   44   43
//	16 KiB                   55       46   49   48
//	64 KiB                   57       47   51   49
//	groups of 7, 64 KiB      57       46   43   44
//	groups of 8, 64 KiB      57       43   41   38
//
// and staggered:
//
//	all disks at once        58       53   50   51
//	groups of 6, 64 KiB      59       47   49   49
//	groups of 12, 64 KiB     58       50   52   51
const (
	// ways is how many lines of one set a first-level cache holds. Chunks that begin at the same place in a page fall on the
	// same sets; more of them than this push each other out. Groups leave room for P and Q.
	ways      = 8
	groupSize = ways - 2
	// tile is how much of P and Q groups hand on to each other.
	tile = 64 << 10
	// recoveryTile is how much of the partial syndromes a recovery goes back to, in calls that cover four chunks.
	recoveryTile = 16 << 10
	// page is where sets begin again.
	page = 4096
	// streamFrom is how much memory an array has that does not find its P and Q in a cache when it needs them again. On Zen 3
	// (EPYC, 32 MiB shared with other processes), staggered, GB/s of data:
	//
	//	                     8 disks of 256 KiB   8 of 1 MiB   16 of 1 MiB   24 of 1 MiB   16 of 4 MiB
	//	through the caches           43.5            36.0          11.8           2.3           3.2
	//	past them                    42.0            35.3          13.7           4.4           5.1
	//
	// In chunks of 64 KiB it loses up to 40%. Nobody has measured it with groups, which would find P and Q in the first cache.
	streamFrom = 16 << 20
)

// prepare fills in how the job is done.
func (j *job) prepare(c Code) {
	j.kernel = c.kernel()
	n := len(j.data)
	for j.top = n - 1; j.top >= 0 && (j.top == j.lost[0] || j.top == j.lost[1]); j.top-- {
	}
	j.piece = tile
	switch j.op {
	case opRecoverData:
		// With P' and Q' of the other disks, P+P' = x + y and Q+Q' = 2^l·x + 2^h·y. So x = a(P+P') + b(Q+Q').
		h, l := j.lost[0], j.lost[1]
		d := gf256.Inverse(gf256.Power(h-l) ^ 1)
		j.a, j.b = &products()[gf256.Mul(gf256.Power(h-l), d)], &products()[gf256.Mul(gf256.Power(-l), d)]
		j.piece = recoveryTile
	case opRecoverP:
		j.b = &products()[gf256.Power(-j.lost[0])]
		j.piece = recoveryTile
	case opRecoverQ:
		j.b = &products()[gf256.Power(j.lost[0])]
		j.piece = recoveryTile
	}
	if j.group == 0 {
		j.group = groupFor(j.data)
	}
	// A call ends with a full visit: 128 bytes at least, two lines, and no more, which would make it one call more for 48
	// disks and 4 KiB.
	visit := max(kernels[j.kernel].Batch, 128)
	j.cut = max(maxCall/j.group&^(visit-1), visit)
	j.stream = j.op == opSyndrome && j.group == n && (n+2)*len(j.p) >= streamFrom && alias.Address(j.p)%64 == 0 && alias.Address(j.q)%64 == 0
}

// groupFor returns how many disks a kernel call walks over: all, unless more chunks begin at the same place in a page than a
// cache set has ways. Groups are alike in size. One of seven is better than another one for what is left: at 16 disks two of
// seven are 4% to 12% faster than 6, 6 and 2 (Zen 3, chunks of 4 KiB).
func groupFor(data [][]byte) int {
	if len(data[0]) <= page/2 || !alias.Crowded(data, ways) {
		return len(data)
	}
	groups := (len(data) - 2 + groupSize - 1) / groupSize
	return (len(data) + groups - 1) / groups
}

// do carries out the piece from lo up to hi.
func (j *job) do(lo, hi int) finding {
	switch j.op {
	case opSyndrome:
		j.syndrome(j.p[lo:hi], j.q[lo:hi], lo)
	case opXorSyndrome:
		j.xorSyndrome(j.p[lo:hi], j.q[lo:hi], lo)
	case opParity, opXorParity:
		j.parity(j.p[lo:hi], lo)
	case opQ:
		j.onlyQ(j.q[lo:hi], lo)
	case opRecoverData:
		x, y := j.x[lo:hi], j.y[lo:hi]
		j.syndrome(x, y, lo)
		recoverData(j.kernel, x, y, j.p[lo:hi], j.q[lo:hi], j.a, j.b)
	case opRecoverP:
		x, p := j.x[lo:hi], j.p[lo:hi]
		j.syndrome(p, x, lo)
		recoverP(j.kernel, x, p, j.q[lo:hi], j.b)
	case opRecoverQ:
		j.recoverQ(j.x[lo:hi], j.q[lo:hi], lo)
	default:
		return j.compare(lo, hi)
	}
	return allRight
}

// recoverQ computes a lost data disk, which is P+P', and Q, which is Q' and that disk's part.
func (j *job) recoverQ(x, q []byte, offset int) {
	var scratch [scratchBytes]byte
	disks := [1][]byte{j.p}
	add := newStep(offset, 1, true, noDisks)
	j.syndrome(x, q, offset)
	parity(j.kernel, x, disks[:], &add)
	disks[0] = j.x
	for len(q) > 0 {
		n := min(len(q), len(scratch))
		update := newStep(offset, 1, false, noDisks)
		update.product = j.b
		xorSyndrome(j.kernel, scratch[:n], q[:n], disks[:], &update)
		q, offset = q[n:], offset+n
	}
}

// syndrome overwrites p and q with the syndromes of the disks that are not lost, group by group from the last one down.
func (j *job) syndrome(p, q []byte, offset int) {
	if j.top < 0 {
		clear(p)
		clear(q)
		return
	}
	for hi := j.top + 1; hi > 0; hi -= j.group {
		lo := max(hi-j.group, 0)
		var s step
		s.begin(offset, hi-lo, hi <= j.top, j.lostIn(lo, hi))
		if hi > j.top {
			s.correction = correction[j.top]
		}
		if j.stream {
			s.stream = 1
		}
		for from := 0; from < len(p); from += j.cut {
			to := min(from+j.cut, len(p))
			s.offset = offset + from
			syndrome(j.kernel, p[from:to], q[from:to], j.data[lo:hi], &s)
		}
	}
}

// lostIn returns which of the disks from lo up to hi are lost, counted from lo.
func (j *job) lostIn(lo, hi int) [2]int {
	lost, n := noDisks, 0
	for _, z := range j.lost {
		if lo <= z && z < hi {
			lost[n] = z - lo
			n++
		}
	}
	return lost
}

// xorSyndrome adds the syndromes of data to p and q.
func (j *job) xorSyndrome(p, q []byte, offset int) {
	for lo := 0; lo < len(j.data); lo += j.group {
		hi := min(lo+j.group, len(j.data))
		scale := gf256.Power(j.first + lo)
		s := newStep(offset, hi-lo, false, noDisks)
		s.correction = correction[hi-lo-1]
		s.product = &products()[scale]
		for from := 0; from < len(p); from += j.cut {
			to := min(from+j.cut, len(p))
			s.offset = offset + from
			xorSyndrome(j.kernel, p[from:to], q[from:to], j.data[lo:hi], &s)
		}
	}
}

// parity overwrites p with the sum of the disks that are not lost, or adds it.
func (j *job) parity(p []byte, offset int) {
	for hi := j.top + 1; hi > 0; hi -= j.group {
		lo := max(hi-j.group, 0)
		var s step
		s.begin(offset, hi-lo, hi <= j.top || j.op == opXorParity, j.lostIn(lo, hi))
		for from := 0; from < len(p); from += j.cut {
			to := min(from+j.cut, len(p))
			s.offset = offset + from
			parity(j.kernel, p[from:to], j.data[lo:hi], &s)
		}
	}
}

// scratchBytes is how much of a chunk is computed beside it at a time.
const scratchBytes = 1024

// onlyQ overwrites q with the Q of data.
func (j *job) onlyQ(q []byte, offset int) {
	var scratch [scratchBytes]byte
	for len(q) > 0 {
		n := min(len(q), len(scratch))
		j.syndrome(scratch[:n], q[:n], offset)
		q, offset = q[n:], offset+n
	}
}

// What a comparison finds: the index of a disk, or one of these.
type finding int

const (
	allRight finding = -1 - iota
	severalWrong
)

// and returns what two parts of a comparison find together.
func (f finding) and(g finding) finding {
	switch {
	case f == allRight || f == g:
		return g
	case g == allRight:
		return f
	}
	return severalWrong
}

// compare compares P and Q with what they should be. Where it does not have to locate what is wrong, any difference is
// severalWrong.
func (j *job) compare(lo, hi int) finding {
	var scratchP, scratchQ [scratchBytes]byte
	found := allRight
	for ; lo < hi && found != severalWrong; lo += scratchBytes {
		n := min(scratchBytes, hi-lo)
		wantP, p := scratchP[:n], j.p[lo:][:n]
		if j.op == opVerifyParity {
			j.parity(wantP, lo)
			if !bytes.Equal(wantP, p) {
				return severalWrong
			}
			continue
		}
		wantQ, q := scratchQ[:n], j.q[lo:][:n]
		j.syndrome(wantP, wantQ, lo)
		if bytes.Equal(wantP, p) && bytes.Equal(wantQ, q) {
			continue
		}
		if j.op == opVerify {
			return severalWrong
		}
		for i := range wantP {
			found = found.and(j.explain(wantP[i]^p[i], wantQ[i]^q[i]))
		}
	}
	return found
}

// explain returns which disk is wrong where P and Q differ by so much from what they should be. A data disk z that is wrong
// by e makes that e and 2^z·e.
func (j *job) explain(p, q byte) finding {
	switch n := len(j.data); {
	case p == 0 && q == 0:
		return allRight
	case q == 0:
		return finding(n)
	case p == 0:
		return finding(n + 1)
	default:
		z := (gf256.Log(q) - gf256.Log(p) + 255) % 255
		if z < n {
			return finding(z)
		}
		return severalWrong
	}
}
