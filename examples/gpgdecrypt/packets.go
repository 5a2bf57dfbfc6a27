package main

import (
	"bytes"
	"compress/bzip2"
	"compress/flate"
	"compress/zlib"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// Packets' tags: RFC 9580, section 5.
const (
	tagPublicKey    = 1 // the session key, encrypted with a public key
	tagSessionKey   = 3 // the same with a passphrase
	tagCompressed   = 8
	tagUnprotected  = 9
	tagMarker       = 10
	tagLiteral      = 11
	tagEncrypted    = 18 // with integrity protection
	tagEncryptedOCB = 20 // GnuPG's own
)

var errCut = errors.New("the message is cut short")

// nextPacket cuts a packet off the front of data: RFC 9580, section 4.2.
func nextPacket(data []byte) (tag byte, body, rest []byte, err error) {
	if bytes.HasPrefix(data, []byte("-----BEGIN PGP")) {
		return 0, nil, nil, errors.New("ASCII armor, which gpg --dearmor takes off")
	}
	if len(data) == 0 {
		return 0, nil, nil, errCut
	}
	header, data := data[0], data[1:]
	switch header >> 6 {
	case 0b10: // the old kind
		tag = header >> 2 & 15
		if header&3 == 3 {
			return tag, data, nil, nil // all that there is
		}
		size := 1 << (header & 3)
		if len(data) < size {
			return 0, nil, nil, errCut
		}
		var length uint64
		for _, b := range data[:size] {
			length = length<<8 | uint64(b)
		}
		body, rest, err = cut(data[size:], length)
	case 0b11:
		tag = header & 63
		body, rest, err = newBody(data)
	default:
		err = errors.New("not an OpenPGP message")
	}
	return tag, body, rest, err
}

// newBody cuts off the body of a packet of the new kind, which has its length in front of it, or comes in parts.
func newBody(data []byte) (body, rest []byte, err error) {
	for more := true; more; {
		if len(data) == 0 {
			return nil, nil, errCut
		}
		var length uint64
		first, size := uint64(data[0]), 1
		switch more = false; {
		case first < 192:
			length = first
		case first < 224:
			if size = 2; len(data) < size {
				return nil, nil, errCut
			}
			length = (first-192)<<8 + uint64(data[1]) + 192
		case first == 255:
			if size = 5; len(data) < size {
				return nil, nil, errCut
			}
			length = uint64(binary.BigEndian.Uint32(data[1:]))
		default: // a part, with another behind it
			length, more = 1<<(first&31), true
		}
		var part []byte
		if part, data, err = cut(data[size:], length); err != nil {
			return nil, nil, err
		}
		if body == nil && !more {
			return part, data, nil // in one part, so there is no need for a copy
		}
		body = append(body, part...)
	}
	return body, data, nil
}

func cut(data []byte, n uint64) (front, rest []byte, err error) {
	if n > uint64(len(data)) {
		return nil, nil, errCut
	}
	return data[:n:n], data[n:], nil
}

// literal returns the data in decrypted packets: in a literal packet, perhaps inside a compressed one.
func literal(packets []byte) ([]byte, error) {
	for range 8 { // Compression of what is compressed is allowed, and has to end.
		tag, body, _, err := nextPacket(packets)
		if err != nil {
			return nil, err
		}
		switch tag {
		case tagCompressed:
			if packets, err = decompress(body); err != nil {
				return nil, err
			}
		case tagLiteral: // a letter for the format, the file's name behind its length, a time
			if len(body) < 2 || len(body) < 2+int(body[1])+4 {
				return nil, errCut
			}
			return body[2+int(body[1])+4:], nil
		default:
			return nil, fmt.Errorf("a packet with tag %d inside; signed messages are not supported", tag)
		}
	}
	return nil, errors.New("too many layers of compression")
}

// decompress returns what a compressed packet holds: RFC 9580, section 5.6.
func decompress(body []byte) (data []byte, err error) {
	if len(body) == 0 {
		return nil, errCut
	}
	algorithm, compressed := body[0], bytes.NewReader(body[1:])
	var r io.Reader = compressed
	switch algorithm {
	case 0:
	case 1:
		r = flate.NewReader(compressed)
	case 2:
		r, err = zlib.NewReader(compressed)
	case 3:
		r = bzip2.NewReader(compressed)
	default:
		err = errors.New("unknown algorithm")
	}
	if err == nil {
		data, err = io.ReadAll(r)
	}
	if err != nil {
		return nil, fmt.Errorf("compression %d: %w", algorithm, err)
	}
	return data, nil
}
