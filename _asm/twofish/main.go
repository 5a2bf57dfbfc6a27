// Command twofish writes the generated files of the twofish package: its fixed tables and its assembly. It is run from
// the directory _asm; every file is complete before it takes the place of the old one.
package main

import (
	"log"

	"github.com/twogather/twogather/_asm/internal/output"
)

const (
	command = "go run ./twofish"
	dir     = "../twofish/"
)

func main() {
	log.SetFlags(0)
	tables, err := keyTables(command)
	check(err)
	check(output.WriteFile(dir+"tables.go", tables))
	for _, f := range []struct {
		name  string
		build func() *assembler
	}{
		{"cipher_amd64", writeScalar},
		{"cipher_avx2_amd64", writeShared},
		{"gather_vpgather", writeVPGATHER},
		{"gather_manual", writeManual},
		{"gather_permute", writePermute},
		{"gather_shuffle512", writeShuffle512},
		{"gather_shuffle", writeShuffle},
	} {
		check(output.Assembly(f.build().Context, command, "twofish", dir+f.name))
	}
	neon := writeNEON(command)
	check(output.WriteFile(dir+"gather_neon_arm64.s", neon.Text.Bytes()))
	check(output.WriteFile(dir+"gather_neon_arm64.go", neon.Stubs.Bytes()))
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
