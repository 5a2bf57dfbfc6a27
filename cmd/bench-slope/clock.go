package main

import "time"

// Cycles of the processor cannot be read portably: the counters that programs may read, RDTSC and CNTVCT, run at a
// constant rate of their own. But a chain of dependent additions takes one cycle a link.

// chainLinks is how many links stand in one turn of chain's loop. The loop's own counter runs beside them.
const chainLinks = 32

// chain does chainLinks·n dependent operations of one cycle each. Additions alternate with XORs, which neither a
// compiler nor a processor can gather into fewer. The operands are in registers, because processors exist that add
// small constants without spending a cycle.
//
//go:noinline
func chain(n int, x, a, b uint64) uint64 {
	for range n {
		x = (x + a) ^ b
		x = (x + a) ^ b
		x = (x + a) ^ b
		x = (x + a) ^ b
		x = (x + a) ^ b
		x = (x + a) ^ b
		x = (x + a) ^ b
		x = (x + a) ^ b
		x = (x + a) ^ b
		x = (x + a) ^ b
		x = (x + a) ^ b
		x = (x + a) ^ b
		x = (x + a) ^ b
		x = (x + a) ^ b
		x = (x + a) ^ b
		x = (x + a) ^ b
	}
	return x
}

var chainResult uint64

// measureClock returns the processor's clock in MHz. One chain takes some 150 µs, in which reading the timer is lost;
// the fastest of several is the one that nothing interrupted.
func measureClock() float64 {
	const turns, runs = 1 << 14, 8
	var best time.Duration
	for i := range runs {
		start := time.Now()
		chainResult = chain(turns, chainResult, 0x9e3779b97f4a7c15, 0x5bd1e995a5a5c3d2)
		if t := time.Since(start); i == 0 || t < best {
			best = t
		}
	}
	return turns * chainLinks * 1000 / float64(max(best, 1))
}

// timerTick is the shortest time that the timer tells apart from none. Where it counts single nanoseconds, that is what
// reading it takes.
func timerTick() time.Duration {
	tick := time.Duration(1<<63 - 1)
	for range 64 {
		start := time.Now()
		for {
			if t := time.Since(start); t > 0 {
				tick = min(tick, t)
				break
			}
		}
	}
	return tick
}
