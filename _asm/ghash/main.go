// Command ghash writes the assembly of package ghash. It is run from the directory _asm; every file is complete before it
// takes the place of the old one.
package main

import "github.com/twogather/twogather/_asm/internal/output"

const (
	command = "go run ./ghash"
	dir     = "../internal/ghash/"
)

func main() {
	output.Check(output.Assembly(writeProducts(), command, "ghash", dir+"ghash_amd64"))
	output.Check(output.Arm64(writePMULL(), dir+"ghash_arm64"))
}
