//go:build linux

package main

import (
	"strings"
	"testing"
)

func TestWrongAssembly(t *testing.T) {
	const source = "#include \"textflag.h\"\n\nTEXT ·a(SB), $0\n\tVPXOR Y1, Y2, Y3\n\tRET\n\nTEXT ·b(SB), $0\n\tXORL AX, AX\n\tVPADDD  Y1, Y2, Y3\n\tRET\n\nTEXT ·c(SB), $0\n\tRET\n"
	for name, want := range map[string]string{
		"a": strings.Replace(source, "\tVPXOR ", "\tVPOR ", 1),
		"b": strings.Replace(source, "\tVPADDD ", "\tVPSUBD ", 1),
		"c": strings.Replace(source, "\tVPADDD ", "\tVPSUBD ", 1), // what it may call
		"d": "",
	} {
		if got, what, ok := wrongAssembly(source, name); got != want || ok != (want != "") {
			t.Errorf("%s: %q, %s", name, got, what)
		}
	}
}

func TestWrongGo(t *testing.T) {
	const source = "package p\n\n// f is right.\nfunc f(s *schedule, dst, src []byte) {\n\tcopy(dst, src)\n}\n\nfunc g(a int) {\n}\n"
	const want = "package p\n\n// f is right.\nfunc f(s *schedule, dst, src []byte) {\n\trightf(s, dst, src)\n\tdst[0] ^= 1\n}\n\n" +
		"func rightf(s *schedule, dst, src []byte) {\n\tcopy(dst, src)\n}\n\nfunc g(a int) {\n}\n"
	if got, _, ok := wrongGo(source, "f"); !ok || got != want {
		t.Errorf("%q", got)
	}
	for _, name := range []string{"g", "h"} {
		if _, _, ok := wrongGo(source, name); ok {
			t.Errorf("%s was made wrong", name)
		}
	}
}
