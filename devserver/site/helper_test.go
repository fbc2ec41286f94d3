package site

import (
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"encoding/json"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	_ "modernc.org/sqlite"

	"github.com/pages-toolchain/pages/manifest"
	"github.com/pages-toolchain/pages/manifest/sitefile"
)

const secret = "the-secret-of-the-club"

// openDB opens a real SQLite file as the program does.
func openDB(t testing.TB, path string) *sql.DB {
	t.Helper()
	const pragmas = "?_pragma=busy_timeout(5000)&_pragma=journal_mode(WAL)&_pragma=synchronous(FULL)&_pragma=foreign_keys(1)" +
		"&_txlock=immediate"
	db, err := sql.Open("sqlite", "file:"+path+pragmas)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	return db
}

// folder writes files below a fresh folder and lists them as assets.
func folder(t testing.TB, files map[string]string) (dir string, assets []sitefile.Asset) {
	t.Helper()
	dir = t.TempDir()
	for path, text := range files {
		name := filepath.Join(dir, filepath.FromSlash(path))
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		assets = append(assets, assetOf(path, name, text))
	}
	return dir, assets
}

func assetOf(path, name, text string) sitefile.Asset {
	kind := map[string]string{
		".html": "text/html; charset=utf-8", ".css": "text/css; charset=utf-8", ".svg": "image/svg+xml",
	}[filepath.Ext(path)]
	sum := sha256.Sum256([]byte(text))
	return sitefile.Asset{Path: path, File: name, Size: int64(len(text)), SHA256: hex.EncodeToString(sum[:]), ContentType: kind}
}

// routes reads "public /api/*" lines.
func routes(lines ...string) []manifest.Route {
	var all []manifest.Route
	for _, line := range lines {
		access, pattern, _ := strings.Cut(line, " ")
		all = append(all, manifest.Route{Pattern: pattern, Access: manifest.Access(access)})
	}
	return all
}

// fixture is a site behind a real HTTP server.
type fixture struct {
	site     *Site
	server   *httptest.Server
	platform *sql.DB
}

func start(t testing.TB, options Options, revision Revision) *fixture {
	t.Helper()
	f := &fixture{platform: options.DB}
	if f.platform == nil {
		f.platform = openDB(t, filepath.Join(t.TempDir(), "platform.db"))
		options.DB = f.platform
	}
	var err error
	if f.site, err = New(t.Context(), options); err != nil {
		t.Fatal(err)
	}
	f.site.Swap(revision)
	f.server = httptest.NewUnstartedServer(f.site)
	f.server.Config.DisableGeneralOptionsHandler = true // our server answers "OPTIONS *"
	f.server.Start()
	t.Cleanup(func() {
		f.server.CloseClientConnections()
		f.server.Close()
		if err := f.site.Close(); err != nil {
			t.Error(err)
		}
	})
	return f
}

// client returns a client with cookies that does not follow redirects.
func (f *fixture) client(t testing.TB) *http.Client {
	t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	return &http.Client{
		Jar:           jar,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// as returns a client that is signed in as a persona.
func (f *fixture) as(t testing.TB, persona string) *http.Client {
	t.Helper()
	c := f.client(t)
	got := f.do(
		t, c, "POST", "/__pages/sign-in", url.Values{"persona": {persona}}.Encode(),
		"Content-Type: application/x-www-form-urlencoded",
	)
	if got.status != http.StatusSeeOther {
		t.Fatalf("sign-in as %q: status %d: %s", persona, got.status, got.body)
	}
	return c
}

// reply is a response that was read completely.
type reply struct {
	status int
	header http.Header
	body   string
}

// do sends one request; headers are "Name: value".
func (f *fixture) do(t testing.TB, c *http.Client, method, path, body string, headers ...string) reply {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, f.server.URL+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ": ")
		if name == "Host" {
			r.Host = value
			continue
		}
		r.Header.Add(name, value)
	}
	if c == nil {
		c = f.client(t)
	}
	response, err := c.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	all, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return reply{status: response.StatusCode, header: response.Header, body: string(all)}
}

func (f *fixture) get(t testing.TB, path string, headers ...string) reply {
	t.Helper()
	return f.do(t, nil, "GET", path, "", headers...)
}

// decode reads the JSON of a reply.
func decode[T any](t testing.TB, r reply) T {
	t.Helper()
	var v T
	if err := json.Unmarshal([]byte(r.body), &v); err != nil {
		t.Fatalf("%v in %q", err, r.body)
	}
	return v
}

// echo is a Worker that responds with the request and the member that it received.
type echo struct{}

func (echo) Serve(w http.ResponseWriter, r *http.Request) error {
	var member Member
	if x := exchangeFrom(r.Context()); x.gated {
		member = x.member
	}
	w.Header().Set("Content-Type", "application/json")
	return json.NewEncoder(w).Encode(map[string]any{
		"worker": true, "method": r.Method, "path": r.URL.Path, "uri": r.RequestURI, "url": r.URL.String(),
		"member": member, "header": r.Header,
	})
}

// recordResponse calls a handler without a network.
func recordResponse(h http.Handler, r *http.Request) reply {
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return reply{status: w.Code, header: w.Result().Header, body: w.Body.String()}
}
