package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/pages-toolchain/pages/migrate"
)

// checkDatabases has SQLite look through every page of every database.
func (d *doctor) checkDatabases(ctx context.Context) (found []finding) {
	if !d.hasState() {
		return nil
	}
	s := &state{dir: d.statePath(d.dir)}
	if err := s.useToRead(); err != nil {
		return breaks("databases", "run this again when the other command is done", "%s", err)
	}
	defer func() { _ = s.release() }() // ends with the process in any case
	for _, name := range []string{siteFile, projectFile, platformFile, kvFile, cacheFile, filepath.Join(storageDir, indexFile), filepath.Join(uploadsDir, indexFile)} {
		path := filepath.Join(s.dir, name)
		if !isFile(path) {
			continue
		}
		if faults, err := integrity(ctx, path); err != nil || len(faults) > 0 {
			if err != nil {
				faults = []string{reason(err)}
			}
			found = append(found, breaks("databases", "stop pages dev, keep a copy of the file, and load a snapshot with pages state load, or save what can be read with pages db dump", "%s is damaged: %s", d.shown(path), strings.Join(faults, "; "))...)
		}
	}
	if len(found) == 0 {
		return well("databases", "every page of every database is in order")
	}
	return found
}

// integrity is what PRAGMA integrity_check finds, nothing when all is in order.
func integrity(ctx context.Context, path string) (faults []string, err error) {
	db, err := openSQLite(ctx, path, true)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	const most = 3
	rows, err := db.QueryContext(ctx, fmt.Sprintf("PRAGMA integrity_check(%d)", most))
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var text string
		if err := rows.Scan(&text); err != nil {
			return nil, err
		}
		if text != "ok" {
			faults = append(faults, strings.Join(strings.Fields(text), " "))
		}
	}
	return faults, rows.Err()
}

// checkMigrations compares the ledger with the folder.
func (d *doctor) checkMigrations(ctx context.Context) (found []finding) {
	if d.manifest == nil || d.manifest.Bindings.Database == nil || d.manifest.Bindings.Database.Migrations == "" {
		return nil
	}
	if _, err := d.state(); err != nil {
		return nil // checkState tells
	}
	err := d.readMigrations(ctx, nil, migrate.Options{}, func(m *migrations) error {
		status, err := m.Status(ctx)
		if err != nil {
			return err
		}
		switch refusal := status.Refusal(); {
		case refusal != nil:
			found = breaks("migrations", "pages migrate status shows each, and what to do", "the folder and the database's ledger differ: %s", refusal)
		case len(status.Pending) > 0:
			found = well("migrations", "%d applied, %d pending: pages dev applies them", len(status.Applied), len(status.Pending))
		default:
			found = well("migrations", "%d applied", len(status.Applied))
		}
		return nil
	})
	if err != nil {
		return breaks("migrations", "pages migrate status says more", "%s", err)
	}
	return found
}
