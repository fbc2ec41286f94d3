package engine_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/pages-toolchain/pages/runtime/engine"
)

// TestCopiedProperties copies objects whose getter changes the properties that
// come after it: a property is copied if it exists at its turn (ECMA-262, 7.3.26). And it copies exotic objects.
func TestCopiedProperties(t *testing.T) {
	for name, c := range map[string]struct{ object, want string }{
		"hidden":    {`changing(o => Object.defineProperty(o, "b", { enumerable: false }))`, `{"a":1}`},
		"deleted":   {`changing(o => { delete o.b; })`, `{"a":1}`},
		"changed":   {`changing(o => { o.b = 3; })`, `{"a":1,"b":3}`},
		"added":     {`changing(o => { o.c = 3; })`, `{"a":1,"b":2}`},
		"text":      {`Object("hé")`, `{"0":"h","1":"é"}`},
		"primitive": {`"hé"`, `{"0":"h","1":"é"}`},
		"rope":      {`["a", "b".repeat(3)].reduce((a, b) => a + b + a)`, `{"0":"a","1":"b","2":"b","3":"b","4":"a"}`},
		"empty":     {`""`, `{}`},
		"array":     {`Object.assign([1, , 3], { x: 1 })`, `{"0":1,"2":3,"x":1}`},
		"bytes":     {`new Uint8Array([1, 2])`, `{"0":1,"1":2}`},
		"arguments": {`(function () { return arguments; })(5)`, `{"0":5}`},
		"function":  {`Object.assign(() => {}, { x: 1 })`, `{"x":1}`},
		"symbols":   {`({ [Symbol("s")]: 1, a: 1 })`, `{"a":1}`},
		"proxy":     {`new Proxy({ a: 1, b: 2 }, {})`, `{"a":1,"b":2}`},
		"number":    {`5`, `{}`},
		"nothing":   {`null`, `{}`},
		"inherited": {`Object.create({ x: 1 }, { a: { value: 1, enumerable: true }, b: { value: 2 } })`, `{"a":1}`},
	} {
		t.Run(name, func(t *testing.T) {
			i := start(t, engine.IsolateOptions{})
			code := `(() => {
			const changing = change => Object.assign(Object.defineProperty({}, "a", { enumerable: true, get() { change(this); return 1;
			} }), { b: 2 });
			const copies = [Object.assign({}, ` + c.object + `), { ...` + c.object + ` }, (({ ...rest }) => rest)(` + c.object + ` ?? {})];
			const texts = copies.map(copy => JSON.stringify(copy, (k, v) => v === undefined ? "undefined" : v));
			return texts[0] === texts[1] && texts[0] === texts[2] ? copies[0] : texts;
		})()`
			if got, err := run(i, scope(t, time.Minute), code); err != nil || got != c.want {
				t.Errorf("%s: %s, want %s, error %v", name, got, c.want, err)
			}
		})
	}
}

// TestSpreadTextIsFreed: the object that is made of a text does not stay.
func TestSpreadTextIsFreed(t *testing.T) {
	i, s := start(t, engine.IsolateOptions{}), scope(t, time.Minute)
	used := func(spreads int) (n int64) {
		code := fmt.Sprintf(`(() => { const c = "a"; for (let i = 0; i < %d; i++) ({ ...c }); })()`, spreads)
		if _, err := run(i, s, code); err != nil {
			t.Fatal(err)
		}
		if err := i.Do(s, func(vm *engine.VM) error { n = vm.HeapUsed(); return nil }); err != nil {
			t.Fatal(err)
		}
		return n
	}
	used(1)
	if before, after := used(1), used(10_000); after-before > 10_000 {
		t.Errorf("the heap grew from %d to %d bytes", before, after)
	}
}
