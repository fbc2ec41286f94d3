// Package platform runs the Workspace tool API on this machine, and the tasks of its operator: keys, members, workspaces,
// backups and mails.
//
// Input: the path of a data folder and options. Output: values with the JSON that commands print, and *failure.Error for an unusable
// folder, an unknown name or one that exists already, and a failed disk. Serve blocks until its context ends. Locks in the data folder
// prevent a second service; an operator's command may run beside the service. All of it is safe for concurrent use.
//
// It reads no flags and prints nothing: messages for people go to the functions of Options.
package platform

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"time"

	"github.com/pages-toolchain/pages/cmd/internal/failure"
	"github.com/pages-toolchain/pages/cmd/internal/wording"
	"github.com/pages-toolchain/pages/toolapi/service"
	"github.com/pages-toolchain/pages/toolapi/service/backup"
)

// MaxRate is the highest limit of calls a minute; it bounds the memory of a rate window.
const MaxRate = 1_000_000

// DefaultRate is the limit of calls a minute for keys without their own. The service listens on this machine alone. A person who tries it
// out may deploy dozens of times in a row, with ten calls each.
const DefaultRate = 600

// Operate runs do on an existing data folder, whether the service runs or not.
func Operate(ctx context.Context, at Location, now func() time.Time, do func(*service.Service) error) error {
	dir := at.Dir()
	if _, err := os.Stat(filepath.Join(dir, DatabaseFile)); errors.Is(err, fs.ErrNotExist) {
		return &failure.Error{
			Exit: failure.ExitRefused, Code: "nothing-there", Message: wording.QuotePath(dir) + " holds no data of a service",
			Fix: "name the service's data folder with --data; pages platform creates one, and so does pages platform " +
				"workspaces create", Err: err,
		}
	}
	return Begin(ctx, at, now, do)
}

// Begin is Operate for a command that may create the data folder.
func Begin(ctx context.Context, at Location, now func() time.Time, do func(*service.Service) error) (err error) {
	folder, err := at.make()
	if err != nil {
		return err
	}
	s, err := folder.Open(ctx, service.Options{Now: now})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	return operatorError(do(s))
}

// operatorError gives the errors of an operator's command their code and fix.
func operatorError(err error) error {
	if unknown, ok := errors.AsType[*service.UnknownError](err); ok {
		return &failure.Error{
			Exit: failure.ExitRefused, Code: "unknown", Message: unknown.Error(),
			Fix: "list the names: pages platform keys, members or workspaces list", Err: err,
		}
	}
	if exists, ok := errors.AsType[*service.ExistsError](err); ok {
		return &failure.Error{Exit: failure.ExitRefused, Code: "exists", Message: exists.Error(), Fix: "give another name", Err: err}
	}
	if bad, ok := errors.AsType[*service.InvalidError](err); ok {
		return failure.Usage("%s", bad.Error())
	}
	return err
}

// Backup writes the data folder into a file that does not exist yet.
func Backup(ctx context.Context, dir, file string, now time.Time) (backup.Summary, error) {
	sum, err := backup.Write(ctx, dir, file, now)
	return sum, backupError(err, "give another name, or remove that file")
}

// Restore creates a data folder from a backup.
func Restore(ctx context.Context, file, dir string) (backup.Summary, error) {
	sum, err := backup.Restore(ctx, file, dir)
	return sum, backupError(err, "give another folder with --data, or move that one away")
}

// backupError gives the errors of a backup their code and fix. existsFix is the fix if the target exists.
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
			Fix: "name the service's data folder with --data, and an existing backup", Err: err,
		}
	}
	if errors.Is(err, os.ErrPermission) || errors.Is(err, syscall.ENOSPC) {
		return failure.Resource("backup-failed", err.Error(), "free some space, and make the folder writable", err)
	}
	const readOnly, ioerr, full, cantOpen = 8, 10, 13, 14 // SQLite could not write beside a database
	failed, ok := errors.AsType[interface {
		error
		Code() int
	}](err)
	if ok && slices.Contains([]int{readOnly, ioerr, full, cantOpen}, failed.Code()&0xff) {
		return failure.Resource("backup-failed", "a database could not be read or written",
			"free some space on the disk of the data folder, and make it writable: readers of a database keep an index beside it", err)
	}
	return fmt.Errorf("backup: %w", err)
}
