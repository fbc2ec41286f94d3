package site

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/pages-toolchain/pages/manifest"
)

func TestWorkerFailures(t *testing.T) {
	m := &manifest.Manifest{Entry: "w.js", Routes: routes("public /*")}
	broken := workerFunc(func(w http.ResponseWriter, r *http.Request) error {
		w.Header().Set("X-Half", "done")
		w.Header()["Server-Timing"] = []string{"the Worker's", "the meter"}
		switch r.URL.Path {
		case "/error":
			return context.DeadlineExceeded
		case "/panic":
			panic("oh")
		case "/broke":
			SetFailure(r.Context(), Failure{Kind: "exception", Message: "midway"})
			_, err := w.Write([]byte("half"))
			return err
		}
		w.WriteHeader(200)
		if err := http.NewResponseController(w).Flush(); err != nil {
			return err
		}
		panic(http.ErrAbortHandler)
	})
	var failure error
	f := start(t, Options{
		ErrorPage: func(w http.ResponseWriter, _ *http.Request, err error) {
			failure = err
			w.WriteHeader(http.StatusTeapot)
		},
	}, Revision{Manifest: m, Worker: broken})
	if got := f.get(t, "/error"); got.status != http.StatusTeapot || !errors.Is(failure, context.DeadlineExceeded) ||
		got.header.Get("X-Half") != "" {
		t.Errorf("an error: %d %v %v", got.status, failure, got.header)
	}
	if got := f.get(t, "/error").header["Server-Timing"]; got != nil {
		t.Errorf("a visitor of a published site gets %q", got)
	}
	hints := start(t, Options{DevHints: true}, Revision{Manifest: m, Worker: broken})
	if got := hints.get(t, "/error"); got.status != 500 || !slices.Equal(got.header["Server-Timing"], []string{"the meter"}) {
		t.Errorf("an error in dev: %d %v", got.status, got.header)
	}
	if got := f.get(t, "/panic"); got.status != 500 || strings.Contains(got.body, "oh") {
		t.Errorf("a panic: %d %s", got.status, got.body)
	}
	r, err := http.NewRequestWithContext(t.Context(), "GET", f.server.URL+"/half", nil)
	if err != nil {
		t.Fatal(err)
	}
	if response, err := http.DefaultClient.Do(r); err == nil {
		_, err = response.Body.Read(make([]byte, 1))
		if err == nil || err.Error() == "EOF" {
			t.Errorf("a broken answer looks whole: %v", err)
		}
		if err := response.Body.Close(); err != nil {
			t.Error(err)
		}
	}
	if r, err = http.NewRequestWithContext(t.Context(), "GET", f.server.URL+"/broke", nil); err != nil {
		t.Fatal(err)
	}
	if response, err := http.DefaultClient.Do(r); err == nil {
		body, err := io.ReadAll(response.Body)
		if err == nil {
			t.Errorf("what broke off looks whole: %q", body)
		}
		if err := response.Body.Close(); err != nil {
			t.Error(err)
		}
	}
	if last := f.site.requests.newestFirst()[0]; last.Error != "the response broke off: midway" {
		t.Errorf("the record says %q", last.Error)
	}
	f.site.Swap(Revision{Manifest: m})
	if got := f.get(t, "/x"); got.status != http.StatusTeapot || !errors.Is(failure, errNoWorker) {
		t.Errorf("no Worker: %d %v", got.status, failure)
	}
}

// TestCookiesOfWorkers: a Worker gets no session cookie of this site or of others on its host, and every other cookie unchanged.
func TestCookiesOfWorkers(t *testing.T) {
	var seen string
	f := start(t, Options{DevHints: true},
		Revision{
			Manifest: &manifest.Manifest{Entry: "w.js", Routes: routes("public /*")},
			Worker: workerFunc(func(_ http.ResponseWriter, r *http.Request) error {
				seen = strings.Join(r.Header["Cookie"], "|")
				return nil
			}),
		})
	for sent, want := range map[string]string{
		"a=b; " + f.site.sessions.cookie + "=t; c":        "a=b; c",
		"pages_session_00000000=other; pages=1":           "pages=1",
		"__Host-pages_session_00000000=other; __Host-a=1": "__Host-a=1",
		"pages_console_8790=secret":                       "",
		"pages_session=mine;  pages_consoles=2; my_pages_session_1=3; pages_session_id=4; " +
			"d=": "pages_session=mine; pages_consoles=2; my_pages_session_1=3; pages_session_id=4; d=",
	} {
		t.Run(sent, func(t *testing.T) {
			seen = "nothing"
			if f.get(t, "/", "Cookie: "+sent); seen != want {
				t.Errorf("%s: %q", sent, seen)
			}
		})
	}
}

func TestRecords(t *testing.T) {
	var last RequestRecord
	done := make(chan struct{}, 100)
	dir, assets := folder(t, plainFiles)
	metered := workerFunc(func(w http.ResponseWriter, r *http.Request) error {
		SetMeter(r.Context(), Meter{CPUMs: 3, CPULimitMs: 10, SubRequests: 1, SubRequestsMax: 2})
		_, err := w.Write([]byte("12345"))
		return err
	})
	f := start(t, Options{DevHints: true, OnRequest: func(r RequestRecord) { last = r; done <- struct{}{} }}, Revision{
		ID: "r1", Assets: assets, AssetsDir: dir, Worker: metered,
		Manifest: &manifest.Manifest{Entry: "w.js", Routes: routes("public /api/*", "members /club/*")},
	})
	for _, c := range []struct{ path, want string }{
		{
			"/api/x?y=1",
			`"path":"/api/x","query":"y=1","status":200,"bytes":5,"source":"worker","route":"/api/*",` +
				`"revision":"r1","meter":{"cpu_ms":3,"cpu_limit_ms":10,"subrequests":1,"subrequest_limit":2}`,
		},
		{"/about", `"path":"/about","status":200,"bytes":14,"source":"static","revision":"r1"`},
		{"/club/x", `"path":"/club/x","status":401,"bytes":101,"source":"gate","revision":"r1","error":"sign_in_required"`},
		{
			"/a%5cb?token=abcd&y=1",
			`"path":"/a%5cb","query":"token=****\u0026y=1","status":400,"bytes":109,"source":"refused",` +
				`"revision":"r1","error":"path_malformed"`,
		},
	} {
		t.Run(c.path, func(t *testing.T) {
			got := f.get(t, c.path)
			<-done
			last.Millis = 0
			text, err := json.Marshal(last)
			if err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(strings.Replace(string(text), `"ms":0,`, "", 1), c.want) || int64(len(got.body)) != last.Bytes {
				t.Errorf("%s: %s", c.path, text)
			}
		})
	}
	list := decode[struct{ Requests []RequestRecord }](t, f.get(t, "/__pages/api/requests"))
	if len(list.Requests) != 4 || list.Requests[0].Number != 4 || list.Requests[3].Path != "/api/x" {
		t.Errorf("%+v", list)
	}
	for range keptRequests {
		f.get(t, "/about")
		<-done
	}
	if kept := f.site.requests.newestFirst(); len(kept) != keptRequests || kept[0].Number != keptRequests+4 {
		t.Errorf("%d records, newest %d", len(kept), kept[0].Number)
	}
}
