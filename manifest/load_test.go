package manifest_test

import (
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/pages-toolchain/pages/cmd/tools/testmachine"
	"github.com/pages-toolchain/pages/manifest"
	"github.com/pages-toolchain/pages/manifest/diagnostic"
	"github.com/pages-toolchain/pages/manifest/validate"
)

// tree builds a file tree; a name that ends in "/" is a folder.
func tree(files map[string]string) fstest.MapFS {
	fsys := fstest.MapFS{}
	for name, content := range files {
		if dir, ok := strings.CutSuffix(name, "/"); ok {
			fsys[dir] = &fstest.MapFile{Mode: fs.ModeDir | 0o755}
			continue
		}
		fsys[name] = &fstest.MapFile{Data: []byte(content)}
	}
	return fsys
}

// unfolded joins the lines of an expected text that continue after a tab.
func unfolded(text string) string { return strings.ReplaceAll(text, "\n\t", " ") }

// found puts diagnostics on one line each.
func found(diags diagnostic.List) string {
	var b strings.Builder
	for _, d := range diags {
		fmt.Fprintf(&b, "%s %s %s:%d:%d %s: %s; %s\n", d.Severity, d.Code, d.File, d.Line, d.Column, d.Path, d.Message, d.Fix)
	}
	return b.String()
}

func TestLoad(t *testing.T) {
	const members = `{"assets":"public","routes":[{"pattern":"%s","access":"members"}]}`
	for name, c := range map[string]struct {
		files map[string]string
		want  string // one line for each diagnostic, as the function found writes it; equal ones once
	}{
		"complete": {
			files: map[string]string{
				"pages.deploy.json": `{"entry":"./src/w.ts","assets":"public/","routes":[{"pattern":"/api/*"}],
					"bindings":{"database":{"migrations":"migrations","tables":["boats","Leads"]},"submissions":"leads"},
					"forms":[{"name":"contact","event":"custom.contact"}]}`,
				"src/w.ts": "", "public/index.html": `<form method=POST action="/__pages/forms"><input type=hidden name=form ` +
					`value=contact></form>`,
				"migrations/0001_a.sql": "CREATE TABLE boats (id);", "migrations/0002_b.sql": "create table if not exists \"leads\"(a);",
			},
		},
		"no manifest": {
			files: map[string]string{"x": ""},
			want:  `error file-missing :1:1 : there is no "pages.deploy.json" here; create one ({} is enough), or pass the site's folder`,
		},
		"nothing it names exists": {
			files: map[string]string{"pages.deploy.json": `{"entry":"w.js","assets":"pubic",` +
				`"bindings":{"database":{"migrations":"m"}},"limits":{"cpuMs":0}}`, "public/": "", "w.ts": ""},
			want: `error path-not-found :1:10 /entry: entry names "w.js", which does not exist; did you mean "w.ts"?
error path-not-found :1:26 /assets: assets names "pubic", which does not exist; did you mean "public"?
error path-not-found :1:71 /bindings/database/migrations: migrations names "m", which does not exist;
	create or build it, or correct the path
error limits-not-positive :1:95 /limits/cpuMs: cpuMs is 0, not greater than zero; set it to 1 or more`,
		},
		"wrong kinds": {
			files: map[string]string{"pages.deploy.json": `{"entry":"src","assets":"w.ts"}`, "src/": "", "w.ts": ""},
			want: `error path-wrong-kind :1:10 /entry: entry names "src", which is not a file; name a file
error path-wrong-kind :1:25 /assets: assets names "w.ts", which is not a directory; name a directory`,
		},
		"patterns in place of paths": {
			files: map[string]string{"pages.deploy.json": `{"entry":"src/*.ts","assets":"./public/**",` +
				`"bindings":{"database":{"migrations":"*.sql"}}}`, "src/w.ts": "", "public/a": ""},
			want: `error path-not-found :1:10 /entry: entry names "src/*.ts", which does not exist; name one file or folder, without
	a pattern
error path-not-found :1:30 /assets: assets names "./public/**", which does not exist; write "public": it includes everything in it
error path-not-found :1:81 /bindings/database/migrations: migrations names "*.sql", which does not exist; name one file or
	folder, without a pattern`,
		},
		"a page as the entry": {
			files: map[string]string{"pages.deploy.json": `{"entry":"public/index.html","assets":"public"}`, "public/index.html": ""},
			want: `error path-wrong-kind :1:10 /entry: entry names "public/index.html", which is not JavaScript or TypeScript;
	remove it: pages need no Worker, and are served from the folder that "assets" names`,
		},
		"another file as the entry": {
			files: map[string]string{"pages.deploy.json": `{"entry":"package.json"}`, "package.json": ""},
			want: `error path-wrong-kind :1:10 /entry: entry names "package.json", which is not JavaScript or TypeScript;
	name the Worker's module, such as src/index.js`,
		},
		"a file named as a directory is": {
			files: map[string]string{"pages.deploy.json": `{"entry":"src/w.ts/","assets":"public/"}`, "src/w.ts": "", "public/a": ""},
			want:  `error path-wrong-kind :1:10 /entry: entry names "src/w.ts/", with a slash at the end, as a directory; write "src/w.ts"`,
		},
		"secrets in the assets": {
			files: map[string]string{
				"pages.deploy.json": `{"assets":"public"}`, "public/.env": "", "public/.ENV.local": "", "public/keys/server.pem": "",
				"public/id_rsa": "", "public/id_rsa.pub": "", "public/.git/config": "", "public/.well-known/x": "",
				"public/environment.html": "", "public/site.db": "",
			},
			want: `error path_secret :1:11 /assets: the public file "public/.ENV.local" is refused by its name: files of that name
	usually hold secrets; rename it if it holds none, or move it out of "public"
error path_secret :1:11 /assets: the public file "public/.env" is refused by its name: files of that name usually hold secrets;
	rename it if it holds none, or move it out of "public"
error path_secret :1:11 /assets: the public file "public/id_rsa" is refused by its name: files of that name usually hold secrets;
	rename it if it holds none, or move it out of "public"
error path_secret :1:11 /assets: the public file "public/keys/server.pem" is refused by its name: files of that name usually hold secrets;
	rename it if it holds none, or move it out of "public"
error path_secret :1:11 /assets: the public file "public/site.db" is refused by its name: files of that name usually hold secrets;
	rename it if it holds none, or move it out of "public"
error path_secret :1:11 /assets: the public folder "public/.git" is refused by its name: folders of that name usually hold secrets;
	rename it if it holds none, or move it out of "public"`,
		},
		"secrets at the root": {
			files: map[string]string{
				"pages.deploy.json": `{"assets":"."}`, ".git/config": "", ".pages/state/site.db": "", ".env": "", "index.html": "",
				"node_modules/p/test.pem": "",
			},
			want: `error path_secret :1:11 /assets: the public file ".env" is refused by its name: files of that name usually hold secrets;
	rename it if it holds none, or keep the public files in a folder of their own, such as "public"`,
		},
		"more secrets": {
			files: map[string]string{
				"pages.deploy.json": `{"assets":"p"}`, "p/.dev.vars.prod": "", "p/.htpasswd": "", "p/.npmrc": "",
				"p/a/credentials.json": "", "p/client_secret_1.json": "",
				"p/my-service-account.json": "", "p/service-account-prod.json": "", "p/x.sqlite3-wal": "",
				"p/.env.example": "", "p/Thumbs.db": "", "p/id_ed25519.pub": "", "p/key.html": "", "p/keys/a.txt": "",
				"p/.well-known/x.json": "",
			},
			want: `error path_secret :1:11 /assets: the public file "p/.dev.vars.prod" is refused by its name: files of that name
	usually hold secrets; rename it if it holds none, or move it out of "p"
error path_secret :1:11 /assets: the public file "p/.htpasswd" is refused by its name: files of that name usually hold secrets;
	rename it if it holds none, or move it out of "p"
error path_secret :1:11 /assets: the public file "p/.npmrc" is refused by its name: files of that name usually hold secrets;
	rename it if it holds none, or move it out of "p"
error path_secret :1:11 /assets: the public file "p/a/credentials.json" is refused by its name: files of that name usually hold secrets;
	rename it if it holds none, or move it out of "p"
error path_secret :1:11 /assets: the public file "p/client_secret_1.json" is refused by its name: files of that name usually hold secrets;
	rename it if it holds none, or move it out of "p"
error path_secret :1:11 /assets: the public file "p/my-service-account.json" is refused by its name: files of that name usually
	hold secrets; rename it if it holds none, or move it out of "p"
error path_secret :1:11 /assets: the public file "p/service-account-prod.json" is refused by its name: files of that name usually
	hold secrets; rename it if it holds none, or move it out of "p"
error path_secret :1:11 /assets: the public file "p/x.sqlite3-wal" is refused by its name: files of that name usually hold secrets;
	rename it if it holds none, or move it out of "p"`,
		},
		"a name in the assets": {
			files: map[string]string{"pages.deploy.json": `{"assets":"p"}`, "p/a?b.html": ""},
			want: `error path_windows_char p/a?b.html:1:1 : "p/a?b.html" cannot be served: its path has a character in it that Windows
	refuses in names; rename it`,
		},
		"a page that is too large": {
			files: map[string]string{
				"pages.deploy.json": `{"assets":"p","forms":[{"name":"a","event":"custom.a"},{"name":"b","event":"custom.b"}]}`,
				"p/a.html": "<form method=post action=/__pages/forms/c></form><p title='" + strings.Repeat("x", 1<<20) +
					"'><form action=/__pages/forms/a>",
			},
			want: `warning page-too-large :1:11 /assets: the public page "p/a.html" is too large to search all of it for forms;
	move scripts and data to separate files
warning form-undeclared p/a.html:1:1 /forms: the form "c" is not declared: its leads raise pages.lead.captured only;
	add {"name": "c", "event": "custom.c"} to "forms", if it should raise an event of its own`,
		},
		"a migration that is too long": {
			files: map[string]string{
				"pages.deploy.json": `{"bindings":{"database":{"migrations":"m"}}}`,
				"m/1.sql":           strings.Repeat("-", 10<<20+1), "m/.2.sql": "", "m/3 .sql": "",
			},
			want: `error migration-too-large m/1.sql:1:1 : the migration "1.sql" has 10485761 bytes, over the 10485760 of one;
	split it into several files
error migration-name-invalid m/3 .sql:1:1 : "3 .sql" cannot be a migration: its name begins or ends in a space; rename it to "3.sql"`,
		},
		"a runtime config that is too large": {
			files: map[string]string{"pages.deploy.json": `{}`, "wrangler.json": strings.Repeat(" ", 256<<10) + "{}"},
			want: `warning runtime-config-invalid wrangler.json:1:1 : the file cannot be read: it is longer than 262144 bytes;
	make the file smaller, or remove it`,
		},
		"what the upload refuses, in the assets": {
			files: map[string]string{
				"pages.deploy.json": `{"entry":"p/w.ts","assets":"p","bindings":{"database":{"migrations":"p/db"}}}`,
				"p/w.ts":            "", "p/db/1.sql": "", "p/db/pages.deploy.json": "", "p/a/Pages.deploy.json": "", "p/__preview/x": "",
			},
			want: `error path_reserved p/__preview/x:1:1 : "p/__preview/x" cannot be served: its path lies under "__preview", which the
	platform reserves; rename it
error path_reserved p/a/Pages.deploy.json:1:1 : "p/a/Pages.deploy.json" cannot be served: a manifest is never public;
	remove it, or move it out of the assets folder
error path_reserved p/db:1:1 : "p/db" cannot be served: it holds the migrations;
	move it to another folder, such as "migrations", and name that in "migrations"
error path_reserved p/w.ts:1:1 : "p/w.ts" cannot be served: it is the Worker's entry;
	move it to another folder, such as "src", and name it there in "entry";
	if a framework builds it here, list it in a file ".assetsignore" in the assets folder`,
		},
		"a Worker of Cloudflare Pages that nothing runs": {
			files: map[string]string{"pages.deploy.json": `{"assets":"p"}`, "p/_worker.js": "", "p/a/_worker.js": ""},
			want: `error path_reserved p/_worker.js:1:1 : "p/_worker.js" cannot be served: it is a Worker's code;
	list it in a file ".assetsignore" in the assets folder, and name it in "entry" unless another module imports it`,
		},
		"the same in a folder at the root": {
			files: map[string]string{"pages.deploy.json": `{"assets":"."}`, "_worker.js/index.js": ""},
			want: `error path_reserved _worker.js:1:1 : "_worker.js" cannot be served: it is a Worker's code;
	list it in a file ".assetsignore" in the assets folder, and name it in "entry" unless another module imports it`,
		},
		"the same at the root, run": {
			files: map[string]string{
				"pages.deploy.json": `{"assets":".","entry":"_worker.js","routes":[{"pattern":"/a"}]}`,
				"_worker.js":        "",
			},
			want: `warning asset-source :1:11 /assets: the assets folder is the site's own, and holds "_worker.js", the site's entry;
	move the public files to a separate folder`,
		},
		"assets among the migrations": {
			files: map[string]string{
				"pages.deploy.json": `{"assets":"db/p","bindings":{"database":{"migrations":"db"}}}`,
				"db/p/index.html":   "", "db/1.sql": "",
			},
			want: `error path_reserved db/p:1:1 : "db/p" cannot be served: it lies among the migrations;
	move the assets to a folder outside of it`,
		},
		"migrations beside everything": {
			files: map[string]string{
				"pages.deploy.json": `{"assets":".","bindings":{"database":{"migrations":"."}}}`, "1.sql": "",
				"a/2.sql": "", "index.html": "",
			},
			want: `warning asset-source :1:11 /assets: the assets folder is the site's own, and holds ".", the site's migrations;
	move the public files to a separate folder`,
		},
		"source in the assets": {
			files: map[string]string{
				"pages.deploy.json": `{"entry":"w.ts","assets":".","bindings":{"database":{"migrations":"m"}}}`,
				"w.ts":              "", "m/1.sql": "",
			},
			want: `warning asset-source :1:26 /assets: the assets folder is the site's own, and holds "m", the site's migrations;
	move the public files to a separate folder
warning asset-source :1:26 /assets: the assets folder is the site's own, and holds "w.ts", the site's entry;
	move the public files to a separate folder`,
		},
		"a members route that covers one path": {
			files: map[string]string{
				"pages.deploy.json": fmt.Sprintf(members, "/minutes"), "public/minutes/index.html": "",
				"public/minutes/2026/may.txt": "", "public/x.txt": "",
			},
			want: `warning route-uncovered :1:41 /routes/0/pattern: the members route "/minutes" covers one path only: 1 file below it
	stays public; write "/minutes/*"`,
		},
		"a members route written with a slash": {
			files: map[string]string{
				"pages.deploy.json": fmt.Sprintf(members, "/Minutes/"), "public/minutes/index.html": "",
				"public/minutes/a.txt": "", "public/minutes/b/c.txt": "", "public/minutes.html": "",
			},
			want: `warning route-uncovered :1:41 /routes/0/pattern: the members route "/Minutes/" covers one path only: 2 files below it
	stay public; write "/Minutes/*"`,
		},
		"a members page under its other names": {
			files: map[string]string{
				"pages.deploy.json": `{"assets":"p","routes":[{"pattern":"/g","access":"members"},{"pattern":"/y/",` +
					`"access":"members"},{"pattern":"/team/*","access":"members"},{"pattern":"/É","access":"members"}]}`,
				"p/g.html": "", "p/y/index.html": "", "p/team.html": "", "p/é.html": "",
			},
		},
		"public on purpose below a members route": {
			files: map[string]string{
				"pages.deploy.json": `{"entry":"w.js","assets":"p","routes":[{"pattern":"/club","access":"members"},` +
					`{"pattern":"/club/*"}]}`,
				"w.js": "", "p/club/a.txt": "",
			},
		},
		"a members tree beside its page": {
			files: map[string]string{
				"pages.deploy.json": fmt.Sprintf(members, "/minutes/*"), "public/minutes.html": "",
				"public/minutes/a.txt": "",
			},
		},
		"a members route over everything": {
			files: map[string]string{"pages.deploy.json": fmt.Sprintf(members, "/*"), "public/a.html": "", "public/b/c.txt": ""},
		},
		"a members route with a slip of the pen": {
			files: map[string]string{
				"pages.deploy.json":        fmt.Sprintf(members, "/price/*"),
				"public/prices/index.html": "", "public/index.html": "",
			},
			want: `warning route-guards-nothing :1:41 /routes/0/pattern: the members route "/price/*" guards nothing: there is
	no file under it, and the site has no Worker;
	did you mean "/prices/*"?`,
		},
		"a members route with the folder of the assets": {
			files: map[string]string{"pages.deploy.json": fmt.Sprintf(members, "/public/club/*"), "public/club/a.html": ""},
			want: `warning route-guards-nothing :1:41 /routes/0/pattern: the members route "/public/club/*" guards nothing: there
	is no file under it, and the site has no Worker;
	did you mean "/club/*"?`,
		},
		"a members route to a page that is not there": {
			files: map[string]string{
				"pages.deploy.json":  fmt.Sprintf(members, "/reports"),
				"public/report.html": "", "public/x/reports.html": "",
			},
			want: `warning route-guards-nothing :1:41 /routes/0/pattern: the members route "/reports" guards nothing: it has
	no file, and the site has no Worker;
	did you mean "/report"?`,
		},
		"a members route of a site without files": {
			files: map[string]string{"pages.deploy.json": `{"routes":[{"pattern":"/club/*","access":"members"}]}`},
			want: `warning route-guards-nothing :1:23 /routes/0/pattern: the members route "/club/*" guards nothing: there is
	no file under it, and the site has no Worker;
	correct it, or remove it`,
		},
		"a members route that the Worker may answer": {
			files: map[string]string{
				"pages.deploy.json": `{"entry":"w.js","assets":"p","routes":[{"pattern":"/club/*","access":"members"}]}`, "w.js": "",
				"p/index.html": "",
			},
		},
		"members routes of which one is wider": {
			files: map[string]string{
				"pages.deploy.json": `{"assets":"p","routes":[{"pattern":"/a/*","access":"members"},` +
					`{"pattern":"/a/b/c","access":"members"}]}`,
				"p/a/b/c.html": "",
			},
			want: `warning route-shadowed :1:74 /routes/1/pattern: the route "/a/b/c" changes nothing: "/a/*" covers it with
	the same access; remove it`,
		},
		"public copies of members' files": {
			files: map[string]string{
				"pages.deploy.json": fmt.Sprintf(members, "/club/*"), "public/club/prices.csv": "1,2", "public/old.csv": "1,2",
				"public/other.csv": "1,3", "public/club/empty": "", "public/empty": "", "public/club/a.csv": "x", "public/club/b.csv": "x",
			},
			want: `warning members-file-public public/old.csv:1:1 : the public file "public/old.csv" has the same bytes as
	"public/club/prices.csv", a members file; remove it, or guard it with a members route as well`,
		},
		"forms": {
			files: map[string]string{
				"pages.deploy.json": `{"assets":"p","forms":[{"name":"join","event":"custom.join"}]}`,
				"p/a.html": "<h1>A</h1>\n  <FORM method=post action='/__pages/forms'>\n<input name=form " +
					"value=contact>\n</form><form action=/__pages/forms/news?x=1><button formmethod=POST></button></form><form " +
					"action=/a><input name=q></form>",
				"p/b.html": "<form action=/__pages/forms/news></form> <!-- <form action=/__pages/forms/no> --> <input name=form " +
					"value=no><form method=get action=/__pages/forms></form>",
			},
			want: `warning form-unused :1:32 /forms/0/name: no page has the declared form "join"; correct the name or remove it;
	this check does not see forms that a script or the Worker renders
warning form-undeclared p/a.html:2:3 /forms: the form "contact" is not declared: its leads raise pages.lead.captured only;
	add {"name": "contact", "event": "custom.contact"} to "forms", if it should raise an event of its own
warning form-undeclared p/a.html:4:8 /forms: the form "news" is not declared: its leads raise pages.lead.captured only;
	add {"name": "news", "event": "custom.news"} to "forms", if it should raise an event of its own
warning form-method p/b.html:1:1 /forms: the form "news" is sent with GET, which the platform refuses with 405; add method="post"
warning form-method p/b.html:1:109 /forms: the form "default" is sent with GET, which the platform refuses with 405; add method="post"`,
		},
		"private keys": {
			files: map[string]string{
				"pages.deploy.json": `{"assets":"p"}`, "p/prod.env": "", "p/environment.env": "", "p/keynote.key": "",
				"p/deploy": "-----BEGIN OPENSSH PRIVATE KEY-----\nb3Bl", "p/old.txt": "\ufeff-----BEGIN PRIVATE KEY-----\r\nMII",
				"p/a.asc":   "-----BEGIN PGP PRIVATE KEY BLOCK-----\n",
				"p/pub.txt": "-----BEGIN PUBLIC KEY-----\n", "p/how.md": "A file starts with\n-----BEGIN PRIVATE KEY-----\n",
				"p/long.txt": "-----BEGIN PRIVATE KEY-----\n" + strings.Repeat("x", 64<<10), "p/env": "",
			},
			want: `error asset-secret :1:11 /assets: the public file "p/a.asc" holds a private key;
	replace the key if it was ever published, and move it out of "p"
error asset-secret :1:11 /assets: the public file "p/deploy" holds a private key;
	replace the key if it was ever published, and move it out of "p"
error asset-secret :1:11 /assets: the public file "p/old.txt" holds a private key;
	replace the key if it was ever published, and move it out of "p"
error path_secret :1:11 /assets: the public file "p/environment.env" is refused by its name: files of that name usually hold secrets;
	rename it if it holds none, or move it out of "p"
error path_secret :1:11 /assets: the public file "p/keynote.key" is refused by its name: files of that name usually hold secrets;
	rename it if it holds none, or move it out of "p"
error path_secret :1:11 /assets: the public file "p/prod.env" is refused by its name: files of that name usually hold secrets;
	rename it if it holds none, or move it out of "p"`,
		},
		"files that are not migrations": {
			files: map[string]string{
				"pages.deploy.json": `{"bindings":{"database":{"migrations":"m"}}}`,
				"m/0006.SQL":        "", "m/old/0001.sql": "", "m/old/0002.sql": "", "m/docs/a.md": "", "m/.x.SQL": "", "m/.git/1.sql": "",
				"m/0007.sql": "",
			},
			want: `warning migration-ignored :1:39 /bindings/database/migrations: "old/0001.sql" is not a migration: files
	in folders below "m" are not
	applied; move it up to "m"
error migration-name-invalid m/0006.SQL:1:1 : "0006.SQL" cannot be a migration: its name must end in ".sql", in lower case;
	rename it to "0006.sql"`,
		},
		"a folder of migrations that is not named": {
			files: map[string]string{"pages.deploy.json": `{"bindings":{"database":{}}}`, "migrations/0001_init.sql": "CREATE TABLE a(b);"},
			want: `warning migration-ignored :1:25 /bindings/database: "migrations/0001_init.sql" is not applied: the database names
	no folder of migrations; add "migrations": "migrations" to "bindings.database"`,
		},
		"a folder that only is called so": {
			files: map[string]string{
				"pages.deploy.json": `{"assets":"p","bindings":{"kv":{}}}`, "p/a.html": "",
				"migrations/0001_init.sql": "", "migrations/a.md": "",
			},
		},
		"dates and stamps": {
			files: map[string]string{
				"pages.deploy.json": `{"bindings":{"database":{"migrations":"m"}}}`, "m/20230101120000_b.sql": "",
				"m/20240101_a.sql": "",
			},
			want: `warning migration-order :1:39 /bindings/database/migrations: "20230101120000_b.sql" is applied before
	"20240101_a.sql": migrations run in the order of their names; number them in the same way, with the same width;
	rename a migration only while it is applied nowhere`,
		},
		"tables without migrations": {
			files: map[string]string{"pages.deploy.json": `{"bindings":{"submissions":"leads","database":{"tables":["boats"]}}}`},
			want: `error table-not-created :1:28 /bindings/submissions: the site has no migrations to create the table "leads";
	name their folder in "bindings.database.migrations"
error table-not-created :1:58 /bindings/database/tables/0: the site has no migrations to create the table "boats";
	name their folder in "bindings.database.migrations"`,
		},
		"migrations": {
			files: map[string]string{
				"pages.deploy.json": `{"bindings":{"submissions":"leads","database":{"migrations":"m","tables":["boats"]}}}`,
				"m/10_b.sql":        "", "m/9_a.sql": "", "m/9_c.sql": "create table (", "m/readme.txt": "CREATE TABLE leads",
			},
			want: `warning migration-duplicate-number :1:61 /bindings/database/migrations: "9_a.sql" and "9_c.sql" have the same number;
	rename one that is applied nowhere yet: an applied migration keeps its name
warning migration-order :1:61 /bindings/database/migrations: "10_b.sql" is applied before "9_a.sql": migrations run in the order of their
	names; give the numbers one width: "09_a.sql"; rename a migration only while it is applied nowhere`,
		},
		"flags in two files": {
			files: map[string]string{
				"pages.deploy.json": `{"runtime":{"compatibilityFlags":["nodejs_compat"]}}`,
				"wrangler.jsonc":    "{ // why\n \"compatibility_flags\": [\"nodejs_compat\",],\n}",
			},
			want: `error flags-declared-twice :1:34 /runtime/compatibilityFlags: compatibility flags are already declared in
	"wrangler.jsonc"; declare them in one of the two files only`,
		},
		"flags the platform does not accept": {
			files: map[string]string{
				"pages.deploy.json": `{}`,
				"wrangler.json":     "{\n  \"compatibility_flags\": [\"nodejs_compat\", \"python_workers\", 7]\n}",
			},
			want: `error flag-unknown wrangler.json:2:44 /compatibility_flags/1: the platform does not accept the compatibility flag
	"python_workers"; use "global_fetch_strictly_public" or "nodejs_compat"
error flag-unknown wrangler.json:2:62 /compatibility_flags/2: the platform does not accept the compatibility flag "7";
	use "global_fetch_strictly_public" or "nodejs_compat"`,
		},
		"an empty list declares nothing": {
			files: map[string]string{
				"pages.deploy.json": `{"runtime":{"compatibilityFlags":["nodejs_compat"]}}`,
				"wrangler.json":     `{"compatibility_flags":[]}`,
			},
		},
		"a broken runtime config": {
			files: map[string]string{"pages.deploy.json": `{}`, "wrangler.json": `{"a":}`},
			want:  `warning runtime-config-invalid wrangler.json:1:6 : unexpected "}" where a value was expected; write a value`,
		},
		"flags of the wrong type": {
			files: map[string]string{"pages.deploy.json": `{}`, "wrangler.json": `{"compatibility_flags":"nodejs_compat"}`},
			want: `error runtime-config-invalid wrangler.json:1:24 /compatibility_flags: compatibility_flags must be an array, not a
	string; put it in brackets`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			m, diags := validate.Load(tree(c.files), manifest.FileName)
			want := unfolded(c.want)
			if want != "" {
				want += "\n"
			}
			if got := found(diags); got != want {
				t.Errorf("got\n%swant\n%s", got, want)
			}
			if (m == nil) != diags.HasErrors() {
				t.Errorf("manifest %v with errors %v", m, diags.HasErrors())
			}
		})
	}
}

// TestLoadFlags takes the flags from the bundle's runtime config.
func TestLoadFlags(t *testing.T) {
	m, diags := validate.Load(tree(map[string]string{
		"site/pages.deploy.json": `{"entry":"w.js"}`, "site/w.js": "",
		"site/wrangler.json": `{"compatibility_flags":["nodejs_compat"]}`,
	}), "site/pages.deploy.json")
	if len(diags) > 0 || len(m.Runtime.CompatibilityFlags) != 1 || m.Runtime.CompatibilityFlags[0] != manifest.FlagNodeJS {
		t.Errorf("got %+v, %v", m, diags)
	}
}

// TestLoadLinks follows symbolic links of a real folder, and none out of it.
func TestLoadLinks(t *testing.T) {
	outside, dir := t.TempDir(), t.TempDir()
	write(t, filepath.Join(outside, "secret.js"), "")
	write(t, filepath.Join(dir, "src", "w.js"), "")
	write(t, filepath.Join(dir, "public", "a.txt"), "")
	for link, target := range map[string]string{
		"inside.js": "src/w.js", "chain.js": "inside.js", "climb.js": "src/../inside.js",
		"abs.js": filepath.Join(outside, "secret.js"), "out.js": "../" + filepath.Base(outside) + "/secret.js",
		"dir": "..", "loop.js": "loop.js", "gone.js": "nowhere.js", "pub": "public",
		"public/in.txt": "a.txt", "public/out.txt": "../../x", "public/up.js": "../src/w.js", "public/folder": "../src",
	} {
		testmachine.Link(t, target, filepath.Join(dir, filepath.FromSlash(link)))
	}
	for entry, want := range map[string]string{
		"inside.js": "", "chain.js": "", "climb.js": "",
		"abs.js": "path-symlink", "out.js": "path-symlink", "dir/" + filepath.Base(dir) + "/src/w.js": "path-symlink",
		"loop.js": "path-symlink", "gone.js": "path-not-found",
	} {
		t.Run(entry, func(t *testing.T) {
			write(t, filepath.Join(dir, manifest.FileName), fmt.Sprintf(`{"entry":%q}`, entry))
			_, diags := validate.Load(os.DirFS(dir), manifest.FileName)
			got := ""
			if len(diags) > 0 {
				got = diags[0].Code
			}
			if got != want {
				t.Errorf("%s: got %q, want %q: %v", entry, got, want, diags)
			}
		})
	}
	write(t, filepath.Join(dir, manifest.FileName), `{"assets":"pub"}`)
	_, diags := validate.Load(os.DirFS(dir), manifest.FileName)
	if len(diags) != 2 || !strings.Contains(diags[0].Message, `"pub/folder"`) || !strings.Contains(diags[1].Message, `"pub/out.txt"`) {
		t.Errorf("assets: %v", diags)
	}
}

func write(t *testing.T, name, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}

// vanishing is a file tree during a checkout of another branch: files and folders of these names disappear after a read of the folder above
// them.
type vanishing struct {
	fstest.MapFS
	names []string
}

func (v vanishing) ReadDir(dir string) ([]fs.DirEntry, error) {
	list, err := v.MapFS.ReadDir(dir)
	for _, name := range v.names {
		if path.Dir(name) == dir {
			maps.DeleteFunc(v.MapFS, func(file string, _ *fstest.MapFile) bool { return file == name || strings.HasPrefix(file, name+"/") })
		}
	}
	return list, err
}

// TestAssetsVanish removes public files and folders during the run, which is not an error; the assets folder must exist.
func TestAssetsVanish(t *testing.T) {
	site := tree(map[string]string{
		"pages.deploy.json": `{"assets":"public"}`, "public/index.html": "<h1>home</h1>", "public/gone.html": "<form></form>",
		"public/key.txt":     "x",
		"public/docs/a.html": "a", "public/docs/b/c.html": "c",
	})
	site["public/link.html"] = &fstest.MapFile{Mode: fs.ModeSymlink, Data: []byte("index.html")}
	names := []string{"public/gone.html", "public/key.txt", "public/link.html", "public/docs"}
	if _, diags := validate.Load(vanishing{site, names}, manifest.FileName); len(diags) != 0 {
		t.Errorf("got\n%s", found(diags))
	}
	if len(site) != 2 {
		t.Errorf("%d files are left", len(site))
	}
	delete(site, "public/index.html")
	if _, diags := validate.Load(site, manifest.FileName); !diags.HasErrors() {
		t.Error("a site without its folder passes")
	}
}

// TestMembersLink warns of a public link to a file for members.
func TestMembersLink(t *testing.T) {
	site := tree(map[string]string{
		"pages.deploy.json":  `{"assets":"p","routes":[{"pattern":"/club/*","access":"members"}]}`,
		"p/club/prices.html": "<h1>Prices</h1>",
	})
	site["p/prices.html"] = &fstest.MapFile{Mode: fs.ModeSymlink, Data: []byte("club/prices.html")}
	const want = "warning members-file-public p/prices.html:1:1 : the public file \"p/prices.html\" is a link to " +
		"\"p/club/prices.html\", a members file; remove it, or guard it with a members route as well\n"
	_, diags := validate.Load(site, manifest.FileName)
	if got := found(diags); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
	if _, _, diags := validate.LoadForBuild(site, nil, manifest.FileName); len(diags) != 0 { // which hashes the files itself
		t.Errorf("got\n%s", found(diags))
	}
}

// TestMigrationVanishes removes a migration during the run, which is not an error; a link is.
func TestMigrationVanishes(t *testing.T) {
	site := tree(map[string]string{"pages.deploy.json": `{"bindings":{"database":{"migrations":"m"}}}`, "m/1.sql": "", "m/2.sql": ""})
	if _, diags := validate.Load(vanishing{site, []string{"m/2.sql"}}, manifest.FileName); len(diags) != 0 {
		t.Errorf("got\n%s", found(diags))
	}
	site["m/2.sql"] = &fstest.MapFile{Mode: fs.ModeSymlink, Data: []byte("none.sql")}
	_, diags := validate.Load(site, manifest.FileName)
	const want = "error path-symlink m/2.sql:1:1 : \"2.sql\" cannot be a migration: it is a link, and some systems lose links; replace " +
		"the link with the file\n"
	if got := found(diags); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}
