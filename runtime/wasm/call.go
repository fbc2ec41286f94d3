package wasm

import (
	"cmp"
	"errors"
	"strconv"
	"strings"

	"github.com/tetratelabs/wazero/api"

	"github.com/pages-toolchain/pages/runtime/engine"
	"github.com/pages-toolchain/pages/runtime/wasm/rewrite"
	"github.com/pages-toolchain/pages/runtime/wasmbinary"
)

// resolve follows imports to the function itself.
func (f function) resolve() function {
	for int(f.index) < f.instance.program.ImportedFuncs && f.instance.imports[f.index].instance != nil {
		f = f.instance.imports[f.index]
	}
	return f
}

func (f function) typ() wasmbinary.FuncType { return f.instance.program.FuncType(f.index) }

func (f function) name() string { return rewrite.PrefixFunc + strconv.Itoa(int(f.index)) }

// function returns the function of a code from JavaScript.
func (s *store) function(code int64) (function, error) {
	in, index, err := s.decode(code)
	if err != nil {
		return function{}, err
	}
	if _, known := in.program.positions[int(index)]; !known {
		return function{}, engine.TypeError("there is no function %d", index)
	}
	return function{in, index}, nil
}

// enter takes a frame and the stack of a call; leave releases them.
func (s *store) enter(n int) (*frame, uint64, error) {
	had := s.stack.Get()
	if s.depth == 0 {
		had = stackSize
	}
	left := int32(uint32(had)) - callCost
	if left < 0 {
		return nil, 0, errOverflow()
	}
	s.stack.Set(uint64(uint32(left)))
	if s.depth == len(s.frames) {
		s.frames = append(s.frames, &frame{})
	}
	f := s.frames[s.depth]
	s.depth++
	if cap(f.values) < n {
		f.values = make([]uint64, n)
	}
	f.values = f.values[:n]
	return f, had, nil
}

func (s *store) leave(had uint64) {
	s.depth--
	s.stack.Set(had)
	if s.depth == 0 {
		s.sweepBoxes()
	}
}

// call calls f with converted arguments. The error is for JavaScript.
func (s *store) call(f function, args func(i int) engine.Value) (any, error) {
	t := f.typ()
	if t.Has(wasmbinary.V128, wasmbinary.Exnref) {
		return nil, engine.TypeError("type incompatibility when transforming from/to JS")
	}
	fr, had, err := s.enter(max(len(t.Params), len(t.Results)))
	if err != nil {
		return nil, err
	}
	defer s.leave(had)
	for i, p := range t.Params {
		if fr.values[i], err = s.toWasm(f.instance, p, args(i)); err != nil {
			return nil, err
		}
	}
	if err := f.instance.run(f.name(), fr.values); err != nil {
		return nil, s.failure(err)
	}
	if s.raised.Get() != 0 {
		return nil, s.failure(s.takeException())
	}
	if err := s.flush(); err != nil {
		return nil, err
	}
	switch len(t.Results) {
	case 0:
		return engine.Undefined, nil
	case 1:
		return s.toJS(t.Results[0], fr.values[0])
	}
	list := make([]any, len(t.Results))
	for i, r := range t.Results {
		if list[i], err = s.toJS(r, fr.values[i]); err != nil {
			return nil, err
		}
	}
	return list, nil
}

// callImport calls an imported function: rewrite.HostCall. A failure is a panic, which unwinds the instance, as is an
// exception where code is not lowered.
func (s *store) callImport(stack []uint64) {
	in, index := s.instances[int(uint32(stack[0]))], uint32(stack[1])
	t, f, throws := in.program.FuncType(index), in.imports[index], in.program.Throws
	var err error
	switch {
	case t.Has(wasmbinary.V128):
		err = engine.TypeError("type incompatibility when transforming from/to JS")
	case f.instance != nil:
		err = s.callOther(f.resolve(), stack, len(t.Params), len(t.Results))
	default:
		err = s.callJS(in, index, t, stack)
	}
	if err != nil && !(throws && s.raise(err)) {
		panic(err)
	}
	if f.instance != nil && !throws && s.raised.Get() != 0 {
		panic(s.takeException())
	}
}

// callOther calls a function of another instance, without conversion.
func (s *store) callOther(f function, stack []uint64, params, results int) error {
	fr, had, err := s.enter(max(params, results))
	if err != nil {
		return err
	}
	defer s.leave(had)
	copy(fr.values, stack[2:2+params])
	if err := f.instance.run(f.name(), fr.values); err != nil {
		if e, ok := errors.AsType[*exception](err); ok {
			return e
		}
		return s.failure(err)
	}
	copy(stack, fr.values[:results])
	return nil
}

func (s *store) callJS(in *instance, index uint32, t wasmbinary.FuncType, stack []uint64) error {
	if err := s.flush(); err != nil {
		return err
	}
	args := make([]engine.Value, 2, 2+len(t.Params))
	args[0], args[1] = s.number(float64(in.id)), s.number(float64(index))
	for i, p := range t.Params {
		x, err := s.toJS(p, stack[2+i])
		if err != nil {
			return err
		}
		v, err := s.vm.New(x)
		if err != nil {
			return err
		}
		args = append(args, v)
	}
	result, err := s.vm.Invoke("wasmCall", args...)
	if err != nil {
		return err
	}
	defer s.vm.Free(result)
	switch len(t.Results) {
	case 0:
		return nil
	case 1:
		stack[0], err = s.toWasm(in, t.Results[0], result)
		return err
	}
	for i, r := range t.Results {
		v, err := s.vm.Index(result, uint32(i))
		if err == nil {
			stack[i], err = s.toWasm(in, r, v)
			s.vm.Free(v)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// toWasm is ToWebAssemblyValue for a value that goes into in. References in JavaScript are numbers: of a function its code,
// of an externref its slot, and 0 for null.
func (s *store) toWasm(in *instance, t wasmbinary.ValType, v engine.Value) (uint64, error) {
	switch t {
	case wasmbinary.I32:
		n, err := s.vm.ToInt32(v)
		return uint64(uint32(n)), err
	case wasmbinary.I64:
		n, err := s.vm.ToBigInt64(v)
		return uint64(n), err
	default:
	}
	x, err := s.vm.ToNumber(v)
	if err != nil {
		return 0, err
	}
	switch t {
	case wasmbinary.F32:
		return api.EncodeF32(float32(x)), nil
	case wasmbinary.F64:
		return api.EncodeF64(x), nil
	case wasmbinary.Funcref:
		return s.refOf(in, int64(x))
	case wasmbinary.Externref:
		return uint64(uint32(x)), nil
	default:
	}
	return 0, engine.TypeError("type incompatibility when transforming from/to JS")
}

// toJS is ToJSValue.
func (s *store) toJS(t wasmbinary.ValType, v uint64) (any, error) {
	switch t {
	case wasmbinary.I32:
		return int(int32(uint32(v))), nil
	case wasmbinary.I64:
		return engine.BigInt(v), nil
	case wasmbinary.F32:
		return float64(api.DecodeF32(v)), nil
	case wasmbinary.F64:
		return api.DecodeF64(v), nil
	case wasmbinary.Funcref:
		return s.codeOf(v)
	case wasmbinary.Externref:
		return int(uint32(v)), nil
	default:
	}
	return nil, engine.TypeError("type incompatibility when transforming from/to JS")
}

// refOf returns the reference to the function of a code, for in.
func (s *store) refOf(in *instance, code int64) (uint64, error) {
	if code == 0 {
		return 0, nil
	}
	f, err := s.function(code)
	if err != nil {
		return 0, err
	}
	join(in, f.instance)
	values := []uint64{uint64(f.instance.program.positions[int(f.index)])}
	err = f.instance.run(rewrite.FnRef, values)
	return values[0], err
}

// codeOf returns the code of the function that ref refers to; 0 for null.
func (s *store) codeOf(ref uint64) (float64, error) {
	if ref == 0 {
		return 0, nil
	}
	f, known := s.refs[ref]
	if !known {
		if err := s.index(); err != nil {
			return 0, err
		}
		if f, known = s.refs[ref]; !known {
			return 0, engine.TypeError("a reference to no function")
		}
	}
	f = f.resolve()
	return code(f.instance, f.index), nil
}

// index adds the references of new instances to refs.
func (s *store) index() error {
	for _, in := range s.instances {
		if in.indexed {
			continue
		}
		in.indexed = true
		values := make([]uint64, 1)
		for at, fn := range in.program.Refs {
			if fn == wasmbinary.NoRef {
				continue
			}
			values[0] = uint64(at)
			if err := in.run(rewrite.FnRef, values); err != nil {
				return err
			}
			s.refs[values[0]] = function{in, uint32(fn)}
		}
	}
	return nil
}

// failure returns the error for JavaScript of a failed call: an exception stays the same, a trap becomes a RuntimeError. Any
// other error ends the turn.
func (s *store) failure(err error) error {
	if e, ok := errors.AsType[*exception](err); ok {
		s.resume(*e)
		return s.takeThrown()
	}
	s.release(*s.takeException()) // a trap is not raised
	if t, ok := errors.AsType[*engine.ThrownError](err); ok {
		return t
	}
	const wasmError = "wasm error: "
	if text, ok := strings.CutPrefix(err.Error(), wasmError); ok {
		text, _, _ = strings.Cut(text, "\n")
		if text == "stack overflow" {
			return errOverflow()
		}
		return &engine.Error{Name: "RuntimeError", Message: cmp.Or(trapTexts[text], text)}
	}
	if e, ok := errors.AsType[*engine.Error](err); ok && !engine.IsBroken(err) {
		return e
	}
	s.vm.Abort(err)
	return err
}

// trapTexts are the platform's texts of traps, where wazero's text is of that trap alone.
var trapTexts = map[string]string{
	"out of bounds memory access":   "memory access out of bounds",
	"indirect call type mismatch":   "null function or function signature mismatch",
	"invalid conversion to integer": "float unrepresentable in integer range",
	"unaligned atomic":              "operation does not support unaligned accesses",
}
