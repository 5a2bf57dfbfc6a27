//go:build linux

// Package bochs runs x86-64 Linux programs on processors that this machine is not: one start of the emulator Bochs with
// a small Linux runs several programs, one after the other.
package bochs

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/twogather/twogather/emulate/internal/tools"
)

// A Processor is one that Bochs can be.
type Processor struct {
	Name  string
	About string
	model string // Bochs' name
	// disable is what the kernel is told to do without. It then leaves the state of those registers off, while CPUID
	// goes on announcing them.
	disable string
}

// Processors are those that have a name of their own. Bochs knows more; any of its models' names will do.
var Processors = []Processor{
	{"avx512", "Ice Lake client: AVX-512 with VBMI and GFNI", "corei7_icelake_u", ""},
	{"avx512-off", "the same, but the operating system does not enable the AVX-512 registers that CPUID announces", "corei7_icelake_u", "avx512f"},
	{"gfni", "Arrow Lake: AVX2 and GFNI without AVX-512", "arrow_lake", ""},
	{"avx2", "Haswell: AVX2, no GFNI", "corei7_haswell_4770", ""},
}

// Find returns the processor of a name.
func Find(name string) Processor {
	for _, p := range Processors {
		if p.Name == name {
			return p
		}
	}
	return Processor{Name: name, About: "as Bochs has it", model: name}
}

// A Machine is what programs run on.
type Machine struct {
	Processor
	Megabytes int
	Arrays    bool      // mdadm, 16 RAM disks of 16 MiB, and what the kernel needs for RAID-6
	Verbose   io.Writer // if not nil, gets timings and the emulator's last words
}

// A Program is static, or carries in Files what it needs. Its folder holds copies of Files, whole trees where they are
// folders.
type Program struct {
	Binary    string
	Args, Env []string
	Files     []string
	Output    io.Writer // standard output and standard error
}

// NotRun is the exit status of a program that did not come to its end.
const NotRun = -1

var (
	emulatorSet = tools.Set{Name: "bochs-3.0-trixie-1", Suite: "trixie", Packages: []string{"bochs", "bochs-term", "bochsbios", "vgabios"}, Libraries: true}
	guestSet    = tools.Set{Name: "guest-bookworm-1", Suite: "bookworm", Packages: []string{"isolinux", "syslinux-common"},
		Resolve: []string{"linux-image-cloud-amd64"}, Drop: []string{"lib/modules"}}
)

// Prepare fills the cache folder with what machines without arrays need.
func Prepare(ctx context.Context) (emulator, guest string, err error) {
	return Machine{}.prepare(ctx)
}

func (m Machine) prepare(ctx context.Context) (emulator, guest string, err error) {
	if emulator, err = tools.Get(ctx, emulatorSet); err != nil {
		return "", "", err
	}
	set := guestSet
	if m.Arrays {
		set = arraysSet
	}
	guest, err = tools.Get(ctx, set)
	return emulator, guest, err
}

// Run starts the machine, runs the programs in turn, and returns their exit statuses. The error says why not all came to
// their end; where that is the context's, the machine was stopped.
func (m Machine) Run(ctx context.Context, programs []Program) ([]int, error) {
	start := time.Now()
	say := func(format string, args ...any) {
		if m.Verbose != nil {
			fmt.Fprintf(m.Verbose, "bochs %s: %5.1f s: %s\n", m.Name, time.Since(start).Seconds(), fmt.Sprintf(format, args...))
		}
	}
	statuses := make([]int, len(programs))
	for i := range statuses {
		statuses[i] = NotRun
	}
	emulator, guest, err := m.prepare(ctx)
	if err != nil {
		return statuses, err
	}
	dir, err := os.MkdirTemp("", "bochs-")
	if err != nil {
		return statuses, err
	}
	defer os.RemoveAll(dir)
	image, err := m.image(ctx, dir, guest, programs)
	if err != nil {
		return statuses, err
	}
	if err := os.WriteFile(filepath.Join(dir, "boot.iso"), image, 0o644); err != nil {
		return statuses, err
	}
	bios := filepath.Join(emulator, "usr/share/bochs")
	if err := os.WriteFile(filepath.Join(dir, "bochsrc"), []byte(m.settings(dir, bios)), 0o644); err != nil {
		return statuses, err
	}
	port, err := os.Create(filepath.Join(dir, "port"))
	if err != nil {
		return statuses, err
	}
	defer port.Close()
	say("boot image of %d MiB", len(image)>>20)

	args := tools.Loaded(emulator, "usr/bin/bochs-bin", "-q", "-f", filepath.Join(dir, "bochsrc"))
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.Env = append(os.Environ(), "TERM=linux", "BXSHARE="+bios,
		"LTDL_LIBRARY_PATH="+filepath.Join(emulator, "usr/lib/x86_64-linux-gnu/bochs/plugins"))
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL, Setpgid: true} // away from the terminal's keys
	var words wordsAndScreen
	cmd.Stdout, cmd.Stderr = &words, &words
	if err := cmd.Start(); err != nil {
		return statuses, err
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()

	d := decoder{
		output: func(i int, b []byte) {
			if i < len(programs) && programs[i].Output != nil {
				programs[i].Output.Write(b)
			}
		},
		exit: func(i, status int) {
			if i < len(programs) {
				statuses[i] = status
				say("program %d ended: %d", i, status)
			}
		},
	}
	buf := make([]byte, 64<<10)
	read := func() error {
		for {
			n, err := port.Read(buf)
			if err := d.write(buf[:n]); err != nil {
				return err
			}
			if err != nil {
				return nil
			}
		}
	}
	var exit error
	for running := true; running; {
		select {
		case exit = <-ended:
			running = false
		case <-time.After(50 * time.Millisecond):
		}
		if err := read(); err != nil {
			cmd.Process.Kill()
			return statuses, err
		}
	}
	say("ended\n%s", words.last(3))
	if d.ended {
		return statuses, nil
	}
	if ctx.Err() != nil {
		return statuses, context.Cause(ctx)
	}
	serial, _ := os.ReadFile(filepath.Join(dir, "console"))
	log, _ := os.ReadFile(filepath.Join(dir, "log"))
	return statuses, fmt.Errorf("the guest ended too early, Bochs with %v; the last lines of its console, and of Bochs:\n%s\n%s\n%s",
		exit, lastLines(serial, 20), words.last(12), lastLines(log, 10))
}

func lastLines(b []byte, n int) string {
	lines := strings.Split(strings.TrimSpace(string(b)), "\n")
	return strings.Join(lines[max(0, len(lines)-n):], "\n")
}

// image makes the CD that the machine starts from.
func (m Machine) image(ctx context.Context, dir, guest string, programs []Program) ([]byte, error) {
	// clearcpuid: fsrm, because Bochs announces it without ERMS (its MISC_ENABLE is 0), which this kernel's memmove
	// answers by losing small copies; pku and xsave's newer forms, for a state of standard layout. The rest saves time.
	parameters := "console=ttyS0,115200 quiet mitigations=off nokaslr panic=-1 reboot=t cryptomgr.notests " +
		"initcall_blacklist=load_system_certificate_list,cubictcp_register,init_kprobe_trace,crypto_kdf108_init " +
		"clearcpuid=fsrm,erms,pku,xsavec,xsaves"
	if m.disable != "" {
		parameters += "," + m.disable
	}
	kernels, err := filepath.Glob(filepath.Join(guest, "boot/vmlinuz-*"))
	if err != nil || len(kernels) != 1 {
		return nil, fmt.Errorf("%d kernels in %s; remove that folder to get it again", len(kernels), guest)
	}

	init := filepath.Join(dir, "init")
	build := exec.CommandContext(ctx, "go", "build", "-trimpath", "-ldflags=-s -w", "-o", init,
		"github.com/twogather/twogather/emulate/internal/bochs/init")
	build.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS=linux", "GOARCH=amd64", "GOFLAGS=")
	if out, err := build.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("building the guest's init: %v\n%s", err, out)
	}
	root := []file{{"dev", directory, nil}, {"dev/console", console, nil}, {"t", directory, nil}}
	add := func(name string, mode uint32, from string) error {
		b, err := os.ReadFile(from)
		root = append(root, file{name, mode, b})
		return err
	}
	if err := add("init", program, init); err != nil {
		return nil, err
	}
	if m.Arrays {
		files, err := arraysFiles(guest, strings.TrimPrefix(filepath.Base(kernels[0]), "vmlinuz-"))
		if err != nil {
			return nil, err
		}
		root = append(root, files...)
	}
	for i, p := range programs {
		t := fmt.Sprintf("t/%d", i)
		root = append(root, file{t, directory, nil}, file{t + "/cwd", directory, nil},
			file{t + "/args", plain, words(p.Args)}, file{t + "/env", plain, words(p.Env)})
		if err := add(t+"/bin", program, p.Binary); err != nil {
			return nil, err
		}
		for _, top := range p.Files {
			err := filepath.WalkDir(top, func(path string, e fs.DirEntry, err error) error {
				if err != nil {
					return err
				}
				name := t + "/cwd/" + filepath.Base(top)
				if path != top {
					name += strings.TrimPrefix(path, top)
				}
				if e.IsDir() {
					root = append(root, file{name, directory, nil})
					return nil
				}
				info, err := os.Stat(path)
				if err != nil {
					return err
				}
				return add(name, uint32(0o100000|info.Mode().Perm()), path)
			})
			if err != nil {
				return nil, err
			}
		}
	}

	menu := "default l\nprompt 0\ntimeout 0\nlabel l\n kernel vmlinuz\n append initrd=initrd " + parameters + "\n"
	files := []file{{name: "isolinux.bin"}, {name: "ldlinux.c32"}, {name: "vmlinuz"},
		{name: "isolinux.cfg", data: []byte(menu)}, {name: "initrd", data: initramfs(root)}}
	for i, from := range []string{
		filepath.Join(guest, "usr/lib/ISOLINUX/isolinux.bin"),
		filepath.Join(guest, "usr/lib/syslinux/modules/bios/ldlinux.c32"),
		kernels[0],
	} {
		if files[i].data, err = os.ReadFile(from); err != nil {
			return nil, err
		}
	}
	return bootImage(files), nil
}

// words ends each string with a zero byte.
func words(s []string) []byte {
	var b []byte
	for _, s := range s {
		b = append(append(b, s...), 0)
	}
	return b
}

// settings is the emulator's configuration file.
func (m Machine) settings(dir, bios string) string {
	return fmt.Sprintf(`plugin_ctrl: unmapped=1, biosdev=1, speaker=0, extfpuirq=1, parallel=0, serial=1, gameport=0, e1000=0, iodebug=0
config_interface: textconfig
display_library: term
megs: %[1]d
cpu: model=%[2]s, count=1, ips=50000000, reset_on_triple_fault=0, ignore_bad_msrs=1
romimage: file=%[4]s/BIOS-bochs-latest
vgaromimage: file=%[4]s/../vgabios/vgabios.bin
boot: cdrom
ata0: enabled=1
ata0-master: type=cdrom, path=%[3]s/boot.iso, status=inserted
com1: enabled=1, mode=file, dev=%[3]s/console
com2: enabled=1, mode=file, dev=%[3]s/port
clock: sync=none, time0=local
log: %[3]s/log
panic: action=fatal
error: action=ignore
info: action=ignore
debug: action=ignore
mouse: enabled=0
`, m.Megabytes, m.model, dir, bios)
}

var errLimit = errors.New("the time limit was reached")

// WithLimit returns a context that ends after d with an error that says so.
func WithLimit(ctx context.Context, d time.Duration) (context.Context, context.CancelFunc) {
	return context.WithTimeoutCause(ctx, d, fmt.Errorf("%w: %v", errLimit, d))
}

// IsLimit reports whether an error is WithLimit's.
func IsLimit(err error) bool { return errors.Is(err, errLimit) }
