package engine_test

import (
	"strings"
	"testing"

	"github.com/pages-toolchain/pages/runtime/engine"
)

// texts are short and long ones, of every width, whole and cut from others.
var texts = []string{
	`""`, `"a"`, `"é"`, `"漢"`, `"😀"`, `"\ud800"`, `"a\udfff\udfffb"`,
	`"abc".repeat(5000)`, `"é".repeat(9000)`, `"aé".repeat(9000)`, `"漢字".repeat(9000)`, `"a😀".repeat(9000)`, `"\ud83d".repeat(9000)`,
	`"x".repeat(131071) + "\ud83d" + "\ude00"`, `"漢".repeat(131071) + "😀".repeat(9)`, `"é".repeat(262143) + "ÿ"`,
	`"abcdefgh".repeat(5000).slice(7, 30001)`, `"漢字é".repeat(5000).slice(1, 14001)`, `"漢字" + "abc".repeat(9000).slice(2)`,
	`"ab".repeat(5000) + "cd".repeat(5000)`, `"ab".repeat(5000) + "漢".repeat(5000)`,
	`(() => { let s = ""; for (let i = 0; i < 9999; i++) s += i; return s })()`,
}

// TestTextsThere checks every conversion of text between JavaScript and Go against the engine's own functions.
func TestTextsThere(t *testing.T) {
	i := start(t, engine.IsolateOptions{Funcs: map[string]engine.Func{
		"echo":   func(c *engine.Call) (any, error) { return c.String(0), nil },
		"encode": func(c *engine.Call) (any, error) { return c.EncodedText(0) },
		"decode": func(c *engine.Call) (any, error) { return c.DecodedView(c.View(0)) },
		"latin": func(c *engine.Call) (any, error) {
			b, ok := c.Latin1(0)
			if !ok {
				return nil, engine.TypeError("wide")
			}
			return engine.Latin1(b), nil
		},
	}})
	for _, text := range texts {
		got, err := run(i, scope(t, 0), `(() => { const s = `+text+`, w = s.toWellFormed();
			const bad = [];
			if (host.echo(s) !== w) bad.push("echo");
			const b = host.encode(s);
			if (host.decode(b) !== w) bad.push("decode");
			const u = unescape(encodeURIComponent(w));
			if (b.length !== u.length || b.some((c, i) => c !== u.charCodeAt(i))) bad.push("encode");
			let l; try { l = host.latin(s) } catch { l = null }
			if (l !== (/[^\0-\xff]/.test(s) ? null : s)) bad.push("latin");
			const o = { [host.echo(s)]: 1 };
			if (o[w] !== 1) bad.push("key");
			return bad.join() })()`)
		if err != nil || got != `""` {
			t.Errorf("%.40s: %s, %v", text, got, err)
		}
	}
}

// TestNewText: ill-formed UTF-8 decodes as in the engine.
func TestNewText(t *testing.T) {
	i := start(t, engine.IsolateOptions{})
	for _, long := range []string{"", strings.Repeat("x", 5000)} {
		err := i.Do(scope(t, 0), func(vm *engine.VM) error {
			v, err := vm.Call("describe", long+"a\xffb")
			if err != nil {
				return err
			}
			defer vm.Free(v)
			got, err := vm.Text(v)
			if want := "[object String]:\"" + long + "a\ufffdb\""; got != want {
				t.Errorf("%d: got %.30q…", len(long), got[max(0, len(got)-20):])
			}
			return err
		})
		if err != nil {
			t.Error(err)
		}
	}
}
