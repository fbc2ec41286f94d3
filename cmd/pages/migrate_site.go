package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/pages-toolchain/pages/cmd/internal/failure"
	"github.com/pages-toolchain/pages/cmd/internal/localstate"
	"github.com/pages-toolchain/pages/cmd/internal/userfile"
	"github.com/pages-toolchain/pages/cmd/internal/wording"
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

// migrator gives the migrator of an open database of the site in dir.
func (c *cli) migrator(s *localstate.State, db *sql.DB, dir string, m *manifest.Manifest, o migrate.Options) *migrate.Migrator {
	o.Now, o.Tool = c.term.Now, tool()
	return s.Migrator(db, dir, m, o)
}

// tool is how this program names itself in what it writes.
func tool() string { return "pages " + version }

// findMigrations is the site that is meant, which must declare a database.
func (c *cli) findMigrations(args []string) (*migrations, *localstate.State, error) {
	dir, err := c.find(args)
	if err != nil {
		return nil, nil, err
	}
	// The manifest alone: what else is wrong with the site is no matter here, and is what validate tells.
	path := filepath.Join(dir, manifest.FileName)
	src, err := userfile.ReadSource(path)
	if err != nil {
		return nil, nil, &failure.Error{Exit: failure.ExitRefused, Code: "unreadable", Message: fmt.Sprintf("%s cannot be read: %s", wording.QuotePath(c.term.Shown(path)), failure.Reason(err)), Err: err}
	}
	m, diags := manifest.Parse(c.term.Shown(path), src)
	if m == nil || diags.HasErrors() {
		return nil, nil, &failure.RefusedError{Report: manifest.NewReport(c.term.Shown(path), diags), Source: src}
	}
	if m.Bindings.Database == nil {
		return nil, nil, &failure.Error{Exit: failure.ExitRefused, Code: "no-database", Message: "the site declares no database", Fix: `add "bindings": {"database": {"migrations": "migrations"}} to ` + manifest.FileName}
	}
	s, err := c.states().State(dir)
	if err != nil {
		return nil, nil, err
	}
	return &migrations{cli: c, dir: dir, path: filepath.Join(s.Dir, statefolder.SiteFile), m: m}, s, nil
}

// withMigrations runs fn on a site's database, while no other process migrates it.
func (c *cli) withMigrations(ctx context.Context, args []string, o migrate.Options, fn func(*migrations) error) (err error) {
	site, s, err := c.findMigrations(args)
	if err != nil {
		return err
	}
	if s, err = localstate.OpenFolder(s.Dir); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	unlock, err := s.LockMigrations(ctx)
	if err != nil {
		return err
	}
	defer func() {
		unlock()
		if err == nil {
			s.NotifyWritten()
		}
	}()
	db, err := s.Open(ctx, statefolder.SiteFile)
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
	db, err := s.OpenToRead(ctx, statefolder.SiteFile)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	site.Migrator = c.migrator(s, db, site.dir, site.m, o)
	return site.fail(fn(site))
}
