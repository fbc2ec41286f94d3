package engine

import (
	"errors"
	"fmt"
	"path"
	"strings"
)

// Call calls an entry point of the prelude. The error is its exception. The
// caller frees the value.
func (vm *VM) Call(entry string, args ...any) (Value, error) {
	f, ok := vm.entryFns[entry]
	if !ok {
		return 0, fmt.Errorf("the prelude has no entry point %q", entry)
	}
	values, err := vm.convert(args)
	if err != nil {
		return 0, err
	}
	defer vm.freeAll(values)
	return vm.apply(f, values)
}

// Import evaluates a module and all it imports, drains the job queue, and returns the module's namespace. Errors: the
// module's exception; a top-level await that is still pending when the queue is empty. The caller frees the value.
func (vm *VM) Import(module Source) (Value, error) {
	promise, err := vm.evalModule(module)
	if err != nil {
		return 0, vm.parseError(err)
	}
	defer vm.Free(promise)
	vm.drain()
	namespace, err := vm.promiseResult(promise)
	return namespace, vm.parseError(err)
}

// evalModule begins to evaluate a module and returns the promise of its namespace.
func (vm *VM) evalModule(module Source) (Value, error) {
	code, free := vm.write(module.Code)
	name := vm.newCString(module.Name)
	const asModule = 1
	vm.mod.set(globalRefused, 0)
	box := vm.call32(fnEvalModule, uint64(code), uint64(len(module.Code)), uint64(name), asModule)
	free()
	vm.call(fnFree, uint64(name))
	if box == 0 {
		return 0, vm.exception()
	}
	return vm.checkValue(uint64(vm.unbox(box)))
}

// parseError is the error of a module that did not load. After a refused allocation the parser continues, and misreads code
// that it could not store: then a SyntaxError means a lack of memory.
func (vm *VM) parseError(err error) error {
	thrown, ok := errors.AsType[*Error](err)
	if !ok || thrown.Name != "SyntaxError" || vm.mod.get(globalRefused) == 0 {
		return err
	}
	vm.MeetLimit()
	return OutOfMemory()
}

// Loaded is the specifier of a module of IsolateOptions.Modules; as a value for VM.New it is the module's namespace. The
// module is evaluated at once, unless it has been, so it must not await at its top level. It must have a default export.
type Loaded string

// load returns the namespace of a module of IsolateOptions.Modules.
func (vm *VM) load(specifier string) (Value, error) {
	if _, ok := vm.mods[specifier]; !ok {
		return 0, &Error{Name: "Error", Message: fmt.Sprintf("no such module %q", specifier)}
	}
	promise, err := vm.evalModule(Source{
		Name: "load:" + specifier,
		Code: fmt.Sprintf("export * from %[1]q; export { default } from %[1]q", specifier),
	})
	if err != nil {
		return 0, err
	}
	defer vm.Free(promise)
	return vm.promiseResult(promise)
}

// promiseResult returns the value of a fulfilled promise.
func (vm *VM) promiseResult(promise Value) (Value, error) {
	const (
		pending  = 0
		rejected = 2
	)
	switch state := int32(vm.call32(fnPromiseState, uint64(vm.js), uint64(promise))); state {
	case pending:
		return 0, &Error{Name: "Error", Message: "the module's top-level await never settled"}
	case rejected:
		reason := Value(vm.call(fnPromiseResult, uint64(vm.js), uint64(promise)))
		defer vm.Free(reason)
		if known, ok := vm.rejected[promise]; ok { // the error returned here reports it
			vm.Free(known)
			vm.Free(promise)
			delete(vm.rejected, promise)
		}
		return 0, vm.errorOf(reason)
	}
	return vm.checkValue(vm.call(fnPromiseResult, uint64(vm.js), uint64(promise)))
}

// cString returns the C string at ptr.
func (vm *VM) cString(ptr uint32) string {
	const longest = 64 << 10
	for n := range uint32(longest) {
		b := vm.mem.at(ptr+n, 1)
		if b == nil || b[0] == 0 {
			return string(vm.read(ptr, n))
		}
	}
	return string(vm.read(ptr, longest))
}

// newCString returns a malloc'd C string, which becomes the module's.
func (vm *VM) newCString(s string) uint32 {
	ptr := vm.malloc(uint32(len(s)) + 1)
	vm.mem.writeString(ptr, s+"\x00")
	return ptr
}

// hostModuleNormalize is env.host_module_normalize(base, name) -> name. Names of the host's own modules stay unchanged;
// paths of modules begin with "./" and are relative to the base, the main module's to none.
func hostModuleNormalize(vm *VM, stack []uint64) {
	name := vm.cString(uint32(stack[1]))
	if strings.HasPrefix(name, "./") || strings.HasPrefix(name, "../") {
		folder := "."
		if base := vm.cString(uint32(stack[0])); strings.HasPrefix(base, "./") {
			folder = path.Dir(base)
		}
		name = "./" + path.Join(folder, name)
	}
	vm.depth++
	defer func() { vm.depth-- }()
	stack[0] = uint64(vm.newCString(name))
}

// hostModuleLoad is env.host_module_load(name, &length) -> source, or 0 with an exception pending.
func hostModuleLoad(vm *VM, stack []uint64) {
	name, length := vm.cString(uint32(stack[0])), uint32(stack[1])
	vm.depth++
	defer func() { vm.depth-- }()
	source, ok := vm.mods[name]
	if !ok {
		vm.throw(&Error{Name: "Error", Message: fmt.Sprintf("no such module %q", name)})
		stack[0] = 0
		return
	}
	vm.mem.writeU32(length, uint32(len(source)))
	stack[0] = uint64(vm.newCString(source))
}
