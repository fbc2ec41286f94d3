package language_test

import (
	"testing"

	"github.com/pages-toolchain/pages/runtime/web"
	"github.com/pages-toolchain/pages/runtime/web/webtest"
)

// The frames for a prepareStackTrace have every method that libraries call, with V8's results for functions in strict mode.
func TestStackFrames(t *testing.T) {
	const frames = `const framesOf = (make) => {
		const before = Error.prepareStackTrace;
		Error.prepareStackTrace = (error, frames) => frames;
		try { return make().stack; } finally { Error.prepareStackTrace = before; }
	}; `
	webtest.Try(t, web.Options{}, []webtest.Snippet{
		{
			"a named function",
			frames + `const [f] = framesOf(function named() { return new Error("x"); });
				return [f.getFunctionName(), f.isToplevel(), f.isConstructor(), f.isEval(), f.isAsync(), f.isPromiseAll(), f.isNative()]`,
			`["named",true,false,false,false,false,false]`,
		},
		{
			"names of types and methods",
			frames + `const [f] = framesOf(() => new Error("x")); return [f.getTypeName(), f.getMethodName(), f.getPromiseIndex()]`,
			`[null,null,null]`,
		},
		{
			"this and function",
			frames + `const [f] = framesOf(() => new Error("x"));
				return [f.getThis(), f.getFunction(), f.getEvalOrigin()].map(v => v === undefined)`,
			`[true,true,true]`,
		},
		{
			"the script's name",
			frames + `const [f] = framesOf(() => new Error("x"));
				return f.getScriptNameOrSourceURL() === f.getFileName() && f.getFileName().length > 0`,
			`true`,
		},
		{
			"a frame as text",
			frames + `const [f] = framesOf(function named() { return new Error("x"); });
				return String(f) === "named (" + f.getFileName() + ":" + f.getLineNumber() + ":" + f.getColumnNumber() + ")"`,
			`true`,
		},
		{
			"a constructor",
			frames + `class A { constructor() { this.error = new Error("x"); } } const [f] = framesOf(() => new A().error);
				return [f.isConstructor(), f.isToplevel(), String(f).startsWith("new A (")]`,
			`[true,false,true]`,
		},
		{
			"constructors of subclasses",
			frames + `class A extends Error {} class B extends A { constructor(m) { super(m); } } const outer = () => new B("x");
				return framesOf(outer).slice(0, 2).map(f => f.getFunctionName())`,
			`["outer","framesOf"]`,
		},
		{
			"members are not enumerable",
			frames + `const [f] = framesOf(() => new Error("x")); return Object.keys(Object.getPrototypeOf(f))`,
			`[]`,
		},
		{
			"a stack that is exhausted",
			"const f = () => {\n f() + 1; };\ntry { f(); } catch (e) { const [head, first, second] = e.stack.split('\\n'); return [head, " +
				"/^ +at f \\(.+:\\d+:\\d+\\)$/.test(first), first === second, Object.hasOwn(e, 'stack')] }",
			`["RangeError: Maximum call stack size exceeded",true,true,true]`,
		},
		{
			"prepareStackTrace of an exhausted stack",
			`const prepare = Error.prepareStackTrace; Error.prepareStackTrace = (e, frames) => frames.length; const f = () => f() + 1;
				try { f(); } catch (e) { return e.stack > 5 } finally { Error.prepareStackTrace = prepare }`,
			`true`,
		},
		{
			"without prepareStackTrace",
			`return [typeof Error.prepareStackTrace, new Error("x").stack.split("\n")[0]]`,
			`["undefined","Error: x"]`,
		},
	})
}
