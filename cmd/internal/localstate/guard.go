package localstate

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/pages-toolchain/pages/cmd/internal/failure"
	"github.com/pages-toolchain/pages/cmd/internal/wording"
	"github.com/pages-toolchain/pages/migrate/statefolder"
)

// GuardPoll is the time between two checks of Guard.
const GuardPoll = 500 * time.Millisecond

// Guard watches the opened files until ctx ends, and calls gone after one was removed: writes to a removed file are lost, so no more writes
// may be acknowledged.
func (s *State) Guard(ctx context.Context, gone func(error)) {
	err := s.opened.note(filepath.Join(s.Dir, statefolder.DevLock))
	ticker := time.NewTicker(GuardPoll)
	defer ticker.Stop()
	for err == nil {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		err = s.opened.check()
	}
	what := "an open file of the state"
	if lost, ok := errors.AsType[*fs.PathError](err); ok {
		what = wording.QuotePath(lost.Path)
	}
	if _, missing := os.Stat(s.Dir); missing != nil {
		what = "the state folder " + wording.QuotePath(s.Dir)
	}
	gone(failure.Resource(
		"state-gone", what+" was removed while the site ran, with all later writes",
		"start pages dev again", err,
	))
}

// StillThere returns an error if an opened file was removed or replaced.
func (s *State) StillThere() error { return s.opened.check() }

var errReplaced = errors.New("another one is in its place")

// openedFiles remembers the identity of opened files.
type openedFiles struct {
	mu    sync.Mutex
	files map[string]fs.FileInfo
}

// note remembers a newly opened file.
func (o *openedFiles) note(path string) error {
	opened, err := os.Stat(path)
	if err != nil || o == nil {
		return err
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.files == nil {
		o.files = map[string]fs.FileInfo{}
	}
	o.files[path] = opened
	return nil
}

// check returns an error that names a file which was removed or replaced.
func (o *openedFiles) check() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	for path, opened := range o.files {
		now, err := os.Stat(path)
		if err == nil && !os.SameFile(opened, now) {
			err = &fs.PathError{Op: "stat", Path: path, Err: errReplaced}
		}
		if err != nil {
			return err
		}
	}
	return nil
}
