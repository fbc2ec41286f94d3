package wasm

import (
	"context"

	"github.com/tetratelabs/wazero/api"

	"github.com/pages-toolchain/pages/runtime/engine"
	"github.com/pages-toolchain/pages/runtime/wasm/rewrite"
	"github.com/pages-toolchain/pages/runtime/wasmbinary"
)

// This file provides the imports of rewritten modules.

// storeKey is the context key under which a call of an instance carries its store.
type storeKey struct{}

func storeOf(ctx context.Context) *store {
	s, _ := ctx.Value(storeKey{}).(*store)
	return s
}

// linkHost provides the functions that every program has.
func (r *Runtime) linkHost(ctx context.Context) error {
	one, ref := []api.ValueType{api.ValueTypeI32}, []api.ValueType{api.ValueTypeExternref}
	b := r.wazero.NewHostModuleBuilder(rewrite.Host)
	for _, f := range []struct {
		name            string
		params, results []api.ValueType
		call            func(s *store, stack []uint64)
	}{
		{rewrite.HostInterrupt, nil, nil, func(s *store, _ []uint64) { s.vm.Interrupt() }},
		{rewrite.HostOverflow, nil, nil, func(*store, []uint64) { panic(errOverflow()) }},
		{rewrite.HostAllow, one, one, func(s *store, stack []uint64) { stack[0] = s.allow(uint32(stack[0])) }},
		{rewrite.HostDiscard, nil, nil, func(s *store, _ []uint64) { s.release(s.currentException()) }},
		{rewrite.HostKeep, nil, nil, func(s *store, _ []uint64) { s.keep(s.currentException()) }},
		{rewrite.HostRef, append(one, one...), ref, func(s *store, stack []uint64) { stack[0] = s.ref(stack[0], stack[1]) }},
		{rewrite.HostRelease, append(one, one...), nil, func(s *store, stack []uint64) {
			s.release(exception{uint32(stack[0]), uint32(stack[1])})
		}},
		{rewrite.HostThrow, ref, nil, func(s *store, stack []uint64) { s.throw(stack[0]) }},
	} {
		b.NewFunctionBuilder().WithGoFunction(api.GoFunc(
			func(ctx context.Context, stack []uint64) { f.call(storeOf(ctx), stack) },
		), f.params, f.results).Export(f.name)
	}
	_, err := b.Instantiate(ctx)
	return err
}

// linkCalls provides the functions that call imports, for the signatures of m's.
func (r *Runtime) linkCalls(ctx context.Context, m *rewrite.Module) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, d := range m.Imports {
		if d.Kind != wasmbinary.Func {
			continue
		}
		t := m.FuncType(d.Index)
		if _, done := r.calls[rewrite.CallKey(t)]; done {
			continue
		}
		call := rewrite.CallType(t)
		_, err := r.wazero.NewHostModuleBuilder(rewrite.PrefixCall+rewrite.CallKey(t)).NewFunctionBuilder().WithGoFunction(api.GoFunc(
			func(ctx context.Context, stack []uint64) { storeOf(ctx).callImport(stack) },
		), valueTypes(call.Params), valueTypes(call.Results)).Export(rewrite.HostCall).Instantiate(ctx)
		if err != nil {
			return err
		}
		r.calls[rewrite.CallKey(t)] = struct{}{}
	}
	for _, i := range m.Tags {
		if err := r.linkTag(ctx, rewrite.Payload(m.Types[i])); err != nil {
			return err
		}
	}
	return nil
}

// linkTag provides the functions for exceptions that hold values of the types.
func (r *Runtime) linkTag(ctx context.Context, held []wasmbinary.ValType) error {
	module := rewrite.PrefixTag + wasmbinary.FuncType{Params: held}.Key()
	if _, done := r.calls[module]; done {
		return nil
	}
	one := []api.ValueType{api.ValueTypeI32}
	n := len(held)
	_, err := r.wazero.NewHostModuleBuilder(module).
		NewFunctionBuilder().WithGoFunction(api.GoFunc(
		func(ctx context.Context, stack []uint64) { storeOf(ctx).box(stack, n) },
	), append(one, valueTypes(held)...), nil).Export(rewrite.HostBox).
		NewFunctionBuilder().WithGoFunction(api.GoFunc(
		func(ctx context.Context, stack []uint64) { storeOf(ctx).open(stack, n) },
	), one, valueTypes(held)).Export(rewrite.HostOpen).Instantiate(ctx)
	if err == nil {
		r.calls[module] = struct{}{}
	}
	return err
}

func valueTypes(types []wasmbinary.ValType) []api.ValueType {
	list := make([]api.ValueType, len(types))
	for i, t := range types {
		if t == wasmbinary.Exnref {
			t = wasmbinary.Externref
		}
		list[i] = api.ValueType(t)
	}
	return list
}

func errOverflow() error {
	return &engine.Error{Name: "RangeError", Message: "Maximum call stack size exceeded"}
}
