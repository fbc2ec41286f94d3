package main

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/gofrs/flock"

	"github.com/pages-toolchain/pages/migrate"
	"github.com/pages-toolchain/pages/runtime/binding"
)

// This file holds the checks of a site's local state. They write nothing.

// Port is the port a server answers on.
func (r running) Port() string {
	u, err := url.Parse(r.URL)
	if err != nil {
		return ""
	}
	return u.Port()
}

// whoServes is the dev server that runs on the site's state.
func (d *doctor) whoServes() (r running, ok bool) {
	if d.dir == "" {
		return r, false
	}
	folder := d.statePath(d.dir)
	text, err := os.ReadFile(filepath.Join(folder, devFile))
	if err != nil || json.Unmarshal(text, &r) != nil {
		return running{}, false
	}
	return r, lockHeld(filepath.Join(folder, devLock))
}

// lockHeld reports whether a process holds a lock. It holds it itself for a moment.
func lockHeld(path string) bool {
	if !isFile(path) {
		return false
	}
	lock := flock.New(path)
	got, err := lock.TryLock()
	if !got || err != nil {
		return true
	}
	_ = lock.Unlock() // ends with the process in any case
	return false
}

func (d *doctor) hasState() bool {
	_, err := os.Stat(d.statePath(d.dir))
	return err == nil
}

// checkState looks at the folder: who uses it, and what is left of who did.
func (d *doctor) checkState(context.Context) []finding {
	folder := d.statePath(d.dir)
	if !d.hasState() {
		return notLooked("state", "there is none yet: pages dev makes it")
	}
	if err := writable(folder); err != nil {
		return breaks("state", "make it a folder that you may write to, or give another with --state-dir", "%q cannot be written: %s", d.shown(folder), reason(err))
	}
	left := filepath.Join(folder, devFile)
	r, serves := d.whoServes()
	switch {
	case serves:
		return well("state", "%s, used by pages dev: process %d at %s", d.shown(folder), r.PID, r.URL)
	case isFile(left):
		return []finding{{
			Check: "state", Status: warned, Message: fmt.Sprintf("a pages dev that was killed left %s behind", d.shown(left)),
			mend: func(context.Context) error { return os.Remove(left) },
		}}
	}
	return well("state", "%s", d.shown(folder))
}

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

// checkObjects compares the rows of the bucket, and of what visitors sent with forms,
// with the files.
func (d *doctor) checkObjects(ctx context.Context) []finding {
	return slices.Concat(d.checkBucket(ctx, "objects", storageDir), d.checkBucket(ctx, "uploads", uploadsDir))
}

func (d *doctor) checkBucket(ctx context.Context, check, bucket string) []finding {
	s := &state{dir: d.statePath(d.dir)}
	if !isFile(filepath.Join(s.dir, bucket, indexFile)) {
		return nil
	}
	report, err := withBucket(ctx, s, bucket, true, func(db *sql.DB, root *os.Root) (binding.StorageReport, error) {
		return binding.CheckStorage(ctx, db, root.FS())
	})
	_, serves := d.whoServes()
	switch {
	case err != nil:
		return breaks(check, "see what is said of the databases", "%s", err)
	case len(report.Damaged) > 0:
		return breaks(check, "put them again, or load a snapshot with pages state load", "%s without their bytes: %s", count(len(report.Damaged), "object"), quoteAll(report.Damaged))
	case report.Orphans > 0 && serves: // a put that is under way looks the same
		return well(check, "%s of bytes, %d that no object has: the next start removes them", count(report.Blobs, "file"), report.Orphans)
	case report.Orphans > 0:
		return []finding{{
			Check: check, Status: warned, Message: fmt.Sprintf("%s (%s) that no object has any more", count(report.Orphans, "file"), size(report.OrphanBytes)),
			mend: func(ctx context.Context) error { return sweepBucket(ctx, s.dir, bucket) },
		}}
	}
	return well(check, "%s of bytes, %s", count(report.Blobs, "file"), size(report.Bytes))
}

// sweepBucket removes the files that no object has, while nobody else has the
// bucket open: opening it does.
func sweepBucket(ctx context.Context, folder, bucket string) (err error) {
	s := &state{dir: folder}
	unlock, err := s.lockDev()
	if err != nil {
		return err
	}
	defer unlock()
	_, err = withBucket(ctx, s, bucket, false, func(db *sql.DB, root *os.Root) (binding.StorageReport, error) {
		_, err := binding.NewStorage(ctx, db, root, nil)
		return binding.StorageReport{}, err
	})
	return err
}

// withBucket opens what a bucket is kept in.
func withBucket(ctx context.Context, s *state, bucket string, readOnly bool, work func(*sql.DB, *os.Root) (binding.StorageReport, error)) (report binding.StorageReport, err error) {
	if err := s.useToRead(); err != nil {
		return report, err
	}
	defer func() { err = errors.Join(err, s.release()) }()
	db, err := openSQLite(ctx, filepath.Join(s.dir, bucket, indexFile), readOnly)
	if err != nil {
		return report, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	root, err := os.OpenRoot(filepath.Join(s.dir, bucket))
	if errors.Is(err, fs.ErrNotExist) {
		return report, nil
	}
	if err != nil {
		return report, err
	}
	defer func() { err = errors.Join(err, root.Close()) }()
	return work(db, root)
}
