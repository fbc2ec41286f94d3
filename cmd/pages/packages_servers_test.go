package main

import (
	"compress/gzip"
	"io"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
)

// serverPackages are routers, API servers, query builders and sign-in, and the results of their documentation's examples. Node 22 gives the
// same, and wrangler dev for those with a database.
var serverPackages = map[string]string{
	"auth": `{"up":200,"wrong":[401,"INVALID_EMAIL_OR_PASSWORD"],"into":200,` +
		`"cookies":["__Secure-better-auth.session_token=…; Max-Age=604800; Path=/; HttpOnly; Secure; SameSite=Lax"],"name":"Jane",` +
		`"same":true,"out":200,"after":null}`,
	"drizzle": `{"made":{"name":"heron","built":"1970-01-02T00:00:00.000Z","extras":{"color":"red"}},"again":[{"name":"heron!"}],` +
		`"refused":"D1_ERROR: UNIQUE constraint failed: boats.name: SQLITE_CONSTRAINT (extended: SQLITE_CONSTRAINT_UNIQUE)",` +
		`"joined":[{"boat":"wren II","n":0},{"boat":"heron!","n":2}],"related":[{"name":"heron!","seats":[{"number":1,"rower":"Jane"},` +
		`{"number":2,"rower":null}]}],"query":{"sql":"select \"id\", \"name\", \"built\",` +
		` \"extras\" from \"boats\" where (\"boats\".\"id\" > ? and \"boats\".\"name\" = ?)","params":[3,"x"]},"run":1,"count":2}`,
	"graphql": `{"hello":{"data":{"hello":"Hello there from Yoga!"}},"boats":{"data":{"boats":[{"name":"heron","seats":[1,2]},` +
		`{"name":"wren","seats":[2,3]}],"__typename":"Query"}},"secret":{"errors":[{"message":"not for you","locations":[{"line":1,` +
		`"column":3}],"path":["secret"],"extensions":{"code":"FORBIDDEN"}}],"data":{"secret":null,"hello":"Hello you from Yoga!"}},` +
		`"wrong":"Cannot query field \"helo\" on type \"Query\". Did you mean \"hello\"?","rename":{"data":{"rename":{"id":"7",` +
		`"name":"grebe"}}},"graphiql":true,"alone":{"data":{"n":42}},"printed":"type Query {\n  n(add: Int): Int\n}",` +
		`"invalid":["Int cannot represent non-integer value: \"x\""]}`,
	"graphqlStream": `{"type":"text/event-stream","data":["data: {\"data\":{\"countdown\":2}}","data: {\"data\":{\"countdown\":1}}",` +
		`"data: {\"data\":{\"countdown\":0}}"]}`,
	"itty": `{"hello":["200 | application/json; charset=utf-8 | \"Hello, World!\"",` +
		`"200 | application/json; charset=utf-8 | \"Hello, Jane!\""],"query":"200 | application/json; charset=utf-8 | ` +
		`{\"query\":{\"a\":[\"1\",\"2\"],\"b\":\"\"}}","todo":"200 | application/json; charset=utf-8 | {\"got\":{\"a\":1}}",` +
		`"form":"200 | application/json; charset=utf-8 | {\"got\":{}}","boom":"418 | application/json; charset=utf-8 | {\"status\":418,` +
		`\"error\":\"teapot\",\"extra\":1}","none":"404 | application/json; charset=utf-8 | {\"status\":404,\"error\":\"Not Found\"}",` +
		`"files":"200 | application/json; charset=utf-8 | \"a/b.txt\"","cors":"https://example.com","preflight":204,` +
		`"base":"200 | text/plain; charset=utf-8 | a|png","lost":"404 | application/json; charset=utf-8 | {\"status\":404,` +
		`\"error\":\"Not Found\"}","staged":"200 | application/json; charset=utf-8 | [5,1]"}`,
	"kysely": `{"rows":[{"name":"grebe","rower":"Jane","next":1991},{"name":"teal","rower":null,"next":2001}],` +
		`"sql":"select \"b\".\"name\", \"s\".\"rower\", b.built + 1 as \"next\" from \"boats\" as \"b\" left join \"seats\" as \"s\" ` +
		`on \"s\".\"boat\" = \"b\".\"id\" where (\"b\".\"name\" in (?, ?) or \"b\".\"built\" > ?) order by \"b\".\"name\"",` +
		`"updated":"1","names":["grebe","teal"],"first":1}`,
	"middleware": `{"right":"{\n  \"id\": \"12\",\n  \"body\": \"hi\"\n}","timing":"region;desc=\"europe-west3\"","id":36,` +
		`"wrong":[400,404],"client":{"id":"7","body":"rpc"},"url":"/posts/7",` +
		`"token":"eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJzdWIiOiJ1c2VyMTIzIiwiZXhwIjo5OTk5OTk5OTk5fQ.Q3ZwZuoZV9-JvcGioVWPwASqtvdMWwFJC` +
		`Lo1dbGwtds"}`,
	"openapi": `{"user":{"id":"1212","age":20},"short":{"code":400,"issues":["Too small: expected string to have >=3 ` +
		`characters"]},"made":"42","refused":{"code":400,"issues":["Invalid input: expected string, received number",` +
		`"Invalid input: expected int, received number"]},"doc":{"openapi":"3.0.0","info":{"version":"1.0.0","title":"My API"},` +
		`"components":{"schemas":{"User":{"type":"object","properties":{"id":{"type":"string","example":"123"},"age":{"type":"integer",` +
		`"example":42}},"required":["id","age"]}},"parameters":{}},"paths":{"/users/{id}":{"get":{"parameters":[{"schema":{"type":"stri` +
		`ng","minLength":3,"example":"1212121"},"required":true,"name":"id","in":"path"}],` +
		`"responses":{"200":{"description":"Retrieve the user","content":{"application/json":{"schema":{"$ref":"#/components/schemas/Us` +
		`er"}}}}}}},"/users":{"post":{"requestBody":{"required":true,"content":{"application/json":{"schema":{"$ref":"#/components/sche` +
		`mas/User"}}}},"responses":{"201":{"description":"Made"}}}}}}}`,
	"trpc": `{"found":{"id":"1","name":"Katt","since":"1970-01-01T00:00:00.000Z"},"date":true,"missing":null,"batched":1,` +
		`"added":{"name":"Bob","by":"jane"},"errors":["401 UNAUTHORIZED true","400 BAD_REQUEST true"],"type":"text/event-stream",` +
		`"live":["data: {\"json\":1}","id: 1","data: {\"json\":2}","id: 2","data: {\"json\":3}","id: 3"],"direct":{"name":"Direct",` +
		`"by":"x"}}`,
}

// honoRequests go to a hono application: the headers of a request, and parts of the response: status, lines of the head and the body. The
// ETag is the body's SHA-1, the signature of the cookie HMAC-SHA-256 of its value.
var honoRequests = []packageRequest{
	{
		"GET", "/api/boats", "",
		[]string{"Origin: https://example.com"},
		200,
		[]string{
			"Access-Control-Allow-Origin: https://example.com", "Access-Control-Allow-Credentials: true",
			"Content-Type: application/json", "X-Frame-Options: SAMEORIGIN",
			"Content-Security-Policy: default-src 'self'",
		},
		`{"boats":["heron"]}`,
	},
	{
		"OPTIONS", "/api/boats", "",
		[]string{"Origin: https://example.com", "Access-Control-Request-Method: POST"},
		204,
		[]string{"Access-Control-Allow-Methods: POST,GET", "Access-Control-Max-Age: 600"},
		"",
	},
	{"GET", "/etag", "", nil, 200, []string{`Etag: "4e32298b1cb4edc595237405e5b696e105c2399a"`}, "Hono is cool"},
	{
		"GET", "/etag", "",
		[]string{`If-None-Match: "4e32298b1cb4edc595237405e5b696e105c2399a"`},
		304,
		[]string{`Etag: "4e32298b1cb4edc595237405e5b696e105c2399a"`},
		"",
	},
	{
		"POST", "/form", "a=1&a=2&b.c=x",
		[]string{"Origin: https://evil.example", "Content-Type: application/x-www-form-urlencoded"},
		403, nil,
		"Forbidden",
	},
	{
		"POST", "/form", "a=1&a=2&b.c=x",
		[]string{"Origin: ORIGIN", "Content-Type: application/x-www-form-urlencoded"},
		200, nil, `{"a":["1","2"],"b":{"c":"x"}}`,
	},
	{"GET", "/basic", "", nil, 401, []string{`Www-Authenticate: Basic realm="Secure Area"`}, "Unauthorized"},
	{"GET", "/basic", "", []string{"Authorization: Basic aG9ubzphY29vbHByb2plY3Q="}, 200, nil, "You are authorized"},
	{"GET", "/token", "", nil, 401, nil, "Unauthorized"},
	{
		"GET", "/token", "",
		[]string{"Authorization: Bearer " +
			"eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJzdWIiOiJ1c2VyMTIzIiwiZXhwIjo5OTk5OTk5OTk5fQ.Q3ZwZuoZV9-JvcGioVWPwASqtvdMWwFJCLo1db" +
			"Gwtds"},
		200, nil, `{"sub":"user123","exp":9999999999}`,
	},
	{
		"GET", "/token", "",
		[]string{"Authorization: Bearer " +
			"eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJzdWIiOiJ1c2VyMTI0IiwiZXhwIjo5OTk5OTk5OTk5fQ.Q3ZwZuoZV9-JvcGioVWPwASqtvdMWwFJCLo1db" +
			"Gwtds"},
		401, nil, "Unauthorized",
	},
	{"POST", "/small", "12345678901", nil, 413, nil, "overflow :("},
	{"POST", "/small", "123", nil, 200, nil, "123"},
	{
		"GET", "/page/Jane", "", nil, 200,
		[]string{"Content-Type: text/html; charset=UTF-8"},
		`<!DOCTYPE html><html><head><title>A page</title></head><body><h1 class="a">Jane &amp; <b>&lt;x&gt;</b></h1></body></html>`,
	},
	{
		"GET", "/sse", "", nil, 200,
		[]string{"Content-Type: text/event-stream", "Cache-Control: no-cache"},
		"event: time-update\ndata: line 0\ndata: more\nid: 0\n\nevent: time-update\ndata: line 1\ndata: more\nid: 1\n" +
			"\nevent: time-update\ndata: line 2\ndata: more\nid: 2\n\n",
	},
	{"GET", "/text", "", nil, 200, []string{"Content-Type: text/plain; charset=UTF-8"}, "Hello\nHono!"},
	{"GET", "/bytes", "", nil, 200, nil, "Hello"},
	{"GET", "/cookies", "", []string{"Cookie: a=b; signed=blueberry.tB2f7hDz%2BX5W4vDAr9v9FYZQFOK7UyW35fsHSEttMWI%3D"}, 200, []string{
		"Set-Cookie: __Secure-delicious=macha; Max-Age=1000; Path=/; HttpOnly; Secure; SameSite=Strict",
		"Set-Cookie: signed=blueberry.tB2f7hDz%2BX5W4vDAr9v9FYZQFOK7UyW35fsHSEttMWI%3D; Path=/", "Set-Cookie: old=; Max-Age=0; Path=/",
	}, `{"all":{"a":"b","signed":"blueberry.tB2f7hDz+X5W4vDAr9v9FYZQFOK7UyW35fsHSEttMWI="},"signed":"blueberry"}`},
	{
		"GET", "/cookies", "",
		[]string{"Cookie: signed=blueberry.aB2f7hDz%2BX5W4vDAr9v9FYZQFOK7UyW35fsHSEttMWI%3D"},
		200, nil, `"signed":false}`,
	},
	{"GET", "/boom", "", nil, 401, nil, "no entry"},
	{"GET", "/a/b.png", "", nil, 200, nil, "picture a/b.png"},
	{"GET", "/none", "", nil, 404, nil, "no such page of hono"},
}

// TestServerPackages runs them in a real Worker, built by the real bundler.
func TestServerPackages(t *testing.T) {
	d := startDev(t, filepath.Join(copyExample(t, "packages"), "servers"))
	d.expectTopics(serverPackages, "")
	d.expectRequests("/hono", honoRequests)
	testHonoStreams(t, d)
}

// testHonoStreams: a compressed response decompresses, and the first chunk of a stream
// arrives while the Worker still waits for the next one.
func testHonoStreams(t *testing.T, d *devServer) {
	packed := d.get("/hono/large", "Accept-Encoding: gzip")
	unzip, err := gzip.NewReader(strings.NewReader(packed.body))
	if err != nil {
		t.Fatalf("the answer is not gzip: %v, %q", err, packed.Header)
	}
	if text, err := io.ReadAll(unzip); err != nil || string(text) != strings.Repeat("a line of text\n", 500) {
		t.Errorf("compressed: %d bytes of text, error %v", len(text), err)
	}
	resp, err := d.client.Get(d.URL + "/hono/later")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	first := make([]byte, 300)
	n, err := io.ReadAtLeast(resp.Body, first, len("<html><body>"))
	if err != nil || resp.StatusCode != http.StatusOK || !strings.Contains(string(first[:n]), "<i>waiting</i>") {
		t.Errorf("the shell of the page: %q, error %v", first[:n], err)
	}
	if strings.Contains(string(first[:n]), "<b>later</b>") {
		t.Errorf("the page did not wait: %q", first[:n])
	}
	if a := d.do("POST", "/hono/go-on", "", "Origin: "+d.URL); a.StatusCode != http.StatusOK || a.body != "1" {
		t.Fatalf("the page is not met again: %d %q", a.StatusCode, a.body)
	}
	if rest, err := io.ReadAll(resp.Body); err != nil || !strings.Contains(string(rest), "<b>later</b>") {
		t.Errorf("the rest of the page: %q, error %v", rest, err)
	}
}
