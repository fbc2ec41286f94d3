package engine

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"runtime"
	"sync/atomic"

	"github.com/tetratelabs/wazero/api"

	"github.com/pages-toolchain/pages/runtime/engine/quickjspatch"
)

// Source is a script or module.
type Source struct{ Name, Code string }

// Image is a virtual machine at rest: all of its memory that is not zero, and
// where in it the engine finds its own. It is immutable and may be started any
// number of times, also at the same time.
type Image struct {
	size     uint32 // bytes of linear memory
	runs     []run
	stackPtr uint64
	rt, js   uint32
	scratch  uint32
	entries  Value
	entryFns map[string]Value
	layout   layout
	// companion is what the VM's Companion saved.
	companion any
	// backing holds runs where the system can share them; else nil.
	backing *backing
}

// run is a stretch of memory that is not all zero.
type run struct {
	at uint32
	b  []byte
}

const imagePage = 4 << 10

// Size is the number of bytes of memory the image holds.
func (im *Image) Size() int {
	n := 0
	for _, r := range im.runs {
		n += len(r.b)
	}
	return n
}

// Boot evaluates prelude as a script in a fresh virtual machine and returns the
// image, which is the same each time. While it runs, Date tells 1970, and the global
// __host is an object with one host function for each name in funcs; calling one is
// an error until an isolate provides it.
// The prelude's value must be an object: its functions are the entry points of
// VM.Call.
func (e *Engine) Boot(ctx context.Context, prelude Source, funcs []string) (*Image, error) {
	code, err := e.compile(ctx, prelude)
	if err != nil {
		return nil, fmt.Errorf("boot %s: %w", prelude.Name, err)
	}
	vm, err := e.newVM(ctx)
	if err != nil {
		return nil, err
	}
	defer vm.close()
	var image *Image
	timeless := backgroundScope(ctx)
	timeless.StopClock()
	err = vm.turn(timeless, func() error {
		if err := vm.initialize(); err != nil {
			return err
		}
		if err := vm.addHost(funcs); err != nil {
			return err
		}
		return vm.evalPrelude(code)
	})
	if err == nil {
		image, err = vm.snapshot()
	}
	if err != nil {
		return nil, fmt.Errorf("boot %s: %w", prelude.Name, err)
	}
	return image, nil
}

func (e *Engine) newVM(ctx context.Context) (*VM, error) {
	vm := e.blankVM(ctx)
	mod, memory, err := e.instantiate(vm.ctx)
	if err != nil {
		return nil, fmt.Errorf("start the engine: %w", err)
	}
	vm.mod, vm.mem, vm.linear = mod, mod.Memory(), memory
	return vm, nil
}

// blankVM is a VM without a module instance.
func (e *Engine) blankVM(ctx context.Context) *VM {
	vm := &VM{engine: e, stopped: &atomic.Bool{}, rejected: map[Value]Value{}, entryFns: map[string]Value{}}
	vm.ctx = context.WithValue(context.WithoutCancel(ctx), vmKey{}, vm)
	return vm
}

// close frees the memory. Closing a module instance cannot fail.
func (vm *VM) close() {
	if vm.companion != nil {
		vm.companion.Close()
	}
	_ = vm.mod.Close(vm.ctx)
}

func (vm *VM) initialize() error {
	vm.call(fnInitialize)
	if rc := int32(vm.call32(fnInit)); rc != 0 {
		return fmt.Errorf("the engine does not start: code %d", rc)
	}
	vm.rt, vm.js = vm.call32(fnRuntime), vm.call32(fnContext)
	vm.scratch = vm.malloc(scratchSize + argumentsSize)
	vm.call(fnSetMemoryLimit, DefaultMemoryLimit)
	vm.call(fnSetStackLimit, quickjspatch.StackLimit)
	vm.call(fnSetInterrupt, 1)
	vm.call(fnSetRejection, 1)
	vm.call(fnSetLoader, 1)
	return nil
}

// addHost makes the global __host.
func (vm *VM) addHost(funcs []string) error {
	host, err := vm.newObject(nil)
	if err != nil {
		return err
	}
	for _, name := range funcs {
		// The key of a host function lies in the heap for as long as the VM.
		key := vm.malloc(uint32(len(name)) + 1)
		vm.mem.WriteString(key, name+"\x00")
		f := vm.takeBox(vm.call32(fnNewHostFunction, uint64(key), uint64(len(name)), 0))
		if err := vm.setFields(host, []Field{{name, f}}); err != nil {
			return err
		}
	}
	global := Value(vm.call(fnGlobal, uint64(vm.js)))
	defer vm.Free(global)
	return vm.setFields(global, []Field{{"__host", host}})
}

// compile returns the bytecode of a script, without its source text: a function
// of the prelude reads as native code, and what the parser leaves behind in the
// heap is left behind with the VM that it ran in.
func (e *Engine) compile(ctx context.Context, script Source) (code []byte, err error) {
	vm, err := e.newVM(ctx)
	if err != nil {
		return nil, err
	}
	defer vm.close()
	err = vm.turn(backgroundScope(ctx), func() error {
		if err := vm.initialize(); err != nil {
			return err
		}
		text, free := vm.write(script.Code)
		defer free()
		name := vm.newCString(script.Name)
		const asScript, stripSource = 0, 1 << 4
		at := vm.call32(fnCompile, uint64(text), uint64(len(script.Code)), uint64(name), asScript, stripSource, uint64(vm.scratch))
		if at == 0 {
			return vm.exception()
		}
		code = bytes.Clone(vm.read(at, vm.readU32(vm.scratch)))
		return nil
	})
	return code, err
}

func (vm *VM) evalPrelude(code []byte) error {
	at := vm.malloc(uint32(len(code)))
	vm.mem.Write(at, code)
	box := vm.call32(fnEvalBytecode, uint64(at), uint64(len(code)))
	vm.call(fnFree, uint64(at))
	if box == 0 {
		return vm.exception()
	}
	entries, err := vm.checkValue(uint64(vm.takeBox(box)))
	if err != nil {
		return err
	}
	if entries.tag() != tagObject {
		return errors.New("its value is no object of entry points")
	}
	vm.entries = entries
	return vm.findEntries()
}

// findEntries keeps a handle of each entry point, so that a call of one is no
// look-up by name in JavaScript.
func (vm *VM) findEntries() error {
	global := Value(vm.call(fnGlobal, uint64(vm.js)))
	defer vm.Free(global)
	object, err := vm.get(global, "Object")
	if err != nil {
		return err
	}
	defer vm.Free(object)
	keys, err := vm.get(object, "keys")
	if err != nil {
		return err
	}
	defer vm.Free(keys)
	names, err := vm.apply(keys, []Value{vm.entries})
	if err != nil {
		return err
	}
	defer vm.Free(names)
	list, _ := vm.goValue(names, 0, nil).([]any)
	for _, item := range list {
		name, _ := item.(string)
		f, err := vm.get(vm.entries, name)
		if err != nil {
			return err
		}
		vm.entryFns[name] = f
	}
	return nil
}

// snapshot copies the VM at rest. The C stack below the stack pointer is dead
// and left out.
func (vm *VM) snapshot() (*Image, error) {
	sp, ok := vm.mod.ExportedGlobal("__stack_pointer").(api.MutableGlobal)
	if !ok {
		return nil, errors.New("the engine exports no stack pointer")
	}
	size := vm.mem.Size()
	im := &Image{
		size: size, stackPtr: sp.Get(), rt: vm.rt, js: vm.js, scratch: vm.scratch,
		entries: vm.entries, entryFns: maps.Clone(vm.entryFns), layout: vm.layout(),
	}
	if vm.companion != nil {
		var err error
		if im.companion, err = vm.companion.Save(); err != nil {
			return nil, err
		}
	}
	memory := vm.read(0, size)
	start := -1
	for at := int(uint32(sp.Get())) &^ (imagePage - 1); at <= len(memory); at += imagePage {
		live := at < len(memory) && !isZero(memory[at:at+imagePage])
		switch {
		case live && start < 0:
			start = at
		case !live && start >= 0:
			im.runs = append(im.runs, run{uint32(start), append([]byte(nil), memory[start:at]...)})
			start = -1
		}
	}
	return im, nil
}

// zeroFreeHeap fills the free heap with zeros, as far as it is in pieces worth it: what
// a parser left behind is as large as what it made, and an image keeps all that
// is not zero.
func (vm *VM) zeroFreeHeap() {
	const most, least, step = 1 << 20, 128, 2
	var taken []uint32
	for size := uint32(most); size >= least; size /= step {
		for before := vm.mem.Size(); vm.mem.Size() == before; {
			at := vm.malloc(size)
			clear(vm.read(at, size))
			taken = append(taken, at)
		}
	}
	for _, at := range taken {
		vm.call(fnFree, uint64(at))
	}
}

var zeroPage [imagePage]byte

func isZero(page []byte) bool { return bytes.Equal(page, zeroPage[:]) }

// share lets isolates share what they do not write of the image, where the
// system can.
func (im *Image) share() {
	if b, err := newBacking(im.size, im.runs); err == nil {
		im.backing, im.runs = b, b.runs
	}
}

// start makes a virtual machine that goes on where the image rests.
func (e *Engine) start(ctx context.Context, im *Image) (*VM, error) {
	vm, err := e.newVM(ctx)
	if err != nil {
		return nil, err
	}
	if now := vm.mem.Size(); now < im.size {
		if _, ok := vm.mem.Grow((im.size - now) / pageSize); !ok {
			vm.close()
			return nil, errors.New("start an isolate: no memory")
		}
	}
	if im.backing != nil && im.backing.lay(vm.read(0, im.size)) == nil {
		vm.laid = im.backing
	} else {
		for _, r := range im.runs {
			vm.mem.Write(r.at, r.b)
		}
		runtime.KeepAlive(im)
	}
	if err := vm.resume(im); err != nil {
		vm.close()
		return nil, err
	}
	return vm, nil
}

// rewind is start in the place of vm, which is of no use after that. False when
// its memory cannot be put back: it grew, the image has state beside it, or it
// does not lie over the image.
func (vm *VM) rewind(ctx context.Context, im *Image) (*VM, bool) {
	if vm.laid == nil || vm.laid != im.backing || vm.mem.Size() != im.size || im.companion != nil {
		return nil, false
	}
	if vm.companion != nil {
		vm.companion.Close()
		vm.companion = nil
	}
	if err := vm.laid.rewind(vm.read(0, im.size), uint32(im.stackPtr)); err != nil {
		return nil, false
	}
	fresh := vm.engine.blankVM(ctx)
	fresh.mod, fresh.mem, fresh.linear, fresh.levels, fresh.laid = vm.mod, vm.mem, vm.linear, vm.levels, vm.laid
	if vm.following {
		fresh.following = true
		fresh.follow(false)
	}
	return fresh, fresh.resume(im) == nil
}

// resume takes up where the image rests, once its memory is in place.
func (vm *VM) resume(im *Image) error {
	sp, ok := vm.mod.ExportedGlobal("__stack_pointer").(api.MutableGlobal)
	if !ok {
		return errors.New("the engine exports no stack pointer")
	}
	sp.Set(im.stackPtr)
	vm.rt, vm.js, vm.scratch, vm.entries = im.rt, im.js, im.scratch, im.entries
	vm.imageSize = im.size
	vm.entryFns = im.entryFns
	vm.restoreLayout(im.layout)
	return nil
}
