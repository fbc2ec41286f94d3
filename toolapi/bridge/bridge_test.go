package bridge_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/pages-toolchain/pages/toolapi"
	"github.com/pages-toolchain/pages/toolapi/bridge"
	"github.com/pages-toolchain/pages/toolapi/oracle"
	"github.com/pages-toolchain/pages/toolapi/service"
)

// serve is a real service with the demo.
func serve(t *testing.T) (endpoint string, demo service.Demo) {
	t.Helper()
	s, err := service.Open(t.Context(), filepath.Join(t.TempDir(), "service.db"), service.Options{PerMinute: 1000})
	if err != nil {
		t.Fatal(err)
	}
	if demo, err = s.Seed(t.Context()); err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(oracle.Of(t, s).Handler(s))
	t.Cleanup(func() {
		server.Close()
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return server.URL + toolapi.MCPPath, demo
}

// runLines runs a bridge on lines, and returns the lines that came back.
func runLines(t *testing.T, o bridge.Options, lines ...string) []map[string]any {
	t.Helper()
	var out bytes.Buffer
	if err := bridge.Run(t.Context(), strings.NewReader(strings.Join(lines, "\n")+"\n"), &out, o); err != nil {
		t.Fatal(err)
	}
	var all []map[string]any
	scan := bufio.NewScanner(&out)
	scan.Buffer(nil, 1<<20)
	for scan.Scan() {
		var m map[string]any
		if err := json.Unmarshal(scan.Bytes(), &m); err != nil {
			t.Fatalf("%s: %v", scan.Bytes(), err)
		}
		all = append(all, m)
	}
	return all
}

// TestAgent: the SDK's client, which starts a server by a pipe, calls tools through
// the bridge.
func TestAgent(t *testing.T) {
	endpoint, demo := serve(t)
	fromAgent, toBridge := io.Pipe()
	fromBridge, toAgent := io.Pipe()
	ended := make(chan error, 1)
	go func() {
		err := bridge.Run(t.Context(), fromAgent, toAgent, bridge.Options{Endpoint: endpoint, Key: demo.Keys["member"]})
		ended <- errors.Join(err, toAgent.Close())
	}()
	session, err := mcp.NewClient(&mcp.Implementation{Name: "agent", Version: "1"}, nil).Connect(
		t.Context(), &mcp.IOTransport{Reader: fromBridge, Writer: toBridge}, nil,
	)
	if err != nil {
		t.Fatal(err)
	}
	tools, err := session.ListTools(t.Context(), nil)
	if err != nil || len(tools.Tools) != len(toolapi.NewContract().Tools()) {
		t.Fatalf("%v %v", tools, err)
	}
	result, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: "domain.list"})
	if err != nil || result.IsError || !strings.Contains(fmt.Sprint(result.StructuredContent), "www.acme.example") {
		t.Errorf("%v %v", result, err)
	}
	if err := session.Close(); err != nil {
		t.Error(err)
	}
	if err := toBridge.Close(); err != nil {
		t.Error(err)
	}
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

// TestRevisions: the headers are those of the revision that the messages speak.
func TestRevisions(t *testing.T) {
	endpoint, demo := serve(t)
	o := bridge.Options{Endpoint: endpoint, Key: demo.Keys["member"]}
	const old = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},` +
		`"clientInfo":{"name":"a","version":"1"}}}`
	got := runLines(
		t, o, old, `{"jsonrpc":"2.0","method":"notifications/initialized"}`,
		`{"jsonrpc":"2.0","id":"x","method":"tools/call","params":{"name":"domain.list"}}`,
	)
	if len(got) != 2 || got[1]["id"] != "x" || got[1]["result"] == nil {
		t.Errorf("%v", got)
	}
	const meta = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}`
	got = runLines(
		t, o, `{"jsonrpc":"2.0","id":1,"method":"server/discover","params":{`+meta+`}}`,
		`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"domain.list",`+meta+`}}`,
	)
	slices.SortFunc(got, func(a, b map[string]any) int { return strings.Compare(fmt.Sprint(a["id"]), fmt.Sprint(b["id"])) })
	if len(got) != 2 || got[0]["result"] == nil || got[1]["result"] == nil {
		t.Errorf("%v", got)
	}
	got = runLines(t, o, old, `[{"jsonrpc":"2.0","id":5,"method":"ping"}]`) // of a revision without arrays
	if len(got) != 2 || got[1]["id"] != 5.0 || got[1]["error"] == nil {
		t.Errorf("%v", got)
	}
}

// TestFailures: every request gets a response after any failure, and no response has the key.
func TestFailures(t *testing.T) {
	endpoint, demo := serve(t)
	const ping = `{"jsonrpc":"2.0","id":1,"method":"ping"}`
	for name, c := range map[string]struct {
		o    bridge.Options
		line string
		want string
	}{
		"no key":  {bridge.Options{Endpoint: endpoint}, ping, "Send a valid API key"},
		"revoked": {bridge.Options{Endpoint: endpoint, Key: demo.Keys["revoked"]}, ping, "Send a valid API key"},
		"no JSON": {bridge.Options{Endpoint: endpoint, Key: demo.Keys["member"]}, "{", "not a JSON-RPC"},
		"no message": {
			bridge.Options{Endpoint: endpoint, Key: demo.Keys["member"]},
			`{"jsonrpc":"2.0","id":1,"method":"no/such"}`,
			"method not found",
		},
		"nobody": {bridge.Options{Endpoint: "http://127.0.0.1:1/mcp", Key: demo.Keys["member"]}, ping, "does not answer"},
		"another one": {
			bridge.Options{Endpoint: strings.TrimSuffix(endpoint, "/mcp") + "/healthz", Key: demo.Keys["member"]},
			ping,
			"read-only",
		},
	} {
		t.Run(name, func(t *testing.T) {
			got := runLines(t, c.o, c.line)
			text := fmt.Sprint(got)
			if len(got) != 1 || !strings.Contains(text, c.want) || got[0]["error"] == nil ||
				c.o.Key != "" && strings.Contains(text, c.o.Key) {
				t.Error(text)
			}
		})
	}
	if got := runLines(
		t, bridge.Options{Endpoint: "http://127.0.0.1:1/"}, `{"jsonrpc":"2.0","method":"notifications/initialized"}`,
		"", "  ",
	); len(got) != 0 {
		t.Errorf("a notification was answered: %v", got)
	}
}

// TestUnanswered: a request without a response from the service gets one, and any response of the service passes.
func TestUnanswered(t *testing.T) {
	const key, ping, none = "pgk_secret", `{"jsonrpc":"2.0","id":1,"method":"ping"}`, "did not answer the request"
	deep := `{"jsonrpc":"2.0","id":1,"result":` + strings.Repeat("[", 100) + strings.Repeat("]", 100) + `}`
	many := "[" + strings.Repeat(`{"jsonrpc":"2.0","method":"notifications/progress"},`, 60) + `{"jsonrpc":"2.0","id":1,"result":{}}]`
	for name, c := range map[string]struct {
		status             int
		kind, answer, want string
		failed             bool
	}{
		"nothing":         {200, "application/json", "", none, true},
		"taken":           {202, "application/json", "", none, true},
		"another request": {200, "application/json", `{"jsonrpc":"2.0","id":2,"result":{}}`, none, true},
		"no stream":       {200, "text/event-stream", "", none, true},
		"part of one":     {200, "text/event-stream", `data: {"jsonrpc":"2.0","id":1,"resu`, none, true},
		"no JSON in one":  {200, "text/event-stream", "data: hello\n\n", none, true},
		"only progress":   {200, "text/event-stream", "data: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\"}\n\n", none, true},
		"null":            {200, "application/json", "null", "HTTP status 200", true},
		"the key":         {401, "application/json", `{"ok":false,"code":"x","message":"not ` + key + `"}`, "not …", true},
		"a deep one":      {200, "application/json", deep, "[[[[", false},
		"many":            {200, "application/json", many, `"result":{}`, false},
		"a name twice":    {200, "application/json", `{"jsonrpc":"2.0","id":1,"result":{"a":1,"a":2}}`, `"a":2`, false},
	} {
		t.Run(name, func(t *testing.T) {
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", c.kind)
				w.WriteHeader(c.status)
				fmt.Fprint(w, c.answer)
			}))
			var out bytes.Buffer
			err := bridge.Run(t.Context(), strings.NewReader(ping+"\n"), &out, bridge.Options{Endpoint: server.URL, Key: key})
			server.Close()
			lines := strings.Split(strings.TrimSpace(out.String()), "\n")
			if last := lines[len(lines)-1]; err != nil || !strings.Contains(last, c.want) ||
				strings.Contains(last, `"error"`) != c.failed || strings.Contains(last, key) {
				t.Errorf("%s: %v %s", name, err, out.String())
			}
		})
	}
	done := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		_ = http.NewResponseController(w).Flush()
		<-done
	}))
	defer server.Close()
	defer close(done)
	if got := runLines(t, bridge.Options{Endpoint: server.URL, Idle: 50 * time.Millisecond}, ping); len(got) != 1 ||
		!strings.Contains(fmt.Sprint(got), "no data arrived for too long") {
		t.Errorf("a silent service: %v", got)
	}
	for _, line := range []string{`{"jsonrpc":"2.0","id":1.5,"method":"ping"}`, `{"jsonrpc":"1.0","id":1,"method":"ping"}`, "5"} {
		if got := runLines(t, bridge.Options{Endpoint: server.URL}, line); len(got) != 1 ||
			!strings.Contains(fmt.Sprint(got), "not a JSON-RPC message") {
			t.Errorf("%s: %v", line, got)
		}
	}
}

// TestDeprecated: each deprecation in a response is shown once.
func TestDeprecated(t *testing.T) {
	endpoint, demo := serve(t)
	var mu sync.Mutex
	var told []string
	warn := func(sentence string) {
		mu.Lock()
		defer mu.Unlock()
		told = append(told, sentence)
	}
	const ping = `{"jsonrpc":"2.0","id":1,"method":"ping"}`
	runLines(t, bridge.Options{Endpoint: endpoint, Key: demo.Keys["member"], Warn: warn}, ping)
	if len(told) != 0 {
		t.Errorf("nothing is deprecated: %q", told)
	}
	runLines(t, bridge.Options{Endpoint: endpoint, Warn: warn}, ping, ping, ping)
	want := "deprecated since 2026-01-01, kept until 2026-12-31: see " + strings.TrimSuffix(
		endpoint, toolapi.MCPPath,
	) + "/api/v1/deprecations#nested-error"
	if len(told) != 1 || !strings.Contains(told[0], want) {
		t.Errorf("%q, want %q once", told, want)
	}
}

// TestStream: a service that answers with an event stream and keeps a session.
func TestStream(t *testing.T) {
	var sessions []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		sessions = append(sessions, r.Header.Get("Mcp-Session-Id"))
		w.Header().Set("Content-Type", "text/event-stream")
		w.Header().Set("Mcp-Session-Id", "s1")
		fmt.Fprint(
			w,
			": hello\n\nevent: message\nid: 1\ndata: {\"jsonrpc\":\"2.0\",\ndata: "+
				"\"method\":\"notifications/progress\"}\n\ndata: {\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\n\n",
		)
	}))
	defer server.Close()
	got := runLines(
		t, bridge.Options{Endpoint: server.URL}, `{"jsonrpc":"2.0","id":1,"method":"initialize"}`,
		`{"jsonrpc":"2.0","id":1,"method":"ping"}`,
	)
	if len(got) != 4 || got[0]["method"] != "notifications/progress" || got[1]["id"] != 1.0 || !slices.Equal(sessions, []string{"", "s1"}) {
		t.Errorf("%v %v", got, sessions)
	}
}

// TestRedirect: the key stays with the endpoint.
func TestRedirect(t *testing.T) {
	asked := false
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked = true }))
	defer other.Close()
	server := httptest.NewServer(http.RedirectHandler(other.URL, http.StatusTemporaryRedirect))
	defer server.Close()
	got := runLines(t, bridge.Options{Endpoint: server.URL, Key: "pgk_secret"}, `{"jsonrpc":"2.0","id":1,"method":"ping"}`)
	if asked || len(got) != 1 || got[0]["error"] == nil {
		t.Errorf("%v, asked elsewhere: %v", got, asked)
	}
}

// TestCancel: a bridge ends with its context though the pipe stays open.
func TestCancel(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	in, keep := io.Pipe()
	defer keep.Close()
	cancel()
	if err := bridge.Run(ctx, in, io.Discard, bridge.Options{Endpoint: "http://127.0.0.1:1/"}); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}
