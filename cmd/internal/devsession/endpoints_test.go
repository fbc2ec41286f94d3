package devsession

import (
	"context"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"maps"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/pages-toolchain/pages/cmd/internal/siteworker"
	"github.com/pages-toolchain/pages/cmd/internal/terminal"
	"github.com/pages-toolchain/pages/cmd/tools/testmachine"
	"github.com/pages-toolchain/pages/devserver"
	pagesruntime "github.com/pages-toolchain/pages/runtime"
)

// This file checks the response of every endpoint under /__pages/, on this machine and
// beyond it.

// beyondSite has all targets of a stranger, and possible ways to them.
var beyondSite = map[string]string{
	"pages.deploy.json": `{"entry": "src/worker.js", "assets": "public",
 "routes": [{"pattern": "/api/*"}, {"pattern": "/club/*", "access": "members"}],
 "bindings": {"database": {"migrations": "migrations", "tables": ["visits"]}, "kv": {"name": "KV"}, "storage": {"name": "BUCKET"}},
 "runtime": {"compatibilityFlags": ["global_fetch_strictly_public"]}}`,
	"migrations/0001_visits.sql": "CREATE TABLE visits (id INTEGER PRIMARY KEY);\n",
	"public/index.html":          "<!doctype html>\n<title>Demo</title>\n<h1>Demo</h1>\n",
	"src/worker.js": `export default {
  async fetch(request) {
    const url = new URL(request.url);
    if (url.pathname === "/api/boom") throw new Error("the-secret-of-the-source");
    if (url.pathname === "/api/self") {
      const answer = await fetch(new URL(url.searchParams.get("path"), request.url));
      return new Response(answer.status + " " + await answer.text());
    }
    return new Response("club or api");
  },
};
`,
}

// lanListener accepts connections that look as if they came over a network.
type lanListener struct{ net.Listener }

type lanConn struct{ net.Conn }

func (l lanListener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	return lanConn{c}, err
}

func (lanConn) LocalAddr() net.Addr {
	return &net.TCPAddr{IP: net.IPv4(192, 168, 1, 5), Port: 8788}
}

func (lanConn) RemoteAddr() net.Addr {
	return &net.TCPAddr{IP: net.IPv4(192, 168, 1, 7), Port: 50000}
}

// beyond is `pages dev --as member --allow-host demo.example` with a listener for a network,
// in this process.
type beyond struct {
	t        *testing.T
	run      *session
	own, lan string // addresses
	token    string
}

func startBeyond(t *testing.T) *beyond {
	t.Helper()
	dir := t.TempDir()
	for name, text := range beyondSite {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o700); err != nil {
			t.Fatal(err)
		}
		write(t, filepath.Join(dir, name), text)
	}
	var said testmachine.Buffer
	p := processOf(&terminal.Terminal{Stdin: strings.NewReader(""), Stdout: io.Discard, Stderr: &said, Dir: dir, Now: time.Now})
	p.Run = runProgram(t)
	m, found := p.Sites.Load(dir)
	if m == nil {
		t.Fatalf("%+v", found.Report)
	}
	s, err := p.States.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	sockets, err := devserver.Listen(t.Context(), 0, false, netip.Addr{})
	if err != nil {
		t.Fatal(err)
	}
	if sockets.V6 != nil {
		_ = sockets.V6.Close()
	}
	lan, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	sockets.V6 = lanListener{lan}
	options := Options{
		Limits: "enforce", CPUScale: 1, Isolation: "shared", LiveReload: "hot",
		AllowHosts: []string{"demo.example"}, As: "member",
	}
	b := &beyond{t: t, own: sockets.URL, lan: "http://" + lan.Addr().String()}
	b.run = &session{
		process: p, options: options, dir: dir, manifest: m, state: s, sockets: sockets, usualGC: 100,
		engine: siteworker.OpenEngine(t.Context(), siteworker.Choice{}, pagesruntime.Options{Now: time.Now}),
	}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- b.run.serve(ctx) }()
	t.Cleanup(func() {
		stop()
		if err := errors.Join(<-ended, b.run.engine.Close(context.Background()), s.Close()); err != nil {
			t.Errorf("%v\n%s", err, said.String())
		}
	})
	if got := b.send(client{}, "GET", "/", ""); got.StatusCode != http.StatusOK { // waits for the first build
		t.Fatalf("the site answers %d\n%s", got.StatusCode, said.String())
	}
	own, ok := s.Announced()
	if !ok {
		t.Fatal("the dev server announced nothing")
	}
	b.token = own.Token
	return b
}

// client is a sender of requests, and its place.
type client struct {
	name   string
	lan    bool
	header []string // "Name: value"
}

// send sends a request with the token of the run. It reads only the head of a stream.
func (b *beyond) send(v client, method, path, body string, header ...string) answer {
	b.t.Helper()
	base := b.own
	if v.lan {
		base = b.lan
	}
	ctx, cancel := context.WithTimeout(b.t.Context(), patience)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, method, base+path, strings.NewReader(body))
	if err != nil {
		b.t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+b.token)
	for _, line := range slices.Concat(v.header, header) {
		name, value, _ := strings.Cut(line, ": ")
		if name == "Host" {
			r.Host = value
			continue
		}
		r.Header.Set(name, value)
	}
	transport := &http.Transport{DisableKeepAlives: true}
	resp, err := transport.RoundTrip(r)
	if err != nil {
		b.t.Fatalf("%s: %s %s: %v", v.name, method, path, err)
	}
	defer resp.Body.Close()
	var all []byte
	if !strings.HasPrefix(resp.Header.Get("Content-Type"), "text/event-stream") {
		if all, err = io.ReadAll(resp.Body); err != nil {
			b.t.Fatal(err)
		}
	}
	return answer{resp, string(all)}
}

// TestMain removes the program that the tests have built.
func TestMain(m *testing.M) {
	code := m.Run()
	if err := os.RemoveAll(builtIn); err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

// builtIn is the folder of the program that the tests have built; "" for none.
var builtIn string

// program builds the program, once for all tests. The dashboard runs its commands.
var program = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "pages-test-*")
	if err != nil {
		return "", err
	}
	builtIn = dir
	path := filepath.Join(dir, "pages")
	out, err := exec.Command("go", "build", "-trimpath", "-ldflags=-s -w", "-o", path, "../../pages").CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("%w: %s", err, out)
	}
	return path, nil
})

// runProgram returns a function that runs a command in its own process.
func runProgram(t *testing.T) func(context.Context, []string, terminal.Terminal) int {
	t.Helper()
	path, err := program()
	if err != nil {
		t.Fatal(err)
	}
	return func(ctx context.Context, args []string, on terminal.Terminal) int {
		cmd := exec.CommandContext(ctx, path, args...)
		cmd.Dir, cmd.Env = on.Dir, append(on.Environ, "PATH="+os.Getenv("PATH"))
		cmd.Stdin, cmd.Stdout, cmd.Stderr = on.Stdin, on.Stdout, on.Stderr
		_ = cmd.Run() // its exit code shows it
		return cmd.ProcessState.ExitCode()
	}
}

// answer is a response with its body.
type answer struct {
	*http.Response
	body string
}

// patience bounds the wait of a test for a response.
const patience = 2 * time.Minute

const (
	formType = "Content-Type: application/x-www-form-urlencoded"
	jsonType = "Content-Type: application/json"
)

// endpoint is a row of the table: the status of the response on this machine, to a page of another site on it, and beyond this machine.
type endpoint struct {
	method, path, body, kind string
	here, foreign, beyond    int
}

// endpoints has all endpoints. Beyond this machine, only those of the site itself answer, although the client has the token.
var endpoints = []endpoint{
	{"GET", "/__pages", "", "", 307, 403, 404},
	{"GET", "/__pages/", "", "", 200, 403, 404},
	{"GET", "/__pages/nothing", "", "", 404, 403, 404},
	{"GET", "/__pages/ui/dashboard.css", "", "", 200, 403, 404},
	{"GET", "/__pages/ui/dashboard.js", "", "", 200, 403, 404},
	{"GET", "/__pages/ui/icon.svg", "", "", 200, 403, 404},
	{"GET", "/__pages/ui/index.html", "", "", 200, 403, 404},
	{"GET", "/__pages/ui/problem.css", "", "", 404, 403, 404},
	{"GET", "/__pages/ui/problem.html", "", "", 404, 403, 404},
	{"GET", "/__pages/ui/reload.js", "", "", 404, 403, 404},
	{"GET", "/__pages/ui/tools.js", "", "", 200, 403, 404},
	{"GET", "/__pages/ui/", "", "", 404, 403, 404},

	{"GET", "/__pages/reload.js", "", "", 200, 403, 200},
	{"GET", "/__pages/reload", "", "", 403, 403, 403}, // without the token of the script
	{"GET", "/__pages/sign-in", "", "", 200, 403, 200},
	{"GET", "/__pages/sign-in?persona=member", "", "", 303, 403, 200},
	{"POST", "/__pages/sign-in", "persona=member", formType, 303, 403, 403},
	{"POST", "/__pages/sign-in", "email=member%40example.test", formType, 303, 403, 403},
	{"POST", "/__pages/sign-in", "code=12345678", formType, 422, 403, 422},
	{"POST", "/__pages/sign-out", "", formType, 303, 403, 303},
	{"GET", "/__pages/signed-out", "", "", 200, 403, 200},
	// A script of another origin that may not read the response sends no form.
	{"POST", "/__pages/forms", "form=contact&name=Ada", formType, 303, 403, 303},
	{"POST", "/__pages/forms/contact", "name=Ada", formType, 303, 403, 303},
	{"GET", "/__pages/forms/stamp.js", "", "", 200, 200, 200},
	{"GET", "/__pages/forms/altcha.json", "", "", 200, 200, 200},

	{"GET", "/__pages/api/", "", "", 404, 403, 404},
	{"GET", "/__pages/api/dev", "", "", 200, 403, 404},
	{"GET", "/__pages/api/dev/stream", "", "", 200, 403, 404},
	{"GET", "/__pages/api/leads", "", "", 200, 403, 404},
	{"GET", "/__pages/api/leads/lead_1", "", "", 404, 403, 404},
	{"POST", "/__pages/api/mark", `{"lead":"lead_1","spam":true}`, jsonType, 422, 403, 404},
	{"GET", "/__pages/api/mails", "", "", 200, 403, 404},
	{"GET", "/__pages/api/events", "", "", 200, 403, 404},
	{"GET", "/__pages/api/events/stream", "", "", 200, 403, 404},
	{"GET", "/__pages/api/requests", "", "", 200, 403, 404},
	{"GET", "/__pages/api/state", "", "", 200, 403, 404},
	{"POST", "/__pages/api/db/query", `{"sql":"SELECT 1"}`, jsonType, 200, 403, 404},
	{"POST", "/__pages/api/db/exec", `{"sql":"INSERT INTO visits DEFAULT VALUES"}`, jsonType, 200, 403, 404},
	{"GET", "/__pages/api/migrations", "", "", 200, 403, 404},
	{"GET", "/__pages/api/migrations/plan", "", "", 200, 403, 404},
	{"GET", "/__pages/api/explain?path=/club/", "", "", 200, 403, 404},
	{"GET", "/__pages/api/logs?request=req_none", "", "", 200, 403, 404},
	{"GET", "/__pages/api/trace?request=req_none", "", "", 200, 403, 404},
	{"POST", "/__pages/api/logs/flush", "", jsonType, 204, 403, 404},
	{"POST", "/__pages/api/stop", `{"pid":1}`, jsonType, 409, 403, 404},
	{"GET", "/__pages/mcp", "", "", 405, 403, 404},
	{"POST", "/__pages/api/replay", `{}`, jsonType, 400, 403, 404},
	{"GET", "/__pages/api/kv", "", "", 200, 403, 404},
	{"PUT", "/__pages/api/kv/value?key=a", "hello", "", 200, 403, 404},
	{"GET", "/__pages/api/kv/value?key=a", "", "", 200, 403, 404},
	{"DELETE", "/__pages/api/kv/value?key=a", "", "", 200, 403, 404},
	{"GET", "/__pages/api/storage", "", "", 200, 403, 404},
	{"PUT", "/__pages/api/storage/object?key=a", "hello", "", 200, 403, 404},
	{"GET", "/__pages/api/storage/object?key=a", "", "", 200, 403, 404},
	{"DELETE", "/__pages/api/storage/object?key=a", "", "", 200, 403, 404},
	{"POST", "/__pages/api/test/reset", "", jsonType, 404, 403, 404}, // of pages test alone
}

func TestBeyondLoopback(t *testing.T) {
	testmachine.Unraced(t) // its 2,000 requests run one after another
	b := startBeyond(t)
	same := "Sec-Fetch-Site: same-origin"
	here := []client{
		{name: "loopback", header: []string{same}},
		{name: "localhost name", header: []string{"Host: club.localhost:8788", same}},
		{name: "proxy of this machine", header: []string{
			same, "X-Forwarded-For: ::1", "X-Forwarded-Host: localhost:5173", "X-Forwarded-Proto: http",
		}},
	}
	strangers := []client{
		{name: "allowed host", header: []string{"Host: demo.example", same}},
		{name: "allowed host with a port", header: []string{"Host: DEMO.example.:443", same}},
		{name: "tunnel, host kept", header: []string{
			"Host: demo.example", "X-Forwarded-For: 203.0.113.9", "X-Forwarded-Proto: https", same,
		}},
		{name: "tunnel, host rewritten", header: []string{
			"X-Forwarded-For: 203.0.113.9", "X-Forwarded-Host: demo.example", same, "Origin: https://demo.example",
		}},
		{name: "tunnel that says its own address alone", header: []string{"Cf-Connecting-Ip: 203.0.113.9", same}},
		{name: "tunnel, and one who claims to be here", header: []string{"X-Forwarded-For: 127.0.0.1, 203.0.113.9", same}},
		{name: "LAN address", lan: true, header: []string{same}},
		{name: "LAN address, allowed host", lan: true, header: []string{"Host: demo.example", same}},
	}
	misdirected := []client{
		{name: "foreign host", header: []string{"Host: evil.example"}},
		{name: "rebinding", header: []string{"Host: evil.example:8788", same, "Origin: http://evil.example:8788"}},
		{name: "foreign host on the LAN", lan: true, header: []string{"Host: 192.168.1.5:8788", same}},
	}
	foreign := client{name: "foreign origin", header: []string{"Origin: http://evil.example", "Sec-Fetch-Site: cross-site"}}
	foreignBeyond := client{name: "foreign origin beyond", header: []string{
		"Host: demo.example", "Origin: http://evil.example", "Sec-Fetch-Site: cross-site",
	}}
	for _, e := range endpoints {
		for _, v := range here {
			b.check(e, v, e.here, true)
		}
		b.check(e, foreign, e.foreign, false)
		for _, v := range strangers {
			b.check(e, v, e.beyond, false)
		}
		wanted := 403
		if e.beyond == 404 || e.path == "/__pages/forms/stamp.js" || e.path == "/__pages/forms/altcha.json" {
			wanted = e.beyond
		}
		b.check(e, foreignBeyond, wanted, false)
		for _, v := range misdirected {
			b.check(e, v, http.StatusMisdirectedRequest, false)
		}
	}
	b.testSite(here[0], strangers)
}

// check sends the request of a row, compares the status of the response and, unless the client is the author, checks that it reveals
// nothing.
func (b *beyond) check(e endpoint, v client, want int, author bool) {
	b.t.Helper()
	b.run.pairing.Forget() // each client is the first to ask for a code
	var header []string
	if e.kind != "" {
		header = []string{e.kind}
	}
	got := b.send(v, e.method, e.path, e.body, header...)
	if got.StatusCode != want {
		b.t.Errorf("%s: %s %s: %d, want %d: %.200s", v.name, e.method, e.path, got.StatusCode, want, got.body)
	}
	if holds := strings.Contains(got.body, b.token); holds != (author && e.path == "/__pages/") &&
		!(author && e.path == "/__pages/ui/index.html") {
		b.t.Errorf("%s: %s %s holds the token: %v", v.name, e.method, e.path, holds)
	}
	if author || e.path == "/__pages/reload.js" {
		return
	}
	for _, told := range []string{"example.test", "Robin", "persona", ".pages", b.run.dir, "pages dev"} {
		if strings.Contains(got.body, told) {
			b.t.Errorf("%s: %s %s tells of %q: %s", v.name, e.method, e.path, told, got.body)
		}
	}
	if want == http.StatusNotFound {
		b.sameAsUnknown(e, v, got)
	}
}

// sameAsUnknown: beyond this machine, an endpoint looks like an unknown address.
func (b *beyond) sameAsUnknown(e endpoint, v client, got answer) {
	b.t.Helper()
	unknown := b.send(v, e.method, "/__pages/unknown", e.body)
	got.Header.Del("Date")
	unknown.Header.Del("Date")
	if got.body != unknown.body || !maps.EqualFunc(got.Header, unknown.Header, slices.Equal) {
		b.t.Errorf("%s: %s %s differs from an unknown page:\n%v %s\n%v %s",
			v.name, e.method, e.path, got.Header, got.body, unknown.Header, unknown.body)
	}
}

// testSite: strangers get the site, without the author's diagnostics, and are
// signed out there, though visitors of this machine start signed in.
func (b *beyond) testSite(here client, strangers []client) {
	expect := func(v client, got answer, status int, part string) {
		b.t.Helper()
		if got.StatusCode != status || !strings.Contains(got.body, part) {
			b.t.Errorf("%s: %s: %d %.300s, want %d with %q", v.name, got.Request.URL.Path, got.StatusCode, got.body, status, part)
		}
	}
	page := []string{"Accept: text/html", "Sec-Fetch-Dest: document", "Sec-Fetch-Mode: navigate"}
	boom := b.send(here, "GET", "/api/boom", "", page...)
	expect(here, boom, 500, "the-secret-of-the-source")
	if boom.Header.Get("Server-Timing") == "" || boom.Header.Get("X-Pages-Request-Id") == "" {
		b.t.Errorf("the author gets no diagnostics: %v", boom.Header)
	}
	expect(here, b.send(here, "GET", "/club/", ""), 200, "club or api")
	expect(here, b.send(here, "GET", "/api/self?path=/__pages/api/leads", ""), 200, `200 {"leads":`)
	expect(strangers[0], b.send(strangers[0], "GET", "/api/self?path=/__pages/api/leads", ""), 200, "404 ")
	for _, v := range strangers {
		index := b.send(v, "GET", "/", "", page...)
		expect(v, index, 200, "<h1>Demo</h1>")
		expect(v, index, 200, `<script src="/__pages/reload.js`)
		expect(v, b.send(v, "GET", "/club/", "", page...), 303, "")
		expect(v, b.send(v, "GET", "/club/", "", "Accept: application/json"), 401, "sign_in_required")
		upgrade := b.send(
			v, "GET", "/club/", "", "Upgrade: websocket", "Connection: Upgrade", "Sec-WebSocket-Version: 13",
			"Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==",
		)
		expect(v, upgrade, 401, "")
		if self := b.send(v, "GET", "/api/self?path=/__pages/api/leads", ""); strings.Contains(self.body, "leads") {
			b.t.Errorf("%s: through the Worker there is %s", v.name, self.body)
		}
		for _, accept := range []string{"text/html", "application/json", "text/plain"} {
			boom := b.send(v, "GET", "/api/boom", "", "Accept: "+accept)
			expect(v, boom, 500, "code failed to answer")
			for _, told := range []string{"secret", "worker.js", "src/", b.run.dir, "throw"} {
				if strings.Contains(boom.body, told) {
					b.t.Errorf("%s: a failure tells of %q: %s", v.name, told, boom.body)
				}
			}
			if timing := boom.Header.Get("Server-Timing") + boom.Header.Get("X-Pages-Request-Id"); timing != "" {
				b.t.Errorf("%s: a failure tells of %q", v.name, timing)
			}
		}
		if timing := b.send(v, "GET", "/api/x", "").Header.Get("Server-Timing"); timing != "" {
			b.t.Errorf("%s: an answer tells of %q", v.name, timing)
		}
		b.run.pairing.Forget()
	}
}

// TestEndpointsAreInTable reads the endpoints from the source, so that a new one cannot reach strangers without a row.
func TestEndpointsAreInTable(t *testing.T) {
	known := map[string]bool{}
	for _, e := range endpoints {
		u, err := url.Parse(e.path)
		if err != nil {
			t.Fatal(err)
		}
		known[u.Path] = true
	}
	rooms := filepath.Join("..", "..", "..", "devserver")
	found := namesOf(t, filepath.Join(rooms, "site", "exchange.go"), "serveReserved")
	found = append(found, namesOf(t, filepath.Join(rooms, "site", "pairing.go"), "forEveryone")...)
	for _, folder := range []string{".", rooms, filepath.Join(rooms, "site")} {
		files, err := filepath.Glob(filepath.Join(folder, "*.go"))
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			if !strings.HasSuffix(file, "_test.go") {
				found = append(found, pathsOf(t, file)...)
			}
		}
	}
	pages, err := os.ReadDir(filepath.Join(rooms, "ui"))
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range pages {
		found = append(found, "/__pages/ui/"+p.Name())
	}
	slices.Sort(found)
	found = slices.Compact(found)
	for _, must := range []string{
		"/__pages/sign-in", "/__pages/reload", "/__pages/api/db/exec", "/__pages/api/leads", "/__pages/api/dev/stream",
		"/__pages/ui/index.html",
	} {
		if !slices.Contains(found, must) {
			t.Errorf("%s is not found in the source: where do endpoints stand now?", must)
		}
	}
	for _, path := range found {
		if !known[path] {
			t.Errorf("%s is not in the table: which response do other machines get?", path)
		}
	}
}

var reservedPath = regexp.MustCompile(`^(?:[A-Z]+ )?(/__pages(?:/[a-z0-9./_-]*)?)$`)

// pathsOf returns the string literals of a file that are a path under /__pages, or a pattern of one.
func pathsOf(t *testing.T, file string) (paths []string) {
	t.Helper()
	inspect(t, file, func(n ast.Node) {
		if text, ok := literal(n); ok {
			if m := reservedPath.FindStringSubmatch(text); m != nil {
				paths = append(paths, m[1])
			}
		}
	})
	return paths
}

// namesOf returns the keys of the map, or the cases of the switch, in a function or a variable of a file.
func namesOf(t *testing.T, file, owner string) (paths []string) {
	t.Helper()
	inspect(t, file, func(n ast.Node) {
		switch n := n.(type) {
		case *ast.FuncDecl:
			if n.Name.Name != owner {
				return
			}
		case *ast.ValueSpec:
			if n.Names[0].Name != owner {
				return
			}
		default:
			return
		}
		ast.Inspect(n, func(n ast.Node) bool {
			var names []ast.Expr
			switch n := n.(type) {
			case *ast.KeyValueExpr:
				names = []ast.Expr{n.Key}
			case *ast.CaseClause:
				names = n.List
			}
			for _, each := range names {
				if name, ok := literal(each); ok {
					paths = append(paths, "/__pages/"+name)
				}
			}
			return true
		})
	})
	if len(paths) == 0 {
		t.Errorf("%s has no %s", file, owner)
	}
	return paths
}

func inspect(t *testing.T, file string, look func(ast.Node)) {
	t.Helper()
	f, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	ast.Inspect(f, func(n ast.Node) bool { look(n); return true })
}

func literal(n ast.Node) (string, bool) {
	lit, ok := n.(*ast.BasicLit)
	if !ok || lit.Kind != token.STRING {
		return "", false
	}
	text, err := strconv.Unquote(lit.Value)
	return text, err == nil
}
