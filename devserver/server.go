// Package devserver serves one site on its author's machine, rebuilds it after every save, and keeps the open pages up
// to date.
//
// Input: a site (the front door that answers every request, package devserver/site), a [Builder] that turns the folder into a revision of
// it, and listening sockets. Output: pages that reload by themselves, an overlay with the author's own file, line and column when a build
// fails, problem pages, and a dashboard under /__pages/. Clients beyond this machine (package devserver/loopback) get only pages that
// reload.
//
// The site needs the handler of the dashboard's paths, and the server needs the site. So there are two values, made in
// this order:
//
//	hub := devserver.NewHub(devserver.HubOptions{})
//	front, err := site.New(ctx, site.Options{Control: hub, …})
//	server, err := devserver.New(devserver.Options{Hub: hub, Site: front, Builder: b, Listeners: l.All()})
//	err = server.Serve(ctx)
//
// The [Hub] holds the state of the build and the open pages; the [Server] holds the sockets, the watcher and the loop
// that builds.
//
// A failed build is not an error of this package: the last good revision stays, and the pages show the [Problem] values of the build.
// Errors are about sockets ([*PortError]) and about options. All exported functions and methods are safe for concurrent use, except that
// Serve runs once.
//
// The package compiles and runs no code of the site, opens no database and no socket other than on the loopback
// addresses, and sends nothing anywhere.
//
// The views of the dashboard are in ui; their data comes from cmd/internal/devsession/tool*.go.
package devserver

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/pages-toolchain/pages/devserver/filewatch"
	"github.com/pages-toolchain/pages/devserver/site"
	"github.com/pages-toolchain/pages/manifest"
	"github.com/pages-toolchain/pages/manifest/sitefile"
)

// defaultGrace is how long requests may take to end after the context.
const defaultGrace = 3 * time.Second

// Site is the front door, a *site.Site.
type Site interface {
	http.Handler
	// Swap serves next from now on and returns the previous revision, on which running requests finish.
	Swap(next site.Revision) (previous site.Revision)
}

// Options configure a Server. Site, Builder, Hub and Listeners must be set.
type Options struct {
	Site      Site
	Builder   Builder
	Hub       *Hub // the Control of the site
	Listeners []net.Listener
	// OnBuild is called after each build, on the building goroutine.
	OnBuild func(Build)
	// Grace is how long running requests may take after the context ended. Default 3 s.
	Grace time.Duration
	// Poll says when to look for changes of files without events. Default: where events are missing.
	Poll filewatch.Poll
	// ProbeDir is a folder in which the server may make a file ".probe-*", to learn whether events arrive. Default: it does not try.
	ProbeDir string
	Now      func() time.Time // default time.Now
	Logger   *slog.Logger     // default none
}

// Server serves, watches and rebuilds one site.
type Server struct {
	Options
	watcher *filewatch.Watcher // while serving
	first   chan struct{}      // closed after the first build
	again   chan struct{}      // asks for a build
	builds  int64              // used by the building goroutine
	good    bool               // used by the building goroutine: a build has succeeded
}

// New makes a Server that owns the listeners: Serve closes them.
func New(o Options) (*Server, error) {
	if o.Site == nil || o.Builder == nil || o.Hub == nil || len(o.Listeners) == 0 {
		return nil, errors.New("a dev server needs a site, a builder, a hub and a listener")
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	o.Grace = cmp.Or(o.Grace, defaultGrace)
	o.Logger = cmp.Or(o.Logger, slog.New(slog.DiscardHandler))
	return &Server{Options: o, first: make(chan struct{}), again: make(chan struct{}, 1)}, nil
}

// Serve builds, serves and watches until the context ends. It then returns nil after the running requests have finished or had their time.
// Requests wait for the first build.
func (s *Server) Serve(ctx context.Context) error {
	work, stop := context.WithCancel(ctx)
	defer stop()
	requests, endRequests := context.WithCancel(context.WithoutCancel(ctx))
	defer endRequests()
	s.watcher = filewatch.New(filewatch.Options{Poll: s.Poll, ProbeDir: s.ProbeDir, Now: s.Now, Logger: s.Logger})
	server, bounded := s.server(work, requests)
	var running sync.WaitGroup
	running.Go(func() { s.watcher.Run(work) })
	running.Go(func() { s.buildLoop(work) })
	failures := make(chan error, len(s.Listeners))
	for _, l := range s.Listeners {
		running.Go(func() { failures <- server.Serve(bounded(l)) })
	}
	var err error
	select {
	case <-ctx.Done():
	case err = <-failures:
	}
	stop()
	s.Hub.close()
	grace, cancel := context.WithTimeout(requests, s.Grace)
	defer cancel()
	if server.Shutdown(grace) != nil {
		s.Logger.Warn("requests were still running and have been ended", "after", s.Grace.String())
		endRequests()
		_ = server.Close() // it could not close the rest
	}
	running.Wait()
	return err
}

// server makes the http.Server and the wrapper of its listeners. work ends when the server should stop, requests when running requests must
// end.
func (s *Server) server(work, requests context.Context) (*http.Server, func(net.Listener) net.Listener) {
	server := &http.Server{
		Handler:     endStreams(work, s.afterFirstBuild(s.Hub.inject(s.Site))),
		BaseContext: func(net.Listener) context.Context { return requests },
		ErrorLog:    slog.NewLogLogger(s.Logger.Handler(), slog.LevelWarn),
	}
	return server, harden(server, s.Now)
}

// afterFirstBuild delays requests until after the first build.
func (s *Server) afterFirstBuild(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		select {
		case <-s.first:
			next.ServeHTTP(w, r)
		case <-r.Context().Done():
		}
	})
}

// endStreams ends the endless responses under /__pages/ as soon as work ends, so that an open dashboard does not delay
// the exit.
func endStreams(work context.Context, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.URL.Path, controlRoot) && strings.Contains(r.Header.Get("Accept"), "text/event-stream") {
			ctx, cancel := context.WithCancel(r.Context())
			defer cancel()
			defer context.AfterFunc(work, cancel)()
			r = r.WithContext(ctx)
		}
		next.ServeHTTP(w, r)
	})
}

// Rebuild builds the site again, as if any file might have changed. It does not wait for the build.
func (s *Server) Rebuild() {
	select {
	case s.again <- struct{}{}:
	default: // one is queued
	}
}

// buildLoop builds once, and again after every settled batch of changes.
func (s *Server) buildLoop(ctx context.Context) {
	var changed []string
	for {
		s.build(ctx, changed)
		select {
		case <-ctx.Done():
			return
		case <-s.again:
			changed = nil
		case c := <-s.watcher.Changes():
			changed = c.Paths
			if c.All {
				changed = nil
			}
		}
	}
}

// build makes one revision and, if it is good, serves it.
func (s *Server) build(ctx context.Context, changed []string) {
	start := s.Now()
	out := s.Builder.Build(ctx, changed)
	if ctx.Err() != nil {
		return
	}
	if out.Info.Routes == nil {
		out.Info = Describe(out.Revision.Manifest)
	}
	s.builds++
	result := Build{
		Number: s.builds, OK: out.OK, Reload: ReloadNone, Changed: changed, Problems: out.Problems,
		Took: s.Now().Sub(start), Stale: !out.OK && s.good,
	}
	if out.OK {
		s.Site.Swap(out.Revision)
		s.good = true
		result.Reload = s.Hub.succeed(s.builds, out, changed, result.Took)
	} else {
		s.Hub.fail(s.builds, out.Problems, result.Took)
		if !s.good {
			// It replaces the site until a build succeeds for the first time, and goes through the front door like any other revision, so
			// that clients beyond this machine learn nothing.
			everything := manifest.Route{Pattern: "/*", Access: manifest.Public}
			s.Site.Swap(site.Revision{
				ID:       "broken",
				Manifest: &manifest.Manifest{Entry: "broken", Routes: []manifest.Route{everything}},
				Worker:   brokenWorker{s.Hub},
				StandIn:  true,
			})
		}
	}
	if s.builds == 1 {
		close(s.first)
	}
	if out.Watch != nil {
		s.Hub.setWatching(len(out.Watch))
		s.watcher.Watch(ctx, out.Watch, start)
	}
	if s.OnBuild != nil {
		s.OnBuild(result)
	}
}

type brokenWorker struct{ hub *Hub }

// Serve answers with the problems of the failed build.
func (b brokenWorker) Serve(w http.ResponseWriter, r *http.Request) error {
	build, problems, _ := b.hub.failure()
	writeProblems(w, r, problems, build)
	return nil
}

// Builder turns the site's folder into a revision. Build is called once at the start and then after each settled batch
// of changes, never concurrently.
type Builder interface {
	// Build reads the folder. changed has the absolute paths that appeared, disappeared or changed since the last call, sorted; nil means
	// that any path may have. When ctx ends, the outcome is discarded.
	Build(ctx context.Context, changed []string) Outcome
}

// Outcome is the result of a build.
type Outcome struct {
	// Revision is to be served from now on; it counts only when OK.
	Revision site.Revision
	OK       bool
	// Problems are the errors when not OK, and warnings otherwise.
	Problems []Problem
	// Watch lists the absolute paths of the files and folders that the build depends on, missing ones included. Folders count with all
	// their content. Nil keeps the list of the previous build.
	Watch []string
	// Info is shown on the dashboard. [Describe] fills a zero value from the revision's manifest.
	Info Info
}

// Build describes one build; see [Options.OnBuild]. At the call, the outcome is being served and the files are being watched.
type Build struct {
	Number   int64 // from 1
	OK       bool
	Reload   Reload // of the open pages
	Changed  []string
	Problems []Problem
	Took     time.Duration
	Stale    bool // it failed, and an earlier good one is still served
}

// Reload is the reaction of the open pages to a build.
type Reload string

// The ways to reload.
const (
	ReloadNone Reload = "none" // no reaction: the build failed, or live reload is off
	ReloadCSS  Reload = "css"  // swap style sheets in place
	ReloadFull Reload = "full"
)

// changedStyles returns the site paths of the style sheets that changed, if nothing else did.
func changedStyles(changed []string, assets []sitefile.Asset) (paths []string, only bool) {
	if len(changed) == 0 {
		return nil, false
	}
	served := map[string]string{}
	for _, file := range changed {
		if !strings.EqualFold(filepath.Ext(file), ".css") {
			return nil, false
		}
		served[file] = ""
	}
	for _, asset := range assets {
		if _, ok := served[asset.File]; ok {
			served[asset.File] = asset.Path
		}
	}
	for _, file := range changed {
		if served[file] == "" {
			return nil, false // it is gone, or a part of another file
		}
		paths = append(paths, served[file])
	}
	return paths, true
}
