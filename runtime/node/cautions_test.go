package node_test

import (
	"strings"
	"sync"
	"testing"

	pagesruntime "github.com/pages-toolchain/pages/runtime"
)

// Functions that work here and that production lacks give a warning, once for each kind.
func TestCautions(t *testing.T) {
	var mu sync.Mutex
	var lines []string
	w := start(t, `import { AsyncLocalStorage } from "node:async_hooks";
import { createHash, createHmac } from "node:crypto";
import { parseArgs } from "node:util";
const ways = {
  enter: () => new AsyncLocalStorage().enterWith(1),
  run: () => new AsyncLocalStorage().run(1, () => 1),
  parse: () => parseArgs({ args: [] }),
  sha3: () => createHash("sha3-256").digest(),
  blake: () => createHmac("blake2b512", "k").digest(),
  sha: () => ["md5", "sha1", "SHA256", "RSA-SHA512", "sha512-256"].map((name) => createHash(name).digest()),
};
export default { fetch(request) {
  const way = ways[new URL(request.url).pathname.slice(1)];
  way(); way();
  return new Response("done");
} };`, pagesruntime.WorkerOptions{Isolates: 1, Console: func(l pagesruntime.Line) {
		mu.Lock()
		defer mu.Unlock()
		lines = append(lines, l.Text)
	}})
	for way, want := range map[string]string{
		"enter": "AsyncLocalStorage: production refuses enterWith; call run, with the rest in its function",
		"run":   "",
		"parse": "node:util: production refuses parseArgs",
		"sha3":  "node:crypto: production refuses the digest sha3-256; take sha256 or sha512",
		"blake": "node:crypto: production refuses the digest blake2b512; take sha256 or sha512",
		"sha":   "",
	} {
		if got := get(t, w, "/"+way); got != "done" {
			t.Errorf("%s: %s", way, got)
		}
		mu.Lock()
		if got := strings.Join(lines, "\n"); got != want {
			t.Errorf("%s: the log has %q, want %q", way, got, want)
		}
		lines = nil
		mu.Unlock()
	}
}
