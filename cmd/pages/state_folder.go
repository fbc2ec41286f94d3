package main

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

	"github.com/pages-toolchain/pages/devserver/site"
	"github.com/pages-toolchain/pages/manifest"
	"github.com/pages-toolchain/pages/migrate/dbfile"
	"github.com/pages-toolchain/pages/migrate/statefolder"
)

// This file says which folder may be a site's state folder. A site may come from anybody, and --state-dir may be
// mistyped: what is no state folder is refused before anything is read or written.
//
// A link is its user's own choice where the user named it, as one to another disk. One that lies in the site, or in
// the checkout that the site is in, came with it, and is refused: it would have one site's Worker, or a reset, at
// whatever it leads to. A folder that another site uses is not told from one's own: a note of whose it is would be wrong
// once a project is moved or copied, and --state-dir shares state on purpose.

// pagesFolder is the folder beside the manifest in which pages writes.
const pagesFolder = ".pages"

// statePath is the state folder of the site in dir.
func (c *cli) statePath(dir string) string {
	if c.stateDir != "" {
		return c.path(c.stateDir)
	}
	return filepath.Join(dir, pagesFolder, "state")
}

// stateOf is the state of the site in dir, which is not opened, nor made, yet.
func (c *cli) stateOf(dir string) (*state, error) {
	return c.stateAt(dir, c.statePath(dir), c.stateFlag())
}

// stateAt is stateOf for the folder that a flag names.
func (c *cli) stateAt(dir, folder, flag string) (*state, error) {
	if err := c.checkPlace(dir, folder, flag); err != nil {
		return nil, err
	}
	link, err := "", error(nil)
	if below, ok := strings.CutPrefix(folder, dir+string(filepath.Separator)); ok {
		link, err = statefolder.LinkBelow(dir, below)
	} else {
		link, err = statefolder.LinkIn(cmp.Or(checkoutOf(statefolder.Real(dir)), dir), folder)
	}
	s := &state{dir: folder}
	if err != nil {
		return nil, s.unreadable(err)
	}
	if link != "" {
		return nil, resourceError("state-linked", fmt.Sprintf("%s is a link, which what belongs into the state folder would be written through: it leads to %s", quotedPath(c.shown(link)), quotedPath(statefolder.Real(link))),
			"remove it, or name the folder itself with "+flag, nil)
	}
	return s, nil
}

// stateFlag is the flag that names the state folder, as it was given.
func (c *cli) stateFlag() string {
	if c.persist != "" && c.stateDir == c.persist {
		return "--persist-to"
	}
	return "--state-dir"
}

// checkPlace refuses a folder of the site's own as the state folder. Of a manifest that cannot be read nothing is
// known but where it lies.
func (c *cli) checkPlace(dir, folder, flag string) error {
	refuse := func(what string) error {
		f := usageError("the folder of %s, %s, is %s", flag, quotedPath(c.shownReal(folder)), what)
		f.fix = "leave " + flag + " out to use " + quotedPath(c.shown(filepath.Join(dir, pagesFolder, "state"))) + ", or name a folder that is empty, or that pages made: " + flag + " " + shellWord(filepath.Join(filepath.Dir(dir), filepath.Base(dir)+"-state"))
		return f
	}
	if folder == filepath.Join(dir, pagesFolder, "state") {
		return nil
	}
	if statefolder.Holds(folder, dir) {
		if statefolder.Holds(dir, folder) {
			return refuse("the site's own")
		}
		return refuse("one that the site is in")
	}
	for name, what := range c.siteFolders(dir) {
		at := filepath.Join(dir, filepath.FromSlash(name))
		switch {
		case statefolder.Holds(dir, at) && statefolder.Holds(at, dir): // the site's folder itself, in which .pages lies
		case statefolder.Holds(at, folder):
			return refuse("in " + name + ", which holds " + what)
		case statefolder.Holds(folder, at):
			return refuse("one that holds " + what)
		}
	}
	beside := statefolder.Real(filepath.Join(dir, pagesFolder))
	if below, err := filepath.Rel(beside, statefolder.Real(folder)); err == nil && filepath.IsLocal(below) {
		first, _, _ := strings.Cut(filepath.ToSlash(below), "/")
		if slices.Contains([]string{".", "state", "build", "cloudflare", "proposals", "platform"}, first) && below != "state" {
			return refuse("one that pages keeps other files in")
		}
	}
	return nil
}

// siteFolders are the folders that the manifest names, and what each holds.
func (c *cli) siteFolders(dir string) map[string]string {
	folders := map[string]string{".git": "the version control", "node_modules": "packages"}
	src, err := readSource(filepath.Join(dir, manifest.FileName))
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

// judge refuses a folder that holds anything that is not the state's. One that is not there is an empty one.
func (s *state) judge() error {
	if s.judged {
		return nil
	}
	found, err := statefolder.Look(s.dir)
	if err != nil {
		return s.unreadable(err)
	}
	s.marked = found.Marked || found.Empty
	switch {
	case len(found.Foreign) > 0:
		if err := s.newer(); err != nil {
			return err
		}
		return resourceError("state-foreign", fmt.Sprintf("%s is no state folder of pages, and nothing in it was touched: it holds %s", quotedPath(statefolder.Real(s.dir)), foreignNames(found)),
			"give a folder that is empty, or that pages made, with --state-dir; or move out of it what is not the state's", nil)
	case len(found.Links) > 0:
		return resourceError("state-linked", fmt.Sprintf("%s is a link, which what belongs into the state folder would be written through", quotedPath(filepath.Join(s.dir, filepath.FromSlash(found.Links[0])))),
			"remove it, or give another folder with --state-dir", nil)
	}
	s.judged = true
	return nil
}

func foreignNames(found statefolder.Report) string {
	names := quoteAll(found.Foreign)
	if found.More {
		names += " and more"
	}
	return names
}

// newer is the error of a folder whose names are unknown here because a newer pages has written them; nil for any
// other. Nothing is written beside the database, nor is its log read.
func (s *state) newer() error {
	name := filepath.Join(s.dir, platformFile)
	if info, err := os.Lstat(name); err != nil || !info.Mode().IsRegular() {
		return nil
	}
	db, err := sql.Open("sqlite", dbfile.URI(name, "mode=ro&immutable=1"))
	if err != nil {
		return nil
	}
	defer db.Close()
	if err := site.CheckVersion(context.Background(), db); errors.Is(err, site.ErrNewer) { //nolint:forbidigo // two rows of a file
		return s.unopened(platformFile, err)
	}
	return nil
}

// replaceable refuses to empty a folder that has the names of a state folder by chance: pages has never written there.
func (s *state) replaceable() error {
	if s.marked {
		return nil
	}
	return resourceError("state-foreign", fmt.Sprintf("%s may be no state folder: it holds files of the names of a state's, and pages has never run on it", quotedPath(statefolder.Real(s.dir))),
		"give the state folder with --state-dir; if this is one, run pages dev on it once", nil)
}

// inPages is a file or a folder in .pages beside the manifest. A link there came with the site: what is written
// through it would replace somebody's own files, and what is read through it be sent or shown.
func inPages(dir string, names ...string) (string, error) {
	target := filepath.Join(append([]string{dir, pagesFolder}, names...)...)
	link, err := statefolder.LinkBelow(dir, filepath.Join(append([]string{pagesFolder}, names...)...))
	if err != nil {
		return "", resourceError("pages-unreadable", quotedPath(target)+" cannot be looked at", "make "+quotedPath(filepath.Join(dir, pagesFolder))+" a folder that you may read", err)
	}
	if link != "" {
		return "", resourceError("pages-linked", fmt.Sprintf("%s is a link, which leads what pages keeps beside the manifest to %s", quotedPath(link), quotedPath(statefolder.Real(link))),
			"remove it; a state folder elsewhere is named with --state-dir, and an output with --outdir", nil)
	}
	return target, nil
}

// shownReal is a path without links as the user would name it: what a question is about.
func (c *cli) shownReal(path string) string {
	own := c.env
	own.dir = statefolder.Real(c.dir)
	return own.shown(statefolder.Real(path))
}
