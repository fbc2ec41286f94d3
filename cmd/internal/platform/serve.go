package platform

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"time"

	"github.com/pages-toolchain/pages/cmd/internal/failure"
	"github.com/pages-toolchain/pages/cmd/internal/host"
	"github.com/pages-toolchain/pages/cmd/internal/leadmail"
	"github.com/pages-toolchain/pages/cmd/internal/siteworker"
	"github.com/pages-toolchain/pages/devserver"
	"github.com/pages-toolchain/pages/migrate/dbfile"
	"github.com/pages-toolchain/pages/toolapi"
	"github.com/pages-toolchain/pages/toolapi/service"
)

const (
	drainTime       = 10 * time.Second // for open calls to end
	failedDrainTime = time.Second      // the same when the disk has failed

	readTime  = time.Minute
	idleTime  = 2 * time.Minute
	maxHeader = 32<<10 - 4<<10 // net/http adds the latter
)

// Serve runs the service until ctx ends.
func Serve(ctx context.Context, o Options) (err error) {
	folder, err := o.At.make()
	if err != nil {
		return err
	}
	unlock, err := folder.lockServer()
	if err != nil {
		return err
	}
	defer unlock()
	o.Host.Dir, o.Host.Now, o.Host.Logger = folder.Dir, o.Now, o.Logger
	o.Host.MailNote = "This service sends no sign-in mails: pages platform mail, in the folder of pages platform, shows the link."
	sites, err := host.New(ctx, o.Host)
	if err != nil {
		return folder.unusable(err)
	}
	s, err := folder.Open(ctx, service.Options{
		Now: o.Now, PerMinute: o.PerMinute, Logger: o.Logger, Host: sites, Mail: o.sendMail(folder), LeadMail: o.sendLeadMail(folder),
	})
	if err != nil {
		return err
	}
	defer func() {
		// Closing a database writes to it, which must not happen on a failed disk.
		if s.Failure() == nil {
			err = errors.Join(err, sites.Close(), s.Close())
		}
	}()
	sites.ShareProcessors()
	sites.Observe(s.Notice, s.Arrived)
	defer sites.CloseIdle()()
	defer sites.KeepPoints()()
	ready, err := seed(ctx, s, o.Seed)
	if dbfile.FullDisk(folder.Dir, err) {
		return folder.unusable(err)
	}
	if err != nil {
		return err
	}
	sockets, err := o.Listen(ctx)
	if err != nil {
		return err
	}
	ready.URL, ready.MCPPath, ready.Engine = sockets.URL, toolapi.MCPPath, o.Host.Engine.Report()
	return o.serve(ctx, s, sockets, func() { o.Ready(ready) })
}

// seed seeds the service, unless name is "", and describes it.
func seed(ctx context.Context, s *service.Service, name string) (Ready, error) {
	ready := Ready{Keys: map[string]string{}, Workspaces: []string{}, Demo: map[string]string{}}
	if name != "" {
		demo, err := s.Seed(ctx)
		if _, other := errors.AsType[service.NotEmptyError](err); other {
			return ready, &failure.Error{
				Exit: failure.ExitRefused, Code: "not-empty", Message: "the data folder holds other data than the demo's",
				Fix: "give another folder with --data, or run without --seed",
			}
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

// serve serves on the sockets. When ctx ends, open calls have drainTime to end, and no new call is accepted.
func (o Options) serve(ctx context.Context, s *service.Service, sockets *devserver.Listeners, ready func()) error {
	server := &http.Server{
		Handler: s, DisableGeneralOptionsHandler: true,
		ReadHeaderTimeout: drainTime, ReadTimeout: readTime, IdleTimeout: idleTime, MaxHeaderBytes: maxHeader,
		BaseContext: func(net.Listener) context.Context { return context.WithoutCancel(ctx) },
		ConnContext: service.ConnContext,
	}
	bounded := devserver.Guard(server, host.MaxConns(), o.Now)
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
	served, drain := len(all), drainTime
	select {
	case <-ctx.Done():
	case err = <-failed:
		served--
	case <-s.Failed():
		drain = failedDrainTime
		err = failure.Resource("disk-failed",
			"a write did not reach the disk, so the service ended: acknowledged writes are kept, pending ones may be lost",
			"look for disk errors in the system's log, then start the service again", s.Failure())
	}
	drained, cancel := context.WithTimeout(context.WithoutCancel(ctx), drain)
	defer cancel()
	if e := server.Shutdown(drained); e != nil { // a call takes longer: end it
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

// Options configure a service.
type Options struct {
	At        Location
	Host      host.Options
	PerMinute int    // of a key without its own limit
	Seed      string // "demo" for an empty service; "" for none
	// SMTP takes the mails on leads. Nil puts them into the outbox.
	SMTP *leadmail.Server
	// Listen opens the sockets, after everything else is ready.
	Listen func(context.Context) (*devserver.Listeners, error)
	// Ready gets the address of the service that has begun to answer.
	Ready          func(Ready)
	Progress, Warn func(format string, args ...any)
	Logger         *slog.Logger
	Now            func() time.Time
}

// Ready is the first line of `pages platform --json`.
type Ready struct {
	URL        string            `json:"url"`
	MCPPath    string            `json:"mcp_path"`
	Keys       map[string]string `json:"keys"`
	Workspaces []string          `json:"workspaces"`
	Demo       map[string]string `json:"demo"`

	Engine siteworker.EngineReport `json:"engine"` // of the Workers
}
