package main

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/pages-toolchain/pages/cmd/internal/failure"
	"github.com/pages-toolchain/pages/cmd/internal/userfile"
	"github.com/pages-toolchain/pages/cmd/internal/wording"
	"github.com/pages-toolchain/pages/manifest"
	"github.com/pages-toolchain/pages/manifest/packager"
)

// find returns the site's folder: the argument if there is one, else -C, else
// the nearest folder upwards that holds a manifest, no further than the root of
// the version control.
func (c *cli) find(args []string) (string, error) {
	given := c.siteDir
	if len(args) > 0 {
		if c.typed["dir"] {
			return "", errTwoSites
		}
		given = args[0]
	}
	if given != "" {
		return c.given(given)
	}
	return c.nearest()
}

// siteArgument takes what is left of the arguments, none or one, for the site, as -C does.
func (c *cli) siteArgument(args []string) error {
	if len(args) == 0 {
		return nil
	}
	if c.typed["dir"] {
		return errTwoSites
	}
	c.siteDir = args[0]
	return nil
}

// first is the first argument, "" without one, and those after it.
func first(args []string) (string, []string) {
	if len(args) == 0 {
		return "", nil
	}
	return args[0], args[1:]
}

// nearest is the site's folder that find takes when none is named.
func (c *cli) nearest() (string, error) {
	for dir := c.term.Dir; ; {
		if userfile.IsFile(filepath.Join(dir, manifest.FileName)) {
			return dir, nil
		}
		parent := filepath.Dir(dir)
		if parent == dir || packager.IsCheckout(dir) {
			return "", &failure.Error{
				Exit: failure.ExitRefused, Code: "no-manifest",
				Message: fmt.Sprintf("no %s in %s or above it", manifest.FileName, c.term.Dir),
				Fix:     cmp.Or(c.insteadOf(c.term.Dir), "run pages in the site's folder or name it (pages COMMAND DIR); pages init begins a site"),
			}
		}
		dir = parent
	}
}

// errTwoSites refuses a site that is named twice, rather than guess which is meant.
var errTwoSites = failure.Usage("--dir and an argument both name a site; give one of them")

// given is the folder of a site that the user named, by the folder or by the
// manifest in it.
func (c *cli) given(path string) (string, error) {
	abs := c.term.Path(path)
	info, err := os.Stat(abs)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "", &failure.Error{Exit: failure.ExitRefused, Code: "no-such-folder", Message: fmt.Sprintf("%s does not exist", wording.QuotePath(path)), Fix: cmp.Or(c.insteadOfNamed(path, abs), "name a site's folder or its "+manifest.FileName)}
	case err != nil:
		return "", &failure.Error{Exit: failure.ExitRefused, Code: "unreadable", Message: fmt.Sprintf("%s cannot be read: %s", wording.QuotePath(path), failure.Reason(err)), Err: err}
	case !info.IsDir() && filepath.Base(abs) != manifest.FileName:
		return "", &failure.Error{Exit: failure.ExitRefused, Code: "not-a-manifest", Message: fmt.Sprintf("%s is no folder and not called %s", wording.QuotePath(path), manifest.FileName), Fix: cmp.Or(c.insteadOfNamed(path, abs), "name a site's folder or its "+manifest.FileName)}
	case !info.IsDir():
		return filepath.Dir(abs), nil
	}
	if !userfile.IsFile(filepath.Join(abs, manifest.FileName)) {
		return "", &failure.Error{Exit: failure.ExitRefused, Code: "no-manifest", Message: fmt.Sprintf("there is no %s in %s", manifest.FileName, wording.QuotePath(path)), Fix: cmp.Or(c.insteadOfNamed(path, abs), "pages init "+wording.ShellWord(path)+" writes one; {} makes the folder a static site")}
	}
	return abs, nil
}

// namedFolder is the folder that an argument or -C names, itself or by its
// manifest.
func (c *cli) namedFolder(args []string) (dir string, ok bool) {
	given := c.siteDir
	if len(args) > 0 {
		given = args[0]
	}
	if given == "" {
		return "", false
	}
	dir = c.term.Path(given)
	if filepath.Base(dir) == manifest.FileName && userfile.IsFile(dir) {
		dir = filepath.Dir(dir)
	}
	return dir, true
}
