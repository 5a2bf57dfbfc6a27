package testkit

import (
	"testing"

	"github.com/twogather/twogather/vectors"
)

// PublicAnswers runs the files of the folder that TWOGATHER_VECTORS names, a subtest each, side by side. check returns what
// runs a file's answers, or nil where they are for another package.
func PublicAnswers(t *testing.T, check func(f vectors.File) func(t *testing.T)) {
	dir, err := vectors.Folder()
	if err != nil {
		t.Fatal(err)
	}
	if dir == "" {
		t.Skip(vectors.Variable + " is not set")
	}
	files, err := vectors.ReadFolder(dir)
	if err != nil {
		t.Fatal(err)
	}
	run := 0
	for _, f := range files {
		if f.NotRun != "" {
			t.Logf("%s is not run: %s", f.Name, f.NotRun)
		} else if answers := check(f); answers != nil {
			run++
			t.Run(f.Name, func(t *testing.T) {
				t.Parallel()
				answers(t)
			})
		}
	}
	if run == 0 {
		t.Errorf("no answers for this package in %s", dir)
	}
}
