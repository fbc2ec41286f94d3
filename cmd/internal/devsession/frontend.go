package devsession

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/pages-toolchain/pages/cmd/internal/devcommand"
	"github.com/pages-toolchain/pages/cmd/internal/failure"
	"github.com/pages-toolchain/pages/cmd/internal/wording"
	"github.com/pages-toolchain/pages/devserver"
	"github.com/pages-toolchain/pages/devserver/upstream"
	"github.com/pages-toolchain/pages/manifest"
	"github.com/pages-toolchain/pages/manifest/packager"
	"github.com/pages-toolchain/pages/manifest/starter"
)

// This file runs the dev server of a framework, which replaces the site's static files.

// Frontend names the dev server. The zero value is none.
type Frontend struct {
	Command []string // starts it, in the site's folder
	URL     string   // it runs already; in the form that devcommand.ParseURL takes
	Port    int      // where Command listens; 0 to find it in the output
}

// frontend is the dev server of a session's site.
type frontend struct {
	proxy   *upstream.Proxy
	command *devcommand.Command // nil for a server that runs already
	run     *session
	console *console
	url     string // of a server that runs already
	ending  sync.Once
	told    sync.Once
	closing chan struct{}

	mu      sync.Mutex
	fixed   devcommand.State // of a server that runs already
	checked time.Time        // when fixed last answered a check
}

// How long a request waits for the start of a dev server. After pageWait, a page shows the output of the server.
const (
	pageWait  = 1500 * time.Millisecond
	startWait = 60 * time.Second
	// checkEvery is how long a successful check of a running server stays valid.
	checkEvery = time.Second
)

// startFrontend starts the dev server of the options; it is nil if they name none.
func (r *session) startFrontend(ctx context.Context, console *console) (*frontend, error) {
	o := r.options.Frontend
	if len(o.Command) == 0 && o.URL == "" {
		return nil, nil //nolint:nilnil // none is asked for
	}
	f := &frontend{run: r, console: console, url: o.URL, closing: make(chan struct{})}
	f.proxy = upstream.New(upstream.Options{Target: f.target, Dir: r.dir, Proof: r.bindings.Proof(), Logger: console.logger()})
	if o.URL != "" {
		state, err := devcommand.ParseURL(o.URL)
		if err != nil {
			return nil, failure.Usage("--upstream is %q: %s", o.URL, err)
		}
		f.fixed = state
		return f, nil
	}
	env, err := f.environment(ctx)
	if err != nil {
		return nil, err
	}
	args := slices.Clone(o.Command)
	if args[0], err = f.lookUp(args[0]); err != nil {
		return nil, &failure.Error{
			Exit: failure.ExitUsage, Code: "no-such-command",
			Message: fmt.Sprintf("the command %q cannot be run: %s", o.Command[0], failure.Reason(err)),
			Fix:     "name a program in the site's packages or in the PATH, or give its path; or install the packages first", Err: err,
		}
	}
	f.command, err = devcommand.Start(devcommand.Options{
		Args: args, Dir: r.dir, Env: env, Port: o.Port, Skip: func(port int) bool { return port == r.sockets.Port },
		OnLine:  func(l devcommand.Line) { console.output(f.name(), l) },
		OnState: f.changed,
	})
	if err != nil {
		return nil, failure.Resource("command-not-started", fmt.Sprintf("the command %q cannot be started", o.Command[0]), "", err)
	}
	return f, nil
}

// environment is the environment of the command: this process's, with the site's secrets and its address.
func (f *frontend) environment(ctx context.Context) ([]string, error) {
	t := f.run.process.Terminal
	values, _, err := f.run.process.Sites.LocalSecrets(f.run.dir).Values(ctx, f.run.manifest.Bindings.Secrets)
	if err != nil {
		return nil, err
	}
	env := slices.Clone(t.Environ)
	for name, value := range values {
		env = append(env, name+"="+value)
	}
	env = append(env, f.run.bindings.Variables()...)
	path, _ := t.Lookup("PATH")
	env = append(env, "PAGES_URL="+f.run.sockets.URL, "PATH="+strings.Join(append(f.binFolders(), path), string(os.PathListSeparator)))
	if _, chosen := t.Lookup("FORCE_COLOR"); !chosen && !t.JSON && t.Colored(t.Stderr) {
		env = append(env, "FORCE_COLOR=1") // its output is a pipe
	}
	return env, nil
}

// binFolders returns the folders with the programs of the site's packages, the nearest first, as for a script of package.json.
func (f *frontend) binFolders() (list []string) {
	top := cmp.Or(packager.Checkout(f.run.dir), f.run.dir)
	for dir := f.run.dir; ; dir = filepath.Dir(dir) {
		list = append(list, filepath.Join(dir, "node_modules", ".bin"))
		if dir == top || dir == filepath.Dir(dir) {
			return list
		}
	}
}

// lookUp finds a program as the command would: among those of the site's packages, then in the PATH.
func (f *frontend) lookUp(name string) (string, error) {
	if filepath.Base(name) == name {
		for _, dir := range f.binFolders() {
			if path, err := exec.LookPath(filepath.Join(dir, name)); err == nil {
				return path, nil
			}
		}
	} else if !filepath.IsAbs(name) {
		name = f.run.process.Terminal.Path(name)
	}
	return exec.LookPath(name)
}

// name is the name of the command for people.
func (f *frontend) name() string { return devcommand.Name(f.run.options.Frontend.Command) }

// target implements upstream.Options.Target.
func (f *frontend) target(ctx context.Context, page bool) (upstream.Target, error) {
	if f.command == nil {
		return f.fixedTarget(ctx)
	}
	s := f.command.State()
	if s.Phase == devcommand.Starting {
		limit := startWait
		if page {
			limit = pageWait
		}
		waiting, stop := context.WithTimeout(ctx, limit)
		s = f.command.Wait(waiting)
		stop()
	}
	down := &upstream.DownError{Lines: s.Lines}
	switch s.Phase {
	case devcommand.Ready:
		return upstream.Target{Address: s.Address, Host: s.Host, TLS: s.TLS}, nil
	case devcommand.Starting:
		down.Starting = true
		down.Message = f.command.Name() + " is starting: it does not listen yet"
		down.Fix = "wait; if it is up and pages does not see it, pass its port with --upstream-port"
	default:
		down.Message = f.command.Name() + " has ended: " + s.Exit
		down.Fix = "press s in the terminal of pages dev to start it again"
	}
	return upstream.Target{}, down
}

// fixedTarget finds a server that runs already. It may have been restarted.
func (f *frontend) fixedTarget(ctx context.Context) (upstream.Target, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if now := f.run.process.Terminal.Now(); now.Sub(f.checked) < checkEvery {
		return upstream.Target{Address: f.fixed.Address, Host: f.fixed.Host, TLS: f.fixed.TLS}, nil
	}
	s, ok := f.fixed.Answer(ctx)
	if f.checked, f.fixed = f.run.process.Terminal.Now(), s; !ok {
		f.checked = time.Time{}
		return upstream.Target{}, &upstream.DownError{
			Message: "nothing answers at " + f.url, Fix: "start the framework's dev server, or name its address with --upstream",
		}
	}
	return upstream.Target{Address: s.Address, Host: s.Host, TLS: s.TLS}, nil
}

// changed prints the new phase of the command.
func (f *frontend) changed(s devcommand.State) {
	select {
	case <-f.closing:
		return
	default:
	}
	f.console.frontend(f.name(), s)
}

// close ends the command.
func (f *frontend) close() {
	if f == nil {
		return
	}
	f.ending.Do(func() {
		close(f.closing)
		if f.command != nil {
			f.command.Close()
		}
	})
	f.proxy.Close()
}

// without returns the manifest without the parts that the framework's dev server serves itself: the public files, and a Worker that the
// framework builds.
func (f *frontend) without(m *manifest.Manifest) *manifest.Manifest {
	own := *m
	own.Assets = ""
	_, err := os.Stat(filepath.Join(f.run.dir, filepath.FromSlash(m.Entry)))
	entry := filepath.Join(f.run.dir, filepath.FromSlash(m.Entry))
	if m.Entry != "" && (err != nil || starter.IsOutput(m.Entry) || starter.IsOfBuild(entry)) {
		own.Entry = ""
		f.told.Do(func() {
			f.console.line("  %s does not run: the framework's dev server answers in its place", wording.Printable(m.Entry))
		})
	}
	return &own
}

// downKind is the kind of a problem with the framework's dev server.
const downKind = "upstream"

func downProblem(down *upstream.DownError) devserver.Problem {
	p := devserver.Problem{
		Kind: downKind, Title: "The framework's dev server does not answer", Message: down.Message, Fix: down.Fix,
		Status: http.StatusBadGateway, Retriable: true,
	}
	if down.Starting {
		p.Title, p.Status = "The framework's dev server is starting", http.StatusServiceUnavailable
	}
	for i, line := range down.Lines {
		p.Snippet = append(p.Snippet, devserver.SnippetLine{Number: i + 1, Text: wording.Printable(line)})
	}
	p.Snippet = devserver.FitSnippet(p.Snippet, 0)
	return p
}
