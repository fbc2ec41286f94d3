package main

import (
	"errors"
	"io"
	"sync"

	"github.com/pages-toolchain/pages/cmd/internal/failure"
)

// This file is about results that could not be written: a full disk under `pages … > file` is no success.

// output is stdout. It remembers the first write that failed.
type output struct {
	io.Writer
	mu     sync.Mutex
	failed error
}

// Write implements io.Writer.
func (o *output) Write(b []byte) (int, error) {
	n, err := o.Writer.Write(b)
	if err != nil {
		o.mu.Lock()
		defer o.mu.Unlock()
		if o.failed == nil {
			o.failed = err
		}
	}
	return n, err
}

// lost is why something that was printed is not there; nil where nothing is missing,
// or only a reader that wanted no more.
func (o *output) lost() error {
	if o == nil { // a test's
		return nil
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if errors.Is(o.failed, errReaderGone) {
		return nil
	}
	return o.failed
}

// notStdout refuses - where a file or folder is meant, and not stdout: it would be one of that name.
func notStdout(what, given string) error {
	if given == "-" {
		return failure.Usage("%s is not written to stdout; give its name, and ./- if it is called that", what)
	}
	return nil
}

// toStdout reports whether - stands for stdout in place of the file of --output, and refuses what needs a file.
func (c *cli) toStdout(output string, check bool) (bool, error) {
	switch {
	case output != "-":
		return false, nil
	case check:
		return false, failure.Usage("--check looks at a file, and --output - is stdout")
	case c.json:
		return false, failure.Usage("--json and --output - ask for two things on stdout")
	}
	return true, nil
}

// file is what w writes to, for those who want more of it than writing.
func file(w io.Writer) io.Writer {
	if o, ok := w.(*output); ok {
		w = o.Writer
	}
	if s, ok := w.(steady); ok {
		return s.file
	}
	return w
}

// whole makes a command fail whose result is not there, whole, on stdout. What failed already keeps its code.
func (c *cli) whole(err error) error {
	lost := c.out.lost()
	if lost == nil || err != nil && !errors.Is(err, lost) {
		return err
	}
	return failure.Resource("output-lost", "what was to be printed could not be written", "write it to another place", lost)
}
