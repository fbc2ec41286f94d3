package engine

import (
	"context"

	"github.com/tetratelabs/wazero/api"
)

// vmKey is the context key under which a call into the module carries its VM.
type vmKey struct{}

// hostFunc is one import of the module. It reads arguments from stack and writes the result to stack[0]. The upper half of
// an i32 argument is not defined: it is always read through uint32.
type hostFunc struct {
	module, name    string
	params, results []api.ValueType
	call            func(vm *VM, mod api.Module, stack []uint64)
}

const (
	i32 = api.ValueTypeI32
	i64 = api.ValueTypeI64

	errnoBadf = 8  // WASI: bad file descriptor
	errnoIO   = 29 // WASI: input or output error
)

// link provides the imports of quickjs.wasm: the engine's own hooks and the six WASI functions that it uses.
func (e *Engine) link(ctx context.Context) error {
	one := []api.ValueType{i32}
	utc := func(_ *VM, _ api.Module, stack []uint64) { stack[0] = 0 }
	funcs := []hostFunc{
		{"env", "host_call", []api.ValueType{i32, i32, i32, i32, i32}, one, hostCall},
		{"env", "host_interrupt", nil, one, hostInterrupt},
		{"env", "host_module_normalize", []api.ValueType{i32, i32}, one, hostModuleNormalize},
		{"env", "host_module_load", []api.ValueType{i32, i32}, one, hostModuleLoad},
		{"env", "host_promise_rejection", []api.ValueType{i32, i32, i32}, nil, hostPromiseRejection},
		{"env", "host_get_timezone_offset", []api.ValueType{i32, i32}, one, utc},
		{"wasi_snapshot_preview1", "clock_time_get", []api.ValueType{i32, i64, i32}, one, wasiClock},
		{"wasi_snapshot_preview1", "random_get", []api.ValueType{i32, i32}, one, wasiRandom},
		{"wasi_snapshot_preview1", "fd_write", []api.ValueType{i32, i32, i32, i32}, one, wasiNoFile},
		{"wasi_snapshot_preview1", "fd_close", one, one, wasiNoFile},
		{"wasi_snapshot_preview1", "fd_seek", []api.ValueType{i32, i64, i32, i32}, one, wasiNoFile},
		{"wasi_snapshot_preview1", "fd_fdstat_get", []api.ValueType{i32, i32}, one, wasiNoFile},
	}
	for _, module := range []string{"env", "wasi_snapshot_preview1"} {
		b := e.runtime.NewHostModuleBuilder(module)
		for _, f := range funcs {
			if f.module != module {
				continue
			}
			b.NewFunctionBuilder().WithGoModuleFunction(api.GoModuleFunc(
				func(ctx context.Context, mod api.Module, stack []uint64) {
					vm, _ := ctx.Value(vmKey{}).(*VM)
					f.call(vm, mod, stack)
				},
			), f.params, f.results).Export(f.name)
		}
		if _, err := b.Instantiate(ctx); err != nil {
			return err
		}
	}
	return nil
}

// wasiClock serves both the wall clock and the monotonic one.
func wasiClock(vm *VM, mod api.Module, stack []uint64) {
	now := uint64(vm.readClock().UnixNano())
	if !mod.Memory().WriteUint64Le(uint32(stack[2]), now) {
		stack[0] = errnoIO
		return
	}
	stack[0] = 0
}

// wasiRandom gives zeros: a virtual machine asks for a seed when it boots, which would be in its image and so in every
// isolate, and an image must be the same each time. The prelude provides Math.random.
func wasiRandom(_ *VM, mod api.Module, stack []uint64) {
	b, ok := mod.Memory().Read(uint32(stack[0]), uint32(stack[1]))
	if !ok {
		stack[0] = errnoIO
		return
	}
	clear(b)
	stack[0] = 0
}

// wasiNoFile: JavaScript has no files, not even standard output.
func wasiNoFile(_ *VM, _ api.Module, stack []uint64) { stack[0] = errnoBadf }
