package htmlrewriter_test

import (
	"bufio"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/pages-toolchain/pages/runtime/web"
	"github.com/pages-toolchain/pages/runtime/web/webtest"
)

// Rewritten bytes go out as they come in, read by Go alone.
func TestHTMLRewriterStreams(t *testing.T) {
	seen := make(chan struct{})
	origin := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprint(w, "<p>first</p>\n<p")
		_ = http.NewResponseController(w).Flush()
		select {
		case <-seen:
		case <-r.Context().Done():
		}
		fmt.Fprint(w, " class=x>second</p>\n")
	}))
	defer origin.Close()
	w := webtest.Serve(t, `export default { async fetch(request, env) {
	  const response = await fetch("`+origin.URL+`");
	  return new HTMLRewriter().on("p", { async element(e) { await 1; e.append("!"); } }).transform(response);
	} };`, web.Options{AllowFetch: []string{strings.TrimPrefix(origin.URL, "http://")}})
	resp, err := http.Get(w.URL)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body := bufio.NewReader(resp.Body)
	line, err := body.ReadString('\n')
	if line != "<p>first!</p>\n" || err != nil {
		t.Errorf("%q, %v", line, err)
	}
	close(seen)
	rest, err := io.ReadAll(body)
	if string(rest) != "<p class=x>second!</p>\n" || err != nil {
		t.Errorf("%q, %v", rest, err)
	}
}

// The text before a token goes out while its handler waits.
func TestHTMLRewriterWaits(t *testing.T) {
	for name, c := range map[string]struct{ handlers, before, after string }{
		"an element": {`.on("i", { async element(e) { await wait; e.append("!"); } })`, "<p>first</p>", "<i>second!</i><!--third-->"},
		"its end": {
			`.on("i", { element(e) { e.onEndTag(async (end) => { await wait; end.before("!"); }); } })`,
			"<p>first</p><i>second", "!</i><!--third-->",
		},
		"a comment": {
			`.on("p", { async element() {} }).onDocument({ async comments(c) { await wait; c.text += "!"; } })`,
			"<p>first</p><i>second</i>", "<!--third!-->",
		},
		"the end": {`.onDocument({ async end(e) { await wait; e.append("!"); } })`, "<p>first</p><i>second</i><!--third-->", "!"},
	} {
		t.Run(name, func(t *testing.T) {
			host, open := webtest.Gate(t)
			w := webtest.Serve(t, `export default { fetch(request) {
			  const wait = fetch("http://`+host+`/");
			  return new HTMLRewriter()`+c.handlers+`.transform(new Response("<p>first</p><i>second</i><!--third-->"));
			} };`, web.Options{AllowFetch: []string{host}})
			resp, err := http.Get(w.URL)
			if err != nil {
				t.Fatal(err)
			}
			defer resp.Body.Close()
			stalled := time.AfterFunc(10*time.Second, open)
			defer stalled.Stop()
			before := make([]byte, len(c.before))
			if _, err := io.ReadFull(resp.Body, before); err != nil || string(before) != c.before || !stalled.Stop() {
				t.Errorf("%q, %v goes out; want %q before the handler has what it waits for", before, err, c.before)
			}
			open()
			if after, err := io.ReadAll(resp.Body); err != nil || string(after) != c.after {
				t.Errorf("then %q, %v; want %q", after, err, c.after)
			}
		})
	}
}

// An error of a handler ends the response and cancels the source.
func TestHTMLRewriterFails(t *testing.T) {
	webtest.Try(t, web.Options{}, []webtest.Snippet{
		{
			"a handler throws",
			`let told; const source = new ReadableStream({ pull(c) { c.enqueue(new TextEncoder().encode("<p>"));
				}, cancel(reason) { told = reason.message; } });
		const r = new HTMLRewriter().on("p", { element() { throw new RangeError("mine"); } }).transform(new Response(source));
		const e = await r.text().catch((e) => e.message); return [e, told];`,
			`["mine","mine"]`,
		},
		{
			"a reader cancels",
			`let told; const source = new ReadableStream({ pull(c) { c.enqueue(new TextEncoder().encode("<p>".repeat(99)));
				}, cancel(reason) { told = reason; } });
		const reader = new HTMLRewriter().transform(new Response(source)).body.getReader(); await reader.read();
			await reader.cancel("enough"); return told;`,
			`"enough"`,
		},
		{
			"content that fails",
			`const r = new HTMLRewriter().on("p", { element(e) { e.append(new ReadableStream({ start(c) { c.error(new Error("inner"));
				} })); } }).transform(new Response("<p></p>"));
		return await r.text().catch((e) => e.message);`,
			`"inner"`,
		},
		{
			"a piece that is a number",
			`const r = new HTMLRewriter().transform(new Response(new ReadableStream({ start(c) { c.enqueue(1); c.close(); } })));
		return await r.text().catch((e) => e.message);`,
			`"This ReadableStream did not return bytes."`,
		},
		{
			"a handler throws late",
			`const r = new HTMLRewriter().on("p", { async element() { await scheduler.wait(1); throw new RangeError("late");
				} }).transform(new Response("a<p>b"));
		const reader = r.body.getReader(), { value } = await reader.read();
			return [new TextDecoder().decode(value), await reader.read().catch((e) => e.message)];`,
			`["a","late"]`,
		},
		{
			"content that is locked",
			`const s = new Response("x").body; s.getReader();
		return await new HTMLRewriter().on("p", { element(e) { e.before(s);
			} }).transform(new Response("<p>")).text().catch((e) => e.message);`,
			`/locked/`,
		},
		{
			"the request's body as content",
			`return await new HTMLRewriter().on("p", { element(e) { e.append(request.body); e.prepend("1");
				} }).transform(new Response("<p></p>")).text();`,
			`"<p>1{\"sent\":true}</p>"`,
		},
	})
}

// As on the platform, streams may have pieces of text, in the document and in inserted content.
func TestHTMLRewriterTextPieces(t *testing.T) {
	webtest.Try(t, web.Options{}, []webtest.Snippet{
		{
			"text in streams",
			`const pieces = (...list) => new ReadableStream({ start(c) { for (const x of list) c.enqueue(x); c.close(); } });
		return await new HTMLRewriter().on("p", { element(e) { e.append(pieces("<é>", new Uint8Array([33])));
			e.prepend(pieces("<i>"), { html: true }); } }).transform(new Response(pieces("<p", ">ü</p>"))).text();`,
			`"<p><i>ü&lt;é&gt;!</p>"`,
		},
	})
}

// Comments and the end of a document take no streams, as on the platform.
func TestHTMLRewriterStreamsRefused(t *testing.T) {
	webtest.Try(t, web.Options{}, []webtest.Snippet{
		{
			"comments and the end",
			`const tries = (f) => { try { f(); return "taken"; } catch (e) { return e.name; } }, said = [];
		const all = { comments(c) { for (const f of ["before", "after", "replace"]) said.push(tries(() => c[f](new Response("x"))),
			tries(() => c[f](new Response("x").body, { html: true })), tries(() => c[f]("y"))); } };
		const text = await new HTMLRewriter().on("p", all).onDocument({
			end(e) { said.push(tries(() => e.append(new Response("x"))), tries(() => e.append("z")));
			} }).transform(new Response("<p><!--c--></p>")).text();
		return [said.join(" "), text];`,
			`["TypeError TypeError taken TypeError TypeError taken TypeError TypeError taken TypeError taken", "<p>yyy</p>z"]`,
		},
	})
}
