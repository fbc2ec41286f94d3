package devserver

import (
	"context"
	"database/sql"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/pages-toolchain/pages/devserver/site"
)

func openDB(t testing.TB, path string) *sql.DB {
	t.Helper()
	const pragmas = "?_pragma=busy_timeout(5000)&_pragma=journal_mode(WAL)&_pragma=synchronous(FULL)&_pragma=foreign_keys(1)&_txlock=immediate"
	db, err := sql.Open("sqlite", "file:"+path+pragmas)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return db
}

func openLog(t *testing.T, db *sql.DB) *RequestLog {
	t.Helper()
	log, err := OpenRequestLog(t.Context(), db)
	if err != nil {
		t.Fatal(err)
	}
	return log
}

// flush writes what was added, as the end of a run does.
func flush(t *testing.T, log *RequestLog) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := log.Run(ctx); err != nil {
		t.Fatal(err)
	}
}

func TestRequestLog(t *testing.T) {
	path := filepath.Join(t.TempDir(), "platform.db")
	start := time.UnixMilli(1_700_000_000_000).UTC()
	log := openLog(t, openDB(t, path))
	for i, line := range []string{"200 /", "500 /api/x", "404 /api", "503 /api/y%20z", "200 /apis", "304 /api/"} {
		status, target, _ := strings.Cut(line, " ")
		rec := site.RequestRecord{Method: "GET", Path: target, At: start.Add(time.Duration(i) * time.Minute), Meter: &site.Meter{CPUMs: 1.5}}
		fmt.Sscan(status, &rec.Status)
		log.Add(rec)
	}
	flush(t, log)
	again := openLog(t, openDB(t, path)) // as another program does, with no server running
	tests := []struct {
		filter RequestFilter
		want   string
	}{
		{RequestFilter{}, "/api/ /apis /api/y%20z /api /api/x /"},
		{RequestFilter{Limit: 2}, "/api/ /apis"},
		{RequestFilter{MinStatus: 500, MaxStatus: 599}, "/api/y%20z /api/x"},
		{RequestFilter{Path: "/api"}, "/api"},
		{RequestFilter{Path: "/api/*"}, "/api/ /api/y%20z /api /api/x"},
		{RequestFilter{Path: "/*"}, "/api/ /apis /api/y%20z /api /api/x /"},
		{RequestFilter{Path: "/%"}, ""},
		{RequestFilter{Since: start.Add(4 * time.Minute)}, "/api/ /apis"},
		{RequestFilter{Since: start.Add(time.Minute), Path: "/api/*", MinStatus: 500, Limit: 1}, "/api/y%20z"},
	}
	for _, test := range tests {
		got, err := again.Requests(t.Context(), test.filter)
		if err != nil {
			t.Fatal(err)
		}
		var paths []string
		for _, rec := range got {
			paths = append(paths, rec.Path)
		}
		if strings.Join(paths, " ") != test.want || got == nil {
			t.Errorf("%+v: %v, want %s", test.filter, paths, test.want)
		}
	}
	last, err := again.Requests(t.Context(), RequestFilter{Path: "/"})
	if err != nil || len(last) != 1 || last[0].Meter == nil || last[0].Meter.CPUMs != 1.5 || !last[0].At.Equal(start) {
		t.Errorf("%+v, %v", last, err)
	}
}

func TestRequestLogIsBounded(t *testing.T) {
	db := openDB(t, filepath.Join(t.TempDir(), "platform.db"))
	log := openLog(t, db)
	for range logRoom + 5 {
		log.Add(site.RequestRecord{Path: "/"})
	}
	if log.Lost() != 5 {
		t.Errorf("lost %d records, want 5", log.Lost())
	}
	flush(t, log)
	if _, err := db.ExecContext(t.Context(), "INSERT INTO request_log SELECT ?, 0, 200, '/', '{}'", 3*keptLog); err != nil {
		t.Fatal(err)
	}
	log.Add(site.RequestRecord{Path: "/new"})
	flush(t, log)
	got, err := log.Requests(t.Context(), RequestFilter{})
	if err != nil || len(got) != 2 || got[0].Path != "/new" {
		t.Errorf("%d records are left, %v", len(got), err)
	}
}

// Records are written while the server runs, too, and a database that is gone
// is reported.
func TestRequestLogRuns(t *testing.T) {
	db := openDB(t, filepath.Join(t.TempDir(), "platform.db"))
	log := openLog(t, db)
	ended := make(chan error)
	go func() { ended <- log.Run(t.Context()) }()
	log.Add(site.RequestRecord{Path: "/"})
	deadline := time.Now().Add(patience)
	for got := []site.RequestRecord(nil); len(got) == 0; {
		var err error
		if got, err = log.Requests(t.Context(), RequestFilter{}); err != nil || time.Now().After(deadline) {
			t.Fatal("the record was not written", err)
		}
	}
	db.Close()
	log.Add(site.RequestRecord{Path: "/"})
	if err := <-ended; err == nil {
		t.Error("no error of a closed database")
	}
	if log.Lost() != 1 {
		t.Errorf("lost %d records, want 1", log.Lost())
	}
}
