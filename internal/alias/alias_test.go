package alias

import (
	"testing"
	"unsafe"
)

func TestOverlap(t *testing.T) {
	b := make([]byte, 8)
	for _, c := range []struct {
		name         string
		x, y         []byte
		any, inexact bool
	}{
		{"same", b, b, true, false},
		{"same start, shorter", b, b[:4], true, false},
		{"shifted by one", b[:7], b[1:], true, true},
		{"last byte of one is first of other", b[:5], b[4:], true, true},
		{"adjacent", b[:4], b[4:], false, false},
		{"inside", b, b[3:4], true, true},
		{"empty", b[:0], b, false, false},
		{"nil", nil, b, false, false},
		{"apart", b, make([]byte, 8), false, false},
		{"only capacities overlap", b[:2], b[4:6], false, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			for range 2 { // both orders
				if got := AnyOverlap(c.x, c.y); got != c.any {
					t.Errorf("AnyOverlap = %v, want %v", got, c.any)
				}
				if got := InexactOverlap(c.x, c.y); got != c.inexact {
					t.Errorf("InexactOverlap = %v, want %v", got, c.inexact)
				}
				c.x, c.y = c.y, c.x
			}
		})
	}
}

func TestExtent(t *testing.T) {
	b := make([]byte, 10)
	var e Extent
	if e.Meets(b) {
		t.Error("an empty stretch meets a slice")
	}
	e.Add(b[6:7])
	e.Add(nil)
	e.Add(b[3:4])
	e.Add(b[4:4])
	for from := range 11 {
		for to := from; to <= 10; to++ {
			if got, want := e.Meets(b[from:to]), from < to && from < 7 && to > 3; got != want {
				t.Errorf("[%d:%d] meets [3:7]: %v", from, to, got)
			}
		}
	}
	if e.Meets(nil) {
		t.Error("nil meets a slice")
	}
}

func TestFollow(t *testing.T) {
	b := make([]byte, 20)
	at := func(i int) uintptr { return uintptr(unsafe.Pointer(&b[i])) }
	for _, c := range []struct {
		name    string
		from, n int
		slices  [][]byte
		end     int // -1 if they do not
	}{
		{"none", 3, 4, nil, 3},
		{"one behind the other", 0, 4, [][]byte{b[:4], b[4:8], b[8:12]}, 12},
		{"with room between them", 2, 4, [][]byte{b[3:7], b[16:]}, 20},
		{"begins too early", 5, 4, [][]byte{b[4:8]}, -1},
		{"overlap in a byte", 0, 4, [][]byte{b[:4], b[3:7]}, -1},
		{"backwards", 0, 4, [][]byte{b[4:8], b[:4]}, -1},
		{"the same twice", 0, 4, [][]byte{b[:4], b[:4]}, -1},
		{"one is shorter", 0, 4, [][]byte{b[:4], b[4:7]}, -1},
		{"one is longer", 0, 4, [][]byte{b[:5], b[5:9]}, -1},
		{"one is nil", 0, 4, [][]byte{b[:4], nil}, -1},
	} {
		end, ok := Follow(at(c.from), c.n, c.slices)
		if ok != (c.end >= 0) || ok && end != at(0)+uintptr(c.end) {
			t.Errorf("%s: %d, %v", c.name, end-at(0), ok)
		}
	}
}

func TestCrowded(t *testing.T) {
	b := make([]byte, 1<<20)
	for len(b) > 0 && uintptr(unsafe.Pointer(&b[0]))%4096 != 0 {
		b = b[1:]
	}
	at := func(places ...int) (slices [][]byte) {
		for _, i := range places {
			slices = append(slices, b[i:][:100])
		}
		return slices
	}
	const page = 4096
	for _, c := range []struct {
		name   string
		slices [][]byte
		ways   int
		want   bool
	}{
		{"none", nil, 0, false},
		{"as many as ways", at(0, page, 2*page), 3, false},
		{"one more", at(0, page, 2*page, 3*page), 3, true},
		{"one more, but a line further", at(0, page, 2*page, 3*page+64), 3, false},
		{"one more, at other bytes of the line", at(0, page+1, 2*page+63, 3*page+32), 3, true},
		{"two lines", at(64, page, page+64, 2*page, 2*page+64, 3*page), 3, false},
		{"two lines, and more in one", at(64, page, page+64, 2*page, 2*page+64, 3*page, 4*page+64), 3, true},
		{"the last line of a page", at(page-1, 2*page-64, 3*page-32), 2, true},
	} {
		if got := Crowded(c.slices, c.ways); got != c.want {
			t.Errorf("%s: %v", c.name, got)
		}
	}
}
