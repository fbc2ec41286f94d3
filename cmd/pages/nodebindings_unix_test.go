//go:build unix

package main

import (
	"bufio"
	"encoding/json"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/pages-toolchain/pages/cmd/tools/testmachine"
)

// nodeSite is a site whose pages come from a Node.js program, with the bindings of the npm package.
func nodeSite(t *testing.T, script string) string {
	t.Helper()
	if _, err := exec.LookPath("node"); err != nil {
		testmachine.Lacks(t, "Node.js", err)
	}
	dir := t.TempDir()
	for name, text := range map[string]string{
		"pages.deploy.json": `{"bindings": {"database": {"migrations": "migrations", "tables": ["people"]},
			"kv": {"name": "KV"}, "storage": {"name": "BUCKET"}, "secrets": ["KEY"]}}`,
		"migrations/0001_people.sql": "CREATE TABLE people (id INTEGER PRIMARY KEY, name TEXT NOT NULL);\n",
		".dev.vars":                  "KEY=a secret\n",
		"node_modules/.keep":         "",
		"app.mjs":                    script,
	} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	linkNPM(t, dir)
	return dir
}

// linkNPM installs the npm package of this repository in a site.
func linkNPM(t *testing.T, dir string) {
	t.Helper()
	npm, err := filepath.Abs(filepath.Join("..", "..", "npm"))
	if err != nil {
		t.Fatal(err)
	}
	testmachine.Link(t, npm, filepath.Join(dir, "node_modules", "pages-toolchain"))
}

// TestNodeBindings: the command of a framework finds the bindings of the site, on the stores that pages dev has opened.
func TestNodeBindings(t *testing.T) {
	dir := nodeSite(t, `import { createServer } from "node:http";
import { getPlatform } from "pages-toolchain";
const { env } = await getPlatform();
const server = createServer(async (request, response) => {
  try {
    if (request.url === "/add") await env.DB.prepare("INSERT INTO people (name) VALUES (?)").bind("Ada").run();
    if (request.url === "/wrong") await env.DB.prepare("SELECT missing").all();
    response.end(JSON.stringify({
      n: await env.DB.prepare("SELECT count(*) AS n FROM people").first("n"), key: env.KEY, has: Object.keys(env),
      id: request.headers["x-pages-request-id"] !== "forged", proof: request.headers["x-pages-proof"].length,
    }));
  } catch (error) {
    response.end(error.message + (error.code ? " (" + error.code + ")" : ""));
  }
});
server.listen(0, "127.0.0.1", () => console.log("http://127.0.0.1:" + server.address().port));
process.on("SIGTERM", () => process.exit());`)
	d := startDev(t, dir, "--", "node", "app.mjs")
	const want = `{"n":1,"key":"a secret","has":["BUCKET","DB","KEY","KV"],"id":true,"proof":64}`
	if a := d.get("/add", "X-Pages-Request-Id: forged"); a.body != want {
		t.Errorf("got  %s\nwant %s", a.body, want)
	}
	d.expect(d.get("/wrong"), http.StatusOK, "D1_ERROR: no such column: missing at offset 7: SQLITE_ERROR")

	pages := func(args ...string) string {
		out, err := exec.Command(program(t), args...).CombinedOutput()
		if err != nil {
			t.Errorf("pages %s: %v\n%s", strings.Join(args, " "), err, out)
		}
		return string(out)
	}
	if out := pages("db", "query", "SELECT name FROM people", dir); !strings.Contains(out, "Ada") {
		t.Errorf("pages db query does not see the row:\n%s", out)
	}
	d.eventually("the log has the calls, with their request", func() bool {
		_, after, _ := strings.Cut(pages("logs", dir, "--level", "debug"), "GET /wrong ")
		return strings.Contains(after, "debug: DB.query in ") && strings.Contains(after, "no such column: missing")
	})
}

// outside runs a program beside pages dev, and returns its lines.
func outside(t *testing.T, dir, script string, env ...string) (lines *bufio.Scanner, end func() error) {
	t.Helper()
	file := filepath.Join(dir, "outside.mjs")
	if err := os.WriteFile(file, []byte(script), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("node", file)
	cmd.Dir, cmd.Stderr = dir, t.Output()
	cmd.Env = append(append(os.Environ(), "PAGES_PROGRAM="+program(t)), env...)
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill() })
	return bufio.NewScanner(out), func() error {
		_ = in.Close()
		return cmd.Wait()
	}
}

func next(t *testing.T, lines *bufio.Scanner, want string) {
	t.Helper()
	if !lines.Scan() {
		t.Fatalf("the program has ended, and not printed %q", want)
	}
	if got := lines.Text(); !strings.HasPrefix(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestNodeBindingsOutside: a program finds the running pages dev, and gets an error once that ends; without one it starts one, which
// ends with it.
func TestNodeBindingsOutside(t *testing.T) {
	dir := nodeSite(t, "")
	d := startDev(t, dir)
	lines, end := outside(t, dir, `import { getPlatform } from "pages-toolchain";
const { env, url, dispose } = await getPlatform({ start: false });
console.log(url, await env.KV.get("none"));
process.stdin.once("end", async () => {
  await env.KV.get("none").catch((error) => console.log(error.code, error.message));
  await dispose();
  await env.KV.get("none").catch((error) => console.log(error.message));
}).resume();`)
	next(t, lines, d.URL+" null")
	if code := d.stop(); code != 0 {
		t.Errorf("exit code %d", code)
	}
	ended := make(chan error, 1)
	go func() { ended <- end() }()
	next(t, lines, "PAGES_DEV_ENDED pages dev does not answer any more (")
	next(t, lines, "the bindings were disposed: call getPlatform() again")
	if err := <-ended; err != nil {
		t.Error(err)
	}

	lines, end = outside(t, dir, `import { getPlatform } from "pages-toolchain";
await getPlatform({ start: false }).catch((error) => console.log(error.message));
await getPlatform({ dir: "/" }).catch((error) => console.log(error.message));
const { env, url } = await getPlatform();
console.log(new URL(url).hostname, await env.DB.prepare("SELECT 1 AS n").first("n"));
console.log((await import("node:fs")).readFileSync(".pages/state/dev.json", "utf8"));
process.exit();`)
	next(t, lines, "no pages dev runs for ")
	next(t, lines, "there is no pages.deploy.json in / or around it")
	next(t, lines, "127.0.0.1 1")
	if !lines.Scan() {
		t.Fatal("no record")
	}
	var record struct{ PID int }
	if err := json.Unmarshal(lines.Bytes(), &record); err != nil || record.PID == 0 {
		t.Fatalf("%v: %s", err, lines.Text())
	}
	if err := end(); err != nil {
		t.Error(err)
	}
	testmachine.Await(t, "the pages dev that was started ends", func() bool { return syscall.Kill(record.PID, 0) != nil })
}

// TestNodeBindingsInTests: the command of pages test has the bindings of the copied state.
func TestNodeBindingsInTests(t *testing.T) {
	dir := nodeSite(t, `import assert from "node:assert";
import { test } from "node:test";
import { getPlatform } from "pages-toolchain";
test("a row is kept until the reset", async () => {
  const { env, dispose } = await getPlatform();
  const count = () => env.DB.prepare("SELECT count(*) AS n FROM people").first("n");
  await env.DB.batch(["Ada", "Bo"].map((name) => env.DB.prepare("INSERT INTO people (name) VALUES (?)").bind(name)));
  assert.equal(await count(), 2);
  const reset = await fetch(process.env.PAGES_URL + "/__pages/api/test/reset", {
    method: "POST", headers: { authorization: "Bearer " + process.env.PAGES_TEST_TOKEN, "content-type": "application/json" },
  });
  assert.equal(reset.status, 200);
  assert.equal(await count(), 0);
  await dispose();
});`)
	out, err := exec.Command(program(t), "test", dir, "--", "node", "--test", filepath.Join(dir, "app.mjs")).CombinedOutput()
	if err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// TestVitePlugin: plain vite has the site's gate and forms in front, and no way to bypass them.
func TestVitePlugin(t *testing.T) {
	dir := viteSite(t)
	config := filepath.Join(dir, "vite.config.js")
	text, err := os.ReadFile(config)
	if err != nil {
		t.Fatal(err)
	}
	with := strings.NewReplacer(
		"export default", "import { pages } from \"pages-toolchain/vite\";\nexport default", "[react()]", "[react(), pages()]")
	if err := os.WriteFile(config, []byte(with.Replace(string(text))), 0o600); err != nil {
		t.Fatal(err)
	}
	packages, err := filepath.EvalSymlinks(filepath.Join(dir, "node_modules"))
	if err != nil {
		t.Fatal(err)
	}
	own := filepath.Join(dir, "node_modules")
	if err := os.Remove(own); err != nil && packages != own {
		t.Fatal(err)
	}
	if packages != own { // a folder of links, to which ours is added
		if err := os.Mkdir(own, 0o700); err != nil {
			t.Fatal(err)
		}
		entries, err := os.ReadDir(packages)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			testmachine.Link(t, filepath.Join(packages, e.Name()), filepath.Join(own, e.Name()))
		}
	}
	linkNPM(t, dir)
	lines, _ := outside(t, dir, `import { createServer } from "vite";
const server = await createServer({ server: { port: 0, host: "127.0.0.1" }, clearScreen: false, logLevel: "silent" });
await server.listen();
console.log("http://127.0.0.1:" + server.httpServer.address().port);
process.stdin.once("end", () => process.exit()).resume();`)
	if !lines.Scan() {
		t.Fatal("Vite has ended")
	}
	d := &devServer{t: t, dir: dir, URL: lines.Text(), stderr: &testmachine.Buffer{}, client: &http.Client{
		Timeout: patience, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
	d.expect(d.get("/", "Accept: text/html"), http.StatusOK, `src="/src/main.jsx"`)
	d.expect(d.get("/src/App.jsx"), http.StatusOK, "jsxDEV")
	d.expect(d.get("/src/Vault.jsx"), http.StatusUnauthorized, "")
	d.expect(d.get("/src/Vault.jsx", "X-Pages-Proof: "+strings.Repeat("0", 64)), http.StatusUnauthorized, "")
	member := d.signIn("member")
	d.expect(d.with(member, http.MethodGet, "/src/Vault.jsx", ""), http.StatusOK, "combination")
	posted := d.do(http.MethodPost, "/__pages/forms/contact", "email=ada%40example.org", "Content-Type: application/x-www-form-urlencoded")
	if posted.StatusCode != http.StatusSeeOther {
		t.Errorf("the form is answered with %d", posted.StatusCode)
	}
}
