package main

import (
	"context"
	"errors"
	"net/http"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/pages-toolchain/pages/cmd/internal/failure"
	"github.com/pages-toolchain/pages/cmd/internal/localstate"
	"github.com/pages-toolchain/pages/cmd/internal/project"
	"github.com/pages-toolchain/pages/devserver"
	"github.com/pages-toolchain/pages/devserver/loopback"
	"github.com/pages-toolchain/pages/devserver/pairing"
	"github.com/pages-toolchain/pages/devserver/site"
	"github.com/pages-toolchain/pages/manifest"
	"github.com/pages-toolchain/pages/migrate/statefolder"
)

// devRun is one run of `pages dev`.
type devRun struct {
	*cli
	flags    *devFlags
	dir      string
	manifest *manifest.Manifest // as it was at the start
	state    *localstate.State
	sockets  *devserver.Listeners
	runtimes *runtimeStart
	usualGC  int            // percent, for when the start is over
	pairing  *pairing.Codes // nil where visitors are all alike
}

// serve puts the rooms together and serves until ctx ends.
func (c *cli) serve(ctx context.Context, r *devRun) (err error) {
	console := newConsole(c)
	r.pairing = pairing.New(pairing.Options{OnEvent: console.pairing, Now: c.term.Now})
	tools := newDevTools(r)
	hub := devserver.NewHub(devserver.HubOptions{LiveReload: devserver.LiveReload(r.flags.liveReload), Now: c.term.Now, Logger: console.logger(), Tools: tools})
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
	keys := &devKeys{console: console, url: r.sockets.URL, as: r.flags.as, quit: quit, open: openBrowser, pairing: r.pairing}
	restore := func() {} // the terminal
	defer func() { restore() }()
	server, err := devserver.New(devserver.Options{
		Site: l.front, Builder: l.builder, Hub: hub, Listeners: r.sockets.All(), Now: c.term.Now, Logger: console.logger(),
		OnBuild: func(build devserver.Build) {
			if build.Number == 1 {
				debug.SetGCPercent(r.usualGC)
				console.ready(r)
				if err := r.runtimes.unkept(); err != nil {
					console.line("%s each start compiles the engine, which cannot be kept: %s; see pages doctor", c.term.Paint("33", "note:"), err)
				}
				restore = keys.listen(ctx)
			}
			console.build(build)
		},
	})
	if err != nil {
		return errors.Join(err, r.sockets.Close())
	}
	if err := r.state.Announce(r.sockets.URL, hub.Token()); err != nil {
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
		DB: platform, SubmissionsDB: b.site, Files: localstate.NewFormFiles(b.stores.OpenUploads), StillThere: r.state.StillThere, Control: control, Now: r.term.Now, Logger: console.logger(), DevHints: true,
		AllowHost: r.answersTo, Pairing: r.pairing,
		ErrorPage: console.errorPage, OnRequest: console.request,
		Webhook: webhook, OnDelivery: console.delivery, Personas: personas, SignedInAs: r.flags.as,
	})
	if err != nil {
		return nil, r.state.OpenError(statefolder.PlatformFile, err)
	}
	return &life{front: b.front, builder: b}, nil
}

func (r *devRun) storesOptions() localstate.StoresOptions {
	o := localstate.StoresOptions{State: r.state, Images: r.images, Now: r.term.Now}
	if r.flags.projectState != "" {
		o.ProjectFolder = r.term.Path(r.flags.projectState)
	}
	return o
}

// answersTo reports whether the site is served under a name.
func (r *devRun) answersTo(host string) bool {
	return loopback.Name(host) || slices.Contains(r.flags.allowHosts, host)
}

// close ends the site; the state's databases stay open.
func (l *life) close() error {
	err := l.front.Close()
	l.builder.close()
	return err
}

// startingPersonas are the people at the start: a file that is wrong is told by
// the first build, but --as must name somebody.
func (r *devRun) startingPersonas() ([]site.Persona, error) {
	list, refusal := project.ReadPersonas(r.dir)
	if refusal != nil {
		return site.DefaultPersonas(), nil
	}
	as := r.flags.as
	known := slices.ContainsFunc(list, func(p site.Persona) bool { return p.Key == as })
	if as != "" && !known && !strings.Contains(as, "@") {
		return nil, failure.Usage("--as is %q; it is an email or one of %s", as, project.PersonaKeys(r.dir))
	}
	return list, nil
}
