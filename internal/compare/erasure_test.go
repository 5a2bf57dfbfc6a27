package main

import (
	"bytes"
	"crypto/sha3"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/klauspost/reedsolomon"

	"github.com/twogather/twogather/erasure"
)

// Whoever moves over from github.com/klauspost/reedsolomon may keep variables of its types.
var (
	_ reedsolomon.Encoder       = (*erasure.Codec)(nil)
	_ reedsolomon.Extensions    = (*erasure.Codec)(nil)
	_ reedsolomon.StreamEncoder = (*erasure.Stream)(nil)
)

// pairs calls f with codecs of both libraries, for the matrices that both have and shapes up to 256 shards.
func pairs(t *testing.T, f func(t *testing.T, ours *erasure.Codec, theirs reedsolomon.Encoder)) {
	custom := [][]byte{{1, 1, 1, 1, 1}, {3, 1, 4, 1, 5}, {2, 7, 1, 9, 8}}
	for _, m := range []struct {
		name   string
		ours   []erasure.Option
		theirs []reedsolomon.Option
		shapes [][2]int
	}{
		{"default", nil, nil, [][2]int{{1, 1}, {1, 5}, {2, 1}, {3, 2}, {5, 5}, {10, 4}, {17, 3}, {50, 20}, {128, 127}, {200, 56}, {255, 1}, {1, 255}}},
		{"Cauchy", []erasure.Option{erasure.WithMatrix(erasure.ISALCauchy)}, []reedsolomon.Option{reedsolomon.WithCauchyMatrix()}, [][2]int{{1, 1}, {10, 4}, {200, 56}}},
		{"custom", []erasure.Option{erasure.WithCustomMatrix(custom)}, []reedsolomon.Option{reedsolomon.WithCustomMatrix(custom)}, [][2]int{{5, 3}}},
	} {
		for _, shape := range m.shapes {
			t.Run(fmt.Sprintf("%s/%d+%d", m.name, shape[0], shape[1]), func(t *testing.T) {
				ours, err := erasure.New(shape[0], shape[1], m.ours...)
				if err != nil {
					t.Fatal(err)
				}
				theirs, err := reedsolomon.New(shape[0], shape[1], m.theirs...)
				if err != nil {
					t.Fatal(err)
				}
				f(t, ours, theirs)
			})
		}
	}
}

// set returns shards with random data and parity of random rubbish.
func set(c *erasure.Codec, size int) [][]byte {
	all := sha3.SumSHAKE128(fmt.Append(nil, c.DataShards(), c.TotalShards(), size), c.TotalShards()*size)
	return slices.Collect(slices.Chunk(all, size))
}

func clone(shards [][]byte) [][]byte {
	var c [][]byte
	for _, s := range shards {
		c = append(c, bytes.Clone(s))
	}
	return c
}

func check(t *testing.T, errs ...error) {
	t.Helper()
	for _, err := range errs {
		if err != nil {
			t.Fatal(err)
		}
	}
}

func mustEqual(t *testing.T, got, want [][]byte, what string) {
	t.Helper()
	if !slices.EqualFunc(got, want, bytes.Equal) {
		t.Fatal(what, "differ")
	}
}

// TestErasureParity makes parity with both libraries, in every way they have, and has each verify the other's.
func TestErasureParity(t *testing.T) {
	pairs(t, func(t *testing.T, ours *erasure.Codec, theirs reedsolomon.Encoder) {
		k := ours.DataShards()
		for _, size := range []int{1, 63, 64, 1000, 5000} {
			a := set(ours, size)
			b := clone(a)
			check(t, ours.Encode(a), theirs.Encode(b))
			mustEqual(t, a, b, "parities")
			for _, e := range []reedsolomon.Encoder{ours, theirs} {
				if ok, err := e.Verify(a); !ok || err != nil {
					t.Fatalf("%T: Verify: %v, %v", e, ok, err)
				}
				one := clone(a)
				for _, p := range one[k:] {
					clear(p)
				}
				for i, d := range one[:k] {
					check(t, e.EncodeIdx(d, i, one[k:]))
				}
				mustEqual(t, one, a, "parities by EncodeIdx")
			}

			changed := make([][]byte, k)
			changed[0] = set(ours, 2*size)[0][:size]
			changed[k-1] = set(ours, 3*size)[0][:size]
			b = clone(a)
			before := clone(a)
			check(t, ours.Update(a, changed))
			mustEqual(t, a[:k], before[:k], "the old data, after Update,")
			check(t, theirs.Update(b, changed))
			mustEqual(t, a[k:], b[k:], "updated parities")
		}
	})
}

// TestErasureReconstruct loses shards of sets that one library made, and has both rebuild them.
func TestErasureReconstruct(t *testing.T) {
	pairs(t, func(t *testing.T, ours *erasure.Codec, theirs reedsolomon.Encoder) {
		k, n := ours.DataShards(), ours.TotalShards()
		random := rand.New(rand.NewPCG(1, 2))
		want := set(ours, 100)
		check(t, ours.Encode(want))
		for range 20 {
			lost := random.Perm(n)[:1+random.IntN(n-k)]
			required := make([]bool, n)
			for i := range required {
				required[i] = random.IntN(2) == 0
			}
			for _, f := range []func(e reedsolomon.Encoder, shards [][]byte) error{
				reedsolomon.Encoder.Reconstruct,
				reedsolomon.Encoder.ReconstructData,
				func(e reedsolomon.Encoder, shards [][]byte) error { return e.ReconstructSome(shards, required) },
				func(e reedsolomon.Encoder, shards [][]byte) error { return e.ReconstructSome(shards, required[:k]) },
				func(e reedsolomon.Encoder, shards [][]byte) error {
					if _, ours := e.(*erasure.Codec); !ours && len(lost) > 10 {
						return e.Reconstruct(shards) // v1.14.2 decodes wrongly where there are 11 to 13 outputs
					}
					dst, expected := make([][]byte, n), make([]bool, n)
					for i, s := range shards {
						if expected[i] = s != nil; !expected[i] {
							dst[i] = make([]byte, 100)
						}
					}
					err := e.(reedsolomon.Extensions).DecodeIdx(dst, expected, shards)
					for i := range shards {
						if shards[i] == nil {
							shards[i] = dst[i]
						}
					}
					return err
				},
			} {
				a := clone(want)
				for _, i := range lost {
					a[i] = nil
				}
				b := clone(a)
				err, theirErr := f(ours, a), f(theirs, b)
				if (err == nil) != (theirErr == nil) {
					t.Fatalf("lost %v: %v; the other library: %v", lost, err, theirErr)
				}
				mustEqual(t, a, b, "rebuilt shards")
				for i, s := range a {
					if err == nil && len(s) > 0 && !bytes.Equal(s, want[i]) {
						t.Fatalf("lost %v: shard %d is wrong", lost, i)
					}
				}
			}
		}
	})
}

// TestErasureSplit splits and joins with both libraries, and compares the shards' capacities too.
func TestErasureSplit(t *testing.T) {
	pairs(t, func(t *testing.T, ours *erasure.Codec, theirs reedsolomon.Encoder) {
		k, n := ours.DataShards(), ours.TotalShards()
		for _, size := range []int{1, 2, k - 1, k, k + 1, 10*k - 1, 10 * k, 1000} {
			if size == 0 {
				continue
			}
			for _, more := range []int{0, 1, k, 20 * n, 1000} {
				a := bytes.Repeat([]byte{1, 2, 3}, (size+more)/3+1)[: size : size+more]
				b := bytes.Clone(a[:cap(a)])[: size : size+more]
				sa, err := ours.Split(a)
				check(t, err)
				sb, err := theirs.Split(b)
				check(t, err)
				mustEqual(t, sa, sb, "shards")
				mustEqual(t, [][]byte{a[:cap(a)]}, [][]byte{b[:cap(b)]}, "the capacities, afterwards,")
				check(t, ours.Encode(sa))
				var ja, jb bytes.Buffer
				check(t, ours.Join(&ja, sa, size), theirs.Join(&jb, sa, size))
				if !bytes.Equal(ja.Bytes(), a) || !bytes.Equal(jb.Bytes(), a) {
					t.Fatal("joined data differ")
				}
			}
		}
	})
}

// TestErasureStreams does everything with streams of both libraries.
func TestErasureStreams(t *testing.T) {
	const k, p, size = 4, 3, 10_001
	codec, err := erasure.New(k, p)
	check(t, err)
	theirs, err := reedsolomon.NewStream(k, p)
	check(t, err)
	data := sha3.SumSHAKE128([]byte("stream"), size)
	results := make([][][]byte, 2)
	for i, e := range []reedsolomon.StreamEncoder{&erasure.Stream{Codec: codec, BlockSize: 1000}, theirs} {
		buffers := make([]bytes.Buffer, k+p)
		var writers []io.Writer
		for i := range buffers {
			writers = append(writers, &buffers[i])
		}
		readers := func() []io.Reader {
			var r []io.Reader
			for i := range buffers {
				r = append(r, bytes.NewReader(buffers[i].Bytes()))
			}
			return r
		}
		check(t, e.Split(bytes.NewReader(data), writers[:k], size))
		check(t, e.Encode(readers()[:k], writers[k:]))
		if ok, err := e.Verify(readers()); !ok || err != nil {
			t.Fatal(ok, err)
		}
		for b := range buffers {
			results[i] = append(results[i], bytes.Clone(buffers[b].Bytes()))
		}
		valid, fill := readers(), make([]io.Writer, k+p)
		for _, i := range []int{0, 2, k} {
			buffers[i].Reset()
			valid[i], fill[i] = nil, &buffers[i]
		}
		check(t, e.Reconstruct(valid, fill))
		var joined bytes.Buffer
		check(t, e.Join(&joined, readers()[:k], size))
		if !bytes.Equal(joined.Bytes(), data) {
			t.Fatal("joined data differ")
		}
		for b := range buffers {
			if !bytes.Equal(buffers[b].Bytes(), results[i][b]) {
				t.Fatalf("shard %d is rebuilt wrongly", b)
			}
		}
	}
	mustEqual(t, results[0], results[1], "the libraries' shards")
}
