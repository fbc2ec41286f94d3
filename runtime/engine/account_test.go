package engine_test

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/pages-toolchain/pages/runtime/engine"
)

// TestArgumentsAreCounted: Go's copy of arguments counts before it is made, even if a text occurs several times, and is released with the
// call.
func TestArgumentsAreCounted(t *testing.T) {
	called := false
	i := start(t, engine.IsolateOptions{Funcs: map[string]engine.Func{
		"texts": func(c *engine.Call) (any, error) {
			n := len(c.Strings(0))
			called = true
			return n, nil
		},
		"values": func(c *engine.Call) (any, error) {
			all, _ := c.Value(0).([]any)
			called = true
			return len(all), nil
		},
		"bytes": func(c *engine.Call) (any, error) { return len(c.Bytes(0)) + len(c.Bytes(1)) + len(c.Bytes(2)), nil },
	}})
	for _, c := range []struct{ name, code string }{
		{"strings", `host.texts(new Array(200).fill("x".repeat(1e6)))`},
		{"wide strings", `host.values(new Array(200).fill("é".repeat(5e5)))`},
		{"an array of bytes", `host.values(new Array(200).fill(new Uint8Array(1e6)))`},
		{"bytes", `{ const u = new Uint8Array(5e7); host.bytes(u, u, u) }`},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := run(i, scope(t, 20*time.Second), c.code)
			if err == nil || !strings.Contains(err.Error(), "more than 128 MB outside of its heap") {
				t.Errorf("%s: got %v", c.code, err)
			}
			if called {
				t.Errorf("%s: the function went on without its arguments", c.code)
			}
			if got, err := run(i, scope(t, 20*time.Second), `host.bytes(new Uint8Array(5e7), new Uint8Array(5e7),
				"")`); err != nil || got != "100000000" {
				t.Errorf("after %s: %s, %v", c.code, got, err)
			}
		})
	}
}

// TestBuffer: a buffer grows during writes, keeps its own limit and that of its isolate, and its memory is released once JavaScript has a
// copy, or no call waits for one.
func TestBuffer(t *testing.T) {
	over := engine.TypeError("it is over")
	fill := func(b *engine.Buffer, n int64) (any, error) {
		_, err := b.ReadFrom(io.LimitReader(endless{}, n))
		return b, err
	}
	i := start(t, engine.IsolateOptions{Funcs: map[string]engine.Func{
		"now": func(c *engine.Call) (any, error) {
			n, limit := c.Int(0), c.Int(1)
			b := c.Buffer(limit, over)
			return c.Offload(func() (any, error) { return fill(b, n) })
		},
		"later": func(c *engine.Call) (any, error) {
			n, limit := c.Int(0), c.Int(1)
			return engine.Async(func(ctx context.Context) (any, error) { return fill(engine.NewBuffer(ctx, limit, over), n) }), nil
		},
		"text": func(c *engine.Call) (any, error) {
			b := c.Buffer(1<<20, over)
			_, err := io.WriteString(b, "\ufeffa\xffé")
			return engine.DecodedBuffer{Buffer: b, From: 3}, err
		},
	}})
	for _, c := range []struct{ name, code, want string }{
		{"empty", `host.now(0, 10).length`, "0"},
		{"as long as the limit", `host.now(10, 10).length`, "10"},
		{"5 MB", `{ const u = host.now(5e6, 5e6); u.length + u[0] + u[4999999] }`, "5000014"},
		{"one over the limit", `host.now(11, 10)`, "it is over"},
		{"one over 5 MB", `host.now(5000001, 5e6)`, "it is over"},
		{"more than an isolate", `host.now(2e8, 2e9)`, "128 MB"},
		{"beside a full heap", `{ const kept = new Uint8Array(1e8); host.now(5e7, 1e8) }`, "128 MB"},
		{"text", `host.text()`, "\"a\ufffdé\""},
	} {
		t.Run(c.name, func(t *testing.T) {
			for range 3 { // memory still held would be refused the second time
				got, err := run(i, scope(t, 20*time.Second), c.code)
				if err != nil {
					got = err.Error()
				}
				if !strings.Contains(got, c.want) {
					t.Errorf("%s: got %s, want %s", c.code, got, c.want)
				}
			}
		})
	}
	for range 4 {
		ended := scope(t, 0)
		if _, err := run(i, ended, `host.later(1e8, 2e8); 0`); err != nil {
			t.Fatal(err)
		}
		ended.End(errors.New("the client has gone"))
	}
	s := scope(t, 20*time.Second)
	for got, end := "", time.Now().Add(20*time.Second); got != "90000000"; {
		var err error
		if got, err = run(i, s, `globalThis.got ??= (host.later(9e7, 2e8).then((u) => { got = u.length }, () => {
			got = undefined }), 0); got`); err != nil {
			t.Fatal(err)
		}
		if time.Now().After(end) {
			t.Fatal("the memory of an ended scope is still held")
		}
	}
}

// endless is bytes of 7.
type endless struct{}

func (endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = 7
	}
	return len(p), nil
}

// TestProcessIsBounded: isolates share the quota of their engine, beyond a little that
// each has for itself.
func TestProcessIsBounded(t *testing.T) {
	memory := engine.NewHostMemory(64 << 20)
	e, err := engine.Open(t.Context(), engine.Options{Memory: memory})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close(t.Context())
	gate := make(chan struct{})
	funcs := map[string]engine.Func{"hold": func(c *engine.Call) (any, error) {
		if err := c.Reserve(c.Int(0)); err != nil {
			return nil, err
		}
		return engine.Async(func(context.Context) (any, error) { <-gate; return engine.Undefined, nil }), nil
	}}
	image, err := e.Boot(t.Context(), prelude, []string{"hold"})
	if err != nil {
		t.Fatal(err)
	}
	isolates := make([]*engine.Isolate, 3)
	for n := range isolates {
		if isolates[n], err = e.NewIsolate(t.Context(), image, engine.IsolateOptions{Funcs: funcs}); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := run(isolates[0], scope(t, 0), `host.hold(60 << 20); 0`); err != nil {
		t.Fatal(err)
	}
	if _, err := run(isolates[1], scope(t, 0), `host.hold(40 << 20);
		0`); err == nil || !strings.Contains(err.Error(), "all Workers together hold more than 64 MB") {
		t.Errorf("got %v, want a refusal", err)
	}
	if _, err := run(isolates[2], scope(t, 0), `host.hold(3 << 20); 0`); err != nil {
		t.Errorf("an isolate that holds little: %v", err)
	}
	done := make(chan error, 1)
	go func() {
		_, err := run(isolates[1], scope(t, 0), `host.hold(40 << 20); 0`)
		done <- err
	}()
	close(gate) // while it waits
	if err := <-done; err != nil {
		t.Errorf("released memory is not available: %v", err)
	}
	for _, i := range isolates {
		i.Close()
	}
	if release, ok := memory.TryReserve(64 << 20); !ok {
		t.Error("isolates that are closed still hold something")
	} else {
		release()
	}
}

// TestWorkersShare: a Worker that takes all memory that it can get, in many isolates, leaves another Worker its share at once.
func TestWorkersShare(t *testing.T) {
	memory := engine.NewHostMemory(64 << 20)
	gate := make(chan struct{})
	funcs := map[string]engine.Func{"hold": func(c *engine.Call) (any, error) {
		if err := c.Reserve(c.Int(0)); err != nil {
			return nil, err
		}
		return engine.Async(func(context.Context) (any, error) { <-gate; return engine.Undefined, nil }), nil
	}}
	worker := func(n int) (isolates []*engine.Isolate) {
		e, err := engine.Open(t.Context(), engine.Options{Memory: memory})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = e.Close(t.Context()) })
		image, err := e.Boot(t.Context(), prelude, []string{"hold"})
		if err != nil {
			t.Fatal(err)
		}
		share := e.Share()
		for range n {
			i, err := e.NewIsolate(t.Context(), image, engine.IsolateOptions{Funcs: funcs, Share: share})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(i.Close)
			isolates = append(isolates, i)
		}
		return isolates
	}
	greedy, other := worker(4), worker(1)[0]
	t.Cleanup(func() { close(gate) }) // before the isolates are closed
	refused := 0
	for _, i := range greedy {
		for range 3 {
			if _, err := run(i, scope(t, 0), `host.hold(8 << 20); 0`); err != nil {
				if !strings.Contains(err.Error(), "all isolates of this Worker together hold more than 32 MB") {
					t.Fatal(err)
				}
				refused++
				break
			}
		}
	}
	if refused == 0 {
		t.Error("one Worker takes more than its share")
	}
	if _, err := run(other, scope(t, 0), `host.hold(30 << 20); 0`); err != nil {
		t.Errorf("another Worker does not get what it asks for: %v", err)
	}
}

// TestTextsOfPairs: a character of two units stays one character, even if a step of text ends inside it.
func TestTextsOfPairs(t *testing.T) {
	i := start(t, engine.IsolateOptions{Funcs: map[string]engine.Func{
		"encode": func(c *engine.Call) (any, error) { return c.EncodedText(0) },
		"length": func(c *engine.Call) (any, error) { return len(c.String(0)), nil },
	}})
	for _, c := range []struct{ text, want string }{
		{`"😀".repeat(2e5)`, "800000 0 800000"},
		{`"x" + "😀".repeat(13e5)`, "5200001 0 5200001"},
		{`"\ud83d" + "é\ud83d😀".repeat(9e5)`, "8100003 900001 8100003"},
		{`"é".repeat(5e6)`, "10000000 0 10000000"},
	} {
		t.Run(c.text, func(t *testing.T) {
			got, err := run(i, scope(t, 0), `{ const s = `+c.text+`, u = host.encode(s); let bad = 0;
			for (let at = u.indexOf(0xef); at >= 0; at = u.indexOf(0xef, at + 1)) if (u[at + 1] === 0xbf && u[at + 2] === 0xbd) bad++;
			u.length + " " + bad + " " + host.length(s) }`)
			if err != nil || got != `"`+c.want+`"` {
				t.Errorf("%s: got %s, %v, want %s", c.text, got, err, c.want)
			}
		})
	}
}
