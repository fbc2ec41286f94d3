//go:build unix

package main

import (
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// viteSite is a copy of the site whose framework is Vite with React.
func viteSite(t *testing.T) string {
	t.Helper()
	dir := copyExample(t, "frameworks/vite")
	if _, err := os.Stat(filepath.Join(dir, "node_modules")); err != nil {
		t.Fatal("no packages in testdata/sites/frameworks/vite: make site fetches them")
	}
	return dir
}

// TestFrontend runs a site with a real Vite upstream: access to its sources, forms, its end and its restart.
func TestFrontend(t *testing.T) {
	dir := viteSite(t)
	d := startDev(t, dir, "--", "sh", "-c", "echo $$ > vite.pid; exec vite --clearScreen false")
	member := d.signIn("member")
	const secret = "combination"
	d.expect(d.get("/"), http.StatusOK, `src="/src/main.jsx"`)
	for _, row := range []struct {
		path     string
		stranger int
	}{
		{"/src/main.jsx", http.StatusOK},
		{"/src/App.jsx", http.StatusOK},
		{"/src/Counter.jsx?t=1", http.StatusOK},
		{"/src/About.jsx", http.StatusOK},
		{"/@vite/client", http.StatusOK},
		{"/@react-refresh", http.StatusOK},
		{"/about", http.StatusOK},
		{"/src/Vault.jsx", http.StatusUnauthorized},
		{"/src/ClubNews.jsx", http.StatusUnauthorized},
		{"/src/Board.jsx", http.StatusUnauthorized},
		{"/src/Board.jsx?import", http.StatusUnauthorized},
		{"/src/Vault.jsx?raw", http.StatusUnauthorized},
		{"/src/Vault.jsx?import&raw", http.StatusUnauthorized},
		{"/src/Vault.jsx?url", http.StatusUnauthorized},
		{"/src/Vault.jsx?t=" + strconv.Itoa(int(time.Now().UnixMilli())), http.StatusUnauthorized},
		{"/src/App.jsx?raw", http.StatusUnauthorized},
		{"/@fs" + dir + "/src/Vault.jsx", http.StatusUnauthorized},
		{"/@fs" + dir + "/src/Board.jsx?raw", http.StatusUnauthorized},
		{"/@id/src/Vault.jsx", http.StatusUnauthorized},
		{"/vite.config.js", http.StatusUnauthorized},
		{"/pages.deploy.json", http.StatusUnauthorized},
		{"/club/", http.StatusUnauthorized},
		{"/club/vault", http.StatusUnauthorized},
		{"/club/index.html", http.StatusUnauthorized},
	} {
		a := d.get(row.path)
		if a.StatusCode != row.stranger || strings.Contains(a.body, secret) {
			t.Errorf("%s: a stranger gets %d, want %d\n%.300s", row.path, a.StatusCode, row.stranger, a.body)
		}
		if a := d.with(member, http.MethodGet, row.path, ""); a.StatusCode == http.StatusUnauthorized {
			t.Errorf("%s: a member gets %d", row.path, a.StatusCode)
		}
	}
	d.expect(d.with(member, http.MethodGet, "/src/Vault.jsx", ""), http.StatusOK, secret)

	posted := d.do(http.MethodPost, "/__pages/forms/contact", "email=ada%40example.org", "Content-Type: application/x-www-form-urlencoded")
	if leads := d.leads("contact"); posted.StatusCode != http.StatusSeeOther || len(leads) != 1 {
		t.Errorf("the form is answered with %d, and there are %d leads", posted.StatusCode, len(leads))
	}

	text, err := os.ReadFile(filepath.Join(dir, "vite.pid"))
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		t.Fatal(err)
	}
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	killed := time.Now()
	d.eventually("a page says that Vite has ended", func() bool {
		a := d.get("/", "Accept: text/html")
		return a.StatusCode == http.StatusBadGateway && strings.Contains(a.body, "sh has ended: signal: killed") &&
			strings.Contains(a.body, "Local:") && a.Header.Get("Refresh") != ""
	})
	const most = time.Second
	if took := time.Since(killed); took > most {
		t.Errorf("that took %v", took)
	}
	d.eventually("the log says so", func() bool { return strings.Contains(d.stderr.String(), "error: sh has ended: signal: killed") })
	if code := d.stop(); code != 0 {
		t.Errorf("exit code %d\n%s", code, d.stderr)
	}
}

// TestFrontendEnds: no process of the frontend command survives pages dev, however that ends.
func TestFrontendEnds(t *testing.T) {
	const code = `import { writeFileSync } from "node:fs";
import { createServer } from "node:http";
process.on("SIGTERM", () => {}); // it ends when it must
writeFileSync(process.pid + ".pid", "");
const server = createServer((request, response) => response.end("from node"));
server.listen(0, "127.0.0.1", () => console.log("http://127.0.0.1:" + server.address().port));`
	for _, row := range []struct {
		name string
		sent syscall.Signal
	}{{"Ctrl-C", syscall.SIGINT}, {"kill", syscall.SIGTERM}, {"kill -9", syscall.SIGKILL}} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			dir := copyExample(t, "static")
			if err := os.WriteFile(filepath.Join(dir, "server.mjs"), []byte(code), 0o600); err != nil {
				t.Fatal(err)
			}
			d := startDev(t, dir, "--", "sh", "-c", "node server.mjs & node server.mjs; true")
			d.expect(d.get("/"), http.StatusOK, "from node")
			var pids []int
			d.eventually("two programs run", func() bool {
				pids = nil
				names, _ := filepath.Glob(filepath.Join(dir, "*.pid"))
				for _, name := range names {
					if pid, err := strconv.Atoi(strings.TrimSuffix(filepath.Base(name), ".pid")); err == nil {
						pids = append(pids, pid)
					}
				}
				return len(pids) == 2
			})
			if err := d.cmd.Process.Signal(row.sent); err != nil {
				t.Fatal(err)
			}
			_ = d.cmd.Wait()
			d.eventually("they have ended", func() bool {
				return !slices.ContainsFunc(pids, func(pid int) bool { return syscall.Kill(pid, 0) == nil })
			})
		})
	}
}
