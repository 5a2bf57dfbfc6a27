package erasure_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/twogather/twogather/erasure"
	"github.com/twogather/twogather/internal/testkit"
)

// All sets of up to p/2 corrupt shards, at one byte (of all sets, the hardest), at two, and everywhere.
func TestLocate(t *testing.T) {
	r := newRandom(t)
	most := 10
	if testkit.Boundary() {
		most = 8
	}
	for k := 1; k <= most; k++ {
		for p := 2; k+p <= most; p++ {
			for _, m := range certain {
				c := newCodec(t, k, p, erasure.WithMatrix(m))
				want := encoded(t, m, k, p, 9)
				for n := range p/2 + 1 {
					for corrupt := range subsets(k+p, n) {
						for _, positions := range []int{1, 2, 9} {
							shards := slices.Clone(want)
							for i, s := range corrupt {
								b := slices.Clone(want[s])
								first := i * r.IntN(2) % 9 // all at the same byte, or not
								for at := first; at < min(first+positions, 9); at++ {
									b[at] ^= byte(1 + r.IntN(255))
								}
								shards[s] = b
							}
							got, err := c.Locate(shards)
							if err != nil || !slices.Equal(got, corrupt) {
								t.Fatalf("%s, %d+%d: corrupt at %d bytes: %v; located %v, %v", m, k, p, positions, corrupt, got, err)
							}
						}
					}
				}
			}
		}
	}
}

// Up to p-1 shards of random bytes are found, in large sets too; p are more than can be told.
func TestLocateMany(t *testing.T) {
	r := newRandom(t)
	for _, shape := range [][2]int{{4, 2}, {10, 4}, {17, 3}, {50, 20}, {200, 56}} {
		k, p := shape[0], shape[1]
		for _, m := range certain {
			c := newCodec(t, k, p, erasure.WithMatrix(m))
			want := encoded(t, m, k, p, 300)
			for _, n := range []int{0, 1, p / 2, p - 1, p} {
				shards := slices.Clone(want)
				corrupt := r.Perm(k + p)[:n]
				slices.Sort(corrupt)
				for _, i := range corrupt {
					shards[i] = testkit.Random(fmt.Sprint(m, n, i), 300)
				}
				before := clone(shards)
				got, err := c.Locate(shards)
				switch {
				case n == p:
					mustBe(t, err, erasure.ErrCorrupt, fmt.Sprintf("%s, %d+%d, %d corrupt", m, k, p, n))
					if got != nil {
						t.Errorf("%s, %d+%d: located %v of more than can be", m, k, p, got)
					}
				case err != nil || !slices.Equal(got, corrupt):
					t.Fatalf("%s, %d+%d: corrupt %v; located %v, %v", m, k, p, corrupt, got, err)
				}
				if !equal(before, shards) {
					t.Fatal("Locate changes shards")
				}
			}
		}
	}
}

// What is located explains what is wrong, or there is an error: also where more is corrupt than can be told.
func TestLocateExplains(t *testing.T) {
	r := newRandom(t)
	wrong := 0
	for range 2000 {
		k, p := 1+r.IntN(8), 1+r.IntN(5)
		m := matrices[r.IntN(len(matrices))]
		c := newCodec(t, k, p, erasure.WithMatrix(m))
		want := encoded(t, m, k, p, 3)
		shards := clone(want)
		corrupt := make(map[int]bool)
		for range 1 + r.IntN(p+1) {
			i := r.IntN(k + p)
			shards[i][r.IntN(3)] ^= byte(1 + r.IntN(255))
			corrupt[i] = !slices.Equal(shards[i], want[i])
		}
		got, err := c.Locate(shards)
		if err != nil {
			if !errors.Is(err, erasure.ErrCorrupt) || got != nil {
				t.Fatal(got, err)
			}
			continue
		}
		if err := c.Reconstruct(without(shards, got...)); err != nil {
			t.Fatalf("%s, %d+%d: located %v, which cannot be rebuilt: %v", m, k, p, got, err)
		}
		rebuilt := without(shards, got...)
		if err := c.Reconstruct(rebuilt); err != nil {
			t.Fatal(err)
		}
		if ok, err := c.Verify(rebuilt); !ok || err != nil {
			t.Fatalf("%s, %d+%d: located %v, and rebuilt they are not consistent", m, k, p, got)
		}
		if !equal(rebuilt, want) {
			wrong++
		}
	}
	if wrong == 0 {
		t.Error("never more corrupt shards than can be told")
	}
}

// encodedBy returns a set of shards that a codec has made consistent.
func encodedBy(t *testing.T, c *erasure.Codec, size int) [][]byte {
	t.Helper()
	shards := random(t.Name(), c.TotalShards(), size)
	if err := c.Encode(shards); err != nil {
		t.Fatal(err)
	}
	return shards
}

// Where a matrix has singular squares two sets may explain the same bytes: no answer rather than one of them.
func TestLocateAmbiguous(t *testing.T) {
	// Columns 0 and 1 are multiples of each other.
	c := newCodec(t, 3, 3, erasure.WithCustomMatrix([][]byte{{1, 2, 1}, {1, 2, 3}, {1, 2, 7}}))
	shards := encodedBy(t, c, 4)
	for i := range shards {
		bad := clone(shards)
		bad[i][1] ^= 5
		got, err := c.Locate(bad)
		if i < 2 {
			mustBe(t, err, erasure.ErrCorrupt, fmt.Sprint("shard ", i))
		} else if err != nil || !slices.Equal(got, []int{i}) {
			t.Errorf("shard %d: located %v, %v", i, got, err)
		}
	}
}

// Two pairs of shards may explain the same byte, too.
func TestLocateAmbiguousPairs(t *testing.T) {
	// The columns' sum is 0, so the same error in shards 0 and 1 is one in shards 2 and 3.
	c := newCodec(t, 4, 4, erasure.WithCustomMatrix([][]byte{{1, 1, 1, 1}, {1, 2, 3, 0}, {1, 4, 5, 0}, {1, 8, 15, 6}}))
	shards := encodedBy(t, c, 4)
	for _, x := range []struct {
		errors [8]byte
		want   []int
	}{
		{[8]byte{5, 5}, nil}, {[8]byte{0, 0, 5, 5}, nil}, {[8]byte{0, 7, 7}, nil},
		{[8]byte{5, 7}, []int{0, 1}}, {[8]byte{5, 0, 0, 0, 0, 5}, []int{0, 5}}, {[8]byte{0, 0, 5}, []int{2}},
	} {
		bad := clone(shards)
		for i, e := range x.errors {
			bad[i][2] ^= e
		}
		got, err := c.Locate(bad)
		if x.want == nil {
			mustBe(t, err, erasure.ErrCorrupt, fmt.Sprint(x.errors))
		} else if err != nil {
			t.Errorf("%v: %v", x.errors, err)
		}
		if !slices.Equal(got, x.want) {
			t.Errorf("%v: located %v, want %v", x.errors, got, x.want)
		}
	}
}

// One parity shard shows that something is wrong, and not what.
func TestLocateWithOneParity(t *testing.T) {
	c := newCodec(t, 3, 1)
	shards := encoded(t, erasure.Backblaze, 3, 1, 4)
	if got, err := c.Locate(shards); got != nil || err != nil {
		t.Error(got, err)
	}
	shards[2][0]++
	_, err := c.Locate(shards)
	mustBe(t, err, erasure.ErrCorrupt, "one parity shard")
}

// Many shards that are corrupt at the same byte are more than can be tried. It says so before long.
func TestLocateGivesUp(t *testing.T) {
	c := newCodec(t, 100, 40)
	shards := encoded(t, erasure.Backblaze, 100, 40, 2)
	for i := range 20 {
		shards[i][1]++
	}
	got, err := c.Locate(shards)
	mustBe(t, err, erasure.ErrCorrupt, "20 shards at a byte")
	if got != nil {
		t.Error(got)
	}
}
