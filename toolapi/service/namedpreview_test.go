package service_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pages-toolchain/pages/toolapi"
)

// name shows the newest revision under a name.
func (w *fixture) name(name string, more ...any) response {
	w.Helper()
	return w.request(http.MethodPost, toolapi.PreviewsPath, w.demo.Keys["member"], js(append([]any{
		"site_id", w.demo.IDs["site_id"], "name", name,
	}, more...)...))
}

// TestNamedPreviews: a name keeps its address and its data, through each call to the host: prepare, show and end.
func TestNamedPreviews(t *testing.T) {
	w, host := newHostedFixture(t)
	one := w.revisionOf("one")
	first := w.name("a")
	dataOf := func(i int) string { id, _, _ := strings.Cut(host.previews[i], " "); return id }
	if first.status != http.StatusCreated || first.text("revision") != one || first.text("because") != "the preview is new" ||
		host.shownRevisions() != one || !strings.HasSuffix(host.previews[0], one+" {Empty:false Seed: Kept:true}") {
		t.Fatalf("%d %s, prepared %q", first.status, first.body, host.previews)
	}
	two := w.revisionOf("two")
	second := w.name("a")
	if second.status != http.StatusOK || second.text("url") != first.text("url") || second.text("because") != "" ||
		second.text("revision_url") == first.text("revision_url") || dataOf(1) != dataOf(0) || len(host.ended) != 0 {
		t.Errorf("%d %s, prepared %q, ended %q", second.status, second.body, host.previews, host.ended)
	}
	if again := w.name("a"); again.text("revision_url") != second.text("revision_url") {
		t.Errorf("the same revision again: %s", again.body)
	}
	fresh := w.name("a", "fresh", true, "data", "seed", "seed", "INSERT")
	if fresh.text("url") != first.text("url") || fresh.text("because") != "the call asked for that" || dataOf(3) == dataOf(0) ||
		strings.Join(host.ended, " ") != dataOf(0) || !strings.HasSuffix(host.previews[3], two+" {Empty:true Seed:INSERT Kept:true}") {
		t.Errorf("%s, prepared %q, ended %q", fresh.body, host.previews, host.ended)
	}
	if changed := w.name("a", "data", "seed", "seed", "UPDATE"); changed.fields["seed_changed"] != true || changed.text("because") != "" {
		t.Errorf("another seed: %s", changed.body)
	}
	host.ended = nil
	// A revision that cannot be prepared leaves the preview, and nothing of the data that were begun for it.
	host.refuse = fmt.Errorf("no")
	if a := w.name("a", "fresh", true, "data", "seed", "seed", "x"); a.status != http.StatusInternalServerError ||
		len(host.ended) != 1 || host.ended[0] == dataOf(3) {
		t.Errorf("%d, ended %q", a.status, host.ended)
	}
	host.refuse, host.ended = nil, nil
	list := w.request(http.MethodGet, toolapi.PreviewsPath+"?site_id="+w.demo.IDs["site_id"], w.demo.Keys["member"], "")
	if !strings.Contains(string(list.body), first.text("url")) || !strings.Contains(string(list.body), `"data":"seed"`) {
		t.Errorf("%s", list.body)
	}
	if a := w.request(
		http.MethodGet, toolapi.PreviewsPath+"?site_id="+w.demo.IDs["site_id"], w.demo.Keys["pinned"], "",
	); a.status != http.StatusNotFound {
		t.Errorf("of another workspace: %d %s", a.status, a.body)
	}
	// An expired preview is gone with the links to its revisions.
	w.pass(14 * 24 * time.Hour)
	if err := w.service.Collect(t.Context()); err != nil {
		t.Fatal(err)
	}
	if w.value("SELECT count(*) FROM previews") != "0" || w.value("SELECT count(*) FROM named_previews") != "0" ||
		len(host.ended) != 3 || !slices.Contains(host.ended, dataOf(3)) {
		t.Errorf("ended %q", host.ended)
	}
	if a := w.name("a"); a.status != http.StatusCreated || a.text("url") == first.text("url") {
		t.Errorf("made anew: %d %s", a.status, a.body)
	}
	// So are the data of one that has expired, and is not removed yet, when another takes its name.
	expired := dataOf(len(host.previews) - 1)
	host.ended = nil
	w.pass(15 * 24 * time.Hour)
	if a := w.name("a"); a.status != http.StatusCreated || !slices.Contains(host.ended, expired) {
		t.Errorf("in the place of one that has expired: %d %s, ended %q, want %s", a.status, a.body, host.ended, expired)
	}
}

// TestNamedPreviewsAreBounded: in number, in revisions, in seeds and in names.
func TestNamedPreviewsAreBounded(t *testing.T) {
	w, host := newHostedFixture(t)
	w.revisionOf("one")
	for i := range toolapi.MaxNamedPreviews {
		if a := w.name(fmt.Sprint("branch ", i), "ttl_seconds", 60+i); a.status != http.StatusCreated {
			t.Fatalf("%d %s", a.status, a.body)
		}
	}
	if a := w.name("one more"); a.status != http.StatusConflict || !strings.Contains(string(a.body), toolapi.CodeTooManyPreviews) {
		t.Errorf("%d %s", a.status, a.body)
	}
	w.pass(61 * time.Second)
	for i := range toolapi.MaxPreviewedRevisions + 2 {
		w.revisionOf(fmt.Sprint("push ", i))
		if a := w.name("in its place"); a.status >= 300 {
			t.Fatalf("%d %s", a.status, a.body)
		}
	}
	if len(host.ended) != 2 {
		t.Errorf("%d links to old revisions ended", len(host.ended))
	}
	for _, c := range []struct {
		name string
		more []any
		says string
	}{
		{"", nil, "name"},
		{"a\nb", nil, "name must be one line"},
		{" a", nil, "name must be one line"},
		{strings.Repeat("a", 201), nil, "name"},
		{"a", []any{"data", "all"}, "data"},
		{"a", []any{"data", "seed"}, "seed is required"},
		{"a", []any{"seed", "x"}, "seed belongs to data seed"},
		{"a", []any{"data", "seed", "seed", strings.Repeat("é", toolapi.MaxSeedBytes/2+1)}, "seed must have at most"},
		{"a", []any{"ttl_seconds", 59}, "ttl_seconds"},
		{"a", []any{"ttl_seconds", toolapi.MaxPreviewTTL + 1}, "ttl_seconds"},
		{"a", []any{"nothing", 1}, "nothing"},
	} {
		t.Run(fmt.Sprintf("%.12q %.20v", c.name, c.more), func(t *testing.T) {
			a := w.in(t).name(c.name, c.more...)
			if a.status != http.StatusUnprocessableEntity || !strings.Contains(string(a.body), c.says) {
				t.Errorf("%d %s", a.status, a.body)
			}
		})
	}
	if a := w.name("a", "revision", "r99-none"); a.status != http.StatusNotFound {
		t.Errorf("%d %s", a.status, a.body)
	}
}
