package host

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/pages-toolchain/pages/migrate/statefolder"
	"github.com/pages-toolchain/pages/toolapi/service"
)

func TestOpenSites(t *testing.T) {
	for files, want := range map[uint64]int{
		0: 1, 256: 1, 311: 1, 365: 1, 366: 2, 1024: 13, 4096: 69, 1 << 20: maxOpenSites, 1<<64 - 1: maxOpenSites,
	} {
		t.Run(fmt.Sprint(files), func(t *testing.T) {
			if got := openSites(files); got != want {
				t.Errorf("%d files: %d sites, want %d", files, got, want)
			}
		})
	}
}

func TestOpenConns(t *testing.T) {
	for files, want := range map[uint64]int{0: 256, 1024: 256, 4096: 256, 20000: 2832, 1 << 20: 8192, 1<<64 - 1: 8192} {
		t.Run(fmt.Sprint(files), func(t *testing.T) {
			if got := openConns(files); got != want {
				t.Errorf("%d files: %d connections, want %d", files, got, want)
			}
		})
	}
}

// TestRest closes idle sites, and no others.
func TestRest(t *testing.T) {
	h, release := newHost(t)
	var clock atomic.Int64
	clock.Store(1_800_000_000)
	h.o.Now = func() time.Time { return time.Unix(clock.Load(), 0) }
	loads := 0
	visit := func(site string) {
		t.Helper()
		got := ask(h, site, func(context.Context) (service.Release, error) {
			loads++
			return release(site, "of "+site), nil
		})
		if got != "of "+site {
			t.Errorf("%s shows %q", site, got)
		}
	}
	opened := func() (open int) { _, open = h.idle(); return open }
	for _, site := range []string{"a", "b", "c"} {
		visit(site)
		clock.Add(60)
	}
	prepared, err := h.Prepare(t.Context(), release("b", "next of b"))
	if err != nil {
		t.Fatal(err)
	}
	clock.Add(int64(idleAfter/time.Second) - 60)
	visit("c")
	if h.closeIdle(); opened() != 2 || loads != 3 {
		t.Errorf(
			"%d sites are open after %d loads; the one that was visited now, and the one that is published, are to be",
			opened(), loads,
		)
	}
	prepared.Show()
	if got := ask(h, "b", nil); got != "next of b" || !h.Serving("a") {
		t.Errorf("b shows %q", got)
	}
	if visit("a"); loads != 4 {
		t.Errorf("%d loads", loads)
	}
	discarded, err := h.Prepare(t.Context(), release("b", "never"))
	if err != nil {
		t.Fatal(err)
	}
	discarded.Discard()
	clock.Add(int64(idleAfter / time.Second))
	if h.closeIdle(); opened() != 0 {
		t.Errorf("%d sites without visitors are open", opened())
	}

	// The longest unvisited one makes room.
	h.maxOpen = 2
	for _, site := range []string{"a", "b", "a", "c"} {
		clock.Add(1)
		visit(site)
	}
	if resting, open := h.idle(); open != 2 || resting[0].id != "a" || resting[1].id != "c" {
		t.Errorf("%d sites are open", open)
	}
}

// TestRestAfterFailure: a site that failed to load, and then loaded, does not count as failing while it is closed.
func TestRestAfterFailure(t *testing.T) {
	h, release := newHost(t)
	var clock atomic.Int64
	clock.Store(1_800_000_000)
	h.o.Now = func() time.Time { return time.Unix(clock.Load(), 0) }
	told := errors.New("not now")
	h.notice = func(err error) {
		if !errors.Is(err, told) {
			t.Error(err)
		}
	}
	ask(h, "s", func(context.Context) (service.Release, error) { return service.Release{}, told })
	if h.Serving("s") {
		t.Error("it counts as served")
	}
	clock.Add(-3600) // set back: the site does not wait for an hour
	ask(h, "s", func(context.Context) (service.Release, error) { return service.Release{}, told })
	if at := h.site("s").failedAt.Load(); at != clock.Load()*int64(time.Second) {
		t.Error("it is not loaded again")
	}
	clock.Add(int64(loadPause / time.Second))
	ask(h, "s", func(context.Context) (service.Release, error) { return release("s", "text"), nil })
	clock.Add(int64(idleAfter / time.Second))
	if h.closeIdle(); !h.Serving("s") {
		t.Error("a site that rests counts as one that cannot be served")
	}
}

// TestRestOfPreview: a preview keeps its site open until it is closed or ends, which happens once.
func TestRestOfPreview(t *testing.T) {
	h, release := newHost(t)
	visit := func() {
		t.Helper()
		w := httptest.NewRecorder()
		h.Preview(w, httptest.NewRequest(http.MethodGet, "http://p.preview.localhost/a.txt", nil), "p",
			func(context.Context) (service.Release, error) {
				r := release("s", "next")
				r.Preview = true
				return r, nil
			})
		if w.Body.String() != "next" {
			t.Errorf("the preview shows %d %q", w.Code, w.Body)
		}
	}
	visit()
	live, preview := h.site("s"), h.previews["p"]
	if live.closeIdle() || !preview.closeIdle() || !live.closeIdle() {
		t.Error("the site was closed before its preview, or one of them was not")
	}
	visit()
	h.EndPreview("p")
	if preview.closeIdle() {
		t.Error("a preview that has ended was closed again")
	}
	if !live.closeIdle() {
		t.Error("a preview that has ended keeps its site open")
	}
}

// TestRestOfBrokenPreview: a preview whose own state cannot be opened does not keep its
// site open.
func TestRestOfBrokenPreview(t *testing.T) {
	h, release := newHost(t)
	failed := 0
	h.notice = func(error) { failed++ }
	folder := filepath.Join(h.dir, "s", "previews", "p")
	inTheWay := filepath.Join(folder, statefolder.StorageFolder) // in place of a folder
	if err := errors.Join(os.MkdirAll(folder, 0o700), os.WriteFile(inTheWay, nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	w := httptest.NewRecorder()
	h.Preview(w, httptest.NewRequest(http.MethodGet, "http://p.preview.localhost/a.txt", nil), "p",
		func(context.Context) (service.Release, error) {
			r := release("s", "next")
			r.Preview = true
			return r, nil
		})
	if w.Code != http.StatusServiceUnavailable || failed != 1 {
		t.Errorf("the preview answers %d, %d failures", w.Code, failed)
	}
	if !h.site("s").closeIdle() {
		t.Error("the site was not closed")
	}
}

// TestRestUnderLoad closes sites again and again while they are visited and published.
func TestRestUnderLoad(t *testing.T) {
	h, release := newHost(t)
	h.maxOpen = 2
	const sites, rounds = 4, 40
	var live [sites]atomic.Int64
	of := func(n int, revision int64) service.Release {
		return release(fmt.Sprint("s", n), fmt.Sprintf("s%d r%d", n, revision))
	}
	var all sync.WaitGroup
	for n := range sites {
		name := fmt.Sprint("s", n)
		all.Go(func() {
			for range rounds {
				before := live[n].Load()
				got := ask(h, name, func(context.Context) (service.Release, error) { return of(n, live[n].Load()), nil })
				var shown int64
				if _, err := fmt.Sscanf(got, name+" r%d", &shown); err != nil || shown < before {
					t.Errorf("%s shows %q after r%d was shown", name, got, before)
				}
			}
		})
		all.Go(func() {
			for revision := int64(1); revision <= rounds/4; revision++ {
				next, err := h.Prepare(t.Context(), of(n, revision))
				if err != nil {
					t.Error(err)
					return
				}
				next.Show()
				live[n].Store(revision)
			}
		})
		all.Go(func() {
			for range rounds {
				h.site(name).closeIdle()
			}
		})
	}
	all.Wait()
	if resting, open := h.idle(); len(resting) != open {
		t.Errorf("%d of %d open sites are unused", len(resting), open)
	}
}

// TestVisitOfAPreviewThatEnds: a request that began before its preview ended does not open it again, and gets the same response as later
// ones.
func TestVisitOfAPreviewThatEnds(t *testing.T) {
	h, release := newHost(t)
	h.notice = func(err error) { t.Error(err) }
	visit := func(ended bool) *httptest.ResponseRecorder {
		w := httptest.NewRecorder()
		h.Preview(w, httptest.NewRequest(http.MethodGet, "http://p.preview.localhost/a.txt", nil), "p",
			func(context.Context) (service.Release, error) {
				if ended {
					return service.Release{}, service.ErrPreviewEnded
				}
				r := release("s", "next")
				r.Preview = true
				return r, nil
			})
		return w
	}
	if got := visit(false); got.Code != http.StatusOK {
		t.Fatalf("%d %s", got.Code, got.Body)
	}
	h.EndPreview("p")
	if got := visit(true); got.Code != http.StatusNotFound {
		t.Errorf("%d %s", got.Code, got.Body)
	}
	if len(h.previews) > 0 {
		t.Error("a preview that has ended has a place")
	}
	if left, err := filepath.Glob(filepath.Join(h.dir, "s", "previews", "*")); err != nil || len(left) > 0 {
		t.Errorf("%q, %v", left, err)
	}
}
