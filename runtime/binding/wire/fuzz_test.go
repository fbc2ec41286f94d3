package wire_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/pages-toolchain/pages/runtime/binding/wire"
)

// handled is the answer to a request, whose target and headers are hostile.
func handled(t *testing.T, h http.Handler, binding, method, target, body string, headers map[string]string) *httptest.ResponseRecorder {
	t.Helper()
	at, err := url.ParseRequestURI("/" + target)
	if err != nil {
		at = &url.URL{Path: "/" + target} // which no head can hold
	}
	r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/", strings.NewReader(body))
	r.Method, r.URL = method, at
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
