//go:build !purego

package hwfeatures

import "syscall"

// gatherDataSampling returns what Linux says of the vulnerability and its mitigation, or "" where it says nothing, as old
// kernels do. It reads by system calls: os.ReadFile would add 80 KB to programs that need it for nothing else.
func gatherDataSampling() string {
	fd, err := syscall.Open("/sys/devices/system/cpu/vulnerabilities/gather_data_sampling", syscall.O_RDONLY|syscall.O_CLOEXEC, 0)
	if err != nil {
		return ""
	}
	defer syscall.Close(fd)
	var b [256]byte
	n, err := syscall.Read(fd, b[:])
	if err != nil {
		return ""
	}
	return string(b[:n])
}
