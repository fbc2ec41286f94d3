package main

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/pages-toolchain/pages/devserver"
	"github.com/pages-toolchain/pages/toolapi"
	"github.com/pages-toolchain/pages/toolapi/service"
)

const (
	// platformPort is where `pages platform` listens when the port is free.
	platformPort = 8790
	// platformDrain is how long calls in flight may take to end.
	platformDrain = 10 * time.Second
	// failedDrain is the same when the disk has failed.
	failedDrain = time.Second

	platformReadTime  = time.Minute
	platformIdleTime  = 2 * time.Minute
	platformMaxHeader = 64 << 10
)

// platformFlags are the flags of `pages platform`.
type platformFlags struct {
	data      string
	port      int
	seed      string
	rateLimit int
}

func (c *cli) newPlatform() *cobra.Command {
	f := &platformFlags{}
	cmd := &cobra.Command{
		Use:   "platform",
		Short: "Run the Workspace tool API on this machine",
		Long: "Run the Workspace tool API on this machine: the same tools, answers and refusals,\non a SQLite file of its own.\n\n" +
			"The first line on stdout is \"ready URL\". With --json it is one JSON document with\nthe address, the workspaces and, with --seed demo, keys and ids to call with.\nRequests are logged on stderr, without keys and bodies.\n\n" +
			"The seed plants two workspaces in a folder that has none. Its keys are the same on\nevery machine: they are for trying, not for keeping.\n\n" +
			"Exit codes: 0 stopped by Ctrl-C, 1 the service failed, 2 wrong usage, 9 the port,\nthe data folder or its lock cannot be had, or the disk failed.",
		Example: "  pages platform --seed demo\n  pages platform --port 0 --data /srv/pages --json\n  pages platform keys create ana@acme.test --data /srv/pages",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := f.check(); err != nil {
				return err
			}
			err := c.platform(cmd.Context(), f)
			var stop signalError
			if err == nil && errors.As(context.Cause(cmd.Context()), &stop) && stop.signal != os.Interrupt {
				return stop
			}
			return err
		},
	}
	cmd.PersistentFlags().StringVar(&f.data, "data", "", "`folder` of the service's data (default: .pages/platform)")
	flags := cmd.Flags()
	flags.IntVar(&f.port, "port", platformPort, "`port` to listen on; without the flag the next free one if it is taken; 0 for any")
	flags.StringVar(&f.seed, "seed", "", "`what` to plant in an empty service: demo")
	flags.IntVar(&f.rateLimit, "rate-limit", 60, "`calls` a minute of keys without a cap of their own")
	cmd.AddCommand(c.newPlatformKeys(f), c.newPlatformWorkspaces(f), c.newPlatformMembers(f), c.newPlatformOpenAPI(), c.newPlatformBackup(f), c.newPlatformRestore(f))
	return cmd
}

func (f *platformFlags) check() error {
	switch {
	case f.port < 0 || f.port > 65535:
		return usageError("--port is %d; ports go from 0 to 65535", f.port)
	case f.seed != "" && f.seed != "demo":
		return usageError("--seed is %q; the only seed is demo", f.seed)
	case f.rateLimit < 1 || f.rateLimit > maxRate:
		return usageError("--rate-limit is %d; it must be from 1 to %d", f.rateLimit, maxRate)
	}
	return nil
}

// maxRate keeps the memory of a rate window small.
const maxRate = 1_000_000

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
	host, err := c.newHost(ctx, data, logger)
	if err != nil {
		return err
	}
	s, err := data.open(ctx, service.Options{Now: c.now, PerMinute: f.rateLimit, Logger: logger, Host: host, Mail: c.mail(data)})
	if err != nil {
		return err
	}
	defer func() {
		// To close databases is to write to them, which a failed disk gets no chance of.
		if s.Failure() == nil {
			err = errors.Join(err, host.close(), s.Close())
		}
	}()
	host.notice, host.arrived = s.Notice, s.Arrived
	ready, err := c.plant(ctx, s, f.seed)
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

// readyLine is the first line on stdout with --json.
type readyLine struct {
	URL        string            `json:"url"`
	MCPPath    string            `json:"mcp_path"`
	Keys       map[string]string `json:"keys"`
	Workspaces []string          `json:"workspaces"`
	Demo       map[string]string `json:"demo"`
}

// plant plants the seed that was asked for, and says what there is.
func (c *cli) plant(ctx context.Context, s *service.Service, seed string) (readyLine, error) {
	ready := readyLine{Keys: map[string]string{}, Workspaces: []string{}, Demo: map[string]string{}}
	if seed != "" {
		demo, err := s.Seed(ctx)
		if _, other := errors.AsType[service.NotEmptyError](err); other {
			return ready, &failure{code: exitRefused, id: "not-empty", msg: "the data folder holds other data than the demo's", fix: "give another folder with --data, or run without --seed"}
		}
		if err != nil {
			return ready, err
		}
		ready.Keys, ready.Demo = demo.Keys, demo.IDs
	}
	workspaces, err := s.Workspaces(ctx)
	for _, w := range workspaces {
		ready.Workspaces = append(ready.Workspaces, w.Slug)
	}
	return ready, err
}

// printReady says where the service is.
func (c *cli) printReady(ready readyLine) {
	if c.json {
		enc := json.NewEncoder(c.stdout)
		enc.SetEscapeHTML(false)
		_ = enc.Encode(ready) // fails only when the reader is gone
		return
	}
	_, _ = c.stdout.Write([]byte("ready " + ready.URL + "\n")) // as above
	if key := ready.Keys["member"]; key != "" {
		c.progress("a key of acme's owner, to try it with: %s", key)
	}
	if len(ready.Workspaces) == 0 {
		c.progress("there is no workspace yet: run pages platform workspaces create, or start with --seed demo")
	}
}

// platformLogger logs each request on stderr.
func (c *cli) platformLogger() *slog.Logger {
	o := &slog.HandlerOptions{Level: slog.LevelInfo}
	if c.quiet {
		o.Level = slog.LevelError
	}
	if c.json {
		return slog.New(slog.NewJSONHandler(c.stderr, o))
	}
	return slog.New(slog.NewTextHandler(c.stderr, o))
}

// serveAPI serves on the sockets. When ctx ends, calls in flight get platformDrain to
// end, and no new one is taken.
func (c *cli) serveAPI(ctx context.Context, s *service.Service, sockets *devserver.Listeners, ready func()) error {
	server := &http.Server{
		Handler: s, DisableGeneralOptionsHandler: true, ReadHeaderTimeout: platformDrain, ReadTimeout: platformReadTime, IdleTimeout: platformIdleTime, MaxHeaderBytes: platformMaxHeader,
		BaseContext: func(net.Listener) context.Context { return context.WithoutCancel(ctx) },
		ConnContext: service.ConnContext,
	}
	running, stop := context.WithCancel(ctx)
	ran := make(chan struct{})
	go func() { defer close(ran); s.Run(running) }()
	failed := make(chan error, 2)
	all := sockets.All()
	for _, l := range all {
		go func() { failed <- server.Serve(s.Listener(l)) }()
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
		err = resourceError("disk-failed", "a write did not reach the disk, so the service ended: what it acknowledged is kept, what it was about to acknowledge may be there or not",
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
