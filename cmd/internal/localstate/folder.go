package localstate

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pages-toolchain/pages/cmd/internal/failure"
	"github.com/pages-toolchain/pages/cmd/internal/userfile"
	"github.com/pages-toolchain/pages/cmd/internal/wording"
	"github.com/pages-toolchain/pages/devserver/site"
	"github.com/pages-toolchain/pages/manifest"
	"github.com/pages-toolchain/pages/manifest/packager"
	"github.com/pages-toolchain/pages/migrate/dbfile"
	"github.com/pages-toolchain/pages/migrate/statefolder"
)

// This file decides which folder may be a site's state folder. A site may come from anybody, and --state-dir may be mistyped: it refuses
// any other folder before it reads or writes anything.
//
// A link that the user named is the user's choice. A link in the site, or in its checkout, came with it and is refused: it would give the
// site's Worker, or a reset, access to its target. A folder of another site is accepted: a note of the owner would be wrong after a project
// is moved or copied, and --state-dir shares state on purpose.

// PagesFolder is the folder beside the manifest into which pages writes.
const PagesFolder = ".pages"

// Locator finds the state folder of a site.
type Locator struct {
	WorkDir userfile.WorkDir
	Folder  string // the folder that the user named, or ""
	Flag    string // the flag that named it
}

// Path returns the state folder of the site in dir, which may not exist.
func (l Locator) Path(dir string) string {
	if l.Folder != "" {
		return l.WorkDir.Abs(l.Folder)
	}
	return filepath.Join(dir, PagesFolder, "state")
}

// State returns the state of the site in dir. It opens and makes nothing yet.
func (l Locator) State(dir string) (*State, error) {
	return l.At(dir, l.Path(dir), l.Flag)
}

// At is State for a folder that the given flag names.
func (l Locator) At(dir, folder, flag string) (*State, error) {
	if err := l.checkPlace(dir, folder, flag); err != nil {
		return nil, err
	}
	link, err := "", error(nil)
	if below, ok := strings.CutPrefix(folder, dir+string(filepath.Separator)); ok {
		link, err = statefolder.LinkBelow(dir, below)
	} else {
		link, err = statefolder.LinkIn(cmp.Or(packager.Checkout(statefolder.Real(dir)), dir), folder)
	}
	s := &State{Dir: folder}
	if err != nil {
		return nil, s.readError(err)
	}
	if link != "" {
		return nil, failure.Resource("state-linked",
			fmt.Sprintf("%s is a link, and files of the state folder would be written through it to %s",
				wording.QuotePath(l.WorkDir.Rel(link)), wording.QuotePath(statefolder.Real(link))),
			"remove it, or name the folder itself with "+flag, nil)
	}
	return s, nil
}

// checkPlace refuses a folder of the site itself as the state folder.
func (l Locator) checkPlace(dir, folder, flag string) error {
	refuse := func(what string) error {
		f := failure.Usage("the folder of %s, %s, is %s", flag, wording.QuotePath(RealPath(l.WorkDir, folder)), what)
		f.Fix = "leave " + flag + " out to use " + wording.QuotePath(
			l.WorkDir.Rel(filepath.Join(dir, PagesFolder, "state")),
		) + ", or name an empty folder, or one that pages created: " + flag + " " + wording.ShellWord(
			filepath.Join(filepath.Dir(dir), filepath.Base(dir)+"-state"),
		)
		return f
	}
	if folder == filepath.Join(dir, PagesFolder, "state") {
		return nil
	}
	if statefolder.Holds(folder, dir) {
		if statefolder.Holds(dir, folder) {
			return refuse("the site's own")
		}
		return refuse("one that the site is in")
	}
	for name, what := range siteFolders(dir) {
		at := filepath.Join(dir, filepath.FromSlash(name))
		switch {
		case statefolder.Holds(dir, at) && statefolder.Holds(at, dir): // the site's folder itself, which has .pages
		case statefolder.Holds(at, folder):
			return refuse("in " + name + ", which holds " + what)
		case statefolder.Holds(folder, at):
			return refuse("one that holds " + what)
		}
	}
	beside := statefolder.Real(filepath.Join(dir, PagesFolder))
	if below, err := filepath.Rel(beside, statefolder.Real(folder)); err == nil && filepath.IsLocal(below) {
		first, _, _ := strings.Cut(filepath.ToSlash(below), "/")
		if slices.Contains([]string{".", "state", "build", "cloudflare", "proposals", "platform"}, first) && below != "state" {
			return refuse("one that pages keeps other files in")
		}
	}
	return nil
}

// siteFolders maps the folders that the manifest names to descriptions of their content.
func siteFolders(dir string) map[string]string {
	folders := map[string]string{".git": "the version control data", "node_modules": "packages"}
	src, err := userfile.ReadSource(filepath.Join(dir, manifest.FileName))
	if err != nil {
		return folders
	}
	m, _ := manifest.Parse(manifest.FileName, src)
	if m == nil {
		return folders
	}
	if m.Assets != "" {
		folders[m.Assets] = "the site's public files"
	}
	if m.Bindings.Database != nil && m.Bindings.Database.Migrations != "" {
		folders[m.Bindings.Database.Migrations] = "the site's migrations"
	}
	if source := filepath.ToSlash(filepath.Dir(filepath.FromSlash(m.Entry))); m.Entry != "" && source != "." {
		folders[source] = "the site's source"
	}
	return folders
}

// Check refuses a folder that holds files of others. A missing folder counts as empty.
func (s *State) Check() error {
	if s.judged {
		return nil
	}
	found, err := statefolder.Look(s.Dir)
	if err != nil {
		return s.readError(err)
	}
	s.marked = found.Marked || found.Empty
	switch {
	case len(found.Foreign) > 0:
		if err := s.newer(); err != nil {
			return err
		}
		names := wording.QuoteAll(found.Foreign)
		if found.More {
			names += " and more"
		}
		return failure.Resource("state-foreign",
			fmt.Sprintf("%s is not a state folder of pages: it holds %s",
				wording.QuotePath(statefolder.Real(s.Dir)), names),
			"pass an empty folder, or one that pages created, with --state-dir; or move the other files out of it", nil)
	case len(found.Links) > 0:
		return failure.Resource("state-linked",
			fmt.Sprintf("%s is a link, and files of the state folder would be written through it",
				wording.QuotePath(filepath.Join(s.Dir, filepath.FromSlash(found.Links[0])))),
			"remove it, or give another folder with --state-dir", nil)
	}
	s.judged = true
	return nil
}

// newer is the error of a folder in which a newer pages has written files that are unknown here; nil for any other. It writes nothing
// beside the database, and does not read its log.
func (s *State) newer() error {
	name := filepath.Join(s.Dir, statefolder.PlatformFile)
	if info, err := os.Lstat(name); err != nil || !info.Mode().IsRegular() {
		return nil
	}
	db, err := sql.Open("sqlite", dbfile.URI(name, "mode=ro&immutable=1"))
	if err != nil {
		return nil
	}
	defer db.Close()
	if err := site.CheckVersion(context.Background(), db); errors.Is(err, site.ErrNewer) { //nolint:forbidigo // two rows of a file
		return s.OpenError(statefolder.PlatformFile, err)
	}
	return nil
}

// InPagesFolder returns the path of a file or folder in .pages beside the manifest. It refuses a link there, which came with the site: a
// write through it would replace the user's own files, and a read would send or show them.
func InPagesFolder(dir string, names ...string) (string, error) {
	target := filepath.Join(append([]string{dir, PagesFolder}, names...)...)
	link, err := statefolder.LinkBelow(dir, filepath.Join(append([]string{PagesFolder}, names...)...))
	if err != nil {
		return "", failure.Resource(
			"pages-unreadable", wording.QuotePath(target)+" cannot be read",
			"make "+wording.QuotePath(filepath.Join(dir, PagesFolder))+" a readable folder", err,
		)
	}
	if link != "" {
		return "", failure.Resource("pages-linked",
			fmt.Sprintf("%s is a link, so pages would keep its files in %s",
				wording.QuotePath(link), wording.QuotePath(statefolder.Real(link))),
			"remove it; a state folder elsewhere is named with --state-dir, and an output with --outdir", nil)
	}
	return target, nil
}

// RealPath resolves the links of a path and returns it relative to the working directory, for questions to the user.
func RealPath(work userfile.WorkDir, path string) string {
	return userfile.WorkDir(statefolder.Real(string(work))).Rel(statefolder.Real(path))
}
