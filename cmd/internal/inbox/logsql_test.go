package inbox

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pages-toolchain/pages/cmd/internal/failure"
	"github.com/pages-toolchain/pages/cmd/internal/localstate"
	"github.com/pages-toolchain/pages/cmd/internal/sqlshell"
	"github.com/pages-toolchain/pages/devserver"
	"github.com/pages-toolchain/pages/devserver/site"
	"github.com/pages-toolchain/pages/migrate/statefolder"
	"github.com/pages-toolchain/pages/runtime/trace"
)

// sqlInbox returns the inbox of a site with a log: three requests, the first with two steps and a line.
func sqlInbox(t *testing.T) Inbox {
	t.Helper()
	state, err := localstate.OpenFolder(filepath.Join(t.TempDir(), "state"))
	if err != nil {
		t.Fatal(err)
	}
	db, err := state.OpenUnsynced(t.Context(), statefolder.PlatformFile)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := site.OpenStore(t.Context(), db, site.StoreOptions{Now: time.Now}); err != nil {
		t.Fatal(err)
	}
	log, err := devserver.OpenRequestLog(t.Context(), db, devserver.RequestLogOptions{})
	if err != nil {
		t.Fatal(err)
	}
	began := time.UnixMilli(1_700_000_000_120)
	for i := range 3 {
		r, rec := trace.Recorder{}, site.RequestRecord{ID: fmt.Sprintf("req_%d", i), At: site.Stamp{Time: began}, Method: "GET", Path: "/a"}
		at := began
		caller, _ := trace.ParseParent(fmt.Sprintf("00-4bf92f3577b34da6a3ce929d0e0e473%d-00f067aa0ba902b7-01", i))
		r.Begin(began, func() time.Time { at = at.Add(time.Millisecond); return at }, caller)
		rec.Status, rec.Millis, rec.TraceID = 200+i, 1.5, r.ID()
		if i == 0 {
			r.Start("d1_query", trace.SQL(trace.QueryText, "SELECT a FROM t WHERE b = 'x'")).End(nil, trace.Int(trace.RowsRead, 7))
			r.Start("kv_get", trace.Text(trace.KVKeys, "k")).End(errors.New("went wrong"))
			rec.Meter = &site.Meter{CPUMs: 0.5}
			log.AddLine(site.LogLine{Time: site.Stamp{Time: began}, Level: "warn", Text: "low", At: "a.ts:1:2", Request: rec.ID})
		}
		rec.Trace = r.Seal()
		log.Add(rec)
	}
	log.Close()
	if err := state.Close(); err != nil {
		t.Fatal(err)
	}
	return Inbox{State: &localstate.State{Dir: state.Dir}, Now: time.Now}
}

// rowsOf runs a statement, and returns its columns and rows, with the length of each BLOB.
func rowsOf(t *testing.T, in Inbox, text string, maxRows int) (columns []string, rows [][]any, more bool, err error) {
	t.Helper()
	statement, err := sqlshell.OneStatement("logs sql", "SQL", strings.NewReader(text))
	if err != nil {
		return nil, nil, false, err
	}
	more, err = in.QueryLog(t.Context(), LogQuery{Statement: statement, MaxRows: maxRows},
		func(names []string) error { columns = names; return nil },
		func(values []any) error {
			row := slices.Clone(values)
			for i, v := range row {
				if blob, ok := v.([]byte); ok {
					row[i] = len(blob)
				}
			}
			rows = append(rows, row)
			return nil
		})
	return columns, rows, more, err
}

func TestQueryLog(t *testing.T) {
	in := sqlInbox(t)
	for _, c := range []struct{ sql, want string }{
		{
			"SELECT id, trace_id, at, at_ms, method, path, status, ms, cpu_ms, query FROM requests WHERE status = 200",
			"[[req_0 4bf92f3577b34da6a3ce929d0e0e4730 2023-11-14T22:13:20.120Z 1700000000120 GET /a 200 1.5 0.5 <nil>]]",
		},
		{
			"SELECT name, start_ms, ms, sql, rows_read, key, error, unfinished FROM spans WHERE request_id = 'req_0' ORDER BY start_ms",
			"[[d1_query 1 1 SELECT a FROM t WHERE b = ? 7 <nil> <nil> 0] [kv_get 3 1 <nil> <nil> k went wrong 0]]",
		},
		{"SELECT request_id, level, text, place, at FROM logs", "[[req_0 warn low a.ts:1:2 2023-11-14T22:13:20.120Z]]"},
		{
			"SELECT r.id, count(s.span_id) FROM requests r LEFT JOIN spans s ON s.request_id = r.id GROUP BY 1",
			"[[req_0 2] [req_1 0] [req_2 0]]",
		},
		{
			"WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 3) SELECT count(*) FROM n, requests", "[[9]]",
		},
		{"SELECT attributes ->> '$.\"db.operation.name\"', x'00ff' FROM spans LIMIT 1", "[[SELECT 2]]"},
		{"SELECT id FROM requests WHERE false", "[]"},
	} {
		_, rows, more, err := rowsOf(t, in, c.sql, 100)
		if text := fmt.Sprint(rows); err != nil || text != c.want || more {
			t.Errorf("%s: %s, %v, want %s", c.sql, text, err, c.want)
		}
	}
	columns, rows, more, err := rowsOf(t, in, "SELECT id, trace_id FROM requests", 2)
	if err != nil || len(rows) != 2 || !more || len(columns) != 2 {
		t.Errorf("%v %v %v, %v", columns, rows, more, err)
	}
}

// Each lookup by an id uses an index.
func TestLogIndexes(t *testing.T) {
	in := sqlInbox(t)
	for _, where := range []string{
		"requests WHERE id = 'a'", "requests WHERE trace_id = 'a'", "spans WHERE request_id = 'a'", "spans WHERE trace_id = 'a'",
		"logs WHERE request_id = 'a'",
	} {
		_, rows, _, err := rowsOf(t, in, "EXPLAIN QUERY PLAN SELECT * FROM "+where, 0)
		plan := fmt.Sprint(rows)
		if err != nil || !strings.Contains(plan, "SEARCH r USING INDEX request_log_") {
			t.Errorf("%s: %s, %v", where, plan, err)
		}
	}
}

// TestLogRefusals: each refused statement with a part of the reason.
func TestLogRefusals(t *testing.T) {
	in := sqlInbox(t)
	for sql, want := range map[string]string{
		"SELECT * FROM sessions":                                        `"sessions" is not available`,
		"SELECT count(*) FROM leads":                                    `"leads" is not available`,
		"WITH requests AS (SELECT * FROM leads) SELECT * FROM requests": `"leads" is not available`,
		"SELECT (SELECT id FROM main.leads) FROM requests":              `"leads" is not available`,
		"SELECT * FROM sqlite_schema":                                   "is not available",
		"SELECT count(*) FROM sqlite_schema":                            "is not available",
		"SELECT * FROM pragma_table_info('leads')":                      "is not available",
		"SELECT count(*) FROM pragma_table_list":                        "is not available",
		"PRAGMA query_only = OFF":                                       "is not available",
		"PRAGMA table_info(leads)":                                      "is not available",
		"ATTACH 'x.db' AS x":                                            "cannot be attached",
		"VACUUM INTO 'x.db'":                                            "writes",
		"DELETE FROM request_log":                                       "writes",
		"DROP VIEW requests":                                            "is not available",
		"CREATE TEMP TABLE x (a)":                                       "not available",
		"CREATE TABLE x (a)":                                            "is not available",
		"SELECT load_extension('x')":                                    "not authorized",
		"SELECT readfile('/etc/passwd')":                                "no such function",
		"BEGIN":                                                         "transaction",
		"SELECT 1; SELECT 2":                                            "a second statement",
		"":                                                              "no SQL statement",
		"SELECT lvel FROM logs":                                         "no such column",
	} {
		_, _, _, err := rowsOf(t, in, sql, 10)
		text := fmt.Sprint(err)
		if refused, ok := errors.AsType[*failure.RefusedError](err); ok {
			text += fmt.Sprintf("%+v", refused.Report)
		}
		if err == nil || !strings.Contains(text, want) {
			t.Errorf("%s: %s, want %s", sql, text, want)
		}
	}
	if _, rows, _, err := rowsOf(t, in, "SELECT count(*) FROM request_log", 0); err != nil || fmt.Sprint(rows) != "[[4]]" {
		t.Errorf("the log has changed: %v, %v", rows, err)
	}
}

// A statement without an end is stopped.
func TestLogQueryTime(t *testing.T) {
	in := sqlInbox(t)
	const endless = "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n"
	statement, err := sqlshell.OneStatement("logs sql", "SQL", strings.NewReader(endless))
	if err != nil {
		t.Fatal(err)
	}
	_, err = in.QueryLog(t.Context(), LogQuery{Statement: statement, MaxTime: time.Millisecond}, nil, nil)
	if e, ok := errors.AsType[*failure.Error](err); !ok || e.Code != "query-too-slow" || !strings.Contains(e.Message, "1ms") {
		t.Errorf("%v", err)
	}
}

// A site without a log has empty views, and no file is written for them.
func TestQueryWithoutLog(t *testing.T) {
	in := Inbox{State: &localstate.State{Dir: filepath.Join(t.TempDir(), "state")}, Now: time.Now}
	for _, v := range devserver.LogViews() {
		columns, rows, _, err := rowsOf(t, in, "SELECT * FROM "+v.Name, 0)
		if err != nil || len(rows) != 0 || strings.Join(columns, " ") != strings.Join(v.Columns, " ") {
			t.Errorf("%v %v, %v", columns, rows, err)
		}
	}
}
