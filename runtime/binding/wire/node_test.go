package wire_test

import (
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pages-toolchain/pages/cmd/tools/testmachine"
	"github.com/pages-toolchain/pages/runtime/binding/wire"
)

// nodeToken is the token of the tests.
const nodeToken = "the token of this run"

// inNode returns how a process of Node.js answers with the handler of a Worker, whose bindings are those of npm/bindings.mjs.
func inNode(t testing.TB, worker string, o wire.Options) (ask func(target string) string) {
	t.Helper()
	node, err := exec.LookPath("node")
	if err != nil {
		testmachine.Lacks(t, "Node.js", err)
	}
	bundle := filepath.Join("..", "..", "..", "npm", "bindings.mjs")
	if _, err := os.Stat(bundle); err != nil {
		t.Fatalf("make artifacts makes it: %v", err)
	}
	o.Token, o.Env = nodeToken, true
	s := serve(t, o)
	cmd := exec.CommandContext(context.WithoutCancel(t.Context()), node, filepath.Join("testdata", "node.mjs"), bundle, s.Address,
		nodeToken, worker)
	cmd.Stderr = t.Output()
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = in.Close()
		if err := cmd.Wait(); err != nil {
			t.Errorf("node: %v", err)
		}
	})
	lines := bufio.NewReader(out)
	return func(target string) string {
		if _, err := io.WriteString(in, target+"\n"); err != nil {
			t.Fatal(err)
		}
		line, err := lines.ReadString('\n')
		if err != nil {
			t.Fatalf("node has ended: %v", err)
		}
		var text string
		if err := json.Unmarshal([]byte(line), &text); err != nil {
			t.Fatalf("%v: %s", err, line)
		}
		return text
	}
}

// pieces is the key of an object that only Node.js stores: its streams have no known length, and such a put is accepted.
const pieces, putPieces = `"pieces",`, "r2: put a stream of no length"

// TestCallsOfNode: a program of Node.js gets over the wire the results of a Worker in the built-in engine, word for word.
func TestCallsOfNode(t *testing.T) {
	file := filepath.Join("testdata", "calls.js")
	code, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	here := inIsolate(t, code, bindings(t))
	there := inNode(t, file, wire.Options{Bindings: bindings(t)})
	for _, kind := range []string{"kv", "d1", "r2", "images", "files"} {
		t.Run(kind, func(t *testing.T) {
			mine, theirs := table(t, here("/"+kind)), table(t, there("/"+kind))
			if len(mine) != len(theirs) || len(mine) == 0 {
				t.Fatalf("%d and %d calls", len(mine), len(theirs))
			}
			for i, row := range mine {
				name, want, got := row[0], row[1], theirs[i][1]
				if name == putPieces {
					want, got = `{"key":"pieces"`, got[:len(`{"key":"pieces"`)]
				}
				if name == "r2: list" {
					got = strings.Replace(got, pieces, "", 1)
				}
				if got != want {
					t.Errorf("%s\nNode.js gives %s\nthe isolate   %s", name, got, want)
				}
			}
		})
	}
}

// TestProgramsOfNode: over the wire, programs of calls that are not awaited have the recorded results on any connections.
func TestProgramsOfNode(t *testing.T) {
	order := filepath.Join("..", "testdata", "order")
	recorded, err := os.ReadFile(filepath.Join(order, "workerd.txt"))
	if err != nil {
		t.Fatal(err)
	}
	ask := inNode(t, filepath.Join(order, "worker.js"), wire.Options{Bindings: bindings(t)})
	left := 40
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

// TestNodeRefused: calls without the token, and after the end of the server, are refused.
func TestNodeRefused(t *testing.T) {
	worker := filepath.Join(t.TempDir(), "worker.mjs")
	if err := os.WriteFile(worker, []byte(`export default { async fetch(request, env) {
		const fault = (e) => e.name + ": " + e.message;
		const { pathname } = new URL(request.url);
		if (pathname === "/keep") return new Response(await env.KV.put("k", "v").then(() => "kept", fault));
		if (pathname === "/large") {
			const endless = new ReadableStream({ pull(c) { c.enqueue(new Uint8Array(1 << 20)); } });
			return new Response(await env.KV.put("k", endless).then(() => "kept", fault));
		}
		if (pathname === "/aborted") {
			let n = 0;
			const broken = new ReadableStream({
				pull(c) { if (n++ < 3) c.enqueue(new Uint8Array(1 << 20)); else c.error(new Error("it broke")); },
			});
			const failed = await env.BUCKET.put("k", broken).then(() => "kept", fault);
			return new Response(failed + ", then " + (await env.BUCKET.get("k")));
		}
		if (pathname === "/unread") {
			await env.BUCKET.put("big", new Uint8Array(1 << 20));
			const open = [];
			for (let i = 0; i < 50; i++) open.push((await env.BUCKET.get("big")).body);
			await Promise.all(open.map((body) => body.cancel()));
			return new Response(String((await env.DB.prepare("SELECT 7 AS n").first("n"))));
		}
	} }`), 0o600); err != nil {
		t.Fatal(err)
	}
	ask := inNode(t, worker, wire.Options{Bindings: bindings(t)})
	for _, row := range []struct{ target, want string }{
		{"/keep", "kept"},
		{"/large", "Error: KV PUT failed: 413 Value length of 27262976 exceeds limit of 26214400."},
		{"/aborted", "Error: it broke, then null"},
		{"/unread", "7"},
	} {
		if got := ask(row.target); got != row.want {
			t.Errorf("%s gives %q, want %q", row.target, got, row.want)
		}
	}
}

// TestClientRefusals is a client of another release, or with another token.
func TestClientRefusals(t *testing.T) {
	s := serve(t, wire.Options{Bindings: bindings(t), Token: nodeToken, Env: true})
	for _, row := range []struct{ name, version, token, binding, want string }{
		{"no token", wire.Version, "", "env", `403 {"name":"Error","message":"the token of the wire is missing or wrong"}`},
		{"another token", wire.Version, "guessed", "env", `403 {"name":"Error","message":"the token of the wire is missing or wrong"}`},
		{"another release", "0", nodeToken, "env", `505 {"name":"Error","message":"the bindings are served in version 1 of the wire, ` +
			`and the request is of version \"0\": both sides must be of one release"}`},
		{
			"no such binding", wire.Version, nodeToken, "kv/NONE",
			`404 {"name":"Error","message":"there is no binding \"kv/NONE\" on the wire"}`,
		},
	} {
		t.Run(row.name, func(t *testing.T) {
			request := "GET /x HTTP/1.1\r\nHost: wire\r\nPages-Errors: 1\r\n"
			for _, header := range [][2]string{{"Wire", row.version}, {"Token", row.token}, {"Binding", row.binding}} {
				request += "Pages-" + header[0] + ": " + header[1] + "\r\n"
			}
			status, header, _ := exchange(t, s, request+"\r\n")
			if got := status[:3] + " " + header.Get("Pages-Error"); got != row.want {
				t.Errorf("got  %s\nwant %s", got, row.want)
			}
		})
	}
}
