package devserver

import (
	"bufio"
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	_ "modernc.org/sqlite"

	"github.com/pages-toolchain/pages/devserver/pairing"
	"github.com/pages-toolchain/pages/devserver/site"
	"github.com/pages-toolchain/pages/manifest"
	"github.com/pages-toolchain/pages/manifest/sitefile"
)

func openDB(t testing.TB, path string) *sql.DB {
	t.Helper()
	const pragmas = "?_pragma=busy_timeout(5000)&_pragma=journal_mode(WAL)&_pragma=synchronous(FULL)&_pragma=foreign_keys(1)" +
		"&_txlock=immediate"
	db, err := sql.Open("sqlite", "file:"+path+pragmas)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return db
}

// newSite makes a real site on a real database.
func newSite(t testing.TB, hub *Hub) *site.Site {
	t.Helper()
	db := openDB(t, filepath.Join(t.TempDir(), "platform.db"))
	s, err := site.New(t.Context(), site.Options{DB: db, Control: hub, DevHints: true, Pairing: pairing.New(pairing.Options{})})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// folderBuilder serves the folder "public" of dir. A file that contains the
// word "broken" fails the build, as a syntax error would.
type folderBuilder struct {
	dir    string
	worker site.Worker
	routes []manifest.Route
	// built gets the changed files of each build, when it is set.
	built chan []string
}

func (b *folderBuilder) Build(ctx context.Context, changed []string) Outcome {
	public := filepath.Join(b.dir, "public")
	out := Outcome{OK: true, Watch: []string{public, filepath.Join(b.dir, "pages.deploy.json")}}
	out.Revision = site.Revision{AssetsDir: public, Worker: b.worker, Manifest: &manifest.Manifest{Assets: "public", Routes: b.routes}}
	if b.worker != nil {
		out.Revision.Manifest.Entry = "worker.js"
	}
	err := filepath.WalkDir(public, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		rel := strings.TrimPrefix(path, public)
		if strings.Contains(string(data), "broken") {
			out.OK = false
			out.Problems = append(out.Problems, Problem{
				Kind: "syntax", Title: "Cannot build", Message: `unexpected "broken"`,
				File: "public" + filepath.ToSlash(rel), Line: 1, Column: 3, EndColumn: 9,
				Snippet: []SnippetLine{{Number: 1, Text: string(data), Hit: true}}, Fix: "mend it",
			})
		}
		sum := sha256.Sum256(data)
		out.Revision.Assets = append(out.Revision.Assets, sitefile.Asset{
			Path: filepath.ToSlash(rel), File: path, Size: int64(len(data)), SHA256: hex.EncodeToString(sum[:]),
			ContentType: map[string]string{".html": "text/html; charset=utf-8", ".css": "text/css"}[filepath.Ext(path)],
		})
		return nil
	})
	if err != nil {
		out = Outcome{Problems: []Problem{{Message: err.Error()}}, Watch: out.Watch}
	}
	if b.built != nil {
		select {
		case b.built <- changed:
		case <-ctx.Done():
		}
	}
	return out
}

// running is a running dev server.
type running struct {
	url    string
	hub    *Hub
	site   *site.Site
	builds chan Build
	stop   func() error // ends it and returns the error of Serve
}

// serve starts a dev server and waits for its first build.
func serve(t *testing.T, b Builder, mode LiveReload) *running {
	t.Helper()
	r := start(t, b, mode)
	r.next(t)
	return r
}

func start(t *testing.T, b Builder, mode LiveReload) *running {
	t.Helper()
	hub := NewHub(HubOptions{LiveReload: mode})
	l := listenFree(t)
	r := &running{url: l.URL, hub: hub, site: newSite(t, hub), builds: make(chan Build, 100)}
	server, err := New(Options{
		Site: r.site, Builder: b, Hub: hub, Listeners: l.All(), Grace: 10 * time.Second,
		OnBuild: func(b Build) { r.builds <- b },
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(ctx) }()
	r.stop = sync.OnceValue(func() error {
		cancel()
		return <-ended
	})
	t.Cleanup(func() {
		if err := r.stop(); err != nil {
			t.Errorf("Serve: %v", err)
		}
	})
	return r
}

// next waits for the next build.
func (r *running) next(t *testing.T) Build {
	t.Helper()
	select {
	case b := <-r.builds:
		return b
	case <-time.After(waitLimit):
		t.Fatal("no build")
		return Build{}
	}
}

type reply struct {
	*http.Response
	body string
}

// ask sends one request; headers are "Name: value". The connection is not kept.
func (r *running) ask(t testing.TB, method, path string, headers ...string) reply {
	t.Helper()
	return askURL(t, method, r.url+path, headers...)
}

func askURL(t testing.TB, method, url string, headers ...string) reply {
	t.Helper()
	res := open(t, method, url, headers...)
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return reply{res, string(body)}
}

// open sends a request and leaves the body unread.
func open(t testing.TB, method, url string, headers ...string) *http.Response {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, url, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	req.Close = true
	for _, line := range headers {
		name, value, _ := strings.Cut(line, ": ")
		if name == "Host" {
			req.Host = value
		}
		req.Header.Add(name, value)
	}
	transport := &http.Transport{DisableCompression: true}
	res, err := transport.RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	return res
}

const (
	asDocument = "Sec-Fetch-Dest: document"
	asPage     = "Sec-Fetch-Site: same-origin"
)

// events reads a stream of server-sent events. The channel ends with the stream.
func events(t testing.TB, body io.ReadCloser) <-chan string {
	t.Helper()
	out := make(chan string, 100)
	go func() {
		defer close(out)
		var event string
		for lines := bufio.NewScanner(body); lines.Scan(); {
			if name, ok := strings.CutPrefix(lines.Text(), "event: "); ok {
				event = name
			}
			if data, ok := strings.CutPrefix(lines.Text(), "data: "); ok {
				out <- event + " " + data
			}
		}
	}()
	t.Cleanup(func() { body.Close() })
	return out
}

func nextEvent(t testing.TB, from <-chan string) string {
	t.Helper()
	select {
	case e, open := <-from:
		if !open {
			t.Fatal("the stream ended")
		}
		return e
	case <-time.After(waitLimit):
		t.Fatal("no event")
		return ""
	}
}

// reloadStream opens the stream as the reload script of a page with version v does.
func (r *running) reloadStream(t testing.TB, v string) <-chan string {
	t.Helper()
	res := open(t, "GET", r.url+streamPath+"?token="+r.hub.opener+"&v="+v, asPage)
	if res.StatusCode != http.StatusOK {
		t.Fatalf("reload stream: %s", res.Status)
	}
	return events(t, res.Body)
}
