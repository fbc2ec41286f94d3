package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestList runs a suite of one's own: tests of every kind that pass and that fail, with lists that say so and that do not.
func TestList(t *testing.T) {
	suite := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		file := filepath.Join(suite, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("harness/assert.js", `function assert(ok, text) { if (!ok) throw new Test262Error(text); }`)
	write("harness/sta.js", `class Test262Error extends Error {} Test262Error.prototype.name = "Test262Error";`)
	write("harness/doneprintHandle.js", `function $DONE(e) { print(e ? "Test262:AsyncTestFailure:" + e : "Test262:AsyncTestComplete"); }`)
	write("harness/more.js", `var more = 1;`)
	for name, text := range map[string]string{
		"pass/plain.js":             "/*--- ---*/ assert(1 + 1 === 2);",
		"pass/included.js":          "/*---\nincludes: [more.js]\n---*/ assert(more === 1);",
		"pass/strict.js":            "/*---\nflags: [onlyStrict]\n---*/ assert((function () { return this; })() === undefined);",
		"pass/sloppy.js":            "/*---\nflags: [noStrict]\n---*/ assert((function () { return this; })() === globalThis);",
		"pass/module.js":            "/*---\nflags: [module]\n---*/ import { two } from './two_FIXTURE.js'; assert(two === 2);",
		"pass/two_FIXTURE.js":       "export const two = 2;",
		"pass/later.js":             "/*---\nflags: [async]\n---*/ Promise.resolve().then(() => $DONE());",
		"pass/parse.js":             "/*---\nnegative:\n  phase: parse\n  type: SyntaxError\n---*/ let let = 1;",
		"pass/detached.js":          "/*--- ---*/ const b = new ArrayBuffer(8); $262.detachArrayBuffer(b); assert(b.detached);",
		"fail/plain.js":             "/*--- ---*/ assert(false, 'plainly wrong');",
		"fail/later.js":             "/*---\nflags: [async]\n---*/ Promise.resolve().then(() => $DONE('later wrong'));",
		"fail/never.js":             "/*---\nflags: [async]\n---*/",
		"fail/parse.js":             "/*---\nnegative:\n  phase: parse\n  type: SyntaxError\n---*/ let y = 1;",
		"fail/loop.js":              "/*---\nflags: [raw]\n---*/ null.x;",
		"elsewhere/unlisted.js":     "/*--- ---*/ throw new RangeError('no reason');",
		"elsewhere/half.js":         "/*--- ---*/ assert((function () { return this; })() === globalThis, 'strict only');",
		"elsewhere/deep/nothing.js": "/*--- ---*/",
	} {
		write("test/"+name, text)
	}
	for _, c := range []struct {
		name, under, list string
		code              int
		want              []string
	}{
		{"all pass", "pass", "# Never\n", 0, []string{"8 of 8 tests pass"}},
		{"listed", "fail", "Words.\n# Wrong\ntest/fail/\n", 0, []string{"     5  Wrong", "0 of 5 tests pass"}},
		{
			"by name", "fail", "# Wrong\ntest/fail/plain.js\ntest/fail/l*\n# Other\ntest/fail/\n", 0,
			[]string{"     3  Wrong", "     2  Other"},
		},
		{
			"unlisted", "elsewhere", "# Half\ntest/elsewhere/half.js\n", exitOther,
			[]string{
				"fails and is not listed: test/elsewhere/unlisted.js (sloppy): RangeError: no reason", "     1  Half", "1 of 3 tests pass",
			},
		},
		{"passes", "pass", "# Wrong\ntest/pass/plain.js\n", exitOther, []string{"is listed and passes: test/pass/plain.js", "8 of 8"}},
		{"another part", "pass", "# Wrong\ntest/fail/plain.js\n", 0, []string{"8 of 8"}},
		{"twice", "pass", "# Wrong\ntest/fail/a.js\ntest/fail/a.js\n", exitUsage, []string{"test/fail/a.js is listed twice"}},
		{"no test", "pass", "# Wrong\nfail/a.js\n", exitUsage, []string{`"fail/a.js" is neither a reason`}},
	} {
		t.Run(c.name, func(t *testing.T) {
			list := filepath.Join(t.TempDir(), "list.txt")
			if err := os.WriteFile(list, []byte(c.list), 0o600); err != nil {
				t.Fatal(err)
			}
			var out strings.Builder
			code := run(t.Context(), []string{"--suite", suite, "--under", c.under, "--list", list}, &out, &out)
			if code != c.code {
				t.Errorf("exit code %d, want %d:\n%s", code, c.code, out.String())
			}
			for _, line := range c.want {
				if !strings.Contains(out.String(), line) {
					t.Errorf("it does not print %q:\n%s", line, out.String())
				}
			}
		})
	}
}

// TestWrongUsage: a folder that is no suite is refused with the flag to mend.
func TestWrongUsage(t *testing.T) {
	for _, args := range [][]string{
		nil, {"--suite", t.TempDir()}, {"--suite", filepath.Join(t.TempDir(), "none")}, {"--suite", ".", "more"},
	} {
		var out strings.Builder
		if code := run(t.Context(), args, &out, &out); code != exitUsage || !strings.Contains(out.String(), "--suite") {
			t.Errorf("%q: exit code %d, %s", args, code, out.String())
		}
	}
}
