package engine

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"sync/atomic"

	"github.com/tetratelabs/wazero/api"
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
// image. While it runs, the global __host is an object with one host function
// for each name in funcs; calling one is an error until an isolate provides it.
// The prelude's value must be an object: its functions are the entry points of
// VM.Call.
func (e *Engine) Boot(ctx context.Context, prelude Source, funcs []string) (*Image, error) {
	vm, err := e.newVM(ctx)
	if err != nil {
		return nil, err
	}
	defer vm.close()
	var image *Image
	err = vm.turn(NewScope(ctx, 0, nil), func() error {
		if err := vm.initialize(); err != nil {
			return err
		}
		if err := vm.addHost(funcs); err != nil {
			return err
		}
		return vm.evalPrelude(prelude)
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
	vm := &VM{engine: e, stopped: &atomic.Bool{}, rejected: map[Value]Value{}, entryFns: map[string]Value{}}
	vm.ctx = context.WithValue(context.WithoutCancel(ctx), vmKey{}, vm)
	mod, err := e.instantiate(vm.ctx)
	if err != nil {
		return nil, fmt.Errorf("start the engine: %w", err)
	}
	vm.mod, vm.mem = mod, mod.Memory()
	return vm, nil
}

// close frees the memory. Closing a module instance cannot fail.
func (vm *VM) close() {
	if vm.beside != nil {
		vm.beside.Close()
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
	vm.call(fnSetStackLimit, stackLimit)
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

func (vm *VM) evalPrelude(prelude Source) error {
	code, free := vm.write(prelude.Code)
	defer free()
	name := vm.malloc(uint32(len(prelude.Name)) + 1)
	defer func() { vm.call(fnFree, uint64(name)) }()
	vm.mem.WriteString(name, prelude.Name+"\x00")
	entries, err := vm.made(vm.call(fnEval, uint64(vm.js), uint64(code), uint64(len(prelude.Code)), uint64(name), 0))
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
	list, _ := vm.goValue(names, 0).([]any)
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
	if vm.beside != nil {
		var err error
		if im.companion, err = vm.beside.Save(); err != nil {
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

func isZero(b []byte) bool {
	for _, x := range b {
		if x != 0 {
			return false
		}
	}
	return true
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
	for _, r := range im.runs {
		vm.mem.Write(r.at, r.b)
	}
	sp, ok := vm.mod.ExportedGlobal("__stack_pointer").(api.MutableGlobal)
	if !ok {
		vm.close()
		return nil, errors.New("the engine exports no stack pointer")
	}
	sp.Set(im.stackPtr)
	vm.rt, vm.js, vm.scratch, vm.entries = im.rt, im.js, im.scratch, im.entries
	vm.entryFns = im.entryFns
	vm.adopt(im.layout)
	return vm, nil
}
