package devsession

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/pages-toolchain/pages/cmd/internal/failure"
	"github.com/pages-toolchain/pages/cmd/internal/localstate"
	"github.com/pages-toolchain/pages/cmd/internal/nodebindings"
	"github.com/pages-toolchain/pages/cmd/internal/siteworker"
	"github.com/pages-toolchain/pages/cmd/internal/terminal"
	"github.com/pages-toolchain/pages/devserver"
	"github.com/pages-toolchain/pages/devserver/site"
	"github.com/pages-toolchain/pages/manifest"
)

// testSite is the site of `pages test`: one instance after another, each on its own copy of the first state. It is the devserver's Site and
// Builder. It watches nothing: the site does not change during the tests.
type testSite struct {
	run      *session
	options  TestOptions
	console  *console
	hub      *devserver.Hub
	server   *devserver.Server
	built    chan devserver.Build // the first build
	requests atomic.Int64
	held     *testFolder
	folder   string // holds all of it, and is removed at the end

	resetting sync.Mutex // held while a new instance replaces the old one
	current   atomic.Pointer[testInstance]
	instances int
	ending    sync.WaitGroup // of replaced instances
}

func newTestSite(ctx context.Context, p Process, dir string, m *manifest.Manifest, o TestOptions) (_ *testSite, err error) {
	quiet, sites := *p.Terminal, *p.Sites
	quiet.Quiet, quiet.JSON = !p.Terminal.Verbose, false
	sites.Terminal = &quiet
	t := &testSite{options: o, console: newConsole(&quiet), built: make(chan devserver.Build, 1)}
	t.console.aside = p.Terminal.Progress
	if t.held, err = newTestFolder(p.Terminal.Now()); err != nil {
		return nil, failure.Resource(
			"state-unusable", "the state cannot be copied to "+os.TempDir(),
			"free some disk space, or set TMPDIR to a writable folder", err,
		)
	}
	t.folder = t.held.path
	own := p
	own.Terminal, own.Sites = &quiet, &sites
	t.run = &session{process: own, options: o.Options, dir: dir, manifest: m}
	t.run.engine = p.openEngine(ctx, o.Options)
	defer func() {
		if err != nil {
			err = errors.Join(err, t.close(ctx))
		}
	}()
	if err := t.prepare(ctx); err != nil {
		return nil, err
	}
	if t.run.bindings, err = nodebindings.Start(nodebindings.Options{Memory: p.Memory, Called: t.console.called}); err != nil {
		return nil, err
	}
	tools := http.NewServeMux()
	tools.HandleFunc("POST /__pages/api/test/reset", t.serveReset)
	t.hub = devserver.NewHub(devserver.HubOptions{LiveReload: devserver.Off, Now: p.Terminal.Now, Logger: t.console.logger(), Tools: tools})
	first, err := t.startInstance(ctx)
	if err != nil {
		return nil, err
	}
	t.current.Store(first)
	if t.run.sockets, err = devserver.Listen(ctx, o.Port, true, netip.Addr{}); err != nil {
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
	_, _ = w.Write([]byte("{\"ok\":true}\n")) // the client may be gone
}

// close ends everything and removes the folder.
func (t *testSite) close(ctx context.Context) error {
	t.ending.Wait()
	var err error
	if t.run.bindings != nil {
		err = t.run.bindings.Close()
	}
	if l := t.current.Load(); l != nil {
		err = errors.Join(err, l.end())
	}
	return errors.Join(err, t.run.engine.Close(ctx), t.held.remove())
}

// testInstance is an instance of a test's site.
type testInstance struct {
	*instance

	state *localstate.State
	uses  sync.RWMutex // held by each request
}

// startInstance makes an instance on a fresh copy of the state.
func (t *testSite) startInstance(ctx context.Context) (*testInstance, error) {
	t.instances++
	folder := filepath.Join(t.folder, strconv.Itoa(t.instances))
	if err := os.CopyFS(folder, os.DirFS(filepath.Join(t.folder, pristine))); err != nil {
		return nil, failure.Resource("state-unusable", "the state cannot be copied", "free some disk, or set TMPDIR", err)
	}
	s, err := localstate.OpenFolder(folder)
	if err != nil {
		return nil, err
	}
	run := *t.run
	run.state = s
	in, err := run.newInstance(ctx, t.hub, t.console)
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return &testInstance{instance: in, state: s}, nil
}

// acquire returns the current instance, which stays open until its uses are unlocked.
func (t *testSite) acquire() *testInstance {
	for {
		l := t.current.Load()
		l.uses.RLock()
		if l == t.current.Load() {
			return l
		}
		l.uses.RUnlock()
	}
}

// end closes an instance after its last request, and removes its state.
func (l *testInstance) end() error {
	err := l.front.Close()
	l.uses.Lock()
	defer l.uses.Unlock()
	l.builder.close()
	return errors.Join(err, l.state.Close(), os.RemoveAll(l.state.Dir))
}

// reset starts a new instance. The old one ends after its last request.
func (t *testSite) reset(ctx context.Context) error {
	t.resetting.Lock()
	defer t.resetting.Unlock()
	next, err := t.startInstance(ctx)
	if err != nil {
		return err
	}
	out := next.builder.Build(ctx, nil)
	if !out.OK {
		return errors.Join(errors.New("the site does not build any more"), next.end())
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

// killGrace is the time that a command has to end after an interrupt.
const killGrace = 5 * time.Second

// TestOptions configure the state of the site that a test command runs against.
type TestOptions struct {
	Options
	Empty    bool   // begin with an empty state
	Snapshot string // begin with the snapshot of this name
	// Seed seeds a state folder of the site, once its migrations have run; nil for no seed.
	Seed func(ctx context.Context, t terminal.Terminal, state string) error
}

// Test serves the site in dir on a state of its own while a command runs. args are the command and its arguments. The error is a
// failure.StatusError with the command's exit code, if that is not 0.
func Test(ctx context.Context, p Process, dir string, m *manifest.Manifest, args []string, o TestOptions) (err error) {
	path, err := exec.LookPath(args[0])
	if err != nil {
		return &failure.Error{
			Exit: failure.ExitUsage, Code: "no-such-command",
			Message: fmt.Sprintf("the command %q cannot be run: %s", args[0], failure.Reason(err)),
			Fix:     "name a program in the PATH, or give its path", Err: err,
		}
	}
	t, err := newTestSite(ctx, p, dir, m, o)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, t.close(ctx)) }()
	began := p.Terminal.Now()
	serving, stop := context.WithCancel(ctx)
	defer stop()
	done := make(chan error, 1)
	go func() { done <- t.server.Serve(serving) }()
	select {
	case first := <-t.built:
		if !first.OK {
			err = &failure.Error{
				Exit: failure.ExitRefused, Code: "build-failed",
				Message: "the site does not build, so the command was not run",
			}
		} else {
			if o.Engine.Program != nil {
				p.Terminal.Progress("the Worker runs in %s", t.console.engine(o.Engine))
			}
			err = t.runCommand(ctx, p.Terminal, path, args)
		}
	case err = <-done:
		if err == nil { // a signal ended it before the site was ready
			err = context.Cause(ctx)
		}
		return err
	}
	stop()
	if served := <-done; served != nil {
		return errors.Join(err, served)
	}
	if status, ended := errors.AsType[failure.StatusError](err); p.Terminal.JSON && (ended || err == nil) {
		p.Terminal.PrintJSON(TestDocument{
			OK: err == nil, ExitCode: int(status), URL: t.run.sockets.URL,
			MS: float64(p.Terminal.Now().Sub(began).Microseconds()) / 1000, Requests: t.requests.Load(),
			Engine: t.options.Engine.Report(),
		})
	}
	return err
}

// TestDocument is the document of `pages test --json`.
type TestDocument struct {
	OK       bool    `json:"ok"`
	ExitCode int     `json:"exit_code"`
	URL      string  `json:"url"`
	MS       float64 `json:"ms"`
	Requests int64   `json:"requests"` // that the site answered

	Engine siteworker.EngineReport `json:"engine"` // of the Worker
}

// runCommand runs the command with the site's address in its environment.
func (t *testSite) runCommand(ctx context.Context, term *terminal.Terminal, path string, args []string) error {
	cmd := exec.CommandContext(ctx, path, args[1:]...)
	cmd.Args[0] = args[0]
	cmd.Stdin, cmd.Stdout, cmd.Stderr = term.Stdin, terminal.Unwrap(term.Stdout), terminal.Unwrap(term.Stderr)
	if term.JSON {
		cmd.Stdout = cmd.Stderr
	}
	cmd.Env = append(cmd.Environ(), "PAGES_URL="+t.run.sockets.URL, "PAGES_TEST_TOKEN="+t.hub.Token())
	cmd.Env = append(cmd.Env, t.run.bindings.Variables()...)
	cmd.Cancel = func() error {
		if runtime.GOOS == "windows" {
			return cmd.Process.Kill()
		}
		return cmd.Process.Signal(os.Interrupt)
	}
	cmd.WaitDelay = killGrace
	// A Ctrl-C on the terminal also reaches the command, which may take its time.
	err := cmd.Run()
	exit, ended := errors.AsType[*exec.ExitError](err)
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case !ended:
		return err
	}
	const signaled = 128
	if n, ok := signalOf(exit.ProcessState); ok {
		term.Progress("%s was ended by signal %d", args[0], n)
		return failure.StatusError(signaled + n)
	}
	return failure.StatusError(exit.ExitCode())
}
