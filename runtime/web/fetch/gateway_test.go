package fetch_test

import (
	"context"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/pages-toolchain/pages/runtime/web/fetch"
)

// served is a Gateway on a server that receives requests like a proxy, for the Worker's request "one".
func served(
	t *testing.T, o fetch.GatewayOptions,
) (ask func(ctx context.Context, method, target string, body io.Reader) (*http.Response, error)) {
	t.Helper()
	g := fetch.NewGateway(o)
	t.Cleanup(g.Close)
	server := httptest.NewServer(g)
	t.Cleanup(server.Close)
	client := &http.Transport{}
	t.Cleanup(client.CloseIdleConnections)
	return func(ctx context.Context, method, target string, body io.Reader) (*http.Response, error) {
		r, err := http.NewRequestWithContext(ctx, method, server.URL, body)
		if err != nil {
			t.Fatal(err)
		}
		r.URL = &url.URL{Scheme: "http", Host: r.URL.Host, Opaque: target} // the whole URL goes into the request line
		r.Header.Set(fetch.IDHeader, "one")
		return client.RoundTrip(r)
	}
}

// of knows one request, which ends with ctx.
func of(ctx context.Context) func(string) (context.Context, func() error, bool) {
	return func(id string) (context.Context, func() error, bool) {
		return ctx, func() error { return nil }, id == "one"
	}
}

// TestGatewayOverTLS: a request for an https URL goes out by TLS, to a server that proves its name.
func TestGatewayOverTLS(t *testing.T) {
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-Proto", r.Proto)
		_, _ = io.Copy(w, r.Body)
	}))
	server.EnableHTTP2, server.Config.ErrorLog = true, log.New(io.Discard, "", 0)
	server.StartTLS()
	t.Cleanup(server.Close)
	trusting := http.DefaultTransport.(*http.Transport).Clone() //nolint:errcheck,forcetypeassert // it is one
	trusting.TLSClientConfig = server.Client().Transport.(*http.Transport).TLSClientConfig.Clone()
	t.Cleanup(trusting.CloseIdleConnections)
	ask := served(t, fetch.GatewayOptions{Options: fetch.Options{Transport: trusting}, Of: of(t.Context())})
	resp, err := ask(t.Context(), http.MethodPost, server.URL+"/", io.MultiReader(strings.NewReader("a stream")))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if text, err := io.ReadAll(resp.Body); string(text) != "a stream" || err != nil || resp.Header.Get("X-Proto") != "HTTP/2.0" {
		t.Errorf("%s %v %q %v", resp.Status, resp.Header, text, err)
	}
	strict := served(t, fetch.GatewayOptions{Options: fetch.Options{AllowFetch: []string{"127.0.0.1"}}, Of: of(t.Context())})
	resp, err = strict(t.Context(), http.MethodGet, server.URL+"/", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	const want = "Error: Network connection lost. fetch to "
	if got := fetch.Refused(resp.Header.Get(fetch.RefusalHeader)); !strings.HasPrefix(got, want) || !strings.Contains(got, "certificate") {
		t.Errorf("an unknown certificate: %s %s", resp.Status, got)
	}
}

// TestGatewayEnds: a request ends with its client, and with the Worker's request that it is made for.
func TestGatewayEnds(t *testing.T) {
	for _, c := range []struct {
		name, path    string
		client, owner bool
		want          string
	}{
		{"the client, while it waits", "/wait", true, false, "context canceled"},
		{"the client, while it reads", "/half", true, false, "context canceled"},
		{"the Worker's request, while it waits", "/wait", false, true, "failed: the request that this belongs to is over"},
		{"the Worker's request, while it reads", "/half", false, true, "unexpected EOF"},
	} {
		t.Run(c.name, func(t *testing.T) {
			begun, ended := make(chan struct{}), make(chan struct{})
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Path == "/half" {
					_, _ = io.WriteString(w, "half")
					_ = http.NewResponseController(w).Flush()
				}
				close(begun)
				<-r.Context().Done()
				close(ended)
			}))
			t.Cleanup(server.Close)
			client, endClient := context.WithCancel(t.Context())
			owner, endOwner := context.WithCancel(t.Context())
			defer endClient()
			defer endOwner()
			ask := served(t, fetch.GatewayOptions{Options: fetch.Options{AllowFetch: []string{"127.0.0.1"}}, Of: of(owner)})
			end := func() {
				<-begun
				if c.client {
					endClient()
				}
				if c.owner {
					endOwner()
				}
			}
			if c.path == "/wait" {
				go end()
			}
			got := ""
			resp, err := ask(client, http.MethodGet, server.URL+c.path, nil)
			if err == nil {
				defer resp.Body.Close()
				got = fetch.Refused(resp.Header.Get(fetch.RefusalHeader))
				if c.path == "/half" {
					end()
				}
				_, err = io.ReadAll(resp.Body)
			}
			if err != nil {
				got = err.Error()
			}
			if !strings.HasSuffix(got, c.want) {
				t.Errorf("it gives %q", got)
			}
			select {
			case <-ended:
			case <-time.After(20 * time.Second):
				t.Error("the server's request goes on")
			}
		})
	}
}
