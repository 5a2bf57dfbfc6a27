package erasure_test

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/twogather/twogather/erasure"
	"github.com/twogather/twogather/internal/testkit"
	"github.com/twogather/twogather/vectors"
)

// Every element of every matrix, by its definition.
func TestCoefficients(t *testing.T) {
	power := func(a byte, n int) byte {
		p := byte(1)
		for range n {
			p = product[p][a]
		}
		return p
	}
	for _, shape := range [][2]int{{1, 0}, {1, 1}, {1, 255}, {2, 3}, {5, 6}, {10, 4}, {50, 20}, {200, 56}, {255, 1}, {256, 0}} {
		k, p := shape[0], shape[1]
		got := make(map[erasure.Matrix][][]byte)
		for _, m := range matrices {
			rows, err := m.Coefficients(k, p)
			if err != nil {
				t.Fatal(err)
			}
			if len(rows) != p {
				t.Fatalf("%s, %d+%d: %d rows", m, k, p, len(rows))
			}
			got[m] = rows
		}
		for i := range p {
			for j := range k {
				for m, want := range map[erasure.Matrix]byte{
					erasure.ISALVandermonde: power(power(2, i), j),
					erasure.ISALCauchy:      reciprocal(byte((k + i) ^ j)),
				} {
					if x := got[m][i][j]; x != want {
						t.Fatalf("%s, %d+%d: row %d, column %d is %#x, want %#x", m, k, p, i, j, x, want)
					}
				}
				// Scaling rows and columns keeps every such quotient of four.
				c, n := got[erasure.ISALCauchy], got[erasure.NormalisedCauchy]
				if quotient(c, 0, 0, i, j) != quotient(n, 0, 0, i, j) {
					t.Fatalf("the normalised matrix of %d+%d is not the Cauchy matrix at row %d, column %d", k, p, i, j)
				}
				if (i == 0 || j == 0) && n[i][j] != 1 {
					t.Fatalf("the normalised matrix of %d+%d has %#x in row %d, column %d", k, p, n[i][j], i, j)
				}
			}
		}
		// Backblaze's matrix times the top of Vandermonde's is the rest of that.
		vandermonde := make([][]byte, k+p)
		for i := range vandermonde {
			for j := range k {
				vandermonde[i] = append(vandermonde[i], power(byte(i), j))
			}
		}
		if !equal(matrixProduct(got[erasure.Backblaze], vandermonde[:k]), vandermonde[k:]) {
			t.Fatalf("the Backblaze matrix of %d+%d is wrong", k, p)
		}
	}
	for _, shape := range [][2]int{{0, 1}, {-1, 1}, {1, -1}, {200, 57}, {257, 0}, {0, 0}} {
		if rows, err := erasure.Backblaze.Coefficients(shape[0], shape[1]); err == nil || rows != nil {
			t.Errorf("%v: %v, %v", shape, rows, err)
		}
	}
	_, err := erasure.Matrix("reed").Coefficients(1, 1)
	mustBe(t, err, erasure.ErrMatrix, "a matrix of another name")
}

func quotient(m [][]byte, i, j, a, b int) byte {
	return product[product[m[i][j]][m[a][b]]][reciprocal(product[m[i][b]][m[a][j]])]
}

// The names are in the headers of files.
func TestMatrixNames(t *testing.T) {
	if got := fmt.Sprint(matrices); got != "[backblaze cauchy-normalised isa-l-cauchy1 isa-l-rs]" {
		t.Error(got)
	}
}

func TestInvert(t *testing.T) {
	r := newRandom(t)
	singular := 0
	for n := range 70 {
		for try := range 5 {
			m := random(fmt.Sprint("invert", n, try), n, n)
			if n > 1 && try == 4 { // a row that is the sum of others
				row := bytes.Clone(m[0])
				for _, other := range m[1 : n/2] {
					for i, x := range other {
						row[i] ^= x
					}
				}
				m[n-1] = row
			}
			before := clone(m)
			inverse, err := erasure.Invert(m)
			if !equal(m, before) {
				t.Fatalf("%d×%d: Invert changes its argument", n, n)
			}
			if rank(m) < n {
				singular++
				checkSingular(t, m, err)
				continue
			}
			if err != nil {
				t.Fatal(err)
			}
			if n > 0 && (!equal(matrixProduct(m, inverse), identity(n)) || !equal(matrixProduct(inverse, m), identity(n))) {
				t.Fatalf("%d×%d: not the inverse", n, n)
			}
		}
	}
	if singular < 60 {
		t.Errorf("only %d singular matrices", singular)
	}
	// Permutations need rows in another order.
	for range 20 {
		m := identity(20)
		r.Shuffle(20, func(i, j int) { m[i], m[j] = m[j], m[i] })
		inverse, err := erasure.Invert(m)
		if err != nil || !equal(matrixProduct(m, inverse), identity(20)) {
			t.Fatal("a permutation is not inverted:", err)
		}
	}
	_, err := erasure.Invert([][]byte{{1, 2}, {3}})
	mustBe(t, err, erasure.ErrMatrix, "a row too short")
	_, err = erasure.Invert([][]byte{{1, 2}})
	mustBe(t, err, erasure.ErrMatrix, "not square")
	_, err = erasure.Invert([][]byte{{0}})
	checkSingular(t, [][]byte{{0}}, err)
}

// checkSingular sees that an error names rows that are linearly dependent, and none too many.
func checkSingular(t *testing.T, m [][]byte, err error) {
	t.Helper()
	var singular *erasure.SingularError
	if !errors.As(err, &singular) {
		t.Fatalf("error %v for a singular matrix", err)
	}
	rows := func(without int) [][]byte {
		var rows [][]byte
		for _, i := range singular.Dependent {
			if i != without {
				rows = append(rows, m[i])
			}
		}
		return rows
	}
	if n := len(singular.Dependent); n == 0 || rank(rows(-1)) != n-1 {
		t.Fatalf("rows %v are not linearly dependent", singular.Dependent)
	}
	for _, i := range singular.Dependent {
		if r := rows(i); rank(r) != len(r) {
			t.Fatalf("rows %v would be dependent without row %d", singular.Dependent, i)
		}
	}
	if !slices.IsSorted(singular.Dependent) {
		t.Errorf("rows %v are not in order", singular.Dependent)
	}
}

// ISA-L's Vandermonde matrix has these two famous losses, 2 of the 462 of each shape.
func TestVandermondeIsSingular(t *testing.T) {
	for _, shape := range []struct {
		k, p  int
		first []int
	}{{5, 6, []int{0, 1, 4, 6, 7, 9}}, {6, 5, []int{0, 2, 5, 7, 8}}} {
		c := newCodec(t, shape.k, shape.p, erasure.WithMatrix(erasure.ISALVandermonde))
		want := encoded(t, erasure.ISALVandermonde, shape.k, shape.p, 10)
		generator := append(identity(shape.k), must(erasure.ISALVandermonde.Coefficients(shape.k, shape.p))...)
		var found [][]int
		for lost := range subsets(shape.k+shape.p, shape.p) {
			shards := without(want, lost...)
			before := slices.Clone(shards)
			err := c.Reconstruct(shards)
			var singular *erasure.SingularError
			if err == nil {
				if !equal(shards, want) {
					t.Fatalf("%d+%d, lost %v: wrong data", shape.k, shape.p, lost)
				}
				continue
			}
			if !errors.As(err, &singular) || !equal(shards, before) {
				t.Fatalf("%d+%d, lost %v: %v", shape.k, shape.p, lost, err)
			}
			checkSingular(t, generator, err)
			for _, i := range singular.Lost {
				if !slices.Contains(lost, i) {
					t.Errorf("shard %d was not lost: %v", i, err)
				}
			}
			found = append(found, slices.Clone(lost))
		}
		if len(found) != 2 || !slices.Equal(found[0], shape.first) {
			t.Errorf("%d+%d: singular for %v, want 2 of which the first is %v", shape.k, shape.p, found, shape.first)
		}
		if err := c.Reconstruct(without(want, found[0]...)); !strings.Contains(err.Error(), "linearly dependent") {
			t.Error(err)
		}
		// With one shard more it can be rebuilt, whichever that is.
		for n := range found[0] {
			shards := without(want, slices.Delete(slices.Clone(found[0]), n, n+1)...)
			if err := c.Reconstruct(shards); err != nil || !equal(shards, want) {
				t.Errorf("%d+%d, lost %v but for %d: %v", shape.k, shape.p, found[0], found[0][n], err)
			}
		}
	}
}

// Three rows of Vandermonde's matrix are safe: what [erasure.ISALVandermonde] says.
func TestVandermondeOfThreeRows(t *testing.T) {
	m := must(erasure.ISALVandermonde.Coefficients(253, 3))
	for a := range subsets(253, 2) {
		i, j := a[0], a[1]
		if m[1][i] == m[1][j] || m[2][i] == m[2][j] || product[m[1][i]][m[2][j]] == product[m[2][i]][m[1][j]] {
			t.Fatalf("two rows are singular at columns %v", a)
		}
		// Columns i, j and a third one x: (x_i - x_j)(x_i - x_k)(x_j - x_k), if the third row is the second one squared.
		if m[2][i] != product[m[1][i]][m[1][i]] || m[0][i] != 1 {
			t.Fatalf("column %d is not 1, x, x²", i)
		}
	}
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// TestOneEncode is a known answer that the default matrix has elsewhere.
func TestOneEncode(t *testing.T) {
	// Backblaze's JavaReedSolomon (testOneEncode) and klauspost/reedsolomon (TestOneEncode).
	want := [][]byte{{0, 1}, {4, 5}, {2, 3}, {6, 7}, {8, 9}, {12, 13}, {10, 11}, {14, 15}, {90, 91}, {94, 95}}
	shards := clone(want)
	for _, p := range shards[5:] {
		p[0], p[1] = 0xFF, 0xFF
	}
	if err := newCodec(t, 5, 5).Encode(shards); err != nil || !equal(shards, want) {
		t.Errorf("%v, %v", shards, err)
	}
}

// blocks calls f for the blocks of lines "name = value" of a public file.
func blocks(t *testing.T, name string, f func(block map[string]string)) {
	dir, err := vectors.Folder()
	if err != nil {
		t.Fatal(err)
	}
	if dir == "" {
		t.Skip(vectors.Variable + " is not set")
	}
	text, err := os.ReadFile(filepath.Join(dir, "rs", name))
	if err != nil {
		t.Fatal(err)
	}
	for block := range strings.SplitSeq(string(text), "\n\n") {
		values := make(map[string]string)
		for line := range strings.Lines(block) {
			if name, value, ok := strings.Cut(line, "="); ok && line[0] != '#' {
				values[strings.TrimSpace(name)] = strings.TrimSpace(value)
			}
		}
		if len(values) > 0 {
			f(values)
		}
	}
}

// isal are the matrices' names in the public files.
var isal = map[string]erasure.Matrix{"rs": erasure.ISALVandermonde, "cauchy1": erasure.ISALCauchy}

func number(t *testing.T, s string) int {
	n, err := strconv.Atoi(s)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func unhex(t *testing.T, s string) []byte {
	b, err := hex.DecodeString(s)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestPublicMatrices(t *testing.T) {
	n := 0
	blocks(t, "matrices.txt", func(b map[string]string) {
		k, p := number(t, b["k"]), number(t, b["p"])
		rows, err := isal[b["kind"]].Coefficients(k, p)
		if err != nil {
			t.Fatal(err)
		}
		if got := bytes.Join(rows, nil); !bytes.Equal(got, unhex(t, b["matrix"])) {
			t.Errorf("%s %d+%d: %x, want %s", b["kind"], k, p, got, b["matrix"])
		}
		n++
	})
	if n < 100 {
		t.Errorf("only %d matrices", n)
	}
}

func TestPublicEncodings(t *testing.T) {
	n := 0
	check := func(b map[string]string, m erasure.Matrix, want [][]byte, p int) {
		k := len(want)
		for i := range want {
			if d, ok := b["d"+strconv.Itoa(i)]; ok && !bytes.Equal(unhex(t, d), want[i]) {
				t.Fatal("the data are others than the file says")
			}
		}
		for i := range p {
			want = append(want, unhex(t, b["c"+strconv.Itoa(i)]))
		}
		shards := clone(want)
		for _, s := range shards[k:] {
			for i := range s {
				s[i] = 0xFF
			}
		}
		err := newCodec(t, k, p, erasure.WithMatrix(m)).Encode(shards)
		if len(want[0]) == 0 {
			mustBe(t, err, erasure.ErrShardNoData, "empty shards")
		} else if err != nil || !equal(shards, want) {
			t.Fatalf("%s %d+%d, %d bytes: wrong, %v", m, k, p, len(want[0]), err)
		}
		n++
	}
	blocks(t, "backblaze_5_5.txt", func(b map[string]string) {
		var data [][]byte
		for i := range 5 {
			data = append(data, unhex(t, b["d"+strconv.Itoa(i)]))
		}
		check(b, erasure.Backblaze, data, 5)
	})
	blocks(t, "ec_encode.txt", func(b map[string]string) {
		size := number(t, b["len"])
		seed, err := strconv.ParseUint(b["seed"], 16, 64)
		if err != nil {
			t.Fatal(err)
		}
		all := make([]byte, number(t, b["k"])*size)
		vectors.SplitMix64(all, seed)
		var data [][]byte
		for i := range number(t, b["k"]) {
			data = append(data, all[i*size:][:size])
		}
		check(b, isal[b["matrix"]], data, number(t, b["p"]))
	})
	if n < 1000 {
		t.Errorf("only %d answers", n)
	}
}

func TestPublicSingularSets(t *testing.T) {
	dir, err := vectors.Folder()
	if err != nil {
		t.Fatal(err)
	}
	if dir == "" {
		t.Skip(vectors.Variable + " is not set")
	}
	text, err := os.ReadFile(filepath.Join(dir, "rs", "rs_matrix_singular_sets.txt"))
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for line := range strings.Lines(string(text)) {
		n++
		var k, p, singular, sets int
		if _, err := fmt.Sscanf(line, "rs k=%d p=%d: %d of %d", &k, &p, &singular, &sets); err != nil {
			t.Fatal(line, err)
		}
		if sets > 20_000 || testkit.Boundary() && sets > 2000 {
			continue
		}
		c := newCodec(t, k, p, erasure.WithMatrix(erasure.ISALVandermonde))
		want := encoded(t, erasure.ISALVandermonde, k, p, 1)
		first := false
		for lost := range subsets(k+p, p) {
			sets--
			shards := without(want, lost...)
			err := c.Reconstruct(shards)
			if err == nil && !equal(shards, want) {
				t.Fatalf("%d+%d, lost %v: wrong data", k, p, lost)
			}
			if err != nil {
				singular--
				first = first || strings.Contains(line, "first: "+strings.Trim(fmt.Sprint(lost), "[]")+" ")
			}
		}
		if sets != 0 || singular != 0 || !first {
			t.Errorf("%d sets and %d singular ones too few, the named one is singular: %v; want: %s", sets, singular, first, line)
		}
	}
	if n < 30 {
		t.Errorf("only %d lines", n)
	}
}
