package vectors

import (
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
)

// Variable is the environment variable that names a folder of public known-answer files.
const Variable = "TWOGATHER_VECTORS"

// A File is one file of a folder of public known-answer files.
type File struct {
	Name   string // relative to the folder, with slashes
	NotRun string // if not empty, what the file is about; it was not read
	Set
}

type knownFile struct {
	answers int
	parse   func(file string, text []byte) (*Set, error)
}

// knownFiles lists the public files that have a parser, and how many answers each holds.
var knownFiles = map[string]knownFile{
	"official-kat/ECB_TBL.TXT":           {147, official(1)},
	"official-kat/ECB_E_M.TXT":           {1200, official(monteCarlo)},
	"official-kat/ECB_D_M.TXT":           {1200, official(monteCarlo)},
	"official-kat/CBC_E_M.TXT":           {1200, official(monteCarlo)},
	"official-kat/CBC_D_M.TXT":           {1200, official(monteCarlo)},
	"official-kat/ecb_ival.txt":          {3, parseIntermediates},
	"official-kat/ecb_vk_recomputed.txt": {576, official(1)},
	"official-kat/ecb_vt_recomputed.txt": {384, official(1)},
	"botan/twofish.vec":                  {723, parseBotan},
	"botan/twofish_xts.vec":              {240, parseBotan},
	"cryptopp/twofishv.dat":              {9, parseCryptoPP},
	"ctr/twofish_ctr_wrap.txt":           {108, parseCTR},
	"libgcrypt/ocb_largebuf.txt":         {2, parseLargeOCB},
}

// notRun lists known files, or folders of them, that have no parser here.
var notRun = map[string]string{
	"realworld": "password safes, which the examples open",
	"rs":        "Reed-Solomon codes",
}

// Folder returns the folder that [Variable] names, or "" where the variable is not set.
func Folder() (string, error) {
	dir := os.Getenv(Variable)
	if dir == "" {
		return "", nil
	}
	if !filepath.IsAbs(dir) {
		root, err := moduleRoot()
		if err != nil {
			return "", fmt.Errorf("%s=%s is a relative path: %w", Variable, dir, err)
		}
		dir = filepath.Join(root, dir)
	}
	info, err := os.Stat(dir)
	if err != nil {
		return "", fmt.Errorf("%s: %w", Variable, err)
	}
	if !info.IsDir() {
		return "", fmt.Errorf("%s: %s is not a folder", Variable, dir)
	}
	return dir, nil
}

// moduleRoot returns the nearest folder with a go.mod, from the working directory upwards.
func moduleRoot() (string, error) {
	wd, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for dir := wd; ; {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir, nil
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return "", fmt.Errorf("no go.mod in %s or above it to start from, so give an absolute one", wd)
		}
		dir = parent
	}
}

// ReadFolder reads all public known-answer files in a folder, in the order of their names.
//
// It expects every file that it has a parser for; one that is missing, or that does not hold its number of answers, is
// an error. Of files that nothing here runs yet it only tells the names. Any other file must be in the format of this
// package, unless its name ends in .md.
func ReadFolder(dir string) ([]File, error) { return readFolder(dir, knownFiles) }

func readFolder(dir string, known map[string]knownFile) ([]File, error) {
	var files []File
	missing := maps.Clone(known)
	root := os.DirFS(dir)
	err := fs.WalkDir(root, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if why := notRun[name]; why != "" {
			files = append(files, File{Name: name, NotRun: why})
			if d.IsDir() {
				return fs.SkipDir
			}
			return nil
		}
		if d.IsDir() || filepath.Ext(name) == ".md" {
			return nil
		}
		text, err := fs.ReadFile(root, name)
		if err != nil {
			return err
		}
		delete(missing, name)
		file, ok := known[name]
		if !ok {
			file.parse = Parse
		}
		set, err := file.parse(name, text)
		if err != nil {
			return err
		}
		switch n := set.Answers(); {
		case n == 0:
			return fmt.Errorf("%s holds no answers", name)
		case ok && n != file.answers:
			return fmt.Errorf("%s holds %d answers, want %d", name, n, file.answers)
		}
		files = append(files, File{Name: name, Set: *set})
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", dir, err)
	}
	if len(missing) > 0 {
		return nil, fmt.Errorf("%s: missing %q", dir, slices.Sorted(maps.Keys(missing)))
	}
	return files, nil
}
