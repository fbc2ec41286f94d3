package main

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"github.com/gofrs/flock"
	_ "modernc.org/sqlite" // the driver "sqlite"
)

// Files of the state folder. See ARCHITECTURE.md, "Local state".
const (
	siteFile     = "site.db"
	projectFile  = "project.db"
	platformFile = "platform.db"
	kvFile       = "kv.db"
	storageDir   = "storage"
	uploadsDir   = "uploads"  // files that visitors sent with forms
	indexFile    = "index.db" // of either of the two
	devLock      = "dev.lock"
	devFile      = "dev.json"
	migrateLock  = "migrate.lock"

	lockPoll  = 20 * time.Millisecond
	guardPoll = 500 * time.Millisecond
)

// state is a site's local state: .pages/state beside the manifest, or the
// folder of --state-dir.
type state struct {
	dir  string
	dbs  []*sql.DB
	held *flock.Flock // of the state lock
}

// statePath is the state folder of the site in dir.
func (c *cli) statePath(dir string) string {
	if c.stateDir != "" {
		return c.path(c.stateDir)
	}
	return filepath.Join(dir, ".pages", "state")
}

// openState makes the state folder if it is missing.
func (c *cli) openState(dir string) (*state, error) { return openStateIn(c.statePath(dir)) }

// openStateIn opens the state folder itself.
func openStateIn(folder string) (*state, error) {
	s := &state{dir: folder}
	if err := os.MkdirAll(filepath.Join(s.dir, storageDir), 0o700); err != nil {
		return nil, s.unusable(err)
	}
	if err := s.ignore(); err != nil {
		return nil, s.unusable(err)
	}
	if err := s.use(); err != nil {
		return nil, err
	}
	probe, err := os.CreateTemp(s.dir, ".probe-*")
	if err != nil {
		return nil, s.unusable(err)
	}
	if err := errors.Join(probe.Close(), os.Remove(probe.Name())); err != nil {
		return nil, s.unusable(err)
	}
	return s, nil
}

// ignore keeps the state out of version control: sessions and leads are nobody
// else's business.
func (s *state) ignore() error {
	name := filepath.Join(s.dir, ".gitignore")
	if isFile(name) {
		return nil
	}
	return os.WriteFile(name, []byte("*\n"), 0o600)
}

func (s *state) unusable(err error) error {
	return resourceError("state-unusable", fmt.Sprintf("the state folder %q cannot be written", s.dir),
		"make it a folder that you may write to, or give another with --state-dir", err)
}

// open opens a database of the state folder and keeps it for Close.
func (s *state) open(ctx context.Context, name string) (*sql.DB, error) {
	db, err := openSQLite(ctx, filepath.Join(s.dir, name), false)
	if err != nil {
		return nil, s.unopened(name, err)
	}
	s.dbs = append(s.dbs, db)
	return db, nil
}

// openToRead opens a database that is only read, which the caller closes; one
// that is not there is empty.
func (s *state) openToRead(ctx context.Context, name string) (*sql.DB, error) {
	if err := s.useToRead(); err != nil {
		return nil, err
	}
	path := filepath.Join(s.dir, name)
	if !isFile(path) {
		return sql.Open("sqlite", ":memory:")
	}
	db, err := openSQLite(ctx, path, true)
	if err != nil {
		return nil, s.unopened(name, err)
	}
	return db, nil
}

func (s *state) unopened(name string, err error) error {
	return resourceError("database-unusable", fmt.Sprintf("the database %q cannot be opened", filepath.Join(s.dir, name)),
		"free some disk if it is full; if the file is damaged, move it away: a new one is made, and the migrations run again", err)
}

// Close closes the databases.
func (s *state) Close() error {
	var errs []error
	for _, db := range s.dbs {
		errs = append(errs, db.Close())
	}
	return errors.Join(append(errs, s.release())...)
}

// openSQLite opens a database the way all state is kept: WAL with every commit
// synced, which is what loses nothing that was acknowledged when power fails.
func openSQLite(ctx context.Context, path string, readOnly bool) (*sql.DB, error) {
	q := url.Values{"_pragma": {"busy_timeout(5000)", "synchronous(FULL)", "foreign_keys(1)", "journal_size_limit(16777216)"}, "_txlock": {"immediate"}}
	if readOnly {
		q.Set("mode", "ro")
	} else {
		q.Add("_pragma", "journal_mode(WAL)")
	}
	slashed := filepath.ToSlash(path)
	if runtime.GOOS == "windows" {
		slashed = "/" + slashed
	}
	dsn := url.URL{Scheme: "file", OmitHost: true, Path: slashed, RawQuery: q.Encode()}
	db, err := sql.Open("sqlite", dsn.String())
	if err != nil {
		return nil, err
	}
	if err := db.PingContext(ctx); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return db, nil
}

// running is what a dev server says of itself in its state folder.
type running struct {
	PID int    `json:"pid"`
	URL string `json:"url"`
	// Token opens the tools under /__pages/api/ that change something.
	Token string `json:"token"`
}

// lockDev makes sure that one dev server runs on the state. unlock removes what
// announce wrote.
func (s *state) lockDev() (unlock func(), err error) {
	lock := flock.New(filepath.Join(s.dir, devLock))
	ok, err := lock.TryLock()
	if err != nil {
		return nil, s.unusable(err)
	}
	if !ok {
		return nil, resourceError("already-running", s.whoRuns(), "use that one, stop it, or give this one its own --state-dir", nil)
	}
	return func() {
		// The lock ends with the process in any case.
		_ = os.Remove(filepath.Join(s.dir, devFile))
		_ = lock.Unlock()
	}, nil
}

// guard looks whether the state folder is still the one that was opened, and
// calls gone when it is not: what is written to removed files nobody finds
// again, so nothing more may be acknowledged.
func (s *state) guard(ctx context.Context, gone func(error)) {
	lock := filepath.Join(s.dir, devLock)
	opened, err := os.Stat(lock)
	ticker := time.NewTicker(guardPoll)
	defer ticker.Stop()
	for err == nil {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		var now os.FileInfo
		if now, err = os.Stat(lock); err == nil && !os.SameFile(opened, now) {
			err = errReplaced
		}
	}
	gone(resourceError("state-gone", fmt.Sprintf("the state folder %q was removed while the site ran", s.dir), "start pages dev again", err))
}

var errReplaced = errors.New("another one is in its place")

func (s *state) whoRuns() string {
	var r running
	text, err := os.ReadFile(filepath.Join(s.dir, devFile))
	if err != nil || json.Unmarshal(text, &r) != nil {
		return fmt.Sprintf("another pages dev uses the state folder %q", s.dir)
	}
	return fmt.Sprintf("another pages dev uses the state folder %q: process %d at %s", s.dir, r.PID, r.URL)
}

// announce writes who runs, for the message of the one that comes second.
func (s *state) announce(address, token string) error {
	text, err := json.Marshal(running{PID: os.Getpid(), URL: address, Token: token})
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(s.dir, devFile), text, 0o600); err != nil {
		return s.unusable(err)
	}
	return nil
}

// lockMigrations keeps processes that migrate one database apart. It waits until
// the other is done or ctx ends.
func (s *state) lockMigrations(ctx context.Context) (unlock func(), err error) {
	lock := flock.New(filepath.Join(s.dir, migrateLock))
	if _, err := lock.TryLockContext(ctx, lockPoll); err != nil {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		return nil, s.unusable(err)
	}
	return func() { _ = lock.Unlock() }, nil // ends with the process in any case
}
