package main

import (
	"bytes"
	"math"
	"os"
	"strings"
	"testing"
	"time"
)

func TestNumber(t *testing.T) {
	for _, test := range []struct {
		v    float64
		want string
	}{
		{0, "0.000"},
		{0.2314, "0.231"},
		{0.9994, "0.999"},
		{1, "1.00"},
		{3.204, "3.20"},
		{99.994, "99.99"},
		{100, "100.0"},
		{297.72, "297.7"},
		{999.94, "999.9"},
		{1000, "1000"},
		{4120.6, "4121"},
		{123456.4, "123456"},
		{-0.01, "-"},
		{math.NaN(), "-"},
		{math.Inf(1), "-"},
	} {
		if got := number(test.v); got != test.want {
			t.Errorf("%v is %q, want %q", test.v, got, test.want)
		}
	}
}

// The clock stands still, moves a little less than half a part in 1000, moves more, and is not measured.
var (
	steady = figure{ns: 3.2034, mhz: 3244, auto: true, before: 3244, after: 3244}
	almost = figure{ns: 0.23142, mhz: 4308, auto: true, before: 4307, after: 4309}
	moving = figure{ns: 25.61, mhz: 3245, auto: true, before: 3243.2, after: 3246.8}
	given  = figure{ns: 3.2034, mhz: 3244}

	plain = choice{names: []string{"wide", "narrow"}}
)

func printGroup(r reporter, c choice, figures ...figure) {
	r.section()
	r.begin("TWOFISH", c)
	for i, f := range figures {
		r.row([]string{"ECB enc", "CTR dec", "OCB auth"}[i], f)
	}
	r.end()
}

func TestText(t *testing.T) {
	const golden = `Cipher:
 TWOFISH        |  nanosecs/byte   mebibytes/sec   cycles/byte  auto Mhz
        ECB enc |      3.20 ns/B     297.7 MiB/s     10.39 c/B      3244
        CTR dec |     0.231 ns/B      4121 MiB/s     0.997 c/B      4308
       OCB auth |     25.61 ns/B     37.24 MiB/s     83.10 c/B      3245±2
                =
`
	var b bytes.Buffer
	printGroup(&textReporter{w: &b, title: "Cipher", auto: true}, plain, steady, almost, moving)
	if b.String() != golden {
		t.Errorf("got\n%swant\n%s", b.String(), golden)
	}
}

func TestTextGivenClock(t *testing.T) {
	const golden = `Cipher:
 TWOFISH        |  nanosecs/byte   mebibytes/sec   cycles/byte  kernel avx2-manual
        ECB enc |      3.20 ns/B     297.7 MiB/s     10.39 c/B
                =
`
	var b bytes.Buffer
	c := choice{names: []string{"avx2-manual"}, forced: "avx2-manual", asked: true}
	printGroup(&textReporter{w: &b, title: "Cipher"}, c, given)
	if b.String() != golden {
		t.Errorf("got\n%swant\n%s", b.String(), golden)
	}
}

func TestCSV(t *testing.T) {
	const golden = `cipher,TWOFISH,ECB enc,wide+narrow,,3.20,ns/B,297.7,MiB/s,10.39,c/B,3244,Mhz
cipher,TWOFISH,CTR dec,wide+narrow,,0.231,ns/B,4121,MiB/s,0.997,c/B,4308,Mhz
cipher,TWOFISH,OCB auth,wide+narrow,,3.20,ns/B,297.7,MiB/s,10.39,c/B
`
	var b bytes.Buffer
	printGroup(&csvReporter{w: &b, name: "cipher"}, plain, steady, almost, given)
	if b.String() != golden {
		t.Errorf("got\n%swant\n%s", b.String(), golden)
	}
}

func TestProgress(t *testing.T) {
	if newProgress(&bytes.Buffer{}) != nil {
		t.Error("a buffer is not a terminal")
	}
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	defer w.Close()
	if newProgress(w) != nil {
		t.Error("a pipe is not a terminal")
	}
	var none *progress
	none.show("x", 0, 1)
	none.clear()

	var b bytes.Buffer
	p := &progress{w: &b}
	p.clear()
	p.show("TWOFISH ECB enc", 1, 4)
	p.show("TWOFISH ECB enc", 2, 4) // too soon
	p.last = time.Time{}
	p.show("X", 2, 4)
	p.clear()
	p.clear()
	want := "\rTWOFISH ECB enc 25%" + "\rX 50%" + strings.Repeat(" ", 14) + "\r" + strings.Repeat(" ", 19) + "\r"
	if b.String() != want {
		t.Errorf("%q, want %q", b.String(), want)
	}
}
