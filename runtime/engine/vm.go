package engine

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/tetratelabs/wazero/api"
)

// VM is one QuickJS virtual machine. It is used by its isolate's goroutine
// only, and what is given to a turn may use it during that turn only.
//
// A pointer below is an offset in linear memory.
type VM struct {
	engine *Engine
	ctx    context.Context // carries the VM to host functions; lives as long as the VM
	mod    api.Module
	mem    api.Memory
	linear *linear // what mem is
	funcs  map[string]Func
	mods   map[string]string // sources of modules, by specifier

	levels []*level // exported functions by depth of nesting: one must not be re-entered
	depth  int

	rt, js    uint32   // JSRuntime*, JSContext*
	scratch   uint32   // scratchSize bytes for strings, then argumentsSize for arguments
	laid      *backing // what the memory lies over; nil when the image was copied
	imageSize uint32   // of linear memory that is the image's
	entries   Value    // what the prelude evaluated to
	entryFns  map[string]Value
	rejected  map[Value]Value // promises without a handler so far, and their reasons
	toJSON    uint32          // the atom; 0 until it is looked for
	regions   []*Region
	spans     []span // of freed regions, all zero
	charged   int64  // bytes of regions, and of what Charge counted
	companion Companion
	account   *account // of the isolate; nil while an image is made
	scope     *Scope
	owners    owners
	running   *turn // nil between turns
	causes    int   // depth of the chain of causes being read
	// describing is whether an exception is being read.
	describing bool
	stopped    *atomic.Bool  // the isolate is closing: what runs must end
	killing    bool          // no interrupt ends what runs now: it is the end
	killed     *KilledError  // why the turn is to end; nil while it is not
	unwinding  bool          // QuickJS knows
	cut        bool          // the turn was unwound since nobody waits for it
	latest     time.Duration // the turn's CPU time when it must have ended
	// following is whether functions of later jobs are given to the prelude
	// first: asynchooks.go.
	following bool
	// keeping is whether this job keeps something alive until its end.
	keeping bool
	overrun int
	async   func(vm *VM, work Async, s settler)
	// onRejection hears of promises rejected without a handler.
	onRejection func(*Scope, *Error)
}

const (
	scratchSize   = 64 << 10
	argumentsSize = 32 * 8
)

// level is what one depth of nesting calls the module through.
type level struct {
	fns   [fnCount]api.Function
	stack [8]uint64
	call  Call
}

// call calls an exported function and returns its first result, if it has one.
// An error means that the VM cannot go on: it was killed or the module trapped.
func (vm *VM) call(id fnID, args ...uint64) uint64 {
	l := vm.level()
	f := l.fns[id]
	if f == nil {
		f = vm.mod.ExportedFunction(fnNames[id])
		l.fns[id] = f
	}
	copy(l.stack[:], args)
	if err := f.CallWithStack(vm.ctx, l.stack[:]); err != nil {
		panic(broken{err})
	}
	if vm.killed != nil && !vm.killing {
		vm.endUnwound()
	}
	return l.stack[0]
}

// call32 is call for a function whose result is an i32: the upper half of what
// the module returns is not defined.
func (vm *VM) call32(id fnID, args ...uint64) uint32 { return uint32(vm.call(id, args...)) }

func (vm *VM) level() *level {
	for len(vm.levels) <= vm.depth {
		vm.levels = append(vm.levels, &level{})
	}
	return vm.levels[vm.depth]
}

// broken is the panic that carries a failed call of the module up to guard: no
// code between may go on with a VM in an unknown state.
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

// crash is an error after which the VM must be thrown away.
type crash struct{ err error }

func (c crash) Error() string { return "the engine failed: " + c.err.Error() }
func (c crash) Unwrap() error { return c.err }

func isCrash(err error) bool {
	var c crash
	return errors.As(err, &c)
}

// write puts s and a NUL into linear memory, in the scratch block when it fits.
// What is there must be consumed before anything else is written; free must be
// called.
func (vm *VM) write(s string) (ptr uint32, free func()) {
	ptr, free = vm.scratch, func() {}
	if len(s)+1 > scratchSize {
		ptr = vm.malloc(uint32(len(s)) + 1)
		free = func() { vm.call(fnFree, uint64(ptr)) }
	}
	vm.mem.WriteString(ptr, s)
	vm.mem.WriteByte(ptr+uint32(len(s)), 0)
	return ptr, free
}

// arguments puts values into linear memory for a call that may call back into
// Go: QuickJS reads arguments in place, so a nested call needs a block of its
// own.
func (vm *VM) arguments(values []Value) (ptr uint32, free func()) {
	ptr, free = vm.scratch+scratchSize, func() {}
	if vm.depth > 0 || len(values)*8 > argumentsSize {
		ptr = vm.malloc(uint32(len(values))*8 + 8)
		free = func() { vm.call(fnFree, uint64(ptr)) }
	}
	for i, v := range values {
		vm.mem.WriteUint64Le(ptr+uint32(i)*8, uint64(v))
	}
	return ptr, free
}

// malloc panics as broken when linear memory is used up.
func (vm *VM) malloc(n uint32) uint32 {
	ptr := vm.call32(fnMalloc, uint64(n))
	if ptr == 0 {
		panic(broken{OutOfMemory()})
	}
	return ptr
}

// Size is the bytes of linear memory: it grows only.
func (vm *VM) Size() int64 { return int64(vm.mem.Size()) }

// full reports whether the heap has reached its limit: then or before.
func (vm *VM) full() bool { return vm.heapSize() >= vm.heapLimit() }

// read returns a view of linear memory.
func (vm *VM) read(ptr, n uint32) []byte {
	b, ok := vm.mem.Read(ptr, n)
	if !ok {
		panic(broken{fmt.Errorf("read of %d bytes at %#x is outside memory", n, ptr)})
	}
	return b
}

func (vm *VM) readU32(ptr uint32) uint32 {
	v, ok := vm.mem.ReadUint32Le(ptr)
	if !ok {
		panic(broken{fmt.Errorf("read at %#x is outside memory", ptr)})
	}
	return v
}

func (vm *VM) readU64(ptr uint32) uint64 {
	return uint64(vm.readU32(ptr)) | uint64(vm.readU32(ptr+4))<<32
}
