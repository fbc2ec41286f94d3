// Package terminal is the process as commands see it: its streams, variables, folders and clock, and the flags that say
// how commands speak.
//
// It prints progress and warnings for people on stderr and JSON for programs on stdout, colours text, escapes control sequences, and asks
// the person. An error is a *failure.Error; a write to stdout that fails is kept until CheckOutput returns it. A Terminal is not safe for
// concurrent use, except that writers are as safe as the streams it was given. It never reads flags, touches the process itself, or
// depends on the text of a command.
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

// Terminal is the process that a command runs in, and how the command speaks.
type Terminal struct {
	Stdin          io.Reader
	Stdout, Stderr io.Writer
	Environ        []string // NAME=value
	Dir            string   // the working directory
	CacheDir       string   // the user's cache folder; "" for none
	ConfigDir      string   // the user's folder of settings; "" for none
	HomeDir        string   // the user's own folder; "" for none
	Now            func() time.Time

	JSON    bool   // results are JSON on Stdout
	Lines   bool   // with JSON: lines of JSON, a failure among them
	Color   string // auto, always or never; "" is auto
	Quiet   bool   // no progress on Stderr
	Verbose bool   // more on Stderr

	output *output // Stdout, where WatchOutput was called
}

// WatchOutput makes the terminal remember the first write to Stdout that fails.
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

// Path makes a path of the user's absolute.
func (t *Terminal) Path(p string) string { return userfile.WorkDir(t.Dir).Abs(p) }

// Shown returns a path as it is printed: relative to the working directory when it is below that.
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

// ToStdout reports whether --output is -, which is stdout, and refuses the flags that need a file.
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

// CheckOutput returns err, or an error where a part of the result could not be written.
func (t *Terminal) CheckOutput(err error) error {
	lost := t.output.writeError()
	if lost == nil || err != nil && !errors.Is(err, lost) {
		return err
	}
	return failure.Resource("output-lost", "the output could not be written", "write it to another place", lost)
}

// OutputLost reports whether a part of the result could not be written.
func (t *Terminal) OutputLost() bool { return t.output.writeError() != nil }
