package client_test

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/pages-toolchain/pages/toolapi/client"
)

// TestUntrusted: a service that does not prove its identity gets one connection, and no request with a key.
func TestUntrusted(t *testing.T) {
	var heard, shakes atomic.Int32
	count := http.HandlerFunc(func(http.ResponseWriter, *http.Request) { heard.Add(1) })
	secured := httptest.NewUnstartedServer(count)
	secured.TLS = &tls.Config{GetConfigForClient: func(*tls.ClientHelloInfo) (*tls.Config, error) {
		shakes.Add(1)
		return nil, nil //nolint:nilnil // the server's own
	}}
	secured.Config.ErrorLog = log.New(io.Discard, "", 0)
	secured.StartTLS()
	defer secured.Close()
	plain := httptest.NewServer(count)
	defer plain.Close()
	for address, says := range map[string]string{
		secured.URL: "certificate signed by unknown authority",
		strings.Replace(plain.URL, "http:", "https:", 1): "HTTP response to HTTPS client",
	} {
		c := &clock{}
		cl, told := dial(t, address, stubKey, c)
		_, err := cl.Do(t.Context(), client.Call{Tool: "page.list"})
		lost, ok := errors.AsType[*client.TransportError](err)
		if !ok || !lost.Untrusted() || !strings.Contains(err.Error(), says) || len(c.slept) > 0 || len(told()) > 0 {
			t.Errorf("%s: %v after %v, told %v", address, err, c.slept, told())
		}
	}
	if heard.Load() != 0 || shakes.Load() != 1 {
		t.Errorf("%d requests were heard, %d times a connection was made", heard.Load(), shakes.Load())
	}
}

// TestProxies: requests to this machine, where a key goes over plain http, bypass the proxy of the environment, which a process reads
// once.
func TestProxies(t *testing.T) {
	const inside = "PAGES_TEST_PROXIED"
	if os.Getenv(inside) != "" {
		for _, address := range []string{"http://localhost:1", "http://pages.localhost:1", "http://127.0.0.2:1"} {
			cl, _ := dial(t, address, stubKey, &clock{})
			if _, err := cl.Do(t.Context(), client.Call{Tool: "page.list"}); err == nil {
				t.Error("somebody answered")
			}
		}
		cl, _ := dial(t, "http://service.example", "", &clock{})
		if _, err := cl.Do(t.Context(), client.Call{Tool: "page.list"}); err == nil {
			t.Error("the proxy let it through")
		}
		return
	}
	var through []string
	proxy := newStub(t, func(_ int, w http.ResponseWriter, r *http.Request) {
		through = append(through, r.Host+" "+r.Header.Get("Authorization"))
		w.WriteHeader(http.StatusForbidden)
	})
	again := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestProxies$") //nolint:gosec // this test
	again.Env = append(os.Environ(), inside+"=1", "HTTP_PROXY="+proxy.URL, "http_proxy="+proxy.URL, "NO_PROXY=", "no_proxy=")
	if said, err := again.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, said)
	}
	if len(through) != 1 || through[0] != "service.example " {
		t.Errorf("through the proxy went %q", through)
	}
}

// TestNamesOfThisMachine: names below localhost mean this machine, even if a resolver disagrees.
func TestNamesOfThisMachine(t *testing.T) {
	s := newStub(t, func(_ int, w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, `{"ok": true}`) })
	before := net.DefaultResolver
	defer func() { net.DefaultResolver = before }()
	net.DefaultResolver = &net.Resolver{PreferGo: true, Dial: func(context.Context, string, string) (net.Conn, error) {
		t.Error("a resolver was asked")
		return nil, errors.New("no network")
	}}
	c, _ := dial(t, strings.Replace(s.URL, "127.0.0.1", "service.localhost", 1), stubKey, &clock{time: time.Now()})
	if _, err := c.Do(t.Context(), client.Call{Tool: "content.status"}); err != nil || s.count() != 1 {
		t.Errorf("%v after %d requests", err, s.count())
	}
}
