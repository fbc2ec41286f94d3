package binding_test

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

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
  if (mode === "later") {
    for (const [name, ...args] of program) ctx.waitUntil(calls[name](env, ...args));
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

// orderedStores is that Worker with real bindings: what it answers a program in a mode.
func orderedStores(t *testing.T, o pagesruntime.WorkerOptions) (ask func(mode, program string) string) {
	t.Helper()
	rt, err := pagesruntime.Open(t.Context(), pagesruntime.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { rt.Close(t.Context()) })
	db := d1.New(database(t), d1.Options{})
	t.Cleanup(func() { db.Close() })
	namespace, err := kv.New(database(t), nil)
	if err != nil {
		t.Fatal(err)
	}
	o.Name, o.Code = "worker.js", []byte(orderWorker)
	o.Bindings = &binding.Set{
		D1: map[string]*d1.Database{"DB": db}, KV: map[string]*kv.Namespace{"KV": namespace},
		R2: map[string]*r2.Bucket{"BUCKET": bucket(t, time.Now)},
	}
	w := open(t, rt, o)
	return func(mode, program string) string {
		rec := httptest.NewRecorder()
		body := fmt.Sprintf(`{"mode":%q,"program":%s}`, mode, program)
		if _, err := w.Serve(rec, httptest.NewRequest(http.MethodPost, "http://site.localhost/", strings.NewReader(body))); err != nil {
			return "failed: " + err.Error()
		}
		return rec.Body.String()
	}
}

// isolations are the ways in which requests get isolates.
var isolations = []struct {
	name    string
	options pagesruntime.WorkerOptions
}{
	{"one isolate", pagesruntime.WorkerOptions{Isolates: 1}},
	{"two isolates", pagesruntime.WorkerOptions{Isolates: 2}},
	{"an isolate for each request", pagesruntime.WorkerOptions{Pristine: true}},
}

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
	}
	times := 5
	if testing.Short() {
		times = 2
	}
	for _, mode := range isolations {
		t.Run(mode.name, func(t *testing.T) {
			ask := orderedStores(t, mode.options)
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

// TestOrderAfterTheAnswer: the next request sees what the last one left to waitUntil.
func TestOrderAfterTheAnswer(t *testing.T) {
	for _, mode := range isolations {
		t.Run(mode.name, func(t *testing.T) {
			ask := orderedStores(t, mode.options)
			ask("together", `[["run","INSERT INTO t VALUES (1, 0)"]]`)
			for n := 1; n <= 20; n++ {
				ask("later", fmt.Sprintf(`[["run","UPDATE t SET n = %d"],["put","a","%d"],["store","b","%d"]]`, n, n, n))
				want := fmt.Sprintf(`[{"n":%d},"%d","%d"]`, n, n, n)
				if got := ask("as it is", `[["first","SELECT n FROM t"],["get","a"],["load","b"]]`); got != want {
					t.Fatalf("got %s, want %s", got, want)
				}
			}
		})
	}
}

// TestOrderOfRandomPrograms: a program gives the same whether it awaits each call or issues all of them at once.
func TestOrderOfRandomPrograms(t *testing.T) {
	programs := 12
	if testing.Short() { // as under the race detector
		programs = 4
	}
	if os.Getenv("PAGES_SOAK") != "" {
		programs = 1000
	}
	seed := rand.Uint64()
	s := rand.New(rand.NewPCG(seed, 0)) //nolint:gosec // a choice
	pick := func(of ...string) string { return of[s.IntN(len(of))] }
	call := func() string {
		id, n, key := s.IntN(4), s.IntN(100), pick("a", "b", "c")
		switch s.IntN(16) {
		case 0, 1:
			return fmt.Sprintf(`["run","INSERT OR REPLACE INTO t VALUES (%d, %d)"]`, id, n)
		case 2:
			return fmt.Sprintf(`["run","UPDATE t SET n = n * 2 + %d WHERE id >= %d"]`, n, id)
		case 3:
			return fmt.Sprintf(`["run","DELETE FROM t WHERE id = ?",%d]`, id)
		case 4:
			return fmt.Sprintf(`["batch","INSERT INTO t (n) VALUES (%d)","SELECT max(id) AS id FROM t"]`, n)
		case 5:
			return fmt.Sprintf(`["exec","UPDATE t SET n = %d\nINSERT INTO child (t) SELECT id FROM t LIMIT 1"]`, n)
		case 6:
			return fmt.Sprintf(`["run","INSERT INTO child (t) VALUES (%d)"]`, id)
		case 7, 8:
			return pick(`["all","SELECT * FROM t ORDER BY id"]`, `["raw","SELECT sum(n), count(*) FROM t"]`,
				`["first","SELECT count(*) AS n FROM child"]`, `["session","WITH x AS (SELECT n FROM t) SELECT total(n) AS n FROM x"]`)
		case 9:
			return fmt.Sprintf(`["put",%q,"%d"]`, key, n)
		case 10:
			return fmt.Sprintf(`["del",%q]`, key)
		case 11:
			return pick(fmt.Sprintf(`["get",%q]`, key), `["gets","a","b","c"]`)
		case 12:
			return fmt.Sprintf(`["store",%q,"%d"]`, key, n)
		case 13:
			return fmt.Sprintf(`["drop",%q,"c"]`, key)
		case 14:
			return fmt.Sprintf(`["head",%q]`, key)
		default:
			return fmt.Sprintf(`["load",%q]`, key)
		}
	}
	for _, mode := range isolations {
		t.Run(mode.name, func(t *testing.T) {
			ask := orderedStores(t, mode.options)
			for range programs {
				var all []string
				for range 3 + s.IntN(20) {
					all = append(all, call())
				}
				program := "[" + strings.Join(all, ",") + "]"
				want := ask("awaited", program)
				if got := ask("together", program); got != want {
					t.Fatalf("seed %d: %s\ngot  %s\nwant %s", seed, program, got, want)
				}
			}
		})
	}
}
