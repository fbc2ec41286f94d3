package main

import (
	"context"
	"io"
	"strings"

	"github.com/pages-toolchain/pages/cmd/internal/failure"
	"github.com/pages-toolchain/pages/cmd/internal/sqlshell"
	"github.com/pages-toolchain/pages/cmd/internal/terminal"
	"github.com/pages-toolchain/pages/cmd/internal/userfile"
)

// sqlInput is the text a command runs: its first argument, a file or stdin. The second
// argument is the site's folder.
func (c *cli) sqlInput(ctx context.Context, args []string, file string) (name string, r io.ReadCloser, err error) {
	_, dir := first(args)
	if err := c.siteArgument(dir); err != nil {
		return "", nil, err
	}
	switch {
	case len(args) > 0 && file != "":
		return "", nil, failure.Usage("an argument and --file both give SQL; give one of them")
	case len(args) > 0 && args[0] != "-":
		return "SQL", io.NopCloser(strings.NewReader(args[0])), nil
	case file != "" && file != "-":
		f, err := sqlshell.OpenInput(ctx, userfile.WorkDir(c.term.Dir), file)
		return file, f, err
	case len(args) == 0 && file == "" && terminal.IsTerminalReader(c.term.Stdin):
		return "", nil, failure.Usage("there is no SQL: give it as an argument, with --file or on stdin")
	}
	return "stdin", io.NopCloser(userfile.Interruptible(ctx, c.term.Stdin)), nil
}
