package host

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/pages-toolchain/pages/cmd/internal/localstate"
	"github.com/pages-toolchain/pages/migrate/statefolder"
	"github.com/pages-toolchain/pages/toolapi"
	"github.com/pages-toolchain/pages/toolapi/service"
)

// killed is a host on the disk as it would be if the process of another host were killed now.
func killed(t *testing.T, h *Host) *Host {
	t.Helper()
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(filepath.Dir(h.dir))); err != nil {
		t.Fatal(err)
	}
	next, _ := newHostIn(t, dir)
	next.notice = func(error) {}
	return next
}

// prepared is a release of a publish that waits for the decision.
func prepared(t *testing.T, h *Host, r service.Release) service.Prepared {
	t.Helper()
	next, err := h.Prepare(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	return next
}

const takesOrders = "DELETE FROM orders; CREATE TABLE notes (x)"

// ordersHost returns a host whose site s has two orders, and the release that publishes a revision without orders.
func ordersHost(t *testing.T) (h *Host, release func(more ...string) service.Release, publish service.Release) {
	t.Helper()
	h, release = peopleHost(t)
	publish = release(takesOrders)
	publish.Live, publish.Applied = release().Revision, []string{"0001.sql"}
	return h, release, publish
}

func live(r service.Release, applied ...string) service.Release {
	r.Live, r.Applied, r.Force = r.Revision, applied, true
	return r
}

// TestPublishIsOneChange: until the service has decided, visitors read the old state and cannot write; a discarded publish leaves no trace.
func TestPublishIsOneChange(t *testing.T) {
	h, _, publish := ordersHost(t)
	order := filepath.Join(h.dir, "s", statefolder.PublishFile)
	next := prepared(t, h, publish)
	if n := rowsOf(t, h, "orders"); n != 2 {
		t.Errorf("before the decision there are %d orders", n)
	}
	insert := func(ctx context.Context) error {
		db, err := localstate.OpenDatabase(ctx, filepath.Join(h.dir, "s", statefolder.SiteFile), false)
		if err != nil {
			return err
		}
		defer db.Close()
		_, err = db.ExecContext(ctx, "INSERT INTO orders(person) VALUES (2)")
		return err
	}
	short, stop := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer stop()
	if err := insert(short); err == nil {
		t.Error("a visitor writes between the migrations and the decision")
	}
	if _, err := os.Stat(order); err != nil {
		t.Error(err)
	}
	next.Discard()
	if err := insert(t.Context()); err != nil || rowsOf(t, h, "orders") != 3 {
		t.Errorf("after it was discarded: %v", err)
	}
	prepared(t, h, publish).Show()
	if n := rowsOf(t, h, "orders"); n != 0 {
		t.Errorf("%d orders are left", n)
	}
	if _, err := os.Stat(order); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the order is left: %v", err)
	}
}

// TestPublishKilled: a process that is killed between the migrations and the decision leaves the old data, and one that is killed after the
// decision the new data, whatever the first call on the site is.
func TestPublishKilled(t *testing.T) {
	visit := func(r service.Release) func(*testing.T, *Host) {
		return func(t *testing.T, h *Host) {
			t.Helper()
			ask(h, "s", func(context.Context) (service.Release, error) { return r, nil })
		}
	}
	publishes := func(r service.Release) func(*testing.T, *Host) {
		return func(t *testing.T, h *Host) { t.Helper(); prepared(t, h, r).Show() }
	}
	_, release, publish := ordersHost(t)
	decided := live(publish, "0001.sql", "0002.sql")
	third := release(takesOrders, "CREATE TABLE third (x)")
	third.Live, third.Applied = publish.Revision, decided.Applied
	afresh := third
	afresh.Live = "" // nothing is live meanwhile
	other := release("CREATE TABLE other (x)")
	other.Live, other.Applied = publish.Live, []string{"0001.sql"}
	judging := third
	judging.Judge = func(m toolapi.Migrated) error {
		if len(m.DataLoss) > 0 {
			return fmt.Errorf("asked about %v once more", m.DataLoss)
		}
		return nil
	}
	for _, c := range []struct {
		name       string
		first      func(*testing.T, *Host)
		rows, made int // of orders, and of the tables that the first action makes
	}{
		{"before it, a visit", visit(live(release(), "0001.sql")), 2, 0},
		{"before it, another publish", publishes(other), 2, 1},
		{"before it, the same publish", publishes(publish), 0, 0},
		{"after it, a visit", visit(decided), 0, 0},
		{"after it, the next publish", publishes(third), 0, 1},
		{"after it, a publish that loses nothing", publishes(judging), 0, 1},
		{"after it, a publish of a page that was taken down", publishes(afresh), 0, 1},
		{"after it, a plan", func(t *testing.T, h *Host) {
			t.Helper()
			m, err := h.Rehearse(t.Context(), third)
			if err != nil || len(m.DataLoss) > 0 || len(m.Rehearsal.Files) != 1 {
				t.Errorf("%+v %v", m, err)
			}
		}, 0, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			h, _, _ := ordersHost(t)
			waiting := prepared(t, h, publish)
			next := killed(t, h)
			waiting.Discard()
			c.first(t, next)
			made := rowsOf(t, next, "sqlite_schema WHERE name IN ('other', 'third')")
			if rows := rowsOf(t, next, "orders"); rows != c.rows || made != c.made {
				t.Errorf("%d orders and %d new tables, want %d and %d", rows, made, c.rows, c.made)
			}
			if _, err := os.Stat(filepath.Join(next.dir, "s", statefolder.PublishFile)); !errors.Is(err, os.ErrNotExist) {
				t.Errorf("the order is left: %v", err)
			}
		})
	}
}

// failingCommit is a set of migrations whose commit the disk refuses.
type failingCommit struct{ *preparedMigrations }

var errDisk = errors.New("the disk refuses")

func (f failingCommit) commit() error {
	f.transaction.Rollback()
	return errDisk
}

// TestCommitFails: a publish that the service has decided and the disk refused is not shown before it is applied.
func TestCommitFails(t *testing.T) {
	h, release, publish := ordersHost(t)
	next, ok := prepared(t, h, publish).(*preparedRelease)
	if !ok {
		t.Fatalf("%T", next)
	}
	waiting, ok := next.data.(*preparedMigrations)
	if !ok {
		t.Fatalf("%T", next.data)
	}
	next.data = failingCommit{waiting}
	next.Show()
	if n := rowsOf(t, h, "orders"); n != 2 || h.site("s").usage.isShown() {
		t.Errorf("%d orders; a release is in service: %v", n, h.site("s").usage.isShown())
	}
	decided := live(publish, "0001.sql", "0002.sql")
	third := release(takesOrders, "CREATE TABLE third (x)")
	third.Live, third.Applied = publish.Revision, decided.Applied
	m, err := h.Rehearse(t.Context(), third)
	if err != nil || len(m.DataLoss) > 0 {
		t.Errorf("%+v %v", m.DataLoss, err)
	}
	ask(h, "s", func(context.Context) (service.Release, error) { return decided, nil })
	if n := rowsOf(t, h, "orders"); n != 0 || !h.site("s").usage.isShown() {
		t.Errorf("%d orders are left; a release is in service: %v", n, h.site("s").usage.isShown())
	}
}

// TestFirstPublishKilled: after the first publish was killed after its decision, a database without any migration does not count as
// emptied.
func TestFirstPublishKilled(t *testing.T) {
	h, of := newHost(t)
	h.notice = func(error) {}
	first := sizedRelease(t, of("new", "r1"), databaseManifest, map[string]string{"migrations/1.sql": "CREATE TABLE rows (x)"})
	waiting := prepared(t, h, first)
	next := killed(t, h)
	waiting.Discard()
	if err := prepareAndDiscard(t, next, live(first, "1.sql")); err != nil {
		t.Error(err)
	}
	if err := os.Remove(filepath.Join(h.dir, "new", statefolder.SiteFile)); err != nil {
		t.Fatal(err)
	}
	err := prepareAndDiscard(t, killed(t, h), live(first, "1.sql"))
	if refused, ok := errors.AsType[*service.ReleaseError](err); !ok || refused.Code != toolapi.CodeMigrationFailed {
		t.Errorf("an emptied one: %v", err)
	}
}

func prepareAndDiscard(t *testing.T, h *Host, r service.Release) error {
	t.Helper()
	next, err := h.Prepare(t.Context(), r)
	if err == nil {
		next.Discard()
	}
	return err
}

// TestTornOrder: a power loss during the write of the order counts as one before the decision.
func TestTornOrder(t *testing.T) {
	h, release, _ := ordersHost(t)
	next := killed(t, h)
	if err := os.WriteFile(filepath.Join(next.dir, "s", statefolder.PublishFile), []byte(`{"revision":"r2","pen`), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := prepareAndDiscard(t, next, live(release(), "0001.sql")); err != nil {
		t.Error(err)
	}
}

// TestBrokenWorkerMigratesNothing: a Worker that cannot start leaves the database unchanged.
func TestBrokenWorkerMigratesNothing(t *testing.T) {
	h, release, _ := ordersHost(t)
	r := release()
	r.Live = r.Revision
	r = sizedRelease(t, r, `{"entry":"w/worker.js","routes":[{"pattern":"/api/*"}],"bindings":{"database":{"migrations":"migrations"}}}`,
		map[string]string{
			"migrations/0001.sql": contentsOf(t, r, "migrations/0001.sql"), "migrations/0002.sql": takesOrders,
			"w/worker.js": "throw new Error('no')",
		})
	r.Revision = "broken"
	_, err := h.Prepare(t.Context(), r)
	if refused, ok := errors.AsType[*service.ReleaseError](err); !ok || refused.Code != toolapi.CodeWorkerFailed {
		t.Errorf("%v", err)
	}
	if n := rowsOf(t, h, "orders"); n != 2 {
		t.Errorf("%d orders are left", n)
	}
}

func contentsOf(t *testing.T, r service.Release, path string) string {
	t.Helper()
	f, ok := r.Bundle.File(path)
	if !ok {
		t.Fatal(path)
	}
	text, err := contents(r, f)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
