package service_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/pages-toolchain/pages/toolapi"
	"github.com/pages-toolchain/pages/toolapi/service"
)

// TestCollectEndsPreviews: an expired link takes the data of its preview with it.
func TestCollectEndsPreviews(t *testing.T) {
	w, host := newHostedFixture(t)
	w.revisionOf("one")
	link := func(life int) string {
		a := w.request(
			http.MethodPost, toolapi.PreviewLinksPath, w.demo.Keys["member"],
			js("site_id", w.demo.IDs["site_id"], "expires_in_seconds", life),
		)
		if a.status != http.StatusCreated {
			t.Fatalf("%d %s", a.status, a.body)
		}
		return a.text("id")
	}
	short, long := link(60), link(3600)
	for _, c := range []struct {
		pass time.Duration
		want string
	}{{59 * time.Second, ""}, {time.Second, short}, {time.Minute, short}, {time.Hour, short + " " + long}} {
		w.pass(c.pass)
		if err := w.service.Collect(t.Context()); err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(host.ended, " "); got != c.want {
			t.Errorf("after %v more: ended %q, want %q", c.pass, got, c.want)
		}
	}
}

// TestPreviewsAreBounded: a site has room for so many valid links; a retry makes no second one, and a revoked or expired link makes room.
func TestPreviewsAreBounded(t *testing.T) {
	w, _ := newHostedFixture(t)
	w.revisionOf("one")
	const bound = 200
	link := func(name string, life int) response {
		w.pass(2 * time.Second) // within the rate of calls
		return w.request(
			http.MethodPost, toolapi.PreviewLinksPath, w.demo.Keys["member"],
			js("site_id", w.demo.IDs["site_id"], "expires_in_seconds", life), "Idempotency-Key", name,
		)
	}
	made := map[string]response{}
	for i := range bound {
		name := fmt.Sprint("link-", i)
		if made[name] = link(name, 3600+i); made[name].status != http.StatusCreated {
			t.Fatalf("link %d: %d %s", i, made[name].status, made[name].body)
		}
	}
	full := func() {
		t.Helper()
		a := link("another", 3600)
		var refused toolapi.PagesError
		if err := json.Unmarshal(a.body, &refused); err != nil || a.status != http.StatusConflict ||
			refused.Inner.Code != toolapi.CodeTooManyPreviews || !strings.Contains(refused.Inner.Message, made["link-0"].text("id")) {
			t.Fatalf("one more: %d %s", a.status, a.body)
		}
	}
	full()
	if a := link("link-7", 3607); a.status != http.StatusCreated || a.text("url") != made["link-7"].text("url") {
		t.Errorf("a retry: %d %s", a.status, a.body)
	}
	revoke := func(id string) {
		if a := w.request(http.MethodDelete, toolapi.PreviewLinkPath(id), w.demo.Keys["member"], ""); a.status != http.StatusNoContent {
			t.Fatalf("revoke: %d %s", a.status, a.body)
		}
	}
	revoke(made["link-9"].text("id"))
	if a := link("in-its-place", 60); a.status != http.StatusCreated {
		t.Errorf("after one was revoked: %d %s", a.status, a.body)
	}
	full()
	w.pass(time.Minute)
	if a := link("and-after-that", 3600); a.status != http.StatusCreated {
		t.Errorf("after one has ended: %d %s", a.status, a.body)
	}
}

// TestPreviewsLeaveEachOtherOpen: code of a preview can set cookies for the hosts of all previews, and knows those of its own link. No
// other preview accepts them.
func TestPreviewsLeaveEachOtherOpen(t *testing.T) {
	w, host := newHostedFixture(t)
	w.revisionOf("one")
	host.serve = func(w http.ResponseWriter) { _, _ = io.WriteString(w, "a preview") }
	get := func(address string, cookies ...*http.Cookie) *http.Response {
		got := httptest.NewRecorder()
		w.serve(got, address, cookies...)
		return got.Result()
	}
	open := func() (address string, cookie *http.Cookie) {
		link := w.request(
			http.MethodPost, toolapi.PreviewLinksPath, w.demo.Keys["member"], js("site_id", w.demo.IDs["site_id"]),
		).text("url")
		address, _, _ = strings.Cut(link, "/__preview/")
		return address, get(link).Cookies()[0]
	}
	address, own := open()
	_, foreign := open()
	for _, cookies := range [][]*http.Cookie{{own}, {own, foreign}, {foreign, own}} {
		if got := get(address+"/", cookies...); got.StatusCode != http.StatusOK {
			t.Errorf("%v: %d", cookies, got.StatusCode)
		}
	}
	if got := get(address+"/", foreign); got.StatusCode != http.StatusNotFound {
		t.Errorf("another preview's cookie: %d", got.StatusCode)
	}
}

// TestPreviewIsRevokedDuringAVisit: a session from before the revocation gets no more of the preview.
func TestPreviewIsRevokedDuringAVisit(t *testing.T) {
	w, host := newHostedFixture(t)
	w.revisionOf("one")
	a := w.request(http.MethodPost, toolapi.PreviewLinksPath, w.demo.Keys["member"], js("site_id", w.demo.IDs["site_id"]))
	address, _, _ := strings.Cut(a.text("url"), "/__preview/")
	get := func(url string, cookies ...*http.Cookie) *httptest.ResponseRecorder {
		got := httptest.NewRecorder()
		w.serve(got, url, cookies...)
		return got
	}
	loaded := 0
	host.load = func(load func(context.Context) (service.Release, error)) {
		loaded++
		if _, err := load(t.Context()); err != nil {
			t.Errorf("before: %v", err)
		}
		if got := w.request(
			http.MethodDelete, toolapi.PreviewLinksPath+"/"+a.text("id"), w.demo.Keys["member"], "",
		); got.status != http.StatusNoContent {
			t.Errorf("revoke: %d %s", got.status, got.body)
		}
		if _, err := load(t.Context()); !errors.Is(err, service.ErrPreviewEnded) {
			t.Errorf("after: %v", err)
		}
	}
	get(address+"/", get(a.text("url")).Result().Cookies()...)
	if loaded != 1 {
		t.Errorf("%d visits", loaded)
	}
}
