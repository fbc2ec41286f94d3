package host

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/pages-toolchain/pages/cmd/internal/localstate"
	"github.com/pages-toolchain/pages/manifest/sitefile"
	"github.com/pages-toolchain/pages/migrate"
	"github.com/pages-toolchain/pages/toolapi/bundle"
	"github.com/pages-toolchain/pages/toolapi/service"
	"github.com/pages-toolchain/pages/toolapi/service/blob"
)

// digest is the SHA-256 of a text, in hexadecimal.
func digest(text string) string { return fmt.Sprintf("%x", sha256.Sum256([]byte(text))) }

// newHost makes a host, and releases of a static site whose only page is a text.
func newHost(t *testing.T) (h *Host, release func(site, text string) service.Release) {
	t.Helper()
	return newHostIn(t, t.TempDir())
}

// newHostIn is hosting in a folder.
func newHostIn(t *testing.T, dir string) (h *Host, release func(site, text string) service.Release) {
	t.Helper()
	logger := slog.New(slog.DiscardHandler)
	store, err := blob.Open(filepath.Join(dir, "blobs"), func(err error) { t.Error(err) })
	if err != nil {
		t.Fatal(err)
	}
	h, err = New(t.Context(), Options{Dir: dir, Now: time.Now, Logger: logger})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := h.Close(); err != nil {
			t.Error(err)
		}
	})
	h.notice = func(err error) { t.Error(err) }
	return h, func(site, text string) service.Release {
		t.Helper()
		r := service.Release{Site: site, Revision: text, WorkspaceID: 1, Workspace: "acme", Files: store.Space(1)}
		f := sitefile.File{Path: "a.txt", SHA256: digest(text), Size: int64(len(text))}
		if _, err := r.Files.Put(f.SHA256, f.Size, strings.NewReader(text)); err != nil {
			t.Fatal(err)
		}
		made, err := bundle.New([]byte("{}"), []sitefile.File{f})
		if err != nil {
			t.Fatal(err)
		}
		r.Bundle = made
		return r
	}
}

// ask returns the response to a visitor of a site.
func ask(h *Host, site string, load func(context.Context) (service.Release, error)) string {
	w := httptest.NewRecorder()
	h.Serve(w, httptest.NewRequest(http.MethodGet, "http://page.localhost/a.txt", nil), site, load)
	return w.Body.String()
}

// TestVisitorsOfASite: when the queue of a site is full, the next visitor gets a 503 with Retry-After, and visitors of another
// site are served.
func TestVisitorsOfASite(t *testing.T) {
	h, of := newHost(t)
	h.maxRequests = 2
	wait, waiting := make(chan struct{}), make(chan struct{}, 2)
	slow := func(context.Context) (service.Release, error) {
		waiting <- struct{}{}
		<-wait
		return of("s", "slow"), nil
	}
	quick := func(context.Context) (service.Release, error) { return of("q", "quick"), nil }
	var all sync.WaitGroup
	for range 2 {
		all.Go(func() {
			if got := ask(h, "s", slow); got != "slow" {
				t.Errorf("who waited gets %q", got)
			}
		})
	}
	<-waiting // one loads the site, and the other waits for that
	for {
		s := h.site("s")
		s.usage.mu.Lock()
		in := s.usage.requests
		s.usage.mu.Unlock()
		if in == 2 {
			break
		}
		runtime.Gosched()
	}
	w := httptest.NewRecorder()
	h.Serve(w, httptest.NewRequest(http.MethodGet, "http://page.localhost/a.txt", nil), "s", slow)
	if w.Code != http.StatusServiceUnavailable || w.Header().Get("Retry-After") != "1" ||
		!strings.Contains(w.Body.String(), `"too_many_visitors"`) {
		t.Errorf("one too many: %d %v %s", w.Code, w.Header(), w.Body)
	}
	if got := ask(h, "q", quick); got != "quick" {
		t.Errorf("another site: %q", got)
	}
	close(wait)
	all.Wait()
	if got := ask(h, "s", slow); got != "slow" {
		t.Errorf("when they have left: %q", got)
	}
}

// TestLoadBesidePublish publishes while the first visitor since the start waits for the release that was live at the time of the request.
func TestLoadBesidePublish(t *testing.T) {
	h, of := newHost(t)
	release := func(text string) service.Release { return of("s", text) }
	visit := func(load func(context.Context) (service.Release, error)) string { return ask(h, "s", load) }
	next, err := h.Prepare(t.Context(), release("new"))
	if err != nil {
		t.Fatal(err)
	}
	old := release("old")
	if got := visit(func(context.Context) (service.Release, error) {
		next.Show()
		return old, nil
	}); got != "new" {
		t.Errorf("the visitor got %q", got)
	}
	if got := visit(nil); got != "new" {
		t.Errorf("the next visitor got %q", got)
	}
	if next, err = h.Prepare(t.Context(), release("newest")); err != nil {
		t.Fatal(err)
	}
	h.sites["s"].usage.shown = false // as after a start
	if got := visit(func(context.Context) (service.Release, error) {
		next.Show()
		return old, errors.New("it was replaced")
	}); got != "newest" || !h.Serving("s") {
		t.Errorf("the visitor whose release could not be loaded got %q", got)
	}
}

// TestMigrationRefused: a release is at fault for its migrations, but not for a database that is unavailable at the moment.
func TestMigrationRefused(t *testing.T) {
	site := &hostedSite{state: &localstate.State{Dir: t.TempDir()}} // on a disk with room
	for code, blamed := range map[string]bool{
		migrate.CodeFailed: true, migrate.CodeChecksumMismatch: true, migrate.CodeDatabaseFull: true, migrate.CodeCancelled: true,
		migrate.CodeLocked: false, migrate.CodeDatabaseUnavailable: false, migrate.CodeDatabaseReadOnly: false,
		migrate.CodeUnreadable: false,
	} {
		t.Run(code, func(t *testing.T) {
			err := site.migrationError(t.Context(), &migrate.Error{Code: code, Msg: "what went wrong"})
			if _, ok := errors.AsType[*service.ReleaseError](err); ok != blamed {
				t.Errorf("%s: %T %v", code, err, err)
			}
		})
	}
}

// TestHostileMigrations: the migrations of a site end, and take no more memory than the platform gives a database.
func TestHostileMigrations(t *testing.T) {
	h, of := newHost(t)
	h.notice, h.maxMigrate = func(error) {}, time.Second
	for i, c := range []struct{ sql, says string }{
		{
			"CREATE TABLE a AS WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT count(*) FROM c",
			"001.sql:1 took longer than 1s and was stopped",
		},
		{"CREATE TABLE a AS SELECT hex(zeroblob(400000000))", "at most 2,000,000 bytes"},
		{"CREATE TABLE a(x)", ""},
	} {
		name := fmt.Sprint("s", i)
		r := of(name, "text")
		f := sitefile.File{Path: "migrations/001.sql", SHA256: digest(c.sql), Size: int64(len(c.sql))}
		if _, err := r.Files.Put(f.SHA256, f.Size, strings.NewReader(c.sql)); err != nil {
			t.Fatal(err)
		}
		made, err := bundle.New([]byte(`{"bindings":{"database":{"migrations":"migrations"}}}`), []sitefile.File{f})
		if err != nil {
			t.Fatal(err)
		}
		r.Bundle = made
		next, err := h.Prepare(t.Context(), r)
		if c.says == "" && err == nil {
			next.Discard()
			continue
		}
		if refused, ok := errors.AsType[*service.ReleaseError](err); !ok || c.says == "" || !strings.Contains(refused.Message, c.says) {
			t.Errorf("%s: %v", c.sql, err)
		}
	}
}
