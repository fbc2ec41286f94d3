package quickjspatch

import (
	"bytes"
	"errors"

	"github.com/pages-toolchain/pages/runtime/wasmbinary"
	"github.com/pages-toolchain/pages/runtime/wasmbinary/op"
)

// This file corrects faults of QuickJS.

// correction replaces instructions in functions of a type. It changes only a function that has each of the instructions
// exactly once.
type correction struct {
	typ      string // as encoded
	replaced []replacement
}

type replacement struct{ from, to []byte }

func (c correction) apply(code []byte) []byte {
	for _, r := range c.replaced {
		if bytes.Count(code, r.from) != 1 {
			return code
		}
	}
	for _, r := range c.replaced {
		code = bytes.Replace(code, r.from, r.to, 1)
	}
	return code
}

// corrections are those that are the same in every module.
var corrections = []correction{
	bigIntCompare, proxyDefine, copyProperties, newArguments, divisionToken, readPrivateAtoms, proxyPrivate, growableShared,
	sortStores,
}

// bigIntCompare corrects the comparison of a BigInt with a Number that is not whole. Of two negative values whose exponents
// differ, js_bigint_float64_cmp (bigint, double) -> -1, 0, 1 or 2 takes the smaller exponent for the smaller value, so that
// -0.5 > -1n is false: the sign is missing there (ECMA-262, 7.2.12, IsLessThan). It is in local 3 by then.
var bigIntCompare = correction{"\x60\x02\x7f\x7c\x01\x7f", []replacement{{
	// -1 or 1, by whether the exponent in local 0 is less than the one in local 2
	from: []byte{op.I32Const, 0x7f, op.I32Const, 1, op.LocalGet, 0, op.LocalGet, 2, op.I32LtS, op.Select},
	to: []byte{
		op.I32Const, 0x7f, op.I32Const, 1, op.LocalGet, 0, op.LocalGet, 2, op.I32LtS, op.LocalGet, 3, op.I32Xor, op.Select,
	},
}}}

// proxyDefine corrects which results of the trap defineProperty of a Proxy are refused. For a property that is writable but
// not configurable, as the length of an array is, QuickJS refuses a descriptor without writable, and one with writable:
// true: p.push(1) throws where p is an array behind such a trap. Only writable: false must be refused (ECMA-262, 10.5.6,
// step 16.c). js_proxy_define_own_property (context, object, name, value, getter, setter, flags) -> int checks it at two
// places.
var proxyDefine = correction{"\x60\x07\x7f\x7e\x7f\x7e\x7e\x7e\x7f\x01\x7f", []replacement{
	{
		// flags & writable == 0, before the check for a value
		from: append([]byte{op.LocalGet, 6, op.I32Const, 2, op.I32And, op.I32Eqz}, writableCheckEnd...),
		to:   append(append(bytes.Clone(loadWritableFlags), op.I32Eq), writableCheckEnd...),
	},
	{
		// leaves the block at depth 2 unless local 13, flags & has_writable, and goes on with the flags of the target
		from: append([]byte{op.LocalGet, 13, op.I32Eqz}, hasWritableCheckEnd...),
		to:   append(append(bytes.Clone(loadWritableFlags), op.I32Ne), hasWritableCheckEnd...),
	},
}}

var (
	writableCheckEnd = []byte{
		op.LocalGet, 2, op.I32Const, 3, op.I32And, op.LocalTee, 2, op.I32Const, 2, op.I32Eq, op.I32And,
	}
	hasWritableCheckEnd = []byte{op.BrIf, 2, op.LocalGet, 7, op.I32Load, 2, 0, op.I32Const, 19, op.I32And}
	// loadWritableFlags is flags & (has_writable | writable), and its value for writable: false.
	loadWritableFlags = []byte{op.LocalGet, 6, op.I32Const, 0x82, 4, op.I32And, op.I32Const, 0x80, 4}
)

// copyProperties corrects when Object.assign, ...object and {...rest} check whether a property is enumerable. QuickJS checks all properties
// before it reads the first one, except for proxies. If a getter removes or hides a later property, that is copied nevertheless, as
// undefined in the first case; libraries with core-js then replace Object.assign. JS_CopyDataProperties (context, target, source, excluded,
// setting) -> int can also check each property in turn (ECMA-262, 7.3.26, step 4.c): the patch makes it do so for all objects.
var copyProperties = correction{"\x60\x05\x7f\x7e\x7e\x7e\x7f\x01\x7f", []replacement{{
	// local 14 = the list in local 8 is of enumerable properties alone
	from: []byte{op.LocalGet, 8, op.I32Const, 15, op.I32GtU, op.LocalSet, 14},
	to:   []byte{op.I32Const, 0, op.LocalSet, 14},
}}}

// newArguments corrects a new that is the callee of another. The arguments that follow the inner one's belong to the outer (ECMA-262, 13.3,
// MemberExpression: new MemberExpression Arguments): new new A(1)(2) is new (new A(1))(2). QuickJS parses a call of the inner one's object,
// and constructs the call's result. esbuild leaves the parentheses out, so that such code is common. js_parse_postfix_expr (parser, whether
// a call may follow: 2, otherwise 0) -> int keeps in local 10 whether an opening parenthesis goes on with the expression, and a new sets it
// to 1 for good; if no call may follow, the patch limits this to the arguments of that new.
var newArguments = correction{"\x60\x02\x7f\x7f\x01\x7f", []replacement{
	{
		// after the callee of a new: local 10 = 1, and the kind of call is 1 if the parser's token is an opening parenthesis
		from: append([]byte{op.I32Const, 1, op.LocalSet, 10}, newCalleeEnd...),
		// local 10 = 3 if it was 0; the check reads bit 0
		to: append([]byte{op.I32Const, 3, op.LocalGet, 10, op.I32Const, 1, op.I32Shl, op.I32Sub, op.LocalSet, 10}, newCalleeEnd...),
	},
	{
		// after the parenthesis, for a kind of call in local 1 that is not the ordinary one
		from: append([]byte{op.LocalGet, 1, op.If, op.BlockEmpty}, callKindEnd...),
		// and makes 3 in local 10 a 0
		to: append([]byte{
			op.LocalGet, 1, op.If, op.BlockEmpty, op.LocalGet, 10, op.I32Const, 1, op.I32Eq, op.LocalSet, 10,
		}, callKindEnd...),
	},
}}

var (
	newCalleeEnd = []byte{op.I32Const, 1, op.LocalGet, 0, op.I32Load, 2, 24, op.I32Const, '(', op.I32Eq, op.BrIf}
	callKindEnd  = []byte{op.I32Const, 0, op.LocalSet, 7, op.LocalGet, 1, op.LocalSet, 2, op.Br}
)

// divisionToken corrects the slash after a template, and after a member with the name of a keyword. To tell an arrow
// function or a pattern from an expression in parentheses, brackets or braces, QuickJS skips them token by token, and reads
// a slash by the token before it: it took the division of `${a}` / b, and of a.default / b, for a regular expression, and
// the rest of the line for its text. js_parse_skip_parens_token (parser, bits, whether line terminators count) -> token has
// the parser's token at local 8, and the one before it in local 6. The end of a template is made to count as a string, which
// QuickJS frees in the same way; a regular expression may still follow the "${" of a template. The token after a full stop
// is made to count as a name, and so is the one after "?.", unless that is a parenthesis or a bracket.
var divisionToken = correction{"\x60\x03\x7f\x7f\x7f\x01\x7f", []replacement{
	{
		// goes to the next token if a part of a template ends with a backquote
		from: append(bytes.Clone(templateEnds), op.BrIf, 6),
		// makes a string, -127, of the token, and goes there too
		to: append(bytes.Clone(templateEnds),
			op.If, op.BlockEmpty, op.LocalGet, 8, op.I32Const, 0x81, 0x7f, op.I32Store, 2, 0, op.Br, 7, op.End),
	},
	{
		// keeps a token as the one before the next, and goes on to that
		from: keepToken,
		// first replaces the token on the stack by a name, -125, after a full stop and, if it is a word, which is below 0,
		// after "?.", -89
		to: append([]byte{
			op.I32Const, 0x83, 0x7f,
			op.LocalGet, 6, op.I32Const, '.', op.I32Ne,
			op.LocalGet, 6, op.I32Const, 0xa7, 0x7f, op.I32Eq, op.LocalGet, 8, op.I32Load, 2, 0, op.I32Const, 0, op.I32LtS,
			op.I32And, op.I32Eqz, op.I32And, op.Select,
		}, keepToken...),
	},
}}

var (
	templateEnds = []byte{op.LocalGet, 0, op.I32Load, 2, 56, op.I32Const, 0xe0, 0, op.I32Eq}
	keepToken    = []byte{op.LocalSet, 6, op.LocalGet, 0, op.Call}
)

// growableShared lets a SharedArrayBuffer grow. QuickJS makes none with a maximum over its length unless the host allocates
// them. js_array_buffer_constructor3 (context, constructor, length, address of the maximum or 0, class, bytes, realloc, its
// data, whether to allocate) -> value has whether the buffer is shared in local 10, the length in local 11 and the runtime in
// local 9; the patch makes it allocate the maximum at once, as it does if the host allocates.
var growableShared = correction{"\x60\x09\x7f\x7e\x7e\x7f\x7f\x7f\x7f\x7f\x7f\x01\x7e", []replacement{
	{
		// leaves the block if the host allocates
		from: []byte{op.LocalGet, 9, op.I32Load, 2, 0xe0, 5, op.BrIf, 0, op.I32Const, 0, op.LocalSet, 4},
		to:   []byte{op.I32Const, 1, op.BrIf, 0, op.I32Const, 0, op.LocalSet, 4},
	},
	{
		// allocates the length, or 1
		from: append([]byte{op.LocalGet, 4, op.LocalGet, 0, op.I32Const, 1}, lengthOrOne(11)...),
		to: append([]byte{
			op.LocalGet, 10, op.LocalGet, 3, op.I32Eqz, op.I32Eqz, op.I32And, op.If, typeI32, op.LocalGet, 3, op.I32Load, 2, 0,
			op.Else, op.LocalGet, 11, op.End, op.LocalSet, 12,
			op.LocalGet, 4, op.LocalGet, 0, op.I32Const, 1,
		}, lengthOrOne(12)...),
	},
}}

// bufferRefused returns the correction for an ArrayBuffer that memory has no room for. QuickJS throws its InternalError, which no code
// knows; V8 throws the RangeError that QuickJS has for a length of 2 GB, and libraries catch that. The patch makes the function of
// growableShared throw it, in place of the first. Without that function there is no correction.
func (l layout) bufferRefused() correction {
	built, none := growableShared.typ, correction{}
	typ := l.typeIndex(built)
	if typ < 0 {
		return none
	}
	f, ok := l.onlyFunction(uint32(typ))
	if !ok {
		return none
	}
	load := textAddress(l.data, "invalid array buffer length")
	code := l.code[f-l.imports.funcs]
	throw := append(append([]byte{op.LocalGet, 0}, load...), op.I32Const, 0, op.Call)
	start := bytes.Index(code, throw)
	if load == nil || start < 0 {
		return none
	}
	r := &wasmbinary.Reader{Bytes: code, At: start + len(throw)}
	throw = append(appendCall(throw[:len(throw)-1], r.U32()), op.Drop)
	// after the allocation: leaves the block at depth 3 without memory, in local 3
	return correction{built, []replacement{{
		from: []byte{op.LocalGet, 3, op.I32Eqz, op.BrIf, 3, op.Br, 1},
		to: append(append([]byte{op.LocalGet, 3, op.I32Eqz, op.If, op.BlockEmpty}, throw...),
			op.Br, 4, op.End, op.Br, 1),
	}}}
}

// textAddress returns the instruction that loads the address of a text that ends with a NUL; nil if there is none.
func textAddress(data []segment, text string) []byte {
	for _, s := range data {
		if i := bytes.Index(s.bytes, []byte("\x00"+text+"\x00")); i >= 0 {
			return op.AppendS32([]byte{op.I32Const}, int32(s.address)+int32(i)+1)
		}
	}
	return nil
}

func lengthOrOne(local byte) []byte {
	return []byte{op.LocalGet, local, op.LocalGet, local, op.I32Const, 1, op.I32LeU, op.Select, op.Call}
}

// sortStores corrects which elements Array.prototype.sort stores: QuickJS leaves out those that stay in their places, so that
// a frozen array that is in order can be sorted, and one that is not cannot. All must be stored (ECMA-262, 23.1.3.30). Its
// js_array_sort (context, this, number of arguments, arguments) -> value has the place of an element in local 4, and the
// element with its former place, at 16, in local 3.
var sortStores = correction{"\x60\x04\x7f\x7e\x7f\x7f\x01\x7e", []replacement{{
	from: []byte{
		op.LocalGet, 3, op.I32Const, 16, op.I32Add, op.I64Load, 3, 0, op.LocalGet, 4, op.I64Eq, op.If, op.BlockEmpty,
	},
	to: []byte{op.I32Const, 0, op.If, op.BlockEmpty},
}}}

// patternPositions returns the correction for the position of patterns that take a value apart. QuickJS keeps a position in the code for
// each call and each read of a member, by emit_source_loc (parser). It keeps none for const { a } = x, which fails for a value without
// members, and for [a] = x, so that the error named the line of the code before, often that of the function. js_parse_destructuring_element
// (parser, and six others) -> int now keeps the position of the first token in the brackets before it writes either instruction. There is
// no correction without one emit_source_loc.
func (l layout) patternPositions() correction {
	// emit_source_loc begins with the function that is compiled, and line and column of the token.
	locate, err := l.uniqueFunction("\x60\x01\x7f\x00", []byte{
		op.LocalGet, 0, op.I32Const, 96 | 0x80, 0, op.I32Add, op.I32Load, 2, 0, op.LocalGet, 0, op.I32Load, 2, 28,
		op.LocalGet, 0, op.I32Load, 2, 32, op.Call,
	}, 1)
	if err != nil {
		return correction{}
	}
	keep := op.AppendU32([]byte{op.LocalGet, 0, op.Call}, l.imports.funcs+uint32(locate))
	toObject := []byte{op.LocalGet, 9, op.I32Load, 2, 0, op.I32Const, 112 | 0x80, 0, op.Call} // writes to_object, after a brace
	forOfStart := []byte{op.LocalGet, 4, op.I32Const, 126 | 0x80, 0, op.Call}                 // writes for_of_start, for a bracket
	return correction{"\x60\x07\x7f\x7f\x7f\x7f\x7f\x7f\x7f\x01\x7f", []replacement{
		{toObject, append(bytes.Clone(keep), toObject...)},
		{forOfStart, append(bytes.Clone(keep), forOfStart...)},
	}}
}

// spreadHashKeys corrects how the keys of Map and Set are spread over their buckets. QuickJS takes the lowest bits of
// key*3163, where the key is the address of an object, a multiple of sixteen, or the upper half of a number as a double,
// whose lower bits are zero for a whole number: all numbers from 512 to 1023 share one bucket, and a Map of a thousand rows
// by their id is a list. Here the product is one of all bits, and its upper half is rotated down. It applies to hashes of a
// 64-bit value.
func spreadHashKeys(code []byte) []byte {
	// 2^32 divided by the golden ratio, odd (Knuth, The Art of Computer Programming, 6.4).
	const multiplier, rotation = -0x61c88647, 16
	before := append(op.AppendS32([]byte{op.I32Const}, 3163), op.I32Mul)
	after := append(op.AppendS32([]byte{op.I32Const}, multiplier), op.I32Mul)
	after = append(op.AppendS32(append(after, op.I32Const), rotation), op.I32Rotl)
	var out []byte
	copied := 0
	all := instructions(code)
	for i, in := range all {
		if i > 0 && code[all[i-1].start] == op.I32WrapI64 && bytes.HasPrefix(code[in.start:], before) {
			out = append(append(out, code[copied:in.start]...), after...)
			copied = in.start + len(before)
		}
	}
	return append(out, code[copied:]...)
}

// nativeCodeOnOneLine corrects the text of built-in functions in a section of data: one line, as V8 and others write it and
// libraries compare it, instead of three. The standard leaves white space to the engine (ECMA-262, 20.2.3.5,
// NativeFunction).
func nativeCodeOnOneLine(body []byte) []byte {
	return correction{replaced: []replacement{{
		[]byte("() {\n    [native code]\n}\x00"), []byte("() { [native code] }\x00\x00\x00\x00\x00"),
	}}}.apply(body)
}

// classAtomType is the type of get_class_atom, as encoded.
const classAtomType = "\x60\x04\x7f\x7f\x7f\x7f\x01\x7f"

// reservedAddresses returns the instructions that load the messages of get_class_atom about reserved characters.
func reservedAddresses(data []segment) (loads [][]byte) {
	for _, s := range data {
		for _, message := range []string{
			"invalid class set operation in regular expression\x00", "invalid character in class in regular expression\x00",
		} {
			if i := bytes.Index(s.bytes, []byte(message)); i >= 0 {
				loads = append(loads, op.AppendS32([]byte{op.I32Const}, int32(s.address)+int32(i)))
			}
		}
	}
	return loads
}

// requireClass corrects the parser of regular expressions with the flag v. Some characters (- and /) and pairs of them (&&
// and !!, say) are reserved in a character class (ECMA-262, ClassSetSyntaxCharacter and ClassSetReservedDoublePunctuator);
// QuickJS refuses them everywhere, so that /a-b/v is a SyntaxError (github.com/bellard/quickjs/issues/520). Its
// get_class_atom (parser, ranges, position, whether in a class) -> int checks the flag before it loads one of the messages,
// by br_if n, local.get parser, load; it is made to check for the class as well.
func requireClass(code []byte, loads [][]byte) []byte {
	const inClass = 3 // local
	var out []byte
	copied := 0
	all := instructions(code)
	for i, in := range all {
		for _, load := range loads {
			if i < 2 || !bytes.Equal(code[in.start:in.end], load) {
				continue
			}
			if branch, get := all[i-2].start, all[i-1].start; code[get] == op.LocalGet && code[branch] == op.BrIf {
				out = append(append(out, code[copied:get]...), op.LocalGet, inClass, op.I32Eqz)
				out = append(out, code[branch:get]...)
				copied = get
			}
		}
	}
	return append(out, code[copied:]...)
}

const (
	// StackLimit is the maximum C stack that JavaScript may use. The host sets it.
	StackLimit = TraceLimit - 32<<10
	// TraceLimit is that limit while a trace is made. The module has 1 MiB; recursion must meet the engine's own check, not a
	// trap. The rest is for a call that passed the check: the largest frame of the module has 2.7 kB, all frames of one took
	// 0.9 kB at most.
	TraceLimit = 1008 << 10
)

// tracer keeps stack for the trace of calls that are too deep. QuickJS throws its RangeError where no further call fits, not
// even that of prepareStackTrace, and the error has no trace. While build_backtrace (context, error, filter, file, line,
// column, flags) makes one, the limit of the stack is TraceLimit and not StackLimit: its calls go to a new function, which
// sets the limits around it.
type tracer struct{ build, limit, buildType uint32 }

// tracer finds build_backtrace, which is the one function of its type.
func (l layout) tracer() (t tracer, err error) {
	var ok bool
	t.limit, ok = l.exports["qjs_set_max_stack_size"]
	building := l.typeIndex("\x60\x07\x7f\x7e\x7e\x7f\x7f\x7f\x7f\x00")
	if !ok || building < 0 {
		return t, errors.New("the module lacks qjs_set_max_stack_size, or a function of build_backtrace's type")
	}
	t.buildType = uint32(building)
	if t.build, ok = l.onlyFunction(t.buildType); !ok {
		err = errors.New("the module does not have one function of build_backtrace's type")
	}
	return t, err
}

// traceBody is the body:
//
//	limit(TraceLimit); build_backtrace(its own seven); limit(StackLimit)
//	if the error has the stack that errorMaker defined, remove it
func (t tracer) traceBody(e errorMaker) []byte {
	limit := func(out []byte, n int32) []byte {
		return appendCall(op.AppendS32(append(out, op.I32Const), n), t.limit)
	}
	const shape = 7 // the local after the arguments
	out := appendGets(limit([]byte{1, 1, typeI32}, TraceLimit), 0, 1, 2, 3, 4, 5, 6)
	return append(e.appendRemove(limit(appendCall(out, t.build), StackLimit), shape), op.End)
}
