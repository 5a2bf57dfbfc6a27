//go:build linux

package bochs

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"os/exec"
	"strings"
	"testing"
)

// The output of programs holds anything, headers too, and comes in any pieces.
func TestDecoder(t *testing.T) {
	const stream = "o 0 7\nx 0 1\n\n" + "o 1 5\nhello" + "o 0 4\nend\n" + "x 0 3\nx 1 0\nend\n"
	for size := 1; size <= len(stream); size++ {
		var got [2]string
		var exits []string
		d := decoder{
			output: func(i int, b []byte) { got[i] += string(b) },
			exit:   func(i, status int) { exits = append(exits, fmt.Sprint(i, status)) },
		}
		for b := []byte(stream); len(b) > 0; {
			n := min(size, len(b))
			if err := d.write(b[:n]); err != nil {
				t.Fatal(size, err)
			}
			b = b[n:]
		}
		if got != [2]string{"x 0 1\n\nend\n", "hello"} {
			t.Errorf("pieces of %d: %q", size, got)
		}
		if !d.ended || strings.Join(exits, ",") != "0 3,1 0" {
			t.Errorf("pieces of %d: ended %v, exits %v", size, d.ended, exits)
		}
	}
	d := decoder{}
	if err := d.write([]byte("kernel panic\n")); err == nil {
		t.Error("no error")
	}
}

func TestInitramfs(t *testing.T) {
	if _, err := exec.LookPath("cpio"); err != nil {
		t.Skip(err)
	}
	archive := initramfs([]file{{"t", directory, nil}, {"t/bin", program, []byte("abcde")}, {"dev", directory, nil}, {"dev/console", console, nil}})
	cmd := exec.Command("cpio", "-tv")
	cmd.Stdin = bytes.NewReader(archive)
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"drwxr-xr-x", "-rwxr-xr-x", "t/bin", "crw", "5,   1", "dev/console"} {
		if !strings.Contains(string(out), want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
}

func TestBootImage(t *testing.T) {
	loader := bytes.Repeat([]byte{1, 2, 3, 4, 5, 6, 7}, 1000)
	files := []file{{name: "isolinux.bin", data: loader}, {name: "vmlinuz", data: []byte("kernel")}}
	image := bootImage(files)
	if len(image)%sector != 0 {
		t.Errorf("%d bytes", len(image))
	}
	at := func(offset int) int { return int(binary.LittleEndian.Uint32(image[offset:])) }
	lba := at(22*sector + 40)
	got := image[lba*sector : lba*sector+len(loader)]
	if !bytes.Equal(got[:8], loader[:8]) || !bytes.Equal(got[64:], loader[64:]) {
		t.Error("the boot catalog does not lead to the loader")
	}
	if a, b := at(lba*sector+12), at(lba*sector+8); a != lba || b != 16 {
		t.Errorf("the loader is told that it lies in %d and the volume in %d", a, b)
	}
	// The words of the catalog's first entry add up to zero.
	var sum uint16
	for i := 0; i < 32; i += 2 {
		sum += binary.LittleEndian.Uint16(image[22*sector+i:])
	}
	if sum != 0 {
		t.Errorf("checksum %#x", sum)
	}
}
