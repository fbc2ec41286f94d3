package backup_test

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/pages-toolchain/pages/toolapi"
	"github.com/pages-toolchain/pages/toolapi/service"
	"github.com/pages-toolchain/pages/toolapi/service/backup"
)

var now = time.Date(2026, time.November, 22, 12, 0, 0, 0, time.UTC)

// folder is a data folder: a service's database, another one, and files.
func folder(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "data")
	for name, text := range map[string]string{
		"service.lock": "", "secrets.key": "32 bytes", "blobs/1/ab/cdef": "a file", "blobs/tmp/half": "half",
		"empty": "", "x.tmp": "x", "ümlaut/名": strings.Repeat("long ", 1<<16),
	} {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"service.db", "sites/a/site.db"} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o700); err != nil {
			t.Fatal(err)
		}
		run(t, filepath.Join(dir, name), "CREATE TABLE t (n INTEGER); INSERT INTO t VALUES (1), (2)")
	}
	return dir
}

func run(t *testing.T, file, query string) {
	t.Helper()
	db, err := sql.Open("sqlite", file+"?_pragma=journal_mode(WAL)&_pragma=busy_timeout(10000)")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.ExecContext(t.Context(), query); err != nil {
		t.Fatal(err)
	}
}

func count(t *testing.T, file, query string) (n int) {
	t.Helper()
	db, err := sql.Open("sqlite", file)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if err := db.QueryRowContext(t.Context(), query).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

// names lists the entries of a folder.
func names(t *testing.T, dir string) string {
	t.Helper()
	all, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var list []string
	for _, e := range all {
		list = append(list, e.Name())
	}
	return strings.Join(list, " ")
}

// TestRoundTrip: the lasting files come back, and no temporary ones.
func TestRoundTrip(t *testing.T) {
	dir := folder(t)
	at := t.TempDir()
	file, again := filepath.Join(at, "b.tar"), filepath.Join(at, "again")
	wrote, err := backup.Write(t.Context(), dir, file, now)
	if err != nil || wrote.Databases != 2 || wrote.Files != 6 || !wrote.TakenAt.Equal(now) {
		t.Fatalf("%+v %v", wrote, err)
	}
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 && runtime.GOOS != "windows" { // which keeps no modes
		t.Errorf("%v %v", info, err)
	}
	read, err := backup.Restore(t.Context(), file, again)
	if err != nil || read != wrote {
		t.Fatalf("%+v %v", read, err)
	}
	for _, name := range []string{"secrets.key", "blobs/1/ab/cdef", "empty", "ümlaut/名"} {
		t.Run(name, func(t *testing.T) {
			one, err := os.ReadFile(filepath.Join(dir, name))
			two, err2 := os.ReadFile(filepath.Join(again, name))
			if err != nil || err2 != nil || !bytes.Equal(one, two) {
				t.Errorf("%s: %v %v", name, err, err2)
			}
		})
	}
	if got := names(t, again); got != "blobs empty secrets.key service.db sites ümlaut" || names(t, filepath.Join(again, "blobs")) != "1" {
		t.Errorf("%s", got)
	}
	if n := count(t, filepath.Join(again, "sites/a/site.db"), "SELECT count(*) FROM t"); n != 2 {
		t.Errorf("%d rows", n)
	}
	if names(t, at) != "again b.tar" {
		t.Errorf("left over: %s", names(t, at))
	}
	if _, err := backup.Write(t.Context(), dir, file, now); !errors.As(err, new(*backup.ExistsError)) {
		t.Errorf("over another: %v", err)
	}
	if _, err := backup.Restore(t.Context(), file, again); !errors.As(err, new(*backup.ExistsError)) {
		t.Errorf("over data: %v", err)
	}
	if _, err := backup.Write(t.Context(), t.TempDir(), filepath.Join(at, "none.tar"), now); !errors.Is(err, os.ErrNotExist) ||
		names(t, at) != "again b.tar" {
		t.Errorf("of nothing: %v %s", err, names(t, at))
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := backup.Write(ctx, dir, filepath.Join(at, "none.tar"), now); err == nil || names(t, at) != "again b.tar" {
		t.Errorf("cancelled: %v %s", err, names(t, at))
	}
	if _, err := backup.Restore(ctx, file, filepath.Join(at, "none")); err == nil || names(t, at) != "again b.tar" {
		t.Errorf("cancelled: %v %s", err, names(t, at))
	}
}

// TestDamage: a changed archive makes no folder.
func TestDamage(t *testing.T) {
	dir := folder(t)
	at := t.TempDir()
	file := filepath.Join(at, "b.tar")
	if _, err := backup.Write(t.Context(), dir, file, now); err != nil {
		t.Fatal(err)
	}
	whole, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	damaged := filepath.Join(at, "d.tar")
	refuses := func(what string, text []byte) {
		t.Helper()
		if err := os.WriteFile(damaged, text, 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := backup.Restore(t.Context(), damaged, filepath.Join(at, "out")); !errors.As(err, new(*backup.DamagedError)) ||
			names(t, at) != "b.tar d.tar" {
			t.Errorf("%s: %v, there is %s", what, err, names(t, at))
		}
	}
	for n := 0; n < len(whole)-2048; n += len(whole) / 40 {
		refuses(fmt.Sprint("cut at ", n), whole[:n])
	}
	flipped := 0
	for n := 600; n < len(whole)-2048; n += 4099 {
		text := bytes.Clone(whole)
		text[n] ^= 1
		if err := os.WriteFile(damaged, text, 0o600); err != nil {
			t.Fatal(err)
		}
		// A bit of the padding, or of a time in a header, may change.
		sum, err := backup.Restore(t.Context(), damaged, filepath.Join(at, "out"))
		if errors.As(err, new(*backup.DamagedError)) {
			flipped++
			continue
		}
		if err != nil || sum.Files != 6 {
			t.Fatalf("bit at %d: %v", n, err)
		}
		if err := os.RemoveAll(filepath.Join(at, "out")); err != nil {
			t.Fatal(err)
		}
	}
	if flipped < 50 {
		t.Errorf("only %d flipped bits were seen", flipped)
	}
	refuses("no archive", []byte("not a tar"))
	refuses("empty", nil)
}

// countingContext counts the calls of Done: each try to lock a database makes one.
type countingContext struct {
	context.Context
	times atomic.Int32
}

func (a *countingContext) Done() <-chan struct{} {
	a.times.Add(1)
	return a.Context.Done()
}

// waits is more often than a backup asks before it waits for a writer.
const waits = 100

// TestFilesOfThatMoment: files and a database that appear while a backup waits for a writer, which then names them, are in the backup.
func TestFilesOfThatMoment(t *testing.T) {
	dir, at := folder(t), t.TempDir()
	db, err := sql.Open("sqlite", filepath.Join(dir, "service.db")+"?_txlock=immediate")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	writer, err := db.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan error)
	ctx := &countingContext{Context: t.Context()}
	go func() {
		_, err := backup.Write(ctx, dir, filepath.Join(at, "b.tar"), now)
		done <- err
	}()
	for end := time.Now().Add(time.Minute); names(t, at) == "" || ctx.times.Load() < waits; { // it tries to begin again and again
		if time.Now().After(end) {
			t.Fatalf("the backup does not wait: Done was called %d times", ctx.times.Load())
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "blobs", "1", "ab", "late"), []byte("late"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Join(dir, "sites", "late"), 0o700); err != nil {
		t.Fatal(err)
	}
	run(t, filepath.Join(dir, "sites", "late", "site.db"), "CREATE TABLE t (n INTEGER); INSERT INTO t VALUES (7)")
	if _, err := writer.ExecContext(t.Context(), "INSERT INTO t VALUES (3)"); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(writer.Commit(), <-done); err != nil {
		t.Fatal(err)
	}
	again := filepath.Join(at, "again")
	if _, err := backup.Restore(t.Context(), filepath.Join(at, "b.tar"), again); err != nil {
		t.Fatal(err)
	}
	if n := count(t, filepath.Join(again, "service.db"), "SELECT count(*) FROM t"); n != 3 {
		t.Fatalf("the backup was taken before, with %d rows", n)
	}
	if text, err := os.ReadFile(filepath.Join(again, "blobs", "1", "ab", "late")); err != nil || string(text) != "late" {
		t.Errorf("the file: %q %v", text, err)
	}
	if n := count(t, filepath.Join(again, "sites", "late", "site.db"), "SELECT n FROM t"); n != 7 {
		t.Errorf("the database has %d", n)
	}
}

// TestBesideAPublish: a publish holds the database of its site when it writes to that of the service; a backup that waits for
// the first does not keep it from the second.
func TestBesideAPublish(t *testing.T) {
	dir := folder(t)
	site, err := sql.Open("sqlite", filepath.Join(dir, "sites", "a", "site.db")+"?_txlock=immediate")
	if err != nil {
		t.Fatal(err)
	}
	defer site.Close()
	publish, err := site.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	archive := filepath.Join(t.TempDir(), "backup.tar")
	done := make(chan error)
	ctx := &countingContext{Context: t.Context()}
	go func() {
		_, err := backup.Write(ctx, dir, archive, now)
		done <- err
	}()
	for end := time.Now().Add(time.Minute); ctx.times.Load() < waits; runtime.Gosched() { // it waits for the site
		if time.Now().After(end) {
			t.Fatalf("the backup does not wait: Done was called %d times", ctx.times.Load())
		}
	}
	run(t, filepath.Join(dir, "service.db"), "INSERT INTO t VALUES (3)")
	if _, err := publish.ExecContext(t.Context(), "INSERT INTO t VALUES (3)"); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(publish.Commit(), <-done); err != nil {
		t.Fatal(err)
	}
	again := filepath.Join(t.TempDir(), "again")
	if _, err := backup.Restore(t.Context(), archive, again); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"service.db", "sites/a/site.db"} {
		if n := count(t, filepath.Join(again, name), "SELECT count(*) FROM t"); n != 3 {
			t.Errorf("%s has %d rows, want 3", name, n)
		}
	}
}

// TestWhileItRuns: a backup of a service under load is the service at one moment.
func TestWhileItRuns(t *testing.T) {
	dir := t.TempDir()
	s, err := service.Open(t.Context(), filepath.Join(dir, "service.db"), service.Options{PerMinute: 1_000_000})
	if err != nil {
		t.Fatal(err)
	}
	demo, err := s.Seed(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(s)
	done := make(chan struct{})
	var group sync.WaitGroup
	acknowledged := 0
	var mu sync.Mutex
	for worker := range 3 {
		group.Go(func() {
			for n := 0; ; n++ {
				select {
				case <-done:
					return
				default:
				}
				r, err := http.NewRequestWithContext(
					t.Context(), http.MethodPost, server.URL+toolapi.ToolsPath+"page.create",
					strings.NewReader(`{"name":"Under load"}`),
				)
				if err != nil {
					t.Error(err)
					return
				}
				r.Header = http.Header{
					"Authorization": {"Bearer " + demo.Keys["member"]}, "Content-Type": {"application/json"},
					"Idempotency-Key": {fmt.Sprintf("%d-%d", worker, n%900)},
				}
				resp, err := server.Client().Do(r)
				if err != nil {
					t.Error(err)
					return
				}
				_ = resp.Body.Close()
				if resp.StatusCode != http.StatusOK {
					t.Errorf("status %d", resp.StatusCode)
				}
				mu.Lock()
				acknowledged++
				mu.Unlock()
			}
		})
	}
	out := t.TempDir()
	for n := range 5 {
		mu.Lock()
		before := acknowledged
		mu.Unlock()
		file, again := filepath.Join(out, fmt.Sprint(n, ".tar")), filepath.Join(out, fmt.Sprint(n))
		if _, err := backup.Write(t.Context(), dir, file, now); err != nil {
			t.Fatal(err)
		}
		if _, err := backup.Restore(t.Context(), file, again); err != nil {
			t.Fatal(err)
		}
		db := filepath.Join(again, "service.db")
		sites, domains, answers := count(t, db, "SELECT count(*) FROM sites WHERE name = 'Under load'"),
			count(t, db, "SELECT count(*) FROM domains WHERE hostname LIKE 'under-load%'"),
			count(t, db, "SELECT count(*) FROM answers WHERE NOT refusal")
		if sites != domains || sites != answers || count(t, db, "SELECT count(*) FROM audit WHERE tool = 'page.create'") < before {
			t.Errorf("%d sites, %d addresses, %d answers; %d calls were acknowledged before", sites, domains, answers, before)
		}
	}
	close(done)
	group.Wait()
	server.Close()
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	restored, err := service.Open(t.Context(), filepath.Join(out, "4", "service.db"), service.Options{})
	if err != nil {
		t.Fatal(err)
	}
	keys, err := restored.Keys(t.Context())
	if err := errors.Join(err, restored.Close()); err != nil || len(keys) != len(demo.Keys) {
		t.Errorf("%d keys, %v", len(keys), err)
	}
}
