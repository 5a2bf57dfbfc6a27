//go:build linux

package bochs

import (
	"fmt"
	"os"
	"path"
	"path/filepath"

	"github.com/twogather/twogather/emulate/internal/tools"
)

// arraysSet is guestSet for machines with arrays. Modules load only into the kernel that they come with.
var arraysSet = tools.Set{Name: "arrays-bookworm-1", Suite: "bookworm",
	Packages: append([]string{"mdadm", "libc6", "libudev1"}, guestSet.Packages...), Resolve: guestSet.Resolve}

// arraysModules are in the order in which they load: RAM disks, and RAID-6 behind what it is made of.
var arraysModules = []string{"drivers/block/brd", "lib/libcrc32c", "crypto/xor", "lib/raid6/raid6_pq", "crypto/async_tx/async_tx",
	"crypto/async_tx/async_memcpy", "crypto/async_tx/async_xor", "crypto/async_tx/async_pq", "crypto/async_tx/async_raid6_recov",
	"drivers/md/md-mod", "drivers/md/raid456"}

// arraysFiles returns what the guest has beside its init: mdadm with its libraries, and the modules, whose names are in order.
func arraysFiles(guest, release string) ([]file, error) {
	files := []file{{"sbin", directory, nil}, {"lib", directory, nil}, {"lib64", directory, nil}, {"modules", directory, nil}}
	from := [][2]string{
		{"sbin/mdadm", "sbin/mdadm"},
		{"lib64/ld-linux-x86-64.so.2", "lib/x86_64-linux-gnu/ld-linux-x86-64.so.2"},
		{"lib/libc.so.6", "lib/x86_64-linux-gnu/libc.so.6"},
		{"lib/libudev.so.1", "usr/lib/x86_64-linux-gnu/libudev.so.1"},
	}
	for i, m := range arraysModules {
		name := fmt.Sprintf("modules/%02d-%s.ko", i, path.Base(m))
		from = append(from, [2]string{name, path.Join("lib/modules", release, "kernel", m+".ko")})
	}
	for _, f := range from {
		b, err := os.ReadFile(filepath.Join(guest, f[1]))
		if err != nil {
			return nil, err
		}
		files = append(files, file{f[0], program, b})
	}
	return files, nil
}
