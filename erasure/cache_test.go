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
		if again, _ := c.decoder(p); again != c.decoders.get(&p) {
			t.Fatal("the decoder is not kept")
		}
		if n, limit := len(c.decoders.decoders), cachedCoefficients/(100*50); n > limit || i < limit && n != i+1 {
			t.Fatalf("%d decoders kept after %d patterns, at most %d are to be", n, i+1, limit)
		}
	}
}

func TestSets(t *testing.T) {
	for _, n := range []int{0, 1, 63, 64, 65, 130, 255, 256} {
		all := below(n)
		members := all.members()
		if len(members) != n || n > 0 && members[n-1] != n-1 {
			t.Errorf("below %d are %v", n, members)
		}
		shards := make([][]byte, n)
		var some set
		for i := range shards {
			if i%3 == 0 || i == n-1 {
				shards[i] = []byte{0}
				some.add(i)
			}
		}
		if got := present(shards); got != some {
			t.Errorf("of %d shards %v are present, not %v", n, got.members(), some.members())
		}
		all.remove(&some)
		for _, i := range all.members() {
			if len(shards[i]) > 0 {
				t.Errorf("of %d, %d was not removed", n, i)
			}
		}
		if got := len(all.members()) + len(some.members()); got != n {
			t.Errorf("%d and the others are %d, not %d", len(some.members()), got, n)
		}
	}
}
