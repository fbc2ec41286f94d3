package wire_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/pages-toolchain/pages/runtime/binding/wire"
	"github.com/pages-toolchain/pages/runtime/web/fetch"
)

// ways are the ways of a Worker in workerd to reach a URL: its own fetch, the wrapped one, and everything else that makes connections.
const ways = `
import { connect } from "cloudflare:sockets";
import http from "node:http";
import net from "node:net";
const text = (e) => String(e?.message ?? e);
const seen = (r) => r.headers.get("pages-refusal") ?? "reached " + r.status;
const address = (url) => { const { hostname, port } = new URL(url); return [hostname, port || "80"]; };
const opened = ([host, port], options) => connect({ hostname: host, port: Number(port) }, options).opened.then(() => "reached", text);
const ways = {
  fetch: (url) => fetch(url).then(seen, text),
  send: (url) => send(url).then(seen, text),
  found: (url, hop) => fetch(hop + "/to?url=" + encodeURIComponent(url)).then(seen, text),
  again: (url, hop) => send(hop + "/to?url=" + encodeURIComponent(hop + "/to?url=" + encodeURIComponent(url)),
    { method: "POST", body: "x" }).then(seen, text),
  host: (url, hop) => fetch(url, { headers: { host: new URL(hop).host, "x-forwarded-host": new URL(hop).host } }).then(seen, text),
  upgrade: (url) => fetch(url, { headers: { upgrade: "websocket" } }).then(seen, text),
  socket: (url) => new Promise((resolve) => {
    try {
      const ws = new WebSocket(url.replace(/^http/, "ws"));
      ws.addEventListener("open", () => resolve("reached"));
      ws.addEventListener("error", (e) => resolve(text(e)));
    } catch (e) { resolve(text(e)); }
  }),
  events: (url) => new Promise((resolve) => {
    try {
      const source = new EventSource(url);
      source.onopen = () => { source.close(); resolve("reached"); };
      source.onerror = () => { source.close(); resolve("failed"); };
    } catch (e) { resolve(text(e)); }
  }),
  connect: async (url) => { try { return await opened(address(url)); } catch (e) { return text(e); } },
  secure: async (url) => { try { return await opened(address(url), { secureTransport: "on" }); } catch (e) { return text(e); } },
  nodeHTTP: (url) => new Promise((resolve) => {
    try {
      const r = http.get(url, (answer) => { answer.resume(); resolve(answer.headers["pages-refusal"] ?? "reached " + answer.statusCode); });
      r.on("error", (e) => resolve(text(e)));
    } catch (e) { resolve(text(e)); }
  }),
  nodeNet: (url) => new Promise((resolve) => {
    try {
      const [host, port] = address(url), s = net.connect(Number(port), host, () => resolve("reached"));
      s.on("error", (e) => resolve(text(e)));
    } catch (e) { resolve(text(e)); }
  }),
};
export default { fetch(request) {
  const { pathname, searchParams } = new URL(request.url);
  return within("first", async () => {
    const urls = JSON.parse(searchParams.get("urls")), hop = searchParams.get("hop");
    return Response.json(await Promise.all(urls.map((url) => ways[pathname.slice(1)](url, hop))));
  });
} };`

// TestGuardedWaysOfWorkerd: a denied address is refused before a packet is sent, in any spelling and by any way of a Worker in workerd. An
// exception for one port opens no other.
func TestGuardedWaysOfWorkerd(t *testing.T) {
	var hits atomic.Int64
	victim := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { hits.Add(1) }))
	t.Cleanup(victim.Close)
	port := victim.URL[strings.LastIndex(victim.URL, ":"):]
	hop, _ := world(t)
	s := serve(t, wire.Options{Outbound: gateway(t, fetch.GatewayOptions{
		Options: fetch.Options{AllowFetch: []string{strings.TrimPrefix(hop, "http://")}},
		Of: func(string) (context.Context, func() error, bool) { // a request without an id may continue, too
			return t.Context(), func() error { return nil }, true
		},
	})})
	ask := inWorkerd(t, entry(t, ways), s)
	run := func(way string, urls ...string) (texts []string) {
		t.Helper()
		list, _ := json.Marshal(urls)
		answer := ask("/" + way + "?hop=" + url.QueryEscape(hop) + "&urls=" + url.QueryEscape(string(list)))
		if err := json.Unmarshal([]byte(answer), &texts); err != nil || len(texts) != len(urls) {
			t.Fatalf("%s: %.500s", way, answer)
		}
		return texts
	}
	text, err := os.ReadFile(filepath.Join("..", "..", "web", "fetch", "testdata", "hosts.txt"))
	if err != nil {
		t.Fatal(err)
	}
	urls := []string{"https://127.0.0.1" + port, "https://localhost" + port}
	for line := range strings.Lines(string(text)) {
		if line = strings.TrimSpace(line); !strings.HasPrefix(line, "# ") {
			urls = append(urls, "http://"+strings.ReplaceAll(line, "{P}", port))
		}
	}
	for way, whenAllowed := range map[string]string{
		"fetch": "reached 404", "send": "reached 404", "found": "reached 404", "again": "reached 404", "host": "reached 404",
		"upgrade": "reached 404", "socket": "", "events": "failed", "nodeHTTP": "reached 404",
		"connect": "", "secure": "", "nodeNet": "",
	} {
		t.Run(way, func(t *testing.T) {
			for i, got := range run(way, urls...) {
				if way == "nodeHTTP" && strings.HasSuffix(urls[i], ":0") { // node:http takes its usual port then
					continue
				}
				if strings.HasPrefix(got, "reached") {
					t.Errorf("%s is reached", urls[i])
				}
				if way == "fetch" && !isRefusal(got) {
					t.Errorf("%s: %s", urls[i], got)
				}
			}
			if got := run(way, hop+"/none")[0]; got != whenAllowed && (whenAllowed != "" || strings.HasPrefix(got, "reached")) {
				t.Errorf("the allowed host gives %s", got)
			}
		})
	}
	if n := hits.Load(); n != 0 {
		t.Errorf("%d requests reached a denied address", n)
	}
}

func isRefusal(text string) bool {
	for _, part := range []string{"is refused: its address", "is refused: port", "Invalid URL", "Fetch API cannot load"} {
		if strings.Contains(text, part) {
			return true
		}
	}
	return false
}
