package main

import (
	"crypto/hmac"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/binary"
	"slices"
)

// macKeys are the keys of version 4's blocks, each of which has its own.
type macKeys [sha512.Size]byte

const headerIndex = 1<<64 - 1 // in place of a block's

func (h *header) macKeys(transformed []byte) macKeys {
	return sha512.Sum512(slices.Concat(h.fields[fieldSeed], transformed, []byte{1}))
}

func (k macKeys) sum(index uint64, message ...[]byte) []byte {
	key := sha512.Sum512(append(binary.LittleEndian.AppendUint64(nil, index), k[:]...))
	mac := hmac.New(sha256.New, key[:])
	for _, m := range message {
		mac.Write(m)
	}
	return mac.Sum(nil)
}

// readBlocks joins the blocks of version 4: an HMAC, a length, data. The last one is empty.
func (k macKeys) readBlocks(data []byte) (joined []byte, err error) {
	const start = sha256.Size + 4
	for index := uint64(0); ; index++ {
		if len(data) < start {
			return nil, errCut
		}
		mac, length := data[:sha256.Size], data[sha256.Size:start]
		n := uint64(binary.LittleEndian.Uint32(length))
		if data = data[start:]; n > uint64(len(data)) {
			return nil, errCut
		}
		if !hmac.Equal(mac, k.sum(index, binary.LittleEndian.AppendUint64(nil, index), length, data[:n])) {
			return nil, errChanged
		}
		if n == 0 {
			return joined, nil
		}
		joined, data = append(joined, data[:n]...), data[n:]
	}
}

// appendBlocks is the inverse.
func (k macKeys) appendBlocks(b, data []byte) []byte {
	const blockSize = 1 << 20
	for index := uint64(0); ; index++ {
		block := data[:min(blockSize, len(data))]
		length := binary.LittleEndian.AppendUint32(nil, uint32(len(block)))
		b = append(b, k.sum(index, binary.LittleEndian.AppendUint64(nil, index), length, block)...)
		b = append(append(b, length...), block...)
		if data = data[len(block):]; len(block) == 0 {
			return b
		}
	}
}

// readHashed joins the blocks of version 3: a number, a hash, a length, data. The last one is empty, its hash zero.
func readHashed(data []byte) (joined []byte, err error) {
	const start = 4 + sha256.Size + 4
	for index := uint32(0); ; index++ {
		if len(data) < start {
			return nil, errCut
		}
		number, n := binary.LittleEndian.Uint32(data), uint64(binary.LittleEndian.Uint32(data[4+sha256.Size:]))
		hash := [sha256.Size]byte(data[4:])
		if data = data[start:]; n > uint64(len(data)) {
			return nil, errCut
		}
		var want [sha256.Size]byte
		if n > 0 {
			want = sha256.Sum256(data[:n])
		}
		if number != index || hash != want {
			return nil, errChanged
		}
		if n == 0 {
			return joined, nil
		}
		joined, data = append(joined, data[:n]...), data[n:]
	}
}
