// Command ghash writes the assembly of package ghash. It is run from the directory _asm; every file is complete before it
// takes the place of the old one.
package main

import (
	"log"

	"github.com/twogather/twogather/_asm/internal/output"
)

const (
	command = "go run ./ghash"
	dir     = "../internal/ghash/"
)

func main() {
	log.SetFlags(0)
	check(output.Assembly(writeProducts(), command, "ghash", dir+"ghash_amd64"))
	check(output.Arm64(writePMULL(), dir+"ghash_arm64"))
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
