package devserver

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pages-toolchain/pages/devserver/site"
	"github.com/pages-toolchain/pages/manifest"
	"github.com/pages-toolchain/pages/manifest/sitefile"
)

func TestNewWantsItsParts(t *testing.T) {
	if _, err := New(Options{}); err == nil {
		t.Error("no error for empty options")
	}
}

func TestSaveIsLive(t *testing.T) {
	dir := siteDir(t)
	r := serve(t, &folderBuilder{dir: dir}, Hot)
	page := filepath.Join(dir, "public/index.html")
	open := r.reloadStream(t, "1")
	write(t, page, "second")
	if b := r.next(t); !b.OK || b.Reload != ReloadFull || !slices.Equal(b.Changed, []string{page}) || b.Number != 2 {
		t.Errorf("build = %+v", b)
	}
	if got := nextEvent(t, open); got != `update {"type":"full","version":2}` {
		t.Errorf("the page heard %s", got)
	}
	if got := r.ask(t, "GET", "/"); got.body != "second" || got.StatusCode != http.StatusOK {
		t.Errorf("served %s %q", got.Status, got.body)
	}
}

func TestStyleIsSwappedInPlace(t *testing.T) {
	tests := []struct {
		mode LiveReload
		want string
	}{
		{Hot, `update {"type":"css","version":2,"paths":["/css/site.css"]}`},
		{Full, `update {"type":"full","version":2}`},
	}
	for _, test := range tests {
		dir := siteDir(t)
		r := serve(t, &folderBuilder{dir: dir}, test.mode)
		open := r.reloadStream(t, "1")
		css := filepath.Join(dir, "public/css/site.css")
		write(t, css+".tmp", "b{}") // an atomic save counts as a change of the style only
		rename(t, css+".tmp", css)
		r.next(t)
		if got := nextEvent(t, open); got != test.want {
			t.Errorf("%s: the page heard %s, want %s", test.mode, got, test.want)
		}
	}
}

func TestChangedStyles(t *testing.T) {
	assets := []sitefile.Asset{{Path: "/a.css", File: "/s/a.css"}, {Path: "/i.html", File: "/s/i.html"}}
	tests := []struct {
		changed []string
		only    bool
	}{
		{nil, false},
		{[]string{"/s/a.css"}, true},
		{[]string{"/s/A.CSS"}, false},
		{[]string{"/s/a.css", "/s/i.html"}, false},
		{[]string{"/s/gone.css"}, false},
		{[]string{"/src/in-the-bundle.css"}, false},
	}
	for _, test := range tests {
		t.Run(fmt.Sprint(test.changed), func(t *testing.T) {
			paths, only := changedStyles(test.changed, assets)
			if only != test.only || (only && !slices.Equal(paths, []string{"/a.css"})) {
				t.Errorf("changedStyles(%v) = %v, %v", test.changed, paths, only)
			}
		})
	}
}

// A failed build leaves the last good revision, and open and new pages show its problems; a good build withdraws them.
func TestFailedBuildKeepsTheLastGoodOne(t *testing.T) {
	dir := siteDir(t)
	r := serve(t, &folderBuilder{dir: dir}, Hot)
	css := filepath.Join(dir, "public/css/site.css")
	early := r.reloadStream(t, "1")
	write(t, css, "a broken")
	if b := r.next(t); b.OK || b.Reload != ReloadNone || len(b.Problems) != 1 {
		t.Errorf("build = %+v", b)
	}
	late := r.reloadStream(t, "1")
	for name, page := range map[string]<-chan string{"open": early, "new": late} {
		if got := nextEvent(t, page); !strings.HasPrefix(got, `problems {"build":2,"problems":[{"kind":"syntax"`) {
			t.Errorf("the %s page heard %s", name, got)
		}
	}
	if got := r.ask(t, "GET", "/"); got.body != "1" {
		t.Errorf("served %q while the build fails", got.body)
	}
	if s := r.state(t); s.OK || s.Version != 1 || s.Build != 2 || s.Problems[0].Line != 1 {
		t.Errorf("state = %+v", s)
	}
	write(t, css, "mended")
	if b := r.next(t); !b.OK || b.Reload != ReloadFull {
		t.Errorf("after the repair: %+v", b) // a full reload, although only a style changed: the page may be a problem page
	}
	if got := nextEvent(t, early); got != `update {"type":"full","version":2}` {
		t.Errorf("after the repair the page heard %s", got)
	}
}

func (r *running) state(t *testing.T) State {
	t.Helper()
	var s State
	if err := json.Unmarshal([]byte(r.ask(t, "GET", StatePath).body), &s); err != nil {
		t.Fatal(err)
	}
	return s
}

func TestFirstBuildFails(t *testing.T) {
	dir := siteDir(t)
	page := filepath.Join(dir, "public/index.html")
	write(t, page, "<p>broken</p>")
	age(t, page)
	r := serve(t, &folderBuilder{dir: dir}, Hot)
	got := r.ask(t, "GET", "/any/where", asDocument, "Accept: text/html")
	if got.StatusCode != 500 || !strings.Contains(got.body, "public/index.html:1:3") ||
		!strings.Contains(got.body, `data-pages-build="1"`) ||
		!strings.Contains(got.body, `<script src="/__pages/reload.js?v=0">`) || strings.Contains(got.body, "<p>broken</p>") {
		t.Errorf("page: %s\n%s", got.Status, got.body)
	}
	if got := r.ask(t, "POST", "/api/x", "Accept: application/json"); got.StatusCode != 500 || !strings.Contains(got.body, `"line":1`) {
		t.Errorf("API: %s %s", got.Status, got.body)
	}
	if got := r.ask(
		t, "POST", "/__pages/forms/contact", "Accept: application/json",
		"Content-Type: application/x-www-form-urlencoded",
	); got.StatusCode != 500 || !strings.Contains(got.body, `"line":1`) {
		t.Errorf("a form with unknown effects: %s %s", got.Status, got.body)
	}
	if got := r.ask(t, "GET", "/", "Host: evil.example"); got.StatusCode != http.StatusMisdirectedRequest ||
		strings.Contains(got.body, "index.html") {
		t.Errorf("a stranger's host: %s %s", got.Status, got.body)
	}
	if got := r.ask(t, "GET", "/__pages/"); got.StatusCode != http.StatusOK {
		t.Errorf("dashboard: %s", got.Status)
	}
	open := r.reloadStream(t, "0")
	nextEvent(t, open)
	write(t, page, "mended")
	r.next(t)
	if got := nextEvent(t, open); got != `update {"type":"full","version":1}` {
		t.Errorf("the problem page heard %s", got)
	}
	if got := r.ask(t, "GET", "/"); got.body != "mended" {
		t.Errorf("served %q", got.body)
	}
}

// gatedBuilder builds when the test allows it.
type gatedBuilder struct {
	let  chan struct{}
	then Builder
}

func (b gatedBuilder) Build(ctx context.Context, changed []string) Outcome {
	select {
	case <-b.let:
	case <-ctx.Done():
	}
	return b.then.Build(ctx, changed)
}

func TestRequestsWaitForTheFirstBuild(t *testing.T) {
	b := gatedBuilder{make(chan struct{}), &folderBuilder{dir: siteDir(t)}}
	r := start(t, b, Hot)
	got := make(chan reply)
	go func() { got <- r.ask(t, "GET", "/") }()
	select {
	case <-got:
		t.Error("answered before there was anything to serve")
	default:
	}
	close(b.let)
	if g := <-got; g.body != "1" {
		t.Errorf("served %q", g.body)
	}
}

// Changes during a build cause one more build.
func TestBuildsNeverOverlap(t *testing.T) {
	dir := siteDir(t)
	b := &folderBuilder{dir: dir, built: make(chan []string)}
	r := start(t, b, Hot)
	if changed := <-b.built; changed != nil {
		t.Errorf("the first build got %v", changed)
	}
	r.next(t)
	a := filepath.Join(dir, "public/a.html")
	write(t, a, "1")
	if changed := <-b.built; !slices.Equal(changed, []string{a}) {
		t.Errorf("the second build got %v", changed)
	}
	r.next(t)
}

// slowWorker answers when the test allows it, in two parts.
type slowWorker struct{ running, let chan struct{} }

func (s slowWorker) Serve(w http.ResponseWriter, _ *http.Request) error {
	fmt.Fprint(w, "first ")
	http.NewResponseController(w).Flush()
	close(s.running)
	<-s.let
	fmt.Fprint(w, "second")
	return nil
}

func TestShutdownLetsRequestsFinish(t *testing.T) {
	w := slowWorker{make(chan struct{}), make(chan struct{})}
	everything := []manifest.Route{{Pattern: "/api/*", Access: manifest.Public}}
	r := serve(t, &folderBuilder{dir: siteDir(t), worker: w, routes: everything}, Hot)
	dashboards := []<-chan string{
		r.reloadStream(t, "1"),
		events(t, open(t, "GET", r.url+feedPath, asPage).Body),
		events(t, open(t, "GET", r.url+"/__pages/api/events/stream", "Accept: text/event-stream").Body),
	}
	got := make(chan reply)
	go func() { got <- r.ask(t, "GET", "/api/slow") }()
	<-w.running
	ended := make(chan error)
	go func() { ended <- r.stop() }()
	for _, stream := range dashboards {
		for range stream { // it ends although a request still runs
		}
	}
	close(w.let)
	if g := <-got; g.body != "first second" {
		t.Errorf("the running request got %q", g.body)
	}
	if err := <-ended; err != nil {
		t.Error(err)
	}
	if _, err := http.Get(r.url); err == nil {
		t.Error("still listening")
	}
}

func TestShutdownIsBounded(t *testing.T) {
	hub := NewHub(HubOptions{})
	l := listenFree(t)
	endless := func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(http.StatusOK)
		http.NewResponseController(w).Flush()
		<-r.Context().Done()
	}
	server, err := New(Options{
		Site: fakeSite{http.HandlerFunc(endless)}, Builder: &folderBuilder{dir: siteDir(t)}, Hub: hub,
		Listeners: l.All(), Grace: time.Millisecond,
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() { ended <- server.Serve(ctx) }()
	res := open(t, "GET", l.URL+"/")
	defer res.Body.Close()
	cancel()
	select {
	case err := <-ended:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(waitLimit):
		t.Error("Serve waits for an endless request")
	}
}

type fakeSite struct{ http.Handler }

func (fakeSite) Swap(site.Revision) site.Revision { return site.Revision{} }

func TestServeReportsABadSocket(t *testing.T) {
	l := listenFree(t)
	server, err := New(Options{
		Site: fakeSite{http.NotFoundHandler()}, Builder: &folderBuilder{dir: siteDir(t)}, Hub: NewHub(HubOptions{}), Listeners: l.All(),
	})
	if err != nil {
		t.Fatal(err)
	}
	l.Close()
	if err := server.Serve(t.Context()); err == nil {
		t.Error("no error for a closed socket")
	}
}

// A manifest that appears, a checkout, a generator: at the end the server serves the files on disk.
func TestStormEndsWithTheDisk(t *testing.T) {
	dir := siteDir(t)
	r := serve(t, &folderBuilder{dir: dir}, Hot)
	public := filepath.Join(dir, "public")
	for i := range 300 {
		write(t, filepath.Join(public, "gen", "page.html"), strings.Repeat("x", i))
	}
	rename(t, filepath.Join(public, "gen"), filepath.Join(public, "moved"))
	final := bytes.Repeat([]byte("x"), 299)
	deadline := time.Now().Add(waitLimit)
	for time.Now().Before(deadline) {
		r.next(t)
		if got := r.ask(t, "GET", "/moved/page"); got.body == string(final) &&
			r.ask(t, "GET", "/gen/page").StatusCode == http.StatusNotFound {
			return
		}
	}
	t.Error("the served file differs from the one on the disk")
}

func TestMissingFolderThenThere(t *testing.T) {
	dir := siteDir(t)
	public := filepath.Join(dir, "public")
	if err := os.RemoveAll(public); err != nil {
		t.Fatal(err)
	}
	r := serve(t, &folderBuilder{dir: dir}, Hot)
	if got := r.ask(t, "GET", "/"); got.StatusCode != 500 {
		t.Errorf("without its folder: %s", got.Status)
	}
	write(t, filepath.Join(public, "index.html"), "there")
	for ok := false; !ok; {
		ok = r.next(t).OK
	}
	if got := r.ask(t, "GET", "/"); got.body != "there" {
		t.Errorf("served %q", got.body)
	}
}
