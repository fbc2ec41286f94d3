package deploy_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/pages-toolchain/pages/manifest/sitefile"
	"github.com/pages-toolchain/pages/toolapi"
	"github.com/pages-toolchain/pages/toolapi/client"
	"github.com/pages-toolchain/pages/toolapi/deploy"
	"github.com/pages-toolchain/pages/toolapi/oracle"
	"github.com/pages-toolchain/pages/toolapi/service"
)

// testService is the real service on real HTTP at one address. Tests can stop and start it.
type testService struct {
	*testing.T

	dir      string
	address  string
	demo     service.Demo
	contract *toolapi.Contract
	oracle   *oracle.Oracle

	mu      sync.Mutex
	ahead   time.Duration // how far the service's clock is ahead
	service *service.Service
	server  *http.Server
	served  chan struct{}
	gate    *concurrencyLimit
}

func newTestService(t *testing.T) *testService {
	t.Helper()
	w := &testService{T: t, dir: t.TempDir(), address: "127.0.0.1:0", contract: toolapi.NewContract()}
	document, err := w.contract.OpenAPI()
	if err != nil {
		t.Fatal(err)
	}
	w.oracle = oracle.New(t, document)
	w.start()
	t.Cleanup(w.stop)
	return w
}

func (w *testService) now() time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	return time.Now().Add(w.ahead)
}

func (w *testService) pass(d time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.ahead += d
}

func (w *testService) start() {
	w.Helper()
	s, err := service.Open(context.Background(), filepath.Join(w.dir, "service.db"), service.Options{Now: w.now, PerMinute: 100_000})
	if err != nil {
		w.Fatal(err)
	}
	if w.demo, err = s.Seed(context.Background()); err != nil {
		w.Fatal(err)
	}
	l, err := net.Listen("tcp", w.address)
	if err != nil {
		w.Fatal(err)
	}
	w.address = l.Addr().String()
	w.service, w.served, w.gate = s, make(chan struct{}), &concurrencyLimit{open: true, Handler: w.oracle.Handler(s)}
	w.server = &http.Server{Handler: w.gate}
	go func(server *http.Server, served chan struct{}) {
		defer close(served)
		_ = server.Serve(l) // always an error, of Close
	}(w.server, w.served)
}

// stop cuts all connections, as a crash does, and closes the database after the running requests: a service whose database is closed
// answers nothing as described.
func (w *testService) stop() {
	_ = w.server.Close() // it holds no data
	<-w.served
	w.gate.close()
	for w.service.Close() != nil {
		<-time.After(time.Millisecond) // a request that had just come
	}
}

// concurrencyLimit lets requests through until it is closed.
type concurrencyLimit struct {
	http.Handler

	mu   sync.RWMutex
	open bool
}

func (g *concurrencyLimit) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	g.mu.RLock()
	defer g.mu.RUnlock()
	if !g.open {
		panic(http.ErrAbortHandler) // its connection is already closed
	}
	g.Handler.ServeHTTP(w, r)
}

// close waits for current requests, and cuts off new ones.
func (g *concurrencyLimit) close() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.open = false
}

// transport counts requests, and runs a test's function on them.
type transport struct {
	http.RoundTripper

	mu    sync.Mutex
	heard []string // "PUT blobs", "POST finalize", …
	// on may return another answer, or fail; next sends the request.
	on func(what string, n int, r *http.Request, next func() (*http.Response, error)) (*http.Response, error)
}

func (t *transport) RoundTrip(r *http.Request) (*http.Response, error) {
	what := r.Method + " " + kind(r.URL.Path)
	t.mu.Lock()
	t.heard = append(t.heard, what)
	n := 0
	for _, h := range t.heard {
		if h == what {
			n++
		}
	}
	t.mu.Unlock()
	next := func() (*http.Response, error) { return t.RoundTripper.RoundTrip(r) }
	if t.on == nil {
		return next()
	}
	return t.on(what, n, r, next)
}

// kind is the last part of a path other than an id.
func kind(path string) string {
	words := strings.Split(path, "/")
	switch last := words[len(words)-1]; {
	case slices.Contains(words, "blobs"):
		return "blobs"
	case slices.Contains(words, "revisions"):
		return "revision"
	case strings.HasPrefix(last, "upl_"):
		return "upload"
	default:
		return last
	}
}

func (t *transport) count(what string) (n int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, h := range t.heard {
		if h == what {
			n++
		}
	}
	return n
}

// sleepBriefly sleeps a hundredth of the time.
func sleepBriefly(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-time.After(d / 100):
		return nil
	}
}

// deployer deploys to the demo's page that was never published.
func (w *testService) deployer(t *transport) *deploy.Deployer {
	w.Helper()
	if t.RoundTripper == nil {
		own := &http.Transport{MaxIdleConnsPerHost: 8}
		t.RoundTripper = own
		w.Cleanup(own.CloseIdleConnections)
	}
	c, err := client.New(client.Options{
		BaseURL: "http://" + w.address, Key: w.demo.Keys["member"], Transport: t, Sleep: sleepBriefly, Idle: 5 * time.Second,
	})
	if err != nil {
		w.Fatal(err)
	}
	return &deploy.Deployer{
		Client: c, Contract: w.contract, Workspace: "acme", Site: w.demo.IDs["unpublished_site_id"], Version: "test",
		Now: time.Now,
	}
}

// folder writes n files and returns the bundle of them.
func folder(t *testing.T, n, size int) (dir string, b deploy.Bundle) {
	t.Helper()
	dir = t.TempDir()
	for i := range n {
		text := bytes.Repeat(fmt.Appendf(nil, "%04d ", i), 1+(size+i)/5)
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("f%04d.txt", i)), text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir, bundleOf(t, dir)
}

// bundleOf is the bundle of a folder's files as they are now.
func bundleOf(t *testing.T, dir string) deploy.Bundle {
	t.Helper()
	b := deploy.Bundle{Manifest: json.RawMessage(`{"assets":"public"}`)}
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		text, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		sum := sha256.Sum256(text)
		b.Files = append(b.Files, deploy.File{
			File: sitefile.File{
				Path: "public/" + e.Name(), Size: int64(len(text)), SHA256: hex.EncodeToString(sum[:]),
				ContentType: "text/plain; charset=utf-8",
			},
			Open: func() (io.ReadCloser, error) { return os.Open(filepath.Join(dir, e.Name())) },
		})
	}
	return b
}

// checkRevision checks that a revision is a bundle, and that the blobs on disk are its bytes.
func (w *testService) checkRevision(revision string, b deploy.Bundle) {
	w.Helper()
	r, err := w.deployer(&transport{}).Client.Revision(w.Context(), "acme", w.demo.IDs["unpublished_site_id"], revision)
	if err != nil {
		w.Fatal(err)
	}
	if len(r.Files) != len(b.Files) {
		w.Fatalf("the revision has %d files, want %d", len(r.Files), len(b.Files))
	}
	stored := map[string]string{} // hash to path
	err = filepath.WalkDir(w.dir, func(path string, d os.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() && !strings.HasPrefix(d.Name(), "service.db") {
			text, err := os.ReadFile(path)
			sum := sha256.Sum256(text)
			stored[hex.EncodeToString(sum[:])] = path
			return err
		}
		return err
	})
	if err != nil {
		w.Fatal(err)
	}
	for i, f := range b.Files {
		if got := r.Files[i]; got.Path != f.Path || string(got.SHA256) != f.SHA256 || int64(got.Size) != f.Size {
			w.Errorf("file %d is %+v, want %+v", i, got, f)
		}
		if stored[f.SHA256] == "" {
			w.Errorf("the bytes of %s are not stored", f.Path)
		}
	}
}

// live is the revision that the page shows.
func (w *testService) live() string {
	w.Helper()
	l, err := w.deployer(&transport{}).Look(w.Context())
	if err != nil {
		w.Fatal(err)
	}
	return l.Revision
}

// publish sends and publishes, as a person who agrees to everything.
func publish(ctx context.Context, d *deploy.Deployer, b deploy.Bundle, base toolapi.BaseRevision) (revision string, err error) {
	return publishAfter(ctx, d, b, base, func() {})
}

// publishAfter is publish with a function that is called once the bundle is sent.
func publishAfter(
	ctx context.Context, d *deploy.Deployer, b deploy.Bundle, base toolapi.BaseRevision, sent func(),
) (revision string, err error) {
	done, err := d.Send(ctx, b, base, &deploy.Progress{})
	sent()
	if err != nil {
		return "", err
	}
	p, err := d.ProposePublish(ctx, done.Revision, base, nil)
	if err != nil || p == nil {
		return done.Revision, err
	}
	_, err = p.Confirm(ctx, d.Client)
	if deploy.Stale(err) {
		live, errLook := d.Look(ctx)
		if errLook != nil || live.Revision == done.Revision {
			return done.Revision, errLook
		}
		return "", &deploy.ConflictError{Live: live.Revision}
	}
	return done.Revision, err
}

var errLost = errors.New("the answer is lost")
