package scaffold

import (
	"cmp"
	"context"
	"errors"
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
	"github.com/pages-toolchain/pages/manifest"
	"github.com/pages-toolchain/pages/manifest/starter"
	"github.com/pages-toolchain/pages/manifest/wrangler"
)

// detect looks for a site, a wrangler project, or the output of another tool in the folder.
func (s *site) detect(ctx context.Context) error {
	fsys := userfile.RegularFS{FS: os.DirFS(s.dir)}
	setup := findSetup(fsys)
	if userfile.IsFile(filepath.Join(s.dir, manifest.FileName)) {
		s.adopted = manifest.FileName
		if setup != nil && (s.Configure || !s.has(setup.Assets)) {
			s.setup = setup
		}
		return nil
	}
	var err error
	if s.stored, s.secretFile, err = localsecrets.Read(ctx, s.dir); err != nil {
		return err
	}
	s.secretFile = cmp.Or(s.secretFile, localsecrets.DefaultFile)
	valuesFile := s.secretFile
	example, asked := localsecrets.Examples(s.dir)
	names := slices.Collect(maps.Keys(s.stored))
	translated, err := wrangler.Translate(fsys, slices.Sorted(slices.Values(slices.Concat(names, asked)))...)
	built, isBuilt := starter.FindBuilt(fsys)
	var m manifest.Manifest
	switch {
	case err == nil && translated.IsSource:
		s.adopted, s.setup, s.unbuilt = translated.File, setup, true
		return s.needsBuild()
	case err == nil:
		s.adopted, s.notes, s.secrets, m = translated.File, translated.Notes, translated.Vars, translated.Manifest
		s.unbuilt = translated.Unbuilt
		if len(s.secrets) > 0 {
			s.secretFile = localsecrets.OwnFile
		}
		if left := slices.DeleteFunc(asked, func(name string) bool { return slices.Contains(names, name) }); len(left) > 0 {
			s.notes = append(s.notes, wrangler.Note{
				Key: example, Effect: wrangler.Changed,
				Text: "the secrets that it names are declared; set their values in " + valuesFile + ": " +
					strings.Join(left, ", "),
			})
		}
		if s.unbuilt && setup != nil && (m.Assets == "" || m.Assets == setup.Assets && setup.Entry != "") {
			s.unbuilt = false
			s.adoptUnbuilt(&m, setup, fsys)
		}
		if app := translated.SinglePage; app != nil && m.Entry != starter.SinglePageWorker {
			s.serveApp(&m, starter.App{Page: "/", WorkerFirst: app.WorkerFirst})
		}
		switch nothing := m.Entry == "" && m.Assets == ""; {
		case nothing && !isBuilt && setup != nil:
			s.adoptUnbuilt(&m, setup, fsys)
		case nothing && isBuilt:
			m.Entry, m.Assets = built.Entry, built.Dir
		case nothing:
			s.notes = append(s.notes, wrangler.Note{
				Key: "main", Effect: wrangler.Changed,
				Text: "neither a Worker nor a folder of static files is named: name the one in \"entry\", with its " +
					"\"routes\", or the other in \"assets\"",
			})
		}
	case !errors.Is(err, fs.ErrNotExist):
		return &failure.Error{
			Exit: failure.ExitRefused, Code: "wrangler-unreadable", Message: err.Error(),
			Fix: "correct it, or pass --template to start without it; no file was written", Err: err,
		}
	case isBuilt:
		s.adopted, m = built.Dir+"/", manifest.Manifest{Entry: built.Entry, Assets: built.Dir}
		s.adoptBuilt(&m, fsys)
	case setup != nil:
		s.adopted = "this project of " + setup.Framework
		s.adoptUnbuilt(&m, setup, fsys)
		s.noteLeft(fsys, "")
	default:
		return nil
	}
	return s.addManifest(&m)
}

// has reports whether the folder has a file or folder of this name, with slashes.
func (s *site) has(name string) bool {
	_, err := os.Stat(filepath.Join(s.dir, filepath.FromSlash(name)))
	return err == nil
}

// adoptBuilt notes the settings for another host that have no counterpart here.
func (s *site) adoptBuilt(m *manifest.Manifest, project fs.FS) {
	app, source, ok := starter.FindApp(project, m.Assets)
	if ok = ok && m.Entry == ""; !ok {
		source = ""
	}
	s.noteLeft(project, source)
	if ok {
		s.serveApp(m, app)
		s.notes = append(s.notes, wrangler.Note{Key: source, Effect: wrangler.Changed, Text: appNote(source)})
	}
}

// noteLeft notes these settings, except for the file that identified a single-page app.
func (s *site) noteLeft(project fs.FS, source string) {
	for _, left := range starter.LeftBehind(project) {
		note := wrangler.Note{Key: left.File, Effect: wrangler.Changed, Text: left.Text}
		if left.Code || left.Secret {
			note.Effect = wrangler.Lost
		}
		if left.File != source || left.Secret {
			s.notes = append(s.notes, note)
		}
	}
}

// serveApp adds the Worker that answers the views of a single-page app.
func (s *site) serveApp(m *manifest.Manifest, app starter.App) {
	app.Worker = m.Entry
	s.files = append(s.files, app.File())
	m.Entry = starter.SinglePageWorker
}

// appNote describes the Worker that now serves a single-page app; source is the file that identified the app.
func appNote(source string) string {
	const does = starter.SinglePageWorker + " answers paths without a file with the page, for a router in the browser"
	if path.Ext(source) == ".html" {
		return does + "; without such a router, remove it and \"entry\" and \"routes\""
	}
	return does + `, as the rule there; put others into "_redirects" and "_headers"`
}
