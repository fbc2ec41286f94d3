package scaffold

import (
	"fmt"
	"os"

	"github.com/pages-toolchain/pages/cmd/internal/failure"
	"github.com/pages-toolchain/pages/cmd/internal/terminal"
	"github.com/pages-toolchain/pages/cmd/internal/userfile"
	"github.com/pages-toolchain/pages/cmd/internal/wording"
	"github.com/pages-toolchain/pages/manifest"
	"github.com/pages-toolchain/pages/manifest/diagnostic"
	"github.com/pages-toolchain/pages/manifest/editor"
	"github.com/pages-toolchain/pages/manifest/framework"
	"github.com/pages-toolchain/pages/manifest/packager"
	"github.com/pages-toolchain/pages/manifest/starter"
	"github.com/pages-toolchain/pages/manifest/wrangler"
)

// Options choose the template and the folder of a site.
type Options struct {
	Dir   string // absolute
	Named bool   // the user named Dir: any folder may then become a site
	// Template is the name of a template; "" to adopt the existing files, or to ask.
	Template string
	Yes      bool // ask nothing
	// Configure edits the framework's configuration, if it needs an edit to build a Worker.
	Configure bool
	Editors   []string // names; empty for the usual one
	Agents    *Agents  // files for coding agents, of which Folder is found; nil for none
	Version   string   // version of pages for the workflow, if it is a release
	Commit    string   // commit of pages for the workflow; "" if unknown
	// Load reads and checks the manifest of a site. Its report has paths as the user would write them.
	Load func(dir string) (m *manifest.Manifest, report diagnostic.Report, source []byte)
}

// site is a folder that becomes a site.
type site struct {
	Options
	term *terminal.Terminal

	dir      string
	title    string
	template string // of a new site
	adopted  string // names an existing one: its manifest, configuration, built folder or framework
	manifest []byte // nil if it exists already
	parsed   *manifest.Manifest
	files    []starter.File
	secrets  map[string]string // without a value in secretFile yet
	stored   map[string]string // with a value there
	// secretFile is the file with the secrets of this machine: .dev.vars, the .env in its place, or the file for variables of wrangler's
	// configuration.
	secretFile string
	notes      []wrangler.Note
	unbuilt    bool             // a build makes the files to adopt
	setup      *framework.Setup // of a project that is not built yet
	editors    []editor.Editor
}

// buildCommand builds the published site: a script of package.json, or a generator. It is empty for a site without a build.
func (s *site) buildCommand() string {
	if s.setup != nil && s.setup.Build != "" {
		return s.setup.Build
	}
	project := userfile.RegularFS{FS: os.DirFS(s.dir)}
	if script := starter.BuildScript(project); script != "" {
		return packager.Of(s.dir).Run(script)
	}
	generator, _ := starter.FindGenerator(project)
	return generator.Command
}

// needsBuild is the error if a build must come before the site can be adopted.
func (s *site) needsBuild() error {
	f := &failure.Error{
		Exit: failure.ExitPerson, Code: "choice-needed",
		Message: "package.json has a build script, and its output is missing",
	}
	command := s.buildCommand()
	if s.unbuilt {
		f.Message = s.adopted + " names the output of a build, which is missing"
	}
	f.Fix = "build it"
	if command != "" {
		f.Fix = "run `" + command + "`"
	}
	if server, ok := starter.FindServer(userfile.RegularFS{FS: os.DirFS(s.dir)}); ok && !s.unbuilt {
		f.Message = server.File + " is from a build of " + server.Framework + " for a server, and there is neither a Worker nor a page"
		f.Fix = server.Remedy + ", " + f.Fix
	}
	f.Fix += ", then run pages init again to adopt the output; or pass --template to start a new site beside it"
	return f
}

// begin starts from a template.
func (s *site) begin(t starter.Template) {
	s.template, s.adopted, s.notes, s.manifest, s.files, s.setup = t.Name, "", nil, nil, nil, nil
	clear(s.secrets)
	for _, f := range t.Files(s.title) {
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

func (s *site) unwritable(dir string, err error) error {
	return failure.Resource(
		"folder-unusable", fmt.Sprintf("the folder %s cannot be used", wording.QuotePath(s.term.Shown(dir))),
		"name a writable folder: pages init DIR", err,
	)
}
