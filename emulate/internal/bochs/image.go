//go:build linux

package bochs

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
)

// A file is one of an archive or of an image. Its mode is Unix's, type included; zero is a plain file.
type file struct {
	name string
	mode uint32
	data []byte
}

const (
	directory = 0o040755
	program   = 0o100755
	plain     = 0o100644
	console   = 0o020600 // a character device; the only one there is
)

// initramfs is an archive as the kernel unpacks it: cpio's "newc" format.
func initramfs(files []file) []byte {
	var b bytes.Buffer
	for i, f := range append(slices.Clone(files), file{name: "TRAILER!!!"}) {
		var major, minor int
		if f.mode == console {
			major, minor = 5, 1
		}
		fmt.Fprintf(&b, "070701%08x%08x%08x%08x%08x%08x%08x%08x%08x%08x%08x%08x%08x%s\x00",
			i+1, f.mode, 0, 0, 1, 0, len(f.data), 0, 0, major, minor, len(f.name)+1, 0, f.name)
		pad(&b, 4)
		b.Write(f.data)
		pad(&b, 4)
	}
	return b.Bytes()
}

func pad(b *bytes.Buffer, unit int) {
	b.Write(make([]byte, (unit-b.Len()%unit)%unit))
}

const sector = 2048

// bootImage is a CD (ISO 9660 with El Torito's boot record) whose files all lie in the root folder; the BIOS starts the
// first one, which is ISOLINUX, told by its boot information table where it lies.
func bootImage(files []file) []byte {
	// What lies in which sector; the files follow.
	const (
		volume = 16 + iota
		bootRecord
		terminator
		pathTable
		pathTableBig
		root
		catalog
		first
	)
	both16 := func(b []byte, v int) {
		binary.LittleEndian.PutUint16(b, uint16(v))
		binary.BigEndian.PutUint16(b[2:], uint16(v))
	}
	both32 := func(b []byte, v int) {
		binary.LittleEndian.PutUint32(b, uint32(v))
		binary.BigEndian.PutUint32(b[4:], uint32(v))
	}
	record := func(name string, at, size int, flags byte) []byte {
		b := make([]byte, (33+len(name)+1)&^1)
		b[0] = byte(len(b))
		both32(b[2:], at)
		both32(b[10:], size)
		b[18], b[19], b[20] = 100, 1, 1 // some day
		b[25] = flags
		both16(b[28:], 1)
		b[32] = byte(len(name))
		copy(b[33:], name)
		return b
	}

	image := make([]byte, first*sector)
	at := first
	var records [][]byte
	for i, f := range files {
		data := bytes.Clone(f.data)
		if i == 0 {
			table := data[8:64]
			clear(table)
			var sum uint32
			for b := data[64:]; len(b) >= 4; b = b[4:] {
				sum += binary.LittleEndian.Uint32(b)
			}
			for j, v := range []uint32{volume, uint32(at), uint32(len(data)), sum} {
				binary.LittleEndian.PutUint32(table[4*j:], v)
			}
			c := image[catalog*sector:]
			copy(c, "\x01\x00\x00\x00")
			copy(c[28:], "\xaa\x55\x55\xaa") // a checksum, so that all words add up to zero, and a signature
			copy(c[32:], "\x88")             // bootable, no disk emulated
			binary.LittleEndian.PutUint16(c[38:], 4)
			binary.LittleEndian.PutUint32(c[40:], uint32(at))
		}
		name := strings.ToUpper(f.name)
		if !strings.Contains(name, ".") {
			name += "."
		}
		records = append(records, record(name+";1", at, len(data), 0))
		image = append(image, data...)
		image = append(image, make([]byte, -len(data)&(sector-1))...)
		at = len(image) / sector
	}
	slices.SortFunc(records, func(a, b []byte) int { return cmp.Compare(string(a[33:]), string(b[33:])) })

	d := image[root*sector : (root+1)*sector]
	for _, r := range append([][]byte{record("\x00", root, sector, 2), record("\x01", root, sector, 2)}, records...) {
		d = d[copy(d, r):]
	}

	const pathTableSize = 10
	copy(image[pathTable*sector:], []byte{1, 0, root, 0, 0, 0, 1, 0, 0, 0})
	copy(image[pathTableBig*sector:], []byte{1, 0, 0, 0, 0, root, 0, 1, 0, 0})

	v := image[volume*sector:]
	copy(v, "\x01CD001\x01")
	for _, text := range [][2]int{{8, 72}, {190, 813}} {
		for i := text[0]; i < text[1]; i++ {
			v[i] = ' '
		}
	}
	both32(v[80:], at)
	both16(v[120:], 1)
	both16(v[124:], 1)
	both16(v[128:], sector)
	both32(v[132:], pathTableSize)
	binary.LittleEndian.PutUint32(v[140:], pathTable)
	binary.BigEndian.PutUint32(v[148:], pathTableBig)
	copy(v[156:], record("\x00", root, sector, 2))
	v[881] = 1

	copy(image[bootRecord*sector:], "\x00CD001\x01EL TORITO SPECIFICATION")
	binary.LittleEndian.PutUint32(image[bootRecord*sector+71:], catalog)
	copy(image[terminator*sector:], "\xffCD001\x01")
	return image
}
