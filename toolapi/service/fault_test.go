package service_test

import (
	"context"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"github.com/pages-toolchain/pages/cmd/tools/testmachine"
	"github.com/pages-toolchain/pages/toolapi"
)

// TestFullDisk: an approval whose effect fails is none, and can be given
// again when there is room.
func TestFullDisk(t *testing.T) {
	testmachine.Unraced(t)
	failed := 0
	forEachTwoCall(t, func(w *fixture, c twoCall) {
		id := w.propose("member", c)
		was := w.value(c.effect)
		pages, err := strconv.ParseInt(w.value("SELECT page_count FROM pragma_page_count"), 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		full := func(pages int64) {
			if err := w.service.LimitPages(context.WithoutCancel(w.Context()), pages); err != nil {
				t.Fatal(err)
			}
		}
		full(pages)
		for n, status := 0, http.StatusOK; status == http.StatusOK; n++ { // the last pages fill with audit rows
			if status = w.call("member", "page.unschedule", js("site_id", w.demo.IDs["unpublished_site_id"])).status; n > 500 {
				t.Fatal("the disk is never full")
			}
		}
		full(pages) // SQLite gave that connection up
		before := w.snapshot("audit", "keys")
		if a := w.call("member", c.tool, c.body("confirmation_id", id)); a.status != http.StatusOK { // otherwise it fitted
			failed++
			if a.status != http.StatusInternalServerError || a.code() != toolapi.CodeInternal ||
				w.snapshot("audit", "keys") != before || w.value(c.effect) != was {
				w.Errorf("on a full disk: %d %s", a.status, a.body)
			}
		}
		full(0)
		w.ok("member", c.tool, c.body("confirmation_id", id))
		if n := w.value("SELECT count(*) FROM audit WHERE outcome = 'done'"); n != "1" || w.value(c.effect) == was {
			w.Errorf("%s effects", n)
		}
	})
	if failed == 0 {
		t.Error("the disk was never full")
	}
}

// lossy passes connections on, and drops each after n bytes of the answer.
func lossy(t *testing.T, to string, n int64) string {
	t.Helper()
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			from, err := l.Accept()
			if err != nil {
				return
			}
			server, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", to)
			if err != nil {
				_ = from.Close()
				return
			}
			go func() { _, _ = io.Copy(server, from) }() // ends with the connections
			_, _ = io.CopyN(from, server, n)
			_ = from.Close()
			_ = server.Close()
		}
	}()
	return l.Addr().String()
}

// TestLostAnswers: the service acted and the answer was lost on the way. The
// retry gets it, and nothing more happens.
func TestLostAnswers(t *testing.T) {
	w := newFixture(t)
	through := lossy(t, strings.TrimPrefix(w.server.URL, "http://"), 10)
	for _, c := range []struct{ tool, body, key string }{
		{"automations.undo_draft", js("board_id", w.demo.IDs["board_id"]), "undo"},
		{"page.create", js("name", "Once"), "create"},
	} {
		r, err := http.NewRequestWithContext(
			t.Context(), http.MethodPost, "http://"+through+toolapi.ToolsPath+c.tool, strings.NewReader(c.body),
		)
		if err != nil {
			t.Fatal(err)
		}
		r.Header = http.Header{
			"Authorization": {"Bearer " + w.demo.Keys["member"]}, "Content-Type": {"application/json"},
			"Idempotency-Key": {c.key},
		}
		if resp, err := (&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}).Do(r); err == nil {
			_ = resp.Body.Close()
			t.Fatalf("%s: the answer was not lost: %s", c.tool, resp.Status)
		}
		if n := w.value("SELECT count(*) FROM audit WHERE tool = ? AND outcome = 'done'", c.tool); n != "1" {
			t.Fatalf("%s: %s effects before the retry", c.tool, n)
		}
		if a := w.ok("member", c.tool, c.body, "Idempotency-Key", c.key); a.fields["replayed"] != true {
			t.Errorf("%s: %s", c.tool, a.body)
		}
		if n := w.value("SELECT count(*) FROM audit WHERE tool = ? AND outcome = 'done'", c.tool); n != "1" {
			t.Errorf("%s: %s effects", c.tool, n)
		}
	}
	// A confirmation, whose answer is kept too.
	two := w.twoCalls()[2]
	id := w.propose("member", two)
	r, err := http.NewRequestWithContext(
		t.Context(), http.MethodPost, "http://"+through+toolapi.ToolsPath+two.tool,
		strings.NewReader(two.body("confirmation_id", id)),
	)
	if err != nil {
		t.Fatal(err)
	}
	r.Header = http.Header{"Authorization": {"Bearer " + w.demo.Keys["member"]}, "Content-Type": {"application/json"}}
	if resp, err := (&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}).Do(r); err == nil {
		_ = resp.Body.Close()
		t.Fatal("the answer was not lost")
	}
	if a := w.ok("member", two.tool, two.body("confirmation_id", id)); a.text("state") != "done" ||
		w.value("SELECT count(*) FROM audit WHERE outcome = 'done' AND tool = ?", two.tool) != "1" {
		t.Errorf("%s", a.body)
	}
}

// TestRefusedAfterALostWrite: once a write did not reach the disk nothing runs, and each
// family of endpoints is refused in its own envelope. An error of a host's store counts
// by its code, as the driver's do.
func TestRefusedAfterALostWrite(t *testing.T) {
	const ioerr, fsync = 10, 10 | 4<<8
	w := newFixture(t)
	w.service.Notice(codedError(ioerr))
	if w.service.Failure() != nil {
		t.Fatal("it gives up for a read")
	}
	w.service.Notice(fmt.Errorf("a page's database: %w", codedError(fsync)))
	if w.service.Failure() == nil {
		t.Fatal("it goes on")
	}
	for path, want := range map[string]string{
		"/api/v1/tools/page.list":        `"tenant_api.unavailable"`,
		toolapi.UploadsPath:              `"code":"unavailable","message":`,
		toolapi.ImportsPath + "?site_id": `"code":"unavailable","message":`,
	} {
		a := w.request(http.MethodPost, path, w.demo.Keys["member"], "{}")
		if a.status != http.StatusServiceUnavailable || a.header.Get("Retry-After") == "" || !strings.Contains(string(a.body), want) {
			t.Errorf("%s: %d %s", path, a.status, a.body)
		}
		if told := strings.Contains(string(a.body), "retry_after_seconds"); told == strings.HasPrefix(path, toolapi.ImportsPath) {
			t.Errorf("%s: %s", path, a.body)
		}
	}
	disk := newFixture(t)
	disk.service.Notice(&fs.PathError{Op: "sync", Path: "x", Err: fs.ErrInvalid})
	if disk.service.Failure() == nil {
		t.Error("it goes on after the fsync of a file")
	}
}

// codedError is an error with a code of SQLite's.
type codedError int

func (e codedError) Error() string { return "disk I/O error" }

// Code is SQLite's extended result code.
func (e codedError) Code() int { return int(e) }
