package node_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"os"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	pagesruntime "github.com/pages-toolchain/pages/runtime"
	"github.com/pages-toolchain/pages/runtime/binding"
)

var opened = sync.OnceValues(func() (*pagesruntime.Runtime, error) {
	return pagesruntime.Open(context.Background(), pagesruntime.Options{CacheDir: os.Getenv("PAGES_TEST_CACHE")})
})

// start runs code as a Worker with the flag nodejs_compat.
func start(t testing.TB, code string, o pagesruntime.WorkerOptions) *pagesruntime.Worker {
	t.Helper()
	rt, err := opened()
	if err != nil {
		t.Fatal(err)
	}
	o.Name, o.Code, o.NodeJS = "worker.js", []byte(code), true
	if o.Bindings == nil {
		o.Bindings = &binding.Set{}
	}
	w, err := rt.NewWorker(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { w.Close(context.Background()) })
	return w
}

// get asks the Worker for a path and returns the body.
func get(t testing.TB, w *pagesruntime.Worker, path string) string {
	t.Helper()
	rec := httptest.NewRecorder()
	if _, err := w.Serve(rec, httptest.NewRequestWithContext(t.Context(), "GET", "http://site.test"+path, nil)); err != nil {
		return err.Error()
	}
	return rec.Body.String()
}

// one is a line of code and its result: a line of JSON, or of an error.
type one struct{ code, want string }

// read reads a file of pairs of lines: code, and "  = " before its result.
func read(t *testing.T, name string) (all []one) {
	t.Helper()
	f, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		line := lines.Text()
		want, result := strings.CutPrefix(line, "  = ")
		switch {
		case result && len(all) > 0:
			all[len(all)-1].want = want
		case line != "" && !strings.HasPrefix(line, "# "):
			all = append(all, one{code: line})
		}
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	return all
}

// runner evaluates one line of code and shows its result.
const runner = `
import { createServer } from "node:http";
import { createRequire } from "node:module";
import { handleAsNodeRequest } from "cloudflare:node";
const require = createRequire("/x.js");
const { Buffer, process } = globalThis;
function plain(key, value) {
  const raw = this[key];
  if (typeof raw === "bigint") return raw + "n";
  if (raw === undefined) return "<undefined>";
  if (typeof raw === "number" && !Number.isFinite(raw)) return "<" + raw + ">";
  if (Object.is(raw, -0)) return "<-0>";
  if (typeof raw === "function") return "<function " + raw.name + ">";
  if (typeof raw === "symbol") return raw.toString();
  if (raw instanceof Error) return failure(raw);
  if (raw instanceof Map) return ["<Map>", ...raw];
  if (raw instanceof Set) return ["<Set>", ...raw];
  if (Buffer.isBuffer(raw)) return "<Buffer " + raw.toString("hex") + ">";
  if (raw instanceof Uint8Array) return "<Uint8Array " + Buffer.from(raw).toString("hex") + ">";
  if (raw instanceof ArrayBuffer) return "<ArrayBuffer " + Buffer.from(raw).toString("hex") + ">";
  return value;
}
// The answer of a server with this listener, without the headers of the connection.
async function ask(listener, init) {
  const server = createServer(listener).listen(0), { port } = server.address();
  try {
    const answer = await handleAsNodeRequest(port, new Request("http://site.test/path?q=1", init));
    const head = [...answer.headers].filter(([name]) => !/^(connection|content-length|date|keep-alive|transfer-encoding)$/.test(name));
    return [answer.status, ...head.map((pair) => pair.join(": ")), await answer.text()];
  } finally {
    server.close();
  }
}
const failure = (e) => e instanceof Error ? e.name + (e.code ? " [" + e.code + "]" : "") + ": " + e.message : "thrown " + e;
const show = (value) => JSON.stringify({ value }, plain).slice(9, -1);
async function run(f) {
  const late = new Promise((resolve) => setTimeout(resolve, 5000, "does not end"));
  try { return show(await Promise.race([f(), late])); } catch (e) { return failure(e).replaceAll("\n", "\\n"); }
}
`

// statements matches code that is not one expression.
var statements = regexp.MustCompile(`^(const|let|class|function|async function|try) `)

// table runs every line of a file in a Worker and compares its result with that of Node.js 22.
func table(t *testing.T, file, code string, o pagesruntime.WorkerOptions) {
	t.Helper()
	cases := read(t, file)
	o.Limits.CPU = 20 * time.Second
	w := start(t, code+tableCode(cases), o)
	for i, c := range cases {
		var got string
		if text := get(t, w, fmt.Sprintf("/?n=%d", i)); json.Unmarshal([]byte(text), &got) != nil {
			got = text
		}
		if got != c.want {
			t.Errorf("%s\n got %s\nwant %s", c.code, got, c.want)
		}
	}
}

// tableCode is a Worker that evaluates the line which the parameter n names.
func tableCode(cases []one) string {
	var code strings.Builder
	code.WriteString(runner + "const all = [\n")
	for _, c := range cases {
		body := c.code
		if !statements.MatchString(body) {
			body = "return " + body
		}
		fmt.Fprintf(&code, "async () => { %s },\n", body)
	}
	code.WriteString(`];
export default { async fetch(request) {
  return Response.json(await run(all[Number(new URL(request.url).searchParams.get("n"))]));
} };`)
	return code.String()
}
