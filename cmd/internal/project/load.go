package project

import (
	"io/fs"
	"os"
	"path/filepath"

	"github.com/pages-toolchain/pages/cmd/internal/failure"
	"github.com/pages-toolchain/pages/cmd/internal/userfile"
	"github.com/pages-toolchain/pages/manifest"
	"github.com/pages-toolchain/pages/manifest/diagnostic"
	"github.com/pages-toolchain/pages/manifest/validate"
)

// Load reads and checks the manifest of the site in dir; it is nil when it was
// refused.
func (s *Sites) Load(dir string) (*manifest.Manifest, Checked) {
	return s.loadFrom(os.DirFS(dir), filepath.Join(dir, manifest.FileName), validate.Load)
}

// LoadUnread is load without reading the public files, for a site that is built next: the build reads each.
func (s *Sites) LoadUnread(dir string) (*manifest.Manifest, Checked) {
	return s.loadFrom(os.DirFS(dir), filepath.Join(dir, manifest.FileName), validate.LoadForBuild)
}

// loader reads the manifest of a name, and checks it with the files beside it.
type loader = func(fsys fs.FS, name string) (*manifest.Manifest, diagnostic.List)

// loadFrom reads and checks the manifest at path, whose folder is fsys.
func (s *Sites) loadFrom(fsys fs.FS, path string, load loader) (*manifest.Manifest, Checked) {
	m, diags := load(fsys, filepath.Base(path))
	src, _ := userfile.ReadSource(path) // without it the report has no code frames
	return m, Checked{Report: diagnostic.NewReport(s.Terminal.Shown(path), diags), Diagnostics: diags, Source: src}
}

// LoadSite finds a command's site and its manifest, which must be valid. Warnings
// are printed.
func (s *Sites) LoadSite(args []string) (string, *manifest.Manifest, error) {
	return s.findSite(args, s.Load)
}

// LoadToBuild is loadSite for a site that is built next.
func (s *Sites) LoadToBuild(args []string) (string, *manifest.Manifest, error) {
	return s.findSite(args, s.LoadUnread)
}

func (s *Sites) findSite(args []string, load func(dir string) (*manifest.Manifest, Checked)) (string, *manifest.Manifest, error) {
	dir, err := s.Find(args)
	if err != nil {
		return "", nil, err
	}
	m, r := load(dir)
	if m == nil {
		return "", nil, &failure.RefusedError{Report: r.Report, Source: r.Source}
	}
	if len(r.Report.Diagnostics) > 0 && !s.Terminal.Quiet && !s.Terminal.JSON {
		s.Terminal.PrintDiagnostics(r.Report, r.Source)
	}
	return dir, m, nil
}

// Checked is one manifest and the diagnostics of it.
type Checked struct {
	Report      diagnostic.Report // files as the user would name them
	Diagnostics diagnostic.List   // files relative to the site's folder
	Source      []byte
	Looked      []string // absolute paths that the rules looked at, where the checker records them
}

// Refusal is the error of files of the site in dir that were refused.
func (s *Sites) Refusal(dir string, diags diagnostic.List) error {
	return failure.Refuse(userfile.WorkDir(s.Terminal.Dir), dir, diags)
}

// ReportOf returns diagnostics of the site in dir, with files as the user would name them.
func (s *Sites) ReportOf(dir string, diags diagnostic.List) diagnostic.Report {
	return diagnostic.NewReport(s.Terminal.Shown(filepath.Join(dir, manifest.FileName)), diags)
}
