// Package sqlshell is the SQL shell on a database of a site, and the code that it shares with the commands of `pages db`.
//
// A Database is open for a person who writes SQL; a RowWriter prints the rows of a statement, as a table, tsv, csv, JSON or lines of JSON;
// a Shell reads statements from a pipe or a terminal, runs each as a transaction and prints its rows. Failures are *failure.Error, or
// *failure.RefusedError with the place in the text. Each value belongs to one goroutine. Output to a terminal is escaped. Besides the
// database, only the history is written.
package sqlshell

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/pages-toolchain/pages/cmd/internal/failure"
	"github.com/pages-toolchain/pages/cmd/internal/userfile"
	"github.com/pages-toolchain/pages/cmd/internal/wording"
	"github.com/pages-toolchain/pages/migrate"
	"github.com/pages-toolchain/pages/migrate/transfer"
)

// Help lists the commands of the shell.
const Help = `  .tables         the tables and views
  .schema [NAME]  the statements that made them
  .mode FORMAT    table, tsv, csv, json or jsonl
  .help           this list
  .quit           the end
`

// Options are the streams and the callbacks of a shell.
type Options struct {
	Stdin          io.Reader
	Stdout, Stderr io.Writer
	Terminal       bool                             // stdout is a terminal
	Progress, Warn func(format string, args ...any) // of lines for people
	Failed         func(error)                      // shows the failure of a typed line
}

// Shell is one run of `pages db shell`.
type Shell struct {
	Options
	db   *Database
	Mode string // the format of rows
}

// New returns a shell on a database.
func New(db *Database, o Options) *Shell {
	return &Shell{Options: o, db: db, Mode: "table"}
}

var errQuit = errors.New("the shell was left")

// Pipe runs the SQL from a file or a program.
func (s *Shell) Pipe(ctx context.Context) error {
	r := bufio.NewReader(userfile.Interruptible(ctx, s.Stdin))
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
			if strings.TrimSpace(typed.text) == "" {
				return nil
			}
			return s.statements(ctx, typed, true) // the last one may lack its semicolon
		}
		if err != nil {
			return err
		}
	}
}

// typed is the text that is typed and has not run yet.
type typed struct {
	name string
	text string
	line int // the line at which text begins
}

// feed takes one line: a command, or a part of statements.
func (s *Shell) feed(ctx context.Context, t *typed, line string) error {
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

// take removes the first n bytes of the text, and counts their lines.
func (t *typed) take(n int) {
	t.line += strings.Count(t.text[:n], "\n")
	t.text = t.text[n:]
}

// statements runs each complete statement of the input. An incomplete one stays in t for the next line, unless this is the end; after an
// error the text is empty.
func (s *Shell) statements(ctx context.Context, t *typed, end bool) error {
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
			return nil // a quote, comment or statement that continues
		case err != nil:
			done = len(t.text)
			return Failure(transfer.BlameText(err), "nothing was run")
		}
		done = statement.Pos.Offset + len(statement.Text)
		if err := s.run(ctx, statement); err != nil {
			done = len(t.text)
			return err
		}
	}
}

// run runs one statement as a transaction and prints its rows.
func (s *Shell) run(ctx context.Context, statement migrate.Statement) error {
	rows, err := NewRowWriter(s.Stdout, s.Terminal, s.Mode)
	if err != nil {
		return err
	}
	changes, err := s.db.Run(ctx, statement.Text, nil, rows.Begin, rows.Row)
	if err != nil {
		return Failure(errors.Join(rows.Abort(), transfer.Blame(statement, err)), s.db.Advice(ctx, err, "the statement changed nothing"))
	}
	if rows.columns == nil || changes > 0 {
		s.db.Wrote()
	}
	if rows.columns == nil {
		s.Progress("wrote %s", wording.Count(int(changes), "row"))
		return nil
	}
	return rows.End()
}

// command runs a line that begins with a dot.
func (s *Shell) command(ctx context.Context, line string) error {
	words := strings.Fields(line)
	switch {
	case words[0] == ".quit" || words[0] == ".exit":
		return errQuit
	case words[0] == ".help":
		_, err := io.WriteString(s.Stdout, Help)
		return err
	case words[0] == ".tables" && len(words) == 1:
		const query = "SELECT name FROM sqlite_schema WHERE type IN ('table', 'view') " +
			"AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY name"
		return s.list(ctx, query, nil, "")
	case words[0] == ".schema":
		name := any(nil)
		if len(words) > 1 {
			name = strings.TrimSpace(strings.TrimPrefix(line, ".schema"))
		}
		const query = "SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL AND (?1 IS NULL OR tbl_name = ?1 COLLATE NOCASE) ORDER BY rowid"
		return s.list(ctx, query, []any{name}, ";")
	case words[0] == ".mode" && len(words) == 2 && slices.Contains([]string{"table", "tsv", "csv", "json", "jsonl"}, words[1]):
		s.Mode = words[1]
		return nil
	}
	message := fmt.Sprintf("%q is not a command of the shell", line)
	return &failure.Error{Exit: failure.ExitRefused, Code: "no-such-command", Message: message, Fix: "see .help"}
}

func (s *Shell) list(ctx context.Context, query string, args []any, end string) error {
	_, err := s.db.Run(ctx, query, args, nil, func(v []any) error {
		_, err := fmt.Fprintf(s.Stdout, "%s%s\n", v[0], end)
		return err
	})
	return Failure(err, "nothing was changed")
}
