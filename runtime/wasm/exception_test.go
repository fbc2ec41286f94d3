package wasm_test

import (
	"strings"
	"testing"

	pagesruntime "github.com/pages-toolchain/pages/runtime"
)

// Tags, types and functions of the module of the cases.
const (
	tJS, tNum, tNone, tTwo, tRef, tVec, tFloat, tDouble = 0, 1, 2, 3, 4, 5, 6, 7

	typeVoid, typeI32, typeTakes, typeCase, typeTwo, typeRef, typeVec, typeFloat, typeDouble = 0, 1, 2, 3, 4, 5, 6, 7, 8
	typeGivesTwo, typeGivesRef, typeGivesVec, typeGivesExn, typeNumExn, typeTwoExn, typeSwap = 9, 10, 11, 12, 13, 14, 15

	fJS, fLog, fNum, fMaybe, fTrap, fTwo, fQuiet, fExn = 0, 1, 2, 3, 4, 5, 6, 7
	firstCase                                          = 8
)

// caseModule exports a function (i32) -> i32 for each of the bodies, by its name. The
// functions that they call: fJS(n) throws in JavaScript, fLog(n) tells it a number,
// fNum(n) throws tNum, fMaybe(n) throws tNum for 1 and tNone for 2, fTrap() traps,
// fTwo() throws tTwo, fQuiet() throws nothing, fExn(n) gives fJS(n)'s as a reference,
// which is of the standard's encoding: V8 refuses both in one module.
func caseModule(cases []exceptionCase, legacy bool) []byte {
	types := types(
		functype(list{}, list{}), functype(list{}, list{i32}), functype(list{i32}, list{}),
		functype(list{i32}, list{i32}), functype(list{i32, i64}, list{}),
		functype(list{externref}, list{}), functype(list{v128}, list{}), functype(list{f32}, list{}), functype(list{f64}, list{}),
		functype(list{}, list{i32, i64}), functype(list{}, list{externref}), functype(list{}, list{v128}),
		functype(list{}, list{exnref}), functype(list{}, list{i32, exnref}), functype(list{}, list{i32, i64, exnref}),
		functype(list{i32, i32}, list{i32, i32}), functype(list{i32}, list{exnref}))
	funcTypes := []byte{typeTakes, typeCase, typeVoid, typeVoid, typeVoid, 16}
	code := [][]byte{
		code(0, 0, localGet, 0, throw, tNum),
		code(
			0, 0, localGet, 0, i32Const, 1, i32Eq, opIf, empty, localGet, 0, throw, tNum, end, localGet, 0, i32Const, 2,
			i32Eq, opIf, empty, throw, tNone, end, localGet, 0, i32Const, 10, i32Add,
		),
		code(0, 0, unreachable),
		code(0, 0, i32Const, 7, i64Const, 8, throw, tTwo),
		code(0, 0),
		code(0, 0, block, exnref, tryTable, empty, 1, 3, 0, localGet, 0, call, fJS, end, refNull, exnref, end),
	}
	tables, globals := tables([]byte{funcref, 0, 8}, []byte{exnref, 0, 2}), globals([]byte{exnref, 1, refNull, exnref, end})
	if legacy {
		funcTypes[fExn-fNum], code[fExn-fNum] = typeTakes, codeWith(nil)
		tables, globals = section(4, []byte{funcref, 0, 8}), nil
	}
	exported := [][]byte{exported("num", 4, tNum), exported("js", 4, tJS), exported("two", 4, tTwo), exported("unreachable", 0, fTrap)}
	for i, c := range cases {
		funcTypes = append(funcTypes, typeCase)
		code = append(code, codeWith(c.locals, c.body...))
		exported = append(exported, join(name(c.name), []byte{0}, u32(firstCase+i)))
	}
	return module(types,
		imports(
			imported("a", "js", 0, typeTakes), imported("a", "log", 0, typeTakes),
			imported("a", "jstag", 4, 0, typeRef), imported("a", "num", 4, 0, typeTakes),
		),
		funcs(funcTypes...), tables, tags(typeVoid, typeTwo, typeRef, typeVec, typeFloat, typeDouble), globals,
		exports(exported...), elems(join([]byte{0, i32Const, 0, end}, []byte{8, 0, 1, 2, 3, 4, 5, 6, 7})), bodies(code...))
}

// codeWith is a body with a local of each type: the first is 1.
func codeWith(locals list, ops ...byte) []byte {
	body := u32(len(locals))
	for _, t := range locals {
		body = append(body, 1, t)
	}
	body = append(append(body, ops...), end)
	return append(u32(len(body)), body...)
}

// exceptionCase is a function body, and its results for the numbers 0 to 6.
type exceptionCase struct {
	name   string
	locals list
	body   list
	want   string
}

// caseDriver calls the functions. The answers in the cases are those of V8.
const caseDriver = `
	const W = WebAssembly, num = new W.Tag({ parameters: ["i32"] }), object = new Error("mine"), made = new W.Exception(num, [42]);
	let log, e;
	const overflow = () => overflow() + 1;
	const throwing = [() => { throw object }, () => { throw 5 }, () => { throw made }, () => {}, () => e.unreachable(), overflow,
	() => { throw undefined }];
	e = new W.Instance(m, { a: { jstag: W.JSTag, num, js(n) { throwing[n]() }, log(n) { log.push(n) } } }).exports;
	const held = (x) => x.is(e.num) ? "num " + x.getArg(e.num, 0)
		: x.is(e.two) ? "two " + x.getArg(e.two, 0) + " " + x.getArg(e.two, 1) : "exception";
	const seen = (x) => x === object ? "object" : x === made ? "made" : x instanceof W.Exception ? held(x)
		: x instanceof Error ? x.message : String(x);
	const one = (name, n) => { log = []; let r; try { r = e[name](n) } catch (x) { r = "!" + seen(x) } return [r, ...log].join(" ") };
	const all = (name) => [0, 1, 2, 3, 4, 5, 6].map((n) => one(name, n)).join(", ");
`

var legacyCases = []exceptionCase{
	{"catch", nil, list{try, i32, localGet, 0, call, fMaybe, catch, tNum, i32Const, 20, i32Add, end}, "10, 21, !exception, 13, 14, 15, 16"},
	{"catch all", nil, list{try, i32, localGet, 0, call, fMaybe, catchAll, i32Const, 30, end}, "10, 30, 30, 13, 14, 15, 16"},
	{"both", nil, list{try, i32, localGet, 0, call, fMaybe, catch, tNum, catchAll, i32Const, 31, end}, "10, 1, 31, 13, 14, 15, 16"},
	{"two tags", nil, list{try, i32, localGet, 0, call, fMaybe, catch, tNone, i32Const, 21, catch, tNum, end}, "10, 1, 21, 13, 14, 15, 16"},
	{"no clause", nil, list{try, i32, localGet, 0, call, fMaybe, end}, "10, !num 1, !exception, 13, 14, 15, 16"},
	{"throw here", nil, list{try, i32, localGet, 0, throw, tNum, catch, tNum, i32Const, 3, i32Add, end}, "3, 4, 5, 6, 7, 8, 9"},
	{"uncaught", nil, list{localGet, 0, throw, tNum}, "!num 0, !num 1, !num 2, !num 3, !num 4, !num 5, !num 6"},
	{"uncaught two", nil, list{call, fTwo, i32Const, 0}, "!two 7 8, !two 7 8, !two 7 8, !two 7 8, !two 7 8, !two 7 8, !two 7 8"},
	{
		"operands below", nil,
		list{
			i32Const, 1, i32Const, 2, try, i32, i32Const, 50, localGet, 0, call, fMaybe, i32Add, catchAll, i32Const, 5,
			end, i32Add, i32Add,
		},
		"63, 8, 8, 66, 67, 68, 69",
	},
	{"two values", nil, list{try, typeGivesTwo, call, fTwo, i32Const, 0, i64Const, 0, catch, tTwo, end, drop}, "7, 7, 7, 7, 7, 7, 7"},
	{
		"nested", nil,
		list{try, i32, try, i32, localGet, 0, call, fMaybe, catch, tNone, i32Const, 40, end, catch, tNum, i32Const, 50, i32Add, end},
		"10, 51, 40, 13, 14, 15, 16",
	},
	{
		"from a handler", nil,
		list{
			try, i32, try, i32, localGet, 0, call, fMaybe, catch, tNum, call, fNum, i32Const, 0, end, catch, tNum,
			i32Const, 60, i32Add, catchAll, i32Const, 61, end,
		},
		"10, 61, 61, 13, 14, 15, 16",
	},
	{
		"try in a handler", nil,
		list{
			try, i32, localGet, 0, call, fMaybe, catchAll, try, i32, i32Const, 1, call, fMaybe, catch, tNum, i32Const,
			13, i32Add, end, end,
		},
		"10, 14, 14, 13, 14, 15, 16",
	},
	{
		"rethrow", nil,
		list{try, i32, localGet, 0, call, fMaybe, catchAll, i32Const, 9, call, fLog, rethrow, 0, end},
		"10, !num 1 9, !exception 9, 13, 14, 15, 16",
	},
	{
		"rethrow caught", nil,
		list{try, i32, try, i32, localGet, 0, call, fMaybe, catchAll, rethrow, 0, end, catch, tNum, i32Const, 2, i32Add, end},
		"10, 3, !exception, 13, 14, 15, 16",
	},
	{
		"rethrow outer", nil,
		list{try, i32, localGet, 0, call, fMaybe, catch, tNum, drop, try, i32, i32Const, 2, call, fMaybe, catchAll, rethrow, 1, end, end},
		"10, !num 1, !exception, 13, 14, 15, 16",
	},
	{
		"rethrow twice", nil,
		list{
			try, i32, localGet, 0, call, fMaybe, catchAll, try, empty, rethrow, 1, catchAll, end, i32Const, 8, call,
			fLog, rethrow, 0, end,
		},
		"10, !num 1 8, !exception 8, 13, 14, 15, 16",
	},
	{"delegate out", nil, list{try, i32, localGet, 0, call, fMaybe, delegate, 0}, "10, !num 1, !exception, 13, 14, 15, 16"},
	{
		"delegate", nil,
		list{try, i32, try, i32, localGet, 0, call, fMaybe, delegate, 0, catch, tNum, i32Const, 70, i32Add, catchAll, i32Const, 71, end},
		"10, -57, -57, 13, 14, 15, 16",
	},
	{
		"delegate past", nil,
		list{try, i32, try, i32, try, i32, localGet, 0, call, fMaybe, delegate, 1, catchAll, i32Const, 1, end, catchAll, i32Const, 72, end},
		"10, -56, -56, 13, 14, 15, 16",
	},
	{
		"delegate to a block", nil,
		list{try, i32, block, i32, try, i32, localGet, 0, call, fMaybe, delegate, 0, end, catchAll, i32Const, 73, end},
		"10, -55, -55, 13, 14, 15, 16",
	},
	{
		"delegate in a handler", nil,
		list{
			try, i32, try, i32, i32Const, 1, call, fMaybe, catchAll, try, i32, localGet, 0, call, fMaybe, delegate, 0,
			end, catchAll, i32Const, 74, end,
		},
		"10, -54, -54, 13, 14, 15, 16",
	},
	{
		"br out", nil,
		list{
			block, empty, try, empty, localGet, 0, brIf, 1, i32Const, 4, call, fLog, br, 0, catchAll, end, i32Const, 5,
			call, fLog, end, i32Const, 6,
		},
		"6 4 5, 6, 6, 6, 6, 6, 6",
	},
	{
		"br from a handler", nil,
		list{block, i32, try, i32, localGet, 0, call, fMaybe, catch, tNum, i32Const, 80, i32Add, br, 1, end, i32Const, 1, i32Add, end},
		"11, -47, !exception, 14, 15, 16, 17",
	},
	{
		"br_table", nil,
		list{
			block, empty, try, empty, block, empty, localGet, 0, brTable, 2, 0, 1, 2, end, i32Const, 1, call, fNum,
			catch, tNum, call, fLog, end, i32Const, 7, call, fLog, end, i32Const, 9,
		},
		"9 1 7, 9 7, 9, 9, 9, 9, 9",
	},
	{"return inside", nil, list{try, i32, localGet, 0, call, fMaybe, ret, catch, tNum, ret, end}, "10, 1, !exception, 13, 14, 15, 16"},
	{
		"return_call", nil,
		list{try, i32, localGet, 0, returnCall, fMaybe, catchAll, i32Const, 90, end},
		"10, !num 1, !exception, 13, 14, 15, 16",
	},
	{
		"return_call_indirect", nil,
		list{try, i32, localGet, 0, i32Const, fMaybe, returnCallIndirect, typeCase, 0, catchAll, i32Const, 91, end},
		"10, !num 1, !exception, 13, 14, 15, 16",
	},
	{
		"call_indirect", nil,
		list{try, i32, localGet, 0, i32Const, fMaybe, callIndirect, typeCase, 0, catchAll, i32Const, 92, end},
		"10, -36, -36, 13, 14, 15, 16",
	},
	{
		"loop",
		list{i32},
		list{
			loop, empty, try, empty, localGet, 1, call, fNum, catch, tNum, call, fLog, end, localGet, 1, i32Const, 1,
			i32Add, localTee, 1, i32Const, 3, i32Sub, brIf, 0, end, localGet, 1,
		},
		"3 0 1 2, 3 0 1 2, 3 0 1 2, 3 0 1 2, 3 0 1 2, 3 0 1 2, 3 0 1 2",
	},
	{
		"retry",
		list{i32},
		list{loop, i32, try, i32, localGet, 0, call, fMaybe, catchAll, i32Const, 3, localSet, 0, br, 1, end, end},
		"10, 13, 13, 13, 14, 15, 16",
	},
	{
		"locals",
		list{i32},
		list{
			i32Const, 1, localSet, 1, try, empty, i32Const, 2, localSet, 1, localGet, 0, call, fMaybe, drop, i32Const,
			3, localSet, 1, catchAll, end, localGet, 1,
		},
		"3, 2, 2, 3, 3, 3, 3",
	},
	{
		"params", nil,
		list{
			localGet, 0, i32Const, 5, try, typeSwap, call, fLog, call, fMaybe, i32Const, 1, catch, tNum, i32Const, 2,
			catchAll, i32Const, 3, i32Const, 4, end, call, fLog,
		},
		"10 5 1, 1 5 2, 3 5 4, 13 5 1, 14 5 1, 15 5 1, 16 5 1",
	},
	{
		"dead code", nil,
		list{try, i32, localGet, 0, throw, tNum, i32Add, drop, i32Const, 1, catch, tNum, br, 0, i32Add, end},
		"0, 1, 2, 3, 4, 5, 6",
	},
	{
		"vector", nil,
		list{block, v128, try, v128, i32Const, 7, 0xfd, 17, throw, tVec, catch, tVec, end, end, 0xfd, 27, 2},
		"7, 7, 7, 7, 7, 7, 7",
	},
	{
		"float", nil,
		list{try, f32, f32Const, 0, 0, 0xc0, 0x3f, throw, tFloat, catch, tFloat, end, f32Const, 0, 0, 0, 0x3f, f32Add, 0xa8},
		"2, 2, 2, 2, 2, 2, 2",
	},
	{
		"double", nil,
		list{try, f64, f64Const, 0, 0, 0, 0, 0, 0, 0xf8, 0x3f, throw, tDouble, catch, tDouble, end, i32TruncF64S},
		"1, 1, 1, 1, 1, 1, 1",
	},
	{
		"JavaScript", nil,
		list{
			try, empty, localGet, 0, call, fJS, catch, tNum, call, fLog, i32Const, 1, call, fLog, catchAll, i32Const, 2,
			call, fLog, end, i32Const, 0,
		},
		"0 2, 0 2, 0 42 1, 0, !unreachable, !Maximum call stack size exceeded, 0 2",
	},
	{
		"JavaScript's on", nil,
		list{try, empty, localGet, 0, call, fJS, catchAll, rethrow, 0, end, i32Const, 0},
		"!object, !5, !made, 0, !unreachable, !Maximum call stack size exceeded, !undefined",
	},
	{
		"JSTag", nil,
		list{try, empty, localGet, 0, call, fJS, catch, tJS, throw, tJS, end, i32Const, 0},
		"!object, !5, !made, 0, !unreachable, !Maximum call stack size exceeded, !undefined",
	},
	{
		"JSTag on", nil,
		list{try, empty, localGet, 0, call, fJS, catch, tJS, drop, rethrow, 0, end, i32Const, 0},
		"!object, !5, !made, 0, !unreachable, !Maximum call stack size exceeded, !undefined",
	},
	{"a reference", nil, list{try, externref, refNull, externref, throw, tRef, catch, tRef, end, refIsNull}, "1, 1, 1, 1, 1, 1, 1"},
	{
		"trap", nil,
		list{try, i32, call, fTrap, i32Const, 1, catchAll, i32Const, 2, end},
		"!unreachable, !unreachable, !unreachable, !unreachable, !unreachable, !unreachable, !unreachable",
	},
	{"no exception", nil, list{try, i32, call, fQuiet, i32Const, 1, catchAll, i32Const, 2, end}, "1, 1, 1, 1, 1, 1, 1"},
}

var tableCases = []exceptionCase{
	{
		"catch", nil,
		list{block, i32, tryTable, i32, 1, 0, tNum, 0, localGet, 0, call, fMaybe, end, end},
		"10, 1, !exception, 13, 14, 15, 16",
	},
	{
		"catch all", nil,
		list{block, empty, tryTable, i32, 1, 2, 0, localGet, 0, call, fMaybe, end, ret, end, i32Const, 30},
		"10, 30, 30, 13, 14, 15, 16",
	},
	{
		"both", nil,
		list{block, empty, block, i32, tryTable, i32, 2, 0, tNum, 0, 2, 1, localGet, 0, call, fMaybe, end, end, ret, end, i32Const, 31},
		"10, 1, 31, 13, 14, 15, 16",
	},
	{
		"the first clause", nil,
		list{
			block, empty, block, empty, tryTable, i32, 3, 0, tNone, 1, 2, 0, 0, tNone, 0, localGet, 0, call, fMaybe,
			end, ret, end, i32Const, 32, ret, end, i32Const, 33,
		},
		"10, 32, 33, 13, 14, 15, 16",
	},
	{"no clause", nil, list{tryTable, i32, 0, localGet, 0, call, fMaybe, end}, "10, !num 1, !exception, 13, 14, 15, 16"},
	{"to the function", nil, list{tryTable, i32, 1, 0, tNum, 0, localGet, 0, call, fMaybe, end}, "10, 1, !exception, 13, 14, 15, 16"},
	{
		"to a loop", nil,
		list{loop, i32, tryTable, i32, 1, 2, 0, localGet, 0, i32Const, 0, localSet, 0, call, fMaybe, end, end},
		"10, 10, 10, 13, 14, 15, 16",
	},
	{"throw here", nil, list{block, i32, tryTable, i32, 1, 0, tNum, 0, localGet, 0, throw, tNum, end, end}, "0, 1, 2, 3, 4, 5, 6"},
	{
		"two values", nil,
		list{block, typeGivesTwo, tryTable, empty, 1, 0, tTwo, 0, call, fTwo, end, i32Const, 0, i64Const, 0, end, drop},
		"7, 7, 7, 7, 7, 7, 7",
	},
	{
		"own label", nil,
		list{block, i32, tryTable, i32, 1, 0, tNum, 0, i32Const, 5, localGet, 0, brIf, 0, end, i32Const, 1, i32Add, end},
		"6, 6, 6, 6, 6, 6, 6",
	},
	{
		"nested", nil,
		list{
			block, i32, tryTable, i32, 1, 0, tNum, 0, block, empty, tryTable, i32, 1, 0, tNone, 0, localGet, 0, call,
			fMaybe, end, ret, end, i32Const, 40, end, end,
		},
		"10, 1, 40, 13, 14, 15, 16",
	},
	{
		"reference",
		list{exnref},
		list{
			block, exnref, tryTable, i32, 1, 3, 0, localGet, 0, call, fMaybe, end, ret, end, localSet, 1, i32Const, 9,
			call, fLog, localGet, 1, throwRef,
		},
		"10, !num 1 9, !exception 9, 13, 14, 15, 16",
	},
	{
		"reference to two",
		list{exnref},
		list{
			block, typeTwoExn, tryTable, empty, 1, 1, tTwo, 0, call, fTwo, end, i32Const, 0, i64Const, 0, refNull,
			exnref, end, localSet, 1, drop, call, fLog, localGet, 1, throwRef,
		},
		"!two 7 8 7, !two 7 8 7, !two 7 8 7, !two 7 8 7, !two 7 8 7, !two 7 8 7, !two 7 8 7",
	},
	{
		"reference to a number",
		list{exnref},
		list{block, typeNumExn, tryTable, i32, 1, 1, tNum, 0, localGet, 0, call, fMaybe, end, refNull, exnref, end, refIsNull, i32Add},
		"11, 1, !exception, 14, 15, 16, 17",
	},
	{
		"raised twice",
		list{exnref},
		list{
			block, exnref, tryTable, i32, 1, 3, 0, localGet, 0, call, fMaybe, end, ret, end, localSet, 1, block, empty,
			tryTable, empty, 1, 2, 0, localGet, 1, throwRef, end, end, localGet, 1, throwRef,
		},
		"10, !num 1, !exception, 13, 14, 15, 16",
	},
	{
		"null", nil,
		list{refNull, exnref, throwRef},
		"!rethrowing null value, !rethrowing null value, !rethrowing null value, !rethrowing null value, !rethrowing " +
			"null value, !rethrowing null value, !rethrowing null value",
	},
	{
		"null caught", nil,
		list{block, empty, tryTable, i32, 1, 2, 0, refNull, exnref, throwRef, end, ret, end, i32Const, 1},
		"!rethrowing null value, !rethrowing null value, !rethrowing null value, !rethrowing null value, !rethrowing " +
			"null value, !rethrowing null value, !rethrowing null value",
	},
	{"is null", list{exnref}, list{localGet, 1, refIsNull}, "1, 1, 1, 1, 1, 1, 1"},
	{"select", nil, list{refNull, exnref, i32Const, 3, call, fExn, localGet, 0, 0x1c, 1, exnref, refIsNull}, "1, 1, 1, 1, 1, 1, 1"},
	{
		"given", nil,
		list{localGet, 0, call, fExn, throwRef},
		"!object, !5, !made, !rethrowing null value, !unreachable, !Maximum call stack size exceeded, !undefined",
	},
	{
		"given and caught", nil,
		list{block, empty, tryTable, i32, 1, 2, 0, localGet, 0, call, fExn, throwRef, end, ret, end, i32Const, 1},
		"1, 1, 1, !rethrowing null value, !unreachable, !Maximum call stack size exceeded, 1",
	},
	{
		"in a global", nil,
		list{localGet, 0, call, fExn, globalSet, 0, globalGet, 0, throwRef},
		"!object, !5, !made, !rethrowing null value, !unreachable, !Maximum call stack size exceeded, !undefined",
	},
	{
		"in a table", nil,
		list{i32Const, 1, localGet, 0, call, fExn, tableSet, 1, i32Const, 1, tableGet, 1, throwRef},
		"!object, !5, !made, !rethrowing null value, !unreachable, !Maximum call stack size exceeded, !undefined",
	},
	{
		"a number of JavaScript's", nil,
		list{block, i32, tryTable, empty, 1, 0, tNum, 0, localGet, 0, call, fJS, end, i32Const, 77, end},
		"!object, !5, 42, -51, !unreachable, !Maximum call stack size exceeded, !undefined",
	},
	{
		"JSTag", nil,
		list{block, externref, tryTable, empty, 1, 0, tJS, 0, localGet, 0, call, fJS, end, i32Const, 78, ret, end, throw, tJS},
		"!object, !5, !made, -50, !unreachable, !Maximum call stack size exceeded, !undefined",
	},
	{
		"JavaScript's", nil,
		list{block, empty, tryTable, empty, 1, 2, 0, localGet, 0, call, fJS, end, i32Const, 79, ret, end, i32Const, 80},
		"-48, -48, -48, -49, !unreachable, !Maximum call stack size exceeded, -48",
	},
	{
		"trap", nil,
		list{block, empty, tryTable, i32, 1, 2, 0, call, fTrap, i32Const, 1, end, ret, end, i32Const, 2},
		"!unreachable, !unreachable, !unreachable, !unreachable, !unreachable, !unreachable, !unreachable",
	},
	{
		"return_call", nil,
		list{block, empty, tryTable, i32, 1, 2, 0, localGet, 0, returnCall, fMaybe, end, ret, end, i32Const, 90},
		"10, !num 1, !exception, 13, 14, 15, 16",
	},
	{
		"call_indirect", nil,
		list{block, empty, tryTable, i32, 1, 2, 0, localGet, 0, i32Const, fMaybe, callIndirect, typeCase, 0, end, ret, end, i32Const, 92},
		"10, -36, -36, 13, 14, 15, 16",
	},
	{
		"vector", nil,
		list{block, v128, tryTable, empty, 1, 0, tVec, 0, i32Const, 7, 0xfd, 17, throw, tVec, end, unreachable, end, 0xfd, 27, 2},
		"7, 7, 7, 7, 7, 7, 7",
	},
	{
		"loop",
		list{i32},
		list{
			loop, empty, block, i32, tryTable, empty, 1, 0, tNum, 0, localGet, 1, call, fNum, end, unreachable, end,
			call, fLog, localGet, 1, i32Const, 1, i32Add, localTee, 1, i32Const, 3, i32Sub, brIf, 0, end, localGet, 1,
		},
		"3 0 1 2, 3 0 1 2, 3 0 1 2, 3 0 1 2, 3 0 1 2, 3 0 1 2, 3 0 1 2",
	},
	{
		"params", nil,
		list{localGet, 0, i32Const, 5, block, typeSwap, tryTable, typeSwap, 0, call, fLog, call, fMaybe, i32Const, 1, end, end, call, fLog},
		"10 5 1, !num 1 5, !exception 5, 13 5 1, 14 5 1, 15 5 1, 16 5 1",
	},
	{
		"dead code", nil,
		list{block, i32, tryTable, i32, 1, 0, tNum, 0, localGet, 0, throw, tNum, i32Add, end, drop, unreachable, end},
		"0, 1, 2, 3, 4, 5, 6",
	},
}

// TestExceptions: an exception reaches the same handler as in V8, unchanged.
func TestExceptions(t *testing.T) {
	for encoding, cases := range map[string][]exceptionCase{"legacy": legacyCases, "try_table": tableCases} {
		s := worker(
			t, caseModule(cases, encoding == "legacy"), caseDriver,
			`return W.Module.exports(m).slice(4).map(({ name }) => name + ": " + all(name)).join("\n")`,
			pagesruntime.WorkerOptions{},
		)
		got := strings.Split(strings.Trim(get(t, s), `"`), `\n`)
		if len(got) != len(cases) {
			t.Fatalf("%s: %s", encoding, got)
		}
		for i, c := range cases {
			if want := c.name + ": " + c.want; got[i] != want {
				t.Errorf("%s:\n got  %s\n want %s", encoding, got[i], want)
			}
		}
	}
}
