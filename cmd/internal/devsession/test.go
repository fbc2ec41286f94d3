package devsession

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"time"

	"github.com/pages-toolchain/pages/cmd/internal/failure"
	"github.com/pages-toolchain/pages/cmd/internal/terminal"
	"github.com/pages-toolchain/pages/manifest"
)

// killGrace is how long a command may take to end after an interrupt.
const killGrace = 5 * time.Second

// TestOptions say what a command runs against.
type TestOptions struct {
	Options
	Empty    bool   // begin with an empty state
	Snapshot string // begin with the snapshot of this name
	// Seed seeds a state folder of the site, once its migrations have run; nil for no seed.
	Seed func(ctx context.Context, t terminal.Terminal, state string) error
}

// Test serves the site in dir on a state of its own while a command runs. args are the command and its arguments. The error
// is a failure.StatusError with the command's exit code, where that is not 0.
func Test(ctx context.Context, p Process, dir string, m *manifest.Manifest, args []string, o TestOptions) (err error) {
	path, err := exec.LookPath(args[0])
	if err != nil {
		return &failure.Error{
			Exit: failure.ExitUsage, Code: "no-such-command",
			Message: fmt.Sprintf("the command %q cannot be run: %s", args[0], failure.Reason(err)),
			Fix:     "name a program of the PATH, or its path", Err: err,
		}
	}
	t, err := newTestSite(ctx, p, dir, m, o)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, t.close(ctx)) }()
	began := p.Terminal.Now()
	serving, stop := context.WithCancel(ctx)
	defer stop()
	done := make(chan error, 1)
	go func() { done <- t.server.Serve(serving) }()
	select {
	case first := <-t.built:
		if !first.OK {
			err = &failure.Error{
				Exit: failure.ExitRefused, Code: "build-failed",
				Message: "the site does not build, so the command was not run",
			}
		} else {
			err = t.runCommand(ctx, p.Terminal, path, args)
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
	if status, ended := errors.AsType[failure.StatusError](err); p.Terminal.JSON && (ended || err == nil) {
		p.Terminal.PrintJSON(TestDocument{
			OK: err == nil, ExitCode: int(status), URL: t.run.sockets.URL,
			MS: float64(p.Terminal.Now().Sub(began).Microseconds()) / 1000, Requests: t.requests.Load(),
		})
	}
	return err
}

// TestDocument is what `pages test --json` prints.
type TestDocument struct {
	OK       bool    `json:"ok"`
	ExitCode int     `json:"exit_code"`
	URL      string  `json:"url"`
	MS       float64 `json:"ms"`
	Requests int64   `json:"requests"` // that the site answered
}

// runCommand runs the command with the site's address in its environment.
func (t *testSite) runCommand(ctx context.Context, term *terminal.Terminal, path string, args []string) error {
	cmd := exec.CommandContext(ctx, path, args[1:]...)
	cmd.Args[0] = args[0]
	cmd.Stdin, cmd.Stdout, cmd.Stderr = term.Stdin, terminal.Unwrap(term.Stdout), terminal.Unwrap(term.Stderr)
	if term.JSON {
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
	// A terminal's Ctrl-C reaches the command by itself, which may take its time.
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
		term.Progress("%s was ended by signal %d", args[0], n)
		return failure.StatusError(signaled + n)
	}
	return failure.StatusError(exit.ExitCode())
}
