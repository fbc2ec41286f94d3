package main

import (
	"context"
	"fmt"
	"log/slog"
	"net/netip"

	"github.com/spf13/cobra"

	"github.com/pages-toolchain/pages/cmd/internal/devsession"
	"github.com/pages-toolchain/pages/cmd/internal/failure"
	"github.com/pages-toolchain/pages/cmd/internal/host"
	"github.com/pages-toolchain/pages/cmd/internal/leadmail"
	"github.com/pages-toolchain/pages/cmd/internal/platform"
	"github.com/pages-toolchain/pages/cmd/internal/siteworker"
	"github.com/pages-toolchain/pages/cmd/internal/userfile"
	"github.com/pages-toolchain/pages/devserver"
	"github.com/pages-toolchain/pages/toolapi/service"
)

// platformPort is the port of `pages platform`, if it is free.
const platformPort = 8790

// platformFlags are the flags of `pages platform`.
type platformFlags struct {
	data      string
	port      int
	seed      string
	rateLimit int
	env       bool
	smtp      string
	mailFrom  string
	engine    engineFlag
}

func (c *cli) newPlatform() *cobra.Command {
	f := &platformFlags{}
	cmd := &cobra.Command{
		Use:         "platform",
		Short:       "Run the Workspace tool API on this machine",
		Annotations: map[string]string{printsLines: "yes"},
		Args:        cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := f.check(); err != nil {
				return err
			}
			if f.env && c.term.JSON {
				return failure.Usage("--env and --json exclude each other")
			}
			return untilInterrupt(cmd.Context(), c.runPlatform(cmd.Context(), f))
		},
	}
	cmd.PersistentFlags().StringVar(&f.data, "data", "", "`folder` of the service's data (default: .pages/platform)")
	flags := cmd.Flags()
	flags.IntVar(&f.port, "port", platformPort, "`port` to listen on; without the flag the next free one if it is taken; 0 for any")
	flags.StringVar(&f.seed, "seed", "", "`seed` to plant in an empty service: demo")
	flags.IntVar(&f.rateLimit, "rate-limit", platform.DefaultRate, "at most `n` calls a minute for keys without their own limit")
	flags.BoolVar(&f.env, "env", false, "print the variables for a deploy to the demo's site, as lines for a shell; needs --seed demo")
	flags.StringVar(&f.smtp, "smtp", "", "`URL` of the mail server that takes mails on leads, smtp://[USER@]HOST[:PORT] or smtps://…; its "+
		"password is "+smtpPassword+" (default: none, and pages platform mail shows them)")
	flags.StringVar(&f.mailFrom, "mail-from", "", "`address` that sends mails on leads; with --smtp")
	f.engine.add(flags)
	cmd.AddCommand(c.newPlatformKeys(f), c.newPlatformWorkspaces(f), c.newPlatformMembers(f), c.newPlatformOpenAPI(),
		c.newPlatformBackup(f), c.newPlatformRestore(f), c.newPlatformMail(f))
	return cmd
}

// smtpPassword holds the password of the mail server. It is not a flag: flags show in the list of processes.
const smtpPassword = "PAGES_SMTP_PASSWORD"

// mailServer returns the server of --smtp, nil for none.
func (f *platformFlags) mailServer(c *cli) (*leadmail.Server, error) {
	switch {
	case f.smtp == "" && f.mailFrom == "":
		return nil, nil //nolint:nilnil // none is asked for, and nothing went wrong
	case f.smtp == "" || f.mailFrom == "":
		return nil, failure.Usage("--smtp and --mail-from go together: give both")
	}
	password, _ := c.term.Lookup(smtpPassword)
	s, err := leadmail.ParseServer(f.smtp, password, f.mailFrom)
	if err != nil {
		return nil, failure.Usage("--smtp: %s", err)
	}
	return &s, nil
}

func (f *platformFlags) check() error {
	switch {
	case f.port < 0 || f.port > 65535:
		return failure.Usage("--port is %d; ports go from 0 to 65535", f.port)
	case f.seed != "" && f.seed != "demo":
		return failure.Usage("--seed is %q; the only seed is demo", f.seed)
	case f.env && f.seed == "":
		return failure.Usage("--env prints the key and the site of the demo: add --seed demo")
	case f.rateLimit < 1 || f.rateLimit > platform.MaxRate:
		return failure.Usage("--rate-limit is %d; it must be from 1 to %d", f.rateLimit, platform.MaxRate)
	}
	return f.engine.check()
}

// at locates the data folder.
func (f *platformFlags) at(c *cli) platform.Location {
	return platform.Location{WorkDir: userfile.WorkDir(c.term.Dir), Given: f.data}
}

// operate runs an operator's command on existing data.
func (f *platformFlags) operate(ctx context.Context, c *cli, do func(*service.Service) error) error {
	return platform.Operate(ctx, f.at(c), c.term.Now, do)
}

// serviceResult is operate for a command with a result.
func serviceResult[T any](
	ctx context.Context, c *cli, f *platformFlags, do func(context.Context, *service.Service) (T, error),
) (v T, err error) {
	err = f.operate(ctx, c, func(s *service.Service) (err error) {
		v, err = do(ctx, s)
		return err
	})
	return v, err
}

// runPlatform serves until ctx ends.
func (c *cli) runPlatform(ctx context.Context, f *platformFlags) error {
	engine, err := f.engine.choose(ctx, c, userfile.WorkDir(c.term.Dir).Abs("."))
	if err != nil {
		return err
	}
	smtp, err := f.mailServer(c)
	if err != nil {
		return err
	}
	return platform.Serve(ctx, platform.Options{
		SMTP: smtp,
		At:   f.at(c), PerMinute: f.rateLimit, Seed: f.seed, Now: c.term.Now, Logger: c.platformLogger(),
		Progress: c.term.Progress, Warn: c.term.Warn, Ready: func(r platform.Ready) { c.printReady(r, f.env) },
		Host: host.Options{CompileCache: c.compileCache(), Tool: tool(), Memory: c.memory, Images: c.images, Engine: engine},
		Listen: func(ctx context.Context) (*devserver.Listeners, error) {
			sockets, err := devserver.Listen(ctx, f.port, c.typed["port"], netip.Addr{})
			return sockets, devsession.PortError(err)
		},
	})
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

// printReady prints the address of the service or, with env, the variables for a deploy to the demo's site.
func (c *cli) printReady(ready platform.Ready, env bool) {
	switch key := ready.Keys["member"]; {
	case c.term.JSON:
		c.term.PrintJSONLine(ready)
		return
	case env: // letters, digits and signs that need no quotes in a shell
		fmt.Fprintf(c.term.Stdout, "export PAGES_BASE_URL=%s\nexport PAGES_API_KEY=%s\nexport PAGES_SITE=%s\n",
			ready.URL, key, ready.Demo["site_id"])
	default:
		fmt.Fprintf(c.term.Stdout, "ready %s\n", ready.URL)
		if key != "" {
			c.term.Progress("a key of acme's owner, to try it with: %s", key)
		}
	}
	if ready.Engine.Name != siteworker.BuiltIn {
		c.term.Progress("Workers run in %s %s: %s", ready.Engine.Name, ready.Engine.Version, c.term.Shown(ready.Engine.Path))
	}
	if len(ready.Workspaces) == 0 {
		c.term.Progress("there is no workspace yet: run pages platform workspaces create, or start with --seed demo")
	}
}
