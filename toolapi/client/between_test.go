package client_test

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/pages-toolchain/pages/toolapi"
	"github.com/pages-toolchain/pages/toolapi/client"
)

// TestRefusedBetween: a refusal by a proxy or a firewall differs from one by the service, and names the request.
func TestRefusedBetween(t *testing.T) {
	blob := func(c *client.Client) error {
		return c.PutBlob(t.Context(), client.Blob{
			Upload: "upl_1", SHA256: strings.Repeat("a", 64), Name: "public/film.mp4", Size: 3,
			Open: func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader("abc")), nil }, Since: time.Now,
		})
	}
	call := func(c *client.Client) error {
		_, err := c.Do(t.Context(), client.Call{Tool: "page.list"})
		return err
	}
	declare := func(c *client.Client) error { _, err := c.Declare(t.Context(), toolapi.DeclareArgs{}); return err }
	for _, c := range []struct {
		name, kind, body string
		status           int
		do               func(*client.Client) error
		want             string
	}{
		{
			"a file too large", "text/html; charset=utf-8", "<html>413", 413, blob,
			"public/film.mp4 got the response HTTP 413 Request Entity Too Large (text/html), and not from the service itself",
		},
		{
			"a call that is forbidden", "text/html", "<html>no", 403, call,
			"page.list got the response HTTP 403 Forbidden (text/html), and not from the service itself",
		},
		{
			"a proxy that wants a name", "text/plain", "who?", 407, declare,
			toolapi.UploadsPath + " got the response HTTP 407 Proxy Authentication Required (text/plain), and not from the service itself",
		},
		{
			"JSON of another program", "application/json", `{"message":"no"}`, 403, call,
			"page.list got the response HTTP 403 Forbidden (application/json), and not from the service itself",
		},
		{
			"the service's own", "application/json", `{"ok":false,"error":{"code":"file_too_large","message":"Too large."}}`, 413, blob,
			"Too large. (file_too_large, HTTP 413)",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newStub(t, func(_ int, w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", c.kind)
				w.WriteHeader(c.status)
				_, _ = io.WriteString(w, c.body)
			})
			cl, _ := dial(t, s.URL, stubKey, &clock{time: time.Now()})
			err := c.do(cl)
			refused, ok := errors.AsType[*client.StatusError](err)
			if !ok || err.Error() != c.want || refused.Foreign() == strings.Contains(c.body, "code") {
				t.Errorf("%v, want %s", err, c.want)
			}
		})
	}
}

// TestDeadProxy: a proxy that does not answer is named, without its password.
func TestDeadProxy(t *testing.T) {
	gone := httptest.NewServer(http.NotFoundHandler())
	gone.Close()
	at, err := url.Parse(strings.Replace(gone.URL, "http://", "http://ana:canary@", 1))
	if err != nil {
		t.Fatal(err)
	}
	for _, address := range []string{"https://service.example", "http://service.example"} {
		t.Run(address, func(t *testing.T) {
			transport := client.NewTransport()
			transport.Proxy = http.ProxyURL(at)
			cl, err := client.New(client.Options{
				BaseURL: address, Transport: transport, CallRetryTime: time.Millisecond, Sleep: (&clock{time: time.Now()}).sleep,
			})
			if err != nil {
				t.Fatal(err)
			}
			_, err = cl.Do(t.Context(), client.Call{Tool: "page.list"})
			lost, ok := errors.AsType[*client.TransportError](err)
			if !ok || lost.Reached || lost.Proxy != at.Redacted() ||
				!strings.Contains(err.Error(), "through the proxy http://ana:xxxxx@127.0.0.1:") ||
				strings.Contains(err.Error(), "canary") || strings.Contains(err.Error(), "service.example:") {
				t.Errorf("%v %+v", err, lost)
			}
		})
	}
}

// TestWaitSaysWhy: the message of a wait names the exhausted rate, and does not mention the deprecated form of the refusal.
func TestWaitSaysWhy(t *testing.T) {
	s := newStub(t, func(n int, w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		if n > 1 {
			_, _ = io.WriteString(w, `{"ok": true}`)
			return
		}
		h := w.Header()
		h.Set(toolapi.HeaderRateLimit, "60")
		h.Set(toolapi.HeaderRateLimitRemaining, "0")
		h.Set(toolapi.HeaderRateLimitReset, "57")
		h.Set(toolapi.HeaderRetryAfter, "57")
		toolapi.Deprecate(h, toolapi.NestedError)
		w.WriteHeader(http.StatusTooManyRequests)
		_, _ = io.WriteString(w, `{"ok":false,"code":"tenant_mcp.rate_limited","message":"Wait."}`)
	})
	cl, told := dial(t, s.URL, stubKey, &clock{time: time.Now()})
	if _, err := cl.Do(t.Context(), client.Call{Tool: "page.list"}); err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(told(), "\n"); got != "this key has used its 60 calls per minute: waiting 57 s" {
		t.Errorf("told %q", got)
	}
}
