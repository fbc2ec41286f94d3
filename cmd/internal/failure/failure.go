// Package failure holds the errors that end a command.
//
// An Error has a message, a fix and the exit code of the process; DESIGN.md lists the codes. Packages that run inside a command return one
// if they know the fix better than their caller. The command prints it; this package writes nothing. All of it is safe for concurrent use.
package failure

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"

	"github.com/pages-toolchain/pages/cmd/internal/userfile"
	"github.com/pages-toolchain/pages/manifest"
	"github.com/pages-toolchain/pages/manifest/diagnostic"
	"github.com/pages-toolchain/pages/toolapi"
)

// Exit codes, on which scripts and CI rely.
const (
	ExitRefused  = 1 // the input was refused, or something failed
	ExitUsage    = 2
	ExitPerson   = 4  // a person is needed
	ExitAccess   = 5  // 401 or 403
	ExitTool     = 6  // a tool refused
	ExitRate     = 7  // still rate limited after waiting
	ExitNetwork  = 8  // no answer, or 5xx
	ExitResource = 9  // a port, disk or lock of this machine
	ExitChanges  = 10 // with --exit-code: there are changes
	ExitResume   = 75 // gave up; running it again continues
	ExitInt      = 130
	ExitTerm     = 143
)

// Error is an error that ends the process.
type Error struct {
	Exit    int
	Code    string // stable, for --json
	Message string
	Fix     string
	Err     error
	Detail  *Detail // further output of a service; nil for none
}

func (f *Error) Error() string { return f.Message }

func (f *Error) Unwrap() error { return f.Err }

// Usage returns an error about the command line. The command adds a reference to its help.
func Usage(format string, args ...any) *Error {
	return &Error{Exit: ExitUsage, Code: "usage", Message: fmt.Sprintf(format, args...)}
}

// Refused returns an error about the input: a file, an argument or their content.
func Refused(code, message, fix string) *Error {
	return &Error{Exit: ExitRefused, Code: code, Message: message, Fix: fix}
}

// Resource returns an error about a resource that this machine lacks.
func Resource(code, message, fix string, err error) *Error {
	if err != nil {
		message += ": " + Reason(err)
	}
	if errors.Is(err, syscall.ENOSPC) {
		fix = "free some space on the disk, then run it again"
	}
	return &Error{Exit: ExitResource, Code: code, Message: message, Fix: fix, Err: err}
}

// FullDisk returns the error of a full disk that holds folder.
func FullDisk(folder string, err error) *Error {
	return &Error{
		Exit: ExitResource, Code: "disk-full", Message: "the disk of " + folder + " is full",
		Fix: "free some space on the disk, then run it again", Err: err,
	}
}

// Reason returns the text of err without the operation and its paths, which the message around it names.
func Reason(err error) string {
	if paths, ok := errors.AsType[*os.LinkError](err); ok {
		return paths.Err.Error()
	}
	if path, ok := errors.AsType[*os.PathError](err); ok {
		return path.Err.Error()
	}
	return err.Error()
}

// ErrShown is wrapped by an error that the command's own report shows.
var ErrShown = errors.New("refused")

// RefusedError is the refusal of one of the user's files. Except with --json, its diagnostics have been shown.
type RefusedError struct {
	Report diagnostic.Report
	Source []byte // the manifest's text, for code frames
}

func (r *RefusedError) Error() string { return r.Report.File + " was refused" }

// StatusError passes on the exit code of another program, which has printed its own error.
type StatusError int

func (s StatusError) Error() string { return fmt.Sprintf("exit status %d", int(s)) }

// SignalError is the cause of a context that a signal ended.
type SignalError struct{ Signal os.Signal }

func (s SignalError) Error() string { return fmt.Sprintf("stopped by %v", s.Signal) }

// Detail holds the further fields of a refusal by a service.
type Detail struct {
	Tool        string          `json:"tool,omitempty"`
	Path        string          `json:"path,omitempty"`
	Instruction string          `json:"instruction,omitempty"`
	Issues      []toolapi.Issue `json:"issues,omitempty"`
	Workspaces  []string        `json:"workspaces,omitempty"`
	Sites       []SiteChoice    `json:"sites,omitempty"`
	RequestID   string          `json:"request_id,omitempty"`
	Status      int             `json:"http_status,omitempty"`
	RetryAfter  int             `json:"retry_after_seconds,omitempty"`

	DataLoss  []toolapi.DataLoss `json:"data_loss,omitempty"` // that no flag or comment allows, or of the proposal
	Rehearsal *toolapi.Rehearsal `json:"rehearsal,omitempty"` // of the proposal

	// Of a pending proposal:
	State          string `json:"state,omitempty"`
	ConfirmationID string `json:"confirmation_id,omitempty"`
	Summary        string `json:"request_summary,omitempty"`
	Expires        string `json:"expires_at,omitempty"`
	Confirm        string `json:"confirm,omitempty"`           // the command that confirms it on this machine
	Elsewhere      string `json:"confirm_elsewhere,omitempty"` // and on another machine
}

// SiteChoice is a site that could be meant.
type SiteChoice struct {
	SiteID   string `json:"site_id"`
	Name     string `json:"name"`
	Hostname string `json:"hostname"`
}

// Refuse returns the error of files of the site in dir that were refused, with paths relative to the working directory.
func Refuse(work userfile.WorkDir, dir string, diags diagnostic.List) error {
	path := filepath.Join(dir, manifest.FileName)
	src, _ := userfile.ReadSource(path)
	if !diagnostic.Locate(src, diags) {
		src = nil // no diagnostic is about the manifest
	}
	return &RefusedError{Report: diagnostic.NewReport(work.Rel(path), diags), Source: src}
}
