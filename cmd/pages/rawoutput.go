package main

import (
	"errors"
	"io"

	"github.com/pages-toolchain/pages/cmd/internal/wording"
)

// This file is about data that is written as it is, byte by byte. It may be a stranger's, and a terminal would obey it:
// clear itself, rename its window, or type into the shell.

// exactly has write write data to stdout. At a terminal what it would obey is shown as an escape, and a note says so.
func (c *cli) exactly(write func(io.Writer) error) error {
	if !isTerminal(c.stdout) {
		return write(c.stdout)
	}
	shown := wording.NewEscaper(c.stdout)
	err := errors.Join(write(shown), shown.Flush())
	if shown.Escaped > 0 {
		c.progress("%s %s shown as an escape, such as \\x1b: what is written to a file or a pipe is exact", c.paint("33", "note:"), characters(shown.Escaped))
	}
	return err
}

func characters(n int) string {
	if n == 1 {
		return "1 character is"
	}
	return wording.Count(n, "character") + " are"
}
