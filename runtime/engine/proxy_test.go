package engine_test

import (
	"testing"
	"time"

	"github.com/pages-toolchain/pages/runtime/engine"
)

// TestProxyDefine changes and defines properties of targets through a trap that passes the call on: a change that the target accepts is
// consistent, and an inconsistent one is refused (ECMA-262, 10.5.6).
func TestProxyDefine(t *testing.T) {
	for name, c := range map[string]struct{ code, want string }{
		"push":   {`const p = through([1, 2]); p.push(3); return p`, `[1,2,3]`},
		"pop":    {`const p = through([1, 2]); p.pop(); return p`, `[1]`},
		"shift":  {`const p = through([1, 2]); p.shift(); return p`, `[2]`},
		"splice": {`const p = through([1, 2, 3]); p.splice(0, 2, 9); return p`, `[9,3]`},
		"length": {`const p = through([1, 2, 3]); p.length = 1; return p`, `[1]`},
		"value":  {`const p = through(sealed()); p.a = 2; return p.a`, `2`},
		"value and writable": {
			`const p = through(sealed()); Object.defineProperty(p, "a", { value: 2, writable: true }); return p.a`, `2`,
		},
		"writable": {`const p = through(sealed()); return Reflect.defineProperty(p, "a", { writable: true })`, `true`},
		"made read-only": {
			`const p = through({ a: 1 }); Object.defineProperty(p, "a", { writable: false });
				return Object.getOwnPropertyDescriptor(p, "a").writable`,
			`false`,
		},
		"frozen": {
			`const p = through([1]); Object.freeze(p); return [Object.isFrozen(p), Reflect.set(p, 0, 2), p[0]]`,
			`[true,false,1]`,
		},
		"read-only untruth":    {`return refused({ writable: false })`, `"TypeError"`},
		"read-only value":      {`return refused({ value: 1, writable: false })`, `"TypeError"`},
		"configurable":         {`return refused({ configurable: true })`, `"TypeError"`},
		"accessor":             {`return refused({ get() {} })`, `"TypeError"`},
		"another frozen value": {`return refused({ value: 2 }, Object.freeze({ a: 1 }))`, `"TypeError"`},
		"the frozen value":     {`return refused({ value: 1 }, Object.freeze({ a: 1 }))`, `"taken"`},
	} {
		t.Run(name, func(t *testing.T) {
			i := start(t, engine.IsolateOptions{})
			code := `(() => {
			const through = target => new Proxy(target, { defineProperty: (o, k, d) => Reflect.defineProperty(o, k, d) });
			const sealed = () => Object.seal({ a: 1 });
			// A trap that reports a change that it has not made.
			const refused = (descriptor, target = sealed()) => {
				try { Object.defineProperty(new Proxy(target, { defineProperty: () => true }), "a", descriptor); return "taken"; }
				catch (e) { return e.name; }
			};
			` + c.code + `
		})()`
			if got, err := run(i, scope(t, time.Minute), code); err != nil || got != c.want {
				t.Errorf("%s: %s, want %s, error %v", name, got, c.want, err)
			}
		})
	}
}
