//go:build wazero_engine

package engine

import (
	"context"
	"crypto/sha256"
	"embed"
	"errors"
	"fmt"
	"runtime"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/experimental"
)

// This file runs quickjs.wasm in wazero: to compare it with the translation, and to distinguish a fault of the translation
// from one of the module.

// code is the compiled module.
type code struct {
	runtime wazero.Runtime
	module  wazero.CompiledModule
}

// compiled keeps machine code for all engines of the process.
var compiled = wazero.NewCompilationCache() //nolint:gochecknoglobals // a cache

func newCode(ctx context.Context) (*code, error) {
	wasm, err := artifact()
	if err != nil {
		return nil, err
	}
	config := wazero.NewRuntimeConfig().
		WithMemoryLimitPages(reserve / pageSize).
		WithDebugInfoEnabled(false).
		WithCompilationCache(compiled)
	c := &code{runtime: wazero.NewRuntimeWithConfig(ctx, config)}
	if err := c.link(ctx); err != nil {
		return nil, errors.Join(err, c.close(ctx))
	}
	c.module, err = c.runtime.CompileModule(experimental.WithCompilationWorkers(ctx, runtime.GOMAXPROCS(0)), wasm)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("compile the engine: %w", err), c.close(ctx))
	}
	return c, nil
}

func (c *code) close(ctx context.Context) error { return c.runtime.Close(ctx) }

// machineKey is the context key under which a call into the module carries its machine.
type machineKey struct{}

// hostFunc is one import of the module. It reads arguments from stack and writes the result to stack[0]. The upper half of
// an i32 argument is not defined: it is always read through uint32.
type hostFunc struct {
	module, name    string
	params, results []api.ValueType
	call            func(vm *VM, stack []uint64)
}

// link provides the imports of quickjs.wasm: the engine's own hooks and the six WASI functions that it uses.
func (c *code) link(ctx context.Context) error {
	const i32, i64 = api.ValueTypeI32, api.ValueTypeI64
	one := []api.ValueType{i32}
	utc := func(_ *VM, stack []uint64) { stack[0] = 0 }
	noFile := func(_ *VM, stack []uint64) { stack[0] = errnoBadf }
	funcs := []hostFunc{
		{"env", "host_call", []api.ValueType{i32, i32, i32, i32, i32}, one, hostCall},
		{"env", "host_interrupt", nil, one, hostInterrupt},
		{"env", "host_module_normalize", []api.ValueType{i32, i32}, one, hostModuleNormalize},
		{"env", "host_module_load", []api.ValueType{i32, i32}, one, hostModuleLoad},
		{"env", "host_promise_rejection", []api.ValueType{i32, i32, i32}, nil, hostPromiseRejection},
		{"env", "host_get_timezone_offset", []api.ValueType{i32, i32}, one, utc},
		{"wasi_snapshot_preview1", "clock_time_get", []api.ValueType{i32, i64, i32}, one, wasiClock},
		{"wasi_snapshot_preview1", "random_get", []api.ValueType{i32, i32}, one, wasiRandom},
		{"wasi_snapshot_preview1", "fd_write", []api.ValueType{i32, i32, i32, i32}, one, noFile},
		{"wasi_snapshot_preview1", "fd_close", one, one, noFile},
		{"wasi_snapshot_preview1", "fd_seek", []api.ValueType{i32, i64, i32, i32}, one, noFile},
		{"wasi_snapshot_preview1", "fd_fdstat_get", []api.ValueType{i32, i32}, one, noFile},
	}
	for _, module := range []string{"env", "wasi_snapshot_preview1"} {
		b := c.runtime.NewHostModuleBuilder(module)
		for _, f := range funcs {
			if f.module != module {
				continue
			}
			b.NewFunctionBuilder().WithGoModuleFunction(api.GoModuleFunc(
				func(ctx context.Context, _ api.Module, stack []uint64) {
					m, _ := ctx.Value(machineKey{}).(*machine)
					f.call(m.vm, stack)
				},
			), f.params, f.results).Export(f.name)
		}
		if _, err := b.Instantiate(ctx); err != nil {
			return err
		}
	}
	return nil
}

// machine is an instance of the module.
type machine struct {
	vm      *VM
	memory  *linear
	module  api.Module
	globals [globalCount]api.MutableGlobal
	frames  map[*frame]*[fnCount]api.Function // that a frame has called: one must not be re-entered
	ctx     context.Context                   //nolint:containedctx // carries the machine to its host functions
}

// newMachine returns an instance for vm.
func (c *code) newMachine(vm *VM) (_ *machine, err error) {
	m := &machine{vm: vm, frames: map[*frame]*[fnCount]api.Function{}}
	m.ctx = context.WithValue(vm.ctx, machineKey{}, m)
	defer func() { // the allocator reports an error by a panic, since wazero's interface has no error result
		if p := recover(); p != nil {
			full, ok := p.(*AddressSpaceError)
			if !ok {
				panic(p)
			}
			err = full
		}
	}()
	allocating := experimental.WithMemoryAllocator(m.ctx, experimental.MemoryAllocatorFunc(func(first, _ uint64) experimental.LinearMemory {
		memory, err := newLinear(first)
		if err != nil {
			panic(err)
		}
		m.memory = memory
		return memory
	}))
	m.module, err = c.runtime.InstantiateModule(allocating, c.module, wazero.NewModuleConfig().WithName("").WithStartFunctions())
	if err != nil {
		return nil, err
	}
	for id, name := range globalNames {
		var ok bool
		if m.globals[id], ok = m.module.ExportedGlobal(name).(api.MutableGlobal); !ok {
			return nil, fmt.Errorf("the engine exports no global %q", name)
		}
	}
	return m, nil
}

// load writes the module's data into memory: wazero has done it.
func (*machine) load() {}

// bind makes vm the virtual machine that the module runs.
func (m *machine) bind(vm *VM) { m.vm = vm }

// call calls an exported function with the arguments of a frame. An error is a panic in it, of a function of the host, or for
// an access outside of memory.
func (m *machine) call(fr *frame, id fnID) error {
	functions := m.frames[fr]
	if functions == nil {
		functions = &[fnCount]api.Function{}
		m.frames[fr] = functions
	}
	f := functions[id]
	if f == nil {
		f = m.module.ExportedFunction(fnNames[id])
		functions[id] = f
	}
	return f.CallWithStack(m.ctx, fr.stack[:])
}

func (m *machine) get(id globalID) uint32 { return uint32(m.globals[id].Get()) }

func (m *machine) set(id globalID, v uint32) { m.globals[id].Set(uint64(v)) }

// grow adds pages to the memory.
func (m *machine) grow(pages uint32) bool {
	_, ok := m.module.Memory().Grow(pages)
	return ok
}

// close frees the memory. Closing a module instance cannot fail.
func (m *machine) close() { _ = m.module.Close(m.ctx) }

// artifacts holds quickjs.wasm once cmd/tools/artifacts has built it; before that only a README, so that the module compiles.
//
//go:embed artifact
var artifacts embed.FS

// artifact returns the instrumented quickjs.wasm, or ErrNoArtifact.
func artifact() ([]byte, error) {
	b, err := artifacts.ReadFile("artifact/quickjs.wasm")
	if err != nil {
		return nil, ErrNoArtifact
	}
	return b, nil
}

// Fingerprint is the SHA-256 of the embedded module: an image fits only an engine with the same one. Error: ErrNoArtifact.
func Fingerprint() ([sha256.Size]byte, error) {
	wasm, err := artifact()
	if err != nil {
		return [sha256.Size]byte{}, err
	}
	return sha256.Sum256(wasm), nil
}
