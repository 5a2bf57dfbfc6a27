//go:build !cgo || !libgcrypt

package main

const libgcryptMissing = "libgcrypt is left out: install its headers (Debian: libgcrypt20-dev) and use make compare, or go run -tags libgcrypt ."

func libgcrypt() []library { return nil }
