//go:build linux && (amd64 || arm64)

package modes_test

import (
	"crypto/aes"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/twogather/twogather/internal/testkit"
	"github.com/twogather/twogather/modes"
)

// TestGCMTooLong has messages of more than 2³²-2 blocks, in addresses that nothing may touch.
func TestGCMTooLong(t *testing.T) {
	const most = (1<<32 - 2) * 16
	memory, err := unix.Mmap(-1, 0, most+17, unix.PROT_NONE, unix.MAP_ANON|unix.MAP_PRIVATE|unix.MAP_NORESERVE)
	if err != nil {
		t.Skip("no room for 64 GiB of addresses: ", err)
	}
	defer unix.Munmap(memory)
	x := must(modes.NewGCM(must(aes.NewCipher(make([]byte, 16))), 12, 16))
	nonce := make([]byte, 12)
	testkit.MustPanic(t, "crypto/cipher: message too large for GCM", func() { x.Seal(nil, nonce, memory[:most+1], nil) })
	if got, err := x.Open(nil, nonce, memory, nil); got != nil || err == nil || err.Error() != "cipher: message authentication failed" {
		t.Errorf("a ciphertext that is too long: %d bytes, %v", len(got), err)
	}
	// The longest that is allowed is refused for another reason: the tag would be where the message is.
	testkit.MustPanic(t, "crypto/cipher: invalid buffer overlap of output and input", func() { x.Seal(memory[1:1], nonce, memory[:most], nil) })
}
