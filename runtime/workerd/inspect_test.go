package workerd_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"

	pagesruntime "github.com/pages-toolchain/pages/runtime"
	"github.com/pages-toolchain/pages/runtime/workerd"
)

// pausingDebugger has the Worker stop at its debugger statements.
type pausingDebugger struct {
	t       *testing.T
	process *workerd.Inspected
	conn    *websocket.Conn
}

func (d *pausingDebugger) Attach(ctx context.Context, p *workerd.Inspected) {
	d.process = p
	var err error
	if d.conn, _, err = websocket.Dial(ctx, p.URL, nil); err != nil {
		d.t.Error(err)
		return
	}
	d.conn.SetReadLimit(-1)
	d.write(`{"id":1,"method":"Debugger.enable"}`)
	d.await(`"id":1`)
}

func (d *pausingDebugger) write(text string) {
	if err := d.conn.Write(d.t.Context(), websocket.MessageText, []byte(text)); err != nil {
		d.t.Error(err)
	}
}

// await reads messages until one has a part.
func (d *pausingDebugger) await(part string) {
	for {
		_, text, err := d.conn.Read(d.t.Context())
		if err != nil {
			d.t.Errorf("no message has %s: %v", part, err)
			return
		}
		if strings.Contains(string(text), part) {
			return
		}
	}
}

// TestInspected: no clock runs while a debugger holds the Worker, and requests that come meanwhile get the reason after a time.
func TestInspected(t *testing.T) {
	d := &pausingDebugger{t: t}
	const code = `export default { fetch(r) { if (r.url.endsWith("/stop")) debugger; return new Response("on") } }`
	o := pagesruntime.WorkerOptions{
		Name: "worker.js", Folder: "src", Code: []byte(code),
		Limits: pagesruntime.Limits{CPU: time.Second, SubRequests: 5},
	}
	const wait = 100 * time.Millisecond
	w, err := program(t).NewInspected(t.Context(), o, workerd.Inspection{Debugger: d, Wait: wait})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { w.Close(t.Context()) })
	if !strings.HasPrefix(d.process.URL, "ws://127.") || len(d.process.Scripts) != 1 || d.process.Scripts[0].File != "src/worker.js" {
		t.Errorf("the process is %+v", d.process)
	}
	w.SetStall(wait)
	process := w.Process()
	s := serve(t, w)
	first := make(chan string, 1)
	go func() {
		resp, err := http.Get(s.URL + "/stop")
		if err != nil {
			first <- err.Error()
			return
		}
		first <- body(t, resp)
	}()
	d.await(`"Debugger.paused"`)
	d.process.Paused("src/worker.js:1")
	for range 5 { // times that in which a process is ended that does nothing
		_, _, err = ask(t, w, "/")
		if f, ok := errors.AsType[*pagesruntime.Error](err); !ok || f.Kind != pagesruntime.KindPaused || !f.Retriable() ||
			!strings.Contains(f.Message, "paused at src/worker.js:1") {
			t.Fatalf("a request that comes meanwhile: %v", err)
		}
	}
	// A step keeps them waiting: its end and the next pause are one.
	d.process.Resumed()
	d.process.Paused("src/worker.js:2")
	if _, _, err = ask(t, w, "/"); err == nil || !strings.Contains(err.Error(), "src/worker.js:2") {
		t.Errorf("after a step: %v", err)
	}
	if w.Process() != process {
		t.Error("the process was replaced")
	}
	d.write(`{"id":2,"method":"Debugger.resume"}`)
	d.await(`"Debugger.resumed"`)
	d.process.Resumed()
	if got := <-first; got != "on" {
		t.Errorf("the request that was paused: %s", got)
	}
	if resp, _, err := ask(t, w, "/"); err != nil || resp.Body.String() != "on" {
		t.Errorf("after the pause: %v %v", resp, err)
	}
}
