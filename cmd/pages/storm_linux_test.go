package main

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/pages-toolchain/pages/cmd/internal/host"
	"github.com/pages-toolchain/pages/cmd/internal/localstate"
	"github.com/pages-toolchain/pages/cmd/tools/testmachine"
	"github.com/pages-toolchain/pages/runtime/binding/r2"
)

// storms are calls that Workers do not await, by the path that makes them.
var storms = map[string]string{
	"list":    "env.BUCKET.list()",
	"head":    "env.BUCKET.head('small')",
	"get":     "env.BUCKET.get('small')",
	"big":     "env.BUCKET.get('big')",
	"text":    "env.BUCKET.get('small').then((o) => o.text())",
	"put":     "env.BUCKET.put('p' + i % 50, 'x')",
	"kvlist":  "env.KV.list()",
	"kvget":   "env.KV.get('small')",
	"kvbig":   "env.KV.get('big', 'stream')",
	"kvput":   "env.KV.put('p' + i % 50, 'x')",
	"first":   "env.DB.prepare('SELECT count(*) FROM t').first()",
	"all":     "env.DB.prepare('SELECT * FROM t').all()",
	"run":     "env.DB.prepare('INSERT INTO t VALUES (?)').bind(i).run()",
	"batch":   "env.DB.batch([env.DB.prepare('SELECT 1'), env.DB.prepare('INSERT INTO t VALUES (1)')])",
	"session": "env.DB.withSession().prepare('SELECT * FROM t').all()",
	"asset":   "env.ASSETS.fetch('http://x/big.txt')",
}

// stormSite is a site whose Worker makes calls in thousands.
func stormSite(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	put(t, filepath.Join(dir, "pages.deploy.json"),
		`{"entry": "w.js", "assets": "public", "routes": [{"pattern": "/w/*", "access": "public"}], "limits": {"cpuMs": 2000},
"bindings": {"storage": {"name": "BUCKET"}, "kv": {"name": "KV"}, "database": {"migrations": "migrations"}}}`)
	put(t, filepath.Join(dir, "migrations", "0001_t.sql"), "CREATE TABLE t (a);\nINSERT INTO t VALUES (1), (2);\n")
	put(t, filepath.Join(dir, "public", "big.txt"), strings.Repeat("x", 400<<10))
	var calls strings.Builder
	for name, call := range storms {
		fmt.Fprintf(&calls, "  %s: (env, i) => %s,\n", name, call)
	}
	put(t, filepath.Join(dir, "w.js"), `const calls = {
`+calls.String()+`};
export default { async fetch(request, env) {
  const [, , name, n] = new URL(request.url).pathname.split('/');
  if (name === 'begin') {
    const big = 'x'.repeat(1 << 20);
    await Promise.all([env.BUCKET.put('small', 'x'), env.BUCKET.put('big', big), env.KV.put('small', 'x'), env.KV.put('big', big)]);
    await env.DB.prepare('SELECT 1').first();
    return new Response('ok');
  }
  const all = [];
  for (let i = 0; i < n; i++) all.push(calls[name](env, i).catch((e) => e.message));
  const errors = new Set((await Promise.all(all)).filter((v) => typeof v === 'string' && v.length > 1));
  return new Response([...errors].join('\n'));
} };
`)
	return dir
}

// TestStorms makes Workers start thousands of calls at once, and abandon most: a process keeps few files open meanwhile, and no more than
// before at the end.
func TestStorms(t *testing.T) {
	testmachine.Long(t)
	calls, rounds := 500, 1
	if os.Getenv("PAGES_SOAK") != "" {
		calls, rounds = 3000, 4
	}
	d := startDev(t, stormSite(t))
	ask := func(path string) (int, string) {
		resp, err := d.client.Get(d.URL + path)
		if err != nil {
			return 0, err.Error()
		}
		defer resp.Body.Close()
		body, _ := io.ReadAll(resp.Body)
		return resp.StatusCode, string(body)
	}
	open := func() int {
		entries, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", d.cmd.Process.Pid))
		if err != nil {
			t.Fatal(err)
		}
		return len(entries)
	}
	if status, body := ask("/w/begin"); status != http.StatusOK {
		t.Fatal(status, body)
	}
	before := open()
	// All connections of a site's databases, the files of a bucket, and some for requests and their calls.
	most := before + host.SiteFiles + r2.MaxFiles + 100
	peak := 0
	for range rounds {
		for name := range storms {
			var asked sync.WaitGroup
			for range 4 {
				asked.Go(func() {
					if status, body := ask(fmt.Sprintf("/w/%s/%d", name, calls)); status != http.StatusOK &&
						status != http.StatusServiceUnavailable || strings.Contains(body, "open file") {
						t.Errorf("%s: %d %s", name, status, body)
					}
				})
			}
			ended := make(chan struct{})
			go func() { asked.Wait(); close(ended) }()
			for going := true; going; {
				select {
				case <-ended:
					going = false
				case <-time.After(10 * time.Millisecond):
				}
				if n := open(); n > peak {
					peak = n
				}
			}
			if peak > most {
				t.Fatalf("%s: %d files are open, want %d at most: %d were before", name, peak, most, before)
			}
		}
	}
	d.client.CloseIdleConnections()
	after := 0
	for end := time.Now().Add(6 * localstate.ConnIdle); time.Now().Before(end); <-time.After(time.Second) {
		if after = open(); after <= before {
			break
		}
	}
	t.Logf("%d files before, %d at most, %d after", before, peak, after)
	if after > before {
		t.Errorf("%d files stay open, %d were before", after, before)
	}
}
