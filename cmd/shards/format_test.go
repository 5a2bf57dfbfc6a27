package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"testing"

	"github.com/twogather/twogather/erasure"
)

// product multiplies in the field, bit by bit.
func product(a, b byte) byte {
	sum := byte(0)
	for ; b != 0; b >>= 1 {
		if b&1 != 0 {
			sum ^= a
		}
		overflow := a >> 7
		a = a<<1 ^ overflow*0x1D
	}
	return sum
}

// reference makes shard files as the format's description says.
func reference(t *testing.T, content []byte, name string, perm uint16, k, p, unit int, matrix erasure.Matrix) [][]byte {
	t.Helper()
	rows, err := matrix.Coefficients(k, p)
	if err != nil {
		t.Fatal(err)
	}
	shards := make([][]byte, k+p)
	for rest := content; len(rest) > 0; {
		stripe := rest[:min(len(rest), k*unit)]
		rest = rest[len(stripe):]
		u := (len(stripe) + k - 1) / k
		stripe = append(bytes.Clone(stripe), make([]byte, u*k-len(stripe))...)
		for i := range k {
			shards[i] = append(shards[i], stripe[i*u:][:u]...)
		}
		for i, row := range rows {
			for n := range u {
				sum := byte(0)
				for j, c := range row {
					sum ^= product(c, stripe[j*u+n])
				}
				shards[k+i] = append(shards[k+i], sum)
			}
		}
	}

	number := func(bytes int, n uint64) []byte { return binary.LittleEndian.AppendUint64(nil, n)[:bytes] }
	common := bytes.Join([][]byte{
		number(2, uint64(k)), number(2, uint64(p)), number(4, uint64(unit)),
		number(8, uint64(len(content))), number(8, uint64(len(shards[0]))),
		append([]byte(matrix), make([]byte, 32-len(matrix))...),
		number(2, uint64(perm)), number(2, uint64(len(name))), []byte(name),
	}, nil)
	for _, s := range shards {
		h := sha256.Sum256(s)
		common = append(common, h[:]...)
	}
	id := sha256.Sum256(common)
	files := make([][]byte, len(shards))
	for i, s := range shards {
		header := bytes.Join([][]byte{
			{0x93, 0x53, 0x48, 0x41, 0x52, 0x44, 0x0D, 0x0A},
			number(2, 1), number(2, uint64(i)), number(4, uint64(140+len(name)+32*(k+p))),
			id[:], common,
		}, nil)
		check := sha256.Sum256(header)
		files[i] = bytes.Join([][]byte{header, check[:], s}, nil)
	}
	return files
}

// sampleHeader returns a header and the set that it is of.
func sampleHeader() ([]byte, *set) {
	s := &set{data: 3, parity: 2, unit: 64, size: 1000, matrix: erasure.Backblaze, mode: 0o640, name: "a name"}
	for i := range s.shards() {
		s.sums = append(s.sums, sum{byte(i)})
	}
	return s.header(4), s
}

// seal gives a header the length, the identifier and the checksum that it should have.
func seal(header []byte) []byte {
	if len(header) < minHeader {
		return header
	}
	header = bytes.Clone(header)
	copy(header, magic)
	binary.LittleEndian.PutUint32(header[12:], uint32(len(header)))
	body := header[:len(header)-sha256.Size]
	id := sha256.Sum256(body[commonStart:])
	copy(body[16:], id[:])
	check := sha256.Sum256(body)
	copy(header[len(body):], check[:])
	return header
}

func TestHeaderRoundTrip(t *testing.T) {
	header, want := sampleHeader()
	if !bytes.Equal(seal(header), header) {
		t.Fatal("seal changes a good header")
	}
	r := bytes.NewReader(append(header, "the shard"...))
	got, index, err := readHeader(r)
	if err != nil || index != 4 || fmt.Sprint(*got) != fmt.Sprint(*want) {
		t.Errorf("got %v, index %d, %v; want %v", got, index, err, want)
	}
	if r.Len() != len("the shard") {
		t.Errorf("%d bytes are left, not the shard", r.Len())
	}
}

// Headers that are consistent with themselves and yet make no sense.
func TestHeaderRefused(t *testing.T) {
	le := binary.LittleEndian
	for name, spoil := range map[string]func(b []byte) []byte{
		"no data":        func(b []byte) []byte { le.PutUint16(b[48:], 0); return b },
		"no parity":      func(b []byte) []byte { le.PutUint16(b[50:], 0); return b },
		"257 shards":     func(b []byte) []byte { le.PutUint16(b[48:], 255); return b },
		"index":          func(b []byte) []byte { le.PutUint16(b[10:], 5); return b },
		"no unit":        func(b []byte) []byte { le.PutUint32(b[52:], 0); return b },
		"large unit":     func(b []byte) []byte { le.PutUint32(b[52:], 1<<20+1); return b },
		"size":           func(b []byte) []byte { le.PutUint64(b[56:], 1<<63); return b },
		"shard size":     func(b []byte) []byte { b[64]++; return b },
		"matrix":         func(b []byte) []byte { b[72]++; return b },
		"singular":       func(b []byte) []byte { copy(b[72:104], "isa-l-rs\x00\x00\x00\x00"); return b },
		"behind matrix":  func(b []byte) []byte { b[103] = 'x'; return b },
		"set-uid":        func(b []byte) []byte { b[105] |= 8; return b },
		"long name":      func(b []byte) []byte { b[106]++; return b },
		"short name":     func(b []byte) []byte { b[106]--; return b },
		"huge name":      func(b []byte) []byte { b[107] = 255; return b },
		"slash":          func(b []byte) []byte { b[109] = '/'; return b },
		"zero byte":      func(b []byte) []byte { b[109] = 0; return b },
		"one sum less":   func(b []byte) []byte { return b[:len(b)-32] },
		"one byte more":  func(b []byte) []byte { return append(b, 0) },
		"no sums at all": func(b []byte) []byte { return b[:minHeader] },
		"dot dot": func(b []byte) []byte {
			b = append(b[:110], b[114:]...)
			copy(b[106:], "\x02\x00..")
			return b
		},
	} {
		header, _ := sampleHeader()
		if _, _, err := readHeader(bytes.NewReader(seal(spoil(header)))); !errors.Is(err, errHeader) {
			t.Errorf("%s: %v", name, err)
		}
	}

	// The identifier follows from the rest.
	header, _ := sampleHeader()
	header[16]++
	check := sha256.Sum256(header[:len(header)-sha256.Size])
	copy(header[len(header)-sha256.Size:], check[:])
	if _, _, err := readHeader(bytes.NewReader(header)); !errors.Is(err, errHeader) {
		t.Errorf("another identifier: %v", err)
	}

	header, _ = sampleHeader()
	header[8] = 2
	if _, _, err := readHeader(bytes.NewReader(header)); !errors.Is(err, errHeader) {
		t.Errorf("a damaged version: %v", err)
	}
	if _, _, err := readHeader(bytes.NewReader(seal(header))); !errors.Is(err, errVersion) {
		t.Errorf("another version: %v", err)
	}
	header, _ = sampleHeader()
	for n := range header {
		if _, _, err := readHeader(bytes.NewReader(header[:n])); !errors.Is(err, errHeader) {
			t.Errorf("%d bytes of a header: %v", n, err)
		}
	}
}

func FuzzHeader(f *testing.F) {
	header, _ := sampleHeader()
	f.Add(header)
	f.Add(header[:minHeader])
	f.Add([]byte(nil))
	f.Fuzz(func(t *testing.T, b []byte) {
		for _, b := range [][]byte{b, seal(b)} { // nothing else gets past the checksum
			s, index, err := readHeader(bytes.NewReader(b))
			if err != nil {
				if !errors.Is(err, errHeader) && !errors.Is(err, errVersion) {
					t.Errorf("%v", err)
				}
				continue
			}
			if again := s.header(index); !bytes.HasPrefix(b, again) {
				t.Errorf("%x\nwas read and is written as\n%x", b, again)
			}
			if !validName(s.name) || index >= len(s.sums) || s.shardSize() < s.size/int64(s.data) {
				t.Errorf("accepted: %+v, index %d", s, index)
			}
		}
	})
}

// Shards are as long as the stripes together, and no longer than they must be.
func TestStripes(t *testing.T) {
	for k := 1; k <= 5; k++ {
		for unit := 1; unit <= 4; unit++ {
			for size := range 70 {
				s := &set{data: k, parity: 1, unit: unit, size: int64(size)}
				file, shard := 0, 0
				s.stripes(func(bytes, each int) error {
					if bytes < 1 || each < 1 || each > unit || each*k < bytes || (each-1)*k >= bytes {
						t.Errorf("%d+1, unit %d, size %d: a stripe of %d bytes, %d each", k, unit, size, bytes, each)
					}
					file += bytes
					shard += each
					return nil
				})
				if file != size || int64(shard) != s.shardSize() {
					t.Errorf("%d+1, unit %d, size %d: stripes have %d and shards %d bytes, not %d", k, unit, size, file, shard, s.shardSize())
				}
			}
		}
	}
	large := &set{data: 1, parity: 255, unit: maxUnit, size: maxSize, name: "x"}
	if n := large.shardSize() + int64(large.headerSize()); n < maxSize {
		t.Errorf("the largest file has shard files of %d bytes", n)
	}
}
