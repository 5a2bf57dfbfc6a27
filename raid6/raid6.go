package raid6

import (
	"errors"
	"fmt"

	"github.com/twogather/twogather/internal/alias"
)

// An array has at least MinData and at most MaxData data disks. With more than MaxData, 2^i would come again.
const (
	MinData = 2
	MaxData = 255
)

// ErrSeveral is what [Code.Locate] returns where no single disk explains what is wrong.
var ErrSeveral = errors.New("raid6: more than one disk is wrong")

// A Code computes P and Q with a kernel and a number of goroutines. The zero value uses the processor's best kernel, and
// more than one goroutine where that is faster; [Tune] finds the best one for a given array. A Code may be copied, and used
// by several goroutines at once.
type Code struct {
	chosen     uint8 // 0, or a row of the table plus one
	goroutines int   // at most, or 0
}

func withKernel(k int) Code { return Code{chosen: uint8(k + 1)} }

// kernel returns the row of the table that c uses.
func (c Code) kernel() int {
	if c.chosen == 0 {
		return defaultKernel
	}
	return int(c.chosen) - 1
}

// Kernel returns the name of the kernel that c uses.
func (c Code) Kernel() string { return kernels[c.kernel()].Name }

// WithGoroutines returns c limited to n goroutines for a call. 1 computes everything in the caller's; 0 is the default.
func (c Code) WithGoroutines(n int) Code {
	c.goroutines = max(n, 0)
	return c
}

// GenSyndrome overwrites p and q with the P and the Q of data. All chunks have the same length.
func (c Code) GenSyndrome(data [][]byte, p, q []byte) error {
	if end, ok := inOrder(data, len(p)); !ok || len(q) != len(p) || alias.Address(p) < end || alias.Address(q) < alias.Address(p)+uintptr(len(p)) {
		if err := checkData(data, 0, len(data), 2, p, q); err != nil {
			return err
		}
	}
	group := groupFor(data)
	if oneCall(data, p, group) {
		s := wholeArray(len(data))
		syndrome(c.kernel(), p, q, data, &s)
		return nil
	}
	j := job{op: opSyndrome, data: data, p: p, q: q, lost: noDisks, group: group}
	j.run(c)
	return nil
}

// oneCall reports whether one kernel call is all that there is to do. What prepares for more would take a tenth of the time
// for eight disks and 4 KiB.
func oneCall(data [][]byte, p []byte, group int) bool {
	n := len(data)
	return n == group && 0 < len(p) && n*len(p) <= maxCall
}

// XorSyndrome adds to p and q what data[start:stop] contribute to them. It is called with what is in those chunks, to take
// it away, and with what will be in them; or once, with the sums of the two. Chunks outside of the range are not looked at.
func (c Code) XorSyndrome(data [][]byte, start, stop int, p, q []byte) error {
	if err := checkData(data, start, stop, 2, p, q); err != nil {
		return err
	}
	j := job{op: opXorSyndrome, data: data[start:stop], p: p, q: q, lost: noDisks, first: start}
	j.run(c)
	return nil
}

// Recover computes the chunks of at most two failed disks from all others. disks are the data disks, then P, then Q; failed
// are indexes in that. What the failed ones' chunks hold does not matter: they are overwritten.
func (c Code) Recover(disks [][]byte, failed ...int) error {
	if err := checkDisks(disks, 2, failed...); err != nil {
		return err
	}
	n := len(disks) - 2
	j := job{data: disks[:n], p: disks[n], q: disks[n+1], lost: noDisks}
	low, high := -1, -1
	switch len(failed) {
	case 0:
		return nil
	case 1:
		high = failed[0]
	default:
		low, high = min(failed[0], failed[1]), max(failed[0], failed[1])
	}
	switch {
	case high < n && low < 0: // a data disk: P tells it
		j.op, j.data, j.p, j.lost[0] = opParity, disks[:n+1], disks[high], high
	case high < n:
		j.op, j.lost, j.x, j.y = opRecoverData, [2]int{high, low}, disks[low], disks[high]
	case high == n && low < 0:
		j.op = opParity
	case high == n:
		j.op, j.lost[0], j.x = opRecoverP, low, disks[low]
	case low < 0:
		j.op = opQ
	case low == n:
		j.op = opSyndrome
	default: // a data disk and Q
		j.op, j.lost[0], j.x = opRecoverQ, low, disks[low]
	}
	j.run(c)
	return nil
}

// Verify reports whether P and Q are those of the data disks. disks are as for [Code.Recover].
func (c Code) Verify(disks [][]byte) (bool, error) {
	if err := checkDisks(disks, 2); err != nil {
		return false, err
	}
	n := len(disks) - 2
	j := job{op: opVerify, data: disks[:n], p: disks[n], q: disks[n+1], lost: noDisks}
	return j.run(c) == allRight, nil
}

// Locate returns the index of the one disk that is wrong, or -1 where none is. disks are as for [Code.Recover], which can
// put the disk right. The error is [ErrSeveral] where one disk does not explain what is wrong. Three wrong disks can look
// like one, and so can two if they are wrong at the same bytes.
func (c Code) Locate(disks [][]byte) (int, error) {
	if err := checkDisks(disks, 2); err != nil {
		return -1, err
	}
	n := len(disks) - 2
	j := job{op: opLocate, data: disks[:n], p: disks[n], q: disks[n+1], lost: noDisks}
	switch f := j.run(c); f {
	case allRight:
		return -1, nil
	case severalWrong:
		return -1, ErrSeveral
	default:
		return int(f), nil
	}
}

// GenParity overwrites p with the P of data, for arrays that have no Q (RAID-5).
func (c Code) GenParity(data [][]byte, p []byte) error {
	if end, ok := inOrder(data, len(p)); !ok || alias.Address(p) < end {
		if err := checkData(data, 0, len(data), 1, p, nil); err != nil {
			return err
		}
	}
	group := groupFor(data)
	if oneCall(data, p, group) {
		s := wholeArray(len(data))
		parity(c.kernel(), p, data, &s)
		return nil
	}
	j := job{op: opParity, data: data, p: p, lost: noDisks, group: group}
	j.run(c)
	return nil
}

// XorParity is [Code.XorSyndrome] for P alone.
func (c Code) XorParity(data [][]byte, start, stop int, p []byte) error {
	if err := checkData(data, start, stop, 1, p, nil); err != nil {
		return err
	}
	j := job{op: opXorParity, data: data[start:stop], p: p, lost: noDisks}
	j.run(c)
	return nil
}

// RecoverParity computes the chunk of a failed disk from all others by P alone. disks are the data disks, then P.
func (c Code) RecoverParity(disks [][]byte, failed int) error {
	if err := checkDisks(disks, 1, failed); err != nil {
		return err
	}
	j := job{op: opParity, data: disks, p: disks[failed], lost: noDisks}
	if failed == len(disks)-1 {
		j.data = disks[:failed]
	} else {
		j.lost[0] = failed
	}
	j.run(c)
	return nil
}

// VerifyParity reports whether P, the last of disks, is that of the others.
func (c Code) VerifyParity(disks [][]byte) (bool, error) {
	if err := checkDisks(disks, 1); err != nil {
		return false, err
	}
	n := len(disks) - 1
	j := job{op: opVerifyParity, data: disks[:n], p: disks[n], lost: noDisks}
	return j.run(c) == allRight, nil
}

// The package's functions are those of the zero [Code].

// GenSyndrome is [Code.GenSyndrome].
func GenSyndrome(data [][]byte, p, q []byte) error { return Code{}.GenSyndrome(data, p, q) }

// XorSyndrome is [Code.XorSyndrome].
func XorSyndrome(data [][]byte, start, stop int, p, q []byte) error {
	return Code{}.XorSyndrome(data, start, stop, p, q)
}

// Recover is [Code.Recover].
func Recover(disks [][]byte, failed ...int) error { return Code{}.Recover(disks, failed...) }

// Verify is [Code.Verify].
func Verify(disks [][]byte) (bool, error) { return Code{}.Verify(disks) }

// Locate is [Code.Locate].
func Locate(disks [][]byte) (int, error) { return Code{}.Locate(disks) }

// GenParity is [Code.GenParity].
func GenParity(data [][]byte, p []byte) error { return Code{}.GenParity(data, p) }

// XorParity is [Code.XorParity].
func XorParity(data [][]byte, start, stop int, p []byte) error {
	return Code{}.XorParity(data, start, stop, p)
}

// RecoverParity is [Code.RecoverParity].
func RecoverParity(disks [][]byte, failed int) error { return Code{}.RecoverParity(disks, failed) }

// VerifyParity is [Code.VerifyParity].
func VerifyParity(disks [][]byte) (bool, error) { return Code{}.VerifyParity(disks) }

// What is wrong with an argument is found before anything is written.

// inOrder reports whether nothing is wrong with data, as is seen at once where chunks of n bytes follow each other in memory,
// and returns where the last one ends. In small chunks the time shows.
func inOrder(data [][]byte, n int) (end uintptr, ok bool) {
	end, ok = alias.Follow(0, n, data)
	return end, ok && n > 0 && MinData <= len(data) && len(data) <= MaxData
}

// checkData checks the disks from start up to stop, and P and Q. An array with one disk of parity has no Q.
func checkData(data [][]byte, start, stop int, parity int, p, q []byte) error {
	ok := MinData <= len(data) && len(data) <= MaxData && 0 <= start && start <= stop && stop <= len(data) && p != nil
	if parity == 1 {
		q = p
	} else {
		ok = ok && q != nil && len(q) == len(p) && !overlap(p, q)
	}
	if ok && apart(data[start:stop], p, q) {
		return nil
	}
	return dataError(data, start, stop, [][]byte{p, q}[:parity])
}

// apart reports whether all chunks of data are as long as p and q and share no memory with them. In small chunks the time
// shows, so what overlaps is found by one comparison: it begins among the 2n-1 addresses from n-1 before the other one on.
func apart(data [][]byte, p, q []byte) bool {
	n := uintptr(len(p))
	beforeP, beforeQ, window := alias.Address(p)-n+1, alias.Address(q)-n+1, 2*n-min(n, 1)
	for _, d := range data {
		if a := alias.Address(d); len(d) != len(p) || d == nil || a-beforeP < window || a-beforeQ < window {
			return false
		}
	}
	return true
}

// overlap reports whether two chunks of the same length share memory.
func overlap(a, b []byte) bool {
	d, n := alias.Address(a)-alias.Address(b), uintptr(len(a))
	return d < n || -d < n
}

// dataError says what is wrong with checkData's arguments.
func dataError(data [][]byte, start, stop int, parity [][]byte) error {
	if n := len(data); n < MinData || n > MaxData {
		return countError(n)
	} else if start < 0 || stop < start || stop > n {
		return fmt.Errorf("raid6: disks from %d up to %d, of %d", start, stop, n)
	}
	p := parity[0]
	for i, x := range parity {
		name := [...]string{"P", "Q"}[i]
		if x == nil {
			return fmt.Errorf("raid6: %s is nil", name)
		}
		if len(x) != len(p) {
			return fmt.Errorf("raid6: P has %d bytes and %s has %d", len(p), name, len(x))
		}
		for z := start; z < stop; z++ {
			switch d := data[z]; {
			case d == nil:
				return fmt.Errorf("raid6: disk %d is nil", z)
			case len(d) != len(p):
				return fmt.Errorf("raid6: disk %d has %d bytes and P has %d", z, len(d), len(p))
			case overlap(d, x):
				return fmt.Errorf("raid6: disk %d and %s overlap", z, name)
			}
		}
	}
	return errors.New("raid6: P and Q overlap")
}

func countError(n int) error {
	return fmt.Errorf("raid6: %d data disks; there have to be %d to %d", n, MinData, MaxData)
}

// checkDisks checks all disks of an array with so many of parity, and which of them failed.
func checkDisks(disks [][]byte, parity int, failed ...int) error {
	if n := len(disks) - parity; n < MinData || n > MaxData {
		return countError(max(n, 0))
	}
	for i, d := range disks {
		if d == nil {
			return fmt.Errorf("raid6: disk %d is nil", i)
		}
		if len(d) != len(disks[0]) {
			return fmt.Errorf("raid6: disk %d has %d bytes and disk 0 has %d", i, len(d), len(disks[0]))
		}
	}
	if len(failed) > parity {
		return fmt.Errorf("raid6: %d disks failed; no more than %d can be recovered", len(failed), parity)
	}
	for i, f := range failed {
		if f < 0 || f >= len(disks) {
			return fmt.Errorf("raid6: disk %d failed, of %d", f, len(disks))
		}
		if i > 0 && f == failed[0] {
			return fmt.Errorf("raid6: disk %d failed twice", f)
		}
		for z, d := range disks {
			if z != f && overlap(d, disks[f]) {
				return fmt.Errorf("raid6: disks %d and %d overlap", min(f, z), max(f, z))
			}
		}
	}
	return nil
}
