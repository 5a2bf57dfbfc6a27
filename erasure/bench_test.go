package erasure

import (
	"fmt"
	"testing"
)

func BenchmarkX(b *testing.B) {
	for _, s := range [][3]int{{1, 1, 64}, {10, 2, 64}, {10, 2, 1024}, {10, 4, 64}, {10, 4, 1024}} {
		var src, dst [][]byte
		m := matrixKinds[0].make(newBench(nil, 0, 0).r, s[1], s[0])
		for range s[0] {
			src = append(src, make([]byte, s[2]))
		}
		for range s[1] {
			dst = append(dst, make([]byte, s[2]))
		}
		t, _ := NewTables(m)
		b.Run(fmt.Sprint(s, "checked"), func(b *testing.B) {
			for b.Loop() {
				t.EncodeData(dst, src)
			}
		})
		b.Run(fmt.Sprint(s, "encode"), func(b *testing.B) {
			for b.Loop() {
				t.encode(dst, src)
			}
		})
		p := t.groups[0].pass(dst, src)
		p.to = s[2]
		b.Run(fmt.Sprint(s, "dot"), func(b *testing.B) {
			for b.Loop() {
				dotAVX2(&p)
			}
		})
	}
}
