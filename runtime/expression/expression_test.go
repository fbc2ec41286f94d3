package expression_test

import (
	"strings"
	"testing"

	"github.com/pages-toolchain/pages/runtime/expression"
)

// at is where the mark is in code, which it is taken out of.
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
	// and not of what is around it
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
	// what looks like a bracket and is none
	{"f(\")\", ¦x);", "f"},
	{"f(/[)\\/]/, ¦x);", "f"},
	{"f(a / b, ¦x, c / d);", "f"},
	{"f(/* ) */ ¦x // )\n);", "f"},
	{"f(`${`)`})`, ¦x);", "f"},
	{"var a = `\n  (`;\nf(¦x);", "f"},
	// what is no code
	{"¦", ""},
	{"f(¦x", ""},
	{"f(¦\"x", ""},
	{")¦)", ""},
	{"]¦(x)", ""},
}

func TestCalled(t *testing.T) {
	for _, c := range calls {
		code, line, column := at(t, c.code)
		if got := strings.Join(expression.Called(code, line, column), "|"); got != c.want {
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
		{"¦function f() {\n}", ""},
	} {
		code, line, column := at(t, c.code)
		if got := expression.Iterated(code, line, column); got != c.want {
			t.Errorf("%s: got %s, want %s", c.code, got, c.want)
		}
	}
}

// TestDeep: brackets within brackets cost no more than a few passes over the excerpt.
func TestDeep(t *testing.T) {
	for _, code := range []string{"f(" + strings.Repeat("(", 8000) + "x" + strings.Repeat(")", 8000), strings.Repeat("f(", 8000) + "x" + strings.Repeat(")", 8000), strings.Repeat("`${", 8000) + "x" + strings.Repeat("}`", 8000)} {
		if got := expression.Called([]byte(code), 1, strings.Index(code, "x")+1); len(got) > 17 {
			t.Errorf("%d callees", len(got))
		}
	}
}

func TestOutside(t *testing.T) {
	for _, where := range [][2]int{{0, 0}, {1, 0}, {1, 99}, {2, 1}, {-1, 1}, {1, -5}} {
		if got := expression.Called([]byte("f();"), where[0], where[1]); got != nil {
			t.Errorf("%v: got %q", where, got)
		}
	}
}

func FuzzCalled(f *testing.F) {
	for _, c := range calls {
		before, after, _ := strings.Cut(c.code, "¦")
		f.Add(before+after, 1, len(before)+1)
	}
	f.Fuzz(func(_ *testing.T, code string, line, column int) {
		expression.Called([]byte(code), line, column)
		expression.Iterated([]byte(code), line, column)
	})
}
