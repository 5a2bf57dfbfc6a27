//go:build !cgo || !libisal

package main

const isalMissing = "ISA-L is left out: install its headers (Debian: libisal-dev) and use make compare, or go run -tags libisal ."

func isal() []library { return nil }
