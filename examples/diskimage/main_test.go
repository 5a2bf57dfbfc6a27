package main

import (
	"bytes"
	"crypto/cipher"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/iotest"

	//lint:ignore SA1019 not the one under test
	xtwofish "golang.org/x/crypto/twofish"
	"golang.org/x/crypto/xts"

	"github.com/twogather/twogather/internal/testkit"
)

// memory is a disk.
type memory []byte

func (m memory) ReadAt(p []byte, offset int64) (int, error) {
	return bytes.NewReader(m).ReadAt(p, offset)
}

func (m memory) WriteAt(p []byte, offset int64) (int, error) {
	if offset < 0 || offset+int64(len(p)) > int64(len(m)) {
		return 0, errors.New("outside")
	}
	return copy(m[offset:], p), nil
}

// encrypted returns sectors as others encrypt them, each by itself.
func encrypted(t *testing.T, plain, key []byte, sectorSize int) []byte {
	t.Helper()
	x, err := xts.NewCipher(func(key []byte) (cipher.Block, error) { return xtwofish.NewCipher(key) }, key)
	if err != nil {
		t.Fatal(err)
	}
	disk := make([]byte, len(plain))
	for i := 0; i < len(plain); i += sectorSize {
		x.Encrypt(disk[i:i+sectorSize], plain[i:i+sectorSize], uint64(i/sectorSize))
	}
	return disk
}

func write(t *testing.T, data []byte) (path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func call(stdin []byte, args ...string) ([]byte, error) {
	var out bytes.Buffer
	err := run(args, bytes.NewReader(stdin), &out)
	return out.Bytes(), err
}

// TestVolume reads and writes everywhere around the borders of sectors.
func TestVolume(t *testing.T) {
	const sectors, before, after = 3, 512, 300
	for _, sectorSize := range []int{512, 4096} {
		size := sectors * sectorSize
		key := testkit.Random("key", 64)
		plain := testkit.Random("plain", size)
		edge := testkit.Random("edge", before+after)
		disk := memory(bytes.Join([][]byte{edge[:before], encrypted(t, plain, key, sectorSize), edge[before:]}, nil))
		v, err := newVolume(disk, key, int64(sectorSize), before, int64(size+after))
		if err != nil {
			t.Fatal(err)
		}
		if v.size != int64(size) {
			t.Fatalf("%d bytes, want %d", v.size, size)
		}
		if err := iotest.TestReader(io.NewSectionReader(v, 0, v.size), plain); err != nil {
			t.Error(err)
		}

		var borders []int
		for s := range sectors + 1 {
			for _, d := range []int{-16, -1, 0, 1, 16} {
				if b := s*sectorSize + d; b >= 0 && b <= size {
					borders = append(borders, b)
				}
			}
		}
		for i, from := range borders {
			for _, to := range borders[i:] {
				p := testkit.Random(fmt.Sprint(from, to), to-from)
				old := bytes.Clone(p)
				if n, err := v.WriteAt(p, int64(from)); n != len(p) || err != nil {
					t.Fatalf("write %d to %d: %d, %v", from, to, n, err)
				}
				copy(plain[from:], p)
				if !bytes.Equal(p, old) {
					t.Fatalf("write %d to %d: p is another now", from, to)
				}
				got := make([]byte, to-from)
				if n, err := v.ReadAt(got, int64(from)); n != len(got) || err != nil || !bytes.Equal(got, p) {
					t.Fatalf("read %d to %d: %d, %v", from, to, n, err)
				}
			}
			if !bytes.Equal(disk[before:before+size], encrypted(t, plain, key, sectorSize)) {
				t.Fatalf("writes from %d on: the disk is another than it should be", from)
			}
		}
		if !bytes.Equal(disk[:before], edge[:before]) || !bytes.Equal(disk[before+size:], edge[before:]) {
			t.Error("written outside")
		}
	}
}

func TestVolumeErrors(t *testing.T) {
	key := testkit.Random("key", 32)
	disk := memory(testkit.Random("disk", 2048))
	before := bytes.Clone(disk)
	v, err := newVolume(disk, key, 512, 0, 2048)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		n      int
		offset int64
	}{{1, 2048}, {513, 1536}, {2049, 0}, {1, -1}, {0, 2049}, {1, 1 << 62}} {
		if n, err := v.WriteAt(make([]byte, c.n), c.offset); n != 0 || err == nil {
			t.Errorf("%d bytes at %d: %d, %v", c.n, c.offset, n, err)
		}
	}
	if !bytes.Equal(disk, before) {
		t.Error("written to")
	}
	if n, err := v.ReadAt(make([]byte, 1), -1); n != 0 || err == nil || err == io.EOF {
		t.Error(n, err)
	}
	if n, err := v.ReadAt(make([]byte, 600), 1536); n != 512 || err != io.EOF {
		t.Error(n, err)
	}
	v.disk = disk[:1000] // which has become shorter
	if n, err := v.ReadAt(make([]byte, 2048), 0); n != 0 || !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Error(n, err)
	}
	for _, sectorSize := range []int64{0, 16, 513, 8192, -512} {
		if _, err := newVolume(disk, key, sectorSize, 0, 2048); err == nil {
			t.Errorf("sectors of %d bytes", sectorSize)
		}
	}
	if _, err := newVolume(disk, key[:31], 512, 0, 2048); err == nil {
		t.Error("a key of 31 bytes")
	}
	if _, err := newVolume(disk, key, 512, 4096, -2048); err == nil {
		t.Error("a negative size")
	}
}

// TestVolumeParallel writes different parts of a sector at the same time.
func TestVolumeParallel(t *testing.T) {
	v, err := newVolume(make(memory, 4096), testkit.Random("key", 64), 4096, 0, 4096)
	if err != nil {
		t.Fatal(err)
	}
	plain := testkit.Random("plain", 4096)
	var wg sync.WaitGroup
	for from := 0; from < len(plain); from += 64 {
		wg.Go(func() {
			if _, err := v.WriteAt(plain[from:from+64], int64(from)); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	got := make([]byte, 4096)
	if _, err := v.ReadAt(got, 0); err != nil || !bytes.Equal(got, plain) {
		t.Error("some writes are lost, ", err)
	}
}

// TestPlain runs the program on an image without a header.
func TestPlain(t *testing.T) {
	key, plain := testkit.Random("key", 64), testkit.Random("plain", 3<<20)
	image, keyFile := write(t, encrypted(t, plain, key, 4096)), write(t, key)
	if got, err := call(nil, "-key", keyFile, "-sector", "4096", image); err != nil || !bytes.Equal(got, plain) {
		t.Errorf("%d bytes, %v", len(got), err)
	}
	data := testkit.Random("data", 2<<20+1)
	const offset = 1000
	if got, err := call(data, "-key", keyFile, "-sector", "4096", "-write", "-offset", "1000", image); err != nil || len(got) > 0 {
		t.Error(got, err)
	}
	copy(plain[offset:], data)
	got, err := os.ReadFile(image)
	if err != nil || !bytes.Equal(got, encrypted(t, plain, key, 4096)) {
		t.Error("another image than it should be, ", err)
	}
	if got, err := call(nil, "-key", keyFile, "-sector", "4096", "-offset", "1000", "-length", "2097153", image); err != nil || !bytes.Equal(got, data) {
		t.Errorf("%d bytes, %v", len(got), err)
	}
	for _, args := range [][]string{{"-offset", "3145729"}, {"-offset", "-1"}, {"-sector", "1000"}, {"-write", "-offset", "3145728"}} {
		if _, err := call([]byte("x"), append(append([]string{"-key", keyFile}, args...), image)...); err == nil {
			t.Errorf("%q: no error", args)
		}
	}
	if _, err := call(nil, image); err == nil || !strings.Contains(err.Error(), "no LUKS header") {
		t.Error(err)
	}
}
