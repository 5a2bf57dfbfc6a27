// Command raid6 writes the assembly of the raid6 package and its stubs. It is run from the directory _asm; every file is
// complete before it takes the place of the old one.
package main

import (
	"github.com/twogather/twogather/_asm/internal/arm64"
	"github.com/twogather/twogather/_asm/internal/output"
)

const (
	command = "go run ./raid6"
	dir     = "../raid6/"
)

func main() {
	for _, f := range []struct {
		name string
		set  instructionSet
	}{
		{"syndrome_avx2", instructionSet{name: "AVX2", bytes: 32}},
		{"syndrome_avx2gfni", instructionSet{name: "AVX2GFNI", bytes: 32, gfni: true}},
		{"syndrome_avx512", instructionSet{name: "AVX512", bytes: 64}},
		{"syndrome_avx512gfni", instructionSet{name: "AVX512GFNI", bytes: 64, gfni: true}},
	} {
		output.Check(output.Assembly(write(f.set).Context, command, "raid6", dir+f.name))
	}
	for _, f := range []struct {
		name string
		file *arm64.File
	}{
		{"syndrome_neon_arm64", writeNEON()},
		{"syndrome_sve_arm64", writeSVE()},
	} {
		output.Check(output.Arm64(f.file, dir+f.name))
	}
}
