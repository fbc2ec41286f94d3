package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/gofrs/flock"

	"github.com/pages-toolchain/pages/cmd/internal/failure"
	"github.com/pages-toolchain/pages/cmd/internal/localstate"
	"github.com/pages-toolchain/pages/cmd/internal/userfile"
	"github.com/pages-toolchain/pages/cmd/internal/wording"
	"github.com/pages-toolchain/pages/migrate/dbfile"
	"github.com/pages-toolchain/pages/migrate/statefolder"
	"github.com/pages-toolchain/pages/toolapi/service"
)

// Files of the service's data folder.
const (
	platformDB      = "service.db"
	platformServer  = "server.lock" // held while the service runs
	platformPID     = "server.pid"  // the process that holds it: what Windows locks nobody else reads
	platformOpening = "open.lock"   // held while the database is opened and brought up to date
)

// platformData is the data folder of `pages platform`.
type platformData struct{ dir string }

// openData makes the data folder if it is missing: readable by its owner alone, and
// out of version control.
func (c *cli) openData(dir string) (*platformData, error) {
	d := &platformData{dir: c.platformDir(dir)}
	if dir == "" {
		if _, err := localstate.InPagesFolder(c.term.Dir, "platform"); err != nil {
			return nil, err
		}
	}
	if err := d.judge(); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(d.dir, 0o700); err != nil {
		return nil, d.unusable(err)
	}
	ignore := filepath.Join(d.dir, ".gitignore")
	if userfile.IsFile(ignore) {
		return d, nil
	}
	if err := os.WriteFile(ignore, []byte("*\n"), 0o600); err != nil {
		return nil, d.unusable(err)
	}
	return d, nil
}

// judge refuses a folder that holds somebody's own files: a service would keep its data among them, and a .gitignore
// would take them out of version control.
func (d *platformData) judge() error {
	if userfile.IsFile(filepath.Join(d.dir, platformDB)) {
		return nil
	}
	entries, err := os.ReadDir(d.dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return d.unusable(err)
	}
	for _, e := range entries {
		name := e.Name()
		begun := slices.Contains([]string{statefolder.IgnoreFile, platformServer, platformPID, platformOpening}, name) // and cut short
		if !begun && statefolder.Of(name, e.IsDir()) != statefolder.Litter {
			return failure.Resource("data-foreign", fmt.Sprintf("%s is no data folder of a service: it holds %q", wording.QuotePath(statefolder.Real(d.dir)), name), "give a folder that is empty, or that pages platform made, with --data", nil)
		}
	}
	return nil
}

func (d *platformData) unusable(err error) error {
	if damaged, ok := errors.AsType[*service.DamagedError](err); ok {
		return failure.Resource("database-damaged", fmt.Sprintf("the service's database %s is damaged", wording.QuotePath(damaged.Path)),
			"make a data folder of a backup, and go on with that: pages platform restore BACKUP --data FOLDER", damaged.Reason)
	}
	if dbfile.FullDisk(d.dir, err) {
		return failure.FullDisk("the data folder "+wording.QuotePath(d.dir), err)
	}
	return failure.Resource("data-unusable", fmt.Sprintf("the data folder %s cannot be used", wording.QuotePath(d.dir)), "make it a folder that you may write to, or give another with --data", err)
}

// lockServer makes sure that one service runs on the data.
func (d *platformData) lockServer() (unlock func(), err error) {
	lock := flock.New(filepath.Join(d.dir, platformServer))
	ok, err := lock.TryLock()
	if err != nil {
		return nil, d.unusable(err)
	}
	holder := filepath.Join(d.dir, platformPID)
	if !ok {
		return nil, failure.Resource("already-running", fmt.Sprintf("another pages platform%s uses the data folder %s", process(holder), wording.QuotePath(d.dir)), "use that one, stop it, or give this one its own --data", nil)
	}
	_ = os.WriteFile(holder, []byte(strconv.Itoa(os.Getpid())), 0o600) // for who is refused; a full disk is no reason not to start
	return func() {                                                    // the lock ends with the process in any case, and the file says nothing without it
		_ = os.Remove(holder)
		_ = lock.Unlock()
	}, nil
}

// process says which process a file names, in brackets; "" when it names none.
func process(file string) string {
	text, err := os.ReadFile(file)
	if pid, bad := strconv.Atoi(string(text)); err == nil && bad == nil {
		return fmt.Sprintf(" (process %d)", pid)
	}
	return ""
}

// open opens the service, one process after another: two that make one database at
// once would be in each other's way.
func (d *platformData) open(ctx context.Context, o service.Options) (s *service.Service, err error) {
	lock := flock.New(filepath.Join(d.dir, platformOpening))
	if _, err := lock.TryLockContext(ctx, localstate.LockPoll); err != nil {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		return nil, d.unusable(err)
	}
	defer func() { err = errors.Join(err, lock.Unlock()) }()
	name := filepath.Join(d.dir, platformDB)
	_ = localstate.OwnFile(name) // where it cannot be made, SQLite says why
	if s, err = service.Open(ctx, name, o); err != nil {
		return nil, d.unusable(err)
	}
	return s, nil
}

// withData runs an operator's command on the data that is there, whether the service runs or not.
func (c *cli) withData(ctx context.Context, f *platformFlags, do func(*service.Service) error) error {
	dir := c.platformDir(f.data)
	if _, err := os.Stat(filepath.Join(dir, platformDB)); errors.Is(err, fs.ErrNotExist) {
		return &failure.Error{
			Exit: failure.ExitRefused, Code: "nothing-there", Message: wording.QuotePath(dir) + " holds no data of a service",
			Fix: "name the service's data folder with --data; pages platform begins one, and so does pages platform workspaces create", Err: err,
		}
	}
	return c.beginData(ctx, f, do)
}

// beginData is withData for what data can begin with.
func (c *cli) beginData(ctx context.Context, f *platformFlags, do func(*service.Service) error) (err error) {
	data, err := c.openData(f.data)
	if err != nil {
		return err
	}
	s, err := data.open(ctx, service.Options{Now: c.term.Now})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	return operatorError(do(s))
}

// changeData runs an operator's command that has nothing to show.
func (c *cli) changeData(ctx context.Context, f *platformFlags, do func(*service.Service) error) error {
	return c.changed(c.withData(ctx, f, do))
}

// changed says in JSON that a command with nothing to show is done.
func (c *cli) changed(err error) error {
	if err == nil && c.term.JSON {
		c.term.PrintJSON(doneDoc{true})
	}
	return err
}

// operatorError gives the errors of an operator's command their code and remedy.
func operatorError(err error) error {
	if unknown, ok := errors.AsType[*service.UnknownError](err); ok {
		return &failure.Error{Exit: failure.ExitRefused, Code: "unknown", Message: unknown.Error(), Fix: "see what there is: pages platform keys, members or workspaces list", Err: err}
	}
	if exists, ok := errors.AsType[*service.ExistsError](err); ok {
		return &failure.Error{Exit: failure.ExitRefused, Code: "exists", Message: exists.Error(), Fix: "give another name", Err: err}
	}
	if bad, ok := errors.AsType[*service.InvalidError](err); ok {
		return failure.Usage("%s", bad.Error())
	}
	return err
}
