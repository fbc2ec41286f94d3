//go:build unix

package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/pages-toolchain/pages/cmd/internal/host"
)

// fewFiles makes a command run in a process with this limit of open files.
func fewFiles(files int) func(*exec.Cmd) {
	return func(cmd *exec.Cmd) {
		cmd.Args = slices.Concat([]string{"sh", "-c", fmt.Sprintf(`ulimit -n %d && exec "$@"`, files), "sh"}, cmd.Args)
		cmd.Path = "/bin/sh"
	}
}

// made is a new site that is published with a Worker and a database.
func (p *platformRun) made(t *testing.T, name string) (host string) {
	t.Helper()
	_, text, err := p.call(p.Keys["member"], "page.create", `{"name":"`+name+`","idempotency_key":"`+name+`"}`)
	var page struct {
		SiteID   string `json:"site_id"`
		Hostname string `json:"hostname"`
	}
	if err != nil || json.Unmarshal([]byte(text), &page) != nil || page.SiteID == "" {
		t.Fatal(text, err)
	}
	worker := `let seen = 0; export default { async fetch(request, env) {
  if (new URL(request.url).pathname === "/api/slow") {
    const { readable, writable } = new TransformStream(); const w = writable.getWriter();
    (async () => { for (let i = 0; i < 20; i++) { await w.write(new TextEncoder().encode("` + name +
		` ")); await scheduler.wait(50); } await w.close(); })();
    return new Response(readable);
  }
  await env.DB.prepare("INSERT INTO visits (at) VALUES (1)").run();
  return new Response("` + name + ` " + (await env.DB.prepare("SELECT count(*) AS n FROM visits").first("n")) + " " + ++seen);
} }`
	p.ship(t, page.SiteID,
		`{"entry":"w/worker.js","assets":"public","routes":[{"pattern":"/api/*"}],"bindings":{"database":{"migrations":"migrations"}}}`,
		map[string]string{
			"w/worker.js": worker, "public/index.html": "<h1>" + name + "</h1>",
			"migrations/0001.sql": "CREATE TABLE visits (at INTEGER);",
		})
	return page.Hostname
}

// TestManySites publishes and visits more sites than a process with this limit of files can have open: each keeps its data, and each
// response arrives whole.
func TestManySites(t *testing.T) {
	const files, sites, rounds = host.OtherFiles + 3*host.SiteFiles, 12, 3
	p := startPlatformAs(t, t.TempDir(), fewFiles(files))
	var hosts []string
	for n := range sites {
		hosts = append(hosts, p.made(t, fmt.Sprint("many", n)))
	}
	slow, err := http.NewRequest(http.MethodGet, p.URL+"/api/slow", nil)
	if err != nil {
		t.Fatal(err)
	}
	slow.Host = hosts[0] + p.URL[strings.LastIndex(p.URL, ":"):]
	streaming, err := p.client.Do(slow)
	if err != nil {
		t.Fatal(err)
	}
	defer streaming.Body.Close()
	began := 0
	for round := 1; round <= rounds; round++ {
		var visitors sync.WaitGroup
		for part := range 3 {
			visitors.Go(func() {
				for n := part; n < sites; n += 3 {
					var visits, seen int
					v, err := p.tryRequest("GET", hosts[n], "/api/count", "")
					if _, scan := fmt.Sscanf(v.body, fmt.Sprintf("many%d %%d %%d", n), &visits, &seen); err != nil || scan != nil ||
						visits != round {
						t.Errorf("visit %d of site %d: %d %s %v", round, n, v.status, v.body, err)
					}
					if page, err := p.tryRequest("GET", hosts[n], "/", ""); err != nil || page.body != fmt.Sprintf("<h1>many%d</h1>", n) {
						t.Errorf("the page of site %d: %d %s %v", n, page.status, page.body, err)
					}
					if n == sites-1 && seen == 1 {
						began++
					}
				}
			})
		}
		visitors.Wait()
	}
	if began != rounds {
		t.Errorf("the last site's Worker began anew %d times in %d rounds: sites were not closed meanwhile", began, rounds)
	}
	text, err := io.ReadAll(streaming.Body)
	if err != nil || strings.Count(string(text), "many0 ") != 20 {
		t.Errorf("the answer that was under way: %q, %v", text, err)
	}
	if log := p.stderr.String(); strings.Contains(log, "too many open files") {
		t.Errorf("it ran out of files:\n%s", log)
	}
}
