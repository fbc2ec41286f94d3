package host

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pages-toolchain/pages/manifest/sitefile"
	"github.com/pages-toolchain/pages/migrate/dbfile"
	"github.com/pages-toolchain/pages/migrate/statefolder"
	"github.com/pages-toolchain/pages/toolapi/bundle"
	"github.com/pages-toolchain/pages/toolapi/service"
)

// sizedRelease is a release of the given files.
func sizedRelease(t *testing.T, r service.Release, manifest string, files map[string]string) service.Release {
	t.Helper()
	var list []sitefile.File
	for path, text := range files {
		f := sitefile.File{Path: path, SHA256: digest(text), Size: int64(len(text))}
		if _, err := r.Files.Put(f.SHA256, f.Size, strings.NewReader(text)); err != nil {
			t.Fatal(err)
		}
		list = append(list, f)
	}
	made, err := bundle.New([]byte(manifest), list)
	if err != nil {
		t.Fatal(err)
	}
	r.Bundle = made
	return r
}

// diskOf returns the size of a database's files.
func diskOf(t *testing.T, dir, name string) (n int64) {
	t.Helper()
	for _, suffix := range []string{"", "-wal"} {
		if info, err := os.Stat(filepath.Join(dir, name+suffix)); err == nil {
			n += info.Size()
		} else if !errors.Is(err, os.ErrNotExist) {
			t.Fatal(err)
		}
	}
	return n
}

// filling fills a database with a hundred times the bound of its size.
const filling = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c LIMIT 400) SELECT zeroblob(1000000) FROM c"

// TestDatabaseSize: neither migrations nor Workers make a site's database, a preview's or a project's larger than its bound, and a failed
// attempt leaves no files.
func TestDatabaseSize(t *testing.T) {
	h, of := newHost(t)
	h.notice, h.bounds.Bytes = func(error) {}, 4_000_000
	const manifest = `{"entry":"w/worker.js","bindings":{"database":{"migrations":"migrations"},"projectDatabase":"readwrite"},` +
		`"routes":[{"pattern":"/*"}]}`
	const worker = `export default { async fetch(request, env) {
	const db = new URL(request.url).pathname === "/project" ? env.PROJECT_DB : env.DB;
	await db.exec("CREATE TABLE IF NOT EXISTS b(x)");
	let says = "";
	try { await db.exec("INSERT INTO b ` + filling + `"); } catch (e) { says = e.message; }
	for (let i = 0; i < 9; i++) try { await db.exec("INSERT INTO b VALUES (zeroblob(1000000))"); }
		catch (e) { says += "|" + e.message; break; }
	return new Response(says + "|" + await db.prepare("SELECT count(*) AS n FROM b").first("n"));
} }`
	files := map[string]string{
		"w/worker.js": worker, "migrations/001.sql": "CREATE TABLE a(x)",
		"migrations/002.sql": "INSERT INTO a " + filling,
	}
	dir := h.site("s").dir
	_, err := h.Prepare(t.Context(), sizedRelease(t, of("s", "one"), manifest, files))
	refused, ok := errors.AsType[*service.ReleaseError](err)
	if !ok || !strings.Contains(refused.Message, "002.sql:1:1: ") ||
		!strings.Contains(refused.Message, "database or disk is full (a site's database has at most 4.0 MB, and its sorting 1.0 GB)") {
		t.Fatalf("the migration was not refused: %v", err)
	}
	if n := diskOf(t, dir, statefolder.SiteFile); n > 1<<20 {
		t.Errorf("the refused migration left %d bytes on the disk", n)
	}
	files["migrations/002.sql"] = "CREATE TABLE c(x)"
	r := sizedRelease(t, of("s", "two"), manifest, files)
	next, err := h.Prepare(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	next.Show()
	visit := func(path string) string {
		w := httptest.NewRecorder()
		h.Serve(w, httptest.NewRequest(http.MethodGet, "http://page.localhost"+path, nil), "s", nil)
		return w.Body.String()
	}
	r.Preview = true
	preview := func() string {
		w := httptest.NewRecorder()
		h.Preview(
			w, httptest.NewRequest(http.MethodGet, "http://preview.localhost/", nil), "p",
			func(context.Context) (service.Release, error) { return r, nil },
		)
		return w.Body.String()
	}
	full := "D1_EXEC_ERROR: Error in line 1: INSERT INTO b "
	for what, got := range map[string]string{"site": visit("/"), "project": visit("/project"), "preview": preview()} {
		parts := strings.Split(got, "|")
		if len(parts) != 3 || !strings.HasPrefix(parts[0], full) ||
			!strings.HasSuffix(parts[0], ": database or disk is full: SQLITE_FULL") || !strings.HasPrefix(parts[1], full) ||
			!strings.HasSuffix(parts[1], "SQLITE_FULL") || parts[2] == "0" {
			t.Errorf("the Worker of the %s got %q", what, got)
		}
	}
	for name, where := range map[string]string{
		statefolder.SiteFile: dir, statefolder.ProjectFile: filepath.Join(filepath.Dir(h.dir), "projects", "1"),
	} {
		if n := diskOf(t, where, name); n > 3*h.bounds.Bytes {
			t.Errorf("%s takes %d bytes", name, n)
		}
	}
}

// TestStoreSize: a site's namespace and its bucket have the same bound as its database.
func TestStoreSize(t *testing.T) {
	h, of := newHost(t)
	h.notice, h.bounds.Bytes = func(error) {}, 4_000_000
	const manifest = `{"entry":"w/worker.js","bindings":{"kv":{},"storage":{}},"routes":[{"pattern":"/*"}]}`
	const worker = `export default { async fetch(request, env) {
	const store = new URL(request.url).pathname === "/kv" ? env.KV : env.BUCKET, value = "x".repeat(1000000);
	let n = 0;
	try { for (; n < 9; n++) await store.put("k" + n, n + value); } catch (e) { return new Response(n + " " + e.message); }
	return new Response("no bound");
} }`
	next, err := h.Prepare(t.Context(), sizedRelease(t, of("s", "one"), manifest, map[string]string{"w/worker.js": worker}))
	if err != nil {
		t.Fatal(err)
	}
	next.Show()
	for path, want := range map[string]string{
		"/kv":     "3 KV PUT failed: 500 Internal Server Error: database or disk is full (13): SQLITE_FULL",
		"/bucket": "3 put: We encountered an internal error. Please try again. the bucket is full: it holds at most 4000000 bytes (10001)",
	} {
		w := httptest.NewRecorder()
		h.Serve(w, httptest.NewRequest(http.MethodGet, "http://page.localhost"+path, nil), "s", nil)
		if got := w.Body.String(); got != want {
			t.Errorf("%s: %q", path, got)
		}
	}
}

// sorting sorts 20 MB in a temporary file.
const sorting = "SELECT count(*) AS n FROM (WITH RECURSIVE c(x, z) AS (SELECT 1, zeroblob(1000000) UNION ALL SELECT x " +
	"+ 1, zeroblob(1000000) FROM c LIMIT 20) SELECT x FROM c ORDER BY z || x LIMIT -1 OFFSET 0)"

// TestTemporarySize: sorts of migrations and Workers stay within their bound on the disk.
func TestTemporarySize(t *testing.T) {
	h, of := newHost(t)
	bound := &dbfile.Temporary{PerFile: 10_000_000, Together: 15_000_000}
	if err := bound.Register("temporary-size"); err != nil {
		t.Fatal(err)
	}
	h.notice, h.bounds.Temporary = func(error) {}, "temporary-size"
	const manifest = `{"entry":"w/worker.js","bindings":{"database":{"migrations":"migrations"}},"routes":[{"pattern":"/*"}]}`
	const worker = `export default { async fetch(request, env) {
	try { return Response.json(await env.DB.prepare("` + sorting + `").first("n")); } catch (e) { return new Response(e.message); }
} }`
	files := map[string]string{"w/worker.js": worker, "migrations/001.sql": "CREATE TABLE a AS " + sorting}
	_, err := h.Prepare(t.Context(), sizedRelease(t, of("s", "one"), manifest, files))
	if refused, ok := errors.AsType[*service.ReleaseError](err); !ok || !strings.Contains(refused.Message, "database or disk is full") {
		t.Fatalf("the migration was not refused: %v", err)
	}
	files["migrations/001.sql"] = "CREATE TABLE a(x)"
	next, err := h.Prepare(t.Context(), sizedRelease(t, of("s", "two"), manifest, files))
	if err != nil {
		t.Fatal(err)
	}
	next.Show()
	w := httptest.NewRecorder()
	h.Serve(w, httptest.NewRequest(http.MethodGet, "http://page.localhost/", nil), "s", nil)
	if got := w.Body.String(); got != "D1_ERROR: database or disk is full: SQLITE_FULL" || bound.Taken() != 0 {
		t.Errorf("the Worker got %q, %d bytes are taken", got, bound.Taken())
	}
}
