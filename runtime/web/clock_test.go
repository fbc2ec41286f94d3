package web_test

import (
	"testing"

	"github.com/pages-toolchain/pages/runtime/web"
	"github.com/pages-toolchain/pages/runtime/web/webtest"
)

// In production time moves only when I/O has ended (runtime-apis/performance of its documents).
func TestClock(t *testing.T) {
	const (
		clocks = `const clocks = () => [Date.now(), new Date().getTime(), performance.now(), performance.mark("m").startTime,
			new Event("e").timeStamp, new Date().valueOf()], busy = () => { let n = 0; for (let i = 0; i < 2e5; i++) n += i; return n };
			const same = (a, b) => a.every((time, i) => time === b[i]), later = (a, b) => a.every((time, i) => time < b[i]); `
	)
	webtest.Try(t, web.Options{}, []webtest.Snippet{
		{"code that runs", clocks + `const first = clocks(); busy(); return same(first, clocks())`, `true`},
		{"a promise", clocks + `const first = clocks(); busy(); await null; return same(first, clocks())`, `true`},
		{"a microtask", clocks + `const first = clocks(); await new Promise(queueMicrotask); return same(first, clocks())`, `true`},
		{
			"a digest",
			clocks + `const first = clocks(); await crypto.subtle.digest("SHA-256", new Uint8Array(9)); return same(first, clocks())`,
			`true`,
		},
		{"a timer", clocks + `const first = clocks(); await scheduler.wait(2); return later(first, clocks())`, `true`},
		{
			"whole milliseconds",
			`const all = []; for (let i = 0; i < 5; i++) { await scheduler.wait(1); all.push(performance.now()) }
				return all.every(Number.isInteger)`,
			`true`,
		},
		{
			"a timer's callback is not called before its time",
			`const first = performance.now(); await scheduler.wait(7); return performance.now() - first >= 7`,
			`true`,
		},
		{
			"timers of one turn, whatever the code between takes",
			clocks + `const order = []; await new Promise((resolve) => { setTimeout(() => { order.push("later"); resolve() }, 6);
				for (let i = 0; i < 12; i++) busy(); setTimeout(() => order.push("sooner"), 5) }); return order`,
			`["sooner","later"]`,
		},
		{
			"a budget of time",
			`const until = Date.now() + 1; let done = 0; for (let i = 0; i < 3e5; i++) { if (Date.now() > until) break; done++ }
				return done`,
			`300000`,
		},
		{
			"a body's piece",
			`const first = Date.now(); const stream = new ReadableStream({
				async pull(c) { await scheduler.wait(2); c.enqueue(new Uint8Array(1)); c.close() } });
				await stream.getReader().read(); return Date.now() > first`,
			`true`,
		},
	})
}
