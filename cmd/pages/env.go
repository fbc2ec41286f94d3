package main

import (
	"context"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"

	"golang.org/x/term"

	"github.com/pages-toolchain/pages/cmd/internal/failure"
	"github.com/pages-toolchain/pages/cmd/internal/userfile"
)

// env is all of the process that commands may touch.
type env struct {
	stdin          io.Reader
	stdout, stderr io.Writer
	environ        []string // NAME=value
	dir            string   // the working directory
	cacheDir       string   // the user's cache folder; "" for none
	configDir      string   // the user's folder of settings; "" for none
	homeDir        string   // the user's own folder; "" for none
	now            func() time.Time
}

// lookup returns an environment variable.
func (e env) lookup(name string) (string, bool) {
	for _, variable := range slices.Backward(e.environ) {
		if k, v, _ := strings.Cut(variable, "="); k == name {
			return v, true
		}
	}
	return "", false
}

// path makes a path that the user gave absolute.
func (e env) path(p string) string { return userfile.WorkDir(e.dir).Abs(p) }

// shown is how a path is printed: relative to the working directory when it is
// below it.
func (e env) shown(path string) string { return userfile.WorkDir(e.dir).Rel(path) }

// isTerminal reports whether w is a terminal.
func isTerminal(w io.Writer) bool {
	f, ok := file(w).(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// columns is how wide a terminal is; 0 for what is none.
func columns(w io.Writer) int {
	f, ok := file(w).(*os.File)
	if !ok {
		return 0
	}
	width, _, err := term.GetSize(int(f.Fd()))
	if err != nil {
		return 0
	}
	return width
}

// isTerminalReader reports whether r is a terminal.
func isTerminalReader(r io.Reader) bool {
	f, ok := r.(*os.File)
	return ok && isTerminal(f)
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
