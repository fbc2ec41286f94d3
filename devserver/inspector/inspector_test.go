package inspector

import (
	"encoding/base64"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/coder/websocket"

	"github.com/pages-toolchain/pages/runtime/workerd"
)

// start serves an inspector without a process.
func start(t *testing.T) (s *Server, address string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s = Start(Options{Title: "club", Dir: t.TempDir(), Listeners: []net.Listener{l}, Address: l.Addr().String()})
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s, l.Addr().String()
}

// TestServe: front ends find the WebSocket, and other requests are refused.
func TestServe(t *testing.T) {
	s, address := start(t)
	for _, c := range []struct {
		method, path, host, origin string
		status                     int
		part                       string
	}{
		{"GET", "/json/version", "", "", 200, `"Protocol-Version": "1.3"`},
		{"GET", "/json/list", "", "", 200, `"webSocketDebuggerUrl": "ws://` + address + "/" + s.token + `"`},
		{"GET", "/json", "localhost", "", 200, `"webSocketDebuggerUrl": "ws://` + address + "/" + s.token + `"`}, // js-debug names no port
		{"GET", "/json/", "localhost:9000", "devtools://devtools", 200, `"ws://localhost:9000/` + s.token + `"`},
		{"GET", "/json", "", "vscode-file://vscode-app", 200, `"type": "node"`},
		{"GET", "/json", "", "http://" + address, 403, "debuggers of this machine alone"},
		{"GET", "/json", "", "null", 403, "debuggers of this machine alone"},
		{"GET", "/json", "evil.example", "", 403, "debuggers of this machine alone"},
		{"GET", "/" + s.token, "evil.example", "", 403, "debuggers of this machine alone"},
		{"GET", "/" + s.token, "", "", 426, "a WebSocket"},
		{"GET", "/" + s.token[1:], "", "", 404, "/json/list"},
		{"POST", "/json", "", "", 405, "GET"},
	} {
		r, err := http.NewRequestWithContext(t.Context(), c.method, "http://"+address+c.path, nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Host = c.host
		if c.origin != "" {
			r.Header.Set("Origin", c.origin)
		}
		resp, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(resp.Body)
		_ = resp.Body.Close()
		if err != nil || resp.StatusCode != c.status || !strings.Contains(string(body), c.part) {
			t.Errorf("%s %s of %q from %q: %d %s, want %d with %q",
				c.method, c.path, c.host, c.origin, resp.StatusCode, body, c.status, c.part)
		}
	}
	for path, origin := range map[string]string{"/" + s.token: "https://evil.example", "/json": "devtools://devtools", "/x": ""} {
		header := http.Header{}
		if origin != "" {
			header.Set("Origin", origin)
		}
		conn, resp, err := websocket.Dial(t.Context(), "ws://"+address+path, &websocket.DialOptions{HTTPHeader: header})
		if err == nil {
			_ = conn.CloseNow()
			t.Errorf("a WebSocket at %s from %q: %d", path, origin, resp.StatusCode)
		}
	}
}

// siteMap maps three lines of code: "var a = 1;", then two lines; the second one comes from the author's line 7.
const siteMap = `{"version":3,"sources":["src/worker.ts","node_modules/hono/index.js","node:util"],"sourceRoot":"",` +
	`"sourcesContent":["","",""],"mappings":"AAEA,IAAM;AACA;AAGA,ICAA","names":[]}`

func newSiteScripts() scripts {
	return newScripts("/site é", []workerd.Script{
		{Name: "worker.js", Map: []byte(siteMap)},
		{Name: "own.mjs", Text: "const größe = 1;\n\n  run(größe);\n", File: "dist/own.mjs"},
		{Name: "none.js", Text: "1"},
		{Name: "broken.js", Map: []byte("{")},
	})
}

// TestSourceMaps: front ends get maps with the real paths, which map positions in both directions.
func TestSourceMaps(t *testing.T) {
	all := newSiteScripts()
	if len(all) != 2 {
		t.Fatalf("the scripts are %v", all)
	}
	s := all["worker.js"]
	text, ok := strings.CutPrefix(s.address(), "data:application/json;charset=utf-8;base64,")
	decoded, err := base64.StdEncoding.DecodeString(text)
	if !ok || err != nil {
		t.Fatal(err, s.address())
	}
	var given struct {
		Sources    []string `json:"sources"`
		IgnoreList []int    `json:"ignoreList"`
		Mappings   string   `json:"mappings"`
	}
	if err := json.Unmarshal(decoded, &given); err != nil {
		t.Fatal(err, string(decoded))
	}
	const folder = "file:///site%20%C3%A9/"
	if want := []string{folder + "src/worker.ts", folder + "node_modules/hono/index.js", "node:util"}; !slices.Equal(given.Sources, want) ||
		!slices.Equal(given.IgnoreList, []int{1, 2}) || given.Mappings == "" {
		t.Errorf("the map is %s, want sources %q", decoded, want)
	}
	for _, c := range []struct{ line, column, fromLine, fromColumn int }{
		{0, 0, 2, 0}, {0, 3, 2, 0}, {0, 9, 2, 6}, {1, 5, 3, 6}, {2, 0, 6, 6},
	} {
		at, name, ok := s.source(c.line, c.column)
		if !ok || name != "src/worker.ts" || at.line != c.fromLine || at.column != c.fromColumn {
			t.Errorf("%d:%d is of %s %v, want %d:%d", c.line, c.column, name, at, c.fromLine, c.fromColumn)
		}
	}
	for _, c := range []struct{ line, column, codeLine, codeColumn int }{
		{0, 0, 0, 0}, // lines of types have no code
		{2, 0, 0, 0}, {2, 1, 0, 4}, {3, 0, 1, 0}, {4, 0, 2, 0}, {6, 99, 2, 0},
	} {
		line, column, ok := s.code(place{"file:///site é/src/worker.ts", c.line, c.column}) // as some front ends write it
		if !ok || line != c.codeLine || column != c.codeColumn {
			t.Errorf("%d:%d is at %d:%d (%v), want %d:%d", c.line, c.column, line, column, ok, c.codeLine, c.codeColumn)
		}
	}
	if _, _, ok := s.code(place{given.Sources[0], 7, 0}); ok {
		t.Error("a line after the last one has code")
	}
	own := all["own.mjs"]
	for _, c := range [][2]int{{0, 0}, {0, 6}, {0, 12}, {2, 2}, {2, 6}} {
		at, _, ok := own.source(c[0], c[1])
		line, column, back := own.code(at)
		if !ok || !back || [2]int{at.line, at.column} != c || [2]int{line, column} != c {
			t.Errorf("%v of the author's own file is %v, and back %d:%d", c, at, line, column)
		}
	}
}

// TestBreakpoints: a breakpoint in the author's file becomes one in the code, and is set again at the present place of its line in the next
// process.
func TestBreakpoints(t *testing.T) {
	const file = "file:///site%20%C3%A9/src/worker.ts"
	before := newSiteScripts()
	after := newScripts("/site é", []workerd.Script{{Name: "worker.js", Map: []byte(strings.Replace(siteMap, "AAEA", ";;;AAEA", 1))}})
	names := func(id string) string { return map[string]string{"11": "worker.js"}[id] }
	for _, c := range []struct{ method, params, first, again string }{
		{
			setBreakpointByURL, `{"url":"` + file + `","lineNumber":6,"condition":"a > 1"}`,
			`{"columnNumber":0,"condition":"a > 1","lineNumber":2,"url":"worker.js"}`,
			`{"columnNumber":0,"condition":"a > 1","lineNumber":5,"url":"worker.js"}`,
		},
		{
			setBreakpointByURL, `{"urlRegex":"[fF]ile:\\/\\/\\/.*worker\\.ts($|\\?)","lineNumber":6}`,
			`{"columnNumber":0,"lineNumber":2,"url":"worker.js"}`, `{"columnNumber":0,"lineNumber":5,"url":"worker.js"}`,
		},
		{ // of a front end that reads the map
			setBreakpointByURL, `{"url":"worker.js","lineNumber":0,"columnNumber":4}`,
			`{"columnNumber":4,"lineNumber":0,"url":"worker.js"}`, `{"columnNumber":4,"lineNumber":3,"url":"worker.js"}`,
		},
		{
			setBreakpoint, `{"location":{"scriptId":"11","lineNumber":1}}`,
			`{"location":{"scriptId":"11","lineNumber":1}}`, `{"columnNumber":0,"lineNumber":4,"url":"worker.js"}`,
		},
		{ // no file yet, and perhaps never
			setBreakpointByURL, `{"url":"file:///elsewhere.ts","lineNumber":6}`,
			`{"lineNumber":6,"url":"file:///elsewhere.ts"}`, `{"lineNumber":6,"url":"file:///elsewhere.ts"}`,
		},
		{
			setInstrumentation, `{"instrumentation":"beforeScriptExecution"}`,
			`{"instrumentation":"beforeScriptExecution"}`, `{"instrumentation":"beforeScriptExecution"}`,
		},
	} {
		m := &memory{}
		params, b := m.command(c.method, json.RawMessage(c.params), before, names)
		if string(params) != c.first {
			t.Errorf("%s is sent as %s, want %s", c.params, params, c.first)
		}
		m.add(b, json.RawMessage(`{"breakpointId":"1:2:0:worker.js"}`))
		if _, params = b.again(after); string(params) != c.again {
			t.Errorf("%s is sent again as %s, want %s", c.params, params, c.again)
		}
		m.setCurrent(b, "1:5:0:worker.js")
		if got := m.front("1:5:0:worker.js"); got != "1:2:0:worker.js" {
			t.Errorf("the front end gets %s", got)
		}
		removed, _ := m.command(removeBreakpoint, json.RawMessage(`{"breakpointId":"1:2:0:worker.js"}`), after, names)
		if _, list := m.list(); string(removed) != `{"breakpointId":"1:5:0:worker.js"}` || len(list) > 0 {
			t.Errorf("the breakpoint is removed as %s, and remembered are %v", removed, list)
		}
	}
}

// TestSettings: the enabled domains and settings of a front end are remembered, until it disables the domain.
func TestSettings(t *testing.T) {
	m := &memory{}
	for _, c := range [][2]string{
		{"Runtime.enable", ""},
		{"Debugger.enable", `{"maxScriptsCacheSize":1}`},
		{"Debugger.setPauseOnExceptions", `{"state":"all"}`},
		{"Runtime.addBinding", `{"name":"a"}`},
		{"Runtime.addBinding", `{"name":"b"}`},
		{"Debugger.setPauseOnExceptions", `{"state":"none"}`},
		{"Runtime.evaluate", `{"expression":"1"}`},
		{"Profiler.enable", ""},
		{"Profiler.disable", ""},
	} {
		m.command(c[0], json.RawMessage(c[1]), nil, nil)
	}
	var got []string
	list, _ := m.list()
	for _, s := range list {
		got = append(got, s.method+string(s.params))
	}
	if want := []string{
		"Runtime.enable", `Debugger.enable{"maxScriptsCacheSize":1}`, `Runtime.addBinding{"name":"a"}`, `Runtime.addBinding{"name":"b"}`,
		`Debugger.setPauseOnExceptions{"state":"none"}`,
	}; !slices.Equal(got, want) {
		t.Errorf("remembered are %q, want %q", got, want)
	}
}

// FuzzCommand: no message of a front end, and no source map, causes a failure; V8 gets only JSON.
func FuzzCommand(f *testing.F) {
	for _, seed := range []string{
		`{"id":1,"method":"Debugger.enable"}`,
		`{"id":1,"method":"Debugger.setBreakpointByUrl","params":{"url":"worker.js","lineNumber":1}}`,
		`{"id":1,"method":"Debugger.setBreakpointByUrl","params":{"urlRegex":"(((","lineNumber":-1}}`,
		`{"id":1,"method":"Debugger.setBreakpointByUrl","params":{"urlRegex":".*","lineNumber":99999999999999999999}}`,
		`{"id":1,"method":"Debugger.setBreakpointByUrl","params":{"urlRegex":"(a+)+$|worker.ts","columnNumber":"x"}}`,
		`{"id":1,"method":"Debugger.setBreakpoint","params":{"location":null}}`, `{"id":1,"method":"Debugger.setBreakpoint","params":[]}`,
		`{"id":1,"method":"Debugger.setBreakpoint","params":{"location":{"scriptId":11,"lineNumber":1e400}}}`,
		`{"id":1,"method":"Debugger.removeBreakpoint","params":{"breakpointId":7}}`, `{"id":1,"method":"Debugger.disable","params":null}`,
		`{"id":1,"method":"Debugger.setBlackboxPatterns","params":{"patterns":"x"}}`, `{"id":1,"method":"Runtime.addBinding","params":7}`,
		`{"id":"1","method":"Debugger.enable"}`, `{"id":1e3,"method":7}`, `{"method":"x"}`, `[]`, `null`, `{`, ``, "\xff", `{"id":1}`,
		strings.Repeat("[", 20_000), `{"id":1,"method":".enable","params":{"":"\ud800"}}`,
	} {
		f.Add(seed, "AAEA,IAAM;AACA")
	}
	f.Add(`{"id":1,"method":"Debugger.enable"}`, "AAAA,////////////////,gggggggggggB;!;AAAAA")
	f.Fuzz(func(t *testing.T, text, mappings string) {
		in := newSiteScripts()
		in["worker.js"].mappings = func() []mapping { return decode(mappings, 3) }
		m, wrong := readCommand([]byte(text))
		if wrong != nil {
			return
		}
		remembered := &memory{}
		params, b := remembered.command(m.Method, m.Params, in, func(string) string { return "worker.js" })
		for range 2 {
			if len(params) > 0 && !json.Valid(params) || len(m.Params) > 0 && !json.Valid(withOwn(m.Params, "pages-x")) {
				t.Fatalf("%q is sent as %q", text, params)
			}
			if b == nil {
				return
			}
			_, params = b.again(in)
		}
	})
}
