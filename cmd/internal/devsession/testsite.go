package devsession

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"sync"
	"sync/atomic"

	"github.com/pages-toolchain/pages/cmd/internal/failure"
	"github.com/pages-toolchain/pages/devserver"
	"github.com/pages-toolchain/pages/devserver/site"
	"github.com/pages-toolchain/pages/manifest"
	pagesruntime "github.com/pages-toolchain/pages/runtime"
)

// testSite is the site of `pages test`: one life after another, each on a state
// of its own that was copied from the first. It is the devserver's Site and
// Builder. Nothing is watched: what is tested does not change under the tests.
type testSite struct {
	run      *session
	options  TestOptions
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

func newTestSite(ctx context.Context, p Process, dir string, m *manifest.Manifest, o TestOptions) (_ *testSite, err error) {
	quiet, sites := *p.Terminal, *p.Sites
	quiet.Quiet, quiet.JSON = !p.Terminal.Verbose, false
	sites.Terminal = &quiet
	t := &testSite{options: o, console: newConsole(&quiet), built: make(chan devserver.Build, 1)}
	t.console.aside = p.Terminal.Progress
	if t.held, err = newTestFolder(p.Terminal.Now()); err != nil {
		return nil, failure.Resource(
			"state-unusable", "no copy of the state can be made in "+os.TempDir(),
			"free some disk, or set TMPDIR to a folder that you may write to", err,
		)
	}
	t.folder = t.held.path
	own := p
	own.Terminal, own.Sites = &quiet, &sites
	t.run = &session{process: own, options: o.Options, dir: dir, manifest: m}
	t.run.runtimes = startRuntime(ctx, pagesruntime.Options{CacheDir: p.CacheDir, Now: p.Terminal.Now, Memory: p.Memory})
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
	t.hub = devserver.NewHub(devserver.HubOptions{LiveReload: devserver.Off, Now: p.Terminal.Now, Logger: t.console.logger(), Tools: tools})
	first, err := t.begin(ctx)
	if err != nil {
		return nil, err
	}
	t.current.Store(first)
	if t.run.sockets, err = devserver.Listen(ctx, o.Port, true); err != nil {
		return nil, PortError(err)
	}
	t.server, err = devserver.New(devserver.Options{
		Site: t, Builder: t, Hub: t.hub, Listeners: t.run.sockets.All(), Now: p.Terminal.Now, Logger: t.console.logger(),
		OnBuild: func(b devserver.Build) {
			if !b.OK {
				newConsole(p.Terminal).problems(b)
			}
			t.built <- b
		},
	})
	return t, err
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

// serveReset answers POST /__pages/api/test/reset.
func (t *testSite) serveReset(w http.ResponseWriter, r *http.Request) {
	if err := t.reset(context.WithoutCancel(r.Context())); err != nil {
		site.Refuse(w, r, &site.RefusalError{
			Status: http.StatusInternalServerError, Code: "reset_failed",
			Message: fmt.Sprintf("the site could not be reset: %v", err),
		})
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
