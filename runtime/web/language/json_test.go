package language_test

import (
	"strings"
	"testing"

	"github.com/pages-toolchain/pages/runtime/web"
	"github.com/pages-toolchain/pages/runtime/web/webtest"
)

// native is JSON.stringify by the engine: a function that replaces nothing makes it ask
// for each property.
const native = `const native = (v, space) => JSON.stringify(v, (k, x) => x, space), told = (f) => { try { return f();
	} catch (e) { return e.name + ": " + e.message; } }; `

// TestJSON compares the host's JSON with the engine's, for random values.
func TestJSON(t *testing.T) {
	const code = native + `
		let seed = SEED;
		const below = (n) => { seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0; return Math.floor(seed / 2 ** 32 * n); };
		const one = (all) => all[below(all.length)];
		const units = ["a", "é", "ÿ", "Ā", "⛵", "🚣", "\ud83d", "\udea3", '"', "\\", "\n", "\t", "\b", "\f", "\r", "\0", "\x1f", "\x7f",
			"\u2028", "/", "<"];
		const text = () => {
			const t = Array.from({ length: below(one([3, 12, 40])) }, () => one(below(2) ? units.slice(0, 3) : units)).join("");
			return one([t, t, t + t, t.repeat(300).slice(1, -1), JSON.parse('"' + "x".repeat(below(40)) + '"') + t]);
		};
		const number = () => one([below(100), -below(1e6), 0, -0, NaN, Infinity, -Infinity, 2 ** 31, -(2 ** 31), 2 ** 53, 1e21, 1e-6, 1e-7,
			1.5e300, 5e-324, 123456.789, -0.1, below(1e9) / 1e4, below(1e9) * 1e14, below(1e9) / 1e15]);
		class Own { constructor() { this.own = 1; } method() {} get got() { return 2; } }
		class Told { toJSON(key) { return "told " + key; } }
		const shared = { b: 1, a: [1, 2] };
		const value = (deep) => {
			switch (below(deep > 0 ? 26 : 12)) {
			case 0: case 1: return number();
			case 2: case 3: case 4: return text();
			case 5: return one([true, false]);
			case 6: return null;
			case 7: return undefined;
			case 8: return one([Symbol("s"), () => 1, shared, new Date(below(1e9)), new Map([[1, 2]]), new Uint8Array(2), /x/, Object(1),
				Object("s"), Object(false)]);
			case 9: return one([new Own(), new Told(), Object.create(null), Object.create({ inherited: 1 }), Object.create(new Told()),
				new (class extends Array {})(1, 2)]);
			case 10: return below(40) ? 1 : 1n;
			case 11: return Object.freeze({ a: 1, [Symbol("s")]: 2, u: undefined });
			case 12: case 13: case 14: case 15: case 16: return Array.from({ length: below(5) }, () => value(deep - 1));
			case 17: { const a = [value(deep - 1), value(deep - 1)];
				one([() => { a.length = 4; }, () => { delete a[0]; }, () => { a.x = 1; }, () => { a.toJSON = () => 7; }, () => { a.pop();
				}, () => {}])(); return a; }
			case 18: { const o = { a: value(deep - 1) }; one([() => Object.defineProperty(o, "hidden", { value: 1 }),
				() => Object.defineProperty(o, "got", { get() { return 5;
				}, enumerable: true }), () => Object.defineProperty(o, "toJSON", { value: () => "hidden" }), () => { delete o.a;
				}, () => { o[""] = 3; }, () => { o["4294967294"] = 1; o["2147483648"] = 2; o["007"] = 3; }, () => { o.__proto__ = null;
				}])(); return o; }
			case 19: return new Proxy({ a: 1, b: value(deep - 1) }, {});
			default: {
				const o = {};
				for (let n = below(6); n > 0; n--) o[one(["id", "name", "x" + below(4), below(30), "é", "⛵", '"',
					text()])] = value(deep - 1);
				if (below(5) === 0) delete o.id, o.id = 1;
				return o;
			}
			}
		};
		const wrong = [];
		let plain = 0;
		for (let n = 0; n < COUNT; n++) {
			const v = value(4), space = one([undefined, undefined, undefined, null, 0, 2, 3.9, -1, 99, NaN, "", "\t", "--",
				"twelve chars and more", "é⛵", "\ud83d", "123456789🚣", {}, Object(2), Object("x"), true]);
			const got = told(() => JSON.stringify(v, one([undefined, null, true, 1]), space)), want = told(() => native(v, space));
			if (got !== want) wrong.push([got, want, String(space)]);
			if (typeof got === "string" && got.length > 20) plain++;
		}
		return [plain > COUNT / 5, wrong.slice(0, 2)];`
	count := "6000"
	if testing.Short() {
		count = "1500"
	}
	for _, seed := range []string{"1", "2", "3"} {
		filled := strings.NewReplacer("SEED", seed, "COUNT", count).Replace(code)
		webtest.Try(t, web.Options{}, []webtest.Snippet{{"seed " + seed, filled, `[true,[]]`}})
	}
}

// TestJSONAsked: getters, toJSON and traps run once, in the standard's order (ECMA-262, 25.5.2).
func TestJSONAsked(t *testing.T) {
	webtest.Try(t, web.Options{}, []webtest.Snippet{
		{
			"the shape and primitives",
			`const f = JSON.stringify; return [f.name, f.length, Object.keys(JSON), "prototype" in f, f(), f(undefined), f(() => 1),
				f(Symbol()), f("short"), f(1), f(null)]`,
			`["stringify",3,[],false,null,null,null,null,"\"short\"","1","null"]`,
		},
		{
			"getters and toJSON",
			`const seen = [], o = { a: { get x() { seen.push("x"); return 1; } }, b: { toJSON(k) { seen.push("toJSON " + k); return 2;
				} } }; return [JSON.stringify({ first: [1, "text"], o }), seen]`,
			`["{\"first\":[1,\"text\"],\"o\":{\"a\":{\"x\":1},\"b\":2}}",["x","toJSON b"]]`,
		},
		{
			"toJSON of Object.prototype",
			`Object.prototype.toJSON = function () { return "all"; };
				try { return [JSON.stringify({ a: 1 }), JSON.stringify([1]),
				JSON.stringify("a long text that is none of those, and not an object")]; } finally { delete Object.prototype.toJSON; }`,
			`["\"all\"","\"all\"","\"a long text that is none of those, and not an object\""]`,
		},
		{
			"toJSON of Array.prototype",
			`Array.prototype.toJSON = function () { return "row"; };
				try { return JSON.stringify({ a: [1], b: 2 }); } finally { delete Array.prototype.toJSON; }`,
			`"{\"a\":\"row\",\"b\":2}"`,
		},
		{
			"toJSON of a class",
			`class A {} A.prototype.toJSON = () => "A"; const before = JSON.stringify(new A()); delete A.prototype.toJSON;
				return [before, JSON.stringify(new A())]`,
			`["\"A\"","{}"]`,
		},
		{"a circle", `const a = {}; a.a = a; JSON.stringify(a)`, `/^TypeError: .*circular/`},
		{
			"deep nesting",
			`let a = []; for (let i = 0; i < 400; i++) a = [a]; return JSON.stringify(a) === "[".repeat(401) + "]".repeat(401)`,
			`true`,
		},
		{
			"very deep",
			`let a = [], o = {}; for (let i = 1; i < 200000; i++) { a = [a]; o = { o } } return JSON.stringify(a) ===
				"[".repeat(200000) + "]".repeat(200000) && JSON.stringify(o).length === 6 * 199999 + 2`,
			`true`,
		},
		{
			"deep, with functions",
			`let a = { toJSON: () => 1 }; for (let i = 0; i < 15000; i++) a = [a];
				return [1, 2, 3, 4].every(() => JSON.stringify(a) === "[".repeat(15000) + 1 + "]".repeat(15000))`,
			`true`,
		},
		{
			"a circle of many, and one with functions",
			`const first = {}; let last = first; for (let i = 0; i < 3000; i++) last = last.next = {}; last.next = first;
				const own = () => { try { JSON.stringify(first) } catch (e) { return e.name } }; const plain = own();
				first.toJSON = () => ({ ...first, toJSON: undefined }); return [plain, own()]`,
			`["TypeError","TypeError"]`,
		},
		{"a BigInt", `JSON.stringify({ a: 1n })`, `/^TypeError: .*BigInt/`},
		{
			"indentation",
			`return JSON.stringify({ a: 1, b: [1, { c: 2 }], d: {}, e: [] }, null, 2)`,
			`"{\n  \"a\": 1,\n  \"b\": [\n    1,\n    {\n      \"c\": 2\n    }\n  ],\n  \"d\": {},\n  \"e\": []\n}"`,
		},
		{
			"replacers and rawJSON",
			`return [JSON.stringify({ a: 1, b: 2 }, ["b"]), JSON.stringify({ a: 1, b: 2 }, (k, v) => (k === "a" ? undefined : v)),
				JSON.stringify({ a: JSON.rawJSON("1e1000") })]`,
			`["{\"b\":2}","{\"b\":2}","{\"a\":1e1000}"]`,
		},
		{
			"a long text of surrogates",
			`const text = "⛵\ud83d\"".repeat(200000); return JSON.stringify([text]) === '["' + '⛵\\ud83d\\"'.repeat(200000) + '"]'`,
			`true`,
		},
		{"a very long text", `const text = "é".repeat(17 << 20); return JSON.stringify({ text }).length - text.length`, `11`},
	})
}

// TestJSONCircle: the path of the circle is V8's, if it can be found without running code.
func TestJSONCircle(t *testing.T) {
	const code = `const lines = [], names = (made, ...rest) => {
		try { JSON.stringify(made, ...rest); lines.push("none");
			} catch (e) { lines.push(String(e.message ?? e).split("\n    ").slice(1).join(" ").replaceAll(" object with constructor", ""));
			}
	};
	class Crew {}
	const loop = (o, key, inner = o) => { inner[key] = o; return o; };
	MADE
	return lines;`
	for _, c := range []struct{ name, made, want string }{
		{"a member of a list", `names([{}, loop({ a: 1 }, "self")])`, `["--> starting at 'Object' --- property 'self' closes the circle"]`},
		{
			"a member deep in a list",
			`const o = { crew: { seats: [1, {}] } }; names(loop(o, "crew", o.crew.seats[1]), null, 2)`,
			`["--> starting at 'Object' |     property 'crew' -> 'Object' |     property 'seats' -> 'Array' |     index 1 -> 'Object' ` +
				`--- property 'crew' closes the circle"]`,
		},
		{
			"more members than are named",
			`const o = { a: { b: { c: { d: { e: {} } } } } }; names(loop(o, "f", o.a.b.c.d.e))`,
			`["--> starting at 'Object' |     property 'a' -> 'Object' |     property 'b' -> 'Object' |     ... |     property 'e' -> ` +
				`'Object' --- property 'f' closes the circle"]`,
		},
		{
			"three members",
			`const o = { a: { b: { c: {} } } }; names(loop(o, "f", o.a.b.c))`,
			`["--> starting at 'Object' |     property 'a' -> 'Object' |     property 'b' -> 'Object' |     property 'c' -> 'Object' --- ` +
				`property 'f' closes the circle"]`,
		},
		{
			"a Map and a number",
			`const o = { a: new Map(), 5: "text" }; names(loop(o, 5, o.a))`,
			`["--> starting at 'Object' |     property 'a' -> 'Map' --- property '5' closes the circle"]`,
		},
		{
			"an array and classes",
			`names(loop([], 0)); names(loop(new Crew(), "")); names(loop(Object.create(null), "q"));
				names(loop(new (class extends Crew {})(), "c"))`,
			`["--> starting at 'Array' --- index 0 closes the circle","--> starting at 'Crew' --- <anonymous> closes the circle",
				"--> starting at 'Object' --- property 'q' closes the circle","--> starting at 'Crew' --- property 'c' closes the circle"]`,
		},
		{
			"constructors that are shadowed",
			`names(loop({ constructor: { name: "x" } }, "a")); names(loop({ [Symbol.toStringTag]: "Tag" }, "a"))`,
			`["--> starting at 'Object' --- property 'a' closes the circle","--> starting at 'Tag' --- property 'a' closes the circle"]`,
		},
		// values that share a part do not form a circle, and dates have toJSON
		{
			"a part that is shared",
			`const part = { now: new Date(0) }; names({ a: part, b: part }); names(loop({ a: part, b: part }, "c"))`,
			`["none","--> starting at 'Object' --- property 'c' closes the circle"]`,
		},
		// no code of the author's is run again, and a replacer chooses the visited values
		{
			"getters and toJSON",
			`let times = 0; const o = { get a() { times++; return o } }; names(o); const p = { b: { toJSON() { times++; return p } } };
				names(p); lines.push(times)`,
			`["","",2]`,
		},
		{
			"replacers and traps",
			`names(loop({}, "a"), (key, value) => value); names(loop({}, "a"), ["a"]);
				names(loop(new Proxy({}, { ownKeys() { throw "trap" } }), "a"))`,
			`["","",""]`,
		},
		{
			"a trap after two calls",
			`let times = 0; names(loop(new Proxy({}, { getOwnPropertyDescriptor(...a) { if (times++ > 1) throw "trap";
				return Reflect.getOwnPropertyDescriptor(...a) } }), "a"))`,
			`[""]`,
		},
		// one in another
		{
			"one in another",
			`const outer = loop({ toJSON() { names(loop({}, "inner"), ["inner"]); return this } }, "outer"); names(outer)`,
			`["","",""]`,
		},
		{"a long list", `names([...new Array(60_000).fill({}), loop({}, "far")])`, `[""]`},
	} {
		webtest.Try(t, web.Options{}, []webtest.Snippet{{c.name, strings.Replace(code, "MADE", c.made, 1), c.want}})
	}
}
