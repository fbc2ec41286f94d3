package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/pages-toolchain/pages/cmd/internal/failure"
	"github.com/pages-toolchain/pages/cmd/internal/publish"
	"github.com/pages-toolchain/pages/cmd/internal/remote"
	"github.com/pages-toolchain/pages/manifest/diagnostic"
)

// untilInterrupt takes Ctrl-C for success, as the end of a command that runs until then. Any other signal is an error.
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

// withSignals returns a context that ends at the first interrupt or termination;
// the second one kills the process as if nobody listened.
func withSignals(parent context.Context) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(parent)
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	go func() {
		select {
		case s := <-signals:
			signal.Stop(signals)
			cancel(failure.SignalError{Signal: s})
		case <-ctx.Done():
		}
	}()
	return ctx, func() { signal.Stop(signals); cancel(nil) }
}

// exit prints what ended a command and returns the exit code. A command that a
// signal cut short ends with the signal's code, whatever it then failed with.
func (c *cli) exit(ctx context.Context, err error) int {
	stop, signaled := errors.AsType[failure.SignalError](context.Cause(ctx))
	if !signaled {
		err = c.term.CheckOutput(err)
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

// printsLines is the annotation of commands whose --json prints lines of JSON.
const printsLines = "printsLines"

// failureDoc is what every command prints with --json when it fails.
type failureDoc struct {
	OK      bool   `json:"ok"`
	Code    string `json:"code"`
	Message string `json:"message"`
	Fix     string `json:"fix,omitempty"`
	*failure.Detail
}

func (c *cli) printFailure(f *failure.Error) {
	if c.term.JSON && !c.term.OutputLost() {
		c.term.PrintDocument(failureDoc{false, f.Code, f.Message, f.Fix, f.Detail})
		if !c.term.OutputLost() {
			return
		}
	}
	if f.Code == publish.CodeOutstanding {
		publish.PrintOutstanding(&c.term, f)
		return
	}
	fmt.Fprintf(c.term.Stderr, "%s %s\n", c.term.Paint("31;1", "pages:"), f.Message)
	remote.PrintDetail(&c.term, f)
	if f.Fix != "" {
		fmt.Fprintf(c.term.Stderr, "%s %s\n", c.term.Paint("36", "fix:"), f.Fix)
	}
}

// printRefused prints the diagnostics of a file that was refused.
func (c *cli) printRefused(r *failure.RefusedError) {
	switch {
	case c.term.JSON && c.term.Lines:
		c.term.PrintJSONLine(r.Report)
		return
	case c.term.JSON:
		_ = diagnostic.WriteJSON(c.term.Stdout, r.Report) // the exit tells of output that is lost
		return
	}
	c.term.PrintDiagnostics(r.Report, r.Source)
}
