// Package seed runs a file of SQL on a site's database, once.
//
// Input: the file and an open database. Output: a report, and a *failure.Error for a file that is missing, or that has changed since it was
// run. It applies pending migrations first; the file runs in one transaction with the row that records it. A Run is for one goroutine.
//
// It prints nothing, and runs a file a second time only on request.
package seed

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/pages-toolchain/pages/cmd/internal/failure"
	"github.com/pages-toolchain/pages/cmd/internal/migration"
	"github.com/pages-toolchain/pages/cmd/internal/sqlshell"
	"github.com/pages-toolchain/pages/cmd/internal/userfile"
	"github.com/pages-toolchain/pages/cmd/internal/wording"
	"github.com/pages-toolchain/pages/manifest"
	"github.com/pages-toolchain/pages/migrate"
	"github.com/pages-toolchain/pages/migrate/transfer"
)

// FileName is the name of the seed beside the manifest.
const FileName = "seed.sql"

// table is the ledger of seeds.
const table = "_pages_seeds"

// Report is the output of `pages state seed --json`.
type Report struct {
	OK       bool     `json:"ok"`
	Database string   `json:"database"`
	Seeded   bool     `json:"seeded"`  // false if it ran before
	Applied  []string `json:"applied"` // migrations
	transfer.Ran
}

// Options are the options of a run.
type Options struct {
	WorkDir userfile.WorkDir
	File    string // the absolute path of the SQL file
	Force   bool   // run it again
	Tool    string // name of this program in the ledger
	Now     func() time.Time
	// Open opens the site's database, after the file was found readable.
	Open     func(context.Context) (*sqlshell.Database, error)
	Manifest *manifest.Manifest
	Applied  func(name string) // called for each applied migration
}

type run struct {
	o         Options
	db        *sqlshell.Database
	name, sum string
}

// Run applies pending migrations, and runs the file unless it ran before.
func Run(ctx context.Context, o Options) (report Report, err error) {
	in, sum, err := o.open()
	if err != nil {
		return report, err
	}
	defer in.Close()
	db, err := o.Open(ctx)
	if err != nil {
		return report, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	report = Report{OK: true, Database: db.Path, Applied: []string{}}
	r := &run{o: o, db: db, name: filepath.Base(o.File), sum: sum}
	if err := r.migrate(ctx, &report); err != nil {
		return report, err
	}
	if report.Seeded, err = r.isDue(ctx); err != nil || !report.Seeded {
		return report, err
	}
	report.Ran, err = transfer.Script(ctx, db, o.WorkDir.Rel(o.File), in, transfer.ScriptOptions{Dump: true, Last: r.record})
	return report, sqlshell.Failure(err, sqlshell.NothingChanged)
}

// open opens the file, and returns its SHA-256.
func (o Options) open() (in *os.File, sum string, err error) {
	shown := o.WorkDir.Rel(o.File)
	in, err = userfile.OpenRegular(o.File)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, "", failure.Refused("no-seed", "there is no "+shown, "write INSERT statements there, or name another file with --file")
	}
	h := sha256.New()
	if err == nil {
		if _, err = io.Copy(h, in); err != nil {
			_ = in.Close() // it was only read
		}
	}
	if err != nil {
		return nil, "", &failure.Error{
			Exit: failure.ExitRefused, Code: "unreadable",
			Message: fmt.Sprintf("%s cannot be read: %s", wording.QuotePath(shown), failure.Reason(err)), Err: err,
		}
	}
	_, err = in.Seek(0, io.SeekStart)
	return in, hex.EncodeToString(h.Sum(nil)), err
}

// migrate applies pending migrations, which make the tables for the seed.
func (r *run) migrate(ctx context.Context, report *Report) (err error) {
	if r.o.Manifest == nil || r.o.Manifest.Bindings.Database == nil {
		return nil // Open has refused it
	}
	unlock, err := r.db.State.LockMigrations(ctx)
	if err != nil {
		return err
	}
	defer func() {
		unlock()
		if err == nil {
			r.db.State.NotifyWritten()
		}
	}()
	result, err := r.db.State.Migrator(r.db.Pool, r.db.Dir, r.o.Manifest, migrate.Options{Now: r.o.Now, Tool: r.o.Tool}).Apply(ctx)
	for _, a := range result.Applied {
		report.Applied = append(report.Applied, a.Name)
		r.o.Applied(a.Name)
	}
	if err != nil {
		return migration.Error(r.o.WorkDir, r.db.Dir, err)
	}
	return nil
}

// isDue reports whether the file must still run.
func (r *run) isDue(ctx context.Context) (bool, error) {
	exists := false
	if _, err := r.db.Run(ctx, "SELECT 1 FROM sqlite_schema WHERE name = ?", []any{table}, nil, func([]any) error {
		exists = true
		return nil
	}); err != nil || !exists {
		return err == nil, sqlshell.Failure(err, sqlshell.NothingChanged)
	}
	var last, when string
	_, err := r.db.Run(ctx, "SELECT sha256, applied_at FROM "+table+" WHERE name = ?", []any{r.name}, nil, func(v []any) error {
		last, _ = v[0].(string)
		when, _ = v[1].(string)
		return nil
	})
	switch {
	case err != nil:
		return false, sqlshell.Failure(err, sqlshell.NothingChanged)
	case last == "" || r.o.Force:
		return true, nil
	case last != r.sum:
		return false, failure.Refused("seed-changed", fmt.Sprintf("%s has changed since it was run at %s", r.name, when),
			"pages state reset starts again; --force runs it on the present data")
	}
	return false, nil
}

// record records the run of the file, in the same transaction.
func (r *run) record(ctx context.Context) error {
	const create = "CREATE TABLE IF NOT EXISTS " + table +
		" (name TEXT PRIMARY KEY NOT NULL, sha256 TEXT NOT NULL, applied_at TEXT NOT NULL) STRICT"
	if _, err := r.db.Run(ctx, create, nil, nil, nil); err != nil {
		return err
	}
	const insert = "INSERT INTO " + table + " (name, sha256, applied_at) VALUES (?, ?, ?)" +
		" ON CONFLICT (name) DO UPDATE SET sha256 = excluded.sha256, applied_at = excluded.applied_at"
	_, err := r.db.Run(ctx, insert, []any{r.name, r.sum, r.o.Now().UTC().Format(time.RFC3339)}, nil, nil)
	return err
}
