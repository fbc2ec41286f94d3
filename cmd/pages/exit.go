package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"syscall"

	"github.com/pages-toolchain/pages/manifest"
)

// Exit codes: the contract with scripts and CI.
const (
	exitRefused  = 1 // the input was refused, or something failed
	exitUsage    = 2
	exitPerson   = 4  // someone must be asked
	exitAccess   = 5  // 401 or 403
	exitTool     = 6  // a tool refused
	exitRate     = 7  // still rate limited after waiting
	exitNetwork  = 8  // no answer, or 5xx
	exitResource = 9  // a port, disk or lock of this machine
	exitResume   = 75 // gave up, and goes on when it is run again
	exitInt      = 130
	exitTerm     = 143
)

// failure is an error that ends the process: what went wrong, what to do about
// it, and the exit code.
type failure struct {
	code int
	id   string // stable, for --json
	msg  string
	fix  string
	err  error
	said *said // what a service said beside that; nil for none
}

func (f *failure) Error() string { return f.msg }
func (f *failure) Unwrap() error { return f.err }

// refused is a file of the user's that was refused: already shown as
// diagnostics, except with --json.
type refused struct {
	report manifest.Report
	src    []byte // the manifest's text, for code frames
}

func (r *refused) Error() string {
	return fmt.Sprintf("%s was refused", r.report.File)
}

// usageError is an error of the command line; pointed says where to read on.
func usageError(format string, args ...any) *failure {
	return &failure{code: exitUsage, id: "usage", msg: fmt.Sprintf(format, args...)}
}

// resourceError says that this machine does not have what is needed.
func resourceError(id, msg, fix string, err error) *failure {
	if err != nil {
		msg += ": " + reason(err)
	}
	if errors.Is(err, syscall.ENOSPC) {
		fix = "make room on the disk, then run it again"
	}
	return &failure{code: exitResource, id: id, msg: msg, fix: fix, err: err}
}

// fullDisk says that the disk of a folder has no room for what belongs there.
func fullDisk(folder string, err error) *failure {
	return &failure{code: exitResource, id: "disk-full", msg: "the disk of " + folder + " is full", fix: "make room on the disk, then run it again", err: err}
}

// reason is an error without the operation and its paths, which the message names.
func reason(err error) string {
	if paths, ok := errors.AsType[*os.LinkError](err); ok {
		return paths.Err.Error()
	}
	if path, ok := errors.AsType[*os.PathError](err); ok {
		return path.Err.Error()
	}
	return err.Error()
}

// untilInterrupt is how a command ended that goes on until Ctrl-C: well, if that was it, also before it was ready; any
// other signal is an error.
func untilInterrupt(ctx context.Context, err error) error {
	stop, signaled := errors.AsType[signalError](context.Cause(ctx))
	switch {
	case !signaled, err != nil && !errors.Is(err, context.Canceled) && !errors.Is(err, stop):
		return err
	case stop.signal == os.Interrupt:
		return nil
	}
	return stop
}

// exit prints what ended a command and returns the exit code. A command that a
// signal cut short ends with the signal's code, whatever it then failed with.
func (c *cli) exit(ctx context.Context, err error) int {
	stop, signaled := errors.AsType[signalError](context.Cause(ctx))
	if !signaled {
		err = c.whole(err)
	}
	if err == nil {
		return 0
	}
	if !signaled || !errors.Is(err, context.Canceled) && !errors.Is(err, stop) {
		c.print(err)
	}
	known, ok := errors.AsType[*failure](err)
	if status, ended := errors.AsType[statusError](err); ended && !signaled {
		return int(status)
	}
	switch {
	case signaled && stop.signal == os.Interrupt:
		return exitInt
	case signaled:
		return exitTerm
	case ok:
		return known.code
	}
	return exitRefused
}

// statusError is the exit code of another program, which is passed on. That
// program has said what there is to say.
type statusError int

func (s statusError) Error() string { return fmt.Sprintf("exit status %d", int(s)) }

// print says what went wrong, unless the command's own report has said it.
func (c *cli) print(err error) {
	if errors.Is(err, errShown) || errors.As(err, new(statusError)) {
		return
	}
	if file, ok := errors.AsType[*refused](err); ok {
		c.printRefused(file)
		return
	}
	known, ok := errors.AsType[*failure](err)
	if !ok {
		known = &failure{id: "failed", msg: err.Error()}
	}
	c.printFailure(known)
}

// failureDoc is what every command prints with --json when it fails.
type failureDoc struct {
	OK      bool   `json:"ok"`
	Code    string `json:"code"`
	Message string `json:"message"`
	Fix     string `json:"fix,omitempty"`
	*said
}

func (c *cli) printFailure(f *failure) {
	if c.json && c.out.lost() == nil {
		c.printDocument(failureDoc{false, f.id, f.msg, f.fix, f.said})
		if c.out.lost() == nil {
			return
		}
	}
	if f.id == idOutstanding {
		c.printOutstanding(f)
		return
	}
	fmt.Fprintf(c.stderr, "%s %s\n", c.paint("31;1", "pages:"), f.msg)
	c.printSaid(f)
	if f.fix != "" {
		fmt.Fprintf(c.stderr, "%s %s\n", c.paint("36", "fix:"), f.fix)
	}
}

// printRefused prints the diagnostics of a file that was refused.
func (c *cli) printRefused(r *refused) {
	switch {
	case c.json && c.lines:
		c.printJSONLine(r.report)
		return
	case c.json:
		_ = manifest.WriteJSON(c.stdout, r.report) // the exit tells of output that is lost
		return
	}
	c.printDiagnostics(r.report, r.src)
}
