package engine

import (
	"cmp"
	"encoding/binary"
	"math"
	"slices"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/pages-toolchain/pages/runtime/engine/quickjspatch"
)

// This file writes JSON from linear memory. QuickJS looks each property of each object up by name and appends a character at
// a time. Most JSON is of plain data, whose reading runs no code: objects and arrays without getters, proxies and toJSON.
// QuickJS handles the rest.

// Offsets in QuickJS's structures, in bytes (quickjs.c, JSContext, JSRuntime, JSObject, JSShape, JSShapeProperty, JSString);
// quickjspatch has those of an array.
const (
	contextRuntime = 8
	runtimeAtoms   = 568 // the table of texts by atom

	objectShape = 12
	objectProps = 16 // a Value each, in the order of the shape

	shapeHashMask  = 16
	shapeCount     = 24 // of properties
	shapePrototype = 36 // an object, or 0
	shapeHash      = 40 // mask+1 words, then the properties: flags and a link, atom or 0
	shapeProperty  = 8
	enumerableBit  = 1 << 28 // of the flags
	propertyKind   = 30      // the shift of two bits, 0 for a value

	taggedAtom    = 1 << 31 // of an integer
	atomKindShift = 30      // of the second word of an atom's text
	atomOfString  = 1
	textPart      = 24 // of a text that is part of another: the offset there; of an external one, its address
	textParent    = 28
	partOfAnother = 1
	externalText  = 2

	classObject = 1
	classArray  = 2
)

const (
	toJSON       = "toJSON"
	predefined   = 1 << 10  // more than the number of QuickJS's predefined atoms, which include toJSON
	maxJSONDepth = 300_000  // V8 has no limit for plain data
	circlePace   = 256      // depths between two searches for a cycle
	maxJSON      = 16 << 20 // bytes; QuickJS, which counts its memory, handles more
	jsonPace     = 1 << 10  // values between two checks of the budget
)

// JSON is the result of JSON.stringify for argument i with gap, for plain data; not ok for anything else, without having
// run any code of it.
func (c *Call) JSON(i int, gap string) (text Value, ok bool, err error) {
	vm := c.vm
	buffer, _ := vm.engine.buffers.Get().(*[]byte)
	if buffer == nil {
		buffer = new([]byte)
	}
	w := jsonWriter{vm: vm, memory: vm.memory(), gap: gap, out: (*buffer)[:0]}
	w.atoms = w.u32(w.u32(vm.js+contextRuntime) + runtimeAtoms)
	if ok = w.findToJSON() && w.value(c.Arg(i)); ok {
		text, err = vm.newText(w.out)
	}
	if *buffer = w.out; cap(w.out) <= longestBuffer {
		vm.engine.buffers.Put(buffer)
	}
	return text, ok, err
}

// memory is all of linear memory, until the VM runs.
func (vm *VM) memory() []byte { return vm.read(0, vm.mem.length()) }

// jsonWriter writes values to out. Its methods report whether they were plain.
type jsonWriter struct {
	vm         *VM
	memory     []byte
	atoms      uint32
	gap        string
	out        []byte
	open       []jsonFrame            // objects and arrays, the outermost first
	seen       int                    // values
	shapes     map[uint32][]jsonField // the enumerable properties of objects of a shape
	last       uint32                 // shape
	lastFields []jsonField
	prototypes []uint32 // without toJSON
}

// jsonFrame is an object or an array that is being written.
type jsonFrame struct {
	at     uint32
	array  bool
	some   bool        // a part has been written
	next   uint32      // the number of the next item or field
	count  uint32      // of items
	fields []jsonField // of an object
}

// jsonField is a property. Integers come first, by their value.
type jsonField struct {
	at      uint32 // its number in the shape
	name    []byte // in JSON, with a colon
	integer int64
}

// noInteger is greater than any integer of an atom.
const noInteger = 1 << 32

// findToJSON looks up the atom, once for each VM.
func (w *jsonWriter) findToJSON() bool {
	for atom := uint32(1); w.vm.toJSON == 0 && atom < predefined; atom++ {
		if at := w.u32(w.atoms + 4*atom); w.u32(at) == uint32(len(toJSON)) && string(w.units(at)) == toJSON {
			w.vm.toJSON = atom
		}
	}
	return w.vm.toJSON != 0
}

func (w *jsonWriter) u32(at uint32) uint32 { return binary.LittleEndian.Uint32(w.memory[at:]) }

func (w *jsonWriter) load(at uint32) Value { return Value(binary.LittleEndian.Uint64(w.memory[at:])) }

// value writes a value and all in it. Data may be nested deeper than the stack of a goroutine should grow.
func (w *jsonWriter) value(v Value) bool {
	for ok := w.begin(v); ; ok = w.begin(v) {
		if !ok {
			return false
		}
		for w.next(&v) {
			if len(w.open) == 0 {
				return true
			}
		}
	}
}

// begin writes a value, or the begin of an object or array.
func (w *jsonWriter) begin(v Value) bool {
	if len(w.out) > maxJSON {
		return false
	}
	if w.seen++; w.seen%jsonPace == 0 {
		w.vm.Interrupt()
	}
	switch v.tag() {
	case tagInt:
		w.out = strconv.AppendInt(w.out, int64(int32(v)), 10)
	case tagFloat:
		w.out = appendNumber(w.out, v.float())
	case tagBool:
		w.out = strconv.AppendBool(w.out, uint32(v) != 0)
	case tagNull:
		w.out = append(w.out, "null"...)
	case tagString:
		return w.text(uint32(v))
	case tagRope:
		return w.rope(v)
	case tagObject:
		return w.object(uint32(v))
	default:
		return false
	}
	return true
}

// object begins an object, or an array without holes.
func (w *jsonWriter) object(at uint32) bool {
	if len(w.open) == maxJSONDepth || len(w.open) > 0 && len(w.open)%circlePace == 0 && w.within(at) {
		return false
	}
	shape := w.u32(at + objectShape)
	if !w.inheritsPlain(shape) {
		return false
	}
	frame := jsonFrame{at: at}
	switch binary.LittleEndian.Uint16(w.memory[at+quickjspatch.ObjectClass:]) {
	case classObject:
		var ok bool
		if frame.fields, ok = w.fieldsOf(shape); !ok {
			return false
		}
		w.out = append(w.out, '{')
	case classArray:
		frame.array, frame.count = true, w.u32(at+quickjspatch.ArrayCount)
		// The length comes first.
		if w.memory[at+quickjspatch.ObjectFlags]&quickjspatch.FastArray == 0 ||
			w.load(w.u32(at+objectProps)) != makeValue(tagInt, frame.count) || w.has(shape, w.vm.toJSON) {
			return false
		}
		w.out = append(w.out, '[')
	default:
		return false
	}
	w.open = append(w.open, frame)
	return true
}

// within reports whether an object is being written.
func (w *jsonWriter) within(at uint32) bool {
	return slices.ContainsFunc(w.open, func(f jsonFrame) bool { return f.at == at })
}

// next sets v to the next value of the open array or object, and writes its key. It reports true when it ended one without further
// values, or when none is open.
func (w *jsonWriter) next(v *Value) (ended bool) {
	if len(w.open) == 0 {
		return true
	}
	f := &w.open[len(w.open)-1]
	if f.array {
		if f.next == f.count {
			w.end(f.some, ']')
			return true
		}
		*v = w.load(w.u32(f.at+quickjspatch.ArrayValues) + 8*f.next)
		if tag := v.tag(); tag == tagUndefined || tag == tagSymbol {
			*v = makeValue(tagNull, 0)
		}
		f.next++
		w.comma(f)
		return false
	}
	props := w.u32(f.at + objectProps)
	for int(f.next) < len(f.fields) {
		field := &f.fields[f.next]
		f.next++
		*v = w.load(props + 8*field.at)
		if tag := v.tag(); tag == tagUndefined || tag == tagSymbol {
			continue
		}
		w.comma(f)
		w.out = append(w.out, field.name...)
		if w.gap != "" {
			w.out = append(w.out, ' ')
		}
		return false
	}
	w.end(f.some, '}')
	return true
}

// comma writes a comma after a value, and begins a line.
func (w *jsonWriter) comma(f *jsonFrame) {
	if f.some {
		w.out = append(w.out, ',')
	}
	f.some = true
	w.line()
}

// line begins a line, when there is a gap.
func (w *jsonWriter) line() {
	if w.gap == "" {
		return
	}
	w.out = append(w.out, '\n')
	for range w.open {
		w.out = append(w.out, w.gap...)
	}
}

// end ends the innermost object or array.
func (w *jsonWriter) end(some bool, bracket byte) {
	if w.open = w.open[:len(w.open)-1]; some {
		w.line()
	}
	w.out = append(w.out, bracket)
}

// fieldsOf returns the enumerable properties of a shape, in the language's order.
func (w *jsonWriter) fieldsOf(shape uint32) ([]jsonField, bool) {
	if shape == w.last {
		return w.lastFields, true
	}
	fields, known := w.shapes[shape]
	if !known {
		var ok bool
		if fields, ok = w.readFields(shape); !ok {
			return nil, false
		}
		if w.shapes == nil {
			w.shapes = map[uint32][]jsonField{}
		}
		w.shapes[shape] = fields
	}
	w.last, w.lastFields = shape, fields
	return fields, true
}

func (w *jsonWriter) readFields(shape uint32) (fields []jsonField, ok bool) {
	integers := false
	ok = w.properties(shape, func(i, flags, atom uint32) bool {
		if flags>>propertyKind != 0 || atom == w.vm.toJSON {
			return false // a getter, say
		}
		f, start := jsonField{at: i, integer: noInteger}, len(w.out)
		if atom&taggedAtom != 0 {
			f.integer, integers = int64(atom&^taggedAtom), true
			w.out = append(strconv.AppendInt(append(w.out, '"'), f.integer, 10), '"')
		} else {
			at := w.u32(w.atoms + 4*atom)
			if w.u32(at+4)>>atomKindShift != atomOfString {
				return true // a symbol
			}
			if units := w.units(at); len(units) > 0 && units[0] >= '0' && units[0] <= '9' {
				return false // it may be a larger integer
			}
			w.text(at)
		}
		f.name = append(slices.Clone(w.out[start:]), ':')
		w.out = w.out[:start]
		if flags&enumerableBit != 0 {
			fields = append(fields, f)
		}
		return true
	})
	if integers {
		slices.SortStableFunc(fields, func(a, b jsonField) int { return cmp.Compare(a.integer, b.integer) })
	}
	return fields, ok
}

// properties visits the properties of a shape, until visit returns false.
func (w *jsonWriter) properties(shape uint32, visit func(i, flags, atom uint32) bool) bool {
	at := shape + shapeHash + 4*(w.u32(shape+shapeHashMask)+1)
	for i := range w.u32(shape + shapeCount) {
		flags, atom := w.u32(at), w.u32(at+4)
		if at += shapeProperty; atom != 0 && !visit(i, flags, atom) {
			return false
		}
	}
	return true
}

func (w *jsonWriter) has(shape, wanted uint32) bool {
	return !w.properties(shape, func(_, _, atom uint32) bool { return atom != wanted })
}

// inheritsPlain reports whether the prototypes of an object of the shape are plain as well.
func (w *jsonWriter) inheritsPlain(shape uint32) bool {
	for {
		prototype := w.u32(shape + shapePrototype)
		if prototype == 0 || slices.Contains(w.prototypes, prototype) {
			return true
		}
		class := binary.LittleEndian.Uint16(w.memory[prototype+quickjspatch.ObjectClass:])
		if shape = w.u32(prototype + objectShape); class != classObject && class != classArray || w.has(shape, w.vm.toJSON) {
			return false
		}
		w.prototypes = append(w.prototypes, prototype)
	}
}

// units returns the units of a text without a copy, of two bytes each when it is wide.
func (w *jsonWriter) units(at uint32) []byte {
	length := w.u32(at)
	n, start := length&^wideBit, at+unitsOffset
	if length&wideBit != 0 {
		n *= 2
	}
	switch w.u32(at+4) >> kindShift & kindMask {
	case partOfAnother:
		start = w.u32(at+textPart) + w.u32(at+textParent) + unitsOffset
	case externalText:
		start = w.u32(at + textPart)
	}
	return w.memory[start : start+n]
}

func (w *jsonWriter) text(at uint32) bool { return w.writeQuoted(w.units(at), w.u32(at)&wideBit != 0) }

// writeQuoted writes units, of two bytes each when they are wide.
func (w *jsonWriter) writeQuoted(units []byte, wide bool) bool {
	w.out = append(w.out, '"')
	done := 0
	w.vm.InSteps(len(units), func(_, to int) {
		if wide && to < len(units) && isHigh(rune(binary.LittleEndian.Uint16(units[to-2:]))) {
			to -= 2 // the other half may follow
		}
		switch {
		case len(w.out) > maxJSON:
			return
		case wide:
			w.out = appendQuotedWide(w.out, units[done:to])
		default:
			w.out = appendQuotedLatin1(w.out, units[done:to])
		}
		done = to
	})
	w.out = append(w.out, '"')
	return len(w.out) <= maxJSON
}

// rope writes a rope, which the VM makes a string of.
func (w *jsonWriter) rope(v Value) bool {
	units, free, err := w.vm.wideUnits(v)
	if err != nil {
		w.vm.dropException()
		return false
	}
	ok := w.writeQuoted(units, true)
	free()
	w.memory = w.vm.memory()
	return ok
}

const hexDigits = "0123456789abcdef"

// shortEscapes are the letters that JSON escapes characters by (ECMA-262, 25.5.2.4, table 79).
//
//nolint:gochecknoglobals // a table
var shortEscapes = [128]byte{'\b': 'b', '\t': 't', '\n': 'n', '\f': 'f', '\r': 'r', '"': '"', '\\': '\\'}

// appendQuotedLatin1 appends the text between the quotes.
func appendQuotedLatin1(out, units []byte) []byte {
	kept := 0
	for i, c := range units {
		if c >= ' ' && c != '"' && c != '\\' && c < utf8.RuneSelf {
			continue
		}
		out = append(out, units[kept:i]...)
		kept = i + 1
		out = appendQuoted(out, rune(c))
	}
	return append(out, units[kept:]...)
}

// appendQuotedWide is appendQuotedLatin1 of UTF-16; a lone surrogate is escaped.
func appendQuotedWide(out, units []byte) []byte {
	for i := 0; i+1 < len(units); i += 2 {
		r := rune(binary.LittleEndian.Uint16(units[i:]))
		if utf16.IsSurrogate(r) && i+3 < len(units) {
			if pair := utf16.DecodeRune(r, rune(binary.LittleEndian.Uint16(units[i+2:]))); pair != utf8.RuneError {
				r = pair
				i += 2
			}
		}
		out = appendQuoted(out, r)
	}
	return out
}

func appendQuoted(out []byte, r rune) []byte {
	switch {
	case r < utf8.RuneSelf && shortEscapes[r] != 0:
		return append(out, '\\', shortEscapes[r])
	case r < ' ' || utf16.IsSurrogate(r):
		return append(out, '\\', 'u', hexDigits[r>>12&15], hexDigits[r>>8&15], hexDigits[r>>4&15], hexDigits[r&15])
	default:
		return utf8.AppendRune(out, r)
	}
}

// appendNumber appends a number as the language writes it (ECMA-262, 6.1.6.1.20), or null.
func appendNumber(out []byte, f float64) []byte {
	switch size := math.Abs(f); {
	case math.IsNaN(f) || math.IsInf(f, 0):
		return append(out, "null"...)
	case f == 0:
		return append(out, '0')
	case size >= 1e-6 && size < 1e21:
		return strconv.AppendFloat(out, f, 'f', -1, 64)
	}
	out = strconv.AppendFloat(out, f, 'e', -1, 64)
	if n := len(out); out[n-2] == '0' && (out[n-3] == '-' || out[n-3] == '+') {
		out = append(out[:n-2], out[n-1]) // an exponent of two digits at least
	}
	return out
}
