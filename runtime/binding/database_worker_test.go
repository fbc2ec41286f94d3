package binding_test

import (
	"database/sql"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"testing"

	pagesruntime "github.com/pages-toolchain/pages/runtime"
	"github.com/pages-toolchain/pages/runtime/binding"
	"github.com/pages-toolchain/pages/runtime/engine"
)

// database is a new SQLite file, opened as the command opens it.
func database(t testing.TB) *sql.DB {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+filepath.Join(t.TempDir(), "site.db")+
		"?_pragma=busy_timeout(5000)&_pragma=journal_mode(WAL)&_pragma=synchronous(FULL)&_pragma=foreign_keys(1)&_txlock=immediate")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return db
}

// stores is a Worker with a database, one it may only read, and a namespace.
// It answers "/?code" with the JSON of what code, the body of an async
// function, returns.
func stores(t testing.TB, scripts ...string) func(script string) string {
	t.Helper()
	rt, err := pagesruntime.Open(t.Context(), pagesruntime.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { rt.Close(t.Context()) })
	site, project := database(t), database(t)
	if _, err := project.Exec("CREATE TABLE shared(x); INSERT INTO shared VALUES (7)"); err != nil {
		t.Fatal(err)
	}
	kv, err := binding.NewKV(database(t), nil)
	if err != nil {
		t.Fatal(err)
	}
	db, readOnly := binding.NewDatabase(site, binding.DatabaseOptions{}), binding.NewDatabase(project, binding.DatabaseOptions{ReadOnly: true})
	t.Cleanup(func() { db.Close(); readOnly.Close() })
	code := "const scripts = {"
	for _, script := range scripts {
		key, err := json.Marshal(script)
		if err != nil {
			t.Fatal(err)
		}
		code += "\n  " + string(key) + ": async ({ DB, PROJECT_DB, KV }) => {" + script + "},"
	}
	code += `
};
export default { async fetch(request, env) {
  const script = scripts[decodeURIComponent(new URL(request.url).search.slice(1))];
  try { return Response.json((await script(env)) ?? "undefined"); }
  catch (e) { return new Response(e.name + ": " + e.message + (e.cause ? " <" + e.cause.message + ">" : "")); }
} };`
	w := open(t, rt, pagesruntime.WorkerOptions{
		Name: "worker.js", Code: []byte(code),
		Bindings: &binding.Set{
			Databases: map[string]*binding.Database{"DB": db, "PROJECT_DB": readOnly},
			KV:        map[string]*binding.KV{"KV": kv},
		},
	})
	return func(script string) string {
		rec := httptest.NewRecorder()
		if _, err := w.Serve(rec, httptest.NewRequest(http.MethodGet, "http://site.localhost/?"+url.PathEscape(script), nil)); err != nil {
			return "failed: " + err.Error()
		}
		return rec.Body.String()
	}
}

func runStores(t *testing.T, tests []struct{ script, want string }) {
	t.Helper()
	var scripts []string
	for _, tt := range tests {
		scripts = append(scripts, tt.script)
	}
	ask := stores(t, scripts...)
	for _, tt := range tests {
		if got := ask(tt.script); got != tt.want {
			t.Errorf("%s\n got %s\nwant %s", tt.script, got, tt.want)
		}
	}
}

func TestDatabaseFromWorker(t *testing.T) {
	runStores(t, []struct{ script, want string }{
		{"return await DB.exec(\"CREATE TABLE a(id INTEGER PRIMARY KEY, x, at DATETIME)\").then(({ count, duration }) => [count, typeof duration])", `[1,"number"]`},
		{
			"const { success, results, meta } = await DB.prepare(\"INSERT INTO a(x) VALUES (?)\").bind(\"é😀\\u0000\").run(); return [success, results, meta.changes, meta.last_row_id, meta.changed_db, meta.rows_written]",
			`[true,[],1,1,true,1]`,
		},
		{"return (await DB.prepare(\"SELECT * FROM a\").all()).results", `[{"id":1,"x":"é😀\u0000","at":null}]`},
		{"return await DB.prepare(\"SELECT id, x FROM a WHERE id = ?1\").bind(1).first()", `{"id":1,"x":"é😀\u0000"}`},
		{"return await DB.prepare(\"SELECT id FROM a\").first(\"id\")", `1`},
		{"return [await DB.prepare(\"SELECT id FROM a WHERE 0\").first(), await DB.prepare(\"SELECT id FROM a WHERE 0\").first(\"zz\")]", `[null,null]`},
		{"return await DB.prepare(\"SELECT id FROM a\").first(\"zz\")", `Error: D1_COLUMN_NOTFOUND: Column not found (zz) <Column not found>`},
		{
			"return [await DB.prepare(\"SELECT 1 a, 2 a\").raw(), await DB.prepare(\"SELECT 1 a, 2 a\").raw({ columnNames: true }), (await DB.prepare(\"SELECT 1 a, 2 a\").all()).results]",
			`[[[1,2]],[["a","a"],[1,2]],[{"a":2}]]`,
		},
		{"const s = DB.prepare(\"SELECT ? AS v\"); const [a, b] = [s.bind(1), s.bind(true)]; return [s.params, a.params, (await b.first()).v, a.statement]", `[[],[1],1,"SELECT ? AS v"]`},
		{
			"return (await DB.prepare(\"SELECT typeof(?1) a, ?2 b, ?3 c, ?4 d, ?5 e, typeof(?6) f\").bind(42, null, new Uint8Array([1, 2]).buffer, [3, 4], new Uint16Array([258]).subarray(0), NaN).all()).results",
			`[{"a":"real","b":null,"c":[1,2],"d":[3,4],"e":[2,1],"f":"null"}]`,
		},
		{"return DB.prepare(\"SELECT ?\").bind(undefined)", `Error: D1_TYPE_ERROR: Type 'undefined' not supported for value 'undefined'`},
		{"return DB.prepare(\"SELECT ?\").bind({})", `Error: D1_TYPE_ERROR: Type 'object' not supported for value '[object Object]'`},
		{"return DB.prepare(\"SELECT ?\").bind(1n)", `Error: D1_TYPE_ERROR: Type 'bigint' not supported for value '1'`},
		{"return DB.prepare(\"SELECT ?\").bind([1, 300])", `Error: D1_TYPE_ERROR: Type 'object' not supported for value '1,300'`},
		{"return DB.prepare(\"SELECT ?\").all()", `Error: D1_ERROR: Wrong number of parameter bindings for SQL query. <Wrong number of parameter bindings for SQL query.>`},
		{
			"return DB.prepare(\"INSERT INTO a(id) VALUES (1)\").run()",
			`Error: D1_ERROR: UNIQUE constraint failed: a.id: SQLITE_CONSTRAINT (extended: SQLITE_CONSTRAINT_PRIMARYKEY) <UNIQUE constraint failed: a.id: SQLITE_CONSTRAINT (extended: SQLITE_CONSTRAINT_PRIMARYKEY)>`,
		},
		{
			"return (await DB.batch([DB.prepare(\"INSERT INTO a(x) VALUES (?)\").bind(5), DB.prepare(\"SELECT count(*) n FROM a\")])).map((r) => [r.success, r.results, r.meta.changes])",
			`[[true,[],1],[true,[{"n":2}],0]]`,
		},
		{
			"try { await DB.batch([DB.prepare(\"DELETE FROM a\"), DB.prepare(\"nonsense\")]) } catch (e) { return [e.message, await DB.prepare(\"SELECT count(*) n FROM a\").first(\"n\")] }",
			`["D1_ERROR: near \"nonsense\": syntax error at offset 0: SQLITE_ERROR",2]`,
		},
		{"return DB.batch([1])", `TypeError: batch() takes an array of statements made by prepare()`},
		{"return DB.exec(\"SELECT 1\\nSELECT nope\")", `Error: D1_EXEC_ERROR: Error in line 2: SELECT nope: no such column: nope at offset 7: SQLITE_ERROR <no such column: nope at offset 7: SQLITE_ERROR>`},
		{
			"const s = DB.withSession(\"first-primary\"); const before = s.getBookmark(); await s.prepare(\"SELECT 1\").all(); const one = s.getBookmark(); await s.batch([s.prepare(\"SELECT 1\")]); return [before, one < s.getBookmark(), DB.withSession(one).getBookmark() === one]",
			`[null,true,true]`,
		},
		{"return DB.dump()", `Error: D1_DUMP_ERROR: dump() is not available: copy the database file instead`},
		{"return DB.prepare(\"BEGIN\").run()", `Error: D1_ERROR: not authorized: a Worker's SQL cannot begin or end a transaction; put the statements into one batch(), which is a transaction: SQLITE_AUTH <not authorized: a Worker's SQL cannot begin or end a transaction; put the statements into one batch(), which is a transaction: SQLITE_AUTH>`},
		{
			"return [await PROJECT_DB.prepare(\"SELECT x FROM shared\").first(\"x\"), await PROJECT_DB.prepare(\"DELETE FROM shared\").run().catch((e) => e.message)]",
			`[7,"D1_ERROR: attempt to write a readonly database: the manifest gives this site \"read\" access only: SQLITE_READONLY"]`,
		},
		{"return (await Promise.all([1, 2, 3].map((n) => DB.prepare(\"SELECT ? n\").bind(n).first(\"n\")))).join()", `"1,2,3"`},
		{"return (await DB.prepare(\"SELECT __proto__ FROM (SELECT 1 AS __proto__)\").all()).results.map((r) => Object.entries(r))", `[[["__proto__",1]]]`},
		{"try { await DB.prepare(\"SELEC\").all() } catch (e) { return e.stack.split(\"\\n\").some((l) => l.includes(\"worker.js:\")) }", `true`},
	})
}

func TestKVFromWorker(t *testing.T) {
	runStores(t, []struct{ script, want string }{
		{"return [await KV.put(\"a\", \"text é\"), await KV.get(\"a\")]", `[null,"text é"]`},
		{"return [await KV.get(\"none\"), await KV.getWithMetadata(\"none\")]", `[null,{"value":null,"metadata":null,"cacheStatus":null}]`},
		{
			"await KV.put(\"j\", JSON.stringify({ n: [1] }), { metadata: { who: \"é\" } }); return [await KV.get(\"j\", \"json\"), await KV.get(\"j\", { type: \"json\", cacheTtl: 60 }), await KV.getWithMetadata(\"j\", \"json\")]",
			`[{"n":[1]},{"n":[1]},{"value":{"n":[1]},"metadata":{"who":"é"},"cacheStatus":null}]`,
		},
		{"await KV.put(\"b\", new Uint8Array([1, 0, 255]).buffer); const b = await KV.get(\"b\", \"arrayBuffer\"); return [b instanceof ArrayBuffer, [...new Uint8Array(b)]]", `[true,[1,0,255]]`},
		{"await KV.put(\"v\", new Uint8Array([9, 8, 7]).subarray(1)); return await new Response(await KV.get(\"v\", \"stream\")).arrayBuffer().then((b) => [...new Uint8Array(b)])", `[8,7]`},
		{"await KV.put(\"s\", new Response(\"streamed\").body); return await KV.get(\"s\")", `"streamed"`},
		{"await KV.put(\"e\", \"\"); return [await KV.get(\"e\"), (await KV.get(\"e\", \"arrayBuffer\")).byteLength]", `["",0]`},
		{"await KV.put(\"n\", 12); await KV.put(\"null\", null); return [await KV.get(\"n\"), await KV.get(\"null\"), await KV.get(\"null\", \"json\")]", `["12","null",null]`},
		{"await KV.put(\"o\", {})", `TypeError: KV put() accepts only strings, ArrayBuffers, ArrayBufferViews, and ReadableStreams as values.`},
		{"return await KV.get(\"a\", \"json\").catch((e) => e.name)", `"SyntaxError"`},
		{"return KV.get(\"a\", \"blob\")", `TypeError: Unknown response type. Possible types are "text", "json", "arrayBuffer", and "stream".`},
		{"const m = await KV.get([\"a\", \"none\", \"n\"]); return [m instanceof Map, ...m]", `[true,["a","text é"],["none",null],["n","12"]]`},
		{"return [...await KV.getWithMetadata([\"j\"], \"json\")]", `[["j",{"value":{"n":[1]},"metadata":{"who":"é"},"cacheStatus":null}]]`},
		{"return KV.get([\"a\"], \"stream\")", `TypeError: Unknown response type. Possible types are "text" and "json" for several keys.`},
		{"return KV.get(Array(101).fill(\"k\"))", `Error: KV GET_BULK failed: 400 You can request a maximum of 100 keys`},
		{"return KV.get(\"a\", { cacheTtl: 10 })", `Error: KV GET failed: 400 Invalid cache_ttl of 10. Cache TTL must be at least 30.`},
		{"return KV.get(\"\")", `TypeError: Key name cannot be empty.`},
		{"return KV.put(\"t\", \"x\", { expirationTtl: 30 })", `Error: KV PUT failed: 400 Invalid expiration_ttl of 30. Expiration TTL must be at least 60.`},
		{
			"const at = Math.floor(Date.now() / 1000) + 100; await KV.put(\"x/1\", \"v\", { expiration: at }); await KV.put(\"x/2\", \"v\", { expirationTtl: 100, metadata: null }); const l = await KV.list({ prefix: \"x/\" }); return [l.keys[0].expiration === at, l.keys[1].expiration >= at, l.keys.map((k) => k.name), \"metadata\" in l.keys[0], l.list_complete, \"cursor\" in l]",
			`[true,true,["x/1","x/2"],false,true,false]`,
		},
		{
			"const one = await KV.list({ prefix: \"x/\", limit: 1 }); const two = await KV.list({ prefix: \"x/\", limit: 1, cursor: one.cursor }); return [one.list_complete, one.keys[0].name, two.keys[0].name, two.list_complete]",
			`[false,"x/1","x/2",true]`,
		},
		{"return (await KV.list({ limit: 1001 }))", `Error: KV GET failed: 400 Invalid key_count_limit of 1001. Please specify an integer less than 1000.`},
		{"await KV.delete(\"a\"); await KV.delete(\"a\"); return await KV.get(\"a\")", `"undefined"`},
	})
}

func BenchmarkDatabaseFromWorker(b *testing.B) {
	const script = "return (await DB.prepare(\"SELECT ? AS n\").bind(1).all()).results"
	ask := stores(b, script)
	for b.Loop() {
		if got := ask(script); got != `[{"n":1}]` {
			b.Fatal(got)
		}
	}
}

// The host functions are there under the names that the contract gives.
func TestStoreFuncs(t *testing.T) {
	want := func(funcs map[string]engine.Func, names ...string) {
		for _, name := range names {
			if funcs[name] == nil {
				t.Errorf("no host function %q", name)
			}
		}
		if len(funcs) != len(names) {
			t.Errorf("%d host functions, want %q", len(funcs), names)
		}
	}
	want(binding.DatabaseFuncs(nil), "db_query", "db_batch", "db_exec")
	want(binding.KVFuncs(nil), "kv_get", "kv_put", "kv_list", "kv_delete")
}
