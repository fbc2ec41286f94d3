package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/pages-toolchain/pages/migrate"
	"github.com/pages-toolchain/pages/migrate/transfer"
	"github.com/pages-toolchain/pages/runtime/binding"
)

func (c *cli) newDBShell(f *dbFlags) *cobra.Command {
	return &cobra.Command{
		Use:   "shell [DIR]",
		Short: "Type SQL and see what it gives",
		Long: "Type SQL and see what it gives. A statement ends with a semicolon, and is a\ntransaction of its own. Ctrl-C stops the statement that runs, or clears what was\ntyped; Ctrl-D or .quit ends the shell.\n\n" +
			shellHelp + "\nWith a pipe instead of a terminal, the first error ends it.\n\nExit codes: 0 ended, 1 a statement failed (pipe), 2 wrong usage, 9 the database\ncannot be used.",
		Example: "  pages db shell\n  pages db shell --project\n  echo '.tables' | pages db shell",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			if err := c.siteArgument(args); err != nil {
				return err
			}
			db, err := c.openDatabase(cmd.Context(), f, binding.ConsoleOptions{})
			if err != nil {
				return err
			}
			defer func() { err = errors.Join(err, db.Close()) }()
			s := &shell{cli: c, db: db, mode: "table"}
			if c.json {
				s.mode = "json"
			}
			if !isTerminalReader(c.stdin) {
				if !isTerminal(c.stdout) && !c.json {
					s.mode = "tsv"
				}
				return s.pipe(cmd.Context())
			}
			return s.interact(cmd.Context())
		},
	}
}

const shellHelp = `  .tables         the tables and views
  .schema [NAME]  the statements that made them
  .mode FORMAT    table, tsv, csv, json or jsonl
  .help           this list
  .quit           the end
`

// shell is one run of `pages db shell`.
type shell struct {
	*cli
	db   *database
	mode string
}

var errQuit = errors.New("the shell was left")

// pipe runs what comes from a file or program.
func (s *shell) pipe(ctx context.Context) error {
	r := bufio.NewReader(newInterruptible(ctx, s.stdin))
	typed := &typed{name: "stdin", line: 1}
	for {
		line, err := r.ReadString('\n')
		if line != "" {
			if e := s.feed(ctx, typed, line); errors.Is(e, errQuit) {
				return nil
			} else if e != nil {
				return e
			}
		}
		if errors.Is(err, io.EOF) {
			return s.rest(ctx, typed)
		}
		if err != nil {
			return err
		}
	}
}

// rest runs what stands at the end without a semicolon.
func (s *shell) rest(ctx context.Context, t *typed) error {
	if strings.TrimSpace(t.text) == "" {
		return nil
	}
	return s.statements(ctx, t, true)
}

// typed is what was typed and not run yet.
type typed struct {
	name string
	text string
	line int // where text begins
}

// feed takes one line: a command, or a part of statements.
func (s *shell) feed(ctx context.Context, t *typed, line string) error {
	if strings.TrimSpace(t.text) == "" && strings.HasPrefix(strings.TrimSpace(line), ".") {
		t.text += line
		t.take(len(t.text))
		return s.command(ctx, strings.TrimSpace(line))
	}
	t.text += line
	if !strings.Contains(line, ";") {
		return nil
	}
	return s.statements(ctx, t, false)
}

// take forgets what was run of the text.
func (t *typed) take(n int) {
	t.line += strings.Count(t.text[:n], "\n")
	t.text = t.text[n:]
}

// statements runs each whole statement of what was typed. What is left of it stays, unless it is the end; after an
// error nothing does.
func (s *shell) statements(ctx context.Context, t *typed, end bool) error {
	in := migrate.NewStatements(t.name, strings.NewReader(t.text))
	in.StartAt(t.line)
	done := 0
	defer func() { t.take(done) }()
	for {
		statement, err := in.Next()
		refusal, refused := errors.AsType[*migrate.Error](err)
		switch {
		case errors.Is(err, io.EOF):
			done = len(t.text)
			return nil
		case refused && refusal.Code == migrate.CodeFailed && !end, err == nil && !statement.Ended && !end:
			return nil // a quote, comment or statement that goes on
		case err != nil:
			done = len(t.text)
			return s.sqlError(transfer.BlameText(err), "nothing was run")
		}
		done = statement.Pos.Offset + len(statement.Text)
		if err := s.run(ctx, statement); err != nil {
			done = len(t.text)
			return err
		}
	}
}

// run runs one statement as a transaction and shows what it gives.
func (s *shell) run(ctx context.Context, statement migrate.Statement) error {
	rows, err := s.newRows(s.mode)
	if err != nil {
		return err
	}
	changes, err := s.db.Run(ctx, statement.Text, nil, rows.begin, rows.row)
	if err != nil {
		return s.sqlError(errors.Join(rows.abort(), transfer.Blame(statement, err)), s.db.named(ctx, err, "the statement changed nothing"))
	}
	if rows.columns == nil || changes > 0 {
		s.db.wrote()
	}
	if rows.columns == nil {
		s.progress("wrote %s", count(int(changes), "row"))
		return nil
	}
	return rows.end()
}

// command runs a line that begins with a dot.
func (s *shell) command(ctx context.Context, line string) error {
	words := strings.Fields(line)
	switch {
	case words[0] == ".quit" || words[0] == ".exit":
		return errQuit
	case words[0] == ".help":
		_, err := io.WriteString(s.stdout, shellHelp)
		return err
	case words[0] == ".tables" && len(words) == 1:
		return s.list(ctx, "SELECT name FROM sqlite_schema WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY name", nil, "")
	case words[0] == ".schema":
		name := any(nil)
		if len(words) > 1 {
			name = strings.TrimSpace(strings.TrimPrefix(line, ".schema"))
		}
		return s.list(ctx, "SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL AND (?1 IS NULL OR tbl_name = ?1 COLLATE NOCASE) ORDER BY rowid", []any{name}, ";")
	case words[0] == ".mode" && len(words) == 2 && slices.Contains([]string{"table", "tsv", "csv", "json", "jsonl"}, words[1]):
		s.mode = words[1]
		return nil
	}
	return &failure{code: exitRefused, id: "no-such-command", msg: fmt.Sprintf("%q is no command of the shell", line), fix: "see .help"}
}

func (s *shell) list(ctx context.Context, query string, args []any, end string) error {
	_, err := s.db.Run(ctx, query, args, nil, func(v []any) error {
		_, err := fmt.Fprintf(s.stdout, "%s%s\n", v[0], end)
		return err
	})
	return s.sqlError(err, "nothing was changed")
}
