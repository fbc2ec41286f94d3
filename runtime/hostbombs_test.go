package runtime_test

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pages-toolchain/pages/cmd/tools/enginetest"
	"github.com/pages-toolchain/pages/cmd/tools/testmachine"
	pagesruntime "github.com/pages-toolchain/pages/runtime"
)

// longCalls are bodies of handlers that spend their time in single host calls; set makes their arguments. Decompression is in bombs: its
// coroutine would be bound to the thread that the test keeps.
var longCalls = map[string]struct{ set, call string }{
	"decode":       {`const b = new Uint8Array(3e7).fill(0xc3)`, `new TextDecoder().decode(b)`},
	"decode valid": {`const b = new Uint8Array(3e7).fill(65)`, `new TextDecoder().decode(b)`},
	"decode wide": {
		`const b = new Uint8Array(15e6); for (let i = 0; i < 15e6; i += 3e5) b.set(new TextEncoder().encode("漢".repeat(1e5)), i)`,
		`new TextDecoder().decode(b)`,
	},
	"decode UTF-16":    {`const b = new Uint8Array(2e7).fill(65)`, `new TextDecoder("utf-16le").decode(b)`},
	"decode Shift_JIS": {`const b = new Uint8Array(2e7).fill(0x83)`, `new TextDecoder("shift_jis").decode(b)`},
	"decode Latin":     {`const b = new Uint8Array(2e7).fill(0xe3)`, `new TextDecoder("windows-1252").decode(b)`},
	"encode":           {`const s = "x".repeat(1e4).repeat(3e3)`, `new TextEncoder().encode(s)`},
	"encode Latin-1":   {`const s = "é".repeat(2e7)`, `new TextEncoder().encode(s)`},
	"encode wide":      {`const s = "漢".repeat(1e7)`, `new TextEncoder().encode(s)`},
	"encode into":      {`const s = "é".repeat(1e7), b = new Uint8Array(3e7)`, `new TextEncoder().encodeInto(s, b)`},
	"btoa":             {`const s = "x".repeat(1e4).repeat(2e3)`, `btoa(s)`},
	"atob":             {`const s = "AAAA".repeat(5e6)`, `atob(s)`},
	"URL":              {`const s = "http://example.com/" + "a/../".repeat(2e6)`, `new URL(s)`},
	"URL base":         {`const s = "http://example.com/" + "\u00fc/".repeat(1e6) + "@:"`, `new URL("x:y", s)`},
	"URL credentials":  {`const s = "http://" + "@".repeat(16e3) + "a"`, `new URL(s)`},
	"URL user":         {`const u = new URL("http://a"), s = "p".repeat(16e3)`, `u.username = s`},
	"URL host":         {`const s = "http://" + "ü".repeat(1e6)`, `try { new URL(s) } catch {}`},
	"search params":    {`const s = "a=b%20&".repeat(1e6)`, `new URLSearchParams(s)`},
	"URL pattern":      {`const p = new URLPattern({ pathname: "/(a+)+(a+)+(a+)+b" }), s = "http://x/" + "a".repeat(1e6)`, `p.test(s)`},
	"SHA-256":          {`const b = new Uint8Array(6e7)`, `crypto.subtle.digest("SHA-256", b)`},
	"SHA-512":          {`const b = new Uint8Array(6e7)`, `crypto.subtle.digest("SHA-512", b)`},
	"MD5":              {`const b = new Uint8Array(6e7)`, `crypto.subtle.digest("MD5", b)`},
	"HMAC": {
		`const b = new Uint8Array(6e7), k = await crypto.subtle.importKey("raw", new Uint8Array(9), {
			name: "HMAC", hash: "SHA-512" }, false, ["sign"])`,
		`crypto.subtle.sign("HMAC", k, b)`,
	},
	"AES-GCM": {
		`const b = new Uint8Array(3e7), k = await crypto.subtle.importKey("raw", new Uint8Array(16), "AES-GCM", false, ["encrypt"])`,
		`crypto.subtle.encrypt({ name: "AES-GCM", iv: new Uint8Array(12) }, k, b)`,
	},
	"AES-CBC": {
		`const b = new Uint8Array(3e7), k = await crypto.subtle.importKey("raw", new Uint8Array(16), "AES-CBC", false, ["encrypt"])`,
		`crypto.subtle.encrypt({ name: "AES-CBC", iv: new Uint8Array(16) }, k, b)`,
	},
	"AES-CTR": {
		`const b = new Uint8Array(3e7), k = await crypto.subtle.importKey("raw", new Uint8Array(16), "AES-CTR", false, ["encrypt"])`,
		`crypto.subtle.encrypt({ name: "AES-CTR", counter: new Uint8Array(16), length: 64 }, k, b)`,
	},
	"PBKDF2": {
		`const k = await crypto.subtle.importKey("raw", new Uint8Array(9), "PBKDF2", false, ["deriveBits"])`,
		`crypto.subtle.deriveBits({ name: "PBKDF2", hash: "SHA-512", salt: new Uint8Array(9), iterations: 1e7 }, k, 512)`,
	},
	"HKDF": {
		`const k = await crypto.subtle.importKey("raw", new Uint8Array(9), "HKDF", false, ["deriveBits"])`,
		`crypto.subtle.deriveBits({ name: "HKDF", hash: "SHA-512", salt: new Uint8Array(9), info: new Uint8Array(3e7) }, k, 255 * 512)`,
	},
	"RSA keys": {
		``,
		`crypto.subtle.generateKey({ name: "RSA-PSS", hash: "SHA-256", modulusLength: 4096, publicExponent: new Uint8Array([1, 0, 1]) },
			true, ["sign", "verify"])`,
	},
	"EC keys":          {``, `crypto.subtle.generateKey({ name: "ECDSA", namedCurve: "P-521" }, true, ["sign", "verify"])`},
	"random UUIDs":     {``, `crypto.randomUUID()`},
	"structured clone": {`const a = new Array(1e6).fill(1)`, `structuredClone(a)`},
	"clone of bytes":   {`const a = new Uint8Array(5e7)`, `structuredClone(a)`},
	"clone of text":    {`const a = "x".repeat(1e4).repeat(3e3)`, `structuredClone(a)`},
	"rewriter of one": {
		`const s = "<p a=b>".repeat(3e5)`,
		`await new HTMLRewriter().on("p", { element(e) { e.setAttribute("x", "y") } }).transform(new Response(s)).text()`,
	},
	"rewriter's selector": {
		`const s = "<div>".repeat(5e3) + "<p a=b>".repeat(1e5)`,
		`await new HTMLRewriter().on("div ".repeat(200) + "p[a^=b]:nth-child(3n+1)", { element(e) {} }).transform(new Response(s)).text()`,
	},
	"rewriter's long tag": {
		`const s = "<p " + "a=b ".repeat(1e6) + ">"`,
		`await new HTMLRewriter().on("p", { element(e) {} }).transform(new Response(s)).text()`,
	},
	"selector":      {`const s = "div > p:not(.a) ".repeat(2e5)`, `try { new HTMLRewriter().on(s, {}) } catch {}`},
	"Intl of text":  {`const s = "word and ".repeat(1e6)`, `[...new Intl.Segmenter("en", { granularity: "word" }).segment(s)]`},
	"Intl of Thai":  {`const s = "กา".repeat(1e6)`, `[...new Intl.Segmenter("th", { granularity: "word" }).segment(s)]`},
	"Intl of Han":   {`const s = "中国".repeat(1e6)`, `[...new Intl.Segmenter("zh", { granularity: "word" }).segment(s)]`},
	"collation":     {`const a = "é".repeat(3e6), b = a + "x"`, `new Intl.Collator("de").compare(a, b)`},
	"localeCompare": {`const a = "é".repeat(3e6), b = a + "x"`, `a.localeCompare(b, "de")`},
	"to upper case": {`const a = "ı".repeat(5e6)`, `a.toLocaleUpperCase("tr")`},
	"number format": {`const n = 10n ** 100000n`, `new Intl.NumberFormat("en").format(n)`},
	"list format":   {`const a = new Array(3e5).fill("x")`, `new Intl.ListFormat("en").format(a)`},
	"url-encoded form": {
		`const b = "a=b%20&".repeat(1e6)`,
		`await new Response(b, { headers: { "content-type": "application/x-www-form-urlencoded" } }).formData()`,
	},
	"json":             {`const b = "[" + "1,".repeat(5e6) + "1]"`, `await new Response(b).json()`},
	"headers":          {`const a = Array.from({ length: 1e5 }, (_, i) => ["x" + i, "v"])`, `new Headers(a)`},
	"header of length": {`const v = "x".repeat(1e4).repeat(3e3)`, `new Headers({ a: v })`},
	"console":          {`const a = new Array(3e5).fill({ a: 1 })`, `console.log(a)`},
	"console of text":  {`const s = "x".repeat(1e4).repeat(3e3)`, `console.log(s)`},
	"blob":             {`const b = new Blob([new Uint8Array(4e7)])`, `await b.arrayBuffer()`},
	"text of bytes":    {`const b = new Uint8Array(2e7).fill(65)`, `await new Response(b).text()`},
	"timing-safe":      {`const b = new Uint8Array(5e7)`, `crypto.subtle.timingSafeEqual(b, b)`},
	"JSON of a text":   {`const s = ["\u0001é".repeat(3e6)]`, `JSON.stringify(s)`},
	"JSON of many":     {`let s = [1]; for (let i = 0; i < 26; i++) s = { a: s, b: s }`, `JSON.stringify(s)`},
	"data URL":         {`const s = "data:text/plain;base64," + "AAAA".repeat(3e6)`, `await (await fetch(s)).text()`},
}

// overshootInWorkerd is the limit of the time between a call's budget and its end in workerd: a killed process has used time in several
// threads.
const overshootInWorkerd = 100 * time.Millisecond

// TestLongCalls: a host call ends at most [overshoot] of CPU time after the budget, or the budget ends between two short calls. The
// arguments are made within a budget, too, which doubles until it is enough.
func TestLongCalls(t *testing.T) {
	testmachine.Long(t)
	var code strings.Builder
	code.WriteString("const sets = {}, calls = {};\n")
	names := make([]string, 0, len(longCalls))
	for name, body := range longCalls {
		names = append(names, name)
		code.WriteString(
			"sets[\"" + name + "\"] = async () => { " + body.set + "; return async () => { for (;;) { " + body.call + " } } };\n",
		)
	}
	slices.Sort(names)
	code.WriteString(`let call;
		export default { async fetch(request) {
			const name = request.headers.get("set");
			if (name !== null) { call = await sets[name](); return new Response("set") }
			if (call === undefined) return new Response("fine");
			await call();
		} }`)
	enginetest.Each(t, func(t *testing.T, e *enginetest.Engine) { testLongCalls(t, e, code.String(), names) })
}

func testLongCalls(t *testing.T, e *enginetest.Engine, code string, names []string) {
	t.Helper()
	const (
		sampled = 12               // of so many calls one is tried with the race detector and -short
		enough  = 10 * time.Second // to make the arguments of any call
	)
	after := overshoot * late
	if e.InWorkerd() {
		after = overshootInWorkerd
	}
	for i, name := range names {
		if slowdown > 1 && testing.Short() && i%sampled != 0 {
			continue // each takes seconds with the detector: all of them are part of make soak
		}
		t.Run(name, func(t *testing.T) {
			budget := patience * 300 * time.Millisecond
			usage, err := longCall(t, e, code, name, budget)
			for try := 1; try < tries && usage.CPU > budget+after || usage.CPU == 0 && budget < enough; {
				if usage.CPU == 0 {
					budget *= 2
				} else {
					try++
				}
				usage, err = longCall(t, e, code, name, budget)
			}
			f, ok := errors.AsType[*pagesruntime.Error](err)
			switch {
			case !ok || f.Kind != pagesruntime.KindCPU && f.Kind != pagesruntime.KindMemory && f.Kind != pagesruntime.KindException:
				t.Fatalf("got %v", err)
			case usage.CPU == 0:
				t.Fatalf("it was not set: %v", err)
			case usage.CPU > budget+after:
				t.Errorf("ended after %v of a budget of %v: %v", usage.CPU, budget, f)
			}
			t.Logf("%v: %v", usage.CPU, f)
		})
	}
}

// longCall has a new Worker of code make the arguments of the named call, then make the call until its budget ends. The usage is zero
// when the arguments could not be made.
func longCall(t *testing.T, e *enginetest.Engine, code, name string, budget time.Duration) (usage pagesruntime.Usage, err error) {
	t.Helper()
	w := e.MustStart(t, pagesruntime.WorkerOptions{
		Name: "worker.js", Code: []byte(code), Isolates: 1,
		Limits: pagesruntime.Limits{CPU: budget, CPUScale: 1}, Console: func(pagesruntime.Line) {},
	})
	defer w.Close(t.Context()) // and not with the last call
	r := httptest.NewRequest(http.MethodGet, "/", nil)
	r.Header.Set("Set", name)
	if _, err := w.Serve(httptest.NewRecorder(), r); err != nil {
		return usage, err
	}
	return w.Serve(httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, "/", nil))
}
