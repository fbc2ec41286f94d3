package main

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// canary is a secret that no output may show.
const canary = "canary-5d1c7e90b2af"

// oddCanary is a secret that JSON and addresses write differently.
const oddCanary = `odd/7f3c"9a&b2 \e+`

// canaryForms are the forms in which outputs could show them.
var canaryForms = []string{
	canary, hex.EncodeToString([]byte(canary)), base64.StdEncoding.EncodeToString([]byte(canary)),
	oddCanary, `odd/7f3c\"9a&b2`, "odd%2F7f3c%229a%26b2", base64.StdEncoding.EncodeToString([]byte(oddCanary)),
}

// TestSecretCanary makes a Worker use a secret, and throw it in an error, while the author opens every view: no written file, no printed
// line and no page of ours has it, although the Worker itself logs it. Only the author's own file and the Worker's response have it.
func TestSecretCanary(t *testing.T) {
	path := program(t) // before the caches of go move
	dir, caches := t.TempDir(), t.TempDir()
	t.Setenv("XDG_CACHE_HOME", caches)
	const worker = `
import { env as imported } from "cloudflare:workers";
const early = imported.TOKEN.length; // at the top level, which the image of the Worker keeps
export default { async fetch(request, env) {
	const { TOKEN, ODD } = env, { pathname } = new URL(request.url);
	console.log("asked for", pathname, { length: TOKEN.length, early });
	console.info("plain", TOKEN, { inside: [TOKEN, ODD] }, JSON.stringify({ ODD }));
	console.error(encodeURIComponent(ODD), btoa(ODD), new Error("for " + ODD));
	if (pathname === "/api/why") throw new Error("with " + TOKEN, { cause: new TypeError(ODD) });
	if (pathname === "/api/use") return new Response(TOKEN);
	if (pathname === "/api/throw") env.TOKEN.nothing.there;
	if (pathname === "/api/loop") for (;;) TOKEN.at(0);
	if (pathname === "/api/sql") await env.DB.prepare("SELECT nonsense WHERE ? = 1").bind(TOKEN).all();
	if (pathname === "/api/key") await env.KV.put("k", TOKEN, { expirationTtl: 1 });
	return new Response("?");
} }`
	for name, text := range map[string]string{
		"pages.deploy.json": `{"entry": "worker.js", "assets": "public", "routes": [{"pattern": "/api/*"}], "limits": {"cpuMs": 200},
			"bindings": {"secrets": ["TOKEN", "ODD", "ABSENT"], "database": {"migrations": "migrations"}, "kv": {"name": "KV"}}}`,
		"worker.js": worker, ".dev.vars": "TOKEN=" + canary + "\nODD='" + oddCanary + "'\n", "public/index.html": "<h1>home</h1>",
		"migrations/0001_a.sql": "CREATE TABLE a (x);\n",
	} {
		put(t, filepath.Join(dir, filepath.FromSlash(name)), text)
	}
	d := startDev(t, dir)
	told := func(where, text string) {
		t.Helper()
		for _, form := range canaryForms {
			if strings.Contains(text, form) {
				t.Errorf("%s tells the secret", where)
			}
		}
	}
	if a := d.get("/api/use"); a.body != canary {
		t.Fatalf("the Worker has no secret: %d %q", a.StatusCode, a.body)
	}
	for _, path := range []string{"/api/throw", "/api/why", "/api/loop", "/api/sql", "/api/key", "/.dev.vars", "/worker.js", "/none"} {
		for _, accept := range []string{"text/html", "application/json"} {
			a := d.get(path, "Accept: "+accept)
			if a.StatusCode < 400 {
				t.Errorf("%s: %d", path, a.StatusCode)
			}
			told(path, a.body)
		}
	}
	d.edit("worker.js", "const early", "const early =")
	d.eventually("the overlay", func() bool {
		return d.get("/api/use", "Accept: text/html").StatusCode >= 500 || strings.Contains(d.stderr.String(), "error")
	})
	told("the overlay", d.get("/", "Accept: text/html").body)
	d.edit("worker.js", "const early =", "const early")
	for _, path := range []string{
		"/__pages/", "/__pages/api/dev", "/__pages/api/state", "/__pages/api/requests", "/__pages/api/logs",
		"/__pages/api/kv",
	} {
		told(path, d.get(path).body)
	}
	for _, args := range [][]string{
		{"validate", dir},
		{"build", dir, "--json"},
		{"types", dir},
		{"routes", dir},
		{"logs", dir, "--json"},
		{"state", "save", "with-canary", "--dir", dir},
		{"db", "dump", "--dir", dir},
	} {
		out, err := exec.Command(path, args...).CombinedOutput()
		if err != nil {
			t.Errorf("%q: %v\n%s", args, err, out)
		}
		told(strings.Join(args, " "), string(out))
	}
	d.stop()
	told("standard error", d.stderr.String())
	for _, line := range []string{
		"plain [secret TOKEN] { inside: [ '[secret TOKEN]', '[secret ODD]' ] } {\"ODD\":\"[secret ODD]\"}",
		"[secret ODD] [secret ODD] Error: for [secret ODD]", "Error: with [secret TOKEN]", "TypeError: [secret ODD]",
	} {
		if !strings.Contains(d.stderr.String(), line) {
			t.Errorf("not on standard error: %s\n%s", line, d.stderr)
		}
	}
	files := 0
	for _, root := range []string{dir, caches} {
		err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
			if err != nil || !entry.Type().IsRegular() || entry.Name() == ".dev.vars" {
				return err
			}
			text, err := os.ReadFile(path)
			files++
			told(path, string(bytes.ToValidUTF8(text, nil)))
			told(path, string(text))
			return err
		})
		if err != nil {
			t.Error(err)
		}
	}
	if files < 15 {
		t.Errorf("only %d files were written", files)
	}
}
