package wire_test

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pages-toolchain/pages/runtime/binding/wire"
)

// differences are the results of workerd over the wire that differ from the built-in engine's, each with the reason.
var differences = map[string]struct{ workerd, why string }{
	"d1: exec that fails later": {
		"Error: D1_EXEC_ERROR: Error in line 1: SELECT 1: no such table: none: SQLITE_ERROR " +
			"[Error in line 1: SELECT 1: no such table: none: SQLITE_ERROR]", "the client of D1 names the first line always",
	},
	"r2: ssec": {
		"Error: get: ssecKey is not supported by this runtime: objects cannot be encrypted with a key of your own (10029)",
		"the client of R2 makes an Error with a code of each refusal",
	},
}

// TestCallsOfWorkerd: a Worker in workerd gets the results of the built-in engine over the wire, word for word.
func TestCallsOfWorkerd(t *testing.T) {
	code, err := os.ReadFile(filepath.Join("testdata", "calls.js"))
	if err != nil {
		t.Fatal(err)
	}
	here := inIsolate(t, code, bindings(t))
	there := inWorkerd(t, code, serve(t, wire.Options{Bindings: bindings(t), FrontDoor: http.HandlerFunc(files)}))
	met := map[string]bool{}
	for _, kind := range []string{"kv", "d1", "r2", "images", "files"} {
		t.Run(kind, func(t *testing.T) {
			mine, theirs := table(t, here("/"+kind)), table(t, there("/"+kind))
			if len(mine) != len(theirs) || len(mine) == 0 {
				t.Fatalf("%d and %d calls", len(mine), len(theirs))
			}
			for i, row := range mine {
				name, want, got := row[0], row[1], theirs[i][1]
				if known, ok := differences[name]; ok {
					met[name] = true
					if got != known.workerd {
						t.Errorf("%s\nworkerd gives %s\nnot           %s", name, got, known.workerd)
					} else if got == want {
						t.Errorf("%s: the difference is gone", name)
					}
				} else if got != want {
					t.Errorf("%s\nworkerd gives %s\nthe isolate   %s", name, got, want)
				}
			}
		})
	}
	for name := range differences {
		if !met[name] {
			t.Errorf("no call is named %q", name)
		}
	}
}

func table(t *testing.T, text string) (rows [][2]string) {
	t.Helper()
	if err := json.Unmarshal([]byte(text), &rows); err != nil {
		t.Fatalf("%v: %.2000s", err, text)
	}
	return rows
}

// TestProgramsOfWorkerd: over the wire, programs of calls that are not awaited have the recorded results. workerd itself changes the order
// of the others, which read and write one key of KV or R2 at once: it delays a put, but no get.
func TestProgramsOfWorkerd(t *testing.T) {
	order := filepath.Join("..", "testdata", "order")
	code, err := os.ReadFile(filepath.Join(order, "worker.js"))
	if err != nil {
		t.Fatal(err)
	}
	recorded, err := os.ReadFile(filepath.Join(order, "workerd.txt"))
	if err != nil {
		t.Fatal(err)
	}
	ask := inWorkerd(t, code, serve(t, wire.Options{Bindings: bindings(t), FrontDoor: http.HandlerFunc(files)}))
	left := 100
	if testing.Short() {
		left = 15
	}
	for seed, want := range strings.Fields(string(recorded)) {
		tell := func(what string) string { return ask(fmt.Sprintf("/?seed=%d&run=1&what=%s", seed, what)) }
		if !strings.HasPrefix(tell("program"), `{"determined":true`) {
			continue
		}
		got := tell("together") + "\n" + tell("state")
		tell("done")
		if digest := fmt.Sprintf("%.8x", sha256.Sum256([]byte(got))); digest != want {
			t.Errorf("program %d: %s\ngave    %s\nawaited %s\n%s", seed, tell("program"), got, tell("awaited"), tell("state"))
		}
		if left--; left == 0 {
			break
		}
	}
}

// TestSiteOfWorkerd: a Worker in workerd reaches its own front door, and cannot say to the wire which binding it means.
func TestSiteOfWorkerd(t *testing.T) {
	const code = `export default { async fetch(request, env) {
		const forged = { headers: { "pages-binding": "assets/ASSETS", "pages-wire": "7", "pages-token": "x", "x-one": "1" } };
		const found = [];
		for (const url of ["https://site.example:8080/echo?a=%20b", "http://site.example/headers", "http://site.example/moved"])
			found.push(await (await env.SITE.fetch(url, forged)).text());
		const sent = await env.SITE.fetch("http://site.example/sent", { method: "POST", body: "a body" });
		const large = await (await env.SITE.fetch("http://site.example/large")).arrayBuffer();
		return Response.json([...found, await sent.text(), large.byteLength]);
	} }`
	door := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/sent" {
			_, _ = io.Copy(w, r.Body)
			return
		}
		files(w, r)
	})
	ask := inWorkerd(t, []byte(code), serve(t, wire.Options{Bindings: bindings(t), FrontDoor: door}))
	const want = `["GET https://site.example:8080/echo?a=%20b site.example:8080 /echo?a=%20b 1","1\n","a { color: red }","a body",1048576]`
	if got := ask("/"); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}
