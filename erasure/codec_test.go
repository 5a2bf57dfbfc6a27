package erasure_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
	"unsafe"
	"weak"

	"github.com/twogather/twogather/erasure"
	"github.com/twogather/twogather/internal/testkit"
	"github.com/twogather/twogather/vectors"
)

// Parity that is not zero before, in every shape and length that a kernel may treat differently.
func TestEncode(t *testing.T) {
	shapes := [][2]int{{10, 4}, {12, 11}, {17, 7}, {30, 13}, {50, 20}, {1, 255}, {255, 1}, {200, 56}}
	for k := 1; k <= 17; k++ {
		for p := 1; p <= 7; p++ {
			if !testkit.Boundary() || (k+p)%5 == 0 {
				shapes = append(shapes, [2]int{k, p})
			}
		}
	}
	sizes := []int{1, 2, 31, 32, 33, 63, 64, 65, 127, 128, 129, 130, 1000}
	if testing.Short() {
		shapes, sizes = slices.DeleteFunc(shapes, func(s [2]int) bool { return s[0]+s[1] > 50 }), []int{1, 33, 64, 130, 1000}
	}
	for _, shape := range shapes {
		k, p := shape[0], shape[1]
		for _, m := range matrices {
			c := newCodec(t, k, p, erasure.WithMatrix(m))
			if c.DataShards() != k || c.ParityShards() != p || c.TotalShards() != k+p || c.ShardSizeMultiple() != 1 {
				t.Fatal("wrong numbers of shards")
			}
			for i, size := range sizes {
				if k > 20 && i%4 != 0 {
					continue
				}
				want := encoded(t, m, k, p, size)
				shards := clone(want)
				for _, s := range shards[k:] {
					copy(s, bytes.Repeat([]byte{0xFF}, size))
				}
				headers := slices.Clone(shards)
				if err := c.Encode(shards); err != nil || !equal(shards, want) {
					t.Fatalf("%s, %d+%d, %d bytes: wrong parity, %v", m, k, p, size, err)
				}
				if !same(shards, headers) {
					t.Fatal("Encode changes the slices")
				}
				if ok, err := c.Verify(shards); !ok || err != nil {
					t.Fatalf("%s, %d+%d, %d bytes: Verify: %v, %v", m, k, p, size, ok, err)
				}
				shards[(i*7)%(k+p)][size-1] ^= 1
				before := clone(shards)
				if ok, err := c.Verify(shards); ok || err != nil {
					t.Fatalf("%s, %d+%d, %d bytes, one bit wrong: Verify: %v, %v", m, k, p, size, ok, err)
				}
				if !equal(shards, before) {
					t.Fatal("Verify changes shards")
				}
			}
		}
	}
}

// same reports whether the slices are the same memory.
func same(a, b [][]byte) bool {
	return slices.EqualFunc(a, b, func(x, y []byte) bool {
		return unsafe.SliceData(x) == unsafe.SliceData(y) && len(x) == len(y) && cap(x) == cap(y)
	})
}

// Without parity there is nothing to do, and it is done.
func TestNoParity(t *testing.T) {
	c := newCodec(t, 3, 0)
	shards := random("none", 3, 10)
	want := clone(shards)
	if err := c.Encode(shards); err != nil {
		t.Error(err)
	}
	if ok, err := c.Verify(shards); !ok || err != nil {
		t.Error(ok, err)
	}
	if bad, err := c.Locate(shards); bad != nil || err != nil {
		t.Error(bad, err)
	}
	if err := c.Update(shards, random("new", 3, 10)); err != nil {
		t.Error(err)
	}
	if err := c.EncodeIdx(shards[0], 0, nil); err != nil {
		t.Error(err)
	}
	if err := c.UpdateAt(nil, 1, 0, shards[1], shards[2]); err != nil {
		t.Error(err)
	}
	if !equal(shards, want) {
		t.Error("data were changed")
	}
	mustBe(t, c.Reconstruct(without(shards, 1)), erasure.ErrTooFewShards, "a lost shard")
}

func TestNewErrors(t *testing.T) {
	for _, x := range []struct {
		data, parity int
		option       erasure.Option
		want         error
	}{
		{0, 1, nil, erasure.ErrInvShardNum},
		{0, 0, nil, erasure.ErrInvShardNum},
		{-1, 4, nil, erasure.ErrInvShardNum},
		{4, -1, nil, erasure.ErrInvShardNum},
		{math.MinInt, math.MinInt, nil, erasure.ErrInvShardNum},
		{256, 1, nil, erasure.ErrMaxShardNum},
		{1, 256, nil, erasure.ErrMaxShardNum},
		{128, 129, nil, erasure.ErrMaxShardNum},
		{math.MaxInt, math.MaxInt, nil, erasure.ErrMaxShardNum},
		{4, 2, erasure.WithMatrix("no such"), erasure.ErrMatrix},
		{4, 2, erasure.WithConcurrency(-1), erasure.ErrInvalidInput},
		{4, 2, erasure.WithCustomMatrix(nil), erasure.ErrMatrix},
		{2, 2, erasure.WithCustomMatrix([][]byte{{1, 1}, {1, 2}, {1, 3}}), erasure.ErrMatrix},
		{2, 2, erasure.WithCustomMatrix([][]byte{{1, 1}, {1}}), erasure.ErrMatrix},
		{2, 2, erasure.WithCustomMatrix([][]byte{{1, 1}, {1, 2, 3}}), erasure.ErrMatrix},
		{2, 2, erasure.WithCustomMatrix([][]byte{{1, 1}, {0, 0}}), erasure.ErrMatrix},
		{-2, 2, erasure.WithCustomMatrix([][]byte{{1, 1}, {1, 2}}), erasure.ErrInvShardNum},
	} {
		var options []erasure.Option
		if x.option != nil {
			options = append(options, x.option)
		}
		c, err := erasure.New(x.data, x.parity, options...)
		if c != nil {
			t.Errorf("%d+%d: a codec", x.data, x.parity)
		}
		mustBe(t, err, x.want, fmt.Sprintf("%d+%d", x.data, x.parity))
	}
}

// Every wrong argument, in every method: an error that wraps the right one and names the shard, and nothing written.
func TestErrors(t *testing.T) {
	const k, p, size = 3, 2, 8
	c := newCodec(t, k, p)
	methods := map[string]func(s [][]byte) error{
		"Encode":          c.Encode,
		"Verify":          func(s [][]byte) error { _, err := c.Verify(s); return err },
		"Locate":          func(s [][]byte) error { _, err := c.Locate(s); return err },
		"Reconstruct":     c.Reconstruct,
		"ReconstructData": c.ReconstructData,
		"ReconstructSome": func(s [][]byte) error { return c.ReconstructSome(s, make([]bool, k)) },
		"Update":          func(s [][]byte) error { return c.Update(s, random("new", k, size)) },
	}
	every := slices.Collect(maps.Keys(methods))
	reads := []string{"Encode", "Verify", "Locate"}
	rebuilds := []string{"Reconstruct", "ReconstructData", "ReconstructSome"}
	writes := []string{"Encode", "Update"}
	full := func() [][]byte { return encoded(t, erasure.Backblaze, k, p, size) }
	with := func(i int, b []byte) [][]byte {
		s := full()
		s[i] = b
		return s
	}
	overlap := func(i, j, shift int) [][]byte {
		s := full()
		both := make([]byte, 2*size)
		s[i], s[j] = both[:size], both[shift:][:size]
		return s
	}
	for _, x := range []struct {
		what    string
		methods []string
		shards  [][]byte
		want    error
		text    string
	}{
		{"no shards", every, nil, erasure.ErrTooFewShards, "0 shards given instead of 5"},
		{"too few", every, full()[:4], erasure.ErrTooFewShards, "4 shards given"},
		{"too many", every, append(full(), make([]byte, size)), erasure.ErrInvalidInput, "6 shards given"},
		{"all nil", every, make([][]byte, 5), nil, ""},
		{"unequal data", every, with(1, make([]byte, size+1)), erasure.ErrShardSize, "shard 1 has 9 bytes instead of 8"},
		{"unequal parity", every, with(4, make([]byte, size-1)), erasure.ErrShardSize, "shard 4 has 7 bytes instead of 8"},
		{"nil data", reads, with(2, nil), erasure.ErrShardSize, "shard 2 has 0 bytes"},
		{"nil parity", reads, with(3, nil), erasure.ErrShardSize, "shard 3 has 0 bytes"},
		{"nil data", []string{"Update"}, with(2, nil), erasure.ErrInvalidInput, "shard 2"},
		{"nil parity", []string{"Update"}, with(3, nil), erasure.ErrInvalidInput, "shard 3"},
		{"too few left", []string{"Reconstruct", "ReconstructData"}, without(full(), 0, 1, 3), erasure.ErrTooFewShards, "2 shards left"},
		{"parity twice", writes, overlap(3, 4, 0), erasure.ErrOverlap, "shard 4"},
		{"parity is data", writes, overlap(1, 4, 0), erasure.ErrOverlap, "shard 4 would be written and shares memory with shard 1"},
		{"parity overlaps", writes, overlap(3, 4, 1), erasure.ErrOverlap, "shard 4"},
		{"parity overlaps data", writes, overlap(4, 0, size-1), erasure.ErrOverlap, "shard 4"},
	} {
		for _, m := range x.methods {
			if x.what == "all nil" {
				x.want = erasure.ErrShardNoData
				if m == "Update" {
					x.want = erasure.ErrInvalidInput // the new data are not nil
				}
			}
			before, headers := clone(x.shards), slices.Clone(x.shards)
			err := methods[m](x.shards)
			mustBe(t, err, x.want, m+", "+x.what)
			if err != nil && (!strings.Contains(err.Error(), x.text) || !strings.HasPrefix(err.Error(), "erasure: ")) {
				t.Errorf("%s, %s: error %q, want %q in it", m, x.what, err, x.text)
			}
			if !equal(before, x.shards) || !same(headers, x.shards) {
				t.Errorf("%s, %s: something was written before the error", m, x.what)
			}
		}
	}
	// Shards that are only read may be the same.
	for _, m := range []string{"Encode", "Update", "Verify"} {
		if err := methods[m](overlap(0, 1, 0)); err != nil {
			t.Error(m, err)
		}
	}
	for _, m := range rebuilds {
		if err := methods[m](full()); err != nil {
			t.Error(m, err)
		}
	}

	// Shards that follow each other in memory: little is checked where nothing can be wrong with them.
	s := slices.Collect(slices.Chunk(bytes.Join(full(), nil), size))
	mustBe(t, c.ReconstructSome(s, make([]bool, 4)), erasure.ErrInvalidInput, "4 required")
	mustBe(t, c.ReconstructSome(s, nil), erasure.ErrInvalidInput, "none required")

	before := clone(s)
	for what, x := range map[string]struct{ err, want error }{
		"EncodeIdx, shard -1":          {c.EncodeIdx(s[0], -1, s[k:]), erasure.ErrInvShardNum},
		"EncodeIdx, shard k":           {c.EncodeIdx(s[0], k, s[k:]), erasure.ErrInvShardNum},
		"EncodeIdx, parity missing":    {c.EncodeIdx(s[0], 0, s[k+1:]), erasure.ErrTooFewShards},
		"EncodeIdx, parity nil":        {c.EncodeIdx(s[0], 0, [][]byte{s[3], nil}), erasure.ErrShardSize},
		"EncodeIdx, whole set":         {c.EncodeIdx(s[0], 0, s), erasure.ErrInvalidInput},
		"EncodeIdx, nil":               {c.EncodeIdx(nil, 0, [][]byte{nil, nil}), erasure.ErrShardNoData},
		"EncodeIdx, data nil":          {c.EncodeIdx(nil, 0, s[k:]), erasure.ErrShardSize},
		"EncodeIdx, longer data":       {c.EncodeIdx(make([]byte, size+1), 0, s[k:]), erasure.ErrShardSize},
		"EncodeIdx, data is parity":    {c.EncodeIdx(s[k], 0, s[k:]), erasure.ErrOverlap},
		"Update, new data missing":     {c.Update(s, s[:k-1]), erasure.ErrTooFewShards},
		"Update, too many":             {c.Update(s, s), erasure.ErrInvalidInput},
		"Update, nothing new":          {c.Update(s, make([][]byte, k)), erasure.ErrShardNoData},
		"Update, longer":               {c.Update(s, [][]byte{nil, make([]byte, size+1), nil}), erasure.ErrShardSize},
		"Update, new data are parity":  {c.Update(s, [][]byte{nil, s[4], nil}), erasure.ErrOverlap},
		"UpdateAt, shard k":            {c.UpdateAt(s[k:], k, 0, s[0], s[1]), erasure.ErrInvShardNum},
		"UpdateAt, before the start":   {c.UpdateAt(s[k:], 0, -1, s[0][:2], s[1][:2]), erasure.ErrInvalidInput},
		"UpdateAt, past the end":       {c.UpdateAt(s[k:], 0, size-1, s[0][:2], s[1][:2]), erasure.ErrInvalidInput},
		"UpdateAt, far past the end":   {c.UpdateAt(s[k:], 0, math.MaxInt, s[0][:2], s[1][:2]), erasure.ErrInvalidInput},
		"UpdateAt, unequal":            {c.UpdateAt(s[k:], 0, 0, s[0][:2], s[1][:3]), erasure.ErrShardSize},
		"UpdateAt, unequal parity":     {c.UpdateAt([][]byte{s[3], s[4][1:]}, 0, 0, s[0][:2], s[1][:2]), erasure.ErrShardSize},
		"UpdateAt, nothing":            {c.UpdateAt(s[k:], 0, 0, nil, nil), erasure.ErrShardNoData},
		"DecodeIdx, dst missing":       {c.DecodeIdx(s[:4], make([]bool, 5), s), erasure.ErrTooFewShards},
		"DecodeIdx, input missing":     {c.DecodeIdx(s, make([]bool, 5), s[:4]), erasure.ErrTooFewShards},
		"DecodeIdx, expectInput short": {c.DecodeIdx(s, make([]bool, 4), s), erasure.ErrInvalidInput},
		"DecodeIdx, both":              {c.DecodeIdx(s, []bool{true, true, true, false, false}, without(s, 3, 4)), erasure.ErrReconstructMismatch},
		"DecodeIdx, not expected":      {c.DecodeIdx(without(s, 0, 1, 2), []bool{true, true, true, false, false}, s), erasure.ErrInvalidInput},
		"DecodeIdx, too few":           {c.DecodeIdx(without(s, 0, 1), []bool{true, true, false, false, false}, without(s, 2, 3, 4)), erasure.ErrTooFewShards},
		"DecodeIdx, unequal input":     {c.DecodeIdx(without(s, 0, 1, 2), []bool{true, true, true, false, false}, [][]byte{s[0], s[1][1:], s[2], nil, nil}), erasure.ErrShardSize},
		"DecodeIdx, unequal output":    {c.DecodeIdx([][]byte{nil, nil, nil, s[3][1:], nil}, []bool{true, true, true, false, false}, without(s, 3, 4)), erasure.ErrShardSize},
		"DecodeIdx, in place":          {c.DecodeIdx([][]byte{nil, nil, nil, s[0], nil}, []bool{true, true, true, false, false}, without(s, 3, 4)), erasure.ErrOverlap},
		"DecodeIdx, merge into nil":    {c.DecodeIdx(without(s, 1), nil, clone(s)), erasure.ErrShardSize},
		"DecodeIdx, merge unequal":     {c.DecodeIdx(s, nil, [][]byte{s[0][1:], nil, nil, nil, nil}), erasure.ErrShardSize},
		"DecodeIdx, merge with itself": {c.DecodeIdx(s, nil, s), erasure.ErrOverlap},
		"Join, too few":                {c.Join(io.Discard, s[:2], 1), erasure.ErrTooFewShards},
		"Join, missing":                {c.Join(io.Discard, without(s, 1), 2*size), erasure.ErrReconstructRequired},
		"Join, empty":                  {c.Join(io.Discard, make([][]byte, 3), 1), erasure.ErrReconstructRequired},
		"Join, too much":               {c.Join(io.Discard, s, 3*size+1), erasure.ErrShortData},
		"Join, negative":               {c.Join(io.Discard, s, -1), erasure.ErrInvalidInput},
		"Join, unequal":                {c.Join(io.Discard, [][]byte{s[0], s[1][1:], s[2]}, 3*size-1), erasure.ErrShardSize},
	} {
		mustBe(t, x.err, x.want, what)
	}
	if !equal(s, before) {
		t.Error("something was written before an error")
	}
	_, err := c.Split(nil)
	mustBe(t, err, erasure.ErrShortData, "Split of nothing")
}

// All ways to lose shards, in all shapes of up to twelve.
func TestAllLosses(t *testing.T) {
	most := 12
	switch {
	case testing.Short():
		most = 7
	case testkit.Boundary():
		most = 9
	}
	for k := 1; k < most; k++ {
		for p := 1; k+p <= most; p++ {
			for _, m := range certain {
				if m == erasure.ISALCauchy && k+p > 9 {
					continue // the normalised one has the same singular squares
				}
				c := newCodec(t, k, p, erasure.WithMatrix(m))
				want := encoded(t, m, k, p, 3)
				for n := range p + 1 {
					for lost := range subsets(k+p, n) {
						shards := without(want, lost...)
						if err := c.Reconstruct(shards); err != nil || !equal(shards, want) {
							t.Fatalf("%s, %d+%d, lost %v: %v", m, k, p, lost, err)
						}
					}
				}
				if p < k {
					for lost := range subsets(k+p, p+1) {
						shards := without(want, lost...)
						if err := c.Reconstruct(shards); !errors.Is(err, erasure.ErrTooFewShards) || !equal(shards, without(want, lost...)) {
							t.Fatalf("%s, %d+%d, lost %v: %v", m, k, p, lost, err)
						}
					}
				}
			}
		}
	}
}

// Random losses in large shapes.
func TestLargeLosses(t *testing.T) {
	r := newRandom(t)
	shapes := [][2]int{{20, 12}, {223, 32}, {50, 20}, {128, 128}, {200, 55}, {1, 255}, {255, 1}}
	if testkit.Boundary() {
		shapes = shapes[:2]
	}
	for _, shape := range shapes {
		k, p := shape[0], shape[1]
		for _, m := range certain {
			c := newCodec(t, k, p, erasure.WithMatrix(m))
			want := encoded(t, m, k, p, 5)
			for range 6 {
				lost := r.Perm(k + p)[:1+r.IntN(p)]
				shards := without(want, lost...)
				if err := c.Reconstruct(shards); err != nil || !equal(shards, want) {
					t.Fatalf("%s, %d+%d, lost %v: %v", m, k, p, lost, err)
				}
			}
			shards := without(want, r.Perm(k + p)[:p]...)
			if err := c.Reconstruct(shards); err != nil || !equal(shards, want) {
				t.Fatalf("%s, %d+%d, as many lost as can be: %v", m, k, p, err)
			}
		}
	}
}

// What is rebuilt: everything, data, or what is required; and where: in the capacity, if there is enough.
func TestReconstructSome(t *testing.T) {
	const k, p, size = 4, 3, 20
	c := newCodec(t, k, p, erasure.WithMatrix(erasure.NormalisedCauchy))
	want := encoded(t, erasure.NormalisedCauchy, k, p, size)
	for lost := range subsets(k+p, p) {
		for bits := range 1 << (k + p) {
			required := make([]bool, k+p)
			for i := range required {
				required[i] = bits>>i&1 == 1
			}
			for _, x := range []struct {
				f       func(shards [][]byte) error
				rebuilt func(i int) bool
			}{
				{func(s [][]byte) error { return c.ReconstructSome(s, required) }, func(i int) bool { return required[i] }},
				{func(s [][]byte) error { return c.ReconstructSome(s, required[:k]) }, func(i int) bool { return i < k && required[i] }},
				{c.ReconstructData, func(i int) bool { return i < k }},
				{c.Reconstruct, func(i int) bool { return true }},
			} {
				shards := slices.Clone(want)
				for n, i := range lost { // nil, empty, too small, large enough
					shards[i] = [][]byte{nil, {}, make([]byte, 0, size-1), bytes.Repeat([]byte{0xFF}, size+7)[:0]}[(n+bits)%4]
				}
				before := slices.Clone(shards)
				if err := x.f(shards); err != nil {
					t.Fatalf("lost %v, required %v: %v", lost, required, err)
				}
				for i := range shards {
					switch {
					case len(before[i]) > 0 || !x.rebuilt(i):
						if !same(shards[i:i+1], before[i:i+1]) {
							t.Fatalf("lost %v, required %v: shard %d was replaced", lost, required, i)
						}
					case !bytes.Equal(shards[i], want[i]):
						t.Fatalf("lost %v, required %v: shard %d is wrong", lost, required, i)
					case cap(before[i]) > size:
						if unsafe.SliceData(before[i]) != unsafe.SliceData(shards[i]) {
							t.Fatalf("the capacity of shard %d was not used", i)
						}
						if rest := shards[i][size : size+7]; !bytes.Equal(rest, bytes.Repeat([]byte{0xFF}, 7)) {
							t.Fatalf("written behind shard %d", i)
						}
					}
				}
			}
		}
	}
	// Memory that a lost shard would be rebuilt in is another one's.
	shards := slices.Clone(want)
	shards[1] = shards[2][:0]
	before := clone(shards)
	mustBe(t, c.Reconstruct(shards), erasure.ErrOverlap, "in the memory of another shard")
	shards[1], shards[2] = make([]byte, size)[:0], nil
	shards[2] = shards[1]
	mustBe(t, c.Reconstruct(shards), erasure.ErrOverlap, "two in the same memory")
	if len(shards[1]) != 0 || !equal(before[3:], shards[3:]) {
		t.Error("something was written before an error")
	}
}

// A sparse matrix: two local parity shards, each of three data shards, and a global one. It rebuilds whatever can be,
// also with fewer shards than there are data shards.
func TestCustomMatrix(t *testing.T) {
	matrix := [][]byte{{1, 1, 1, 0, 0, 0}, {0, 0, 0, 1, 1, 1}, {1, 2, 4, 8, 16, 32}}
	c := newCodec(t, 6, 3, erasure.WithCustomMatrix(matrix))
	want := random("local", 6, 10)
	want = append(want, matrixProduct(matrix, want)...)
	generator := append(identity(6), clone(matrix)...)
	matrix[0][0] = 99 // the codec has a copy
	shards := append(clone(want[:6]), random("rubbish", 3, 10)...)
	if err := c.Encode(shards); err != nil || !equal(shards, want) {
		t.Fatal("wrong parity:", err)
	}
	for n := range 7 {
		for lost := range subsets(9, n) {
			left := without(generator, lost...)
			left = slices.DeleteFunc(left, func(row []byte) bool { return row == nil })
			for _, i := range lost {
				shards := without(want, lost...)
				required := make([]bool, 9)
				required[i] = true
				err := c.ReconstructSome(shards, required)
				possible := rank(append(left, generator[i])) == rank(left)
				var singular *erasure.SingularError
				switch {
				case possible && (err != nil || !bytes.Equal(shards[i], want[i])):
					t.Fatalf("lost %v: shard %d: %v", lost, i, err)
				case !possible && len(left) < 6 && !errors.Is(err, erasure.ErrTooFewShards):
					t.Fatalf("lost %v: shard %d: %v", lost, i, err)
				case !possible && len(left) >= 6 && !errors.As(err, &singular):
					t.Fatalf("lost %v: shard %d: %v", lost, i, err)
				}
				if singular != nil {
					checkSingular(t, generator, err)
					if !slices.Equal(singular.Lost, []int{i}) {
						t.Fatalf("lost %v: shard %d: %v", lost, i, err)
					}
				}
			}
		}
	}
}

// Parity from partial sums of several machines, and brought up to date in all ways.
func TestUpdates(t *testing.T) {
	r := newRandom(t)
	for _, shape := range [][2]int{{1, 1}, {4, 2}, {10, 4}, {5, 7}, {12, 11}} {
		k, p := shape[0], shape[1]
		for _, size := range []int{1, 100, 40_000} {
			if size > 100 && k > 4 && testkit.Boundary() {
				continue
			}
			c := newCodec(t, k, p, erasure.WithMatrix(erasure.NormalisedCauchy))
			want := encoded(t, erasure.NormalisedCauchy, k, p, size)
			sum := make([][]byte, k+p)
			for machine := range 3 {
				part := make([][]byte, k+p)
				for i := range p {
					part[k+i] = make([]byte, size)
					if machine == 0 {
						sum[k+i] = make([]byte, size)
					}
				}
				for _, i := range r.Perm(k) {
					if i%3 == machine {
						if err := c.EncodeIdx(want[i], i, part[k:]); err != nil {
							t.Fatal(err)
						}
					}
				}
				if err := c.DecodeIdx(sum, nil, part); err != nil {
					t.Fatal(err)
				}
			}
			if !equal(sum[k:], want[k:]) {
				t.Fatalf("%d+%d, %d bytes: wrong parity by EncodeIdx", k, p, size)
			}

			for range 10 {
				old := clone(want)
				news := make([][]byte, k)
				for _, i := range r.Perm(k)[:1+r.IntN(k)] {
					news[i] = testkit.Random(fmt.Sprint(r.Uint64()), size)
				}
				for i := range news {
					if news[i] == nil && r.IntN(2) == 0 {
						old[i] = nil // not needed
					}
				}
				oldData, newData := clone(old[:k]), clone(news)
				if err := c.Update(old, news); err != nil {
					t.Fatal(err)
				}
				if !equal(oldData, old[:k]) || !equal(newData, news) {
					t.Fatal("Update changes its inputs")
				}
				for i, b := range news {
					if b != nil {
						want[i] = b
					}
				}
				if err := c.Encode(want); err != nil {
					t.Fatal(err)
				}
				if !equal(old[k:], want[k:]) {
					t.Fatalf("%d+%d, %d bytes: wrong parity by Update", k, p, size)
				}
			}

			for range 10 {
				i, offset := r.IntN(k), r.IntN(size)
				part := testkit.Random(fmt.Sprint(r.Uint64()), 1+r.IntN(size-offset))
				before := bytes.Clone(part)
				shards := clone(want)
				if err := c.UpdateAt(shards[k:], i, offset, shards[i][offset:][:len(part)], part); err != nil {
					t.Fatal(err)
				}
				if !equal(shards[:k], want[:k]) || !bytes.Equal(part, before) {
					t.Fatal("UpdateAt changes its inputs")
				}
				copy(want[i][offset:], part)
				if err := c.Encode(want); err != nil {
					t.Fatal(err)
				}
				if !equal(shards[k:], want[k:]) {
					t.Fatalf("%d+%d, %d bytes: wrong parity by UpdateAt", k, p, size)
				}
			}
		}
	}
}

// Shards rebuilt from partial sums.
func TestDecodeIdx(t *testing.T) {
	r := newRandom(t)
	for _, shape := range [][2]int{{1, 1}, {4, 2}, {10, 4}, {5, 13}, {50, 20}} {
		k, p := shape[0], shape[1]
		c := newCodec(t, k, p)
		want := encoded(t, erasure.Backblaze, k, p, 77)
		for range 20 {
			expected := make([]bool, k+p)
			for _, i := range r.Perm(k + p)[:k+r.IntN(p)] {
				expected[i] = true
			}
			machines := 1 + r.IntN(3)
			var sum [][]byte
			wanted := make([]bool, k+p)
			for i := range wanted {
				wanted[i] = !expected[i] && r.IntN(3) > 0
			}
			for machine := range machines {
				dst := make([][]byte, k+p)
				for i := range dst {
					if wanted[i] {
						dst[i] = make([]byte, 77)
					}
				}
				for from := range 3 { // some inputs a call, and perhaps none
					input := make([][]byte, k+p)
					for i := range input {
						if expected[i] && i%machines == machine && i/machines%3 == from {
							input[i] = want[i]
						}
					}
					if err := c.DecodeIdx(dst, expected, input); err != nil {
						t.Fatal(err)
					}
				}
				if sum == nil {
					sum = dst
				} else if err := c.DecodeIdx(sum, nil, dst); err != nil {
					t.Fatal(err)
				}
			}
			for i := range sum {
				if wanted[i] != (sum[i] != nil) || wanted[i] && !bytes.Equal(sum[i], want[i]) {
					t.Fatalf("%d+%d, with %v: shard %d is wrong", k, p, expected, i)
				}
			}
		}
	}
}

func TestSplitJoin(t *testing.T) {
	for _, shape := range [][2]int{{1, 0}, {1, 2}, {3, 2}, {10, 4}, {40, 3}} {
		k, p := shape[0], shape[1]
		c := newCodec(t, k, p)
		for _, n := range []int{1, 2, 3, 9, 10, 11, 29, 30, 31, 100, 1000} {
			size := (n + k - 1) / k
			for _, spare := range []int{0, 1, size, 3 * size, k * size, 2 * (k + p) * size} {
				memory := bytes.Repeat([]byte{0xFF}, n+spare+8)
				data := memory[: n : n+spare]
				copy(data, testkit.Random("split", n))
				want := bytes.Clone(data)
				shards, err := c.Split(data)
				if err != nil {
					t.Fatal(err)
				}
				if len(shards) != k+p {
					t.Fatalf("%d shards", len(shards))
				}
				if !bytes.Equal(bytes.Join(shards, nil), append(bytes.Clone(want), make([]byte, (k+p)*size-n)...)) {
					t.Fatalf("%d+%d, %d bytes, %d spare: wrong shards", k, p, n, spare)
				}
				for i, s := range shards {
					if len(s) != size || cap(s) != size {
						t.Fatalf("shard %d has %d bytes of %d, want %d", i, len(s), cap(s), size)
					}
					if inPlace := (i+1)*size <= n+spare; inPlace != (unsafe.SliceData(s) == unsafe.SliceData(memory[min(i*size, n):])) && i*size < n {
						t.Fatalf("%d+%d, %d bytes, %d spare: shard %d is in place: %v", k, p, n, spare, i, !inPlace)
					}
				}
				if !bytes.Equal(memory[n+spare:], bytes.Repeat([]byte{0xFF}, 8)) {
					t.Fatal("Split writes behind the capacity")
				}
				if err := c.Encode(shards); err != nil {
					t.Fatal(err)
				}
				for _, out := range []int{0, 1, n - 1, n, k * size} {
					var joined bytes.Buffer
					if err := c.Join(&joined, shards, out); err != nil {
						t.Fatal(err)
					}
					if !bytes.Equal(joined.Bytes(), append(bytes.Clone(want), make([]byte, k*size-n)...)[:out]) {
						t.Fatalf("%d+%d, %d bytes: joined wrongly", k, p, n)
					}
				}
				// Only those that are needed.
				if err := c.Join(io.Discard, append(shards[:1:1], make([][]byte, k-1)...), size); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	c := newCodec(t, 2, 1)
	shards, _ := c.Split([]byte("abcd"))
	mustBe(t, c.Join(limited{1}, shards, 4), io.ErrShortWrite, "a writer that writes less")
}

// limited is a writer that takes no more than n bytes at a time, and does not say so.
type limited struct{ n int }

func (l limited) Write(b []byte) (int, error) { return min(len(b), l.n), nil }

func TestAllocAligned(t *testing.T) {
	c := newCodec(t, 10, 4)
	for _, size := range []int{0, 1, 64, 1000, 4096, 1 << 16} {
		shards := c.AllocAligned(size)
		places := make(map[uintptr]bool)
		for _, s := range shards {
			address := uintptr(unsafe.Pointer(unsafe.SliceData(s)))
			if len(s) != size || cap(s) != size || address%64 != 0 {
				t.Errorf("%d bytes of %d at %#x, want %d", len(s), cap(s), address, size)
			}
			places[address%4096] = true
		}
		if len(shards) != 14 || len(places) != 14 {
			t.Errorf("%d shards of %d bytes at %d places in a page", len(shards), size, len(places))
		}
		if size > 0 {
			if err := c.Encode(shards); err != nil {
				t.Error(err)
			}
		}
	}
}

// What is done on one core needs no memory after the first time.
func TestAllocations(t *testing.T) {
	if vectors.Race {
		t.Skip("with the race detector a sync.Pool forgets at random")
	}
	c := newCodec(t, 10, 4, erasure.WithConcurrency(1))
	shards := random("allocations", 14, 10_000)
	for name, f := range map[string]func() error{
		"Encode":    func() error { return c.Encode(shards) },
		"EncodeIdx": func() error { return c.EncodeIdx(shards[3], 3, shards[10:]) },
		"Reconstruct": func() error {
			shards[2], shards[11] = shards[2][:0], shards[11][:0]
			return c.Reconstruct(shards)
		},
	} {
		if n := testing.AllocsPerRun(10, func() {
			if err := f(); err != nil {
				t.Fatal(err)
			}
		}); n != 0 {
			t.Errorf("%s allocates %v times", name, n)
		}
	}
}

// What is kept for the next call keeps no shard in memory.
func TestShardsAreForgotten(t *testing.T) {
	c := newCodec(t, 4, 2)
	sizes := []int{50, 40_000, 1 << 20}
	if testkit.Boundary() {
		sizes = sizes[:2]
	}
	for name, f := range map[string]func(shards [][]byte) error{
		"Encode": c.Encode,
		"Verify": func(s [][]byte) error { _, err := c.Verify(s); return err },
		"Update": func(s [][]byte) error { return c.Update(s, [][]byte{bytes.Clone(s[0]), nil, nil, nil}) },
		"Reconstruct": func(s [][]byte) error {
			s[1], s[4] = s[1][:0], s[4][:0]
			return c.Reconstruct(s)
		},
	} {
		for _, size := range sizes {
			var kept []weak.Pointer[byte]
			func() {
				shards := clone(random("forgotten", 6, size))
				for i := range shards {
					kept = append(kept, weak.Make(&shards[i][0]))
				}
				if err := f(shards); err != nil {
					t.Fatal(err)
				}
			}()
			runtime.GC()
			for i, shard := range kept {
				if shard.Value() != nil {
					t.Errorf("%s, %d bytes: shard %d is kept", name, size, i)
				}
			}
		}
	}
}

// Sizes at which work is shared among goroutines: the same results, and none of them left behind.
func TestConcurrency(t *testing.T) {
	const k, p = 4, 3
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(4))
	sizes, limits := []int{1 << 20, 1<<20 + 1, 3<<20 - 77}, []int{0, 1, 2, 3, 100}
	if testkit.Boundary() {
		sizes, limits = sizes[1:2], limits[:1]
	}
	for _, size := range sizes {
		want := random("concurrency", k+p, size)
		if err := newCodec(t, k, p, erasure.WithConcurrency(1)).Encode(want); err != nil {
			t.Fatal(err)
		}
		for _, n := range limits {
			c := newCodec(t, k, p, erasure.WithConcurrency(n))
			before := runtime.NumGoroutine()
			check := func(shards [][]byte, err error) {
				t.Helper()
				if err != nil || !equal(shards, want) {
					t.Fatalf("concurrency %d, %d bytes: wrong, %v", n, size, err)
				}
			}
			shards := append(slices.Clone(want[:k]), c.AllocAligned(size)[:p]...)
			check(shards, c.Encode(shards))
			ok, err := c.Verify(shards)
			if !ok {
				t.Fatal("Verify: not right")
			}
			check(shards, err)
			shards[2], shards[5] = nil, nil
			check(shards, c.Reconstruct(shards))
			for _, s := range shards[k:] {
				clear(s)
			}
			for i, s := range shards[:k] {
				check(want, c.EncodeIdx(s, i, shards[k:]))
			}
			check(shards, nil)
			old := slices.Clone(shards)
			old[1] = testkit.Random("old", size)
			if err := c.Encode(old); err != nil {
				t.Fatal(err)
			}
			check(append(shards[:k:k], old[k:]...), c.Update(old, [][]byte{nil, want[1], nil, nil}))
			shards[3] = bytes.Clone(shards[3])
			shards[3][size-1]++
			if ok, err := c.Verify(shards); ok || err != nil {
				t.Fatal("Verify:", ok, err)
			}
			if bad, err := c.Locate(shards); !slices.Equal(bad, []int{3}) || err != nil {
				t.Fatal("Locate:", bad, err)
			}
			// They have called Done, and may not have returned yet.
			for deadline := time.Now().Add(10 * time.Second); runtime.NumGoroutine() > before; runtime.Gosched() {
				if time.Now().After(deadline) {
					t.Fatalf("%d goroutines before, %d after", before, runtime.NumGoroutine())
				}
			}
		}
	}
}

// One codec, many goroutines, and more patterns than it keeps.
func TestSharedCodec(t *testing.T) {
	const k, p, size = 20, 6, 10
	c := newCodec(t, k, p)
	want := encoded(t, erasure.Backblaze, k, p, size)
	var group sync.WaitGroup
	for g := range 8 {
		group.Go(func() {
			r := newRandom(t)
			for range 10 * (g + 1) {
				shards := without(want, r.Perm(k + p)[:r.IntN(p+1)]...)
				if err := c.Reconstruct(shards); err != nil || !equal(shards, want) {
					t.Error("wrong shards:", err)
					return
				}
				if ok, err := c.Verify(want); !ok || err != nil {
					t.Error(ok, err)
					return
				}
				parity := clone(want[k:])
				if err := c.Encode(append(want[:k:k], parity...)); err != nil || !equal(parity, want[k:]) {
					t.Error("wrong parity:", err)
					return
				}
			}
		})
	}
	group.Wait()
}
