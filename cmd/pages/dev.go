package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/pages-toolchain/pages/devserver"
	"github.com/pages-toolchain/pages/devserver/site"
	"github.com/pages-toolchain/pages/manifest"
	pagesruntime "github.com/pages-toolchain/pages/runtime"
)

// defaultPort is where `pages dev` listens when the port is free.
const defaultPort = 8788

// startGCPercent lets the heap grow during the start.
const startGCPercent = 400

// devFlags are the flags of `pages dev`.
type devFlags struct {
	port         int
	strictPort   bool
	limits       string
	cpuScale     float64
	isolation    string
	liveReload   string
	allowFetch   []string
	allowHosts   []string
	projectState string
	webhook      string
	as           string
	edgeRules    string
}

func (c *cli) newDev() *cobra.Command {
	f := &devFlags{}
	cmd := &cobra.Command{
		Use:   "dev [DIR]",
		Short: "Run the site on this machine, with the platform's rules enforced",
		Long: "Run the site on this machine, with the platform's rules enforced.\n\n" +
			"Migrations are applied, members routes are guarded, limits end requests, forms\nturn into leads and events. Every save is live at once. The dashboard is at\n" +
			"/__pages/. The first line on stdout is \"ready URL\". On a terminal, ? lists keys\nthat open the site, rebuild it, change who visitors are, and more.\n\n" +
			"Exit codes: 0 stopped by Ctrl-C, 1 the manifest was refused, 2 wrong usage,\n9 the port, the state folder or its lock cannot be had.",
		Example: "  pages dev\n  pages dev --port 0 --json\n  pages dev sites/club --limits warn --allow-fetch localhost:9000",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := f.check(); err != nil {
				return err
			}
			err := c.dev(cmd.Context(), args, f)
			var stop signalError
			if err == nil && errors.As(context.Cause(cmd.Context()), &stop) && stop.signal != os.Interrupt {
				return stop
			}
			return err
		},
	}
	flags := cmd.Flags()
	flags.IntVar(&f.port, "port", defaultPort, "`port` to listen on; the next free one if it is taken; 0 for any")
	flags.BoolVar(&f.strictPort, "strict-port", false, "fail when the port is taken")
	flags.StringVar(&f.liveReload, "live-reload", "hot", "what open pages do after a save: hot, full, off")
	flags.StringVar(&f.projectState, "project-state", "", "`folder` of the project database, to share it between sites (default: the state folder)")
	f.addRules(flags)
	return cmd
}

// addRules adds the flags that say how the site behaves.
func (f *devFlags) addRules(flags *pflag.FlagSet) {
	flags.StringVar(&f.limits, "limits", "enforce", "what happens at limits.cpuMs and limits.subRequests: enforce, warn, off")
	flags.Float64Var(&f.cpuScale, "cpu-scale", 1, "multiply limits.cpuMs by this `factor`: pure JavaScript is slower here than on the platform")
	flags.StringVar(&f.isolation, "isolation", "shared", "shared: isolates live on, as on the platform; request: each request starts from a pristine one")
	flags.StringVar(&f.edgeRules, "edge-rules", edgeRulesOn, edgeRulesUsage)
	flags.StringVar(&f.as, "as", "", "`persona` that visitors are from the start, or an email; see .pages/members.json")
	flags.StringArrayVar(&f.allowFetch, "allow-fetch", nil, "`HOST[:PORT]` of this machine or network that the Worker may fetch; repeatable")
	flags.StringArrayVar(&f.allowHosts, "allow-host", nil, "further `HOST` name to answer to; repeatable")
	flags.StringVar(&f.webhook, "event-webhook", "", "`URL` to post every event to, as Standard Webhooks has it; the secret is PAGES_EVENT_WEBHOOK_SECRET, or one that is made and shown")
}

func (f *devFlags) check() error {
	for _, choice := range []struct {
		flag, value string
		of          []string
	}{
		{"limits", f.limits, []string{"enforce", "warn", "off"}},
		{"isolation", f.isolation, []string{"shared", "request"}},
		{"live-reload", f.liveReload, []string{"hot", "full", "off"}},
		{"edge-rules", f.edgeRules, []string{edgeRulesOn, edgeRulesOff}},
	} {
		if !slices.Contains(choice.of, choice.value) {
			return usageError("--%s is %q; it is one of %v", choice.flag, choice.value, choice.of)
		}
	}
	if f.port < 0 || f.port > 65535 {
		return usageError("--port is %d; ports go from 0 to 65535", f.port)
	}
	if f.webhook != "" {
		if err := site.ParseWebhookURL(f.webhook); err != nil {
			return usageError("--event-webhook is %q: %s", f.webhook, err)
		}
	}
	if f.cpuScale <= 0 {
		return usageError("--cpu-scale is %v; it must be more than 0", f.cpuScale)
	}
	return nil
}

// dev runs the dev server until ctx ends.
func (c *cli) dev(ctx context.Context, args []string, f *devFlags) (err error) {
	dir, err := c.find(args)
	if err != nil {
		return err
	}
	m, found := c.load(dir) // warnings are told by the first build
	if m == nil {
		return &refused{report: found.report, src: found.src}
	}
	// Compiling the engine, which happens once on a machine, makes a hundred
	// megabytes of garbage in a tenth of a second: collecting it would cost a
	// fifth of that time.
	usual := debug.SetGCPercent(startGCPercent)
	runtimes := startRuntime(ctx, pagesruntime.Options{CacheDir: c.compileCache(), Now: c.now})
	defer func() { err = errors.Join(err, runtimes.close(ctx)) }()
	s, err := c.openState(dir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	unlock, err := s.lockDev()
	if err != nil {
		return err
	}
	defer unlock()
	sockets, err := devserver.Listen(ctx, f.port, f.strictPort)
	if err != nil {
		return c.portError(err)
	}
	guarded, gone := context.WithCancelCause(ctx)
	defer gone(nil)
	go s.guard(guarded, gone)
	err = c.serve(guarded, &devRun{cli: c, flags: f, dir: dir, manifest: m, state: s, sockets: sockets, runtimes: runtimes, usualGC: usual})
	if lost, ok := errors.AsType[*failure](context.Cause(guarded)); ok && err == nil {
		return lost
	}
	return err
}

func (c *cli) portError(err error) error {
	if port, ok := errors.AsType[*devserver.PortError](err); ok {
		return &failure{code: exitResource, id: "port-taken", msg: port.Error(), fix: port.Fix, err: err}
	}
	return err
}

// compileCache is where machine code is kept between starts.
func (c *cli) compileCache() string {
	if c.cacheDir == "" {
		return ""
	}
	return filepath.Join(c.cacheDir, "pages", "engine")
}

// devRun is one run of `pages dev`.
type devRun struct {
	*cli
	flags    *devFlags
	dir      string
	manifest *manifest.Manifest // as it was at the start
	state    *state
	sockets  *devserver.Listeners
	runtimes *runtimeStart
	usualGC  int // percent, for when the start is over
}

// serve puts the rooms together and serves until ctx ends.
func (c *cli) serve(ctx context.Context, r *devRun) (err error) {
	console := newConsole(c)
	tools := newDevTools(r)
	hub := devserver.NewHub(devserver.HubOptions{LiveReload: devserver.LiveReload(r.flags.liveReload), Now: c.now, Logger: console.logger(), Tools: tools})
	if console.history, err = r.openLog(ctx, console.logger()); err != nil {
		return errors.Join(err, r.sockets.Close())
	}
	defer console.history.Close()
	l, err := r.newLife(ctx, hub, console)
	if err != nil {
		return errors.Join(err, r.sockets.Close())
	}
	defer func() { err = errors.Join(err, l.close()) }()
	tools.life, tools.log = l, console.history
	ctx, quit := context.WithCancel(ctx)
	defer quit()
	keys := &devKeys{console: console, url: r.sockets.URL, as: r.flags.as, quit: quit, open: openBrowser}
	restore := func() {} // the terminal
	defer func() { restore() }()
	server, err := devserver.New(devserver.Options{
		Site: l.front, Builder: l.builder, Hub: hub, Listeners: r.sockets.All(), Now: c.now, Logger: console.logger(),
		OnBuild: func(build devserver.Build) {
			if build.Number == 1 {
				debug.SetGCPercent(r.usualGC)
				console.ready(r)
				if err := r.runtimes.unkept(); err != nil {
					console.line("%s each start compiles the engine, which cannot be kept: %s; see pages doctor", c.paint("33", "note:"), err)
				}
				restore = keys.listen(ctx)
			}
			console.build(build)
		},
	})
	if err != nil {
		return errors.Join(err, r.sockets.Close())
	}
	if err := r.state.announce(r.sockets.URL, hub.Token()); err != nil {
		return errors.Join(err, r.sockets.Close())
	}
	keys.server, keys.front = server, l.front
	return server.Serve(ctx)
}

// life is a site with its state: what answers, and what builds what is answered.
type life struct {
	front   *site.Site
	builder *siteBuilder
}

// newLife makes the site of a run on the run's state.
func (r *devRun) newLife(ctx context.Context, control http.Handler, console *console) (*life, error) {
	b, err := r.newBuilder(ctx, console)
	if err != nil {
		return nil, err
	}
	platform, err := r.state.open(ctx, platformFile)
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
		DB: platform, SubmissionsDB: b.site, Files: formFiles{b.stores.openUploads}, Control: control, Now: r.now, Logger: console.logger(), DevHints: true,
		AllowHost: func(host string) bool { return site.LocalHost(host) || slices.Contains(r.flags.allowHosts, host) },
		ErrorPage: console.errorPage, OnRequest: console.request,
		Webhook: webhook, OnDelivery: console.delivery, Personas: personas, SignedInAs: r.flags.as,
	})
	if err != nil {
		return nil, r.state.unopened(platformFile, err)
	}
	return &life{front: b.front, builder: b}, nil
}

// close ends the site; the state's databases stay open.
func (l *life) close() error {
	err := l.front.Close()
	l.builder.close()
	return err
}

// runtimeStart opens the engine while the site is being read.
type runtimeStart struct {
	done    chan struct{}
	runtime *pagesruntime.Runtime
	err     error
}

func startRuntime(ctx context.Context, o pagesruntime.Options) *runtimeStart {
	s := &runtimeStart{done: make(chan struct{})}
	go func() {
		defer close(s.done)
		s.runtime, s.err = pagesruntime.Open(ctx, o)
	}()
	return s
}

// wait returns the runtime once it is open.
func (s *runtimeStart) wait() (*pagesruntime.Runtime, error) {
	<-s.done
	return s.runtime, s.err
}

// unkept is why what was compiled is not kept for the next start; nil when it is, or while nobody knows.
func (s *runtimeStart) unkept() error {
	select {
	case <-s.done:
	default:
		return nil
	}
	if s.runtime == nil {
		return nil
	}
	return s.runtime.CacheError()
}

func (s *runtimeStart) close(ctx context.Context) error {
	<-s.done
	if s.runtime == nil {
		return nil
	}
	if err := s.runtime.Close(context.WithoutCancel(ctx)); err != nil {
		return fmt.Errorf("close the engine: %w", err)
	}
	return nil
}
