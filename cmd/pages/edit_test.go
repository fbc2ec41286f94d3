package main

import (
	"bufio"
	"context"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestEdit follows an author's edits: each is live at once, a broken one keeps
// the last good version, and the open page gets an event for each.
func TestEdit(t *testing.T) {
	d := startDev(t, copyExample(t, "riverside"))
	events := d.stream()

	// A file outside of the site is not an edit: a batch with it would reload the whole page.
	if err := os.WriteFile(filepath.Join(d.dir, "dev.log"), []byte("rebuilt\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	d.edit("public/css/site.css", "body", "body /* new */")
	d.eventually("the style sheet is new", func() bool { return strings.Contains(d.get("/css/site.css").body, "/* new */") })
	wait(t, events, "event: update", `"type":"css"`)

	d.edit("public/about.html", "</main>", "<p>A new line</p></main>")
	d.eventually("the page is new", func() bool { return strings.Contains(d.get("/about").body, "A new line") })
	wait(t, events, "event: update", `"type":"full"`)

	d.edit("src/api/index.ts", "Riverside Rowing Club", "Rowing Club Riverside")
	d.eventually("the Worker is new", func() bool { return strings.Contains(d.get("/api/health").body, "Rowing Club Riverside") })

	d.edit("src/api/index.ts", "new Hono<AppEnv>();", "new Hono<AppEnv>(;")
	wait(t, events, "event: problems", "src/api/index.ts")
	d.expect(d.get("/api/health"), 200, "Rowing Club Riverside")

	d.edit("src/api/index.ts", "new Hono<AppEnv>(;", "new Hono<AppEnv>();")
	wait(t, events, "event: update", `"type":"full"`)

	d.edit("pages.deploy.json", `"cpuMs": 5000`, `"cpuMs": 50000`)
	wait(t, events, "event: problems", "30000")
	d.edit("pages.deploy.json", `"cpuMs": 50000`, `"cpuMs": 6000`)
	d.eventually("the new limit holds", func() bool {
		return strings.Contains(d.get("/api/health").Header.Get("Server-Timing"), "of 6000 ms")
	})

	migration := filepath.Join(d.dir, "migrations", "0005_locker.sql")
	if err := os.WriteFile(
		migration, []byte("CREATE TABLE lockers (id INTEGER PRIMARY KEY);\nCREATE TABLE nonsense (;\n"), 0o600,
	); err != nil {
		t.Fatal(err)
	}
	wait(t, events, "event: problems", "0005_locker.sql")
	if err := os.WriteFile(migration, []byte("CREATE TABLE lockers (id INTEGER PRIMARY KEY);\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	d.eventually("the mended migration is applied", func() bool {
		return strings.Contains(d.stderr.String(), "applied migration 0005_locker.sql")
	})

	// Correcting the cause of the problem is enough: the author need not save another file.
	if err := os.WriteFile(migration, []byte("CREATE TABLE lockers (number INTEGER PRIMARY KEY);\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	wait(t, events, "event: problems", "pages migrate undo")
	if out, err := exec.Command(program(t), "migrate", "undo", d.dir).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	d.eventually("the edited migration is applied", func() bool {
		return strings.Count(d.stderr.String(), "applied migration 0005_locker.sql") == 2
	})

	if err := os.Remove(filepath.Join(d.dir, "public", "robots.txt")); err != nil {
		t.Fatal(err)
	}
	d.eventually("a removed file is gone", func() bool { return d.get("/robots.txt").StatusCode == 404 })
	if code := d.stop(); code != 0 {
		t.Errorf("exit code %d\n%s", code, d.stderr)
	}
}

var (
	reloadScript = regexp.MustCompile(`src="(/__pages/reload\.js\?v=(\d+))"`)
	reloadToken  = regexp.MustCompile(`TOKEN = "([A-Z0-9]+)"`)
)

// stream opens the reload stream as an open page does and returns its lines.
func (d *devServer) stream() <-chan string {
	d.t.Helper()
	page := d.get("/", "Accept: text/html", "Sec-Fetch-Mode: navigate", "Sec-Fetch-Dest: document")
	script := reloadScript.FindStringSubmatch(page.body)
	if script == nil {
		d.t.Fatalf("no reload script in the page:\n%.400s", page.body)
	}
	secret := reloadToken.FindStringSubmatch(d.get(script[1], "Sec-Fetch-Site: same-origin").body)
	if secret == nil {
		d.t.Fatalf("no token in %s", script[1])
	}
	path := "/__pages/reload?token=" + secret[1] + "&v=" + script[2]
	ctx, cancel := context.WithCancel(d.t.Context())
	d.t.Cleanup(cancel)
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, d.URL+path, nil)
	if err != nil {
		d.t.Fatal(err)
	}
	r.Header.Set("Accept", "text/event-stream")
	r.Header.Set("Sec-Fetch-Site", "same-origin")
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		d.t.Fatal(err)
	}
	if resp.StatusCode != http.StatusOK {
		d.t.Fatalf("%s: %d", path, resp.StatusCode)
	}
	lines := make(chan string, 256)
	go func() {
		defer close(lines)
		defer resp.Body.Close()
		scanner := bufio.NewScanner(resp.Body)
		scanner.Buffer(nil, 1<<20)
		for scanner.Scan() {
			lines <- scanner.Text()
		}
	}()
	return lines
}
