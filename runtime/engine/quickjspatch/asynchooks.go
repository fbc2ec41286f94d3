package quickjspatch

import (
	"errors"
	"slices"

	"github.com/pages-toolchain/pages/runtime/wasmbinary"
	"github.com/pages-toolchain/pages/runtime/wasmbinary/op"
)

// This file lets the host follow asynchronous code. QuickJS has no hook for
// what runs after an await: perform_promise_then, which then, await and async
// iteration all go through, keeps the reactions of a promise, and JS_EnqueueJob
// takes microtasks and the calls of foreign thenables. Each call of the two
// goes to a new function, which passes it on as it is while the new global
// [FollowGlobal] is 0, and else hands it to the import env.host_call, whose
// second argument then is one of the marks below instead of a name's length.
// perform_promise_then is not exported: it is the function of its type that the
// exported JS_PromiseThen calls.

// What QuickJS exports beside its own once it is rewritten. Another module gets
// no more exports.
const (
	// FollowGlobal is a mutable i32: whether the host wants to hear.
	FollowGlobal = "pages_follow"
	// CounterGlobal is the fuel counter, a mutable i32: 0 while it calls
	// env.host_interrupt, and never when the module does so by itself.
	CounterGlobal = "pages_fuel"
	// PerformThen is perform_promise_then (context i32, promise i64, handlers
	// i32, resolving functions i32) -> i32.
	PerformThen = "pages_promise_then"
)

// Marks in the second argument of env.host_call. The others are, for MarkThen,
// the handlers, the promise's lower and upper half and the resolving functions;
// for MarkJob the arguments, the function, the number of arguments, and 0.
const (
	MarkThen = 0xffffffff
	MarkJob  = 0xfffffffe
)

const (
	exportFunc   = 0x00
	exportGlobal = 0x03
	// reactionArguments is how many arguments the jobs of reactions have, which
	// are followed from where they were made.
	reactionArguments = 5
)

// patcher is where the calls go.
type patcher struct {
	then, job         uint32 // perform_promise_then, JS_EnqueueJob
	thenType, jobType uint32
	moveType          uint32 // memorymove.go
	first             uint32 // index of the first new function
	host              uint32 // env.host_call
	counter, global   uint32
	owners            owners
	searcher          regexpSearcher
	mover             arrayMover
	texter            stringSearcher
	tracer            tracer
	date              int // js_Date_parse, of the module's own
	trampoline        trampoline
}

// patcher finds the two functions; nil when the module exports neither: it is
// not QuickJS then.
func (l layout) patcher() (*patcher, error) {
	job, hasJob := l.exports["JS_EnqueueJob"]
	outer, hasThen := l.exports["JS_PromiseThen"]
	if !hasJob && !hasThen {
		return nil, nil
	}
	if !hasJob || !hasThen || l.imports.hostCall < 0 {
		return nil, errors.New("the module lacks JS_EnqueueJob, JS_PromiseThen or env.host_call")
	}
	calls, err := callsOf(l.code[outer-l.imports.funcs])
	if err != nil {
		return nil, err
	}
	thenType, moving := l.typeIndex("\x60\x04\x7f\x7e\x7f\x7f\x01\x7f"), l.typeIndex(moveType)
	calls = slices.DeleteFunc(calls, func(f uint32) bool { return thenType < 0 || l.typeOf(f) != uint32(thenType) })
	if len(calls) != 1 {
		return nil, errors.New("JS_PromiseThen does not call one function of perform_promise_then's type")
	}
	if moving < 0 {
		return nil, errors.New("the module has no function of the type that moving memory needs")
	}
	owners, err := l.owners(calls[0])
	if err != nil {
		return nil, err
	}
	searcher, err := l.regexpSearcher()
	if err != nil {
		return nil, err
	}
	mover, err := l.arrayMover()
	if err != nil {
		return nil, err
	}
	texter, err := l.stringSearcher()
	if err != nil {
		return nil, err
	}
	tracer, err := l.tracer()
	if err != nil {
		return nil, err
	}
	date, err := l.uniqueFunction(dateParserType, dateYear, 1)
	if err != nil {
		return nil, err
	}
	trampoline, err := l.trampoline()
	if err != nil {
		return nil, err
	}
	return &patcher{
		tracer:     tracer,
		date:       date,
		trampoline: trampoline,
		owners:     owners,
		searcher:   searcher,
		mover:      mover,
		texter:     texter,
		moveType:   uint32(moving),
		then:       calls[0], thenType: uint32(thenType), job: job, jobType: l.typeOf(job),
		first: l.imports.funcs + uint32(len(l.code)), host: uint32(l.imports.hostCall),
	}, nil
}

// callsOf lists the functions that a body calls by name.
func callsOf(body []byte) (calls []uint32, err error) {
	r := &wasmbinary.Reader{Bytes: body}
	skipLocals(r)
	for r.More() {
		opcode := r.Byte()
		start := r.At
		skipImmediates(r, opcode)
		if opcode == op.Call && r.Err == nil {
			f := &wasmbinary.Reader{Bytes: body, At: start}
			calls = append(calls, f.U32())
		}
	}
	return calls, r.Err
}

// redirect is where a call of function f goes.
func (f *patcher) redirect(callee uint32) uint32 {
	switch {
	case f == nil:
	case callee == f.then:
		return f.first
	case callee == f.job:
		return f.first + 1
	case callee == f.owners.settle:
		return f.settleFunction()
	case callee == f.texter.unit:
		return f.unitFunction()
	case callee == f.texter.part:
		return f.partFunction()
	case callee == f.tracer.build:
		return f.traceFunction()
	}
	return callee
}

// types are those of the new functions, functions their bodies.
func (f *patcher) types() []uint32 {
	return []uint32{
		f.thenType, f.jobType, f.moveType, f.moveType, f.owners.allocType, f.owners.settleType,
		f.searcher.searchType, f.searcher.startType, f.mover.copyType, f.mover.valuesType, f.mover.deleteType,
		f.texter.skipType, f.texter.unitType, f.texter.partType,
		f.tracer.buildType,
	}
}

func (f *patcher) functions(p probe) [][]byte {
	return [][]byte{
		f.hookBody(f.then, nil, func(out []byte) []byte {
			out = appendGet(out, 2)
			out = op.AppendS32(append(out, op.I32Const), -1)
			out = append(appendGet(out, 1), op.I32WrapI64)
			out = append(appendGet(out, 1), op.I64Const, 32, op.I64ShrU, op.I32WrapI64)
			return appendGet(out, 3)
		}),
		f.hookBody(f.job, []byte{op.LocalGet, 2, op.I32Const, reactionArguments, op.I32LtU, op.I32And}, func(out []byte) []byte {
			out = appendGet(out, 3)
			out = op.AppendS32(append(out, op.I32Const), -2)
			out = appendGet(appendGet(out, 1), 2)
			return op.AppendS32(append(out, op.I32Const), 0)
		}),
		p.fillBody(),
		p.copyBody(),
		f.owners.allocBody(),
		f.settleBody(p),
		p.searchBody(),
		startBody(),
		f.mover.lengthenBody(p),
		f.mover.moveBody(f, p),
		f.mover.takeLastBody(),
		f.skipBody(),
		f.unitBody(p),
		f.partBody(p),
		f.tracer.traceBody(),
	}
}

// hookBody is the body: if (global and) { host_call(arguments) } else { callee(its own four) }.
func (f *patcher) hookBody(callee uint32, and []byte, arguments func([]byte) []byte) []byte {
	out := op.AppendU32([]byte{0, op.GlobalGet}, f.global)
	out = append(append(out, and...), op.If, 0x7f)
	out = op.AppendU32(append(arguments(out), op.Call), f.host)
	out = append(out, op.Else)
	for n := range byte(4) {
		out = appendGet(out, n)
	}
	out = op.AppendU32(append(out, op.Call), callee)
	return append(out, op.End, op.End)
}

func appendGet(out []byte, local byte) []byte { return append(out, op.LocalGet, local) }

// addExports appends the exports of this file and of owner.go to the export section.
func (f *patcher) addExports(body []byte) ([]byte, error) {
	r := &wasmbinary.Reader{Bytes: body}
	n := r.U32()
	if r.Err != nil {
		return nil, r.Err
	}
	out := append(op.AppendU32(nil, n+5), body[r.At:]...)
	out = op.AppendU32(append(appendName(out, CounterGlobal), exportGlobal), f.counter)
	out = op.AppendU32(append(appendName(out, PerformThen), exportFunc), f.then)
	out = op.AppendU32(append(appendName(out, OwnerGlobal), exportGlobal), f.owners.global)
	out = op.AppendU32(append(appendName(out, Settle), exportFunc), f.owners.settle)
	return op.AppendU32(append(appendName(out, FollowGlobal), exportGlobal), f.global), nil
}

// addFunctions appends the types of the new functions to the function section.
func (f *patcher) addFunctions(body []byte) ([]byte, error) {
	r := &wasmbinary.Reader{Bytes: body}
	n := r.U32()
	if r.Err != nil {
		return nil, r.Err
	}
	types := f.types()
	out := append(op.AppendU32(nil, n+uint32(len(types))), body[r.At:]...)
	for _, t := range types {
		out = op.AppendU32(out, t)
	}
	return out, nil
}

func appendName(out []byte, name string) []byte {
	return append(op.AppendU32(out, uint32(len(name))), name...)
}
