package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"sync/atomic"

	"github.com/pages-toolchain/pages/devserver"
	"github.com/pages-toolchain/pages/devserver/site"
	"github.com/pages-toolchain/pages/manifest"
	"github.com/pages-toolchain/pages/migrate/snapshot"
	pagesruntime "github.com/pages-toolchain/pages/runtime"
)

// testSite is the site of `pages test`: one life after another, each on a state
// of its own that was copied from the first. It is the devserver's Site and
// Builder. Nothing is watched: what is tested does not change under the tests.
type testSite struct {
	run      *devRun
	flags    *testFlags
	console  *console
	hub      *devserver.Hub
	server   *devserver.Server
	built    chan devserver.Build // the first build
	requests atomic.Int64
	held     *testFolder
	folder   string // holds everything, and goes in the end

	resetting sync.Mutex // held while one life takes over from another
	current   atomic.Pointer[testLife]
	lives     int
	ending    sync.WaitGroup // lives that are over
}

// testLife is one life of a test's site.
type testLife struct {
	*life
	state *state
	uses  sync.RWMutex // held by each request
}

// pristine is the name of the state that every life begins with.
const pristine = "pristine"

func (c *cli) newTestSite(ctx context.Context, dir string, m *manifest.Manifest, f *testFlags) (_ *testSite, err error) {
	quiet := *c
	quiet.quiet, quiet.json = !c.verbose, false
	t := &testSite{flags: f, console: newConsole(&quiet), built: make(chan devserver.Build, 1)}
	if t.held, err = c.newTestFolder(); err != nil {
		return nil, resourceError("state-unusable", "no copy of the state can be made in "+os.TempDir(), "free some disk, or set TMPDIR to a folder that you may write to", err)
	}
	t.folder = t.held.path
	t.run = &devRun{cli: &quiet, flags: &f.devFlags, dir: dir, manifest: m}
	t.run.runtimes = startRuntime(ctx, pagesruntime.Options{CacheDir: c.compileCache(), Now: c.now})
	defer func() {
		if err != nil {
			err = errors.Join(err, t.close(ctx))
		}
	}()
	if err := t.prepare(ctx); err != nil {
		return nil, err
	}
	tools := http.NewServeMux()
	tools.HandleFunc("POST /__pages/api/test/reset", t.serveReset)
	t.hub = devserver.NewHub(devserver.HubOptions{LiveReload: devserver.Off, Now: c.now, Logger: t.console.logger(), Tools: tools})
	first, err := t.begin(ctx)
	if err != nil {
		return nil, err
	}
	t.current.Store(first)
	if t.run.sockets, err = devserver.Listen(ctx, f.port, true); err != nil {
		return nil, c.portError(err)
	}
	t.server, err = devserver.New(devserver.Options{
		Site: t, Builder: t, Hub: t.hub, Listeners: t.run.sockets.All(), Now: c.now, Logger: t.console.logger(),
		OnBuild: func(b devserver.Build) {
			if !b.OK {
				(&console{cli: c}).problems(b)
			}
			t.built <- b
		},
	})
	return t, err
}

// prepare makes the state that every life begins with.
func (t *testSite) prepare(ctx context.Context) error {
	to := filepath.Join(t.folder, pristine)
	if err := os.Mkdir(to, 0o700); err != nil {
		return err
	}
	if !t.flags.empty {
		if err := t.copyState(ctx, to); err != nil {
			return err
		}
	}
	if !t.flags.seed {
		return nil
	}
	own := *t.run.cli
	own.siteDir, own.stateDir, own.typed = t.run.dir, to, nil
	return own.seed(ctx, "", false)
}

// copyState copies the snapshot that is asked for, or the local state as it is
// now, also beside a dev server that writes to it.
func (t *testSite) copyState(ctx context.Context, to string) error {
	c := *t.run.cli
	c.siteDir = t.run.dir
	local := c.statePath(t.run.dir)
	if _, err := os.Stat(local); err != nil && t.flags.snapshot == "" {
		return nil // a site that never ran
	}
	return c.withSnapshots(ctx, func(s *state, store *snapshot.Store) error {
		name := t.flags.snapshot
		if name != "" {
			if err := snapshot.CheckName(name); err != nil {
				return err
			}
		}
		if name == "" {
			name = filepath.Base(t.folder)
			sweepTestSnapshots(store)
			if err := s.use(); err != nil {
				return err
			}
			if _, err := store.Save(ctx, name, false); err != nil {
				return err
			}
			defer func() { _ = store.Remove(name) }() // it is a copy of what is there
		}
		return loadCopy(ctx, filepath.Join(s.dir, snapshot.Folder, name), to)
	})
}

// loadCopy makes a state of a copy of a snapshot.
func loadCopy(ctx context.Context, from, to string) (err error) {
	name := filepath.Base(from)
	if _, err := os.Stat(from); err != nil {
		return &failure{code: exitRefused, id: "no-such-snapshot", msg: fmt.Sprintf("there is no snapshot %q", name), fix: "list them: pages state list"}
	}
	if err := os.CopyFS(filepath.Join(to, snapshot.Folder, name), os.DirFS(from)); err != nil {
		return err
	}
	store, err := snapshot.Open(to, snapshot.Options{Keep: keptFiles()})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, store.Close(), os.RemoveAll(filepath.Join(to, snapshot.Folder))) }()
	_, err = store.Load(ctx, name)
	return err
}

// begin makes a life on a fresh copy of the state.
func (t *testSite) begin(ctx context.Context) (*testLife, error) {
	t.lives++
	folder := filepath.Join(t.folder, strconv.Itoa(t.lives))
	if err := os.CopyFS(folder, os.DirFS(filepath.Join(t.folder, pristine))); err != nil {
		return nil, resourceError("state-unusable", "the state cannot be copied", "free some disk, or set TMPDIR", err)
	}
	s, err := openStateIn(folder)
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

// ServeHTTP implements devserver.Site.
func (t *testSite) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	t.requests.Add(1)
	l := t.acquire()
	defer l.uses.RUnlock()
	l.front.ServeHTTP(w, r)
}

// Swap implements devserver.Site.
func (t *testSite) Swap(next site.Revision) site.Revision { return t.current.Load().front.Swap(next) }

// Build implements devserver.Builder.
func (t *testSite) Build(ctx context.Context, _ []string) devserver.Outcome {
	out := t.current.Load().builder.Build(ctx, nil)
	out.Watch = nil
	return out
}

var errResetFailed = errors.New("the site does not build any more")

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

// end closes a life once no request uses it, and removes its state.
func (l *testLife) end() error {
	err := l.front.Close()
	l.uses.Lock()
	defer l.uses.Unlock()
	l.builder.close()
	return errors.Join(err, l.state.Close(), os.RemoveAll(l.state.dir))
}

// serveReset answers POST /__pages/api/test/reset.
func (t *testSite) serveReset(w http.ResponseWriter, r *http.Request) {
	if err := t.reset(context.WithoutCancel(r.Context())); err != nil {
		site.Refuse(w, r, &site.RefusalError{Status: http.StatusInternalServerError, Code: "reset_failed", Message: fmt.Sprintf("the site could not be reset: %v", err)})
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write([]byte("{\"ok\":true}\n")) // whoever asked may be gone
}

// close ends everything and removes what there was.
func (t *testSite) close(ctx context.Context) error {
	t.ending.Wait()
	var err error
	if l := t.current.Load(); l != nil {
		err = l.end()
	}
	return errors.Join(err, t.run.runtimes.close(ctx), t.held.remove())
}
