package devserver

import (
	"context"
	"database/sql"
	"slices"
	"strings"

	"github.com/pages-toolchain/pages/runtime/trace"
)

// This file has the log as views for the author's own SQL. Their names and columns are stable; the table of the log is not.

// LogTable is the table that the views read.
const LogTable = "request_log"

// LogView is a view of the log.
type LogView struct {
	Name    string
	Columns []string
	sql     string // SELECT
}

// LogViews returns the views: a row of "requests" is a request, of "spans" a step of one, of "logs" a line of the console.
func LogViews() []LogView {
	attribute := func(key string) string { return `s.value ->> '$.attributes."` + key + `"'` }
	return []LogView{
		newLogView("requests", "request_log AS r WHERE r.line = 0", []string{
			"id", "r.request", "trace_id", "r.trace", "at", logTime, "at_ms", "r.at", "method", "r.method", "path", "r.path",
			"query", "r.document ->> '$.query'", "status", "r.status", "bytes", "r.document ->> '$.bytes'",
			"ms", "r.document ->> '$.ms'", "cpu_ms", "r.document ->> '$.meter.cpu_ms'",
			"subrequests", "r.document ->> '$.meter.subrequests'", "source", "r.document ->> '$.source'",
			"route", "nullif(r.route, '')", "member", "nullif(r.member, '')", "revision", "r.document ->> '$.revision'",
			"error", "r.document ->> '$.error'", "failure", "r.document ->> '$.failure.kind'",
			"file", "r.document ->> '$.failure.file'", "line", "r.document ->> '$.failure.line'",
		}),
		newLogView("spans", "request_log AS r, json_each(r.spans, '$.spans') AS s WHERE r.line = 0", []string{
			"request_id", "r.request", "trace_id", "r.trace", "span_id", "s.value ->> '$.span_id'",
			"parent_span_id", "s.value ->> '$.parent_span_id'", "name", "s.value ->> '$.name'",
			"start_ms", "s.value ->> '$.start_ms'", "ms", "s.value ->> '$.ms'", "error", "s.value ->> '$.error'",
			"unfinished", "coalesce(s.value ->> '$.unfinished', 0)", "sql", attribute(trace.QueryText),
			"rows_read", attribute(trace.RowsRead), "rows_written", attribute(trace.RowsWritten),
			"key", "coalesce(" + attribute(trace.KVKeys) + ", " + attribute(trace.R2Key) + ")",
			"url", attribute(trace.FullURL), "status", attribute(trace.StatusCode), "attributes", "s.value -> '$.attributes'",
		}),
		newLogView("logs", "request_log AS r WHERE r.line = 1", []string{
			"request_id", "r.request", "at", logTime, "at_ms", "r.at", "level", "r.document ->> '$.level'", "text", "r.text",
			"place", "r.document ->> '$.at'", "route", "nullif(r.route, '')", "stack", "r.document -> '$.stack'",
		}),
	}
}

// newLogView returns the view of columns, each with its value after it.
func newLogView(name, from string, columns []string) LogView {
	v := LogView{Name: name}
	var list []string
	for pair := range slices.Chunk(columns, 2) {
		v.Columns = append(v.Columns, pair[0])
		list = append(list, pair[1]+" AS "+pair[0])
	}
	v.sql = "SELECT " + strings.Join(list, ", ") + " FROM " + from
	return v
}

// PrepareLogViews returns statements that create the views in a connection to db, for as long as it is open. A database without a log
// gets an empty one there.
func PrepareLogViews(ctx context.Context, db *sql.DB) (statements []string, err error) {
	columns, err := logColumns(ctx, db)
	if err != nil {
		return nil, err
	}
	if len(columns) == 0 {
		statements = append(statements, strings.Replace(logTable, "TABLE IF NOT EXISTS", "TEMP TABLE", 1))
	}
	for _, v := range LogViews() {
		text := v.sql
		if len(columns) > 0 && !slices.Contains(columns, traceColumn) { // an earlier version wrote it
			text = strings.NewReplacer("r.trace AS", "NULL AS", "r.spans", "NULL").Replace(text)
		}
		statements = append(statements, "CREATE TEMP VIEW "+v.Name+" AS "+text)
	}
	return statements, nil
}

// logTime is the time of a row: "2026-05-06T07:08:09.120Z".
const logTime = "strftime('%Y-%m-%dT%H:%M:%fZ', r.at / 1000.0, 'unixepoch')"
