//go:build unix

package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/pages-toolchain/pages/migrate/statefolder"
	"github.com/pages-toolchain/pages/toolapi"
)

// rest calls an endpoint that is not a tool; it fails if the connection ended.
func (p *platformRun) rest(method, path string, body []byte, into any, header ...string) (status int, err error) {
	r, err := http.NewRequest(method, p.URL+path, bytes.NewReader(body))
	if err != nil {
		return 0, err
	}
	r.Header.Set("Authorization", "Bearer "+p.Keys["member"])
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	resp, err := p.client.Do(r)
	if err != nil {
		return 0, err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err == nil && into != nil {
		err = json.Unmarshal(text, into)
	}
	return resp.StatusCode, err
}

// upload creates a revision; the error is a lost connection, or an unexpected response.
func (p *platformRun) upload(site, manifest string, files map[string]string) (revision string, err error) {
	args := toolapi.DeclareArgs{SiteID: toolapi.UUID(site), Manifest: json.RawMessage(manifest)}
	blobs := map[string]string{}
	for path, text := range files {
		hash := sumOf(text)
		blobs[hash] = text
		args.Files = append(args.Files, toolapi.UploadFile{Path: path, SHA256: toolapi.Digest(hash), Size: toolapi.Counter(len(text))})
	}
	body, err := json.Marshal(args)
	if err != nil {
		return "", err
	}
	var u toolapi.Upload
	if status, err := p.rest(http.MethodPost, toolapi.UploadsPath, body, &u); err != nil || status >= 300 {
		return "", fmt.Errorf("declare: %d %w", status, err)
	}
	for _, sum := range u.Required {
		if status, err := p.rest(http.MethodPut, toolapi.BlobPath(u.UploadID, sum), []byte(blobs[sum]), nil); err != nil || status >= 300 {
			return "", fmt.Errorf("send: %d %w", status, err)
		}
	}
	var f toolapi.Finalized
	if status, err := p.rest(http.MethodPost, toolapi.FinalizePath(u.UploadID), []byte("{}"), &f); err != nil || status >= 300 {
		return "", fmt.Errorf("finalize: %d %w", status, err)
	}
	return f.Revision, nil
}

// outcome is a response of a tool that publishes.
type outcome struct {
	OK         bool   `json:"ok"`
	Code       string `json:"code"`
	Message    string `json:"message"`
	ID         string `json:"confirmation_id"`
	ServingNow bool   `json:"serving_now"`
}

// goLive proposes and confirms a revision.
func (p *platformRun) goLive(tool, site, revision string, force bool) (o outcome, err error) {
	return p.twice(tool, map[string]any{"site_id": site, "revision": revision, "force": force})
}

// twice proposes and confirms.
func (p *platformRun) twice(tool string, args map[string]any) (o outcome, err error) {
	for range 2 {
		body, err := json.Marshal(args)
		if err != nil {
			return o, err
		}
		_, text, err := p.call(p.Keys["member"], tool, string(body))
		if err != nil {
			return o, err
		}
		o = outcome{}
		if err := json.Unmarshal([]byte(text), &o); err != nil || !o.OK {
			return o, err
		}
		args["confirmation_id"] = o.ID
	}
	return o, nil
}

// ship uploads and publishes a revision; a failure ends the test.
func (p *platformRun) ship(t *testing.T, site, manifest string, files map[string]string) (revision string) {
	t.Helper()
	revision, err := p.upload(site, manifest, files)
	if err != nil {
		t.Fatal(err)
	}
	if o, err := p.goLive("page.publish", site, revision, false); err != nil || !o.OK || !o.ServingNow {
		t.Fatalf("publish: %+v %v\n%s", o, err, p.stderr)
	}
	return revision
}

// pageResponse is the response to a request of a page.
type pageResponse struct {
	status int
	header http.Header
	body   string
}

// visit asks a published host.
func (p *platformRun) request(t testing.TB, method, host, path, body string, header ...string) pageResponse {
	t.Helper()
	v, err := p.tryRequest(method, host, path, body, header...)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func (p *platformRun) tryRequest(method, host, path, body string, header ...string) (v pageResponse, err error) {
	r, err := http.NewRequest(method, p.URL+path, strings.NewReader(body))
	if err != nil {
		return v, err
	}
	u, err := url.Parse(p.URL)
	if err != nil {
		return v, err
	}
	r.Host = host + ":" + u.Port()
	for i := 0; i < len(header); i += 2 {
		r.Header.Add(header[i], header[i+1])
	}
	client := *p.client
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	resp, err := client.Do(r)
	if err != nil {
		return v, err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	return pageResponse{resp.StatusCode, resp.Header, string(text)}, err
}

const hostedWorker = `
export default { async fetch(request, env) {
  const path = new URL(request.url).pathname;
  if (path === "/api/spin") for (;;);
  if (path === "/api/self") return fetch(new URL("/index.html", request.url),
    { redirect: "manual" }).then((r) => new Response(String(r.status)));
  if (path === "/api/count") {
    await env.DB.prepare("INSERT INTO visits (at) VALUES (1)").run();
    const { n } = await env.DB.prepare("SELECT count(*) AS n FROM visits").first();
    await env.KV.put("last", String(n));
    await env.BUCKET.put("k", "v" + n);
    const object = await env.BUCKET.get("k");
    return Response.json({ n, kv: await env.KV.get("last"), object: await object.text(), secret: env.TOKEN ?? "none",
      other: env.OTHER ?? "none" });
  }
  return new Response("members only: " + request.headers.get("x-pages-member-email"));
} };
`

const hostedManifest = `{"entry":"w/worker.js","assets":"public","routes":[{"pattern":"/api/*"},{"pattern":"/club/*","access":"members"}],
	"bindings":{"database":{"migrations":"migrations"},"kv":{},"storage":{},"secrets":["TOKEN"],"submissions":"posts"},
	"limits":{"cpuMs":200},"runtime":{"compatibilityFlags":["global_fetch_strictly_public"]},
	"forms":[{"name":"contact","event":"custom.contact"}]}`

func hostedFiles(more map[string]string) map[string]string {
	all := map[string]string{
		"w/worker.js": hostedWorker, "public/index.html": "<h1>first</h1>", "public/club/secret.txt": "for members",
		"migrations/0001.sql": "CREATE TABLE visits (at INTEGER); CREATE TABLE posts (form TEXT, email TEXT);",
	}
	maps.Copy(all, more)
	return all
}

const demoNew = "demo-new.localhost"

// TestPublishedSite publishes a site that uses everything, and visits it.
func TestPublishedSite(t *testing.T) {
	for _, engine := range engines {
		t.Run(engine, func(t *testing.T) {
			withEngine(t, engine)
			testPublishedSite(t)
		})
	}
}

func testPublishedSite(t *testing.T) {
	t.Helper()
	data := t.TempDir()
	p := startPlatform(t, data)
	site := p.Demo["unpublished_site_id"]
	if v := p.request(t, "GET", demoNew, "/", ""); v.status != http.StatusNotFound {
		t.Errorf("before: %d %s", v.status, v.body)
	}
	for _, name := range []string{"TOKEN", "OTHER"} {
		if _, text, err := p.call(
			p.Keys["member"], "page.set_secret", `{"site_id":"`+site+`","name":"`+name+`","value":"canary-`+name+`"}`,
		); err != nil || !strings.Contains(text, `"ok":true`) {
			t.Fatal(text, err)
		}
	}
	p.ship(t, site, hostedManifest, hostedFiles(nil))
	for path, want := range map[string]pageResponse{
		"/": {status: 200, body: "<h1>first</h1>"}, "/club/secret.txt": {status: 401}, "/club/x": {status: 401},
		"/migrations/0001.sql": {status: 404}, "/w/worker.js": {status: 404}, "/pages.deploy.json": {status: 404},
		"/api/self": {status: 200, body: "307"}, "/a%5Cx": {status: 400}, "/club%2fsecret.txt": {status: 401},
	} {
		t.Run(path, func(t *testing.T) {
			if v := p.request(t, "GET", demoNew, path, ""); v.status != want.status || want.body != "" && v.body != want.body ||
				v.header.Get("X-Service-Api") != "" || v.header.Get("Server-Timing") != "" {
				t.Errorf("%s: %d %.100s %v", path, v.status, v.body, v.header)
			}
		})
	}
	for n := 1; n <= 2; n++ {
		want := fmt.Sprintf(`{"n":%d,"kv":"%d","object":"v%d","secret":"canary-TOKEN","other":"none"}`, n, n, n)
		if v := p.request(t, "GET", demoNew, "/api/count", ""); v.status != 200 || v.body != want {
			t.Errorf("%d %s, want %s", v.status, v.body, want)
		}
	}
	if v := p.request(t, "GET", demoNew, "/api/spin", ""); v.status != http.StatusServiceUnavailable || !strings.Contains(v.body, "cpuMs") {
		t.Errorf("over the limit: %d %s", v.status, v.body)
	}
	cookie := p.signIn(t, demoNew, "ana@acme.test")
	if v := p.request(t, "GET", demoNew, "/club/x", "", "Cookie", cookie); v.body != "members only: ana@acme.test" {
		t.Errorf("a member: %d %s", v.status, v.body)
	}
	form := "form=contact&email=kim@rowing.example"
	if v := p.request(
		t, "POST", demoNew, "/__pages/forms", form, "Content-Type", "application/x-www-form-urlencoded",
	); v.status != http.StatusSeeOther {
		t.Errorf("a form: %d %s", v.status, v.body)
	}
	leads := p.request(t, "GET", demoNew, "/__pages/api/leads", "", "Cookie", cookie)
	if !strings.Contains(leads.body, "kim@rowing.example") || !strings.Contains(leads.body, "custom.contact") ||
		!strings.Contains(leads.body, `"written"`) {
		t.Errorf("leads: %d %s", leads.status, leads.body)
	}
	if v := p.request(t, "GET", demoNew, "/__pages/api/leads", ""); v.status != http.StatusUnauthorized {
		t.Errorf("leads for anybody: %d", v.status)
	}
	// A secret counts from the next request on; a restart forgets nothing.
	if _, text, err := p.call(
		p.Keys["member"], "page.set_secret", `{"site_id":"`+site+`","name":"TOKEN","value":"changed"}`,
	); err != nil || !strings.Contains(text, `"replaced":true`) {
		t.Fatal(text, err)
	}
	if v := p.request(t, "GET", demoNew, "/api/count", ""); !strings.Contains(v.body, `"n":3,`) ||
		!strings.Contains(v.body, `"secret":"changed"`) {
		t.Errorf("another secret: %s", v.body)
	}
	if code := p.end(t, os.Interrupt); code != 0 {
		t.Errorf("exit code %d\n%s", code, p.stderr)
	}
	for _, canary := range []string{"canary-TOKEN", "canary-OTHER"} {
		if found := grep(t, data, canary); found != "" || strings.Contains(p.stderr.String(), canary) {
			t.Errorf("%s is in %q, or in the log", canary, found)
		}
	}
	p = startPlatform(t, data)
	if v := p.request(t, "GET", demoNew, "/api/count", ""); !strings.Contains(v.body, `"n":4,`) ||
		!strings.Contains(v.body, `"secret":"changed"`) {
		t.Errorf("after a restart: %d %s\n%s", v.status, v.body, p.stderr)
	}
	if v := p.request(t, "GET", demoNew, "/club/x", "", "Cookie", cookie); v.status != 200 {
		t.Errorf("a member after a restart: %d", v.status)
	}
}

var mailed = regexp.MustCompile(`http://\S+[?&]token=([\w-]+)`)

// TestPublishedFlags: the compatibility flags of a JSON runtime config among the files count as in a local build, for uploads of any
// client.
func TestPublishedFlags(t *testing.T) {
	p := startPlatform(t, t.TempDir())
	site := p.Demo["unpublished_site_id"]
	const plain, flagged = `{"entry":"w/worker.js","routes":[{"pattern":"/*"}]}`, `{"entry":"w/worker.js","routes":[{"pattern":"/*"}],` +
		`"runtime":{"compatibilityFlags":["nodejs_compat"]}}`
	files := func(config string) map[string]string {
		return map[string]string{
			"w/worker.js": `import { createHash } from "node:crypto"; export default { fetch: () => new ` +
				`Response(createHash("md5").update("a").digest("hex")) };`,
			"wrangler.jsonc": config,
		}
	}
	for _, c := range []struct{ manifest, config, refused string }{
		{plain, `{}`, "node:crypto"},
		{flagged, `{"compatibility_flags": []}`, ""},
		{plain, "{\n  // a comment\n  \"compatibility_flags\": [\"nodejs_compat\"],\n}", ""},
	} {
		revision, err := p.upload(site, c.manifest, files(c.config))
		if err != nil {
			t.Fatal(err)
		}
		o, err := p.goLive("page.publish", site, revision, false)
		if err != nil || (o.Code == "worker_failed") != (c.refused != "") || !strings.Contains(o.Message, c.refused) {
			t.Errorf("%s, %s: %+v %v", c.manifest, c.config, o, err)
		}
		if c.refused == "" {
			if v := p.request(t, "GET", demoNew, "/", ""); v.body != "0cc175b9c0f1b6a831c399e269772661" {
				t.Errorf("%s, %s: %d %s", c.manifest, c.config, v.status, v.body)
			}
		}
	}
}

// signIn asks for a link, finds it in the outbox and follows it.
func (p *platformRun) signIn(t *testing.T, host, email string) (cookie string) {
	t.Helper()
	form := []string{"Content-Type", "application/x-www-form-urlencoded", "Accept", "text/html"}
	known := p.request(t, "POST", host, "/__pages/sign-in", "email="+email, form...)
	unknown := p.request(t, "POST", host, "/__pages/sign-in", "email=no@body.test", form...)
	if known.status != 200 || strings.ReplaceAll(known.body, email, "") != strings.ReplaceAll(unknown.body, "no@body.test", "") {
		t.Fatalf("%d %s and %d %s", known.status, known.body, unknown.status, unknown.body)
	}
	found := mailed.FindAllStringSubmatch(p.mailTo(t, email), -1)
	if len(found) != 1 {
		t.Fatalf("mail %q\n%s", found, p.stderr)
	}
	if log := p.stderr.String(); strings.Contains(log, found[0][1]) || strings.Contains(log, email) ||
		!strings.Contains(log, "mail to a…@acme.test is in the outbox") {
		t.Errorf("the log holds the link or the address, or does not say that there is a mail:\n%s", log)
	}
	v := p.request(t, "POST", host, "/__pages/sign-in", "token="+found[0][1], form...)
	if v.status != http.StatusSeeOther {
		t.Fatalf("the link: %d %s", v.status, v.body)
	}
	cookie, _, _ = strings.Cut(v.header.Get("Set-Cookie"), ";")
	return cookie
}

// mailTo is the newest mail to an address, as the command shows it.
func (p *platformRun) mailTo(t *testing.T, email string) string {
	t.Helper()
	text, err := exec.Command(program(t), "platform", "mail", email, "--data", p.data).Output()
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// grep is the first file below dir that has a text in it.
func grep(t *testing.T, dir, text string) (found string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		contents, err := os.ReadFile(path)
		if bytes.Contains(contents, []byte(text)) {
			found = path
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// TestSwitchUnderLoad: every visitor gets one revision or the other.
func TestSwitchUnderLoad(t *testing.T) {
	p := startPlatform(t, t.TempDir())
	site := p.Demo["unpublished_site_id"]
	page := func(name string) string { return strings.Repeat(name, 20_000) }
	worker := func(name string) string {
		return `export default { fetch() { return new Response("` + name + `".repeat(20000)) } }`
	}
	const manifest = `{"entry":"w.js","assets":"public","routes":[{"pattern":"/api"}]}`
	files := func(name string) map[string]string {
		return map[string]string{"w.js": worker(name), "public/page.txt": page(name)}
	}
	a := p.ship(t, site, manifest, files("A"))
	b := p.ship(t, site, manifest, files("B"))
	stop := make(chan struct{})
	var visitors sync.WaitGroup
	for n := range 3 {
		visitors.Go(func() {
			path := []string{"/page.txt", "/api", "/page.txt"}[n]
			for seen := 0; ; seen++ {
				select {
				case <-stop:
					if seen < 20 {
						t.Errorf("only %d visits", seen)
					}
					return
				default:
				}
				v, err := p.tryRequest("GET", demoNew, path, "")
				if err != nil || v.status != 200 || v.body != page("A") && v.body != page("B") {
					t.Errorf("%s: %d %.20s (%d bytes) %v", path, v.status, v.body, len(v.body), err)
					return
				}
			}
		})
	}
	for i := range 30 {
		revision, want := a, "A"
		if i%2 == 1 {
			revision, want = b, "B"
		}
		if o, err := p.goLive("page.publish", site, revision, false); err != nil || !o.OK {
			t.Fatalf("%+v %v", o, err)
		}
		for _, path := range []string{"/page.txt", "/api"} {
			if v := p.request(t, "GET", demoNew, path, ""); v.body != page(want) {
				t.Errorf("%d: %s is %.10s after %s went live", i, path, v.body, want)
			}
		}
	}
	close(stop)
	visitors.Wait()
}

func TestRollBack(t *testing.T) {
	p := startPlatform(t, t.TempDir())
	site := p.Demo["unpublished_site_id"]
	first := p.ship(t, site, hostedManifest, hostedFiles(nil))
	p.request(t, "GET", demoNew, "/api/count", "")
	same := p.ship(t, site, hostedManifest, hostedFiles(map[string]string{"public/index.html": "<h1>second</h1>"}))
	if o, err := p.goLive("page.rollback", site, first, false); err != nil || !o.OK {
		t.Fatalf("%+v %v", o, err)
	}
	if v := p.request(t, "GET", demoNew, "/", ""); v.body != "<h1>first</h1>" {
		t.Errorf("rolled back: %s", v.body)
	}
	if v := p.request(t, "GET", demoNew, "/api/count", ""); !strings.Contains(v.body, `"n":2,`) {
		t.Errorf("the database was rolled back: %s", v.body)
	}
	p.ship(t, site, hostedManifest, hostedFiles(map[string]string{"migrations/0002.sql": "ALTER TABLE visits ADD COLUMN by TEXT;"}))
	if o, err := p.goLive("page.rollback", site, same, false); err != nil || o.Code != toolapi.CodeSchemaAhead ||
		!strings.Contains(o.Message, "0002.sql") {
		t.Errorf("behind the database: %+v %v", o, err)
	}
	if o, err := p.goLive("page.rollback", site, same, true); err != nil || !o.OK {
		t.Errorf("forced: %+v %v", o, err)
	}
	broken, err := p.upload(site, hostedManifest, hostedFiles(map[string]string{
		"migrations/0002.sql": "ALTER TABLE visits ADD COLUMN by TEXT;",
		"migrations/0003.sql": "CREATE TABLE good (x);", "migrations/0004.sql": "CREATE TABLE bad (x); INSERT INTO nowhere VALUES (1);",
	}))
	if err != nil {
		t.Fatal(err)
	}
	if o, err := p.goLive("page.publish", site, broken, false); err != nil || o.Code != toolapi.CodeMigrationFailed ||
		!strings.Contains(o.Message, "0004.sql") {
		t.Errorf("a broken migration: %+v %v", o, err)
	}
	if v := p.request(t, "GET", demoNew, "/", ""); v.body != "<h1>second</h1>" {
		t.Errorf("the live page: %s", v.body)
	}
	code, err := p.upload(
		site, hostedManifest,
		hostedFiles(map[string]string{
			"w/worker.js":         "throw new Error('not today')",
			"migrations/0002.sql": "ALTER TABLE visits ADD COLUMN by TEXT;",
			"migrations/0003.sql": "CREATE TABLE good (x);",
		}),
	)
	if err != nil {
		t.Fatal(err)
	}
	if o, err := p.goLive("page.publish", site, code, false); err != nil || o.Code != toolapi.CodeWorkerFailed ||
		!strings.Contains(o.Message, "not today") {
		t.Errorf("a broken Worker: %+v %v", o, err)
	}
	if v := p.request(t, "GET", demoNew, "/api/count", ""); !strings.Contains(v.body, `"n":3,`) {
		t.Errorf("the live page: %s", v.body)
	}
}

// TestEmptiedDatabase: a site whose database file is lost is not shown with a new database.
func TestEmptiedDatabase(t *testing.T) {
	data := t.TempDir()
	p := startPlatform(t, data)
	site := p.Demo["unpublished_site_id"]
	p.ship(t, site, hostedManifest, hostedFiles(nil))
	p.request(t, "GET", demoNew, "/api/count", "")
	p.end(t, os.Interrupt)
	if err := os.Truncate(filepath.Join(data, "sites", site, statefolder.SiteFile), 0); err != nil {
		t.Fatal(err)
	}
	p = startPlatform(t, data)
	if v := p.request(t, "GET", demoNew, "/api/count", ""); v.status != http.StatusServiceUnavailable {
		t.Errorf("%d %s", v.status, v.body)
	}
	next, err := p.upload(site, hostedManifest, hostedFiles(map[string]string{"public/index.html": "<h1>second</h1>"}))
	if err != nil {
		t.Fatal(err)
	}
	if o, err := p.goLive("page.publish", site, next, false); err != nil || o.Code != toolapi.CodeMigrationFailed ||
		!strings.Contains(o.Message, "lacks the migration") {
		t.Errorf("published over it: %+v %v", o, err)
	}
}

func TestPreviewLink(t *testing.T) {
	data := t.TempDir()
	p := startPlatform(t, data)
	site := p.Demo["unpublished_site_id"]
	p.ship(t, site, hostedManifest, hostedFiles(nil))
	p.request(t, "GET", demoNew, "/api/count", "")
	next, err := p.upload(
		site, hostedManifest,
		hostedFiles(map[string]string{"public/index.html": "<h1>next</h1>", "migrations/0002.sql": "DELETE FROM visits;"}),
	)
	if err != nil {
		t.Fatal(err)
	}
	var link toolapi.PreviewLink
	if status, err := p.rest(
		"POST", toolapi.PreviewLinksPath, []byte(`{"site_id":"`+site+`","revision":"`+next+`"}`), &link,
	); err != nil || status != http.StatusCreated {
		t.Fatal(status, err)
	}
	u, err := url.Parse(link.URL)
	if err != nil {
		t.Fatal(err)
	}
	host, token := u.Hostname(), strings.TrimPrefix(u.Path, "/__preview/")
	first := p.request(t, "GET", host, u.Path, "")
	cookie := first.header.Get("Set-Cookie")
	if first.status != http.StatusSeeOther || first.header.Get("Location") != "/" || !strings.Contains(cookie, "HttpOnly") ||
		strings.Contains(cookie, "Domain") {
		t.Errorf("the first visit: %d %v", first.status, first.header)
	}
	cookie, _, _ = strings.Cut(cookie, ";")
	v := p.request(t, "GET", host, "/", "", "Cookie", cookie)
	for name, want := range map[string]string{
		"Referrer-Policy": "no-referrer", "X-Robots-Tag": "noindex", "Cache-Control": "private, no-store",
	} {
		if v.header.Get(name) != want || first.header.Get(name) != want {
			t.Errorf("%s is %q", name, v.header.Get(name))
		}
	}
	if v.body != "<h1>next</h1>" {
		t.Errorf("the preview: %d %s", v.status, v.body)
	}
	if v := p.request(t, "GET", host, "/api/count", "", "Cookie", cookie); !strings.Contains(v.body, `"n":1,`) {
		t.Errorf("the preview's own database: %s", v.body)
	}
	if v := p.request(t, "GET", demoNew, "/api/count", ""); !strings.Contains(v.body, `"n":2,`) {
		t.Errorf("the live database: %s", v.body)
	}
	if v := p.request(
		t, "GET", host, "/club/secret.txt", "", "Cookie", cookie, "Accept", "text/html",
	); v.status != http.StatusSeeOther || !strings.HasPrefix(v.header.Get("Location"), "/__pages/sign-in") {
		t.Errorf("a members page: %d %v", v.status, v.header)
	}
	lead := p.request(
		t, "POST", host, "/__pages/forms", "form=contact&email=a@b.test", "Content-Type",
		"application/x-www-form-urlencoded", "Accept", "application/json", "Cookie", cookie,
	)
	if lead.status != http.StatusCreated || !strings.Contains(lead.body, `"preview":true`) || !strings.Contains(lead.body, `"events":[]`) {
		t.Errorf("a form: %d %s", lead.status, lead.body)
	}
	if status, err := p.rest("DELETE", toolapi.PreviewLinkPath(link.ID), nil, nil); err != nil || status != http.StatusNoContent {
		t.Error(status, err)
	}
	if left, err := filepath.Glob(filepath.Join(data, "sites", site, "previews", "*")); err != nil || len(left) != 0 {
		t.Errorf("the preview left %q, %v", left, err)
	}
	revoked, unknown := p.request(t, "GET", host, u.Path, ""), p.request(t, "GET", "nobody.preview.localhost", "/__preview/x", "")
	again := p.request(t, "GET", host, "/", "", "Cookie", cookie)
	if revoked.status != http.StatusNotFound || revoked.body != unknown.body || again.body != unknown.body ||
		again.status != unknown.status {
		t.Errorf("revoked: %d %s; unknown: %d %s; the cookie: %d", revoked.status, revoked.body, unknown.status, unknown.body, again.status)
	}
	if found := grep(t, data, token); found != "" || strings.Contains(p.stderr.String(), token) {
		t.Errorf("the token is in %q, or in the log", found)
	}
}
