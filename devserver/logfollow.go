package devserver

import (
	"context"
	"database/sql"
	"time"

	"github.com/pages-toolchain/pages/devserver/site"
)

const (
	// followEvery is how often a follower looks for news.
	followEvery = 200 * time.Millisecond
	// lineWait is how long a line waits for its request to end, to be told with it.
	lineWait = time.Second
	// followedIDs is how many requests a follower remembers, for what they log
	// after their answer.
	followedIDs = 1000
)

// LogFollower tells of what comes into a log. A line is told with its request,
// unless that goes on for longer than a second or was told before.
type LogFollower struct {
	db     *sql.DB
	filter LogFilter
	now    func() time.Time

	last    int64           // the newest row that was read
	chosen  map[string]bool // requests that were seen: did the filter choose them?
	recent  []string        // the keys of chosen, the oldest first
	waiting []waitingLine   // whose requests have not been seen
}

type waitingLine struct {
	line  site.LogLine
	known bool // the filter for lines chooses it
	since time.Time
}

// FollowLog follows a log from its present end. now is nil for time.Now. The
// filter's Since and Limit do not count.
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
		if err := w.poll(ctx, tell); err != nil {
			if ctx.Err() != nil {
				return nil // it was told to stop
			}
			return err
		}
	}
}

// poll tells of the rows that came since it last looked.
func (w *LogFollower) poll(ctx context.Context, tell func(LogEntry)) error {
	there, err := hasLog(ctx, w.db)
	if err != nil || !there {
		return err
	}
	rows, err := readRows(ctx, w.db, `SELECT seq, request, line, document FROM request_log WHERE seq > ? ORDER BY seq`, w.last)
	if err != nil {
		return err
	}
	if len(rows) > 0 {
		chosen, err := w.selectRows(ctx)
		if err != nil {
			return err
		}
		for _, r := range rows {
			w.take(r, chosen[r.seq], tell)
		}
		w.last = rows[len(rows)-1].seq
	}
	w.letGo(tell)
	return nil
}

// selectRows returns the new rows that the filter chooses.
func (w *LogFollower) selectRows(ctx context.Context) (map[int64]bool, error) {
	requests, lines, args := w.filter.conditions()
	rows, err := readRows(ctx, w.db, `SELECT r.seq, r.request, r.line, r.document FROM request_log AS r
WHERE (r.line = 0 AND (`+requests+`) OR r.line = 1 AND (`+lines+`)) AND r.seq > ?`, append(args, w.last)...)
	chosen := map[int64]bool{}
	for _, r := range rows {
		chosen[r.seq] = true
	}
	return chosen, err
}

func (w *LogFollower) take(r storedRow, chosen bool, tell func(LogEntry)) {
	switch {
	case !r.isLine:
		w.remember(r.request, chosen)
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

func (w *LogFollower) remember(id string, chosen bool) {
	w.chosen[id] = chosen
	if w.recent = append(w.recent, id); len(w.recent) > followedIDs {
		delete(w.chosen, w.recent[0])
		w.recent = w.recent[1:]
	}
}

// linesOf takes the lines of a request out of those that wait.
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

// letGo tells of the lines that have waited for too long.
func (w *LogFollower) letGo(tell func(LogEntry)) {
	for len(w.waiting) > 0 && w.now().Sub(w.waiting[0].since) >= lineWait {
		if l := w.waiting[0]; l.known {
			tell(LogEntry{Line: &l.line})
		}
		w.waiting = w.waiting[1:]
	}
}
