// Package terminal represents the process for commands: its streams, variables, folders and clock, and the flags that control output.
//
// It prints progress and warnings for people on stderr and JSON for programs on stdout, colours text, escapes control sequences, and asks
// the person. An error is a *failure.Error; CheckOutput returns the first failed write to stdout. A Terminal is not safe for concurrent
// use, except that its writers are as safe as their streams. It does not read flags, change the process, or depend on the text of a
// command.
package terminal

import (
	"errors"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"golang.org/x/term"

	"github.com/pages-toolchain/pages/cmd/internal/failure"
	"github.com/pages-toolchain/pages/cmd/internal/userfile"
)

// Terminal has the process of a command, and the settings of its output.
type Terminal struct {
	Stdin          io.Reader
	Stdout, Stderr io.Writer
	Environ        []string // NAME=value
	Dir            string   // the working directory
	Program        string   // the file of this program; "" if the system does not name it
	CacheDir       string   // the user's cache folder; "" for none
	ConfigDir      string   // the user's folder of settings; "" for none
	HomeDir        string   // the user's own folder; "" for none
	Now            func() time.Time

	JSON    bool   // results are JSON on Stdout
	Lines   bool   // with JSON: lines of JSON, with a failure as one of them
	Color   string // auto, always or never; "" is auto
	Quiet   bool   // no progress on Stderr
	Verbose bool   // more on Stderr

	output *output // Stdout, after WatchOutput
}

// WatchOutput makes the terminal remember the first failed write to Stdout.
func (t *Terminal) WatchOutput() {
	t.output = &output{Writer: t.Stdout}
	t.Stdout = t.output
}

// Lookup returns an environment variable.
func (t *Terminal) Lookup(name string) (string, bool) {
	for _, variable := range slices.Backward(t.Environ) {
		if k, v, _ := strings.Cut(variable, "="); k == name {
			return v, true
		}
	}
	return "", false
}

// Path makes a path from the user absolute.
func (t *Terminal) Path(p string) string { return userfile.WorkDir(t.Dir).Abs(p) }

// Shown returns a path for messages: relative to the working directory if it is below that.
func (t *Terminal) Shown(path string) string { return userfile.WorkDir(t.Dir).Rel(path) }

// IsTerminal reports whether w is a terminal.
func IsTerminal(w io.Writer) bool {
	f, ok := Unwrap(w).(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// Columns returns the width of a terminal, 0 for another writer.
func Columns(w io.Writer) int {
	f, ok := Unwrap(w).(*os.File)
	if !ok {
		return 0
	}
	width, _, err := term.GetSize(int(f.Fd()))
	if err != nil {
		return 0
	}
	return width
}

// IsTerminalReader reports whether r is a terminal.
func IsTerminalReader(r io.Reader) bool {
	f, ok := r.(*os.File)
	return ok && IsTerminal(f)
}

// ToStdout reports whether --output is -, which means stdout, and refuses the flags that need a file.
func (t *Terminal) ToStdout(output string, check bool) (bool, error) {
	switch {
	case output != "-":
		return false, nil
	case check:
		return false, failure.Usage("--check looks at a file, and --output - is stdout")
	case t.JSON:
		return false, failure.Usage("--json and --output - exclude each other")
	}
	return true, nil
}

// CheckOutput returns err, or an error if a part of the result could not be written.
func (t *Terminal) CheckOutput(err error) error {
	lost := t.output.writeError()
	if lost == nil || err != nil && !errors.Is(err, lost) {
		return err
	}
	return failure.Resource("output-lost", "the output could not be written", "write it to another place", lost)
}

// OutputLost reports whether a part of the result could not be written.
func (t *Terminal) OutputLost() bool { return t.output.writeError() != nil }
