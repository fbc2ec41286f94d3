//go:build unix

package binding_test

import (
	"database/sql"
	"encoding/json"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/pages-toolchain/pages/cmd/tools/enginetest"
	"github.com/pages-toolchain/pages/cmd/tools/testmachine"
	pagesruntime "github.com/pages-toolchain/pages/runtime"
	"github.com/pages-toolchain/pages/runtime/binding"
	"github.com/pages-toolchain/pages/runtime/binding/d1"
	"github.com/pages-toolchain/pages/runtime/binding/kv"
	"github.com/pages-toolchain/pages/runtime/binding/r2"
)

// survivor writes to all bindings: "/write?n" returns the result of each write, and "/read" all stored values. A stored value is whole.
const survivor = `
const body = (n) => String(n).padStart(7, "0").repeat(20_000); // 140 kB
const large = (n) => new Response(body(n).repeat(8)).body;     // over a megabyte
const whole = (text, times = 1) => text === text.slice(0, 7).repeat(20_000 * times) ? Number(text.slice(0, 7)) : "torn";
const told = (promise) => promise.then(() => "ok", (e) => e.name + ": " + e.message);
export default { async fetch(request, { DB, KV, BUCKET }) {
	const { pathname, search } = new URL(request.url), n = search.slice(1);
	if (pathname === "/make") return Response.json(await DB.exec("CREATE TABLE a(n, body); CREATE TABLE b(n)").then(() => "ok"));
	if (pathname === "/write") return Response.json({
		db: await told(DB.batch([DB.prepare("INSERT INTO a VALUES (?, ?)").bind(n, body(n)), DB.prepare("INSERT INTO b VALUES ` +
	`(?)").bind(n)])),
		kv: await told(KV.put("kv " + n, body(n))),
		stream: await told(KV.put("stream " + n, large(n))),
		r2: await told(BUCKET.put(n, body(n))),
	});
	const { results } = await DB.prepare("SELECT a.body, b.n FROM a FULL JOIN b USING (n)").all();
	const all = { db: results.map((row) => row.body && row.n ? whole(row.body) : "half"), kv: [], stream: [], r2: [] };
	for (const { name } of (await KV.list()).keys) {
		const [kind] = name.split(" ");
		all[kind].push(whole(await new Response(await KV.get(name, "stream")).text(), kind === "kv" ? 1 : 8));
	}
	for (const { key } of (await BUCKET.list()).objects) all.r2.push(whole(await (await BUCKET.get(key)).text()));
	return Response.json(all);
} }`

// kinds are the writes of the survivor.
var kinds = []string{"db", "kv", "stream", "r2"}

// faulty is a Worker on stores in dir, with the writes acknowledged to it.
type faulty struct {
	t    *testing.T
	w    enginetest.Worker
	n    int
	kept map[string]map[float64]bool
}

func newFaulty(t *testing.T, e *enginetest.Engine, dir string) *faulty {
	db := d1.New(fileDB(t, dir, "site.db"), d1.Options{})
	t.Cleanup(func() { db.Close() })
	namespace, err := kv.New(fileDB(t, dir, "kv.db"), nil)
	if err != nil {
		t.Fatal(err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { root.Close() })
	storage, err := r2.New(t.Context(), fileDB(t, dir, "index.db"), root, nil)
	if err != nil {
		t.Fatal(err)
	}
	f := &faulty{t: t, kept: map[string]map[float64]bool{}}
	for _, kind := range kinds {
		f.kept[kind] = map[float64]bool{}
	}
	f.w = e.MustStart(t, pagesruntime.WorkerOptions{Name: "worker.js", Code: []byte(survivor), Isolates: 1, Bindings: &binding.Set{
		D1: map[string]*d1.Database{"DB": db}, KV: map[string]*kv.Namespace{"KV": namespace}, R2: map[string]*r2.Bucket{"BUCKET": storage},
	}})
	var made string
	f.ask("/make", &made)
	return f
}

func fileDB(t *testing.T, dir, name string) *sql.DB {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+filepath.Join(dir, name)+
		"?_pragma=busy_timeout(5000)&_pragma=journal_mode(WAL)&_pragma=synchronous(FULL)&_pragma=foreign_keys(1)&_txlock=immediate")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return db
}

func (f *faulty) ask(path string, to any) {
	f.t.Helper()
	rec := httptest.NewRecorder()
	if _, err := f.w.Serve(rec, httptest.NewRequest(http.MethodGet, "http://site.localhost"+path, nil)); err != nil {
		f.t.Fatal(err)
	}
	if err := json.Unmarshal(rec.Body.Bytes(), to); err != nil {
		f.t.Fatalf("%s: %v: %.300s", path, err, rec.Body)
	}
}

// write writes once of each kind and returns the refused writes with their errors.
func (f *faulty) write() map[string]string {
	f.t.Helper()
	f.n++
	answers := map[string]string{}
	f.ask("/write?"+string(mustJSON(f.t, f.n)), &answers)
	for kind, told := range answers {
		if told == "ok" {
			f.kept[kind][float64(f.n)] = true
			delete(answers, kind)
		}
	}
	return answers
}

func mustJSON(t *testing.T, v any) []byte {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// check compares the stored values with the acknowledged ones.
func (f *faulty) check(when string) {
	f.t.Helper()
	there := map[string][]any{}
	f.ask("/read", &there)
	for _, kind := range kinds {
		found := map[float64]bool{}
		for _, body := range there[kind] {
			if n, ok := body.(float64); ok {
				found[n] = true
			} else {
				f.t.Errorf("%s, %s: something is %v", when, kind, body)
			}
		}
		for n := range f.kept[kind] {
			if !found[n] {
				f.t.Errorf("%s, %s: %v is lost", when, kind, n)
			}
		}
		if len(found) != len(f.kept[kind]) {
			f.t.Errorf("%s, %s: %d are there, %d were acknowledged", when, kind, len(found), len(f.kept[kind]))
		}
	}
}

// survive writes until the disk fails. It checks that each binding reports this in its own words and keeps its acknowledged writes, and
// that all bindings work after the repair.
func (f *faulty) survive(fail, cure func(), wants map[string][]string) {
	f.t.Helper()
	for round := range 3 {
		if told := f.write(); len(told) != 0 {
			f.t.Fatalf("round %d: before the fault: %v", round, told)
		}
		fail()
		refused := map[string]string{}
		for range 100 {
			maps.Copy(refused, f.write())
			if len(refused) == len(kinds) {
				break
			}
		}
		for _, kind := range kinds {
			if !containsAny(refused[kind], wants[kind]) {
				f.t.Errorf("round %d, %s: %q, want one of %q", round, kind, refused[kind], wants[kind])
			}
		}
		f.check("under the fault")
		cure()
		if told := f.write(); len(told) != 0 {
			f.t.Errorf("round %d: after the cure: %v", round, told)
		}
		f.check("after the cure")
	}
}

func containsAny(text string, wants []string) bool {
	for _, want := range wants {
		if strings.Contains(text, want) {
			return true
		}
	}
	return false
}

// TestBindingsUnwritable: for a while no file can be written to, as on a disk that is
// read-only.
func TestBindingsUnwritable(t *testing.T) { testUnwritable(t, enginetest.BuiltIn) }

// TestBindingsUnwritableInWorkerd is that under a Worker in workerd.
func TestBindingsUnwritableInWorkerd(t *testing.T) {
	testmachine.Long(t)
	testUnwritable(t, enginetest.Workerd)
}

func testUnwritable(t *testing.T, engine func(testing.TB) *enginetest.Engine) {
	t.Helper()
	if !testmachine.InOwnProcess(t, nil) {
		return
	}
	signal.Ignore(syscall.SIGXFSZ)
	var before syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &before); err != nil {
		t.Fatal(err)
	}
	none := before
	none.Cur = 0
	limit := func(to syscall.Rlimit) func() {
		return func() {
			if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &to); err != nil {
				t.Fatal(err)
			}
		}
	}
	newFaulty(t, engine(t), t.TempDir()).survive(limit(none), limit(before), map[string][]string{
		"db": {"Error: D1_ERROR: disk I/O error: SQLITE_IOERR", "Error: D1_ERROR: database or disk is full: SQLITE_FULL"},
		"kv": {
			"Error: KV PUT failed: 500 Internal Server Error: disk I/O error",
			"Error: KV PUT failed: 500 Internal Server Error: database or disk is full",
		},
		"stream": {
			"Error: KV PUT failed: 500 Internal Server Error: disk I/O error",
			"Error: KV PUT failed: 500 Internal Server Error: database or disk is full",
		},
		"r2": {"Error: put: We encountered an internal error. Please try again. file too large (10001)"},
	})
}
