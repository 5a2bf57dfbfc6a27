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
	{"wide", avx2 | gfni, 0, 64, func() string { return "wide" }},
	{"gather", avx2, tuning, 16, func() string { return "gather" }},
	{"scalar", bmi2, 0, 1, func() string { return "scalar" }},
	{"generic", 0, 0, 1, func() string { return "generic" }},
}

var choices = []struct {
	features hwfeatures.Set
	chosen   string
	usable   []string
}{
	{0, "generic", []string{"generic"}},
	{tuning, "generic", []string{"generic"}}, // a tuning is no capability
	{bmi2, "scalar", []string{"scalar", "generic"}},
	{avx2, "generic", []string{"gather", "generic"}}, // usable, but not preferred
	{avx2 | tuning, "gather", []string{"gather", "generic"}},
	{avx2 | bmi2, "scalar", []string{"gather", "scalar", "generic"}},
	{avx2 | bmi2 | tuning, "gather", []string{"gather", "scalar", "generic"}},
	{gfni, "generic", []string{"generic"}}, // one of two requirements
	{avx2 | gfni, "wide", []string{"wide", "gather", "generic"}},
	{^hwfeatures.Set(0), "wide", []string{"wide", "gather", "scalar", "generic"}},
}

func TestDefault(t *testing.T) {
	for _, c := range choices {
		if got := table[table.Default(c.features)].Name; got != c.chosen {
			t.Errorf("%v: %s, want %s", c.features, got, c.chosen)
		}
	}
	if got := (Table[int]{{Name: "only"}}).Default(0); got != 0 {
		t.Errorf("row %d of a table with one", got)
	}
}

func TestDefaultPanics(t *testing.T) {
	for _, bad := range []Table[func() string]{nil, table[:2]} {
		func() {
			defer func() {
				if v := recover(); v != "kernel: a table's last row must require and prefer nothing" {
					t.Errorf("panic %v", v)
				}
			}()
			bad.Default(0)
			t.Error("a kernel was chosen")
		}()
	}
	func() {
		defer func() {
			if recover() == nil {
				t.Error("a last row that prefers something was chosen without it")
			}
		}()
		Table[int]{{Prefers: tuning}}.Default(avx2)
	}()
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
		if !slices.Equal(names, c.usable) {
			t.Errorf("%v: %v, want %v", c.features, names, c.usable)
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
			"unknown; the kernels are wide gather scalar generic\n"},
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
	want := Info{"gather", avx2, tuning, 16}
	if got := table[1].Info(); got != want {
		t.Errorf("got %v, want %v", got, want)
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
