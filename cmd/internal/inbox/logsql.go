package inbox

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/pages-toolchain/pages/cmd/internal/failure"
	"github.com/pages-toolchain/pages/cmd/internal/sqlshell"
	"github.com/pages-toolchain/pages/cmd/internal/wording"
	"github.com/pages-toolchain/pages/devserver"
	"github.com/pages-toolchain/pages/migrate"
	"github.com/pages-toolchain/pages/migrate/statefolder"
	"github.com/pages-toolchain/pages/migrate/transfer"
	"github.com/pages-toolchain/pages/runtime/binding/d1"
)

// This file runs the author's own SQL over the request log, which it only reads. The statement sees the log's views and no other table
// of the database, which has sessions and leads, too.

// LogQueryTime is the usual limit of a statement.
const LogQueryTime = 10 * time.Second

// LogQuery is a statement over the views of the log.
type LogQuery struct {
	Statement migrate.Statement
	Values    []any // of its parameters; see sqlshell.Parameters
	MaxRows   int   // further rows are left out; 0 for all
	// MaxTime ends the statement with an error. Default LogQueryTime.
	MaxTime time.Duration
}

// errEnough ends a statement that has more rows than wanted.
var errEnough = errors.New("there are more rows")

// QueryLog runs a statement. begin gets its columns, and row each row, whose slice and BLOBs are valid until it returns. more reports
// whether rows were left out. A refused statement is a *failure.Error or a *failure.RefusedError with its place.
func (b Inbox) QueryLog(
	ctx context.Context, q LogQuery, begin func(columns []string) error, row func(values []any) error,
) (more bool, err error) {
	pool, console, err := b.openViews(ctx)
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, console.Close(), pool.Close()) }()
	most := cmp.Or(q.MaxTime, LogQueryTime)
	limited, cancel := context.WithTimeout(ctx, most)
	defer cancel()
	rows := 0
	_, err = console.Run(limited, q.Statement.Text, q.Values, begin, func(values []any) error {
		if q.MaxRows > 0 && rows >= q.MaxRows {
			return errEnough
		}
		rows++
		return row(values)
	})
	switch {
	case err == nil:
		return false, nil
	case errors.Is(err, errEnough):
		return true, nil
	case ctx.Err() == nil && limited.Err() != nil:
		return false, failure.Refused("query-too-slow", fmt.Sprintf("the statement ran for %v and was stopped", most),
			"choose fewer rows, as with WHERE at > '2026-05-06' or WHERE request_id = 'req_…'")
	}
	return false, sqlshell.Failure(transfer.Blame(q.Statement, err), adviseLog(err))
}

// openViews opens the log for statements. A site without one has an empty log. The caller closes both.
func (b Inbox) openViews(ctx context.Context) (*sql.DB, *d1.Console, error) {
	s := b.State
	if err := s.Check(); err != nil {
		return nil, nil, err
	}
	s.FlushLog(ctx)
	pool, err := s.OpenToRead(ctx, statefolder.PlatformFile)
	if err != nil {
		return nil, nil, err
	}
	o := d1.ConsoleOptions{ReadOnly: true, Only: []string{devserver.LogTable, "json_each", "json_tree"}}
	for _, v := range devserver.LogViews() {
		o.Only = append(o.Only, v.Name)
	}
	var console *d1.Console
	o.Prepare, err = devserver.PrepareLogViews(ctx, pool)
	if err == nil {
		o.Prepare = append(o.Prepare, "PRAGMA query_only = ON")
		console, err = d1.NewConsole(ctx, pool, o)
	}
	if err != nil {
		return nil, nil, errors.Join(b.logError(ctx, err), pool.Close())
	}
	return pool, console, nil
}

// adviseLog returns the fix for a failed statement.
func adviseLog(err error) string {
	const help = "pages logs sql --help lists the views and their columns"
	e, ok := errors.AsType[*d1.SQLError](err)
	if !ok {
		return help
	}
	if e.OnlyReading() {
		return "only SELECT runs here; the log is read-only"
	}
	var names []string
	for _, v := range devserver.LogViews() {
		names = append(append(names, v.Name), v.Columns...)
	}
	if _, unknown, found := strings.Cut(e.Msg, ": "); found && strings.HasPrefix(e.Msg, "no such ") { // table: x, or column: x.y
		if near := wording.Nearest(unknown[strings.LastIndexByte(unknown, '.')+1:], names); near != "" {
			return fmt.Sprintf("did you mean %q? %s", near, help)
		}
	}
	return help
}
