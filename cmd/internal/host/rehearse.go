package host

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/pages-toolchain/pages/cmd/internal/localstate"
	"github.com/pages-toolchain/pages/cmd/internal/userfile"
	"github.com/pages-toolchain/pages/cmd/internal/wording"
	"github.com/pages-toolchain/pages/migrate"
	"github.com/pages-toolchain/pages/migrate/dbfile"
	"github.com/pages-toolchain/pages/migrate/statefolder"
	"github.com/pages-toolchain/pages/toolapi"
	"github.com/pages-toolchain/pages/toolapi/service"
)

// This file runs migrations on a copy of a site's database, before a person is asked. Their author is not the operator of the service, and
// the call waits: a rehearsal over one of the bounds below is skipped, and its report names the bound. The copy is a temporary file of
// SQLite, which disappears with its connection, even if the process is killed.

const (
	// rehearsalTime bounds a rehearsal with its copy.
	rehearsalTime = 20 * time.Second
	// rehearsalWait is the longest wait of a rehearsal for others to end.
	rehearsalWait = 10 * time.Second
	// maxRehearsals is the number of rehearsals that run at a time, one for each workspace.
	maxRehearsals = 4
	// rehearsedBytes bounds the database that is copied, and the growth of the copy.
	rehearsedBytes = 2_000_000_000
	// rehearsedMemory bounds the database that is copied into memory. The run may take four times as much.
	rehearsedMemory = 8 << 20
	// spareDisk is the free space that a rehearsal leaves to the sites.
	spareDisk = 1_000_000_000
	// rehearsalFS bounds the files into which rehearsals sort, apart from those of the sites.
	rehearsalFS = "pages-rehearsed"
)

// boundRehearsals registers that bound with SQLite, once.
var boundRehearsals = sync.OnceValue(func() error {
	return (&dbfile.Temporary{PerFile: temporaryBytes, Together: maxRehearsals * temporaryBytes}).Register(rehearsalFS)
})

// rehearsalLimits bounds one rehearsal.
type rehearsalLimits struct {
	time         time.Duration
	bytes, spare int64 // of the database, and of the disk that stays free
}

// rehearsing bounds the number of rehearsals.
type rehearsing struct {
	all  chan struct{} // one item for each that runs
	mu   sync.Mutex
	busy map[int64]chan struct{} // by workspace; one item while a rehearsal of it runs
	wait time.Duration
}

func newRehearsing(most int, wait time.Duration) *rehearsing {
	return &rehearsing{all: make(chan struct{}, most), busy: map[int64]chan struct{}{}, wait: wait}
}

// enter waits for a place until leave is called. It returns nil if no place becomes free in time: ctx has ended, or the others take too
// long.
func (r *rehearsing) enter(ctx context.Context, workspace int64) (leave func()) {
	r.mu.Lock()
	own, ok := r.busy[workspace]
	if !ok {
		own = make(chan struct{}, 1)
		r.busy[workspace] = own
	}
	r.mu.Unlock()
	waiting, stop := context.WithTimeout(ctx, r.wait)
	defer stop()
	if !take(waiting, own) {
		return nil
	}
	if !take(waiting, r.all) {
		<-own
		return nil
	}
	return func() { <-r.all; <-own }
}

// take takes a place at once, or waits for one until ctx ends.
func take(ctx context.Context, places chan struct{}) bool {
	select {
	case places <- struct{}{}:
		return true
	default:
	}
	select {
	case places <- struct{}{}:
		return true
	case <-ctx.Done():
		return false
	}
}

// othersRehearse is the reason for skipping a rehearsal that got no place.
const othersRehearse = "the service is rehearsing other migrations"

// noRoom returns the reason for not copying the database of a site; "" if the disk has room for two copies.
func (h *Host) noRoom(site string) string {
	needed := 2*databaseSize(filepath.Join(h.dir, site, statefolder.SiteFile)) + h.limits.spare
	if free, err := userfile.FreeDisk(h.dir); err == nil && free < needed { // unknown free space is not a reason
		return "the service's disk has no room for copies"
	}
	return ""
}

// databaseSize returns the size of a database's file and its log, in bytes.
func databaseSize(name string) (bytes int64) {
	for _, part := range []string{name, name + "-wal"} {
		if info, err := os.Stat(part); err == nil {
			bytes += info.Size()
		}
	}
	return bytes
}

// Rehearse implements service.Host.
func (h *Host) Rehearse(ctx context.Context, r service.Release) (m toolapi.Migrated, err error) {
	if err := h.site(r.Site).settle(ctx, r); err != nil {
		return m, err
	}
	if r.Restore != nil {
		return h.rehearseRestore(ctx, r)
	}
	found := migrationsOf(r)
	if found == nil {
		return notMigrated(toolapi.RehearsalNotNeeded, ""), nil
	}
	leave := h.rehearsals.enter(ctx, r.WorkspaceID)
	if leave == nil {
		return notMigrated(toolapi.RehearsalSkipped, othersRehearse), ctx.Err()
	}
	defer leave()
	dir, err := h.scratchFolder(r.Site)
	if err != nil {
		return m, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	if err := found.write(r, dir); err != nil {
		return m, err
	}
	db, err := h.liveDatabase(ctx, r.Site)
	if err != nil {
		return m, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	options := found.options(h)
	options.Plan = h.planOptions(r.Site, h.limits.bytes, h.limits.time)
	migrator := migrate.New(db, found.in(dir), options)
	status, err := migrator.Status(ctx)
	if err != nil {
		return h.notRehearsed(ctx, r.Site, err)
	}
	if nothing, err := judgeLedger(r, status); err != nil || nothing || status.Refusal() == nil && len(status.Pending) == 0 {
		return notMigrated(toolapi.RehearsalNotNeeded, ""), err
	}
	if reason := h.noRoom(r.Site); reason != "" {
		return notMigrated(toolapi.RehearsalSkipped, reason), nil
	}
	plan, err := migrator.Plan(ctx)
	if err != nil {
		return h.notRehearsed(ctx, r.Site, err)
	}
	return migratedBy(plan), nil
}

// notMigrated is the report of migrations that did not run.
func notMigrated(state toolapi.RehearsalState, reason string) toolapi.Migrated {
	not := toolapi.NewRehearsal(state, reason)
	return toolapi.Migrated{DataLoss: []toolapi.DataLoss{}, Rehearsal: &not}
}

// scratchFolder makes a folder that is removed with the previews of the site when the service starts.
func (h *Host) scratchFolder(site string) (string, error) {
	previews := filepath.Join(h.dir, site, previewsFolder)
	if err := os.MkdirAll(previews, 0o700); err != nil {
		return "", err
	}
	return os.MkdirTemp(previews, "rehearsal-*")
}

// liveDatabase opens the database of a site for reading; a site without one gets an empty one.
func (h *Host) liveDatabase(ctx context.Context, site string) (db *sql.DB, err error) {
	name := filepath.Join(h.dir, site, statefolder.SiteFile)
	if !userfile.IsFile(name) {
		if db, err = sql.Open("sqlite", ":memory:"); err == nil {
			db.SetMaxOpenConns(1)
		}
		return db, err
	}
	return localstate.OpenDatabase(ctx, name, true)
}

// planOptions bounds the copies of a site's database.
func (h *Host) planOptions(site string, bytes int64, most time.Duration) migrate.PlanOptions {
	return migrate.PlanOptions{
		Dir: filepath.Join(h.dir, site, previewsFolder), MaxMemory: rehearsedMemory, MaxBytes: bytes, VFS: rehearsalFS, Timeout: most,
	}
}

// notRehearsed returns the release's error for migrations that failed on a copy. If the service is at fault, the rehearsal is skipped.
func (h *Host) notRehearsed(ctx context.Context, site string, err error) (toolapi.Migrated, error) {
	if ctx.Err() != nil {
		return toolapi.Migrated{}, ctx.Err()
	}
	if isServiceFault(err, h.dir) {
		h.o.Logger.Warn("migrations were not rehearsed", "site", site, "error", err.Error())
		return notMigrated(toolapi.RehearsalSkipped, "the service cannot copy the database at the moment"), nil
	}
	return toolapi.Migrated{}, migrationFailed(err)
}

// migratedBy reports a plan in the form of the tools.
func migratedBy(p migrate.Plan) toolapi.Migrated {
	m := notMigrated(toolapi.RehearsalDone, "")
	if p.NotRehearsed != "" {
		m = notMigrated(toolapi.RehearsalSkipped, p.NotRehearsed)
	}
	for _, l := range p.Losses {
		m.DataLoss = append(m.DataLoss, toolapi.DataLoss{
			Table: l.Table, Column: l.Column, Rows: l.Rows, Statement: l.Statement, File: l.Name, Line: l.Pos.Line,
			Cause: l.Cause, Allowed: l.Allowed,
		})
	}
	for _, t := range p.Tables {
		if t.Before != t.After {
			m.Rehearsal.Tables = append(m.Rehearsal.Tables, toolapi.RehearsedTable{Table: t.Table, Before: t.Before, After: t.After})
		}
	}
	m.Rehearsal.Locked = float64(p.Locked) / float64(time.Millisecond)
	for _, f := range p.Files {
		m.Rehearsal.Files = append(m.Rehearsal.Files, toolapi.RehearsedFile{File: f.Name, Milliseconds: f.DurationMS, Changed: f.Changed})
	}
	for _, w := range p.Warnings {
		if w.Code == migrate.CodeCascade {
			continue // its loss shows it
		}
		m.Rehearsal.Warnings = append(m.Rehearsal.Warnings, placed(w.Name, w.Pos.Line, w.Msg))
	}
	for _, c := range p.Checks {
		m.Rehearsal.Warnings = append(m.Rehearsal.Warnings, placed(c.Name, c.Pos.Line, checkWords(c)))
	}
	return m
}

// placed puts the place of a statement before a message about it.
func placed(file string, line int, says string) string {
	switch {
	case line > 0:
		return fmt.Sprintf("%s:%d: %s", file, line, says)
	case file != "":
		return file + ": " + says
	}
	return says
}

// checkWords describes the constraint on rows, or the index over them.
func checkWords(c migrate.Check) string {
	columns := strings.Join(c.Columns, ", ")
	rows := wording.Count(int(c.Rows), "row")
	switch c.Kind {
	case migrate.CheckNotNull:
		return fmt.Sprintf("%s of %s must have a value in %s", rows, c.Table, columns)
	case migrate.CheckUnique:
		return fmt.Sprintf("%s of %s must be unique by %s", rows, c.Table, columns)
	}
	return fmt.Sprintf("the index %s is built over %s of %s", c.Index, rows, c.Table)
}
