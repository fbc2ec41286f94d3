package runtime_test

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	pagesruntime "github.com/pages-toolchain/pages/runtime"
)

// A source map names files as URLs; the author's have spaces, letters of all languages and signs.
func TestFilesAsTheyAreCalled(t *testing.T) {
	for source, file := range map[string]string{
		"src/plain.ts":                         "src/plain.ts",
		"lib slo%C5%BEka/h%C3%A1%C4%8Dek.ts":   "lib složka/háček.ts",
		"../api %5Bid%5D/100%25.ts":            "../api [id]/100%.ts",
		"lib složka/háček.ts":                  "lib složka/háček.ts", // of another bundler
		"100%.ts":                              "100%.ts",
		"webpack://site/./src/h%C3%A1%C4%8Dek": "webpack://site/./src/h%C3%A1%C4%8Dek",
	} {
		t.Run(source, func(t *testing.T) {
			text := `{"version":3,"sources":["` + source +
				`"],"sourcesContent":["export default { fetch() { throw new Error(1) } };"],"names":[],"mappings":"AAAA"}`
			w := mustStart(t, "export default { fetch() { throw new Error(1) } };", pagesruntime.WorkerOptions{Map: []byte(text)})
			_, err := w.Serve(httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, "/", nil))
			f, ok := errors.AsType[*pagesruntime.Error](err)
			if !ok || len(f.Frames) == 0 {
				t.Fatalf("%s: %v", source, err)
			}
			if f.Frames[0].File != file || len(f.Snippet) != 1 {
				t.Errorf("%s: the fault is in %q, with the lines %+v", source, f.Frames[0].File, f.Snippet)
			}
		})
	}
}

// A source map that cannot be read maps nothing: the frames are those of the code.
func TestBrokenMap(t *testing.T) {
	for _, text := range []string{"{", "[]", `{"version":2}`, `{"version":3,"sources":["a.ts"],"mappings":"!"}`} {
		w := mustStart(t, "export default { fetch() { throw new Error('thrown') } };", pagesruntime.WorkerOptions{Map: []byte(text)})
		_, err := w.Serve(httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, "/", nil))
		f, ok := errors.AsType[*pagesruntime.Error](err)
		if !ok || f.Message != "thrown" || len(f.Frames) == 0 || f.Frames[0].Line != 1 || len(f.Snippet) != 0 {
			t.Errorf("%s: %v, in %+v, with the lines %+v", text, err, f.Frames, f.Snippet)
		}
	}
}

// Columns count characters: a source map counts units of UTF-16, two for a character beyond the basic plane.
func TestColumnsCountCharacters(t *testing.T) {
	const source = `export default {
	fetch(request: Request) {
		console.log("plain"), /* 漢字 */ console.log("漢字"), /* 😀😀 */ console.log("wide"), console.log("😀"), console.log("last");
		return new Response("");
	},
};
`
	log := logged(t, source)
	for n, text := range []string{"plain", "漢字", "wide", "😀", "last"} {
		line := strings.Split(source, "\n")[2]
		before, _, _ := strings.Cut(line, `log("`+text)
		frames, column := log.next(t, n).Frames, len([]rune(before))+1
		if len(frames) == 0 || frames[0].Line != 3 || frames[0].Column != column {
			t.Errorf("%s is logged at %+v, want column %d", text, frames, column)
		}
	}
}

// A module of Node.js that throws is not in the author's files, and the fault is where they called it.
func TestFaultsInModulesOfNode(t *testing.T) {
	const source = `import { Readable } from "node:stream";
import { Buffer } from "node:buffer";
type Named = Record<string, () => unknown>;
const calls: Named = {
	from: () => (Readable as any).from(5), /*FROM*/
	alloc: () => Buffer.alloc("x" as any), /*ALLOC*/
};
export default {
	fetch(request: Request) {
		const call = calls[new URL(request.url).pathname.slice(1)];
		try { call() } catch (e) { console.log(e) }
		return call();
	},
};
`
	code, sourceMap := compiled(t, source)
	log := newConsole()
	w := mustStart(t, string(code), pagesruntime.WorkerOptions{Map: sourceMap, NodeJS: true, Console: log.write})
	for n, name := range []string{"from", "alloc"} {
		_, err := w.Serve(httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, "/"+name, nil))
		f, ok := errors.AsType[*pagesruntime.Error](err)
		before, _, _ := strings.Cut(source, "/*"+strings.ToUpper(name)+"*/")
		line := strings.Count(before, "\n") + 1
		if !ok || len(f.Frames) < 2 || f.Frames[0].File != "src/worker.ts" || f.Frames[0].Line != line || len(f.Snippet) == 0 {
			t.Errorf("%s: the fault is at %+v, want line %d", name, f, line)
		}
		text := log.next(t, n).Text
		if inner, _, _ := strings.Cut(text, "src/worker.ts"); !strings.Contains(inner, "(node:") ||
			strings.Contains(text, "src/worker.ts:1:") {
			t.Errorf("%s: logged %s", name, text)
		}
	}
}

// Output after a trace keeps its place, and no line of the runtime's own appears.
func TestPrintedBehindTraces(t *testing.T) {
	const source = `export default {
	fetch(request: Request) {
		const error = new Error("e");
		console.log(error, { a: 1 });
		console.log({ error, b: 2 });
		console.log("%s (why) of %s", error, request.method);
		console.log([error, error], "at", Object.assign(error, { code: "E" }), 3);
		console.log("line\n    at first (of: all)\n at no place");
		return new Response("");
	},
};
`
	log := logged(t, source)
	const at = "    at fetch (src/worker.ts:3:21)"
	for n, want := range []string{
		"Error: e\n" + at + " { a: 1 }",
		"{\n  error: Error: e\n  " + at + ",\n  b: 2\n}",
		"Error: e\n" + at + " (why) of GET",
		"[\n  Error: e\n  " + at + " {\n    code: 'E'\n  },\n  Error: e\n  " + at + " {\n    code: 'E'\n  }\n] at Error: e\n" + at +
			" {\n  code: 'E'\n} 3",
		"line\n    at first (of: all)\n at no place",
	} {
		if got := log.next(t, n).Text; got != want {
			t.Errorf("got %q\nwant %q", got, want)
		}
	}
}

// Stacks that the Worker reads name the author's files if the option is set, and otherwise the bundle's code, as in production; the
// author's own formatting of call sites stays.
func TestStacksThatTheWorkerReads(t *testing.T) {
	const source = `interface Shifts { the: "lines" }
class Own extends Error { name = "Own" }
const stacks: Record<string, () => unknown> = {
	made: () => new Error("m").stack, /*MADE*/
	named: () => new Own("m").stack, /*NAMED*/
	captured: () => { const o: any = {}; Error.captureStackTrace(o); return o.stack }, /*CAPTURED*/
	refused: () => fetch("http://127.0.0.1:1/").catch((e) => e.stack), /*REFUSED*/
	digest: () => crypto.subtle.digest("none", new Uint8Array(1)).catch((e) => e.stack), /*DIGEST*/
	native: () => { try { [1].map(() => { throw new Error("m") }) } catch (e: any) { return e.stack } }, /*NATIVE*/
	written: () => { const e = new Error("m"); e.stack = "mine\n    at f (worker.js:2:3)"; return e.stack },
	prepared: () => {
		Error.prepareStackTrace = (_, frames) => "mine\n    at f (" + frames[0].getFileName() + ":2:3)";
		try { return new Error("m").stack } finally { delete Error.prepareStackTrace }
	},
};
export default {
	async fetch(request: Request) {
		const { stack } = new Error("unread"), made = stacks[new URL(request.url).pathname.slice(1)];
		return new Response(String(await made()) + (stack ? "" : "none"));
	},
};
`
	code, sourceMap := compiled(t, source)
	for _, mapped := range []bool{true, false} {
		s := serve(t, mustStart(t, string(code), pagesruntime.WorkerOptions{Map: sourceMap, MapStacks: mapped}))
		for name, head := range map[string]string{
			"made": "Error: m", "named": "Own: m", "captured": "Error", "refused": "Error: fetch to ",
			"digest": "NotSupportedError: ", "native": "Error: m",
			"written":  "mine\n    at f (worker.js:2:3)",
			"prepared": map[bool]string{true: "mine\n    at f (bundle:worker.js:2:3)", false: "mine\n    at f (worker.js:2:3)"}[mapped],
		} {
			t.Run(name, func(t *testing.T) {
				_, stack := get(t, s, "/"+name)
				if !strings.HasPrefix(stack, head) || strings.HasSuffix(stack, "\n") {
					t.Errorf("%s: %q", name, stack)
				}
				before, _, ours := strings.Cut(source, "/*"+strings.ToUpper(name)+"*/")
				if !ours {
					return
				}
				_, frame, _ := strings.Cut(stack, "\n")
				frame, _, _ = strings.Cut(frame, "\n")
				line := fmt.Sprintf("src/worker.ts:%d:", strings.Count(before, "\n")+1)
				if mapped != strings.Contains(frame, line) || mapped == strings.Contains(stack, "worker.js") ||
					mapped && strings.Contains(stack, "prelude") {
					t.Errorf("%s, mapped %t: want %s\n%s", name, mapped, line, stack)
				}
			})
		}
	}
}

// An error that code of the bundler's own throws is the author's line that called it.
func TestWhatTheBundlerAddedThrows(t *testing.T) {
	code := "const required = (name) => { throw new Error(name) };\nexport default { fetch() { required('url') } }"
	sourceMap := []byte(
		`{"version":3,"sources":["src/worker.ts"],"sourcesContent":["export default { fetch() { require('url') } }"],"names":[],` +
			`"mappings":";AAAA"}`,
	)
	w := mustStart(t, code, pagesruntime.WorkerOptions{Map: sourceMap, MapStacks: true})
	_, err := w.Serve(httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, "/", nil))
	f, ok := errors.AsType[*pagesruntime.Error](err)
	if !ok || len(f.Frames) == 0 || f.Frames[0].File != "src/worker.ts" || len(f.Snippet) == 0 {
		t.Fatalf("%+v", f)
	}
}

// logged returns the log of one request to a Worker.
func logged(t *testing.T, source string) *console {
	t.Helper()
	code, sourceMap := compiled(t, source)
	log := newConsole()
	w := mustStart(t, string(code), pagesruntime.WorkerOptions{Map: sourceMap, Console: log.write})
	if _, err := w.Serve(httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, "/", nil)); err != nil {
		t.Fatal(err)
	}
	return log
}
