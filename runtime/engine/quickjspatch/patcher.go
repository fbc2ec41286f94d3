package quickjspatch

import (
	"bytes"
	"errors"
	"slices"

	"github.com/pages-toolchain/pages/runtime/wasmbinary"
	"github.com/pages-toolchain/pages/runtime/wasmbinary/op"
)

// patcher is the places in QuickJS that are patched, and the indices of new functions and globals.
type patcher struct {
	then, job         uint32 // perform_promise_then, JS_EnqueueJob
	thenType, jobType uint32
	moveType          uint32 // of fillBody and copyBody
	first             uint32 // index of the first new function
	host              uint32 // env.host_call
	counter, global   uint32
	owners            owners
	regexps           regexpSearcher
	arrays            arrayMover
	strings           stringSearcher
	tracer            tracer
	spreads           spreader
	natives           nativeCaller
	groups            groupWidener
	memory            memoryLimit
	errors            errorMaker
	circles           circleFinder
	date              int // js_Date_parse, of the module's own
	trampoline        trampoline
	corrections       []correction
}

// patcher finds the places; nil when the module exports neither JS_EnqueueJob nor JS_PromiseThen: it is not QuickJS then.
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
	f := &patcher{
		moveType: uint32(moving), then: calls[0], thenType: uint32(thenType), job: job, jobType: l.typeOf(job),
		first: l.imports.funcs + uint32(len(l.code)), host: uint32(l.imports.hostCall),
		corrections: append(slices.Clip(corrections), l.patternPositions(), l.bufferRefused()),
	}
	if f.owners, err = l.owners(f.then); err != nil {
		return nil, err
	}
	if f.regexps, err = l.regexpSearcher(); err != nil {
		return nil, err
	}
	if f.arrays, err = l.arrayMover(); err != nil {
		return nil, err
	}
	if f.strings, err = l.stringSearcher(); err != nil {
		return nil, err
	}
	if f.tracer, err = l.tracer(); err != nil {
		return nil, err
	}
	if f.spreads, err = l.spreader(); err != nil {
		return nil, err
	}
	if f.natives, err = l.nativeCaller(); err != nil {
		return nil, err
	}
	if f.groups, err = l.groupWidener(f); err != nil {
		return nil, err
	}
	if f.memory, err = l.memoryLimit(); err != nil {
		return nil, err
	}
	f.corrections = append(f.corrections, f.memory.correction(f.function(collectHook)))
	if f.errors, err = l.errorMaker(); err != nil {
		return nil, err
	}
	if f.circles, err = l.circleFinder(); err != nil {
		return nil, err
	}
	if f.trampoline, err = l.trampoline(); err != nil {
		return nil, err
	}
	if f.date, err = l.uniqueFunction(dateParserType, dateYear, 1); err != nil {
		return nil, err
	}
	return f, nil
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

// The new functions, in their order.
const (
	thenHook = iota
	jobHook
	fillMemory
	copyMemory
	allocHook
	settleHook
	regexpSearch
	regexpStart
	arrayLengthen
	arrayMove
	arrayTakeLast
	stringSkip
	stringUnit
	stringPart
	backtrace
	spreadText
	nativeCall
	putGroup
	emitGroup
	collectHook
	throwHook
	makeError
	askStack
	findCircle
)

// function returns the index of a new function.
func (f *patcher) function(n uint32) uint32 { return f.first + n }

// newFunction is the type and the body of a new function.
type newFunction struct {
	typ  uint32
	body []byte
}

func (f *patcher) newFunctions(p probe) []newFunction {
	return []newFunction{
		thenHook:      {f.thenType, f.thenBody()},
		jobHook:       {f.jobType, f.jobBody()},
		fillMemory:    {f.moveType, p.fillBody()},
		copyMemory:    {f.moveType, p.copyBody()},
		allocHook:     {f.owners.allocType, f.owners.allocBody()},
		settleHook:    {f.owners.settleType, f.settleBody(p)},
		regexpSearch:  {f.regexps.searchType, p.searchBody()},
		regexpStart:   {f.regexps.startType, startBody()},
		arrayLengthen: {f.arrays.copyType, f.arrays.lengthenBody(p)},
		arrayMove:     {f.arrays.valuesType, f.arrays.moveBody(f, p)},
		arrayTakeLast: {f.arrays.deleteType, f.arrays.takeLastBody()},
		stringSkip:    {f.strings.skipType, f.skipBody()},
		stringUnit:    {f.strings.unitType, f.unitBody(p)},
		stringPart:    {f.strings.partType, f.partBody(p)},
		backtrace:     {f.tracer.buildType, f.tracer.traceBody(f.errors)},
		spreadText:    {f.spreads.copyType, f.spreads.textBody()},
		nativeCall:    {f.natives.interpreterType, f.natives.callBody()},
		putGroup:      {f.groups.putType, f.groups.putBody()},
		emitGroup:     {f.groups.emitType, f.groups.emitBody(f)},
		collectHook:   {f.memory.collectType, f.memory.collectBody()},
		throwHook:     {f.memory.throwType, f.memory.throwBody()},
		makeError:     {f.errors.newType, f.errors.makeBody()},
		askStack:      {f.errors.askType, f.errors.askBody()},
		findCircle:    {f.circles.includesType, f.circles.includesBody()},
	}
}

// redirect returns the function that is called instead of callee.
func (f *patcher) redirect(callee uint32) uint32 {
	switch {
	case f == nil:
	case callee == f.then:
		return f.function(thenHook)
	case callee == f.job:
		return f.function(jobHook)
	case callee == f.owners.settle:
		return f.function(settleHook)
	case callee == f.strings.unit:
		return f.function(stringUnit)
	case callee == f.strings.part:
		return f.function(stringPart)
	case callee == f.tracer.build:
		return f.function(backtrace)
	case callee == f.memory.throw:
		return f.function(throwHook)
	case callee == f.spreads.copying:
		return f.function(spreadText)
	}
	return callee
}

// patchFunction returns the patched code of function i of the module's own.
func (f *patcher) patchFunction(l layout, i int, code []byte) []byte {
	code = f.groups.widen(i, l.inlineFree(i, l.shortenDispatch(spreadHashKeys(code))))
	code = f.memory.noteRefused(i, code)
	code = f.circles.redirectCall(code, f.function(findCircle))
	code = f.errors.redirectErrors(code, f.function(makeError), f.function(askStack))
	for _, c := range f.corrections {
		if l.hasType(i, c.typ) {
			code = c.apply(code)
		}
	}
	switch {
	case l.imports.funcs+uint32(i) == f.then: // reactions carry their owner
		return bytes.Replace(code, reactionAlloc(f.owners.alloc), reactionAlloc(f.function(allocHook)), 1)
	case i == f.date:
		return f.dateBody()
	case l.imports.funcs+uint32(i) == f.natives.interpreter:
		return f.natives.insertCalls(code, f.function(nativeCall))
	case i == f.trampoline.function:
		return f.callBody()
	case i == f.regexps.exec:
		return f.insertSearch(code)
	case i == f.arrays.copying:
		return f.insertMove(code)
	case i == f.arrays.deleting:
		return f.insertTakeLast(code)
	case i == f.arrays.arguing:
		return raiseArgumentLimit(code)
	case i == f.strings.indexOf || i == f.strings.includes:
		return f.insertSkip(code, i == f.strings.includes)
	}
	return code
}

func appendGet(out []byte, local byte) []byte { return append(out, op.LocalGet, local) }

func appendGets(out []byte, locals ...byte) []byte {
	for _, local := range locals {
		out = appendGet(out, local)
	}
	return out
}

func appendCall(out []byte, f uint32) []byte { return op.AppendU32(append(out, op.Call), f) }
