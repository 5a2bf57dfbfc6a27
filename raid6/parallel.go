package raid6

import (
	"runtime"
	"sync"
	"unsafe"
)

// Limits of what is worth another goroutine.
const (
	// minShare is how many bytes of data each goroutine gets at least: some 20 µs of work on one core, ten times what it
	// takes to start it.
	minShare = 1 << 20
	// stackLimit is more than what the compiler lets a variable on a stack have. Chunks that are longer are not on one. So they
	// may be given to other goroutines without a word to the compiler, which would otherwise move the short ones of every
	// caller to the heap. A test watches the compiler's limit.
	stackLimit = 128 << 10
)

// workers returns how many goroutines work on chunks of so many bytes.
func (c Code) workers(disks, bytes int) int {
	if c.goroutines == 1 || bytes <= stackLimit {
		return 1
	}
	n := min(runtime.GOMAXPROCS(0), disks*bytes/minShare)
	if c.goroutines > 0 {
		n = min(n, c.goroutines)
	}
	return max(n, 1)
}

// shareFor returns how much of chunks of so many bytes each of n goroutines takes: whole pages.
func shareFor(bytes, n int) int { return (bytes + n*page - 1) / (n * page) * page }

// share carries out the job in n goroutines, which take parts of the chunks.
func (j *job) share(n int) finding {
	var hidden job
	// The compiler does not see that pointers are copied here. They stay valid: nothing they point to is on a stack, but for
	// the slice of slices, which is copied before the heap has a pointer to it, and j is alive until the end.
	*(*[jobWords]uintptr)(unsafe.Pointer(&hidden)) = *(*[jobWords]uintptr)(unsafe.Pointer(j))
	hidden.data = append([][]byte(nil), hidden.data...)
	shared := hidden
	size := shareFor(len(j.p), n)
	var wg sync.WaitGroup
	var mu sync.Mutex
	found := allRight
	part := func(lo int) {
		f := shared.part(lo, min(lo+size, len(shared.p)))
		mu.Lock()
		defer mu.Unlock()
		found = found.and(f)
	}
	for lo := size; lo < len(j.p); lo += size {
		wg.Go(func() { part(lo) })
	}
	part(0)
	wg.Wait()
	runtime.KeepAlive(j)
	return found
}

const jobWords = unsafe.Sizeof(job{}) / unsafe.Sizeof(uintptr(0))
