package engine

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"unsafe"
)

// Value is a JavaScript value of one VM: QuickJS's NaN-boxed 64 bits. The caller owns a Value that a VM method returns until
// Free.
type Value uint64

// Tags in the upper half of a Value (quickjs.h); any other upper half is that of a float64, moved by floatShift.
const (
	tagObject    = -1
	tagSymbol    = -8
	tagString    = -7
	tagRope      = -6
	tagInt       = 0
	tagBool      = 1
	tagNull      = 2
	tagUndefined = 3
	tagException = 6
	tagFirst     = -9
	tagFloat     = 8

	floatShift = (0x7ff80000 - tagFirst + 1) << 32
)

func makeValue(tag int32, payload uint32) Value {
	return Value(uint64(uint32(tag))<<32 | uint64(payload))
}

func (v Value) tag() int32 {
	tag := int32(v >> 32)
	if uint32(tag-tagFirst) >= tagFloat-tagFirst {
		return tagFloat
	}
	return tag
}

func (v Value) float() float64 { return math.Float64frombits(uint64(v) + floatShift) }

func floatValue(f float64) Value {
	if i := int32(f); float64(i) == f && (i != 0 || !math.Signbit(f)) {
		return makeValue(tagInt, uint32(i))
	}
	bits := math.Float64bits(f)
	if f != f {
		bits = 0x7ff8000000000000
	}
	return Value(bits - floatShift)
}

// IsNullish reports whether v is null or undefined.
func (v Value) IsNullish() bool { return v.tag() == tagNull || v.tag() == tagUndefined }

type undefined struct{}

// Undefined is JavaScript's undefined; nil is null.
var Undefined undefined

// Field is one property of an Object.
type Field struct {
	Name  string
	Value any
}

// Object becomes a plain object with these own properties, in this order.
type Object []Field

// BorrowedBytes becomes a Uint8Array of a copy of Bytes. Release is called after the copy, and not at all if the promise no longer has a
// scope.
type BorrowedBytes struct {
	Bytes   []byte
	Release func()
}

// Unsupported is Call.Value of a value that has no Go form.
type Unsupported struct {
	Type string // by typeof: "function", "symbol", "bigint", "object"
}

// New converts a Go value: nil is null; Undefined, bool, int, int64, float64 and string are themselves; []byte,
// BorrowedBytes and *Buffer are a Uint8Array; Latin1 and DecodedBuffer are strings; []string, []any and []Object are
// arrays; Object and map[string]any (keys sorted) are objects; json.RawMessage and JSONBuffer are parsed; BigInt is one;
// *Error is an error object; Async and AsyncInOrder are promises; Loaded is a namespace; Value is moved. An unknown type is an error.
func (vm *VM) New(value any) (Value, error) {
	switch v := value.(type) {
	case nil:
		return makeValue(tagNull, 0), nil
	case undefined:
		return makeValue(tagUndefined, 0), nil
	case bool:
		if v {
			return makeValue(tagBool, 1), nil
		}
		return makeValue(tagBool, 0), nil
	case int:
		return floatValue(float64(v)), nil
	case int64:
		return floatValue(float64(v)), nil
	case float64:
		return floatValue(v), nil
	case BigInt:
		return vm.checkValue(vm.call(fnNewBigInt64, uint64(vm.js), uint64(v)))
	case string:
		return vm.newString(v)
	case []byte:
		return vm.newBytes(v)
	case BorrowedBytes:
		defer v.Release()
		return vm.newBytes(v.Bytes)
	case *Buffer:
		defer v.Free()
		return vm.newBytes(v.b)
	case DecodedBuffer:
		defer v.Free()
		return vm.newText(v.b[v.From:])
	case Latin1:
		return vm.newLatin1(v)
	case Value:
		return v, nil
	case Loaded:
		return vm.load(string(v))
	case Async:
		return vm.startAsync(func() Async { return v })
	case AsyncInOrder:
		return vm.startAsync(v)
	case *Error:
		return vm.newError(v)
	case json.RawMessage:
		return vm.parseJSON(v)
	case JSONBuffer:
		defer v.Free()
		return vm.parseJSON(v.b)
	case []string:
		return newArray(vm, v)
	case []any:
		return newArray(vm, v)
	case []Object:
		return newArray(vm, v)
	case Object:
		return vm.newObject(v)
	case map[string]any:
		fields := make(Object, 0, len(v))
		for _, name := range slices.Sorted(maps.Keys(v)) {
			fields = append(fields, Field{name, v[name]})
		}
		return vm.newObject(fields)
	}
	return 0, fmt.Errorf("a %T has no JavaScript form", value)
}

// Free frees v.
func (vm *VM) Free(v Value) {
	if tag := v.tag(); tag < 0 {
		vm.call(fnFreeValue, uint64(vm.js), uint64(v))
	}
}

// checkValue checks a Value that the engine returned.
func (vm *VM) checkValue(v uint64) (Value, error) {
	if Value(v).tag() == tagException {
		return 0, vm.exception()
	}
	return Value(v), nil
}

func (vm *VM) newString(s string) (Value, error) {
	return vm.newText(unsafe.Slice(unsafe.StringData(s), len(s)))
}

// newBytes returns a Uint8Array of b. A long one is made of the bytes at the start of memory and then overwritten, which
// saves a copy.
func (vm *VM) newBytes(b []byte) (Value, error) {
	if len(b) > scratchSize && len(b) <= int(vm.mem.length()) {
		return vm.newFilled(len(b), func(to []byte) int {
			vm.InSteps(len(b), func(from, end int) { copy(to[from:], b[from:end]) })
			return len(b)
		})
	}
	ptr := vm.scratch
	if len(b) > scratchSize {
		ptr = vm.malloc(uint32(len(b)))
		defer func() { vm.call(fnFree, uint64(ptr)) }()
	}
	vm.mem.write(ptr, b)
	return vm.checkValue(vm.call(fnNewUint8Array, uint64(vm.js), uint64(ptr), uint64(len(b))))
}

// newFilled returns a Uint8Array of n bytes, no more than memory has, that fill writes; it returns how many it wrote.
func (vm *VM) newFilled(n int, fill func(to []byte) int) (Value, error) {
	v, err := vm.checkValue(vm.call(fnNewUint8Array, uint64(vm.js), 0, uint64(n)))
	if err != nil {
		return 0, err
	}
	to, ok := vm.bytes(v)
	if !ok || len(to) != n || fill(to) != n {
		vm.Free(v)
		return 0, fmt.Errorf("a new array of %d bytes has %d", n, len(to))
	}
	return v, nil
}

func (vm *VM) parseJSON(text []byte) (Value, error) {
	ptr, free := vm.write(unsafe.String(unsafe.SliceData(text), len(text)))
	defer free()
	name := vm.scratch + scratchSize - 1 // an empty C string
	vm.mem.writeByte(name, 0)
	return vm.checkValue(vm.call(fnParseJSON, uint64(vm.js), uint64(ptr), uint64(len(text)), uint64(name)))
}

func newArray[T any](vm *VM, items []T) (Value, error) {
	array, err := vm.checkValue(vm.call(fnNewArray, uint64(vm.js)))
	if err != nil {
		return 0, err
	}
	for i, item := range items {
		v, err := vm.New(item)
		if err != nil {
			vm.Free(array)
			return 0, err
		}
		vm.call(fnSetIndex, uint64(vm.js), uint64(array), uint64(i), uint64(v))
	}
	return array, nil
}

func (vm *VM) newObject(fields []Field) (Value, error) {
	object, err := vm.checkValue(vm.call(fnNewObject, uint64(vm.js)))
	if err != nil {
		return 0, err
	}
	if err := vm.setFields(object, fields); err != nil {
		vm.Free(object)
		return 0, err
	}
	return object, nil
}

func (vm *VM) setFields(object Value, fields []Field) error {
	for _, f := range fields {
		v, err := vm.New(f.Value)
		if err != nil {
			return err
		}
		ptr, free := vm.write(f.Name)
		vm.call(fnSetStr, uint64(vm.js), uint64(object), uint64(ptr), uint64(v))
		free()
	}
	return nil
}

// get returns a property of object.
func (vm *VM) get(object Value, name string) (Value, error) {
	ptr, free := vm.write(name)
	defer free()
	return vm.checkValue(vm.call(fnGetStr, uint64(vm.js), uint64(object), uint64(ptr)))
}

// bytes returns a view of the bytes of an ArrayBuffer or of a view of one.
func (vm *VM) bytes(v Value) ([]byte, bool) {
	if v.tag() != tagObject {
		return nil, false
	}
	if vm.call32(fnIsArrayBuffer, uint64(v)) != 0 {
		return vm.bufferBytes(v)
	}
	if int32(vm.call32(fnTypedArrayType, uint64(v))) < 0 {
		if vm.call32(fnIsDataView, uint64(v)) == 0 {
			return nil, false
		}
		return vm.dataViewBytes(v)
	}
	buffer, err := vm.checkValue(vm.call(fnGetTypedArrayBuffer, uint64(vm.js), uint64(v),
		uint64(vm.scratch), uint64(vm.scratch+4), uint64(vm.scratch+8)))
	if err != nil {
		return nil, false
	}
	return vm.slice(buffer, vm.readU32(vm.scratch), vm.readU32(vm.scratch+4))
}

// dataViewBytes reads the view's own properties: QuickJS has no call for it.
func (vm *VM) dataViewBytes(v Value) ([]byte, bool) {
	var at [2]uint32
	for i, name := range []string{"byteOffset", "byteLength"} {
		n, err := vm.get(v, name)
		if err != nil {
			return nil, false
		}
		at[i] = uint32(vm.number(n))
	}
	buffer, err := vm.get(v, "buffer")
	if err != nil {
		return nil, false
	}
	return vm.slice(buffer, at[0], at[1])
}

// slice returns part of buffer's bytes and frees buffer.
func (vm *VM) slice(buffer Value, offset, length uint32) ([]byte, bool) {
	defer vm.Free(buffer)
	b, ok := vm.bufferBytes(buffer)
	if !ok || uint64(offset)+uint64(length) > uint64(len(b)) {
		return nil, false
	}
	return b[offset : offset+length], true
}

func (vm *VM) bufferBytes(v Value) ([]byte, bool) {
	ptr := vm.call32(fnGetArrayBuffer, uint64(vm.js), uint64(vm.scratch), uint64(v))
	if ptr == 0 { // a detached buffer; GetArrayBuffer threw
		vm.dropException()
		return []byte{}, true
	}
	return vm.read(ptr, vm.readU32(vm.scratch)), true
}

// number returns ToNumber of v, NaN when that throws.
func (vm *VM) number(v Value) float64 {
	switch v.tag() {
	case tagInt:
		return float64(int32(v))
	case tagFloat:
		return v.float()
	}
	if int32(vm.call32(fnToFloat, uint64(vm.js), uint64(vm.scratch), uint64(v))) < 0 {
		vm.dropException()
		return math.NaN()
	}
	return math.Float64frombits(vm.readU64(vm.scratch))
}
