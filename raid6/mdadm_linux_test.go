package raid6

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/twogather/twogather/hwfeatures"
)

// TestMdadm exchanges arrays with Linux's md, which mdadm makes on RAM disks: each side checks, and computes, what the other
// wrote. It overwrites /dev/ram0 to /dev/ram15 and /dev/md0, so it wants to be asked for. make emulate-md does, in a machine
// that is there for it.
func TestMdadm(t *testing.T) {
	if os.Getenv("TWOGATHER_TEST_MDADM") != "1" {
		t.Skip("TWOGATHER_TEST_MDADM is not 1")
	}
	disk := 0
	for _, tt := range []struct {
		disks, chunk, stripes int
		metadata              string // its version says where on the disks it lies
	}{{6, 4 << 10, 24, "1.2"}, {6, 64 << 10, 6, "1.0"}, {4, 16 << 10, 8, "1.1"}} {
		name := fmt.Sprintf("%d disks, chunks of %d KiB, metadata %s", tt.disks, tt.chunk>>10, tt.metadata)
		var devices []string
		for range tt.disks {
			devices = append(devices, fmt.Sprint("/dev/ram", disk))
			disk++
		}
		ok := t.Run(name, func(t *testing.T) {
			testMdadm(t, devices, tt.chunk, tt.stripes, tt.metadata)
		})
		if !ok {
			return // its array may still be there
		}
	}
}

func testMdadm(t *testing.T, devices []string, chunk, stripes int, metadata string) {
	n := len(devices)
	length := stripes * chunk // of each disk
	r := rand.NewChaCha8([32]byte{byte(n), byte(chunk >> 10)})

	// md computes P and Q of what lies on the disks, of stripes that are written whole, and of some that are written in part.
	noise := make([]byte, 1<<20+length) // the data begins within the first MiB
	for _, d := range devices {
		r.Read(noise)
		writeDevice(t, d, 0, noise)
	}
	mdadm(t, append([]string{"--create", md, "--run", "--level=6", fmt.Sprint("--raid-devices=", n), fmt.Sprintf("--chunk=%dK", chunk>>10),
		"--metadata=" + metadata, fmt.Sprintf("--size=%dK", length>>10)}, devices...)...)
	settle(t)
	content := readDevice(t, md, 0, (n-2)*length)
	whole := content[:len(content)*3/4]
	r.Read(whole)
	writeDevice(t, md, 0, whole)
	for range 50 {
		at := int(r.Uint64() % uint64(len(content)-700))
		part := content[at : at+700]
		r.Read(part)
		writeDevice(t, md, at, part)
	}
	mdadm(t, "--stop", md)

	a := findArray(t, devices)
	if a.chunk != chunk || len(a.disks[0]) != length {
		t.Fatalf("the superblock says chunks of %d bytes, and %d bytes of each disk", a.chunk, len(a.disks[0]))
	}
	if at := slices.Max(a.offsets); at+length > len(noise) {
		t.Fatalf("the data begins at %d, behind the noise", at)
	}
	var usable []Code
	for k := range kernels.Usable(hwfeatures.Detected()) {
		usable = append(usable, withKernel(k))
	}
	for s := range stripes {
		chunks, _ := a.stripe(s)
		for _, c := range usable {
			if ok, err := c.Verify(chunks); !ok || err != nil {
				t.Fatalf("stripe %d: %s's Verify says %v, %v", s, c.Kernel(), ok, err)
			}
		}
	}
	if !bytes.Equal(a.content(), content) {
		t.Fatal("what the stripes hold is not what was written")
	}

	// The package repairs what md wrote: a byte of each disk, then every one and every two disks.
	written := clone(a.disks)
	for d := range n {
		s := d * (stripes - 1) / (n - 1)
		a.disks[d][s*chunk+100*d] ^= 1
		chunks, on := a.stripe(s)
		z, err := Locate(chunks)
		if err != nil || z < 0 || on[z] != d {
			t.Fatalf("stripe %d, a byte of disk %d: Locate says %d, %v", s, d, z, err)
		}
		must(t, Recover(chunks, z))
	}
	compareDisks(t, "located and recovered", a.disks, written)
	for i, lost := range pairs(n) {
		a.rebuild(t, lost, func(s int) Code { return usable[(s+i)%len(usable)] })
		compareDisks(t, fmt.Sprint("rebuilt ", lost), a.disks, written)
	}

	// md reads what the package repaired, and finds nothing wrong; it would.
	a.disks[1][chunk/2] ^= 1
	a.write(t, 1)
	mdadm(t, append([]string{"--assemble", md}, devices...)...)
	if mismatches(t) == "0" {
		t.Error("md does not see a wrong byte")
	}
	mdadm(t, "--stop", md)
	lost := []int{1, n - 1}
	for _, d := range lost {
		spoil(a.disks[d])
		a.write(t, d)
	}
	a = findArray(t, devices)
	a.rebuild(t, lost, func(int) Code { return Code{} })
	for _, d := range lost {
		a.write(t, d)
	}
	mdadm(t, append([]string{"--assemble", md}, devices...)...)
	if m := mismatches(t); m != "0" {
		t.Error("what the package repaired has, in md's eyes, mismatches:", m)
	}
	if !bytes.Equal(readDevice(t, md, 0, len(content)), content) {
		t.Error("what md reads is not what was repaired")
	}
	mdadm(t, "--stop", md)

	// What the package writes, md computes where two disks are not there. As P and Q move from disk to disk, any two of data,
	// P and Q are on disk 0 and one of the others.
	r.Read(content)
	for s := range stripes {
		chunks, _ := a.stripe(s)
		for z := range n - 2 {
			copy(chunks[z], content[(s*(n-2)+z)*chunk:])
		}
		must(t, GenSyndrome(chunks[:n-2], chunks[n-2], chunks[n-1]))
	}
	for d := range n {
		a.write(t, d)
	}
	for other := 1; other < n; other++ {
		left := slices.Delete(slices.Clone(a.devices), other, other+1)[1:]
		mdadm(t, append([]string{"--assemble", "--run", "--readonly", md}, left...)...)
		if !bytes.Equal(readDevice(t, md, 0, len(content)), content) {
			t.Errorf("without disks 0 and %d, md does not read what the package wrote", other)
		}
		mdadm(t, "--stop", md)
	}
	t.Logf("%d stripes checked by %d kernels, %d losses repaired by the package and %d by md", stripes, len(usable), len(pairs(n)), n-1)
}

// An mdArray is what the disks of a stopped array hold.
type mdArray struct {
	image
	devices []string // in the order of their roles, as image's disks
	offsets []int    // where on each its data begins
}

// findArray reads an array as its disks' superblocks describe it. Their format is that of the kernel's struct
// mdp_superblock_1.
func findArray(t *testing.T, devices []string) *mdArray {
	n := len(devices)
	a := &mdArray{image{make([][]byte, n), 0}, make([]string, n), make([]int, n)}
	for _, name := range devices {
		// Version 1.0 lies 8 to 12 KiB before the end of the disk, 1.1 at the beginning, 1.2 4 KiB behind it.
		const size = 16 << 20 // of a RAM disk
		var sb []byte
		for _, at := range []int{size - 8<<10, 0, 4 << 10} {
			if b := readDevice(t, name, at, 4<<10); binary.LittleEndian.Uint32(b) == 0xa92b4efc {
				sb = b
			}
		}
		if sb == nil {
			t.Fatalf("%s has no superblock", name)
		}
		word := func(at int) int { return int(binary.LittleEndian.Uint32(sb[at:])) }
		level, layout, disks := word(72), word(76), word(92)
		if level != 6 || layout != 2 || disks != n {
			t.Fatalf("%s: level %d, layout %d, of %d disks; want 6, 2 (left-symmetric), %d", name, level, layout, disks, n)
		}
		const sector = 512
		role := int(binary.LittleEndian.Uint16(sb[256+2*word(160):]))
		if role >= n || a.disks[role] != nil {
			t.Fatalf("%s has the role %d", name, role)
		}
		a.chunk = word(88) * sector
		a.devices[role] = name
		a.offsets[role] = word(128) * sector
		a.disks[role] = readDevice(t, name, a.offsets[role], word(80)*sector)
	}
	return a
}

// write writes the data of one disk.
func (a *mdArray) write(t *testing.T, d int) {
	writeDevice(t, a.devices[d], a.offsets[d], a.disks[d])
}

// rebuild computes lost disks, each stripe with a code of its own.
func (a *mdArray) rebuild(t *testing.T, lost []int, code func(s int) Code) {
	for _, d := range lost {
		spoil(a.disks[d])
	}
	for s := range len(a.disks[0]) / a.chunk {
		chunks, on := a.stripe(s)
		var failed []int
		for _, d := range lost {
			failed = append(failed, slices.Index(on, d))
		}
		must(t, code(s).Recover(chunks, failed...))
	}
}

// content is what the array's reader sees.
func (a *mdArray) content() (b []byte) {
	for s := range len(a.disks[0]) / a.chunk {
		chunks, _ := a.stripe(s)
		b = append(b, slices.Concat(chunks[:len(chunks)-2]...)...)
	}
	return b
}

const md = "/dev/md0"

func mdadm(t *testing.T, args ...string) {
	t.Helper()
	if out, err := exec.Command("mdadm", args...).CombinedOutput(); err != nil {
		t.Fatalf("mdadm %s: %v\n%s", strings.Join(args, " "), err, out)
	}
}

// settle waits until md has computed P and Q of a new array, or has checked those of an old one.
func settle(t *testing.T) {
	t.Helper()
	for start := time.Now(); setting(t, "resync_start") != "none" || setting(t, "sync_action") != "idle"; {
		if time.Since(start) > time.Minute {
			t.Fatal("md goes on and on")
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// mismatches has md check the array, and returns how many sectors it finds to be wrong.
func mismatches(t *testing.T) string {
	t.Helper()
	must(t, os.WriteFile("/sys/block/md0/md/sync_action", []byte("check"), 0))
	settle(t)
	if action := setting(t, "last_sync_action"); action != "check" {
		t.Fatalf("md's last action was %s", action)
	}
	return setting(t, "mismatch_cnt")
}

func setting(t *testing.T, name string) string {
	t.Helper()
	b, err := os.ReadFile("/sys/block/md0/md/" + name)
	must(t, err)
	return strings.TrimSpace(string(b))
}

func readDevice(t *testing.T, name string, at, length int) []byte {
	t.Helper()
	f, err := os.Open(name)
	must(t, err)
	defer f.Close()
	b := make([]byte, length)
	_, err = f.ReadAt(b, int64(at))
	must(t, err)
	return b
}

func writeDevice(t *testing.T, name string, at int, b []byte) {
	t.Helper()
	f, err := os.OpenFile(name, os.O_WRONLY, 0)
	must(t, err)
	defer f.Close()
	_, err = f.WriteAt(b, int64(at))
	must(t, err)
	must(t, f.Sync())
}
