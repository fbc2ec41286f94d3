package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"image/jpeg"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const key = "Authorization: Bearer example-key-not-a-secret"

// TestRiverside uses the example site, one part of the platform after the other, through the built binary, in each engine.
func TestRiverside(t *testing.T) {
	for _, engine := range engines {
		t.Run(engine, func(t *testing.T) {
			withEngine(t, engine)
			testRiverside(t)
		})
	}
}

func testRiverside(t *testing.T) {
	t.Helper()
	d := startDev(t, copyExample(t, "riverside"))
	for name, part := range map[string]func(*testing.T, *devServer){
		"static files": testStatic, "one path value": testPaths, "members": testMembers, "worker": testWorker,
		"storage": testStorage, "images": testImages, "declared form": testDeclaredForm, "undeclared form": testUndeclaredForm,
		"checkup": testCheckup, "error page": testErrorPage,
	} {
		t.Run(name, func(t *testing.T) {
			sub := *d
			sub.t = t
			part(t, &sub)
		})
	}
	if code := d.stop(); code != 0 {
		t.Errorf("Ctrl-C ends with %d", code)
	}
	var inbox struct{ Leads []lead }
	runJSON(t, &inbox, "leads", "list", d.dir, "--json")
	if len(inbox.Leads) < 2 {
		t.Errorf("leads are gone once the server has stopped: %+v", inbox)
	}
}

func testStatic(t *testing.T, d *devServer) {
	home := d.get("/")
	d.expect(home, 200, "<!doctype html>")
	tag := home.Header.Get("Etag")
	if tag == "" || strings.HasPrefix(tag, "W/") {
		t.Errorf("no strong ETag: %q", tag)
	}
	d.expect(d.get("/", "If-None-Match: "+tag), 304, "")
	d.expect(d.get("/", "If-None-Match: W/"+tag), 304, "")
	if a := d.get("/robots.txt", "Range: bytes=0-3"); a.StatusCode != 206 || len(a.body) != 4 ||
		!strings.HasPrefix(a.Header.Get("Content-Range"), "bytes 0-3/") {
		t.Errorf("Range: %d %q %v", a.StatusCode, a.body, a.Header)
	}
	d.expect(d.get("/robots.txt", "Range: bytes=100000-"), 416, "")
	if a := d.do("HEAD", "/css/site.css", ""); a.StatusCode != 200 || a.body != "" || a.ContentLength <= 0 {
		t.Errorf("HEAD: %d, length %d", a.StatusCode, a.ContentLength)
	}
	d.expect(d.get("/about"), 200, "</html>")
	if a := d.get("/about.html"); a.StatusCode != 307 || a.Header.Get("Location") != "/about" {
		t.Errorf("/about.html: %d to %q", a.StatusCode, a.Header.Get("Location"))
	}
	missing, err := os.ReadFile(filepath.Join(d.dir, "public", "404.html"))
	if err != nil {
		t.Fatal(err)
	}
	if a := d.get("/no/such/page"); a.StatusCode != 404 || a.body != string(missing) {
		t.Errorf("404 page: %d %.80q", a.StatusCode, a.body)
	}
	if a := d.do("POST", "/about", ""); a.StatusCode != 405 || a.Header.Get("Allow") == "" {
		t.Errorf("POST to a file: %d, Allow %q", a.StatusCode, a.Header.Get("Allow"))
	}
	for _, secret := range []string{"/.dev.vars", "/pages.deploy.json", "/migrations/0001_crews_and_outings.sql", "/src/worker.ts"} {
		if a := d.get(secret); a.StatusCode != 404 {
			t.Errorf("%s: %d", secret, a.StatusCode)
		}
	}
}

func testPaths(t *testing.T, d *devServer) {
	for path, want := range map[string]int{
		"//minutes/": 401, "/x/../minutes/": 401, "/%2e%2e/minutes/": 401, "/minutes%2findex.html": 401, "//x/minutes/": 401,
		"/x%2F..%252fminutes": 401, "/x/..%2f__pages/": 404, "/min\\utes/": 400, "/%": 400, "/a%00": 400,
	} {
		if a := rawGet(t, d.URL, path, ""); a != want {
			t.Errorf("%s: %d, want %d", path, a, want)
		}
	}
	if got := rawGet(t, d.URL, "/", "evil.example"); got != 421 && got != 403 {
		t.Errorf("a foreign Host: %d", got)
	}
}

func testMembers(t *testing.T, d *devServer) {
	for _, path := range []string{
		"/minutes/", "/minutes", "/minutes/2026-09", "/minutes/2026-06.txt", "/minutes/none", "/club", "/club/",
		"/club/signups.csv", "/MINUTES/",
	} {
		a := d.get(path)
		if a.StatusCode != 401 || strings.Contains(a.body, "Treasurer") {
			t.Errorf("%s signed out: %d %.100q", path, a.StatusCode, a.body)
		}
		a = d.get(path, "Accept: text/html", "Sec-Fetch-Mode: navigate")
		if a.StatusCode != 303 || !strings.HasPrefix(a.Header.Get("Location"), "/__pages/sign-in?next=") {
			t.Errorf("%s navigated to signed out: %d to %q", path, a.StatusCode, a.Header.Get("Location"))
		}
	}
	member, outsider := d.signIn("member"), d.signIn("outsider")
	d.expect(d.with(member, "GET", "/minutes/", ""), 200, "<html")
	d.expect(d.with(member, "GET", "/minutes/2026-06.txt", ""), 200, "")
	d.expect(d.with(member, "GET", "/minutes/2026-06.txt", "", "Range: bytes=0-9"), 206, "")
	club := d.with(member, "GET", "/club", "", "X-Pages-Member-Name: Mallory")
	d.expect(club, 200, "<html")
	if strings.Contains(club.body, "Mallory") {
		t.Error("a member header of the client's got through")
	}
	if a := d.with(member, "GET", "/club/signups.csv", ""); a.StatusCode != 200 ||
		!strings.HasPrefix(a.Header.Get("Content-Type"), "text/csv") {
		t.Errorf("csv: %d %v", a.StatusCode, a.Header)
	}
	note := url.Values{"body": {"Meet at six <b>sharp</b>"}}.Encode()
	a := d.with(member, "POST", "/club/notes", note, "Content-Type: application/x-www-form-urlencoded", "Origin: "+d.URL)
	if a.StatusCode != 303 {
		t.Errorf("add a note: %d %.300s", a.StatusCode, a.body)
	}
	d.expect(d.with(member, "GET", "/club", ""), 200, "Meet at six &lt;b&gt;sharp&lt;/b&gt;")
	d.expect(d.with(outsider, "GET", "/minutes/", ""), 403, "")
	d.expect(d.with(outsider, "GET", "/club", ""), 403, "")
	d.with(member, "POST", "/__pages/sign-out", "", "Origin: "+d.URL)
	d.expect(d.with(member, "GET", "/minutes/", ""), 401, "")
}

func testWorker(t *testing.T, d *devServer) {
	health := d.get("/api/health")
	d.expect(health, 200, `{"ok":true,"club":"Riverside Rowing Club"}`)
	if timing := health.Header.Get("Server-Timing"); !strings.Contains(timing, "of 5000 ms") || !strings.Contains(timing, "0 of 12") {
		t.Errorf("the meter: %q", timing)
	}
	d.expect(d.get("/api/next-outing"), 200, `"outing":{`)
	d.expect(d.get("/api/calendar.ics"), 200, "BEGIN:VCALENDAR")
	d.expect(d.get("/outings"), 200, "<html")
	d.expect(d.get("/api/none"), 404, "")
	body := `{"name":"Bo Berg","email":"bo@example.org"}`
	d.expect(d.do("POST", "/api/outings/sunday-tour/signups", body, "Content-Type: application/json"), 201, `"code":"signed-up"`)
	d.expect(d.do("POST", "/api/outings/sunday-tour/signups", body, "Content-Type: application/json"), 409, "")
	d.expect(d.do("POST", "/api/outings/sunday-tour/signups", `{"name":""}`, "Content-Type: application/json"), 400, "issues")
	d.eventually("waitUntil counts the sign-up", func() bool {
		a := d.get("/api/stats")
		return a.StatusCode == 200 && strings.Contains(a.body, `":1`) && strings.Contains(a.body, "riverside")
	})
	d.expect(d.get("/api/river"), 200, `"flag":"green"`)
	d.expect(d.do("PUT", "/api/river", `{"flag":"amber","note":"Eights only"}`), 401, "")
	d.expect(d.do("PUT", "/api/river", `{"flag":"amber","note":"Eights only"}`, key), 200, `"flag":"amber"`)
	d.expect(d.get("/api/river"), 200, `"flag":"amber"`)
	d.expect(d.do("DELETE", "/api/river", "", key), 204, "")
}

func testStorage(t *testing.T, d *devServer) {
	d.expect(d.do("PUT", "/api/archive/head.csv", "lane,crew\n1,Heron\n", key, "Content-Type: text/csv"), 201, `"size":18`)
	whole := d.get("/api/archive/head.csv", key)
	d.expect(whole, 200, "lane,crew\n1,Heron\n")
	if whole.Header.Get("Content-Type") != "text/csv" {
		t.Errorf("content type %q", whole.Header.Get("Content-Type"))
	}
	if a := d.get("/api/archive/head.csv", key, "Range: bytes=5-8"); a.StatusCode != 206 || a.body != "crew" {
		t.Errorf("range: %d %q", a.StatusCode, a.body)
	}
	d.expect(d.get("/api/archive/head.csv", key, "If-None-Match: "+whole.Header.Get("Etag")), 304, "")
	d.expect(d.get("/api/archive", key), 200, `"head.csv"`)
	d.expect(d.do("DELETE", "/api/archive/head.csv", "", key), 204, "")
	d.expect(d.get("/api/archive/head.csv", key), 404, "")
}

func testImages(t *testing.T, d *devServer) {
	for _, width := range []int{160, 320} {
		a := d.get(fmt.Sprintf("/api/boats/heron/photo?width=%d", width))
		config, err := jpeg.DecodeConfig(strings.NewReader(a.body))
		if a.StatusCode != 200 || err != nil || config.Width != width {
			t.Errorf("width %d: %d, %+v, %v", width, a.StatusCode, config, err)
		}
	}
	photo, err := os.ReadFile(filepath.Join(d.dir, "public", "img", "boats", "grebe.jpg"))
	if err != nil {
		t.Fatal(err)
	}
	d.expect(d.do("PUT", "/api/boats/wren/photo", string(photo), key), 201, `"format":"image/jpeg"`)
	d.expect(d.do("PUT", "/api/boats/wren/photo", "no picture", key), 415, "")
	d.expect(d.get("/api/boats/wren/photo?width=160"), 200, "")
	d.expect(d.do("DELETE", "/api/boats/wren/photo", "", key), 204, "")
}

// lead is the contract of /__pages/api/leads.
type lead struct {
	ID         string          `json:"id"`
	Form       string          `json:"form"`
	Fields     json.RawMessage `json:"fields"`
	CreatedAt  string          `json:"created_at"`
	Preview    *bool           `json:"preview"`
	Submission struct {
		Table, Status, Error string
	} `json:"submission"`
	Events []string `json:"events"`
}

func (d *devServer) leads(form string) (list []lead) {
	d.t.Helper()
	var doc struct{ Leads []lead }
	a := d.get("/__pages/api/leads")
	if err := json.Unmarshal([]byte(a.body), &doc); err != nil || doc.Leads == nil {
		d.t.Fatalf("leads: %v\n%s", err, a.body)
	}
	for _, l := range doc.Leads {
		if l.Form == form {
			list = append(list, l)
		}
	}
	return list
}

func testDeclaredForm(t *testing.T, d *devServer) {
	form := url.Values{
		"form": {"membership"}, "_next": {"/thanks"}, "name": {"Ada"}, "email": {"ada@example.org"},
		"message": {"Hello"}, "when": {"tue", "sun"},
	}
	a := d.do("POST", "/__pages/forms", form.Encode(), "Content-Type: application/x-www-form-urlencoded", "Accept: text/html")
	if a.StatusCode != http.StatusSeeOther || a.Header.Get("Location") != "/thanks" {
		t.Errorf("a browser: %d to %q %s", a.StatusCode, a.Header.Get("Location"), a.body)
	}
	for _, evil := range []string{"//evil.example", "https://evil.example", "/\\evil"} {
		form.Set("_next", evil)
		a := d.do("POST", "/__pages/forms", form.Encode(), "Content-Type: application/x-www-form-urlencoded", "Accept: text/html")
		if to := a.Header.Get("Location"); strings.Contains(to, "evil") {
			t.Errorf("_next=%s leads to %q", evil, to)
		}
	}
	list := d.leads("membership")
	if len(list) < 1 {
		t.Fatal("no lead")
	}
	l := list[len(list)-1]
	if l.ID == "" || l.CreatedAt == "" || l.Preview == nil || *l.Preview {
		t.Errorf("%+v", l)
	}
	if got := strings.Join(l.Events, " "); got != "pages.lead.captured custom.membership_requested" {
		t.Errorf("events %q", got)
	}
	if l.Submission.Table != "enquiries" || l.Submission.Error != "" || l.Submission.Status == "pending" {
		t.Errorf("submission %+v", l.Submission)
	}
	if !bytes.Contains(l.Fields, []byte(`"name":"Ada"`)) || bytes.Contains(l.Fields, []byte("_next")) {
		t.Errorf("fields %s", l.Fields)
	}
}

func testUndeclaredForm(t *testing.T, d *devServer) {
	a := d.do(
		"POST", "/__pages/forms/feedback", `{"name":"Bo","email":"bo@example.org","message":"Hi"}`,
		"Content-Type: application/json", "Accept: application/json",
	)
	d.expect(a, 201, `"ok":true`)
	list := d.leads("feedback")
	if len(list) != 1 || strings.Join(list[0].Events, " ") != "pages.lead.captured" {
		t.Errorf("%+v", list)
	}
	var events struct {
		Events []struct{ ID, Name string }
	}
	runJSON(t, &events, "events", "list", d.dir, "--form", "feedback", "--json")
	if len(events.Events) != 1 || events.Events[0].Name != "pages.lead.captured" || events.Events[0].ID == "" {
		t.Errorf("%+v", events)
	}
	for name, bad := range map[string][2]string{
		"text":      {"text/plain", "form=contact"},
		"json":      {"application/json", "{"},
		"bad name":  {"application/x-www-form-urlencoded", "form=No+Such"},
		"multipart": {"multipart/form-data", "x"},
	} {
		if a := d.do("POST", "/__pages/forms", bad[1], "Content-Type: "+bad[0]); a.StatusCode < 400 || a.StatusCode > 499 {
			t.Errorf("%s: %d", name, a.StatusCode)
		}
	}
}

// testCheckup: the Worker fetches its own pages, and gets them as a stranger.
func testCheckup(_ *testing.T, d *devServer) {
	d.expect(d.get("/api/checkup", key), 200, `"ok":true`)
}

func testErrorPage(t *testing.T, d *devServer) {
	page := d.get("/api/boom", "Accept: text/html", "Sec-Fetch-Mode: navigate", "Sec-Fetch-Dest: document")
	d.expect(page, 500, "src/api/boom.ts:11")
	if timing := page.Header.Get("Server-Timing"); !strings.Contains(timing, "of 5000 ms") {
		t.Errorf("no meter of a request that failed: %q", timing)
	}
	var doc struct {
		Error struct{ Message string }
	}
	plain := d.get("/api/boom", "Accept: application/json")
	if err := json.Unmarshal([]byte(plain.body), &doc); err != nil || plain.StatusCode != 500 {
		t.Errorf("JSON: %d %v\n%s", plain.StatusCode, err, plain.body)
	}
}
