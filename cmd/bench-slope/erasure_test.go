package main

import (
	"bytes"
	"encoding/csv"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
	"unsafe"

	"github.com/twogather/twogather/hwfeatures"
	"github.com/twogather/twogather/internal/kernel"
)

const quickErasure = "erasure --time 1us -k 3 -p 2 "

// The lines can be read by whatever reads those of ISA-L's programs.
func TestErasureLines(t *testing.T) {
	out := mustCall(t, strings.Fields(quickErasure+"-s 1K -e 1 --kernel generic")...)
	line := ` runtime = +[0-9]+ usecs, bandwidth [0-9]+ MB in [0-9]+\.[0-9]{4} sec = [0-9]+\.[0-9]{2} MB/s\n`
	want := `kernel generic, buffers aligned\nerasure_code_perf: 5x1024 1\n`
	for _, name := range []string{"erasure_code_encode_warm", "erasure_code_decode_warm", "ec_encode_data_update_warm",
		"ec_encode_data_update_single_src_simple_warm"} {
		want += name + ":" + line
	}
	if !regexp.MustCompile("^" + want + "$").MatchString(out) {
		t.Errorf("got\n%s", out)
	}
}

// The numbers in a line belong together.
func TestErasureLine(t *testing.T) {
	var b bytes.Buffer
	r := &erasureLines{&b}
	sh := shape{data: 10, parity: 4, erased: 2, size: 1000}
	for i, want := range []string{ // 14, 12, 14 and 5 times 1000 bytes, 2000 times in 10 ms
		"erasure_code_encode_warm: runtime =      10000 usecs, bandwidth 28 MB in 0.0100 sec = 2800.00 MB/s\n",
		"erasure_code_decode_warm: runtime =      10000 usecs, bandwidth 24 MB in 0.0100 sec = 2400.00 MB/s\n",
		"ec_encode_data_update_warm: runtime =      10000 usecs, bandwidth 28 MB in 0.0100 sec = 2800.00 MB/s\n",
		"ec_encode_data_update_single_src_simple_warm: runtime =      10000 usecs, bandwidth 10 MB in 0.0100 sec = 1000.00 MB/s\n",
	} {
		b.Reset()
		if r.row(&erasureOperations[i], sh, timing{2000, 10 * time.Millisecond, 5000}); b.String() != want {
			t.Errorf("got %q, want %q", b.String(), want)
		}
	}
	if got := erasureOperations[0].megabytesPerSecond(sh, timing{best: 5000}); got != 2800 {
		t.Errorf("%v MB/s", got)
	}
}

func TestErasureSweep(t *testing.T) {
	lines := strings.Split(mustCall(t, strings.Fields("erasure --time 1us --sweep -s 64 --placement both --kernel generic")...), "\n")
	var shapes []string
	for _, l := range lines {
		if f := strings.Fields(l); len(f) == 6 && strings.Contains(f[0], "+") {
			shapes = append(shapes, f[0])
		}
	}
	want := []string{"4+2", "10+2", "10+4", "10+6", "17+3", "50+20"}
	if !slices.Equal(shapes, append(want, want...)) || strings.Join(strings.Fields(lines[1]), " ") != "shards size encode decode update update one" {
		t.Errorf("got\n%s", strings.Join(lines, "\n"))
	}
}

// What is measured where the command line says little, and in a sweep.
func TestErasureShapes(t *testing.T) {
	shapes := func(words string) []shape {
		o, _, err := parse(strings.Fields(words))
		if err != nil {
			t.Fatal(err)
		}
		all, err := o.shapes()
		if err != nil {
			t.Fatal(err)
		}
		return all
	}
	for words, want := range map[string]shape{
		"":                      {10, 4, 4, 32 << 10},
		"-k 3":                  {3, 4, 3, 32 << 10},
		"-k 10 -p 4 -s 1M -e 2": {10, 4, 2, 1 << 20},
	} {
		if got := shapes(words); !slices.Equal(got, []shape{want}) {
			t.Errorf("%q: %v, want %v", words, got, want)
		}
	}
	seen := make(map[int]int)
	for _, s := range shapes("--sweep") {
		seen[s.size]++
		if measured := s.memory() <= sweptMemory; !measured && (s.data < 50 || s.size < 64<<20) {
			t.Errorf("%v is too much to be measured", s)
		}
	}
	if len(seen) != len(sweptSizes) || seen[64] != len(sweptShapes) || seen[64<<20] != len(sweptShapes) {
		t.Errorf("shapes by size: %v", seen)
	}
	// Those that become the same by an option count once.
	if got := len(shapes("--sweep -k 10 -s 64")); got != 5 {
		t.Errorf("%d shapes of 10 data shards", got)
	}
}

func TestErasureCSV(t *testing.T) {
	out := mustCall(t, strings.Fields(quickErasure+"--sweep -s 1500 --placement both --kernel all --csv")...)
	rows, err := csv.NewReader(strings.NewReader(out)).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	i := 0
	for _, placement := range []string{"aligned", "staggered"} {
		for _, k := range usableKernels("erasure", hwfeatures.Enabled()) {
			for _, o := range erasureOperations {
				i++
				if want := []string{k, placement, "3", "2", "2", "1500", o.short}; i >= len(rows) || !slices.Equal(rows[i][:7], want) {
					t.Fatalf("row %d is not %q:\n%s", i, want, out)
				}
			}
		}
	}
	if len(rows) != i+1 {
		t.Errorf("%d rows, want %d", len(rows), i+1)
	}
}

// What is timed does what it says: the survivors give the first data shards back, and updates make parity.
func TestErasureCoder(t *testing.T) {
	tables := kernel.Lookup("erasure").New(hwfeatures.Enabled(), false, "").(newTables)
	for _, s := range []shape{{10, 4, 4, 1000}, {10, 4, 1, 64}, {2, 3, 2, 100}, {1, 1, 1, 1}} {
		c, err := newCoder(s, staggered, tables)
		if err != nil {
			t.Fatal(err)
		}
		run := func(i int) {
			if err := erasureOperations[i].run(c); err != nil {
				t.Fatal(err)
			}
		}
		run(0)
		run(1)
		for i, b := range c.recovered {
			if !bytes.Equal(b, c.sources[i]) {
				t.Errorf("%v: shard %d is another one", s, i)
			}
		}
		run(2) // adds the parity to itself
		for i, b := range c.outputs {
			if !bytes.Equal(b, make([]byte, s.size)) {
				t.Errorf("%v: updates make another parity shard %d", s, i)
			}
		}
	}
}

func TestPlace(t *testing.T) {
	for _, size := range []int{1, 64, 4096, 5000} {
		for _, p := range []placement{aligned, staggered} {
			buffers := place(30, size, p)
			var last uintptr
			for i, b := range buffers {
				at := uintptr(unsafe.Pointer(&b[0]))
				want := 0
				if p == staggered {
					want = i * 192 % 4096
				}
				if len(b) != size || cap(b) != size || int(at%4096) != want || i > 0 && at < last+uintptr(size) {
					t.Errorf("%s buffer %d of %d bytes: %d bytes at %#x, after one at %#x", p, i, size, len(b), at, last)
				}
				if size > 1000 && bytes.Count(b, []byte{0}) > size/100 {
					t.Errorf("%s buffer %d of %d bytes: untouched, or like it", p, i, size)
				}
				last = at
				// Pages of zeros that nobody has written to are one page, and the same data would be compared in vain.
				if n := bytes.Count(b, []byte{0}); size > 1 && n > size/2 || i > 0 && bytes.Equal(b, buffers[0]) {
					t.Errorf("%s buffer %d of %d bytes has %d zeros, or what the first one has", p, i, size, n)
				}
			}
		}
	}
}

func TestParseSize(t *testing.T) {
	for text, want := range map[string]int{"1": 1, "1500": 1500, "32K": 32768, "1M": 1 << 20} {
		if got, err := parseSize(text); got != want || err != nil || sizeText(got) != text {
			t.Errorf("%s: %d, %v; back %s", text, got, err, sizeText(got))
		}
	}
	for _, text := range []string{"", "K", "-1", "0", "1G", "1k", "1KK", " 1", "1.5K", "1025M", "99999999999999999999"} {
		if got, err := parseSize(text); err == nil {
			t.Errorf("%q is %d", text, got)
		}
	}
}
