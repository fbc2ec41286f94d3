package webtest

import (
	"compress/gzip"
	"compress/zlib"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
)

// Backend is a server that Workers fetch from.
func Backend(t *testing.T) (url string, hits *atomic.Int64) {
	t.Helper()
	hits = &atomic.Int64{}
	mux := http.NewServeMux()
	mux.HandleFunc("/echo", func(w http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		w.Header()["X-Two"] = []string{"1", "2"}
		w.Header()["Set-Cookie"] = []string{"a=1", "b=2"}
		fmt.Fprintf(w, "%s %s ct=%s auth=%s cookie=%s ua=%s len=%d body=%s", r.Method, r.URL.RequestURI(), r.Header.Get("Content-Type"),
			r.Header.Get("Authorization"), r.Header.Get("Cookie"), r.Header.Get("User-Agent"), r.ContentLength, b)
	})
	mux.HandleFunc("/to", func(w http.ResponseWriter, r *http.Request) {
		q := r.URL.Query()
		w.Header().Set("Location", q.Get("url"))
		status, err := strconv.Atoi(q.Get("status"))
		if err != nil {
			t.Error(err)
		}
		w.WriteHeader(status)
	})
	mux.HandleFunc("/loop", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Location", "/loop")
		w.WriteHeader(http.StatusFound)
	})
	mux.HandleFunc("/gzip", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Encoding", "gzip")
		z := gzip.NewWriter(w)
		fmt.Fprint(z, "unzipped ", r.Header.Get("Accept-Encoding"))
		z.Close()
	})
	mux.HandleFunc("/twice", func(w http.ResponseWriter, _ *http.Request) {
		w.Header()["Content-Encoding"] = []string{"deflate", "gzip"}
		outer := gzip.NewWriter(w)
		inner := zlib.NewWriter(outer)
		fmt.Fprint(inner, "unpacked")
		inner.Close()
		outer.Close()
	})
	mux.HandleFunc("/deflate", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Encoding", "deflate")
		z := zlib.NewWriter(w)
		fmt.Fprint(z, "inflated")
		z.Close()
	})
	mux.HandleFunc("/slow", func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprint(w, "begun")
		_ = http.NewResponseController(w).Flush()
		<-r.Context().Done()
	})
	mux.HandleFunc("/cache", func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprint(w, r.Header["Pragma"], r.Header["Cache-Control"])
	})
	mux.HandleFunc("/fixed", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "fixed") })
	mux.HandleFunc("/none", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) })
	mux.HandleFunc("/cut", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", "100")
		fmt.Fprint(w, "short")
	})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		hits.Add(1)
		mux.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	return server.URL, hits
}

// At writes the backend's URL for B and another name of it for C in snippets.
func At(url string, snippets []Snippet) (out []Snippet, allow []string) {
	other := strings.Replace(url, "127.0.0.1", "localhost", 1)
	replace := strings.NewReplacer("{B}", url, "{C}", other)
	for _, s := range snippets {
		out = append(out, Snippet{s[0], replace.Replace(s[1]), replace.Replace(s[2])})
	}
	return out, []string{strings.TrimPrefix(url, "http://"), "LOCALHOST"}
}
