package arm64

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var (
	wordLine = regexp.MustCompile(`(?m)^\s*WORD.*$`)
	wordText = regexp.MustCompile(`^\tWORD   \$0x([0-9a-f]{8}) // (.+)$`)
)

// assembled returns what binutils makes of instructions.
func assembled(t *testing.T, text []string) []uint32 {
	t.Helper()
	const as, objcopy = "aarch64-linux-gnu-as", "aarch64-linux-gnu-objcopy"
	for _, tool := range []string{as, objcopy} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skip("Debian's binutils-aarch64-linux-gnu is not installed")
		}
	}
	dir := t.TempDir()
	object, code := filepath.Join(dir, "words.o"), filepath.Join(dir, "words")
	assemble := exec.Command(as, "-march=armv8.2-a+sve", "-o", object, "-")
	assemble.Stdin = strings.NewReader(strings.Join(text, "\n") + "\n")
	for _, cmd := range []*exec.Cmd{assemble, exec.Command(objcopy, "-O", "binary", "-j", ".text", object, code)} {
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v: %v\n%s", cmd, err, out)
		}
	}
	data, err := os.ReadFile(code)
	if err != nil || len(data) != 4*len(text) {
		t.Fatalf("%d bytes of code for %d instructions, %v", len(data), len(text), err)
	}
	words := make([]uint32, len(text))
	if err := binary.Read(bytes.NewReader(data), binary.LittleEndian, words); err != nil {
		t.Fatal(err)
	}
	return words
}

// TestWords assembles what stands beside the WORDs of all assembly in the module.
func TestWords(t *testing.T) {
	var names, text, words []string
	err := filepath.WalkDir("../../..", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(name, "_arm64.s") {
			return err
		}
		file, err := os.ReadFile(name)
		for _, line := range wordLine.FindAllString(string(file), -1) {
			m := wordText.FindStringSubmatch(line)
			if m == nil {
				t.Errorf("%s: %q does not name an instruction", name, line)
				continue
			}
			names, words, text = append(names, name), append(words, m[1]), append(text, m[2])
		}
		return err
	})
	if err != nil || len(words) == 0 {
		t.Fatalf("%d words, %v", len(words), err)
	}
	for i, w := range assembled(t, text) {
		if want := fmt.Sprintf("%08x", w); want != words[i] {
			t.Errorf("%s: %s is $0x%s, not $0x%s", names[i], text[i], want, words[i])
		}
	}
}

// TestSVE assembles every instruction with registers and numbers that set different bits.
func TestSVE(t *testing.T) {
	f := New("test", "test")
	for _, z := range []Z{0, 1, 14, 21, 31} {
		other, third := 31-z, (z+7)%32
		p, x, y := P(z%8), X(z%18), X(25-z%18)
		if y == 18 {
			y = 0
		}
		f.ZEor(z, other, third)
		f.ZAnd(z, other, third)
		f.ZAdd(z, other, third)
		f.ZMov(z, other)
		f.ZShiftRight(1+int(z%8), other, z)
		f.ZTable(z, other, third)
		f.ZFill(int(z)*4+1, z)
		f.ZEorIf(p, z, other)
		f.ZNegative(7-p, z, P(z%16))
		f.PAll(P(z % 16))
		f.PWhile(x, y, P(z%16))
		f.XAddVectors(1+int(z%16), x)
		f.XVectors(1+int(z%16), y)
		f.XCount(P(z%16), x)
		f.ZLoad(p, int(z%8), x, z)
		f.ZLoadAt(p, x, y, z)
		f.ZStore(p, z, int(z%8), y)
		f.ZStoreAt(p, z, y, x)
		f.ZLoadTable(p, 16*int(z%8), y, z)
	}
	var text, words []string
	for _, line := range wordLine.FindAllString(f.Text.String(), -1) {
		m := wordText.FindStringSubmatch(line)
		if m == nil {
			t.Fatalf("%q", line)
		}
		words, text = append(words, m[1]), append(text, m[2])
	}
	for i, w := range assembled(t, text) {
		if want := fmt.Sprintf("%08x", w); want != words[i] {
			t.Errorf("%s is $0x%s, not $0x%s", text[i], want, words[i])
		}
	}
}

// TestPanics names registers that are not ours, and numbers that no instruction has room for.
func TestPanics(t *testing.T) {
	for i, f := range []func(f *File){
		func(f *File) { f.XAddVectors(1, 18) },
		func(f *File) { f.PWhile(27, 0, 0) },
		func(f *File) { f.ZLoadAt(0, 0, 28, 0) },
		func(f *File) { f.ZEor(32, 0, 0) },
		func(f *File) { f.ZEorIf(8, 0, 0) },
		func(f *File) { f.ZFill(128, 0) },
		func(f *File) { f.ZLoad(0, 8, 0, 0) },
		func(f *File) { f.XVectors(0, 0) },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("case %d does not panic", i)
				}
			}()
			f(New("test", "test"))
		}()
	}
}
