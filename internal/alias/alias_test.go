package alias

import "testing"

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
