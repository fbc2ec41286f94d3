package main

import (
	"encoding/json"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/pages-toolchain/pages/cmd/internal/localstate"
	"github.com/pages-toolchain/pages/migrate/statefolder"
)

const agentsWorker = `interface Env { DB: D1Database; TOKEN: string }

export default {
  async fetch(request: Request, env: Env): Promise<Response> {
    const url = new URL(request.url);
    if (url.pathname === "/api/fail") throw new Error("no luck");
    console.log("asked for", url.pathname);
    if (request.method === "POST") await env.DB.prepare("INSERT INTO notes (text) VALUES (?)").bind(await request.text()).run();
    const { results } = await env.DB.prepare("SELECT count(*) AS n FROM notes").all();
    return Response.json({ n: results[0].n, token: env.TOKEN });
  },
};
`

// copyAgentsSite writes a site with a Worker, a database, members and a secret.
func copyAgentsSite(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	put(t, filepath.Join(dir, "pages.deploy.json"), `{"entry": "src/worker.ts", "routes": [{"pattern": "/api/*"},
 {"pattern": "/club/*", "access": "members"}], "bindings": {"database": {"migrations": "migrations"}, "secrets": ["TOKEN"]}}`)
	put(t, filepath.Join(dir, "migrations", "0001_notes.sql"), "CREATE TABLE notes (id INTEGER PRIMARY KEY, text TEXT);\n")
	put(t, filepath.Join(dir, ".dev.vars"), "TOKEN=sk_test_a1B2c3D4e5F6g7H8i9\n")
	put(t, filepath.Join(dir, "src", "worker.ts"), agentsWorker)
	return dir
}

// agent is an MCP client that counts its calls.
type agent struct {
	t       *testing.T
	session *mcp.ClientSession
	calls   int
}

// connect connects an agent.
func connect(t *testing.T, transport mcp.Transport) *agent {
	t.Helper()
	session, err := mcp.NewClient(&mcp.Implementation{Name: "script", Version: "1"}, nil).Connect(t.Context(), transport, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = session.Close() }) // the server may have ended first
	return &agent{t: t, session: session}
}

// pipeTo connects an agent to `pages mcp --dev`.
func pipeTo(t *testing.T, dir string, args ...string) *agent {
	t.Helper()
	return connect(t, &mcp.CommandTransport{Command: exec.Command(program(t), append([]string{"mcp", "--dev", "-C", dir}, args...)...)})
}

// call calls a tool and decodes its result into the value; the text of a refusal is returned.
func (a *agent) call(tool string, arguments map[string]any, into any) (refusal string) {
	a.t.Helper()
	a.calls++
	result, err := a.session.CallTool(a.t.Context(), &mcp.CallToolParams{Name: tool, Arguments: arguments})
	if err != nil {
		a.t.Fatalf("%s: %v", tool, err)
	}
	content, ok := result.Content[0].(*mcp.TextContent)
	if !ok {
		a.t.Fatalf("%s: the content is %T", tool, result.Content[0])
	}
	text := content.Text
	if result.IsError {
		return text
	}
	if strings.Contains(text, "sk_test_") {
		a.t.Errorf("%s shows the secret: %s", tool, text)
	}
	if into != nil {
		if err := json.Unmarshal([]byte(text), into); err != nil {
			a.t.Fatalf("%s: %v: %s", tool, err, text)
		}
	}
	return ""
}

// must calls a tool that succeeds.
func (a *agent) must(tool string, arguments map[string]any, into any) {
	a.t.Helper()
	if refusal := a.call(tool, arguments, into); refusal != "" {
		a.t.Fatalf("%s %v: %s", tool, arguments, refusal)
	}
}

// buildReport is the result of problems.
type buildReport struct {
	OK       bool
	Build    int64
	Problems []struct {
		File, Message, Fix string
		Line               int
	}
	Failed []struct {
		Path    string
		Failure struct {
			File string
			Line int
		}
	} `json:"failed_requests"`
}

// replace replaces a file in one step: a watcher never sees half of it.
func replace(t *testing.T, name, text string) {
	t.Helper()
	fresh := filepath.Join(t.TempDir(), "fresh")
	put(t, fresh, text)
	if err := os.Rename(fresh, name); err != nil {
		t.Fatal(err)
	}
}

// builds calls problems until a build has the wanted outcome.
func (a *agent) builds(report *buildReport, ok bool) {
	a.t.Helper()
	for after := report.Build; ; after = report.Build {
		*report = buildReport{}
		a.must("problems", map[string]any{"after_build": after}, report)
		if report.Build > after && report.OK == ok {
			return
		}
	}
}

// TestAgentMends: an agent over a pipe breaks a Worker, reads the place of the problem, mends it and sees the site answer, in fewer than
// ten calls.
func TestAgentMends(t *testing.T) {
	dir := copyAgentsSite(t)
	worker := filepath.Join(dir, "src", "worker.ts")
	a := pipeTo(t, dir)
	var status struct {
		Running bool
		Fix     string
	}
	a.must("status", nil, &status)
	if status.Running || !strings.Contains(status.Fix, "pages dev --background") {
		t.Errorf("while no server runs: %+v", status)
	}
	startDev(t, dir)
	var report buildReport
	a.must("problems", nil, &report)
	if !report.OK || len(report.Problems) > 0 {
		t.Fatalf("at the start: %+v", report)
	}
	replace(t, worker, strings.Replace(agentsWorker, "const url =", "const url = =", 1))
	a.builds(&report, false)
	if p := report.Problems[0]; p.File != "src/worker.ts" || p.Line != 5 {
		t.Errorf("the problem is at %s:%d, want src/worker.ts:5: %+v", p.File, p.Line, p)
	}
	replace(t, worker, agentsWorker)
	a.builds(&report, true)
	var response struct {
		Status  int
		Body    string
		TraceID string `json:"trace_id"`
	}
	a.must("send_request", map[string]any{"path": "/api/notes"}, &response)
	if response.Status != 200 || !strings.Contains(response.Body, `"n":0`) {
		t.Errorf("the mended site answers %+v", response)
	}
	var traced struct {
		Requests []struct {
			Path  string
			Trace json.RawMessage
		}
	}
	a.must("trace", map[string]any{"id": response.TraceID}, &traced)
	if len(traced.Requests) != 1 || traced.Requests[0].Path != "/api/notes" ||
		!strings.Contains(string(traced.Requests[0].Trace), "count(*)") {
		t.Errorf("the trace: %+v", traced)
	}
	if a.calls >= 10 {
		t.Errorf("it took %d calls, want fewer than 10", a.calls)
	}
	testAgentReads(t, a)
}

// testAgentReads calls the other tools that read, and those that write, which are refused.
func testAgentReads(t *testing.T, a *agent) {
	t.Helper()
	a.must("send_request", map[string]any{"path": "/api/fail"}, nil)
	var report buildReport
	a.must("problems", nil, &report)
	if len(report.Failed) == 0 || report.Failed[0].Path != "/api/fail" || report.Failed[0].Failure.Line != 6 {
		t.Errorf("the failed requests: %+v", report.Failed)
	}
	contains := func(tool string, arguments map[string]any, want string) {
		t.Helper()
		var text json.RawMessage
		if refusal := a.call(tool, arguments, &text); refusal != "" || !strings.Contains(string(text), want) {
			t.Errorf("%s %v: want %s, got %s%s", tool, arguments, want, refusal, text)
		}
	}
	contains("send_request", map[string]any{"path": "/club/"}, `"status":401`)
	contains("sign_in_as", map[string]any{"persona": "member"}, `"signed_in_as":"member"`)
	contains("send_request", map[string]any{"path": "/club/"}, `"status":200`)
	contains("send_request", map[string]any{"path": "/club/", "as": "outsider"}, `"status":403`)
	contains("sign_in_as", map[string]any{"persona": ""}, `"signed_in_as":""`)
	contains("send_request", map[string]any{"path": "/club/"}, `"status":401`)
	contains("requests", map[string]any{"path": "/api/*", "status": "5xx"}, `/api/fail`)
	contains("logs", map[string]any{"level": "log"}, `asked for`)
	contains("explain_route", map[string]any{"path": "/club/x"}, `"gate":"sign-in"`)
	contains("query", map[string]any{"sql": "SELECT name FROM sqlite_schema WHERE name = 'notes'"}, `[["notes"]]`)
	contains("logs_sql", map[string]any{"sql": "SELECT DISTINCT method FROM requests WHERE method = 'GET'"}, `[["GET"]]`)
	contains("query", map[string]any{
		"sql": "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c WHERE x < 1000) SELECT x, hex(zeroblob(100)) FROM c",
	}, `"cut":true`)
	contains("send_request", map[string]any{"path": "/__pages/"}, "****") // the token of the run
	contains("leads", nil, `"leads":[]`)
	contains("events", nil, `"events":[]`)
	contains("docs_search", map[string]any{"question": "undo a migration"}, `pages help migrate undo`)
	for _, c := range []struct {
		tool      string
		arguments map[string]any
		want      string
	}{
		{"send_request", map[string]any{"path": "/api/notes", "method": "POST", "body": "x"}, "pages mcp --dev --allow-write"},
		{"state_save", map[string]any{"name": "before"}, "pages mcp --dev --allow-write"},
		{"state_load", map[string]any{"name": "before"}, "pages mcp --dev --allow-write"},
		{"query", map[string]any{"sql": "DELETE FROM notes"}, "this statement writes"},
		{"logs_sql", map[string]any{"sql": "SELECT * FROM sessions"}, "is not available"},
		{"sign_in_as", map[string]any{"persona": "stranger"}, ".pages/members.json"},
		{"trace", map[string]any{"id": "req_none"}, "call requests"},
		{"requests", map[string]any{"limit": 1000}, "from 1 to 100"},
		{"send_request", map[string]any{"path": "//evil.example", "headers": map[string]any{"host": "evil.example"}}, "Host"},
		{"send_request", map[string]any{"path": "evil.example", "method": "get"}, "must begin"},
	} {
		if refusal := a.call(c.tool, c.arguments, nil); !strings.Contains(strings.ToLower(refusal), strings.ToLower(c.want)) {
			t.Errorf("%s %v: the refusal is %q, want %q", c.tool, c.arguments, refusal, c.want)
		}
	}
}

// bearer adds the token of a run to requests.
type bearer string

// RoundTrip implements http.RoundTripper.
func (b bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+string(b))
	return http.DefaultTransport.RoundTrip(r)
}

// TestAgentOverHTTP: /__pages/mcp admits programs with the token, and writes only with --allow-write.
func TestAgentOverHTTP(t *testing.T) {
	d := startDev(t, copyAgentsSite(t))
	var own localstate.DevServer
	text, err := os.ReadFile(filepath.Join(d.dir, ".pages", "state", statefolder.DevFile))
	if err != nil || json.Unmarshal(text, &own) != nil {
		t.Fatalf("%s %v", text, err)
	}
	const ping = `{"jsonrpc":"2.0","id":1,"method":"ping"}`
	token := "Authorization: Bearer " + own.Token
	for _, c := range []struct {
		status int
		header []string
	}{
		{401, nil},
		{401, []string{"Authorization: Bearer nothing"}},
		{403, []string{token, "Origin: https://evil.example"}},
		{403, []string{token, "Sec-Fetch-Site: cross-site"}},
		{200, []string{token, "Origin: " + d.URL}},
		{200, []string{token}},
	} {
		header := slices.Concat(c.header, []string{"Content-Type: application/json", "Accept: application/json, text/event-stream"})
		if a := d.do("POST", "/__pages/mcp", ping, header...); a.StatusCode != c.status {
			t.Errorf("with %q the status is %d, want %d: %s", c.header, a.StatusCode, c.status, a.body)
		}
	}
	if status := rawGet(t, d.URL, "/__pages/mcp", "evil.example"); status != 421 && status != 403 {
		t.Errorf("a foreign Host: %d", status)
	}
	a := connect(t, &mcp.StreamableClientTransport{
		Endpoint: d.URL + "/__pages/mcp", HTTPClient: &http.Client{Transport: bearer(own.Token)}, DisableStandaloneSSE: true,
	})
	listed, err := a.session.ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, tool := range listed.Tools {
		if tool.Description == "" || tool.InputSchema == nil || tool.Annotations == nil {
			t.Errorf("%s lacks a description, a schema or its effect", tool.Name)
		}
	}
	if len(listed.Tools) != 15 {
		t.Errorf("%d tools, want 15", len(listed.Tools))
	}
	post := map[string]any{"path": "/api/notes", "method": "POST", "body": "x"}
	if refusal := a.call("send_request", post, nil); !strings.Contains(refusal, "pages dev --allow-write") {
		t.Errorf("a write without the flag: %q", refusal)
	}
	var response struct{ Body string }
	a.must("send_request", map[string]any{"path": "/api/notes"}, &response)
	if !strings.Contains(response.Body, `"n":0`) {
		t.Errorf("the refused write has an effect: %s", response.Body)
	}
	writer := pipeTo(t, d.dir, "--allow-write")
	writer.must("state_save", map[string]any{"name": "before"}, nil)
	writer.must("send_request", post, &response)
	if !strings.Contains(response.Body, `"n":1`) {
		t.Errorf("an admitted write: %s", response.Body)
	}
	if refusal := writer.call("state_load", map[string]any{"name": "before"}, nil); !strings.Contains(refusal, "pages dev stop") {
		t.Errorf("load while the server runs: %q", refusal)
	}
	d.stop()
	writer.must("state_load", map[string]any{"name": "before"}, nil)
	var found struct{ Rows [][]int }
	writer.must("query", map[string]any{"sql": "SELECT count(*) FROM notes"}, &found)
	if len(found.Rows) != 1 || found.Rows[0][0] != 0 {
		t.Errorf("after the load: %+v", found)
	}
	if refusal := writer.call("send_request", post, nil); !strings.Contains(refusal, "pages dev --background") {
		t.Errorf("without a server: %q", refusal)
	}
}
