package runtime_test

import (
	"errors"
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
		text := `{"version":3,"sources":["` + source + `"],"sourcesContent":["export default { fetch() { throw new Error(1) } };"],"names":[],"mappings":"AAAA"}`
		w := mustStart(t, "export default { fetch() { throw new Error(1) } };", pagesruntime.WorkerOptions{Map: []byte(text)})
		_, err := w.Serve(httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, "/", nil))
		f, ok := errors.AsType[*pagesruntime.Error](err)
		if !ok || len(f.Frames) == 0 {
			t.Fatalf("%s: %v", source, err)
		}
		if f.Frames[0].File != file || len(f.Snippet) != 1 {
			t.Errorf("%s: the fault is in %q, with the lines %+v", source, f.Frames[0].File, f.Snippet)
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
		if inner, _, _ := strings.Cut(text, "src/worker.ts"); !strings.Contains(inner, "(node:") || strings.Contains(text, "src/worker.ts:1:") {
			t.Errorf("%s: logged %s", name, text)
		}
	}
}

// What is printed behind a trace stands there, and no line of the runtime's own does.
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
	code, sourceMap := compiled(t, source)
	log := newConsole()
	w := mustStart(t, string(code), pagesruntime.WorkerOptions{Map: sourceMap, Console: log.write})
	if _, err := w.Serve(httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, "/", nil)); err != nil {
		t.Fatal(err)
	}
	const at = "    at fetch (src/worker.ts:3:21)"
	for n, want := range []string{
		"Error: e\n" + at + " { a: 1 }",
		"{\n  error: Error: e\n  " + at + ",\n  b: 2\n}",
		"Error: e\n" + at + " (why) of GET",
		"[\n  Error: e\n  " + at + " {\n    code: 'E'\n  },\n  Error: e\n  " + at + " {\n    code: 'E'\n  }\n] at Error: e\n" + at + " {\n  code: 'E'\n} 3",
		"line\n    at first (of: all)\n at no place",
	} {
		if got := log.next(t, n).Text; got != want {
			t.Errorf("got %q\nwant %q", got, want)
		}
	}
}
