package main

import (
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/twogather/twogather/modes"
	"github.com/twogather/twogather/twofish"
)

// A disk is where the encrypted sectors are: a file, a device.
type disk interface {
	io.ReaderAt
	io.WriterAt
}

// A volume is the plaintext of a disk's sectors, to be read and written anywhere. Sector i has the number i as its tweak.
type volume struct {
	disk        disk
	xts         *modes.XTS
	sectorSize  int64
	start, size int64      // where sector 0 is on the disk, and the bytes of all sectors
	parts       sync.Mutex // held while part of a sector is written
}

// newVolume takes size bytes of disk for its volume, or a little less: whole sectors. key is two keys for Twofish.
func newVolume(d disk, key []byte, sectorSize, start, size int64) (*volume, error) {
	if sectorSize < 512 || sectorSize > 4096 || sectorSize&(sectorSize-1) != 0 {
		return nil, fmt.Errorf("sectors of %d bytes", sectorSize)
	}
	if size < 0 {
		return nil, fmt.Errorf("the disk ends %d bytes before its sectors begin", -size)
	}
	x, err := modes.NewXTSCipher(twofish.New, key)
	if err != nil {
		return nil, err
	}
	return &volume{disk: d, xts: x, sectorSize: sectorSize, start: start, size: size - size%sectorSize}, nil
}

// ReadAt implements io.ReaderAt.
func (v *volume) ReadAt(p []byte, offset int64) (n int, err error) {
	if offset < 0 {
		return 0, errors.New("negative offset")
	}
	rest := p[:max(0, min(int64(len(p)), v.size-offset))]
	for len(rest) > 0 {
		part := v.firstPart(rest, offset)
		if int64(len(part))%v.sectorSize == 0 {
			err = v.readSectors(part, offset)
		} else {
			var sector []byte
			sector, err = v.readSector(offset)
			copy(part, sector[offset%v.sectorSize:])
		}
		if err != nil {
			return n, err
		}
		n, rest, offset = n+len(part), rest[len(part):], offset+int64(len(part))
	}
	if n < len(p) {
		err = io.EOF
	}
	return n, err
}

// WriteAt implements io.WriterAt. What does not fit is not written, not even in part.
func (v *volume) WriteAt(p []byte, offset int64) (n int, err error) {
	if offset < 0 || int64(len(p)) > v.size-offset {
		return 0, fmt.Errorf("%d bytes at %d do not fit in %d", len(p), offset, v.size)
	}
	for n < len(p) {
		part := v.firstPart(p[n:], offset)
		if int64(len(part))%v.sectorSize == 0 {
			err = v.writeSectors(part, offset)
		} else {
			err = v.writePart(part, offset)
		}
		if err != nil {
			return n, err
		}
		n, offset = n+len(part), offset+int64(len(part))
	}
	return n, nil
}

// firstPart returns the beginning of p, which is not empty and at offset in the volume: whole sectors, as many as there are,
// or what lies in one sector that p has only a part of.
func (v *volume) firstPart(p []byte, offset int64) []byte {
	n := int64(len(p))
	if inside := offset % v.sectorSize; inside > 0 || n < v.sectorSize {
		return p[:min(n, v.sectorSize-inside)]
	}
	return p[:n-n%v.sectorSize]
}

func (v *volume) readSectors(p []byte, offset int64) error {
	if n, err := v.disk.ReadAt(p, v.start+offset); n < len(p) {
		if err == io.EOF {
			err = io.ErrUnexpectedEOF // The volume does not end here.
		}
		return err
	}
	v.xts.DecryptSectors(p, p, int(v.sectorSize), uint64(offset/v.sectorSize))
	return nil
}

// readSector returns the sector that offset is in.
func (v *volume) readSector(offset int64) ([]byte, error) {
	sector := make([]byte, v.sectorSize)
	return sector, v.readSectors(sector, offset-offset%v.sectorSize)
}

func (v *volume) writeSectors(p []byte, offset int64) error {
	encrypted := make([]byte, len(p)) // A Writer leaves p as it is.
	v.xts.EncryptSectors(encrypted, p, int(v.sectorSize), uint64(offset/v.sectorSize))
	_, err := v.disk.WriteAt(encrypted, v.start+offset)
	return err
}

// writePart writes a part of a sector. Another part of it may be written at the same time.
func (v *volume) writePart(p []byte, offset int64) error {
	v.parts.Lock()
	defer v.parts.Unlock()
	sector, err := v.readSector(offset)
	if err != nil {
		return err
	}
	copy(sector[offset%v.sectorSize:], p)
	return v.writeSectors(sector, offset-offset%v.sectorSize)
}
