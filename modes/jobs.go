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
	rowsAtOnce = 8
	mostLanes  = 128
	lanesLike  = 64 // as close to this as whole batches come
)

// A lane is what is left of a job.
type lane struct{ dst, src []byte }

type jobsBuffer struct {
	lanes [mostLanes]lane
	rows  []byte // the row before, as many as are worked on, and a spare one
}

var jobsBuffers = sync.Pool{New: func() any { return new(jobsBuffer) }}

func sideBySide(b cipher.Block, jobs []Job, feedback bool) {
	x := newECB(b)
	size := b.BlockSize()
	batch := 1
	if b, ok := b.(BulkBatch); ok {
		batch = max(b.Batch(), 1)
	}
	most := min(batch*max(lanesLike/batch, 1), mostLanes)

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
		steps := rowsAtOnce
		for _, l := range lanes {
			steps = min(steps, (len(l.src)+size-1)/size)
		}
		row := len(lanes) * size
		for i, l := range lanes {
			collect(rows[i*size:], l.src[:min(len(l.src), steps*size)], row, size)
		}
		before := chain[:row]
		for s := range steps {
			r := rows[s*row:][:row]
			if feedback {
				x.encrypt(spare[:row], before)
				xorBytes(r, r, spare[:row])
			} else {
				xorBytes(r, r, before)
				x.encrypt(r, r)
			}
			before = r
		}
		// Lanes that go on move up to the places of those that have ended.
		on := 0
		for i, l := range lanes {
			n := min(len(l.src), steps*size)
			distribute(l.dst[:n], rows[i*size:], row, size)
			if n < len(l.src) {
				lanes[on] = lane{l.dst[n:], l.src[n:]}
				copy(chain[on*size:][:size], before[i*size:])
				on++
			}
		}
		lanes = lanes[:on]
	}
}

// collect copies a lane's blocks to their rows, and distribute copies them back. The last one may be part of a block.

func collect(rows, src []byte, row, size int) {
	at, i := 0, 0
	if size == 16 {
		for ; i+16 <= len(src); i += 16 {
			*(*[16]byte)(rows[at:]) = [16]byte(src[i:])
			at += row
		}
	}
	for ; i < len(src); i += size {
		copy(rows[at:][:size], src[i:])
		at += row
	}
}

func distribute(dst, rows []byte, row, size int) {
	at, i := 0, 0
	if size == 16 {
		for ; i+16 <= len(dst); i += 16 {
			*(*[16]byte)(dst[i:]) = [16]byte(rows[at:])
			at += row
		}
	}
	for ; i < len(dst); i += size {
		copy(dst[i:], rows[at:][:size])
		at += row
	}
}
