package engine

import (
	"github.com/pages-toolchain/pages/runtime/engine/quickjspatch"
)

// This file separates scopes that share a virtual machine: code after an await continues for the scope that awaits, in a
// turn of its own, regardless of the scope that settles the promise. So a request that awaits another's promise, as in ready
// ??= init(), neither ends with that request nor is charged to it. It needs a hook in the module (quickjspatch/hooks.go): a
// hook in JavaScript would miss await, which calls no function, and lowered async functions would be slower, and differ from
// the author's code.

// newScopes is the number of added scopes after which a VM looks for ended ones.
const newScopes = 32

// owners are the scopes that may await something in a VM.
type owners struct {
	scopes    map[uint32]*Scope // by number
	sweep     int               // the number of scopes at which ended ones are dropped
	crossings []*crossing       // to be settled after this turn
	lost      bool              // IsolateOptions.OnLost was called
}

// crossing is a promise with the reactions of a scope other than the turn's, and its result.
type crossing struct {
	number         uint32
	scope          *Scope // nil when it has ended and was dropped
	by             *Scope // whose turn settled it
	promise, value Value
	rejected       uint64
}

// setOwner makes scope the owner of promises awaited from now on.
func (vm *VM) setOwner(scope *Scope) {
	o := &vm.owners
	if o.scopes == nil {
		o.scopes, o.sweep = map[uint32]*Scope{}, newScopes
	}
	vm.mod.set(globalOwner, scope.number)
	if _, known := o.scopes[scope.number]; known || scope.number == 0 {
		return
	}
	if len(o.scopes) >= o.sweep {
		for number, s := range o.scopes {
			if s.ended() {
				delete(o.scopes, number)
			}
		}
		o.sweep = 2*len(o.scopes) + newScopes
	}
	o.scopes[scope.number] = scope
}

// settleOwned is fulfill_or_reject_promise for a promise that other scopes than the turn's await too: the reactions of each
// other scope move to a promise of their own, which a later turn of that scope settles.
func settleOwned(vm *VM, stack []uint64) {
	promise := makeValue(tagObject, uint32(stack[0]))
	value := Value(uint64(uint32(stack[2])) | uint64(uint32(stack[3]))<<32)
	rejected := uint64(uint32(stack[4]))
	from := len(vm.owners.crossings)
	list := vm.reactions(promise, rejected)
	for at, n := vm.readU32(list+quickjspatch.ListNext), 1; at != list; n++ {
		next := vm.readU32(at + quickjspatch.ListNext)
		if owner := vm.readU32(at + quickjspatch.Owner); owner != 0 && owner != vm.scope.number {
			c := vm.crossingTo(owner, from)
			if c.promise == 0 { // only the crossing settles its promise, and its rejection is not reported
				pending, s, err := vm.newPromise()
				if err != nil {
					panic(broken{err})
				}
				s.free(vm)
				vm.mem.writeByte(vm.promiseData(pending)+quickjspatch.Handled, 1)
				c.promise, c.value, c.rejected = pending, vm.Dup(value), rejected
			}
			vm.moveListItem(at, vm.reactions(c.promise, rejected))
		}
		if at = next; n%1024 == 0 {
			vm.Interrupt()
		}
	}
	vm.call(fnSettle, uint64(vm.js), uint64(promise), uint64(value), rejected)
}

// crossingTo returns the crossing to the scope of that number, which is new unless it is among those from index from on.
func (vm *VM) crossingTo(number uint32, from int) *crossing {
	o := &vm.owners
	for _, c := range o.crossings[from:] {
		if c.number == number {
			return c
		}
	}
	c := &crossing{number: number, scope: o.scopes[number], by: vm.scope}
	if c.scope != nil {
		c.scope.pending.Add(1)
	}
	o.crossings = append(o.crossings, c)
	return c
}

func (vm *VM) promiseData(promise Value) uint32 {
	return vm.readU32(uint32(promise) + quickjspatch.ObjectData)
}

// reactions returns the list_head of a promise's reactions.
func (vm *VM) reactions(promise Value, rejected uint64) uint32 {
	return vm.promiseData(promise) + quickjspatch.Reactions + uint32(rejected)*quickjspatch.ListSize
}

// moveListItem moves an item of a list_head to the end of another list.
func (vm *VM) moveListItem(item, list uint32) {
	link := func(previous, next uint32) {
		vm.mem.writeU32(previous+quickjspatch.ListNext, next)
		vm.mem.writeU32(next, previous)
	}
	link(vm.readU32(item), vm.readU32(item+quickjspatch.ListNext))
	link(vm.readU32(list), item)
	link(item, list)
}

// Dup returns another reference to v.
func (vm *VM) Dup(v Value) Value { return Value(vm.call(fnDup, uint64(vm.js), uint64(v))) }

// settle settles the promise of a crossing, in a turn of its scope.
func (c *crossing) settle(vm *VM) error {
	vm.call(fnSettle, uint64(vm.js), uint64(c.promise), uint64(c.value), c.rejected)
	return c.free(vm)
}

// free frees a crossing. Without settle, for a scope that has ended, code after the await does not run, as on the platform.
func (c *crossing) free(vm *VM) error {
	if c.scope != nil {
		c.scope.pending.Add(-1)
	}
	vm.Free(c.promise)
	vm.Free(c.value)
	return nil
}
