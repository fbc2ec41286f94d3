package devserver

import (
	"context"
	"database/sql"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pages-toolchain/pages/devserver/site"
	"github.com/pages-toolchain/pages/runtime/trace"
)

// logFile writes records and lines into a new log and returns the path of its database.
func logFile(t testing.TB, o RequestLogOptions, fill func(*RequestLog)) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "platform.db")
	db := openDB(t, path)
	log, err := OpenRequestLog(t.Context(), db, o)
	if err != nil {
		t.Fatal(err)
	}
	fill(log)
	log.Close()
	return path
}

var logStart = time.UnixMilli(1_700_000_000_000).UTC()

// fillLog writes a small history: a line without a request, requests with and without lines, and a line of a request that has not ended.
func fillLog(log *RequestLog) {
	minute := func(n int) site.Stamp { return site.Stamp{Time: logStart.Add(time.Duration(n) * time.Minute)} }
	line := func(n int, level, text, request string) {
		log.AddLine(site.LogLine{Time: minute(n), Level: level, Text: text, At: "src/a.ts:1:2", Request: request})
	}
	line(0, "log", "loading", "")
	log.Add(site.RequestRecord{
		ID: "req_1", At: minute(1), Method: "GET", Path: "/", Status: 200, Route: "/*", Meter: &site.Meter{CPUMs: 1.5},
	})
	line(2, "warn", "low on boats", "req_2")
	line(2, "error", "Ölstand: LOW", "req_2")
	log.Add(site.RequestRecord{
		ID: "req_2", At: minute(2), Method: "POST", Path: "/api/x", Query: "q=Heron", Status: 200, Route: "/api/*",
		Member: "member@example.org",
	})
	log.Add(site.RequestRecord{
		ID: "req_3", At: minute(3), Method: "GET", Path: "/api/y%20z", Status: 503, Route: "/api/*", Error: "over limits.cpuMs",
		Failure: &site.Failure{Kind: "cpu", Message: "over limits.cpuMs", File: "src/a.ts", Line: 3, Column: 4},
	})
	line(4, "info", "after the answer", "req_1")
	log.Add(site.RequestRecord{ID: "req_4", At: minute(5), Method: "GET", Path: "/apis", Status: 404})
	line(6, "debug", "still open", "req_5")
}

// entryNames names entries: a request by its id and the levels of its lines.
func entryNames(entries []LogEntry) string {
	var names []string
	for _, e := range entries {
		if e.Line != nil {
			names = append(names, "line:"+e.Line.Text)
			continue
		}
		name := e.Request.ID
		for _, l := range e.Request.Logs {
			name += "+" + l.Level
		}
		names = append(names, name)
	}
	return strings.Join(names, " ")
}

func TestRequestLog(t *testing.T) {
	db := openDB(t, logFile(t, RequestLogOptions{}, fillLog)) // as another program does, with no server running
	const all = "line:loading req_1+info req_2+warn+error req_3 req_4 line:still open"
	tests := []struct {
		name   string
		filter LogFilter
		want   string
	}{
		{"no filter", LogFilter{}, all},
		{"a limit", LogFilter{Limit: 2}, "req_4 line:still open"},
		{"a status class", LogFilter{Status: []StatusRange{{500, 599}}}, "req_3"},
		{"two statuses", LogFilter{Status: []StatusRange{{404, 404}, {500, 599}}}, "req_3 req_4"},
		{"a path prefix without a glob", LogFilter{Path: "/api"}, ""},
		{"a path glob", LogFilter{Path: "/api/*"}, "req_2+warn+error req_3"},
		{"one character", LogFilter{Path: "/api?"}, "req_4"},
		{"no wildcard of LIKE", LogFilter{Path: "/%"}, ""},
		{"any path", LogFilter{Path: "*"}, "req_1+info req_2+warn+error req_3 req_4"},
		{"a route", LogFilter{Route: "/api/*"}, "req_2+warn+error req_3"},
		{"no such route", LogFilter{Route: "/api"}, ""},
		{"a method in lower case", LogFilter{Method: "post"}, "req_2+warn+error"},
		{"a member", LogFilter{Member: "member@example.org"}, "req_2+warn+error"},
		{"errors", LogFilter{Level: "error"}, "req_2+warn+error req_3"},
		{"info and above", LogFilter{Level: "info"}, "line:loading req_1+info req_2+warn+error req_3"},
		{"debug and above", LogFilter{Level: "debug"}, "line:loading req_1+info req_2+warn+error req_3 line:still open"},
		{"a text of a line", LogFilter{Text: "low"}, "req_2+warn+error"},
		{"a text of a query", LogFilter{Text: "HERON"}, "req_2+warn+error"},
		{"a text of an error", LogFilter{Text: "CPUMS"}, "req_3"},
		{"a text without a request", LogFilter{Text: "load"}, "line:loading"},
		{"a percent sign", LogFilter{Text: "%"}, "req_3"},
		{"SQL", LogFilter{Text: "' OR 1=1 --"}, ""},
		{"a request", LogFilter{Request: "req_2"}, "req_2+warn+error"},
		{"a prefix of ids", LogFilter{Request: "req_"}, "req_1+info req_2+warn+error req_3 req_4 line:still open"},
		{"a percent sign as an id", LogFilter{Request: "%"}, ""},
		{"since", LogFilter{Since: logStart.Add(5 * time.Minute)}, "req_4 line:still open"},
		{
			"all together",
			LogFilter{Since: logStart.Add(2 * time.Minute), Path: "/api/*", Status: []StatusRange{{500, 599}}, Limit: 1},
			"req_3",
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got, err := ReadLog(t.Context(), db, test.filter)
			if err != nil || entryNames(got) != test.want {
				t.Errorf("%s, %v, want %s", entryNames(got), err, test.want)
			}
		})
	}
	got, err := ReadLog(t.Context(), db, LogFilter{Request: "req_3"})
	if err != nil || len(got) != 1 || got[0].Request.Failure == nil || got[0].Request.Failure.Line != 3 ||
		!got[0].Request.At.Equal(logStart.Add(3*time.Minute)) {
		t.Errorf("%+v, %v", got, err)
	}
	h := History(mustRead(t, db, LogFilter{}))
	if len(h.Requests) != 4 || h.Requests[0].ID != "req_4" || len(h.Logs) != 2 || h.Logs[0].Text != "still open" {
		t.Errorf("%+v", h)
	}
	if h := History(nil); h.Requests == nil || h.Logs == nil {
		t.Error("null in the document of an empty log")
	}
}

// A database without the table, as an older server left it, is an empty log.
func TestRequestLogMissing(t *testing.T) {
	got, err := ReadLog(t.Context(), openDB(t, filepath.Join(t.TempDir(), "platform.db")), LogFilter{})
	if err != nil || len(got) != 0 {
		t.Errorf("%v, %v", got, err)
	}
}

// A trace is stored with its request, read with it, and swept with it.
func TestRequestLogTrace(t *testing.T) {
	const header = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
	add := func(log *RequestLog, id string, ms float64, calls int, caller trace.Parent) {
		r := &trace.Recorder{}
		r.Begin(logStart, func() time.Time { return logStart.Add(time.Millisecond) }, caller)
		for range calls {
			r.Start("d1_query", trace.SQL(trace.QueryText, "SELECT 1")).End(nil)
		}
		log.Add(site.RequestRecord{
			ID: id, At: site.Stamp{Time: logStart}, Method: "GET", Path: "/", Status: 200, Millis: ms, TraceID: r.ID(), Trace: r.Seal(),
		})
	}
	caller, _ := trace.ParseParent(header)
	path := logFile(t, RequestLogOptions{}, func(log *RequestLog) {
		fillLog(log)
		add(log, "req_a1", 250, 2, trace.Parent{})
		add(log, "req_a2", 3, 1, caller)
		add(log, "req_a3", 1.5, 0, caller)
	})
	db := openDB(t, path)
	for _, c := range []struct {
		filter LogFilter
		want   string
	}{
		{LogFilter{Trace: "req_a1"}, "req_a1 2"},
		{LogFilter{Trace: "req_a"}, "req_a1 2, req_a2 1, req_a3 none"},
		{LogFilter{Trace: caller.ID.String()}, "req_a2 1, req_a3 none"},
		{LogFilter{Trace: caller.ID.String(), Slow: 2 * time.Millisecond}, "req_a2 1"},
		{LogFilter{Trace: strings.Repeat("a", 32)}, ""},
		{LogFilter{Trace: "%"}, ""},
		{LogFilter{Slow: 200 * time.Millisecond}, "req_a1 none"},
		{LogFilter{Request: "req_a1"}, "req_a1 none"}, // without its trace
	} {
		var got []string
		for _, e := range mustRead(t, db, c.filter) {
			spans := "none"
			if d := e.Request.Spans; d != nil {
				spans = strconv.Itoa(len(d.Spans))
			}
			got = append(got, e.Request.ID+" "+spans)
		}
		if text := strings.Join(got, ", "); text != c.want {
			t.Errorf("%+v: %q, want %q", c.filter, text, c.want)
		}
	}
	bounded := logFile(t, RequestLogOptions{MaxRows: 100}, func(log *RequestLog) {
		for i := range 200 {
			add(log, fmt.Sprintf("req_%d", i), 1, 1, trace.Parent{})
		}
	})
	var rows int
	if err := openDB(t, bounded).QueryRowContext(t.Context(), `SELECT count(*) FROM request_log`).Scan(&rows); err != nil {
		t.Fatal(err)
	}
	if rows < 50 || rows > 100 {
		t.Errorf("%d rows are left", rows)
	}
}

// A log of an earlier version has no traces: reading does without them, and a server adds their columns.
func TestRequestLogOfEarlierVersion(t *testing.T) {
	path := logFile(t, RequestLogOptions{}, fillLog)
	db := openDB(t, path)
	const before = `DROP INDEX request_log_trace; ALTER TABLE request_log DROP COLUMN trace; ALTER TABLE request_log DROP COLUMN spans`
	if _, err := db.ExecContext(t.Context(), before); err != nil {
		t.Fatal(err)
	}
	const id = "4bf92f3577b34da6a3ce929d0e0e4736"
	if got := mustRead(t, db, LogFilter{Trace: id}); len(got) != 0 {
		t.Errorf("%+v", got)
	}
	if got := entryNames(mustRead(t, db, LogFilter{Trace: "req_2"})); got != "req_2+warn+error" {
		t.Error(got)
	}
	count := func() (requests, spans int) {
		t.Helper()
		views, err := PrepareLogViews(t.Context(), db)
		if err != nil {
			t.Fatal(err)
		}
		conn, err := db.Conn(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		const query = `SELECT (SELECT count(*) FROM requests WHERE trace_id IS NULL), (SELECT count(*) FROM spans);`
		for _, v := range append(views, query) {
			if v != query {
				_, err = conn.ExecContext(t.Context(), v)
			} else {
				err = conn.QueryRowContext(t.Context(), v).Scan(&requests, &spans)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		for _, name := range []string{"requests", "spans", "logs"} {
			if _, err := conn.ExecContext(t.Context(), "DROP VIEW temp."+name); err != nil {
				t.Fatal(err)
			}
		}
		return requests, spans
	}
	if requests, spans := count(); requests != 4 || spans != 0 {
		t.Errorf("%d requests, %d spans", requests, spans)
	}
	for range 2 { // the second server finds the columns
		log, err := OpenRequestLog(t.Context(), db, RequestLogOptions{})
		if err != nil {
			t.Fatal(err)
		}
		r := &trace.Recorder{}
		r.Begin(logStart, time.Now, trace.Parent{})
		r.Start("kv_get").End(nil)
		log.Add(site.RequestRecord{ID: "req_new", At: site.Stamp{Time: logStart}, TraceID: r.ID(), Trace: r.Seal()})
		log.Close()
	}
	if requests, spans := count(); requests != 4 || spans != 2 {
		t.Errorf("%d requests, %d spans", requests, spans)
	}
}

// The log drops the oldest rows if there are too many, or too many bytes.
func TestRequestLogIsSwept(t *testing.T) {
	for _, o := range []RequestLogOptions{{MaxRows: 100}, {MaxBytes: 100 * 210}} {
		path := logFile(t, o, func(log *RequestLog) {
			for i := range 1000 {
				log.AddLine(site.LogLine{Level: "log", Text: fmt.Sprintf("%04d %s", i, strings.Repeat("x", 60))})
			}
		})
		got := mustRead(t, openDB(t, path), LogFilter{})
		if len(got) < 50 || len(got) > 100 || !strings.HasPrefix(got[len(got)-1].Line.Text, "0999") {
			t.Errorf("%+v: %d rows are left", o, len(got))
		}
		// A reopened log counts its old rows, too.
		db := openDB(t, path)
		again, err := OpenRequestLog(t.Context(), db, o)
		if err != nil {
			t.Fatal(err)
		}
		for range 30 {
			again.AddLine(site.LogLine{Level: "log", Text: "again " + strings.Repeat("x", 60)})
		}
		again.Close()
		if got := mustRead(t, db, LogFilter{}); len(got) > 100 {
			t.Errorf("%+v: %d rows after it was opened again", o, len(got))
		}
	}
}

// Entries over the bound are dropped, counted and reported; no request waits for the log.
func TestRequestLogDrops(t *testing.T) {
	const sent = 50_000
	var full *RequestLog
	path := logFile(t, RequestLogOptions{}, func(log *RequestLog) {
		full = log
		for range sent - 1 {
			log.Add(site.RequestRecord{ID: "req_x", Path: "/"})
		}
		log.Add(site.RequestRecord{ID: "req_bad", Path: "/", Status: 500}) // there is room for it
		// Closing alone may leave rows unwritten on a busy machine.
		if err := log.Flush(t.Context()); err != nil {
			t.Error(err)
		}
	})
	lost := full.lost.Load()
	if lost == 0 {
		t.Fatal("all found room")
	}
	kept, told := 0, ""
	for _, e := range mustRead(t, openDB(t, path), LogFilter{}) {
		if e.Line != nil {
			told = e.Line.Text
		} else {
			kept++
		}
	}
	if int64(kept)+lost != sent {
		t.Errorf("%d kept and %d lost of %d", kept, lost, sent)
	}
	if bad := mustRead(t, openDB(t, path), LogFilter{Request: "req_bad"}); len(bad) != 1 {
		t.Error("what went wrong was dropped among the rest")
	}
	if !strings.Contains(told, "are missing here") {
		t.Errorf("the log does not tell: %q", told)
	}
}

// A failing database costs only rows.
func TestRequestLogSurvives(t *testing.T) {
	db := openDB(t, filepath.Join(t.TempDir(), "platform.db"))
	log, err := OpenRequestLog(t.Context(), db, RequestLogOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := db.ExecContext(t.Context(), `DROP TABLE request_log`); err != nil {
		t.Fatal(err)
	}
	const rows = 3*logBatch + 1
	for range rows {
		log.Add(site.RequestRecord{ID: "req_1"})
	}
	log.Close()
	if log.lost.Load() != rows {
		t.Errorf("lost %d, want %d", log.lost.Load(), rows)
	}
}

// A follower gets a request together with its lines, lines without a request at once, and
// the lines of a long request while it runs.
func TestFollowLog(t *testing.T) {
	path := filepath.Join(t.TempDir(), "platform.db")
	write := func(fill func(*RequestLog)) {
		log, err := OpenRequestLog(t.Context(), openDB(t, path), RequestLogOptions{})
		if err != nil {
			t.Fatal(err)
		}
		fill(log)
		log.Close()
	}
	write(fillLog)
	now := logStart
	var told []LogEntry
	tell := func(e LogEntry) { told = append(told, e) }
	follow := func(f LogFilter) *LogFollower {
		w, err := FollowLog(t.Context(), openDB(t, path), f, func() time.Time { return now })
		if err != nil {
			t.Fatal(err)
		}
		return w
	}
	look := func(w *LogFollower, want string) {
		t.Helper()
		told = nil
		if err := w.poll(t.Context(), tell); err != nil || entryNames(told) != want {
			t.Errorf("told %q, %v, want %q", entryNames(told), err, want)
		}
	}
	every, errorsOnly, api := follow(LogFilter{}), follow(LogFilter{Level: "error"}), follow(LogFilter{Path: "/api/*"})
	look(every, "")
	write(func(log *RequestLog) {
		log.AddLine(site.LogLine{Level: "warn", Text: "rebuilt"})
		log.AddLine(site.LogLine{Level: "log", Text: "in", Request: "req_6"})
		spans := &trace.Recorder{}
		spans.Begin(now, time.Now, trace.Parent{})
		spans.Start("kv_get") // its row is none for a follower
		log.Add(site.RequestRecord{ID: "req_6", Path: "/api/a", Status: 200, Trace: spans.Seal()})
		log.AddLine(site.LogLine{Level: "error", Text: "late", Request: "req_6"})
		log.AddLine(site.LogLine{Level: "log", Text: "open", Request: "req_7"})
	})
	look(every, "line:rebuilt req_6+log line:late")
	look(errorsOnly, "req_6+log line:late")
	look(api, "req_6+log line:late")
	look(every, "")
	now = now.Add(lineWait)
	look(every, "line:open")
	look(errorsOnly, "")
	look(api, "")
	write(func(log *RequestLog) { log.Add(site.RequestRecord{ID: "req_7", Path: "/b", Status: 500}) })
	look(every, "req_7")
	look(errorsOnly, "req_7")
	look(api, "")
}

// Run polls by itself and ends with its context.
func TestFollowLogRuns(t *testing.T) {
	path := logFile(t, RequestLogOptions{}, fillLog)
	db := openDB(t, path)
	w, err := FollowLog(t.Context(), db, LogFilter{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	w.last = 0
	ctx, cancel := context.WithCancel(t.Context())
	seen := 0
	if err := w.Run(ctx, func(LogEntry) {
		if seen++; seen == 5 {
			cancel()
		}
	}); err != nil || seen < 5 {
		t.Errorf("%d, %v", seen, err)
	}
}

// The writer rests between batches, to limit the cost of a busy site.
func TestRequestLogRests(t *testing.T) {
	path := filepath.Join(t.TempDir(), "platform.db")
	db := openDB(t, path)
	synctest.Test(t, func(t *testing.T) {
		log, err := OpenRequestLog(t.Context(), db, RequestLogOptions{})
		if err != nil {
			t.Fatal(err)
		}
		for range 3 * logBatch {
			log.Add(site.RequestRecord{ID: "req_x"})
		}
		time.Sleep(logEvery + logEvery/2)
		if waiting := len(log.queue); waiting != 2*logBatch {
			t.Errorf("%d rows wait after the first batch", waiting)
		}
		log.Close()
		if waiting := len(log.queue); waiting != 0 || log.lost.Load() != 0 {
			t.Errorf("%d rows wait after the end, %d are lost", waiting, log.lost.Load())
		}
	})
}

// A flush writes all entries so far, without waiting for the next batch. A closed log is flushed already.
func TestRequestLogFlush(t *testing.T) {
	db := openDB(t, filepath.Join(t.TempDir(), "platform.db"))
	log, err := OpenRequestLog(t.Context(), db, RequestLogOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for n := range 3 {
		for range logBatch + 1 {
			log.Add(site.RequestRecord{ID: "req_x"})
		}
		if err := log.Flush(t.Context()); err != nil {
			t.Fatal(err)
		}
		var rows int
		if err := db.QueryRowContext(t.Context(), "SELECT count(*) FROM request_log").Scan(&rows); err != nil ||
			rows != (n+1)*(logBatch+1) {
			t.Errorf("%d rows after %d flushes (%v)", rows, n+1, err)
		}
	}
	log.Close()
	if err := log.Flush(t.Context()); err != nil {
		t.Error(err)
	}
}

func mustRead(t testing.TB, db *sql.DB, f LogFilter) []LogEntry {
	t.Helper()
	entries, err := ReadLog(t.Context(), db, f)
	if err != nil {
		t.Fatal(err)
	}
	return entries
}

func TestFormatLine(t *testing.T) {
	for _, c := range []struct {
		line         site.LogLine
		plain, color string
	}{
		{site.LogLine{Level: "log", Text: "a"}, "log: a", "log: a"},
		{
			site.LogLine{Level: "warn", Text: "a\nb", At: "src/a.ts:1:2"},
			"warn: a (src/a.ts:1:2)\nb",
			"\x1b[33mwarn: a\x1b[0m \x1b[2m(src/a.ts:1:2)\x1b[0m\n\x1b[33mb\x1b[0m",
		},
		{
			site.LogLine{Level: "error", Text: "x", Stack: []string{"at f (a.ts:1:2)", "at b.ts:3:4"}},
			"error: x\n    at f (a.ts:1:2)\n    at b.ts:3:4",
			"\x1b[31merror: x\x1b[0m\n\x1b[2m    at f (a.ts:1:2)\x1b[0m\n\x1b[2m    at b.ts:3:4\x1b[0m",
		},
		{site.LogLine{Level: "log", Text: "\x1b[32mok\x1b[0m \x1b[2Jgone\x07\r"}, "log: ok [2Jgone", "log: \x1b[32mok\x1b[0m [2Jgone"},
	} {
		t.Run(c.line.Level+" "+c.line.Text, func(t *testing.T) {
			if got := FormatLine(c.line, false); got != c.plain {
				t.Errorf("%q, want %q", got, c.plain)
			}
			if got := FormatLine(c.line, true); got != c.color {
				t.Errorf("in colour %q, want %q", got, c.color)
			}
		})
	}
}

// BenchmarkRequestLogAdd measures the cost of the log for a request.
func BenchmarkRequestLogAdd(b *testing.B) {
	log, err := OpenRequestLog(b.Context(), openDB(b, filepath.Join(b.TempDir(), "platform.db")), RequestLogOptions{})
	if err != nil {
		b.Fatal(err)
	}
	defer log.Close()
	rec := site.RequestRecord{ID: "req_x", Method: "GET", Path: "/api/x", Status: 200}
	b.ReportAllocs()
	for b.Loop() {
		log.Add(rec)
	}
}

// BenchmarkRequestLogWrite measures the cost of the log for the machine, per request.
func BenchmarkRequestLogWrite(b *testing.B) {
	log, err := OpenRequestLog(b.Context(), openDB(b, filepath.Join(b.TempDir(), "platform.db")), RequestLogOptions{})
	if err != nil {
		b.Fatal(err)
	}
	log.Close() // only this goroutine writes
	rec := site.RequestRecord{ID: "req_x", Method: "GET", Path: "/api/x", Status: 200, Meter: &site.Meter{CPUMs: 1}}
	for b.Loop() {
		log.Add(rec)
		if len(log.queue) == logBatch && !log.write(b.Context()) {
			b.Fatal("not written")
		}
	}
}
