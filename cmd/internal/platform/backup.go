package platform

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"syscall"
	"time"

	"github.com/pages-toolchain/pages/cmd/internal/failure"
	"github.com/pages-toolchain/pages/toolapi/service/backup"
)

// Backup writes the data folder into a file that does not exist yet.
func Backup(ctx context.Context, dir, file string, now time.Time) (backup.Summary, error) {
	sum, err := backup.Write(ctx, dir, file, now)
	return sum, backupError(err, "give another name, or remove that file")
}

// Restore makes a data folder of a backup.
func Restore(ctx context.Context, file, dir string) (backup.Summary, error) {
	sum, err := backup.Restore(ctx, file, dir)
	return sum, backupError(err, "give another folder with --data, or move that one away")
}

// backupError gives the errors of a backup their code and remedy. existsFix is the remedy for something in the way.
func backupError(err error, existsFix string) error {
	if err == nil || errors.Is(err, context.Canceled) {
		return err
	}
	if exists, ok := errors.AsType[*backup.ExistsError](err); ok {
		return &failure.Error{Exit: failure.ExitRefused, Code: "exists", Message: exists.Error(), Fix: existsFix, Err: err}
	}
	if damaged, ok := errors.AsType[*backup.DamagedError](err); ok {
		return &failure.Error{Exit: failure.ExitRefused, Code: "damaged", Message: damaged.Error(), Fix: "use another backup", Err: err}
	}
	if errors.Is(err, fs.ErrNotExist) {
		return &failure.Error{
			Exit: failure.ExitRefused, Code: "nothing-there", Message: err.Error(),
			Fix: "name the service's data folder with --data, and a backup that there is", Err: err,
		}
	}
	if errors.Is(err, os.ErrPermission) || errors.Is(err, syscall.ENOSPC) {
		return failure.Resource("backup-failed", err.Error(), "make room, and see that you may write there", err)
	}
	if lacksDisk(err) {
		return failure.Resource("backup-failed", "a database could not be read or written",
			"make room on the disk of the data folder, and see that you may write there: what reads a database keeps "+
				"an index beside it", err)
	}
	return fmt.Errorf("backup: %w", err)
}

// lacksDisk reports whether SQLite could not write beside a database: a reader writes an index of its log there.
func lacksDisk(err error) bool {
	const readOnly, ioerr, full, cantOpen = 8, 10, 13, 14
	failed, ok := errors.AsType[interface {
		error
		Code() int
	}](err)
	return ok && slices.Contains([]int{readOnly, ioerr, full, cantOpen}, failed.Code()&0xff)
}
