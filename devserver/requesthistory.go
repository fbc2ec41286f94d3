package devserver

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/pages-toolchain/pages/devserver/site"
	"github.com/pages-toolchain/pages/runtime/trace"
)

// LogFilter chooses requests of the log, and lines without a request. The zero value chooses all.
type LogFilter struct {
	Since  time.Time     // no older ones
	Status []StatusRange // one of these
	// Route is a pattern as the manifest lists it.
	Route string
	// Path is a glob for the path: "*" matches anything, "/" included, "?" one character, "[a-z]" one of several.
	Path   string
	Method string
	// Level chooses requests with a line of that level or a more severe one; a failed request counts as "error".
	Level string
	// Text must occur in paths, errors or lines; the case does not matter.
	Text    string
	Request string // the beginning of the id
	// Trace is the id of a trace, or the beginning of the id of a request. The entries then have their traces.
	Trace  string
	Slow   time.Duration // requests of at least this duration
	Member string        // email
	Limit  int           // the newest ones, at most so many; 0 means all
}

// StatusRange is a range of HTTP status codes, both ends included.
type StatusRange struct{ From, To int }

// LoggedRequest is a request and its lines, the oldest first.
type LoggedRequest struct {
	site.RequestRecord
	Logs []site.LogLine `json:"logs"`
	// Spans is the trace of a request that a filter chose by it; nil for a request without spans.
	Spans *trace.Document `json:"trace,omitempty"`
}

// LogHistory is a part of the log, newest first.
type LogHistory struct {
	Requests []LoggedRequest `json:"requests"`
	// Logs are lines without a request, or whose request is not in the log (yet).
	Logs []site.LogLine `json:"logs"`
}

// LogEntry is one entry of the log in its order: a request or a line.
type LogEntry struct {
	Request *LoggedRequest
	Line    *site.LogLine
}

// LogLevels returns the levels for LogFilter.Level.
func LogLevels() []string { return slices.Clone(severities) }

// conditions returns SQL that chooses requests, and lines, with the arguments of both in turn. The table is r.
func (f LogFilter) conditions() (requests, lines string, args []any) {
	var forBoth, forRequests terms
	forBoth.add(!f.Since.IsZero(), "r.at >= ?", f.Since.UnixMilli())
	forBoth.add(f.Request != "", "substr(r.request, 1, length(?)) = ?", f.Request, f.Request)
	forRequests = terms{slices.Clone(forBoth.sql), slices.Clone(forBoth.args)}
	var ranges terms
	for _, s := range f.Status {
		ranges.add(true, "r.status BETWEEN ? AND ?", s.From, s.To)
	}
	forRequests.add(len(f.Status) > 0, "("+strings.Join(ranges.sql, " OR ")+")", ranges.args...)
	forRequests.add(f.Route != "", "r.route = ?", f.Route)
	forRequests.add(f.Path != "", "r.path GLOB ?", f.Path)
	forRequests.add(f.Method != "", "r.method = ?", strings.ToUpper(f.Method))
	forRequests.add(f.Member != "", "r.member = ?", f.Member)
	if _, isID := trace.ParseID(f.Trace); isID {
		forRequests.add(true, "r.trace = ?", f.Trace)
	} else {
		forRequests.add(f.Trace != "", "substr(r.request, 1, length(?)) = ?", f.Trace, f.Trace)
	}
	forRequests.add(f.Slow > 0, "r.document ->> '$.ms' >= ?", float64(f.Slow)/float64(time.Millisecond))
	const ofLine = " OR EXISTS (SELECT 1 FROM request_log AS l WHERE l.request = r.request AND l.line = 1 AND "
	const severe, holds = ".severity >= ?", "instr(lower(%s.text), lower(?)) > 0"
	rank := severity(f.Level)
	forRequests.add(f.Level != "", "(r"+severe+ofLine+"l"+severe+"))", rank, rank)
	forRequests.add(f.Text != "", "("+fmt.Sprintf(holds, "r")+ofLine+fmt.Sprintf(holds, "l")+"))", f.Text, f.Text)
	forBoth.add(f.Level != "", "r"+severe, rank)
	forBoth.add(f.Text != "", fmt.Sprintf(holds, "r"), f.Text)
	requestsOnly := len(f.Status) > 0 || f.Route != "" || f.Path != "" || f.Method != "" || f.Member != "" ||
		f.Trace != "" || f.Slow > 0
	forBoth.add(requestsOnly, "false")
	return forRequests.and(), forBoth.and(), slices.Concat(forRequests.args, forBoth.args)
}

// terms are the parts of a condition and their arguments.
type terms struct {
	sql  []string
	args []any
}

func (t *terms) add(wanted bool, sql string, args ...any) {
	if wanted {
		t.sql, t.args = append(t.sql, sql), append(t.args, args...)
	}
}

func (t *terms) and() string { return strings.Join(append([]string{"true"}, t.sql...), " AND ") }

// ReadLog returns the entries of the log that the filter chooses, oldest first. A database without a log is empty. It only reads, and may
// run beside a server that writes.
func ReadLog(ctx context.Context, db *sql.DB, f LogFilter) ([]LogEntry, error) {
	columns, err := logColumns(ctx, db)
	if err != nil || len(columns) == 0 {
		return nil, err
	}
	hasTraces := slices.Contains(columns, traceColumn) // otherwise an earlier version wrote it
	if _, isID := trace.ParseID(f.Trace); isID && !hasTraces {
		return nil, nil
	}
	requests, lines, args := f.conditions()
	limit := f.Limit
	if limit <= 0 {
		limit = -1
	}
	query := `SELECT r.seq, r.request, r.line, r.document FROM request_log AS r
WHERE r.line = 0 AND (` + requests + `) OR r.line = 1 AND (` + lines + `)
  AND NOT EXISTS (SELECT 1 FROM request_log AS o WHERE o.request = r.request AND o.line = 0)
ORDER BY r.seq DESC LIMIT ?`
	rows, err := readRows(ctx, db, query, append(args, limit)...)
	if err != nil {
		return nil, err
	}
	slices.Reverse(rows)
	entries, err := withLines(ctx, db, rows)
	if err != nil || f.Trace == "" || !hasTraces {
		return entries, err
	}
	return entries, addTraces(ctx, db, entries)
}

// addTraces reads the traces of requests.
func addTraces(ctx context.Context, db *sql.DB, entries []LogEntry) error {
	for _, e := range entries {
		if e.Request == nil {
			continue
		}
		var document []byte
		const look = `SELECT spans FROM request_log WHERE request = ? AND line = 0 AND spans IS NOT NULL`
		err := db.QueryRowContext(ctx, look, e.Request.ID).Scan(&document)
		if errors.Is(err, sql.ErrNoRows) {
			continue
		}
		if err == nil {
			err = json.Unmarshal(document, &e.Request.Spans)
		}
		if err != nil {
			return fmt.Errorf("request log: %w", err)
		}
	}
	return nil
}

// hasLog reports whether a database has the log's table.
func hasLog(ctx context.Context, db *sql.DB) (there bool, err error) {
	columns, err := logColumns(ctx, db)
	return len(columns) > 0, err
}

// logColumns returns the columns of the log's table, none without one.
func logColumns(ctx context.Context, db *sql.DB) (names []string, err error) {
	var list string
	const look = `SELECT coalesce(group_concat(name, ' '), '') FROM pragma_table_info('request_log')`
	if err := db.QueryRowContext(ctx, look).Scan(&list); err != nil {
		return nil, fmt.Errorf("request log: %w", err)
	}
	return strings.Fields(list), nil
}

// storedRow is a row of the database.
type storedRow struct {
	seq     int64
	request string
	isLine  bool
	record  site.RequestRecord
	line    site.LogLine
}

func readRows(ctx context.Context, db *sql.DB, query string, args ...any) (list []storedRow, err error) {
	rows, err := db.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, fmt.Errorf("request log: %w", err)
	}
	defer rows.Close()
	for rows.Next() {
		var r storedRow
		var document []byte
		if err := rows.Scan(&r.seq, &r.request, &r.isLine, &document); err != nil {
			return nil, fmt.Errorf("request log: %w", err)
		}
		into := any(&r.record)
		if r.isLine {
			into = &r.line
		}
		if err := json.Unmarshal(document, into); err != nil {
			return nil, fmt.Errorf("request log: %w", err)
		}
		list = append(list, r)
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("request log: %w", err)
	}
	return list, nil
}

// withLines adds the lines of requests to them.
func withLines(ctx context.Context, db *sql.DB, rows []storedRow) ([]LogEntry, error) {
	entries := make([]LogEntry, 0, len(rows))
	byID := map[string]*LoggedRequest{}
	for i := range rows {
		if rows[i].isLine {
			entries = append(entries, LogEntry{Line: &rows[i].line})
			continue
		}
		request := &LoggedRequest{RequestRecord: rows[i].record, Logs: []site.LogLine{}}
		byID[rows[i].request] = request
		entries = append(entries, LogEntry{Request: request})
	}
	const most = 500 // arguments of one query
	for ids := range slices.Chunk(slices.Collect(maps.Keys(byID)), most) {
		args := make([]any, len(ids))
		for i, id := range ids {
			args[i] = id
		}
		query := `SELECT seq, request, line, document FROM request_log WHERE line = 1 AND request IN (?` +
			strings.Repeat(", ?", len(ids)-1) + `) ORDER BY seq`
		lines, err := readRows(ctx, db, query, args...)
		if err != nil {
			return nil, err
		}
		for _, l := range lines {
			byID[l.request].Logs = append(byID[l.request].Logs, l.line)
		}
	}
	return entries, nil
}

// History converts entries to the document: newest first.
func History(entries []LogEntry) LogHistory {
	h := LogHistory{Requests: []LoggedRequest{}, Logs: []site.LogLine{}}
	for _, e := range slices.Backward(entries) {
		if e.Line != nil {
			h.Logs = append(h.Logs, *e.Line)
		} else {
			h.Requests = append(h.Requests, *e.Request)
		}
	}
	return h
}

const (
	// followEvery is how often a follower polls.
	followEvery = 200 * time.Millisecond
	// lineWait is how long a line waits for the end of its request, to appear with it.
	lineWait = time.Second
	// followedIDs is the number of requests that a follower remembers, for lines after their response.
	followedIDs = 1000
)

// LogFollower follows a log. A line appears with its request, unless the request takes longer than a second or has appeared already.
type LogFollower struct {
	db     *sql.DB
	filter LogFilter
	now    func() time.Time

	last    int64           // the newest row that was read
	chosen  map[string]bool // whether the filter chose a request
	recent  []string        // the keys of chosen, the oldest first
	waiting []waitingLine   // lines whose requests have not appeared
}

type waitingLine struct {
	line   site.LogLine
	chosen bool // by the filter for lines
	since  time.Time
}

// FollowLog follows a log from its present end. now is nil for time.Now. It ignores the filter's Since and Limit.
func FollowLog(ctx context.Context, db *sql.DB, f LogFilter, now func() time.Time) (*LogFollower, error) {
	if now == nil {
		now = time.Now
	}
	f.Since, f.Limit = time.Time{}, 0
	w := &LogFollower{db: db, filter: f, now: now, chosen: map[string]bool{}}
	there, err := hasLog(ctx, db)
	if err != nil || !there {
		return w, err
	}
	return w, db.QueryRowContext(ctx, `SELECT coalesce(max(seq), 0) FROM request_log`).Scan(&w.last)
}

// Run calls tell for each entry until ctx ends, and returns the database's error, if any.
func (w *LogFollower) Run(ctx context.Context, tell func(LogEntry)) error {
	tick := time.NewTicker(followEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
		err := w.poll(ctx, tell)
		if ctx.Err() != nil {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// poll passes on the rows since the last poll.
func (w *LogFollower) poll(ctx context.Context, tell func(LogEntry)) error {
	there, err := hasLog(ctx, w.db)
	if err != nil || !there {
		return err
	}
	rows, err := readRows(ctx, w.db, `SELECT seq, request, line, document FROM request_log
WHERE seq > ? ORDER BY seq`, w.last)
	if err != nil {
		return err
	}
	if len(rows) > 0 {
		requests, lines, args := w.filter.conditions()
		list, err := readRows(ctx, w.db, `SELECT r.seq, r.request, r.line, r.document FROM request_log AS r
WHERE (r.line = 0 AND (`+requests+`) OR r.line = 1 AND (`+lines+`)) AND r.seq > ?`, append(args, w.last)...)
		if err != nil {
			return err
		}
		chosen := map[int64]bool{}
		for _, r := range list {
			chosen[r.seq] = true
		}
		for _, r := range rows {
			w.take(r, chosen[r.seq], tell)
		}
		w.last = rows[len(rows)-1].seq
	}
	for len(w.waiting) > 0 && w.now().Sub(w.waiting[0].since) >= lineWait {
		if l := w.waiting[0]; l.chosen {
			tell(LogEntry{Line: &l.line})
		}
		w.waiting = w.waiting[1:]
	}
	return nil
}

func (w *LogFollower) take(r storedRow, chosen bool, tell func(LogEntry)) {
	switch {
	case !r.isLine:
		w.chosen[r.request] = chosen
		if w.recent = append(w.recent, r.request); len(w.recent) > followedIDs {
			delete(w.chosen, w.recent[0])
			w.recent = w.recent[1:]
		}
		request := &LoggedRequest{RequestRecord: r.record, Logs: w.linesOf(r.request)}
		if chosen {
			tell(LogEntry{Request: request})
		}
	case r.request == "":
		if chosen {
			tell(LogEntry{Line: &r.line})
		}
	default:
		if of, seen := w.chosen[r.request]; !seen {
			w.waiting = append(w.waiting, waitingLine{r.line, chosen, w.now()})
		} else if of || chosen {
			tell(LogEntry{Line: &r.line})
		}
	}
}

// linesOf removes the lines of a request from the waiting ones.
func (w *LogFollower) linesOf(id string) []site.LogLine {
	lines, others := []site.LogLine{}, w.waiting[:0]
	for _, l := range w.waiting {
		if l.line.Request == id {
			lines = append(lines, l.line)
		} else {
			others = append(others, l)
		}
	}
	w.waiting = others
	return lines
}
