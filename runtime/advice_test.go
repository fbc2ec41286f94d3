package runtime_test

import (
	"database/sql"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"time"

	pagesruntime "github.com/pages-toolchain/pages/runtime"
	"github.com/pages-toolchain/pages/runtime/binding"
	"github.com/pages-toolchain/pages/runtime/binding/d1"
	"github.com/pages-toolchain/pages/runtime/web"
)

// advised are mistakes of authors who know other platforms, with the fix that is shown.
var advised = []struct{ code, want string }{
	{
		`return new Response(process.env.KEY)`,
		`read env.NAME: env is the second argument of fetch(request, env, ctx); ` +
			`or add "nodejs_compat" to runtime.compatibilityFlags in pages.deploy.json`,
	},
	{`return new Response(Buffer.from("x"))`, `add "nodejs_compat" to runtime.compatibilityFlags in pages.deploy.json`},
	{`return new Response(__dirname)`, "a Worker has no file system: import the file, or ask env.ASSETS.fetch for a public one"},
	{
		`return new Response(window.location.href)`,
		"only browsers have window: run this in a script of the page, or use a package that does without",
	},
	{
		`return React.createElement("p")`,
		`import React from "react", or set "jsx": "react-jsx" and "jsxImportSource" under "compilerOptions" in tsconfig.json`,
	},
	{`ctx.waitUntil(1)`, "it is the third argument of fetch(request, env, ctx)"},
	{`new DOMParser()`, "only browsers have DOMParser: run this in a script of the page, or use a package that does without"},
	{
		`try { DOMParser } catch (e) { e.message += "\n  Deserialization error"; throw e }`,
		"only browsers have DOMParser: run this in a script of the page, or use a package that does without",
	},
	{
		`new Function("return 1")`,
		"the platform runs no code from texts while it serves: compile templates and schemas at the top level of the " +
			"module, or before the build",
	},
	{`throw new Error("document is not defined")`, ""},
	{`unheardOf()`, ""},
	{
		`await fetch("/data.json")`,
		`ask for a public file as env.ASSETS.fetch(new URL("/data.json", request.url)), and call the function for a response of the Worker`,
	},
	{
		`return fetch("http://site.test/data.json")`,
		"return env.ASSETS.fetch(request) for a public file, and call the function for a response of the Worker",
	},
	{`return new Request("/x")`, `write new URL("/x", request.url)`},
	{`return Response.redirect("/login")`, `write new URL("/login", request.url)`},
	{
		`new URL("./data.bin", import.meta.url)`,
		"a Worker has no import.meta.url and no files beside it: import the file, or ask env.ASSETS.fetch for a public one",
	},
	{
		`new URL("lib_bg.wasm", import.meta.url)`,
		"a Worker has no import.meta.url and no files beside it: import the file, or ask env.ASSETS.fetch for a public one",
	},
	{
		`throw Error('Dynamic require of "fs" is not supported')`,
		"a bundler cannot see this require before it runs: import the module instead, or use a package without it",
	},
	{`request.headers.set("a", "b")`, "copy it first: new Response(response.body, response), or new Request(request)"},
	{`const res = env; res.status(200)`, "return a Response: a handler gets (request, env, ctx), and nothing to answer with"},
	{`if (request.method === "POST") return new Response()`, "return a Response on every way through the handler"},
	{`return "text"`, "return new Response(text)"},
	{`return { statusCode: 200 }`, "return Response.json(value)"},
	{`return [1]`, "return Response.json(value)"},
	{`return 5`, "return Response.json(value)"},
	{`return fetch`, ""},
	{`await env.DB.prepare("")`, `declare "database": {} under "bindings" in pages.deploy.json: it is then env.DB`},
	{"await env.DB\n      .prepare('')", `declare "database": {} under "bindings" in pages.deploy.json: it is then env.DB`},
	{`await env.kv.get("a")`, "did you mean env.KV?"},
	{`await env.CACHE.getWithMetadata("a")`, "did you mean env.KV?"},
	{`await env.FILES.head("a")`, `declare "storage": {"name": "FILES"} under "bindings" in pages.deploy.json`},
	{`env.IMAGES.input("a")`, `declare "images": true under "bindings" in pages.deploy.json: it is then env.IMAGES`},
	{`env.ASSETS.fetch("a")`, `name the folder of the public files under "assets" in pages.deploy.json: it is then env.ASSETS`},
	{`env.API_KEY.trim()`, `name "API_KEY" in bindings.secrets of pages.deploy.json, and give it a value in .dev.vars`},
	{`await env.AI.run("model")`, "there is no Workers AI here: call a service with fetch"},
	{`env.ROOM.idFromName("a")`, "there are no Durable Objects here: keep the state in the database"},
	{`await env.ROOM.get(env.ROOM.idFromName("a"))`, "there are no Durable Objects here: keep the state in the database"},
	{
		`await env.AUTH.fetch(request)`,
		"env.ASSETS has the public files; a Worker cannot be bound to another: call it by its address with fetch",
	},
	{
		`await env.AUTH.verify("a")`,
		`nothing is bound as env.AUTH: "bindings" in pages.deploy.json lists the bindings; ` +
			`a Worker cannot be bound to another: call it by its address with fetch`,
	},
	{
		`await env.FLOW.create({})`,
		"there are neither Workflows nor Pipelines here: do the work in ctx.waitUntil, and keep its state in the database",
	},
	{`env.AI.gateway("a")`, "there is no Workers AI here: call a service with fetch"},
	{
		`const ctx = arguments[2]; ctx.exports.Room.getByName("a")`,
		"there is no ctx.exports here: only a request starts a Worker; call the function itself, and keep state in the database",
	},
	{
		`const ctx = arguments[2]; await ctx.cache.purge({})`,
		"there is no ctx.cache here: caches.default.delete(request) removes a response",
	},
	{
		`await env.JOBS.send({})`,
		"there are neither queues nor mail here: do the work in ctx.waitUntil, and call a service for mail with fetch",
	},
	{`env.HYPERDRIVE.connectionString`, "there is no Hyperdrive here: use bindings.database, or a database that fetch can reach"},
	{`import.meta.env.KEY`, "read env.KEY: env is the second argument of fetch(request, env, ctx)"},
	{`{ const env = undefined; env.KEY }`, "env is the second argument of fetch(request, env, ctx)"},
	{`const o = {}; o.a.b`, ""},
	{`await env.KV.set("a", "b")`, "a key-value namespace has get, getWithMetadata, put, list and delete"},
	{`await env.GREETING.get("b")`, ""},
	{
		`await import("cloudflare:email")`,
		"there are neither queues nor mail here: do the work in ctx.waitUntil, and call a service for mail with fetch",
	},
	{
		`await import("cloudflare:workflows")`,
		"there are neither Workflows nor Pipelines here: do the work in ctx.waitUntil, and keep its state in the database",
	},
	{
		`await import("node:repl")`,
		"use a web API instead, or a package that does not need it; if it is optional, catch the rejection of import()",
	},
	{`throw "text"`, "throw an Error: only an Error has a stack"},
	{`throw new TypeError("mine")`, ""},
}

func TestAdvice(t *testing.T) {
	set := withKV(t)
	for _, c := range advised {
		if got := fault(t, "export default {\n  async fetch(request, env) {\n    "+c.code+"\n  }\n}", set); got.Fix != c.want {
			t.Errorf("%s: %v: the fix is %q, want %q", c.code, got, got.Fix, c.want)
		}
	}
}

// TestHashingAdvice: a password hash in JavaScript takes longer than a budget allows; a native one does not.
func TestHashingAdvice(t *testing.T) {
	for source, want := range map[string]string{
		"node_modules/@noble/hashes/src/scrypt.ts": "hash passwords with scrypt of node:crypto or PBKDF2 of " +
			"crypto.subtle, which are native: JavaScript is much slower here than in production (--cpu-scale of pages dev allows for it)",
		"src/scrypt.js": "do less per request, or raise limits.cpuMs (at most 30000) in pages.deploy.json",
	} {
		code := "export default { fetch() { for (;;) {} } }"
		text, err := json.Marshal(map[string]any{
			"version": 3, "sources": []string{source}, "sourcesContent": []string{code}, "names": []string{},
			"mappings": "AAAA",
		})
		if err != nil {
			t.Fatal(err)
		}
		w := mustStart(t, code, pagesruntime.WorkerOptions{Map: text, Limits: pagesruntime.Limits{CPU: killMS * time.Millisecond}})
		_, err = w.Serve(httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, "/", nil))
		if f, ok := errors.AsType[*pagesruntime.Error](err); !ok || f.Fix != want {
			t.Errorf("%s: %+v (%v)", source, f, err)
		}
	}
}

// fault is the error of the Worker's answer to a request.
func fault(t *testing.T, code string, set *binding.Set) *pagesruntime.Error {
	t.Helper()
	// each line is its own, from the first column
	text, err := json.Marshal(map[string]any{
		"version": 3, "sources": []string{"src/index.js"}, "sourcesContent": []string{code}, "names": []string{},
		"mappings": "AAAA" + strings.Repeat(";AACA", strings.Count(code, "\n")),
	})
	if err != nil {
		t.Fatal(err)
	}
	w := mustStart(t, code, pagesruntime.WorkerOptions{
		Map: text, Bindings: set, Web: web.Options{IsSelf: func(host string) bool { return host == "site.test" }},
	})
	_, err = w.Serve(httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, "/", nil))
	f, ok := errors.AsType[*pagesruntime.Error](err)
	if !ok {
		t.Fatalf("%s: %v", code, err)
	}
	return f
}

func TestLoadAdvice(t *testing.T) {
	for code, want := range map[string]string{
		`export default async function handler(request) {}`: "name the function, and write: export default { fetch: name }",
		`export default { scheduled() {}, queue() {} }`: "add one that does this work: " +
			"only a request starts a Worker",
		`export default { Fetch() {} }`: "name the method fetch",
		`const key = process.env.KEY; export default {}`: "read env.NAME: env is the second argument of " +
			"fetch(request, env, ctx); or add \"nodejs_compat\" to runtime.compatibilityFlags in pages.deploy.json",
	} {
		t.Run(code, func(t *testing.T) {
			_, err := start(t, code, pagesruntime.WorkerOptions{})
			f, ok := errors.AsType[*pagesruntime.Error](err)
			if !ok || f.Fix != want {
				t.Errorf("%s: %v: got %+v, want the fix %q", code, err, f, want)
			}
		})
	}
}

// TestRepeatedCause: a cause that says nothing new is left out.
func TestRepeatedCause(t *testing.T) {
	for _, c := range []struct {
		name, code string
		want       int
	}{
		{"the same", `throw new Error("D1_ERROR: no such table", { cause: new Error("no such table") })`, 0},
		{"another message", `throw new Error("could not save", { cause: new Error("no such table") })`, 1},
		{"another class", `throw new Error("could not save: no table", { cause: new TypeError("no table") })`, 1},
		{"another line", "const c = new Error('a');\n throw new Error('save: a', { cause: c })", 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			if f := fault(t, "export default { fetch() {\n"+c.code+" } }", nil); len(f.Causes) != c.want {
				t.Errorf("%s: %v, want %d", c.code, f.Causes, c.want)
			}
		})
	}
}

// TestAdviceOnSQL: the error about an unknown name suggests a similar one of the database.
func TestAdviceOnSQL(t *testing.T) {
	db := func(schema string) *binding.Set {
		pool, err := sql.Open("sqlite", "file:"+filepath.Join(t.TempDir(), "site.db"))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = pool.Close() })
		if _, err := pool.Exec(schema); err != nil {
			t.Fatal(err)
		}
		d := d1.New(pool, d1.Options{})
		t.Cleanup(func() { _ = d.Close() })
		return &binding.Set{D1: map[string]*d1.Database{"DB": d}}
	}
	full, empty := db("CREATE TABLE notes(id INTEGER PRIMARY KEY, title TEXT); CREATE VIEW tags AS SELECT 1 AS label; "+
		"CREATE TABLE _pages_x(y)"), db("")
	for _, c := range []struct {
		set        *binding.Set
		query, fix string
	}{
		{full, "SELECT * FROM note", "did you mean notes?"},
		{full, "SELECT * FROM ntoes", "did you mean notes?"},
		{full, "INSERT INTO users VALUES (1)", "tables: notes, tags"},
		{full, "SELECT titel FROM notes", "did you mean title?"},
		{full, "SELECT n.labl FROM notes n", ""},
		{full, "INSERT INTO notes(titles) VALUES (1)", "did you mean title?"},
		{full, "SELEC 1", ""},
		{
			empty, "SELECT * FROM note",
			`nothing made a table yet: migrations do, in the folder that "migrations" under bindings.database names`,
		},
	} {
		t.Run(c.query, func(t *testing.T) {
			f := fault(t, "export default { async fetch(request, env) { await env.DB.prepare(`"+c.query+"`).all() } }", c.set)
			if f.Fix != c.fix {
				t.Errorf("%s: %v: the fix is %q, want %q", c.query, f, f.Fix, c.fix)
			}
		})
	}
}
