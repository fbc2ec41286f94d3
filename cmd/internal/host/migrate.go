package host

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/pages-toolchain/pages/cmd/internal/userfile"
	"github.com/pages-toolchain/pages/cmd/internal/wording"
	"github.com/pages-toolchain/pages/migrate"
	"github.com/pages-toolchain/pages/toolapi"
	"github.com/pages-toolchain/pages/toolapi/service"
)

// migrate brings the site's database to the state that the release needs.
func (s *hostedSite) migrate(ctx context.Context, r service.Release) (err error) {
	m := r.Bundle.Manifest
	if m.Bindings.Database == nil {
		return nil
	}
	dir, err := os.MkdirTemp(s.state.Dir, migrationsCopy+"*")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	for _, f := range r.Bundle.Migrations() {
		text, err := contents(r, f)
		if err != nil {
			return err
		}
		name := filepath.Join(dir, filepath.FromSlash(f.Path))
		if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o700), os.WriteFile(name, text, 0o600)); err != nil {
			return err
		}
	}
	// Its author is not the operator of the service.
	migrator := s.state.Migrator(s.database, dir, m, migrate.Options{Limited: true, Now: s.host.o.Now, Tool: s.host.o.Tool})
	status, err := migrator.Status(ctx)
	if err != nil {
		s.host.notice(err)
		return s.migrationError(ctx, err, "")
	}
	switch {
	case len(status.Applied) == 0 && len(r.Applied) > 0 && !r.Preview: // a preview's database is a copy of its own
		return &service.ReleaseError{
			Code: toolapi.CodeMigrationFailed,
			Message: "The page's database was emptied or is gone: it does not know the migration " + r.Applied[0] +
				", which it had. Whoever runs the service brings it back from a backup.",
		}
	case len(status.Missing) > 0 && r.Force:
		return nil
	case len(status.Missing) > 0:
		return &service.ReleaseError{
			Code:    toolapi.CodeSchemaAhead,
			Message: "The page's database has the migration " + status.Missing[0].Name + ", which this revision does not know.",
		}
	}
	bounded, stop := context.WithTimeout(ctx, s.host.maxMigrate)
	defer stop()
	result, err := migrator.Apply(bounded)
	if err != nil {
		s.host.notice(err)
		blameless := s.serviceFault(err) // before the log is shortened
		// This frees the disk of migrations that were rolled back. SQLite itself would do so some commits later.
		if _, err := s.database.ExecContext(context.WithoutCancel(ctx), "PRAGMA wal_checkpoint(TRUNCATE)"); err != nil {
			s.host.notice(err)
			s.host.o.Logger.Warn("the log of a database was not shortened", "site", s.id, "error", err.Error())
		}
		if blameless {
			return err
		}
		if bounded.Err() != nil && ctx.Err() == nil {
			err = fmt.Errorf("%s took longer than %s and was stopped", cmp.Or(result.Failed, "it"), s.host.maxMigrate)
		}
		if refused, ok := errors.AsType[*migrate.Error](err); ok && refused.Code == migrate.CodeDatabaseFull {
			err = fmt.Errorf(
				"%w (a page's database has at most %s, and what it sorts %s)", err, wording.Size(s.host.bounds.Bytes),
				wording.Size(temporaryBytes),
			)
		}
		return s.migrationError(ctx, err, result.Stands())
	}
	return nil
}

// leastDisk is the free space below which a disk is full.
const leastDisk = 1 << 20

// serviceFault reports whether migrations failed for a reason of the service, such as a full disk: they may pass later,
// and their release is not at fault.
func (s *hostedSite) serviceFault(err error) bool {
	failed, ok := errors.AsType[*migrate.Error](err)
	if !ok {
		return false
	}
	switch failed.Code {
	case migrate.CodeDatabaseFull: // by the disk, or by its own bound
		free, err := userfile.FreeDisk(s.state.Dir)
		return err == nil && free < leastDisk
	case migrate.CodeDatabaseUnavailable, migrate.CodeDatabaseReadOnly, migrate.CodeLocked, migrate.CodeUnreadable:
		return true
	}
	return false
}

// migrationError returns the release's error for a failed migration, unless the call was cancelled or the service is at
// fault.
func (s *hostedSite) migrationError(ctx context.Context, err error, stands string) error {
	if ctx.Err() != nil || s.serviceFault(err) {
		return err
	}
	message := "A migration failed: " + err.Error() + "."
	if stands != "" {
		message += " " + strings.ToUpper(stands[:1]) + stands[1:] + "."
	}
	return &service.ReleaseError{Code: toolapi.CodeMigrationFailed, Message: message}
}
