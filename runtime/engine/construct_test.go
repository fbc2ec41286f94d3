package engine_test

import (
	"testing"
	"time"

	"github.com/pages-toolchain/pages/runtime/engine"
)

// TestConstructedCallee: the arguments after a new belong to the innermost new without arguments, and the code after them applies to its
// result (ECMA-262, 13.3.5).
func TestConstructedCallee(t *testing.T) {
	i := start(t, engine.IsolateOptions{})
	const classes = `
		function A(first) {
			const made = function (second) {
				if (new.target === undefined) return "called with " + second;
				this.text = first + " " + second;
			};
			made.prototype.toJSON = function () { return this.text; };
			return Object.assign(made, { self: made });
		}
		A.self = first => A(first);
		A.tag = () => A;
		function Outer(first) { return function (second) { return A(first + " " + second); }; }
		class Own { constructor(first) { this.made = second => new new A(first)(second); } }
		class Base { constructor(first) { this.text = "base " + first; } }
		class Kept extends Base { constructor(first) { super(first).text += "!"; } }
	`
	for code, want := range map[string]string{
		`new new A(1)(2)`:                    `"1 2"`,
		`new (new A(1))(2)`:                  `"1 2"`,
		`new new A(1)`:                       `"1 undefined"`,
		`new new A`:                          `"undefined undefined"`,
		`new (new A)`:                        `"undefined undefined"`,
		`new new A(1)(2).text`:               `"1 2"`,
		`new new A(1)(2).text.at(-1)`:        `"2"`,
		`new new A(1)(2)?.text`:              `"1 2"`,
		`new new A(1).self(2)`:               `"1 2"`,
		`new new A(1).self.self(2).text`:     `"1 2"`,
		`new new A(1)["self"](2).text`:       `"1 2"`,
		`new new A(1).self`:                  `"1 undefined"`,
		`new new A(...[1])(...[2]).text`:     `"1 2"`,
		`new new new Outer(1)(2)(3)`:         `"1 2 3"`,
		`new new new Outer(1)(2)(3).text[0]`: `"1"`,
		`new new A(new new A(1)(2).text)(3)`: `"1 2 3"`,
		"new new A.tag`1`(2)(3)":             `"2 3"`,
		`new new Proxy(A, {})(1)(2)`:         `"called with 2"`,
		`new A(1)(2)`:                        `"called with 2"`,
		`new A(1).self(2)`:                   `"called with 2"`,
		`new (A.self(1))(2)`:                 `"1 2"`,
		`new Own(1).made(2).text`:            `"1 2"`,
		`new Kept(1).text`:                   `"base 1!"`,
		`[new new A(1)(2), 3].length`:        `2`,
	} {
		t.Run(code, func(t *testing.T) {
			if got, err := run(i, scope(t, time.Minute), "(() => {"+classes+"return "+code+"; })()"); err != nil || got != want {
				t.Errorf("%s: %s, want %s, error %v", code, got, want, err)
			}
		})
	}
}
