package host

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"time"

	"github.com/pages-toolchain/pages/cmd/internal/localstate"
	"github.com/pages-toolchain/pages/cmd/internal/wording"
	"github.com/pages-toolchain/pages/migrate"
	"github.com/pages-toolchain/pages/migrate/dbfile"
	"github.com/pages-toolchain/pages/migrate/restorepoint"
	"github.com/pages-toolchain/pages/migrate/statefolder"
	"github.com/pages-toolchain/pages/toolapi"
	"github.com/pages-toolchain/pages/toolapi/service"
)

// This file puts a restore point back. First it makes the new database, in a file beside the site's. Then it locks the site's database
// against writers, makes a restore point of its contents, and writes everything that needs room on the disk. The service decides in its own
// transaction; only one commit remains after that. If the process is killed before the decision, the old data stays. If it is killed after
// it, the next process finds the file, and no mark of the restore in the site's database: it puts the file in place before it serves the
// site.

// lockedTime bounds the comparison of rows while writers wait.
const lockedTime = 4 * time.Second

// restoreOrder is the content of a file beside the data: with it the next process completes a killed restore.
type restoreOrder struct {
	ID     string   `json:"id"`
	Point  string   `json:"point"`
	Tables []string `json:"tables,omitempty"`
	Keep   string   `json:"keep,omitempty"` // the table whose later rows stay
}

// restoring is a restore in preparation.
type restoring struct {
	host  *Host
	r     service.Release
	order restoreOrder
	live  string // path of the site's database
	file  string // of the point's database
	ran   []toolapi.RehearsedFile
	lost  []toolapi.DataLoss // by migrations that run again
	plans bool               // the caller wants lost
}

// newRestoring returns the restore of a release. Its file lies in dir.
func (h *Host) newRestoring(r service.Release, dir, name string) *restoring {
	b := &restoring{
		host: h, r: r, live: filepath.Join(h.dir, r.Site, statefolder.SiteFile), file: filepath.Join(dir, name),
		order: restoreOrder{ID: r.Restore.ID, Point: r.Restore.Point, Tables: r.Restore.Tables},
	}
	if r.Restore.KeepLeads {
		b.order.Keep = r.Bundle.Manifest.Bindings.Submissions
	}
	return b
}

// build makes the database of the point in the file of r. Migrations that the code has and the point lacks run on it; their files lie in a
// folder of dir meanwhile.
func (b *restoring) build(ctx context.Context, dir string) error {
	_, err := b.host.pointsOf(filepath.Dir(b.live)).Extract(ctx, b.order.Point, b.file)
	if err != nil {
		return restoreError(err)
	}
	if len(b.order.Tables) > 0 {
		b.order.Tables, err = restorepoint.CheckTables(ctx, b.live, b.file, b.order.Tables)
		return restoreError(err)
	}
	return b.migrate(ctx, dir)
}

// migrate runs the migrations that the point lacks.
func (b *restoring) migrate(ctx context.Context, dir string) (err error) {
	found := migrationsOf(b.r)
	if found == nil {
		return nil
	}
	texts, err := os.MkdirTemp(dir, migrationsCopy+"*")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(texts)) }()
	if err := found.write(b.r, texts); err != nil {
		return err
	}
	db, err := localstate.OpenDatabase(ctx, b.file, false)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	migrator := migrate.New(db, found.in(texts), found.options(b.host))
	status, err := migrator.Status(ctx)
	if err != nil {
		return migrationFailed(err)
	}
	if len(status.Missing) > 0 {
		if b.r.Force {
			return nil
		}
		return &service.ReleaseError{
			Code: toolapi.CodeSchemaAhead,
			Message: "The restore point has the migration " + status.Missing[0].Name + ", which the revision " + b.r.Revision +
				" lacks: restore it with the revision of the point.",
		}
	}
	bounded, stop := context.WithTimeout(ctx, b.host.maxMigrate)
	defer stop()
	if b.plans && len(status.Pending) > 0 {
		plan, err := migrate.New(db, found.in(texts), b.planOptions(found)).Plan(bounded)
		if err != nil && ctx.Err() == nil {
			return migrationFailed(err)
		}
		b.lost = migratedBy(plan).DataLoss
	}
	result, err := migrator.Apply(bounded)
	for _, e := range result.Applied {
		b.ran = append(b.ran, toolapi.RehearsedFile{File: e.Name, Milliseconds: e.DurationMS})
	}
	if err != nil && ctx.Err() == nil {
		return migrationFailed(err)
	}
	return err
}

// planOptions are the options for the plan of migrations that run again.
func (b *restoring) planOptions(found *migrations) migrate.Options {
	o := found.options(b.host)
	o.Plan = b.host.planOptions(b.r.Site, b.host.limits.bytes, b.host.limits.time)
	return o
}

// restoreError returns the release's error for a point that cannot be restored.
func restoreError(err error) error {
	if damaged, ok := errors.AsType[*restorepoint.DamagedError](err); ok {
		return &service.ReleaseError{
			Code:    toolapi.CodeRestorePointDamaged,
			Message: "Nothing was restored: " + damaged.Error() + ", its bytes on the disk differ from the written ones.",
		}
	}
	if errors.Is(err, restorepoint.ErrUnknown) {
		return &service.ReleaseError{Code: toolapi.CodeRestorePointUnknown, Message: "The site no longer has this restore point."}
	}
	if refused, ok := errors.AsType[*restorepoint.RefusedError](err); ok {
		return &service.ReleaseError{Code: toolapi.CodeTablesUnfit, Message: refused.Message}
	}
	return err
}

// report lists the data that a restore removes and brings back.
func (b *restoring) report(d restorepoint.Difference) toolapi.Migrated {
	m := notMigrated(toolapi.RehearsalDone, "")
	m.Rehearsal.Files = append(m.Rehearsal.Files, b.ran...)
	for _, l := range d.Lost {
		m.DataLoss = append(m.DataLoss, toolapi.DataLoss{
			Table: l.Table, Column: l.Column, Rows: l.Rows, Cause: l.Cause, Statement: "restore " + b.order.Point,
			Allowed: true, // by the confirmation, which shows it
		})
	}
	for _, l := range b.lost {
		l.Allowed = true
		m.DataLoss = append(m.DataLoss, l)
	}
	for _, t := range d.Tables {
		m.Rehearsal.Tables = append(m.Rehearsal.Tables, toolapi.RehearsedTable{Table: t.Table, Before: t.Before, After: t.After})
	}
	return m
}

// skipped is the report of a restore whose rows were not compared.
func (b *restoring) skipped(reason string) toolapi.Migrated {
	m := notMigrated(toolapi.RehearsalSkipped, reason)
	m.Rehearsal.Files = append(m.Rehearsal.Files, b.ran...)
	return m
}

// rehearseRestore restores a point on a copy, and compares that with the live data.
func (h *Host) rehearseRestore(ctx context.Context, r service.Release) (m toolapi.Migrated, err error) {
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
	b := h.newRestoring(r, dir, "restore.db")
	b.plans = !r.Restore.Harmless
	if bytes := databaseSize(b.live); bytes > h.limits.bytes {
		return b.skipped("the database has " + wording.Size(bytes)), nil
	}
	if reason := h.noRoom(r.Site); reason != "" {
		return b.skipped(reason), nil
	}
	bounded, stop := context.WithTimeout(ctx, h.limits.time)
	defer stop()
	d, err := b.rehearse(bounded, dir)
	if r.Restore.Harmless {
		d.Lost = nil
	}
	switch {
	case err != nil && bounded.Err() != nil && ctx.Err() == nil:
		return b.skipped(fmt.Sprintf("the rehearsal took longer than %s", h.limits.time)), nil
	case err != nil:
		return m, err
	}
	return b.report(d), nil
}

func (b *restoring) rehearse(ctx context.Context, dir string) (d restorepoint.Difference, err error) {
	made, err := b.onCopy(ctx, dir)
	if err != nil {
		return d, err
	}
	return restorepoint.Compare(ctx, b.live, made)
}

// onCopy makes the database that the site would get, in a file of dir.
func (b *restoring) onCopy(ctx context.Context, dir string) (made string, err error) {
	if err := b.build(ctx, dir); err != nil {
		return "", err
	}
	if len(b.order.Tables) == 0 {
		if b.order.Keep != "" {
			_, err = restorepoint.KeepSince(ctx, b.file, b.live, b.order.Keep)
		}
		return b.file, err
	}
	made = filepath.Join(dir, "tables.db")
	if err := copyDatabase(ctx, b.live, made); err != nil {
		return "", err
	}
	change, err := restorepoint.BeginTables(ctx, ownDSN(made, ""), b.file, b.order.change(b.host.o.Now()), noCheck)
	if err == nil {
		err = change.Commit()
	}
	return made, restoreError(err)
}

func noCheck() error { return nil }

// ownDSN opens a database without the checks of foreign keys: a restore checks them as a whole.
func ownDSN(file, vfs string) string {
	q := url.Values{"_pragma": {"busy_timeout(5000)", "synchronous(FULL)", "foreign_keys(0)", "journal_size_limit(16777216)"}}
	if vfs != "" {
		q.Set("vfs", vfs)
	}
	return dbfile.URI(file, q.Encode())
}

func (o restoreOrder) change(at time.Time) restorepoint.TableChange {
	return restorepoint.TableChange{ID: o.ID, Point: o.Point, Tables: o.Tables, Keep: o.Keep, At: at}
}

const restorePrefix = "restore-" // of files beside a site's database, during a restore

// orderFile and dataFile are the files of a restore in a site's folder.
func orderFile(id string) string { return restorePrefix + id + ".json" }
func dataFile(id string) string  { return restorePrefix + id + ".db" }

// preparedRestore is a restore that waits for the service's decision.
type preparedRestore struct {
	site      *hostedSite
	order     restoreOrder
	replacing restorepoint.Replacing
	migrated  toolapi.Migrated
	restored  service.Restored
}

// prepareRestore does all of a restore but its commit. Other writers then wait until its commit or abort.
func (s *hostedSite) prepareRestore(ctx context.Context, r service.Release) (p *preparedRestore, err error) {
	b := s.host.newRestoring(r, s.dir, dataFile(r.Restore.ID))
	s.removeRestore(r.Restore.ID)
	defer func() {
		if err != nil {
			s.host.notice(err)
			s.removeRestore(r.Restore.ID)
		}
	}()
	if err := b.build(ctx, s.dir); err != nil {
		return nil, err
	}
	if err := s.writeOrder(orderFile(b.order.ID), b.order); err != nil {
		return nil, err
	}
	p = &preparedRestore{site: s, order: b.order}
	if len(b.order.Tables) > 0 {
		err = p.beginTables(ctx, b)
	} else {
		err = p.beginWhole(ctx, b)
	}
	if err != nil {
		return nil, restoreError(err)
	}
	if p.restored.Migrations, err = migrationsIn(ctx, b); err != nil {
		return nil, errors.Join(err, p.replacing.Abort())
	}
	return p, nil
}

// beginTables locks the database, and restores single tables in a transaction that is not committed yet.
func (p *preparedRestore) beginTables(ctx context.Context, b *restoring) error {
	order := b.order.change(b.host.o.Now())
	order.Now = b.live
	change, err := restorepoint.BeginTables(ctx, ownDSN(b.live, b.host.bounds.Temporary), b.file, order,
		func() error { return p.save(ctx, b) })
	if err != nil {
		return err
	}
	if err := p.judge(ctx, b, change.Compare); err != nil {
		return errors.Join(err, change.Abort())
	}
	p.replacing = change
	return nil
}

// beginWhole locks the database, and prepares the file that will replace it.
func (p *preparedRestore) beginWhole(ctx context.Context, b *restoring) error {
	err := restorepoint.Mark(ctx, b.file, b.order.ID, b.order.Point, b.host.o.Now())
	if err != nil {
		return err
	}
	p.replacing, err = restorepoint.BeginWhole(ctx, p.site.database, b.file, func() error {
		if err := p.save(ctx, b); err != nil {
			return err
		}
		if b.order.Keep != "" {
			if _, err := restorepoint.KeepSince(ctx, b.file, b.live, b.order.Keep); err != nil {
				return err
			}
		}
		return p.judge(ctx, b, func(ctx context.Context) (restorepoint.Difference, error) {
			return restorepoint.Compare(ctx, b.live, b.file)
		})
	})
	return err
}

// save makes a restore point of the current data. The caller holds the write lock.
func (p *preparedRestore) save(ctx context.Context, b *restoring) error {
	saved, err := p.site.addPoint(ctx, restorepoint.About{
		Reason: restorepoint.ReasonRestore, Before: b.order.Point, Revision: b.r.Live,
	})
	if err == nil {
		p.restored.Saved = saved.ID
	}
	return err
}

// judge compares the current data with the restored data, and refuses losses beyond the approved ones. The caller holds the write lock.
func (p *preparedRestore) judge(
	ctx context.Context, b *restoring, compare func(context.Context) (restorepoint.Difference, error),
) error {
	bounded, stop := context.WithTimeout(ctx, lockedTime)
	defer stop()
	d, err := compare(bounded)
	switch {
	case err != nil && bounded.Err() != nil && ctx.Err() == nil:
		p.migrated = b.skipped(fmt.Sprintf("comparing the rows took longer than %s", lockedTime))
		return nil
	case err != nil:
		return err
	}
	p.migrated = b.report(d)
	if b.r.Judge != nil {
		return b.r.Judge(p.migrated)
	}
	return nil
}

// migrationsIn returns the names in the ledger that the site's database will have.
func migrationsIn(ctx context.Context, b *restoring) (names []string, err error) {
	file := b.file
	if len(b.order.Tables) > 0 {
		file = b.live // the site's schema stays
	}
	db, err := localstate.OpenDatabase(ctx, file, true)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	status, err := migrate.New(db, nil, migrate.Options{Now: b.host.o.Now}).Status(ctx)
	for _, e := range status.Applied {
		names = append(names, e.Name)
	}
	return names, err
}

// removeRestore removes the files of a restore.
func (s *hostedSite) removeRestore(id string) {
	s.removeOrder(orderFile(id), dataFile(id), dataFile(id)+"-wal", dataFile(id)+"-shm")
}

// commit ends a restore that the service has decided.
func (p *preparedRestore) commit() error {
	if err := p.replacing.Commit(); err != nil {
		return err
	}
	p.site.restored = p.order.ID
	p.site.removeRestore(p.order.ID)
	return nil
}

// abort leaves the old data.
func (p *preparedRestore) abort() {
	if err := p.replacing.Abort(); err != nil {
		p.site.host.notice(err)
		p.site.host.o.Logger.Warn("a restore could not be finished", "site", p.site.id, "error", err.Error())
	}
	p.site.removeRestore(p.order.ID)
}

// endRestore completes the last restore of a site after a killed process, and removes the files of others.
func (s *hostedSite) endRestore(ctx context.Context, r service.Release) error {
	if r.LastRestore != "" && s.restored == r.LastRestore {
		return nil
	}
	if id := r.LastRestore; id != "" {
		done, err := restorepoint.Marked(ctx, s.database, id)
		if err == nil && !done {
			err = s.putBack(ctx, id)
		}
		if err != nil {
			return err
		}
		s.restored = id
	}
	left, err := filepath.Glob(filepath.Join(globQuote(s.dir), restorePrefix+"*"))
	for _, name := range left {
		err = errors.Join(err, os.Remove(name))
	}
	return err
}

// putBack restores the data that the service decided on.
func (s *hostedSite) putBack(ctx context.Context, id string) error {
	text, err := os.ReadFile(filepath.Join(s.dir, orderFile(id)))
	var o restoreOrder
	if err == nil {
		err = json.Unmarshal(text, &o)
	}
	if err != nil || o.ID != id {
		return fmt.Errorf("the data of the restore %s is missing: restore the data folder from a backup: %w", id, err)
	}
	file := filepath.Join(s.dir, dataFile(id))
	var change restorepoint.Replacing
	if len(o.Tables) > 0 {
		change, err = restorepoint.BeginTables(
			ctx, ownDSN(filepath.Join(s.dir, statefolder.SiteFile), s.host.bounds.Temporary), file, o.change(s.host.o.Now()), noCheck)
	} else {
		change, err = restorepoint.BeginWhole(ctx, s.database, file, noCheck)
	}
	if err != nil {
		return err
	}
	s.host.o.Logger.Info("completed an interrupted restore", "site", s.id, "restore", id)
	return change.Commit()
}

// globQuote quotes a folder for a pattern.
func globQuote(dir string) string {
	var out []rune
	for _, r := range dir {
		switch r {
		case '*', '?', '[', '\\':
			if filepath.Separator != '\\' {
				out = append(out, '\\')
			}
		}
		out = append(out, r)
	}
	return string(out)
}

// copyPoint writes the database that the site would get to a new file, for a preview.
func (h *Host) copyPoint(ctx context.Context, r service.Release, file string) (err error) {
	dir, err := h.scratchFolder(r.Site)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	made, err := h.newRestoring(r, dir, "restore.db").onCopy(ctx, dir)
	if err != nil {
		return err
	}
	return copyDatabase(ctx, made, file)
}
