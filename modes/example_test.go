package modes_test

import (
	"fmt"

	"github.com/twogather/twogather/modes"
	"github.com/twogather/twogather/twofish"
)

// A mode has no use for a Block's name: crypto/aes and others work as well, only not many blocks at once.
func ExampleNewCBCEncrypter() {
	block, err := twofish.NewCipher([]byte("a key that has 32 bytes, like so"))
	if err != nil {
		panic(err)
	}
	iv := []byte("initialisation !") // random in real life, and stored before the ciphertext
	buf := []byte("sixteen bytes, and once more 16.")

	modes.NewCBCEncrypter(block, iv).CryptBlocks(buf, buf)
	modes.NewCBCDecrypter(block, iv).CryptBlocks(buf, buf)
	fmt.Printf("%s\n", buf)
	// Output: sixteen bytes, and once more 16.
}

// Password Safe wraps its keys block by block.
func ExampleNewECBDecrypter() {
	block, err := twofish.NewCipher([]byte("a key that has 32 bytes, like so"))
	if err != nil {
		panic(err)
	}
	keys := []byte("these are 64 bytes for two keys, which a password safe has wrapt")
	modes.NewECBEncrypter(block).CryptBlocks(keys, keys)

	modes.NewECBDecrypter(block).CryptBlocks(keys, keys)
	fmt.Printf("%s\n", keys[:32])
	// Output: these are 64 bytes for two keys,
}

// A disk: any sector can be read and written by itself, and consecutive ones at once.
func ExampleXTS() {
	key := []byte("these are two keys of 32 bytes: one for data, one for tweaks ...")
	x, err := modes.NewXTSCipher(twofish.New, key)
	if err != nil {
		panic(err)
	}
	const sectorSize = 512
	disk := make([]byte, 8*sectorSize)
	copy(disk[3*sectorSize:], "something on sector 3")
	x.EncryptSectors(disk, disk, sectorSize, 0)

	sector := disk[3*sectorSize : 4*sectorSize]
	x.Decrypt(sector, sector, 3)
	fmt.Printf("%s\n", sector[:21])
	// Output: something on sector 3
}

// In place, with the tag behind the ciphertext. The name of the file is authenticated and not stored.
func ExampleNewOCB() {
	block, err := twofish.NewCipher([]byte("a key that has 32 bytes, like so"))
	if err != nil {
		panic(err)
	}
	ocb, err := modes.NewOCB(block, 12, 16)
	if err != nil {
		panic(err)
	}
	nonce := []byte("used once...") // a counter in real life: never the same twice with one key
	name := []byte("diary.txt")

	buf := make([]byte, 0, 100)
	buf = append(buf, "Dear diary"...)
	buf = ocb.Seal(buf[:0], nonce, buf, name)

	if _, err := ocb.Open(nil, nonce, buf, []byte("letter.txt")); err != nil {
		fmt.Println(err)
	}
	buf, err = ocb.Open(buf[:0], nonce, buf, name)
	fmt.Printf("%s, %v\n", buf, err)
	// Output:
	// cipher: message authentication failed
	// Dear diary, <nil>
}

func ExampleNewCMAC() {
	block, err := twofish.NewCipher(make([]byte, 16))
	if err != nil {
		panic(err)
	}
	mac, err := modes.NewCMAC(block)
	if err != nil {
		panic(err)
	}
	fmt.Fprint(mac, "a message ")
	fmt.Fprint(mac, "in two parts")
	fmt.Printf("%x\n", mac.Sum(nil))
	// Output: 36374b667235396050778c354ab8a893
}

// Many messages take a fraction of the time that one after the other would.
func ExampleEncryptCBC() {
	block, err := twofish.NewCipher([]byte("a key that has 32 bytes, like so"))
	if err != nil {
		panic(err)
	}
	jobs := make([]modes.Job, 100)
	for i := range jobs {
		message := make([]byte, 16*(100-i))
		iv := make([]byte, 16) // random in real life
		jobs[i] = modes.Job{Dst: message, Src: message, IV: iv}
	}
	modes.EncryptCBC(block, jobs)

	modes.NewCBCDecrypter(block, jobs[7].IV).CryptBlocks(jobs[7].Dst, jobs[7].Dst)
	fmt.Println(jobs[7].Dst[:4])
	// Output: [0 0 0 0]
}
