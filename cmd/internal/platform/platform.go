// Package platform runs the Workspace tool API on this machine, and does what its operator does beside it: keys, members,
// workspaces, backups and mails.
//
// In go the path of a data folder and options; out come values with the JSON that commands print, and *failure.Error for a folder
// that cannot be used, a name that is unknown or taken, and a disk that failed. Serve blocks until its context ends. Locks in the
// data folder keep a second service away; an operator's command may run beside the service. All of it is safe for concurrent use.
//
// It never reads flags or prints: what a person may want to know goes to the functions of Options.
package platform

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/pages-toolchain/pages/cmd/internal/failure"
	"github.com/pages-toolchain/pages/cmd/internal/wording"
	"github.com/pages-toolchain/pages/toolapi/service"
)

// MaxRate is the highest limit of calls a minute; it keeps the memory of a rate window small.
const MaxRate = 1_000_000

// Operate runs do on the data that is there, whether the service runs or not.
func Operate(ctx context.Context, at Location, now func() time.Time, do func(*service.Service) error) error {
	dir := at.Dir()
	if _, err := os.Stat(filepath.Join(dir, DatabaseFile)); errors.Is(err, fs.ErrNotExist) {
		return &failure.Error{
			Exit: failure.ExitRefused, Code: "nothing-there", Message: wording.QuotePath(dir) + " holds no data of a service",
			Fix: "name the service's data folder with --data; pages platform begins one, and so does pages platform " +
				"workspaces create", Err: err,
		}
	}
	return Begin(ctx, at, now, do)
}

// Begin is Operate for a command that may make the data folder.
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

// operatorError gives the errors of an operator's command their code and remedy.
func operatorError(err error) error {
	if unknown, ok := errors.AsType[*service.UnknownError](err); ok {
		return &failure.Error{
			Exit: failure.ExitRefused, Code: "unknown", Message: unknown.Error(),
			Fix: "see what there is: pages platform keys, members or workspaces list", Err: err,
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
