//go:build !purego

package erasure

import (
	"bytes"
	"fmt"
	"slices"
	"testing"
	"unsafe"

	"github.com/twogather/twogather/hwfeatures"
	"github.com/twogather/twogather/internal/testkit"
)

// TestARMDefault asks for the default of processors of each kind.
func TestARMDefault(t *testing.T) {
	const neon, sve, long = hwfeatures.ARMNEON, hwfeatures.ARMNEON | hwfeatures.ARMSVE, hwfeatures.SVEBeatsNEON
	for features, want := range map[hwfeatures.Set]string{0: "generic", neon: "neon", sve: "neon", neon | long: "neon", sve | long: "sve"} {
		if got := kernels[kernels.Default(features)].Name; got != want {
			t.Errorf("%v: %s, want %s", features, got, want)
		}
	}
}

// TestVectors encodes and updates shards of lengths at which a kernel does something else, whatever the length of a scalable
// vector: up to four of those at a time, and what they leave.
func TestVectors(t *testing.T) {
	b := newBench(t, 3+maxOutputs, 1400)
	testkit.Kernels(t, primitive, kernels, func(t *testing.T, kernel int) {
		b.t = t
		i := 0
		for _, vector := range []int{32, 64, 128, 256} {
			for _, n := range []int{1, 2, 4, 5} {
				for _, length := range []int{n*vector - 1, n * vector, n*vector + 1, n*vector + 17} {
					p := 1 + i%maxOutputs
					matrix := matrixKinds[i%3].make(b.r, p, 3)
					tables := must(t, matrix, kernel)
					b.check(tables, matrix, b.place(3+p, length, i%2 == 0, aligned))
					i++
				}
			}
		}
	})
}

// TestParking does a pass in parts that park sums for the next one, in memory that ends with them.
func TestParking(t *testing.T) {
	const most, behind = 1100, 5 // bytes of a shard after those of the pass
	guarded := newBench(t, 7+maxOutputs, most+behind)
	memory := testkit.Guarded(t, maxOutputs*(most+64))
	testkit.Kernels(t, primitive, kernels, func(t *testing.T, kernel int) {
		guarded.t = t
		form := formOf(uint8(kernel))
		for i, length := range []int{64, 65, 96, 127, 128, 255, 256, 511, 512, 700, 1024, 1025, most} {
			for p := 1; p <= maxOutputs; p++ {
				for _, cuts := range [][]int{{7}, {1, 7}, {4, 7}, {2, 3, 7}} {
					ones, sum := (i+p)%4, 0
					if p > 1 {
						sum = i % 2
					}
					from := 0
					if p%3 == 0 {
						from = 64
					}
					matrix := newMatrix(p, 7, func(o, j int) byte {
						if j < ones || o < sum {
							return 1
						}
						return byte(2 + guarded.r.IntN(254))
					})
					shards := guarded.place(7+p, length+behind, true, aligned)
					guarded.fill(shards)
					what := fmt.Sprintf("%d outputs, %d bytes from %d, %d ones, sum %d, cuts %v", p, length, from, ones, sum, cuts)
					to := max(length, from+1)
					want := cloneAll(shards[7:])
					for o := range want {
						clear(want[o][min(from, to-64):to])
						for j, c := range matrix[o] {
							slowUpdate(want[o][min(from, to-64):to], c, shards[j][min(from, to-64):to])
						}
					}
					sums := memory[len(memory)-p*((to-from+63)&^63):]
					pa := pass{outputs: shards[7:], sum: sum}
					begin := 0
					for _, end := range cuts {
						middle := min(max(ones, begin), end)
						pa.ones = headers{unsafe.SliceData(shards[begin:]), middle - begin}
						pa.sources = headers{unsafe.SliceData(shards[middle:]), end - middle}
						var entries []byte
						for j := max(begin, ones); j < end; j++ {
							for o := sum; o < p; o++ {
								entries = append(entries, form.entries[matrix[o][j]][:form.size]...)
							}
						}
						pa.entries = pointer(append(entries, 0))
						pa.start, pa.park = nil, nil
						if begin > 0 {
							pa.start = pointer(sums)
						}
						if end < 7 {
							pa.park = pointer(sums)
						}
						kernels[kernel].Funcs.dot(&pa, from, to)
						begin = end
					}
					// A kernel may begin up to 63 bytes earlier, but no more.
					for o, out := range shards[7:] {
						at := min(from, to-64)
						if !slices.Equal(out[from:], want[o][from:]) || !bytes.Equal(out[:at], want[o][:at]) {
							t.Fatalf("%s: output %d is wrong", what, o)
						}
					}
				}
			}
		}
	})
}
