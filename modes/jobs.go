package modes

import (
	"crypto/cipher"
	"sync"
)

// A Job is one message of several that are encrypted side by side. Src goes to the start of Dst, which may be the same
// memory and must not overlap otherwise; what one job writes must not be memory of another. The IV is one block; it is only
// read.
type Job struct{ Dst, Src, IV []byte }

// EncryptCBC encrypts messages of whole blocks in CBC mode, each by itself. What one message has to do in a row, several do
// at once: where b is a [Bulk], messages by the dozen take a fraction of the time. They may differ in length; it helps if
// the longest come first. A wrong job panics, as in [NewCBCEncrypter] and its result's CryptBlocks, before anything is
// written.
func EncryptCBC(b cipher.Block, jobs []Job) {
	size := b.BlockSize()
	for _, j := range jobs {
		if len(j.IV) != size {
			panic("cipher.NewCBCEncrypter: IV length must equal block size")
		}
		checkBlocks(size, j.Dst, j.Src)
	}
	sideBySide(b, jobs, false)
}

// EncryptCFB is to [NewCFBEncrypter] as [EncryptCBC] is to [NewCBCEncrypter]. Messages have any length.
func EncryptCFB(b cipher.Block, jobs []Job) {
	for _, j := range jobs {
		if len(j.IV) != b.BlockSize() {
			panic("cipher.newCFB: IV length must equal block size")
		}
		checkStream(j.Dst, j.Src)
	}
	sideBySide(b, jobs, true)
}

// Lanes work in steps of a block each. Their blocks are collected for rowsAtOnce steps, the blocks of a step in a row, and
// distributed afterwards. In CBC and CFB a row of ciphertext is what the next one is chained to.
const (
	rowsAtOnce = 16
	mostLanes  = 128
	lanesLike  = 64 // as close to this as whole batches come
)

// A lane is what is left of a job.
type lane struct{ dst, src []byte }

type jobsBuffer struct {
	lanes [mostLanes]lane
	rows  []byte // the row before, a spare one, and as many as are worked on
}

var jobsBuffers = sync.Pool{New: func() any { return new(jobsBuffer) }}

func sideBySide(b cipher.Block, jobs []Job, feedback bool) {
	size := b.BlockSize()
	x := rowEncrypter{ecb: newECB(b), feedback: feedback}
	x.wide, _ = b.(BulkLanes)
	most := x.lanes()

	buf := jobsBuffers.Get().(*jobsBuffer)
	defer jobsBuffers.Put(buf)
	if need := (rowsAtOnce + 2) * most * size; len(buf.rows) < need {
		buf.rows = make([]byte, need)
	}
	chain, spare, rows := buf.rows[:most*size], buf.rows[most*size:2*most*size], buf.rows[2*most*size:]
	lanes := buf.lanes[:0]
	defer clear(buf.lanes[:])
	for {
		for len(jobs) > 0 && len(lanes) < most {
			if j := &jobs[0]; len(j.Src) > 0 {
				copy(chain[len(lanes)*size:], j.IV)
				lanes = append(lanes, lane{j.Dst[:len(j.Src)], j.Src})
			}
			jobs = jobs[1:]
		}
		if len(lanes) == 0 {
			return
		}
		// Lanes stay where they are until the shortest ends.
		end := len(lanes[0].src)
		for i := range lanes {
			end = min(end, len(lanes[i].src))
		}
		row := len(lanes) * size
		for at := 0; at < end; at += rowsAtOnce * size {
			steps := min(rowsAtOnce, (end-at+size-1)/size)
			for i := 0; i < len(lanes); i += 2 {
				collect(rows[i*size:], lanes[i:min(i+2, len(lanes))], at, steps, row, size)
			}
			x.encrypt(rows[:steps*row], chain[:row], spare[:row])
			for i := 0; i < len(lanes); i += 2 {
				distribute(lanes[i:min(i+2, len(lanes))], rows[i*size:], at, steps, row, size)
			}
		}
		// Lanes that go on move up to the places of those that have ended.
		end = (end + size - 1) / size * size
		on := 0
		for i, l := range lanes {
			if end < len(l.src) {
				lanes[on] = lane{l.dst[end:], l.src[end:]}
				copy(chain[on*size:][:size], chain[i*size:])
				on++
			}
		}
		lanes = lanes[:on]
	}
}

// A rowEncrypter encrypts rows, in CBC mode or with the feedback of CFB mode.
type rowEncrypter struct {
	ecb
	wide     BulkLanes // the block, if it is one
	feedback bool
}

// lanes returns how many lanes to have.
func (x *rowEncrypter) lanes() int {
	if x.wide != nil && x.wide.Lanes() > 0 {
		return min(x.wide.Lanes(), mostLanes)
	}
	batch := 1
	if b, ok := x.block.(BulkBatch); ok {
		batch = max(b.Batch(), 1)
	}
	return min(batch*max(lanesLike/batch, 1), mostLanes)
}

// encrypt is what a [BulkLanes] does, for any number of lanes. spare is as long as iv.
func (x *rowEncrypter) encrypt(rows, iv, spare []byte) {
	if x.wide != nil && len(iv) == x.wide.Lanes()*x.block.BlockSize() {
		if x.feedback {
			x.wide.EncryptCFBLanes(rows, rows, iv)
		} else {
			x.wide.EncryptCBCLanes(rows, rows, iv)
		}
		return
	}
	before := iv
	for ; len(rows) > 0; rows = rows[len(iv):] {
		r := rows[:len(iv)]
		if x.feedback {
			x.ecb.encrypt(spare, before)
			xorBytes(r, r, spare)
		} else {
			xorBytes(r, r, before)
			x.ecb.encrypt(r, r)
		}
		before = r
	}
	copy(iv, before)
}

// collect copies the blocks of two neighbouring lanes, or of one, to their rows, and distribute copies them back. The last
// one may be part of a block.

func collect(rows []byte, pair []lane, at, steps, row, size int) {
	done := 0
	if size == 16 && len(pair) == 2 {
		done = collectSteps(rows, pair[0].src[at:], pair[1].src[at:], steps, row)
	}
	for i := range pair {
		for s := done; s < steps; s++ {
			copyBlock(rows[s*row+i*size:], pair[i].src[at+s*size:], size)
		}
	}
}

func distribute(pair []lane, rows []byte, at, steps, row, size int) {
	done := 0
	if size == 16 && len(pair) == 2 {
		done = distributeSteps(pair[0].dst[at:], pair[1].dst[at:], rows, steps, row)
	}
	for i := range pair {
		for s := done; s < steps; s++ {
			copyBlock(pair[i].dst[at+s*size:], rows[s*row+i*size:], size)
		}
	}
}

// copyBlock copies a block, or what there is of it.
func copyBlock(dst, src []byte, size int) {
	if size == 16 && len(dst) >= 16 && len(src) >= 16 {
		*(*[16]byte)(dst) = [16]byte(src)
	} else {
		copy(dst, src[:min(size, len(src))])
	}
}
