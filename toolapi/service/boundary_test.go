package service_test

import (
	"bytes"
	"fmt"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/pages-toolchain/pages/toolapi"
	"github.com/pages-toolchain/pages/toolapi/service"
)

const brand = "brand_profile.status"

func TestUnauthorizedIsOneAnswer(t *testing.T) {
	w := newFixture(t)
	expired, err := w.service.CreateKey(t.Context(), service.NewKey{Holder: "ana@acme.test", Life: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	if a := w.request("POST", toolapi.ToolsPath+brand, expired, ""); a.status != 200 {
		t.Fatalf("a fresh key: %d %s", a.status, a.body)
	}
	w.pass(time.Minute)
	for name, header := range map[string][]string{
		"absent": nil, "empty": {"Authorization", ""}, "scheme": {"Authorization", "Basic " + w.demo.Keys["member"]},
		"unknown": {"Authorization", "Bearer pgk_nobody"}, "revoked": {"Authorization", "Bearer " + w.demo.Keys["revoked"]},
		"expired":  {"Authorization", "Bearer " + expired},
		"two":      {"Authorization", "Bearer " + w.demo.Keys["member"], "Authorization", "Bearer " + w.demo.Keys["member"]},
		"trailing": {"Authorization", "Bearer " + w.demo.Keys["member"] + " x"},
	} {
		t.Run(name, func(t *testing.T) {
			w := w.in(t)
			for _, tool := range []string{brand, "no.such.tool"} {
				a := w.request("POST", toolapi.ToolsPath+tool, "", "{broken", append(header, "x-request-id", "same")...)
				want := w.request("POST", toolapi.ToolsPath+brand, "", "", "x-request-id", "same")
				if a.status != 401 || !bytes.Equal(a.body, want.body) || a.code() != toolapi.CodeUnauthorized ||
					a.header.Get("WWW-Authenticate") != "Bearer" {
					t.Errorf("%s %s: %d %s", name, tool, a.status, a.body)
				}
				a.header.Del("Date")
				want.header.Del("Date")
				if len(a.header) != len(want.header) {
					t.Errorf("%s %s: headers differ: %v", name, tool, a.header)
				}
			}
		})
	}
}

func TestForbidden(t *testing.T) {
	w := newFixture(t)
	expect := func(key, code string) {
		t.Helper()
		if a := w.call(key, brand, ""); a.status != 403 || a.code() != code {
			t.Errorf("want %s: %d %s", code, a.status, a.body)
		}
	}
	expect("no_access", toolapi.CodeAccessMissing)
	w.sql("UPDATE accounts SET api_enabled = 0")
	expect("member", toolapi.CodeAccountDisabled)
	w.sql("INSERT INTO settings (name, value) VALUES ('api_disabled', 1)")
	expect("member", toolapi.CodeSurfaceDisabled)
	w.sql("DELETE FROM settings WHERE name = 'api_disabled'")
	w.sql("UPDATE accounts SET api_enabled = 1")
	w.ok("member", brand, "")
}

// TestNotFound: every path without a tool gets the same bytes.
func TestNotFound(t *testing.T) {
	w := newFixture(t)
	var first []byte
	for _, name := range []string{
		"x", "content.Status", "../x", "%2e", "..", "content.status/", "content%2estatus", strings.Repeat("a", 10<<10),
		"brand_profile.status%00", "",
	} {
		t.Run(fmt.Sprintf("%.20q", name), func(t *testing.T) {
			w := w.in(t)
			r, err := http.NewRequestWithContext(t.Context(), "POST", w.server.URL+"/", strings.NewReader("{}"))
			if err != nil {
				t.Fatal(err)
			}
			r.URL.Opaque = toolapi.ToolsPath + name
			r.Header.Set("Authorization", "Bearer "+w.demo.Keys["member"])
			a := w.send(r)
			if first == nil {
				first = a.body
			}
			if a.status != 404 || !bytes.Equal(a.body, first) || a.header.Get("RateLimit-Limit") == "" {
				t.Errorf("%.40s: %d %s", name, a.status, a.body)
			}
		})
	}
}

// TestHosts: a page of the web cannot come in under its own name.
func TestHosts(t *testing.T) {
	w := newFixture(t)
	_, port, _ := strings.Cut(strings.TrimPrefix(w.server.URL, "http://"), ":")
	for host, status := range map[string]int{
		"localhost:" + port: 200, "LOCALHOST": 200, "localhost.": 200, "127.0.0.1": 200, "[::1]": 200,
		"[::1]:" + port: 200, "demo-home.localhost:" + port: 200,
		"evil.test": 403, "evil.test:" + port: 403, "localhost..": 403, "127.0.0.1.evil.test": 403,
		"localhost.evil.test": 403, "evillocalhost": 403, "127.0.0.2": 403, ":" + port: 403,
	} {
		t.Run(host, func(t *testing.T) {
			w := w.in(t)
			r, err := http.NewRequestWithContext(t.Context(), "POST", w.server.URL+toolapi.ToolsPath+brand, http.NoBody)
			if err != nil {
				t.Fatal(err)
			}
			r.Host = host
			r.Header.Set("Authorization", "Bearer "+w.demo.Keys["member"])
			if a := w.send(r); a.status != status || status == 403 && a.code() != toolapi.CodeHostRefused {
				t.Errorf("%s: %d %s", host, a.status, a.body)
			}
		})
	}
}

func TestMethods(t *testing.T) {
	w := newFixture(t)
	for _, method := range []string{"GET", "PUT", "DELETE", "HEAD", "OPTIONS", "PATCH", "post"} {
		t.Run(method, func(t *testing.T) {
			w := w.in(t)
			a := w.request(method, toolapi.ToolsPath+brand, w.demo.Keys["member"], "")
			if a.status != 405 || a.header.Get("Allow") != "POST" {
				t.Errorf("%s: %d %v", method, a.status, a.header)
			}
		})
	}
}

func TestContentTypes(t *testing.T) {
	w := newFixture(t)
	for kind, status := range map[string]int{
		"application/json": 200, "application/json; charset=utf-8": 200, "Application/JSON;charset=UTF-8": 200,
		"application/json; charset=utf-16": 400, "text/plain": 400, "application/x-www-form-urlencoded": 400, "": 400, ";": 400,
	} {
		t.Run(kind, func(t *testing.T) {
			w := w.in(t)
			r, err := http.NewRequestWithContext(t.Context(), "POST", w.server.URL+toolapi.ToolsPath+brand, strings.NewReader("{}"))
			if err != nil {
				t.Fatal(err)
			}
			r.Header = http.Header{"Authorization": {"Bearer " + w.demo.Keys["member"]}, "Content-Type": {kind}}
			if a := w.send(r); a.status != status || status == 400 && a.code() != toolapi.CodeMalformedBody {
				t.Errorf("%q: %d %s", kind, a.status, a.body)
			}
			r, err = http.NewRequestWithContext(t.Context(), "POST", w.server.URL+toolapi.ToolsPath+brand, strings.NewReader("{}"))
			if err != nil {
				t.Fatal(err)
			}
			r.Header = http.Header{"Authorization": {"Bearer " + w.demo.Keys["member"]}}
			if a := w.send(r); a.status != 200 {
				t.Errorf("none: %d %s", a.status, a.body)
			}
		})
	}
}

func TestBodies(t *testing.T) {
	w := newFixture(t)
	for _, body := range []string{"", " ", "{}"} {
		w.ok("member", brand, body)
	}
	before := w.snapshot()
	for _, body := range []string{
		"null", "[]", `"x"`, "1", `{"board_id":`, "{} {}", "\ufeff{}", "{} x",
		strings.Repeat(`{"a":`, 10_000) + "1" + strings.Repeat("}", 10_000),
		`{"board_id":"a","board_id":"b"}`, `{"board_id":"\ud800"}`,
	} {
		t.Run(fmt.Sprintf("%.20q", body), func(t *testing.T) {
			w := w.in(t)
			a := w.refused(toolapi.CodeMalformedBody, "member", "automations.undo_draft", body, "Idempotency-Key", "k")
			if a.status != 400 {
				t.Errorf("%.40s: %d", body, a.status)
			}
		})
	}
	long := `{"workspace":"` + strings.Repeat("a", toolapi.MaxBody) + `"}`
	if a := w.refused(toolapi.CodeBodyTooLarge, "member", brand, long); a.status != 413 {
		t.Errorf("too long: %d", a.status)
	}
	if w.snapshot() != before {
		t.Error("something ran")
	}
}

// TestRequestIDs: echoed or replaced, and the same in the audit row.
func TestRequestIDs(t *testing.T) {
	w := newFixture(t)
	generated := regexp.MustCompile(`^[0-9a-f-]{36}$`)
	for id, kept := range map[string]bool{
		"a": true, strings.Repeat("z", 128): true, strings.Repeat("z", 129): false, "-a": false, "a b": false,
		"é": false,
	} {
		t.Run(fmt.Sprintf("%.20q", id), func(t *testing.T) {
			w := w.in(t)
			a := w.call("member", "page.unschedule", js("site_id", w.demo.IDs["site_id"]), "x-request-id", id)
			got := a.header.Get("x-request-id")
			if kept && got != id || !kept && !generated.MatchString(got) {
				t.Errorf("%.20q: %q", id, got)
			}
			if n := w.value(
				"SELECT count(*) FROM audit WHERE request_id = ? AND tool = 'page.unschedule' AND outcome = 'refused' AND "+
					"code = 'page_not_scheduled'",
				got,
			); n != "1" {
				t.Errorf("%.20q: %s audit rows", id, n)
			}
		})
	}
	if a := w.call("member", brand, "", "x-request-id", "a", "x-request-id", "b"); !generated.MatchString(a.header.Get("x-request-id")) {
		t.Errorf("two lines: %q", a.header.Get("x-request-id"))
	}
}

// TestUnknownPropertyOfEveryTool: each tool refuses a property that it does not know, with an audit row.
func TestUnknownPropertyOfEveryTool(t *testing.T) {
	w := newFixture(t)
	for _, tool := range toolapi.NewContract().Tools() {
		a := w.refused(toolapi.CodeInvalidArguments, "member", tool.Name, `{"no_such":1}`)
		if a.status != 200 || a.header.Get("x-service-tool-error") != "false" || !strings.Contains(string(a.body), `"path":"no_such"`) {
			t.Errorf("%s: %s", tool.Name, a.body)
		}
		if n := w.value(
			"SELECT count(*) FROM audit WHERE tool = ? AND code = 'invalid_arguments' AND workspace_id = 1", tool.Name,
		); n != "1" {
			t.Errorf("%s: %s audit rows", tool.Name, n)
		}
	}
}

// TestReadsAreCountedNotAudited: a read leaves no row, and a number.
func TestReadsAreCountedNotAudited(t *testing.T) {
	w := newFixture(t)
	for range 3 {
		w.ok("member", brand, "")
	}
	if n := w.value("SELECT count(*) FROM audit"); n != "0" {
		t.Errorf("%s audit rows", n)
	}
	if a := w.request("GET", "/metrics", "", ""); !strings.Contains(
		string(a.body), `pages_requests_total{tool="brand_profile.status",status="200",code=""} 3`,
	) {
		t.Errorf("%s", a.body)
	}
}

// TestMetrics: the text format of Prometheus, and the figures that an operator watches.
func TestMetrics(t *testing.T) {
	w := newFixture(t)
	c := w.twoCalls()[1]
	w.ok("member", c.tool, js("site_id", w.demo.IDs["other_site_id"], "at", c.args[3]))
	w.ok("member", c.tool, c.body("confirmation_id", w.propose("member", c)))
	w.call("member", "x", "")
	a := w.request("GET", "/metrics", "", "")
	sample := regexp.MustCompile(`^[a-z_]+(?:\{[a-z]+="[^"\\]*"(?:,[a-z]+="[^"\\]*")*\})? [0-9.e+-]+$`)
	known := map[string]bool{}
	for line := range strings.Lines(string(a.body)) {
		line = strings.TrimSuffix(line, "\n")
		if name, ok := strings.CutPrefix(line, "# TYPE "); ok {
			name, _, _ = strings.Cut(name, " ")
			if known[name] {
				t.Errorf("%s is in two places", name)
			}
			known[name] = true
		} else if !strings.HasPrefix(line, "# HELP ") && !sample.MatchString(line) {
			t.Errorf("%q is not a sample", line)
		}
	}
	for _, part := range []string{
		"pages_open_proposals 1\n", "pages_scheduled_publishes 1\n", "pages_overdue_publishes 0\n",
		"pages_database_bytes ", `pages_request_duration_seconds_bucket{tool="page.schedule_publish",le="+Inf"} 3`,
		`pages_request_duration_seconds_count{tool="page.schedule_publish"} 3`,
		`pages_requests_total{tool="",status="404",code="tenant_api.not_found"} 1`,
	} {
		if !strings.Contains(string(a.body), part) {
			t.Errorf("%s is not in\n%s", part, a.body)
		}
	}
	w.pass(2 * time.Hour)
	if a := w.request("GET", "/metrics", "", ""); !strings.Contains(string(a.body), "pages_overdue_publishes 1\n") ||
		!strings.Contains(string(a.body), "pages_open_proposals 0\n") {
		t.Errorf("%s", a.body)
	}
}

// TestDeprecationHeaders: a release removes deprecated tools, the clock does not.
func TestDeprecationHeaders(t *testing.T) {
	w := newFixture(t)
	refusals := func() []response {
		return []response{
			w.call("", brand, ""), w.call("no_access", brand, ""), w.call("member", "x", ""), w.call("member", brand, "[]"),
			w.call("member", brand, "", "Idempotency-Key", "k"), w.call("member", "automations.undo_draft", "", "Idempotency-Key", ""),
			w.call("member", "automations.undo_draft", `{"board_id":"b","idempotency_key":"x"}`, "Idempotency-Key", "y"),
			w.call("member", brand, strings.Repeat(" ", toolapi.MaxBody+1)),
			w.request("GET", toolapi.ToolsPath+brand, "", ""), w.request("GET", "/nowhere", "", ""),
		}
	}
	for _, when := range []time.Duration{0, 37 * 24 * time.Hour} {
		w.step(when)
		for i, a := range refusals() {
			since, err := strconv.ParseInt(strings.TrimPrefix(a.header.Get("Deprecation"), "@"), 10, 64)
			until, err2 := time.Parse(http.TimeFormat, a.header.Get("Sunset"))
			if err != nil || err2 != nil || until.Sub(time.Unix(since, 0)) < 90*24*time.Hour ||
				!strings.HasPrefix(a.header.Get("Deprecation"), "@") {
				t.Errorf("%d: Deprecation %q, Sunset %q", i, a.header.Get("Deprecation"), a.header.Get("Sunset"))
			}
			if link := a.header.Get("Link"); !strings.Contains(link, `rel="deprecation"`) || !strings.Contains(link, "#nested-error") {
				t.Errorf("%d: Link %q", i, link)
			}
			nested, _ := a.fields["error"].(map[string]any)
			if nested["code"] != a.fields["code"] || nested["message"] != a.fields["message"] || a.fields["ok"] != false {
				t.Errorf("%d: %s", i, a.body)
			}
		}
		for _, a := range []response{w.ok("member", brand, ""), w.call("both", brand, "")} {
			for _, name := range []string{"Deprecation", "Sunset", "Link"} {
				if a.header.Get(name) != "" {
					t.Errorf("%s of a plain answer: %s", name, a.header.Get(name))
				}
			}
		}
	}
	if a := w.request("GET", toolapi.DeprecationsPath, "", ""); a.status != 200 || !strings.Contains(string(a.body), `id="nested-error"`) {
		t.Errorf("%d %s", a.status, a.body)
	}
}

// TestWorkspaces is section 1 of the platform document.
func TestWorkspaces(t *testing.T) {
	w := newFixture(t)
	for _, c := range []struct{ key, named, workspace, source string }{
		{"member", "", "acme", "sole-reachable"},
		{"member", "acme", "acme", "call-override"},
		{"both", "globex", "globex", "call-override"},
		{"pinned", "", "globex", "key-pin"},
		{"pinned", "globex", "globex", "call-override"},
		{"stored", "", "acme", "stored-default"},
		{"stored", "globex", "globex", "call-override"},
	} {
		t.Run(c.key+" "+c.named, func(t *testing.T) {
			w := w.in(t)
			body := ""
			if c.named != "" {
				body = js("workspace", c.named)
			}
			a := w.ok(c.key, brand, body)
			in, _ := a.fields["working_in"].(map[string]any)
			if a.text("workspace") != c.workspace || in["source"] != c.source || in["workspace"] != c.workspace || in["label"] == "" ||
				in["note"] == "" {
				t.Errorf("%s %q: %s", c.key, c.named, a.body)
			}
		})
	}
	for _, c := range []struct{ key, named, code, slugs string }{
		{"both", "", "workspace_ambiguous", `["acme","globex"]`},
		{"both", "nowhere", "workspace_unreachable", `["acme","globex"]`},
		{"member", "globex", "workspace_unreachable", `["acme"]`},
		{"pinned", "acme", "workspace_unreachable", `["globex"]`},
	} {
		t.Run(c.key+" "+c.named, func(t *testing.T) {
			w := w.in(t)
			body := ""
			if c.named != "" {
				body = js("workspace", c.named)
			}
			a := w.refused(c.code, c.key, brand, body)
			if a.header.Get("x-service-tool-error") != "true" || !strings.Contains(string(a.body), `"workspaces":`+c.slugs) {
				t.Errorf("%s %q: %v %s", c.key, c.named, a.header, a.body)
			}
		})
	}
	// A membership that ends closes the reach at once.
	w.sql("DELETE FROM memberships WHERE holder_id = 4 AND workspace_id = 2")
	w.refused("workspace_unreachable", "pinned", brand, "")
	w.sql("DELETE FROM memberships WHERE holder_id = 5 AND workspace_id = 1")
	if a := w.ok("stored", brand, ""); a.text("workspace") != "globex" {
		t.Errorf("%s", a.body)
	}
	w.sql("DELETE FROM memberships WHERE holder_id = 5")
	if a := w.refused("workspace_unreachable", "stored", brand, ""); !strings.Contains(string(a.body), `"workspaces":[]`) {
		t.Errorf("%s", a.body)
	}
}

func TestRoles(t *testing.T) {
	w := newFixture(t)
	w.ok("stored", brand, `{"workspace":"globex"}`) // a viewer there
	a := w.refused(toolapi.CodePermissionDenied, "stored", "page.unschedule", js("workspace", "globex", "site_id", w.demo.IDs["site_id"]))
	if a.header.Get("x-service-tool-error") != "false" {
		t.Errorf("%v", a.header)
	}
}

// TestOtherWorkspacesAreUnknown: an id of another workspace gets the response for an unknown one.
func TestOtherWorkspacesAreUnknown(t *testing.T) {
	w := newFixture(t)
	const none = "00000000-0000-4000-8000-000000000000"
	for _, c := range [][3]string{
		{"page.unschedule", "site_id", w.demo.IDs["site_id"]},
		{"page.publish", "site_id", w.demo.IDs["site_id"]},
		{"shorts.try_shape", "tile_id", w.demo.IDs["tile_id"]},
		{"approvals.set_primary_variant", "childAssetId", w.demo.IDs["child_asset_id"]},
	} {
		t.Run(c[0], func(t *testing.T) {
			w := w.in(t)
			there, nowhere := w.call("pinned", c[0], js(c[1], c[2])), w.call("pinned", c[0], js(c[1], none))
			if there.fields["ok"] != false || !bytes.Equal(there.body, nowhere.body) {
				t.Errorf("%s: %s and %s", c[0], there.body, nowhere.body)
			}
		})
	}
}

func TestLogsHoldNoSecrets(t *testing.T) {
	w := newFixture(t)
	id := w.ok("member", "page.publish", js("site_id", w.demo.IDs["site_id"])).text("confirmation_id")
	w.ok("member", "page.publish", js("site_id", w.demo.IDs["site_id"], "confirmation_id", id))
	w.request("POST", toolapi.ToolsPath+brand+"?key="+w.demo.Keys["member"], w.demo.Keys["member"], "")
	logs := w.logs.String()
	if strings.Contains(logs, w.demo.Keys["member"]) || strings.Contains(logs, id) {
		t.Error("a secret is in the log")
	}
	if !strings.Contains(logs, `"tool":"page.publish"`) {
		t.Error("the calls are not in the log")
	}
}

func TestHealthAndDocument(t *testing.T) {
	w := newFixture(t)
	if a := w.request("GET", "/healthz", "", ""); a.status != 200 || string(a.body) != "{\"ok\":true}\n" {
		t.Errorf("%d %s", a.status, a.body)
	}
	if a := w.request("GET", toolapi.OpenAPIPath, "", ""); a.status != 200 || a.text("openapi") != "3.1.0" {
		t.Errorf("%d %.80s", a.status, a.body)
	}
	if a := w.request("POST", "/healthz", "", ""); a.status != 405 {
		t.Errorf("%d", a.status)
	}
}
