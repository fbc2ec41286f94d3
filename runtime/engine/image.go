package engine

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"runtime"
	"slices"
	"sync/atomic"

	"github.com/pages-toolchain/pages/runtime/engine/quickjspatch"
)

// Source is a script or module.
type Source struct{ Name, Code string }

// Image is a virtual machine at rest: its memory, and the addresses of the engine's structures in it. It is immutable and
// may be started any number of times, also concurrently.
type Image struct {
	size      uint32 // bytes of linear memory
	runs      []run
	stackPtr  uint32
	rt, js    uint32
	scratch   uint32
	entries   Value
	entryFns  map[string]Value
	regions   []Region // regions without the VM
	spans     []span
	companion any         // the state that the VM's Companion saved
	file      *memoryFile // has the runs, if the system can share pages; otherwise nil
}

// run is a part of memory; all else is zero.
type run struct {
	at uint32
	b  []byte
}

const imagePage = 4 << 10

var zeroPage [imagePage]byte

// Size is the number of bytes of memory that the image holds.
func (im *Image) Size() int {
	n := 0
	for _, r := range im.runs {
		n += len(r.b)
	}
	return n
}

// Boot evaluates prelude as a script in a new virtual machine and returns the image, which is the same each time. While it
// runs, Date returns 1970, and the global __host is an object with one host function for each name in funcs; calling one
// is an error until an isolate provides it. The prelude's value must be an object: its functions are the entry points of
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
	scope := backgroundScope(ctx)
	scope.StopClock()
	err = vm.turn(scope, func() error {
		if err := vm.initialize(); err != nil {
			return err
		}
		if err := vm.addHost(funcs); err != nil {
			return err
		}
		return vm.evalPrelude(code)
	})
	var image *Image
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
	var err error
	if vm.mod, err = e.code.newMachine(vm); err != nil {
		return nil, fmt.Errorf("start the engine: %w", err)
	}
	vm.mem = vm.mod.memory
	return vm, nil
}

// blankVM returns a VM without a module instance.
func (e *Engine) blankVM(ctx context.Context) *VM {
	vm := &VM{engine: e, stopped: &atomic.Bool{}, rejected: map[Value]Value{}, entryFns: map[string]Value{}}
	vm.ctx = context.WithoutCancel(ctx)
	return vm
}

// close frees the memory.
func (vm *VM) close() {
	if vm.companion != nil {
		vm.companion.Close()
	}
	vm.mod.close()
}

func (vm *VM) initialize() error {
	vm.mod.load()
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
		key := vm.newCString(name) // for the life of the VM
		f := vm.unbox(vm.call32(fnNewHostFunction, uint64(key), uint64(len(name)), 0))
		if err := vm.setFields(host, []Field{{name, f}}); err != nil {
			return err
		}
	}
	global := Value(vm.call(fnGlobal, uint64(vm.js)))
	defer vm.Free(global)
	return vm.setFields(global, []Field{{"__host", host}})
}

// compile returns the bytecode of a script without its source text, so that functions of the prelude read as native code,
// and with private names. It uses a separate VM, so that the parser's garbage stays in that VM's heap.
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
		return privateNames(code)
	})
	return code, err
}

// evalPrelude evaluates the prelude and keeps a handle of each entry point, so that a call needs no look-up by name in
// JavaScript.
func (vm *VM) evalPrelude(code []byte) error {
	at := vm.malloc(uint32(len(code)))
	vm.mem.write(at, code)
	box := vm.call32(fnEvalBytecode, uint64(at), uint64(len(code)))
	vm.call(fnFree, uint64(at))
	if box == 0 {
		return vm.exception()
	}
	entries, err := vm.checkValue(uint64(vm.unbox(box)))
	if err != nil {
		return err
	}
	if entries.tag() != tagObject {
		return errors.New("its value is not an object of entry points")
	}
	vm.entries = entries
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
	names, err := vm.apply(keys, []Value{entries})
	if err != nil {
		return err
	}
	defer vm.Free(names)
	list, _ := vm.goValue(names, 0, nil).([]any)
	for _, item := range list {
		name, _ := item.(string)
		if vm.entryFns[name], err = vm.get(entries, name); err != nil {
			return err
		}
	}
	return nil
}

// snapshot copies the VM at rest, without the dead part of the C stack below the stack pointer.
func (vm *VM) snapshot() (*Image, error) {
	size, sp := vm.mem.length(), vm.mod.get(globalStack)
	im := &Image{
		size: size, stackPtr: sp, rt: vm.rt, js: vm.js, scratch: vm.scratch,
		entries: vm.entries, entryFns: maps.Clone(vm.entryFns), spans: slices.Clone(vm.spans),
	}
	for _, r := range vm.regions {
		im.regions = append(im.regions, Region{span: r.span, size: r.size})
	}
	if vm.companion != nil {
		var err error
		if im.companion, err = vm.companion.Save(); err != nil {
			return nil, err
		}
	}
	memory := vm.read(0, size)
	start := -1
	for at := int(sp) &^ (imagePage - 1); at <= len(memory); at += imagePage {
		live := at < len(memory) && !bytes.Equal(memory[at:at+imagePage], zeroPage[:])
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

// zeroFreeHeap zeroes the larger pieces of the free heap: an image stores all nonzero bytes, and a parser leaves as much
// garbage as code.
func (vm *VM) zeroFreeHeap() {
	const most, least, step = 1 << 20, 128, 2
	var taken []uint32
	for size := uint32(most); size >= least; size /= step {
		for before := vm.mem.length(); vm.mem.length() == before; {
			at := vm.malloc(size)
			clear(vm.read(at, size))
			taken = append(taken, at)
		}
	}
	for _, at := range taken {
		vm.call(fnFree, uint64(at))
	}
}

// start makes a virtual machine that continues from the image.
func (e *Engine) start(ctx context.Context, im *Image) (*VM, error) {
	vm, err := e.newVM(ctx)
	if err != nil {
		return nil, err
	}
	if now := vm.mem.length(); now < im.size {
		if !vm.mod.grow((im.size - now) / pageSize) {
			vm.close()
			return nil, errors.New("start an isolate: no memory")
		}
	}
	if im.file != nil && im.file.mapInto(vm.read(0, im.size)) == nil {
		vm.file = im.file
	} else {
		for _, r := range im.runs {
			vm.mem.write(r.at, r.b)
		}
		runtime.KeepAlive(im)
	}
	vm.resume(im)
	return vm, nil
}

// rewind is start with the module instance of vm, which is unusable afterwards. It returns false when the memory cannot be
// restored: it grew, the image has further state, or the memory is not a mapping of the image's file.
func (vm *VM) rewind(ctx context.Context, im *Image) (*VM, bool) {
	if vm.file == nil || vm.file != im.file || vm.mem.length() != im.size || im.companion != nil {
		return nil, false
	}
	if vm.companion != nil {
		vm.companion.Close()
		vm.companion = nil
	}
	if err := vm.file.restore(vm.read(0, im.size), im.stackPtr); err != nil {
		return nil, false
	}
	fresh := vm.engine.blankVM(ctx)
	fresh.mod, fresh.mem, fresh.frames, fresh.file = vm.mod, vm.mem, vm.frames, vm.file
	if vm.following {
		fresh.mod.set(globalFollow, 0)
	}
	fresh.resume(im)
	return fresh, true
}

// resume sets the state of vm that is not in its memory.
func (vm *VM) resume(im *Image) {
	vm.mod.bind(vm)
	vm.mod.set(globalStack, im.stackPtr)
	vm.rt, vm.js, vm.scratch, vm.entries = im.rt, im.js, im.scratch, im.entries
	vm.imageSize = im.size
	vm.entryFns = im.entryFns
	for _, r := range im.regions {
		vm.regions = append(vm.regions, &Region{vm: vm, span: r.span, size: r.size})
		vm.charged += int64(r.size) // the heap's limit is in the image
	}
	vm.spans = append(vm.spans, im.spans...)
	vm.watchLimit()
}
