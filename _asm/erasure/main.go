// Command erasure writes the assembly of the erasure package. It is run from the directory _asm; every file is complete
// before it takes the place of the old one.
package main

import (
	"github.com/twogather/twogather/_asm/internal/arm64"
	"github.com/twogather/twogather/_asm/internal/output"
)

const (
	command = "go run ./erasure"
	dir     = "../erasure/"
)

func main() {
	for _, f := range []struct {
		name    string
		kernels []kernel
	}{
		{"kernels_avx2", []kernel{&nibbles{w: ymm}, &affine{w: ymm}, add{}}},
		{"kernels_avx512", []kernel{&nibbles{w: zmm}, &affine{w: zmm}}},
	} {
		a := newAssembler()
		for _, k := range f.kernels {
			k.write(a)
		}
		output.Check(output.Assembly(a.Context, command, "erasure", dir+f.name))
	}
	for _, f := range []struct {
		name string
		file *arm64.File
	}{
		{"kernels_neon_arm64", writeNEON()},
		{"kernels_sve_arm64", writeSVE()},
	} {
		output.Check(output.Arm64(f.file, dir+f.name))
	}
}
