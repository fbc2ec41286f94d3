package main

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"
)

const drainWorker = `const version = %d;
export default { async fetch(request, env, ctx) {
  const { pathname } = new URL(request.url), pause = (ms) => new Promise((done) => setTimeout(done, ms));
  if (pathname === "/stream") {
    let n = 0;
    ctx.waitUntil((async () => { await pause(1500); console.log("waited in", version); })());
    return new Response(new ReadableStream({ async pull(c) {
      if (n === 20) return c.close();
      await pause(75);
      c.enqueue(new TextEncoder().encode(version + "." + n++ + " "));
    } }));
  }
  if (pathname === "/socket") {
    const [client, server] = Object.values(new WebSocketPair());
    server.accept();
    return new Response(null, { status: 101, webSocket: client });
  }
  return new Response(String(version));
} };`

// TestDrain saves the Worker ten times a second during requests: each ends on the Worker on which it began, and none is cut or refused.
func TestDrain(t *testing.T) {
	dir := t.TempDir()
	worker := filepath.Join(dir, "worker.js")
	save := func(version int) {
		t.Helper()
		if err := os.WriteFile(worker, fmt.Appendf(nil, drainWorker, version), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	save(1)
	if err := os.WriteFile(
		filepath.Join(dir, "pages.deploy.json"), []byte(`{"entry": "worker.js", "routes": [{"pattern": "/*"}]}`), 0o600,
	); err != nil {
		t.Fatal(err)
	}
	d := startDev(t, dir)
	d.eventually("the first build", func() bool { return d.get("/").body == "1" })
	resp, err := d.client.Get(d.URL + "/stream")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	socket, upgraded, err := websocket.Dial(t.Context(), "ws"+strings.TrimPrefix(d.URL, "http")+"/socket", nil)
	if err != nil {
		t.Fatal(err)
	}
	if upgraded.Body != nil {
		defer upgraded.Body.Close()
	}
	ended := make(chan error, 1)
	go func() { _, _, err := socket.Read(t.Context()); ended <- err }()

	stop, stopped := make(chan struct{}), make(chan int)
	go func() {
		version, tick := 1, time.NewTicker(100*time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				version++
				save(version)
			case <-stop:
				stopped <- version
				return
			}
		}
	}()
	streamed := make(chan string, 1)
	go func() {
		body, err := io.ReadAll(resp.Body)
		if err != nil {
			body = fmt.Appendf(body, "broke off: %v", err)
		}
		streamed <- string(body)
	}()
	stream, last := "", 1
	for stream == "" {
		a := d.get("/")
		now, err := strconv.Atoi(a.body)
		if a.StatusCode != http.StatusOK || err != nil || now < last {
			t.Fatalf("after %d: %d %q", last, a.StatusCode, a.body)
		}
		last = now
		select {
		case stream = <-streamed:
		default:
		}
	}
	close(stop)
	final := <-stopped
	want := ""
	for n := range 20 {
		want += fmt.Sprintf("1.%d ", n)
	}
	if stream != want {
		t.Errorf("the stream is %q", stream)
	}
	if last < 3 {
		t.Errorf("only version %d was served while it went on", last)
	}
	if err := <-ended; websocket.CloseStatus(err) != websocket.StatusServiceRestart {
		t.Errorf("the WebSocket ended with %v", err)
	}
	d.eventually("the last save", func() bool { return d.get("/").body == strconv.Itoa(final) })
	d.eventually("waitUntil of the first Worker", func() bool { return strings.Contains(d.stderr.String(), "waited in 1") })
	if text := d.stderr.String(); strings.Contains(text, "broke off") || strings.Contains(text, "503") {
		t.Errorf("the log reports a cut:\n%s", text)
	}
}
