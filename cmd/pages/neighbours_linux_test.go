package main

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"image"
	"image/png"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/pages-toolchain/pages/cmd/tools/testmachine"
	"github.com/pages-toolchain/pages/toolapi"
)

// bombWorker exhausts its CPU, memory and bindings. Other sites must not be affected.
const bombWorker = `
import { gunzipSync } from "node:zlib";
export default { async fetch(request, env) {
  const path = new URL(request.url).pathname;
  if (path === "/w/loop") for (;;);
  if (path === "/w/bindings") {
    const all = [];
    for (let i = 0; i < 3000; i++) all.push(env.BUCKET.list());
    return Response.json((await Promise.allSettled(all)).length);
  }
  if (path === "/w/zlib") return new Response(String(gunzipSync(Buffer.from(await request.arrayBuffer()),
    { maxOutputLength: 2 ** 31 }).length));
  if (path === "/w/image")
    return (await env.IMAGES.input(request.body).transform({ width: 9000 }).output({ format: "image/jpeg" })).response();
  return new Response("quiet");
} }`

const bombManifest = `{"entry":"w.js","assets":"public","routes":[{"pattern":"/w/*"}],"bindings":{"storage":{},"images":true},` +
	`"limits":{"cpuMs":5000},"forms":[{"name":"f","event":"custom.f"}],"runtime":{"compatibilityFlags":["nodejs_compat"]}}`

// bombing is a platform with a site that is used as a bomb.
type bombing struct {
	*platformRun
	site string
	at   string // host and port of the service
}

// send sends one request to the bomb site, and gives up when ctx ends or after a time, if that is not 0.
func (b *bombing) send(ctx context.Context, after time.Duration, method, host, path string, body []byte) {
	if after > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, after)
		defer cancel()
	}
	r, err := http.NewRequestWithContext(ctx, method, "http://"+b.at+path, bytes.NewReader(body))
	if err != nil {
		return
	}
	r.Host = host
	if resp, err := http.DefaultClient.Do(r); err == nil { // the result is irrelevant
		_, _ = io.Copy(io.Discard, resp.Body)
		_ = resp.Body.Close()
	}
}

// halfPosts opens connections, sends half of a form on each, and keeps them.
func (b *bombing) halfPosts(ctx context.Context) {
	const posts = 256
	for range posts {
		c, err := (&net.Dialer{}).DialContext(ctx, "tcp", b.at)
		if err != nil {
			continue
		}
		defer c.Close()
		_, _ = fmt.Fprintf(
			c,
			"POST /__pages/forms HTTP/1.1\r\nHost: %s\r\nContent-Type: application/x-www-form-urlencoded\r\n"+
				"Content-Length: 1000\r\n\r\nform=f&x=",
			demoNew,
		)
	}
	<-ctx.Done()
}

// upload declares a bundle and never sends it.
func (b *bombing) upload(ctx context.Context, n int64) {
	sum := sha256.Sum256(fmt.Appendf(nil, "cut off %d", n))
	body, _ := json.Marshal(toolapi.DeclareArgs{ // of fixed types
		SiteID: toolapi.UUID(b.site), Manifest: json.RawMessage(`{}`),
		Files: []toolapi.UploadFile{{Path: "a", SHA256: toolapi.Digest(hex.EncodeToString(sum[:])), Size: 1}},
	})
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, b.URL+toolapi.UploadsPath, bytes.NewReader(body))
	if err != nil {
		return
	}
	r.Header.Set("Authorization", "Bearer "+b.Keys["service"])
	r.Header.Set("Content-Type", "application/json")
	if resp, err := http.DefaultClient.Do(r); err == nil {
		_ = resp.Body.Close()
	}
}

// bomb is the load of one site while the test watches others.
type bomb struct {
	name  string
	short bool // it runs in an ordinary test run, too
	most  int  // parallel requests
	run   func(ctx context.Context, b *bombing, n int64)
}

func bombs() []bomb {
	zeros := sync.OnceValue(func() []byte {
		var packed bytes.Buffer
		w := gzip.NewWriter(&packed)
		_, _ = io.CopyN(w, zeroes{}, 1<<30)
		_ = w.Close()
		return packed.Bytes()
	})
	large := sync.OnceValue(func() []byte {
		var packed bytes.Buffer
		_ = png.Encode(&packed, image.NewGray(image.Rect(0, 0, 9990, 9990)))
		return packed.Bytes()
	})
	return []bomb{
		{"Host headers", true, 4, func(ctx context.Context, b *bombing, n int64) {
			b.send(ctx, 0, http.MethodGet, fmt.Sprintf("%s:%d", demoNew, 1+n%65535), "/", nil)
		}},
		{"uploads that are cut off", true, 2, func(ctx context.Context, b *bombing, n int64) { b.upload(ctx, n) }},
		{"half-sent posts", true, 1, func(ctx context.Context, b *bombing, _ int64) { b.halfPosts(ctx) }},
		{"loops", true, 8, func(ctx context.Context, b *bombing, _ int64) {
			b.send(ctx, 0, http.MethodGet, demoNew, "/w/loop", nil)
		}},
		{"loops of two sites", true, 8, func(ctx context.Context, b *bombing, n int64) {
			b.send(ctx, 0, http.MethodGet, []string{demoNew, "demo-shop.localhost"}[n%2], "/w/loop", nil)
		}},
		{"abandoned loops", true, 8, func(ctx context.Context, b *bombing, _ int64) {
			b.send(ctx, 500*time.Millisecond, http.MethodGet, demoNew, "/w/loop", nil)
		}},
		{"calls of bindings", false, 8, func(ctx context.Context, b *bombing, _ int64) {
			b.send(ctx, 0, http.MethodGet, demoNew, "/w/bindings", nil)
		}},
		{"zlib", false, 1, func(ctx context.Context, b *bombing, _ int64) {
			b.send(ctx, 0, http.MethodPost, demoNew, "/w/zlib", zeros())
		}},
		{"images", false, 1, func(ctx context.Context, b *bombing, _ int64) {
			b.send(ctx, 0, http.MethodPost, demoNew, "/w/image", large())
		}},
	}
}

// zeroes is an endless stream of zeros.
type zeroes struct{}

func (zeroes) Read(p []byte) (int, error) {
	clear(p)
	return len(p), nil
}

// neighbours measures the targets that the bomb must not slow down: pages of other sites, and the tool API.
type neighbours struct {
	p    *platformRun
	took map[string][]time.Duration // by target, in the current period
}

var watched = []string{"page", "worker", "tool"}

// ask sends a request to each target, and returns the failed ones.
func (n *neighbours) ask() (failed []string) {
	for _, who := range watched {
		began := time.Now()
		status, err := 0, error(nil)
		switch who {
		case "tool":
			status, _, err = n.p.call(n.p.Keys["member"], "content.status", "{}")
		default:
			var v pageResponse
			v, err = n.p.tryRequest(http.MethodGet, "demo-home.localhost", map[string]string{"page": "/", "worker": "/w/x"}[who], "")
			status = v.status
		}
		n.took[who] = append(n.took[who], time.Since(began))
		if err != nil || status != http.StatusOK {
			failed = append(failed, fmt.Sprintf("%s: %d %v", who, status, err))
		}
	}
	return failed
}

// medians returns the median response times since the last call.
func (n *neighbours) medians() map[string]time.Duration {
	all := map[string]time.Duration{}
	for who, took := range n.took {
		slices.Sort(took)
		all[who] = took[len(took)/2]
	}
	n.took = map[string][]time.Duration{}
	return all
}

// held counts the open files and megabytes of memory of the process.
type held struct{ files, megabytes int }

func (p *platformRun) held(t *testing.T) (h held) {
	t.Helper()
	files, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", p.cmd.Process.Pid))
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.cmd.Process.Pid))
	if err != nil {
		t.Fatal(err)
	}
	_, line, _ := strings.Cut(string(text), "VmRSS:")
	kilobytes, err := strconv.Atoi(strings.Fields(line)[0])
	if err != nil {
		t.Fatal(err)
	}
	return held{len(files), kilobytes >> 10}
}

// TestNeighbours: while a site of one workspace is used as a bomb, all requests to pages of another site and to the tool API get a
// response, with a median time of at most five times the usual one. With PAGES_SOAK each bomb runs for longer, and the log has the figures
// of each second.
func TestNeighbours(t *testing.T) {
	testmachine.Long(t)
	const asks, factor = 50, 5
	// A busy machine takes this time from any request.
	const noise = 4 * time.Millisecond
	lasts, soak := 3*time.Second, os.Getenv("PAGES_SOAK") != ""
	if soak {
		lasts = 20 * time.Second
	}
	for _, bomb := range bombs() {
		if !soak && !bomb.short {
			continue
		}
		t.Run(bomb.name, func(t *testing.T) {
			b, n := startBombing(t)
			for range asks {
				if failed := n.ask(); failed != nil {
					t.Fatalf("in quiet: %q", failed)
				}
			}
			quiet, before := n.medians(), b.held(t)
			stop := b.light(t.Context(), bomb)
			during, peak, failed := n.watch(t, lasts, asks)
			stop()
			for _, f := range failed {
				t.Errorf("failed: %s", f)
			}
			for who, took := range during {
				if most := factor * max(quiet[who], noise); took > most {
					t.Errorf("%s takes %v, and %v in quiet", who, took, quiet[who])
				}
			}
			after := before
			if soak {
				time.Sleep(20 * time.Second)
				after = b.held(t)
			}
			t.Logf("quiet %v, during %v; files and MB before %v, at peak %v, after %v", quiet, during, before, peak, after)
		})
	}
}

// startBombing publishes the bomb site, another site, and one that helps the first.
func startBombing(t *testing.T) (*bombing, *neighbours) {
	t.Helper()
	p := startPlatform(t, t.TempDir())
	u, err := url.Parse(p.URL)
	if err != nil {
		t.Fatal(err)
	}
	page := map[string]string{"w.js": bombWorker, "public/index.html": "a page"}
	for _, site := range []string{"unpublished_site_id", "site_id", "other_site_id"} {
		p.ship(t, p.Demo[site], bombManifest, page)
	}
	n := &neighbours{p, map[string][]time.Duration{}}
	for range 10 { // warm up: some parts start at the first use
		n.ask()
	}
	n.medians()
	return &bombing{p, p.Demo["unpublished_site_id"], u.Host}, n
}

// light starts a bomb again and again, until the returned function is called.
func (b *bombing) light(ctx context.Context, bomb bomb) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	var going sync.WaitGroup
	var number atomic.Int64
	for range bomb.most {
		going.Go(func() {
			for ctx.Err() == nil {
				bomb.run(ctx, b, number.Add(1))
			}
		})
	}
	return func() {
		cancel()
		going.Wait()
	}
}

// watch sends requests to the neighbours for a time, and at least this number.
func (n *neighbours) watch(t *testing.T, lasts time.Duration, least int) (medians map[string]time.Duration, peak held, failed []string) {
	all := map[string][]time.Duration{}
	began, asked := time.Now(), 0
	for second := 1; time.Since(began) < lasts || asked < least; second++ {
		for ; time.Since(began) < time.Duration(second)*time.Second; asked++ {
			failed = append(failed, n.ask()...)
			h := n.p.held(t)
			peak = held{max(peak.files, h.files), max(peak.megabytes, h.megabytes)}
			time.Sleep(5 * time.Millisecond)
		}
		for who, took := range n.took {
			all[who] = append(all[who], took...)
		}
		t.Logf("second %d: %v, %v", second, n.medians(), n.p.held(t))
		if len(failed) > 10 {
			break
		}
	}
	n.took = all
	return n.medians(), peak, failed
}
