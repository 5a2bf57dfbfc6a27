// Command twofish writes the generated files of the twofish package: its fixed tables and its assembly. It is run from
// the directory _asm; every file is complete before it takes the place of the old one.
package main

import "github.com/twogather/twogather/_asm/internal/output"

const (
	command = "go run ./twofish"
	dir     = "../twofish/"
)

func main() {
	tables, err := keyTables(command)
	output.Check(err)
	output.Check(output.WriteFile(dir+"tables.go", tables))
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
		output.Check(output.Assembly(f.build().Context, command, "twofish", dir+f.name))
	}
	output.Check(output.Arm64(writeNEON(command), dir+"gather_neon_arm64"))
}
