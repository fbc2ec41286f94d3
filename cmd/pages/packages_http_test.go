package main

import (
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// The responses of applications of servers for Node.js, which get their requests from cloudflare:node. wrangler dev gives the same, except
// for Koa's "Not Found", which is "unknown" there, and Fastify's inject, which fails there.
var (
	expressRequests = []packageRequest{
		{
			"GET", "/text", "", nil, 200,
			[]string{
				"Content-Type: text/html; charset=utf-8", `Etag: W/"c-Lve95gjOVATpfV8EL5X4nxwjKHE"`,
				"X-Powered-By: Express", "X-Seen: GET /express/text", "Content-Length: 12",
			},
			"Hello World!",
		},
		{"HEAD", "/text", "", nil, 200, []string{"Content-Length: 12"}, ""},
		{"GET", "/text", "", []string{`If-None-Match: W/"c-Lve95gjOVATpfV8EL5X4nxwjKHE"`}, 304, nil, ""},
		{"OPTIONS", "/text", "", nil, 200, []string{"Allow: GET, HEAD"}, "GET, HEAD"},
		{
			"POST", "/text", "", nil, 404,
			[]string{"Content-Security-Policy: default-src 'none'"},
			"<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<title>Error</title>\n</head>\n" +
				"<body>\n<pre>Cannot POST /express/text</pre>\n</body>\n</html>\n",
		},
		{"GET", "/birds", "", nil, 200, nil, "Birds home page"},
		{"GET", "/birds/7?a=c&a=d", "", nil, 200, nil, `{"id":"7","query":{"a":["c","d"]},"base":"/express/birds"}`},
		{"POST", "/body", `{"a":1}`, []string{"Content-Type: application/json"}, 201, nil, `{"body":{"a":1},"type":"application/json"}`},
		{
			"POST", "/body", "a[]=1&a[]=2&b=c",
			[]string{"Content-Type: application/x-www-form-urlencoded"},
			201, nil,
			`{"body":{"a":["1","2"],"b":"c"},"type":"application/x-www-form-urlencoded"}`,
		},
		{
			"POST", "/body", `{"a":`,
			[]string{"Content-Type: application/json"},
			400, nil,
			"Unexpected end of JSON input (entity.parse.failed)",
		},
		{
			"GET", "/who", "",
			[]string{"X-Requested-With: XMLHttpRequest", "Accept: text/html"},
			200, nil,
			`{"host":"127.0.0.1","ip":"127.0.0.1","secure":false,"xhr":true,"accepts":"html"}`,
		},
		{
			"GET", "/cookie", "", nil, 200,
			[]string{"Set-Cookie: name=tobi; Path=/; HttpOnly", "Set-Cookie: old=; Path=/; Expires=Thu, 01 Jan 1970 00:00:00 GMT"},
			"set",
		},
		{"GET", "/go", "", nil, 302, []string{"Location: /express/text"}, "Found. Redirecting to /express/text"},
		{"GET", "/format", "", []string{"Accept: application/json"}, 200, []string{"Vary: Accept"}, `{"message":"hey"}`},
		{"GET", "/stream", "", nil, 200, []string{"Content-Type: text/plain; charset=utf-8"}, "abc"},
		{"GET", "/empty", "", nil, 204, nil, ""},
		{"GET", "/late", "", nil, 200, []string{"Content-Type: application/octet-stream"}, "later"},
		{"GET", "/re42", "", nil, 200, nil, "42"},
		{"GET", "/boom", "", nil, 500, nil, "BROKEN (Error)"},
	}
	koaRequests = []packageRequest{
		{"GET", "/text", "", nil, 200, []string{"Content-Type: text/plain; charset=utf-8", "X-Order: in out"}, "Hello Koa"},
		{"HEAD", "/text", "", nil, 200, []string{"Content-Length: 9"}, ""},
		{
			"POST", "/json?a=1&a=2", "{}", nil, 200, nil,
			`{"query":{"a":["1","2"]},"host":"127.0.0.1","ip":"127.0.0.1","protocol":"http","length":2}`,
		},
		{"GET", "/stream", "", nil, 200, []string{"Content-Type: text/plain; charset=utf-8"}, "xy"},
		{"GET", "/buffer", "", nil, 200, []string{"Content-Type: application/octet-stream"}, "bytes"},
		{"GET", "/web", "", nil, 200, nil, "blob"},
		{
			"GET", "/cookie", "",
			[]string{"Cookie: seen=yes"},
			200,
			[]string{"Set-Cookie: view=1; path=/; httponly", "Set-Cookie: view.sig=Akhbq5I3j-jT_yMXiakWCUX3l4Y; path=/; httponly"},
			"yes",
		},
		{"GET", "/etag", "", nil, 200, []string{`Etag: "v1"`}, "fresh"},
		{"GET", "/etag", "", []string{`If-None-Match: "v1"`}, 304, nil, ""},
		{"GET", "/go", "", nil, 302, []string{"Location: /koa/text"}, "Redirecting to /koa/text."},
		{"GET", "/empty", "", nil, 204, nil, ""},
		{"GET", "/denied", "", nil, 403, nil, "not for you"},
		{"GET", "/boom", "", nil, 500, nil, "Internal Server Error"},
		{"GET", "/missing", "", nil, 404, nil, "Not Found"},
		{"POST", "/post", "shout", nil, 200, nil, "SHOUT"},
	}
	fastifyRequests = []packageRequest{
		{
			"GET", "/text", "", nil, 200,
			[]string{"Content-Type: text/plain; charset=utf-8", "X-Hook: seen", "Content-Length: 13"},
			"Hello Fastify",
		},
		{"HEAD", "/text", "", nil, 200, []string{"Content-Length: 13"}, ""},
		{"GET", "/hello/Jane", "", nil, 200, []string{"Content-Type: application/json; charset=utf-8"}, `{"text":"Hello Jane","n":1}`},
		{
			"GET", "/hello/J", "", nil, 400, nil,
			`{"statusCode":400,"code":"FST_ERR_VALIDATION","error":"Bad Request",` +
				`"message":"params/name must NOT have fewer than 2 characters"}`,
		},
		{"POST", "/body", `{"age":"12"}`, []string{"Content-Type: application/json"}, 201, nil, `{"age":12}`},
		{
			"POST", "/body", `{"age":"x"}`,
			[]string{"Content-Type: application/json"},
			400, nil,
			`{"statusCode":400,"code":"FST_ERR_VALIDATION","error":"Bad Request","message":"body/age must be integer"}`,
		},
		{
			"POST", "/body", "{",
			[]string{"Content-Type: application/json"},
			400, nil,
			`{"statusCode":400,"code":"FST_ERR_CTP_INVALID_JSON_BODY","error":"Bad Request",` +
				`"message":"Body is not valid JSON but content-type is set to 'application/json'"}`,
		},
		{"GET", "/stream", "", nil, 200, []string{"Content-Type: text/plain"}, "123"},
		{"GET", "/cookies", "", nil, 200, []string{"Set-Cookie: a=1", "Set-Cookie: b=2"}, "set"},
		{"GET", "/who", "", nil, 200, nil, `{"ip":"127.0.0.1","host":"127.0.0.1","protocol":"http","url":"/fastify/who"}`},
		{"GET", "/go", "", nil, 302, []string{"Location: /fastify/text"}, ""},
		{"GET", "/empty", "", nil, 204, nil, ""},
		{"GET", "/boom", "", nil, 500, nil, `{"statusCode":500,"error":"Internal Server Error","message":"BROKEN"}`},
		{"GET", "/inject", "", nil, 200, nil, `{"status":201,"hook":"seen","body":{"age":7}}`},
		{"GET", "/raw", "", nil, 202, []string{"X-Raw: 1"}, "raw"},
		{"GET", "/missing", "", nil, 404, nil, `{"message":"Route GET:/fastify/missing not found","error":"Not Found","statusCode":404}`},
	}
)

// otherInWorkerd are paths to whose GET workerd gives another response: it sends the output of node:http as a compressed stream, uses
// "unknown" for a missing status text, and has a ServerResponse that inject cannot extend.
var otherInWorkerd = []string{"/express/text", "/koa/etag", "/koa/missing", "/fastify/text", "/fastify/inject"}

// askingPackages are clients of node:http, and the output of their documentation's examples. Node 22 gives the same.
var askingPackages = map[string]string{
	"followRedirects": `{"moved":["/boats/1","{\"id\":\"1\",\"name\":\"\"}\n"],"posted":{"authorization":"Bearer t","body":"one two",` +
		`"query":"","rainbow":"","type":""},"slow":"ETIMEDOUT","looping":"ERR_FR_TOO_MANY_REDIRECTS"}`,
	"fetch": `{"posted":{"authorization":"","body":"{\"name\":\"tern\"}","query":"","rainbow":"","type":"application/json"},` +
		`"moved":[true,"/boats/1","{\"id\":\"1\",\"name\":\"\"}\n"],"large":300000,"slow":"AbortError"}`,
}

// TestHTTPPackages runs them in a real Worker, built by the real bundler, which may send requests to a test server.
func TestHTTPPackages(t *testing.T) {
	services := newServices()
	peer := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/moved" {
			http.Redirect(w, r, "/boats/1", http.StatusFound)
			return
		}
		services.ServeHTTP(w, r)
	}))
	defer peer.Close()
	d := startDev(t, filepath.Join(copyExample(t, "packages"), "http"), "--allow-fetch", strings.TrimPrefix(peer.URL, "http://"))
	topics := maps.Clone(askingPackages)
	if inWorkerd() {
		delete(topics, "followRedirects") // waits for the error of a destroyed request
		delete(topics, "fetch")           // reads rawHeaders
	}
	d.expectTopics(topics, "?at="+url.QueryEscape(peer.URL))
	for prefix, requests := range map[string][]packageRequest{
		"/express": expressRequests, "/koa": koaRequests, "/fastify": fastifyRequests,
	} {
		d.expectRequests(prefix, slices.DeleteFunc(slices.Clone(requests), func(r packageRequest) bool {
			return inWorkerd() && r.method == http.MethodGet && slices.Contains(otherInWorkerd, prefix+r.path)
		}))
	}
}
