package binding_test

import (
	"crypto/sha256"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/pages-toolchain/pages/cmd/tools/enginetest"
	"github.com/pages-toolchain/pages/cmd/tools/testmachine"
	pagesruntime "github.com/pages-toolchain/pages/runtime"
	"github.com/pages-toolchain/pages/runtime/binding"
	"github.com/pages-toolchain/pages/runtime/binding/d1"
	"github.com/pages-toolchain/pages/runtime/binding/kv"
	"github.com/pages-toolchain/pages/runtime/binding/r2"
)

// orderWorker answers POST with the results of a program: an async function whose calls are all issued at once, or, with
// ?awaited, one after the other.
const orderWorker = `
const text = (r) => r === null ? null : r.text();
const calls = {
  run: (env, sql, ...v) => env.DB.prepare(sql).bind(...v).run().then((r) => r.meta.changes),
  all: (env, sql, ...v) => env.DB.prepare(sql).bind(...v).all().then((r) => r.results),
  raw: (env, sql, ...v) => env.DB.prepare(sql).bind(...v).raw(),
  first: (env, sql, ...v) => env.DB.prepare(sql).bind(...v).first(),
  session: (env, sql, ...v) => env.DB.withSession().prepare(sql).bind(...v).run().then((r) => r.results),
  batch: (env, ...all) => env.DB.batch(all.map((sql) => env.DB.prepare(sql))).then((r) => r.map((one) => one.results)),
  exec: (env, sql) => env.DB.exec(sql).then((r) => r.count),
  get: (env, key) => env.KV.get(key), gets: (env, ...keys) => env.KV.get(keys).then((m) => [...m]),
  keys: (env, prefix) => env.KV.list({ prefix }).then((r) => r.keys.map((k) => k.name)),
  objects: (env, prefix) => env.BUCKET.list({ prefix }).then((r) => r.objects.map((o) => o.key)),
  put: (env, key, value) => env.KV.put(key, value), del: (env, key) => env.KV.delete(key),
  head: (env, key) => env.BUCKET.head(key).then((o) => o && o.size),
  load: (env, key) => env.BUCKET.get(key).then(text), drop: (env, ...keys) => env.BUCKET.delete(keys),
  store: (env, key, value) => env.BUCKET.put(key, value).then((o) => o.size),
};
const reset = async (env) => {
  await env.DB.exec("DROP TABLE IF EXISTS child\nDROP TABLE IF EXISTS t\nCREATE TABLE t (id INTEGER PRIMARY KEY, n INTEGER)\n" +
    "CREATE TABLE child (id INTEGER PRIMARY KEY, t INTEGER NOT NULL REFERENCES t(id))");
  for (const key of ["a", "b", "c"]) { await env.KV.delete(key); await env.BUCKET.delete(key); }
};
const told = (p) => p.then((v) => v ?? null, (e) => e.message);
export default { async fetch(request, env, ctx) {
  const { program, mode } = await request.json();
  if (mode === "later" || mode === "left") {
    for (const [name, ...args] of program) mode === "later" ? ctx.waitUntil(calls[name](env, ...args)) : calls[name](env, ...args);
    return new Response("begun");
  }
  if (mode !== "as it is") await reset(env);
  const results = [];
  for (const [name, ...args] of program) {
    const p = told(calls[name](env, ...args));
    results.push(mode === "awaited" ? await p : p);
  }
  return Response.json(await Promise.all(results));
} };`

// orderedStores is a Worker with real bindings.
func orderedStores(t *testing.T, e *enginetest.Engine, o pagesruntime.WorkerOptions) (send func(*http.Request) string) {
	t.Helper()
	db := d1.New(database(t), d1.Options{})
	t.Cleanup(func() { db.Close() })
	namespace, err := kv.New(database(t), nil)
	if err != nil {
		t.Fatal(err)
	}
	o.Name = "worker.js"
	o.Bindings = &binding.Set{
		D1: map[string]*d1.Database{"DB": db}, KV: map[string]*kv.Namespace{"KV": namespace},
		R2: map[string]*r2.Bucket{"BUCKET": bucket(t, time.Now)},
	}
	w := e.MustStart(t, o)
	return func(request *http.Request) string {
		rec := httptest.NewRecorder()
		if _, err := w.Serve(rec, request); err != nil {
			return "failed: " + err.Error()
		}
		return rec.Body.String()
	}
}

// orderedCalls runs programs in orderWorker, in a mode, and returns its results.
func orderedCalls(t *testing.T, e *enginetest.Engine, o pagesruntime.WorkerOptions) (ask func(mode, program string) string) {
	t.Helper()
	o.Code = []byte(orderWorker)
	send := orderedStores(t, e, o)
	return func(mode, program string) string {
		body := fmt.Sprintf(`{"mode":%q,"program":%s}`, mode, program)
		return send(httptest.NewRequest(http.MethodPost, "http://site.localhost/", strings.NewReader(body)))
	}
}

// isolation is a way in which requests get isolates.
type isolation struct {
	name    string
	engine  func(testing.TB) *enginetest.Engine
	options pagesruntime.WorkerOptions
}

// isolations are those of the built-in engine; inWorkerd is the one of workerd.
var (
	isolations = []isolation{
		{"one isolate", enginetest.BuiltIn, pagesruntime.WorkerOptions{Isolates: 1}},
		{"two isolates", enginetest.BuiltIn, pagesruntime.WorkerOptions{Isolates: 2}},
		{"an isolate for each request", enginetest.BuiltIn, pagesruntime.WorkerOptions{Pristine: true}},
	}
	inWorkerd = isolation{name: "workerd", engine: enginetest.Workerd}
)

// TestOrderOfCalls: calls that a Worker issues without awaiting take effect in the order in which it issued them.
func TestOrderOfCalls(t *testing.T) {
	const rows = `["run","INSERT INTO t VALUES (1, 10)"],`
	tests := []struct{ name, program, want string }{
		{
			"a child after its parent", `[["run","INSERT INTO t VALUES (7, 0)"],["run","INSERT INTO child VALUES (1, 7)"]]`, "[1,1]",
		},
		{
			"a row after the table is emptied",
			`[` + rows + `["run","DELETE FROM t"],["run","INSERT INTO t VALUES (2, 20)"],["all","SELECT id FROM t"]]`, `[1,1,1,[{"id":2}]]`,
		},
		{
			"ids", `[["session","INSERT INTO t (n) VALUES (0) RETURNING id"],["session","INSERT INTO t (n) VALUES (1) RETURNING id"],` +
				`["session","INSERT INTO t (n) VALUES (2) RETURNING id"],["raw","SELECT id, n FROM t ORDER BY id"]]`,
			`[[{"id":1}],[{"id":2}],[{"id":3}],[[1,0],[2,1],[3,2]]]`,
		},
		{
			"arithmetic", `[` + rows + `["run","UPDATE t SET n = n * 10"],["run","UPDATE t SET n = n + 1"],["first","SELECT n FROM t"]]`,
			`[1,1,1,{"n":101}]`,
		},
		{
			"a read before a write", `[["all","SELECT count(*) AS n FROM t"],` + rows + `["all","SELECT count(*) AS n FROM t"]]`,
			`[[{"n":0}],1,[{"n":1}]]`,
		},
		{
			"batch and exec", `[["batch","INSERT INTO t VALUES (1, 1)","SELECT n FROM t"],["exec","UPDATE t SET n = 2"],` +
				`["batch","SELECT n FROM t"],["exec","DELETE FROM t"],["all","SELECT n FROM t"]]`, `[[[],[{"n":1}]],1,[[{"n":2}]],1,[]]`,
		},
		{
			"a common table that writes", `[` + rows + `["run","WITH x(v) AS (SELECT 5) UPDATE t SET n = (SELECT v FROM x)"],` +
				`["all","WITH x AS (SELECT n FROM t) SELECT * FROM x"],["run","DELETE FROM t"]]`, `[1,1,[{"n":5}],1]`,
		},
		{
			"what fails", `[["run","INSERT INTO nowhere VALUES (1)"],` + rows +
				`["first","SELECT missing FROM t"],["run","DELETE FROM t"]]`,
			`["D1_ERROR: no such table: nowhere: SQLITE_ERROR",1,"D1_ERROR: no such column: missing at offset 7: SQLITE_ERROR",1]`,
		},
		{
			"a key", `[["put","a","1"],["put","a","2"],["get","a"],["put","a","3"],["del","a"],["get","a"],["put","a","4"],["get","a"]]`,
			`[null,null,"2",null,null,null,null,"4"]`,
		},
		{
			"several keys", `[["put","a","1"],["put","b","2"],["gets","b","a"],["put","b","3"],["gets","a","b"]]`,
			`[null,null,[["b","2"],["a","1"]],null,[["a","1"],["b","3"]]]`,
		},
		{
			"an object", `[["store","a","x"],["store","a","yy"],["load","a"],["drop","a","b"],["head","a"],` +
				`["store","a","zzz"],["load","a"]]`,
			`[1,2,"yy",null,null,3,"zzz"]`,
		},
		{
			"lists", `[["put","a","1"],["keys",""],["put","b","2"],["keys",""],["del","a"],["keys",""],` +
				`["store","a","x"],["objects","a"],["store","b","x"],["drop","a"],["objects",""]]`,
			`[null,["a"],null,["a","b"],null,["b"],1,["a"],1,null,["b"]]`,
		},
	}
	const ofD1 = 8 // the first rows: workerd itself changes the order of calls of KV and R2, and holds no get back
	times := 5
	if testing.Short() {
		times = 2
	}
	for _, mode := range append(isolations, inWorkerd) {
		t.Run(mode.name, func(t *testing.T) {
			ask, tests := orderedCalls(t, mode.engine(t), mode.options), tests
			if mode.name == inWorkerd.name {
				tests = tests[:ofD1]
			}
			for _, c := range tests {
				t.Run(c.name, func(t *testing.T) {
					for range times {
						if got := ask("together", c.program); got != c.want {
							t.Fatalf("%s\ngot  %s\nwant %s", c.program, got, c.want)
						}
					}
				})
			}
		})
	}
}

// TestOrderAfterTheAnswer: the next request sees calls that the last one left to waitUntil, or did not wait for at all, which workerd
// ends with the request.
func TestOrderAfterTheAnswer(t *testing.T) {
	for _, mode := range append(isolations, inWorkerd) {
		t.Run(mode.name, func(t *testing.T) {
			ask := orderedCalls(t, mode.engine(t), mode.options)
			ask("together", `[["run","INSERT INTO t VALUES (1, 0)"]]`)
			for n := 1; n <= 20; n++ {
				calls := fmt.Sprintf(`[["run","UPDATE t SET n = %d"],["put","a","%d"],["store","b","%d"]]`, n, n, n)
				ways := []string{"later", "left"}
				if mode.name == inWorkerd.name {
					ways = []string{"later", "later"}
				}
				ask(ways[n%2], calls)
				want := fmt.Sprintf(`[{"n":%d},"%d","%d"]`, n, n, n)
				if got := ask("as it is", `[["first","SELECT n FROM t"],["get","a"],["load","b"]]`); got != want {
					t.Fatalf("got %s, want %s", got, want)
				}
			}
		})
	}
}

// TestOrderOfPrograms: programs of testdata/order have the results that they had under workerd.
func TestOrderOfPrograms(t *testing.T) {
	programs := 12
	if testing.Short() { // as under the race detector
		programs = 4
	}
	recorded := recordedPrograms(t)
	for _, mode := range isolations {
		t.Run(mode.name, func(t *testing.T) {
			ask := numbered(t, mode.engine(t), mode.options)
			for range programs {
				seed := rand.IntN(len(recorded)) //nolint:gosec // a choice
				ask(seed, recorded[seed])
			}
		})
	}
}

// TestOrderOfAllPrograms is TestOrderOfPrograms with a third of them; with PAGES_SOAK with all, ten times.
func TestOrderOfAllPrograms(t *testing.T) {
	testmachine.Long(t)
	times, step := 1, 3*len(isolations)
	if os.Getenv("PAGES_SOAK") != "" {
		times, step = 10, len(isolations)
	}
	recorded := recordedPrograms(t)
	for i, mode := range isolations {
		t.Run(mode.name, func(t *testing.T) {
			ask := numbered(t, mode.engine(t), mode.options)
			for seed := i; seed < len(recorded); seed += step {
				for range times {
					ask(seed, recorded[seed])
				}
			}
		})
	}
}

// recordedPrograms are digests of workerd's responses; the programs are numbered from 0. If workerd leaves the order of a program's calls
// open, the digest is that of the program with each call awaited.
func recordedPrograms(t *testing.T) []string {
	t.Helper()
	return strings.Fields(string(testdata(t, "workerd.txt")))
}

func testdata(t *testing.T, name string) []byte {
	t.Helper()
	content, err := os.ReadFile(filepath.Join("testdata", "order", name))
	if err != nil {
		t.Fatal(err)
	}
	return content
}

// numbered runs a program by its number and compares its result with a digest.
func numbered(t *testing.T, e *enginetest.Engine, o pagesruntime.WorkerOptions) func(seed int, want string) {
	t.Helper()
	o.Code = testdata(t, "worker.js")
	send := orderedStores(t, e, o)
	run := 0
	return func(seed int, want string) {
		t.Helper()
		run++
		ask := func(what string) string {
			url := fmt.Sprintf("http://site.localhost/?seed=%d&run=%d&what=%s", seed, run, what)
			return send(httptest.NewRequest(http.MethodGet, url, nil))
		}
		got := ask("together") + "\n" + ask("state")
		ask("done")
		if digest := fmt.Sprintf("%.8x", sha256.Sum256([]byte(got))); digest != want {
			t.Errorf("program %d: %s\ngave    %s\nawaited %s\n%s", seed, ask("program"), got, ask("awaited"), ask("state"))
		}
	}
}
