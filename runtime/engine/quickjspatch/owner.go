package quickjspatch

import (
	"bytes"
	"errors"
	"fmt"
	"slices"

	"github.com/pages-toolchain/pages/runtime/wasmbinary/op"
)

// This file lets the host keep requests apart that share one virtual machine.
// What a promise has in store for when it is settled, QuickJS keeps in reactions,
// two for each then or await, made by perform_promise_then; all of them become
// jobs where the promise is settled, by fulfill_or_reject_promise. Here a reaction
// is eight bytes longer and carries the value that the new global [OwnerGlobal] had
// when it was made. Settling a promise goes through a new function: when one of the
// reactions has another owner than the global says, and neither is 0, the host is
// asked to settle it, by the import env.host_call with [MarkSettle] in its second
// argument, and the lower half of the promise, both halves of the value and whether
// it is rejected in the others. Neither function is exported: the first is found as
// asynchooks.go says, the second is the one of its type.

// What QuickJS exports beside its own once it is rewritten, and a mark.
const (
	// OwnerGlobal is a mutable i32: on whose behalf the code runs; 0 for nobody's.
	OwnerGlobal = "pages_owner"
	// Settle is fulfill_or_reject_promise (context i32, promise i64, value i64,
	// rejected i32).
	Settle = "pages_settle"
	// MarkSettle is a mark in the second argument of env.host_call.
	MarkSettle = 0xfffffffd
)

// Where things lie in QuickJS's structures, in bytes.
const (
	ObjectData   = 24 // of a JSObject: where its class's data is
	ListNext     = 4  // of a list_head: the next one; the previous one is at 0
	Reactions    = 4  // of a JSPromiseData: the lists of reactions to its fulfilment and to its rejection
	ListSize     = 8
	Handled      = 20 // of a JSPromiseData: a byte, whether its rejection has a handler
	Owner        = 32 // of a reaction, which begins with its list_head
	ownedSize    = Owner + 8
	ObjectClass  = 10
	promiseClass = 52
)

const (
	settleType = "\x60\x04\x7f\x7e\x7e\x7f\x00"
	allocType  = "\x60\x02\x7f\x7f\x01\x7f"
)

// owners is where the calls of this file go.
type owners struct {
	alloc, settle         uint32 // js_mallocz, fulfill_or_reject_promise
	allocType, settleType uint32
	global                uint32
}

// The functions of this file come after those of memorymove.go.
func (f *patcher) allocFunction() uint32  { return f.first + 4 }
func (f *patcher) settleFunction() uint32 { return f.first + 5 }

// owners finds the two functions; then is perform_promise_then.
func (l layout) owners(then uint32) (o owners, err error) {
	var hasAlloc bool
	o.alloc, hasAlloc = l.exports["js_mallocz"]
	if n := bytes.Count(l.code[then-l.imports.funcs], o.allocCall()); !hasAlloc || n != 1 {
		return o, fmt.Errorf("perform_promise_then allocates a reaction in %d places, not in one", n)
	}
	settling, alloc := l.typeIndex(settleType), l.typeIndex(allocType)
	if settling < 0 || alloc < 0 || l.typeOf(o.alloc) != uint32(alloc) {
		return o, errors.New("the module has no functions of the types that settle a promise and allocate memory")
	}
	if n := slices.Index(l.funcs, uint32(settling)); n >= 0 && !slices.Contains(l.funcs[n+1:], uint32(settling)) {
		o.settle, o.allocType, o.settleType = l.imports.funcs+uint32(n), uint32(alloc), uint32(settling)
		return o, nil
	}
	return o, errors.New("the module does not have one function of fulfill_or_reject_promise's type")
}

// allocCall is how perform_promise_then allocates a reaction.
func (o owners) allocCall() []byte {
	return op.AppendU32(append(op.AppendS32([]byte{op.I32Const}, Owner), op.Call), o.alloc)
}

// allocBody is, for an (i32 context, i32 size) that is dropped:
//
//	p = js_mallocz(context, ownedSize); if p { p.owner = global }; p
func (o owners) allocBody() []byte {
	out := appendGet([]byte{1, 1, typeI32}, 0)
	out = op.AppendU32(append(op.AppendS32(append(out, op.I32Const), ownedSize), op.Call), o.alloc)
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
	out = append(op.AppendU32(append(appendGet(out, 3), op.Call), f.host), op.Drop, op.Return, op.End, op.End)
	out = append(appendGet(out, el), op.I32Load, 2, ListNext, op.LocalSet, el)
	out = append(out, op.Br, 0, op.End, op.End)
	out = appendGets(out, 0, 1, 2, 3)
	return append(op.AppendU32(append(out, op.Call), f.owners.settle), op.End)
}

// allocateOwner returns the code of perform_promise_then with reactions that carry
// their owner.
func (f *patcher) allocateOwner(code []byte) []byte {
	owned := op.AppendU32(append(op.AppendS32([]byte{op.I32Const}, Owner), op.Call), f.allocFunction())
	return bytes.Replace(code, f.owners.allocCall(), owned, 1)
}
