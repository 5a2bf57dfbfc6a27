//go:build !unix

package main

func sabotage() {}
