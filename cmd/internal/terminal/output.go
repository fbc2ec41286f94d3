package terminal

import (
	"errors"
	"io"
	"os"
	"sync"
	"syscall"

	"github.com/pages-toolchain/pages/cmd/internal/failure"
	"github.com/pages-toolchain/pages/cmd/internal/wording"
)

// output is stdout. It remembers the first write that failed: with a full disk under `pages … > file`, the command must fail.
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

// writeError returns the first error of a write to stdout, except for that of a pipe without a reader.
func (o *output) writeError() error {
	if o == nil {
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
		return failure.Usage("%s is not written to stdout; give its name, or ./- for a file named -", what)
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

// WriteRaw has write write data to stdout, byte by byte. A stranger may have written the data, and a terminal would obey its escape
// sequences: there WriteRaw escapes control characters, and prints a note about it.
func (t *Terminal) WriteRaw(write func(io.Writer) error) error {
	if !IsTerminal(t.Stdout) {
		return write(t.Stdout)
	}
	shown := wording.NewEscaper(t.Stdout)
	err := errors.Join(write(shown), shown.Flush())
	if shown.Escaped > 0 {
		verb := "are"
		if shown.Escaped == 1 {
			verb = "is"
		}
		t.Progress("%s %s %s shown as an escape, such as \\x1b: files and pipes get the exact bytes",
			t.Paint("33", "note:"), wording.Count(shown.Escaped, "character"), verb)
	}
	return err
}

// Steady is a file whose writes wait for room. Programs that share a terminal or a pipe also share its blocking mode: after Node.js makes
// it non-blocking, writes fail with EAGAIN while it is full.
type Steady struct{ File *os.File }

// Write implements io.Writer.
func (s Steady) Write(b []byte) (n int, err error) {
	for {
		some, err := s.File.Write(b[n:])
		n += some
		if !errors.Is(err, syscall.EAGAIN) {
			return n, err
		}
		if err := awaitRoom(s.File); err != nil {
			return n, err
		}
	}
}
