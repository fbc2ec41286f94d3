package main

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/pages-toolchain/pages/cmd/internal/failure"
	"github.com/pages-toolchain/pages/manifest"
)

// untilInterrupt is how a command ended that goes on until Ctrl-C: well, if that was it, also before it was ready; any
// other signal is an error.
func untilInterrupt(ctx context.Context, err error) error {
	stop, signaled := errors.AsType[failure.SignalError](context.Cause(ctx))
	switch {
	case !signaled, err != nil && !errors.Is(err, context.Canceled) && !errors.Is(err, stop):
		return err
	case stop.Signal == os.Interrupt:
		return nil
	}
	return stop
}

// exit prints what ended a command and returns the exit code. A command that a
// signal cut short ends with the signal's code, whatever it then failed with.
func (c *cli) exit(ctx context.Context, err error) int {
	stop, signaled := errors.AsType[failure.SignalError](context.Cause(ctx))
	if !signaled {
		err = c.whole(err)
	}
	if err == nil {
		return 0
	}
	if !signaled || !errors.Is(err, context.Canceled) && !errors.Is(err, stop) {
		c.print(err)
	}
	known, ok := errors.AsType[*failure.Error](err)
	if status, ended := errors.AsType[failure.StatusError](err); ended && !signaled {
		return int(status)
	}
	switch {
	case signaled && stop.Signal == os.Interrupt:
		return failure.ExitInt
	case signaled:
		return failure.ExitTerm
	case ok:
		return known.Exit
	}
	return failure.ExitRefused
}

// print says what went wrong, unless the command's own report has said it.
func (c *cli) print(err error) {
	if errors.Is(err, failure.ErrShown) || errors.As(err, new(failure.StatusError)) {
		return
	}
	if file, ok := errors.AsType[*failure.RefusedError](err); ok {
		c.printRefused(file)
		return
	}
	known, ok := errors.AsType[*failure.Error](err)
	if !ok {
		known = &failure.Error{Code: "failed", Message: err.Error()}
	}
	c.printFailure(known)
}

// failureDoc is what every command prints with --json when it fails.
type failureDoc struct {
	OK      bool   `json:"ok"`
	Code    string `json:"code"`
	Message string `json:"message"`
	Fix     string `json:"fix,omitempty"`
	*failure.Detail
}

func (c *cli) printFailure(f *failure.Error) {
	if c.json && c.out.lost() == nil {
		c.printDocument(failureDoc{false, f.Code, f.Message, f.Fix, f.Detail})
		if c.out.lost() == nil {
			return
		}
	}
	if f.Code == idOutstanding {
		c.printOutstanding(f)
		return
	}
	fmt.Fprintf(c.stderr, "%s %s\n", c.paint("31;1", "pages:"), f.Message)
	c.printSaid(f)
	if f.Fix != "" {
		fmt.Fprintf(c.stderr, "%s %s\n", c.paint("36", "fix:"), f.Fix)
	}
}

// printRefused prints the diagnostics of a file that was refused.
func (c *cli) printRefused(r *failure.RefusedError) {
	switch {
	case c.json && c.lines:
		c.printJSONLine(r.Report)
		return
	case c.json:
		_ = manifest.WriteJSON(c.stdout, r.Report) // the exit tells of output that is lost
		return
	}
	c.printDiagnostics(r.Report, r.Source)
}
