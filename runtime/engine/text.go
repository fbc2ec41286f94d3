package engine

import (
	"encoding/binary"
	"errors"
	"slices"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
	"unsafe"
)

// This file converts text in linear memory, in place: QuickJS reads text a character at a time, several times; Go reads
// eight at once, and an extra copy of megabytes takes noticeable time.
//
// A string of QuickJS is a header of six words and its units: bytes of Latin-1, or UTF-16 when one is above U+00FF
// (quickjs.c, struct JSString).
const (
	unitsOffset = 24
	wideBit     = 1 << 31 // of the first word; the others are the length
	kindShift   = 28      // of the second word: two bits, 0 when the units follow the header
	kindMask    = 3

	// longText is the bytes from which a new string is filled in place.
	longText = 4 << 10
	// pace is the bytes between two checks of the budget.
	pace = 256 << 10
	// longestBuffer bounds a buffer that is kept for the next text, in bytes.
	longestBuffer = 8 << 20
)

// Latin1 becomes a string of characters up to U+00FF, one for each byte.
type Latin1 []byte

// stringUnits returns the units of v without a copy; not ok if v is not a string, or is a rope.
func (vm *VM) stringUnits(v Value) (units []byte, wide, ok bool) {
	if v.tag() != tagString {
		return nil, false, false
	}
	at := uint32(v)
	length, kind := vm.readU32(at), vm.readU32(at+4)
	if kind>>kindShift&kindMask != 0 {
		return nil, false, false
	}
	n := length &^ wideBit
	if wide = length&wideBit != 0; wide {
		n *= 2
	}
	return vm.read(at+unitsOffset, n), wide, true
}

// wideUnits is ToString of v as UTF-16, valid until free.
func (vm *VM) wideUnits(v Value) (units []byte, free func(), err error) {
	ptr := vm.call32(fnToWideString, uint64(vm.js), uint64(vm.scratch), uint64(v))
	if ptr == 0 {
		return nil, nil, vm.exception()
	}
	free = func() { vm.call(fnFreeWideString, uint64(vm.js), uint64(ptr)) }
	return vm.read(ptr, 2*vm.readU32(vm.scratch)), free, nil
}

// Text is ToString of v; lone surrogates become U+FFFD.
func (vm *VM) Text(v Value) (string, error) { return vm.takeText(v, nil) }

// errRefused is the error of a text without memory for it; Call.refusal has the reason.
var errRefused = errors.New("no room for a text")

// takeText is Text that counts for the call, if there is one.
func (vm *VM) takeText(v Value, c *Call) (string, error) {
	units, wide, ok := vm.stringUnits(v)
	if !ok {
		return vm.composedText(v, c)
	}
	var out strings.Builder
	if !wide && vm.isASCII(units) {
		if c != nil && !c.mustReserve(len(units)) {
			return "", errRefused
		}
		out.Grow(len(units))
		vm.InSteps(len(units), func(from, to int) { out.Write(units[from:to]) })
		return out.String(), nil
	}
	if len(units) <= longestBuffer/2 {
		var text string
		vm.withUTF8(units, wide, func(utf8 []byte) { text = string(utf8) })
		if c != nil && !c.mustReserve(len(text)) {
			return "", errRefused
		}
		return text, nil
	}
	n := vm.lengthUTF8(units, wide)
	if c != nil && !c.mustReserve(n) {
		return "", errRefused
	}
	b := vm.appendText(make([]byte, 0, n), units, wide)
	return unsafe.String(unsafe.SliceData(b), len(b)), nil
}

// lengthUTF8 returns the number of bytes that appendText makes of units.
func (vm *VM) lengthUTF8(units []byte, wide bool) (n int) {
	vm.InSteps(len(units), func(from, to int) {
		if wide {
			n += lengthWide(units, from, to)
			return
		}
		n += to - from
		for _, c := range units[from:to] {
			n += int(c >> 7)
		}
	})
	return n
}

// lengthWide is lengthUTF8 of a step of UTF-16: a pair counts at its first half.
func lengthWide(units []byte, from, to int) (n int) {
	at := func(i int) rune { return rune(binary.LittleEndian.Uint16(units[i:])) }
	for i := from; i+1 < to; i += 2 {
		switch r := at(i); {
		case r < utf8.RuneSelf:
			n++
		case r < 0x800:
			n += 2
		case isHigh(r) && i+3 < len(units) && isLow(at(i+2)):
			n += 4
		case isLow(r) && i > 0 && isHigh(at(i-2)):
		default:
			n += 3
		}
	}
	return n
}

func isHigh(r rune) bool { return r >= 0xd800 && r < 0xdc00 }
func isLow(r rune) bool  { return r >= 0xdc00 && r < 0xe000 }

// composedText is takeText of a value that QuickJS must convert to a string.
func (vm *VM) composedText(v Value, c *Call) (string, error) {
	ptr := vm.call32(fnToCString, uint64(vm.js), uint64(vm.scratch), uint64(v), 0)
	if ptr == 0 {
		return "", vm.exception()
	}
	n := vm.readU32(vm.scratch)
	if c != nil && !c.mustReserve(int(n)) {
		vm.call(fnFreeCString, uint64(vm.js), uint64(ptr))
		return "", errRefused
	}
	s := string(vm.read(ptr, n))
	vm.call(fnFreeCString, uint64(vm.js), uint64(ptr))
	if !utf8.ValidString(s) {
		s = withoutSurrogates(s)
	}
	return s, nil
}

// withoutSurrogates replaces each lone surrogate, which QuickJS writes as three bytes, by U+FFFD.
func withoutSurrogates(s string) string {
	var out strings.Builder
	for s != "" {
		r, n := utf8.DecodeRuneInString(s)
		if r == utf8.RuneError && n == 1 {
			n = min(3, len(s))
		}
		out.WriteRune(r)
		s = s[n:]
	}
	return out.String()
}

func (vm *VM) isASCII(b []byte) bool {
	ascii := true
	vm.InSteps(len(b), func(from, to int) { ascii = ascii && isASCII(b[from:to]) })
	return ascii
}

// isASCII reports whether no byte is above 127.
func isASCII(b []byte) bool {
	for ; len(b) >= 8; b = b[8:] {
		if binary.LittleEndian.Uint64(b)&0x8080808080808080 != 0 {
			return false
		}
	}
	for _, c := range b {
		if c >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// withUTF8 calls use with units as UTF-8, in a reused buffer: a new megabyte each time would cost more than the conversion. A
// lone surrogate becomes U+FFFD.
func (vm *VM) withUTF8(units []byte, wide bool, use func(text []byte)) {
	buffer, _ := vm.engine.buffers.Get().(*[]byte)
	if buffer == nil {
		buffer = new([]byte)
	}
	most := 2 * len(units)
	if wide {
		most = len(units) / 2 * 3
	}
	*buffer = vm.appendText(slices.Grow((*buffer)[:0], most), units, wide)
	use(*buffer)
	if cap(*buffer) <= longestBuffer {
		vm.engine.buffers.Put(buffer)
	}
}

func (vm *VM) appendText(out, units []byte, wide bool) []byte {
	if !wide {
		vm.InSteps(len(units), func(from, to int) { out = appendLatin1(out, units[from:to]) })
		return out
	}
	done := 0
	vm.InSteps(len(units), func(_, to int) {
		if to < len(units) && isHigh(rune(binary.LittleEndian.Uint16(units[to-2:]))) {
			to -= 2 // the other half may follow
		}
		out, done = appendUTF8(out, units[done:to]), to
	})
	return out
}

// appendLatin1 appends Latin-1 as UTF-8.
func appendLatin1(out, units []byte) []byte {
	for _, c := range units {
		if c < utf8.RuneSelf {
			out = append(out, c)
			continue
		}
		out = append(out, 0xc0|c>>6, 0x80|c&0x3f)
	}
	return out
}

// appendUTF8 appends UTF-16, of two bytes a unit, as UTF-8.
func appendUTF8(out, units []byte) []byte {
	for i := 0; i+1 < len(units); i += 2 {
		r := rune(binary.LittleEndian.Uint16(units[i:]))
		switch {
		case r < utf8.RuneSelf:
			out = append(out, byte(r))
		case r < 0x800:
			out = append(out, 0xc0|byte(r>>6), 0x80|byte(r)&0x3f)
		case !utf16.IsSurrogate(r):
			out = append(out, 0xe0|byte(r>>12), 0x80|byte(r>>6)&0x3f, 0x80|byte(r)&0x3f)
		default:
			low := rune(0)
			if i+3 < len(units) {
				low = rune(binary.LittleEndian.Uint16(units[i+2:]))
			}
			if r = utf16.DecodeRune(r, low); r != utf8.RuneError {
				i += 2
			}
			out = utf8.AppendRune(out, r)
		}
	}
	return out
}

// EncodedText is ToString of argument i as a Uint8Array of UTF-8; a lone surrogate becomes U+FFFD.
func (c *Call) EncodedText(i int) (Value, error) {
	vm, v := c.vm, c.Arg(i)
	units, wide, ok := vm.stringUnits(v)
	if ok && !wide && vm.isASCII(units) {
		return vm.checkValue(vm.call(fnNewUint8Array, uint64(vm.js), uint64(uint32(v)+unitsOffset), uint64(len(units))))
	}
	if !ok {
		var free func()
		var err error
		if units, free, err = vm.wideUnits(v); err != nil {
			return 0, err
		}
		defer free()
		wide = true
	}
	var array Value
	var err error
	if n := 2 * len(units); n > longestBuffer && n < int(vm.mem.length()) {
		size := vm.lengthUTF8(units, wide)
		return vm.newFilled(size, func(to []byte) int { return len(vm.appendText(to[:0:size], units, wide)) })
	}
	vm.withUTF8(units, wide, func(text []byte) { array, err = vm.newBytes(text) })
	return array, err
}

// Latin1 is a copy of ToString of argument i, a byte for each character; not ok when one is above U+00FF.
func (c *Call) Latin1(i int) (b []byte, ok bool) {
	vm := c.vm
	units, wide, ok := vm.stringUnits(c.Arg(i))
	if !ok {
		composed, free, err := vm.wideUnits(c.Arg(i))
		if err != nil {
			return nil, false
		}
		defer free()
		units, wide = composed, true
	}
	c.mustReserve(len(units))
	c.check()
	if !wide {
		b = make([]byte, 0, len(units))
		vm.InSteps(len(units), func(from, to int) { b = append(b, units[from:to]...) })
		return b, true
	}
	b, ok = make([]byte, len(units)/2), true
	vm.InSteps(len(units), func(from, to int) {
		for at := from; at < to; at += 2 {
			b[at/2] = units[at]
			ok = ok && units[at+1] == 0
		}
	})
	return b, ok
}

// blankString returns a string of n characters and its units for Go to fill; ok is false when the prelude has no entry
// point "blank" (number, whether wide).
func (vm *VM) blankString(n int, wide bool) (v Value, units []byte, ok bool, err error) {
	f, ok := vm.entryFns["blank"]
	if !ok {
		return 0, nil, false, nil
	}
	flag, _ := vm.New(wide)
	if v, err = vm.apply(f, []Value{floatValue(float64(n)), flag}); err != nil {
		return 0, nil, true, err
	}
	units, isWide, ok := vm.stringUnits(v)
	if size := len(units); !ok || isWide != wide || size != n && size != 2*n {
		vm.Free(v)
		return 0, nil, false, nil
	}
	return v, units, true, nil
}

// newText makes a string of UTF-8; ill-formed sequences become U+FFFD.
func (vm *VM) newText(b []byte) (Value, error) {
	if len(b) >= longText && vm.isText(b) {
		n, wide := vm.measure(b)
		if v, units, ok, err := vm.blankString(n, wide); ok {
			if err == nil {
				vm.fill(units, b, wide, n)
			}
			return v, err
		}
	}
	ptr, free := vm.write(unsafe.String(unsafe.SliceData(b), len(b)))
	defer free()
	return vm.checkValue(vm.call(fnNewString, uint64(vm.js), uint64(ptr), uint64(len(b))))
}

// characterStart is the end of the step of well-formed UTF-8 that ends at to: not within a
// character.
func characterStart(b []byte, to int) int {
	for back := 0; back < utf8.UTFMax && to < len(b) && to > 0 && !utf8.RuneStart(b[to]); back++ {
		to--
	}
	return to
}

// isText reports whether b is well-formed.
func (vm *VM) isText(b []byte) bool {
	valid, done := true, 0
	vm.InSteps(len(b), func(_, to int) {
		to = characterStart(b, to)
		valid = valid && utf8.Valid(b[done:to])
		done = to
	})
	return valid
}

// measure returns the number of units of b in UTF-16, and whether one is above U+00FF.
func (vm *VM) measure(b []byte) (units int, wide bool) {
	vm.InSteps(len(b), func(from, to int) {
		if isASCII(b[from:to]) {
			units += to - from
			return
		}
		for _, c := range b[from:to] {
			switch {
			case c >= 0xf0:
				units, wide = units+2, true
			case c >= 0xc0:
				units, wide = units+1, wide || c >= 0xc4
			case c < utf8.RuneSelf:
				units++
			}
		}
	})
	return units, wide
}

// fill writes the n characters of b into units.
func (vm *VM) fill(units, b []byte, wide bool, n int) {
	done := 0
	vm.InSteps(len(b), func(_, to int) {
		to = characterStart(b, to)
		piece := b[done:to]
		done = to
		switch {
		case wide:
			units = fillWide(units, piece)
		case n == len(b):
			units = units[copy(units, piece):]
		default:
			units = fillLatin1(units, piece)
		}
	})
}

// fillWide writes well-formed UTF-8 as UTF-16 and returns the unfilled rest.
func fillWide(units, b []byte) []byte {
	at := 0
	for i := 0; i < len(b); {
		var r rune
		switch c := b[i]; {
		case c < utf8.RuneSelf:
			r = rune(c)
			i++
		case c < 0xe0:
			r = rune(c&0x1f)<<6 | rune(b[i+1]&0x3f)
			i += 2
		case c < 0xf0:
			r = rune(c&0x0f)<<12 | rune(b[i+1]&0x3f)<<6 | rune(b[i+2]&0x3f)
			i += 3
		default:
			high, low := utf16.EncodeRune(rune(c&0x07)<<18 | rune(b[i+1]&0x3f)<<12 | rune(b[i+2]&0x3f)<<6 | rune(b[i+3]&0x3f))
			binary.LittleEndian.PutUint16(units[at:], uint16(high))
			at, r = at+2, low
			i += 4
		}
		binary.LittleEndian.PutUint16(units[at:], uint16(r))
		at += 2
	}
	return units[at:]
}

// fillLatin1 is fillWide for characters up to U+00FF.
func fillLatin1(units, b []byte) []byte {
	at := 0
	for i := 0; i < len(b); i++ {
		c := b[i]
		if c >= utf8.RuneSelf {
			i++
			c = c<<6 | b[i]&0x3f
		}
		units[at] = c
		at++
	}
	return units[at:]
}

func (vm *VM) newLatin1(b []byte) (Value, error) {
	if len(b) >= longText {
		if v, units, ok, err := vm.blankString(len(b), false); ok {
			if err == nil {
				vm.InSteps(len(b), func(from, to int) { copy(units[from:], b[from:to]) })
			}
			return v, err
		}
	}
	return vm.newText(appendLatin1(make([]byte, 0, 2*len(b)), b))
}

// Latin1View returns the characters of argument i without a copy, if it is a contiguous string of characters up to U+00FF. They are valid
// until the Func returns or uses another method of Call.
func (c *Call) Latin1View(i int) (units []byte, ok bool) {
	units, wide, ok := c.vm.stringUnits(c.Arg(i))
	return units, ok && !wide
}

// NewText copies UTF-8 into a string; ill-formed sequences become U+FFFD.
func (c *Call) NewText(b []byte) (Value, error) { return c.vm.newText(b) }

// DecodedView makes a string of a part of View's result; ill-formed sequences become U+FFFD.
func (c *Call) DecodedView(view []byte) (Value, error) {
	if len(view) >= longText {
		return c.vm.newText(view)
	}
	vm, ptr := c.vm, uint32(0)
	if len(view) > 0 {
		ptr = uint32(uintptr(unsafe.Pointer(&view[0])) - uintptr(unsafe.Pointer(&vm.read(0, 1)[0])))
	}
	return vm.checkValue(vm.call(fnNewString, uint64(vm.js), uint64(ptr), uint64(len(view))))
}

// IsText reports whether b is well-formed UTF-8.
func (c *Call) IsText(b []byte) bool { return c.vm.isText(b) }
