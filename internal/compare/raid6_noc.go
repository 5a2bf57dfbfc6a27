//go:build !cgo || !libisal || !amd64

package main

func raid6InC() []library { return nil }
