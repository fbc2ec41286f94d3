package scaffold

import (
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pages-toolchain/pages/cmd/internal/failure"
	"github.com/pages-toolchain/pages/cmd/internal/projectfile"
	"github.com/pages-toolchain/pages/cmd/internal/userfile"
	"github.com/pages-toolchain/pages/manifest"
	"github.com/pages-toolchain/pages/manifest/framework"
	"github.com/pages-toolchain/pages/manifest/packager"
	"github.com/pages-toolchain/pages/manifest/starter"
	"github.com/pages-toolchain/pages/manifest/wrangler"
)

// This file sets up projects before their framework or generator has built them.

// SetUp is the part of a Document about a framework.
type SetUp struct {
	Framework string   `json:"framework"`
	Packages  []string `json:"packages"` // to install
	Command   string   `json:"command"`  // of the framework, which makes all edits itself
	Edits     []Edit   `json:"edits"`
	Note      string   `json:"note"`
}

// Edit is a change of the project's configuration.
type Edit struct {
	File  string   `json:"file"`  // relative to the site's folder
	Made  bool     `json:"made"`  // false if init creates the file
	Lines []string `json:"lines"` // each with "+ " or "- "
}

func (s *site) setUpDocument() *SetUp {
	if s.setup == nil {
		return nil
	}
	doc := &SetUp{
		Framework: s.setup.Framework, Packages: append([]string{}, s.setup.Packages...), Command: s.setup.Command, Edits: []Edit{},
		Note: s.setup.Note,
	}
	for _, e := range s.setup.Edits {
		doc.Edits = append(doc.Edits, Edit{e.File, s.makes(e), editLines(e)})
	}
	return doc
}

func editLines(e framework.Edit) []string {
	lines := make([]string, len(e.Lines))
	for i, line := range e.Lines {
		lines[i] = "- " + line.Text
		if line.Added {
			lines[i] = "+ " + line.Text
		}
	}
	return lines
}

// makes reports whether init makes an edit.
func (s *site) makes(e framework.Edit) bool { return s.Configure && e.After != nil }

// findSetup returns the setup for the framework or the generator of a project; nil for an unknown one.
func findSetup(project fs.FS) *framework.Setup {
	if f, ok := framework.Find(project); ok {
		setup := f.NewSetup(project)
		return &setup
	}
	if g, ok := starter.FindGenerator(project); ok {
		return &framework.Setup{Framework: g.Name, Assets: g.Output}
	}
	return nil
}

// adoptUnbuilt adopts the future output of the build as the site.
func (s *site) adoptUnbuilt(m *manifest.Manifest, setup *framework.Setup, project fs.FS) {
	s.setup = setup
	m.Entry, m.Assets = setup.Entry, setup.Assets
	if node := manifest.FlagNodeJS; setup.Node && !s.flagsElsewhere(project) && !slices.Contains(m.Runtime.CompatibilityFlags, node) {
		m.Runtime.CompatibilityFlags = append(m.Runtime.CompatibilityFlags, node)
	}
	for _, f := range setup.Files {
		s.files = append(s.files, starter.File{Path: f.Path, Text: f.Text})
	}
	if setup.App && m.Entry == "" {
		s.serveApp(m, starter.App{Page: "/"})
	}
	server, ok := starter.FindServer(project)
	if ok && server.File != m.Entry && !slices.ContainsFunc(setup.Files, func(f framework.File) bool {
		return strings.Contains(string(f.Text), server.File)
	}) {
		s.notes = append(s.notes, wrangler.Note{
			Key: server.File, Effect: wrangler.Changed, Text: "this comes from a build for a Node.js server: build again for a Worker",
		})
	}
}

// flagsElsewhere reports whether the platform reads flags in a configuration of wrangler.
func (s *site) flagsElsewhere(project fs.FS) bool {
	return slices.ContainsFunc(wrangler.Files()[:2], func(name string) bool {
		text, err := fs.ReadFile(project, name)
		return err == nil && strings.Contains(string(text), `"compatibility_flags"`)
	})
}

// planSetUp plans the changes of the project's own files: scripts of package.json, and edits if they are wanted.
func (s *site) planSetUp(folder *projectfile.Folder) (list []*projectfile.File, err error) {
	if s.setup == nil {
		return nil, nil
	}
	changes := map[string][]byte{}
	if before, err := userfile.ReadRegular(filepath.Join(s.dir, "package.json")); err == nil {
		changes["package.json"] = framework.WithScripts(before, s.scripts())
	}
	for _, e := range s.setup.Edits {
		if s.makes(e) {
			changes[e.File] = e.After
		}
	}
	for name, after := range changes {
		planned, err := s.planFile(folder, starter.File{Path: name, Text: after})
		if err != nil {
			return nil, err
		}
		planned.After, planned.Reason = after, "there is nothing to add"
		list = append(list, planned)
	}
	return list, nil
}

// scripts are the scripts of package.json that run pages.
func (s *site) scripts() (list []framework.Script) {
	if server, ok := starter.FindDevServer(userfile.RegularFS{FS: os.DirFS(s.dir)}); ok {
		list = append(list, framework.Script{Name: "pages:dev", Command: "pages dev -- " + packager.Of(s.dir).Run(server.Script)})
	}
	if command := s.buildCommand(); command != "" {
		list = append(list, framework.Script{Name: "pages:deploy", Command: command + " && pages deploy"})
	}
	return list
}

// printSetUp prints the remaining steps for the author.
func (s *site) printSetUp() {
	if s.setup == nil {
		return
	}
	for _, e := range s.setup.Edits {
		switch lines := "\n  " + strings.Join(editLines(e), "\n  "); {
		case s.makes(e):
		case e.After == nil:
			s.term.Progress("%s needs this edit of %s:%s", s.setup.Framework, e.File, lines)
		default:
			s.term.Progress("%s needs this edit of %s, which pages init --configure makes:%s", s.setup.Framework, e.File, lines)
		}
	}
	if s.setup.Note != "" {
		s.term.Progress("%s", s.setup.Note)
	}
}

// refuseTemplate is the error of a template in a project of a framework: its files would be among the sources.
func (s *site) refuseTemplate(name string) error {
	return &failure.Error{
		Exit: failure.ExitRefused, Code: "framework-project",
		Message: "this is a project of " + name + ", and the files of a template would be among its sources",
		Fix:     "pages init --yes sets this project up; pages init --template " + s.Template + " DIR starts in another folder",
	}
}

// addManifest makes the manifest's text.
func (s *site) addManifest(m *manifest.Manifest) error {
	if m.Entry != "" && len(m.Routes) == 0 {
		m.Routes = []manifest.Route{{Pattern: "/*", Access: manifest.Public}}
	}
	text, err := json.MarshalIndent(m, "", "  ")
	s.manifest = append(text, '\n')
	return err
}
