package engine

import (
	"github.com/tetratelabs/wazero/api"

	"github.com/pages-toolchain/pages/runtime/engine/quickjspatch"
)

// This file keeps scopes apart that share a virtual machine: what awaits a promise
// goes on on behalf of the scope that awaits it, in a turn of its own, whichever
// scope's turn settles the promise. So code that waits for what another request
// began, as of ready ??= init(), is not lost with that one, nor charged to it. It takes
// a hook in the module (quickjspatch/owner.go): code bound to its scope in JavaScript would miss
// await, which calls nothing that could be replaced there, and async functions lowered
// to older code would be other code than the author's, and slower.

// newcomers is how many scopes a VM knows before it looks for ended ones.
const newcomers = 32

// owners is what a VM knows of the scopes that may await something in it.
type owners struct {
	global api.MutableGlobal // quickjspatch.OwnerGlobal
	scopes map[uint32]*Scope // by number
	sweep  int               // how many there are when ended ones are forgotten
	// crossings are what is to be settled for other scopes after this turn.
	crossings []*crossing
	// lost is whether the embedder has heard of a crossing that found its scope ended.
	lost bool
}

// crossing is a promise with the reactions of one scope, and what to settle it with.
type crossing struct {
	number         uint32
	scope          *Scope // nil when it has ended and was forgotten
	by             *Scope // whose turn settled it
	promise, value Value
	rejected       uint64
}

// setOwner has what is awaited from now on belong to scope.
func (vm *VM) setOwner(scope *Scope) {
	o := &vm.owners
	if o.global == nil {
		var ok bool
		if o.global, ok = vm.mod.ExportedGlobal(quickjspatch.OwnerGlobal).(api.MutableGlobal); !ok {
			return // it is no module of ours
		}
		o.scopes, o.sweep = map[uint32]*Scope{}, newcomers
	}
	o.global.Set(uint64(scope.number))
	if _, known := o.scopes[scope.number]; known || scope.number == 0 {
		return
	}
	if len(o.scopes) >= o.sweep {
		for number, s := range o.scopes {
			if s.ended() {
				delete(o.scopes, number)
			}
		}
		o.sweep = 2*len(o.scopes) + newcomers
	}
	o.scopes[scope.number] = scope
}

// settleOwned is fulfill_or_reject_promise for a promise that another scope than
// the turn's awaits too: the reactions of each other scope move to a promise of
// their own, which a later turn of that scope settles.
func settleOwned(vm *VM, stack []uint64) {
	promise := tagged(tagObject, uint32(stack[0]))
	value := Value(uint64(uint32(stack[2])) | uint64(uint32(stack[3]))<<32)
	rejected := uint64(uint32(stack[4]))
	from := len(vm.owners.crossings)
	list := vm.reactions(promise, rejected)
	for at, n := vm.readU32(list+quickjspatch.ListNext), 1; at != list; n++ {
		next := vm.readU32(at + quickjspatch.ListNext)
		if owner := vm.readU32(at + quickjspatch.Owner); owner != 0 && owner != vm.scope.number {
			c := vm.crossingTo(owner, from)
			if c.promise == 0 {
				c.promise, c.value, c.rejected = vm.newPending(), vm.Dup(value), rejected
			}
			vm.moveTo(at, vm.reactions(c.promise, rejected))
		}
		if at = next; n%1024 == 0 {
			vm.Interrupt()
		}
	}
	vm.call(fnSettle, uint64(vm.js), uint64(promise), uint64(value), rejected)
}

// crossingTo is the crossing to the scope of that number among those from index
// from on.
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

// newPending returns a promise that nothing else settles and whose rejection is
// nobody's concern.
func (vm *VM) newPending() Value {
	functions := vm.malloc(16)
	promise, err := vm.checkValue(vm.call(fnNewPromise, uint64(vm.js), uint64(functions)))
	if err != nil {
		panic(broken{err})
	}
	vm.Free(Value(vm.readU64(functions)))
	vm.Free(Value(vm.readU64(functions + 8)))
	vm.call(fnFree, uint64(functions))
	vm.mem.WriteByte(vm.promiseData(promise)+quickjspatch.Handled, 1)
	return promise
}

func (vm *VM) promiseData(promise Value) uint32 {
	return vm.readU32(uint32(promise) + quickjspatch.ObjectData)
}

// reactions is the list of a promise's reactions.
func (vm *VM) reactions(promise Value, rejected uint64) uint32 {
	return vm.promiseData(promise) + quickjspatch.Reactions + uint32(rejected)*quickjspatch.ListSize
}

// moveTo takes an item out of its list and puts it at the end of another one.
func (vm *VM) moveTo(item, list uint32) {
	link := func(previous, next uint32) {
		vm.mem.WriteUint32Le(previous+quickjspatch.ListNext, next)
		vm.mem.WriteUint32Le(next, previous)
	}
	link(vm.readU32(item), vm.readU32(item+quickjspatch.ListNext))
	link(vm.readU32(list), item)
	link(item, list)
}

// Dup is v once more.
func (vm *VM) Dup(v Value) Value { return Value(vm.call(fnDup, uint64(vm.js), uint64(v))) }

// nextCrossing returns the next crossing, nil when there is none.
func (vm *VM) nextCrossing() *crossing {
	o := &vm.owners
	if len(o.crossings) == 0 {
		return nil
	}
	c := o.crossings[0]
	o.crossings = o.crossings[1:]
	return c
}

// settle settles the promise of a crossing; it is for a turn of its scope.
func (c *crossing) settle(vm *VM) error {
	vm.call(fnSettle, uint64(vm.js), uint64(c.promise), uint64(c.value), c.rejected)
	return c.free(vm)
}

// free is instead of settle, for a scope that has ended: what awaits there does not
// go on, as on the platform.
func (c *crossing) free(vm *VM) error {
	if c.scope != nil {
		c.scope.pending.Add(-1)
	}
	vm.Free(c.promise)
	vm.Free(c.value)
	return nil
}
