package main

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestTargetsMethodsAndStatusTexts: a Worker in either engine gets unchanged paths and any method, and its status text reaches the client,
// as with wrangler.
func TestTargetsMethodsAndStatusTexts(t *testing.T) {
	for _, engine := range engines {
		t.Run(engine, func(t *testing.T) {
			withEngine(t, engine)
			testTargets(t)
		})
	}
}

func testTargets(t *testing.T) {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"pages.deploy.json": `{"entry":"w.js","routes":[{"pattern":"/*"},{"pattern":"/club/*","access":"members"}]}`,
		"w.js": `export default { fetch(request) {
  const { searchParams, origin } = new URL(request.url);
  const body = request.method + " " + request.url.slice(origin.length);
  const status = Number(searchParams.get("status") ?? 200), statusText = searchParams.get("text") ?? "";
  return new Response(status === 204 ? null : body, { status, statusText });
} };`,
	} {
		put(t, filepath.Join(dir, name), text)
	}
	d := startDev(t, dir)
	for _, c := range []struct{ method, target, status, body string }{
		{"GET", "/api/files/a%2Fb", "200 OK", ""},
		{"GET", "/@scope%2fpkg", "200 OK", ""},
		{"GET", "/proxy/https://example.com/x", "200 OK", ""},
		{"GET", "/search/100%25", "200 OK", ""},
		{"GET", "//a//b", "200 OK", ""},
		{"GET", "/%61?b=%2F", "200 OK", ""},
		{"GET", "/a%2F..%2Fb", "200 OK", ""},
		{"GET", "/a|{b}", "200 OK", "/a|%7Bb%7D"},
		{"GET", "/a/../b", "200 OK", "/b"},
		{"PROPFIND", "/dav", "200 OK", ""},
		{"PURGE", "/x", "200 OK", ""},
		{"QUERY", "/x", "200 OK", ""},
		{"GET", "/x?text=Fine+Enough", "200 Fine Enough", ""},
		{"GET", "/x?status=422&text=Not+That", "422 Not That", ""},
		{"GET", "/x?status=599", "599", ""},
		{"GET", "/x?text=%C3%A9t%C3%A9", "200 \xe9t\xe9", ""},
		{"GET", "/a%2F..%2Fclub%2Fx", "401 Unauthorized", "-"},
		{"GET", "/x?status=204&text=Gone+Well", "204 Gone Well", "-"},
	} {
		want := cmp.Or(c.body, c.target)
		status, body := rawExchange(t, d.URL, c.method, c.target)
		if !strings.HasPrefix(status, c.status) || want != "-" && body != c.method+" "+want {
			t.Errorf("%s %s: %q %q", c.method, c.target, status, body)
		}
	}
}

// rawExchange sends a request line unchanged, and returns the status with its text, and the body.
func rawExchange(t *testing.T, base, method, target string) (status, body string) {
	t.Helper()
	c, err := net.Dial("tcp", strings.TrimPrefix(base, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if err := c.SetDeadline(time.Now().Add(patience)); err != nil {
		t.Fatal(err)
	}
	fmt.Fprintf(c, "%s %s HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n", method, target)
	resp, err := http.ReadResponse(bufio.NewReader(c), &http.Request{Method: method})
	if err != nil {
		t.Fatalf("%s %s: %v", method, target, err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatalf("%s %s: %v", method, target, err)
	}
	return resp.Status, string(text)
}
