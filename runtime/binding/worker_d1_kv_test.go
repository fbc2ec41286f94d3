package binding_test

import (
	"database/sql"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"testing"

	"github.com/pages-toolchain/pages/cmd/tools/enginetest"
	pagesruntime "github.com/pages-toolchain/pages/runtime"
	"github.com/pages-toolchain/pages/runtime/binding"
	"github.com/pages-toolchain/pages/runtime/binding/d1"
	"github.com/pages-toolchain/pages/runtime/binding/kv"
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
func stores(t testing.TB, e *enginetest.Engine, scripts ...string) func(script string) string {
	t.Helper()
	site, project := database(t), database(t)
	if _, err := project.Exec("CREATE TABLE shared(x); INSERT INTO shared VALUES (7)"); err != nil {
		t.Fatal(err)
	}
	namespace, err := kv.New(database(t), nil)
	if err != nil {
		t.Fatal(err)
	}
	db, readOnly := d1.New(site, d1.Options{}), d1.New(project, d1.Options{ReadOnly: true})
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
	w := e.MustStart(t, pagesruntime.WorkerOptions{
		Name: "worker.js", Code: []byte(code),
		Bindings: &binding.Set{
			D1: map[string]*d1.Database{"DB": db, "PROJECT_DB": readOnly},
			KV: map[string]*kv.Namespace{"KV": namespace},
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

// differing is a script with one result in the built-in engine and another in workerd, which has its own client of a store.
type differing struct{ script, want, workerd string }

// runStores runs scripts in each engine: first those with the same results, then those that differ.
func runStores(t *testing.T, same []struct{ script, want string }, others ...differing) {
	t.Helper()
	var scripts []string
	for _, s := range same {
		scripts = append(scripts, s.script)
	}
	for _, s := range others {
		scripts = append(scripts, s.script)
	}
	enginetest.Each(t, func(t *testing.T, e *enginetest.Engine) {
		ask := stores(t, e, scripts...)
		check := func(script, want string) {
			t.Helper()
			if got := ask(script); got != want {
				t.Errorf("%s\n got %s\nwant %s", script, got, want)
			}
		}
		for _, s := range same {
			check(s.script, s.want)
		}
		for _, s := range others {
			if e.InWorkerd() {
				check(s.script, s.workerd)
			} else {
				check(s.script, s.want)
			}
		}
	})
}

func TestDatabaseFromWorker(t *testing.T) {
	runStores(t, []struct{ script, want string }{
		{
			"await DB.exec(\"CREATE TABLE q(x)\"); await DB.exec(\"INSERT INTO q VALUES (1)\"); let rang = false; " +
				"setTimeout(() => { rang = true; }, 5); const read = DB.prepare(\"SELECT x FROM q\"); let n = 0; " +
				"while (!rang && n < 1e6) n += await read.first(\"x\"); return rang",
			`true`, // reads that are done at once keep no timer waiting
		},
		{
			"const read = DB.prepare(\"SELECT x FROM q\"); await read.first(); const order = []; const first = " +
				"read.first(\"x\").then(() => order.push(\"read\")); order.push(\"asked\"); await first; const { meta " +
				"} = await DB.withSession().prepare(\"SELECT x FROM q\").all(); return [order, meta.rows_read]",
			`[["asked","read"],1]`,
		},
		{
			"const read = DB.prepare(\"SELECT abs(x) FROM q WHERE x < ?\"); await read.bind(2).first(); const s = " +
				"DB.withSession(); const r = s.prepare(\"SELECT x FROM q\"); await r.first(); const a = " +
				"s.getBookmark(); await r.first(); const b = s.getBookmark(); try { await read.first(); } catch (e) { " +
				"return [a < b, e.stack.includes(\"worker.js:\"), Object.keys(e)]; }",
			`[true,true,[]]`,
		},
		{
			"return await DB.exec(\"CREATE TABLE a(id INTEGER PRIMARY KEY, x, at DATETIME)\").then(({ count, duration " +
				"}) => [count, typeof duration])",
			`[1,"number"]`,
		},
		{
			"const { success, results, meta } = await DB.prepare(\"INSERT INTO a(x) VALUES " +
				"(?)\").bind(\"é😀\\u0000\").run(); return [success, results, meta.changes, meta.last_row_id, " +
				"meta.changed_db, meta.rows_written]",
			`[true,[],1,1,true,1]`,
		},
		{
			"await DB.exec(\"CREATE TABLE literals(x)\"); const rows = await DB.prepare(\"INSERT INTO literals VALUES " +
				"\" + Array(24000).fill(\"(1)\").join()).run(); const many = DB.prepare(\"SELECT count(*) n FROM " +
				"literals WHERE x IN (\" + Array.from({ length: 16000 }, (_, i) => i).join() + \")\"); return " +
				"[rows.meta.changes, await many.first(\"n\")]",
			`[24000,24000]`, // of so many literals
		},
		{"return (await DB.prepare(\"SELECT * FROM a\").all()).results", `[{"id":1,"x":"é😀\u0000","at":null}]`},
		{"return await DB.prepare(\"SELECT id, x FROM a WHERE id = ?1\").bind(1).first()", `{"id":1,"x":"é😀\u0000"}`},
		{"return await DB.prepare(\"SELECT id FROM a\").first(\"id\")", `1`},
		{
			"return [await DB.prepare(\"SELECT id FROM a WHERE 0\").first(), await DB.prepare(\"SELECT id FROM a WHERE 0\").first(\"zz\")]",
			`[null,null]`,
		},
		{
			"return await DB.prepare(\"SELECT id FROM a\").first(\"zz\")",
			`Error: D1_COLUMN_NOTFOUND: Column not found (zz) <Column not found>`,
		},
		{
			"return [await DB.prepare(\"SELECT 1 a, 2 a\").raw(), await DB.prepare(\"SELECT 1 a, 2 a\").raw({ " +
				"columnNames: true }), (await DB.prepare(\"SELECT 1 a, 2 a\").all()).results]",
			`[[[1,2]],[["a","a"],[1,2]],[{"a":2}]]`,
		},
		{
			"const s = DB.prepare(\"SELECT ? AS v\"); const [a, b] = [s.bind(1), s.bind(true)]; return [s.params, " +
				"a.params, (await b.first()).v, a.statement]",
			`[[],[1],1,"SELECT ? AS v"]`,
		},
		{
			"return (await DB.prepare(\"SELECT typeof(?1) a, ?2 b, ?3 c, ?4 d, ?5 e, typeof(?6) f\").bind(42, null, " +
				"new Uint8Array([1, 2]).buffer, [3, 4], new Uint16Array([1, 258, 3]).subarray(1), NaN).all()).results",
			`[{"a":"real","b":null,"c":[1,2],"d":[3,4],"e":[2,3],"f":"null"}]`,
		},
		{
			"return DB.prepare(\"SELECT ?\").bind(undefined)",
			`Error: D1_TYPE_ERROR: Type 'undefined' not supported for value 'undefined' <Type 'undefined' not supported for value ` +
				`'undefined'>`,
		},
		{
			"return DB.prepare(\"SELECT ?\").bind({})",
			`Error: D1_TYPE_ERROR: Type 'object' not supported for value '[object Object]' <Type 'object' not supported for value ` +
				`'[object Object]'>`,
		},
		{
			"return DB.prepare(\"SELECT ?\").bind(1n)",
			`Error: D1_TYPE_ERROR: Type 'bigint' not supported for value '1' <Type 'bigint' not supported for value '1'>`,
		},
		{
			"return DB.prepare(\"SELECT ?\").bind([1, 300])",
			`Error: D1_TYPE_ERROR: Type 'object' not supported for value '1,300' <Type 'object' not supported for value '1,300'>`,
		},
		{
			"return DB.prepare(\"SELECT ?\").all()",
			`Error: D1_ERROR: Wrong number of parameter bindings for SQL query. <Wrong number of parameter bindings for SQL query.>`,
		},
		{
			"return DB.prepare(\"INSERT INTO a(id) VALUES (1)\").run()",
			`Error: D1_ERROR: UNIQUE constraint failed: a.id: SQLITE_CONSTRAINT (extended: SQLITE_CONSTRAINT_PRIMARYKEY) <UNIQUE ` +
				`constraint failed: a.id: SQLITE_CONSTRAINT (extended: SQLITE_CONSTRAINT_PRIMARYKEY)>`,
		},
		{
			"return (await DB.batch([DB.prepare(\"INSERT INTO a(x) VALUES (?)\").bind(5), DB.prepare(\"SELECT " +
				"count(*) n FROM a\")])).map((r) => [r.success, r.results, r.meta.changes])",
			`[[true,[],1],[true,[{"n":2}],0]]`,
		},
		{
			"try { await DB.batch([DB.prepare(\"DELETE FROM a\"), DB.prepare(\"nonsense\")]) } catch (e) { return " +
				"[e.message, await DB.prepare(\"SELECT count(*) n FROM a\").first(\"n\")] }",
			`["D1_ERROR: near \"nonsense\": syntax error at offset 0: SQLITE_ERROR",2]`,
		},
		{
			"return DB.batch([1])",
			`Error: D1_ERROR: The SQL must be a string, not of type 'undefined' <The SQL must be a string, not of type 'undefined'>`,
		},
		{
			"const s = DB.withSession(\"first-primary\"); const before = s.getBookmark(); await s.prepare(\"SELECT " +
				"1\").all(); const one = s.getBookmark(); await s.batch([s.prepare(\"SELECT 1\")]); return [before, " +
				"one < s.getBookmark(), DB.withSession(one).getBookmark() === one]",
			`[null,true,true]`,
		},
		{
			"return DB.prepare(\"BEGIN\").run()",
			`Error: D1_ERROR: not authorized: a Worker's SQL cannot begin or end a transaction; put the statements into one batch(), ` +
				`which is a transaction: SQLITE_AUTH <not authorized: a Worker's SQL cannot begin or end a transaction; put the ` +
				`statements into one batch(), which is a transaction: SQLITE_AUTH>`,
		},
		{
			"return [await PROJECT_DB.prepare(\"SELECT x FROM shared\").first(\"x\"), await " +
				"PROJECT_DB.prepare(\"DELETE FROM shared\").run().catch((e) => e.message)]",
			`[7,"D1_ERROR: attempt to write a readonly database: the manifest gives this site \"read\" access only: SQLITE_READONLY"]`,
		},
		{
			"return [await DB.prepare(\"SELECT 1 a, 2 \\\"null\\\"\").first(null), await DB.prepare(new " +
				"String(\"SELECT 1 a\")).first(\"a\")]",
			`[2,1]`,
		},
		{
			"return DB.prepare({}).all()",
			`Error: D1_ERROR: The SQL must be a string, not of type 'object' <The SQL must be a string, not of type 'object'>`,
		},
		{"return DB.exec(1).catch((e) => e.name)", `"TypeError"`},
		{"return DB.batch(new Set()).catch((e) => e.name)", `"TypeError"`},
		{"return DB.batch([])", `Error: D1_ERROR: No SQL statements detected. <No SQL statements detected.>`},
		{
			"return (await DB.batch([new Proxy(DB.prepare(\"SELECT ? n\").bind(4), {}), { statement: \"SELECT 5 n\", " +
				"params: [] }])).map((r) => r.results[0].n)",
			`[4,5]`,
		},
		{"try { DB.withSession(5) } catch (e) { return e.name }", `"TypeError"`},
		{
			`await DB.exec("CREATE TABLE turns(n)"); await DB.prepare("INSERT INTO turns VALUES (0)").run();
			const read = DB.prepare("SELECT n FROM turns"), seen = [];
			for (let n = 0; n < 300; n++) {
				if (n % 50 === 7) await DB.prepare("UPDATE turns SET n = ?").bind(n).run();
				const { n: now } = await read.first();
				if (seen.at(-1) !== now) seen.push(now);
			}
			return seen`,
			`[0,7,57,107,157,207,257]`,
		},
		{
			"return [await DB.prepare(\"SELECT ? a, ? b, 9e999 c, -0.0 d, -1e999 e\").bind(Infinity, " +
				"-0).first().then((r) => Object.values(r).map(String)), DB.prepare(\"\").bind(Infinity).params[0] === Infinity]",
			`[["null","0","null","0","null"],true]`,
		},
		{
			"return DB.prepare(\"SELECT 1; -- one\").all()",
			`Error: D1_ERROR: SQL code did not contain a statement. <SQL code did not contain a statement.>`,
		},
		{
			"return DB.prepare(\"SELECT 1; SELEC\").all()",
			`Error: D1_ERROR: near "SELEC": syntax error at offset 0: SQLITE_ERROR <near "SELEC": syntax error at offset 0: SQLITE_ERROR>`,
		},
		{"try { await DB.prepare(\"SELEC\").all() } catch (e) { return [Object.keys(e), e.cause instanceof Error] }", `[[],true]`},
		{
			"const s = DB.withSession(); await s.prepare(\"SELECT 1\").run(); return " +
				"[/^[0-9a-f]{8}-[0-9a-f]{8}-[0-9a-f]{8}-[0-9a-f]{32}$/.test(s.getBookmark()), typeof s.exec]",
			`[true,"undefined"]`,
		},
		{"const late = \"zzzz\", s = DB.withSession(late); await s.prepare(\"SELECT 1\").run(); return s.getBookmark()", `"zzzz"`},
		{
			"return Object.keys((await DB.prepare(\"SELECT 1\").all()).meta)",
			`["served_by","served_by_primary","total_attempts","timings","duration","changes","last_row_id","changed_db","size_after",` +
				`"rows_read","rows_written"]`,
		},
		{
			"return [DB.prepare({}).statement !== undefined, await DB.prepare(\"SELECT ?2 a, ?1 b\").bind(1, " +
				"2).raw(), await DB.prepare(\"SELECT :a a, :b b\").bind(1, 2).raw()]",
			`[true,[[2,1]],[[1,2]]]`,
		},
		{
			"return [undefined, \"\", \" \", \"first-primary\", \"first-unconstrained\", \" first-primary \", " +
				"\"other\"].map((c) => DB.withSession(c).getBookmark())",
			`[null,null,null,null,null,null,"other"]`,
		},
		{
			"return Object.values(await DB.prepare(\"SELECT 1 i, 1.5 r, 'x' t, x'0102' b, NULL n, 2 > 1 " +
				"y\").first()).map((v) => [Array.isArray(v) ? \"array\" : typeof v, v])",
			`[["number",1],["number",1.5],["string","x"],["array",[1,2]],["object",null],["number",1]]`,
		},
		{
			"const { meta: m } = await DB.prepare(\"SELECT 1\").run(); return [typeof m.duration, m.size_after % " +
				"4096, m.rows_read, m.rows_written, typeof m.last_row_id, m.changed_db, m.changes, " +
				"m.served_by_primary, m.timings.sql_duration_ms === m.duration, m.total_attempts]",
			`["number",0,0,0,"number",false,0,true,true,1]`,
		},
		{
			`const refused = ["ATTACH ':memory:' AS z", "DETACH main", "VACUUM", "COMMIT", "SAVEPOINT s", "CREATE TEMP TABLE z(a)",
				"CREATE VIRTUAL TABLE z USING fts4(a)", "PRAGMA journal_mode", "PRAGMA page_size=512", "SELECT sqlite_version()",
				"SELECT sqlite_compileoption_get(0)", "SELECT json_pretty('[]')", "ALTER TABLE a RENAME TO _pages_a",
				"SELECT * FROM sqlite_dbpage"];
			const out = []; for (const sql of refused) out.push(
				await DB.prepare(sql).run().then(() => sql, (e) => /not authorized|prohibited|cannot VACUUM/.test(e.message)));
					return out.every((o) => o === true) || out`,
			`true`,
		},
		{
			`const allowed = ["PRAGMA table_list", "PRAGMA table_info(a)", "PRAGMA table_xinfo(a)", "PRAGMA index_list(a)",
				"PRAGMA index_info(i)", "PRAGMA index_xinfo(i)", "PRAGMA foreign_key_list(a)", "PRAGMA foreign_key_check",
				"PRAGMA quick_check", "PRAGMA optimize", "PRAGMA data_version", "PRAGMA page_size", "PRAGMA foreign_keys",
				"PRAGMA defer_foreign_keys=ON", "PRAGMA ignore_check_constraints=OFF", "PRAGMA legacy_alter_table=OFF",
				"PRAGMA recursive_triggers=OFF", "PRAGMA reverse_unordered_selects=OFF", "PRAGMA case_sensitive_like=OFF",
				"CREATE VIRTUAL TABLE f USING fts5(a)", "CREATE VIRTUAL TABLE v USING fts5vocab(f, row)",
				"CREATE VIRTUAL TABLE r USING rtree(id, a, b)", "CREATE VIRTUAL TABLE r32 USING rtree_i32(id, a, b)",
				"INSERT INTO f VALUES ('hello')",
				"SELECT highlight(f, 0, '<', '>'), bm25(f), snippet(f, 0, '', '', '', 1) FROM f('hello')",
				"SELECT sqrt(4), json('[]'), jsonb('[]'), date(), row_number() OVER ()", "DROP TABLE r32"];
			const out = []; for (const sql of allowed) await DB.prepare(sql).run().catch((e) => out.push(sql + ": " + e.message));
			return out`,
			`[]`,
		},
		{
			`const ask = (sql, ...params) => DB.prepare(sql).bind(...params).raw().then((r) => JSON.stringify(r).length < 20 ? r : "ok",
				(e) => e.message.slice(10));
			const list = (n, v) => Array(n).fill(v);
			return [
				await ask("SELECT '" + "x".repeat(99_991) + "'"), await ask("SELECT '" + "x".repeat(99_992) + "'"),
				await ask("SELECT " + list(100, "?").join("+"), ...list(100, 1)),
				await ask("SELECT " + list(101, "?").join(), ...list(101, 1)),
				await ask("SELECT " + list(100, 1)), await ask("SELECT " + list(101, 1)), await ask("SELECT " + list(101, 1).join("+")),
				await ask("SELECT 1" + " UNION ALL SELECT 1".repeat(4)), await ask("SELECT 1" + " UNION ALL SELECT 1".repeat(5)),
				await ask("SELECT 'a' LIKE ?", "a".repeat(50)), await ask("SELECT 'a' LIKE ?", "a".repeat(51)),
				await ask("SELECT 'a' GLOB ?", "é".repeat(26)),
				await ask("SELECT length(?)", "x".repeat(4 << 20)), await ask("SELECT length(?)", "x".repeat((4 << 20) + 1)),
				await ask("SELECT max(" + list(127, 1) + ")"), await ask("SELECT max(" + list(128, 1) + ")"),
			]`,
			`["ok","statement too long: SQLITE_TOOBIG",[[100]],"too many SQL variables at offset 207: SQLITE_ERROR","ok",` +
				`"too many columns in result set: SQLITE_ERROR","Expression tree is too large (maximum depth 100): SQLITE_ERROR","ok",` +
				`"too many terms in compound SELECT: SQLITE_ERROR",[[0]],"LIKE or GLOB pattern too complex: SQLITE_ERROR",` +
				`"LIKE or GLOB pattern too complex: SQLITE_ERROR",[[4194304]],"string or blob too big: SQLITE_TOOBIG",[[1]],` +
				`"too many arguments on function max at offset 7: SQLITE_ERROR"]`,
		},
		{
			`await DB.batch(["CREATE TABLE deep(n)",
				"CREATE TRIGGER dt AFTER INSERT ON deep WHEN new.n > 0 BEGIN INSERT INTO deep VALUES (new.n - 1); END"].map(
				(sql) => DB.prepare(sql)));
			return DB.prepare("PRAGMA recursive_triggers=1; INSERT INTO deep VALUES (20)").run().catch((e) => e.message)`,
			`"D1_ERROR: triggers nested too deep: SQLITE_ERROR"`,
		},
		{"return (await Promise.all([1, 2, 3].map((n) => DB.prepare(\"SELECT ? n\").bind(n).first(\"n\")))).join()", `"1,2,3"`},
		{
			"return (await DB.prepare(\"SELECT __proto__ FROM (SELECT 1 AS __proto__)\").all()).results.map((r) => Object.entries(r))",
			`[[["__proto__",1]]]`,
		},
		{
			"try { await DB.prepare(\"SELEC\").all() } catch (e) { return e.stack.split(\"\\n\").some((l) => l.includes(\"worker.js:\")) }",
			`true`,
		},
	},
		differing{
			"return DB.prepare(\"SELECT ?\").bind(new DataView(new ArrayBuffer(1))).params",
			`Error: D1_TYPE_ERROR: Type 'DataView' not supported: bind a Uint8Array <Type 'DataView' not supported: bind a Uint8Array>`,
			`[[]]`,
		},
		differing{
			"return DB.prepare(\"SELECT ?\").bind(new BigInt64Array(1)).all()",
			`Error: D1_TYPE_ERROR: Type 'object' not supported for value '0' <Type 'object' not supported for value '0'>`,
			`TypeError: Do not know how to serialize a BigInt`,
		},
		differing{
			"return DB.exec(\"SELECT 1\\nSELECT nope\")",
			`Error: D1_EXEC_ERROR: Error in line 2: SELECT nope: no such column: nope at offset 7: SQLITE_ERROR <Error in line 2: ` +
				`SELECT nope: no such column: nope at offset 7: SQLITE_ERROR>`,
			`Error: D1_EXEC_ERROR: Error in line 1: SELECT 1: no such column: nope at offset 7: SQLITE_ERROR <Error in line 1: ` +
				`SELECT 1: no such column: nope at offset 7: SQLITE_ERROR>`,
		},
		differing{
			"return DB.dump()", `Error: D1_DUMP_ERROR: dump() is not available: copy the database file instead`,
			`Error: D1_DUMP_ERROR: Status + 501 <Status 501>`,
		},
		differing{
			"return [() => 1, Symbol(\"s\"), new Date(NaN)].map((v) => { try { DB.prepare(\"SELECT ?\").bind(v) } " +
				"catch (e) { return e.message.replace(/ for value.*/, \"\") } })",
			`["D1_TYPE_ERROR: Type 'function' not supported","D1_TYPE_ERROR: Type 'symbol' not supported",` +
				`"D1_TYPE_ERROR: Type 'object' not supported"]`,
			`["D1_TYPE_ERROR: Type 'function' not supported","Cannot convert a Symbol value to a string",` +
				`"D1_TYPE_ERROR: Type 'object' not supported"]`,
		},
	)
}

// A store's refusal has the Worker's line in its stack, although the host makes the error.
func TestStoresRefuseAtALine(t *testing.T) {
	const lines = `const lineOf = async (call) => { try { await call(); } catch (e) { return e.stack.startsWith(String(e)) && ` +
		`/worker\.js:\d+:\d+/.test(e.stack); } }; `
	runStores(t, []struct{ script, want string }{
		{
			lines + `return Promise.all([() => KV.put("", "x"), () => KV.get("x".repeat(600)), () => KV.delete("")].map(lineOf))`,
			`[true,true,true]`,
		},
		{
			`const before = Error.prepareStackTrace; Error.prepareStackTrace = () => 1;
			try { await DB.prepare("SELEC").all(); } catch (e) { return [e.name, e.stack]; } finally { Error.prepareStackTrace = before;
				}`,
			`["Error",1]`,
		},
	},
		differing{lines + `return lineOf(() => KV.list({ limit: 5000 }))`, `true`, `false`},
		differing{lines + `await KV.put("no json", "{"); return lineOf(() => KV.get("no json", "json"))`, `true`, `false`},
		differing{
			`const own = new Error("the author's"); own.stack = "kept\n    at theirs";
			const { readable, writable } = new FixedLengthStream(2); writable.abort(own);
			try { await KV.put("k", readable); } catch (e) { return [e === own, e.message, e.stack === own.stack]; }`,
			`[true,"the author's",true]`, `[false,"the author's",false]`,
		},
	)
}

func TestKVFromWorker(t *testing.T) {
	runStores(t, []struct{ script, want string }{
		{"return [await KV.put(\"a\", \"text é\"), await KV.get(\"a\")]", `[null,"text é"]`},
		{"return [await KV.get(\"none\"), await KV.getWithMetadata(\"none\")]", `[null,{"value":null,"metadata":null,"cacheStatus":null}]`},
		{
			"await KV.put(\"j\", JSON.stringify({ n: [1] }), { metadata: { who: \"é\" } }); return [await " +
				"KV.get(\"j\", \"json\"), await KV.get(\"j\", { type: \"json\", cacheTtl: 60 }), await " +
				"KV.getWithMetadata(\"j\", \"json\")]",
			`[{"n":[1]},{"n":[1]},{"value":{"n":[1]},"metadata":{"who":"é"},"cacheStatus":null}]`,
		},
		{
			"await KV.put(\"b\", new Uint8Array([1, 0, 255]).buffer); const b = await KV.get(\"b\", \"arrayBuffer\"); " +
				"return [b instanceof ArrayBuffer, [...new Uint8Array(b)]]",
			`[true,[1,0,255]]`,
		},
		{
			"await KV.put(\"bad\", new Uint8Array([0x61, 0xff, 0xfe, 0xe2, 0x82, 0x62])); return [await " +
				"KV.get(\"bad\"), (await KV.get([\"bad\"])).get(\"bad\")]",
			"[\"a\uFFFD\uFFFD\uFFFDb\",\"a\uFFFD\uFFFD\uFFFDb\"]",
		},
		{
			"await KV.put(\"v\", new Uint8Array([9, 8, 7]).subarray(1)); return await new Response(await " +
				"KV.get(\"v\", \"stream\")).arrayBuffer().then((b) => [...new Uint8Array(b)])",
			`[8,7]`,
		},
		{"await KV.put(\"s\", new Response(\"streamed\").body); return await KV.get(\"s\")", `"streamed"`},
		{"await KV.put(\"e\", \"\"); return [await KV.get(\"e\"), (await KV.get(\"e\", \"arrayBuffer\")).byteLength]", `["",0]`},
		{
			"await KV.put(\"n\", 12); await KV.put(\"null\", null); return [await KV.get(\"n\"), await " +
				"KV.get(\"null\"), await KV.get(\"null\", \"json\")]",
			`["12","null",null]`,
		},
		{
			"await KV.put(\"o\", {})",
			`TypeError: KV put() accepts only strings, ArrayBuffers, ArrayBufferViews, and ReadableStreams as values.`,
		},
		{
			"return await KV.get(\"a\", \"json\").catch((e) => [e.name, e.message, Object.keys(e), e instanceof SyntaxError])",
			`["SyntaxError","Unexpected token 'e', \"text é\" is not valid JSON",[],true]`,
		},
		{
			"return KV.get(\"a\", \"blob\")",
			`TypeError: Unknown response type. Possible types are "text", "arrayBuffer", "json", and "stream".`,
		},
		{
			"const m = await KV.get([\"a\", \"none\", \"n\"]); return [m instanceof Map, ...m]",
			`[true,["a","text é"],["none",null],["n","12"]]`,
		},
		{
			"return [...await KV.getWithMetadata([\"j\", \"none\"], \"json\")]",
			`[["j",{"value":{"n":[1]},"metadata":{"who":"é"}}],["none",null]]`,
		},
		{"return KV.get([\"a\"], \"stream\")", `Error: KV GET_BULK failed: 400 "stream" is not a valid type. Use "json" or "text"`},
		{"return KV.get(Array(101).fill(\"k\"))", `Error: KV GET_BULK failed: 400 You can request a maximum of 100 keys`},
		{"return KV.get(\"a\", { cacheTtl: 10 })", `Error: KV GET failed: 400 Invalid cache_ttl of 10. Cache TTL must be at least 30.`},
		{"return KV.get(\"\")", `TypeError: Key name cannot be empty.`},
		{
			"return KV.put(\"t\", \"x\", { expirationTtl: 30 })",
			`Error: KV PUT failed: 400 Invalid expiration_ttl of 30. Expiration TTL must be at least 60.`,
		},
		{
			"const at = Math.floor(Date.now() / 1000) + 100; await KV.put(\"x/1\", \"v\", { expiration: at }); await " +
				"KV.put(\"x/2\", \"v\", { expirationTtl: 100, metadata: null }); const l = await KV.list({ prefix: " +
				"\"x/\" }); return [l.keys[0].expiration === at, l.keys[1].expiration >= at, l.keys.map((k) => " +
				"k.name), \"metadata\" in l.keys[0], l.list_complete, \"cursor\" in l]",
			`[true,true,["x/1","x/2"],false,true,false]`,
		},
		{
			"const one = await KV.list({ prefix: \"x/\", limit: 1 }); const two = await KV.list({ prefix: \"x/\", " +
				"limit: 1, cursor: one.cursor }); return [one.list_complete, one.keys[0].name, two.keys[0].name, two.list_complete]",
			`[false,"x/1","x/2",true]`,
		},
		{
			"return (await KV.list({ limit: 1001 }))",
			`Error: KV GET failed: 400 Invalid key_count_limit of 1001. Please specify an integer less than 1000.`,
		},
		{
			"const e = await KV.get([\"a\", \"j\"], \"json\").catch((e) => e); return [e.name, e.message]",
			`["Error","KV GET_BULK failed: 400 At least one of the requested keys corresponds to a non-json value"]`,
		},
		{"return KV.get([])", `Error: KV GET_BULK failed: 400 You must request a minimum of 1 key`},
		{"return KV.get([\"\"])", `Error: KV GET_BULK failed: 400 Key names must not be empty`},
		{"return KV.get([\"a\", \"..\"])", `Error: KV GET_BULK failed: 400 Illegal key name "..". Please use a different name.`},
		{
			"return KV.get([\"k\".repeat(513)])",
			`Error: KV GET_BULK failed: 414 UTF-8 encoded length of 513 exceeds key length limit of 512.`,
		},
		{
			"return KV.get([\"a\"], { cacheTtl: 29.9 })",
			`Error: KV GET_BULK failed: 400 Invalid cache_ttl of 29. Cache TTL must be at least 30.`,
		},
		{
			"for (const k of [\"m1\", \"m2\", \"m3\"]) await KV.put(k, new Uint8Array(9 << 20)); const e = await " +
				"KV.get([\"m1\", \"m2\", \"m3\"]).catch((e) => e.message); for (const k of [\"m1\", \"m2\", \"m3\"]) " +
				"await KV.delete(k); return e",
			`"KV GET_BULK failed: 413 Total size of request exceeds the limit of 25MB"`,
		},
		{"return KV.get(\"a\", 5)", `TypeError: Unknown response type. Possible types are "text", "arrayBuffer", "json", and "stream".`},
		{"return KV.get(\"a\", { cacheTtl: null })", `Error: KV GET failed: 400 Invalid cache_ttl of 0. Cache TTL must be at least 30.`},
		{
			"return KV.get(\"a\", { cacheTtl: 2 ** 31 })",
			`TypeError: Value out of range. Must be between -2147483648 and 2147483647 (inclusive).`,
		},
		{"return KV.get(\"k\\ud800\")", `Error: KV GET failed: 400 Could not URL-decode key name`},
		{"return KV.put(\"k\\udc00x\", \"\")", `Error: KV PUT failed: 400 Could not URL-decode key name`},
		{"return KV.delete(\"\\ud800\")", `Error: KV DELETE failed: 400 Could not URL-decode key name`},
		{"return KV.get()", `TypeError: Failed to execute 'get' on 'KvNamespace': parameter 1 is not of type 'string or Array'.`},
		{"return KV.put(\"k\")", `TypeError: Failed to execute 'put' on 'KvNamespace': parameter 2 is not of type 'string or Object'.`},
		{"return KV.put(\"k\", \"\", 60)", `TypeError: Failed to execute 'put' on 'KvNamespace': parameter 3 is not of type 'PutOptions'.`},
		{"return KV.list(\"prefix\")", `TypeError: Failed to execute 'list' on 'KvNamespace': parameter 1 is not of type 'ListOptions'.`},
		{
			"return KV.put(\"k\", \"\", { expirationTtl: 0 })",
			`Error: KV PUT failed: 400 Invalid expiration_ttl of 0. Please specify integer greater than 0.`,
		},
		{
			"return KV.put(\"k\", \"\", { expirationTtl: \"an hour\" })",
			`Error: KV PUT failed: 400 Invalid expiration_ttl of 0. Please specify integer greater than 0.`,
		},
		{
			"return KV.put(\"k\", \"\", { expiration: 1700000000 })",
			`Error: KV PUT failed: 400 Invalid expiration of 1700000000. Please specify integer greater than the current number of ` +
				`seconds since the UNIX epoch.`,
		},
		{
			"return KV.put(\"k\", \"\", { expiration: Date.now() + 1e6 })",
			`TypeError: Value out of range. Must be between -2147483648 and 2147483647 (inclusive).`,
		},
		{
			"return KV.put(\"k\", \"\", { metadata: \"x\".repeat(1023) })",
			`Error: KV PUT failed: 413 Metadata length of 1025 exceeds limit of 1024.`,
		},
		{
			"await KV.put(\"nul\", \"\", { metadata: null }); return (await KV.list({ prefix: \"nul\", limit: 1.9 " +
				"})).keys[1] ?? (await KV.getWithMetadata(\"nul\"))",
			`{"value":"","metadata":null,"cacheStatus":null}`,
		},
		{
			"const bytes = new Uint8Array([65, 66]); const put = KV.put(\"early\", bytes); bytes[0] = 90; await put; " +
				"return KV.get(\"early\")",
			`"AB"`,
		},
		{"await KV.put(\"text\", new ReadableStream({ start(c) { c.enqueue(\"é\"); c.close(); } })); return KV.get(\"text\")", `"é"`},
		{
			"await KV.put(\"large\", new Uint8Array(25 << 20).fill(7)); let n = 0, wrong = 0; for await (const c of " +
				"(await KV.getWithMetadata(\"large\", \"stream\")).value) { n += c.byteLength; wrong += c[0] + " +
				"c.at(-1) - 14; } return [n, wrong, (await KV.get(\"large\", \"arrayBuffer\")).byteLength, await " +
				"KV.get(\"none\", \"stream\")]",
			`[26214400,0,26214400,null]`,
		},
		{"const s = await KV.get(\"large\", \"stream\"); await s.cancel(); return (await KV.delete(\"large\")) ?? \"ok\"", `"ok"`},
		{
			"return KV.put(\"k\", new Uint8Array((25 << 20) + 1))",
			`Error: KV PUT failed: 413 Value length of 26214401 exceeds limit of 26214400.`,
		},
		{"return KV.list({ cursor: \"?\" })", `Error: KV GET failed: 400 Invalid cursor.`},
		{
			"const long = \"é\".repeat(257); const out = []; for (const call of [() => KV.get(long), () => " +
				"KV.put(long, \"\"), () => KV.delete(long), () => KV.list({ prefix: long })]) out.push((await " +
				"call().catch((e) => e)).message); await KV.put(\"é\".repeat(256), \"fits\"); return [...out, await " +
				"KV.get(\"é\".repeat(256))]",
			`["KV GET failed: 414 UTF-8 encoded length of 514 exceeds key length limit of 512.",` +
				`"KV PUT failed: 414 UTF-8 encoded length of 514 exceeds key length limit of 512.",` +
				`"KV DELETE failed: 414 UTF-8 encoded length of 514 exceeds key length limit of 512.",` +
				`"KV GET failed: 414 UTF-8 encoded length of 514 exceeds key length limit of 512.","fits"]`,
		},
		{
			"for (const k of [\"o/b\", \"o/é\", \"o/\\uffff\", \"o/😀\", \"o/Z\", \"o/10\", \"o/9\"]) await KV.put(k, " +
				"\"\"); const names = []; let cursor, pages = 0; do { const l = await KV.list({ prefix: \"o/\", " +
				"limit: 3, cursor }); names.push(...l.keys.map((k) => k.name.slice(2))); cursor = l.cursor; pages++; " +
				"} while (cursor); return [pages, names.join(\" \") === \"10 9 Z b é \\uffff 😀\", await KV.list({ prefix: \"none\" })]",
			`[3,true,{"keys":[],"list_complete":true,"cacheStatus":null}]`,
		},
		{"return [KV.constructor.name, String(KV), Object.keys(KV), \"get\" in KV]", `["KvNamespace","[object KvNamespace]",[],true]`},
		{"await KV.delete(\"a\"); await KV.delete(\"a\"); return await KV.get(\"a\")", `"undefined"`},
	},
		differing{
			"return KV.put(\"k\", \"\", { metadata: () => {} })", `TypeError: KV put(): the metadata has no form in JSON`,
			`Error: KV PUT failed: 400 Metadata is not JSON.`,
		},
		differing{
			"let pulled = 0, gone; const endless = new ReadableStream({ pull(c) { pulled++; c.enqueue(new " +
				"Uint8Array(1 << 20)); }, cancel() { gone = true; } }); const e = await KV.put(\"endless\", " +
				"endless).catch((e) => e.message); return [e, gone, pulled < 40, await KV.get(\"endless\")]",
			`["KV PUT failed: 413 Value length of 27262976 exceeds limit of 26214400.",true,true,null]`,
			`["Network connection lost.",true,false,null]`,
		},
		differing{
			"const out = []; for (const call of [(k) => KV.get(k), (k) => KV.getWithMetadata(k), (k) => KV.put(k, " +
				"\"\"), (k) => KV.delete(k)]) for (const k of [\"\", \".\", \"..\"]) try { await call(k).catch((e) " +
				"=> out.push(e.name + \": \" + e.message)) } catch (e) { out.push(\"thrown \" + e.message) } return [...new Set(out)]",
			`["TypeError: Key name cannot be empty.","TypeError: \".\" is not allowed as a key name.",` +
				`"TypeError: \"..\" is not allowed as a key name."]`,
			`["TypeError: Key name cannot be empty.","TypeError: \".\" is not allowed as a key name.",` +
				`"TypeError: \"..\" is not allowed as a key name.","thrown Key name cannot be empty.",` +
				`"thrown \".\" is not allowed as a key name.","thrown \"..\" is not allowed as a key name."]`,
		},
	)
}

func BenchmarkDatabaseFromWorker(b *testing.B) {
	const script = "return (await DB.prepare(\"SELECT ? AS n\").bind(1).all()).results"
	ask := stores(b, enginetest.BuiltIn(b), script)
	for b.Loop() {
		if got := ask(script); got != `[{"n":1}]` {
			b.Fatal(got)
		}
	}
}

// BenchmarkDatabaseLoop is a thousand reads of a row, one awaited after the other in one request.
func BenchmarkDatabaseLoop(b *testing.B) {
	const (
		fill = "await DB.exec(\"CREATE TABLE rows (id INTEGER PRIMARY KEY, name TEXT, n REAL)\"); await " +
			"DB.batch(Array.from({ length: 1000 }, (_, i) => DB.prepare(\"INSERT INTO rows VALUES (?, ?, " +
			"?)\").bind(i, \"row\", i / 4))); return 1"
		loop = "let sum = 0; for (let id = 0; id < 1000; id++) sum += (await DB.prepare(\"SELECT id, name, n FROM " +
			"rows WHERE id = ?\").bind(id).first()).n; return sum"
	)
	ask := stores(b, enginetest.BuiltIn(b), fill, loop)
	ask(fill)
	for b.Loop() {
		if got := ask(loop); got != "124875" {
			b.Fatal(got)
		}
	}
}
