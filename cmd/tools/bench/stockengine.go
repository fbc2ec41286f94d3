package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
)

// stockModule is the path of the npm package's engine in the repository.
var stockModule = filepath.Join("runtime", "engine", "node_modules", "quickjs-wasi", "quickjs.wasm")

// stockEngine is the unmodified JavaScript engine in wazero: without the counter, the hooks and the shortcuts of
// runtime/engine/quickjspatch. Ratios to Node.js depend on the machine and on the optimizations of its compiler; the
// unmodified engine is a fixed point.
type stockEngine struct {
	runtime wazero.Runtime
	module  api.Module
	text    uint32 // the address for code
	spare   uint32 // a few words, the first a name
}

const (
	stockText    = 64 << 10
	stockStack   = 512 << 10
	exceptionTag = 6
)

// openStockEngine starts it with the functions of pure.mjs.
func openStockEngine(ctx context.Context) (u *stockEngine, err error) {
	code, err := os.ReadFile(stockModule)
	if err != nil {
		return nil, err
	}
	u = &stockEngine{runtime: wazero.NewRuntime(ctx)}
	defer func() {
		if err != nil {
			err = errors.Join(err, u.runtime.Close(ctx))
		}
	}()
	if err := u.link(ctx); err != nil {
		return nil, err
	}
	if u.module, err = u.runtime.InstantiateWithConfig(ctx, code, wazero.NewModuleConfig().WithStartFunctions("_initialize")); err != nil {
		return nil, err
	}
	for _, call := range []struct {
		name string
		arg  []uint64
		into *uint32
	}{
		{"qjs_init", nil, nil},
		{"qjs_set_max_stack_size", []uint64{stockStack}, nil},
		{"malloc", []uint64{stockText}, &u.text},
		{"malloc", []uint64{16}, &u.spare},
	} {
		result, err := u.call(ctx, call.name, call.arg...)
		if err != nil {
			return nil, err
		}
		if call.into != nil {
			*call.into = uint32(result) //nolint:gosec // an address of 32 bits
		}
	}
	functions, err := runtimeFiles.ReadFile("pure.mjs")
	if err != nil {
		return nil, err
	}
	_, err = u.eval(ctx, strings.Replace(string(functions), "export const pures", "globalThis.pures", 1))
	return u, err
}

// link provides its imports: a clock, and functions that do nothing.
func (u *stockEngine) link(ctx context.Context) error {
	const i32, i64 = api.ValueTypeI32, api.ValueTypeI64
	nothing := func(_ context.Context, _ api.Module, stack []uint64) {
		if len(stack) > 0 {
			stack[0] = 0
		}
	}
	clock := func(_ context.Context, mod api.Module, stack []uint64) {
		mod.Memory().WriteUint64Le(uint32(stack[2]), uint64(time.Now().UnixNano())) //nolint:gosec // at an address of 32 bits
		stack[0] = 0
	}
	for module, functions := range map[string]map[string][]api.ValueType{
		"env": {
			"host_call": {i32, i32, i32, i32, i32}, "host_interrupt": {}, "host_module_normalize": {i32, i32},
			"host_module_load":       {i32, i32},
			"host_promise_rejection": {i32, i32, i32}, "host_get_timezone_offset": {i32, i32},
		},
		"wasi_snapshot_preview1": {
			"clock_time_get": {i32, i64, i32}, "random_get": {i32, i32}, "fd_write": {i32, i32, i32, i32},
			"fd_close": {i32}, "fd_seek": {i32, i64, i32, i32}, "fd_fdstat_get": {i32, i32},
		},
	} {
		b := u.runtime.NewHostModuleBuilder(module)
		for name, params := range functions {
			results, call := []api.ValueType{i32}, api.GoModuleFunc(nothing)
			switch name {
			case "clock_time_get":
				call = clock
			case "host_promise_rejection":
				results = nil
			}
			b.NewFunctionBuilder().WithGoModuleFunction(call, params, results).Export(name)
		}
		if _, err := b.Instantiate(ctx); err != nil {
			return err
		}
	}
	return nil
}

func (u *stockEngine) call(ctx context.Context, name string, args ...uint64) (uint64, error) {
	f := u.module.ExportedFunction(name)
	if f == nil {
		return 0, fmt.Errorf("%s exports no %s", stockModule, name)
	}
	results, err := f.Call(ctx, args...)
	if err != nil || len(results) == 0 {
		return 0, err
	}
	return results[0], nil
}

// eval runs a script. It returns an integer value.
func (u *stockEngine) eval(ctx context.Context, code string) (int32, error) {
	memory := u.module.Memory()
	if len(code) >= stockText || !memory.Write(u.text, append([]byte(code), 0)) || !memory.Write(u.spare, []byte("a\x00")) {
		return 0, fmt.Errorf("%d bytes of code are too many", len(code))
	}
	box, err := u.call(ctx, "qjs_eval", uint64(u.text), uint64(len(code)), uint64(u.spare), 0)
	if err != nil {
		return 0, err
	}
	value, ok := memory.ReadUint64Le(uint32(box)) //nolint:gosec // an address of 32 bits
	if !ok || value>>32 == exceptionTag {
		return 0, fmt.Errorf("the script threw: %.60s…", code)
	}
	_, err = u.call(ctx, "qjs_free_value", box)
	return int32(value), err //nolint:gosec // the half that an integer is in
}

// took is the time of a function of pure.mjs after a first run, in milliseconds.
func (u *stockEngine) took(ctx context.Context, name string, now func() time.Time) (float64, error) {
	code := fmt.Sprintf("(([times, f]) => { for (let i = 0; i < times; i++) f(); return times; })(pures[%q])", name)
	var values []float64
	for n := range samples + 1 {
		used, began := processorTime(os.Getpid()), now()
		times, err := u.eval(ctx, code)
		if err != nil {
			return 0, err
		}
		ms := milliseconds(now().Sub(began))
		if used = processorTime(os.Getpid()) - used; used > 0 && used < ms {
			ms = used
		}
		if n > 0 { // the first warms up
			values = append(values, ms/float64(times))
		}
	}
	return median(values), nil
}
