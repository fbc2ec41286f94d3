package main

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"time"

	"github.com/pages-toolchain/pages/cmd/internal/failure"
	"github.com/pages-toolchain/pages/cmd/internal/host"
	"github.com/pages-toolchain/pages/devserver"
	"github.com/pages-toolchain/pages/migrate/dbfile"
	"github.com/pages-toolchain/pages/toolapi"
	"github.com/pages-toolchain/pages/toolapi/service"
)

const (
	// platformDrain is how long calls in flight may take to end.
	platformDrain = 10 * time.Second
	// failedDrain is the same when the disk has failed.
	failedDrain = time.Second

	platformReadTime  = time.Minute
	platformIdleTime  = 2 * time.Minute
	platformMaxHeader = 32<<10 - 4<<10 // net/http adds the latter
)

// platform serves until ctx ends.
func (c *cli) platform(ctx context.Context, f *platformFlags) (err error) {
	data, err := c.openData(f.data)
	if err != nil {
		return err
	}
	unlock, err := data.lockServer()
	if err != nil {
		return err
	}
	defer unlock()
	logger := c.platformLogger()
	host, err := host.New(ctx, host.Options{
		Dir: data.dir, CompileCache: c.compileCache(), Tool: tool(), Memory: c.memory, Images: c.images, Now: c.term.Now, Logger: logger,
	})
	if err != nil {
		return data.unusable(err)
	}
	s, err := data.open(ctx, service.Options{Now: c.term.Now, PerMinute: f.rateLimit, Logger: logger, Host: host, Mail: c.mail(data)})
	if err != nil {
		return err
	}
	defer func() {
		// To close databases is to write to them, which a failed disk gets no chance of.
		if s.Failure() == nil {
			err = errors.Join(err, host.Close(), s.Close())
		}
	}()
	host.ShareProcessors()
	host.Observe(s.Notice, s.Arrived)
	defer host.WatchResting()()
	ready, err := c.plant(ctx, s, f.seed)
	if dbfile.FullDisk(data.dir, err) {
		return data.unusable(err)
	}
	if err != nil {
		return err
	}
	sockets, err := devserver.Listen(ctx, f.port, c.typed["port"])
	if err != nil {
		return c.portError(err)
	}
	ready.URL, ready.MCPPath = sockets.URL, toolapi.MCPPath
	return c.serveAPI(ctx, s, sockets, func() { c.printReady(ready) })
}

// serveAPI serves on the sockets. When ctx ends, calls in flight get platformDrain to
// end, and no new one is taken.
func (c *cli) serveAPI(ctx context.Context, s *service.Service, sockets *devserver.Listeners, ready func()) error {
	server := &http.Server{
		Handler: s, DisableGeneralOptionsHandler: true, ReadHeaderTimeout: platformDrain, ReadTimeout: platformReadTime, IdleTimeout: platformIdleTime, MaxHeaderBytes: platformMaxHeader,
		BaseContext: func(net.Listener) context.Context { return context.WithoutCancel(ctx) },
		ConnContext: service.ConnContext,
	}
	bounded := devserver.Guard(server, host.MaxConns(), c.term.Now)
	running, stop := context.WithCancel(ctx)
	ran := make(chan struct{})
	go func() { defer close(ran); s.Run(running) }()
	failed := make(chan error, 2)
	all := sockets.All()
	for _, l := range all {
		go func() { failed <- server.Serve(bounded(s.Listener(l))) }()
	}
	ready()
	var err error
	served, drain := len(all), platformDrain
	select {
	case <-ctx.Done():
	case err = <-failed:
		served--
	case <-s.Failed():
		drain = failedDrain
		err = failure.Resource("disk-failed", "a write did not reach the disk, so the service ended: what it acknowledged is kept, what it was about to acknowledge may be there or not",
			"look in the system's log for what is wrong with the disk, then start the service again", s.Failure())
	}
	drained, cancel := context.WithTimeout(context.WithoutCancel(ctx), drain)
	defer cancel()
	if e := server.Shutdown(drained); e != nil { // someone takes longer: cut them off
		err = errors.Join(err, server.Close())
	}
	for range served {
		if e := <-failed; !errors.Is(e, http.ErrServerClosed) {
			err = errors.Join(err, e)
		}
	}
	stop()
	<-ran
	return err
}

// platformLogger logs each request on stderr.
func (c *cli) platformLogger() *slog.Logger {
	o := &slog.HandlerOptions{Level: slog.LevelInfo}
	if c.term.Quiet {
		o.Level = slog.LevelError
	}
	if c.term.JSON {
		return slog.New(slog.NewJSONHandler(c.term.Stderr, o))
	}
	return slog.New(slog.NewTextHandler(c.term.Stderr, o))
}
