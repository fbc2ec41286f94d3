package scaffold

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/pages-toolchain/pages/cmd/internal/failure"
	"github.com/pages-toolchain/pages/cmd/internal/terminal"
	"github.com/pages-toolchain/pages/cmd/internal/userfile"
	"github.com/pages-toolchain/pages/cmd/internal/wording"
	"github.com/pages-toolchain/pages/manifest"
	"github.com/pages-toolchain/pages/manifest/diagnostic"
	"github.com/pages-toolchain/pages/manifest/editor"
	"github.com/pages-toolchain/pages/manifest/packager"
	"github.com/pages-toolchain/pages/manifest/starter"
	"github.com/pages-toolchain/pages/manifest/wrangler"
)

// Options say what to begin with, and where.
type Options struct {
	Dir   string // absolute
	Named bool   // the user named Dir: any folder may become a site then
	// Template is the name of a template; "" to adopt what is there, or to ask.
	Template string
	Yes      bool     // ask nothing
	Editors  []string // names; none for the usual one
	Commit   string   // what pages was built from, for the workflow; "" where that is unknown
	// Load reads and checks the manifest of a site. Its report has the paths as the user would name them.
	Load func(dir string) (m *manifest.Manifest, report diagnostic.Report, source []byte)
}

// site is a folder that becomes a site.
type site struct {
	Options
	term *terminal.Terminal

	dir      string
	name     string
	template string // of a new site
	adopted  string // what an existing one is known by, from its folder
	manifest []byte // nil when it is there already
	parsed   *manifest.Manifest
	files    []starter.File
	secrets  map[string]string // what has no value in secretFile yet
	stored   map[string]string // what has
	// secretFile is where secrets of this machine are: .dev.vars, or the .env that counts in its place.
	secretFile string
	notes      []wrangler.Note
	unbuilt    bool // a build makes what there is to adopt
	editors    []editor.Editor
}

// Init begins or adopts a site, and prints what was written. What is in the way is found before the first file is
// written.
func Init(ctx context.Context, t *terminal.Terminal, o Options) error {
	dir := o.Dir
	s := &site{Options: o, term: t, dir: dir, name: starter.SiteName(filepath.Base(dir)), secrets: map[string]string{}}
	if info, err := os.Stat(dir); err == nil && !info.IsDir() {
		return &failure.Error{Exit: failure.ExitRefused, Code: "not-a-folder", Message: fmt.Sprintf("%s is no folder", wording.QuotePath(t.Shown(dir))), Fix: "name a folder for the site: pages init DIR"}
	}
	if what := specialFolder(dir); what != "" && !o.Named && !userfile.IsFile(filepath.Join(dir, manifest.FileName)) {
		return &failure.Error{Exit: failure.ExitRefused, Code: "not-a-site-folder", Message: fmt.Sprintf("this is %s, and a site has a folder of its own", what), Fix: "name one for the site: pages init my-site; or pages init . if it shall be here"}
	}
	if err := s.choose(ctx); err != nil {
		return err
	}
	if err := s.parse(); err != nil {
		return err
	}
	return s.write()
}

// specialFolder names a folder that no site should take by accident: the user's home, or the root of the file system. It
// returns "" for any other.
func specialFolder(dir string) string {
	if filepath.Dir(dir) == dir {
		return "the root of the file system"
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return ""
	}
	is, err := os.Stat(dir)
	if err != nil {
		return ""
	}
	if whose, err := os.Stat(home); err == nil && os.SameFile(is, whose) {
		return "your home folder"
	}
	return ""
}

// choose decides what the site is made of.
func (s *site) choose(ctx context.Context) error {
	if err := s.detect(ctx); err != nil {
		return err
	}
	switch {
	case s.Template != "" && s.adopted == manifest.FileName:
		return &failure.Error{Exit: failure.ExitRefused, Code: "site-exists", Message: fmt.Sprintf("there is a site in %s already", wording.QuotePath(s.term.Shown(s.dir))), Fix: "leave --template out to add what is missing, or name another folder"}
	case s.Template != "":
		t, ok := starter.Find(s.Template)
		if !ok {
			return failure.Usage("--template is %q; it is one of %s", s.Template, strings.Join(TemplateNames(), ", "))
		}
		s.begin(t)
		return s.chooseEditors(s.Editors)
	case s.unbuilt, s.Yes && s.adopted == "" && s.buildCommand() != "":
		return s.needsBuild()
	case s.Yes && s.adopted == "":
		t, _ := starter.Find("static")
		s.begin(t)
		return s.chooseEditors(s.Editors)
	case s.Yes:
		return s.chooseEditors(s.Editors)
	case !s.term.Interactive():
		fix := "say --template with one of " + strings.Join(TemplateNames(), ", ")
		if s.adopted != "" {
			fix = "say --yes to adopt " + s.adopted + ", or --template to begin anew"
		}
		return &failure.Error{Exit: failure.ExitPerson, Code: "choice-needed", Message: s.term.Unattended(), Fix: fix}
	}
	return s.ask(ctx)
}

// buildCommand is what makes the site that is published: a script of package.json, or a generator. It is empty when
// nothing does.
func (s *site) buildCommand() string {
	project := userfile.RegularFS{FS: os.DirFS(s.dir)}
	if script := starter.BuildScript(project); script != "" {
		return packager.Of(s.dir).Run(script)
	}
	generator, _ := starter.FindGenerator(project)
	return generator.Command
}

// needsBuild is the error where there is something to build before there is something to adopt.
func (s *site) needsBuild() error {
	f := &failure.Error{Exit: failure.ExitPerson, Code: "choice-needed", Message: "package.json has a script that builds, and nothing here looks like what it made"}
	command := s.buildCommand()
	switch generator, ok := starter.FindGenerator(userfile.RegularFS{FS: os.DirFS(s.dir)}); {
	case s.unbuilt:
		f.Message = s.adopted + " names what a build makes, and nothing here looks like what it made"
	case ok && command == generator.Command:
		f.Message = "this is a site for " + generator.Name + ", and there is no " + generator.Output + " that it made"
	}
	f.Fix = "build it"
	if command != "" {
		f.Fix = "run `" + command + "`"
	}
	if server, ok := starter.FindServer(userfile.RegularFS{FS: os.DirFS(s.dir)}); ok && !s.unbuilt {
		f.Message = server.File + " is of what " + server.Framework + " built for a server, and there is neither a Worker nor a page"
		f.Fix = server.Remedy + ", " + f.Fix
	}
	f.Fix += ", and pages init again to adopt that; or say --template to begin beside it"
	return f
}

// begin takes a template.
func (s *site) begin(t starter.Template) {
	s.template, s.adopted, s.notes, s.manifest, s.files = t.Name, "", nil, nil, nil
	clear(s.secrets)
	for _, f := range t.Files(s.name) {
		if f.Path == manifest.FileName {
			s.manifest = f.Text
			continue
		}
		s.files = append(s.files, f)
	}
}

func (s *site) chooseEditors(names []string) (err error) {
	switch {
	case NoEditor(names):
		return nil
	case len(names) == 0:
		names = EditorNames()[:1]
	}
	s.editors, err = ChooseEditors(names)
	return err
}

// parse reads the manifest that the site has or gets.
func (s *site) parse() error {
	if s.manifest == nil {
		m, report, source := s.Load(s.dir)
		if m == nil {
			return &failure.RefusedError{Report: report, Source: source}
		}
		s.parsed = m
		return nil
	}
	m, diags := manifest.Parse(manifest.FileName, s.manifest)
	if m == nil { // what was read says what no manifest may
		return &failure.RefusedError{Report: diagnostic.NewReport(s.term.Shown(filepath.Join(s.dir, manifest.FileName)), diags), Source: s.manifest}
	}
	s.parsed = m
	return nil
}
