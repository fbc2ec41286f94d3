package assets

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/pages-toolchain/pages/runtime/binding/hostcall"
)

// fetchAsset returns the response of the handler to target, its body and the error
// that ended either.
func fetchAsset(t *testing.T, handler http.HandlerFunc, target string, headers ...string) (*response, string, error) {
	t.Helper()
	r, err := newRequest(t.Context(), http.MethodGet, target, headers)
	if err != nil {
		return nil, "", err
	}
	a, err := fetch(t.Context(), handler, r)
	if err != nil {
		return nil, "", err
	}
	all, err := io.ReadAll(a.body)
	return a, string(all), errors.Join(err, a.body.Close())
}

func TestAssetsAnswer(t *testing.T) {
	large := strings.Repeat("0123456789", hostcall.InlineBytes/5)
	cases := []struct {
		name    string
		handler http.HandlerFunc
		status  int
		body    string
		failure string
	}{
		{"small", func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "hello") }, 200, "hello", ""},
		{"large", func(w http.ResponseWriter, _ *http.Request) { _, _ = io.Copy(w, strings.NewReader(large)) }, 200, large, ""},
		{"none", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) }, 204, "", ""},
		{"silent", func(http.ResponseWriter, *http.Request) {}, 200, "", ""},
		{"request", func(w http.ResponseWriter, r *http.Request) {
			_, _ = io.WriteString(w, r.Host+" "+r.RequestURI+" "+r.URL.Path+" "+strings.Join(r.Header.Values("X-A"), "+"))
		}, 200, "assets.local /a%20b?q=1 /a b 1+2", ""},
		{"late header", func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusTeapot)
			w.Header().Set("X-Late", "1")
		}, 418, "", ""},
		{
			"panic", func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, 0, "",
			"the assets handler stopped: net/http: abort Handler",
		},
		{"panic midway", func(w http.ResponseWriter, _ *http.Request) {
			_, _ = io.WriteString(w, large)
			panic("broken")
		}, 200, large, "the assets handler stopped: broken"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			a, got, err := fetchAsset(t, c.handler, "https://assets.local/a%20b?q=1#part", "x-a", "1", "x-a", "2")
			if c.failure != "" && (err == nil || err.Error() != c.failure) {
				t.Errorf("error = %v, want %s", err, c.failure)
			}
			if c.failure == "" && err != nil {
				t.Fatal(err)
			}
			if a == nil {
				return
			}
			if a.status != c.status || got != c.body || a.header.Get("X-Late") != "" {
				t.Errorf(
					"%d %q, want %d %q; header %v", a.status, got[:min(len(got), 99)], c.status,
					c.body[:min(len(c.body), 99)], a.header,
				)
			}
		})
	}
}

// TestAssetsCancelled closes a body that is still being written, and ends a
// request whose handler waits: both let go of the handler.
func TestAssetsCancelled(t *testing.T) {
	left := make(chan error, 1)
	endless := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		for {
			if _, err := w.Write(bytes.Repeat([]byte("x"), hostcall.ReadChunk)); err != nil {
				left <- err
				return
			}
		}
	})
	r, err := newRequest(t.Context(), http.MethodGet, "http://a/", nil)
	if err != nil {
		t.Fatal(err)
	}
	a, err := fetch(t.Context(), endless, r)
	if err != nil {
		t.Fatal(err)
	}
	if err := a.body.Close(); err != nil {
		t.Error(err)
	}
	if err := <-left; err == nil {
		t.Error("the handler went on writing")
	}

	ctx, cancel := context.WithCancel(t.Context())
	waiting := http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		cancel()
		<-r.Context().Done()
		left <- r.Context().Err()
	})
	r, err = newRequest(ctx, http.MethodGet, "http://a/", nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := fetch(ctx, waiting, r); !errors.Is(err, context.Canceled) {
		t.Errorf("error = %v", err)
	}
	if err := <-left; !errors.Is(err, context.Canceled) {
		t.Errorf("the handler saw %v", err)
	}
}
