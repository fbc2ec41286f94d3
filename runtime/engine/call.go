package engine

import (
	"context"
	"math"
	"sync"
	"unsafe"

	"github.com/pages-toolchain/pages/runtime/engine/quickjspatch"
)

// Func is a host function: JavaScript calls it synchronously, on the isolate's goroutine. VM.New converts its value. An
// error is thrown in JavaScript: an *Error by its class, any other as an Error with its text. A Func that returns an Async
// gives JavaScript a promise.
type Func func(c *Call) (any, error)

// Async is work off the isolate's goroutine. The context ends with the scope that started it. The value or error settles
// the promise; if the scope has ended by then the promise stays pending.
type Async func(ctx context.Context) (any, error)

// AsyncInOrder makes an Async, for work with a place in a queue: it runs once, on the isolate's goroutine, after the
// last possible refusal. The Async that it makes always runs.
type AsyncInOrder func() Async

// Call is one call of a Func, valid until the Func returns. An absent argument reads as undefined.
type Call struct {
	vm      *VM
	argc    int
	argv    uint32 // the address of the arguments
	taken   int64  // bytes that were copied to Go or reserved
	charged int64  // of these, bytes that the isolate's account counts
	refusal error  // of an argument for which no memory is left
}

// leastCharge is the bytes from which a running call is charged: most calls take less, and last a microsecond.
const leastCharge = 64 << 10

// Reserve reserves n bytes until the Func, or the Async that it returns, is done. The error is for JavaScript.
func (c *Call) Reserve(n int64) error {
	if c.taken += max(n, 0); c.taken-c.charged < leastCharge {
		return nil
	}
	return c.charge()
}

func (c *Call) charge() error {
	n := c.taken - c.charged
	if err := c.vm.account.charge(c.vm.scope.ctx, n); err != nil {
		c.taken = c.charged
		return err
	}
	c.charged = c.taken
	return nil
}

// Keep reserves the bytes of the Func's arguments beyond its end, until release.
func (c *Call) Keep() (release func(), err error) {
	if err := c.charge(); err != nil {
		return nil, err
	}
	n, account := c.charged, c.vm.account
	c.taken, c.charged = 0, 0
	return sync.OnceFunc(func() { account.discharge(n) }), nil
}

// Drop releases the bytes reserved so far.
func (c *Call) Drop() {
	c.vm.account.discharge(c.charged)
	c.taken, c.charged = 0, 0
}

// mustReserve is Reserve for methods without an error result: it panics, through check.
func (c *Call) mustReserve(n int) bool {
	if err := c.Reserve(int64(n)); err != nil {
		c.refusal = err
		return false
	}
	return true
}

// argumentError is the panic for an argument without memory. It ends the Func, and callHost throws its error.
type argumentError struct{ err error }

func (c *Call) check() {
	if c.refusal != nil {
		panic(argumentError{c.refusal})
	}
}

func (c *Call) run(f Func) (result any, err error) {
	defer func() {
		switch p := recover().(type) {
		case nil:
		case argumentError:
			result, err = nil, p.err
		default:
			panic(p)
		}
	}()
	return f(c)
}

// Len is the number of arguments.
func (c *Call) Len() int { return c.argc }

// String is ToString of argument i; "" when it is absent or cannot be converted.
func (c *Call) String(i int) string {
	if i >= c.argc {
		return ""
	}
	s, err := c.vm.takeText(c.Arg(i), c)
	c.check()
	if err != nil {
		return ""
	}
	return s
}

// TextBytes is String as bytes, which must not be written.
func (c *Call) TextBytes(i int) []byte {
	s := c.String(i)
	return unsafe.Slice(unsafe.StringData(s), len(s))
}

// Float is ToNumber of argument i; NaN when it cannot be converted.
func (c *Call) Float(i int) float64 {
	if v := c.Arg(i); v.tag() != tagUndefined {
		return c.vm.number(v)
	}
	return math.NaN()
}

// Int is argument i as an integer, rounded towards zero and clamped to the range of int64; 0 if it is not a number.
func (c *Call) Int(i int) int64 {
	v := c.Arg(i)
	if v.tag() == tagInt {
		return int64(int32(v))
	}
	switch f := c.Float(i); {
	case math.IsNaN(f):
		return 0
	case f >= math.MaxInt64:
		return math.MaxInt64
	case f <= math.MinInt64:
		return math.MinInt64
	default:
		return int64(f)
	}
}

// Bool is ToBoolean of argument i.
func (c *Call) Bool(i int) bool {
	v := c.Arg(i)
	switch v.tag() {
	case tagBool, tagInt:
		return uint32(v) != 0
	case tagNull, tagUndefined:
		return false
	}
	return int32(c.vm.call32(fnToBool, uint64(c.vm.js), uint64(v))) > 0
}

// IsNullish reports whether argument i is null, undefined or absent.
func (c *Call) IsNullish(i int) bool { return c.Arg(i).IsNullish() }

// View is the bytes of the ArrayBuffer, typed array or DataView that argument i is, without a copy: valid until the Func
// returns or uses another method of Call. Nil for any other value.
func (c *Call) View(i int) []byte {
	b, _ := c.vm.bytes(c.Arg(i))
	return b
}

// Bytes is a copy of View(i).
func (c *Call) Bytes(i int) []byte {
	b := c.View(i)
	if b == nil {
		return nil
	}
	c.mustReserve(len(b))
	c.check()
	return append(make([]byte, 0, len(b)), b...)
}

// IsOrdinary reports whether argument i is an array, or an object without internal slots: of a literal, or of a class that
// extends no built-in one.
func (c *Call) IsOrdinary(i int) bool {
	const object, array = 1, 2 // JS_CLASS_OBJECT and JS_CLASS_ARRAY of QuickJS
	id := c.vm.call32(fnClassID, uint64(c.Arg(i)))
	return id == object || id == array
}

// IsProxy reports whether argument i is a Proxy.
func (c *Call) IsProxy(i int) bool { return c.vm.call32(fnIsProxy, uint64(c.Arg(i))) != 0 }

// ProxyTarget is the target of argument i, a Proxy. A revoked one is a TypeError.
func (c *Call) ProxyTarget(i int) (Value, error) {
	return c.vm.checkValue(c.vm.call(fnProxyTarget, uint64(c.vm.js), uint64(c.Arg(i))))
}

// Strings is argument i as an array of strings; nil if it is not an array.
func (c *Call) Strings(i int) []string {
	v := c.Arg(i)
	if c.vm.call32(fnIsArray, uint64(v)) == 0 {
		return nil
	}
	n := c.vm.Length(v)
	out := make([]string, 0, n)
	for at := range n {
		item, err := c.vm.index(v, at)
		if err != nil {
			return out
		}
		c.mustReserve(textHeader)
		s, err := c.vm.takeText(item, c)
		c.vm.Free(item)
		c.check()
		if err != nil {
			return out
		}
		out = append(out, s)
	}
	return out
}

// Value is argument i as a Go value: nil for undefined and null, bool, float64, string, []byte (a copy) for an ArrayBuffer
// or view, []any for an array, and Unsupported for all else.
func (c *Call) Value(i int) any {
	defer c.check()
	return c.vm.goValue(c.Arg(i), 0, c)
}

// HeapFull reports whether the heap has ever reached its limit: then the exception null may be an error that did not fit.
func (c *Call) HeapFull() bool { return c.vm.full() }

// Context ends when the request does.
func (c *Call) Context() context.Context { return c.vm.scope.Context() }

// Scope is the scope of the current turn; never nil.
func (c *Call) Scope() *Scope { return c.vm.scope }

const (
	maxArray   = 1 << 20 // limit of items in one array
	maxDepth   = 32      // of arrays in arrays
	textHeader = 16      // bytes of an item in Go beside its text
)

// Length is the number of items of array.
func (vm *VM) Length(array Value) uint32 {
	if int32(vm.call32(fnGetLength, uint64(vm.js), uint64(array), uint64(vm.scratch))) < 0 {
		vm.dropException()
		return 0
	}
	return uint32(min(vm.readU64(vm.scratch), maxArray))
}

func (vm *VM) index(array Value, i uint32) (Value, error) {
	return vm.checkValue(vm.call(fnGetIndex, uint64(vm.js), uint64(array), uint64(i)))
}

// goValue is Call.Value of v. Copies count for the call, if there is one.
func (vm *VM) goValue(v Value, depth int, c *Call) any {
	switch v.tag() {
	case tagNull, tagUndefined:
		return nil
	case tagBool:
		return uint32(v) != 0
	case tagInt, tagFloat:
		return vm.number(v)
	case tagString, tagRope:
		s, err := vm.takeText(v, c)
		if err != nil {
			return nil
		}
		return s
	case tagObject:
		if depth < maxDepth && vm.call32(fnIsArray, uint64(v)) != 0 {
			return vm.goArray(v, depth+1, c)
		}
		if b, ok := vm.bytes(v); ok {
			if c != nil && !c.mustReserve(len(b)) {
				return nil
			}
			return append([]byte{}, b...)
		}
		if vm.call32(fnIsFunction, uint64(vm.js), uint64(v)) != 0 {
			return Unsupported{"function"}
		}
		return Unsupported{"object"}
	case tagSymbol:
		return Unsupported{"symbol"}
	case -9, 7:
		return Unsupported{"bigint"}
	}
	return Unsupported{"unknown"}
}

func (vm *VM) goArray(v Value, depth int, c *Call) []any {
	n := vm.Length(v)
	if c != nil && !c.mustReserve(textHeader*int(n)) {
		return nil
	}
	out := make([]any, 0, n)
	for i := range n {
		item, err := vm.index(v, i)
		if err != nil {
			return out
		}
		out = append(out, vm.goValue(item, depth, c))
		vm.Free(item)
		if c != nil && c.refusal != nil {
			return out
		}
	}
	return out
}

// hostCall is env.host_call. Its second argument, a mark of package quickjspatch, defines the others.
func hostCall(vm *VM, stack []uint64) {
	mark := uint32(stack[1])
	if mark == quickjspatch.MarkCall {
		callHost(vm, stack)
		return
	}
	vm.depth++
	defer func() { vm.depth-- }()
	switch mark {
	case quickjspatch.MarkThen:
		followThen(vm, stack)
	case quickjspatch.MarkJob:
		followJob(vm, stack)
	case quickjspatch.MarkSettle:
		settleOwned(vm, stack)
	case quickjspatch.MarkDate:
		parseDateArgument(vm, stack)
	}
}

// callHost calls the host function whose name lies at stack[0] and writes its result to stack[2], which the caller owns.
func callHost(vm *VM, stack []uint64) {
	name, _, _ := vm.stringUnits(Value(vm.readU64(uint32(stack[0]))))
	f := vm.funcs[string(name)]
	to := uint32(stack[2])
	vm.depth++
	c := &vm.frame().call
	*c = Call{vm: vm, argc: int(int32(stack[3])), argv: uint32(stack[4])}
	defer func() {
		vm.account.discharge(c.charged)
		vm.depth--
	}()
	if f == nil {
		vm.throw(TypeError("host function %q is not available here", string(name)))
		stack[0] = 0
		return
	}
	result, err := c.run(f)
	if !vm.killing { // a host call may outlast the time between two interrupts
		vm.checkBudget()
	}
	if err == nil {
		switch work := result.(type) {
		case Async:
			result, err = vm.withReservation(work, c)
		case AsyncInOrder:
			result, err = vm.orderedReservation(work, c)
		}
	}
	if err == nil {
		var v Value
		if v, err = vm.New(result); err == nil {
			vm.mem.writeU64(to, uint64(v))
			stack[0] = 1
			return
		}
	}
	vm.throw(err)
	stack[0] = 0
}
