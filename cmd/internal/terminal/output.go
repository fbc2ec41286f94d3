package terminal

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

// lost returns the first error of a write to stdout, but for that of a reader that left.
func (o *output) lost() error {
	if o == nil { // not watched
		return nil
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if errors.Is(o.failed, ErrReaderGone) {
		return nil
	}
	return o.failed
}

// NotStdout refuses - as the name of a file or folder that cannot be stdout.
func NotStdout(what, given string) error {
	if given == "-" {
		return failure.Usage("%s is not written to stdout; give its name, and ./- if it is called that", what)
	}
	return nil
}

// Unwrap unwraps the writers of this package.
func Unwrap(w io.Writer) io.Writer {
	if o, ok := w.(*output); ok {
		w = o.Writer
	}
	if s, ok := w.(Steady); ok {
		return s.File
	}
	return w
}
