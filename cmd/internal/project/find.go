// Package project is the sites of the user's disk, as a command line names them: their folders, manifests, personas,
// secrets and builds.
//
// Sites finds a site's folder, reads its manifest and prepares its bundler; a Checker checks many manifests at once. A
// refusal of a file is a *failure.RefusedError, any other error a *failure.Error that says what to do instead. Sites
// and Checker may be used by several goroutines. Nothing here changes a file, opens the local state or asks a person;
// warnings of a manifest are printed on the terminal.
package project

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/pages-toolchain/pages/cmd/internal/failure"
	"github.com/pages-toolchain/pages/cmd/internal/terminal"
	"github.com/pages-toolchain/pages/cmd/internal/userfile"
	"github.com/pages-toolchain/pages/cmd/internal/wording"
	"github.com/pages-toolchain/pages/manifest"
	"github.com/pages-toolchain/pages/manifest/packager"
)

// Sites finds, checks and builds the sites that a command line names.
type Sites struct {
	Terminal *terminal.Terminal
	SiteDir  string // of -C, "" for none
	DirTyped bool   // -C is on the command line itself, and not only in the environment
}

// Find returns the site's folder: the argument if there is one, else -C, else
// the nearest folder upwards that holds a manifest, no further than the root of
// the version control.
func (s *Sites) Find(args []string) (string, error) {
	given := s.SiteDir
	if len(args) > 0 {
		if s.DirTyped {
			return "", ErrTwoSites
		}
		given = args[0]
	}
	if given != "" {
		return s.given(given)
	}
	return s.Nearest()
}

// Nearest is the site's folder that find takes when none is named.
func (s *Sites) Nearest() (string, error) {
	for dir := s.Terminal.Dir; ; {
		if userfile.IsFile(filepath.Join(dir, manifest.FileName)) {
			return dir, nil
		}
		parent := filepath.Dir(dir)
		if parent == dir || packager.IsCheckout(dir) {
			return "", &failure.Error{
				Exit: failure.ExitRefused, Code: "no-manifest",
				Message: fmt.Sprintf("no %s in %s or above it", manifest.FileName, s.Terminal.Dir),
				Fix: cmp.Or(
					insteadOf(s.Terminal, s.Terminal.Dir),
					"run pages in the site's folder or name it (pages COMMAND DIR); pages init begins a site",
				),
			}
		}
		dir = parent
	}
}

// ErrTwoSites refuses a site that is named twice, rather than guess which is meant.
var ErrTwoSites = failure.Usage("--dir and an argument both name a site; give one of them")

// given is the folder of a site that the user named, by the folder or by the
// manifest in it.
func (s *Sites) given(path string) (string, error) {
	abs := s.Terminal.Path(path)
	info, err := os.Stat(abs)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "", &failure.Error{
			Exit: failure.ExitRefused, Code: "no-such-folder", Message: fmt.Sprintf("%s does not exist", wording.QuotePath(path)),
			Fix: cmp.Or(insteadOfNamed(s.Terminal, path, abs), "name a site's folder or its "+manifest.FileName),
		}
	case err != nil:
		return "", &failure.Error{
			Exit: failure.ExitRefused, Code: "unreadable",
			Message: fmt.Sprintf("%s cannot be read: %s", wording.QuotePath(path), failure.Reason(err)), Err: err,
		}
	case !info.IsDir() && filepath.Base(abs) != manifest.FileName:
		return "", &failure.Error{
			Exit: failure.ExitRefused, Code: "not-a-manifest",
			Message: fmt.Sprintf("%s is no folder and not called %s", wording.QuotePath(path), manifest.FileName),
			Fix:     cmp.Or(insteadOfNamed(s.Terminal, path, abs), "name a site's folder or its "+manifest.FileName),
		}
	case !info.IsDir():
		return filepath.Dir(abs), nil
	}
	if !userfile.IsFile(filepath.Join(abs, manifest.FileName)) {
		return "", &failure.Error{
			Exit: failure.ExitRefused, Code: "no-manifest",
			Message: fmt.Sprintf("there is no %s in %s", manifest.FileName, wording.QuotePath(path)),
			Fix: cmp.Or(
				insteadOfNamed(s.Terminal, path, abs),
				"pages init "+wording.ShellWord(path)+" writes one; {} makes the folder a static site",
			),
		}
	}
	return abs, nil
}

// NamedFolder is the folder that an argument or -C names, itself or by its
// manifest.
func (s *Sites) NamedFolder(args []string) (dir string, ok bool) {
	given := s.SiteDir
	if len(args) > 0 {
		given = args[0]
	}
	if given == "" {
		return "", false
	}
	dir = s.Terminal.Path(given)
	if filepath.Base(dir) == manifest.FileName && userfile.IsFile(dir) {
		dir = filepath.Dir(dir)
	}
	return dir, true
}
