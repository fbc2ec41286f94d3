package wrangler_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/pages-toolchain/pages/manifest"
	"github.com/pages-toolchain/pages/manifest/wrangler"
)

// project is a file tree: names, with the contents after "=".
func project(files ...string) fstest.MapFS {
	fsys := fstest.MapFS{}
	for _, file := range files {
		name, text, _ := strings.Cut(file, "=")
		fsys[name] = &fstest.MapFile{Data: []byte(text)}
	}
	return fsys
}

// cases are configurations, each with its manifest and its notes as "effect key".
var cases = map[string]struct {
	files    []string
	devVars  []string
	manifest string
	notes    string
}{
	"all that has a counterpart": {
		files: []string{"wrangler.jsonc=" + `{
			// a comment, and a trailing comma
			"name": "club", "main": "./src/index.ts", "compatibility_date": "2026-11-01", "compatibility_flags": ["nodejs_compat"],
			"assets": {"directory": "./public/", "binding": "ASSETS", "not_found_handling": "404-page"},
			"d1_databases": [{"binding": "DB", "database_name": "club", "database_id": "x"}, {"binding": "PROJECT_DB"}],
			"kv_namespaces": [{"binding": "CACHE", "id": "x"}], "r2_buckets": [{"binding": "FILES", "bucket_name": "x"}],
			"images": {"binding": "IMAGES"}, "limits": {"cpu_ms": 50, "subrequests": 10},
			"vars": {"GREETING": "hello"}, "secrets": {"required": ["API_KEY"]},
		}`, "migrations/0001_a.sql"},
		manifest: `{"entry":"src/index.ts","assets":"public","routes":[{"pattern":"/*","access":"public"}],` +
			`"bindings":{"database":{"migrations":"migrations"},"projectDatabase":"readwrite","secrets":["GREETING","API_KEY"],` +
			`"storage":{"name":"FILES"},"images":true,"kv":{"name":"CACHE"}},"limits":{"cpuMs":50,"subRequests":10},` +
			`"runtime":{"compatibilityDate":"2026-11-01"}}`,
		notes: "changed vars, unneeded d1_databases[0].database_id, unneeded name",
	},
	"names that differ": {
		files: []string{"wrangler.json=" +
			`{"main": "w.js", "assets": {"directory": "dist", "binding": "STATIC", "run_worker_first": ["/api/*"],
			"not_found_handling": "single-page-application", "html_handling": "none"},
			"d1_databases": [{"binding": "CLUB"}, {"binding": "MORE"}], "kv_namespaces": [{"binding": "A"}, {"binding": "B"}],
			"r2_buckets": [{"binding": "C"}, {"binding": "D"}], "images": {"binding": "PICTURES"}}`},
		manifest: `{"entry":"w.js","assets":"dist","routes":[{"pattern":"/*","access":"public"}],"bindings":{"database":{},` +
			`"storage":{"name":"C"},"images":true,"kv":{"name":"A"}}}`,
		notes: "lost d1_databases[1], lost kv_namespaces[1], lost r2_buckets[1], changed assets.binding, changed " +
			"assets.html_handling, changed assets.not_found_handling, changed assets.run_worker_first, changed " +
			"d1_databases[0].binding, changed images.binding, unneeded d1_databases[0].database_id",
	},
	"products that the platform does not have": {
		files: []string{"wrangler.toml=" + `
			main = 'src/w.js'
			compatibility_date = 2024-01-01
			compatibility_flags = ["nodejs_compat", "nodejs_compat_v2"]
			[[durable_objects.bindings]]
			name = "ROOM"
			[[queues.producers]]
			binding = "Q"
			[triggers]
			crons = []
			[env.staging]
			name = "x"
			[vars]
			DB = "taken"
			LIST = [1, 2]
			[limits]
			cpu_ms = 300000
			[[d1_databases]]
			binding = "DB"
			migrations_dir = "sql"
			migrations_table = "done"`},
		manifest: `{"entry":"src/w.js","routes":[{"pattern":"/*","access":"public"}],"bindings":{"database":{},"secrets":["LIST"]},` +
			`"limits":{"cpuMs":30000},"runtime":{"compatibilityFlags":["nodejs_compat"]}}`,
		notes: "lost durable_objects, lost env, lost queues, lost vars.DB, changed compatibility_date, changed " +
			"compatibility_flags[1], changed d1_databases[0].migrations_dir, changed " +
			"d1_databases[0].migrations_table, changed limits.cpu_ms, changed vars, changed vars.LIST, unneeded " +
			"d1_databases[0].database_id",
	},
	"a Pages project with a Worker of its own": {
		files: []string{
			"wrangler.toml=pages_build_output_dir = \"dist\"\nname = \"x\"", "dist/_worker.js/index.js",
			"dist/index.html", "functions/a.js",
		},
		manifest: `{"entry":"dist/_worker.js/index.js","assets":"dist","routes":[{"pattern":"/*","access":"public"}],"bindings":{}}`,
		notes:    "lost functions/, changed _worker.js, unneeded name",
	},
	"what a build made counts, and its paths begin where it lies": {
		files: []string{
			".wrangler/deploy/config.json=" + `{"configPath": "../../dist/server/wrangler.json", "auxiliaryWorkers": []}`,
			"dist/server/wrangler.json=" +
				`{"configPath": "/x", "main": "index.js", "no_bundle": true, "build": {"watch_dir": "./src"},
				"assets": {"directory": "../client"}, "compatibility_flags": ["nodejs_compat", "global_fetch_strictly_public"],
				"d1_databases": [{"binding": "DB", "migrations_dir": "sql"}]}`,
			"wrangler.jsonc=" + `{"main": "@made/server", "compatibility_flags": ["nodejs_compat"]}`,
			`package.json={"dependencies": {"@made": "1"}}`, "sql/1.sql",
		},
		manifest: `{"entry":"dist/server/index.js","assets":"dist/client","routes":[{"pattern":"/*","access":"public"}],` +
			`"bindings":{"database":{"migrations":"sql"}}}`,
		notes: "changed compatibility_flags[1], unneeded d1_databases[0].database_id",
	},
	"a folder of migrations that a build names from where it lies": {
		files: []string{
			".wrangler/deploy/config.json=" + `{"configPath": "../../build/server/wrangler.json"}`,
			"build/server/wrangler.json=" +
				`{"main": "index.js", "d1_databases": [{"binding": "DB", "migrations_dir": "../../migrations"}]}`,
			"wrangler.jsonc=" + `{"main": "app.ts", "d1_databases": [{"binding": "DB", "migrations_dir": "migrations"}]}`,
			"migrations/1.sql",
		},
		manifest: `{"entry":"build/server/index.js","routes":[{"pattern":"/*","access":"public"}],` +
			`"bindings":{"database":{"migrations":"migrations"}}}`,
		notes: "unneeded d1_databases[0].database_id",
	},
	"a folder of migrations outside of the project": {
		files: []string{
			".wrangler/deploy/config.json=" + `{"configPath": "../../dist/wrangler.json"}`,
			"dist/wrangler.json=" + `{"main": "index.js", "d1_databases": [{"binding": "DB", "migrations_dir": "../../migrations"}]}`,
			"migrations/1.sql",
		},
		manifest: `{"entry":"dist/index.js","routes":[{"pattern":"/*","access":"public"}],"bindings":{"database":{}}}`,
		notes:    "changed d1_databases[0].migrations_dir, unneeded d1_databases[0].database_id",
	},
	"a Build Output of Cloudflare's plugin for Vite, 1.64": {
		files: []string{
			`.cloudflare/output/v0/config.json={"buildContext":{"isPreview":false,"mode":"production"}}`,
			".cloudflare/output/v0/workers/default/bundle/index.js", ".cloudflare/output/v0/workers/default/assets/index.html",
			".cloudflare/output/v0/workers/default/worker.config.json=" +
				`{"name":"my-worker","compatibilityDate":"2026-06-01","compatibilityFlags":["nodejs_compat"],` +
				`"assets":{"notFoundHandling":"single-page-application","runWorkerFirst":["/api/*"]},` +
				`"env":{"WHO":{"type":"text","value":"me"},"DB":{"type":"d1",` +
				`"name":"db","id":"abc"},"KV":{"type":"kv","id":"k"},"BUCKET":{"type":"r2","name":"bucket"},"TOKEN":{"type":"secret"},` +
				`"CHAT":{"type":"durable-object","className":"C"},"PICS":{"type":"images"},"AI":{"type":"ai"}},"limits":{"cpuMs":100},` +
				`"manifest":{"type":"complete","mainModule":"index.js","modules":{"index.js":{"type":"esm"}}}}`,
			".cloudflare/output/v0/workers/other/worker.config.json={}", "cloudflare.config.ts", "migrations/0001_a.sql",
		},
		manifest: `{"entry":".cloudflare/output/v0/workers/default/bundle/index.js",` +
			`"assets":".cloudflare/output/v0/workers/default/assets","routes":[{"pattern":"/*","access":"public"}],` +
			`"bindings":{"database":{"migrations":"migrations"},"secrets":["WHO","TOKEN"],"storage":{"name":"BUCKET"},"images":true,` +
			`"kv":{"name":"KV"}},"limits":{"cpuMs":100},` +
			`"runtime":{"compatibilityFlags":["nodejs_compat"]}}`,
		notes: "lost ai, lost auxiliary_workers, lost durable_objects, changed assets.not_found_handling, " +
			"changed assets.run_worker_first, changed compatibility_date, changed images.binding, changed vars, " +
			"unneeded d1_databases[0].database_id, unneeded name",
	},
	"a Build Output without a Worker's code": {
		files: []string{
			`.cloudflare/output/v1/workers/default/worker.config.json={"name":"x"}`,
			".cloudflare/output/v1/workers/default/assets/index.html",
		},
		manifest: `{"assets":".cloudflare/output/v1/workers/default/assets","bindings":{}}`,
		notes:    "unneeded name",
	},
	"a configuration that is not built": {
		files:    []string{"cloudflare.config.ts"},
		manifest: `{"bindings":{}}`,
	},
	"what a build made, of no configuration": {
		files: []string{
			`.wrangler/deploy/config.json={"configPath":"../../.output/server/wrangler.json"}`,
			".output/server/wrangler.json=" +
				`{"main": "index.mjs", "assets": {"directory": "../public"}, "compatibility_flags": ["nodejs_compat", ` +
				`"no_nodejs_compat_v2"]}`,
		},
		manifest: `{"entry":".output/server/index.mjs","assets":".output/public","routes":[{"pattern":"/*","access":"public"}],` +
			`"runtime":{"compatibilityFlags":["nodejs_compat"]}}`,
		notes: "unneeded compatibility_flags[1]",
	},
	"Workers Sites": {
		files:    []string{"wrangler.toml=main = 'w.js'\n[site]\nbucket = './public'"},
		manifest: `{"entry":"w.js","assets":"public","routes":[{"pattern":"/*","access":"public"}]}`,
		notes:    "changed site",
	},
	"modules of Node.js that a date brings at Cloudflare": {
		files:    []string{"wrangler.jsonc=" + `{"main": "w.js", "compatibility_date": "2026-10-01", "compatibility_flags": []}`},
		manifest: `{"entry":"w.js","routes":[{"pattern":"/*","access":"public"}],"runtime":{"compatibilityFlags":["nodejs_compat"]}}`,
	},
	"the same, of a Worker that wants none": {
		files:    []string{"wrangler.toml=main = 'w.js'\ncompatibility_date = '2026-11-01'\ncompatibility_flags = ['no_nodejs_compat']"},
		manifest: `{"entry":"w.js","routes":[{"pattern":"/*","access":"public"}],"runtime":{"compatibilityDate":"2026-11-01"}}`,
		notes:    "unneeded compatibility_flags[0]",
	},
	"the same, where the platform reads that": {
		files: []string{
			"wrangler.json=" + `{"main": "w.js", "compatibility_date": "2026-10-01", "compatibility_flags": ["no_nodejs_compat"]}`,
		},
		manifest: `{"entry":"w.js","routes":[{"pattern":"/*","access":"public"}]}`,
		notes:    "changed compatibility_flags[0]",
	},
	"the same, where the platform reads flags": {
		files: []string{
			"wrangler.json=" +
				`{"main": "w.js", "compatibility_date": "2026-10-02", "compatibility_flags": ["global_fetch_strictly_public"]}`,
		},
		manifest: `{"entry":"w.js","routes":[{"pattern":"/*","access":"public"}],"runtime":{"compatibilityDate":"2026-10-02"}}`,
		notes:    "changed compatibility_date",
	},
	"a template of projects, whose date is still to be filled in": {
		files:    []string{"wrangler.json=" + `{"main": "w.js", "compatibility_date": "<COMPATIBILITY_DATE>"}`},
		manifest: `{"entry":"w.js","routes":[{"pattern":"/*","access":"public"}]}`,
		notes:    "changed compatibility_date",
	},
	"modules of Node.js before that date": {
		files:    []string{"wrangler.json=" + `{"main": "w.js", "compatibility_date": "2026-08-03"}`},
		manifest: `{"entry":"w.js","routes":[{"pattern":"/*","access":"public"}]}`,
		notes:    "changed compatibility_date",
	},
	"keys of products that are new": {
		files: []string{
			"wrangler.json=" +
				`{"main": "w.js", "access": {"dev": {"aud": "x"}}, "addresses": ["*@example.com"], "stream": {"binding": "S"}, ` +
				`"previews": {"vars": {"A": "b"}}, "build": {"command": "npm run lint"}}`,
		},
		manifest: `{"entry":"w.js","routes":[{"pattern":"/*","access":"public"}]}`,
		notes:    "lost access, lost addresses, lost stream, changed build, unneeded previews",
	},
	"flags that are on by themselves, and a database with the name of the project's": {
		files: []string{"wrangler.toml=" + `
			main = "w.js"
			compatibility_flags = ["streams_enable_constructors", "nodejs_compat"]
			[[d1_databases]]
			binding = "PROJECT_DB"
			migrations_dir = "drizzle"`},
		manifest: `{"entry":"w.js","routes":[{"pattern":"/*","access":"public"}],"bindings":{"projectDatabase":"readwrite"},` +
			`"runtime":{"compatibilityFlags":["nodejs_compat"]}}`,
		notes: "changed d1_databases[0], unneeded compatibility_flags[0]",
	},
	"flags that are on by themselves, where the platform reads them": {
		files:    []string{`wrangler.json={"main": "w.js", "compatibility_flags": ["nodejs_compat_populate_process_env"]}`},
		manifest: `{"entry":"w.js","routes":[{"pattern":"/*","access":"public"}]}`,
		notes:    "changed compatibility_flags[0]",
	},
	"a Worker that a script names": {
		files: []string{
			"wrangler.toml=name = 'x'\n[assets]\ndirectory = './assets/'", "src/index.tsx", "test/w.ts", "old.js",
			`package.json={"scripts": {"a": "wrangler dev test/w.ts", "dev": 3, "ship": "tsc && npx wrangler deploy --minify --env ` +
				`old ./src/index.tsx", "test": "vitest old.js"}}`,
		},
		manifest: `{"entry":"src/index.tsx","assets":"assets","routes":[{"pattern":"/*","access":"public"}]}`,
		notes:    "unneeded name, unneeded package.json: scripts.ship",
	},
	"a Worker that only a script to run it here names": {
		files: []string{
			"wrangler.toml=name = 'x'", "src/w.js",
			`package.json={"scripts": {"dev": "wrangler dev 'src/w.js' --port 80", "deploy": "wrangler deploy src/none.js"}}`,
		},
		manifest: `{"entry":"src/w.js","routes":[{"pattern":"/*","access":"public"}]}`,
		notes:    "unneeded name, unneeded package.json: scripts.dev",
	},
	"a Pages project, whose scripts name no Worker": {
		files: []string{
			"wrangler.toml=pages_build_output_dir = 'dist'", "dist/index.html", "mock.js",
			`package.json={"scripts": {"dev": "wrangler dev mock.js"}}`,
		},
		manifest: `{"assets":"dist"}`,
	},
	"an example of a configuration, whose flags the platform does not read there": {
		files: []string{
			"wrangler.jsonc.template=" + `{"main": "w.js", "compatibility_flags": ["nodejs_compat"],}`, "wrangler.d.ts",
			"wrangler-old.toml",
		},
		manifest: `{"entry":"w.js","routes":[{"pattern":"/*","access":"public"}],"runtime":{"compatibilityFlags":["nodejs_compat"]}}`,
		notes:    "changed wrangler.jsonc.template",
	},
	"an example in TOML": {
		files:    []string{"wrangler.example.toml=main = 'w.js'"},
		manifest: `{"entry":"w.js","routes":[{"pattern":"/*","access":"public"}]}`,
		notes:    "changed wrangler.example.toml",
	},
	"an example beside the configuration": {
		files:    []string{"wrangler.example.toml=main = 'old.js'", "wrangler.toml=main = 'w.js'"},
		manifest: `{"entry":"w.js","routes":[{"pattern":"/*","access":"public"}]}`,
	},
	"flags that the platform has under another name": {
		files:    []string{`wrangler.json={"compatibility_flags": ["nodejs_als"]}`},
		manifest: `{}`,
		notes:    "changed compatibility_flags[0]",
	},
	"JSON counts before TOML, and odd values are reported": {
		devVars: []string{"TOKEN", "ASSETS"},
		files: []string{
			"wrangler.json=" + `{"main": 1, "routes": ["x"], "future": true, "vars": 3, "limits": {"cpu_ms": -1}}`,
			"wrangler.toml=main = 'a'",
		},
		manifest: `{"bindings":{"secrets":["TOKEN"]}}`,
		notes:    "lost .dev.vars: ASSETS, lost future, lost main, unneeded routes",
	},
}

func TestTranslate(t *testing.T) {
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := wrangler.Translate(project(c.files...), c.devVars...)
			if err != nil {
				t.Fatal(err)
			}
			text, err := json.Marshal(got.Manifest)
			if err != nil {
				t.Fatal(err)
			}
			plain := strings.NewReplacer(`,"bindings":{}`, "", `"bindings":{}`, "").Replace
			if plain(string(text)) != plain(c.manifest) {
				t.Errorf("manifest\n got %s\nwant %s", text, c.manifest)
			}
			if _, diags := manifest.Parse(manifest.FileName, text); diags.HasErrors() {
				t.Errorf("the manifest is refused: %v", diags)
			}
			var notes []string
			for _, n := range got.Notes {
				notes = append(notes, string(n.Effect)+" "+n.Key)
				if n.Text == "" || strings.Contains(n.Text, "not known") && n.Key != "future" && n.Key != "main" {
					t.Errorf("%s says nothing", n.Key)
				}
			}
			if got := strings.Join(notes, ", "); got != c.notes {
				t.Errorf("notes\n got %s\nwant %s", got, c.notes)
			}
		})
	}
}

// TestRemedies: the note on a product that the platform does not have names the alternative.
func TestRemedies(t *testing.T) {
	for key, want := range map[string]string{
		`"exports": {"Room": {"type": "durable-object"}}`: "keep the state in the database",
		`"workflows": [{}]`:                    "ctx.waitUntil",
		`"queues": {"producers": [{}]}`:        "ctx.waitUntil",
		`"triggers": {"crons": ["* * * * *"]}`: "do the work in a route",
		`"services": [{}]`:                     "call its address with fetch",
		`"pipelines": [{}]`:                    "call one with fetch",
		`"hyperdrive": [{}]`:                   "the site's own database",
		`"ratelimits": [{}]`:                   "count in the database",
		`"secrets_store_secrets": [{}]`:        `name it in "secrets"`,
		`"wasm_modules": {"A": "a.wasm"}`:      "import the file",
	} {
		t.Run(key, func(t *testing.T) {
			key = strings.ReplaceAll(key, "{}", `{"binding": "A"}`)
			got, err := wrangler.Translate(project("wrangler.json={" + key + `, "main": "w.js"}`))
			if err != nil || len(got.Notes) != 1 || got.Notes[0].Effect != wrangler.Lost || !strings.Contains(got.Notes[0].Text, want) {
				t.Errorf("%s: %+v (%v), want %q", key, got.Notes, err, want)
			}
		})
	}
}

func TestTranslateFails(t *testing.T) {
	for files, want := range map[string]string{
		"wrangler.json={":                                "wrangler.json: not valid JSON with comments",
		"wrangler.json=[]":                               "wrangler.json: not a JSON object",
		"wrangler.json=null":                             "wrangler.json: not a JSON object",
		"wrangler.toml=a = ":                             "wrangler.toml: not valid TOML",
		"wrangler.toml.sample=a = ":                      "wrangler.toml.sample: not valid TOML",
		"wrangler.jsonc=" + strings.Repeat(" ", 1<<20+1): "it is longer than",
		".wrangler/deploy/config.json=[]":                "config.json: not a JSON object",
	} {
		t.Run(files, func(t *testing.T) {
			if _, err := wrangler.Translate(project(files)); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%.20q: %v, want %q", files, err, want)
			}
		})
	}
	if _, err := wrangler.Translate(project("x")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no configuration: %v", err)
	}
}

// TestBuildOutputVersions: an incomplete Build Output, or one of another version, gives an error with a fix.
func TestBuildOutputVersions(t *testing.T) {
	const v0, v1, v7 = ".cloudflare/output/v0/config.json", ".cloudflare/output/v1/config.json", ".cloudflare/output/v7/config.json"
	for files, want := range map[string]string{
		v1:            ".cloudflare/output/v1 holds no Worker named default: build the project again",
		v7:            ".cloudflare/output/v7 is of a version that is not known here, which are v0 and v1: update pages",
		v0 + "|" + v1: ".cloudflare/output holds builds of several versions, v0, v1: remove it, and build the project again",
	} {
		if _, err := wrangler.Translate(project(strings.Split(files, "|")...)); err == nil || err.Error() != want {
			t.Errorf("%s: %v, want %s", files, err, want)
		}
	}
}

// TestUnbuilt: a project whose Worker comes from a build counts as unbuilt until the output exists.
func TestUnbuilt(t *testing.T) {
	const pointer, made = `.wrangler/deploy/config.json={"configPath":"../../dist/wrangler.json"}`, `dist/wrangler.json={"main":"w.js"}`
	for files, want := range map[string]bool{
		`wrangler.json={"main":"@a/b/server"}|package.json={"dependencies":{"@a/b":"1"}}`:                                   true,
		`wrangler.json={"main":"src/w.ts"}|package.json={"devDependencies":{"@cloudflare/vite-plugin":"1"}}|vite.config.ts`: true,
		`wrangler.json={"main":"src/w.ts"}|package.json={"devDependencies":{"@cloudflare/vite-plugin":"1"}}|vite.config.mjs|` +
			pointer: true,
		`wrangler.json={"main":"src/w.ts"}|package.json={"devDependencies":{"@cloudflare/vite-plugin":"1"}}|vite.config.mjs|` +
			pointer + "|" + made: false,
		`wrangler.json={"main":"src/w.ts"}|package.json={"devDependencies":{"@cloudflare/vite-plugin":"1"}}`: false,
		`wrangler.json={"main":"dist/w.js"}|package.json={"dependencies":{"hono":"4"}}`:                      false,
		"cloudflare.config.ts": true,
		`cloudflare.config.ts|.cloudflare/output/v1/workers/default/worker.config.json={}`: false,
		`wrangler.json={"pages_build_output_dir":"./dist"}`:                                true,
		`wrangler.json={"pages_build_output_dir":"./dist"}|dist/a.html`:                    false,
		`wrangler.json={"main":"dist/w.js"}|package.json={`:                                false,
	} {
		t.Run(files, func(t *testing.T) {
			got, err := wrangler.Translate(project(strings.Split(files, "|")...))
			if err != nil || got.Unbuilt != want {
				t.Errorf("%s: %+v (%v)", files, got, err)
			}
		})
	}
}

// TestSinglePage: patterns of an app of one page are passed on.
func TestSinglePage(t *testing.T) {
	const app = `wrangler.json={"assets":{"directory":"dist","not_found_handling":"single-page-application","run_worker_first":`
	for text, want := range map[string]string{
		app + `false}}`:                   "[]",
		app + `true}}`:                    `["/*"]`,
		app + `["/api/*","!/api/docs"]}}`: `["/api/*" "!/api/docs"]`,
	} {
		t.Run(text, func(t *testing.T) {
			got, err := wrangler.Translate(project(text))
			if err != nil || got.SinglePage == nil || fmt.Sprintf("%q", got.SinglePage.WorkerFirst) != want {
				t.Errorf("%s: %+v (%v)", text, got, err)
			}
		})
	}
	if got, err := wrangler.Translate(project(`wrangler.json={"assets":{"directory":"dist"}}`)); err != nil || got.SinglePage != nil {
		t.Errorf("%+v (%v)", got, err)
	}
}

// FuzzTranslate: the manifest of any configuration is valid, apart from the author's names and paths.
func FuzzTranslate(f *testing.F) {
	for _, c := range cases {
		_, text, _ := strings.Cut(c.files[0], "=")
		f.Add(text, strings.HasPrefix(c.files[0], "wrangler.toml"))
	}
	f.Fuzz(func(t *testing.T, text string, toml bool) {
		name := "wrangler.jsonc"
		if toml {
			name = "wrangler.toml"
		}
		got, err := wrangler.Translate(project(name + "=" + text))
		if err != nil {
			return
		}
		out, err := json.Marshal(got.Manifest)
		if err != nil {
			t.Fatal(err)
		}
		_, diags := manifest.Parse(manifest.FileName, out)
		for _, d := range diags {
			if d.Code == "unknown-key" || d.Code == "wrong-type" || d.Code == "limits-over-ceiling" || d.Code == "limits-not-positive" {
				t.Errorf("%s: %s", out, d.Message)
			}
		}
	})
}

func Example() {
	t, err := wrangler.Translate(project("wrangler.toml=main = \"worker.js\"\n[ai]\nbinding = \"AI\""))
	if err != nil {
		panic(err)
	}
	fmt.Println(t.Manifest.Entry)
	for _, n := range t.Notes {
		fmt.Printf("%s (%s): %s\n", n.Key, n.Effect, n.Text)
	}
	// Output:
	// worker.js
	// ai (lost): there is no such service: call one with fetch
}
