// Package ending ends a command: it prints the error, and chooses the exit code.
//
// Input: a terminal and the error of a command. Output: text for people on stderr or one JSON document on stdout, and an exit code of
// package failure. WithSignals returns a context that Ctrl-C ends. Use it from one goroutine.
//
// It never exits by itself, and never changes the meaning of an error.
package ending

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
	"github.com/pages-toolchain/pages/cmd/internal/terminal"
	"github.com/pages-toolchain/pages/manifest/diagnostic"
)

// WithSignals returns a context that ends at the first interrupt or termination; the second one kills the process.
func WithSignals(parent context.Context) (context.Context, func()) {
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

// Code prints the error of a command, and returns the exit code. After a signal, a command ends with the signal's code, even if another
// error followed.
func Code(ctx context.Context, t *terminal.Terminal, err error) int {
	stop, signaled := errors.AsType[failure.SignalError](context.Cause(ctx))
	if !signaled {
		err = t.CheckOutput(err)
	}
	if err == nil {
		return 0
	}
	if !signaled || !errors.Is(err, context.Canceled) && !errors.Is(err, stop) {
		Print(t, err)
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

// Print prints the error, unless the command's own report shows it.
func Print(t *terminal.Terminal, err error) {
	if errors.Is(err, failure.ErrShown) || errors.As(err, new(failure.StatusError)) {
		return
	}
	if file, ok := errors.AsType[*failure.RefusedError](err); ok {
		printRefused(t, file)
		return
	}
	known, ok := errors.AsType[*failure.Error](err)
	if !ok {
		known = &failure.Error{Code: "failed", Message: err.Error()}
	}
	printFailure(t, known)
}

// FailureReport is the output of every failed command with --json.
type FailureReport struct {
	OK      bool   `json:"ok"`
	Code    string `json:"code"`
	Message string `json:"message"`
	Fix     string `json:"fix,omitempty"`
	*failure.Detail
}

func printFailure(t *terminal.Terminal, f *failure.Error) {
	if t.JSON && !t.OutputLost() {
		t.PrintDocument(FailureReport{false, f.Code, f.Message, f.Fix, f.Detail})
		if !t.OutputLost() {
			return
		}
	}
	if f.Code == publish.CodeOutstanding {
		publish.PrintOutstanding(t, f)
		return
	}
	fmt.Fprintf(t.Stderr, "%s %s\n", t.Paint("31;1", "pages:"), f.Message)
	remote.PrintDetail(t, f)
	if f.Fix != "" {
		fmt.Fprintf(t.Stderr, "%s %s\n", t.Paint("36", "fix:"), f.Fix)
	}
}

// printRefused prints the diagnostics of a file that was refused.
func printRefused(t *terminal.Terminal, r *failure.RefusedError) {
	switch {
	case t.JSON && t.Lines:
		t.PrintJSONLine(r.Report)
		return
	case t.JSON:
		_ = diagnostic.WriteJSON(t.Stdout, r.Report) // the exit code reports lost output
		return
	}
	t.PrintDiagnostics(r.Report, r.Source)
}
