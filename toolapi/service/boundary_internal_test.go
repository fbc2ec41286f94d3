package service

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pages-toolchain/pages/toolapi"
)

// TestPanicsAreContained: after a panic of a tool, the service responds, and undoes the tool's changes.
func TestPanicsAreContained(t *testing.T) {
	s, demo := seeded(t)
	contract := toolapi.NewContract()
	send := func(tool, body string) *httptest.ResponseRecorder {
		t.Helper()
		r := httptest.NewRequestWithContext(
			t.Context(), http.MethodPost, "http://localhost"+toolapi.ToolsPath+tool, strings.NewReader(body),
		)
		r.Header.Set("Authorization", "Bearer "+demo.Keys["member"])
		w := httptest.NewRecorder()
		s.ServeHTTP(w, r)
		return w
	}
	usual := s.tools["page.unschedule"]
	s.tools["page.unschedule"] = bindTool(contract.Unschedule, read, func(c *call, _ toolapi.UnscheduleArgs) (toolapi.Unschedule, error) {
		if err := c.exec("DELETE FROM domains"); err != nil {
			t.Error(err)
		}
		panic("secret of the machine")
	})
	s.tools["brand_profile.status"] = bindTool(contract.BrandProfileStatus, read,
		func(*call, toolapi.NoArgs) (toolapi.BrandProfile, error) {
			panic(1)
		})
	body := `{"site_id":"` + demo.IDs["site_id"] + `"}`
	for _, tool := range []string{"page.unschedule", "brand_profile.status"} {
		w := send(tool, map[bool]string{true: body}[tool == "page.unschedule"])
		var e toolapi.Error
		if err := json.Unmarshal(w.Body.Bytes(), &e); err != nil || w.Code != http.StatusInternalServerError ||
			e.Code != toolapi.CodeInternal || strings.Contains(w.Body.String(), "secret") {
			t.Errorf("%s: %d %s", tool, w.Code, w.Body)
		}
	}
	overMCP := httptest.NewRequestWithContext(
		t.Context(), http.MethodPost, "http://localhost"+toolapi.MCPPath,
		strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"page.unschedule","arguments":`+body+`}}`),
	)
	overMCP.Header = http.Header{
		"Authorization": {"Bearer " + demo.Keys["member"]}, "Accept": {"*/*"}, "Content-Type": {"application/json"},
	}
	w := httptest.NewRecorder()
	s.ServeHTTP(w, overMCP)
	if !strings.Contains(w.Body.String(), `"code":-32603`) || strings.Contains(w.Body.String(), "secret") || w.Code != http.StatusOK {
		t.Errorf("X-013: %d %s", w.Code, w.Body)
	}
	s.tools["page.unschedule"] = usual
	if w := send("page.unschedule", body); w.Code != http.StatusOK || !strings.Contains(w.Body.String(), toolapi.CodeNotScheduled) {
		t.Errorf("the next call: %d %s", w.Code, w.Body)
	}
	if w := send("domain.list", ""); !strings.Contains(w.Body.String(), "www.acme.example") {
		t.Errorf("what a panicking tool did stays: %s", w.Body)
	}
}

// FuzzBoundary: nothing that is sent makes the service fail.
func FuzzBoundary(f *testing.F) {
	s, err := Open(f.Context(), filepath.Join(f.TempDir(), "platform.db"), Options{PerMinute: 1 << 20})
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() { s.Close() })
	demo, err := s.Seed(f.Context())
	if err != nil {
		f.Fatal(err)
	}
	for name := range s.tools {
		for _, body := range []string{
			"", "{}", "[]", `{"workspace":"acme"}`, `{"limit":1e400}`, `{"site_id":null}`, `{"a":{"b":[1,{}]}}`,
			`{"board_id":"` + demo.IDs["board_id"] + `","revision":4}`,
			`{"site_id":"` + demo.IDs["site_id"] + `","at":"2026-11-26T10:00:00+14:00"}`,
			`{"site_id":"` + demo.IDs["other_site_id"] + `","domain_id":"` + demo.IDs["domain_id"] + `"}`,
			`{"tile_id":"` + demo.IDs["tile_id"] + `","already_tried":["\u0000"]}`, `{"childAssetId":"\ufeff"}`,
		} {
			f.Add(name, body, "key", "application/json", "id")
		}
	}
	f.Fuzz(func(t *testing.T, tool, body, key, kind, id string) {
		r := httptest.NewRequestWithContext(
			context.WithoutCancel(t.Context()), http.MethodPost, "http://localhost"+toolapi.ToolsPath,
			strings.NewReader(body),
		)
		r.URL.Path += tool
		r.Header = http.Header{"Authorization": {"Bearer " + demo.Keys["member"]}, "Content-Type": {kind}, "X-Request-Id": {id}}
		if h, ok := s.tools[tool]; ok && h.tool.Replays {
			r.Header["Idempotency-Key"] = []string{key}
		}
		w := httptest.NewRecorder()
		s.ServeHTTP(w, r)
		var answer struct {
			OK   *bool
			Code string
		}
		if err := json.Unmarshal(w.Body.Bytes(), &answer); err != nil || answer.OK == nil || *answer.OK == (answer.Code != "") ||
			w.Code >= 500 {
			t.Fatalf("%s %q: %d %s", tool, body, w.Code, w.Body)
		}
	})
}

// FuzzMCP: no message makes the service fail, and all are answered in JSON or not at
// all.
func FuzzMCP(f *testing.F) {
	s, err := Open(f.Context(), filepath.Join(f.TempDir(), "platform.db"), Options{PerMinute: 1 << 20})
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() { s.Close() })
	demo, err := s.Seed(f.Context())
	if err != nil {
		f.Fatal(err)
	}
	for _, body := range []string{
		`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`,
		`{"jsonrpc":"2.0","id":"a","method":"tools/call","params":{"name":"domain.list","arguments":{}}}`,
		`[{"jsonrpc":"2.0","id":1,"method":"ping"},{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}]`,
		`{"jsonrpc":"2.0","id":1,"result":{}}`,
		`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},` +
			`"clientInfo":{"name":"a","version":"1"}}}`,
		`{"jsonrpc":"2.0","id":1,"method":"subscriptions/listen","params":{}}`,
		`{"jsonrpc":"2.0","id":1,"method":"logging/setLevel","params":{"level":"info"}}`,
		`{"jsonrpc":"2.0","id":1,"method":"resources/subscribe","params":{"uri":"x"}}`,
	} {
		for _, version := range append([]string{""}, protocolVersions...) {
			f.Add(body, version, "tools/call", "domain.list")
		}
	}
	f.Fuzz(func(t *testing.T, body, version, method, name string) {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "http://localhost"+toolapi.MCPPath, strings.NewReader(body))
		r.Header = http.Header{
			"Authorization": {"Bearer " + demo.Keys["member"]}, "Accept": {"*/*"}, "Content-Type": {"application/json"},
			"Mcp-Protocol-Version": {version}, "Mcp-Method": {method}, "Mcp-Name": {name},
		}
		w := httptest.NewRecorder()
		s.ServeHTTP(w, r)
		if w.Code >= 500 || w.Code == http.StatusAccepted && w.Body.Len() > 0 ||
			w.Code != http.StatusAccepted && !json.Valid(w.Body.Bytes()) {
			t.Fatalf("%s: %d %s", body, w.Code, w.Body)
		}
	})
}

// seeded is a service with the demo's workspaces.
func seeded(t *testing.T) (*Service, Demo) {
	t.Helper()
	s, err := Open(t.Context(), filepath.Join(t.TempDir(), "platform.db"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	demo, err := s.Seed(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return s, demo
}
