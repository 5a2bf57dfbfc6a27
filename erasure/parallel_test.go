package erasure

import (
	"runtime"
	"testing"
)

// No goroutine has less to do than is worth one, nor are there more of them than processors or than the option allows.
func TestWorkers(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(4))
	for _, x := range []struct{ n, products, concurrency, want int }{
		{1, 1, 0, 1},
		{2*tileSize - 1, 1 << 16, 0, 1},
		{2 * tileSize, 1 << 16, 0, 2},
		{1 << 20, 2*share>>20 - 1, 0, 1},
		{1 << 20, 2 * share >> 20, 0, 2},
		{1 << 20, 3 * share >> 20, 0, 3},
		{1 << 30, 40, 0, 4},
		{1 << 30, 40, 1, 1},
		{1 << 30, 40, 3, 3},
		{1 << 30, 40, 100, 4},
	} {
		c, err := New(10, 4, WithConcurrency(x.concurrency))
		if err != nil {
			t.Fatal(err)
		}
		if got := c.workers(x.n, x.products); got != x.want {
			t.Errorf("%d bytes, %d products, concurrency %d: %d workers, want %d", x.n, x.products, x.concurrency, got, x.want)
		}
		// The pieces are whole lines, and enough of them for all.
		if step := stepFor(x.n, x.want); step < tileSize || step%line != 0 || x.want > 1 && (x.n+step-1)/step < x.want {
			t.Errorf("%d bytes for %d workers: pieces of %d", x.n, x.want, step)
		}
	}
}
