package terminal

import (
	"errors"
	"io"

	"github.com/pages-toolchain/pages/cmd/internal/wording"
)

// This file writes data as it is, byte by byte. A stranger may have written it, and a terminal would obey its escape
// sequences: clear itself, rename its window, or type into the shell.

// WriteRaw has write write data to stdout. On a terminal, control characters are shown as escapes, and a note says so.
func (t *Terminal) WriteRaw(write func(io.Writer) error) error {
	if !IsTerminal(t.Stdout) {
		return write(t.Stdout)
	}
	shown := wording.NewEscaper(t.Stdout)
	err := errors.Join(write(shown), shown.Flush())
	if shown.Escaped > 0 {
		t.Progress(
			"%s %s shown as an escape, such as \\x1b: what is written to a file or a pipe is exact",
			t.Paint("33", "note:"), characters(shown.Escaped),
		)
	}
	return err
}

func characters(n int) string {
	if n == 1 {
		return "1 character is"
	}
	return wording.Count(n, "character") + " are"
}
