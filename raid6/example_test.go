package raid6_test

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/twogather/twogather/raid6"
)

// array returns four data disks, P and Q.
func array() [][]byte {
	disks := [][]byte{[]byte("the quick "), []byte("brown fox "), []byte("jumps over"), []byte(" the dog. "), make([]byte, 10), make([]byte, 10)}
	if err := raid6.GenSyndrome(disks[:4], disks[4], disks[5]); err != nil {
		panic(err)
	}
	return disks
}

// Two disks fail: their chunks are computed from the others.
func ExampleRecover() {
	disks := array()
	clear(disks[1])
	clear(disks[2])
	if err := raid6.Recover(disks, 1, 2); err != nil {
		panic(err)
	}
	fmt.Printf("%s\n", bytes.Join(disks[:4], nil))
	// Output: the quick brown fox jumps over the dog.
}

// One disk is written to: P and Q follow from what changes, without the other disks.
func ExampleXorSyndrome() {
	disks := array()
	delta := bytes.Clone(disks[3])
	copy(disks[3], " the cat. ")
	for i, b := range disks[3] {
		delta[i] ^= b
	}
	if err := raid6.XorSyndrome([][]byte{3: delta}, 3, 4, disks[4], disks[5]); err != nil {
		panic(err)
	}
	fmt.Println(raid6.Verify(disks))
	// Output: true <nil>
}

// A disk answers with other bytes than were written to it: P and Q tell which one.
func ExampleLocate() {
	disks := array()
	disks[2][4] = 'y'
	z, err := raid6.Locate(disks)
	if errors.Is(err, raid6.ErrSeveral) {
		panic("beyond repair")
	}
	fmt.Println("disk", z)
	if err := raid6.Recover(disks, z); err != nil {
		panic(err)
	}
	fmt.Printf("%s\n", disks[2])
	// Output:
	// disk 2
	// jumps over
}

// The kernel that is fastest for 8 disks and chunks of 4 KiB is measured, once, and used from then on.
func ExampleTune() {
	code, err := raid6.Tune(8, 4096)
	if err != nil {
		panic(err)
	}
	disks := array()
	clear(disks[4])
	fmt.Println(code.RecoverParity(disks[:5], 4))
	// Output: <nil>
}
