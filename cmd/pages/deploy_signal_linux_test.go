package main

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/pages-toolchain/pages/cmd/internal/failure"
)

// stoppedPhase is a call of a deploy during which a signal comes.
type stoppedPhase struct {
	path    string // the path of the call ends so
	says    string // is in its body
	without string // is not in its body
	flag    string // of the deploy
	done    bool   // the service has done the work already
	words   string // pattern of the message about the state of the site
	live    bool   // the site then shows the new revision
}

// stoppedPhases are those with a call, from the first to the last one.
var stoppedPhases = map[string]stoppedPhase{
	"look": {path: "/page.list", words: "^stopped; nothing was published. Run it again: it continues where it stopped$"},
	"declare": {
		path: "/uploads", done: true,
		words: "^stopped; nothing was published. Run it again: it continues where it stopped$",
	},
	"send": {path: "/blobs/", words: "^stopped; nothing was published. Run it again: it continues where it stopped$"},
	"finalize": {
		path: "/finalize", done: true,
		words: "^stopped; nothing was published. Run it again: it continues where it stopped$",
	},
	"propose": {
		path: "/page.publish", without: "confirmation_id", done: true,
		words: "^stopped; nothing was published, and revision r[0-9]+-[0-9a-f]+ is ready. Run it again to propose it$",
	},
	"propose a schedule": {
		path: "/page.schedule_publish", flag: "--at",
		words: "^stopped; nothing was published, and revision r[0-9]+-[0-9a-f]+ is ready. Run it again to propose it$",
	},
	"preview": {
		path: "/preview-links", flag: "--preview",
		words: "^stopped; nothing was published, and revision r[0-9]+-[0-9a-f]+ is ready. Run it again to get a link$",
	},
	"plan": {path: "/page.list", flag: "--plan", words: "^stopped; nothing was sent$"},
	"confirm, not yet": {
		path: "/page.publish", says: "confirmation_id",
		words: "^stopped; it is unknown whether this took effect: Publish site",
	},
	"confirm, done": {
		path: "/page.publish", says: "confirmation_id", done: true,
		words: "^stopped; it is unknown whether this took effect: Publish site", live: true,
	},
}

// holdingProxy passes requests on, and holds the first one of a phase.
type holdingProxy struct {
	phase   stoppedPhase
	reached chan struct{} // closed when it holds the request
	let     chan struct{} // the test closes it
	held    atomic.Bool
}

func (h *holdingProxy) holds(path string, body []byte) bool {
	hit := strings.HasSuffix(path, h.phase.path) || h.phase.path == "/blobs/" && strings.Contains(path, h.phase.path)
	return hit && bytes.Contains(body, []byte(h.phase.says)) && (h.phase.without == "" || !bytes.Contains(body, []byte(h.phase.without)))
}

func (h *holdingProxy) serve(t *testing.T, to string) string {
	t.Helper()
	proxy := proxyTo(t, to)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body) // of a command that may be gone
		r.Body = io.NopCloser(bytes.NewReader(body))
		if !h.holds(r.URL.Path, body) || h.held.Swap(true) {
			proxy.ServeHTTP(w, r)
			return
		}
		if h.phase.done {
			proxy.ServeHTTP(httptest.NewRecorder(), r)
		}
		close(h.reached)
		<-h.let
	}))
	t.Cleanup(server.Close)
	t.Cleanup(func() { close(h.let) })
	return server.URL
}

// TestDeployStopped sends a signal in each phase of a deploy that calls the service: the deploy reports the state of the site and the next
// step, its exit code is the signal's, and running it again completes it.
func TestDeployStopped(t *testing.T) {
	service := startPlatform(t, t.TempDir(), "--rate-limit", "6000")
	dir := t.TempDir()
	put(t, filepath.Join(dir, "pages.deploy.json"), `{"assets": "public"}`)
	put(t, filepath.Join(dir, "public", "index.html"), "first")
	(&publisher{t, dir, t.TempDir(), service.URL, service.Keys["member"]}).publish("--site", "Open studio", "--allow-public")
	before := "first"
	for name, phase := range stoppedPhases {
		t.Run(name, func(t *testing.T) {
			put(t, filepath.Join(dir, "public", "index.html"), name)
			h := &holdingProxy{phase: phase, reached: make(chan struct{}), let: make(chan struct{})}
			p := &publisher{t, dir, t.TempDir(), h.serve(t, service.URL), service.Keys["member"]}
			sign, code := os.Interrupt, failure.ExitInt
			if len(name)%2 == 0 {
				sign, code = syscall.SIGTERM, failure.ExitTerm
			}
			got, shown := p.stopIn(h, sign)
			if words := regexp.MustCompile("(?m)" + phase.words); got != code || !words.MatchString(shown) ||
				strings.Contains(shown, "is live") {
				t.Errorf("exit code %d, want %d: %s", got, code, shown)
			}
			if want := map[bool]string{true: name, false: before}[phase.live]; service.request(
				t, http.MethodGet, demoNew, "/", "",
			).body != want {
				t.Errorf("the site shows another version than %q", want)
			}
			if line := regexp.MustCompile(`pages confirm ([0-9a-f-]+)`).FindStringSubmatch(shown); line != nil {
				if code, stdout, stderr := p.run("confirm", line[1]); code != 0 || !strings.Contains(stderr, "is live") {
					t.Errorf("%s: exit code %d: %s%s", line[0], code, stdout, stderr)
				}
			} else {
				p.publish("--site", "Open studio")
			}
			if v := service.request(t, http.MethodGet, demoNew, "/", ""); v.body != name {
				t.Errorf("in the end the site shows %q", v.body)
			}
			before = name
		})
	}
}

// stopIn runs a deploy at a terminal, agrees when it asks, and sends it a signal while the call is held.
func (p *publisher) stopIn(h *holdingProxy, sign os.Signal) (code int, shown string) {
	p.Helper()
	args := []string{"deploy", "--site", "Open studio"}
	switch h.phase.flag {
	case "--at":
		args = append(args, "--at", time.Now().Add(time.Hour).UTC().Format(time.RFC3339))
	case "":
	default:
		args = append(args, h.phase.flag)
	}
	at := p.atTerminal(args...)
	if h.phase.says != "" {
		at.answer("Go ahead?", "y\n")
	}
	select {
	case <-h.reached:
	case <-time.After(patience):
		p.Errorf("the call was not made: %s", at.shown)
	}
	if err := at.cmd.Process.Signal(sign); err != nil {
		p.Fatal(err)
	}
	code, shown = at.end()
	return code, strings.ReplaceAll(cleared.ReplaceAllString(shown, ""), "\r", "")
}

// cleared matches the parts of a line that the terminal has erased.
var cleared = regexp.MustCompile(`[^\n]*\r\x1b\[K`)
