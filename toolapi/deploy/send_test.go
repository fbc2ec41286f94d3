package deploy_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/pages-toolchain/pages/toolapi"
	"github.com/pages-toolchain/pages/toolapi/client"
	"github.com/pages-toolchain/pages/toolapi/deploy"
)

// TestSend sends the blobs that the workspace lacks, and none twice.
func TestSend(t *testing.T) {
	w := newTestService(t)
	dir, b := folder(t, 60, 2000)
	first := &transport{}
	p := &deploy.Progress{}
	done, err := w.deployer(first).Send(t.Context(), b, toolapi.Expect(""), p)
	if err != nil {
		t.Fatal(err)
	}
	if n := first.count("PUT blobs"); n != 60 || p.BlobsStored.Load() != 60 || p.Bytes.Load() != p.BytesSent.Load() || done.Files != 60 {
		t.Errorf("%d sent, %d stored, %d of %d bytes", n, p.BlobsStored.Load(), p.BytesSent.Load(), p.Bytes.Load())
	}
	w.checkRevision(done.Revision, b)
	if live := w.live(); live != "" {
		t.Errorf("%s is live without a publish", live)
	}

	again := &transport{}
	same, err := w.deployer(again).Send(t.Context(), b, toolapi.Expect(""), &deploy.Progress{})
	if err != nil || same.Revision != done.Revision || !same.AlreadyExisted || again.count("PUT blobs") != 0 {
		t.Errorf("%+v %v after %d", same, err, again.count("PUT blobs"))
	}

	if err := os.WriteFile(filepath.Join(dir, "f0007.txt"), []byte("edited"), 0o600); err != nil {
		t.Fatal(err)
	}
	edited, b2 := &transport{}, bundleOf(t, dir)
	next, err := w.deployer(edited).Send(t.Context(), b2, toolapi.Expect(""), &deploy.Progress{})
	if err != nil || next.Revision == done.Revision || edited.count("PUT blobs") != 1 {
		t.Errorf("%+v %v after %d", next, err, edited.count("PUT blobs"))
	}
	w.checkRevision(next.Revision, b2)
}

// TestResume stops after some files, and continues with the others.
func TestResume(t *testing.T) {
	w := newTestService(t)
	for _, k := range []int{1, 7, 19, 30} {
		dir, _ := folder(t, 30, 500+k*100) // other bytes each time
		b := bundleOf(t, dir)
		ctx, stop := context.WithCancelCause(t.Context())
		cut := &transport{}
		var stored atomic.Int64
		cut.on = func(what string, _ int, _ *http.Request, next func() (*http.Response, error)) (*http.Response, error) {
			resp, err := next()
			if what == "PUT blobs" && err == nil && resp.StatusCode == http.StatusCreated && int(stored.Add(1)) == k {
				stop(errLost)
			}
			return resp, err
		}
		_, err := w.deployer(cut).Send(ctx, b, toolapi.BaseRevision{}, &deploy.Progress{})
		if !errors.Is(err, errLost) {
			t.Fatalf("%d: %v", k, err)
		}
		before := stored.Load()
		rest := &transport{}
		done, err := w.deployer(rest).Send(t.Context(), b, toolapi.BaseRevision{}, &deploy.Progress{})
		if err != nil {
			t.Fatal(err)
		}
		// Blobs in transit at the stop may have arrived or not.
		if sent := rest.count("PUT blobs"); sent > 30-k || int64(sent) < 30-before-8 {
			t.Errorf("stopped after %d (%d answered): sent %d more", k, before, sent)
		}
		w.checkRevision(done.Revision, b)
		if live := w.live(); live != "" {
			t.Errorf("%s is live without a publish", live)
		}
	}
}

// TestLostAnswers loses the first answer of each step, after the service did it.
func TestLostAnswers(t *testing.T) {
	for _, step := range []string{"POST uploads", "PUT blobs", "POST finalize", "POST page.publish", "confirm", "POST page.list"} {
		t.Run(step, func(t *testing.T) {
			w := newTestService(t)
			_, b := folder(t, 5, 300)
			var lost atomic.Bool
			tr := &transport{on: func(what string, n int, _ *http.Request, next func() (*http.Response, error)) (*http.Response, error) {
				resp, err := next()
				hit := what == step && n == 1 || step == "confirm" && what == "POST page.publish" && n == 2
				if hit && err == nil {
					lost.Store(true)
					return nil, errors.Join(errLost, resp.Body.Close())
				}
				return resp, err
			}}
			d := w.deployer(tr)
			if _, err := d.Look(t.Context()); err != nil {
				t.Fatal(err)
			}
			revision, err := publish(t.Context(), d, b, toolapi.Expect(""))
			if err != nil || !lost.Load() {
				t.Fatal(err)
			}
			if live := w.live(); live != revision {
				t.Errorf("%s is live, want %s", live, revision)
			}
			list, err := client.Run(t.Context(), d.Client, w.contract.Revisions, toolapi.SiteArgs{SiteID: toolapi.UUID(d.Site)})
			if err != nil || len(list.Revisions) != 2 { // with the demo's own
				t.Errorf("%v: %+v", err, list.Revisions)
			}
		})
	}
}

// TestTrouble holds how an upload meets refusals of single blobs.
func TestTrouble(t *testing.T) {
	w := newTestService(t)
	answer := func(status int, body string, header ...string) (*http.Response, error) {
		h := http.Header{}
		for i := 0; i < len(header); i += 2 {
			h.Set(header[i], header[i+1])
		}
		return &http.Response{StatusCode: status, Header: h, Body: io.NopCloser(strings.NewReader(body))}, nil
	}
	for i, tt := range []struct {
		status int
		code   string
		passes bool
	}{
		{429, toolapi.CodeRateLimited, true},
		{500, "", true},
		{502, "", true},
		{503, toolapi.CodePagesUnavailable, true},
		{504, "", true},
		{408, toolapi.CodeBodyTimeout, true},
		{400, toolapi.CodeDigestMalformed, false},
		{401, toolapi.CodeUnauthorized, false},
		{403, toolapi.CodeAccessMissing, false},
		{404, toolapi.CodeBlobNotListed, false},
		{413, toolapi.CodeFileTooLarge, false},
		{415, toolapi.CodeEncoding, false},
		{507, toolapi.CodeStorageFull, false},
	} {
		t.Run(fmt.Sprint(tt.status, tt.code), func(t *testing.T) {
			_, b := folder(t, 1, 100+50*i)
			tr := &transport{on: func(what string, n int, _ *http.Request, next func() (*http.Response, error)) (*http.Response, error) {
				if what == "PUT blobs" && n <= 3 {
					return answer(
						tt.status, fmt.Sprintf(`{"ok": false, "error": {"code": %q, "message": "No."}}`, tt.code),
						"Retry-After", "1",
					)
				}
				return next()
			}}
			_, err := w.deployer(tr).Send(t.Context(), b, toolapi.BaseRevision{}, &deploy.Progress{})
			n := tr.count("PUT blobs")
			if tt.passes {
				if err != nil || n != 4 {
					t.Errorf("%d tries: %v", n, err)
				}
				return
			}
			refused, ok := errors.AsType[*client.StatusError](err)
			if !ok || refused.Status != tt.status || refused.Code != tt.code || n != 1 || tr.count("POST finalize") != 0 {
				t.Errorf("%d tries: %v", n, err)
			}
		})
	}
}

// TestFewerAtOnce halves how many blobs are sent at once when the service asks to wait.
func TestFewerAtOnce(t *testing.T) {
	w := newTestService(t)
	_, b := folder(t, 80, 100)
	var mu sync.Mutex
	var inside, most, sent int
	tr := &transport{on: func(what string, n int, _ *http.Request, next func() (*http.Response, error)) (*http.Response, error) {
		if what != "PUT blobs" {
			return next()
		}
		if n <= 8 {
			return &http.Response{
				StatusCode: 429, Header: http.Header{"Retry-After": {"1"}},
				Body: io.NopCloser(strings.NewReader(`{"ok":false,"error":{"code":"tenant_mcp.rate_limited","message":"Wait."}}`)),
			}, nil
		}
		mu.Lock()
		inside++
		sent++
		if sent > 16 {
			most = max(most, inside)
		}
		mu.Unlock()
		<-time.After(time.Millisecond)
		resp, err := next()
		mu.Lock()
		inside--
		mu.Unlock()
		return resp, err
	}}
	if _, err := w.deployer(tr).Send(t.Context(), b, toolapi.BaseRevision{}, &deploy.Progress{}); err != nil {
		t.Fatal(err)
	}
	if most > 4 || most < 1 {
		t.Errorf("%d at once after the service asked to wait", most)
	}
}

// TestChangedFiles changes a file after it was declared. Nothing is finalized.
func TestChangedFiles(t *testing.T) {
	for i, change := range []struct {
		name string
		do   func(path string) error
	}{
		{"edited", func(path string) error {
			text, err := os.ReadFile(path)
			text[len(text)/2] ^= 1
			return errors.Join(err, os.WriteFile(path, text, 0o600))
		}},
		{"grown", func(path string) error {
			f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
			if err == nil {
				_, err = f.WriteString("more")
			}
			return errors.Join(err, f.Close())
		}},
		{"shortened", func(path string) error { return os.Truncate(path, 3) }},
		{"emptied", func(path string) error { return os.Truncate(path, 0) }},
		{"deleted", os.Remove},
		{"a folder", func(path string) error { return errors.Join(os.Remove(path), os.Mkdir(path, 0o700)) }},
	} {
		for _, size := range []int{1000 + 100*i, 300<<10 + 100*i} {
			t.Run(fmt.Sprint(change.name, size), func(t *testing.T) {
				w := newTestService(t)
				dir, b := folder(t, 12, size)
				if err := change.do(filepath.Join(dir, "f0005.txt")); err != nil {
					t.Fatal(err)
				}
				tr, began := &transport{}, atomic.Bool{}
				tr.on = func(_ string, _ int, r *http.Request, next func() (*http.Response, error)) (*http.Response, error) {
					if strings.HasSuffix(r.URL.Path, b.Files[5].SHA256) {
						began.Store(true)
					}
					return next()
				}
				_, err := w.deployer(tr).Send(t.Context(), b, toolapi.BaseRevision{}, &deploy.Progress{})
				changed, ok := errors.AsType[*deploy.ChangedError](err)
				if !ok || changed.Path != "public/f0005.txt" || tr.count("POST finalize") != 0 {
					t.Errorf("%v", err)
				}
				if began.Load() && size < 256<<10 {
					t.Error("a short file was begun to be sent before all of it was checked")
				}
			})
		}
	}
}

// TestCorruptOnTheWay flips a bit between here and the service: it is sent once more.
func TestCorruptOnTheWay(t *testing.T) {
	w := newTestService(t)
	_, b := folder(t, 3, 400)
	tr := &transport{}
	tr.on = func(what string, n int, r *http.Request, next func() (*http.Response, error)) (*http.Response, error) {
		if what != "PUT blobs" || n != 1 {
			return next()
		}
		text, err := io.ReadAll(r.Body)
		if err != nil {
			return nil, err
		}
		text[0] ^= 1
		r = r.Clone(r.Context())
		r.Body = io.NopCloser(strings.NewReader(string(text)))
		return tr.RoundTripper.RoundTrip(r)
	}
	done, err := w.deployer(tr).Send(t.Context(), b, toolapi.BaseRevision{}, &deploy.Progress{})
	if err != nil || tr.count("PUT blobs") != 4 {
		t.Fatalf("%d sent: %v", tr.count("PUT blobs"), err)
	}
	w.checkRevision(done.Revision, b)
}

// TestRestart stops the service in the middle and starts it again.
func TestRestart(t *testing.T) {
	for _, step := range []string{"POST uploads", "PUT blobs", "POST finalize", "POST page.publish"} {
		t.Run(step, func(t *testing.T) {
			w := newTestService(t)
			_, b := folder(t, 20, 3000)
			var once sync.Once
			tr := &transport{}
			tr.on = func(what string, n int, _ *http.Request, next func() (*http.Response, error)) (*http.Response, error) {
				if what == step && (what != "PUT blobs" || n == 9) {
					once.Do(func() { w.stop(); w.start() })
				}
				return next()
			}
			revision, err := publish(t.Context(), w.deployer(tr), b, toolapi.Expect(""))
			if err != nil {
				t.Fatal(err)
			}
			w.checkRevision(revision, b)
			if live := w.live(); live != revision {
				t.Errorf("%s is live, want %s", live, revision)
			}
		})
	}
}

// TestGoneForGood: the client gives up with its progress, and a later call continues.
func TestGoneForGood(t *testing.T) {
	w := newTestService(t)
	_, b := folder(t, 10, 300)
	var stored sync.WaitGroup
	stored.Add(4)
	down := &transport{on: func(what string, n int, _ *http.Request, next func() (*http.Response, error)) (*http.Response, error) {
		if what != "PUT blobs" {
			return next()
		}
		if n > 4 {
			stored.Wait()
			return nil, errLost
		}
		defer stored.Done()
		return next()
	}}
	d := w.deployer(down)
	clock := time.Now()
	var mu sync.Mutex
	var err error
	d.Client, err = client.New(client.Options{
		BaseURL: "http://" + w.address, Key: w.demo.Keys["member"], Transport: down,
		Now: func() time.Time { mu.Lock(); defer mu.Unlock(); return clock },
		Sleep: func(ctx context.Context, pause time.Duration) error {
			mu.Lock()
			defer mu.Unlock()
			clock = clock.Add(pause)
			return ctx.Err()
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	d.Now = func() time.Time { mu.Lock(); defer mu.Unlock(); return clock }
	_, err = d.Send(t.Context(), b, toolapi.BaseRevision{}, &deploy.Progress{})
	stopped, ok := errors.AsType[*deploy.UnfinishedError](err)
	if !ok || stopped.Stored > 4 || stopped.Stored+stopped.Missing != 10 || !errors.Is(err, errLost) {
		t.Fatalf("%v", err)
	}
	rest := &transport{}
	if _, err := w.deployer(rest).Send(t.Context(), b, toolapi.BaseRevision{}, &deploy.Progress{}); err != nil ||
		rest.count("PUT blobs") != 6 {
		t.Errorf("%d sent: %v", rest.count("PUT blobs"), err)
	}
}

// TestLyingRequired sends nothing to a service that asks for undeclared blobs, or for the same again and again.
func TestLyingRequired(t *testing.T) {
	w := newTestService(t)
	_, b := folder(t, 3, 300)
	for problem, lie := range map[string]func(required []string) []string{
		"a blob that was not declared": func(required []string) []string { return append(required, strings.Repeat("f", 64)) },
		"a blob twice": func(required []string) []string {
			return slices.Concat(slices.Repeat(required[:1], 1000), required)
		},
	} {
		liar := &transport{on: func(what string, _ int, _ *http.Request, next func() (*http.Response, error)) (*http.Response, error) {
			resp, err := next()
			if err != nil || what != "POST uploads" {
				return resp, err
			}
			var up toolapi.Upload
			err = errors.Join(json.NewDecoder(resp.Body).Decode(&up), resp.Body.Close())
			up.Required = lie(up.Required)
			text, failed := json.Marshal(up)
			resp.Body, resp.ContentLength = io.NopCloser(bytes.NewReader(text)), int64(len(text))
			return resp, errors.Join(err, failed)
		}}
		_, err := w.deployer(liar).Send(t.Context(), b, toolapi.BaseRevision{}, &deploy.Progress{})
		if e, ok := errors.AsType[*client.ContractError](err); !ok || !strings.Contains(e.Problem, problem) ||
			liar.count("PUT blobs") != 0 {
			t.Errorf("%s: %v after %d", problem, err, liar.count("PUT blobs"))
		}
	}
}

// TestExpired declares again when the upload has expired meanwhile, or was cancelled by
// someone else.
func TestExpired(t *testing.T) {
	for name, meanwhile := range map[string]func(w *testService, upload string){
		"expired": func(w *testService, _ string) { w.pass(25 * time.Hour) },
		"cancelled": func(w *testService, upload string) {
			if err := w.deployer(&transport{}).Client.CancelUpload(w.Context(), upload); err != nil {
				w.Error(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newTestService(t)
			_, b := folder(t, 6, 300)
			var once sync.Once
			tr := &transport{on: func(what string, n int, r *http.Request, next func() (*http.Response, error)) (*http.Response, error) {
				if what == "PUT blobs" && n == 4 {
					once.Do(func() { meanwhile(w, strings.Split(r.URL.Path, "/")[5]) })
				}
				return next()
			}}
			done, err := w.deployer(tr).Send(t.Context(), b, toolapi.BaseRevision{}, &deploy.Progress{})
			if err != nil {
				t.Fatal(err)
			}
			if n := tr.count("POST uploads"); n != 2 {
				t.Errorf("declared %d times", n)
			}
			w.checkRevision(done.Revision, b)
		})
	}
}

// TestTwoDeploys has two at once: the same bundle, two with a base, and
// two without.
func TestTwoDeploys(t *testing.T) {
	both := func(t *testing.T, w *testService, a, b deploy.Bundle, base toolapi.BaseRevision) (revisions [2]string, errs [2]error) {
		t.Helper()
		var wg sync.WaitGroup
		for i, bundle := range []deploy.Bundle{a, b} {
			d := w.deployer(&transport{})
			wg.Go(func() { revisions[i], errs[i] = publish(t.Context(), d, bundle, base) })
		}
		wg.Wait()
		return revisions, errs
	}
	t.Run("same bundle", func(t *testing.T) {
		w := newTestService(t)
		_, b := folder(t, 10, 300)
		var revisions [2]string
		var errs [2]error
		var sent, done sync.WaitGroup
		sent.Add(2)
		for i := range errs {
			d := w.deployer(&transport{})
			done.Go(func() {
				revisions[i], errs[i] = publishAfter(t.Context(), d, b, toolapi.Expect(""), func() { // neither is too late to be sent
					sent.Done()
					sent.Wait()
				})
			})
		}
		done.Wait()
		if errs != [2]error{} || revisions[0] != revisions[1] || w.live() != revisions[0] {
			t.Errorf("%v %v", revisions, errs)
		}
	})
	t.Run("with a base", func(t *testing.T) {
		w := newTestService(t)
		live := ""
		for round := range 5 {
			_, a := folder(t, 3, 100+20*round)
			_, b := folder(t, 4, 100+20*round)
			revisions, errs := both(t, w, a, b, toolapi.Expect(live))
			won := 0
			if errs[0] != nil {
				won = 1
			}
			conflict, ok := errors.AsType[*deploy.ConflictError](errs[1-won])
			if errs[won] != nil || !ok || w.live() != revisions[won] {
				t.Fatalf("round %d: %v %v, %v", round, revisions, errs, conflict)
			}
			live = revisions[won]
		}
	})
	t.Run("without a base", func(t *testing.T) {
		w := newTestService(t)
		_, a := folder(t, 3, 100)
		_, b := folder(t, 4, 100)
		revisions := [2]string{}
		for i, bundle := range []deploy.Bundle{a, b} {
			var err error
			if revisions[i], err = publish(t.Context(), w.deployer(&transport{}), bundle, toolapi.BaseRevision{}); err != nil {
				t.Fatal(err)
			}
		}
		if live := w.live(); live != revisions[1] {
			t.Errorf("%s is live, want the later %s", live, revisions[1])
		}
	})
}
