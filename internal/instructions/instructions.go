// Package instructions counts the instructions that a program executes, where something counts them: the emulators that
// the project's kernels run on.
//
//   - Bochs advances the time-stamp counter of its x86 processors by one for each instruction.
//   - QEMU does it with the plugin in emulate/internal/qemu, which answers a system call that Linux does not have.
package instructions

import (
	"errors"
	"runtime"
)

// Open returns a function that reads the counter. The calling goroutine stays on its thread from then on, since each has
// a counter of its own. The error says that nothing counts here.
func Open() (func() uint64, error) {
	runtime.LockOSThread()
	count, err := open()
	if err == nil {
		settle()
	}
	for try := 1; err == nil && !exact(count); try++ {
		if try < 10 {
			continue // the runtime may be busy yet
		}
		err = errors.New("the processor's counter counts something else, as all real ones do")
	}
	if err != nil {
		runtime.UnlockOSThread()
		return nil, errors.New("instructions are counted under emulation only (see emulate/README.md): " + err.Error())
	}
	return count, nil
}

// Of returns how many instructions f takes: the least of several calls, since interrupts can only add to it. The count
// includes what reading the counter takes.
//
// Interrupts come every 200,000 instructions or so in Bochs, and can add the same to several calls, so f should be much
// shorter than that.
func Of(count func() uint64, f func()) uint64 {
	const few, enough, most = 12, 3, 60 // calls at least; those that take the least; calls at most
	f()                                 // touches its memory
	least, seen := ^uint64(0), 0
	for i := range most {
		start := count()
		f()
		switch n := count() - start; {
		case n < least:
			least, seen = n, 1
		case n == least:
			seen++
		}
		if i+1 >= few && seen >= enough {
			break
		}
	}
	return least
}

// settle spins for a few milliseconds. After a system call, and when a program starts, a thread of Go's runtime wakes every
// 20 µs, which Bochs's single processor executes 30,000 instructions in; left alone it comes more and more rarely.
func settle() {
	loop(400_000) // 16 instructions each
}

// exact reports whether each turn of a loop adds the same number, and one that is too small for cycles.
func exact(count func() uint64) bool {
	const turns, most = 1000, 18
	var last, step uint64
	for i := range 5 {
		n := Of(count, func() { loop(i * turns) })
		switch {
		case i == 1:
			step = n - last
		case i > 1 && n-last != step:
			return false
		}
		last = n
	}
	return step > 0 && step%turns == 0 && step/turns <= most
}

var quotient uint64 = 1<<63 - 25

// loop has two divisions in each turn that wait for each other. That is about ten instructions, and more than twenty
// cycles on processors of all makes.
//
//go:noinline
func loop(n int) {
	q := quotient
	for range n {
		q = 1 << 63 / (q | 1<<40)
		q = 1 << 63 / (q | 1<<40)
	}
	quotient = q
}
