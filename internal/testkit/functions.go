package testkit

import (
	"reflect"
	"runtime"
	"strings"
	"testing"

	"github.com/twogather/twogather/internal/kernel"
)

// Functions logs which functions each row of a primitive's table has, for emulate's disassembly check: "kernel", the
// primitive, the kernel, and the functions' full names. A closure that stands between the table and a function is none
// of them, but a row has at least one function that no closure hides.
func Functions[F any](t *testing.T, primitive string, table kernel.Table[F]) {
	t.Helper()
	for i := range table {
		var names []string
		v := reflect.ValueOf(table[i].Funcs)
		for f := range v.NumField() {
			if v.Field(f).Kind() != reflect.Func || v.Field(f).IsNil() {
				continue
			}
			name := runtime.FuncForPC(v.Field(f).Pointer()).Name()
			if base := name[strings.LastIndexByte(name, '/')+1:]; strings.Count(base, ".") == 1 {
				names = append(names, name)
			}
		}
		if len(names) == 0 {
			t.Errorf("%s %s: every function is a closure", primitive, table[i].Name)
		}
		t.Logf("kernel %s %s %s", primitive, table[i].Name, strings.Join(names, " "))
	}
}
