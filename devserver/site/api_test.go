package site

import (
	"bufio"
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/pages-toolchain/pages/cmd/tools/testmachine"
	"github.com/pages-toolchain/pages/manifest"
)

// stream opens the event stream and returns its lines as they arrive.
func (f *fixture) stream(t *testing.T, headers ...string) (lines *bufio.Scanner, stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	r, err := http.NewRequestWithContext(ctx, "GET", f.server.URL+"/__pages/api/events/stream", nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ": ")
		r.Header.Set(name, value)
	}
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	if response.Header.Get("Content-Type") != "text/event-stream" {
		t.Fatalf("%d %v", response.StatusCode, response.Header)
	}
	lines = bufio.NewScanner(response.Body)
	return lines, func() {
		cancel()
		// The stream was cut off; closing it adds no information.
		_ = response.Body.Close()
	}
}

// nextLine returns the next message of a stream as "event id data", without comments.
func nextLine(t *testing.T, lines *bufio.Scanner) string {
	t.Helper()
	var message []string
	for lines.Scan() {
		line := lines.Text()
		switch {
		case line == "" && len(message) > 0:
			return strings.Join(message, " ")
		case line != "" && !strings.HasPrefix(line, ":"):
			message = append(message, line)
		}
	}
	t.Fatalf("the stream ended: %v", lines.Err())
	return ""
}

func TestStream(t *testing.T) {
	b := openInbox(t, Options{}, enquiries)
	lines, stop := b.stream(t)
	defer stop()
	b.do(t, nil, "POST", "/__pages/forms/membership", "name=Kim", formType)
	for _, want := range []string{
		`id: 1 event: event data: {"id":"evt_`, `id: 2 event: event data: {"id":"evt_`, `event: request data: {"number":1,`,
	} {
		if got := nextLine(t, lines); !strings.HasPrefix(got, want) {
			t.Errorf("%s, want %s", got, want)
		}
	}
	late, stopLate := b.stream(t, "Last-Event-ID: 1")
	defer stopLate()
	if got := nextLine(t, late); !strings.HasPrefix(got, "id: 2 ") || !strings.Contains(got, `"name":"custom.membership_requested"`) {
		t.Errorf("missed: %s", got)
	}
	b.site.events.close()
	if lines.Scan() && lines.Text() != "" {
		t.Errorf("after the end: %q", lines.Text())
	}
}

// An unread stream is dropped, and delays no other.
func TestSlowStreamIsDropped(t *testing.T) {
	b := newBroker()
	slow, quick := b.subscribe(), b.subscribe()
	for i := range streamRoom + 1 {
		b.publish(Event{Sequence: int64(i + 1)})
		if m := <-quick; m.sequence != int64(i+1) {
			t.Fatalf("message %d", m.sequence)
		}
	}
	n := 0
	for range slow {
		n++
	}
	if n != streamRoom || b.open.Load() != 1 {
		t.Errorf("%d messages, %d streams", n, b.open.Load())
	}
	b.unsubscribe(slow)
	b.unsubscribe(quick)
	b.close()
	if _, ok := <-b.subscribe(); ok || b.open.Load() != 0 {
		t.Error("a stream after the end")
	}
}

// An open stream does not keep an old revision in use.
func TestStreamLetsTheRevisionGo(t *testing.T) {
	drained := make(chan struct{})
	f := start(t, Options{DevHints: true}, Revision{Drained: func() { close(drained) }})
	_, stop := f.stream(t)
	defer stop()
	f.site.Swap(Revision{})
	<-drained
}

func TestState(t *testing.T) {
	b := openInbox(t, Options{Workspace: "acme"}, enquiries)
	b.do(t, nil, "POST", "/__pages/forms/membership", "name=Kim", formType)
	state := decode[State](t, b.do(t, b.as(t, "outsider"), "GET", "/__pages/api/state", ""))
	if state.Workspace != "acme" || state.Leads != 1 || state.Events != 2 || state.Submissions != "enquiries" || len(state.Personas) != 3 ||
		state.Member == nil || state.Member.ID != "usr_dev_outsider" || state.IsMember || len(state.Forms) != 1 {
		t.Errorf("%+v", state)
	}
	raw := b.get(t, "/__pages/api/state").body
	for _, want := range []string{`"routes":[]`, `"member":null`, `"worker":false`} {
		if !strings.Contains(raw, want) {
			t.Errorf("no %s in %s", want, raw)
		}
	}
}

// The documents are not for other sites, and on a public site not for visitors.
func TestWhoReadsTheDocuments(t *testing.T) {
	open := start(t, Options{DevHints: true}, Revision{})
	closed := start(t, Options{}, Revision{Manifest: &manifest.Manifest{}})
	member, outsider := closed.as(t, "member"), closed.as(t, "outsider")
	for _, path := range []string{
		"/__pages/api/leads", "/__pages/api/events", "/__pages/api/requests", "/__pages/api/state",
		"/__pages/api/events/stream",
	} {
		t.Run(path, func(t *testing.T) {
			for _, header := range []string{"Origin: http://evil.example", "Sec-Fetch-Site: cross-site", "Sec-Fetch-Site: same-site"} {
				if got := open.get(t, path, header); got.status != 403 {
					t.Errorf("%s with %s: %d", path, header, got.status)
				}
			}
			if got := open.do(t, nil, "POST", path, ""); got.status != 405 || got.header.Get("Allow") != "GET, HEAD" {
				t.Errorf("POST %s: %d", path, got.status)
			}
			if got := closed.get(t, path); got.status != 401 {
				t.Errorf("%s, signed out: %d", path, got.status)
			}
			if got := closed.do(t, outsider, "GET", path, ""); got.status != 403 {
				t.Errorf("%s, outsider: %d", path, got.status)
			}
			if got := closed.do(t, member, "HEAD", path, ""); got.status != 200 {
				t.Errorf("%s, member: %d", path, got.status)
			}
		})
	}
}

// A stream ends with the session, and with the membership, before its next message.
func TestStreamEndsWithTheMember(t *testing.T) {
	for _, c := range []struct {
		name string
		end  func(f *fixture, member *http.Client, left *atomic.Bool)
	}{
		{"signed out", func(f *fixture, member *http.Client, _ *atomic.Bool) {
			if got := f.do(t, member, "POST", "/__pages/sign-out", ""); got.status != 303 {
				t.Errorf("sign-out: %d", got.status)
			}
		}},
		{"no member any more", func(_ *fixture, _ *http.Client, left *atomic.Bool) { left.Store(true) }},
	} {
		left := &atomic.Bool{}
		f := start(
			t, Options{IsMember: func(context.Context, Member) bool { return !left.Load() }},
			Revision{Manifest: &manifest.Manifest{}},
		)
		member := f.as(t, "member")
		u, err := url.Parse(f.server.URL)
		if err != nil {
			t.Fatal(err)
		}
		lines, stop := f.stream(t, "Cookie: "+member.Jar.Cookies(u)[0].String())
		defer stop()
		f.do(t, nil, "POST", "/__pages/forms/contact", "name=Kim", formType)
		if got := nextLine(t, lines); !strings.Contains(got, "Kim") {
			t.Errorf("%s: %s", c.name, got)
		}
		c.end(f, member, left)
		f.do(t, nil, "POST", "/__pages/forms/contact", "name=Robin", formType)
		for lines.Scan() {
			if strings.Contains(lines.Text(), "Robin") {
				t.Errorf("%s: the stream goes on: %s", c.name, lines.Text())
			}
		}
	}
}

func TestHosting(t *testing.T) {
	f := start(t, Options{AllowHost: func(host string) bool { return host == "site.example" }}, Revision{})
	for host, want := range map[string]int{
		"site.example": 404, "SITE.example.:80": 404, "localhost": 421, "evil.example": 421, "a b": 400,
	} {
		t.Run(host, func(t *testing.T) {
			if got, _ := send(t, f.server.Listener.Addr().String(), "GET / HTTP/1.1\r\nHost: "+host+"\r\n\r\n"); got != want {
				t.Errorf("%s: %d, want %d", host, got, want)
			}
		})
	}
	many := "GET / HTTP/1.1\r\nHost: site.example\r\n" + strings.Repeat("A: b\r\n", 101) + "\r\n"
	if got, _ := send(t, f.server.Listener.Addr().String(), many); got != 431 {
		t.Errorf("101 header lines: %d", got)
	}
	long := "GET /" + strings.Repeat("a", 8192) + " HTTP/1.1\r\nHost: site.example\r\n\r\n"
	if got, _ := send(t, f.server.Listener.Addr().String(), long); got != 414 {
		t.Errorf("a long target: %d", got)
	}
}

// TestListsHoldLittle: visitors determine the length of the lists. A list takes up neither the memory of the server nor, with a slow
// reader, the database.
func TestListsHoldLittle(t *testing.T) {
	testmachine.Long(t)
	f := start(t, Options{DevHints: true}, Revision{})
	const number, each = 40, 1 << 20
	for i := range number {
		if _, _, _, err := f.site.store.capture(t.Context(), contact(fmt.Sprint(i, strings.Repeat("x", each)))); err != nil {
			t.Fatal(err)
		}
	}
	runtime.GC()
	var before runtime.MemStats
	runtime.ReadMemStats(&before)
	for path, last := range map[string]string{"/__pages/api/leads": "", "/__pages/api/events": "", "/__pages/api/events/stream": "1"} {
		ctx, leave := context.WithCancel(t.Context())
		defer leave()
		w := &weighing{header: http.Header{}, db: f.platform}
		r := httptest.NewRequestWithContext(ctx, http.MethodGet, "http://127.0.0.1"+path, nil)
		if last != "" {
			r.Header.Set("Last-Event-ID", last)
			w.written = func(p []byte) {
				if bytes.HasPrefix(p, fmt.Appendf(nil, "id: %d\n", number)) {
					leave()
				}
			}
		}
		func() {
			defer func() {
				if cause := recover(); cause != nil && last == "" {
					t.Errorf("%s: %v", path, cause)
				}
			}()
			f.site.ServeHTTP(w, r)
		}()
		if grown := int64(w.most) - int64(before.HeapAlloc); w.bytes < (number-1)*each || grown > number*each/3 {
			t.Errorf("%s: %d bytes are written, and %d held", path, w.bytes, grown)
		}
		if w.open > 0 {
			t.Errorf("%s: the database is held %d times while a piece is written", path, w.open)
		}
	}
	var list LeadList
	read := func(path string) {
		t.Helper()
		if err := json.Unmarshal([]byte(f.get(t, path).body), &list); err != nil {
			t.Fatal(err)
		}
	}
	read("/__pages/api/leads")
	if len(list.Leads) != number || !strings.HasPrefix(list.Leads[0].Fields.Text("name"), fmt.Sprint(number-1, "x")) ||
		!strings.HasPrefix(list.Leads[number-1].Fields.Text("name"), "0x") {
		t.Errorf("%d leads", len(list.Leads))
	}
	read("/__pages/api/leads?limit=7")
	if len(list.Leads) != 7 {
		t.Errorf("%d leads of 7", len(list.Leads))
	}
}

// weighing is a response that measures the heap and the database at each piece.
type weighing struct {
	header  http.Header
	db      *sql.DB
	bytes   int
	most    uint64
	open    int
	written func([]byte)
}

func (w *weighing) Header() http.Header { return w.header }
func (w *weighing) WriteHeader(int)     {}
func (w *weighing) Flush()              {}

func (w *weighing) Write(p []byte) (int, error) {
	w.bytes += len(p)
	if len(p) > 1000 {
		runtime.GC()
		var now runtime.MemStats
		runtime.ReadMemStats(&now)
		w.most = max(w.most, now.HeapAlloc)
		w.open = max(w.open, w.db.Stats().InUse)
	}
	if w.written != nil {
		w.written(p)
	}
	return len(p), nil
}
