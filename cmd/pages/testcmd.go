package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"time"

	"github.com/spf13/cobra"

	"github.com/pages-toolchain/pages/cmd/internal/failure"
	"github.com/pages-toolchain/pages/cmd/internal/terminal"
	"github.com/pages-toolchain/pages/devserver"
	"github.com/pages-toolchain/pages/manifest"
)

// killGrace is how long a command that was asked to end may take.
const killGrace = 5 * time.Second

// testFlags are the flags of `pages test`.
type testFlags struct {
	devFlags

	empty    bool
	snapshot string
	seed     bool
}

func (c *cli) newTest() *cobra.Command {
	f := &testFlags{devFlags: devFlags{liveReload: string(devserver.Off)}}
	cmd := &cobra.Command{
		Use:   "test [DIR] [flags] -- COMMAND [ARG]...",
		Short: "Run a command against the site, on a port and a state of its own",
		Long: "Run a command against the site, on a free port and a fresh copy of the state, which\nis thrown away afterwards. Any test runner will do, and several at once never meet.\nThe command runs in the folder that it is called in, also with -C.\n\n" +
			"In the command's environment:\n" +
			"  PAGES_URL         where the site is: http://127.0.0.1:40123\n" +
			"  PAGES_TEST_TOKEN  opens what changes the site: \"Authorization: Bearer TOKEN\"\n\n" +
			"Under $PAGES_URL:\n" +
			"  POST /__pages/api/test/reset   the state as it was at the start (token)\n" +
			"  POST /__pages/sign-in          persona=member, or email=…; gives a cookie\n" +
			"  GET  /__pages/api/leads        also events, requests, state\n\n" +
			"The state begins as a copy of the local one, unless --empty or --snapshot is said;\nmigrations are applied. What the site logs is on stderr with -v. With --json the\ncommand's stdout goes to stderr, and stdout has one document.\n\n" +
			"Exit codes: that of the command, 128 + n when signal n ended it; if it never ran:\n1 the site was refused or does not build, 2 wrong usage, 9 the state cannot be copied.",
		Example: "  pages test -- node --test\n  pages test --empty --seed -- npx playwright test\n  pages test -C sites/club --snapshot demo -- ./smoke.sh",
		RunE: func(cmd *cobra.Command, args []string) error {
			if n := cmd.ArgsLenAtDash(); n == 1 && c.isSite(args[0]) {
				if err := c.siteArgument(args[:1]); err != nil {
					return err
				}
				args = args[1:]
			}
			if len(args) == 0 {
				return failure.Usage("which command? pages test -- COMMAND")
			}
			if f.empty && f.snapshot != "" {
				return failure.Usage("--empty and --snapshot ask for two things")
			}
			if err := f.check(); err != nil {
				return err
			}
			return c.test(cmd.Context(), args, f)
		},
	}
	flags := cmd.Flags()
	flags.IntVar(&f.port, "port", 0, "`port` to listen on (default: any free one)")
	flags.BoolVar(&f.empty, "empty", false, "begin with an empty state")
	flags.StringVar(&f.snapshot, "snapshot", "", "begin with the snapshot of this `name`, see pages state save")
	flags.BoolVar(&f.seed, "seed", false, "run seed.sql after the migrations")
	f.addRules(flags)
	return cmd
}

// isSite reports whether an argument names a site, and no program.
func (c *cli) isSite(arg string) bool {
	info, err := os.Stat(c.term.Path(arg))
	return err == nil && (info.IsDir() || filepath.Base(arg) == manifest.FileName)
}

// test serves the site and runs the command.
func (c *cli) test(ctx context.Context, args []string, f *testFlags) (err error) {
	dir, m, err := c.sites().LoadSite(nil)
	if err != nil {
		return err
	}
	path, err := exec.LookPath(args[0])
	if err != nil {
		return &failure.Error{Exit: failure.ExitUsage, Code: "no-such-command", Message: fmt.Sprintf("the command %q cannot be run: %s", args[0], failure.Reason(err)), Fix: "name a program of the PATH, or its path", Err: err}
	}
	t, err := c.newTestSite(ctx, dir, m, f)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, t.close(ctx)) }()
	began := c.term.Now()
	serving, stop := context.WithCancel(ctx)
	defer stop()
	done := make(chan error, 1)
	go func() { done <- t.server.Serve(serving) }()
	select {
	case first := <-t.built:
		if !first.OK {
			err = &failure.Error{Exit: failure.ExitRefused, Code: "build-failed", Message: "the site does not build, so the command was not run"}
		} else {
			err = c.runCommand(ctx, t, path, args)
		}
	case err = <-done:
		if err == nil { // a signal ended it before there was a site to test
			err = context.Cause(ctx)
		}
		return err
	}
	stop()
	if served := <-done; served != nil {
		return errors.Join(err, served)
	}
	if status, ended := errors.AsType[failure.StatusError](err); c.term.JSON && (ended || err == nil) {
		c.term.PrintJSON(testDoc{OK: err == nil, ExitCode: int(status), URL: t.run.sockets.URL, MS: float64(c.term.Now().Sub(began).Microseconds()) / 1000, Requests: t.requests.Load()})
	}
	return err
}

// testDoc is what `pages test --json` prints.
type testDoc struct {
	OK       bool    `json:"ok"`
	ExitCode int     `json:"exit_code"`
	URL      string  `json:"url"`
	MS       float64 `json:"ms"`
	Requests int64   `json:"requests"` // that the site answered
}

// runCommand runs the command with the site's address in its environment.
func (c *cli) runCommand(ctx context.Context, t *testSite, path string, args []string) error {
	cmd := exec.CommandContext(ctx, path, args[1:]...)
	cmd.Args[0] = args[0]
	cmd.Stdin, cmd.Stdout, cmd.Stderr = c.term.Stdin, terminal.Unwrap(c.term.Stdout), terminal.Unwrap(c.term.Stderr)
	if c.term.JSON {
		cmd.Stdout = cmd.Stderr
	}
	cmd.Env = append(cmd.Environ(), "PAGES_URL="+t.run.sockets.URL, "PAGES_TEST_TOKEN="+t.hub.Token())
	cmd.Cancel = func() error {
		if runtime.GOOS == "windows" {
			return cmd.Process.Kill()
		}
		return cmd.Process.Signal(os.Interrupt)
	}
	cmd.WaitDelay = killGrace
	// A terminal's Ctrl-C reaches the command by itself. It may take its time.
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
		c.term.Progress("%s was ended by signal %d", args[0], n)
		return failure.StatusError(signaled + n)
	}
	return failure.StatusError(exit.ExitCode())
}
