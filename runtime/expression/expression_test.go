package expression_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/pages-toolchain/pages/runtime/expression"
)

// at returns the position of the mark, and code without it.
func at(t *testing.T, marked string) (code []byte, line, column int) {
	t.Helper()
	before, after, ok := strings.Cut(marked, "¦")
	if !ok {
		t.Fatalf("%s has no mark", marked)
	}
	return []byte(before + after), strings.Count(before, "\n") + 1, len(before) - strings.LastIndex(before, "\n")
}

// calls are positions as QuickJS gives them, with the callees they may be of.
var calls = []struct{ code, want string }{
	{"o.¦foo(1, 2);", "o.foo"},
	{"¦f(\"x\");", "f"},
	{"¦o[\"x\" + 1](3);", `o["x"+1]`},
	{"o[¦k]();", "o[k]"},
	{"o.¦b?.(1);", "o.b"},
	{"o?.¦b(1);", "o?.b"},
	{"this.#a.¦b(1);", "this.#a.b"},
	{"super.¦b(1);", "super.b"},
	{"import.meta.¦b(1);", "import.meta.b"},
	{"\"abc\".¦b(1);", `"abc".b`},
	{"[1, 2].¦b(1);", "[1,2].b"},
	{"(a || b).¦c();", "(intermediate value).c"},
	{"new ¦Foo();", "new Foo"},
	{"new ¦Foo;", "new Foo"},
	{"o.¦delete(1);", "o.delete"},
	{"o.¦catch(1).finally(2);", "o.catch"},
	{"o.of(¦x);", "o.of"},
	{"f(o.return / 2, ¦x, 3 / 4);", "f"},
	{"f({ a: ¦x, class: 1 }, function() {\n});", "f"},
	{"f(class extends o.¦b() {\n});", "o.b|f"},
	{"f(a++ / 2, ¦x / 3);", "f"},
	{"new ¦o.Foo(1);", "new o.Foo"},
	{"o.¦tag`x${1}`;", "o.tag"},
	{"o.b(1).¦c(2);", "o.b(...).c"},
	// the position is of an argument
	{"o.b(¦x);", "o.b"},
	{"o.b(x.¦y());", "x.y|o.b"},
	{"o.b(1 + ¦x.y);", "o.b"},
	{"o.b({ a: x, c: [¦y] });", "o.b"},
	{"o.b(`a${¦x}b`);", "o.b"},
	{"o.b(await x.¦y(), 1);", "x.y|o.b"},
	{"o.b(¦new Map());", "o.b"},
	{"o.b(new ¦Map());", "new Map|o.b"},
	{"new F(¦x);", "new F"},
	{"o.a(p.b(q.¦c()));", "q.c|p.b|o.a"},
	{"o.then(¦function() {\n  return 1;\n}, (x) => {\n  return x;\n});", "o.then"},
	{"o[¦x.y](1);", "o[x.y]"},
	{"x.¦y(1)(2);", "x.y|x.y(...)"},
	// and not of the code around it
	{"if (o.¦b()) {\n}", "o.b"},
	{"f(() => {\n  o.¦b();\n});", "o.b"},
	{"function f(a = o.¦b()) {\n}", "o.b"},
	{"const o = { m(a = p.¦b()) {\n} };", "p.b"},
	{"f(function() {\n  return o.¦b();\n});", "o.b"},
	{"const x = { a: o.¦b() };", "o.b"},
	{"f(() => o.¦b());", "o.b"},
	{"f(() => [new ¦o.B()]);", "new o.B"},
	{"f(x => 1, o.¦b());", "o.b|f"},
	{"f((a, b) => a, ¦x);", "f"},
	{"for (const x of o.¦b()) {\n}", "o.b"},
	{"return o.¦b;", ""},
	// text that looks like a bracket and is none
	{"f(\")\", ¦x);", "f"},
	{"f(/[)\\/]/, ¦x);", "f"},
	{"f(a / b, ¦x, c / d);", "f"},
	{"f(/* ) */ ¦x // )\n);", "f"},
	{"f(`${`)`})`, ¦x);", "f"},
	{"var a = `\n  (`;\nf(¦x);", "f"},
	// no code
	{"¦", ""},
	{"f(¦x", ""},
	{"f(¦\"x", ""},
	{")¦)", ""},
	{"]¦(x)", ""},
}

func TestCalled(t *testing.T) {
	for _, c := range calls {
		code, line, column := at(t, c.code)
		if got := strings.Join(expression.Callees(code, line, column), "|"); got != c.want {
			t.Errorf("%s: got %s, want %s", c.code, got, c.want)
		}
	}
}

func TestIterated(t *testing.T) {
	for _, c := range []struct{ code, want string }{
		{"for (const x of ¦o.all) {\n}", "o.all"},
		{"for await (const x of ¦o) {\n}", "o"},
		{"for (const x of o.¦all()) {\n}", "o.all(...)"},
		{"return [...¦o];", "o"},
		{"f(...¦o.all, 1);", "o.all"},
		{"f(...¦a || b);", ""},
		{"const [x] = ¦o;", ""},
		{"const [¦x, y] = o.all;", "o.all"},
		{"let [¦x] = o.all(1), y = 2;", "o.all(...)"},
		{"var [¦[x]] = a || b;", "(intermediate value)"},
		{"const a = [¦x.y] = o;", ""},
		{"f(([¦x] = o) => x);", ""},
		{"const [¦x", ""},
		{"¦function f() {\n}", ""},
	} {
		t.Run(c.code, func(t *testing.T) {
			code, line, column := at(t, c.code)
			if got := expression.Iterable(code, line, column); got != c.want {
				t.Errorf("%s: got %s, want %s", c.code, got, c.want)
			}
		})
	}
}

func TestDestructured(t *testing.T) {
	for _, c := range []struct {
		code, property, source string
		ok                     bool
	}{
		{"const { ¦a, b } = o;", "a", "o", true},
		{"let {\n  ¦a: { b } = 1\n} = o.c, d = 2;", "a", "o.c", true},
		{"var { ¦\"a b\": c } = this.#x.y[1];", "a b", "this.#x.y[1]", true},
		{"const { ¦default: a } = f(1, 2).b(3);", "default", "f(...).b(...)", true},
		{"const { ¦a } = await f();", "a", "(intermediate value)", true},
		{"const { ¦a } = b ?? c;", "a", "(intermediate value)", true},
		{"const { ¦a } = o." + strings.Repeat("long", 30) + ";", "a", "(intermediate value)", true},
		{"const { ¦...a } = o;", "", "o", true},
		{"const { ¦[a]: b } = o;", "", "o", true},
		{"const { ¦\"a\\n\": b } = o;", "", "o", true},
		{"const {¦} = o;", "", "o", true},
		// the destructured value is not in the code
		{"const { a: { ¦b }, c } = o;", "b", "", true},
		{"const { a: { ¦b } = x } = o;", "b", "", true},
		{"(({ ¦a } = b, c) => a)();", "a", "", true},
		{"function f(x, { ¦a }) {\n}", "a", "", true},
		{"({ ¦a } = o);", "a", "", true},
		{"for (const { ¦a } of list) ;", "a", "", true},
		{"const { ¦a", "a", "", true},
		{"const { ¦a } = f(", "a", "(intermediate value)", true},
		// no pattern
		{"delete ¦o.a;", "", "", false},
		{"¦", "", "", false},
	} {
		t.Run(c.code, func(t *testing.T) {
			code, line, column := at(t, c.code)
			property, source, ok := expression.Pattern(code, line, column)
			if property != c.property || source != c.source || ok != c.ok {
				t.Errorf("%s: got %q of %q, %v", c.code, property, source, ok)
			}
		})
	}
}

func TestAssigned(t *testing.T) {
	for _, c := range []struct{ code, want string }{
		{"¦e.status = 500;", "status"},
		{"a.¦b.c.d += 1;", "d"},
		{"f(¦e.class ??= 1);", "class"},
		{"¦e.count++;", "count"},
		{"¦e[0].x = 1;", "x"},
		{"¦e[0] = 1;", ""},
		{"¦e.#p = 1;", ""},
		{"¦e.a == 1;", ""},
		{"¦e.a(1).b = 2;", "b"},
		{"¦e.a.b();", ""},
		{"¦e.a(", ""},
		{"¦e = 1;", ""},
		{"¦e.a", ""},
		{"¦", ""},
	} {
		t.Run(c.code, func(t *testing.T) {
			code, line, column := at(t, c.code)
			if got := expression.AssignedMember(code, line, column); got != c.want {
				t.Errorf("%s: got %s, want %s", c.code, got, c.want)
			}
		})
	}
}

// TestDeep: brackets within brackets cost no more than a few passes over the excerpt.
func TestDeep(t *testing.T) {
	for _, code := range []string{
		"f(" + strings.Repeat("(", 8000) + "x" + strings.Repeat(")", 8000),
		strings.Repeat("f(", 8000) + "x" + strings.Repeat(")", 8000),
		strings.Repeat("`${", 8000) + "x" + strings.Repeat("}`", 8000),
	} {
		if got := expression.Callees([]byte(code), 1, strings.Index(code, "x")+1); len(got) > 17 {
			t.Errorf("%d callees", len(got))
		}
	}
}

func TestOutside(t *testing.T) {
	for _, where := range [][2]int{{0, 0}, {1, 0}, {1, 99}, {2, 1}, {-1, 1}, {1, -5}} {
		t.Run(fmt.Sprint(where), func(t *testing.T) {
			if got := expression.Callees([]byte("f();"), where[0], where[1]); got != nil {
				t.Errorf("%v: got %q", where, got)
			}
		})
	}
}

func FuzzCalled(f *testing.F) {
	for _, c := range calls {
		before, after, _ := strings.Cut(c.code, "¦")
		f.Add(before+after, 1, len(before)+1)
	}
	for _, c := range loops {
		before, after, _ := strings.Cut(strings.ReplaceAll(c, "§", ""), "¦")
		f.Add(before+after, strings.Count(before, "\n")+1, len(before)-strings.LastIndex(before, "\n"))
	}
	f.Fuzz(func(t *testing.T, code string, line, column int) {
		expression.Callees([]byte(code), line, column)
		expression.Iterable([]byte(code), line, column)
		expression.Pattern([]byte(code), line, column)
		expression.AssignedMember([]byte(code), line, column)
		if at, from, ok := expression.Loop([]byte(code), line, column); ok && (at < 1 || at > strings.Count(code, "\n")+1 || from < 1) {
			t.Errorf("%q at %d:%d is the loop at %d:%d", code, line, column, at, from)
		}
	})
}

// loops are positions from QuickJS, and the loop of each, whose place a second mark shows.
var loops = []string{
	"function f() {\n  ¦g();\n  §for (; ; ) ;\n  h();\n}",
	"function f() {\n  let y = Math.¦sin(x);\n  let z = true;\n  §while (z) {\n    n += 1;\n  }\n}",
	"function f() {\n  let y = x + ¦1;\n  §do {\n  } while (true);\n}",
	"¦function f() {\n  §while (true) {\n  }\n}",
	"var g = () => {\n¦  const f = () => {\n    §while (true) {\n    }\n  };\n};",
	"¦var f = () => {\n  §while (true) {\n  }\n};",
	"var f = ¦() => {\n  §for (; ; ) {\n  }\n};",
	"var f = ¦x => {\n  §for (; ; ) {\n  }\n};",
	"for (const x of y) {\n  g(¦function() {\n    §for (; ; ) ;\n  });\n}",
	"¦async function f(a, b) {\n  §for (; ; ) {\n  }\n}",
	"var o = {\n  get ¦spin() {\n    §for (; ; ) {\n    }\n  }\n};",
	"class A {\n  ¦m(a) {\n    §while (a) ;\n  }\n}",
	"function f() {\n  if (¦g()) {\n    h();\n  } else {\n    §for (; ; ) {\n    }\n  }\n}",
	"function f() {\n  if (a) {\n    ¦g();\n  }\n  §for (let i = 0; i < a.length; i += 0) {\n  }\n}",
	"function f() {\n  const g = ¦h(() => {\n    for (; ; ) {\n    }\n  });\n  §while (true) ;\n}",
	"function f() {\n  while (a) {\n    b();\n  }\n  ¦c();\n  §while (true) ;\n}",
	"function f() {\n  do {\n    b();\n  } while (a());\n  ¦c();\n  §while (true) ;\n}",
	// none
	"function f() {\n  while (true) {\n    ¦g();\n    for (; ; ) ;\n  }\n}",
	"function f() {\n  while (true) ¦g();\n  for (; ; ) ;\n}",
	"function f() {\n  for (const x of ¦g()) ;\n  for (; ; ) ;\n}",
	"function f() {\n  ¦g();\n}\nfunction h() {\n  for (; ; ) ;\n}",
	"var f = () => {\n  ¦g();\n};\nfor (; ; ) ;",
	"function f(l) {\n  const a = ¦f(l.slice(1));\n  while (a.length) a.push(g(a));\n}",
	"function f() {\n  return o.for(¦x) + { while: 1 };\n}",
	"¦",
}

func TestLoop(t *testing.T) {
	for _, marked := range loops {
		plain := strings.ReplaceAll(marked, "§", "")
		code, line, column := at(t, plain)
		before, _, want := strings.Cut(strings.ReplaceAll(marked, "¦", ""), "§")
		gotLine, gotColumn, ok := expression.Loop(code, line, column)
		if ok != want || ok && (gotLine != strings.Count(before, "\n")+1 || gotColumn != len(before)-strings.LastIndex(before, "\n")) {
			t.Errorf("%s\ngives %d:%d, %v", marked, gotLine, gotColumn, ok)
		}
	}
}
