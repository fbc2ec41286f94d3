package host

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"time"

	"github.com/pages-toolchain/pages/cmd/internal/userfile"
	"github.com/pages-toolchain/pages/cmd/internal/wording"
	"github.com/pages-toolchain/pages/migrate"
	"github.com/pages-toolchain/pages/migrate/statefolder"
	"github.com/pages-toolchain/pages/toolapi"
	"github.com/pages-toolchain/pages/toolapi/service"
)

// migrations are the migrations of a release. The zero value belongs to a release without a database.
type migrations struct {
	files  []service.ProposedMigration
	folder string   // path of the files, as the manifest names it; "" for none
	tables []string // tables that must exist afterwards
}

// migrationsOf returns the migrations of a release; nil when it has no database.
func migrationsOf(r service.Release) *migrations {
	if p := r.Proposed; p != nil {
		return &migrations{p.Files, cmp.Or(p.Folder, "migrations"), p.Tables}
	}
	m := r.Bundle.Manifest
	if m.Bindings.Database == nil {
		return nil
	}
	found := &migrations{folder: m.Bindings.Database.Migrations, tables: m.Bindings.Database.Tables}
	if m.Bindings.Submissions != "" {
		found.tables = append(slices.Clip(found.tables), m.Bindings.Submissions)
	}
	for _, f := range r.Bundle.Migrations() {
		found.files = append(found.files, service.ProposedMigration{Name: path.Base(f.Path), Stored: &f})
	}
	return found
}

// write writes the files into a folder.
func (m *migrations) write(r service.Release, dir string) error {
	into := filepath.Join(dir, filepath.FromSlash(m.folder))
	if err := os.MkdirAll(into, 0o700); err != nil {
		return err
	}
	for _, f := range m.files {
		text := f.Text
		if f.Stored != nil {
			var err error
			if text, err = contents(r, *f.Stored); err != nil {
				return err
			}
		}
		if err := os.WriteFile(filepath.Join(into, f.Name), text, 0o600); err != nil {
			return err
		}
	}
	return nil
}

// in returns the file system of the folder that write filled; nil for none.
func (m *migrations) in(dir string) fs.FS {
	if m.folder == "" {
		return nil
	}
	return os.DirFS(dir)
}

// options are the options of all runs. The author of the migrations is not the operator of the service.
func (m *migrations) options(h *Host) migrate.Options {
	return migrate.Options{
		Dir: m.folder, Tables: m.tables, Atomic: true, Now: h.o.Now, Tool: h.o.Tool, Word: wording.ShellWord,
	}
}

// judgeLedger reports whether a release has no migrations to apply to a database. It refuses a release whose migrations cannot be applied.
func judgeLedger(r service.Release, status migrate.Status) (nothing bool, err error) {
	switch {
	case len(status.Applied) == 0 && len(r.Applied) > 0 && !r.Preview: // a preview's database is its own copy
		return false, &service.ReleaseError{
			Code: toolapi.CodeMigrationFailed,
			Message: "The site's database lacks the migration " + r.Applied[0] +
				", which it had before. Ask the operator of the service to restore a backup.",
		}
	case len(status.Missing) > 0 && r.Force:
		return true, nil
	case len(status.Missing) > 0 && r.Preview:
		return false, &service.ReleaseError{
			Code: toolapi.CodeSchemaAhead,
			Message: "The preview begins with the live database, which has the migration " + status.Missing[0].Name +
				". This revision lacks it.",
		}
	case len(status.Missing) > 0:
		return false, &service.ReleaseError{
			Code:    toolapi.CodeSchemaAhead,
			Message: "The site's database has the migration " + status.Missing[0].Name + ", which this revision lacks.",
		}
	}
	return false, nil
}

// beginMigrations applies the release's migrations to the site's database: all or none. They take effect when begun commits; begun is nil
// without migrations.
func (s *hostedSite) beginMigrations(ctx context.Context, r service.Release) (
	done toolapi.Migrated, begun *preparedMigrations, err error,
) {
	done = notMigrated(toolapi.RehearsalNotNeeded, "")
	found := migrationsOf(r)
	if found == nil {
		return done, nil, nil
	}
	dir, err := os.MkdirTemp(s.state.Dir, migrationsCopy+"*")
	if err != nil {
		return done, nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	if err := found.write(r, dir); err != nil {
		return done, nil, err
	}
	options := found.options(s.host)
	migrator := migrate.New(s.database, found.in(dir), options)
	status, err := migrator.Status(ctx)
	if err != nil {
		s.host.notice(err)
		return done, nil, s.migrationError(ctx, err)
	}
	nothing, err := judgeLedger(r, status)
	if err != nil {
		return done, nil, err
	}
	if nothing {
		return done, nil, s.pointBeforePublish(ctx, r, false)
	}
	begun = &preparedMigrations{site: s}
	if order := orderOf(r, found, status); order != nil {
		begun.ordered = true
		if err := s.writeOrder(statefolder.PublishFile, order); err != nil {
			return done, nil, err
		}
	}
	if len(status.Pending) == 0 || r.Judge == nil {
		begun.transaction, err = s.beginUnjudged(ctx, r, migrator, len(status.Pending) > 0)
	} else {
		done, begun.transaction, err = s.beginJudged(ctx, r, found.in(dir), options)
	}
	if err != nil {
		if begun.ordered {
			s.removeOrder(statefolder.PublishFile)
		}
		return done, nil, err
	}
	return done, begun, nil
}

func (s *hostedSite) beginUnjudged(
	ctx context.Context, r service.Release, migrator *migrate.Migrator, migrates bool,
) (*migrate.Transaction, error) {
	if err := s.pointBeforePublish(ctx, r, migrates); err != nil {
		return nil, err
	}
	bounded, stop := context.WithTimeout(ctx, s.host.maxMigrate)
	defer stop()
	return s.begin(ctx, bounded, migrator)
}

// beginJudged applies pending migrations once the release's Judge accepts their effect.
func (s *hostedSite) beginJudged(ctx context.Context, r service.Release, files fs.FS, options migrate.Options) (
	done toolapi.Migrated, begun *migrate.Transaction, err error,
) {
	bounded, stop := context.WithCancel(ctx)
	defer stop()
	end := time.AfterFunc(2*s.host.maxMigrate, stop) // for a rehearsal, too
	defer end.Stop()
	judge := func(m toolapi.Migrated) error {
		end.Stop()
		defer end.Reset(s.host.maxMigrate)
		done = m
		if err := r.Judge(m); err != nil {
			return err
		}
		return s.pointBeforePublish(ctx, r, true) // of the rows that the run finds
	}
	reason := s.host.noRoom(r.Site)
	if leave := s.host.judging.enter(bounded, r.WorkspaceID); leave != nil {
		defer leave()
	} else {
		reason = othersRehearse
	}
	var judged error
	if reason != "" {
		if err := judge(notMigrated(toolapi.RehearsalSkipped, reason)); err != nil {
			return done, nil, err
		}
	} else {
		options.Plan = s.host.planOptions(r.Site, s.host.bounds.Bytes, s.host.maxMigrate)
		options.Judge = func(p migrate.Plan) error {
			judged = judge(migratedBy(p))
			return judged
		}
	}
	begun, err = s.begin(ctx, bounded, migrate.New(s.database, files, options))
	return done, begun, cmp.Or(judged, err)
}

// begin applies the pending migrations. bounded ends after the time that a release has.
func (s *hostedSite) begin(ctx, bounded context.Context, migrator *migrate.Migrator) (*migrate.Transaction, error) {
	begun, err := migrator.Begin(bounded)
	if err == nil {
		return begun, nil
	}
	s.host.notice(err)
	blameless := isServiceFault(err, s.state.Dir) // before the log is shortened
	s.shortenLog(context.WithoutCancel(ctx))
	if blameless {
		return nil, err
	}
	if bounded.Err() != nil && ctx.Err() == nil {
		err = fmt.Errorf("%s took longer than %s and was stopped", cmp.Or(migrate.PlaceOf(err), "it"), s.host.maxMigrate)
	}
	if refused, ok := errors.AsType[*migrate.Error](err); ok && refused.Code == migrate.CodeDatabaseFull {
		err = fmt.Errorf(
			"%w (a site's database has at most %s, and its sorting %s)", err, wording.Size(s.host.bounds.Bytes),
			wording.Size(temporaryBytes),
		)
	}
	return nil, s.migrationError(ctx, err)
}

// shortenLog frees the disk of migrations that were rolled back. SQLite itself would do so some commits later.
func (s *hostedSite) shortenLog(ctx context.Context) {
	if _, err := s.database.ExecContext(ctx, "PRAGMA wal_checkpoint(TRUNCATE)"); err != nil {
		s.host.notice(err)
		s.host.o.Logger.Warn("the log of a database was not shortened", "site", s.id, "error", err.Error())
	}
}

// leastDisk is the free space below which a disk is full.
const leastDisk = 1 << 20

// isServiceFault reports whether migrations failed because of the service, such as on a full disk: they may pass later, and their release
// is not at fault. The database is in dir.
func isServiceFault(err error, dir string) bool {
	failed, ok := errors.AsType[*migrate.Error](err)
	if !ok {
		return false
	}
	switch failed.Code {
	case migrate.CodeDatabaseFull: // by the disk, or by its own bound
		free, err := userfile.FreeDisk(dir)
		return err == nil && free < leastDisk
	case migrate.CodeDatabaseUnavailable, migrate.CodeDatabaseReadOnly, migrate.CodeLocked, migrate.CodeUnreadable:
		return true
	}
	return false
}

// migrationError returns the release's error for a failed migration, unless the call was cancelled or the service is at fault.
func (s *hostedSite) migrationError(ctx context.Context, err error) error {
	if ctx.Err() != nil || isServiceFault(err, s.state.Dir) {
		return err
	}
	return migrationFailed(err)
}

// migrationFailed is the release's error for a migration that failed. The database is unchanged.
func migrationFailed(err error) error {
	return &service.ReleaseError{
		Code: toolapi.CodeMigrationFailed, Message: "A migration failed: " + err.Error() + ". Nothing was applied.",
	}
}
