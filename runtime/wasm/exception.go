package wasm

import (
	"errors"
	"maps"
	"slices"

	"github.com/tetratelabs/wazero/api"

	"github.com/pages-toolchain/pages/runtime/engine"
	"github.com/pages-toolchain/pages/runtime/wasm/rewrite"
	"github.com/pages-toolchain/pages/runtime/wasmbinary"
)

// This file carries exceptions between instances, and between them and JavaScript.
//
// The current exception is in two globals that all instances of a store share; see rewrite.HostRaised. It is boxed if it has more than 32
// bits, or came from JavaScript, in which it stays the same object when it is caught or thrown again. A box is freed when a handler that
// cannot raise it again catches it, or when a handler that can has ended; boxes in references are freed when no running call can hold them.
//
// Code that is not lowered does not use the globals: for it an exception is an error, and unwinds its frames as a trap does.

const (
	// jsTag is the number of WebAssembly.JSTag, which holds an externref.
	jsTag = 1
	// tagCost and boxCost are the bytes that an instance is charged for a tag, and a store for a box without its values.
	tagCost = 128
	boxCost = 128
	// boxStep is the bytes of boxes that are charged at once, since a charge takes longer than a box.
	boxStep = 256 << 10
	// leastBoxes is the number of boxes from which tables are searched for them.
	leastBoxes = 256
)

// tag is the instance of a tag (nil for jsTag), and the type of its exceptions.
type tag struct {
	instance *instance
	typ      wasmbinary.FuncType
}

// box is an exception outside of the globals, known by the number HostValue.
type box struct {
	tag    uint32
	values []uint64 // nil in one of jsTag that is thrown
	thrown engine.Value
	has    bool // it was thrown in JavaScript
	kept   bool // any handler may raise it again
}

func (b *box) cost() int64 { return boxCost + 8*int64(len(b.values)) }

// exception is the content of the globals, and as an error an exception that unwinds.
type exception struct{ raised, value uint32 }

func (e *exception) Error() string { return "an exception" }

// resume makes e the current exception.
func (s *store) resume(e exception) {
	s.raised.Set(uint64(e.raised))
	s.value.Set(uint64(e.value))
}

// currentException is the current exception; raised is 0 for none.
func (s *store) currentException() (e exception) {
	return exception{uint32(s.raised.Get()), uint32(s.value.Get())}
}

// takeException ends the current exception, and returns it.
func (s *store) takeException() *exception {
	e := s.currentException()
	s.raised.Set(0)
	return &e
}

// findBox is the box of e, or nil.
func (s *store) findBox(e exception) *box {
	if e.raised&rewrite.Boxed == 0 {
		return nil
	}
	return s.boxes[e.value]
}

// raiseBox adds b and makes it the current exception. It returns false without a change if the isolate would exceed its memory.
func (s *store) raiseBox(b *box) bool {
	if !s.reserveBoxes(b.cost()) {
		return false
	}
	for s.lastBox++; s.boxes[s.lastBox] != nil; {
		s.lastBox++
	}
	s.boxes[s.lastBox] = b
	s.resume(exception{b.tag | rewrite.Boxed, s.lastBox})
	return true
}

func (s *store) freeBox(number uint32) {
	b := s.boxes[number]
	if b == nil {
		return
	}
	if b.has {
		s.vm.Free(b.thrown)
	}
	s.reserveBoxes(-b.cost())
	delete(s.boxes, number)
}

// reserveBoxes counts n bytes of boxes, which may be negative; false, and nothing is counted, when the isolate would hold too
// much.
func (s *store) reserveBoxes(n int64) bool {
	n += s.boxBytes
	if step := int64(boxStep); n > s.boxCharged {
		if more := max(step, n-s.boxCharged); s.vm.Charge(more) {
			s.boxCharged += more
		} else {
			return false
		}
	} else if spare := s.boxCharged - n; spare >= 2*step {
		s.vm.Charge(-(spare - step))
		s.boxCharged -= spare - step
	}
	s.boxBytes = n
	return true
}

// release ends e, unless it may be raised again.
func (s *store) release(e exception) {
	if b := s.findBox(e); b != nil && !b.kept {
		s.freeBox(e.value)
	}
}

// keep implements rewrite.HostKeep.
func (s *store) keep(e exception) {
	if b := s.findBox(e); b != nil {
		b.kept = true
	}
}

// ref implements rewrite.HostRef.
func (s *store) ref(raised, value uint64) uint64 {
	e := exception{uint32(raised), uint32(value)}
	s.keep(e)
	return uint64(e.raised)<<32 | uint64(e.value)
}

// throw implements rewrite.HostThrow.
func (s *store) throw(ref uint64) {
	e := exception{uint32(ref >> 32), uint32(ref)}
	if e.raised == 0 || e.raised&rewrite.Boxed != 0 && s.findBox(e) == nil {
		panic(&engine.Error{Name: "RuntimeError", Message: "rethrowing null value"})
	}
	s.resume(e)
}

// box implements rewrite.HostBox.
func (s *store) box(stack []uint64, held int) {
	if !s.raiseBox(&box{tag: uint32(stack[0]), values: slices.Clone(stack[1 : 1+held])}) {
		panic(errMemory("WebAssembly.Exception"))
	}
}

// open implements rewrite.HostOpen.
func (s *store) open(stack []uint64, held int) {
	keep, e := uint32(stack[0]) != 0, s.currentException()
	clear(stack[:held])
	b := s.findBox(e)
	if b == nil {
		return
	}
	if b.values == nil && b.has && held == 1 {
		result, err := s.vm.Invoke("wasmSlot", s.vm.Dup(b.thrown))
		if err != nil {
			panic(err)
		}
		slot, err := s.vm.ToInt32(result)
		if err != nil {
			panic(err)
		}
		stack[0] = uint64(uint32(slot))
	}
	copy(stack[:held], b.values)
	if !keep {
		s.release(e)
	}
}

// raise makes an error the current exception; false for an error that no instance may catch.
func (s *store) raise(err error) bool {
	if e, ok := errors.AsType[*exception](err); ok {
		s.resume(*e)
		return true
	}
	thrown, ok := errors.AsType[*engine.ThrownError](err)
	if !ok {
		e, ok := errors.AsType[*engine.Error](err)
		if !ok || engine.IsBroken(err) || e.Name == "RuntimeError" || e.Name == "RangeError" {
			return false
		}
		v, failed := s.vm.New(e)
		if failed != nil {
			return false
		}
		raised := s.raiseValue(v)
		if !raised {
			s.vm.Free(v)
		}
		return raised
	}
	return s.raiseValue(thrown.Value())
}

// raiseValue raises a value that JavaScript threw, which the box owns.
func (s *store) raiseValue(v engine.Value) bool {
	list, err := s.vm.Invoke("wasmCaught", s.vm.Dup(v))
	if err != nil || list.IsNullish() { // a trap, or the stack was exhausted
		return false
	}
	defer s.vm.Free(list)
	b := &box{tag: jsTag, thrown: v, has: true}
	if s.vm.Length(list) == 0 {
		return s.raiseBox(b)
	}
	number, err := s.item(list, 0, nil, wasmbinary.F64)
	if err != nil {
		return false
	}
	b.tag, b.values = uint32(api.DecodeF64(number)), []uint64{}
	if t, known := s.tags[b.tag]; known { // otherwise no instance can read the values
		for i, typ := range rewrite.Payload(t.typ) {
			x, err := s.item(list, uint32(i)+1, t.instance, typ)
			if err != nil {
				return false
			}
			b.values = append(b.values, x)
		}
	}
	return s.raiseBox(b)
}

func (s *store) item(list engine.Value, i uint32, in *instance, t wasmbinary.ValType) (uint64, error) {
	v, err := s.vm.Index(list, i)
	if err != nil {
		return 0, err
	}
	defer s.vm.Free(v)
	return s.toWasm(in, opaque(t), v)
}

// opaque is the type of values that JavaScript passes on but may not see.
func opaque(t wasmbinary.ValType) wasmbinary.ValType {
	if t == wasmbinary.Exnref {
		return wasmbinary.I64
	}
	return t
}

// takeThrown ends the current exception, and returns it as an error for JavaScript.
func (s *store) takeThrown() error {
	e := s.takeException()
	b := s.findBox(*e)
	defer s.release(*e)
	if b != nil && b.has {
		return engine.Throw(s.vm.Dup(b.thrown))
	}
	number := e.raised &^ rewrite.Boxed
	t := s.tags[number]
	args := []any{int(number), wasmbinary.FuncType{Params: t.typ.Params}.Key(), 0}
	if t.instance != nil {
		args[2] = t.instance.id
	}
	for i, typ := range rewrite.Payload(t.typ) {
		bits := uint64(e.value)
		if b != nil {
			bits = b.values[i]
		}
		x, err := s.toJS(opaque(typ), bits)
		if err != nil {
			return err
		}
		args = append(args, x)
	}
	object, err := s.vm.InvokeWith("wasmThrown", args...)
	if err != nil {
		return err
	}
	if b != nil {
		b.thrown, b.has = s.vm.Dup(object), true
	}
	return engine.Throw(object)
}

// linkTag imports a tag by its number.
func (in *instance) linkTag(link int64, index uint32) error {
	t, known := in.store.tags[uint32(link)]
	if !known {
		return errors.New("tag import requires a WebAssembly.Tag")
	}
	if t.typ.Key() != in.program.tagType(index).Key() {
		return errors.New("imported tag does not match the expected type")
	}
	in.tags = append(in.tags, uint32(link))
	return nil
}

func (p *program) tagType(i uint32) wasmbinary.FuncType { return p.Types[p.Tags[i]] }

// sweepBoxes frees the boxes that no global and no table refers to. No call may be running.
func (s *store) sweepBoxes() {
	if len(s.boxes) == 0 || len(s.boxes) < s.boxesAt {
		return
	}
	live := map[uint32]struct{}{}
	mark := func(ref uint64) {
		if e := (exception{uint32(ref >> 32), uint32(ref)}); s.findBox(e) != nil {
			live[e.value] = struct{}{}
		}
	}
	for _, in := range s.instances {
		for _, g := range in.globals[in.program.ImportedGlobals:] {
			if g.globalType().Type == wasmbinary.Exnref {
				mark(g.global().Get())
			}
		}
		for _, t := range in.tables[in.program.ImportedTables:] {
			if t.typ().Elem == wasmbinary.Exnref {
				_ = t.each(mark) // a table that cannot be read holds none
			}
		}
	}
	for _, number := range slices.Collect(maps.Keys(s.boxes)) {
		if _, held := live[number]; !held {
			s.freeBox(number)
		}
	}
	if s.boxesAt = 0; len(live) > 0 {
		s.boxesAt = max(leastBoxes, 2*len(live))
	}
}

// wasm_tag(types) -> [number of an instance with a tag, the tag's number]
func newTag(s *store, c *engine.Call) (any, error) {
	var held []wasmbinary.ValType
	for _, letter := range c.String(0) {
		held = append(held, wasmbinary.TypeOf(string(letter)))
	}
	in, err := s.newOwnInstance(rewrite.TagModule(held))
	if err != nil {
		return nil, err
	}
	return []any{in.id, int(in.tags[0])}, nil
}
