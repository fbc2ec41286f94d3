package service_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/pages-toolchain/pages/toolapi"
)

// revisions are all of MCP; only the last has no initialize.
var revisions = []string{"2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28"}

const newestVersion = "2026-07-28"

// rpc is a JSON-RPC request of the newest revision, with the params in js.
func rpc(version string, id any, method string, pairs ...any) string {
	params := map[string]any{}
	for i := 0; i < len(pairs); i += 2 {
		params[fmt.Sprint(pairs[i])] = pairs[i+1]
	}
	if version == newestVersion {
		params["_meta"] = map[string]any{
			"io.modelcontextprotocol/protocolVersion":    newestVersion,
			"io.modelcontextprotocol/clientCapabilities": map[string]any{},
		}
	}
	return js("jsonrpc", "2.0", "id", id, "method", method, "params", params)
}

// mcp posts a body; header replaces the headers of a client of the revision.
func (w *fixture) mcp(key, version, body string, header ...string) response {
	w.Helper()
	m := toolapi.ParseMessage(json.RawMessage(body))
	sent := map[string]string{"Accept": "application/json, text/event-stream", "Mcp-Protocol-Version": version}
	if version == newestVersion {
		sent["Mcp-Method"], sent["Mcp-Name"] = m.Method, m.Tool
	}
	for i := 0; i < len(header); i += 2 {
		sent[header[i]] = header[i+1]
	}
	var all []string
	for name, value := range sent {
		if value != "" {
			all = append(all, name, value)
		}
	}
	a := w.request(http.MethodPost, toolapi.MCPPath, w.demo.Keys[key], body, all...)
	if len(a.body) > 0 && !json.Valid(a.body) {
		w.Errorf("%d is not JSON: %s", a.status, a.body)
	}
	return a
}

// at follows names and indexes decode JSON.
func at(v any, path ...any) any {
	for _, step := range path {
		switch step := step.(type) {
		case string:
			object, _ := v.(map[string]any)
			v = object[step]
		case int:
			array, _ := v.([]any)
			if step >= len(array) {
				return nil
			}
			v = array[step]
		}
	}
	return v
}

func TestMCPRevisions(t *testing.T) {
	w := newFixture(t)
	for _, version := range revisions {
		if version == newestVersion {
			a := w.mcp("member", version, rpc(version, "d", "server/discover"))
			if supported, _ := at(a.fields, "result", "supportedVersions").([]any); a.status != 200 ||
				!slices.Contains(supported, any(newestVersion)) || at(a.fields, "result", "resultType") != "complete" {
				t.Errorf("X-002: %d %s", a.status, a.body)
			}
		} else {
			a := w.mcp(
				"member", "",
				rpc(
					"", 1, "initialize", "protocolVersion", version, "capabilities", map[string]any{}, "clientInfo",
					map[string]any{"name": "t", "version": "1"},
				),
			)
			if a.status != 200 || at(a.fields, "result", "protocolVersion") != version || at(a.fields, "result", "instructions") == nil {
				t.Errorf("X-001 %s: %d %s", version, a.status, a.body)
			}
			if a := w.mcp("member", version, `{"jsonrpc":"2.0","method":"notifications/initialized"}`); a.status != 202 ||
				len(a.body) != 0 {
				t.Errorf("%s: %d %s", version, a.status, a.body)
			}
		}
		a := w.mcp("member", version, rpc(version, 2, "tools/list"))
		tools, _ := at(a.fields, "result", "tools").([]any)
		if contract := toolapi.NewContract().Tools(); len(tools) != len(contract) || at(a.fields, "result", "nextCursor") != nil {
			t.Errorf("%s: %d tools: %.200s", version, len(tools), a.body)
		}
		a = w.mcp("member", version, rpc(version, 3, "tools/call", "name", brand))
		if a.status != 200 || at(a.fields, "result", "structuredContent", "workspace") != "acme" ||
			at(a.fields, "result", "isError") == true || version == newestVersion && at(a.fields, "result", "resultType") != "complete" {
			t.Errorf("%s: %d %s", version, a.status, a.body)
		}
	}
}

func TestMCPVersions(t *testing.T) {
	w := newFixture(t)
	for _, version := range []string{"1999-01-01", "2099-01-01", "x"} {
		a := w.mcp("member", version, rpc("", 1, "tools/call", "name", brand))
		if a.status != 400 || !strings.Contains(string(a.body), "2025-11-25") || at(a.fields, "error", "code") != -32022.0 ||
			at(a.fields, "id") != 1.0 {
			t.Errorf("X-003 %s: %d %s", version, a.status, a.body)
		}
	}
	call := rpc(newestVersion, 1, "tools/call", "name", brand)
	for _, header := range [][]string{
		{"Mcp-Protocol-Version", "2025-11-25"},
		{"Mcp-Protocol-Version", ""},
		{"Mcp-Method", "tools/list"},
		{"Mcp-Method", ""},
		{"Mcp-Name", "domain.list"},
		{"Mcp-Name", ""},
	} {
		t.Run(strings.Join(header, " "), func(t *testing.T) {
			w := w.in(t)
			if a := w.mcp("member", newestVersion, call, header...); a.status != 400 || at(a.fields, "error", "code") != -32020.0 {
				t.Errorf("X-004 %v: %d %s", header, a.status, a.body)
			}
		})
	}
}

func TestMCPBatches(t *testing.T) {
	w := newFixture(t)
	batch := func(n int) string {
		all := make([]string, n)
		for i := range all {
			all[i] = rpc("", i, "tools/call", "name", brand)
		}
		return "[" + strings.Join(all, ",") + "]"
	}
	for _, version := range []string{"", "2025-03-26"} {
		for n, status := range map[int]int{1: 200, toolapi.MaxBatch: 200, toolapi.MaxBatch + 1: 400, 5000: 400} {
			t.Run(fmt.Sprint(version, " ", n), func(t *testing.T) {
				w := w.in(t)
				before := w.snapshot("keys")
				a := w.mcp("member", version, batch(n))
				var answers []struct {
					ID     int
					Result struct{ StructuredContent map[string]any }
				}
				if a.status != status || status == 400 && (a.code() != toolapi.CodeBatchTooLarge || w.snapshot("keys") != before) {
					t.Errorf("X-005 %q, %d: %d %.200s", version, n, a.status, a.body)
				}
				if err := json.Unmarshal(a.body, &answers); status == 200 &&
					(err != nil || len(answers) != n || answers[n-1].ID != n-1 || answers[0].Result.StructuredContent["ok"] != true) {
					t.Errorf("X-005 %q, %d: %v %.200s", version, n, err, a.body)
				}
			})
		}
	}
	undo := js("jsonrpc", "2.0", "id", 7, "method", "tools/call", "params", map[string]any{
		"name":      "automations.undo_draft",
		"arguments": map[string]any{"board_id": w.demo.IDs["board_id"], "idempotency_key": "b"},
	})
	before := w.snapshot("keys")
	for _, c := range [][2]string{
		{"2025-06-18", "[" + undo + "]"},
		{"2025-11-25", "[" + undo + "]"},
		{newestVersion, "[" + undo + "]"},
		{"", "[]"},
		{"", "[" + undo + "," + undo + "]"},
		{"", "[[" + undo + "]]"},
		{"", "[" + undo + ",[]]"},
	} {
		t.Run(fmt.Sprintf("%s %.20s", c[0], c[1]), func(t *testing.T) {
			w := w.in(t)
			a := w.mcp("member", c[0], c[1], "Mcp-Method", "", "Mcp-Name", "")
			if a.status != 400 || a.code() != toolapi.CodeMalformedBody {
				t.Errorf("X-006 %s %.60s: %d %s", c[0], c[1], a.status, a.body)
			}
		})
	}
	if w.snapshot("keys") != before {
		t.Error("X-006: something ran")
	}
	a := w.mcp(
		"member", "",
		`[`+rpc(
			"", "good", "tools/call", "name", brand,
		)+`,{"id":5},17,{"jsonrpc":"2.0","method":"notifications/initialized"},`+rpc("", 6, "no/such")+`,`+rpc(
			"", 7, "tools/call", "name", "no.such",
		)+`,`+rpc("", 8, "initialize")+`,`+rpc("", 9, "ping")+`]`,
	)
	var answers []any
	if err := json.Unmarshal(a.body, &answers); err != nil || a.status != 200 || len(answers) != 7 {
		t.Fatalf("X-007: %d %s", a.status, a.body)
	}
	for i, want := range []struct{ id, code any }{
		{"good", nil}, {nil, -32600.0}, {nil, -32600.0}, {6.0, -32601.0}, {7.0, -32602.0}, {8.0, -32600.0}, {9.0, nil},
	} {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			if got := answers[i]; at(got, "id") != want.id || at(got, "error", "code") != want.code {
				t.Errorf("X-007 %d: %v", i, got)
			}
		})
	}
	if a := w.mcp("member", "", `[{"jsonrpc":"2.0","method":"notifications/initialized"}]`); a.status != 202 || len(a.body) != 0 {
		t.Errorf("only notifications: %d %s", a.status, a.body)
	}
}

func TestMCPOriginsAndHosts(t *testing.T) {
	w := newFixture(t)
	host := strings.TrimPrefix(w.server.URL, "http://")
	_, port, err := net.SplitHostPort(host)
	if err != nil {
		t.Fatal(err)
	}
	call := rpc("", 1, "tools/call", "name", brand)
	for origin, status := range map[string]int{
		"http://evil.test": 403, "null": 403, "http://localhost.evil.test": 403, "http://127.0.0.1:1": 403,
		"http://localhost": 403, "https://" + host: 403, "http://" + host + ".evil.test": 403, "http://" + host: 200, "": 200,
	} {
		t.Run(origin, func(t *testing.T) {
			w := w.in(t)
			a := w.mcp("member", "2025-11-25", call, "Origin", origin)
			if a.status != status || status == 403 && a.code() != toolapi.CodeOriginRefused {
				t.Errorf("X-008 %q: %d %s", origin, a.status, a.body)
			}
		})
	}
	for host, status := range map[string]int{"evil.test": 403, "127.0.0.1.evil.test": 403, "[::1]:" + port: 200, "localhost:" + port: 200} {
		t.Run(host, func(t *testing.T) {
			w := w.in(t)
			r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, w.server.URL+toolapi.MCPPath, strings.NewReader(call))
			if err != nil {
				t.Fatal(err)
			}
			r.Host = host
			r.Header = http.Header{
				"Authorization": {"Bearer " + w.demo.Keys["member"]}, "Accept": {"*/*"},
				"Content-Type": {"application/json"},
			}
			if a := w.send(r); a.status != status || status == 403 && a.code() != toolapi.CodeHostRefused {
				t.Errorf("X-009 %s: %d %s", host, a.status, a.body)
			}
		})
	}
	if status := rawStatus(t, host, "POST /mcp HTTP/1.1\r\nHost:\r\nContent-Length: 0\r\n\r\n"); status != "403" {
		t.Errorf("X-009, no host: %s", status)
	}
}

// rawStatus is the status of the answer to bytes.
func rawStatus(t *testing.T, host, request string) string {
	t.Helper()
	conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", host)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, err := conn.Write([]byte(request)); err != nil {
		t.Fatal(err)
	}
	line := make([]byte, len("HTTP/1.1 403"))
	if _, err := conn.Read(line); err != nil {
		t.Fatal(err)
	}
	return string(line[len("HTTP/1.1 "):])
}

func TestMCPRefusals(t *testing.T) {
	w := newFixture(t)
	call := rpc("", 1, "tools/call", "name", brand)
	envelope := func(id string, a response, status int, code string) {
		t.Helper()
		if a.status != status || a.code() != code || a.fields["ok"] != false || at(a.fields, "error", "code") != code ||
			a.header.Get("Content-Type") != "application/json" || a.header.Get("Deprecation") == "" {
			t.Errorf("%s: want %d %s, got %d %s", id, status, code, a.status, a.body)
		}
	}
	envelope("X-010", w.mcp("", "", call), 401, toolapi.CodeUnauthorized)
	envelope("X-010", w.mcp("revoked", "", call), 401, toolapi.CodeUnauthorized)
	envelope("X-010", w.mcp("no_access", "", call), 403, toolapi.CodeAccessMissing)
	w.sql("INSERT INTO settings (name, value) VALUES ('api_disabled', 1)")
	envelope("X-010", w.mcp("member", "", call), 403, toolapi.CodeSurfaceDisabled)
	w.sql("DELETE FROM settings WHERE name = 'api_disabled'")
	for i := range 5 { // MCP and REST are one window
		if a := []func() response{func() response { return w.mcp("limited", "", call) }, func() response {
			return w.call("limited", brand, "")
		}}[i%2](); a.status != 200 {
			t.Errorf("H-029: %d %s", a.status, a.body)
		}
	}
	a := w.mcp("limited", "", call)
	envelope("X-010", a, 429, toolapi.CodeRateLimited)
	if n := a.header.Get("Retry-After"); n == "" || n != a.header.Get("RateLimit-Reset") ||
		fmt.Sprint(a.fields["retry_after_seconds"]) != n {
		t.Errorf("X-010: %v %s", a.header, a.body)
	}
	w.pass(time.Minute)
	before := w.snapshot("keys")
	six := "[" + strings.TrimSuffix(strings.Repeat(`{"jsonrpc":"2.0","method":"ping"},`, 6), ",") + "]"
	envelope("a batch counts each message", w.mcp("limited", "", six), 429, toolapi.CodeRateLimited)
	if w.snapshot("keys") != before {
		t.Error("a batch over the cap did something")
	}

	a = w.mcp(
		"member", "",
		rpc("", 1, "tools/call", "name", "page.unschedule", "arguments", map[string]any{"site_id": w.demo.IDs["site_id"]}),
	)
	if a.status != 200 || at(a.fields, "result", "isError") != true ||
		at(a.fields, "result", "structuredContent", "code") != toolapi.CodeNotScheduled {
		t.Errorf("X-012, a refusal: %d %s", a.status, a.body)
	}
	for _, bad := range []any{map[string]any{"limit": 0, "no": 1}, []any{1}, "x"} {
		a = w.mcp("member", "", rpc("", 1, "tools/call", "name", "content.status", "arguments", bad))
		if a.status != 200 || at(a.fields, "result", "isError") != true ||
			at(a.fields, "result", "structuredContent", "code") != toolapi.CodeInvalidArguments ||
			at(a.fields, "result", "structuredContent", "issues", 0) == nil {
			t.Errorf("X-012, invalid arguments: %d %s", a.status, a.body)
		}
	}
	for _, params := range []string{"[1]", `{"name":5}`, "null"} {
		a := w.mcp("member", "", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":`+params+`}`)
		if at(a.fields, "id") != 1.0 || at(a.fields, "error", "message") != "the parameters are not those of tools/call" {
			t.Errorf("X-012, parameters %s: %d %s", params, a.status, a.body)
		}
	}
	for _, version := range revisions {
		if a := w.mcp("member", version, rpc(version, 1, "tools/call", "name", "no.such")); at(a.fields, "error", "code") != -32602.0 {
			t.Errorf("X-012 %s, an unknown tool: %d %s", version, a.status, a.body)
		}
		want := map[bool]int{true: 404, false: 400}[version == newestVersion]
		if a := w.mcp("member", version, rpc(version, 1, "no/such")); a.status != want || at(a.fields, "error", "code") != -32601.0 {
			t.Errorf("X-012 %s, an unknown method: %d %s", version, a.status, a.body)
		}
	}
	for _, body := range []string{
		"{", "", "{} {}", `{"a":1,"a":2}`, `{"jsonrpc":"2.0","id":1,"id":2,"method":"ping"}`, "\xff",
		`{"jsonrpc":"1.0","id":1,"method":"ping"}`, `{"jsonrpc":"2.0","id":null,"method":"ping"}`,
		`{"jsonrpc":"2.0","id":9007199254740993,"method":"ping"}`,
		`{"jsonrpc":"2.0","id":-99999999999999999999,"method":"ping"}`, `17`,
		strings.Repeat("[", 10_000) + strings.Repeat("]", 10_000),
	} {
		t.Run(fmt.Sprintf("%.40q", body), func(t *testing.T) {
			w := w.in(t)
			a := w.mcp("member", "", body, "Content-Type", "application/json")
			envelope("X-012, "+fmt.Sprintf("%.40s", body), a, 400, toolapi.CodeMalformedBody)
		})
	}
	for _, method := range []string{"GET", "DELETE", "PUT"} {
		a := w.request(method, toolapi.MCPPath, w.demo.Keys["member"], "", "Accept", "text/event-stream")
		if a.status != 405 || a.header.Get("Allow") != "POST" {
			t.Errorf("X-014 %s: %d %v", method, a.status, a.header)
		}
	}
	envelope("X-015", w.mcp("member", "", `{"a":"`+strings.Repeat("a", toolapi.MaxBody)+`"}`), 413, toolapi.CodeBodyTooLarge)
	envelope("X-015", w.mcp("member", "", call, "Accept", ""), 400, toolapi.CodeNotAcceptable)
	envelope("X-015", w.mcp("member", "", call, "Accept", "application/json"), 400, toolapi.CodeNotAcceptable)
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, w.server.URL+toolapi.MCPPath, strings.NewReader(call))
	if err != nil {
		t.Fatal(err)
	}
	r.Header = http.Header{"Authorization": {"Bearer " + w.demo.Keys["member"]}, "Accept": {"*/*"}, "Content-Type": {"text/plain"}}
	envelope("X-015", w.send(r), 415, toolapi.CodeMediaType)
}

// TestMCPIdempotency: the key in its two places, as over REST.
func TestMCPIdempotency(t *testing.T) {
	w := newFixture(t)
	undo := func(arguments ...any) string {
		return rpc(
			"", 1, "tools/call", "name", "automations.undo_draft", "arguments",
			json.RawMessage(js(append(arguments, "board_id", w.demo.IDs["board_id"])...)),
		)
	}
	first := w.mcp("member", "", undo(), "Idempotency-Key", "k")
	again := w.mcp("member", "", undo("idempotency_key", "k"))
	rest := w.ok("member", "automations.undo_draft", js("board_id", w.demo.IDs["board_id"]), "Idempotency-Key", "k")
	if at(first.fields, "result", "structuredContent", "replayed") != false ||
		at(again.fields, "result", "structuredContent", "replayed") != true ||
		!reflect.DeepEqual(at(again.fields, "result", "structuredContent"), any(rest.fields)) {
		t.Errorf("%s\n%s\n%s", first.body, again.body, rest.body)
	}
	for code, a := range map[string]response{
		toolapi.CodeIdempotencyConflict:    w.mcp("member", "", undo("idempotency_key", "k"), "Idempotency-Key", "l"),
		toolapi.CodeIdempotencyInvalid:     w.mcp("member", "", undo(), "Idempotency-Key", "a b"),
		toolapi.CodeIdempotencyUnsupported: w.mcp("member", "", rpc("", 1, "tools/call", "name", brand), "Idempotency-Key", "k"),
	} {
		if a.status != 400 || a.code() != code {
			t.Errorf("%s: %d %s", code, a.status, a.body)
		}
	}
	if a := w.mcp("member", "", "["+undo()+"]", "Idempotency-Key", "k"); a.code() != toolapi.CodeIdempotencyUnsupported {
		t.Errorf("%d %s", a.status, a.body)
	}
}

// session is the SDK's own client.
func (w *fixture) session(key string) *mcp.ClientSession {
	w.Helper()
	transport := &mcp.StreamableClientTransport{
		Endpoint:             w.server.URL + toolapi.MCPPath,
		HTTPClient:           &http.Client{Transport: bearing{w.demo.Keys[key], w.server.Client().Transport}},
		DisableStandaloneSSE: true,
	}
	session, err := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil).Connect(w.Context(), transport, nil)
	if err != nil {
		w.Fatal(err)
	}
	w.Cleanup(func() { _ = session.Close() }) // the service may have gone before
	return session
}

// bearing sends a key with each request.
type bearing struct {
	key  string
	next http.RoundTripper
}

// RoundTrip implements http.RoundTripper.
func (b bearing) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+b.key)
	return b.next.RoundTrip(r)
}

// TestMCPClient: the SDK's client calls every tool, and gets the same result as over REST.
func TestMCPClient(t *testing.T) {
	rest, w := newFixture(t), newFixture(t)
	session := w.session("member")
	listed, err := session.ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	all := toolapi.NewContract().Tools()
	// A page of page.create has an id of its own in either fixture: it comes last.
	made := slices.IndexFunc(all, func(tool *toolapi.Tool) bool { return tool.Name == "page.create" })
	all = append(slices.Concat(all[:made], all[made+1:]), all[made])
	for _, tool := range all {
		i := slices.IndexFunc(listed.Tools, func(l *mcp.Tool) bool { return l.Name == tool.Name })
		if i < 0 {
			t.Fatalf("%s is not listed", tool.Name)
		}
		var sent any
		if err := json.Unmarshal(tool.ArgumentsSchema(), &sent); err != nil ||
			!tool.Replays && !reflect.DeepEqual(listed.Tools[i].InputSchema, sent) || listed.Tools[i].OutputSchema == nil ||
			listed.Tools[i].Annotations.ReadOnlyHint != (tool.Effect == toolapi.Reads) {
			t.Errorf("%s is listed as %+v", tool.Name, listed.Tools[i])
		}
		if required, _ := at(
			listed.Tools[i].InputSchema, "required",
		).([]any); slices.Contains(required, any("idempotency_key")) != tool.Replays ||
			at(listed.Tools[i].InputSchema, "properties", "idempotency_key", "deprecated") != nil {
			t.Errorf("%s: an agent gets %v", tool.Name, listed.Tools[i].InputSchema)
		}
		for _, body := range w.examples(tool) {
			var arguments map[string]any
			if err := json.Unmarshal([]byte(body), &arguments); err != nil {
				t.Fatal(err)
			}
			got, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: tool.Name, Arguments: arguments})
			if err != nil {
				t.Fatalf("%s %s: %v", tool.Name, body, err)
			}
			want := rest.call("member", tool.Name, body)
			structured, _ := got.StructuredContent.(map[string]any)
			for _, fields := range []map[string]any{structured, want.fields} {
				if id, ok := fields["confirmation_id"].(string); ok && len(id) == 36 {
					fields["confirmation_id"] = "random"
				}
				if cursor, ok := fields["next_cursor"].(string); ok && cursor != "" {
					fields["next_cursor"] = "sealed"
				}
				if tool.Name == "page.create" && fields["ok"] == true {
					fields["site_id"] = "random"
				}
				if records, _ := fields["records"].([]any); len(records) > 0 { // the first is the proof, by the service's own key
					if first, ok := records[0].(map[string]any); ok {
						first["value"] = "sealed"
					}
				}
			}
			if !reflect.DeepEqual(structured, want.fields) || got.IsError != (want.fields["ok"] == false) {
				t.Errorf("X-011 %s %s:\n%v\n%v", tool.Name, body, structured, want.fields)
			}
			text, ok := got.Content[0].(*mcp.TextContent)
			var inText any
			if !ok || json.Unmarshal([]byte(text.Text), &inText) != nil || !strings.Contains(text.Text, `"ok":`) {
				t.Errorf("X-011 %s: the text is %v", tool.Name, got.Content[0])
			}
		}
	}
}

// examples are arguments of a tool: none, valid ones if the tool requires any, and invalid ones.
func (w *fixture) examples(tool *toolapi.Tool) []string {
	good := map[string]string{
		"content.status":                `{"status":"draft","limit":1}`,
		"schedule.read":                 `{"week":"2026-11-25"}`,
		"domain.point_at_site":          js("domain_id", w.demo.IDs["domain_id"], "site_id", w.demo.IDs["other_site_id"]),
		"page.schedule_publish":         js("site_id", w.demo.IDs["site_id"], "at", "2026-11-26T10:00:00+01:00"),
		"automations.undo_draft":        js("board_id", w.demo.IDs["board_id"], "idempotency_key", "u"),
		"automations.redo_draft":        js("board_id", w.demo.IDs["board_id"], "idempotency_key", "r"),
		"automations.discard_draft":     js("board_id", w.demo.IDs["board_id"], "idempotency_key", "d"),
		"shorts.try_shape":              js("tile_id", w.demo.IDs["tile_id"]),
		"approvals.set_primary_variant": js("childAssetId", w.demo.IDs["child_asset_id"]),
		"page.publish":                  js("site_id", w.demo.IDs["site_id"]),
		"page.rollback":                 js("site_id", w.demo.IDs["site_id"]),
		"page.rehearse":                 js("site_id", w.demo.IDs["site_id"]),
		"page.restore_points":           js("site_id", w.demo.IDs["site_id"]),
		"page.restore_data":             js("site_id", w.demo.IDs["site_id"], "point", "p1"),
		"domain.connect":                js("hostname", "new.acme.example", "site_id", w.demo.IDs["site_id"]),
		"page.settings":                 js("site_id", w.demo.IDs["site_id"]),
		"page.change_settings":          js("site_id", w.demo.IDs["site_id"], "spam_filter", "off"),
		"page.mark_lead":                js("lead_id", "lead_none", "spam", true),
		"page.unschedule":               js("site_id", w.demo.IDs["site_id"]),
		"page.create":                   js("name", "New", "idempotency_key", "c"),
		"page.revisions":                js("site_id", w.demo.IDs["site_id"]),
		"page.list_secrets":             js("site_id", w.demo.IDs["site_id"]),
		"page.set_secret":               js("site_id", w.demo.IDs["site_id"], "name", "TOKEN", "value", "v"),
		"page.remove_secret":            js("site_id", w.demo.IDs["site_id"], "name", "TOKEN"),
	}[tool.Name]
	all := []string{`{"workspace":"globex"}`, `{"no_such":1}`}
	if good != "" {
		all = append(all, good, good)
	}
	return append(all, "{}")
}

func TestMCPConfirmation(t *testing.T) {
	forEachTwoCall(t, func(w *fixture, c twoCall) {
		call := func(key string, more ...any) response {
			return w.mcp(key, "2025-11-25", rpc("", 1, "tools/call", "name", c.tool, "arguments", json.RawMessage(c.body(more...))))
		}
		byMCP, _ := at(call("member").fields, "result", "structuredContent", "confirmation_id").(string)
		byREST := w.propose("service", c)
		if a := call("service", "confirmation_id", byREST); at(
			a.fields, "result", "structuredContent", "code",
		) != toolapi.CodeConfirmationNeedsMember || at(a.fields, "result", "isError") != true {
			t.Errorf("X-020: %s", a.body)
		}
		done := w.ok("member", c.tool, c.body("confirmation_id", byMCP))
		if again := call("member", "confirmation_id", byMCP); !reflect.DeepEqual(
			at(again.fields, "result", "structuredContent"), any(done.fields),
		) {
			t.Errorf("X-019: %s and %s", again.body, done.body)
		}
		if a := call("member", "confirmation_id", byREST); at(
			a.fields, "result", "structuredContent", "code",
		) != toolapi.CodeConfirmationStale {
			t.Errorf("X-019, what changed since: %s", a.body)
		}
	})
	forEachTwoCall(t, func(w *fixture, c twoCall) {
		id := w.propose("member", c)
		a := w.mcp(
			"member", "2025-11-25",
			rpc("", 1, "tools/call", "name", c.tool, "arguments", json.RawMessage(c.body("confirmation_id", id))),
		)
		if at(a.fields, "result", "structuredContent", "state") != "done" {
			t.Errorf("X-019, the reverse: %s", a.body)
		}
	})
}

// TestMCPDisconnects: after a client disconnects, all of the effect or none remains, and nothing runs.
func TestMCPDisconnects(t *testing.T) {
	w := newFixture(t)
	w.mcp("member", "", rpc("", 1, "ping"))
	w.server.Client().CloseIdleConnections()
	before := runtime.NumGoroutine()
	const calls = 20
	for i := range calls {
		body := rpc("", 1, "tools/call", "name", "automations.undo_draft", "arguments", map[string]any{
			"board_id": w.demo.IDs["board_id"], "idempotency_key": fmt.Sprint("gone-", i),
		})
		ctx, gone := context.WithTimeout(t.Context(), time.Duration(i)*100*time.Microsecond)
		r, err := http.NewRequestWithContext(ctx, http.MethodPost, w.server.URL+toolapi.MCPPath, bytes.NewReader([]byte(body)))
		if err != nil {
			t.Fatal(err)
		}
		r.Header = http.Header{
			"Authorization": {"Bearer " + w.demo.Keys["member"]}, "Accept": {"*/*"},
			"Content-Type": {"application/json"},
		}
		if resp, err := w.server.Client().Do(r); err == nil {
			_ = resp.Body.Close()
		}
		gone()
	}
	w.server.Close() // waits for running requests
	answered, done, moved := w.value("SELECT count(*) FROM answers"), w.value("SELECT count(*) FROM audit"),
		w.value("SELECT revision - 4 FROM boards")
	if effects := w.value("SELECT count(*) FROM audit WHERE outcome = 'done'"); answered != done || moved != effects {
		t.Errorf("%s answers kept, %s audit rows, %s changes and %s of them audited", answered, done, moved, effects)
	}
	for range 100 {
		if runtime.NumGoroutine() <= before {
			return
		}
		runtime.Gosched()
		runtime.GC()
	}
	if n := runtime.NumGoroutine(); n > before+2 {
		t.Errorf("%d goroutines, %d before", n, before)
	}
}
