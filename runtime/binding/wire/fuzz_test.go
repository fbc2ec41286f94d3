package wire_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/pages-toolchain/pages/runtime/binding/wire"
	"github.com/pages-toolchain/pages/runtime/web/cache"
	"github.com/pages-toolchain/pages/runtime/web/fetch"
)

// handled is the answer to a request, whose target and headers are hostile.
func handled(t *testing.T, h http.Handler, binding, method, target, body string, headers map[string]string) *httptest.ResponseRecorder {
	t.Helper()
	if binding != "outbound" && binding != "cache" {
		target = "/" + target
	}
	at, err := url.ParseRequestURI(target)
	if err != nil {
		at = &url.URL{Path: target} // which no head can hold
	}
	r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/", strings.NewReader(body))
	r.Method, r.URL, r.RequestURI = method, at, target
	r.Header.Set("Pages-Wire", wire.Version)
	r.Header.Set("Pages-Binding", binding)
	for name, value := range headers {
		r.Header.Set(name, value)
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	if strings.Contains(w.Body.String()+w.Header().Get("Cf-R2-Error"), "panicked") {
		t.Errorf("a panic: %s", w.Body)
	}
	return w
}

func FuzzKV(f *testing.F) {
	for _, c := range [][4]string{
		{"GET", "a?urlencoded=true&cache_ttl=60", "", ""},
		{"GET", "?key_count_limit=5&prefix=p&cursor=YQ", "", ""},
		{"PUT", "a%2Fb?urlencoded=true&expiration_ttl=60", "value", `{"a":1}`},
		{"PUT", "a?expiration=99999999999999999999", "value", "null"},
		{"DELETE", "%ff?urlencoded=true", "", ""},
		{"POST", "bulk/get", `{"keys":["a","b"],"type":"json","cacheTtl":"30","withMetadata":true}`, ""},
		{"POST", "bulk/get", `{"keys":[null],"type":7}`, ""},
	} {
		f.Add(c[0], c[1], c[2], c[3])
	}
	h := wire.New(wire.Options{Bindings: bindings(f)})
	f.Cleanup(h.Close)
	f.Fuzz(func(t *testing.T, method, target, body, metadata string) {
		w := handled(t, h, "kv/KV", method, target, body, map[string]string{"CF-KV-Metadata": metadata})
		if method == http.MethodPost && w.Code == http.StatusOK && !json.Valid(w.Body.Bytes()) {
			t.Errorf("no JSON: %s", w.Body)
		}
	})
}

func FuzzR2(f *testing.F) {
	for _, c := range [][3]string{
		{"GET", `{"version":1,"method":"get","object":"k","range":{"offset":"1","length":"2"}}`, ""},
		{
			"GET", `{"version":1,"method":"get","object":"k","rangeHeader":"bytes=1-",` +
				`"onlyIf":{"etagMatches":[{"value":"a","type":"weak"},{"type":"wildcard"}],"uploadedBefore":"5000"}}`, "",
		},
		{"GET", `{"version":1,"method":"list","limit":3,"prefix":"p","delimiter":"/","include":[0,1]}`, ""},
		{
			"PUT", `{"version":1,"method":"put","object":"k","customFields":[{"k":"a","v":"b"}],` +
				`"httpFields":{"contentType":"x","cacheExpiry":"-9"},"md5":"AAAA"}`, "val",
		},
		{"PUT", `{"version":1,"method":"delete","objects":["k","l"]}`, ""},
		{"PUT", `{"version":1,"method":"createMultipartUpload","object":"k"}`, ""},
		{"PUT", `{"version":1,"method":"uploadPart","object":"k","uploadId":"u","partNumber":-1}`, "x"},
		{"PUT", `{"version":1,"method":"completeMultipartUpload","object":"k","uploadId":"u","parts":[{"etag":"e","part":1}]}`, ""},
		{"PUT", `{"version":1,"method":"abortMultipartUpload","object":"k","uploadId":"u"}`, ""},
	} {
		f.Add(c[0], c[1], c[2])
	}
	h := wire.New(wire.Options{Bindings: bindings(f)})
	f.Cleanup(h.Close)
	f.Fuzz(func(t *testing.T, method, request, rest string) {
		headers := map[string]string{"CF-R2-Request": request}
		if method == http.MethodPut {
			headers = map[string]string{"CF-R2-Metadata-Size": jsonOf(len(request))}
		}
		w := handled(t, h, "r2/BUCKET", method, "", request+rest, headers)
		failed := w.Header().Get("Cf-R2-Error")
		if (failed == "") != (w.Code == http.StatusOK) || failed != "" && !json.Valid([]byte(failed)) {
			t.Errorf("%d with %s", w.Code, failed)
		}
	})
}

func jsonOf(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		return err.Error()
	}
	return string(text)
}

func FuzzD1(f *testing.F) {
	for _, body := range []string{
		`{"sql":"SELECT ?, ?","params":[1.5,[1,2]]}`,
		`[{"sql":"SELECT 1"},{"sql":"SELECT 2","params":null}]`,
		`{"sql":"SELECT ?","params":["\ud800"]}`,
		`{"sql":"SELECT ?","params":[[null,-1,1e400,256]]}`,
		`{"sql":"SELECT ?","params":[1e999]}`,
		`[[[[[[`, `{"sql":{}}`, `{"params":[true]}`, `null`, `[]`, ``,
	} {
		f.Add("query", body)
		f.Add("execute", body)
	}
	h := wire.New(wire.Options{Bindings: bindings(f)})
	f.Cleanup(h.Close)
	f.Fuzz(func(t *testing.T, method, body string) {
		w := handled(t, h, "d1/DB", http.MethodPost, method, body, nil)
		if w.Code != http.StatusOK || !json.Valid(w.Body.Bytes()) {
			t.Errorf("%d: %s", w.Code, w.Body)
		}
	})
}

func FuzzRequest(f *testing.F) {
	for _, head := range []string{
		"GET http://a.test/100%?%zz HTTP/1.1\r\nHost: b\r\n\r\n", "POST /a%2 HTTP/1.1\r\nContent-Length: 3\r\n\r\nabcd",
		"PUT / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\nX: y\r\n\r\n", "GET / HTTP/1.1\r\nX: a\x01b\r\n c\r\n\r\n",
		"CONNECT a.test:80 HTTP/1.1\r\n\r\n", "GET % HTTP/1.1\n\n", "GET\r\n\r\n", "\r\n\r\n", "GET / HTTP/1.1\r\nX: \xff\x7f\r\n\r\n",
		"POST / HTTP/1.1\r\nContent-Length: 9223372036854775807\r\n\r\nx", "POST / HTTP/1.1\r\nContent-Length: \x011\r\n\r\nx",
		"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nffffffffffffffff\r\n", "GET /\x01 HTTP/1.1\r\n\r\n",
	} {
		f.Add(head)
	}
	f.Fuzz(func(t *testing.T, sent string) {
		from := strings.NewReader(sent)
		r, err := wire.ReadRequest(from)
		if err != nil {
			return
		}
		for name, values := range r.Header {
			for _, value := range values {
				if strings.ContainsAny(name+value, "\x00\r\n") {
					t.Errorf("%q: %q", name, value)
				}
			}
		}
		body, err := io.ReadAll(r.Body)
		if len(body) > len(sent) || err == nil && r.ContentLength >= 0 && int64(len(body)) != r.ContentLength {
			t.Errorf("%d bytes of %d: %v", len(body), r.ContentLength, err)
		}
	})
}

func FuzzCache(f *testing.F) {
	for _, c := range [][4]string{
		{"PUT", "http://c.test/", "HTTP/1.1 200 OK\r\nCache-Control: max-age=9\r\n\r\nbody", ""},
		{"PUT", "http://c.test/", "HTTP/1.1 200 OK\r\nCache-Control: max-age=9\r\nContent-Encoding: gzip, br\r\n\r\n\x1f\x8b", "n"},
		{"PUT", "http://c.test/", "HTTP/1.1 99999 \r\nTransfer-Encoding: gzip\r\nX: a\x01\r\n\r\n", "%"},
		{"PUT", "http://c.test/", "HTTP/1.1 204 OK\r\nExpires: 0\r\nAge: -1\r\nVary: *\r\n\r\n", "%00"},
		{"GET", "http://c.test/", "", ""},
		{"GET", "a", "", "n"},
		{"PURGE", "http://c.test/", "", ""},
	} {
		f.Add(c[0], c[1], c[2], c[3])
	}
	store := cache.New(cache.Options{})
	f.Cleanup(func() { store.Close() })
	h := wire.New(wire.Options{Caches: cache.Handler(store, time.Now)})
	f.Cleanup(h.Close)
	f.Fuzz(func(t *testing.T, method, target, body, name string) {
		w := handled(t, h, "cache", method, target, body, map[string]string{"CF-Cache-Namespace": name, "Range": "bytes=1-"})
		if w.Code == http.StatusInternalServerError {
			t.Errorf("%d: %s", w.Code, w.Body)
		}
	})
}

func FuzzOutbound(f *testing.F) {
	for _, c := range [][3]string{
		{"GET", "http://127.0.0.1/", ""},
		{"POST", "https://[::1]:1/%", "body"},
		{"CONNECT", "127.0.0.1:80", ""},
		{"GET", "http:///", ""},
		{"GET", "ftp://127.0.0.1/", ""},
		{"GET", "http://localhost:99999/", ""},
		{"GET", "http://u:p@127.0.0.1/", ""},
	} {
		f.Add(c[0], c[1], c[2])
	}
	transport := &http.Transport{DialContext: func(context.Context, string, string) (net.Conn, error) {
		return nil, errors.New("nothing is reached")
	}}
	g := fetch.NewGateway(fetch.GatewayOptions{Options: fetch.Options{Transport: transport}})
	f.Cleanup(g.Close)
	h := wire.New(wire.Options{Outbound: g})
	f.Cleanup(h.Close)
	f.Fuzz(func(t *testing.T, method, target, body string) {
		w := handled(t, h, "outbound", method, target, body, nil)
		refusal := w.Header().Get(fetch.RefusalHeader)
		if w.Code != http.StatusBadGateway || !json.Valid([]byte(refusal)) || !isVisible(refusal) {
			t.Errorf("%d: %q", w.Code, refusal)
		}
	})
}

func isVisible(text string) bool {
	return !strings.ContainsFunc(text, func(r rune) bool { return r < ' ' || r > '~' })
}
