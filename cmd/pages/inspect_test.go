package main

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/coder/websocket"
	"github.com/go-sourcemap/sourcemap"
)

const inspectedWorker = `import { total, type Row } from "./sum";

export default {
  async fetch(request: Request): Promise<Response> {
    const rows: Row[] = [{ n: 1 }, { n: 2 }];
    let sum = 0;
    sum = total(rows);
    console.warn("sum is", sum);
    return new Response(` + "`sum ${sum}`" + `);
  },
};
`

const inspectedSum = `export interface Row {
  n: number;
}

export function total(rows: Row[]): number {
  let sum = 0;
  for (const row of rows) sum += row.n;
  return sum;
}
`

// frontEnd is a front end of V8's debugger.
type frontEnd struct {
	t      *testing.T
	conn   *websocket.Conn
	last   int
	events []inspectorMessage // that no test has read
}

type inspectorMessage struct {
	ID     int             `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
	Result json.RawMessage `json:"result"`
	Error  json.RawMessage `json:"error"`
}

// attach attaches a front end to the WebSocket that the list of an inspector names.
func attach(t *testing.T, address string) *frontEnd {
	t.Helper()
	resp, err := http.Get("http://" + address + "/json/list")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	var list []struct {
		URL string `json:"webSocketDebuggerUrl"`
	}
	if err := json.NewDecoder(resp.Body).Decode(&list); err != nil || len(list) != 1 {
		t.Fatalf("the list is %v (%v)", list, err)
	}
	conn, _, err := websocket.Dial(t.Context(), list[0].URL, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.CloseNow() })
	conn.SetReadLimit(-1)
	return &frontEnd{t: t, conn: conn}
}

func (f *frontEnd) read() inspectorMessage {
	f.t.Helper()
	ctx, cancel := context.WithTimeout(f.t.Context(), patience)
	defer cancel()
	_, text, err := f.conn.Read(ctx)
	if err != nil {
		f.t.Fatalf("read from the inspector: %v", err)
	}
	var m inspectorMessage
	if err := json.Unmarshal(text, &m); err != nil {
		f.t.Fatalf("%s: %v", text, err)
	}
	return m
}

func (f *frontEnd) write(text string) {
	f.t.Helper()
	if err := f.conn.Write(f.t.Context(), websocket.MessageText, []byte(text)); err != nil {
		f.t.Fatal(err)
	}
}

// call sends a command and returns the response.
func (f *frontEnd) call(method, params string) inspectorMessage {
	f.t.Helper()
	f.last++
	f.write(fmt.Sprintf(`{"id":%d,"method":%q,"params":%s}`, f.last, method, params))
	for {
		m := f.read()
		if m.ID == f.last {
			return m
		}
		f.events = append(f.events, m)
	}
}

// event returns the first event with a name that was not read yet, and its params in v.
func (f *frontEnd) event(method string, v any) {
	f.t.Helper()
	i := 0
	for ; i == len(f.events) || f.events[i].Method != method; i++ {
		if i == len(f.events) {
			f.events = append(f.events, f.read())
			i--
		}
	}
	if err := json.Unmarshal(f.events[i].Params, v); err != nil {
		f.t.Fatal(err)
	}
	f.events = slices.Delete(f.events, i, i+1)
}

// pausedEvent is Debugger.paused.
type pausedEvent struct {
	Hit    []string `json:"hitBreakpoints"`
	Frames []struct {
		ID       string `json:"callFrameId"`
		Location struct {
			Script string `json:"scriptId"`
			Line   int    `json:"lineNumber"`
			Column int    `json:"columnNumber"`
		} `json:"location"`
		Scopes []struct {
			Type   string `json:"type"`
			Object struct {
				ID string `json:"objectId"`
			} `json:"object"`
		} `json:"scopeChain"`
	} `json:"callFrames"`
}

// local returns a variable of the function that is paused.
func (f *frontEnd) local(p pausedEvent, name string) string {
	f.t.Helper()
	var properties struct {
		Result []struct {
			Name  string `json:"name"`
			Value struct {
				Value json.RawMessage `json:"value"`
			} `json:"value"`
		} `json:"result"`
	}
	m := f.call("Runtime.getProperties", fmt.Sprintf(`{"objectId":%q}`, p.Frames[0].Scopes[0].Object.ID))
	if err := json.Unmarshal(m.Result, &properties); err != nil {
		f.t.Fatal(err)
	}
	for _, each := range properties.Result {
		if each.Name == name {
			return string(each.Value.Value)
		}
	}
	return "absent in " + string(m.Result)
}

// sources reads the scripts that V8 has parsed until the author's, and returns its source map.
func (f *frontEnd) sources() (script string, of *sourcemap.Consumer) {
	f.t.Helper()
	for {
		var parsed struct {
			Script string `json:"scriptId"`
			URL    string `json:"url"`
			Map    string `json:"sourceMapURL"`
		}
		f.event("Debugger.scriptParsed", &parsed)
		if parsed.URL != "worker.js" {
			continue
		}
		text, err := base64.StdEncoding.DecodeString(parsed.Map[strings.LastIndexByte(parsed.Map, ',')+1:])
		if err == nil {
			of, err = sourcemap.Parse("", text)
		}
		if err != nil {
			f.t.Fatalf("%.100q: %v", parsed.Map, err)
		}
		return parsed.Script, of
	}
}

// inspectorOf returns the address of a dev server's inspector.
func inspectorOf(d *devServer) (address string) {
	d.t.Helper()
	shown := regexp.MustCompile(`inspector +(127\.0\.0\.1:\d+)`)
	d.eventually("the inspector is shown", func() bool {
		if m := shown.FindStringSubmatch(d.stderr.String()); m != nil {
			address = m[1]
		}
		return address != ""
	})
	return address
}

// TestInspect: a front end stops at a line of TypeScript, steps, survives rebuilds, and delays no request for longer than allowed.
func TestInspect(t *testing.T) {
	withWorkerd(t)
	dir := t.TempDir()
	put(t, filepath.Join(dir, "pages.deploy.json"), `{"entry": "src/worker.ts", "routes": [{"pattern": "/*"}], "limits": {"cpuMs": 100}}`)
	if err := os.Mkdir(filepath.Join(dir, "src"), 0o700); err != nil {
		t.Fatal(err)
	}
	put(t, filepath.Join(dir, "src", "worker.ts"), inspectedWorker)
	put(t, filepath.Join(dir, "src", "sum.ts"), inspectedSum)
	d := startDev(t, dir, "--inspect=0", "--inspect-timeout", "50ms")
	address := inspectorOf(d)
	file := "file://" + filepath.ToSlash(dir) + "/src/worker.ts"
	f := attach(t, address)
	f.call("Runtime.enable", "{}")
	f.call("Debugger.enable", "{}")
	if m := f.call("Profiler.enable", "{}"); string(m.Result) != "{}" { // the first command of node inspect, which needs a result
		t.Errorf("the profiler is enabled with %s %s", m.Result, m.Error)
	}
	set := f.call("Debugger.setBreakpointByUrl", fmt.Sprintf(`{"url":%q,"lineNumber":6}`, file))
	var breakpoint struct {
		ID        string            `json:"breakpointId"`
		Locations []json.RawMessage `json:"locations"`
	}
	if err := json.Unmarshal(set.Result, &breakpoint); err != nil || breakpoint.ID == "" || len(breakpoint.Locations) != 1 {
		t.Fatalf("the breakpoint is %s %s", set.Result, set.Error)
	}
	script, sources := f.sources()
	responses := make(chan answer, 1)
	begin := func(path string) { go func() { responses <- d.get(path) }() }
	paused := func(line int) (p pausedEvent) {
		t.Helper()
		f.event("Debugger.paused", &p)
		at := p.Frames[0].Location
		source, _, from, _, ok := sources.Source(at.Line+1, at.Column)
		if !ok || at.Script != script || source != file || from != line {
			t.Fatalf("paused in script %s at %s:%d (%v), want %s, %s:%d", at.Script, source, from, ok, script, file, line)
		}
		return p
	}

	// Locals, before and after a step, while another request gets the reason for its wait.
	begin("/first")
	p := paused(7)
	if sum := f.local(p, "sum"); sum != "0" || !slices.Equal(p.Hit, []string{breakpoint.ID}) {
		t.Errorf("sum is %s at %q, want 0 at %s", sum, p.Hit, breakpoint.ID)
	}
	f.call("Debugger.stepOver", "{}")
	// What the debugger evaluates takes more CPU time than a request may use.
	p = paused(8)
	if sum := f.local(p, "sum"); sum != "3" {
		t.Errorf("after a step sum is %s", sum)
	}
	const busy = `{"callFrameId":%q,"expression":"{ let n = 0; for (let i = 0; i < 2e8; i++) n += i; }"}`
	if m := f.call("Debugger.evaluateOnCallFrame", fmt.Sprintf(busy, p.Frames[0].ID)); m.Error != nil {
		t.Errorf("evaluate: %s", m.Error)
	}
	d.expect(d.get("/second"), http.StatusServiceUnavailable, "the Worker is paused at src/worker.ts:8 in the debugger")
	f.call("Debugger.resume", "{}")
	d.expect(<-responses, http.StatusOK, "sum 3")
	var line struct {
		Type string `json:"type"`
		Args []struct {
			Value string `json:"value"`
		} `json:"args"`
	}
	if f.event("Runtime.consoleAPICalled", &line); line.Type != "warning" || len(line.Args) != 1 || line.Args[0].Value != "sum is 3" {
		t.Errorf("the console shows %+v", line)
	}

	// A save: the breakpoint moves with its line.
	rebuilt := func(old, replacement string) {
		t.Helper()
		d.edit("src/worker.ts", old, replacement)
		f.event("Runtime.executionContextsCleared", new(struct{}))
		script, sources = f.sources()
		var resolved struct {
			ID string `json:"breakpointId"`
		}
		if f.event("Debugger.breakpointResolved", &resolved); resolved.ID != breakpoint.ID {
			t.Errorf("%s is resolved, want %s", resolved.ID, breakpoint.ID)
		}
	}
	rebuilt("\nexport default", "const twice = (n: number) => 2 * n; const thrice = (n: number) => 3 * n;\nexport default")
	d.eventually("the save is served", func() bool { return strings.Contains(d.stderr.String(), "rebuilt in") })
	begin("/third")
	if p = paused(7); !slices.Equal(p.Hit, []string{breakpoint.ID}) {
		t.Errorf("after a save %q is hit", p.Hit)
	}

	// A save while paused: the request continues in its process.
	rebuilt("sum ${sum}", "twice ${twice(sum)}")
	d.expect(<-responses, http.StatusOK, "sum 3")
	d.eventually("the second save is served", func() bool { return strings.Count(d.stderr.String(), "rebuilt in") == 2 })

	// Hostile messages get an error, and the front end stays.
	for message, part := range map[string]string{
		`{"id":`: "-32700", `{"id":"1"}`: "-32700", `{"method":"Debugger.enable"}`: "-32600", "\x00": "-32700",
		`{"id":7000,"method":"No.such"}`:                                         "-32601",
		`{"id":7001,"method":"X","params":"` + strings.Repeat("a", 1<<20) + `"}`: "larger than 1 MiB",
	} {
		f.write(message)
		for m := f.read(); !bytes.Contains(m.Error, []byte(part)); m = f.read() {
			if m.Method == "" {
				t.Fatalf("%.50q gets %s, want %s", message, m.Error, part)
			}
		}
	}

	// The front end disappears while the Worker is paused.
	begin("/fourth")
	paused(7)
	if err := f.conn.CloseNow(); err != nil {
		t.Error(err)
	}
	d.expect(<-responses, http.StatusOK, "twice 6")
	for range 20 { // while others attach and leave
		g := attach(t, address)
		g.write(`{"id":1,"method":"Debugger.enable"}`)
		_ = g.conn.CloseNow()
	}
	d.expect(d.get("/fifth"), http.StatusOK, "twice 6")

	// Ctrl-C while paused.
	f = attach(t, address)
	f.call("Debugger.enable", "{}")
	f.call("Debugger.setBreakpointByUrl", fmt.Sprintf(`{"url":%q,"lineNumber":6}`, file))
	script, sources = f.sources()
	begin("/sixth")
	paused(7)
	if code := d.stop(); code != 0 {
		t.Errorf("exit code %d\n%s", code, d.stderr)
	}
	d.expect(<-responses, http.StatusOK, "twice 6")
}
