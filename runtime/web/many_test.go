package web_test

import (
	"testing"

	"github.com/pages-toolchain/pages/runtime/web"
	"github.com/pages-toolchain/pages/runtime/web/webtest"
)

// TestPairs: a value that is like a name is none (https://url.spec.whatwg.org/#interface-urlsearchparams,
// https://xhr.spec.whatwg.org/#interface-formdata, https://fetch.spec.whatwg.org/#headers-class).
func TestPairs(t *testing.T) {
	webtest.Try(t, web.Options{}, []webtest.Snippet{
		{
			"reading URLSearchParams",
			`const p = new URLSearchParams("x=a&a=1&b=a&a=2&a=a");
				return [p.get("a"), p.getAll("a"), p.get("x"), p.has("1"), p.has("a", "a"), p.has("a", "3"), p.has("b", "1")];`,
			`["1",["1","2","a"],"a",false,true,false,false]`,
		},
		{
			"setting and deleting",
			`const p = new URLSearchParams("x=a&a=1&b=a&a=2&a=a"); p.set("a", "b"); p.set("c", "x"); p.delete("b"); return p.toString();`,
			`"x=a&a=b&c=x"`,
		},
		{
			"deleting a value",
			`const p = new URLSearchParams("x=a&a=1&b=a&a=2&a=a"); p.delete("a", "2"); p.delete("1"); p.delete("x", "b");
				return p.toString();`,
			`"x=a&a=1&b=a&a=a"`,
		},
		{
			"lone surrogates as names",
			`const p = new URLSearchParams({ "\ud800": 1, "\ud801": 2, b: 3 }); return [...p];`,
			`[["\ufffd","2"],["b","3"]]`,
		},
		{
			"deleting while iterating",
			`const p = new URLSearchParams("a=1&b=2&c=3&d=4"), seen = [];
				for (const [k] of p) { seen.push(k); p.delete(k); } return [seen, p.toString()];`,
			`[["a","c"],"b=2&d=4"]`,
		},
		{
			"FormData",
			`const f = new FormData(); for (const [k, v] of ["xa", "a1", "ba", "a2", "aa"]) f.append(k, v); const all = f.getAll("a");
				f.set("a", "b"); f.delete("b"); return [f.get("x"), f.has("1"), f.get("1"), all, [...f]];`,
			`["a",false,null,["1","2","a"],[["x","a"],["a","b"]]]`,
		},
		{"an empty value", `const f = new FormData(); f.append("empty", ""); return [f.has("empty"), f.get("empty")];`, `[true,""]`},
		{
			"Headers",
			`const h = new Headers([["x", "a"], ["a", "1"], ["b", "a"], ["A", "2"], ["a", "a"]]);
				const had = [h.get("a"), h.has("1"), h.get("1"), [...h]]; h.set("A", "b"); h.delete("B"); return [...had, [...h]];`,
			`["1, 2, a",false,null,[["a","1, 2, a"],["b","a"],["x","a"]],[["a","b"],["x","a"]]]`,
		},
		{
			"Set-Cookie",
			`const h = new Headers([["set-cookie", "b=1"], ["a", "set-cookie"], ["Set-Cookie", "a=1"], ["z", ""]]);
				return [h.getSetCookie(), [...h]];`,
			`[["b=1","a=1"],[["a","set-cookie"],["set-cookie","b=1"],["set-cookie","a=1"],["z",""]]]`,
		},
	})
}

// TestListeners: which listeners run, and in which order (https://dom.spec.whatwg.org/#concept-event-listener-inner-invoke).
func TestListeners(t *testing.T) {
	const made = `const t = new EventTarget(), seen = [], l = (name) => () => seen.push(name); `
	webtest.Try(t, web.Options{}, []webtest.Snippet{
		{
			"a listener added twice",
			made + `const f = l("f"); t.addEventListener("e", f); t.addEventListener("e", f, { once: true });
				t.addEventListener("e", f, true); t.addEventListener("other", f); t.dispatchEvent(new Event("e"));
				t.dispatchEvent(new Event("e")); return seen;`,
			`["f","f","f","f"]`,
		},
		{
			"a listener removed",
			made + `const [a, b, c] = ["a", "b", "c"].map(l); t.addEventListener("e", a); t.addEventListener("e", b, true);
				t.addEventListener("e", c); t.removeEventListener("e", a, true); t.removeEventListener("e", a); t.addEventListener("e", a);
				t.dispatchEvent(new Event("e")); return seen;`,
			`["b","c","a"]`,
		},
		{
			"listeners added while dispatching",
			made + `const late = l("late"), later = l("later"); t.addEventListener("e", () => t.addEventListener("e", late), true);
				t.addEventListener("e", () => t.addEventListener("e", later)); t.dispatchEvent(new Event("e")); return seen;`,
			`["late"]`,
		},
		{
			"a listener moved while dispatching",
			made + `const b = l("b"); t.addEventListener("e", () => { t.removeEventListener("e", b); t.addEventListener("e", b); });
				t.addEventListener("e", b); t.dispatchEvent(new Event("e")); t.removeEventListener("e", b); return seen;`,
			`[]`,
		},
		{
			"stopPropagation",
			made + `t.addEventListener("e", (e) => { seen.push("a"); e.stopPropagation(); }, true); t.addEventListener("e", l("b"), true);
				t.addEventListener("e", l("c")); t.dispatchEvent(new Event("e")); return seen;`,
			`["a","b"]`,
		},
		{
			"stopImmediatePropagation",
			made + `t.addEventListener("e", (e) => { seen.push("a"); e.stopImmediatePropagation(); }); t.addEventListener("e", l("b"));
				t.dispatchEvent(new Event("e")); return seen;`,
			`["a"]`,
		},
		{
			"an aborted signal",
			made + `const c = new AbortController(); t.addEventListener("e", l("a"), { signal: c.signal });
				t.addEventListener("e", l("b"), { signal: c.signal, capture: true }); c.abort(); t.dispatchEvent(new Event("e"));
				return seen;`,
			`[]`,
		},
	})
}

// TestManyAreShort: a list of many costs the same per element, or native code searches it. The few run ten times, so that both last
// equally long.
func TestManyAreShort(t *testing.T) {
	w := webtest.Serve(t, webtest.Works(map[string]string{
		"few listeners":  `for (let i = 0; i < 10; i++) listeners(300)`,
		"many listeners": `listeners(3000)`,
		"few headers":    `for (let i = 0; i < 10; i++) headers(200)`,
		"many headers":   `headers(2000)`,
		"get":            `for (let i = 0; i < 20; i++) many.get("none")`,
		"steps":          `for (let i = 0; i < 20; i++) for (let k = 0; k < list.length; k += 2) if (list[k] === "none") return`,
	})+`
		const listeners = (n) => { const t = new EventTarget(), all = Array.from({ length: n }, () => () => {});
			for (const f of all) t.addEventListener("e", f); for (const f of all) t.removeEventListener("e", f) };
		const headers = (n) => { const h = new Headers(); for (let i = 0; i < n; i++) h.append("x-" + i, "v"); return [...h].length };
		const many = new URLSearchParams(Array.from({ length: 2000 }, (_, i) => ["k" + i, "v"])), list = [...many].flat();
	`, web.Options{})
	w.Cheaper("many listeners", "few listeners", 1./3)
	w.Cheaper("many headers", "few headers", 1./3)
	w.Cheaper("get", "steps", 2)
}
