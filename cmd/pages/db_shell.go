package main

import (
	"errors"

	"github.com/spf13/cobra"

	"github.com/pages-toolchain/pages/cmd/internal/ending"
	"github.com/pages-toolchain/pages/cmd/internal/sqlshell"
	"github.com/pages-toolchain/pages/cmd/internal/terminal"
	"github.com/pages-toolchain/pages/runtime/binding/d1"
)

func (c *cli) newDBShell(f *dbFlags) *cobra.Command {
	return &cobra.Command{
		Use:   "shell [DIR]",
		Short: "Type SQL and see what it gives",
		Long: "Type SQL and see what it gives. A statement ends with a semicolon, and is a\ntransaction of its own. Ctrl-C stops the statement that runs, or clears what was\ntyped; Ctrl-D or .quit ends the shell.\n\n" +
			sqlshell.Help + "\nWith a pipe instead of a terminal, the first error ends it.\n\nExit codes: 0 ended, 1 a statement failed (pipe), 2 wrong usage, 9 the database\ncannot be used.",
		Example: "  pages db shell\n  pages db shell --project\n  echo '.tables' | pages db shell",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			if err := c.siteArgument(args); err != nil {
				return err
			}
			db, err := c.openDatabase(cmd.Context(), f, d1.ConsoleOptions{})
			if err != nil {
				return err
			}
			defer func() { err = errors.Join(err, db.Close()) }()
			s := sqlshell.New(db, sqlshell.Options{
				Stdin: c.term.Stdin, Stdout: c.term.Stdout, Stderr: c.term.Stderr, Terminal: terminal.IsTerminal(c.term.Stdout),
				Progress: c.term.Progress, Warn: c.term.ProgressWarning, Failed: func(err error) { ending.Print(&c.term, err) },
			})
			switch piped := !terminal.IsTerminalReader(c.term.Stdin); {
			case c.term.JSON:
				s.Mode = "json"
			case piped && !terminal.IsTerminal(c.term.Stdout):
				s.Mode = "tsv"
			}
			if !terminal.IsTerminalReader(c.term.Stdin) {
				return s.Pipe(cmd.Context())
			}
			c.term.Progress("%s; .help lists the commands", c.term.Shown(db.Path))
			return s.Interact(cmd.Context())
		},
	}
}
