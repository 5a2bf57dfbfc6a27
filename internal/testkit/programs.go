package testkit

import (
	"os"
	"os/exec"
	"testing"
)

// NeedProgram returns the path of a program that is no part of this project. Without it the test is [Missing] something.
func NeedProgram(t testing.TB, name string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		Missing(t, err)
	}
	return path
}

// Missing skips the test for want of something that is no part of this project, such as a program or a library: err says
// what. Where TWOGATHER_TEST_MUST_FIND is set, it fails the test.
func Missing(t testing.TB, err error) {
	t.Helper()
	if os.Getenv("TWOGATHER_TEST_MUST_FIND") != "" {
		t.Fatal(err)
	}
	t.Skip(err)
}
