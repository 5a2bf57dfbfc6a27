package erasure

import "testing"

// A codec keeps the decoders of a bounded number of patterns, and gives each one's own.
func TestCacheIsBounded(t *testing.T) {
	c, err := New(100, 50)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 100 {
		var p pattern
		p.wanted.add(i)
		for j := range 150 {
			if j != i {
				p.left.add(j)
			}
		}
		for range 2 {
			d, err := c.decoder(p)
			if err != nil || len(d.outputs) != 1 || d.outputs[0] != i || len(d.inputs) != 100 {
				t.Fatalf("pattern %d: %v, %v", i, d, err)
			}
		}
		if again, _ := c.decoder(p); again != c.decoders.get(p) {
			t.Fatal("the decoder is not kept")
		}
		if n, limit := len(c.decoders.decoders), cachedCoefficients/(100*50); n > limit || i < limit && n != i+1 {
			t.Fatalf("%d decoders kept after %d patterns, at most %d are to be", n, i+1, limit)
		}
	}
}
