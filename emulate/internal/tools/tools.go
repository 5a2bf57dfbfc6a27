//go:build linux

// Package tools keeps the programs that emulation needs in a folder of its own: Debian packages with all the libraries
// they want, unpacked beside the system. Nothing is installed and nothing needs root.
//
// The folder is the user's cache folder's twogather-emulate, or what TWOGATHER_EMULATE_CACHE names. A cold start fills
// it; deleting it at any time is safe when nothing runs. An interrupted start leaves a temporary folder there, which the
// next one removes.
package tools

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
)

// A Set is a group of Debian packages, unpacked into one folder.
type Set struct {
	Name     string // of the folder; a change of the other fields wants a new one
	Suite    string // of Debian
	Packages []string
	// Resolve names further packages, given those that stand for them: the newest kernel behind a metapackage, say.
	Resolve []string
	// Libraries asks for the packages' dependencies too, as far as they are libraries.
	Libraries bool
	Drop      []string // folders that are not needed, besides documentation
}

// Folder returns the cache folder, made if need be.
func Folder() (string, error) {
	dir := os.Getenv("TWOGATHER_EMULATE_CACHE")
	if dir == "" {
		cache, err := os.UserCacheDir()
		if err != nil {
			return "", fmt.Errorf("no cache folder: %v; set TWOGATHER_EMULATE_CACHE", err)
		}
		dir = filepath.Join(cache, "twogather-emulate")
	}
	dir, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	return dir, os.MkdirAll(dir, 0o755)
}

// Lock keeps other processes out of the cache folder until the returned function is called.
func Lock(dir string) (unlock func(), err error) {
	f, err := os.OpenFile(filepath.Join(dir, "lock"), os.O_CREATE|os.O_RDWR|syscall.O_CLOEXEC, 0o644)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX); err != nil {
		f.Close()
		return nil, err
	}
	return func() { f.Close() }, nil
}

// Have reports whether Get would find the set in the cache folder.
func Have(s Set) bool {
	dir, err := Folder()
	if err != nil {
		return false
	}
	_, err = os.Stat(filepath.Join(dir, s.Name))
	return err == nil
}

// Get returns the folder that holds the set, filled if it was not.
func Get(ctx context.Context, s Set) (string, error) {
	dir, err := Folder()
	if err != nil {
		return "", err
	}
	unlock, err := Lock(dir)
	if err != nil {
		return "", err
	}
	defer unlock()

	done := filepath.Join(dir, s.Name)
	if _, err := os.Stat(done); err == nil {
		return done, nil
	}
	temporary := done + ".incomplete"
	if err := os.RemoveAll(temporary); err != nil {
		return "", err
	}
	defer os.RemoveAll(temporary)
	fmt.Fprintf(os.Stderr, "emulate: getting %s from Debian %s\n", strings.Join(append(s.Packages, s.Resolve...), " "), s.Suite)
	root := filepath.Join(temporary, "root")
	if err := unpack(ctx, s, filepath.Join(temporary, "apt"), root); err != nil {
		return "", fmt.Errorf("cannot get %s from Debian %s: %w", strings.Join(append(s.Packages, s.Resolve...), " "), s.Suite, err)
	}
	return done, os.Rename(root, done)
}

// unpack downloads the packages with an apt that knows nothing of this system but its mirror, its proxies and its keys.
func unpack(ctx context.Context, s Set, apt, root string) error {
	for _, tool := range []string{"apt-get", "apt-cache", "dpkg-deb"} {
		if _, err := exec.LookPath(tool); err != nil {
			return fmt.Errorf("this needs %s, which Debian and its relatives have", tool)
		}
	}
	const keys = "/usr/share/keyrings/debian-archive-keyring.gpg"
	if _, err := os.Stat(keys); err != nil {
		return errors.New("this needs Debian's keys, " + keys + ", from the package debian-archive-keyring")
	}
	for _, d := range []string{"lists/partial", "cache/archives/partial", "none"} {
		if err := os.MkdirAll(filepath.Join(apt, d), 0o755); err != nil {
			return err
		}
	}
	config := fmt.Sprintf(`Dir::Etc::sourcelist "%[1]s/debian.sources";
Dir::Etc::sourceparts "%[1]s/none";
Dir::Etc::preferences "%[1]s/none/preferences";
Dir::Etc::preferencesparts "%[1]s/none";
Dir::State "%[1]s";
Dir::State::lists "%[1]s/lists";
Dir::State::status "%[1]s/status";
Dir::Cache "%[1]s/cache";
APT::Architecture "amd64";
APT::Architectures { "amd64"; };
APT::Sandbox::User "root";
Debug::NoLocking "true";
APT::Update::Error-Mode "any";
Acquire::Retries "3";
Acquire::Languages "none";
Acquire::IndexTargets::deb::DEP-11::DefaultEnabled "false";
Acquire::IndexTargets::deb::Contents-deb::DefaultEnabled "false";
`, apt)
	sources := fmt.Sprintf("Types: deb\nURIs: %s\nSuites: %s\nComponents: main\nSigned-By: %s\n", mirror(ctx), s.Suite, keys)
	for name, text := range map[string]string{"apt.conf": config, "debian.sources": sources, "status": ""} {
		if err := os.WriteFile(filepath.Join(apt, name), []byte(text), 0o644); err != nil {
			return err
		}
	}
	run := func(name string, args ...string) (string, error) {
		return command(ctx, apt, name, args...)
	}

	if _, err := run("apt-get", "-qq", "update"); err != nil {
		return err
	}
	packages := slices.Clone(s.Packages)
	for _, meta := range s.Resolve {
		out, err := run("apt-cache", "depends", "--important", meta)
		if err != nil {
			return err
		}
		_, name, ok := strings.Cut(out, "Depends: ")
		if !ok {
			return fmt.Errorf("%s depends on nothing", meta)
		}
		packages = append(packages, strings.Fields(name)[0])
	}
	get, debs := []string{"-qq", "download"}, "*.deb"
	if s.Libraries {
		get = []string{"-qq", "-y", "--no-install-recommends", "--download-only", "install"}
		debs = "cache/archives/*.deb"
	}
	if _, err := run("apt-get", append(get, packages...)...); err != nil {
		return err
	}
	files, err := filepath.Glob(filepath.Join(apt, debs))
	if err != nil || len(files) == 0 {
		return errors.New("apt-get downloaded nothing")
	}
	for _, deb := range files {
		// Of what the packages depend on, a program needs no more than the libraries.
		name, _, _ := strings.Cut(filepath.Base(deb), "_")
		if !strings.HasPrefix(name, "lib") && !slices.Contains(packages, name) {
			continue
		}
		if _, err := run("dpkg-deb", "-x", deb, root); err != nil {
			return err
		}
	}
	for _, d := range append([]string{"usr/share/doc", "usr/share/man", "usr/share/locale", "usr/share/icons"}, s.Drop...) {
		if err := os.RemoveAll(filepath.Join(root, d)); err != nil {
			return err
		}
	}
	return nil
}

// mirror returns the mirror that this system uses.
func mirror(ctx context.Context) string {
	out, _ := command(ctx, "", "apt-get", "indextargets", "--format", "$(SITE)")
	for line := range strings.Lines(out) {
		if site := strings.TrimRight(strings.TrimSpace(line), "/"); strings.HasSuffix(site, "/debian") {
			return site
		}
	}
	return "http://deb.debian.org/debian"
}

// command returns what a program prints; its error says all. Where apt is a folder, the program runs in it, with the
// apt.conf there.
func command(ctx context.Context, apt, name string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir = apt
	cmd.Env = append(os.Environ(), "LC_ALL=C", "DEBIAN_FRONTEND=noninteractive")
	if apt != "" {
		cmd.Env = append(cmd.Env, "APT_CONFIG="+filepath.Join(apt, "apt.conf"))
	}
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		if ctx.Err() != nil {
			return "", ctx.Err()
		}
		return "", fmt.Errorf("%s %s: %v\n%s", name, strings.Join(args, " "), err, bytes.TrimSpace(stderr.Bytes()))
	}
	return stdout.String(), nil
}

// Loaded returns the command that runs an unpacked program with the libraries it was unpacked with.
func Loaded(root, program string, args ...string) []string {
	lib := filepath.Join(root, "usr/lib/x86_64-linux-gnu")
	loader := filepath.Join(lib, "ld-linux-x86-64.so.2")
	if _, err := os.Stat(loader); err != nil { // before Debian merged /lib into /usr/lib
		loader = filepath.Join(root, "lib/x86_64-linux-gnu/ld-linux-x86-64.so.2")
	}
	path := lib + ":" + filepath.Join(root, "lib/x86_64-linux-gnu")
	return append([]string{loader, "--library-path", path, filepath.Join(root, program)}, args...)
}
