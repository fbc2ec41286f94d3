package main

import (
	"io/fs"
	"os"
	"path/filepath"

	"github.com/pages-toolchain/pages/cmd/internal/failure"
	"github.com/pages-toolchain/pages/cmd/internal/userfile"
	"github.com/pages-toolchain/pages/manifest"
)

// load reads and checks the manifest of the site in dir; it is nil when it was
// refused.
func (c *cli) load(dir string) (*manifest.Manifest, checked) {
	return c.loadFrom(os.DirFS(dir), filepath.Join(dir, manifest.FileName), manifest.Load)
}

// loadUnread is load for a site that is built next: the build reads every public file.
func (c *cli) loadUnread(dir string) (*manifest.Manifest, checked) {
	return c.loadFrom(os.DirFS(dir), filepath.Join(dir, manifest.FileName), manifest.LoadUnread)
}

// loader reads the manifest of a name, and checks it with the files beside it.
type loader = func(fsys fs.FS, name string) (*manifest.Manifest, manifest.Diagnostics)

// loadFrom reads and checks the manifest at a path, whose folder fsys is.
func (c *cli) loadFrom(fsys fs.FS, path string, load loader) (*manifest.Manifest, checked) {
	m, diags := load(fsys, filepath.Base(path))
	src, _ := userfile.ReadSource(path) // without it the report has no code frames
	return m, checked{report: manifest.NewReport(c.term.Shown(path), diags), diags: diags, src: src}
}

// loadSite finds a command's site and its manifest, which must be valid. Warnings
// are printed.
func (c *cli) loadSite(args []string) (string, *manifest.Manifest, error) {
	return c.findSite(args, c.load)
}

// loadToBuild is loadSite for a site that is built next.
func (c *cli) loadToBuild(args []string) (string, *manifest.Manifest, error) {
	return c.findSite(args, c.loadUnread)
}

func (c *cli) findSite(args []string, load func(dir string) (*manifest.Manifest, checked)) (string, *manifest.Manifest, error) {
	dir, err := c.find(args)
	if err != nil {
		return "", nil, err
	}
	m, r := load(dir)
	if m == nil {
		return "", nil, &failure.RefusedError{Report: r.report, Source: r.src}
	}
	if len(r.report.Diagnostics) > 0 && !c.term.Quiet && !c.term.JSON {
		c.term.PrintDiagnostics(r.report, r.src)
	}
	return dir, m, nil
}

// checked is one manifest and what was found about it.
type checked struct {
	report manifest.Report      // files as the user would name them
	diags  manifest.Diagnostics // files relative to the site's folder
	src    []byte
	looked []string // absolute paths of what the rules looked at, when that was asked for
}
