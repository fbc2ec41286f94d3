package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pages-toolchain/pages/cmd/internal/failure"
	"github.com/pages-toolchain/pages/cmd/internal/localsecrets"
	"github.com/pages-toolchain/pages/cmd/internal/userfile"
	"github.com/pages-toolchain/pages/cmd/internal/wording"
	"github.com/pages-toolchain/pages/manifest"
	"github.com/pages-toolchain/pages/manifest/editor"
	"github.com/pages-toolchain/pages/manifest/packager"
	"github.com/pages-toolchain/pages/manifest/starter"
	"github.com/pages-toolchain/pages/manifest/wrangler"
)

// newSite is what `pages init` makes of a folder.
type newSite struct {
	*cli

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

// initSite begins or adopts a site. What is in the way is found before the
// first file is written.
func (c *cli) initSite(ctx context.Context, f *initFlags, args []string) error {
	dir, named := c.namedFolder(args)
	if !named {
		dir = c.term.Dir
	}
	s := &newSite{cli: c, dir: dir, name: starter.SiteName(filepath.Base(dir)), secrets: map[string]string{}}
	if info, err := os.Stat(dir); err == nil && !info.IsDir() {
		return &failure.Error{Exit: failure.ExitRefused, Code: "not-a-folder", Message: fmt.Sprintf("%s is no folder", wording.QuotePath(c.term.Shown(dir))), Fix: "name a folder for the site: pages init DIR"}
	}
	if what := holdsAll(dir); what != "" && !named && !userfile.IsFile(filepath.Join(dir, manifest.FileName)) {
		return &failure.Error{Exit: failure.ExitRefused, Code: "not-a-site-folder", Message: fmt.Sprintf("this is %s, and a site has a folder of its own", what), Fix: "name one for the site: pages init my-site; or pages init . if it shall be here"}
	}
	if err := s.choose(ctx, f); err != nil {
		return err
	}
	if err := s.parse(); err != nil {
		return err
	}
	return s.write()
}

// holdsAll is what a folder is that nobody means when they name none: the home of the user, or the root of the
// file system. It is empty for any other.
func holdsAll(dir string) string {
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
func (s *newSite) choose(ctx context.Context, f *initFlags) error {
	if err := s.look(ctx); err != nil {
		return err
	}
	switch {
	case f.template != "" && s.adopted == manifest.FileName:
		return &failure.Error{Exit: failure.ExitRefused, Code: "site-exists", Message: fmt.Sprintf("there is a site in %s already", wording.QuotePath(s.term.Shown(s.dir))), Fix: "leave --template out to add what is missing, or name another folder"}
	case f.template != "":
		t, ok := starter.Find(f.template)
		if !ok {
			return failure.Usage("--template is %q; it is one of %s", f.template, strings.Join(templateNames(), ", "))
		}
		s.begin(t)
		return s.chooseEditors(f.editors)
	case s.unbuilt, f.yes && s.adopted == "" && s.buildCommand() != "":
		return s.awaitsBuild()
	case f.yes && s.adopted == "":
		t, _ := starter.Find("static")
		s.begin(t)
		return s.chooseEditors(f.editors)
	case f.yes:
		return s.chooseEditors(f.editors)
	case !s.term.Interactive():
		fix := "say --template with one of " + strings.Join(templateNames(), ", ")
		if s.adopted != "" {
			fix = "say --yes to adopt " + s.adopted + ", or --template to begin anew"
		}
		return &failure.Error{Exit: failure.ExitPerson, Code: "choice-needed", Message: s.term.Unattended(), Fix: fix}
	}
	return s.ask(ctx, f)
}

// buildCommand is what makes the site that is published: a script of package.json, or a generator. It is empty when
// nothing does.
func (s *newSite) buildCommand() string {
	project := userfile.RegularFS{FS: os.DirFS(s.dir)}
	if script := starter.BuildScript(project); script != "" {
		return packager.Of(s.dir).Run(script)
	}
	generator, _ := starter.FindGenerator(project)
	return generator.Command
}

// awaitsBuild says that there is something to build before there is something to adopt.
func (s *newSite) awaitsBuild() error {
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
func (s *newSite) begin(t starter.Template) {
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

func (s *newSite) chooseEditors(names []string) (err error) {
	switch {
	case noEditor(names):
		return nil
	case len(names) == 0:
		names = editorNames()[:1]
	}
	s.editors, err = chooseEditors(names)
	return err
}

// look finds out what is there: a site, a project of wrangler's, or what another
// tool built.
func (s *newSite) look(ctx context.Context) error {
	if userfile.IsFile(filepath.Join(s.dir, manifest.FileName)) {
		s.adopted = manifest.FileName
		return nil
	}
	fsys := userfile.RegularFS{FS: os.DirFS(s.dir)}
	var err error
	if s.stored, s.secretFile, err = localsecrets.Read(ctx, s.dir); err != nil {
		return err
	}
	s.secretFile = cmp.Or(s.secretFile, localsecrets.DefaultFile)
	example, asked := localsecrets.Examples(s.dir)
	names := slices.Sorted(maps.Keys(s.stored))
	wanted := slices.Concat(names, asked)
	slices.Sort(wanted)
	translated, err := wrangler.Translate(fsys, wanted...)
	built, isBuilt := starter.FindBuilt(fsys)
	var m manifest.Manifest
	switch {
	case err == nil:
		s.adopted, s.notes, s.secrets, m = translated.File, translated.Notes, translated.Vars, translated.Manifest
		s.unbuilt = translated.Unbuilt
		if left := slices.DeleteFunc(asked, func(name string) bool { return slices.Contains(names, name) }); len(left) > 0 {
			s.notes = append(s.notes, wrangler.Note{Key: example, Effect: wrangler.Changed, Text: "the secrets that it names are declared; " + s.secretFile + " is where they get their values: " + strings.Join(left, ", ")})
		}
		if app := translated.SinglePage; app != nil {
			s.serveApp(&m, starter.App{Page: "/", WorkerFirst: app.WorkerFirst})
		}
		switch nothing := m.Entry == "" && m.Assets == ""; {
		case nothing && isBuilt:
			m.Entry, m.Assets = built.Entry, built.Dir
		case nothing:
			s.notes = append(s.notes, wrangler.Note{Key: "main", Effect: wrangler.Changed, Text: "neither a Worker nor a folder of static files is named: name the one in \"entry\", with its \"routes\", or the other in \"assets\""})
		}
	case !errors.Is(err, fs.ErrNotExist):
		return &failure.Error{Exit: failure.ExitRefused, Code: "wrangler-unreadable", Message: err.Error(), Fix: "correct it, or say --template to begin without it; nothing was written", Err: err}
	case isBuilt:
		s.adopted, m = built.Dir+"/", manifest.Manifest{Entry: built.Entry, Assets: built.Dir}
		s.adoptBuilt(&m, fsys)
	default:
		return nil
	}
	if m.Entry != "" && len(m.Routes) == 0 {
		m.Routes = []manifest.Route{{Pattern: "/*", Access: manifest.Public}}
	}
	text, err := json.MarshalIndent(m, "", "  ")
	s.manifest = append(text, '\n')
	return err
}

// adoptBuilt says what a built site needs that its files do not, for what another host was told.
func (s *newSite) adoptBuilt(m *manifest.Manifest, project fs.FS) {
	app, source, ok := starter.FindApp(project, m.Assets)
	ok = ok && m.Entry == ""
	for _, left := range starter.LeftBehind(project) {
		note := wrangler.Note{Key: left.File, Effect: wrangler.Changed, Text: left.Text}
		if left.Code || left.Secret {
			note.Effect = wrangler.Lost
		}
		if !ok || left.File != source || left.Secret {
			s.notes = append(s.notes, note)
		}
	}
	if ok {
		s.serveApp(m, app)
		s.notes = append(s.notes, wrangler.Note{Key: source, Effect: wrangler.Changed, Text: appNote(source)})
	}
}

// serveApp puts the Worker in front that answers the views of an app of one page.
func (s *newSite) serveApp(m *manifest.Manifest, app starter.App) {
	app.Worker = m.Entry
	s.files = append(s.files, app.File())
	m.Entry = starter.SinglePageWorker
}

// appNote says what became of an app of one page, by the file that it was known by.
func appNote(source string) string {
	const does = starter.SinglePageWorker + " answers a path that no file does with the page, for a router in the browser"
	switch path.Ext(source) {
	case ".html":
		return does + "; without such a router, remove it and \"entry\" and \"routes\""
	case "":
		return does + ": leave out the line for /* where the build takes this file from"
	}
	return does + `, as the rule there; others belong into "_redirects" and "_headers"`
}

// parse reads the manifest that the site has or gets.
func (s *newSite) parse() error {
	if s.manifest == nil {
		m, found := s.load(s.dir)
		if m == nil {
			return &failure.RefusedError{Report: found.report, Source: found.src}
		}
		s.parsed = m
		return nil
	}
	m, diags := manifest.Parse(manifest.FileName, s.manifest)
	if m == nil { // what was read says what no manifest may
		return &failure.RefusedError{Report: s.report(s.dir, diags), Source: s.manifest}
	}
	s.parsed = m
	return nil
}
