package client_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/iotest"
	"time"

	"github.com/pages-toolchain/pages/toolapi"
	"github.com/pages-toolchain/pages/toolapi/client"
)

func TestAddresses(t *testing.T) {
	for _, tt := range []struct{ address, base, problem string }{
		{"https://workspace.example", "https://workspace.example", ""},
		{"https://workspace.example/", "https://workspace.example", ""},
		{"https://workspace.example/api/v1/", "https://workspace.example", ""},
		{"https://workspace.example/team", "https://workspace.example/team", ""},
		{"http://127.0.0.1:8790", "http://127.0.0.1:8790", ""},
		{"http://[::1]:8790", "http://[::1]:8790", ""},
		{"http://platform.localhost:8790", "http://platform.localhost:8790", ""},
		{"http://workspace.example", "", "is not encrypted"},
		{"http://127.0.0.1.example", "", "is not encrypted"},
		{"workspace.example", "", `is not an http or https address; write https://workspace.example`},
		{"127.0.0.1:8790", "", `is not an http or https address; write http://127.0.0.1:8790`},
		{"localhost:8790/team", "", `is not an http or https address; write http://localhost:8790/team`},
		{"htp://127.0.0.1:8790", "", "is not an http or https address; pass the service's address"},
		{"ftp://workspace.example", "", "is not an http or https address"},
		{"", "", "is not an http or https address"},
		{"https://me:secretword@workspace.example", "", "has a user name"},
		{"https://workspace.example?x=1", "", "has a query"},
		{"https://workspace.example\x7f", "", "is not an http or https address"},
	} {
		t.Run(fmt.Sprintf("%q", tt.address), func(t *testing.T) {
			c, err := client.New(client.Options{BaseURL: tt.address, Key: "k"})
			if tt.problem == "" {
				if err != nil || c.BaseURL() != tt.base {
					t.Errorf("%q: %v", tt.address, err)
				}
				return
			}
			bad, ok := errors.AsType[*client.AddressError](err)
			if !ok || !strings.Contains(bad.Error()+"; "+bad.Fix, tt.problem) || strings.Contains(bad.Error(), "secretword") {
				t.Errorf("%q: %v", tt.address, err)
			}
		})
	}
}

func TestSiteURL(t *testing.T) {
	for _, tt := range []struct{ base, hostname, want string }{
		{"http://127.0.0.1:8790", "demo-home.localhost", "http://demo-home.localhost:8790/"},
		{"http://127.0.0.1:8790", "www.acme.example", "https://www.acme.example/"},
		{"https://workspace.example", "home.pages.example", "https://home.pages.example/"},
		{"https://workspace.example", "", ""},
	} {
		t.Run(fmt.Sprintf("%s at %s", tt.hostname, tt.base), func(t *testing.T) {
			c, err := client.New(client.Options{BaseURL: tt.base})
			if err != nil {
				t.Fatal(err)
			}
			if got := c.SiteURL(tt.hostname); got != tt.want {
				t.Errorf("%s at %s: %q", tt.hostname, tt.base, got)
			}
		})
	}
}

// TestCalls calls the real service.
func TestCalls(t *testing.T) {
	w := newTestService(t)
	contract := toolapi.NewContract()
	member, _ := dial(t, w.url, w.demo.Keys["member"], w.clock)
	status, err := client.Run(t.Context(), member, contract.ContentStatus, toolapi.ContentStatusArgs{Limit: 2})
	if err != nil || len(status.Pieces) != 2 || status.Workspace != "acme" {
		t.Fatalf("%v: %+v", err, status)
	}

	_, err = member.Do(t.Context(), client.Call{Tool: "content.status", Arguments: json.RawMessage(`{"limit": 0}`)})
	refused, ok := errors.AsType[*client.RefusalError](err)
	if !ok || refused.Refusal.Code != toolapi.CodeInvalidArguments || refused.Refusal.Issues[0].Path != "limit" ||
		refused.RequestID == "" || refused.Boundary {
		t.Errorf("%v", err)
	}

	both, _ := dial(t, w.url, w.demo.Keys["both"], w.clock)
	_, err = both.Do(t.Context(), client.Call{Tool: "content.status"})
	refused, ok = errors.AsType[*client.RefusalError](err)
	if !ok || refused.Refusal.Code != toolapi.CodeWorkspaceAmbiguous || !refused.Boundary ||
		!slices.Equal(refused.Refusal.Workspaces, []string{"acme", "globex"}) {
		t.Errorf("%v", err)
	}

	for key, want := range map[string]int{"revoked": http.StatusUnauthorized, "no_access": http.StatusForbidden} {
		c, _ := dial(t, w.url, w.demo.Keys[key], w.clock)
		_, err := c.Do(t.Context(), client.Call{Tool: "content.status"})
		if e, ok := errors.AsType[*client.StatusError](err); !ok || e.Status != want || e.Code == "" || e.RequestID == "" {
			t.Errorf("%s: %v", key, err)
		}
	}
	_, err = member.Do(t.Context(), client.Call{Tool: "no.such_tool"})
	if e, ok := errors.AsType[*client.StatusError](err); !ok || e.Status != http.StatusNotFound {
		t.Errorf("%v", err)
	}
}

// TestIdempotency: the client sends a key only to tools that accept one.
func TestIdempotency(t *testing.T) {
	w := newTestService(t)
	member, told := dial(t, w.url, w.demo.Keys["member"], w.clock)
	undo := func(call client.Call) (d toolapi.Draft) {
		t.Helper()
		call.Tool = "automations.undo_draft"
		a, err := member.Do(t.Context(), call)
		if err != nil || json.Unmarshal(a.Body, &d) != nil {
			t.Fatal(err)
		}
		return d
	}
	board := fmt.Sprintf(`"board_id": %q`, w.demo.IDs["board_id"])
	first := undo(client.Call{Arguments: json.RawMessage("{" + board + "}")})
	if second := undo(client.Call{Arguments: json.RawMessage("{" + board + "}")}); second.Replayed || second.Revision != first.Revision+1 {
		t.Errorf("a second call is one of its own: %+v", second)
	}
	third := undo(client.Call{Arguments: json.RawMessage("{" + board + "}"), IdempotencyKey: "k1"})
	if again := undo(client.Call{Arguments: json.RawMessage("{" + board + "}"), IdempotencyKey: "k1"}); !again.Replayed ||
		again.Revision != third.Revision {
		t.Errorf("the same key replays: %+v", again)
	}
	if len(told()) != 0 {
		t.Errorf("%q", told())
	}
	for range 2 {
		undo(client.Call{Arguments: json.RawMessage("{" + board + `, "idempotency_key": "k1"}`)})
	}
	if said := told(); len(said) != 1 ||
		!strings.Contains(
			said[0],
			"deprecated since 2026-01-01, kept until 2026-12-31: see "+w.url+"/api/v1/deprecations#body-idempotency-key",
		) {
		t.Errorf("%q", said)
	}
}

// TestRate waits as long as the service says, and is never refused twice in a row.
func TestRate(t *testing.T) {
	w := newTestService(t)
	c, told := dial(t, w.url, w.demo.Keys["limited"], w.clock)
	for i := range 12 {
		if _, err := c.Do(t.Context(), client.Call{Tool: "brand_profile.status"}); err != nil {
			t.Fatalf("call %d: %v", i, err)
		}
	}
	if total := w.total(); total < 2*time.Minute || total > 2*time.Minute+10*time.Second {
		t.Errorf("12 calls at 5 a minute slept %v", total)
	}
	for _, s := range told() {
		if strings.Contains(s, "asks to wait") {
			t.Errorf("the cap was run into: %q", s)
		}
	}
	// Another client uses the key up: this one does not know, and waits by Retry-After.
	other, said := dial(t, w.url, w.demo.Keys["limited"], w.clock)
	if _, err := other.Do(t.Context(), client.Call{Tool: "brand_profile.status"}); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Do(t.Context(), client.Call{Tool: "brand_profile.status"}); err != nil {
		t.Fatal(err)
	}
	_ = said
}

// TestStatuses holds how often each status is tried.
func TestStatuses(t *testing.T) {
	for _, tt := range []struct {
		status int
		tool   string
		tries  int
	}{
		{400, "content.status", 1},
		{401, "content.status", 1},
		{403, "content.status", 1},
		{404, "content.status", 1},
		{409, "content.status", 1},
		{413, "content.status", 1},
		{415, "content.status", 1},
		{422, "content.status", 1},
		{501, "content.status", 1},
		{408, "content.status", 4},
		{500, "content.status", 4},
		{502, "content.status", 4},
		{503, "content.status", 4},
		{504, "content.status", 4},
		{429, "content.status", 4},
		{429, "shorts.try_shape", 4}, // it did not run
		{500, "shorts.try_shape", 1}, // it may have run
		{502, "shorts.try_shape", 1},
		{500, "automations.undo_draft", 4},
		{502, "page.publish", 4},
		{502, "not.known", 1},
	} {
		t.Run(fmt.Sprint(tt.status, " ", tt.tool), func(t *testing.T) {
			s := newStub(t, func(n int, w http.ResponseWriter, _ *http.Request) {
				if n == 4 {
					_, _ = io.WriteString(w, `{"ok": true}`)
					return
				}
				w.Header().Set("Retry-After", "3")
				w.WriteHeader(tt.status)
				fmt.Fprintf(
					w,
					`{"ok": false, "code": "some.code", "message": "It echoes %s.", "error": {"code": "old.code", "message": "Old."}}`,
					stubKey,
				)
			})
			clock := &clock{time: time.Now()}
			c, _ := dial(t, s.URL, stubKey, clock)
			_, err := c.Do(t.Context(), client.Call{Tool: tt.tool})
			if s.count() != tt.tries {
				t.Errorf("%d tries, want %d: %v", s.count(), tt.tries, err)
			}
			if tt.tries == 1 {
				e, ok := errors.AsType[*client.StatusError](err)
				if !ok || e.Status != tt.status || e.Code != "some.code" || strings.Contains(err.Error(), stubKey) ||
					!strings.Contains(err.Error(), "It echoes pgk_thekey….") {
					t.Errorf("%v", err)
				}
			} else if err != nil || clock.total() != 9*time.Second {
				t.Errorf("slept %v: %v", clock.total(), err)
			}
			id := s.heard[0].Header.Get("X-Request-Id")
			for _, r := range s.heard {
				if r.Header.Get("Authorization") != "Bearer "+stubKey || r.Header.Get("X-Request-Id") != id || id == "" {
					t.Errorf("%v", r.Header)
				}
			}
		})
	}
}

// TestPatience backs off between retries, and gives up with the last response.
func TestPatience(t *testing.T) {
	w := newStub(t, func(_ int, w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusBadGateway) })
	slow := &clock{time: time.Now()}
	upload, told := dial(t, w.URL, stubKey, slow)
	if _, err := upload.Finalize(t.Context(), "upl_x"); err == nil || slow.total() < time.Minute || slow.total() > 2*time.Minute {
		t.Errorf("gave an upload up after %v: %v", slow.total(), err)
	}
	if said := told(); len(said) != 1 || !strings.Contains(said[0], "trying again for up to 120 s") {
		t.Errorf("%q", said)
	}

	busy := newStub(t, func(_ int, w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Retry-After", "1")
		w.WriteHeader(http.StatusTooManyRequests)
	})
	limited, told := dial(t, busy.URL, stubKey, slow)
	if _, err := limited.Do(t.Context(), client.Call{Tool: "content.status"}); err == nil || len(told()) != 1 ||
		!strings.Contains(told()[0], "trying again for up to 120 s") {
		t.Errorf("short waits without end: %v, told %q", err, told())
	}

	s := newStub(t, func(_ int, w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusBadGateway) })
	clock := &clock{time: time.Now()}
	c, _ := dial(t, s.URL, stubKey, clock)
	_, err := c.Do(t.Context(), client.Call{Tool: "content.status"})
	if e, ok := errors.AsType[*client.StatusError](err); !ok || e.Status != http.StatusBadGateway {
		t.Fatal(err)
	}
	if total := clock.total(); total > 10*time.Second || total < time.Second {
		t.Errorf("gave up after %v", total)
	}
	for i, d := range clock.slept {
		if d > 8*time.Second || i == 0 && d > 250*time.Millisecond {
			t.Errorf("pause %d is %v", i, d)
		}
	}
	always := newStub(t, func(_ int, w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Retry-After", "3600")
		w.WriteHeader(http.StatusTooManyRequests)
	})
	c, _ = dial(t, always.URL, stubKey, clock)
	_, err = c.Do(t.Context(), client.Call{Tool: "content.status"})
	if e, ok := errors.AsType[*client.StatusError](err); !ok || e.Status != http.StatusTooManyRequests || e.RetryAfter != 3600 ||
		always.count() != 1 {
		t.Errorf("%v after %d tries", err, always.count())
	}
}

// TestAbsurdWaits: the client gives up at once if the service asks for a wait that overflows time.Duration.
func TestAbsurdWaits(t *testing.T) {
	for _, wait := range []string{"9223372037", "18446744074", "9223372036854775807"} {
		for _, status := range []int{http.StatusTooManyRequests, http.StatusServiceUnavailable} {
			s := newStub(t, func(_ int, w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Retry-After", wait)
				w.Header().Set("RateLimit-Limit", "60")
				w.Header().Set("RateLimit-Remaining", "0")
				w.Header().Set("RateLimit-Reset", wait)
				w.WriteHeader(status)
			})
			clock := &clock{time: time.Now()}
			c, _ := dial(t, s.URL, stubKey, clock)
			ctx, stop := context.WithTimeout(t.Context(), 5*time.Second)
			for range 2 {
				_, err := c.Do(ctx, client.Call{Tool: "content.status"})
				if e, ok := errors.AsType[*client.StatusError](err); !ok || e.RetryAfter < 1<<29 || s.count() != 1 || len(clock.slept) > 0 {
					t.Errorf("%d, %s s: %v after %d tries", status, wait, err, s.count())
				}
			}
			stop()
		}
	}
}

// TestLostAnswers cuts the connection after the service has heard all.
func TestLostAnswers(t *testing.T) {
	for tool, tries := range map[string]int{
		"content.status": 2, "page.publish": 2, "automations.redo_draft": 2, "shorts.try_shape": 1,
		"page.unschedule": 1,
	} {
		t.Run(tool, func(t *testing.T) {
			s := newStub(t, func(n int, w http.ResponseWriter, _ *http.Request) {
				if n == 1 {
					panic(http.ErrAbortHandler)
				}
				_, _ = io.WriteString(w, `{"ok": true}`)
			})
			c, _ := dial(t, s.URL, stubKey, &clock{time: time.Now()})
			_, err := c.Do(t.Context(), client.Call{Tool: tool})
			lost, isLost := errors.AsType[*client.TransportError](err)
			if s.count() != tries || isLost != (tries == 1) || isLost && !lost.Reached {
				t.Errorf("%s: %d tries, %v", tool, s.count(), err)
			}
			if tries == 2 && s.heard[0].Header.Get("Idempotency-Key") != s.heard[1].Header.Get("Idempotency-Key") {
				t.Errorf("%s: another key on the second try", tool)
			}
		})
	}
}

// TestNobodyThere retries even a write, since no service can have received it.
func TestNobodyThere(t *testing.T) {
	s := newStub(t, func(int, http.ResponseWriter, *http.Request) {})
	address := s.URL
	s.Close()
	clock := &clock{time: time.Now()}
	c, _ := dial(t, address, stubKey, clock)
	_, err := c.Do(t.Context(), client.Call{Tool: "shorts.try_shape"})
	lost, ok := errors.AsType[*client.TransportError](err)
	if !ok || lost.Reached || len(clock.slept) < 5 || !strings.Contains(strings.ToLower(err.Error()), "refused") {
		t.Errorf("%v after %d pauses", err, len(clock.slept))
	}
}

// TestAnswersOutsideTheContract: such responses are errors, never a success.
func TestAnswersOutsideTheContract(t *testing.T) {
	for name, tt := range map[string]struct {
		status int
		body   string
		want   string
	}{
		"html":     {200, "<!doctype html><title>Wi-Fi sign-in</title>", "is not a JSON object"},
		"array":    {200, "[]", "is not a JSON object"},
		"empty":    {200, "", "is not a JSON object"},
		"no body":  {204, "", "is not a JSON object"},
		"no ok":    {200, `{"pieces": []}`, `has no "ok"`},
		"no code":  {200, `{"ok": false}`, "is a refusal without a code"},
		"redirect": {302, "", "redirects to"},
		"endless":  {200, `{"ok": true, "x": "` + strings.Repeat("x", 17<<20) + `"}`, "is longer than the contract"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStub(t, func(_ int, w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Location", "https://elsewhere.example/?"+stubKey)
				w.WriteHeader(tt.status)
				_, _ = io.WriteString(w, tt.body)
			})
			c, _ := dial(t, s.URL, stubKey, &clock{time: time.Now()})
			_, err := c.Do(t.Context(), client.Call{Tool: "content.status"})
			if _, ok := errors.AsType[*client.ContractError](err); !ok || !strings.Contains(err.Error(), tt.want) ||
				strings.Contains(err.Error(), stubKey) || s.count() != 1 {
				t.Errorf("%s: %v", name, err)
			}
		})
	}
}

// TestPartialAnswers: a success that lacks fields of the contract is an error. Further fields are
// allowed.
func TestPartialAnswers(t *testing.T) {
	var said string
	s := newStub(t, func(_ int, w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, said) })
	c, _ := dial(t, s.URL, stubKey, &clock{time: time.Now()})
	call := func(tool string) error {
		_, err := c.Do(t.Context(), client.Call{Tool: tool, Complete: true})
		return err
	}
	const in = `{"ok":true,"more":1,"workspace":"a","working_in":{}`
	for _, tt := range []struct {
		said string
		do   func() error
		want string
	}{
		{`{"ok":true}`, func() error { return call("domain.list") }, `has no "workspace"`},
		{in + `}`, func() error { return call("domain.list") }, `has no "domains"`},
		{in + `,"domains":[]}`, func() error { return call("domain.list") }, ""},
		{in + `}`, func() error { return call("page.publish") }, `has no "state"`},
		{in + `,"state":"soon"}`, func() error { return call("page.publish") }, `has no "state"`},
		{in + `,"state":"done"}`, func() error { return call("page.publish") }, `has no "site_id"`},
		{in + `}`, func() error { return call("no.such") }, ""},
		{in + `,"domains":[{"serving_now":"yes"}]}`, func() error { return call("domain.list") }, `has no "domains.serving_now"`},
		{in + `}`, func() error { _, err := c.Finalize(t.Context(), "upl_1"); return err }, `has no "revision"`},
		{in + `,"revision":null}`, func() error { _, err := c.Finalize(t.Context(), "upl_1"); return err }, `has no "revision"`},
		{`[]`, func() error { _, err := c.Tools(t.Context()); return err }, "not an OpenAPI document: it lists no tools"},
		{`<p>`, func() error { _, err := c.Tools(t.Context()); return err }, "not an OpenAPI document: it is not JSON"},
		{`{"ok":false}`, func() error { return c.RevokePreviewLink(t.Context(), "prv_1") }, "does not confirm the removal"},
	} {
		t.Run(strings.TrimPrefix(tt.said, in)+" "+tt.want, func(t *testing.T) {
			said = tt.said
			err := tt.do()
			if _, ok := errors.AsType[*client.ContractError](err); ok != (tt.want != "") ||
				ok && !strings.Contains(err.Error(), tt.want) || !ok && err != nil {
				t.Errorf("%s: %v, want %q", tt.said, err, tt.want)
			}
		})
	}
}

// TestStalled ends a try without a byte.
func TestStalled(t *testing.T) {
	release := make(chan struct{})
	s := newStub(t, func(n int, w http.ResponseWriter, r *http.Request) {
		if n == 1 {
			select {
			case <-release:
			case <-r.Context().Done():
			}
			return
		}
		_, _ = io.WriteString(w, `{"ok": true}`)
	})
	defer close(release)
	clock := &clock{time: time.Now()}
	c, err := client.New(client.Options{BaseURL: s.URL, Key: stubKey, Idle: 50 * time.Millisecond, Now: clock.now, Sleep: clock.sleep})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Do(t.Context(), client.Call{Tool: "content.status"}); err != nil || s.count() != 2 {
		t.Errorf("%v after %d tries", err, s.count())
	}
}

// TestDrips ends a try whose answer comes byte by byte: it would be read without end.
func TestDrips(t *testing.T) {
	const idle = 50 * time.Millisecond
	s := newStub(t, func(n int, w http.ResponseWriter, r *http.Request) {
		drops := time.NewTicker(idle / 10)
		defer drops.Stop()
		for n == 1 && r.Context().Err() == nil {
			_, _ = io.WriteString(w, " ")
			_ = http.NewResponseController(w).Flush()
			<-drops.C
		}
		_, _ = io.WriteString(w, `{"ok": true}`)
	})
	clock := &clock{time: time.Now()}
	c, err := client.New(client.Options{BaseURL: s.URL, Key: stubKey, Idle: idle, Now: clock.now, Sleep: clock.sleep})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithTimeout(t.Context(), 10*time.Second)
	defer stop()
	if _, err := c.Do(ctx, client.Call{Tool: "content.status"}); err != nil || s.count() != 2 {
		t.Errorf("%v after %d tries", err, s.count())
	}
}

// TestTools reads the live description.
func TestTools(t *testing.T) {
	w := newTestService(t)
	c, _ := dial(t, w.url, "", w.clock)
	tools, err := c.Tools(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	contract := toolapi.NewContract()
	if len(tools) != len(contract.Tools()) {
		t.Errorf("%d tools, want %d", len(tools), len(contract.Tools()))
	}
	for _, info := range tools {
		tool, ok := c.Tool(info.Name)
		if !ok || info.TwoCalls != (tool.Effect == toolapi.Proposes) || info.Replays != tool.Replays || info.Title != tool.Title ||
			len(info.Arguments) == 0 || len(info.Result) == 0 {
			t.Errorf("%s: %+v", info.Name, info)
		}
	}
}

// writes counts the pieces that a connection is written in.
type writes struct {
	net.Conn
	n *atomic.Int64
}

func (w writes) Write(b []byte) (int, error) {
	w.n.Add(1)
	return w.Conn.Write(b)
}

// TestOnePiece sends a short body that is in memory together with its head, and any body
// whole.
func TestOnePiece(t *testing.T) {
	var got atomic.Int64
	s := newStub(t, func(_ int, w http.ResponseWriter, r *http.Request) {
		n, _ := io.Copy(io.Discard, r.Body)
		got.Store(n)
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"ok":true}`)
	})
	var n atomic.Int64
	transport := &http.Transport{
		WriteBufferSize: 64 << 10,
		DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
			conn, err := (&net.Dialer{}).DialContext(ctx, network, address)
			return writes{conn, &n}, err
		},
	}
	cl, err := client.New(client.Options{BaseURL: s.URL, Key: stubKey, Transport: transport})
	if err != nil {
		t.Fatal(err)
	}
	defer cl.Close()
	for _, size := range []int{0, 1, 20_000, 5 << 20} {
		t.Run(fmt.Sprintf("%d bytes", size), func(t *testing.T) {
			text := bytes.Repeat([]byte("x"), size)
			for name, body := range map[string]func() io.ReadCloser{
				"whole": func() io.ReadCloser { return client.MemoryBody{Reader: bytes.NewReader(text)} }, "read": func() io.ReadCloser {
					return io.NopCloser(iotest.OneByteReader(bytes.NewReader(text[:min(size, 1000)])))
				},
			} {
				sent := size
				if name == "read" {
					sent = min(size, 1000)
				}
				n.Store(0)
				err := cl.PutBlob(t.Context(), client.Blob{
					Upload: "upl_x", SHA256: strings.Repeat("0", 64), Size: int64(sent),
					Open: func() (io.ReadCloser, error) { return body(), nil },
				})
				if err != nil || got.Load() != int64(sent) {
					t.Errorf("%s, %d bytes: %d came, %v", name, sent, got.Load(), err)
				}
				if name == "whole" && size <= 20_000 && n.Load() != 1 {
					t.Errorf("%d bytes were written in %d pieces", size, n.Load())
				}
			}
		})
	}
}
