// Package project finds the sites that a command line names: their folders, manifests, personas, secrets and builds.
//
// Sites finds a site's folder, reads its manifest and prepares its bundler; a Checker checks many manifests at once. A refused file is a
// *failure.RefusedError; any other error is a *failure.Error with a fix. Sites and Checker may be used by several goroutines. The package
// changes no file, does not open the local state, and asks no question; it prints the warnings of a manifest on the terminal.
package project

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/pages-toolchain/pages/bundler"
	"github.com/pages-toolchain/pages/cmd/internal/failure"
	"github.com/pages-toolchain/pages/cmd/internal/localsecrets"
	"github.com/pages-toolchain/pages/cmd/internal/terminal"
	"github.com/pages-toolchain/pages/cmd/internal/userfile"
	"github.com/pages-toolchain/pages/cmd/internal/wording"
	"github.com/pages-toolchain/pages/manifest"
	"github.com/pages-toolchain/pages/manifest/diagnostic"
	"github.com/pages-toolchain/pages/manifest/edgerules"
	"github.com/pages-toolchain/pages/manifest/packager"
	"github.com/pages-toolchain/pages/manifest/publicfiles"
	"github.com/pages-toolchain/pages/manifest/secretscan"
	"github.com/pages-toolchain/pages/manifest/validate"
	"github.com/pages-toolchain/pages/manifest/wrangler"
	"github.com/pages-toolchain/pages/runtime/node"
)

// Sites finds, checks and builds the sites that a command line names.
type Sites struct {
	Terminal *terminal.Terminal
	SiteDir  string // the folder of -C; "" for none
	DirTyped bool   // -C is on the command line, not only in the environment
	// EdgeRules may be EdgeRulesOff, which ignores "_headers" and "_redirects" with all their errors.
	EdgeRules string
}

// Find returns the site's folder: the argument if there is one, else -C, else the nearest folder upwards with a manifest, up to the root of
// the checkout.
func (s *Sites) Find(args []string) (string, error) {
	given := s.SiteDir
	if len(args) > 0 {
		if s.DirTyped {
			return "", ErrTwoSites
		}
		given = args[0]
	}
	if given != "" {
		return s.folderOf(given)
	}
	return s.Nearest()
}

// Nearest is the site's folder that Find takes if none is named.
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
					"run pages in the site's folder or name it (pages COMMAND DIR); pages init creates a site",
				),
			}
		}
		dir = parent
	}
}

// ErrTwoSites refuses two names for the site: Find does not guess.
var ErrTwoSites = failure.Usage("--dir and an argument both name a site; pass one of them")

// folderOf returns the folder of a site that the user named by its folder or by its manifest.
func (s *Sites) folderOf(path string) (string, error) {
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
			Message: fmt.Sprintf("%s is neither a folder nor called %s", wording.QuotePath(path), manifest.FileName),
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

// NamedFolder returns the folder that an argument or -C names, directly or by its manifest.
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

// Load reads and checks the manifest of the site in dir; the manifest is nil if it was refused.
func (s *Sites) Load(dir string) (*manifest.Manifest, Checked) {
	return s.loadFrom(os.DirFS(dir), filepath.Join(dir, manifest.FileName), s.checker().Load)
}

func (s *Sites) checker() validate.Checker {
	return validate.Checker{NoEdgeRules: s.EdgeRules == EdgeRulesOff}
}

// LoadUnread is Load without reading the public files, for a site that is built next: the build reads each. Checked has the list of those
// files for it.
func (s *Sites) LoadUnread(dir string) (*manifest.Manifest, Checked) {
	var listed fs.FS
	if root, err := os.OpenRoot(dir); err == nil { // otherwise there is no list
		defer root.Close()
		listed = root.FS()
	}
	var listing *publicfiles.Listing
	m, checked := s.loadFrom(os.DirFS(dir), filepath.Join(dir, manifest.FileName),
		func(fsys fs.FS, name string) (m *manifest.Manifest, found diagnostic.List) {
			m, listing, found = s.checker().LoadForBuild(fsys, listed, name)
			return m, found
		})
	if listing != nil {
		listing.Taken = s.Terminal.Now()
	}
	checked.Public = listing
	return m, checked
}

// LoadBehind is LoadUnread for a site whose files come from a framework's dev server.
func (s *Sites) LoadBehind(dir string) (*manifest.Manifest, Checked) {
	return s.loadFrom(os.DirFS(dir), filepath.Join(dir, manifest.FileName), validate.LoadForUpstream)
}

// loadFrom makes load read and check the manifest at path in fsys.
func (s *Sites) loadFrom(
	fsys fs.FS, path string, load func(fsys fs.FS, name string) (*manifest.Manifest, diagnostic.List),
) (*manifest.Manifest, Checked) {
	m, diags := load(fsys, filepath.Base(path))
	src, _ := userfile.ReadSource(path) // without it the report has no code frames
	return m, Checked{Report: diagnostic.NewReport(s.Terminal.Shown(path), diags), Diagnostics: diags, Source: src}
}

// LoadSite finds the site of a command and its manifest, which must be valid. It prints warnings.
func (s *Sites) LoadSite(args []string) (string, *manifest.Manifest, error) {
	dir, m, _, err := s.findSite(args, s.Load, true)
	return dir, m, err
}

// LoadValid is LoadSite without the warnings: pages validate prints them.
func (s *Sites) LoadValid(args []string) (string, *manifest.Manifest, error) {
	dir, m, _, err := s.findSite(args, s.Load, false)
	return dir, m, err
}

// LoadToServe is LoadValid for a site whose files come from a framework's dev server.
func (s *Sites) LoadToServe(args []string) (string, *manifest.Manifest, error) {
	dir, m, _, err := s.findSite(args, s.LoadBehind, false)
	return dir, m, err
}

// LoadToBuild is LoadSite for a site that is built next, with the list of its public files; nil for none.
func (s *Sites) LoadToBuild(args []string) (dir string, m *manifest.Manifest, public *publicfiles.Listing, err error) {
	return s.findSite(args, s.LoadUnread, true)
}

func (s *Sites) findSite(
	args []string, load func(dir string) (*manifest.Manifest, Checked), warn bool,
) (string, *manifest.Manifest, *publicfiles.Listing, error) {
	dir, err := s.Find(args)
	if err != nil {
		return "", nil, nil, err
	}
	m, r := load(dir)
	if m == nil {
		return "", nil, nil, &failure.RefusedError{Report: r.Report, Source: r.Source}
	}
	if warn && len(r.Report.Diagnostics) > 0 && !s.Terminal.Quiet && !s.Terminal.JSON {
		s.Terminal.PrintDiagnostics(r.Report, r.Source)
	}
	return dir, m, r.Public, nil
}

// Checked is a manifest with its diagnostics.
type Checked struct {
	Report      diagnostic.Report // files as the user would name them
	Diagnostics diagnostic.List   // files relative to the site's folder
	Source      []byte
	Public      *publicfiles.Listing
	Looked      []string // absolute paths that the rules checked, if the checker records them
}

// Refusal is the error of refused files of the site in dir.
func (s *Sites) Refusal(dir string, diags diagnostic.List) error {
	return failure.Refuse(userfile.WorkDir(s.Terminal.Dir), dir, diags)
}

// ReportOf returns diagnostics of the site in dir, with files as the user would name them.
func (s *Sites) ReportOf(dir string, diags diagnostic.List) diagnostic.Report {
	return diagnostic.NewReport(s.Terminal.Shown(filepath.Join(dir, manifest.FileName)), diags)
}

// BundlerOptions returns the options of every build. allowImport are folders as the user named them.
func (s *Sites) BundlerOptions(allowImport []string) bundler.Options {
	o := bundler.Options{Provided: ProvidedModules(), NoBundle: wrangler.NoBundle, Home: s.Terminal.HomeDir, Now: s.Terminal.Now}
	for _, folder := range allowImport {
		o.AllowImport = append(o.AllowImport, s.Terminal.Path(folder))
	}
	return o
}

// LocalSecrets locates the secrets of the site in dir.
func (s *Sites) LocalSecrets(dir string) localsecrets.Source {
	return localsecrets.Source{Dir: dir, Lookup: s.Terminal.Lookup}
}

// NewBundler returns a builder of a site whose output holds none of its secrets.
func (s *Sites) NewBundler(ctx context.Context, dir string, m *manifest.Manifest, o bundler.Options) (*bundler.Builder, error) {
	secrets, err := s.LocalSecrets(dir).ScanSet(ctx, m)
	if err != nil {
		return nil, err
	}
	o.Secrets = func() *secretscan.Set { return secrets }
	return bundler.New(dir, o), nil
}

// ProvidedModules returns the modules of the runtime, which the bundler leaves out. Those of Node.js need the flag nodejs_compat.
func ProvidedModules() []string {
	return append([]string{"cloudflare:sockets", "cloudflare:workers"}, node.Specifiers()...)
}

// The modes of a site's files "_headers" and "_redirects", which the platform's document does not mention.
const (
	EdgeRulesOn  = "on"
	EdgeRulesOff = "off"
)

// LoadEdgeRules returns the rules of the site in dir, whose manifest is valid. If a file has changed since and is broken now, its valid
// lines count; the next build reports the others.
func (s *Sites) LoadEdgeRules(dir string, m *manifest.Manifest) *edgerules.Rules {
	if s.EdgeRules == EdgeRulesOff {
		return nil
	}
	rules, _ := edgerules.Load(os.DirFS(dir), m.Assets)
	return rules
}
