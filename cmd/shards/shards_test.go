package main

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/iotest"
	"time"

	"github.com/twogather/twogather/erasure"
)

// content returns bytes without a pattern, the same for each size.
func content(size int) []byte {
	b := make([]byte, size)
	rand.NewChaCha8([32]byte{byte(size)}).Read(b)
	return b
}

func write(t *testing.T, path string, b []byte) string {
	t.Helper()
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func read(t *testing.T, path string) []byte {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// snapshot returns the contents of all files in a directory by name.
func snapshot(t *testing.T, dir string) map[string]string {
	t.Helper()
	files := make(map[string]string)
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if e.Type().IsRegular() {
			files[e.Name()] = string(read(t, filepath.Join(dir, e.Name())))
		}
	}
	return files
}

// same compares a directory with a snapshot.
func same(t *testing.T, dir string, want map[string]string) {
	t.Helper()
	got := snapshot(t, dir)
	for name := range want {
		if _, ok := got[name]; !ok {
			t.Errorf("%s is gone", name)
		} else if got[name] != want[name] {
			t.Errorf("%s has other contents", name)
		}
	}
	for name := range got {
		if _, ok := want[name]; !ok {
			t.Errorf("%s is new", name)
		}
	}
}

// restore makes a directory what a snapshot says.
func restore(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	for name := range snapshot(t, dir) {
		if _, ok := files[name]; !ok {
			os.Remove(filepath.Join(dir, name))
		}
	}
	for name, b := range files {
		write(t, filepath.Join(dir, name), []byte(b))
	}
}

// encoded returns the path of a new file of a size and encodes it.
func encoded(t *testing.T, k, p, size int) string {
	t.Helper()
	path := write(t, filepath.Join(t.TempDir(), "file"), content(size))
	mustCall(t, "encode", "-k", strconv.Itoa(k), "-p", strconv.Itoa(p), path)
	return path
}

// status calls verify.
func status(t *testing.T, args ...string) int {
	t.Helper()
	_, _, status := call(t, append([]string{"verify"}, args...)...)
	return status
}

func TestSizes(t *testing.T) {
	for _, n := range []struct {
		k, p   int
		matrix erasure.Matrix
	}{
		{1, 1, erasure.NormalisedCauchy}, {2, 1, erasure.Backblaze}, {3, 2, erasure.ISALCauchy},
		{10, 4, erasure.NormalisedCauchy}, {200, 56, erasure.NormalisedCauchy},
	} {
		stripe := n.k * smallUnit
		sizes := []int{0, 1, n.k - 1, n.k, n.k + 1, 2*n.k + 1, stripe - 1, stripe, stripe + 1, 2*stripe - n.k, 3*stripe + n.k + 1}
		if n.k == 200 && testing.Short() {
			sizes = []int{0, 1, stripe + 1}
		}
		for _, size := range slices.Compact(sizes) {
			t.Run(fmt.Sprintf("%d+%d/%d", n.k, n.p, size), func(t *testing.T) {
				dir := t.TempDir()
				want := content(size)
				path := write(t, filepath.Join(dir, "file"), want)
				mustCall(t, "encode", "-k", strconv.Itoa(n.k), "-p", strconv.Itoa(n.p), "-m", string(n.matrix), path)
				files := snapshot(t, dir)
				for i, b := range reference(t, want, "file", 0o600, n.k, n.p, smallUnit, n.matrix) {
					if files[fmt.Sprintf("file.%03d.shard", i)] != string(b) {
						t.Errorf("shard file %d is not what its format's description says", i)
					}
				}
				if len(files) != n.k+n.p+1 {
					t.Errorf("%d files", len(files))
				}
				out := mustCall(t, "verify", path)
				if strings.Count(out, ": good\n") != n.k+n.p || !strings.HasSuffix(out, fmt.Sprintf("%d of %d shards are good, %d are needed\n", n.k+n.p, n.k+n.p, n.k)) {
					t.Errorf("verify: %q", out)
				}

				// The first p shards are lost, or the last.
				for _, first := range []int{0, n.k} {
					for i := range n.p {
						os.Remove(fmt.Sprintf("%s.%03d.shard", path, first+i))
					}
					os.Remove(path)
					mustCall(t, "join", path)
					if !bytes.Equal(read(t, path), want) {
						t.Error("another file is joined")
					}
					if s := status(t, path); s != 1 {
						t.Errorf("verify: status %d", s)
					}
					if out := mustCall(t, "repair", path); strings.Count(out, ": rebuilt\n") != n.p {
						t.Errorf("repair: %q", out)
					}
					same(t, dir, files)
				}
			})
		}
	}
}

// damage is what can happen to a shard file.
var damage = []struct {
	name, says string
	do         func(t *testing.T, path string)
}{
	{"good", ": good", func(*testing.T, string) {}},
	{"missing", ": missing", func(t *testing.T, path string) { os.Remove(path) }},
	{"shard", ": its checksum is wrong", func(t *testing.T, path string) {
		b := read(t, path)
		b[len(b)-3] ^= 0x40
		write(t, path, b)
	}},
	{"truncated", ": truncated: ", func(t *testing.T, path string) {
		b := read(t, path)
		write(t, path, b[:len(b)-1])
	}},
	{"header", ": damaged header: its checksum", func(t *testing.T, path string) {
		b := read(t, path)
		b[57]++
		write(t, path, b)
	}},
	{"longer", ": too long: ", func(t *testing.T, path string) { write(t, path, append(read(t, path), 0)) }},
	{"empty", ": damaged header: the file ends in it", func(t *testing.T, path string) { write(t, path, nil) }},
}

// Every combination of damage is repaired if at most p shard files are not good, and otherwise nothing is written.
func TestEveryLoss(t *testing.T) {
	for _, n := range []struct{ k, p, kinds int }{{1, 1, 7}, {2, 1, 7}, {1, 2, 5}, {2, 2, 4}, {3, 2, 3}, {2, 3, 3}, {5, 3, 2}} {
		t.Run(fmt.Sprintf("%d+%d", n.k, n.p), func(t *testing.T) {
			path := encoded(t, n.k, n.p, n.k*smallUnit+n.k+1)
			dir := filepath.Dir(path)
			want := read(t, path)
			os.Remove(path)
			whole := snapshot(t, dir)
			combinations := 1
			for range n.k + n.p {
				combinations *= n.kinds
			}
			step := 1
			if testing.Short() {
				step = 7
			}
			for combination := 0; combination < combinations; combination += step {
				restore(t, dir, whole)
				bad := 0
				var says, name []string
				for i, c := 0, combination; i < n.k+n.p; i, c = i+1, c/n.kinds {
					d := damage[c%n.kinds]
					d.do(t, shardPath(path, i))
					says = append(says, shardPath(path, i)+d.says)
					name = append(name, d.name)
					if d.name != "good" {
						bad++
					}
				}
				if bad == n.k+n.p && !strings.Contains(strings.Join(name, " "), "shard") {
					continue // perhaps there is no header: another test
				}
				before := snapshot(t, dir)
				out, _, verify := call(t, "verify", dir)
				_, _, join := call(t, "join", dir)
				joined, err := os.ReadFile(path)
				os.Remove(path)
				same(t, dir, before)
				_, _, repair := call(t, "repair", dir)

				wantVerify, wantOther := 0, 0
				if bad > n.p {
					wantVerify, wantOther = 2, 2
				} else if bad > 0 {
					wantVerify = 1
				}
				if verify != wantVerify || join != wantOther || repair != wantOther {
					t.Fatalf("%s: status of verify %d, join %d, repair %d", name, verify, join, repair)
				}
				for _, s := range says {
					if !strings.Contains(out, s) {
						t.Errorf("%s: no %q in %q", name, s, out)
					}
				}
				if bad > n.p {
					same(t, dir, before)
					if err == nil {
						t.Errorf("%s: something was joined", name)
					}
				} else {
					same(t, dir, whole)
					if !bytes.Equal(joined, want) {
						t.Errorf("%s: another file is joined, or none", name)
					}
				}
				if t.Failed() {
					t.Fatalf("damage: %s", name)
				}
			}
		})
	}
}

// No flipped bit goes unnoticed.
func TestFlippedBits(t *testing.T) {
	path := encoded(t, 2, 1, 5*smallUnit)
	file := shardPath(path, 1)
	b := read(t, file)
	step := 1
	if testing.Short() {
		step = 13
	}
	for bit := 0; bit < 8*len(b); bit += step {
		b[bit/8] ^= 1 << (bit % 8)
		write(t, file, b)
		if out, _, status := call(t, "verify", path); status != 1 || strings.Contains(out, file+": good") {
			t.Errorf("bit %d of byte %d: status %d, %q", bit%8, bit/8, status, out)
		}
		b[bit/8] ^= 1 << (bit % 8)
	}
	// Nor does an end that comes too soon.
	for n := 0; n < len(b); n += step {
		write(t, file, b[:n])
		if out, _, status := call(t, "verify", path); status != 1 || strings.Contains(out, file+": good") {
			t.Errorf("cut after %d bytes: status %d, %q", n, status, out)
		}
	}
	write(t, file, b)
	mustCall(t, "verify", path)
}

// What is not of one set is refused, and nothing is written.
func TestMixedSets(t *testing.T) {
	other := read(t, shardPath(encoded(t, 3, 2, 999), 3))
	for name, test := range map[string]struct {
		spoil func(t *testing.T, path string) (file string)
		says  string
	}{
		"other set": {func(t *testing.T, path string) string {
			return write(t, shardPath(path, 3), other)
		}, "of another set: it is of file, as encoded with 3+2 shards"},
		"other set first": {func(t *testing.T, path string) string {
			return write(t, shardPath(path, 0), other)
		}, "of another set: it is of file, as encoded with 3+2 shards"},
		"other version": {func(t *testing.T, path string) string {
			b := read(t, shardPath(path, 2))
			size := int(b[12]) + int(b[13])<<8
			b[8] = 9
			copy(b, seal(b[:size]))
			return write(t, shardPath(path, 2), b)
		}, "another version of the format: 9; this program knows 1"},
		"duplicate": {func(t *testing.T, path string) string {
			return write(t, shardPath(path+".copy", 1), read(t, shardPath(path, 1)))
		}, "file.001.shard has number 1 too"},
	} {
		t.Run(name, func(t *testing.T) {
			path := encoded(t, 3, 2, 1000)
			dir := filepath.Dir(path)
			os.Remove(path)
			file := test.spoil(t, path)
			before := snapshot(t, dir)
			mustFail(t, []string{file, test.says}, "verify", dir)
			mustFail(t, []string{file, test.says}, "repair", dir)
			mustFail(t, []string{file, test.says}, "repair", "--force", dir)
			mustFail(t, []string{file, test.says}, "join", dir)
			same(t, dir, before)
			// Without it there is nothing wrong.
			os.Remove(file)
			mustCall(t, "repair", path)
			mustCall(t, "join", path)
			if !bytes.Equal(read(t, path), content(1000)) {
				t.Error("another file is joined")
			}
		})
	}
}

func TestNoHeader(t *testing.T) {
	path := encoded(t, 2, 1, 100)
	for i := range 3 {
		write(t, shardPath(path, i), []byte("nothing of the kind"))
	}
	before := snapshot(t, filepath.Dir(path))
	for _, command := range []string{"verify", "repair", "join"} {
		mustFail(t, []string{"no header", shardPath(path, 0), "does not begin"}, command, path)
	}
	same(t, filepath.Dir(path), before)
}

// A header can promise more than there is, and more than anybody has the time or the memory for.
func TestHugePromise(t *testing.T) {
	for _, s := range []*set{
		{data: 1, parity: 1, unit: 1, size: maxSize},
		{data: 1, parity: 255, unit: maxUnit, size: maxSize},
	} {
		s.matrix, s.name, s.sums = matrices[0], "file", make([]sum, s.shards())
		path := filepath.Join(t.TempDir(), "file")
		write(t, shardPath(path, 0), append(s.header(0), "and little else"...))
		for _, command := range []string{"verify", "repair", "join"} {
			mustFail(t, []string{"too few good shards: 0", shardPath(path, 0), "truncated"}, command, path)
		}
	}
}

// Shard files are found in directories, under other names, and through links.
func TestArguments(t *testing.T) {
	path := encoded(t, 3, 2, 500)
	dir := filepath.Dir(path)
	want := read(t, path)
	os.Remove(path)
	files, err := shardFiles(path)
	if err != nil || len(files) != 5 {
		t.Fatal(files, err)
	}
	mustCall(t, append([]string{"verify"}, files...)...)
	mustCall(t, append([]string{"verify", dir, path, dir + "/../" + filepath.Base(dir)}, files...)...) // each once
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(dir, link); err == nil {
		mustCall(t, "verify", link)
		mustCall(t, "verify", dir, link)
	}
	if s := status(t, files[0], files[2], files[4]); s != 1 {
		t.Errorf("three of five: status %d", s)
	}

	// Two directories, and names that say nothing.
	a, b := filepath.Join(dir, "a"), filepath.Join(dir, "b")
	os.Mkdir(a, 0o700)
	os.Mkdir(b, 0o700)
	os.Rename(files[0], filepath.Join(a, "x"))
	os.Rename(files[1], filepath.Join(b, "y"))
	os.Rename(files[2], filepath.Join(b, "z"))
	os.Rename(files[4], filepath.Join(b, "w.shard"))
	words := []string{a + "/x", b + "/y", b + "/z", b}
	if out, _, s := call(t, append([]string{"verify"}, words...)...); s != 1 || !strings.Contains(out, "\nshard 3: missing\n") {
		t.Errorf("status %d, %q", s, out)
	}
	mustFail(t, []string{"several directories", "-o"}, append([]string{"join"}, words...)...)
	mustFail(t, []string{"several directories", "-o"}, append([]string{"repair"}, words...)...)
	mustCall(t, append([]string{"join", "-o", a}, words...)...)
	if !bytes.Equal(read(t, filepath.Join(a, "file")), want) {
		t.Error("another file is joined")
	}
	mustCall(t, append([]string{"join", "-o", filepath.Join(b, "joined")}, words...)...)
	if !bytes.Equal(read(t, filepath.Join(b, "joined")), want) {
		t.Error("another file is joined")
	}
	before := read(t, files[3])
	os.Remove(files[3])
	mustCall(t, append([]string{"repair", "-o", dir}, words...)...)
	if !bytes.Equal(read(t, files[3]), before) {
		t.Error("repair made another file")
	}
	// A name that says the number of another shard.
	os.Rename(b+"/y", shardPath(path, 2))
	mustFail(t, []string{files[2], "rename"}, "repair", "--force", "-o", dir, files[2], files[3], a+"/x")
}

func TestShardPaths(t *testing.T) {
	for _, base := range []string{"a", "dir/a", ".a", "a.000.shard", "a.", "..", "a.000"} {
		for _, index := range []int{0, 7, 255} {
			if b, i, ok := splitPath(shardPath(base, index)); !ok || b != base || i != index {
				t.Errorf("%s becomes %s, %d, %v", shardPath(base, index), b, i, ok)
			}
		}
	}
	for _, path := range []string{
		"", ".shard", "000.shard", ".000.shard", "dir/.000.shard", "a.000", "a.00.shard", "a.0000.shard", "a.+01.shard", "a.-01.shard", "a.0x1.shard",
	} {
		if b, i, ok := splitPath(path); ok {
			t.Errorf("%s becomes %s, %d", path, b, i)
		}
	}
}

// Sets of files whose names begin alike lie in one directory.
func TestNeighbours(t *testing.T) {
	dir := t.TempDir()
	names := []string{"a", "a.000", "a.b", "ab", "b"}
	for i, name := range names {
		mustCall(t, "encode", "-k", "2", "-p", "1", write(t, filepath.Join(dir, name), content(100+i)))
	}
	before := snapshot(t, dir)
	for _, name := range names {
		path := filepath.Join(dir, name)
		mustCall(t, "verify", path)
		os.Remove(path)
		os.Remove(shardPath(path, 1))
		mustCall(t, "repair", path)
		mustCall(t, "join", path)
		same(t, dir, before)
	}
	mustFail(t, []string{"of another set"}, "verify", dir)
}

func TestNames(t *testing.T) {
	for _, name := range []string{
		"two words", "-dash", "--force", "ünïcödé ☃", "*?[a]", "%s%d\\", "new\nline", ".hidden", "x.000.shard", "not\xffUTF-8",
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			t.Chdir(dir)
			want := content(300)
			if err := os.WriteFile(name, want, 0o600); err != nil {
				t.Skip(err) // a system that has no such names
			}
			out := mustCall(t, "encode", "-k", "2", "-p", "1", "--", name)
			if strings.Count(out, "\n") != 1 || !strings.Contains(out, printable(name)) {
				t.Errorf("encode: %q", out)
			}
			arg := "./" + name
			if name == "x.000.shard" {
				arg = "." // the name itself is a shard file's
				os.Remove(name)
			}
			mustCall(t, "verify", arg)
			os.Remove(name)
			os.Remove(shardPath(name, 1))
			mustCall(t, "repair", arg)
			mustCall(t, "join", arg)
			if !bytes.Equal(read(t, name), want) {
				t.Error("another file is joined")
			}
			if n := len(snapshot(t, dir)); n != 4 {
				t.Errorf("%d files", n)
			}
		})
	}
}

// A name too long for shard files is noticed before anything is written.
func TestLongName(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, strings.Repeat("x", 250))
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Skip(err)
	}
	before := snapshot(t, dir)
	mustFail(t, []string{"name too long"}, "encode", path)
	same(t, dir, before)
}

// A recorded name is used only for files whose names say nothing, and only in their directory.
func TestRecordedName(t *testing.T) {
	path := encoded(t, 1, 1, 100)
	dir := filepath.Dir(path)
	os.Remove(path)
	os.Rename(shardPath(path, 0), filepath.Join(dir, "mine"))
	mustCall(t, "join", filepath.Join(dir, "mine"))
	if !bytes.Equal(read(t, path), content(100)) {
		t.Error("another file is joined")
	}
	for _, name := range []string{"../escaped", "/escaped", "..", "a/b"} {
		s := &set{data: 1, parity: 1, unit: 1, matrix: matrices[0], name: name, sums: make([]sum, 2)}
		write(t, filepath.Join(dir, "mine"), s.header(0))
		mustFail(t, []string{"damaged header", "name"}, "join", filepath.Join(dir, "mine"))
	}
}

func TestNothingIsOverwritten(t *testing.T) {
	path := encoded(t, 2, 2, 300)
	dir := filepath.Dir(path)
	before := snapshot(t, dir)
	unchangedAfter := func(words []string, args ...string) {
		t.Helper()
		mustFail(t, words, args...)
		same(t, dir, before)
	}
	unchangedAfter([]string{shardPath(path, 0), "exists", "--force"}, "encode", "-k", "2", "-p", "2", path)
	unchangedAfter([]string{path, "exists", "--force"}, "join", path)
	unchangedAfter([]string{shardPath(path, 3), "exists", "--force"}, "repair", shardPath(path, 0), shardPath(path, 1), shardPath(path, 2))
	unchangedAfter([]string{shardPath(path, 1), "one of the shard files"}, "join", "--force", "-o", shardPath(path, 1), path)
	unchangedAfter([]string{shardPath(path, 3), "remove it"}, "encode", "--force", "-k", "2", "-p", "1", path)

	mustCall(t, "encode", "--force", "-k", "2", "-p", "2", path)
	same(t, dir, before)
	write(t, path, []byte("something else"))
	write(t, shardPath(path, 3), []byte("something else"))
	mustCall(t, "join", "--force", shardPath(path, 0), shardPath(path, 1))
	mustCall(t, "repair", "--force", shardPath(path, 0), shardPath(path, 1), shardPath(path, 2))
	same(t, dir, before)

	// Nor is what a link leads to, and with --force it is, and the link stays.
	target := write(t, filepath.Join(t.TempDir(), "target"), []byte("precious"))
	os.Remove(path)
	if err := os.Symlink(target, path); err != nil {
		t.Skip(err)
	}
	mustFail(t, []string{path, "exists"}, "join", path)
	if string(read(t, target)) != "precious" {
		t.Error("the link's target was overwritten")
	}
	mustCall(t, "join", "--force", path)
	if info, err := os.Lstat(path); err != nil || info.Mode()&fs.ModeSymlink == 0 {
		t.Error("the link is gone")
	}
	if string(read(t, target)) != before["file"] {
		t.Error("the link's target is not the file")
	}
}

// Files that appear while others are written are not overwritten either.
func TestFileAppears(t *testing.T) {
	for _, force := range []bool{false, true} {
		path := encoded(t, 2, 1, 300)
		dir := filepath.Dir(path)
		os.Remove(path)
		before := snapshot(t, dir)
		withFault(t, func(step, _ string) error {
			if step == "sync" {
				write(t, path, []byte("new"))
			}
			return nil
		})
		if force {
			mustCall(t, "join", "--force", path)
			before["file"] = string(content(300))
		} else {
			mustFail(t, []string{path, "exists"}, "join", path)
			before["file"] = "new"
		}
		same(t, dir, before)
	}
}

// withFault has a function called before each step that changes a file system.
func withFault(t *testing.T, f func(step, path string) error) {
	saved := fault
	fault = f
	t.Cleanup(func() { fault = saved })
}

// A file that changes while it is encoded is noticed, and so is a shard file while it is read.
func TestFileChanges(t *testing.T) {
	for name, change := range map[string]func(path string){
		"longer": func(path string) {
			os.WriteFile(path, content(10_001), 0)
			os.Chtimes(path, time.Unix(1, 0), time.Unix(1, 0))
		},
		"shorter": func(path string) { os.Truncate(path, 5000) },
		"other": func(path string) {
			os.WriteFile(path, content(10_000)[1:], 0)
			os.WriteFile(path, append(content(9_999), 0), 0)
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			path := write(t, filepath.Join(dir, "file"), content(10_000))
			os.Chtimes(path, time.Unix(1, 0), time.Unix(1, 0))
			var once sync.Once
			withFault(t, func(step, _ string) error {
				if step == "write" {
					once.Do(func() { change(path) })
				}
				return nil
			})
			mustFail(t, []string{"changed while it was read"}, "encode", path)
			if n := len(snapshot(t, dir)); n != 1 {
				t.Errorf("%d files", n)
			}
		})
	}
	t.Run("shard file", func(t *testing.T) {
		path := encoded(t, 2, 1, 10_000)
		dir := filepath.Dir(path)
		os.Remove(shardPath(path, 0))
		before := snapshot(t, dir)
		var once sync.Once
		withFault(t, func(step, _ string) error {
			if step == "write" { // the scan found it good
				once.Do(func() { damage[2].do(t, shardPath(path, 1)) })
			}
			return nil
		})
		mustFail(t, []string{"change while they are read", shardPath(path, 1), "checksum"}, "repair", path)
		damage[2].do(t, shardPath(path, 1))
		same(t, dir, before)
	})
}

// Shard files that end, or can no longer be read, while they are: the others do.
func TestShardLostWhileRead(t *testing.T) {
	path := encoded(t, 2, 2, 10_000)
	want := read(t, path)
	os.Remove(path)
	os.Rename(shardPath(path, 0), path+".first")
	cut := shardPath(path, 1)
	whole := read(t, cut)
	var once sync.Once
	withFault(t, func(step, _ string) error {
		if step == "write" {
			once.Do(func() { os.Truncate(cut, int64(len(whole)-1000)) })
		}
		return nil
	})
	_, errs, status := call(t, "join", path)
	if status != 0 || errs != "shards: "+cut+": truncated while it was read; joined without it\n" || !bytes.Equal(read(t, path), want) {
		t.Errorf("status %d, %q, or another file is joined", status, errs)
	}

	write(t, cut, whole)
	os.Rename(path+".first", shardPath(path, 0))
	for lost := range 5 {
		c, err := gather([]string{path})
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range c.shards[:lost] {
			s.file.Close()
		}
		if err := c.scan(t.Context(), nil); err != nil || len(c.good()) != 4-lost {
			t.Errorf("%d closed: %d are good, %v", lost, len(c.good()), err)
		}
		for _, s := range c.shards[:lost] {
			if s.state != unreadable {
				t.Errorf("%d closed: %s", lost, s.why)
			}
		}
		c.close()
	}
}

// A file may come in pieces of any size, and its end is not that of a read that failed.
func TestShortReads(t *testing.T) {
	want := content(5*smallUnit + 7)
	encode := func(r io.Reader) ([]*newFile, error) {
		c := &set{data: 3, parity: 2, unit: smallUnit, size: int64(len(want)), matrix: erasure.NormalisedCauchy, mode: 0o600, name: "file"}
		codec, err := c.codec()
		if err != nil {
			t.Fatal(err)
		}
		s := &session{ctx: t.Context(), stdout: io.Discard, stderr: io.Discard}
		files, err := s.beginShards(c, filepath.Join(t.TempDir(), c.name))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(files.discard)
		if err := c.encodeFile(s.ctx, codec, r, files.files, nil); err != nil {
			return nil, err
		}
		for i, f := range files.files {
			if _, err := f.WriteAt(c.header(i), 0); err != nil {
				t.Fatal(err)
			}
		}
		return files.files, nil
	}
	for name, wrap := range map[string]func(io.Reader) io.Reader{
		"one byte": iotest.OneByteReader, "half": iotest.HalfReader, "early EOF": iotest.DataErrReader,
	} {
		files, err := encode(wrap(bytes.NewReader(want)))
		if err != nil {
			t.Fatal(name, err)
		}
		for i, b := range reference(t, want, "file", 0o600, 3, 2, smallUnit, erasure.NormalisedCauchy) {
			if !bytes.Equal(read(t, files[i].Name()), b) {
				t.Errorf("%s: shard file %d is another one", name, i)
			}
		}
	}
	for n := range want {
		broken := errors.New("broken")
		if _, err := encode(io.MultiReader(bytes.NewReader(want[:n]), iotest.ErrReader(broken))); err != broken {
			t.Errorf("after %d bytes a read failed: %v", n, err)
		}
		if _, err := encode(bytes.NewReader(want[:n])); err != errChanged {
			t.Errorf("the file ended after %d bytes: %v", n, err)
		}
	}
}

// Files have the permissions of the one that was encoded, and never more.
func TestPermissions(t *testing.T) {
	for _, perm := range []fs.FileMode{0o600, 0o700, 0o400, 0o500} {
		path := write(t, filepath.Join(t.TempDir(), "file"), content(100))
		os.Chmod(path, perm)
		mustCall(t, "encode", "-k", "1", "-p", "2", path)
		os.Remove(shardPath(path, 2))
		mustCall(t, "repair", path)
		os.Remove(path)
		mustCall(t, "join", path)
		for i := range 3 {
			if info, err := os.Stat(shardPath(path, i)); err != nil || info.Mode() != perm&0o666 {
				t.Errorf("%o: shard file %d has %v, %v", perm, i, info.Mode(), err)
			}
		}
		if info, err := os.Stat(path); err != nil || info.Mode() != perm {
			t.Errorf("%o: the joined file has %v, %v", perm, info.Mode(), err)
		}
	}
}

// Wrong parity under right checksums: verify finds it, and repair does not make files of it.
func TestWrongParity(t *testing.T) {
	path := encoded(t, 2, 1, 100)
	dir := filepath.Dir(path)
	files := reference(t, content(100), "file", 0o600, 2, 1, smallUnit, erasure.NormalisedCauchy)
	s, _, err := readHeader(bytes.NewReader(files[0]))
	if err != nil {
		t.Fatal(err)
	}
	for i := range files {
		shard := files[i][s.headerSize():]
		if i == 2 {
			shard[7] ^= 1
		}
		files[i] = shard
		s.sums[i] = sha256.Sum256(shard)
	}
	for i, shard := range files {
		write(t, shardPath(path, i), append(s.header(i), shard...))
	}
	mustFail(t, []string{"the parity is not that of the data"}, "verify", path)
	os.Remove(shardPath(path, 1))
	before := snapshot(t, dir)
	mustFail(t, []string{"shard 1 as rebuilt has another checksum"}, "repair", path)
	mustFail(t, []string{"shard 1 as rebuilt has another checksum"}, "join", "-o", path+"2", path)
	same(t, dir, before)
}

// Temporary files that nobody holds are removed by whoever writes beside them, those of running processes are not.
func TestStaleTemporaries(t *testing.T) {
	path := encoded(t, 2, 1, 100)
	dir := filepath.Dir(path)
	before := snapshot(t, dir)
	names := []string{".shards-0123456789abcdef.tmp", ".shards-short.tmp", "shards-0123456789abcdef.tmp"}
	for _, name := range names {
		write(t, filepath.Join(dir, name), read(t, shardPath(path, 1)))
	}
	other := filepath.Join(dir, ".shards-fedcba9876543210.tmp")
	os.Mkdir(other, 0o700)
	mustCall(t, "verify", dir)
	held, err := createTemporary(dir, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer held.Close()
	mustCall(t, "join", "--force", path)
	before[names[1]], before[names[2]] = before["file.001.shard"], before["file.001.shard"]
	before[filepath.Base(held.Name())] = ""
	same(t, dir, before)
	if _, err := os.Stat(other); err != nil {
		t.Error("a directory was removed:", err)
	}
}
