package devsession

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"sync"

	"github.com/pages-toolchain/pages/cmd/internal/failure"
	"github.com/pages-toolchain/pages/cmd/internal/localstate"
)

// testLife is one life of a test's site.
type testLife struct {
	*life
	state *localstate.State
	uses  sync.RWMutex // held by each request
}

// begin makes a life on a fresh copy of the state.
func (t *testSite) begin(ctx context.Context) (*testLife, error) {
	t.lives++
	folder := filepath.Join(t.folder, strconv.Itoa(t.lives))
	if err := os.CopyFS(folder, os.DirFS(filepath.Join(t.folder, pristine))); err != nil {
		return nil, failure.Resource("state-unusable", "the state cannot be copied", "free some disk, or set TMPDIR", err)
	}
	s, err := localstate.OpenFolder(folder)
	if err != nil {
		return nil, err
	}
	run := *t.run
	run.state = s
	l, err := run.newLife(ctx, t.hub, t.console)
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return &testLife{life: l, state: s}, nil
}

// acquire returns the life of the moment, which stays whole until its uses are unlocked.
func (t *testSite) acquire() *testLife {
	for {
		l := t.current.Load()
		l.uses.RLock()
		if l == t.current.Load() {
			return l
		}
		l.uses.RUnlock()
	}
}

// end closes a life once no request uses it, and removes its state.
func (l *testLife) end() error {
	err := l.front.Close()
	l.uses.Lock()
	defer l.uses.Unlock()
	l.builder.close()
	return errors.Join(err, l.state.Close(), os.RemoveAll(l.state.Dir))
}

// reset begins a new life. The old one ends when its requests have.
func (t *testSite) reset(ctx context.Context) error {
	t.resetting.Lock()
	defer t.resetting.Unlock()
	next, err := t.begin(ctx)
	if err != nil {
		return err
	}
	out := next.builder.Build(ctx, nil)
	if !out.OK {
		return errors.Join(errResetFailed, next.end())
	}
	next.front.Swap(out.Revision)
	old := t.current.Swap(next)
	t.ending.Go(func() {
		if err := old.end(); err != nil {
			t.console.logger().Warn("end the site before the reset", "error", err)
		}
	})
	return nil
}

var errResetFailed = errors.New("the site does not build any more")
