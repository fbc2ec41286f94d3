package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/pages-toolchain/pages/cmd/internal/failure"
	"github.com/pages-toolchain/pages/cmd/internal/localstate"
	"github.com/pages-toolchain/pages/migrate/statefolder"
)

// TestEveryFailedSync: the n-th fsync of a service fails, once, for each n in turn, while sites are created, published and rolled back, a
// Worker writes to its database, its keys and its bucket, and visitors send forms. For each file, the service does not acknowledge the
// change of the failed fsync, ends and gives the reason, and the next service has every acknowledged change.
func TestEveryFailedSync(t *testing.T) {
	asks(t)
	rounds := soakRounds(2, 100)
	s := &syncRun{data: t.TempDir(), t: t, writes: newLedger(), files: map[string]int{}}
	s.start()
	s.site = s.p.Demo["unpublished_site_id"]
	s.p.ship(t, s.site, writerManifest, map[string]string{"worker.js": writerWorker, "migrations/0001_a.sql": writerTables})
	s.page = s.p.newPageLedger(t, "Sync")
	s.page.refused = s.failed.Load
	for round := range rounds {
		s.countdown.Store(int64(1 + round*100/rounds + rand.IntN(100/rounds))) //nolint:gosec // a choice
		s.act()
		s.start()
		s.check()
	}
	if code := s.p.end(t, os.Interrupt); code != 0 {
		t.Errorf("exit code %d\n%s", code, s.p.stderr)
	}
	s.page.checkHistory(t, s.data)
	t.Logf(
		"%d rounds, %d acknowledged of pages, %d of Workers, %d leads; failed: %v", rounds, s.page.count(),
		s.writes.acks, s.leads, s.files,
	)
}

// syncRun is a service that loses writes, with the responses that its users got.
type syncRun struct {
	t    *testing.T
	data string
	site string
	p    *platformRun

	countdown atomic.Int64 // to the fsync that fails; 0 for none
	failed    atomic.Bool
	last      atomic.Pointer[string] // the file of the one that failed
	mu        sync.Mutex
	files     map[string]int // the number of failed fsyncs, by kind of file

	page   *pageLedger
	writes *ledger
	leads  int // acknowledged
	under  int // leads that may be stored
}

func (s *syncRun) start() {
	s.t.Helper()
	s.failed.Store(false)
	s.p = startPlatformAs(s.t, s.data, func(cmd *exec.Cmd) {
		askFirst(s.t, cmd, func(path string) bool {
			// SQLite syncs the folder of a new log, and ignores the result.
			if found, _ := filepath.Glob(filepath.Join(path, "*.db")); len(found) > 0 || s.countdown.Load() == 0 ||
				s.countdown.Add(-1) != 0 {
				return false
			}
			s.last.Store(&path)
			s.failed.Store(true)
			s.mu.Lock()
			defer s.mu.Unlock()
			s.files[kindOfFile(path)]++
			return true
		})
	})
}

// kindOfFile is a file's name, or the name of its folder if names there are random.
func kindOfFile(path string) string {
	if strings.Contains(path, "/#") {
		return "a blob without a name"
	}
	if strings.Contains(path, "/blobs") || strings.Contains(path, "/incoming") {
		return filepath.Base(filepath.Dir(path)) + "/…"
	}
	return filepath.Base(path)
}

// worker is the site whose Worker writes; a ledger of the writers sends its requests.
func (s *syncRun) worker() *devServer {
	address := strings.TrimPrefix(s.p.URL, "http://")
	_, port, _ := net.SplitHostPort(address)
	dial := func(ctx context.Context, network, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, network, address)
	}
	return &devServer{
		t: s.t, URL: "http://" + net.JoinHostPort(demoNew, port),
		client: &http.Client{Timeout: patience, Transport: &http.Transport{DialContext: dial, DisableKeepAlives: true}},
	}
}

// act makes one change after the other until one is not acknowledged, and waits for the end of the service. A failed checkpoint fails no
// request, and SQLite does not report it: its pages are still in the log, which each commit synced, and it copies all of it again. act
// kills that service.
func (s *syncRun) act() {
	s.t.Helper()
	const most = 400
	for n, after := 0, 0; s.once(n); n++ {
		if s.failed.Load() {
			after++
		}
		switch {
		case after > 30 && strings.Contains(filepath.Base(*s.last.Load()), ".db") && linesWith(s.p.stderr.String(), "disk I/O error") == "":
			s.p.end(s.t, os.Kill)
			return
		case after > 30, n > most:
			s.t.Fatalf("nothing is refused after the fsync of %s\n%s", *s.last.Load(), linesWith(s.p.stderr.String(), "ERROR", "WARN"))
		}
	}
	s.ends()
}

// once makes the n-th change, and reports whether it was acknowledged.
func (s *syncRun) once(n int) (ok bool) {
	switch n % 6 {
	case 0:
		return s.page.once(s.t, s.p)
	case 5:
		s.under++
		v, err := s.p.tryRequest(
			"POST", demoNew, "/__pages/forms", fmt.Sprintf("form=contact&n=%d", n), "Content-Type",
			"application/x-www-form-urlencoded",
		)
		if err != nil || v.status != http.StatusSeeOther {
			return false
		}
		s.under, s.leads = 0, s.leads+1
		return true
	}
	kind := written[n%6-1]
	return s.writes.write(s.worker(), kind, fmt.Sprintf("%s-0-%d", kind, rand.IntN(4))) //nolint:gosec // a choice
}

// ends waits for the end of the service.
func (s *syncRun) ends() {
	s.t.Helper()
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = s.p.cmd.Wait() // the exit code shows it
	}()
	select {
	case <-ended:
	case <-time.After(patience):
		s.t.Fatalf("the service goes on: %v\n%s", s.files, s.p.stderr)
	}
	if code := s.p.cmd.ProcessState.ExitCode(); !s.failed.Load() || code != failure.ExitResource ||
		!strings.Contains(s.p.stderr.String(), "a write did not reach the disk") {
		s.t.Errorf("exit code %d, with an fsync that failed: %t\n%s", code, s.failed.Load(), s.p.stderr)
	}
}

// check compares the next service with the responses that users got.
func (s *syncRun) check() {
	s.t.Helper()
	defer func() {
		if s.t.Failed() {
			s.t.Logf("failed so far: %v\n%s", s.files, linesWith(s.p.stderr.String(), "ERROR", "WARN"))
		}
	}()
	s.page.check(s.t, s.p, s.data)
	s.writes.check(s.t, s.worker())
	db, err := localstate.OpenDatabase(s.t.Context(), filepath.Join(s.data, "sites", s.site, statefolder.PlatformFile), true)
	if err != nil {
		s.t.Fatal(err)
	}
	defer db.Close()
	var leads int
	if err := db.QueryRowContext(s.t.Context(), "SELECT count(*) FROM leads").Scan(&leads); err != nil {
		s.t.Fatal(err)
	}
	if leads < s.leads || leads > s.leads+s.under {
		s.t.Errorf("%d leads, acknowledged were %d, and %d under way", leads, s.leads, s.under)
	}
	s.leads, s.under = leads, 0
	if left := leftovers(s.t, s.data); len(left) != 0 {
		s.t.Errorf("left behind: %q", left)
	}
}

// linesWith returns the lines of a log that have one of some words.
func linesWith(log string, words ...string) (found string) {
	for line := range strings.Lines(log) {
		for _, word := range words {
			if strings.Contains(line, word) {
				found += line
				break
			}
		}
	}
	return found
}
