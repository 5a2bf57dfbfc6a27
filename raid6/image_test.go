package raid6

import (
	"bytes"
	"fmt"
	"slices"
	"testing"

	"github.com/twogather/twogather/hwfeatures"
	"github.com/twogather/twogather/internal/testkit"
)

// An image is the disks of an array as Linux's md lays them out in its default, left-symmetric: P moves one disk to the left
// with each stripe, Q is on the disk behind P, and the stripe's data goes on behind Q. Behind the last disk comes the first.
type image struct {
	disks [][]byte
	chunk int
}

// stripe returns stripe s as the package takes it: data, P, Q; and which disk each chunk is on.
func (m *image) stripe(s int) (chunks [][]byte, on []int) {
	n := len(m.disks)
	p := n - 1 - s%n
	for z := range n - 2 {
		on = append(on, (p+2+z)%n)
	}
	on = append(on, p, (p+1)%n)
	for _, d := range on {
		chunks = append(chunks, m.disks[d][s*m.chunk:][:m.chunk:m.chunk])
	}
	return chunks, on
}

// TestImage writes an array through the package, reads it back, and rebuilds every pair of its disks.
func TestImage(t *testing.T) {
	// The first stripes of five disks.
	small := &image{make([][]byte, 5), 0}
	for s, want := range []string{"Q 0 1 2 P", "3 4 5 P Q", "7 8 P Q 6", "11 P Q 9 10", "P Q 12 13 14", "Q 15 16 17 P"} {
		_, on := small.stripe(s)
		row := make([]string, 5)
		for z, d := range on {
			row[d] = []string{fmt.Sprint(3*s + z), fmt.Sprint(3*s + z), fmt.Sprint(3*s + z), "P", "Q"}[z]
		}
		if got := fmt.Sprint(row); got != "["+want+"]" {
			t.Errorf("stripe %d lies as %s, want [%s]", s, got, want)
		}
	}

	chunk, stripes := 4096, 12
	if testkit.Boundary() {
		chunk, stripes = 512, 5
	}
	var usable []Code
	for k := range kernels.Usable(hwfeatures.Detected()) {
		usable = append(usable, withKernel(k))
	}
	for turn, disks := range []int{4, 5, 8} {
		m := &image{make([][]byte, disks), chunk}
		for d := range m.disks {
			m.disks[d] = make([]byte, stripes*chunk)
			spoil(m.disks[d])
		}
		content := make([]byte, stripes*(disks-2)*chunk)
		fill(content, uint64(disks))
		for s := range stripes {
			chunks, _ := m.stripe(s)
			n := disks - 2
			for z := range n {
				copy(chunks[z], content[(s*n+z)*chunk:])
			}
			must(t, usable[s%len(usable)].GenSyndrome(chunks[:n], chunks[n], chunks[n+1]))
		}
		whole := clone(m.disks)
		for i, failed := range pairs(disks) {
			for _, d := range failed {
				spoil(m.disks[d])
			}
			for s := range stripes {
				chunks, on := m.stripe(s)
				var lost []int
				for _, d := range failed {
					lost = append(lost, slices.Index(on, d))
				}
				must(t, usable[(s+i+turn)%len(usable)].Recover(chunks, lost...))
			}
			compareDisks(t, fmt.Sprintf("%d disks, rebuilt %v", disks, failed), m.disks, whole)
		}
		var read []byte
		for s := range stripes {
			chunks, _ := m.stripe(s)
			for _, c := range chunks[:disks-2] {
				read = append(read, c...)
			}
		}
		if !bytes.Equal(read, content) {
			t.Errorf("%d disks: what is read is not what was written", disks)
		}
	}
}
