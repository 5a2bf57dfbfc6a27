package kernel

import (
	"fmt"
	"os"
	"os/exec"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/twogather/twogather/hwfeatures"
)

const (
	avx2   = hwfeatures.IntelAVX2
	bmi2   = hwfeatures.IntelBMI2
	gfni   = hwfeatures.IntelGFNI
	tuning = hwfeatures.IntelFastVPGATHER
)

// table is made up. Its functions tell which row they are of.
var table = Table[func() string]{
	{"wide", avx2 | gfni, 0, 64, func() string { return "wide" }, true},
	{"gather", avx2, tuning, 16, func() string { return "gather" }, false},
	{"scalar", bmi2, 0, 1, func() string { return "scalar" }, false},
	{"generic", 0, 0, 1, func() string { return "generic" }, false},
	{"tuned", 0, tuning, 8, func() string { return "tuned" }, true},
	{"flat", 0, 0, 8, func() string { return "flat" }, true},
}

var choices = []struct {
	features     hwfeatures.Set
	chosen       string
	constantTime string   // chosen of those
	usable       []string // before the last three rows
}{
	{0, "generic", "flat", nil},
	{tuning, "generic", "tuned", nil}, // a tuning is no capability
	{bmi2, "scalar", "flat", []string{"scalar"}},
	{avx2, "generic", "flat", []string{"gather"}}, // usable, but not preferred
	{avx2 | tuning, "gather", "tuned", []string{"gather"}},
	{avx2 | bmi2, "scalar", "flat", []string{"gather", "scalar"}},
	{avx2 | bmi2 | tuning, "gather", "tuned", []string{"gather", "scalar"}},
	{gfni, "generic", "flat", nil}, // one of two requirements
	{avx2 | gfni, "wide", "wide", []string{"wide", "gather"}},
	{^hwfeatures.Set(0), "wide", "wide", []string{"wide", "gather", "scalar"}},
}

func TestDefault(t *testing.T) {
	for _, c := range choices {
		if got := table[table.Default(c.features)].Name; got != c.chosen {
			t.Errorf("%v: %s, want %s", c.features, got, c.chosen)
		}
		if got := table[table.DefaultConstantTime(c.features)].Name; got != c.constantTime {
			t.Errorf("%v: %s of the constant-time kernels, want %s", c.features, got, c.constantTime)
		}
	}
	if got := (Table[int]{{Name: "only"}}).Default(0); got != 0 {
		t.Errorf("row %d of a table with one", got)
	}
}

func TestDefaultPanics(t *testing.T) {
	const text, constantTime = "kernel: a table needs a row that requires and prefers nothing",
		"kernel: a table needs a constant-time row that requires and prefers nothing"
	for _, c := range []struct {
		choose func(hwfeatures.Set) int
		text   string
	}{
		{Table[func() string](nil).Default, text},
		{table[:2].Default, text},
		{Table[int]{{Prefers: tuning}}.Default, text},
		{Table[func() string](nil).DefaultConstantTime, constantTime},
		{table[:4].DefaultConstantTime, constantTime},
		{table[:5].DefaultConstantTime, constantTime},
	} {
		func() {
			defer func() {
				if v := recover(); v != c.text {
					t.Errorf("panic %v, want %s", v, c.text)
				}
			}()
			t.Errorf("row %d was chosen", c.choose(0))
		}()
	}
}

func TestUsable(t *testing.T) {
	for _, c := range choices {
		var names []string
		for i, k := range table.Usable(c.features) {
			if k != &table[i] {
				t.Errorf("row %d comes with another kernel", i)
			}
			names = append(names, k.Funcs())
		}
		if want := append(slices.Clone(c.usable), "generic", "tuned", "flat"); !slices.Equal(names, want) {
			t.Errorf("%v: %v, want %v", c.features, names, want)
		}
	}
	for i := range table.Usable(avx2 | gfni) {
		if i > 0 {
			t.Fatal("iteration went on after a break")
		}
		break
	}
	for i := range Table[int](nil).Usable(0) {
		t.Errorf("row %d of an empty table", i)
	}
}

func TestIndex(t *testing.T) {
	for i := range table {
		if got := table.Index(table[i].Name); got != i {
			t.Errorf("%s: %d, want %d", table[i].Name, got, i)
		}
	}
	for _, name := range []string{"", "Wide", "wid", "wide ", "other"} {
		if got := table.Index(name); got != -1 {
			t.Errorf("%q: %d, want -1", name, got)
		}
	}
}

// TestForced starts itself again for each case, since the environment is read once.
func TestForced(t *testing.T) {
	if os.Getenv("KERNEL_TEST_CHILD") != "" {
		fmt.Println("avx2:", table.Forced("raid6", avx2))
		fmt.Println("bmi2:", table.Forced("raid6", bmi2))
		fmt.Println("warnings:", len(hwfeatures.Warnings()), strings.Join(hwfeatures.Warnings(), "; "))
		return
	}
	if err := exec.Command(os.Args[0], "-test.run=^$").Run(); err != nil {
		t.Skip("cannot start processes here (an emulated processor?): ", err)
	}
	for _, c := range []struct{ env, want string }{
		{"", "avx2: -1\nbmi2: -1\nwarnings: 0 \n"},
		{"erasure=gather", "avx2: -1\nbmi2: -1\nwarnings: 0 \n"}, // another primitive's
		{"raid6=generic", "avx2: 3\nbmi2: 3\nwarnings: 0 \n"},
		// Forcing needs what a kernel requires, not what it prefers.
		{"raid6=gather", "avx2: 1\nbmi2: -1\nwarnings: 1 TWOGATHER_KERNEL: \"raid6=gather\" ignored: it requires intel-avx2\n"},
		{"erasure=x,raid6=scalar", "avx2: -1\nbmi2: 2\nwarnings: 1 TWOGATHER_KERNEL: \"raid6=scalar\" ignored: it requires intel-bmi2\n"},
		// What is missing is named, and only that. The same warning is not said twice.
		{"raid6=wide", "avx2: -1\nbmi2: -1\nwarnings: 2 TWOGATHER_KERNEL: \"raid6=wide\" ignored: it requires intel-gfni; " +
			"TWOGATHER_KERNEL: \"raid6=wide\" ignored: it requires intel-avx2 intel-gfni\n"},
		{"raid6=magic", "avx2: -1\nbmi2: -1\nwarnings: 1 TWOGATHER_KERNEL: \"raid6=magic\" ignored: " +
			"unknown; the kernels are wide gather scalar generic tuned flat\n"},
	} {
		cmd := exec.Command(os.Args[0], "-test.run=^TestForced$")
		cmd.Env = append(os.Environ(), "KERNEL_TEST_CHILD=1", "GORACE=atexit_sleep_ms=0", "TWOGATHER_HWF=", "TWOGATHER_KERNEL="+c.env)
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("%q: %v: %s", c.env, err, out)
		}
		if !strings.HasPrefix(string(out), c.want) {
			t.Errorf("%q: got %s, want %s", c.env, out, c.want)
		}
	}
}

func TestInfo(t *testing.T) {
	for i, want := range map[int]Info{0: {"wide", avx2 | gfni, 0, 64, true}, 1: {"gather", avx2, tuning, 16, false}} {
		if got := table[i].Info(); got != want {
			t.Errorf("got %v, want %v", got, want)
		}
	}
}

func TestRegister(t *testing.T) {
	defer func(before []*Primitive) { primitives = before }(primitives)
	primitives = nil
	if Lookup("a") != nil || len(Primitives()) != 0 {
		t.Error("a primitive that nobody registered")
	}
	a, b := &Primitive{Name: "a"}, &Primitive{Name: "b"}
	Register(a)
	Register(b)
	if !reflect.DeepEqual(Primitives(), []*Primitive{a, b}) {
		t.Errorf("Primitives() = %v", Primitives())
	}
	if Lookup("a") != a || Lookup("b") != b || Lookup("") != nil || Lookup("c") != nil {
		t.Error("Lookup returns something else")
	}
}
