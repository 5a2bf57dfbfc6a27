package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"

	"github.com/twogather/twogather/erasure"
)

// # The format of a shard file
//
// A shard file is a header and after it the shard, nothing else. Numbers are unsigned and little-endian.
//
//	offset    bytes     contents
//	0         8         magic: 93 53 48 41 52 44 0D 0A ("\x93SHARD\r\n")
//	8         2         version of the format: 1
//	10        2         number of this shard, from 0: data shards first, then parity shards
//	12        4         H, the length of the header
//	16        32        identifier of the set: SHA-256 of bytes 48 to H-33
//	48        2         k, the number of data shards: at least 1
//	50        2         p, the number of parity shards: at least 1; k+p is at most 256
//	52        4         U, the most bytes of a shard in a stripe: 1 to 1,048,576
//	56        8         F, the size of the file: at most 2^62
//	64        8         S, the size of each shard
//	72        32        matrix, a name of package erasure's, then zeros: backblaze, cauchy-normalised or isa-l-cauchy1
//	104       2         permissions of the file: the nine bits rwxrwxrwx
//	106       2         N, the length of the file's name: 1 to 1,024
//	108       N         name of the file, without directories
//	108+N     32(k+p)   SHA-256 of each shard
//	H-32      32        SHA-256 of bytes 0 to H-33
//	H         S         the shard
//
// So H = 140+N+32(k+p). In every version of the format the first 16 bytes and the last 32 of the header are what they are
// here: a damaged header cannot pass for one of another version. The name is not ".", not ".." and has no slash and no
// zero byte.
//
// The file is cut into stripes of k·U bytes; the last one may be shorter, and an empty file has none. Each stripe adds to
// each shard as many bytes: a stripe of B bytes adds u = ⌈B/k⌉, of which data shard i gets bytes i·u to (i+1)·u-1 of the
// stripe, or zeros where it has ended. Parity is what package erasure makes of them with the matrix. Adding up the stripes
// gives S.
//
// All of the header from byte 48 on, but for its checksum, is the same in each shard file of a set, and follows from the
// file and the options: encoding it again gives the same shard files.
const (
	magic       = "\x93SHARD\r\n"
	version     = 1
	commonStart = 48
	fixedSize   = 108
	maxName     = 1024
	maxShards   = 256
	maxUnit     = 1 << 20
	maxSize     = 1 << 62
	matrixSize  = 32
	minHeader   = fixedSize + sha256.Size
	maxHeader   = fixedSize + maxName + maxShards*sha256.Size + sha256.Size
)

// matrices are those that a set may be made with: any k shards give back the others.
var matrices = []erasure.Matrix{erasure.NormalisedCauchy, erasure.Backblaze, erasure.ISALCauchy}

type sum = [sha256.Size]byte

// A set is what the shard files of a file have in common.
type set struct {
	data, parity int
	unit         int   // the most bytes of a shard in a stripe
	size         int64 // of the file
	matrix       erasure.Matrix
	mode         fs.FileMode
	name         string
	sums         []sum // of each shard
}

func (s *set) shards() int { return s.data + s.parity }

func (s *set) headerSize() int {
	return fixedSize + len(s.name) + s.shards()*sha256.Size + sha256.Size
}

// shardSize returns how long each shard is, without its header.
func (s *set) shardSize() int64 {
	stripe := int64(s.data) * int64(s.unit)
	return s.size/stripe*int64(s.unit) + (s.size%stripe+int64(s.data)-1)/int64(s.data)
}

// stripes calls f for each stripe: it is bytes of the file, and each bytes of each shard.
func (s *set) stripes(f func(bytes, each int) error) error {
	for left := s.size; left > 0; {
		bytes := int(min(left, int64(s.data)*int64(s.unit)))
		if err := f(bytes, (bytes+s.data-1)/s.data); err != nil {
			return err
		}
		left -= int64(bytes)
	}
	return nil
}

// common returns the part of the header that is the same in each file.
func (s *set) common() []byte {
	le := binary.LittleEndian
	b := make([]byte, 0, s.headerSize())
	b = le.AppendUint16(b, uint16(s.data))
	b = le.AppendUint16(b, uint16(s.parity))
	b = le.AppendUint32(b, uint32(s.unit))
	b = le.AppendUint64(b, uint64(s.size))
	b = le.AppendUint64(b, uint64(s.shardSize()))
	b = append(b, s.matrix...)
	b = append(b, make([]byte, matrixSize-len(s.matrix))...)
	b = le.AppendUint16(b, uint16(s.mode.Perm()))
	b = le.AppendUint16(b, uint16(len(s.name)))
	b = append(b, s.name...)
	for _, sum := range s.sums {
		b = append(b, sum[:]...)
	}
	return b
}

// id identifies the set.
func (s *set) id() sum { return sha256.Sum256(s.common()) }

// header returns the header of a shard file.
func (s *set) header(index int) []byte {
	le := binary.LittleEndian
	common := s.common()
	id := sha256.Sum256(common)
	b := make([]byte, 0, s.headerSize())
	b = append(b, magic...)
	b = le.AppendUint16(b, version)
	b = le.AppendUint16(b, uint16(index))
	b = le.AppendUint32(b, uint32(s.headerSize()))
	b = append(b, id[:]...)
	b = append(b, common...)
	check := sha256.Sum256(b)
	return append(b, check[:]...)
}

// What a header may be instead of one: each error wraps one of these.
var (
	errHeader  = errors.New("damaged header")
	errVersion = errors.New("another version of the format")
)

// readHeader reads a header, and not more. Errors of r itself are returned as they are.
func readHeader(r io.Reader) (s *set, index int, err error) {
	le := binary.LittleEndian
	b := make([]byte, maxHeader)
	if err := readFull(r, b[:16]); err != nil {
		return nil, 0, err
	}
	if string(b[:8]) != magic {
		return nil, 0, fmt.Errorf("%w: it does not begin as one", errHeader)
	}
	size := int64(le.Uint32(b[12:]))
	if size < minHeader || size > maxHeader {
		return nil, 0, fmt.Errorf("%w: it would be %d bytes long", errHeader, size)
	}
	b = b[:size]
	if err := readFull(r, b[16:]); err != nil {
		return nil, 0, err
	}
	body, check := b[:size-sha256.Size], b[size-sha256.Size:]
	if sha256.Sum256(body) != sum(check) {
		return nil, 0, fmt.Errorf("%w: its checksum is wrong", errHeader)
	}
	if v := le.Uint16(b[8:]); v != version {
		return nil, 0, fmt.Errorf("%w: %d; this program knows %d", errVersion, v, version)
	}
	s, index, err = parse(body)
	if err != nil {
		return nil, 0, fmt.Errorf("%w: %v", errHeader, err)
	}
	return s, index, nil
}

// readFull calls an early end a damaged header.
func readFull(r io.Reader, b []byte) error {
	_, err := io.ReadFull(r, b)
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		return fmt.Errorf("%w: the file ends in it", errHeader)
	}
	return err
}

// parse reads what a header with the right checksum says, which somebody may have made up. body is the header without its
// checksum. What it accepts, header writes.
func parse(body []byte) (s *set, index int, err error) {
	if len(body) < fixedSize {
		return nil, 0, errors.New("it is too short")
	}
	le := binary.LittleEndian
	common := body[commonStart:]
	if sha256.Sum256(common) != sum(body[16:]) {
		return nil, 0, errors.New("the identifier is wrong")
	}
	index = int(le.Uint16(body[10:]))
	size, shardSize := le.Uint64(body[56:]), le.Uint64(body[64:])
	name := body[fixedSize:]
	s = &set{
		data:   int(le.Uint16(body[48:])),
		parity: int(le.Uint16(body[50:])),
		unit:   int(le.Uint32(body[52:])),
		size:   int64(size),
		matrix: erasure.Matrix(bytes.TrimRight(body[72:][:matrixSize], "\x00")),
		mode:   fs.FileMode(le.Uint16(body[104:])),
		name:   string(name[:min(len(name), int(le.Uint16(body[106:])))]),
	}
	switch {
	case s.data < 1 || s.parity < 1 || s.shards() > maxShards:
		return nil, 0, fmt.Errorf("%d data and %d parity shards", s.data, s.parity)
	case index >= s.shards():
		return nil, 0, fmt.Errorf("shard %d of %d", index, s.shards())
	case s.unit < 1 || s.unit > maxUnit:
		return nil, 0, fmt.Errorf("%d bytes in a stripe", s.unit)
	case size > maxSize:
		return nil, 0, fmt.Errorf("a file of %d bytes", size)
	case int64(shardSize) != s.shardSize():
		return nil, 0, fmt.Errorf("shards of %d bytes, where %d follow from the file's size", shardSize, s.shardSize())
	case !slices.Contains(matrices, s.matrix):
		return nil, 0, fmt.Errorf("unknown matrix %q", s.matrix)
	case s.mode != s.mode.Perm():
		return nil, 0, fmt.Errorf("permissions %o", uint32(s.mode))
	case len(body)+sha256.Size != s.headerSize():
		return nil, 0, fmt.Errorf("it is %d bytes long instead of %d", len(body)+sha256.Size, s.headerSize())
	case !validName(s.name):
		return nil, 0, fmt.Errorf("name %q", s.name)
	}
	for sums := range slices.Chunk(body[fixedSize+len(s.name):], sha256.Size) {
		s.sums = append(s.sums, sum(sums))
	}
	return s, index, nil
}

// validName reports whether a name has one part only, which is not a directory's.
func validName(name string) bool {
	return name != "" && len(name) <= maxName && name != "." && name != ".." && !strings.ContainsAny(name, "/\x00")
}
