package fuel

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
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
// follow.go says, the second is the one of its type.

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

	opBr         = 0x0c
	opReturn     = 0x0f
	opLocalTee   = 0x22
	opI32Load    = 0x28
	opI32Load16U = 0x2f
	opI32Store   = 0x36
	opI32Eq      = 0x46
	opI32Ne      = 0x47
	opI64LtU     = 0x54
	opI32Shl     = 0x74
	typeI32      = 0x7f
)

// owners is where the calls of this file go.
type owners struct {
	alloc, settle         uint32 // js_mallocz, fulfill_or_reject_promise
	allocType, settleType uint32
	global                uint32
}

// The functions of this file come after those of move.go.
func (f *follower) allocFunction() uint32  { return f.first + 4 }
func (f *follower) settleFunction() uint32 { return f.first + 5 }

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
	return appendU32(append(appendS32([]byte{opI32Const}, Owner), opCall), o.alloc)
}

// allocBody is, for an (i32 context, i32 size) that is dropped:
//
//	p = js_mallocz(context, ownedSize); if p { p.owner = global }; p
func (o owners) allocBody() []byte {
	out := appendGet([]byte{1, 1, typeI32}, 0)
	out = appendU32(append(appendS32(append(out, opI32Const), ownedSize), opCall), o.alloc)
	out = append(out, opLocalTee, 2, opIf, blockEmpty)
	out = appendU32(append(appendGet(out, 2), opGlobalGet), o.global)
	out = append(out, opI32Store, 2, Owner, opEnd)
	return append(appendGet(out, 2), opEnd)
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
func (f *follower) settleBody(p probe) []byte {
	const head, el = 4, 5
	out := []byte{1, 2, typeI32, opBlock, blockEmpty}
	out = append(appendU32(append(out, opGlobalGet), f.owners.global), opI32Eqz, opBrIf, 0)
	out = append(appendGet(out, 1), opI64Const, 0x80, 0x80, 0x80, 0x80, 0x70, opI64LtU, opBrIf, 0) // -1<<32
	out = append(appendGet(out, 1), opWrap, opLocalTee, head, opI32Load16U, 1, ObjectClass)
	out = append(appendS32(append(out, opI32Const), promiseClass), opI32Ne, opBrIf, 0)
	out = append(appendGet(out, head), opI32Load, 2, ObjectData, opI32Const, Reactions, opI32Add)
	out = append(appendGet(out, 3), opI32Const, 3, opI32Shl, opI32Add, opLocalTee, head)
	out = append(out, opI32Load, 2, ListNext, opLocalSet, el)
	out = p.append(append(out, opLoop, blockEmpty))
	out = append(appendGets(out, el, head), opI32Eq, opBrIf, 1)
	owner := append(appendGet(nil, el), opI32Load, 2, Owner)
	out = append(append(append(out, owner...), opIf, blockEmpty), owner...)
	out = append(appendU32(append(out, opGlobalGet), f.owners.global), opI32Ne, opIf, blockEmpty)
	out = append(appendGet(out, 1), opWrap, opI32Const, 0x7d) // MarkSettle
	out = append(appendGet(out, 2), opWrap)
	out = append(appendGet(out, 2), opI64Const, 32, opI64ShrU, opWrap)
	out = append(appendU32(append(appendGet(out, 3), opCall), f.host), opDrop, opReturn, opEnd, opEnd)
	out = append(appendGet(out, el), opI32Load, 2, ListNext, opLocalSet, el)
	out = append(out, opBr, 0, opEnd, opEnd)
	out = appendGets(out, 0, 1, 2, 3)
	return append(appendU32(append(out, opCall), f.owners.settle), opEnd)
}

// allocOwned returns the code of perform_promise_then with reactions that carry
// their owner.
func (f *follower) allocOwned(code []byte) []byte {
	owned := appendU32(append(appendS32([]byte{opI32Const}, Owner), opCall), f.allocFunction())
	return bytes.Replace(code, f.owners.allocCall(), owned, 1)
}
