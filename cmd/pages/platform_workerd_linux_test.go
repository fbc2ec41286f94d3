package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/pages-toolchain/pages/cmd/internal/siteworker"
	"github.com/pages-toolchain/pages/cmd/tools/testmachine"
)

// proberWorker tries to reach the targets of a request, by every API of workerd for that. The response lists its successes.
const proberWorker = `import fs from "node:fs";
import net from "node:net";
import http from "node:http";
import { connect } from "cloudflare:sockets";
const event = (on, good, ...bad) => new Promise((yes, no) => {
  on.on(good, () => yes("reached"));
  for (const name of bad) on.on(name, no);
  setTimeout(no, 200);
});
async function socket(address) {
  const s = connect(address);
  await s.writable.getWriter().write(new TextEncoder().encode("GET / HTTP/1.1\r\nhost: a\r\n\r\n"));
  return (await s.readable.getReader().read()).value;
}
const ways = {
  read: (path) => fs.readFileSync(path, "utf8"),
  list: (path) => fs.readdirSync(path),
  link: (path) => {
    fs.symlinkSync(path, "/tmp/link");
    try { return fs.readFileSync("/tmp/link", "utf8"); } finally { fs.unlinkSync("/tmp/link"); }
  },
  net: (path) => event(net.connect({ path }), "connect", "error", "close"),
  http: (path) => event(http.get({ socketPath: path, path: "/" }), "response", "error"),
  socket: (path) => socket("unix:" + path),
  socketHere: (path) => socket(path),
  unix: (path) => fetch("unix:" + path),
  file: (path) => fetch("file://" + path),
  host: (path) => fetch("http://unix:" + path + ":/"),
  proxied: (path) => fetch("http://" + encodeURIComponent("unix:" + path) + "/"),
};
export default { async fetch(request, env) {
  const reached = [];
  if (Object.keys(process.env).length || Object.keys(env).length) reached.push("environment");
  const path = await request.text();
  for (const [name, way] of Object.entries(ways)) {
    try { reached.push(name + ": " + String(await way(path)).slice(0, 100)); } catch {}
  }
  return Response.json(reached);
} }`

const proberManifest = `{"entry":"w.js","routes":[{"pattern":"/*"}],"runtime":{"compatibilityFlags":["nodejs_compat"]}}`

// created is a new site without a revision.
func (p *platformRun) created(t *testing.T, name string) (site, host string) {
	t.Helper()
	_, text, err := p.call(p.Keys["member"], "page.create", `{"name":"`+name+`","idempotency_key":"`+name+`"}`)
	var page struct {
		SiteID   string `json:"site_id"`
		Hostname string `json:"hostname"`
	}
	if err != nil || json.Unmarshal([]byte(text), &page) != nil || page.SiteID == "" {
		t.Fatal(text, err)
	}
	return page.SiteID, page.Hostname
}

// socketsOf are the paths of the sockets of processes.
func socketsOf(t *testing.T, pids ...int) (paths []string) {
	t.Helper()
	all, err := os.ReadFile("/proc/net/unix") // "0000000000000000: 00000002 00000000 00010000 0001 01 19837 /tmp/a"
	if err != nil {
		t.Fatal(err)
	}
	byInode := map[string]string{}
	for line := range strings.Lines(string(all)) {
		if f := strings.Fields(line); len(f) == 8 {
			byInode[f[6]] = f[7]
		}
	}
	for _, pid := range pids {
		links, _ := filepath.Glob(fmt.Sprintf("/proc/%d/fd/*", pid))
		for _, link := range links {
			to, _ := os.Readlink(link)
			if path := byInode[strings.TrimSuffix(strings.TrimPrefix(to, "socket:["), "]")]; path != "" && !slices.Contains(paths, path) {
				paths = append(paths, path)
			}
		}
	}
	return paths
}

// TestPlatformWorkerd: published sites in workerd, each in its own process that reaches no part of another's, and whose end loses no
// acknowledged write.
func TestPlatformWorkerd(t *testing.T) {
	withEngine(t, siteworker.Workerd)
	t.Setenv("SERVICE_SECRET", "of the service")
	p := startPlatform(t, t.TempDir())
	service := p.cmd.Process.Pid
	site := p.Demo["unpublished_site_id"]
	p.ship(t, site, hostedManifest, hostedFiles(nil))
	written := p.made(t, "written")
	before := workerdOf(t, service)
	neighbour := p.made(t, "neighbour")
	undisturbed := slices.DeleteFunc(workerdOf(t, service), func(pid int) bool { return slices.Contains(before, pid) })
	if len(undisturbed) != 1 {
		t.Fatalf("a publish has started %v\n%s", undisturbed, p.stderr)
	}
	proberSite, prober := p.created(t, "prober")
	p.ship(t, proberSite, proberManifest, map[string]string{"w.js": proberWorker})
	pids := workerdOf(t, service)
	if len(pids) != 4 {
		t.Fatalf("%d processes of workerd for four sites\n%s", len(pids), p.stderr)
	}

	t.Run("apart", func(t *testing.T) {
		folders := map[string]int{}
		for _, pid := range pids {
			environ, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", pid))
			if err != nil || strings.Contains(string(environ), "SERVICE_SECRET") || strings.Contains(string(environ), "HOME=") {
				t.Errorf("its environment is %q, %v", environ, err)
			}
			folder, err := os.Readlink(fmt.Sprintf("/proc/%d/cwd", pid))
			if err != nil {
				t.Error(err)
			}
			folders[folder]++
			if entries, _ := os.ReadDir(folder); len(entries) != 1 || entries[0].Name() != "front" {
				t.Errorf("its folder has %v", entries)
			}
			if info, err := os.Stat(folder); err != nil || info.Mode().Perm() != 0o700 {
				t.Errorf("its folder is %v, %v", info.Mode(), err)
			}
			if own := socketsOf(t, pid); len(own) != 1 || !strings.HasPrefix(own[0], folder) {
				t.Errorf("its sockets are %q", own)
			}
		}
		if len(folders) != len(pids) {
			t.Errorf("they share folders: %v", folders)
		}
		all := socketsOf(t, append(pids, service)...)
		if len(all) != 8 {
			t.Errorf("%d sockets, of four fronts and four wires: %q", len(all), all)
		}
		paths := append(all, "/proc/self/environ", "/proc/1/environ", "/proc/self/maps", "/etc/passwd", p.data, filepath.Dir(all[0]),
			strings.TrimPrefix(p.URL, "http://"), neighbour+p.URL[strings.LastIndex(p.URL, ":"):])
		if v := p.request(t, http.MethodPost, prober, "/", "/bundle/w.js"); !strings.HasPrefix(v.body, `["read: `) {
			t.Errorf("it does not reach its own file: %d %s", v.status, v.body)
		}
		for _, path := range paths {
			if v := p.request(t, http.MethodPost, prober, "/", path); v.status != http.StatusOK || v.body != "[]" {
				t.Errorf("%s: %d %s", path, v.status, v.body)
			}
		}
	})

	t.Run("refused", func(t *testing.T) {
		const throws = `throw new Error("never starts"); export default {};`
		revision, err := p.upload(proberSite, proberManifest, map[string]string{"w.js": throws})
		if err != nil {
			t.Fatal(err)
		}
		if o, err := p.goLive("page.publish", proberSite, revision, false); err != nil || o.Code != "worker_failed" ||
			!strings.Contains(o.Message, "never starts") {
			t.Errorf("%+v %v", o, err)
		}
		if v := p.request(t, http.MethodPost, prober, "/", "/etc/passwd"); v.body != "[]" {
			t.Errorf("the revision that was live: %d %s", v.status, v.body)
		}
		if now := workerdOf(t, service); len(now) != len(pids) {
			t.Errorf("%d processes", len(now))
		}
	})

	t.Run("replaced", func(t *testing.T) {
		p.ship(t, proberSite, proberManifest, map[string]string{"w.js": `export default { fetch: () => new Response("second") };`})
		if v := p.request(t, http.MethodGet, prober, "/", ""); v.body != "second" {
			t.Errorf("%d %s", v.status, v.body)
		}
		testmachine.Await(t, "the process of the old revision ends", func() bool { return len(workerdOf(t, service)) == len(pids) })
	})

	t.Run("killed", func(t *testing.T) { p.killWorkers(t, site, written, neighbour, undisturbed[0]) })

	running := workerdOf(t, service)
	p.end(t, os.Kill)
	for _, pid := range running {
		gone(t, pid)
	}
}

// killWorkers kills processes of workerd again and again while clients write to two sites; a third site must not be affected.
func (p *platformRun) killWorkers(t *testing.T, site, written, neighbour string, undisturbed int) {
	t.Helper()
	kills := 5
	if os.Getenv("PAGES_SOAK") != "" {
		kills = 100
	}
	var rows, leads, calm, refused atomic.Int64
	stop := make(chan struct{})
	var load sync.WaitGroup
	visit := func(do func(n int) (pageResponse, error), good, may func(pageResponse) bool, count *atomic.Int64) {
		load.Go(func() {
			for n := 0; ; n++ {
				select {
				case <-stop:
					return
				default:
				}
				switch v, err := do(n); {
				case err == nil && good(v):
					count.Add(1)
				case err == nil && may(v):
					refused.Add(1)
				default:
					t.Errorf("%d %v %s, %v", v.status, v.header, v.body, err)
				}
			}
		})
	}
	ok := func(v pageResponse) bool { return v.status == http.StatusOK }
	restarted := func(v pageResponse) bool {
		return v.status == http.StatusServiceUnavailable && v.header.Get("Retry-After") != ""
	}
	never := func(pageResponse) bool { return false }
	for range 2 {
		visit(func(int) (pageResponse, error) { return p.tryRequest("GET", written, "/api/x", "") }, ok, restarted, &rows)
	}
	visit(func(n int) (pageResponse, error) {
		return p.tryRequest("POST", demoNew, "/__pages/forms", fmt.Sprintf("form=contact&email=a%d@rowing.example", n),
			"Content-Type", "application/x-www-form-urlencoded")
	}, func(v pageResponse) bool { return v.status == http.StatusSeeOther }, never, &leads)
	visit(func(int) (pageResponse, error) { return p.tryRequest("GET", neighbour, "/api/x", "") }, ok, never, &calm)
	for range kills {
		begun, others := rows.Load(), calm.Load()
		testmachine.Await(t, "both sites answer", func() bool { return rows.Load() >= begun+3 && calm.Load() >= others+3 })
		for _, pid := range workerdOf(t, p.cmd.Process.Pid) {
			if pid != undisturbed {
				_ = syscall.Kill(pid, syscall.SIGKILL)
			}
		}
	}
	close(stop)
	load.Wait()
	t.Logf("%d rows, %d leads, %d answers of the neighbour, %d refused", rows.Load(), leads.Load(), calm.Load(), refused.Load())
	v := p.request(t, "GET", written, "/api/x", "")
	var stored int64
	if _, err := fmt.Sscanf(v.body, "written %d", &stored); err != nil || stored <= rows.Load() {
		t.Errorf("%d rows were acknowledged, and then it says %d %s", rows.Load(), v.status, v.body)
	}
	if n := len(p.leadsOf(t, site, int(leads.Load()))); leads.Load() <= 100 && int64(n) != leads.Load() {
		t.Errorf("%d leads were acknowledged, and %d are there", leads.Load(), n)
	}
	if !slices.Contains(workerdOf(t, p.cmd.Process.Pid), undisturbed) {
		t.Error("the neighbour has another process")
	}
}
