package quickjspatch

import (
	"bytes"
	"errors"
	"fmt"
	"slices"

	"github.com/pages-toolchain/pages/runtime/wasmbinary"
	"github.com/pages-toolchain/pages/runtime/wasmbinary/op"
)

// This file adds hooks for the host. All of them call the import env.host_call, whose second argument is one of the
// marks.

// The additional exports of QuickJS. Other modules get none.
const (
	// FollowGlobal is a mutable i32: whether the host follows asynchronous code.
	FollowGlobal = "pages_follow"
	// CounterGlobal is the fuel counter, a mutable i32: 0 while it calls env.host_interrupt, and never 0 when QuickJS does so
	// by itself.
	CounterGlobal = "pages_fuel"
	// PerformThen is perform_promise_then (context i32, promise i64, handlers i32, resolving functions i32) -> i32.
	PerformThen = "pages_promise_then"
	// OwnerGlobal is a mutable i32: the scope that the code runs for; 0 for none.
	OwnerGlobal = "pages_owner"
	// Settle is fulfill_or_reject_promise (context i32, promise i64, value i64, rejected i32).
	Settle = "pages_settle"
)

// Marks in the second argument of env.host_call, and the other arguments.
const (
	MarkThen   = 0xffffffff // handlers, mark, lower and upper half of the promise, resolving functions
	MarkJob    = 0xfffffffe // arguments, mark, function, number of arguments, 0
	MarkSettle = 0xfffffffd // lower half of the promise, mark, both halves of the value, whether it is rejected
	MarkDate   = 0xfffffffc // arguments, mark, 0, 0, 0; the result is the address of the value
	MarkCall   = 0xfffffffb // data, mark, address of the result, argc, argv; the result is 0 when an exception is pending
)

// Offsets in QuickJS's structures, in bytes.
const (
	ObjectData   = 24 // of a JSObject: its class's data
	ListNext     = 4  // of a list_head: the next one; the previous one is at 0
	Reactions    = 4  // of a JSPromiseData: the lists of reactions to its fulfilment and to its rejection
	ListSize     = 8
	Handled      = 20 // of a JSPromiseData: a byte, whether its rejection has a handler
	Owner        = 32 // of a reaction, which begins with its list_head
	ownedSize    = Owner + 8
	ObjectClass  = 10
	promiseClass = 52

	contextRuntime = 8 // of a JSContext
)

const (
	settleType     = "\x60\x04\x7f\x7e\x7e\x7f\x00"
	allocType      = "\x60\x02\x7f\x7f\x01\x7f"
	dateParserType = "\x60\x04\x7f\x7e\x7f\x7f\x01\x7e"
	trampolineType = "\x60\x06\x7f\x7e\x7f\x7f\x7f\x7f\x01\x7e"
)

// hookBody is the body of a hook for asynchronous code: if (global and) { host_call(arguments) } else { callee(its own four) }.
//
// QuickJS has no hook for the code after an await. perform_promise_then, through which then, await and async iteration go,
// stores the reactions of a promise, and JS_EnqueueJob takes microtasks and the calls of foreign thenables. Calls of the two
// go to hooks, which pass them on while FollowGlobal is 0 and else hand them to the host. perform_promise_then is not
// exported: it is the function of its type that the exported JS_PromiseThen calls.
func (f *patcher) hookBody(callee uint32, and []byte, arguments func([]byte) []byte) []byte {
	out := op.AppendU32([]byte{0, op.GlobalGet}, f.global)
	out = append(append(out, and...), op.If, 0x7f)
	out = append(appendCall(arguments(out), f.host), op.Else)
	return append(appendCall(appendGets(out, 0, 1, 2, 3), callee), op.End, op.End)
}

// thenBody is the hook of perform_promise_then.
func (f *patcher) thenBody() []byte {
	return f.hookBody(f.then, nil, func(out []byte) []byte {
		out = op.AppendS32(append(appendGet(out, 2), op.I32Const), MarkThen-1<<32)
		out = append(appendGet(out, 1), op.I32WrapI64)
		out = append(appendGet(out, 1), op.I64Const, 32, op.I64ShrU, op.I32WrapI64)
		return appendGet(out, 3)
	})
}

// jobBody is the hook of JS_EnqueueJob. Jobs with five arguments are of reactions, which are followed from thenBody.
func (f *patcher) jobBody() []byte {
	const reactionArguments = 5
	return f.hookBody(f.job, []byte{op.LocalGet, 2, op.I32Const, reactionArguments, op.I32LtU, op.I32And}, func(out []byte) []byte {
		out = op.AppendS32(append(appendGet(out, 3), op.I32Const), MarkJob-1<<32)
		return op.AppendS32(append(appendGets(out, 1, 2), op.I32Const), 0)
	})
}

// owners lets the host separate requests that share one virtual machine. QuickJS stores two reactions of a promise for each
// then or await, made by perform_promise_then; all of them become jobs where the promise is settled, by
// fulfill_or_reject_promise. Here a reaction is eight bytes longer and carries the value that OwnerGlobal had when it was
// made. Calls of fulfill_or_reject_promise go to a new function: if a reaction's owner differs from the global, and neither
// is 0, it asks the host to settle the promise. That function is not exported: it is the one of its type.
type owners struct {
	alloc, settle         uint32 // js_mallocz, fulfill_or_reject_promise
	allocType, settleType uint32
	global                uint32
}

// owners finds the two functions; then is perform_promise_then.
func (l layout) owners(then uint32) (o owners, err error) {
	var hasAlloc bool
	o.alloc, hasAlloc = l.exports["js_mallocz"]
	if n := bytes.Count(l.code[then-l.imports.funcs], reactionAlloc(o.alloc)); !hasAlloc || n != 1 {
		return o, fmt.Errorf("perform_promise_then allocates a reaction in %d places, not in one", n)
	}
	settling, alloc := l.typeIndex(settleType), l.typeIndex(allocType)
	if settling < 0 || alloc < 0 || l.typeOf(o.alloc) != uint32(alloc) {
		return o, errors.New("the module has no functions of the types that settle a promise and allocate memory")
	}
	o.allocType, o.settleType = uint32(alloc), uint32(settling)
	var ok bool
	if o.settle, ok = l.onlyFunction(o.settleType); !ok {
		err = errors.New("the module does not have one function of fulfill_or_reject_promise's type")
	}
	return o, err
}

// reactionAlloc is the call in perform_promise_then that allocates a reaction.
func reactionAlloc(alloc uint32) []byte {
	return appendCall(op.AppendS32([]byte{op.I32Const}, Owner), alloc)
}

// allocBody is, for an (i32 context, i32 size) that is dropped:
//
//	p = js_mallocz(context, ownedSize); if p { p.owner = global }; p
func (o owners) allocBody() []byte {
	out := appendGet([]byte{1, 1, typeI32}, 0)
	out = appendCall(op.AppendS32(append(out, op.I32Const), ownedSize), o.alloc)
	out = append(out, op.LocalTee, 2, op.If, op.BlockEmpty)
	out = op.AppendU32(append(appendGet(out, 2), op.GlobalGet), o.global)
	out = append(out, op.I32Store, 2, Owner, op.End)
	return append(appendGet(out, 2), op.End)
}

// settleBody is
//
//	if promise is a Promise and global != 0 {
//		head = its list of reactions to this
//		for el = head.next; el != head; el = el.next {
//			if el.owner != 0 and el.owner != global { host_call(…); return }
//		}
//	}
//	fulfill_or_reject_promise(its own four)
func (f *patcher) settleBody(p probe) []byte {
	const head, el = 4, 5
	out := []byte{1, 2, typeI32, op.Block, op.BlockEmpty}
	out = append(op.AppendU32(append(out, op.GlobalGet), f.owners.global), op.I32Eqz, op.BrIf, 0)
	out = append(appendGet(out, 1), op.I64Const, 0x80, 0x80, 0x80, 0x80, 0x70, op.I64LtU, op.BrIf, 0) // -1<<32
	out = append(appendGet(out, 1), op.I32WrapI64, op.LocalTee, head, op.I32Load16U, 1, ObjectClass)
	out = append(op.AppendS32(append(out, op.I32Const), promiseClass), op.I32Ne, op.BrIf, 0)
	out = append(appendGet(out, head), op.I32Load, 2, ObjectData, op.I32Const, Reactions, op.I32Add)
	out = append(appendGet(out, 3), op.I32Const, 3, op.I32Shl, op.I32Add, op.LocalTee, head)
	out = append(out, op.I32Load, 2, ListNext, op.LocalSet, el)
	out = p.appendProbe(append(out, op.Loop, op.BlockEmpty))
	out = append(appendGets(out, el, head), op.I32Eq, op.BrIf, 1)
	owner := append(appendGet(nil, el), op.I32Load, 2, Owner)
	out = append(append(append(out, owner...), op.If, op.BlockEmpty), owner...)
	out = append(op.AppendU32(append(out, op.GlobalGet), f.owners.global), op.I32Ne, op.If, op.BlockEmpty)
	out = append(appendGet(out, 1), op.I32WrapI64, op.I32Const, 0x7d) // MarkSettle
	out = append(appendGet(out, 2), op.I32WrapI64)
	out = append(appendGet(out, 2), op.I64Const, 32, op.I64ShrU, op.I32WrapI64)
	out = append(appendCall(appendGet(out, 3), f.host), op.Drop, op.Return, op.End, op.End)
	out = append(appendGet(out, el), op.I32Load, 2, ListNext, op.LocalSet, el)
	out = append(out, op.Br, 0, op.End, op.End)
	out = appendGets(out, 0, 1, 2, 3)
	return append(appendCall(out, f.owners.settle), op.End)
}

// trampoline is the module's function that implements every host function, (context, this, argc, argv, magic, data) ->
// value, and its stack pointer. It makes a C string of the function's name and a box of each argument, and takes its result
// out of a box, which is most of the cost of a short call. callBody replaces it by a call without copies.
type trampoline struct {
	function int
	stack    uint32
}

// trampoline finds the function: the one of its type that passes its argc, and the boxes that it made, to the import.
func (l layout) trampoline() (t trampoline, err error) {
	passing := op.AppendU32([]byte{op.LocalGet, 2, op.LocalGet, 4, op.Call}, uint32(l.imports.hostCall))
	if t.function, err = l.uniqueFunction(trampolineType, passing, 1); err != nil {
		return t, err
	}
	r := &wasmbinary.Reader{Bytes: l.code[t.function]}
	skipLocals(r)
	if r.Byte() != op.GlobalGet {
		return t, errors.New("the function that calls the host does not begin by reserving stack space")
	}
	t.stack = r.U32()
	return t, r.Err
}

// exception is the value that marks a pending exception.
var exception = []byte{op.I64Const, 0x80, 0x80, 0x80, 0x80, 0xe0, 0} // 6 in the upper half

// callBody is the body of the trampoline, for data that is the name:
//
//	room = stack pointer -= 16
//	if host_call(data, MarkCall, room, argc, argv) { load(room) } else { exception }
//	stack pointer = room + 16
func (f *patcher) callBody() []byte {
	const argc, argv, data, room, size = 2, 3, 5, 6, 16
	out := op.AppendU32([]byte{1, 1, typeI32, op.GlobalGet}, f.trampoline.stack)
	out = append(out, op.I32Const, size, op.I32Sub, op.LocalTee, room)
	out = op.AppendU32(append(out, op.GlobalSet), f.trampoline.stack)
	out = op.AppendS32(append(appendGet(out, data), op.I32Const), MarkCall-1<<32)
	out = appendCall(appendGets(out, room, argc, argv), f.host)
	out = append(out, op.If, typeI64, op.LocalGet, room, op.I64Load, 3, 0, op.Else)
	out = append(slices.Concat(out, exception), op.End)
	out = append(appendGet(out, room), op.I32Const, size, op.I32Add)
	return append(op.AppendU32(append(out, op.GlobalSet), f.trampoline.stack), op.End)
}

// dateYear occurs only in js_Date_parse: it stores a year from local 3, and sets local 10 to mark it.
var dateYear = []byte{op.LocalGet, 4, op.LocalGet, 3, op.I32Store, 2, 0xd0, 1, op.I32Const, 1, op.LocalSet, 10}

// dateBody is the body of js_Date_parse (context, this, count, arguments) -> value, which the constructor calls too: the host
// reads dates. The standard leaves all formats but its own to the engine (ECMA-262, 21.4.3.2), and QuickJS and V8 differ in a
// tenth of the formats that people and programs write.
func (f *patcher) dateBody() []byte {
	out := appendGet([]byte{0}, 3)
	out = append(op.AppendS32(append(out, op.I32Const), MarkDate-1<<32), op.I32Const, 0, op.I32Const, 0, op.I32Const, 0)
	return append(appendCall(out, f.host), op.I64Load, 3, 0, op.End)
}
