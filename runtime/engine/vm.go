package engine

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"sync/atomic"
	"time"
)

// VM is one QuickJS virtual machine. Only its isolate's goroutine uses it; the function of a turn may use it during that
// turn only. Pointers into it are offsets in linear memory.
type VM struct {
	engine *Engine
	ctx    context.Context // lives as long as the VM
	mod    *machine
	mem    *linear // of mod
	funcs  map[string]Func
	mods   map[string]string // sources of modules, by specifier

	frames []*frame // by depth of nesting: an exported function must not be re-entered
	depth  int

	rt, js      uint32      // JSRuntime*, JSContext*
	scratch     uint32      // scratchSize bytes for strings, then argumentsSize for arguments
	file        *memoryFile // that the memory is a mapping of; nil when the image was copied
	imageSize   uint32      // size of the image in linear memory
	entries     Value       // the prelude's value
	entryFns    map[string]Value
	rejected    map[Value]Value // promises without a handler so far, and their reasons
	toJSON      uint32          // the atom; 0 until it is looked for
	regions     []*Region
	spans       []span // of freed regions, all zero
	charged     int64  // bytes of regions, and those that Charge counted
	met         *Held  // at the first refused allocation; nil before
	metReported bool
	collected   int64 // bytes of the heap in use after the last collection for an allocation
	companion   Companion
	account     *account // of the isolate; nil while an image is made
	scope       *Scope
	owners      owners
	running     *turn     // nil between turns
	now         time.Time // that JavaScript sees: clock.go
	clockReads  int       // in the turn
	causes      int       // depth of the chain of causes being read

	describing  bool          // an exception is being read
	stopped     *atomic.Bool  // the isolate is closing: the turn must end
	killing     bool          // the turn is ending: interrupts are only counted
	killed      *KilledError  // the reason for ending the turn; nil for none
	unwinding   bool          // QuickJS unwinds the turn for killed
	cut         bool          // the turn was unwound since its scope is abandoned
	latest      time.Duration // the turn's CPU time at which it must have ended
	following   bool          // later jobs go to the prelude first: asynchooks.go
	keepsAlive  bool          // this job keeps something alive until its end: collected.go
	keptFrom    int64         // size of the heap when something was kept for longer; 0 if nothing is
	finalizes   bool          // callbacks of FinalizationRegistry must run after this turn
	overrun     int           // interrupts while killing
	async       func(vm *VM, work Async, s settler)
	onRejection func(*Scope, *Error) // for promises rejected without a handler
}

const (
	scratchSize   = 64 << 10
	argumentsSize = 32 * 8
)

// frame holds the calls of the module at one depth of nesting.
type frame struct {
	stack stack
	call  Call
}

// call calls an exported function and returns its first result, if it has one. It panics as broken if the VM cannot continue: it was killed
// or the module trapped.
func (vm *VM) call(id fnID, args ...uint64) uint64 {
	fr := vm.frame()
	copy(fr.stack[:], args)
	if err := vm.mod.call(fr, id); err != nil {
		panic(broken{err})
	}
	if vm.killed != nil && !vm.killing {
		vm.endUnwound()
	}
	return fr.stack[0]
}

// call32 is call for an i32 result: the upper half of the module's result is undefined.
func (vm *VM) call32(id fnID, args ...uint64) uint32 { return uint32(vm.call(id, args...)) }

func (vm *VM) frame() *frame {
	for len(vm.frames) <= vm.depth {
		vm.frames = append(vm.frames, &frame{})
	}
	return vm.frames[vm.depth]
}

// broken is the panic that carries a failed call of the module up to guard: no code in between may continue with a VM
// in an unknown state.
type broken struct{ err error }

func (b broken) Error() string { return b.err.Error() }
func (b broken) Unwrap() error { return b.err }

// guard runs fn and turns the panics of a broken VM into an error.
func (vm *VM) guard(fn func() error) (err error) {
	depth := vm.depth
	defer func() {
		switch p := recover().(type) {
		case nil:
		case broken:
			vm.depth = depth
			err = crash(p)
		default:
			vm.depth = depth
			err = crash{fmt.Errorf("host function panicked: %v", p)}
		}
	}()
	return fn()
}

// crash is an error after which the VM must be discarded.
type crash struct{ err error }

func (c crash) Error() string { return "the engine failed: " + c.err.Error() }
func (c crash) Unwrap() error { return c.err }

func isCrash(err error) bool {
	_, ok := errors.AsType[crash](err)
	return ok
}

// write puts s and a NUL into linear memory, in the scratch block if it fits: the module must read it before the next write.
// Call free.
func (vm *VM) write(s string) (ptr uint32, free func()) {
	ptr, free = vm.scratch, func() {}
	if len(s)+1 > scratchSize {
		ptr = vm.malloc(uint32(len(s)) + 1)
		free = func() { vm.call(fnFree, uint64(ptr)) }
	}
	vm.mem.writeString(ptr, s)
	vm.mem.writeByte(ptr+uint32(len(s)), 0)
	return ptr, free
}

// arguments puts values into linear memory. QuickJS reads arguments in place during a call, so a nested call needs a block
// of its own. Call free.
func (vm *VM) arguments(values []Value) (ptr uint32, free func()) {
	ptr, free = vm.scratch+scratchSize, func() {}
	if vm.depth > 0 || len(values)*8 > argumentsSize {
		ptr = vm.malloc(uint32(len(values))*8 + 8)
		free = func() { vm.call(fnFree, uint64(ptr)) }
	}
	for i, v := range values {
		vm.mem.writeU64(ptr+uint32(i)*8, uint64(v))
	}
	return ptr, free
}

// malloc panics as broken when linear memory is used up.
func (vm *VM) malloc(n uint32) uint32 {
	ptr := vm.call32(fnMalloc, uint64(n))
	if ptr == 0 {
		vm.MeetLimit()
		panic(broken{OutOfMemory()})
	}
	return ptr
}

// Size is the bytes of linear memory, which only grows.
func (vm *VM) Size() int64 { return int64(vm.mem.length()) }

// full reports whether the heap has ever reached its limit.
func (vm *VM) full() bool { return vm.heapSize() >= vm.heapLimit() }

// read returns a view of linear memory.
func (vm *VM) read(ptr, n uint32) []byte {
	return vm.mem.mustAt(ptr, n)
}

func (vm *VM) readU32(ptr uint32) uint32 { return binary.LittleEndian.Uint32(vm.mem.mustAt(ptr, 4)) }

func (vm *VM) readU64(ptr uint32) uint64 { return binary.LittleEndian.Uint64(vm.mem.mustAt(ptr, 8)) }
