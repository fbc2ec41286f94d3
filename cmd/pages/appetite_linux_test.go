package main

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/pages-toolchain/pages/cmd/tools/testmachine"
)

// appetites is a site whose requests make Go hold as much memory as it allows.
var appetites = map[string]string{
	"pages.deploy.json": `{"entry": "worker.js", "runtime": {"compatibilityFlags": ["nodejs_compat"]}, "routes": [{"pattern": "/api/*"}]}`,
	"worker.js": `
		import zlib from "node:zlib";
		const more = { maxOutputLength: 2 ** 31 };
		const gunzip = (b) => new Promise((yes, no) => zlib.gunzip(b, more, (error, bytes) => (error ? no(error) : yes(bytes.length))));
		const all = {
			"/api/sync": (b) => zlib.gunzipSync(b, more).length,
			"/api/async": (b) => Promise.all(Array.from({ length: 20 }, () => gunzip(b))),
			"/api/text": (b) => { const u = new Uint8Array(4e7).fill(0xe3), d = new TextDecoder("windows-1252");
				for (let i = 0; i < 5; i++) d.decode(u); return "done" },
		};
		export default { async fetch(request) {
			const { pathname } = new URL(request.url);
			if (pathname === "/api/ok") return new Response("ok");
			const b = Buffer.from(await request.arrayBuffer());
			try { return new Response(String(await all[pathname](b))) }
			catch (error) { return new Response(error.name + ": " + error.message, { status: 500 }) }
		} }`,
}

// zeros returns that many zero bytes, compressed by gzip.
func zeros(t *testing.T, size int64) string {
	t.Helper()
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	if _, err := io.CopyN(w, zeroReader{}, size); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

type zeroReader struct{}

func (zeroReader) Read(p []byte) (int, error) {
	clear(p)
	return len(p), nil
}

// TestAppetites: one request takes the server to no more than 400 MB, many at once to the total of its isolates and of the process, and
// afterwards the memory is back at its level from before.
func TestAppetites(t *testing.T) {
	testmachine.Long(t)
	if testmachine.Raced() {
		t.Skip("the race detector's own memory would count")
	}
	dir := t.TempDir()
	for name, text := range appetites {
		put(t, filepath.Join(dir, name), text)
	}
	d := startDev(t, dir)
	d.request("GET", "/api/ok", "", http.StatusOK)
	bomb := zeros(t, 1<<30)
	idle := d.status(t, "VmRSS")
	for _, c := range []struct{ path, want string }{
		{"/api/sync", "128 MB of memory"}, {"/api/async", "128 MB"}, {"/api/text", "done"},
	} {
		d.forgetHighest(t)
		a := d.do("POST", c.path, bomb)
		if !strings.Contains(a.body, c.want) {
			t.Errorf("%s: %d %.300s", c.path, a.StatusCode, a.body)
		}
		const most = 400 << 10 // kB
		peak := d.status(t, "VmHWM")
		t.Logf("%s: %d kB, %d kB when idle", c.path, peak, idle)
		if peak > most {
			t.Errorf("%s: one request took the server to %d kB", c.path, peak)
		}
	}
	rounds := 1
	if os.Getenv("PAGES_SOAK") != "" {
		rounds = 20
	}
	d.forgetHighest(t)
	for range rounds {
		var all sync.WaitGroup
		for range 8 {
			all.Go(func() { d.do("POST", "/api/async", bomb) })
		}
		all.Wait()
	}
	const storm = 900 << 10 // 256 MB of the process, as much in two isolates, and the server
	if peak := d.status(t, "VmHWM"); peak > storm {
		t.Errorf("eight requests at once took the server to %d kB", peak)
	} else {
		t.Logf("eight requests at once: %d kB", peak)
	}
	d.rest(t, idle)
	d.request("GET", "/api/ok", "", http.StatusOK)
}

// results are many simultaneous calls of the bindings with large results; n is their number, and the response has the errors of the refused
// ones.
var results = map[string]string{
	"database": "env.DB.prepare('SELECT * FROM t').all()",
	"raw":      "env.DB.prepare('SELECT * FROM t').raw()",
	"batch":    "env.DB.batch([env.DB.prepare('SELECT * FROM t')])",
	"kv":       "env.KV.get('big')",
	"json":     "env.KV.get('json', 'json')",
	"metadata": "env.KV.getWithMetadata('big', 'arrayBuffer')",
	"texts":    "env.KV.get(['big'])",
	"object":   "env.BUCKET.get('big').then((o) => o.text())",
	"bytes":    "env.BUCKET.get('big').then((o) => o.arrayBuffer())",
	"asset":    "env.ASSETS.fetch('http://x/big.txt').then((r) => r.arrayBuffer())",
	"part":     "env.BUCKET.put('part' + i, big)",
}

// TestResultAppetites: many large results at once are refused while they grow: one request takes the server to no more than 400 MB.
func TestResultAppetites(t *testing.T) {
	testmachine.Long(t)
	if testmachine.Raced() {
		t.Skip("the race detector's own memory would count")
	}
	names, rows, size := []string{"database", "kv", "asset"}, 40, 20<<20
	if os.Getenv("PAGES_SOAK") != "" {
		names, rows, size = slices.Sorted(maps.Keys(results)), 54, 24<<20
	}
	dir := t.TempDir()
	put(t, filepath.Join(dir, "pages.deploy.json"),
		`{"entry": "w.js", "assets": "public", "routes": [{"pattern": "/w/*", "access": "public"}], "limits": {"cpuMs": 20000},
"bindings": {"storage": {"name": "BUCKET"}, "kv": {"name": "KV"}, "database": {"migrations": "migrations"}}}`)
	put(t, filepath.Join(dir, "migrations", "0001_t.sql"), "CREATE TABLE t (a);\n")
	put(t, filepath.Join(dir, "public", "big.txt"), strings.Repeat("x", size))
	var calls strings.Builder
	for name, call := range results {
		fmt.Fprintf(&calls, "  %s: (env, i, big) => %s,\n", name, call)
	}
	put(t, filepath.Join(dir, "w.js"), fmt.Sprintf(`const calls = {
%s};
export default { async fetch(request, env) {
  const name = new URL(request.url).pathname.split("/")[2];
  if (name === "ok") return new Response("ok");
  if (name === "begin") {
    for (let i = 0; i < %d; i++) await env.DB.prepare("INSERT INTO t VALUES (?)").bind("x".repeat(1e6)).run();
    const big = "x".repeat(%d);
    await env.BUCKET.put("big", big);
    await env.KV.put("big", big);
    await env.KV.put("json", JSON.stringify(big));
    return new Response("ok");
  }
  const big = name === "part" ? "x".repeat(3e7) : "";
  const errors = new Set();
  await Promise.all(Array.from({ length: 20 }, (_, i) => calls[name](env, i, big).then(() => {},
    (e) => errors.add(e.name + ": " + e.message))));
  return new Response([...errors].join("\n"));
} };
`, calls.String(), rows, size))
	d := startDev(t, dir)
	idle := d.status(t, "VmRSS")
	d.request("GET", "/w/begin", "", http.StatusOK)
	for _, name := range names {
		d.rest(t, idle)
		d.forgetHighest(t)
		a := d.do("GET", "/w/"+name, "")
		peak := d.status(t, "VmHWM")
		t.Logf("%s: %d kB, %d kB when idle: %d %.300s", name, peak, idle, a.StatusCode, a.body)
		const most = 400 << 10 // kB
		if peak > most {
			t.Errorf("%s: one request took the server to %d kB", name, peak)
		}
		if a.StatusCode != http.StatusOK && a.StatusCode != http.StatusServiceUnavailable {
			t.Errorf("%s: %d %.300s", name, a.StatusCode, a.body)
		}
		d.request("GET", "/w/ok", "", http.StatusOK)
	}
}

// rest waits until the memory of the server is back near its idle size, in kB.
func (d *devServer) rest(t *testing.T, idle int) {
	t.Helper()
	const spare = 50 << 10
	for end := time.Now().Add(patience); d.status(t, "VmRSS") > idle+spare; time.Sleep(200 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%d kB when idle, and %d kB after the storm", idle, d.status(t, "VmRSS"))
		}
	}
}

// forgetHighest resets the server's VmHWM.
func (d *devServer) forgetHighest(t *testing.T) {
	t.Helper()
	if err := os.WriteFile(fmt.Sprintf("/proc/%d/clear_refs", d.cmd.Process.Pid), []byte("5"), 0); err != nil {
		t.Skip("the system cannot begin to count anew: ", err)
	}
}
