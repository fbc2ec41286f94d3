// Package devsession runs a site on this machine: for pages dev, which serves it while its author edits, and for pages test, which runs a
// command against it on its own state.
//
// Serve and Test take a Process (a terminal, the locations of sites and states) and Options. A build reads the manifest, bundles, migrates,
// starts the Worker and swaps it in; after a failed build, the last good one stays in service. It prints text for people on stderr and
// lines of JSON for programs; the dashboard runs commands of this program. Errors are *failure.Error, or a failure.StatusError of the
// tested command. Both block until the end of ctx or of the command, and may run side by side on different states. The package knows no
// flags and no rules of the platform.
package devsession

import (
	"context"
	"database/sql"
	"errors"
	"log/slog"
	"net/http"
	"net/netip"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/pages-toolchain/pages/cmd/internal/failure"
	"github.com/pages-toolchain/pages/cmd/internal/localstate"
	"github.com/pages-toolchain/pages/cmd/internal/nodebindings"
	"github.com/pages-toolchain/pages/cmd/internal/processmemory"
	"github.com/pages-toolchain/pages/cmd/internal/project"
	"github.com/pages-toolchain/pages/cmd/internal/siteworker"
	"github.com/pages-toolchain/pages/cmd/internal/terminal"
	"github.com/pages-toolchain/pages/devserver"
	"github.com/pages-toolchain/pages/devserver/filewatch"
	"github.com/pages-toolchain/pages/devserver/loopback"
	"github.com/pages-toolchain/pages/devserver/pairing"
	"github.com/pages-toolchain/pages/devserver/site"
	"github.com/pages-toolchain/pages/manifest"
	"github.com/pages-toolchain/pages/migrate/statefolder"
	pagesruntime "github.com/pages-toolchain/pages/runtime"
	"github.com/pages-toolchain/pages/runtime/binding/images"
)

// Process is the process around a session.
type Process struct {
	Terminal *terminal.Terminal
	Sites    *project.Sites
	States   localstate.Locator
	Memory   *pagesruntime.HostMemory // for the Workers of all sites; nil for a pool of this session
	Images   *images.Queue            // for all sites; nil for one for each site
	CacheDir string                   // for the machine code of WebAssembly; "" for no cache
	Tool     string                   // name of this program in the ledger of migrations
	// Run runs a command of this program on another terminal, and returns its exit code. The dashboard uses it.
	Run func(ctx context.Context, args []string, t terminal.Terminal) int
}

// Options configure how a session serves its site.
type Options struct {
	Port         int        // 0 for any
	StrictPort   bool       // fail when the port is taken, instead of taking the next free one
	Host         netip.Addr // to listen on beside loopback; see [devserver.Listen]
	Limits       string
	CPUScale     float64 // multiplies limits.cpuMs
	Isolation    string
	LiveReload   string
	AllowFetch   []string // HOST[:PORT]
	AllowImport  []string // folders
	AllowHosts   []string // names in lower case; ".NAME" is NAME and the names below it
	ProjectState string   // folder of the project database; "" for the state folder
	Webhook      string   // URL
	OTLP         string   // URL of a receiver of spans; "" for none
	SpamFilter   string   // on or off
	ProofOfWork  string   // on or off
	As           string   // the persona that clients have at the start, or an email
	Mode         string   // the value of process.env.NODE_ENV; "" for that of the environment, or development
	Engine       siteworker.Choice
	Inspect      Inspect
	Frontend     Frontend
	Poll         filewatch.Poll // when to check for changes without events
	AllowWrite   bool           // agents may change data over /__pages/mcp
	Background   bool           // there is no terminal; pages dev stop may end the session
}

// session serves one site.
type session struct {
	process  Process
	options  Options
	dir      string
	manifest *manifest.Manifest // the manifest at the start
	state    *localstate.State
	sockets  *devserver.Listeners
	engine   *siteworker.Engine
	usualGC  int            // percent, after the start
	pairing  *pairing.Codes // nil if all clients are alike
	frontend *frontend      // nil for a site of files
	bindings *nodebindings.Server
	// inspection is nil without debuggers.
	inspection *inspection
}

// Serve serves the site in dir until ctx ends. m is its manifest.
func Serve(ctx context.Context, p Process, dir string, m *manifest.Manifest, o Options) (err error) {
	// Compiling the engine, once on a machine, makes a hundred megabytes of garbage in a tenth of a second: collecting it
	// would cost a fifth of that time.
	usual := debug.SetGCPercent(startGCPercent)
	inspection, err := p.openInspector(ctx, dir, &o)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, inspection.close()) }()
	engine := p.openEngine(ctx, o)
	defer func() { err = errors.Join(err, engine.Close(ctx)) }()
	if o.ProjectState != "" {
		shared, err := p.States.At(dir, p.Terminal.Path(o.ProjectState), "--project-state")
		if err != nil {
			return err
		}
		if err := shared.Check(); err != nil {
			return err
		}
	}
	s, err := p.States.Open(dir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	unlock, err := s.LockDev()
	if err != nil {
		return err
	}
	defer unlock()
	sockets, err := devserver.Listen(ctx, o.Port, o.StrictPort, o.Host)
	if err != nil {
		return PortError(err)
	}
	guarded, gone := context.WithCancelCause(ctx)
	defer gone(nil)
	go s.Guard(guarded, gone)
	err = (&session{
		process: p, options: o, dir: dir, manifest: m, state: s, sockets: sockets, engine: engine, usualGC: usual,
		inspection: inspection,
	}).serve(guarded)
	if lost, ok := errors.AsType[*failure.Error](context.Cause(guarded)); ok && err == nil {
		return lost
	}
	return err
}

// PortError returns the *failure.Error of a port that cannot be opened, and any other error as it is.
func PortError(err error) error {
	if port, ok := errors.AsType[*devserver.PortError](err); ok {
		return &failure.Error{Exit: failure.ExitResource, Code: "port-taken", Message: port.Error(), Fix: port.Fix, Err: err}
	}
	return err
}

// serve connects the packages and serves until ctx ends.
func (r *session) serve(ctx context.Context) (err error) {
	t := r.process.Terminal
	console := newConsole(t)
	console.faster = r.options.Engine.Program == nil
	r.pairing = pairing.New(pairing.Options{OnEvent: console.printPairing, Now: t.Now})
	tools := newTools(r)
	hub := devserver.NewHub(devserver.HubOptions{
		LiveReload: devserver.LiveReload(r.options.LiveReload), Now: t.Now, Logger: console.logger(), Tools: tools, Agents: r.agents(tools),
	})
	if console.history, err = r.openLog(ctx, console.logger()); err != nil {
		return errors.Join(err, r.sockets.Close())
	}
	defer console.history.Close()
	if console.exporter, err = r.openExporter(ctx, console); err != nil {
		return errors.Join(err, r.sockets.Close())
	}
	defer console.exporter.Close()
	if r.bindings, err = nodebindings.Start(nodebindings.Options{Memory: r.process.Memory, Called: console.called}); err != nil {
		return errors.Join(err, r.sockets.Close())
	}
	defer func() { err = errors.Join(err, r.bindings.Close()) }()
	if r.frontend, err = r.startFrontend(ctx, console); err != nil {
		return errors.Join(err, r.sockets.Close())
	}
	defer r.frontend.close()
	in, err := r.newInstance(ctx, hub, console)
	if err != nil {
		return errors.Join(err, r.sockets.Close())
	}
	defer func() { // the state's databases stay open
		err = errors.Join(err, in.front.Close(), r.bindings.Close())
		in.builder.close()
	}()
	tools.instance, tools.log = in, console.history
	ctx, quit := context.WithCancel(ctx)
	defer quit()
	tools.quit = quit
	keys := &keyboard{
		console: console, url: r.sockets.URL, as: r.options.As, quit: quit, open: openBrowser, pairing: r.pairing, inspection: r.inspection,
	}
	defer context.AfterFunc(ctx, func() { _ = r.inspection.close() })() // paused requests continue and end
	restore := func() {}                                                // the terminal
	defer func() { restore() }()
	release := time.AfterFunc(releaseTime, processmemory.GiveBack)
	release.Stop()
	defer release.Stop()
	server, err := devserver.New(devserver.Options{
		Site: in.front, Builder: in.builder, Hub: hub, Listeners: r.sockets.All(), Now: t.Now, Logger: console.logger(),
		Poll: r.options.Poll, ProbeDir: r.state.Dir,
		OnBuild: func(build devserver.Build) {
			if build.Number == 1 {
				debug.SetGCPercent(r.gcPercent())
				release.Reset(releaseTime)
				console.ready(r)
				restore = keys.listen(ctx)
			}
			console.build(build)
		},
	})
	if err != nil {
		return errors.Join(err, r.sockets.Close())
	}
	if err := r.state.Announce(localstate.DevServer{
		URL: r.sockets.URL, Token: hub.Token(), Background: r.options.Background,
		Bindings: &localstate.DevBindings{Address: r.bindings.Address, Token: r.bindings.Token},
	}); err != nil {
		return errors.Join(err, r.sockets.Close())
	}
	keys.server, keys.front, keys.frontend = server, in.front, r.frontend
	defer context.AfterFunc(ctx, r.frontend.close)() // in addition to the last requests
	return server.Serve(ctx)
}

// instance is a site on a state, with its builder.
type instance struct {
	front   *site.Site
	builder *builder
}

// newInstance makes the site's instance on the session's state.
func (r *session) newInstance(ctx context.Context, control http.Handler, console *console) (*instance, error) {
	b, err := r.newBuilder(ctx, console)
	if err != nil {
		return nil, err
	}
	platform, err := r.state.Open(ctx, statefolder.PlatformFile)
	if err != nil {
		return nil, err
	}
	webhook, err := r.webhook(ctx, platform, console)
	if err != nil {
		return nil, err
	}
	personas, err := r.startingPersonas()
	if err != nil {
		return nil, err
	}
	b.front, err = site.New(ctx, site.Options{
		DB: platform, SubmissionsDB: b.site, Files: localstate.NewFormFiles(b.stores.OpenUploads),
		StillThere: r.state.StillThere, Control: control, Now: r.process.Terminal.Now, Logger: console.logger(), DevHints: true,
		AllowHost: r.answersTo, Pairing: r.pairing,
		ErrorPage: b.errorPage, OnRequest: console.request, Trace: true,
		Webhook: webhook, OnDelivery: console.delivery, Personas: personas, SignedInAs: r.options.As,
		SpamOff: r.options.SpamFilter == "off", ProofOfWork: r.options.ProofOfWork == "on",
	})
	if err != nil {
		return nil, r.state.OpenError(statefolder.PlatformFile, err)
	}
	return &instance{front: b.front, builder: b}, nil
}

// answersTo reports whether the site is served under a host name.
func (r *session) answersTo(host string) bool {
	if loopback.Name(host) || r.options.allowsHost(host) {
		return true
	}
	// A browser that names a literal address has connected to it: another site's name cannot lead here under it.
	_, err := netip.ParseAddr(host)
	return err == nil && r.options.Host.IsValid()
}

// allowsHost reports whether AllowHosts covers a lower-case name.
func (o *Options) allowsHost(host string) bool {
	return slices.ContainsFunc(o.AllowHosts, func(allowed string) bool {
		return host == allowed || strings.HasPrefix(allowed, ".") && strings.HasSuffix("."+host, allowed)
	})
}

// startingPersonas returns the personas at the start. The first build reports a malformed file, but --as must name a
// persona.
func (r *session) startingPersonas() ([]site.Persona, error) {
	list, refusal := project.ReadPersonas(r.dir)
	if refusal != nil {
		return site.DefaultPersonas(), nil
	}
	as := r.options.As
	known := slices.ContainsFunc(list, func(p site.Persona) bool { return p.Key == as })
	if as != "" && !known && !strings.Contains(as, "@") {
		return nil, failure.Usage("--as is %q; it must be an email or one of %s", as, strings.Join(project.PersonaKeys(r.dir), ", "))
	}
	return list, nil
}

// openLog opens the log of requests, on its own connection, so that it delays no transaction that waits for the disk.
func (r *session) openLog(ctx context.Context, logger *slog.Logger) (*devserver.RequestLog, error) {
	db, err := r.state.OpenUnsynced(ctx, statefolder.PlatformFile)
	if err != nil {
		return nil, err
	}
	log, err := devserver.OpenRequestLog(ctx, db, devserver.RequestLogOptions{Now: r.process.Terminal.Now, Logger: logger})
	if err != nil {
		return nil, errors.Join(r.state.OpenError(statefolder.PlatformFile, err), db.Close())
	}
	return log, nil
}

// gcPercent is the growth of the heap between collections after the start. While workerd runs the Worker, the heap has the bundler's caches
// and little else, and requests leave little garbage: even half the usual percentage lasts for a few seconds of load.
func (r *session) gcPercent() int {
	if r.options.Engine.Program != nil && r.usualGC == defaultGCPercent {
		return defaultGCPercent / 2
	}
	return r.usualGC
}

const (
	// startGCPercent lets the heap grow during the start.
	startGCPercent = 400
	// defaultGCPercent is Go's default, without GOGC.
	defaultGCPercent = 100
	// releaseTime is the delay after the start before free memory goes back to the system: the first requests take precedence. Without it,
	// Go would keep the memory for minutes.
	releaseTime = 500 * time.Millisecond
)

// openEngine opens the engine while the site is read.
func (p Process) openEngine(ctx context.Context, o Options) *siteworker.Engine {
	return siteworker.OpenEngine(ctx, o.Engine, pagesruntime.Options{CacheDir: p.CacheDir, Now: p.Terminal.Now, Memory: p.Memory})
}

// secretVariable holds the webhook's secret. It is not a flag: flags show in the list of processes.
const secretVariable = "PAGES_EVENT_WEBHOOK_SECRET"

// webhook returns the webhook of --event-webhook, nil for none.
func (r *session) webhook(ctx context.Context, platform *sql.DB, console *console) (*site.Webhook, error) {
	if r.options.Webhook == "" {
		return nil, nil //nolint:nilnil // no webhook is asked for, and nothing went wrong
	}
	hook := &site.Webhook{URL: r.options.Webhook}
	if text, ok := r.process.Terminal.Lookup(secretVariable); ok && text != "" {
		secret, err := site.ParseSecret(text)
		if err != nil {
			return nil, failure.Usage("%s: %s", secretVariable, err)
		}
		hook.Secret = secret
		return hook, nil
	}
	store, err := site.OpenStore(ctx, platform, site.StoreOptions{Now: r.process.Terminal.Now})
	if err == nil {
		hook.Secret, err = store.WebhookSecret(ctx)
	}
	if err != nil {
		return nil, r.state.OpenError(statefolder.PlatformFile, err)
	}
	console.line("  webhook      %s (%s)", site.FormatSecret(hook.Secret), secretVariable+" sets another")
	return hook, nil
}
