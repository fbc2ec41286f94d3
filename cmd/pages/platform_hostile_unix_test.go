//go:build unix

package main

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"
)

// exchange sends bytes on a new connection, and reads one response; nil if the connection ended without one.
func (p *platformRun) exchange(t *testing.T, sent string) *http.Response {
	t.Helper()
	conn, err := net.Dial("tcp", strings.TrimPrefix(p.URL, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if err := conn.SetDeadline(time.Now().Add(patience)); err != nil {
		t.Fatal(err)
	}
	go func() { _, _ = io.WriteString(conn, sent) }() // the service may refuse it before all is sent
	method, _, _ := strings.Cut(sent, " ")
	resp, err := http.ReadResponse(bufio.NewReader(conn), &http.Request{Method: method})
	if err != nil {
		return nil
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Errorf("%.60q: %v", sent, err)
	}
	resp.Body = io.NopCloser(bytes.NewReader(text))
	return resp
}

// TestPlatformHostile: each request gets one response, nothing fails, and other clients are still served.
func TestPlatformHostile(t *testing.T) {
	p := startPlatform(t, t.TempDir())
	host := strings.TrimPrefix(p.URL, "http://")
	const tool = "/api/v1/tools/content.status"
	head := "Host: " + host + "\r\nAuthorization: Bearer " + p.Keys["member"] +
		"\r\nContent-Type: application/json\r\nConnection: close\r\n"
	body := func(s string) string {
		return "POST " + tool + " HTTP/1.1\r\n" + head + fmt.Sprintf("Content-Length: %d\r\n\r\n", len(s)) + s
	}
	with := func(headers, s string) string { return "POST " + tool + " HTTP/1.1\r\n" + head + headers + "\r\n" + s }
	path := func(method, path string) string { return method + " " + path + " HTTP/1.1\r\n" + head + "\r\n" }
	refused, done := `"invalid_arguments"`, `{"ok":true`
	malformed, nothing, request := `"tenant_api.malformed_body"`, `"tenant_api.not_found"`, `"tenant_api.malformed_request"`
	for sent, want := range map[string]string{
		// Numbers.
		body(`{"limit":1e400}`): "200 " + refused, body(`{"limit":-1e400}`): "200 " + refused,
		body(`{"limit":-0}`): "200 " + refused, body(`{"limit":1E-400}`): "200 " + refused,
		body(`{"limit":9007199254740993}`): "200 " + refused, body(`{"limit":1e2}`): "200 " + done,
		body(`{"limit":` + strings.Repeat("9", 100_000) + `}`): "200 " + refused,
		body(`{"limit":0x10}`):                                 "400 " + malformed,
		body(`{"limit":01}`):                                   "400 " + malformed,
		body(`{"limit":NaN}`):                                  "400 " + malformed, body(`{"limit":+1}`): "400 " + malformed,
		// Names and text.
		body(`{"limit":1,"\u006cimit":2}`): "400 " + malformed, body(`{"status":"\ud800"}`): "400 " + malformed,
		body(`{"status":"\udc00\ud800"}`): "400 " + malformed,
		body("{\"status\":\"\xff\"}"):     "400 " + malformed, body(`{"__proto__":{}}`): "200 " + refused,
		body(`{"":1}`): "200 " + refused, body(`{"workspace":"\u0000"}`): `200 "workspace_unreachable"`,
		body(`{"` + strings.Repeat("k", 100_000) + `":1}`): "200 " + refused, body("{}\x00"): "400 " + malformed,
		body("{}}"): "400 " + malformed, body(`{"limit":1,}`): "400 " + malformed,
		// Depth and size.
		body(`{"a":` + strings.Repeat("[", 400_000)): "400 " + malformed,
		body(strings.Repeat(`{"a":`, 200_000)):       "400 " + malformed,
		body(strings.Repeat(" ", 1<<20+1)):           `413 "tenant_api.body_too_large"`,
		// The body's length, and headers that two programs would read differently.
		with("Content-Length: 2\r\nContent-Length: 3\r\n", "{} "): "400 " + request,
		with("Content-Length: -2\r\n", "{}"):                      "400 " + request, with("Content-Length: +2\r\n", "{}"): "400 " + request,
		with("Content-Length: 2\r\nTransfer-Encoding: chunked\r\n", "2\r\n{}\r\n0\r\n\r\n"): "400 " + request,
		with("Content-Length: 2\n", "{}"): "400 " + request, with("X-A: b\r\n c\r\nContent-Length: 2\r\n", "{}"): "400 " + request,
		with("Content-Length: 2\r\nContent-Length: 2\r\n", "{}"): "400 " + request,
		with("Content-Length : 2\r\n", "{}"):                     "400 " + request,
		with("Host: evil.test\r\nContent-Length: 2\r\n", "{}"):   "400 " + request,
		with(
			"Transfer-Encoding: xchunked\r\n", "0\r\n\r\n",
		): `501 "tenant_api.transfer_coding_unsupported"`,
		with("Transfer-Encoding: chunked\r\n", "zz\r\n{}\r\n0\r\n\r\n"):                                     "400 " + malformed,
		with("Transfer-Encoding: chunked\r\n", "2;"+strings.Repeat("a", 100)+"\r\n{}\r\n0\r\nX: y\r\n\r\n"): "200 " + done,
		with("X-A: a\x00b\r\n", ""):                                                            "400 " + request,
		with("X-A: "+strings.Repeat("a", 2<<20)+"\r\n", ""):                                    `431 "tenant_api.headers_too_large"`,
		with("X-B: "+strings.Repeat("a", 32<<10)+"\r\n", ""):                                   `431 "tenant_api.headers_too_large"`,
		with("X-C: "+strings.Repeat("a", 30<<10)+"\r\nContent-Length: 2\r\n", "{}"):            "200 " + done,
		with("Content-Encoding: gzip\r\nContent-Length: 2\r\n", "\x1f\x8b"):                    "400 " + malformed,
		with("Authorization: Bearer "+p.Keys["both"]+"\r\n", ""):                               `401 "tenant_api.unauthorized"`,
		with("Expect: 200-maybe\r\nContent-Length: 2\r\n", "{}"):                               `417 "tenant_api.expectation_unsupported"`,
		"POST " + tool + " HTTP/1.0\r\nAuthorization: Bearer " + p.Keys["member"] + "\r\n\r\n": `403 "tenant_api.host_refused"`,
		"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n":                                                     `403 "tenant_api.host_refused"`,
		"POST " + tool + " HTTP/2.0\r\n" + head + "\r\n":                                       `505 "tenant_api.http_version_unsupported"`,
		// Addresses.
		path("POST", "http://evil.test"+tool): `403 "tenant_api.host_refused"`, path("CONNECT", "/x"): "404 " + nothing,
		path("OPTIONS", "*"): "404 " + nothing, path("post", tool): "405 ",
		path("POST", "/api/v1/tools/../tools/content.status"): "404 " + nothing,
		path("POST", "/api//v1/tools/content.status"):         "400 " + request, path("POST", tool+"%00"): "404 " + nothing,
		path("GET", "//healthz"): "400 " + request, path("GET", "/./healthz"): "400 " + request,
		path("GET", "/console/../metrics"): "400 " + request, path("GET", "/console/w/acme/%2e%2e/x"): "400 " + request,
		path("GET", "/healthz%00"): "400 " + request, path("GET", "/api%2fv1/openapi.json"): "400 " + request,
		path("GET", "/metrics\\x"): "400 " + request, path("GET", "/%25"): "400 " + request, path("GET", "/%zz"): "400 " + request,
		"GET  /healthz HTTP/1.1\r\n" + head + "\r\n": "400 " + request, "GET /healthz\r\n\r\n": "400 " + request,
		"hello\r\n\r\n": "400 " + request, "GET /healthz HTTP/1.1\r\n\r\n": "400 " + request,
		path("GET", "/api/v1/pages/uploads/"+strings.Repeat("u", 30_000)):     `404 "upload_not_found"`,
		path("GET", "/api/v1/pages/revisions/%00?site_id="+p.Demo["site_id"]): `404 "revision_not_found"`,
		path("GET", "/api/v1/pages/revisions/x?site_id=%ff"):                  "400 " + refused,
		path("GET", "/api/v1/pages/revisions/x?;;="):                          "400 " + refused,
		path("HEAD", "/api/v1/pages/uploads/x/blobs/%ff"):                     "400 ",
	} {
		t.Run(fmt.Sprintf("%.60q", strings.Replace(sent, head, "", 1)), func(t *testing.T) {
			resp := p.exchange(t, sent)
			if resp == nil {
				t.Fatal("no response")
			}
			text, _ := io.ReadAll(resp.Body) // from memory
			status, part, _ := strings.Cut(want, " ")
			if fmt.Sprint(resp.StatusCode) != status || !strings.Contains(string(text), part) {
				t.Errorf("want %s, got %d %.300s", want, resp.StatusCode, text)
			}
			if ours := resp.Header.Get("x-service-api") == "beta" && resp.Header.Get("x-request-id") != ""; !ours {
				t.Errorf("the response went past the boundary: %v", resp.Header)
			}
		})
	}
	// Clients that never send the rest of a request do not keep other clients out.
	for range 200 {
		conn, err := net.Dial("tcp", host)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		if _, err := io.WriteString(conn, with("Content-Length: 1000000\r\n", `{"limit":`)); err != nil {
			t.Fatal(err)
		}
	}
	if status, text, err := p.call(p.Keys["member"], "content.status", "{}"); err != nil || status != http.StatusOK ||
		!strings.HasPrefix(text, done) {
		t.Errorf("%d %.300s %v", status, text, err)
	}
	if logs := p.stderr.String(); strings.Contains(logs, "panic") || strings.Contains(logs, `"level":"ERROR"`) ||
		strings.Contains(logs, "level=ERROR") {
		t.Errorf("it failed: %s", logs)
	}
}
