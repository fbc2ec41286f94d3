package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/pages-toolchain/pages/manifest"
	"github.com/pages-toolchain/pages/migrate"
	"github.com/pages-toolchain/pages/migrate/statefolder"
)

// migrations is the site whose migrations a command is about.
type migrations struct {
	*cli
	*migrate.Migrator
	dir  string // the site's
	path string // of the database
	m    *manifest.Manifest
}

// undoFolder holds the copies of the database from before it was migrated.
const undoFolder = statefolder.UndoFolder

// migrator gives the migrator of an open database of the site in dir.
func (c *cli) migrator(s *state, db *sql.DB, dir string, m *manifest.Manifest, o migrate.Options) *migrate.Migrator {
	o.Dir, o.Now, o.Tool, o.Tables = m.Bindings.Database.Migrations, c.now, "pages "+version, m.Bindings.Database.Tables
	o.Word = shellWord
	o.UndoDir = filepath.Join(s.dir, undoFolder)
	if m.Bindings.Submissions != "" {
		o.Tables = append(slices.Clip(o.Tables), m.Bindings.Submissions)
	}
	var files fs.FS
	if m.Bindings.Database.Migrations != "" {
		files = os.DirFS(dir)
	}
	return migrate.New(db, files, o)
}

// findMigrations is the site that is meant, which must declare a database.
func (c *cli) findMigrations(args []string) (*migrations, *state, error) {
	dir, err := c.find(args)
	if err != nil {
		return nil, nil, err
	}
	// The manifest alone: what else is wrong with the site is no matter here, and is what validate tells.
	path := filepath.Join(dir, manifest.FileName)
	src, err := readSource(path)
	if err != nil {
		return nil, nil, &failure{code: exitRefused, id: "unreadable", msg: fmt.Sprintf("%s cannot be read: %s", quotedPath(c.shown(path)), reason(err)), err: err}
	}
	m, diags := manifest.Parse(c.shown(path), src)
	if m == nil || diags.HasErrors() {
		return nil, nil, &refused{report: manifest.NewReport(c.shown(path), diags), src: src}
	}
	if m.Bindings.Database == nil {
		return nil, nil, &failure{code: exitRefused, id: "no-database", msg: "the site declares no database", fix: `add "bindings": {"database": {"migrations": "migrations"}} to ` + manifest.FileName}
	}
	s, err := c.stateOf(dir)
	if err != nil {
		return nil, nil, err
	}
	return &migrations{cli: c, dir: dir, path: filepath.Join(s.dir, siteFile), m: m}, s, nil
}

// withMigrations runs fn on a site's database, while no other process migrates it.
func (c *cli) withMigrations(ctx context.Context, args []string, o migrate.Options, fn func(*migrations) error) (err error) {
	site, s, err := c.findMigrations(args)
	if err != nil {
		return err
	}
	if s, err = openStateIn(s.dir); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	unlock, err := s.lockMigrations(ctx)
	if err != nil {
		return err
	}
	defer func() {
		unlock()
		if err == nil {
			s.tellWritten()
		}
	}()
	db, err := s.open(ctx, siteFile)
	if err != nil {
		return err
	}
	site.Migrator = c.migrator(s, db, site.dir, site.m, o)
	return site.fail(fn(site))
}

// readMigrations runs fn on a site's database, of which it writes nothing, not even a state folder.
func (c *cli) readMigrations(ctx context.Context, args []string, o migrate.Options, fn func(*migrations) error) (err error) {
	site, s, err := c.findMigrations(args)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	db, err := s.openToRead(ctx, siteFile)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	site.Migrator = c.migrator(s, db, site.dir, site.m, o)
	return site.fail(fn(site))
}
