package scaffold

import (
	"bytes"
	"cmp"
	"crypto/rand"
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
	"github.com/pages-toolchain/pages/cmd/internal/projectfile"
	"github.com/pages-toolchain/pages/cmd/internal/terminal"
	"github.com/pages-toolchain/pages/cmd/internal/userfile"
	"github.com/pages-toolchain/pages/manifest"
	"github.com/pages-toolchain/pages/manifest/packager"
	"github.com/pages-toolchain/pages/manifest/starter"
	"github.com/pages-toolchain/pages/manifest/workertypes"
	"github.com/pages-toolchain/pages/manifest/wrangler"
)

// planOwn plans the site's own files. An existing file at the path of the template's pages and code is a conflict; any other existing file
// stays.
func (s *site) planOwn(folder *projectfile.Folder) ([]*projectfile.File, error) {
	files := slices.Clone(s.files)
	if s.manifest != nil {
		files = append(files, starter.File{Path: manifest.FileName, Text: s.manifest})
	}
	var taken []string
	for _, f := range files {
		if folder.Exists(f.Path) && (f.Path == manifest.FileName || isContent(f.Path)) {
			taken = append(taken, f.Path)
		}
	}
	if len(taken) > 0 {
		return nil, &failure.Error{
			Exit: failure.ExitRefused, Code: "files-in-the-way",
			Message: "the template would overwrite " + strings.Join(taken, ", "),
			Fix:     "start in an empty folder, or leave out --template to adopt this one; nothing was written",
		}
	}
	files = append(files, s.extras()...)
	var planned []*projectfile.File
	for _, f := range files {
		p, err := s.planFile(folder, f)
		if err != nil {
			return nil, err
		}
		planned = append(planned, p)
	}
	changed, err := s.planSetUp(folder)
	if err != nil {
		return nil, err
	}
	planned = append(planned, changed...)
	slices.SortFunc(planned, func(a, b *projectfile.File) int { return strings.Compare(a.Name, b.Name) })
	return planned, nil
}

// isContent reports whether a file of a template belongs to the site itself, not to its tooling.
func isContent(name string) bool {
	dir, _, _ := strings.Cut(name, "/")
	return dir == "public" || dir == "src" || dir == "migrations"
}

// extras are the files that follow from the manifest.
func (s *site) extras() []starter.File {
	files := []starter.File{{Path: ".gitignore"}} // planFile merges its text with the existing file
	has := func(name string) bool {
		return slices.ContainsFunc(s.files, func(f starter.File) bool { return f.Path == name })
	}
	if s.parsed.Entry != "" {
		files = append(files, starter.File{Path: workertypes.FileName, Text: workertypes.Declare(s.parsed)})
		if ext := path.Ext(s.parsed.Entry); (ext == ".ts" || ext == ".tsx") && !has("tsconfig.json") {
			files = append(files, starter.File{Path: "tsconfig.json", Text: starter.TSConfig()})
		}
	}
	if !has("tests/site.test.mjs") && !s.testsOtherwise() {
		files = append(files, starter.File{Path: "tests/site.test.mjs", Text: starter.SmokeTest()})
	}
	if s.parsed.Assets == "." {
		files = append(files, starter.File{Path: s.parsed.AssetsFolder().IgnoreFile(), Text: starter.RootIgnore()})
	}
	if ignores := starter.WorkerIgnore(userfile.RegularFS{FS: os.DirFS(s.dir)}, s.parsed.Assets, s.parsed.Entry); len(ignores) > 0 {
		files = append(files, ignores...)
		s.notes = slices.DeleteFunc(s.notes, func(n wrangler.Note) bool { return n.Key == wrangler.WorkerFile }) // the merge is done
	}
	if s.template != "" {
		for _, name := range s.parsed.Bindings.Secrets {
			s.secrets[name] = rand.Text() // for this machine alone
		}
	}
	maps.DeleteFunc(s.secrets, func(name, _ string) bool { _, ok := s.stored[name]; return ok })
	if len(s.secrets) > 0 {
		files = append(files, starter.File{Path: s.secretFile, Text: []byte(localsecrets.Format(s.secrets))})
	}
	return files
}

// planFile plans one file: a new one, or an unchanged one.
func (s *site) planFile(p *projectfile.Folder, f starter.File) (*projectfile.File, error) {
	planned, err := p.Read(f.Path)
	if odd, ok := errors.AsType[*projectfile.Error](err); ok {
		return nil, &failure.Error{
			Exit: failure.ExitRefused, Code: "file-in-the-way",
			Message: fmt.Sprintf("%s %s", s.term.Shown(p.Path(odd.Name)), odd.Message),
			Fix:     "move it away; nothing was written", Err: err,
		}
	}
	if err != nil {
		return nil, s.unwritable(p.Dir, err)
	}
	planned.After, planned.Reason = f.Text, "it existed before"
	switch {
	case f.Path == ".gitignore":
		planned.After = starter.Ignore(planned.Before)
	case planned.Exists && f.Path == s.secretFile:
		planned.After = slices.Concat(bytes.TrimRight(planned.Before, "\n"), []byte("\n"), f.Text)
	case planned.Exists:
		planned.After = planned.Before
	case f.Path == s.secretFile:
		planned.Mode = 0o600
	}
	return planned, nil
}

// planCheckout plans the files at the root of the checkout.
func (s *site) planCheckout(folder, top *projectfile.Folder) ([]*projectfile.File, error) {
	w := starter.Workflow{
		Name: starter.SiteName(s.title), Version: s.Version, Commit: s.Commit, Types: s.parsed.Entry != "",
		Tests: !s.testsOtherwise(), Packages: s.hasPackages(),
		Packager: packager.Of(s.dir),
	}
	w.Modules = userfile.IsFile(filepath.Join(top.Real, ".gitmodules"))
	if s.isBuilt() {
		project := userfile.RegularFS{FS: os.DirFS(s.dir)}
		w.Build = starter.BuildScript(project)
		w.Generator, _ = starter.FindGenerator(project)
		if s.setup != nil && s.setup.Build != "" {
			w.Build, w.Generator.Command = "", s.setup.Build
		}
	}
	file := ".github/workflows/pages.yml"
	if rel, err := filepath.Rel(top.Real, folder.Real); err == nil && rel != "." {
		w.Folder = filepath.ToSlash(rel)
		file = ".github/workflows/pages-" + starter.SiteName(w.Folder) + ".yml"
	}
	workflow, err := s.planFile(top, starter.File{Path: file, Text: w.Text()})
	if err != nil {
		return nil, err
	}
	files, err := planEditors(s.term, top, s.editors)
	if err != nil {
		return nil, err
	}
	if s.Agents != nil {
		s.Agents.Folder = w.Folder
	}
	agents, err := planAgents(s.term, top, s.Agents)
	return append(append(files, workflow), agents...), err
}

// isBuilt reports whether the adopted files are the output of a build.
func (s *site) isBuilt() bool {
	if s.template != "" {
		return false
	}
	project := userfile.RegularFS{FS: os.DirFS(s.dir)}
	if generator, ok := starter.FindGenerator(project); ok && generator.Output == s.parsed.Assets {
		return true
	}
	built, ok := starter.FindBuilt(project)
	return ok && built.Dir == s.parsed.Assets || starter.IsOutput(s.parsed.Assets) || starter.IsOutput(s.parsed.Entry)
}

// hasPackages reports whether the site's package.json lists packages.
func (s *site) hasPackages() bool { return len(s.packages()) > 0 }

// testsOtherwise reports whether the project has a test runner that would run our tests as its own.
func (s *site) testsOtherwise() bool {
	packages := s.packages()
	return slices.Contains(packages, "vitest") || slices.Contains(packages, "jest")
}

// packages are the packages in the site's package.json.
func (s *site) packages() []string {
	text, err := userfile.ReadRegular(filepath.Join(s.dir, "package.json"))
	if i := slices.IndexFunc(s.files, func(f starter.File) bool { return f.Path == "package.json" }); err != nil && i >= 0 {
		text = s.files[i].Text
	}
	var list struct{ Dependencies, DevDependencies map[string]any }
	if json.Unmarshal(text, &list) != nil {
		return nil
	}
	return slices.AppendSeq(slices.Collect(maps.Keys(list.Dependencies)), maps.Keys(list.DevDependencies))
}

// planned are files of one folder that are planned first and then written.
type planned struct {
	in    *projectfile.Folder
	files []*projectfile.File
}

// write writes the changed files.
func (p planned) write(t *terminal.Terminal) error {
	for _, f := range p.files {
		if err := f.Write(p.in); err != nil {
			return failure.Resource("editor-unwritable", fmt.Sprintf("%s cannot be written", t.Shown(p.in.Path(f.Name))),
				"make it and its folder writable, or name another folder: pages init DIR", err)
		}
	}
	return nil
}

// WrittenFile is a written or unchanged file in the --json document.
type WrittenFile struct {
	Path   string `json:"path"`
	Action string `json:"action"` // created, changed or unchanged
}

func (p planned) fileList(t *terminal.Terminal) []WrittenFile {
	list := make([]WrittenFile, len(p.files))
	for i, f := range p.files {
		list[i] = WrittenFile{filepath.ToSlash(t.Shown(p.in.Path(f.Name))), f.Action()}
	}
	return list
}

// print lists the files on stdout.
func (p planned) print(t *terminal.Terminal) {
	for i, w := range p.fileList(t) {
		if w.Action == projectfile.Unchanged {
			fmt.Fprintf(t.Stdout, "unchanged %s: %s\n", w.Path, p.files[i].Reason)
			continue
		}
		fmt.Fprintf(t.Stdout, "wrote %s\n", w.Path)
	}
}

// printNotes prints the further steps for editors.
func (p planned) printNotes(t *terminal.Terminal) {
	for _, f := range p.files {
		if f.Note != "" && f.Action() != projectfile.Unchanged {
			t.Progress("%s", f.Note)
		}
	}
}

// write plans and writes the site's files and, at the root of its checkout, the workflow and the editors' files.
func (s *site) write() (err error) {
	_, err = os.Stat(s.dir)
	made := errors.Is(err, fs.ErrNotExist) // any other fault is reported when the folder is opened
	if made {
		if err := os.MkdirAll(s.dir, 0o755); err != nil {
			return s.unwritable(s.dir, err)
		}
	}
	defer func() {
		if err != nil && made {
			_ = os.Remove(s.dir) // it fails if the folder is not empty
		}
	}()
	folder, err := projectfile.Open(s.dir)
	if err != nil {
		return s.unwritable(s.dir, err)
	}
	defer func() { err = errors.Join(err, folder.Close()) }()
	root := cmp.Or(packager.Checkout(s.dir), s.dir)
	top, err := projectfile.Open(root)
	if err != nil {
		return s.unwritable(root, err)
	}
	defer func() { err = errors.Join(err, top.Close()) }()

	ownFiles, err := s.planOwn(folder)
	if err != nil {
		return err
	}
	topFiles, err := s.planCheckout(folder, top)
	if err != nil {
		return err
	}
	own, around := planned{folder, ownFiles}, planned{top, topFiles}
	if err := errors.Join(own.write(s.term), around.write(s.term)); err != nil {
		return err
	}
	return s.finish(own, around)
}
